"""Rows of which something is left out, and what the means of them are to be warned of."""

import warnings

import pandas as pd

from recframe import RecframeWarning

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
DROPPED = r"missing='drop' removed 2 of 5 rows \(40%\)"
LOST = "exclude holds 1 of 3 relevant pairs of truth"
NEAR = "3 pairs of truth would match the frame"  # y, z and those of bob
CUT = "no ranking is longer than the cut-off of recall"
OF_FEWER = "auc is undefined for 1 user with relevant"
NONE_RANKED = "b ranks no row of 1 user, whom others rank"
ALL_RELEVANT = pd.DataFrame({"user": [1, 1, 2], "score": [2, 1, 1], "relevant": [1, 0, 1]})
TWO_MODELS = pd.DataFrame({"user": [1, 2], "relevant": [1, 1], "a": [1.0, 1.0], "b": [1.0, None]})
AGGREGATES = {
    "mean": lambda rec: rec.mean("recall@1"),
    "summary": lambda rec: rec.summary("recall@1"),
    "curve": lambda rec: rec.curve("recall", k=1),
    "catalogue": lambda rec: rec.catalogue(1),
    "by": lambda rec: rec.mean("recall@1", by="user"),
}
CASES = {  # by kind: rows, options, metrics, and the warning
    "dropped": (FRAME, {"missing": "drop"}, "recall@1", DROPPED),
    "excluded": (
        FRAME,
        {"truth": TRUTH, "exclude": SEEN, "missing": "unranked"},
        "recall@1",
        LOST,
    ),
    "written differently": (WRITTEN, {"truth": ALIKE, "population": "all"}, "recall@1", NEAR),
    "cut at k": (FRAME.assign(score=range(5)), {"short": "pad"}, "recall@3", CUT),
    "of fewer users": (ALL_RELEVANT, {}, ["auc", "precision@1"], OF_FEWER),
    "none ranked": (
        TWO_MODELS,
        {"score": ["a", "b"], "missing": "unranked", "short": "shrink"},
        "precision@1",
        NONE_RANKED,
    ),
}
SILENT = {  # rows, options, and the call
    "unranked": (FRAME, {"missing": "unranked"}, lambda rec: rec.mean("recall@1")),
    "of each user": (FRAME, {"missing": "drop"}, lambda rec: rec.evaluate("recall@1")),
    "clean": (FRAME.dropna(), {"missing": "drop"}, lambda rec: rec.mean("recall@1")),
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


def warnings_of(call):
    """Return what `call` is warned of by recframe."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in said if one.category is RecframeWarning]
