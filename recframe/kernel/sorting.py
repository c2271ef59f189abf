"""Sorting: the rows of users in order of score, blocks of users of like size at a time. NumPy only.

A score and its row's relevance travel in one integer key: the key orders rows as the score does,
and its lowest bit says whether the row is relevant. So sorting the keys of a user ranks the rows
and carries the relevance along; nothing is ever searched or looked up again. Keys have 32 bits;
the few users whose scores those do not tell apart are sorted again by exact ones.
"""

from bisect import bisect_left
from collections.abc import Iterator
from operator import neg
from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import sum_by_row
from recframe.kernel.pieces import Pieces, whole
from recframe.kernel.rankings import Rankings, TieRule
from recframe.kernel.sort_keys import ShortKeys, break_ties, rankable, short_keys, to_keys
from recframe.kernel.threads import Array

FEW_COLUMNS = 8  # so many are padded one by one, more by a mask
# Up to which sizes a way to sort is the fastest.
MOST_CELLS = 1 << 18  # of a padded matrix: so it stays in the cache while it is sorted
MOST_COLUMNS = 512  # of rows that are sorted by a network of fixed steps
MOST_PIECES = 16  # of that width, into which wider rows are cut


class Block(NamedTuple):
    """Users of like size and the keys of their rows in ranked order.

    Parameters
    ----------
    users : ndarray of shape (n_users,), int
        The users.
    keys : ndarray of shape (n_users, width), int32 or int64
        The keys of each user's first rows, or of all of them and then pads. Shifted right by one a
        key falls as the score rises; its lowest bit is the mark of relevance, see `mark`. A pad
        has all bits set, but for the mark.
    is_tied_with_next : ndarray of shape (n_users, width), bool, or None
        Whether a row's score is that of the next; None where no two rows are tied. In expectation
        a tie is whole unless it begins below a user's depth.
    """

    users: Array
    keys: Array
    is_tied_with_next: Array | None


def sorted_blocks(
    rankings: Rankings, rule: TieRule, depths: Array | None = None
) -> Iterator[Block]:
    """Yield the keys of users' rows in ranked order, users of like size together.

    They go down to the depth of each user at least, or to the end where none are given; users of
    depth 0 are left out. Sorted first are short keys. Where two rows of a user share one and that
    may not be a tie, or is one to be broken by row order, the user is sorted again by exact keys.
    """
    sizes = np.diff(rankings.offsets)
    depths = sizes if depths is None else depths
    longest = int(sizes.max(initial=0))
    rankings = rankings._replace(scores=rankable(rankings.scores))
    short = short_keys(rankings.scores, _marked(rankings.relevant, rule), room=longest)
    by_size = np.flatnonzero(depths)
    # The largest first. 16-bit integers are sorted by radix, ten times as fast.
    order_by = (longest - sizes[by_size]).astype(np.uint16 if longest < 1 << 16 else np.int64)
    by_size = by_size[np.argsort(order_by, kind="stable")]
    n_again = stop = 0
    while stop < len(by_size):
        start = stop
        stop += max(1, MOST_CELLS // int(sizes[by_size[start]]))
        again = users = by_size[start:stop]
        depth = int(depths[users].max())
        # Where short keys have decided less than half of the users they are no longer tried.
        if 2 * n_again <= start + len(users):
            block, again = _by_short_keys(rankings, short, users, depth, rule)
            if len(again) < len(users):
                yield block
        if len(again):
            n_again += len(again)
            yield _by_exact_keys(rankings, again, depth, rule)


def _by_short_keys(
    rankings: Rankings, short: ShortKeys, users: Array, depth: int, rule: TieRule
) -> tuple[Block, Array]:
    """Return the block of the users whose order short keys decide, and the other users."""
    starts = rankings.offsets[users]
    sizes = rankings.offsets[users + 1] - starts
    width = int(sizes[0])
    keys = pick_runs(short.keys, starts, sizes, width)
    if rule.row_order and short.is_exact:  # else what shares a key may be no tie
        keys = _number(keys, short.n_bits, rule.row_order)
    pad_runs(keys, sizes, _pad(keys, rule))
    is_exact = short.is_exact and not rule.row_order
    keep_tie = is_exact and rule.is_expectation
    # Of more rows than there are keys whole rows are sorted fast, but not parted.
    n_first = width if width > max(MOST_COLUMNS, 1 << short.n_bits) else depth
    keys, is_tied = _sort_down_to(keys, sizes, n_first, keep_tie=keep_tie)
    if is_tied is None or is_exact:
        return Block(users, keys, is_tied), users[:0]
    is_apart = ~is_tied.any(axis=1)
    return Block(users[is_apart], keys[is_apart], None), users[~is_apart]


def _by_exact_keys(rankings: Rankings, users: Array, depth: int, rule: TieRule) -> Block:
    """Return the block of users by keys that differ wherever scores do, the largest user first."""
    starts = rankings.offsets[users]
    sizes = rankings.offsets[users + 1] - starts
    width = int(sizes[0])
    keys = to_keys(_gather(rankings.scores, starts, width))
    if rule.row_order:
        keys = break_ties(keys, rule.row_order)
    keys += keys  # makes room for the mark
    keys |= _marked(_gather(rankings.relevant, starts, width), rule)
    pad_runs(keys, sizes, _pad(keys, rule))
    return Block(users, *_sort_down_to(keys, sizes, depth, keep_tie=rule.is_expectation))


def _gather(values: Array | Pieces, starts: Array, width: int) -> Array:
    """Return the runs of this width at the starts, as rows of a new matrix.

    What is beyond the end of the values is undefined.
    """
    if len(starts) == 1:
        return whole(values[starts[0] : starts[0] + width])[None].copy()
    return values.take(starts[:, None] + np.arange(width), mode="clip")


def _pad(keys: Array, rule: TieRule) -> int:
    """Return the key that sorts last and is not relevant; no row has it."""
    return int(np.iinfo(keys.dtype).max) - mark(rule)


def pad_runs(keys: Array, sizes: Array, pad: int) -> None:
    """Make what follows each user's rows pads, the largest user first."""
    shortest, width = int(sizes[-1]), keys.shape[1]
    if width - shortest <= FEW_COLUMNS:
        for column in range(shortest, width):
            keys[count_above(sizes, column) :, column] = pad
    else:
        is_pad = np.arange(shortest, width, dtype=np.int32) >= sizes.astype(np.int32)[:, None]
        np.copyto(keys[:, shortest:], pad, where=is_pad)


def count_above(sizes: Array, size: int) -> int:
    """Return how many of falling sizes are larger than one."""
    # NumPy's search would let another thread go on, which takes longer than this.
    return bisect_left(sizes, -size, key=neg)


def _sort_down_to(
    keys: Array, sizes: Array, depth: int, *, keep_tie: bool
) -> tuple[Array, Array | None]:
    """Return each user's keys in order, down to a depth and, if asked, to the end of the tie there.

    With them, which are tied with the next; None where none are. Half the columns or more are as
    fast to read where they stand as to cut off.
    """
    if 2 * depth >= keys.shape[1]:
        keys.sort(axis=1)
        return keys, _find_tied(keys, sizes)
    first = _sorted_first(keys, depth + 1)
    is_tied = _find_tied(first, sizes)
    if keep_tie and is_tied is not None and is_tied[:, depth - 1].any():
        last = first[:, depth - 1 : depth] | 1  # no key of the same tie is larger
        depth = int(np.minimum(sum_by_row(keys <= last), sizes).max())
        is_sorted = keys.shape[1] <= MOST_COLUMNS
        first = keys[:, :depth] if is_sorted else _sorted_first(keys, depth)
        return first, _find_tied(first, sizes)
    return first[:, :depth], None if is_tied is None else is_tied[:, :depth]


def _sorted_first(keys: Array, n_first: int) -> Array:
    """Return the first so many keys of each user in order; the others are left in any order."""
    width = keys.shape[1]
    n_pieces = -(-width // MOST_COLUMNS)
    if n_pieces == 1 or 2 * n_first > width:
        keys.sort(axis=1)
    elif n_pieces > MOST_PIECES or 2 * n_first > MOST_COLUMNS:
        keys.partition(n_first - 1, axis=1)
        keys[:, :n_first].sort(axis=1)
    else:
        # What is first among all is first in its piece.
        pieces = np.array_split(keys, n_pieces, axis=1)
        for piece in pieces:
            piece.sort(axis=1)
        firsts = np.concatenate([piece[:, :n_first] for piece in pieces], axis=1)
        return _sorted_first(firsts, n_first)
    return keys[:, :n_first]


def _find_tied(keys: Array, sizes: Array) -> Array | None:
    """Return which rows share a key with the next, but for the mark; None where no two do."""
    cells = keys.ravel()
    is_tied = np.zeros(keys.shape, bool)
    flags = is_tied.ravel()[:-1]
    np.less_equal((cells[1:] ^ cells[:-1]).view(f"u{keys.itemsize}"), 1, out=flags)
    is_tied[:, -1] = False
    # Pads share theirs with the next pad.
    if np.count_nonzero(flags) == np.maximum(keys.shape[1] - 1 - sizes, 0).sum():
        return None
    flags &= cells[1:] < np.iinfo(keys.dtype).max - 1
    return is_tied


def _number(keys: Array, n_bits: int, row_order: int) -> Array:
    """Return short keys that also tell tied cells of a row apart by column, if there is room."""
    n_columns = keys.shape[1]
    n_over = n_bits + n_columns.bit_length() - (31 if n_bits < 32 else 32)
    # Ratings and the like leave low bits unused by all: without those there is room.
    if n_over > 0 and (count_unused(keys[0]) < n_over or count_unused(keys) < n_over):
        return keys
    marks = keys & 1
    keys ^= marks
    keys >>= max(0, n_over)
    keys <<= n_columns.bit_length()
    keys |= np.arange(0, 2 * n_columns, 2, dtype=np.int32)[::row_order]
    keys |= marks
    return keys


def count_unused(keys: Array) -> int:
    """Return how many low bits, but for the mark, are 0 in all short keys."""
    used = (int(np.bitwise_or.reduce(keys, axis=None)) & -2) or 1 << 31
    return (used & -used).bit_length() - 2


def mark(rule: TieRule) -> int:
    """Return the lowest bit of a relevant row's key: last in a tie unless to be first."""
    return 0 if rule.relevant_first else 1


def _marked(relevant: Array, rule: TieRule) -> Array:
    """Return the lowest bits of rows' keys."""
    return relevant if mark(rule) else ~relevant


def pick_runs(keys: Array, starts: Array, sizes: Array, width: int) -> Array:
    """Return the runs of this width at the starts, as rows of a matrix that may be overwritten."""
    span = keys[starts[0] : starts[-1] + width]
    if sizes[-1] == width and len(span) == len(starts) * width:
        return span.reshape(len(starts), width)  # users who stand together, all of one size
    # Seen as one item of `width` keys beginning at every key, so that items overlap and each user's
    # run is one of them: copied whole, not by cells.
    n_items = len(keys) - width + 1
    items = np.ndarray((n_items,), f"V{width * keys.itemsize}", keys, strides=keys.strides)
    picked: Array = items[starts].view(keys.dtype).reshape(len(starts), width)
    return picked
