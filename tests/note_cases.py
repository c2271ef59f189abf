"""Rows for every kind of note, with the note's text, and the kinds that are mistakes."""

import io
import warnings
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pandas as pd

from recframe import RecframeWarning
from recframe.cli import main
from recframe.cli.parser import as_flag

FRAME = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2],
        "item": [1, 2, 3, 1, 2],
        "score": [3, None, 1, 2, None],
        "relevant": [1, 1, 0, 1, 0],
    }
)
TRUTH = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1]})
SEEN = pd.DataFrame({"user": [1, 2, 2], "item": [2, 2, 9]})
WRITTEN = pd.DataFrame(
    {"user": ["ann", "ann", "Bob", "eve"], "item": ["x", "Y", "x", " z"], "score": [3, 2, 1, 4]}
)
ALIKE = pd.DataFrame({"user": ["ann", "ann", "bob", "eve"], "item": ["x", "y", "z", "z"]})
WHOLE = FRAME.assign(score=range(5))
RELEVANT = WHOLE.assign(relevant=1)
NOTHING = WHOLE.assign(relevant=0)
EQUAL = pd.DataFrame(
    {
        "user": np.repeat(range(4), 3),
        "item": range(12),
        "score": [3, 2, 1] * 4,
        "relevant": [0, 1, 0] * 3 + [0] * 3,
    }
)
TWO_MODELS = pd.DataFrame(
    {"user": [1, 2, 1], "relevant": [1, 1, 0], "a": [1.0, 1.0, 0.5], "b": [1.0, None, 0.5]}
)
NO_ITEM = pd.DataFrame(
    {
        "user": np.repeat(["a", "b"], 4),
        "tomo": [*"pqqr", *"sqpp"],
        "haut": "x",
        "score": [3, 2, 2, 1] * 2,
        "relevant": [0, 1, 1, 0] * 2,
    }
)
DROPPED = "missing='drop' removed 2 of 5 rows, and with them"
LOST = "exclude holds 1 of 3 relevant pairs of truth"
# These are y, z and the pairs of bob.
NEAR = "3 of the pairs of truth would match the frame"
CUT = "no ranking is longer than the cut-off"
WITH_TRUTH = {"truth": TRUTH, "missing": "unranked"}
AGGREGATES = {
    "mean": lambda rec: rec.mean("recall@1"),
    "summary": lambda rec: rec.summary("recall@1"),
    "curve": lambda rec: rec.curve("recall", k=1),
    "catalogue": lambda rec: rec.catalogue(1),
    "by": lambda rec: rec.mean("recall@1", by="user"),
}
# Each kind has rows, options, metrics, and the beginning of the sentence.
ARMS = pd.DataFrame(
    {
        "user": np.repeat(range(12), 2),
        "item": [*"ab"] * 12,
        "arm": np.repeat([*"pq"] * 6, 2),
        "score": [2, 1] * 12,
        "relevant": [0, 1] * 12,
    }
)
MISTAKES = {
    "cut": (WHOLE, {"short": "pad"}, ["recall@3"], CUT),
    "all_relevant": (RELEVANT, {}, ["precision@1"], "every ranked row is relevant, so precision"),
    "written_differently": (WRITTEN, {"truth": ALIKE, "population": "all"}, ["recall@1"], NEAR),
    "apart": (
        ARMS,
        {"model": "arm", "short": "pad"},
        ["recall@1"],
        "12 users have a list by one score alone and 0",
    ),
    "exclude_written_differently": (
        WRITTEN,
        {"truth": WRITTEN[["user", "item"]][:3], "exclude": ALIKE[:2], "population": "rows"},
        ["recall@1"],
        "1 of the pairs of exclude would match the frame",
    ),
}
FACTS = {
    "none_relevant": (NOTHING, {}, ["precision@1"], "no ranked row is relevant; check relevant"),
    "no_item_shared": (
        WHOLE.assign(item=[f"./{item}" for item in "abcab"]),
        {"truth": TRUTH.assign(item=list("aba")), "population": "both"},
        ["recall@1"],
        "no item is in both the frame and truth (such as './a' and 'a')",
    ),
    "missing": (FRAME, {"missing": "drop"}, ["recall@1"], DROPPED),
    "exclude": (
        FRAME,
        WITH_TRUTH | {"exclude": SEEN},
        ["recall@1"],
        "exclude removed 2 of 5 rows",
    ),
    "excluded_relevant": (FRAME, WITH_TRUTH | {"exclude": SEEN}, ["recall@1"], LOST),
    "unjudged": (
        FRAME,
        WITH_TRUTH | {"unjudged": "drop"},
        ["recall@1"],
        "unjudged='drop' removed 2 of 5 rows, which truth",
    ),
    "population": (
        WHOLE,
        {"truth": TRUTH.replace({"user": {2: 3}}), "population": "both"},
        ["recall@1"],
        "population leaves out users: 1 of the frame, 1 of truth",
    ),
    "undefined": (
        EQUAL,
        {},
        ["recall@1", "auc", "precision@1"],
        "of 4 users, means leave out 1 in recall@1 (no relevant row), 1 in auc (no relevant row, "
        "or no other); zero_division=0 counts them as 0",
    ),
    "empty": (
        TWO_MODELS,
        {"score": ["a", "b"], "missing": "unranked", "short": "shrink"},
        ["precision@1"],
        "empty lists among 2 users: 1 by b; population and short decide how they count",
    ),
    "other_users": (
        TWO_MODELS,
        {"score": ["a", "b"], "missing": "unranked", "short": "nan"},
        ["precision@1"],
        "of 2 users some have a value by some scores only, 1 by precision@1: means of scores are",
    ),
}
CASES = MISTAKES | FACTS
# Each case has rows, options and a call.
SILENT = {
    "unranked": (FRAME, {"missing": "unranked"}, lambda rec: rec.mean("recall@1")),
    "of each user": (FRAME, {"missing": "drop"}, lambda rec: rec.evaluate("precision@1")),
    "clean": (WHOLE, {"missing": "drop"}, lambda rec: rec.mean("recall@1")),
    "one short ranking": (
        FRAME[:3].assign(score=range(3)),
        {"user": None},
        lambda rec: rec.mean("recall@1"),
    ),
    "nothing lost": (
        FRAME,
        {"missing": "unranked", "truth": TRUTH, "exclude": SEEN[1:]},
        lambda rec: rec.mean("recall@1"),
    ),
}


def run_evaluate(frame, options, metrics, folder, *words):
    """Return the command line's standard output and standard error for rows."""
    frame.to_parquet(folder / "rows.parquet", index=False)
    asked = ["evaluate", str(folder / "rows.parquet"), *words]
    for name, value in options.items():
        if isinstance(value, pd.DataFrame):
            value.to_parquet(folder / f"{name}.parquet", index=False)
            value = folder / f"{name}.parquet"
        several = value if isinstance(value, list) else [value]
        asked += [f"{as_flag(name)}={one}" for one in several]
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        assert 0 == main([*asked, "--metric", *metrics])
    return out.getvalue(), errors.getvalue()


def warnings_of(call):
    """Return recframe's warnings during `call`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught if one.category is RecframeWarning]


def texts_of(table):
    """Return the sentences of the notes of a table, by kind."""
    return {note.kind: note.text for note in table.notes}
