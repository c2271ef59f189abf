"""Expectations over ties equal hand counts, for few rows and for very many."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import recframe  # noqa: F401


def tie(n_rows, n_relevant, n_above=0):
    """Return the accessor of one user, with n_above irrelevant rows above a tie."""
    flags = np.arange(n_above + n_rows) >= n_above + n_rows - n_relevant
    scores = (np.arange(n_above + n_rows) < n_above) * np.arange(n_above + n_rows, 0, -1)
    return pd.DataFrame({"user": 1, "score": scores, "relevant": flags}).rec


def evaluate(bound, *labels):
    """Return the values of the only user."""
    return bound.evaluate(labels).to_numpy()[0].tolist()


def test_the_worked_example():
    """A tie of three rows with one relevant has two thirds of a hit at k = 2."""
    expected = [(2 / 3) / 2, 2 / 3, 2 / 3, (1 + 1 / 2) / 3]
    labels = ["precision@2", "recall@2", "hit_rate@2", "reciprocal_rank@2"]

    assert expected == pytest.approx(evaluate(tie(3, 1), *labels), rel=1e-15)


def chance_of_none(n_rows, n_relevant, k):
    """Return the probability that no relevant row of a tie is among its first k rows."""
    factors = [Fraction(n_rows - k - i, n_rows - i) for i in range(n_relevant)]
    return math.prod(factors, start=Fraction(1))


@pytest.mark.parametrize("n_above", [0, 10**5])
@pytest.mark.parametrize(("n_rows", "n_relevant"), [(10**6, 1), (10**5, 5), (3000, 40), (90, 80)])
def test_chances_in_a_large_tie(n_rows, n_relevant, n_above):
    """Chances in a large tie are hypergeometric to 1e-12, also where they are tiny."""
    for room in (1, 8, 30, n_rows // 2, n_rows - n_relevant):
        k = n_above + room
        labels = [f"hit_rate@{k}", f"all_relevant@{k}", f"hit_rate@{k + 1}"]
        hit, everything, beyond = evaluate(tie(n_rows, n_relevant, n_above), *labels)
        is_open = room >= n_relevant
        of_all = chance_of_none(n_rows, n_relevant, n_rows - room) if is_open else 0

        assert float(1 - chance_of_none(n_rows, n_relevant, room)) == pytest.approx(hit, rel=1e-12)
        assert float(of_all) == pytest.approx(everything, rel=1e-12)
        assert hit <= beyond <= 1
        assert room < n_rows - n_relevant or beyond == 1


@pytest.mark.parametrize("n_above", [0, 7, 10**5])
def test_sums_over_a_large_tie(n_above):
    """Sums over a large tie lose no digits, however far down the tie is."""
    n_rows, n_relevant = 2000, 300
    positions = range(n_above + 1, n_above + n_rows + 1)
    chance, step = n_relevant / n_rows, (n_relevant - 1) / (n_rows - 1)
    labels = ["dcg", "dcg(offset=0)", "average_precision", "rbp(p=0.5)", f"dcg@{n_above + 9}"]
    expected = [
        chance * math.fsum(1 / math.log2(1 + at) for at in positions),
        chance * math.fsum(1 / max(1, math.log2(at)) for at in positions),
        math.fsum((1 + nth * step) / at for nth, at in enumerate(positions)) / n_rows,
        chance * math.fsum(0.5**at for at in positions),
        chance * math.fsum(1 / math.log2(1 + at) for at in positions[:9]),
    ]

    assert expected == pytest.approx(evaluate(tie(n_rows, n_relevant, n_above), *labels), rel=1e-13)


def test_the_first_of_a_tie_that_all_but_one_are():
    """A single irrelevant row of a tie stands first with probability 1 / t."""
    for n_rows in (2, 3, 10**5):
        expected = (n_rows - 1) / n_rows + 1 / n_rows / 2
        found = evaluate(tie(n_rows, n_rows - 1), "reciprocal_rank", "hit_rate@2")

        assert [expected, 1.0] == pytest.approx(found, rel=1e-15)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 49, 1000])
def test_a_tie_of_relevant_rows_is_as_good_as_ranked(n_rows):
    """A tie of relevant rows only has the bits of a ranking of them."""
    labels = ["ndcg", "average_precision", "err(max=1)", "rbp(p=0.8)", "dcg", "auc", "bpref"]
    for n_above in (0, 3):
        tied, ranked = (tie(n_rows, n_rows, n_above), tie(n_rows, n_rows, n_above)(ties="first"))
        assert evaluate(tied, *labels) == pytest.approx(
            evaluate(ranked, *labels), rel=0, nan_ok=True
        )
    assert [1.0, 1.0] == evaluate(tie(n_rows, n_rows), "ndcg", "average_precision")
