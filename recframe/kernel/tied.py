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
from recframe.kernel.sort_keys import rankable, to_keys
from recframe.kernel.sorting import mark, sorted_blocks
from recframe.kernel.threads import Array, in_threads

LOW_BITS = (1 << 32) - 1


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
