"""Tied rows: which rows share their score with another of their user. NumPy only."""

from collections.abc import Callable, Iterator

import numpy as np

from recframe.kernel.counting import Places
from recframe.kernel.grouping import (
    find_flags,
    group_offsets,
    number_members,
    run_sizes,
    run_starts,
    sum_by_row,
    sum_by_user,
)
from recframe.kernel.rankings import TIE_RULES, Rankings, map_users
from recframe.kernel.runs import order_runs, size_blocks
from recframe.kernel.sort_keys import rankable, short_keys, to_keys
from recframe.kernel.sorting import MOST_CELLS, count_unused, mark, sorted_blocks
from recframe.kernel.threads import Array

N_SAMPLED = 1 << 10  # scores that show whether ties are many
MOST_PAIRS = 2  # of a relevant row and one tied with it, for each row, such that all are compared


def find_tied(rankings: Rankings) -> Array:
    """Return which rows share their score with another of their user."""
    is_tied = np.zeros(len(rankings.relevant), bool)
    blocks = sorted_blocks(rankings, TIE_RULES["best"])
    found = [users[flags.any(axis=1)] for users, _, flags in blocks if flags is not None]
    if found:
        # Only the rows of users with a tie are sorted such that they are known thereafter.
        rows, sizes = _group_by_score(rankings, np.sort(np.concatenate(found)))
        is_tied[rows[np.repeat(sizes > 1, sizes)]] = True
    return is_tied


def find_relevant_ties(rankings: Rankings) -> tuple[Array, Array]:
    """Return the rows of each tie that has a relevant one, and how many each has.

    They come tie after tie, and those of a tie in order.
    """
    are_many = _count_scores(rankings) is not None

    def find(run: Rankings, users: slice) -> tuple[Array, Array]:
        found = _find_numbered(run) if are_many else None
        rows, sizes = _find_sorted(run) if found is None else found
        return rows + rankings.offsets[users.start], sizes

    rows, sizes = map(np.concatenate, zip(*map_users(find, rankings), strict=True))
    return rows, sizes


def _find_numbered(rankings: Rankings) -> tuple[Array, Array] | None:
    """Return what `find_relevant_ties` does, None where keys have no room for numbers of rows."""
    numbered = sort_numbered(rankings)
    if numbered is None:
        return None
    n_bits, blocks = numbered
    rows, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for users, keys in blocks:
        bounds = np.append(_begin_ties(keys, n_bits), keys.size)
        n_relevant = sum_by_user(keys.ravel().astype(np.uint8) & 1, bounds)
        sizes = np.diff(bounds)
        chosen = np.flatnonzero((n_relevant > 0) & (sizes > 1))
        first, sizes = bounds[chosen], sizes[chosen]
        cells = np.repeat(first - group_offsets(sizes)[:-1], sizes)
        cells += np.arange(len(cells))
        starts = rankings.offsets[users[first // keys.shape[1]]]
        rows.append(np.repeat(starts, sizes) + _numbers(keys, cells, n_bits))
        numbers.append(sizes)
    return np.concatenate(rows), np.concatenate(numbers)


def place_by_text(
    rankings: Rankings, find_higher: Callable[[Array, Array, Array], Array | None]
) -> Places | None:
    """Return the places of relevant rows where of tied rows the last text comes first.

    Given is what `text_order.find_higher` finds of these rows. None where keys have no room for
    numbers of rows, where a text repeats in a tie, and where to put ties in order takes less.
    """
    numbered = sort_numbered(rankings)
    if numbered is None:
        return None
    n_bits, blocks = numbered
    found = [Places(*np.zeros((3, 0), np.int64))]
    for users, keys in blocks:
        width = keys.shape[1]
        # Where relevant rows stand, where their ties begin, and how many others are in these.
        bounds = np.append(begins := _begin_ties(keys, n_bits), keys.size)
        marks = keys.ravel().astype(np.uint8)
        marks &= 1
        cells = find_flags(marks.view(bool))
        tie = np.searchsorted(begins, cells, side="right") - 1
        place, n_others = bounds[tie], bounds[tie + 1] - bounds[tie] - 1
        row = cells // width
        starts = rankings.offsets[users[row]]
        rows = starts + _numbers(keys, cells, n_bits)
        in_tie = np.flatnonzero(n_others)
        sizes = n_others[in_tie]
        if sizes.sum() > MOST_PAIRS * min(keys.size, MOST_CELLS):
            return None
        offsets = group_offsets(sizes)
        # Each is compared with the others of its tie, so that nothing else is put in order.
        others = np.repeat(place[in_tie] - offsets[:-1], sizes)
        others += np.arange(len(others))
        others += others >= np.repeat(cells[in_tie], sizes)
        others = np.repeat(starts[in_tie], sizes) + _numbers(keys, others, n_bits)
        is_higher = find_higher(rows[in_tie], others, sizes)
        if is_higher is None:
            return None
        place[in_tie] += sum_by_user(is_higher, offsets)
        order = np.argsort(place, kind="stable")
        row = row[order]
        found.append(Places(users[row], place[order] - row * width, rows[order]))
    return Places(*map(np.concatenate, zip(*found, strict=True)))


def are_few_pairs(rankings: Rankings) -> bool:
    """Return whether scores seem to repeat, but each only so often that `place_by_text` pays."""
    n_scores, n_rows = _count_scores(rankings), len(rankings.scores)
    if n_scores is None:
        return False
    n_like = n_rows / (len(rankings.offsets) - 1) / n_scores
    return bool(np.count_nonzero(rankings.relevant) * n_like <= MOST_PAIRS * n_rows)


def _count_scores(rankings: Rankings) -> int | None:
    """Return how many distinct scores there seem to be, None where most rows have their own."""
    rows = np.arange(0, len(rankings.scores), max(1, len(rankings.scores) // N_SAMPLED))
    sample = rankings.scores.take(rows)
    n_scores = len(np.unique(sample))
    return n_scores if 2 * n_scores < len(sample) else None


def sort_numbered(rankings: Rankings) -> tuple[int, Iterator[tuple[Array, Array]]] | None:
    """Return users with a relevant row, block by block, and the keys of their rows in order.

    A key is that of the score, then the number of the row among those of its user, in so many bits,
    which come first, then one bit that says whether it is relevant. None where there is no room.
    """
    scores, relevant, offsets, *_ = rankings
    n_bits = int(np.diff(offsets).max(initial=0)).bit_length()
    short = short_keys(rankable(scores), relevant, room=0)
    # A bit stays free, by which pads are higher than all rows.
    n_over = max(0, short.n_bits + n_bits - (30 if short.n_bits < 32 else 31))
    if not short.is_exact or count_unused(short.keys) < n_over:
        return None
    by_score = short.keys >> (n_over + 1)
    by_score <<= n_bits + 1
    by_score |= relevant
    users = np.flatnonzero(sum_by_user(relevant, offsets))
    pad = (1 << 31) - (2 << n_bits)  # which is not marked

    def sort() -> Iterator[tuple[Array, Array]]:
        for own, keys in size_blocks(by_score, offsets, users, pad):
            keys |= np.arange(0, 2 * keys.shape[1], 2, dtype=np.int32)
            keys.sort(axis=1)
            yield own, keys

    return n_bits, sort()


def _begin_ties(keys: Array, n_bits: int) -> Array:
    """Return at which of the cells of sorted keys a score begins that is not that of the last."""
    begins = np.ones(keys.shape, bool)
    differing = (keys[:, 1:] ^ keys[:, :-1]).view(np.uint32)
    np.greater_equal(differing, 2 << n_bits, out=begins[:, 1:])
    return np.flatnonzero(begins)


def _numbers(keys: Array, cells: Array, n_bits: int) -> Array:
    """Return the numbers of rows, among those of their users, in these cells of keys."""
    numbers: Array = keys.ravel()[cells] >> 1 & ((1 << n_bits) - 1)
    return numbers


def _find_sorted(rankings: Rankings) -> tuple[Array, Array]:
    """Return what `find_relevant_ties` does, of users whose ties have been found by short keys."""
    users = np.flatnonzero(_have_tied_relevant(rankings))
    rows, sizes = _group_by_score(rankings, users)
    is_chosen = (sizes > 1) & (sum_by_user(rankings.relevant[rows], group_offsets(sizes)) > 0)
    rows, sizes = rows[np.repeat(is_chosen, sizes)], sizes[is_chosen]
    return rows[order_runs(rows, sizes, len(rankings.relevant))], sizes


def _group_by_score(rankings: Rankings, users: Array) -> tuple[Array, Array]:
    """Return the rows of users, those of one score together, and how many these are."""
    starts = rankings.offsets[users]
    n_rows = rankings.offsets[users + 1] - starts
    user, number = number_members(n_rows)
    rows = starts[user] + number
    keys = to_keys(rankable(rankings.scores.take(rows)))
    order = order_runs(keys, n_rows, np.iinfo(keys.dtype).max)
    return rows[order], run_sizes(run_starts(user, keys[order]), len(order))


def _have_tied_relevant(rankings: Rankings) -> Array:
    """Return which users have a relevant row that shares its score with another row."""
    have_tied = np.zeros(len(rankings.n_unranked), bool)
    n_relevant = sum_by_user(rankings.relevant, rankings.offsets)
    depths = np.where(n_relevant == 0, 0, np.diff(rankings.offsets))
    for users, keys, is_tied_with_next in sorted_blocks(rankings, TIE_RULES["expected"], depths):
        if is_tied_with_next is not None:
            is_tied = is_tied_with_next.copy()
            is_tied[:, 1:] |= is_tied_with_next[:, :-1]
            is_tied &= keys.astype(np.uint8) & 1 == mark(TIE_RULES["expected"])
            have_tied[users] = sum_by_row(is_tied) > 0
    return have_tied
