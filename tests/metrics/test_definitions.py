"""Metrics have their values by hand, also at edges and in ties.

Tests of `f1`, `capped_recall`, `fall_out`, `hit_rate`, `dcg`, `rbp`, `reciprocal_rank`,
`average_precision`, `capped_average_precision` and `auc` belong here, and those of `short` and
`zero_division` for single metrics.
"""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import recframe
import strategies

ASKED = strategies.every_metric(3)
LABELS = [strategies.label(*asked) for asked in ASKED]
OF_WHOLE = [strategies.label(name) for name, k in ASKED if k is None]


def one_user(relevant, scores=None):
    """Return a frame of one user, in ranked order unless scores are passed."""
    scores = range(len(relevant), 0, -1) if scores is None else scores
    return pd.DataFrame({"user": "u", "score": scores, "relevant": relevant})


def values(frame, labels=LABELS, **options):
    """Return the values of the only user for each label."""
    return frame.rec(**options).evaluate(labels).loc["u", "score"].to_dict()


def test_values_by_hand():
    """Metrics of relevant rows at 2, 4 and 5 of six equal values by hand."""
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    gained = 1 / math.log2(3) + 1 / math.log2(5) + 1 / math.log2(6)
    expected = {
        "precision@3": 1 / 3,
        "recall@3": 1 / 3,
        "r_precision": 1 / 3,
        "f1@3": 2 / 6,
        "hit_rate@3": 1.0,
        "hit_rate@1": 0.0,
        "reciprocal_rank": 1 / 2,
        "reciprocal_rank@1": 0.0,
        "average_precision": (1 / 2 + 2 / 4 + 3 / 5) / 3,
        "average_precision@4": (1 / 2 + 2 / 4) / 3,
        "capped_average_precision@2": (1 / 2) / 2,
        "capped_average_precision@4": (1 / 2 + 2 / 4) / 3,
        "ndcg": gained / ideal,
        "ndcg@2": 1 / math.log2(3) / (1 + 1 / math.log2(3)),
        "capped_recall@2": 1 / 2,
        "capped_recall@4": 2 / 3,
        "auc": (2 + 1 + 1) / 9,
        "dcg": gained,
        "dcg@4": 1 / math.log2(3) + 1 / math.log2(5),
        "dcg(offset=0)": 1 + 1 / 2 + 1 / math.log2(5),
        "ndcg(offset=0)@4": (1 + 1 / 2) / (1 + 1 + 1 / math.log2(3)),
        "rbp(p=0.5)": 1 / 4 + 1 / 16 + 1 / 32,
        "rbp(p=0.5)@4": 1 / 4 + 1 / 16,
        "rbp(p=0)@4": 0.0,
        "err(max=1)": (1 / 2) / 2 + (1 / 4) / 4 + (1 / 8) / 5,
        "err(max=1)@4": (1 / 2) / 2 + (1 / 4) / 4,
        "err(max=2)@2": (1 / 4) / 2,
        "fall_out@3": 2 / 3,
        "fall_out@1": 1 / 3,
        "all_relevant@4": 0.0,
        "all_relevant@5": 1.0,
        "judged@3": 1.0,
        "bpref": ((1 - 1 / 3) + 2 * (1 - 2 / 3)) / 3,
    }
    found = values(one_user([0, 1, 0, 1, 1, 0]), list(expected))

    assert expected == pytest.approx(found)


@pytest.mark.parametrize(("name", "k"), ASKED)
def test_tied_by_hand(name, k):
    """A relevant row tied with another at the top counts at the mean of both positions."""
    discount = (1 + 1 / math.log2(3)) / 2
    expected = {
        "precision": 1 / 3,
        "recall": 1.0,
        "r_precision": 1 / 2,
        "f1": 1 / 2,
        "hit_rate": 1.0,
        "reciprocal_rank": 3 / 4,
        "average_precision": 3 / 4,
        "capped_average_precision": 3 / 4,
        "ndcg": discount,
        "capped_recall": 1.0,
        "auc": 3 / 4,
        "ndcg(offset=0)": 1.0,
        "dcg": discount,
        "dcg(offset=0.5)": (1 + 1 / math.log2(2.5)) / 2,
        "rbp(p=0.8)": (0.2 + 0.16) / 2,
        "err(max=4)": (1 + 1 / 2) / 16 / 2,
        "fall_out": 1.0,
        "all_relevant": 1.0,
        "judged": 1.0,
        "bpref": 1 / 2,
    }[name]
    label = strategies.label(name, k)

    assert expected == pytest.approx(values(one_user([1, 0, 0], [9, 9, 1]), label)[label])


@pytest.mark.parametrize("zero_division", [math.nan, 0.0, 1.0])
def test_nothing_relevant(zero_division):
    """Metrics that need relevant rows are `zero_division` when R = 0, and sums over hits are 0."""
    found = values(one_user([0, 0, 0]), zero_division=zero_division)
    expected = {label: strategies.of_no_relevant(label, zero_division, 1.0) for label in LABELS}

    assert expected == pytest.approx(found, nan_ok=True)


@pytest.mark.parametrize(("relevant", "scores"), [([1, 1, 0, 0, 0], None), ([1, 1, 0], [5, 5, 1])])
def test_perfect_rankings(relevant, scores):
    """A perfect ranking has the value 1 exactly, even if the relevant rows tie."""
    # These metrics count rows beyond R too, or are sums.
    never = ("precision", "f1", "dcg", "rbp", "err", "fall_out")
    labels = [label for label in LABELS if strategies.name_of(label) not in never]
    of_whole = [label for label in labels if label in OF_WHOLE]

    assert dict.fromkeys(labels, 1.0) == values(one_user(relevant, scores), labels)
    many = one_user([1] * 999 + [0])
    assert dict.fromkeys(of_whole, 1.0) == values(many, of_whole)


def test_short_rankings():
    """Only precision and f1 change under short="shrink"."""
    frame = one_user([0, 1, 1], [2, 1, None])
    labels = ["precision@4", "f1@4", "recall@4", "capped_recall@4", "hit_rate@4", "auc"]
    for short, expected in {
        "pad": [1 / 4, 2 / 6, 1 / 2, 1 / 2, 1.0, 0.0],
        "shrink": [1 / 2, 2 / 4, 1 / 2, 1 / 2, 1.0, 0.0],
        "nan": [math.nan] * 5 + [0.0],
    }.items():
        found = values(frame, labels, short=short, missing="unranked")
        assert expected == pytest.approx(list(found.values()), nan_ok=True)
    for label in ("ndcg@4", "average_precision@4", "reciprocal_rank@4"):
        with pytest.raises(recframe.RecframeError, match="fewer than k=4 ranked rows"):
            values(frame, label, missing="unranked")


def test_metrics_without_a_cut_off_are_never_short():
    """A single row is enough for metrics without a cut-off, under any `short`."""
    for short in strategies.SHORT:
        found = values(one_user([1]), OF_WHOLE, short=short, zero_division=0.0)
        expected = dict.fromkeys(OF_WHOLE, 1.0) | {"auc": 0.0, "rbp(p=0.8)": 1 - 0.8}
        expected["err(max=4)"] = 1 / 16
        assert expected == found


def test_auc_is_about_ranked_rows():
    """A relevant row without a score changes every metric except AUC."""
    listed = one_user([1, 0, 1, 0])
    with_unranked = one_user([1, 0, 1, 0, 1], [4, 3, 2, 1, None])
    labels = ["auc", "average_precision", "ndcg"]
    before, after = values(listed, labels), values(with_unranked, labels, missing="unranked")

    assert before["auc"] == after["auc"] == 3 / 4
    assert before["average_precision"] * 2 == pytest.approx(after["average_precision"] * 3)
    assert before["ndcg"] > after["ndcg"]
    alone = values(one_user([1, 1, 0], [2, 1, None]), "auc", missing="unranked")
    assert math.isnan(alone["auc"])


@pytest.mark.parametrize("population", ["all", "rows"])
def test_absent_users(population):
    """A user of truth without scores has 0 in every metric, and `population` decides the rest."""
    recs = pd.DataFrame(
        {
            "user": [1, 1, 1, 2, 2, 2],
            "item": [1, 2, 3, 1, 2, 3],
            "score": [3, 2, 1, None, None, None],
        }
    )
    truth = pd.DataFrame({"user": [1, 2, 3], "item": [1, 1, 1]})
    table = recs.rec(truth=truth, population=population, missing="unranked").evaluate(LABELS)[
        "score"
    ]

    assert ([1, 2, 3] if population == "all" else [1, 2]) == table.index.tolist()
    assert (table.loc[2:] == 0).all(axis=None)


def test_a_certain_hit_is_one():
    """The hit rate is exactly 1 if every order of a tie has a hit, and less otherwise."""
    for size in range(4, 50):
        for n_relevant in (1, 2):
            frame = one_user([1] * n_relevant + [0] * (size - n_relevant), [1] * size)
            certain = size - n_relevant + 1
            found = values(frame, [f"hit_rate@{certain}", f"hit_rate@{certain - 1}"])
            assert 1.0 == found[f"hit_rate@{certain}"]
            assert 1.0 > found[f"hit_rate@{certain - 1}"] > 0


def test_a_large_tie():
    """A tie of 300,000 rows equals the closed forms, in linear memory."""
    size = 300_000
    positions = np.arange(1, size + 1)
    labels = ["hit_rate@1000", "reciprocal_rank", "average_precision", "ndcg", "auc"]
    harmonic = math.fsum(1 / positions)
    found = values(one_user([1] + [0] * (size - 1), 1), labels)

    discount = math.fsum(1 / np.log2(1 + positions)) / size
    expected = [1000 / size, harmonic / size, harmonic / size, discount, 1 / 2]
    assert expected == pytest.approx(list(found.values()), rel=1e-12)
    two = values(one_user([1] * 2 + [0] * (size - 2), 1), labels[:1])
    none = Fraction(math.comb(size - 1000, 2), math.comb(size, 2))
    assert float(1 - none) == pytest.approx(two["hit_rate@1000"], rel=1e-12)


def test_a_late_tie_is_as_exact_as_an_early_one():
    """A tie after 100,000 rows is as exact as one at the top."""
    n_before = 100_000
    frame = one_user([0] * n_before + [1, 0, 0], [2] * n_before + [1] * 3)
    terms = [Fraction(1, n_before + nth) for nth in (1, 2, 3)]
    found = values(frame, ["average_precision", "reciprocal_rank"])

    assert [float(sum(terms) / 3)] * 2 == pytest.approx(list(found.values()), rel=1e-15)


@pytest.mark.parametrize(("name", "k"), ASKED)
def test_every_metric_has_a_method(name, k, frame):
    """The method of a metric returns the column of its label, without parameters by default."""
    label = strategies.label(name, k)
    table = strategies.call_method(frame.rec(short="pad"), name, k)

    assert label.replace("(offset=1)", "") == table.columns.name
    pd.testing.assert_series_equal(
        frame.rec(short="pad").evaluate(label)["score", label], table["score"], check_names=False
    )
