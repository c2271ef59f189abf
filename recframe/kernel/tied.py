"""Tied rows: which rows share their score with another of their user. NumPy only."""

import numpy as np

from recframe.kernel.grouping import (
    group_offsets,
    number_members,
    run_starts,
    sum_by_row,
    sum_by_user,
)
from recframe.kernel.rankings import TIE_RULES, Rankings, split_users
from recframe.kernel.runs import order_runs, size_blocks
from recframe.kernel.sort_keys import rankable, short_keys, to_keys
from recframe.kernel.sorting import count_unused, mark, sorted_blocks
from recframe.kernel.threads import Array, in_threads

N_SAMPLED = 1 << 10  # scores that show whether ties are many


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
    sample = rankings.scores[:: max(1, len(rankings.scores) // N_SAMPLED)]
    are_many = 2 * len(np.unique(sample)) < len(sample)

    def find(run: Rankings, users: slice) -> tuple[Array, Array]:
        found = _find_numbered(run) if are_many else None
        rows, sizes = _find_sorted(run) if found is None else found
        return rows + rankings.offsets[users.start], sizes

    rows, sizes = map(np.concatenate, zip(*in_threads(find, split_users(rankings)), strict=True))
    return rows, sizes


def _find_numbered(rankings: Rankings) -> tuple[Array, Array] | None:
    """Return what `find_relevant_ties` does, None where keys have no room for numbers of rows."""
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
    rows, numbers = [users[:0]], [users[:0]]
    for own, keys in size_blocks(by_score, offsets, users, pad):
        keys |= np.arange(0, 2 * keys.shape[1], 2, dtype=np.int32)
        keys.sort(axis=1)
        scores = keys >> (n_bits + 1)
        begins = np.ones(keys.shape, bool)
        np.not_equal(scores[:, 1:], scores[:, :-1], out=begins[:, 1:])
        bounds = np.append(np.flatnonzero(begins), keys.size)
        n_relevant = sum_by_user(keys.ravel().astype(np.uint8) & 1, bounds)
        sizes = np.diff(bounds)
        chosen = np.flatnonzero((n_relevant > 0) & (sizes > 1))
        first, sizes = bounds[chosen], sizes[chosen]
        cells = np.repeat(first - group_offsets(sizes)[:-1], sizes)
        cells += np.arange(len(cells))
        columns = keys.ravel()[cells] >> 1 & ((1 << n_bits) - 1)
        rows.append(np.repeat(offsets[own[first // keys.shape[1]]], sizes) + columns)
        numbers.append(sizes)
    return np.concatenate(rows), np.concatenate(numbers)


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
    keys = to_keys(rankable(rankings.scores[rows]).copy())
    order = order_runs(keys, n_rows, np.iinfo(keys.dtype).max)
    return rows[order], np.diff(run_starts(user, keys[order]), append=len(order))


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
