"""df.rec.bounds has the lowest and highest means of all labels that unjudged rows may have."""

import io
import json
from functools import partial
from itertools import product

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recframe
import recframe.dask
import recframe.polars
import reference
import strategies
from recframe.analysis.bounds import RISING
from recframe.cli import main
from recframe.metrics.definitions import DEFINITIONS

# An unjudged row has a null; scores tie within a user, also across the cut-offs.
ROWS = pd.DataFrame(
    {
        "user": [*["ann"] * 5, *["bob"] * 4, *["cat"] * 2],
        "item": [*"abcde", *"abcd", *"ab"],
        "score": [3, 3, 2, 2, 1, 2, 1, 1, 1, 1, 1],
        "relevant": [None, 1, None, 0, None, 0, None, 1, None, 0, 1],
    }
)
GRADED = ROWS.assign(relevant=[None, 2, None, 0, 1, 0, None, 1, None, 0, 2])
ASKED = [one for one in strategies.every_metric(3) if one[0].partition("(")[0] in RISING]
METRICS = [strategies.label(*one) for one in ASKED]
OTHERS = [name for name in DEFINITIONS if name not in RISING]
OPTIONS = {"null_relevance": "nonrelevant", "short": "pad", "zero_division": 0.0}


def means_of_labels(frame, metric, k, grades, **options):
    """Return the mean over users for each labelling of the unjudged rows."""
    defaults = {"ties": "expected", "short": "pad", "missing": "raise", "zero_division": 0.0}
    defaults |= {"min_relevance": None, "min_score": None}
    open_rows = np.flatnonzero(frame["relevant"].isna())
    for labels in product(grades, repeat=len(open_rows)):
        relevant = frame["relevant"].to_numpy().copy()
        relevant[open_rows] = labels
        rows = list(zip(frame["user"], frame["score"], relevant.tolist(), strict=True))
        values = reference.evaluate(rows, metric, k, **defaults | options)
        yield sum(values.values()) / len(values)


@pytest.mark.parametrize(("name", "k"), ASKED)
@pytest.mark.parametrize("ties", strategies.TIES)
def test_no_labels_have_a_mean_beyond_them(name, k, ties):
    """Low and high are the lowest and highest mean of every labelling, under every tie rule."""
    label = strategies.label(name, k)
    means = list(means_of_labels(ROWS, name, k, (0, 1), ties=ties))
    found = ROWS.rec(ties=ties, **OPTIONS).bounds(label).loc[("score", label)]
    assert [min(means), max(means)] == pytest.approx(found[["low", "high"]].tolist())


@pytest.mark.parametrize("label", ["err(max=3)@3", "err(max=3)"])
@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
@pytest.mark.parametrize("gain", ["linear", "exponential", "binary"])
def test_no_grades_have_a_mean_beyond_them(label, ties, gain):
    """With grades, low and high are the lowest and highest mean over all grades of open rows."""
    name, _, k = label.partition("@")
    asked = {"ties": ties, "min_relevance": 1, "gain": gain}
    as_grades = {"binary": (0, 1)}.get(gain, range(4))
    frame = GRADED if gain != "binary" else GRADED.assign(relevant=GRADED["relevant"].clip(0, 1))
    means = list(means_of_labels(frame, name, int(k) if k else None, as_grades, **asked))
    found = GRADED.rec(**asked, **OPTIONS).bounds(label).loc[("score", label)]
    assert [min(means), max(means)] == pytest.approx(found[["low", "high"]].tolist())


def test_only_these_metrics_never_fall():
    """Every other metric falls for some label of an unjudged row, or changes for none."""
    first = pd.DataFrame({"user": "ann", "score": [3, 2, 1], "relevant": [1, None, None]})
    frames = [ROWS, ROWS.assign(relevant=ROWS["relevant"].where(ROWS["item"] != "b")), first]
    for name, k in strategies.every_metric(3):
        if name.partition("(")[0] in RISING:
            continue
        falls, changes = False, False
        for frame, row in product(frames, range(len(ROWS))):
            if row >= len(frame) or not pd.isna(frame["relevant"][row]):
                continue
            values = []
            for label in (0.0, 1.0):
                filled = frame.assign(relevant=frame["relevant"].fillna(0))
                filled.loc[row, "relevant"] = label
                rec = filled.rec(short="pad", zero_division=0.0)
                values.append(rec.mean(strategies.label(name, k)).iloc[0, 0])
            falls, changes = falls or values[1] < values[0], changes or values[1] != values[0]
        assert falls or not changes, name


def test_judged():
    """The column judged is the share of the first k rows, or of all ranked rows without k."""
    table = ROWS.rec(**OPTIONS).bounds(["precision@3", "rbp(p=0.8)"])["judged"]
    # Of Ann's first three rows one of two, and then half of a row, is judged; Bob's tie at 2 to 4
    # has one judged row of three, two of which are among the first three; Cat has two rows.
    of_three = (1.5 / 3 + (1 + 2 / 3) / 3 + 1) / 3
    assert [of_three, (2 / 5 + 2 / 4 + 1) / 3] == pytest.approx(table.tolist())
    shrunk = ROWS.rec(**OPTIONS | {"short": "shrink"}).judged(k=3)["score"]
    assert of_three == pytest.approx(shrunk.mean())


def test_truth_and_nulls_are_one():
    """Rows that truth lacks are unjudged as null relevance is, also in truth."""
    expected = ROWS.rec(**OPTIONS).bounds(METRICS)
    options = {"short": "pad", "zero_division": 0.0}
    rows, truth = ROWS.drop(columns="relevant"), ROWS[["user", "item", "relevant"]]
    known = truth.dropna()
    pd.testing.assert_frame_equal(expected, rows.rec(truth=known, **options).bounds(METRICS))
    pd.testing.assert_frame_equal(expected, rows.rec(truth=truth, **OPTIONS).bounds(METRICS))
    twice = pd.concat([ROWS, ROWS.assign(relevant=np.nan)])
    folded = twice.rec(duplicates="max", **OPTIONS)
    pd.testing.assert_frame_equal(expected, folded.bounds(METRICS))


def test_null_relevance_is_no_judgment():
    """Metrics of judged rows take null relevance as unjudged, as if truth lacked the row."""
    rows, truth = ROWS.drop(columns="relevant"), ROWS[["user", "item", "relevant"]]
    names = ["judged@3", "bpref"]
    expected = rows.rec(truth=truth.dropna(), short="pad").evaluate(names)
    pd.testing.assert_frame_equal(expected, ROWS.rec(**OPTIONS).evaluate(names))
    pd.testing.assert_frame_equal(expected, rows.rec(truth=truth, **OPTIONS).evaluate(names))


def test_low_is_the_mean():
    """The lowest mean equals `mean`, which takes unjudged rows as not relevant."""
    means = ROWS.rec(**OPTIONS).mean(METRICS).iloc[0].to_numpy()
    assert means.tolist() == ROWS.rec(**OPTIONS).bounds(METRICS)["low"].tolist()


def test_nothing_unjudged():
    """If no unjudged row can change a mean, low is high, and a note says so."""
    for options in ({}, {"unjudged": "drop", "truth": ROWS[["user", "item", "relevant"]].dropna()}):
        frame = ROWS.drop(columns="relevant") if options else ROWS.fillna({"relevant": 0})
        table = frame.rec(short="pad", **options).bounds("precision@3")
        assert table["low"].equals(table["high"])
        assert [1.0] == table["judged"].tolist()
        assert "bounds" in [one.kind for one in table.notes]
    assert [] == ROWS.rec(**OPTIONS).bounds("precision@3").notes


@pytest.mark.parametrize(
    ("options", "metrics", "message"),
    [
        ({}, ["recall@3", "precision@3"], r"bounds takes precision@k, .*not \['recall@3'\]"),
        ({"zero_division": np.nan}, "hit_rate@3", r"Pass zero_division=0.0\.$"),
        ({"zero_division": 1.0}, ["precision@3", "mrr"], r"Pass zero_division=0.0\.$"),
        ({}, "dcg@3", "dcg with grades are not known, .* Pass gain='binary', or name err"),
        ({}, ["err(max=1)", "err(max=4)"], "max must be the highest grade .* but a grade is 2"),
        ({}, ["err(max=2)", "err(max=4)"], "max must be the highest grade .* but a grade is 4"),
    ],
)
def test_refusals(options, metrics, message):
    """Bounds that are not known are refused, and the message has the remedy."""
    with pytest.raises(recframe.RecframeError, match=message):
        GRADED.rec(**{**OPTIONS, "min_relevance": 1, **options}).bounds(metrics)


@pytest.mark.parametrize("name", OTHERS)
def test_other_metrics_are_refused(name):
    """A metric that a relevant row may lower, or that none changes, has no bounds."""
    written = f"{name}(score)@3" if DEFINITIONS[name].of_column else name
    label = written if "@" in written or DEFINITIONS[name].cut_off == "none" else f"{written}@3"
    with pytest.raises(recframe.RecframeError, match=r"^bounds takes .*; a further relevant row"):
        ROWS.rec(**OPTIONS).bounds(label)


def of_command_line(frame, truth, options, folder):
    """Return the table of the command line, read from csv."""
    frame.to_parquet(folder / "rows.parquet", index=False)
    truth.to_parquet(folder / "truth.parquet", index=False)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    words = ["evaluate", str(folder / "rows.parquet"), "--truth", str(folder / "truth.parquet")]
    path = folder / "bounds.csv"
    assert 0 == main([*words, *flags, "--bounds", "--metric", *METRICS, "-q", "-o", str(path)])
    return pd.read_csv(path, index_col=[0, 1])


def of_file(frame, truth, options, folder):
    """Return the table of a file that is read in blocks."""
    frame.to_parquet(folder / "rows.parquet", row_group_size=3, index=False)
    return recframe.scan(folder / "rows.parquet", memory=1 << 14, truth=truth, **options).bounds(
        METRICS
    )


def of_polars(frame, truth, options, _, *, lazily):
    """Return the table of Polars."""
    table = pl.from_pandas(frame)
    found = (table.lazy() if lazily else table).rec(truth=truth, **options).bounds(METRICS)
    assert ["score", "metric", "low", "high", "judged"] == found.columns
    return found.to_pandas().set_index(["score", "metric"])


def of_dask(frame, truth, options, _):
    """Return the table of Dask's partitions."""
    ddf = dd.from_pandas(frame, npartitions=3)
    return ddf.rec(truth=truth, **options).bounds(METRICS).compute()


ENGINES = {
    "Arrow": lambda frame, truth, options, _: recframe.rec(
        pa.Table.from_pandas(frame), truth=truth, **options
    ).bounds(METRICS),
    "Polars": partial(of_polars, lazily=False),
    "LazyFrame": partial(of_polars, lazily=True),
    "files": of_file,
    "Dask": of_dask,
    "command line": of_command_line,
}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine(engine, tmp_path):
    """Every engine has the table of pandas, with users who are in the frame or truth only."""
    rows = ROWS.drop(columns="relevant").assign(other_score=-ROWS["score"])
    only = pd.DataFrame({"user": ["eve"], "item": ["a"], "relevant": [1.0]})
    truth = pd.concat([ROWS[["user", "item", "relevant"]].dropna(), only])
    options = {"short": "pad", "zero_division": 0.0, "population": "all"}
    expected = rows.rec(truth=truth, **options).bounds(METRICS)
    found = ENGINES[engine](rows, truth, options, tmp_path)
    how = {"check_names": False, "check_index_type": False, "check_column_type": False}
    pd.testing.assert_frame_equal(pd.DataFrame(expected), pd.DataFrame(found), **how)


def test_formats_of_the_command_line(tmp_path, capsys):
    """The command line prints bounds as JSON and Markdown."""
    path = tmp_path / "rows.parquet"
    GRADED.to_parquet(path)
    words = ["evaluate", str(path), "--bounds", "--null-relevance=nonrelevant", "--short=pad"]
    words += ["--min-relevance=1", "--metric=err(max=3)@3"]
    table = GRADED.rec(min_relevance=1, **OPTIONS).bounds("err(max=3)@3")
    assert 0 == main([*words, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert table.loc["score"].to_dict("index") == document["scores"]["score"]
    assert (3, ["err(max=3)@3"]) == (document["users"], document["metrics"])
    assert 0 == main([*words, "--format", "markdown"])
    assert f"{table.to_markdown().rstrip()}\n" == capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--bounds", "--by", "user"], "--by takes no --bounds. Leave one of the two out"),
        (["--bounds", "--per-user", "x.csv"], "--per-user takes no --bounds"),
        (["--bounds", "--seed", "1"], "--seed is for intervals. Add --summary or --baseline"),
        (["--bounds", "--summary"], "not allowed with argument"),
    ],
)
def test_flags_in_vain(words, message, capsys):
    """Flags that change nothing in bounds are wrong usage."""
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", "rows.parquet", *words])
    assert message in capsys.readouterr().err


def test_questions_have_their_flags(tmp_path, capsys):
    """A refusal on the command line has all open questions, with the flags that answer them."""
    ROWS.to_parquet(tmp_path / "rows.parquet")
    assert 1 == main(["evaluate", str(tmp_path / "rows.parquet"), "--bounds", "--metric", "rr"])
    text = capsys.readouterr().err
    assert "--zero-division 0.0" in text
    assert "--null-relevance nonrelevant" in text


def test_in_a_paper():
    """A paper's table has the range of each mean, also rounded and selected."""
    table = ROWS.rec(**OPTIONS).bounds(["precision@3", "rbp(p=0.8)"])
    low, high, _ = table.round(2).iloc[0]
    assert f"| score | [{low:.2f}, {high:.2f}] |" in table.round(2).to_markdown(digits=2)
    assert rf"score & [{low:.1f}, {high:.1f}] \\" in table[:1].to_latex(digits=1)
    assert "Mean, with the range that unjudged rows leave possible." in table.to_latex()


def test_a_picture():
    """A picture has a line from low to high in a panel for each metric."""
    pytest.importorskip("matplotlib").use("agg")
    table = ROWS.rec(**OPTIONS).bounds(["precision@3", "rbp(p=0.8)"])
    panels = table.plot()
    lines = [panel.get_lines()[0].get_xdata().tolist() for panel in panels]
    assert table[["low", "high"]].to_numpy().tolist() == lines


def test_csv_of_the_command_line(tmp_path, capsys):
    """The default metric of bounds is precision@10."""
    ROWS.to_parquet(tmp_path / "rows.parquet")
    words = ["evaluate", str(tmp_path / "rows.parquet"), "--bounds", "--format", "csv"]
    assert 0 == main([*words, "--null-relevance=nonrelevant", "--short=pad"])
    found = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=[0, 1])
    pd.testing.assert_frame_equal(pd.DataFrame(ROWS.rec(**OPTIONS).bounds()), found)
