"""Hypothesis strategies: small interaction frames as lists of rows, and options for them.

Values come from small pools, so that ties, users with several rows and awkward numbers are common.
"""

import math
from datetime import datetime
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from recframe.metrics.definitions import DEFINITIONS

TINY, HUGE = 5e-324, 1.7976931348623157e308
TINY_32, HUGE_32 = 2.0**-149, (2 - 2.0**-23) * 2.0**127
JUST_ABOVE_1 = 1 + 2.0**-52


class Kind(NamedTuple):
    """A column's dtype, its dtype with nulls, and a strategy of its cells."""

    dtype: object
    nullable: object
    cells: st.SearchStrategy


CATEGORIES = pd.CategoricalDtype(["unused", "b", "a", "c"])

USERS = {
    "int": Kind("int64", "Int64", st.sampled_from([0, 3, -7, 2**53, 2**53 + 1])),
    "str": Kind("str", "str", st.sampled_from(["", "a", "B", "b", "é"])),
    "datetime": Kind(
        "datetime64[us]",
        "datetime64[us]",
        st.sampled_from([datetime(2020, 1, d) for d in (1, 2, 3)]),
    ),
    "category": Kind(CATEGORIES, CATEGORIES, st.sampled_from(["a", "b", "c"])),
}
SCORES = {
    "float64": Kind(
        "float64",
        "Float64",
        st.sampled_from([-HUGE, -1.0, -TINY, -0.0, 0.0, TINY, 1.0, JUST_ABOVE_1, HUGE, math.inf])
        | st.floats(allow_nan=False, allow_infinity=False),
    ),
    "float32": Kind(
        "float32",
        "Float32",
        st.sampled_from([-HUGE_32, -1.0, -TINY_32, -0.0, 0.0, TINY_32, 1.0, HUGE_32, math.inf])
        | st.floats(allow_nan=False, allow_infinity=False, width=32),
    ),
    "int": Kind(
        "int64", "Int64", st.sampled_from([-(2**63), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1])
    ),
    "ratings": Kind("int8", "Int8", st.integers(1, 5)),
    "sparse": Kind("int8", "Int8", st.sampled_from([0, 0, 0, 1, 2])),
}
RELEVANCE = {
    "bool": Kind("bool", "boolean", st.booleans()),
    "binary": Kind("int8", "Int8", st.integers(0, 1)),
    "graded": Kind("float64", "Float64", st.sampled_from([0.0, 1.0, 1.5, 2.0, 4.0])),
    "sparse": Kind("float64", "Float64", st.sampled_from([0.0, 0.0, 0.0, 1.0, 4.0])),
}

TIES = ("expected", "first", "last", "best", "worst")
# The rule "item" is for frames that have items.
TIES_OF_ITEMS = (*TIES, "item")
SHORT = ("raise", "pad", "shrink", "nan")
MISSING = ("raise", "unranked", "drop")
# Metrics that take parameters are written with these.
PARAMETERS = {
    "ndcg": ["", "(offset=0)"],
    "dcg": ["", "(offset=0.5)"],
    "err": ["(max=4)"],
    "rbp": ["(p=0.8)"],
}
# Each metric, with its parameters as they are written, has the kind of its cut-off.
METRICS = {
    f"{name}{parameters}": definition.cut_off
    for name, definition in DEFINITIONS.items()
    # Other tests draw metrics of a column.
    if not definition.of_column
    for parameters in PARAMETERS.get(name, [""])
}
# These are ratios of whole numbers, divided once; the others are sums of floats.
EXACT = (
    "precision",
    "recall",
    "r_precision",
    "f1",
    "capped_recall",
    "fall_out",
    "auc",
    "judged",
)
# These sum over existing rows, so they are 0 without a relevant row.
SUMS = ("precision", "dcg", "rbp", "err")
# The best value of these is the lowest.
LOW_IS_BEST = ("fall_out",)


def rows(users="int", scores="float64", relevance="bool", *, nulls=(), min_rows=0, max_rows=16):
    """Return a strategy of lists of (user, score, relevant); columns in `nulls` may hold None."""

    def column(name, kind):
        return kind.cells | st.none() if name in nulls else kind.cells

    row = st.tuples(
        column("user", USERS[users]),
        column("score", SCORES[scores]),
        column("relevant", RELEVANCE[relevance]),
    )
    drawn = st.lists(row, min_size=min_rows, max_size=max_rows)
    return drawn.filter(lambda found: not looks_masked(found))


def looks_masked(rows):
    """Return whether rows share a worst score so far from others that it may be a mask."""
    scores = [score for _, score, _ in rows if score is not None and math.isfinite(score)]
    return is_far_below(scores) or is_far_below([-score for score in scores])


def is_far_below(scores):
    """Return whether the lowest of several scores comes twice, and is far below all others."""
    low = min(scores, default=0)
    others = [score for score in scores if score != low]
    if low >= -100 or scores.count(low) < 2 or not others:
        return False
    return min(others) - low > 10 * max(max(others) - min(others), 0.5)


def many_rows(*kinds, nulls=(), **named):
    """Return a strategy of lists of rows in which the rows of each user are a ranking.

    Lists of any size are short on average. A call takes as long for many rows as for few, so that
    fewer examples of more users and longer rankings show more.
    """
    return rows(*kinds, **named, nulls=nulls, min_rows=8, max_rows=40)


def frame(rows, users="int", scores="float64", relevance="bool"):
    """Return the rows as a DataFrame; a column with None gets its kind's nullable dtype."""
    kinds = {"user": USERS[users], "score": SCORES[scores], "relevant": RELEVANCE[relevance]}
    columns = {}
    for place, (name, kind) in enumerate(kinds.items()):
        values = [row[place] for row in rows]
        columns[name] = pd.Series(values, dtype=kind.nullable if None in values else kind.dtype)
    return pd.DataFrame(columns)


def kinds():
    """Return a strategy of keyword arguments for `rows` and `frame`: the kinds of columns."""
    return st.fixed_dictionaries(
        {
            "users": st.sampled_from(sorted(USERS)),
            "scores": st.sampled_from(sorted(SCORES)),
            "relevance": st.sampled_from(sorted(RELEVANCE)),
        }
    )


def options(*, has_items=False, **fixed):
    """Return a strategy of the options of one evaluation; keyword arguments fix some of them."""
    choices = {
        "ties": st.sampled_from(TIES_OF_ITEMS if has_items else TIES),
        "short": st.sampled_from(SHORT),
        "missing": st.sampled_from(MISSING),
        "zero_division": st.sampled_from([math.nan, 0.0, 1.0]),
        "min_relevance": st.sampled_from([None, 1, 2.0]),
        "min_score": st.sampled_from([None, 0, 1.0]),
        "gain": st.sampled_from(["linear", "exponential", "binary"]),
        "ascending": st.sampled_from([None, False, True]),
    }
    drawn = st.fixed_dictionaries(choices | {name: st.just(value) for name, value in fixed.items()})
    return drawn.filter(lambda found: found["min_score"] is None or not found["ascending"])


def metrics():
    """Return a strategy of (metric, k); k may exceed any ranking, and is None for no cut-off."""
    needed = [name for name, cut_off in METRICS.items() if cut_off != "none"]
    whole = [name for name, cut_off in METRICS.items() if cut_off != "needed"]
    cut_offs = st.tuples(st.sampled_from(needed), st.integers(1, 20))
    return cut_offs | st.tuples(st.sampled_from(whole), st.none())


def label(name, k=None):
    """Return the label of a metric at a cut-off, if it has one."""
    return name if k is None else f"{name}@{k}"


def name_of(label):
    """Return the name of a metric without its parameters and cut-off."""
    return label.partition("@")[0].partition("(")[0]


def call_method(accessor, name, k):
    """Return the result of a metric's method, called with its parameters and cut-off."""
    name, _, given = name.rstrip(")").partition("(")
    parameters = dict(part.split("=") for part in given.split(", ") if part)
    given = {key: float(number) for key, number in parameters.items()}
    return getattr(accessor, name)(**given, **({} if k is None else {"k": k}))


def of_no_relevant(metric, zero_division, fall_out):
    """Return the value of a metric without a relevant row; for fall-out return `fall_out`."""
    name = name_of(metric)
    return {"fall_out": fall_out, "judged": 1.0}.get(name, 0.0 if name in SUMS else zero_division)


def every_metric(k):
    """Return every (metric, k), and the metrics of whole rankings with None."""
    asked = [(name, k) for name, cut_off in METRICS.items() if cut_off != "none"]
    return asked + [(name, None) for name, cut_off in METRICS.items() if cut_off != "needed"]


def at_cut_offs(cut_offs):
    """Return the labels of every metric at these cut-offs, and of whole rankings."""
    asked = dict.fromkeys(pair for k in cut_offs for pair in every_metric(k))
    return [label(*pair) for pair in asked] + [f"mean(score)@{k}" for k in cut_offs]


def sparse_frame():
    """Return graded rows of eight users; every other user has the relevant rows in a long last tie.

    The tie is below any small cut-off.
    """
    rng = np.random.default_rng(6)
    users = np.repeat(np.arange(8), 60)
    scores = rng.choice([0, 1, 2, 3], len(users), p=[0.6, 0.2, 0.1, 0.1])
    grades = rng.choice([0, 1, 4], len(users), p=[0.6, 0.2, 0.2])
    grades[(users % 2 == 0) & (scores > 0)] = 0
    return pd.DataFrame({"user": users, "score": scores, "relevant": grades})


def assert_value(expected, actual, metric):
    """Assert that a value is the nearest float, or close to it if a metric sums floats."""
    if name_of(metric) in EXACT:
        assert repr(float(expected)) == repr(float(actual))
    else:
        assert pytest.approx(expected, rel=1e-12, abs=1e-300, nan_ok=True) == actual
