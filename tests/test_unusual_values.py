"""Every argument of every public call gives a result or one clear refusal for unusual values."""

import inspect
import itertools
import re
import traceback
import tracemalloc
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import recframe
import recframe.dask
from unusual_values import FRAME, TRUTH, VALUES, base_of, list_entry_points

NUMBERS = {"inf", "-inf", "-1", "0", "0.5", "10**9", "2**63", "10**400", "Fraction", "float"}
NUMBERS |= {"longdouble"}
K = {"10**9"}
SEEDS = {"0", "10**9", "2**63"}
SHARES = {"0.5", "Fraction", "float"}
BYTES = {"10**9", "2**63", "10**400", "10**5000"}
NONE = {"None"}
ARRAYS = {"array of ints", "Series", "sparse Series"}
# An argument accepts these values, by its name or with its entry point's, and no others.
TAKEN = {
    "population": set(),
    "model": {"None"},
    "sep": {"None"},
    "like": {"None"},
    "ascending": {"None", "True"},
    "alpha": {"Fraction", "float"},
    "baseline": NONE,
    "df.rec.compare.baseline": NONE,
    "ddf.rec.compare.baseline": NONE,
    # The baseline may be a second table.
    "compare.baseline": NONE | {"DataFrame"},
    "by": NONE,
    "weights": NONE,
    "unit": NONE,
    "confidence": SHARES,
    "df.rec.summary.confidence": SHARES,
    "ddf.rec.summary.confidence": SHARES,
    "summary.confidence": SHARES | {"DataFrame"},
    "title": NONE | {"no text", "str", "lines", "long text", "null byte", "surrogate"},
    "correction": NONE,
    "k": K,
    "lists": {"dict"},
    "min_relevance": {"None", "10**5000"} | NUMBERS,
    "trusted_min_relevance": {"None", "10**5000"} | NUMBERS,
    "trusted": NONE,
    "min_score": {"None", "10**5000"} | NUMBERS,
    "partitioned": {"True"},
    "progress": {"True"},
    "power": set(),
    "seed": SEEDS,
    "tmp": NONE,
    "truth": NONE,
    "unjudged": set(),
    "exclude": NONE,
    "zero_division": {"nan", "0"},
    "average_precision.k": K | NONE,
    "ndcg.k": K | NONE,
    "reciprocal_rank.k": K | NONE,
    "dcg.k": K | NONE,
    "rbp.k": K | NONE,
    "err.k": K | NONE,
    "difference": {"0.5", "10**9", "2**63", "Fraction", "float"},
    "save_per_user.options": NONE | {"dict"},
    "save_per_user.per_user": {"DataFrame"},
    "summary.per_user": {"DataFrame"},
    "max": set(),
    "offset": NONE | {"0", "0.5", "Fraction", "float"},
    "p": {"0", "0.5", "Fraction", "float"},
    "curve.k": ARRAYS | NONE,
    "catalogue.items": ARRAYS | NONE | K,
    "overlap.rbo": NONE,
    "report.items": ARRAYS | NONE | K,
    "top.score": NONE,
    "inspect.label": NONE | {"list"},
    "report.label": NONE | {"list"},
    "inspect.metrics": NONE,
    "evaluate.progress": set(),
    "evaluate of files.memory": BYTES,
    "iter_evaluate.memory": BYTES,
    "from_topk.items": {"DataFrame", "tuple of a list", "tuple of an array"},
    "from_runs.runs": {"dict"},
    "from_groups.score": {"dict"},
    "from_groups.sizes": ARRAYS,
    "from_groups.ids": NONE,
    "from_matrix.scores": {"DataFrame", "tuple of a list", "tuple of an array"},
    "from_matrix.users": NONE,
    "from_matrix.items": NONE | ARRAYS | {"Index", "timedeltas"},
    "from_matrix.k": K | NONE,
    "truth_from.truth": {"dict"},
    "truth_from.users": NONE,
    "truth_from.items": NONE | ARRAYS | {"Index", "timedeltas"},
    "from_topk.scores": NONE,
    "from_topk.users": NONE,
    "judge.truth": set(),
    **{
        f"metrics.{name}.{argument}": {"score": ARRAYS}.get(
            argument, NONE if one.default is None else set()
        )
        for name in recframe.metrics.__all__
        for argument, one in inspect.signature(getattr(recframe.metrics, name)).parameters.items()
        if argument in ("k", "score")
    },
    "metrics.recall.recommended": {"array of ints", "list"},
    "metrics.recall.target": {"array of ints", "list"},
    # Dask refuses data only when computed, so these are accepted first.
    "ddf.rec.user": NONE,
    "ddf.rec.truth": NONE | {"long text"},
    "ddf.rec.exclude": NONE | {"long text"},
    "ddf.rec.min_relevance": NONE | NUMBERS,
    "ddf.rec.trusted_min_relevance": NONE | NUMBERS,
    "ddf.rec.min_score": NONE | NUMBERS,
}
# A function of any kind is called.
LEFT_OUT = {"progress": {"class", "lambda"}}
# All engines share the code for arguments, so a few values are enough for repeated calls.
FEW = ("None", "nan", "10**5000", "array of ints", "NA", "mute", "unkeyed", "unequal", "long text")
# A report takes long, and asks `compare` for its tables.
REPEATED = ("evaluate of files", "iter_evaluate", "rec", "df.rec", "ddf.rec", "df.rec.report")
OWN = ("memory", "tmp", "progress", "path", "partitioned", "title")
PACKAGE = str(Path(recframe.__file__).parent)
# A message quotes at most this many characters.
SHOWN = 300


def list_cases():
    """Return the entry point and argument of every case."""
    return [
        (entry, argument)
        for entry, (_, signed, _) in list_entry_points("").items()
        for argument in inspect.signature(signed).parameters
        if argument != "self"
    ]


def find_taken(entry, argument):
    """Return the values that an argument accepts."""
    keys = (f"{entry}.{argument}", f"{entry.split('.')[-1]}.{argument}", argument)
    return next((TAKEN[key] for key in keys if key in TAKEN), set())


@pytest.fixture(scope="module")
def entry_points(tmp_path_factory):
    """Return every public call, with a file of the frame."""
    path = tmp_path_factory.mktemp("unusual") / "rows.parquet"
    FRAME.to_parquet(path)
    return list_entry_points(str(path))


def count_own_frames(error):
    """Return the number of recframe's frames in the tracebacks that Python shows."""
    n_frames = 0
    while error is not None:
        files = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
        n_frames += sum(file.startswith(PACKAGE) for file in files)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return n_frames


@pytest.mark.parametrize(("entry", "argument"), list_cases())
def test_bad_values_are_refused_by_name(entry, argument, entry_points):
    """A bad value is refused in a line that names its argument and quotes little of it."""
    call, _, base = entry_points[entry]
    others = base_of(entry, argument, base)
    if argument != "short" and "short" in inspect.signature(entry_points[entry][1]).parameters:
        others["short"] = "pad"
    is_own = argument in OWN and entry != "ddf.rec.report"
    is_repeated = entry.startswith("ddf.") or entry in REPEATED
    names = FEW if is_repeated and not is_own else VALUES
    taken, faults = set(), {}
    for name in sorted(set(names) - LEFT_OUT.get(argument, set())):
        try:
            call(**others | {argument: VALUES[name]()})
            taken.add(name)
        except recframe.RecframeError as error:
            first = re.sub(r"^\d+ questions are open:\n1\. ", "", str(error))
            message = first.split("\n2. ")[0]
            quoted = re.findall(r"x{100,}", message)
            is_short = all(len(text) <= SHOWN for text in quoted) and len(message) <= 4 * SHOWN
            if argument not in message or "\n" in message or not is_short:
                faults[name] = message
            if (n_frames := count_own_frames(error)) > 1:
                faults[name] = f"{n_frames} frames of recframe in the traceback: {message}"

    assert {} == faults
    assert find_taken(entry, argument) & set(names) == taken


DDF = dd.from_pandas(FRAME, npartitions=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FRAME.rec.summary(n_resamples=10**6 + 1), "n_resamples must be at most 1,000,000"),
        (lambda: FRAME.rec.compare(n_resamples=10**9), "n_resamples .* but is 1000000000$"),
        (lambda: FRAME.rec.summary(seed=2**1024), r"seed must be below 2\*\*1024, but is 179769"),
        (
            lambda: FRAME.rec.curve(k=itertools.count(1)),
            "k must hold at most 100,000, but holds more",
        ),
        (lambda: FRAME.rec.curve(k=b"x"), "k must be a number or several cut-offs, .* but is b'x'"),
        (lambda: FRAME.rec.mean(itertools.repeat("auc")), "metrics must hold at most 100,000"),
        (lambda: FRAME.rec.mean({"auc": 1}), "metrics must be a name .* but is {'auc': 1}"),
        (lambda: FRAME.rec.mean("recal@" + "9" * 10**6), "unknown metric 'recal@9{100,300}"),
        (lambda: FRAME.rec.inspect(True, 1), "user=True: no row has that id"),
        (lambda: FRAME.rec.inspect([1], 1), r"user must be one id of the column .* but is \[1\]"),
        (lambda: FRAME.rec(item=None), "item must be a column label, but is None"),
        (lambda: FRAME.rec(score=[None]), r"score must be a column label or a list .* \[None\]"),
        (
            lambda: recframe.RecAccessor(TRUTH["user"]),
            "frame must be a pandas DataFrame or an Arrow table",
        ),
        (lambda: recframe.dask.DaskRecAccessor(FRAME), "frame must be a Dask DataFrame, but is"),
        (lambda: recframe.dask.DaskRecAccessor(7), "frame must be a Dask DataFrame, but is 7$"),
        (lambda: DDF.rec(partitioned=1), "partitioned must be True or False, but is 1"),
        (lambda: DDF.rec(min_score=10**5000), "min_score must be a value that Dask can token"),
        (lambda: DDF.rec.inspect(object(), 1), "user must be a value that Dask can token"),
        (lambda: DDF.rec(truth=TRUTH, truth_item="x").recall(1), "truth: truth_item='x': no such"),
        (
            lambda: (
                DDF.rename(columns={"user": ("user", 1)})
                .rec(user=["a_score", ("user", 1)], score="b_score")
                .recall(1)
            ),
            r"user=.*\('user', 1\)\]: Dask does not shuffle by a column whose label is a tuple",
        ),
        (lambda: recframe.from_topk("ab"), "items must be a matrix .*, but is 'ab'"),
        (
            lambda: recframe.from_topk([[1]], [None]),
            "users must not have a null user, but 1 of 1 are null",
        ),
        (lambda: recframe.from_topk([[1]], {1}), "users must be a list of ids, but has shape"),
        (lambda: recframe.from_topk([[1]], [[1]]), "users must be hashable ids, but are not:"),
        (lambda: recframe.from_topk([[1]], [1], [["x"]]), "scores must be numbers, but is .* 'x'"),
        (lambda: recframe.from_lists({1: itertools.count()}), "lists: an iterator must end within"),
        (lambda: recframe.from_lists({1: TRUTH}), "lists: the items of a user must be a sequence"),
        (
            lambda: recframe.from_lists({None: [1]}),
            "lists must not have a null user, but 1 of 1 are null",
        ),
        (lambda: recframe.metrics.recall([[1]], [1]), "recommended must hold hashable items"),
        (lambda: recframe.metrics.recall_at_k([1], [[1], 2], 1), "score must be one-dimensional"),
        (
            lambda: recframe.metrics.r_precision([None], [1]),
            "relevant must be boolean or 0/1, but is",
        ),
        (
            lambda: recframe.metrics.r_precision([np.timedelta64(1, "D")], [1]),
            "relevant must be boolean or 0/1, but is",
        ),
        (lambda: FRAME.rec.catalogue(1, items=[np.longdouble(1)]), "items.* ids must not be float"),
        (
            lambda: recframe.from_groups([0.1], [1], sizes=[float("inf")]),
            "sizes must be whole numbers from 0 on, but has inf",
        ),
        (lambda: recframe.evaluate([1], "auc"), "frame must be a pandas DataFrame, an Arrow table"),
        (
            lambda: recframe.evaluate("x", "auc", tmp=1),
            "tmp must be an existing folder, but is 1",
        ),
    ],
)
def test_what_is_refused_says_why(call, message):
    """A refusal names the argument, its valid values and the passed value."""
    with pytest.raises(recframe.RecframeError, match=message):
        call()


@pytest.mark.parametrize("label", FRAME.columns)
def test_sparse_columns_are_as_others(label):
    """A column of any role may be sparse."""
    sparse = FRAME.astype({label: pd.SparseDtype(FRAME[label].dtype)})
    for call in (lambda rec: rec.evaluate("recall@1"), lambda rec: rec.mean("auc", by="user")):
        pd.testing.assert_frame_equal(call(FRAME.rec), call(sparse.rec))


def test_draws_of_chance_take_little_memory():
    """A million draws, and the sign patterns of 19 users, take less than 64 MB."""
    tracemalloc.start()
    two = pd.DataFrame(
        {
            "user": np.repeat(np.arange(19), 2),
            "a_score": [1, 0] * 19,
            "b_score": [0, 1] * 19,
            "relevant": [1, 0] * 19,
        }
    )
    table = two.rec.compare("reciprocal_rank", n_resamples=10**6)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert 2 / 2**19 == table["p_value"].iloc[0]
    assert peak < 64 << 20
