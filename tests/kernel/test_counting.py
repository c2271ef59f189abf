"""Counting: the rows above relevant rows and tied with them."""

from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recframe.kernel.counting import Depth, count, count_blocks, count_ties, rank_rows
from recframe.kernel.grouping import group_offsets, sum_by_user
from recframe.kernel.rankings import TIE_RULES, Rankings
from recframe.kernel.sort_keys import short_keys
from recframe.kernel.sorting import sorted_blocks


def test_counts_by_hand():
    """One user: a row above, a tie of three with two relevant rows, one below."""
    rankings = Rankings(
        np.array([5.0, 3.0, 3.0, 3.0, 1.0]),
        np.array([False, True, False, True, True]),
        np.array([0, 5]),
        np.array([2]),
    )
    counts = count(rankings, TIE_RULES["expected"])

    assert ([5], [5]) == (counts.n_ranked.tolist(), counts.n_relevant.tolist())
    assert [(0, 1, 3), (0, 1, 3), (0, 4, 1)] == list(
        zip(counts.user.tolist(), counts.above.tolist(), counts.tied.tolist(), strict=True)
    )
    assert [1, 2, 4] == count(rankings, TIE_RULES["best"]).above.tolist()
    assert [2, 3, 4] == count(rankings, TIE_RULES["worst"]).above.tolist()
    assert [1, 3, 4] == count(rankings, TIE_RULES["first"]).above.tolist()
    assert [1, 3, 4] == count(rankings, TIE_RULES["last"]).above.tolist()


@pytest.mark.parametrize("rule", TIE_RULES.values(), ids=TIE_RULES)
def test_scores_that_differ_in_their_last_bits_are_told_apart(rule):
    """Short keys they share are no ties: of users of one block some share them, some do not."""
    rng = np.random.default_rng(4)
    close = 1 + np.arange(4) * 2.0**-52
    scores = rng.permuted(np.tile([*close, 2.0, 2.5, 3.0, 4.0], (50, 1)), axis=1)
    scores[::7] = np.arange(8) * 1e9
    scores[1::7, ::2] = 1.0
    relevant = rng.random(scores.shape) < 0.4
    offsets = np.arange(0, scores.size + 1, 8)
    found = count(Rankings(scores.ravel(), relevant.ravel(), offsets, 0), rule)
    ranks = np.unique(scores, return_inverse=True)[1]
    expected = count(Rankings(ranks.ravel(), relevant.ravel(), offsets, 0), rule)

    assert not short_keys(scores.ravel(), relevant.ravel(), room=0).is_exact
    assert short_keys(ranks.ravel(), relevant.ravel(), room=0).is_exact
    for counts in (found, expected):
        assert relevant.sum() == len(counts.user)
    assert sorted(zip(*expected[2:5], strict=True)) == sorted(zip(*found[2:5], strict=True))


@pytest.mark.parametrize(("name", "row_order"), [("first", 1), ("last", -1)])
@pytest.mark.parametrize("step", [1, 1 << 15, 1 << 16, 1 << 24])
@pytest.mark.parametrize("k", [3, 300])
def test_row_order_where_exact_keys_have_no_room_for_columns(k, step, name, row_order):
    """Tied rows of long lists go by row order, even if the bits of integer scores leave no room."""
    rng = np.random.default_rng(11)
    scores, relevant = step * rng.integers(0, 50, (4, 300)), rng.random((4, 300)) < 0.3
    rankings = Rankings(scores.ravel(), relevant.ravel(), np.arange(0, 1_201, 300), 0)
    is_exact, n_bits = short_keys(rankings.scores, rankings.relevant, room=0)[1:]
    row = np.arange(300) * row_order
    ranked = [relevant[user, np.lexsort((row, -scores[user]))] for user in range(4)]
    expected = [(user, above) for user in range(4) for above in np.flatnonzero(ranked[user][:k])]
    found = count(rankings, TIE_RULES[name], Depth(k, at_n_relevant=False))

    assert is_exact
    assert (n_bits + 9 > 31) == (step > 1 << 15)  # 300 columns have 9 bits
    assert expected == sorted(zip(found.user.tolist(), found.above.tolist(), strict=True))


@st.composite
def some_rankings(draw):
    """Return rankings with scores that short keys tell apart, or do not."""
    sizes = draw(st.lists(st.integers(0, 30), min_size=1, max_size=6))
    n_scores = draw(st.sampled_from([2, 40, 2**40]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.integers(0, n_scores, sum(sizes)) + rng.choice([0, 2.0**-20])
    relevant = rng.random(sum(sizes)) < draw(st.sampled_from([0.1, 0.5]))
    return Rankings(scores, relevant, group_offsets(np.array(sizes)), np.arange(1))


def rows(columns, depths):
    """Return (user, above, tied) of rows that have fewer rows above them than depths say."""
    return sorted(row for row in zip(*columns, strict=True) if row[1] < depths[row[0]])


@pytest.mark.parametrize("rule", TIE_RULES.values(), ids=TIE_RULES)
@given(some_rankings(), st.sampled_from([0, 1, 3, 50]), st.booleans())
def test_rows_down_to_a_depth(rule, rankings, k, at_n_relevant):
    """With a depth the same rows are counted, but for those that have as many rows above them."""
    depth = Depth(k, at_n_relevant or k == 0)
    every, found = count(rankings, rule), count(rankings, rule, depth)
    n_relevant = sum_by_user(rankings.relevant, rankings.offsets)
    depths = np.maximum(depth.k, n_relevant * depth.at_n_relevant)

    assert n_relevant.tolist() == found.n_relevant.tolist() == every.n_relevant.tolist()
    assert n_relevant.sum() == len(every.user)
    assert rows(every[2:5], depths) == sorted(zip(*found[2:5], strict=True))


@pytest.mark.parametrize("rule", TIE_RULES.values(), ids=TIE_RULES)
@pytest.mark.parametrize(("width", "n_pieces"), [(512, 16), (6, 16), (6, 2)])
@given(some_rankings(), st.sampled_from([1, 3, 50]), st.sampled_from([8, 1 << 18]))
def test_blocks_and_pieces_change_nothing(rule, width, n_pieces, rankings, k, cells):
    """The same rows are found in blocks of any size, whole or down to a depth, cut or parted."""
    depths = np.minimum(np.diff(rankings.offsets), k)

    def find(depths_asked=None, **sizes):
        with mock.patch.multiple("recframe.kernel.sorting", **sizes):
            blocks = count_blocks(sorted_blocks(rankings, rule, depths_asked), rule)
            return [row for block in blocks for row in rows(block, depths)]

    every = find(MOST_CELLS=1 << 18)
    found = find(depths, MOST_CELLS=cells, MOST_COLUMNS=width, MOST_PIECES=n_pieces)

    assert sorted(every) == sorted(found)


@pytest.mark.parametrize("rule", TIE_RULES.values(), ids=TIE_RULES)
def test_one_relevant_row_each_is_counted_as_many_are(rule):
    """Where no user has two relevant rows nothing is sorted, and the counts are the same."""
    rng = np.random.default_rng(7)
    scores, relevant = rng.integers(0, 3, (40, 9)), np.zeros((40, 9), bool)
    relevant[np.arange(40), rng.integers(0, 9, 40)] = True
    relevant[0] = False
    offsets = np.arange(0, scores.size + 1, 9)
    rankings = Rankings(scores.ravel(), relevant.ravel(), offsets, np.zeros(40, np.int64))
    blocks = count_blocks(sorted_blocks(rankings, rule), rule)
    expected = [row for block in blocks for row in zip(*block, strict=True)]

    assert sorted(expected) == sorted(zip(*count(rankings, rule)[2:5], strict=True))


@pytest.mark.parametrize("name", TIE_RULES)
@given(some_rankings())
def test_positions_of_rows(name, rankings):
    """Each row has the positions of those that its rule does not tell apart: first and mean."""
    rule = TIE_RULES[name]
    first, mean = rank_rows(rankings, rule)
    for start, stop in pairwise(rankings.offsets.tolist()):
        keys = []
        for row in range(start, stop):
            relevance = rankings.relevant[row] != rule.relevant_first
            decided = relevance if rule.relevant_first is not None else row * rule.row_order
            keys.append((-rankings.scores[row], decided))
        for row, key in zip(range(start, stop), keys, strict=True):
            n_above, n_tied = sum(other < key for other in keys), keys.count(key)

            assert (n_above + 1, n_above + (n_tied + 1) / 2) == (first[row], mean[row])


@given(some_rankings(), st.sampled_from([1, 2, 3, 8, 29, 30]))
def test_ties_of_users(rankings, k):
    """Tied rows, ties across the cut and the hits they decide are those found one by one."""
    found = count_ties(rankings, k)
    for user, (start, stop) in enumerate(pairwise(rankings.offsets.tolist())):
        scores, relevant = rankings.scores[start:stop], rankings.relevant[start:stop]
        best, worst = (
            relevant[np.lexsort((relevant == is_first, -scores))][:k] for is_first in (False, True)
        )
        ranked = np.sort(scores)[::-1].tolist()

        assert relevant.sum() == found.n_relevant[user]
        assert sum(ranked.count(score) > 1 for score in ranked) == found.n_tied[user]
        assert (k < len(ranked) and ranked[k - 1] == ranked[k]) == found.is_cut[user]
        assert best.sum() == found.most_hits[user]
        assert worst.sum() == found.fewest_hits[user]
