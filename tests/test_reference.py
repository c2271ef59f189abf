"""The reference agrees with itself and with cases worked out by hand.

Tests of `ties`, `short`, `missing` and `zero_division` that count by hand belong here.
"""

import math
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from reference import Refused

DEFAULTS = {
    "ties": "expected",
    "short": "raise",
    "missing": "raise",
    "zero_division": math.nan,
    "min_relevance": None,
    "min_score": None,
    "gain": "linear",
    "ascending": None,
}
RANKED = st.lists(st.tuples(st.integers(1, 3), st.booleans()), max_size=6)
GRADED = st.lists(
    st.tuples(st.integers(1, 3), st.sampled_from([(False, 0), (True, 1), (True, 3)])), max_size=6
).map(lambda rows: [(score, *grade) for score, grade in rows])


def one_user(scores, relevant):
    """Return the rows of a single user "u"."""
    return [("u", score, flag) for score, flag in zip(scores, relevant, strict=True)]


def value(rows, metric, k=None, **options):
    """Return the value of the only user of `rows`."""
    (result,) = reference.evaluate(rows, metric, k, **(DEFAULTS | options)).values()
    return result


@given(RANKED, st.integers(0, 7))
def test_expectation_is_the_mean_over_permutations(ranked, cut):
    """The closed formula of expected hits equals the mean over all orders of the tied rows."""
    orders = reference.rankings(ranked)
    expected = Fraction(sum(flag for rows in orders for _, flag in rows[:cut]), len(orders))
    actual = reference.expected_hits(ranked, cut)
    assert expected == actual


@pytest.mark.parametrize(("metric", "k"), strategies.every_metric(2))
@given(ranked=GRADED)
def test_expectations_are_means_over_permutations(metric, k, ranked):
    """The expectation of every metric is its mean over all orders of the tied rows."""
    options = {"ties": "expected", "short": "pad", "zero_division": 0}
    expected = reference.mean_over_permutations(ranked, metric, k)
    actual = reference.value(ranked, metric, k, **options)
    assert float(expected) == pytest.approx(float(actual), rel=1e-12)


@pytest.mark.parametrize(("metric", "k"), strategies.every_metric(2))
@given(ranked=GRADED)
def test_best_and_worst_are_extremes_of_every_metric(metric, k, ranked):
    """The rules "best" and "worst" give the extremes of every metric over orders of ties."""
    options = {"short": "pad", "zero_division": 0}
    found = [
        reference.value(rows, metric, k, ties="first", **options)
        for rows in reference.rankings(ranked)
    ]
    worst, best = (
        float(reference.value(ranked, metric, k, ties=ties, **options))
        for ties in ("worst", "best")
    )
    if metric in strategies.LOW_IS_BEST:
        worst, best = best, worst
    assert (float(min(found)), float(max(found))) == pytest.approx((worst, best), rel=1e-12)


@given(ranked=GRADED, k=st.integers(1, 7))
def test_f1_is_the_harmonic_mean(ranked, k):
    """The f1 of every order of rows is the harmonic mean of precision and recall."""
    options = {"ties": "first", "short": "pad", "zero_division": 0}
    precision, recall, f1 = (
        reference.value(ranked, metric, k, **options) for metric in ("precision", "recall", "f1")
    )
    expected = 2 * precision * recall / (precision + recall) if recall else 0
    assert expected == f1


@pytest.mark.parametrize(("metric", "k"), strategies.every_metric(2))
def test_every_metric_has_a_reference(metric, k):
    """The reference knows every metric, with a value from 0 to 1 for one relevant row."""
    options = {"ties": "expected", "short": "pad", "zero_division": 0}

    assert 0 <= reference.value([(1, True, 1)], metric, k, **options) <= 1


@given(RANKED, st.integers(0, 7))
def test_best_and_worst_are_the_extremes_over_permutations(ranked, cut):
    """The rules "best" and "worst" give the most and the fewest hits over all orders of ties."""
    found = [sum(flag for _, flag in rows[:cut]) for rows in reference.rankings(ranked)]
    assert (min(found), max(found)) == tuple(
        reference.hits(ranked, cut, ties) for ties in ("worst", "best")
    )


@given(st.data())
def test_row_order_is_nothing_to_the_values(data):
    """Shuffling rows changes no value under rules that ignore row order."""
    rows = data.draw(strategies.rows())
    options = data.draw(strategies.options(short="pad", missing="unranked")) | {
        "ties": data.draw(st.sampled_from(["expected", "best", "worst"]))
    }
    metric, k = data.draw(strategies.metrics())
    expected = reference.evaluate(rows, metric, k, **options)
    actual = reference.evaluate(data.draw(st.permutations(rows)), metric, k, **options)
    assert repr(sorted(expected.items())) == repr(sorted(actual.items()))


@pytest.mark.parametrize("metric", ["precision", "recall"])
def test_published_array_example(metric):
    """The notebooks' array example gives 2/3 for both metrics."""
    rows = one_user([0.4, 0.1, 0.2, 0.5, 0.3], [1, 1, 0, 0, 1])
    expected = 2 / 3
    assert expected == value(rows, metric, 3)


@pytest.mark.parametrize(
    ("k", "precision", "recall"), [(3, 0.67, 0.18), (10, 0.80, 0.73), (15, 0.83, 0.91)]
)
def test_published_ratings_example(k, precision, recall):
    """The values in the ratings article follow from its hits, its R and its recommended rows."""
    relevant = [1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 1]
    scores = [*(3.1 - 0.1 * i for i in range(11)), 2.0, 1.9, 1.5, 1.0, 0.5]
    n_recommended = {3: 3, 10: 10, 15: 12}[k]
    options = {"min_relevance": 1, "min_score": 2.0, "short": "shrink"}
    expected = 11
    assert expected == sum(relevant)
    assert n_recommended == min(k, sum(score >= 2.0 for score in scores))
    assert (precision, recall) == tuple(
        round(value(one_user(scores, relevant), metric, k, **options), 2)
        for metric in ("precision", "recall")
    )


@pytest.mark.parametrize(
    ("ties", "hits"),
    [("expected", Fraction(4, 3)), ("first", 1), ("last", 2), ("best", 2), ("worst", 1)],
)
def test_tie_rules(ties, hits):
    """Each tie rule gives the hand-counted hits@2 for a relevant row above a tie of three."""
    ranked = [(2, True), (1, False), (1, False), (1, True)]
    assert hits == reference.hits(ranked, 2, ties)


def test_value_is_rounded_once():
    """A value is the double nearest to the exact fraction, and is rounded only once."""
    rows = one_user([1, 1, 1], [1, 0, 0])
    options = {"short": "pad"}
    assert float(Fraction(1, 3)) == value(rows, "recall", 1, **options)
    assert float(Fraction(2, 3) / 2) == value(rows, "precision", 2, **options)
    assert float(Fraction(1, 7)) == value(rows, "precision", 7, **options)


@pytest.mark.parametrize(
    ("short", "precision", "recall"),
    [("pad", 1 / 4, 1 / 2), ("shrink", 1 / 2, 1 / 2), ("nan", math.nan, math.nan)],
)
def test_short_rankings(short, precision, recall):
    """Short rankings of two rows at k = 4 have the hand-counted values, with an unranked row."""
    rows = one_user([2, 1, None], [1, 0, 1])
    options = {"short": short, "missing": "unranked"}
    assert repr(precision) == repr(value(rows, "precision", 4, **options))
    assert repr(recall) == repr(value(rows, "recall", 4, **options))
    expected = 1 / 2
    assert expected == value(rows, "r_precision", **options)


@pytest.mark.parametrize("zero_division", [math.nan, 0.0, 1.0])
def test_no_relevant_row(zero_division):
    """Without a relevant row sums over hits are 0, and most other metrics `zero_division`."""
    rows = one_user([2, 1], [0, 0])
    for metric, k in strategies.every_metric(1):
        expected = strategies.of_no_relevant(metric, zero_division, fall_out=0.5)
        assert repr(expected) == repr(value(rows, metric, k, zero_division=zero_division))


@pytest.mark.parametrize(("short", "precision"), [("pad", 0.0), ("shrink", 1.0), ("nan", math.nan)])
def test_nothing_ranked(short, precision):
    """A user without a ranked row has the precision that `short` gives, and R still counts."""
    rows = one_user([None], [1])
    options = {"short": short, "missing": "unranked", "zero_division": 1.0}
    assert repr(precision) == repr(value(rows, "precision", 1, **options))
    expected = 0.0
    assert expected == value(rows, "r_precision", **options)


def test_r_precision_with_more_relevant_than_ranked():
    """R-precision divides by R even if only one of R = 3 relevant rows is ranked."""
    rows = one_user([1, None, None], [1, 1, 1])
    expected = 1 / 3
    assert expected == value(rows, "r_precision", missing="unranked")


def test_missing_drop_removes_rows_and_users():
    """missing="drop" removes rows with a null, and users without another row."""
    rows = [("a", 2, 1), ("a", None, 1), ("a", 1, None), ("b", None, 1), (None, 1, 1)]
    expected = {"a": 1.0}
    assert expected == reference.evaluate(rows, "recall", 1, **DEFAULTS | {"missing": "drop"})


def test_user_without_hit_beside_user_with_hits():
    """A user with relevant rows and no hit has the value 0 and stays in the table."""
    rows = [("a", 2, 1), ("a", 1, 0), ("b", 2, 0), ("b", 1, 1)]
    expected = {"a": 1.0, "b": 0.0}
    assert expected == reference.evaluate(rows, "recall", 1, **DEFAULTS)


@pytest.mark.parametrize(
    ("row", "options", "match"),
    [
        ((None, 1, 1), {}, "null user"),
        ((None, 1, 1), {"missing": "unranked"}, "null user"),
        (("u", None, 1), {}, "null score"),
        (("u", 1, None), {"missing": "unranked"}, "relevance"),
        (("u", 1, 2), {}, "neither 0 nor 1"),
        (("u", 1, 0.5), {}, "neither 0 nor 1"),
        (("v", 1, 1), {}, "fewer ranked rows"),
    ],
)
def test_refusals(row, options, match):
    """Nulls that no option allows, relevance other than 0 and 1, and short rankings are refused."""
    rows = [*one_user([3, 2], [1, 0]), row]
    with pytest.raises(Refused, match=match):
        reference.evaluate(rows, "precision", 2, **DEFAULTS | options)


@pytest.mark.parametrize(
    ("ties", "positions"),
    [
        ("expected", [Fraction(5, 2), 1, Fraction(5, 2), None, 1]),
        ("first", [2, 1, 3, None, 1]),
        ("last", [3, 1, 2, None, 1]),
        ("best", [3, 1, 2, None, 1]),
        ("worst", [2, 1, 3, None, 1]),
    ],
)
def test_ranks(ties, positions):
    """Positions count from 1 for each user, follow the tie rule, and skip unranked rows."""
    rows = [("a", 1, 0), ("a", 2, 0), ("a", 1, 1), ("a", None, 1), ("b", 0, 0)]
    assert positions == reference.ranks(rows, ties)


def test_infinities_and_zeros_are_values():
    """Infinite scores rank at the ends, and -0.0 ties with 0.0."""
    rows = one_user([-math.inf, 0.0, -0.0, math.inf], [0, 0, 0, 0])
    expected = [4, Fraction(5, 2), Fraction(5, 2), 1]
    assert expected == reference.ranks(rows, "expected")


@given(st.data())
def test_frame_holds_the_rows(data):
    """A frame gives back its rows, with nulls and integers above 2^53."""
    kinds = data.draw(strategies.kinds())
    rows = data.draw(strategies.rows(**kinds, nulls=("user", "score", "relevant")))
    columns = strategies.frame(rows, **kinds).astype(object)
    actual = [
        tuple(None if pd.isna(cell) else cell for cell in row)
        for row in columns.itertuples(index=False)
    ]
    assert rows == actual
