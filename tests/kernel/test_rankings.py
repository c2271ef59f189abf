"""Rankings: rules for ties, and runs of whole users."""

import numpy as np
import pytest

from recframe.kernel.rankings import TIE_RULES, Gains, Rankings, map_users


def test_tie_rules():
    """One rule is an expectation; each of the others goes by rows or by relevance."""
    assert ["expected"] == [name for name, rule in TIE_RULES.items() if rule.is_expectation]
    assert {"first": 1, "last": -1, "item": 1} == {
        name: rule.row_order for name, rule in TIE_RULES.items() if rule.row_order
    }
    assert ["first", "last"] == [name for name, rule in TIE_RULES.items() if rule.reads_rows]
    assert {"best": True, "worst": False} == {
        name: rule.relevant_first
        for name, rule in TIE_RULES.items()
        if rule.relevant_first is not None
    }


@pytest.mark.parametrize("n_runs", [1, 7])
def test_runs_of_users_are_all_users(n_runs, monkeypatch):
    """The runs hold every user's rows and gains once, in order."""
    monkeypatch.setattr("recframe.kernel.threads.n_processors", lambda: 7)
    rng = np.random.default_rng(1)
    n_rows = n_runs << 20
    offsets = np.unique(np.append([0, n_rows], rng.integers(0, n_rows, 99)))
    n_users = len(offsets) - 1
    gains = Gains(rng.random(n_rows), np.arange(2.0 * n_users), np.arange(0, 2 * n_users + 1, 2))
    scores = rng.random(n_rows)
    n_unranked = np.arange(n_users)
    rankings = Rankings(scores, scores < 0.1, offsets, n_unranked, gains)
    runs = map_users(lambda run, users: (run, users), rankings)
    parts, users = zip(*runs, strict=True)

    assert n_runs <= len(runs) <= 4 * n_runs
    assert list(range(n_users)) == [user for run in users for user in range(run.start, run.stop)]
    for number, column in enumerate((scores, scores < 0.1)):
        np.testing.assert_array_equal(column, np.concatenate([part[number] for part in parts]))
    sizes = [np.diff(part.offsets) for part in parts]
    np.testing.assert_array_equal(np.diff(offsets), np.concatenate(sizes))
    np.testing.assert_array_equal(n_unranked, np.concatenate([part.n_unranked for part in parts]))
    for field in ("gain", "unranked"):
        column = np.concatenate([getattr(part.gains, field) for part in parts])
        np.testing.assert_array_equal(getattr(gains, field), column)
    assert all(2 * len(part.offsets) - 2 == part.gains.offsets[-1] for part in parts)


def test_gains_where_only_some_rows_are_ranked():
    """The gain of a relevant row that is not ranked is that of an item of its user."""
    gains = Gains(np.arange(6.0), np.array([10.0, 20, 21]), np.array([0, 1, 1, 3]))
    relevant = np.array([True, True, False, True, True, False])
    is_ranked = np.array([True, False, False, False, True, True])
    found = gains.rank(is_ranked, relevant, np.array([0, 3, 4, 6]))

    assert [0, 4, 5] == found.gain.tolist()
    assert [10, 1, 3, 20, 21] == found.unranked.tolist()
    assert [0, 2, 3, 5] == found.offsets.tolist()
