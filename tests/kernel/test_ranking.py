"""Sorted keys give the counts and positions that sorting rows one by one gives."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel import reference
from kernel.strategies import cut, cuts, groups, score_columns
from recframe.kernel.counting import Depth, count, count_ties, find_positions
from recframe.kernel.grouping import Groups
from recframe.kernel.ranking import TIE_RULES, Ranker, Rankings, TieRule

HIGHEST_GRADES = [1, 3, 200, 1 << 16, (1 << 20) + 5]


@st.composite
def some_rankings(draw):
    """Return rankings, and their rows in the form of the reference."""
    grouped, users = draw(groups())
    n_rows = len(users)
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    scores = draw(score_columns(n_rows))
    highest = draw(st.sampled_from(HIGHEST_GRADES))
    grades = rng.integers(1, highest, n_rows, endpoint=True) * (rng.random(n_rows) < 0.4)
    grades = grades.astype(np.min_scalar_type(highest))
    is_ranked = rng.random(n_rows) < 0.7 if draw(st.booleans()) else None
    places = rng.permutation(n_rows) * draw(st.sampled_from([1, 1 << 20, 1 << 40]))
    if is_ranked is not None and scores.dtype.kind == "f":
        scores[~is_ranked] = np.nan
    flags = np.ones(n_rows, bool) if is_ranked is None else is_ranked
    columns = (scores.tolist(), grades.tolist(), flags.tolist(), places.tolist())
    # Python's floats cannot hold the digits of these scores.
    if scores.dtype == np.longdouble:
        columns = (list(scores), *columns[1:])
    rankings = Rankings(grouped, scores, grades, is_ranked, places)
    return rankings, list(zip(users, *columns, strict=True))


def rank_by(rankings, name):
    """Return rankings for a tie rule; only the rule "item" has the order of items."""
    return rankings if name == "item" else rankings._replace(tie_order=None)


def count_all(rankings, rule, n_unlisted, depth):
    """Return the counts of each user: numbers, and (above, tied, grade) of its rows."""
    ranker, numbers, rows = Ranker(rankings, rule), [], []
    for users in ranker.runs():
        found = count(ranker, users, n_unlisted, depth)
        per_user = (found.n_ranked, found.n_relevant, found.n_ranked_relevant)
        numbers += zip(*(each.tolist() for each in per_user), strict=True)
        per_row = (found.above.tolist(), found.tied.tolist(), found.grade.tolist())
        assert sorted(found.user.tolist()) == found.user.tolist()
        own = [[] for _ in range(users.stop - users.start)]
        for user, *row in zip(found.user.tolist(), *per_row, strict=True):
            own[user].append(tuple(row))
        rows += own
    return list(zip(numbers, rows, strict=True))


@pytest.mark.parametrize("name", TIE_RULES)
@given(some_rankings(), cuts(), st.sampled_from([None, (0, True), (2, False), (3, True)]))
def test_counts_are_those_of_rows_in_order(name, drawn, cuts, depth):
    """Counts equal the reference's for all scores, tie rules, depths and slices of rows."""
    rankings, rows = drawn
    n_users = rankings.groups.n_groups
    n_unlisted = np.arange(n_users) % 3
    with cut(*cuts):
        found = count_all(
            rank_by(rankings, name), TIE_RULES[name], n_unlisted, depth and Depth(*depth)
        )

    assert [numbers[0] for numbers, _ in found] == rankings.n_ranked.tolist()

    def depth_of(n_relevant):
        k, at_n_relevant = (len(rows), False) if depth is None else depth
        return max(k, n_relevant * at_n_relevant)

    assert n_users == len(found)
    for user, (numbers, above) in enumerate(found):
        own = reference.rows_of(rows, user)
        expected = reference.count_user(own, name, n_unlisted[user], depth_of)
        assert expected[0] == numbers
        assert sorted(expected[1]) == sorted(above)
        assert [row[0] for row in expected[1]] == [row[0] for row in above]


@pytest.mark.parametrize("by_item", [False, True])
@given(some_rankings(), cuts(), st.sampled_from([1, 2, 7, 30]))
def test_ties_of_users(by_item, drawn, cuts, k):
    """Tied rows, ties across the cut and the hits they decide equal a row-by-row count."""
    rankings, rows = drawn
    with cut(*cuts):
        found = count_ties(rankings if by_item else rankings._replace(tie_order=None), k)

    expected = [
        reference.count_ties(reference.rows_of(rows, user), k)
        for user in range(rankings.groups.n_groups)
    ]
    assert expected == list(zip(*(each.tolist() for each in found), strict=True))


@pytest.mark.parametrize("name", TIE_RULES)
@given(some_rankings(), cuts(), st.sampled_from([None, 1, 4]))
def test_positions_of_rows(name, drawn, cuts, k):
    """Each row shares positions exactly with the rows that its tie rule cannot tell apart."""
    rankings, rows = drawn
    with cut(*cuts):
        found = find_positions(rank_by(rankings, name), TIE_RULES[name], k)

    shared = {}
    for row, first, size, user in zip(*(each.tolist() for each in found), strict=True):
        shared.setdefault((user, first, size), set()).add(row)
    expected = {
        (user, first, size): numbers
        for user in range(rankings.groups.n_groups)
        for first, size, numbers in reference.find_positions(reference.rows_of(rows, user), name, k)
    }
    assert expected == shared
    assert len(found.row) == sum(map(len, shared.values()))
    assert [key for key, _ in groupby(zip(found.user, found.first, strict=True))] == sorted(
        key[:2] for key in expected
    )


def test_positions_of_more_rows_than_a_grade_has_numbers():
    """The positions of rows may exceed the range of the grades' dtype."""
    scores, rows = np.arange(300.0), np.arange(300)
    rankings = Rankings(Groups(1, offsets=np.array([0, 300])), -scores, np.zeros(300, np.uint8))
    found = find_positions(rankings, TieRule())

    assert rows.tolist() == found.row.tolist() == (found.first - 1).tolist()


@pytest.mark.parametrize("name", ["expected", "first", "last", "item"])
@pytest.mark.parametrize(("n_rows", "highest"), [(1 << 12, 1 << 19), (1 << 17, 1 << 14)])
@pytest.mark.parametrize("score", [3, 0.1, 0.1234567])
def test_scores_that_are_all_equal_with_keys_full_of_grades_and_ties(name, n_rows, highest, score):
    """Equal scores are ranked correctly when grades and tie order fill all 32 bits of a key."""
    rng = np.random.default_rng(3)
    grades = rng.integers(0, highest, n_rows, np.uint32)
    grades[0] = highest
    order = rng.permutation(n_rows)
    groups = Groups(1, offsets=np.array([0, n_rows]))
    rankings = Rankings(groups, np.full(n_rows, score), grades, tie_order=order)
    rows = {"first": np.arange(n_rows), "last": -np.arange(n_rows), "item": order}
    numbers = (n_rows, (grades > 0).sum(), (grades > 0).sum())
    ((found, above),) = count_all(rank_by(rankings, name), TIE_RULES[name], np.zeros(1, int), None)

    assert numbers == found
    if name == "expected":
        assert {(0, n_rows)} == {row[:2] for row in above}
    else:
        ranked = grades[np.argsort(rows[name])]
        assert list(zip(np.flatnonzero(ranked), ranked[ranked > 0], strict=True)) == [
            (row, grade) for row, _, grade in above
        ]


def test_users_of_like_scores_beside_one_whose_scores_are_far_apart():
    """Users of close scores are ranked correctly next to a user of very different scores."""
    rng = np.random.default_rng(4)
    close = 1 + np.arange(300) * 2.0**-52
    scores = np.array([rng.permutation(close) for _ in range(999)])
    scores[::7] = rng.standard_normal(300) * 1e300
    scores[1::7, ::2] = 1.0
    grades = (rng.random(scores.shape) < 0.1).astype(np.uint8)
    groups = Groups(999, offsets=np.arange(0, scores.size + 1, 300))
    shuffled = rng.permutation(scores.size)
    apart = Groups(999, codes=groups.codes[shuffled])
    together = Rankings(groups, scores.ravel(), grades.ravel())
    mixed = Rankings(apart, scores.ravel()[shuffled], grades.ravel()[shuffled])
    expected = []
    for user in range(999):
        above = (scores[user] > scores[user][:, None]).sum(axis=1)
        tied = (scores[user] == scores[user][:, None]).sum(axis=1)
        own = grades[user] == 1
        expected.append(sorted(zip(above[own].tolist(), tied[own].tolist(), strict=True)))

    for rankings in (together, mixed):
        found = count_all(rankings, TIE_RULES["expected"], np.zeros(999, int), None)
        assert expected == [[row[:2] for row in rows] for _, rows in found]


@pytest.mark.parametrize("highest", [1, 1 << 10, 1 << 20])
@pytest.mark.parametrize("are_together", [True, False])
def test_scores_that_are_close(highest, are_together):
    """Scores that differ in any single bit do not tie, for any size of grades."""
    bits = 1 << np.arange(1, 52)
    pairs = [[0], [1]], [0 * bits, bits], [0 * bits + 1, bits + 1], [bits - 1, bits]
    below = np.concatenate(pairs, axis=1).T
    one = np.float64(1).view(np.int64)
    scores = np.append((one - below).view(np.float64), [[1e300, 1e-300]], axis=0)
    n_users = len(scores)
    scores = np.concatenate([scores, scores[:, [0, 0]], scores[:, [1, 1]]]).ravel()
    grades = np.full(len(scores), highest, np.min_scalar_type(highest))
    groups = Groups(3 * n_users, offsets=np.arange(0, len(scores) + 1, 2))
    if not are_together:
        order = np.random.default_rng(6).permutation(len(scores))
        groups, scores = Groups(groups.n_groups, codes=groups.codes[order]), scores[order]
    rankings = Rankings(groups, scores, grades)
    found = count_all(rankings, TIE_RULES["expected"], np.zeros(groups.n_groups, int), None)

    differ, same = [(0, 1, highest), (1, 1, highest)], [(0, 2, highest)] * 2
    assert [differ] * n_users + [same] * 2 * n_users == [rows for _, rows in found]


@pytest.mark.parametrize("name", TIE_RULES)
def test_scores_that_all_differ_in_bits_that_keys_have_no_room_for(name):
    """Scores too close for a key are ranked by their ranks, from the first row to the last."""
    scores = np.append(1 + np.arange(300) * 2.0**-52, [-1e300, 1e300])
    rows = np.arange(302)
    grades = (rows + 1).astype(np.uint32)
    rankings = Rankings(Groups(1, offsets=np.array([0, 302])), scores, grades, tie_order=rows)
    ((_, above),) = count_all(rank_by(rankings, name), TIE_RULES[name], np.zeros(1, int), None)

    ranked = [301, *range(299, -1, -1), 300]
    assert [(n_above, 1, row + 1) for n_above, row in enumerate(ranked)] == above


def test_tie_rules():
    """One tie rule is an expectation, and the others use rows, relevance or items."""
    assert ["expected"] == [name for name, rule in TIE_RULES.items() if rule == TieRule()]
    assert ["first", "last"] == [name for name, rule in TIE_RULES.items() if rule.row_order]
    assert ["best", "worst"] == [name for name, rule in TIE_RULES.items() if rule.reads_relevance]
    assert ["item"] == [name for name, rule in TIE_RULES.items() if rule.by_item]


def test_counts_by_hand():
    """The counts of a user with a tie of three equal a hand count under every tie rule."""
    rankings = Rankings(
        Groups(1, offsets=np.array([0, 5])),
        np.array([5.0, 3.0, 3.0, 3.0, 1.0]),
        np.array([0, 1, 0, 2, 1], np.uint8),
    )
    found = {
        name: count(Ranker(rankings, rule), slice(0, 1), np.array([2]))
        for name, rule in TIE_RULES.items()
        if name != "item"
    }

    assert ([5], [5], [3]) == tuple(found["expected"][at].tolist() for at in (0, 1, 5))
    assert ([1, 1, 4], [3, 3, 1]) == tuple(found["expected"][at].tolist() for at in (3, 4))
    assert ([1, 2, 4], [2, 1, 1]) == tuple(found["best"][at].tolist() for at in (3, 6))
    assert ([2, 3, 4], [1, 2, 1]) == tuple(found["worst"][at].tolist() for at in (3, 6))
    assert ([1, 3, 4], [1, 2, 1]) == tuple(found["first"][at].tolist() for at in (3, 6))
    assert ([1, 3, 4], [2, 1, 1]) == tuple(found["last"][at].tolist() for at in (3, 6))
