"""Tied rows: which rows share their score with another of their user. NumPy only."""

import numpy as np

from recframe.kernel.grouping import (
    find_flags,
    number_members,
    run_starts,
    sum_by_row,
    sum_by_user,
)
from recframe.kernel.pairs import find_members
from recframe.kernel.radix import argsort
from recframe.kernel.rankings import TIE_RULES, Rankings, split_users
from recframe.kernel.runs import size_blocks
from recframe.kernel.sort_keys import rankable, short_keys, to_keys
from recframe.kernel.sorting import count_unused, mark, sorted_blocks
from recframe.kernel.threads import Array, in_threads

LOW_BITS = (1 << 32) - 1
N_SAMPLED = 1 << 10  # scores that show whether ties are many


def find_tied(rankings: Rankings) -> Array:
    """Return which rows share their score with another of their user."""
    is_tied = np.zeros(len(rankings.relevant), bool)
    blocks = sorted_blocks(rankings, TIE_RULES["best"])
    found = [users[flags.any(axis=1)] for users, _, flags in blocks if flags is not None]
    if not found:
        return is_tied
    # Only the rows of users with a tie are sorted such that they are known thereafter.
    users = np.sort(np.concatenate(found))
    starts = rankings.offsets[users]
    user, number = number_members(rankings.offsets[users + 1] - starts)
    rows = starts[user] + number
    keys = to_keys(rankable(rankings.scores[rows]).copy())
    order = np.argsort(keys)
    order = order[argsort(user[order])]
    sizes = np.diff(run_starts(user[order], keys[order]), append=len(order))
    is_tied[rows[order[np.repeat(sizes > 1, sizes)]]] = True
    return is_tied


def find_tied_relevant(rankings: Rankings) -> Array:
    """Return which rows share their score with another of their user, one of them being relevant.

    Of scores of 64 bits others may be among them.
    """
    sample = rankings.scores[:: max(1, len(rankings.scores) // N_SAMPLED)]
    if 2 * len(np.unique(sample)) < len(sample):
        runs = in_threads(lambda run, _: _find_numbered(run), split_users(rankings))
        found = [flags for flags in runs if flags is not None]
        if len(found) == len(runs):
            return np.concatenate(found)
    return _find_looked_up(rankings)


def _find_numbered(rankings: Rankings) -> Array | None:
    """Return what `find_tied_relevant` does, None where keys have no room for numbers of rows."""
    scores, relevant, offsets, *_ = rankings
    n_bits = int(np.diff(offsets).max(initial=0)).bit_length()
    short = short_keys(rankable(scores), relevant, room=0)
    # A bit stays free, by which pads are higher than all rows.
    n_over = max(0, short.n_bits + n_bits - (30 if short.n_bits < 32 else 31))
    if not short.is_exact or count_unused(short.keys) < n_over:
        return None
    marked = short.keys >> (n_over + 1)
    marked += marked
    marked |= relevant
    is_tied = np.zeros(len(relevant), bool)
    users = np.flatnonzero(sum_by_user(relevant, offsets))
    pad = (1 << (31 - n_bits)) - 2  # which is not marked
    for own, keys in size_blocks(marked, offsets, users, pad):
        keys <<= n_bits
        keys |= np.arange(keys.shape[1], dtype=np.int32)
        keys.sort(axis=1)
        by_score = keys >> (n_bits + 1)
        is_last = np.ones(keys.shape, bool)
        np.not_equal(by_score[:, 1:], by_score[:, :-1], out=is_last[:, :-1])
        cells, last = keys.ravel(), np.flatnonzero(is_last)
        sizes = np.diff(last, prepend=-1)
        # Of a tie relevant rows are the last.
        chosen = np.flatnonzero((cells[last] >> n_bits & 1 == 1) & (sizes > 1))
        tie, before = number_members(sizes[chosen])
        found = last[chosen][tie] - before
        columns = cells[found] & ((1 << n_bits) - 1)
        is_tied[offsets[own][found // keys.shape[1]] + columns] = True
    return is_tied


def _find_looked_up(rankings: Rankings) -> Array:
    """Return what `find_tied_relevant` does, by looking up the scores of relevant rows."""
    scores, relevant, offsets, *_ = rankings
    is_tied = np.zeros(len(relevant), bool)
    has_tied = np.concatenate(in_threads(_have_tied_relevant, split_users(rankings)))
    if not has_tied.any():
        return is_tied
    scores = rankable(scores)
    codes = (scores + scores.dtype.type(0)).view(f"u{scores.itemsize}")  # -0.0 becomes 0.0
    if codes.itemsize == 8:
        codes = ((codes ^ (codes >> 32)) & LOW_BITS).view(np.int64)
    found = find_flags(relevant)
    user = np.repeat(np.arange(len(has_tied)), sum_by_user(relevant, offsets))
    found, user = found[has_tied[user]], user[has_tied[user]]
    member = find_members(codes, offsets, LOW_BITS + 1, user, codes[found])
    rows = np.flatnonzero(member >= 0)
    sizes = np.bincount(member[rows], minlength=len(found))
    is_tied[rows] = sizes[member[rows]] > 1
    return is_tied


def _have_tied_relevant(rankings: Rankings, _: slice) -> Array:
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
