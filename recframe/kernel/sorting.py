"""Order: the rows of users sorted by score, blocks of users of like size at a time. NumPy only.

A score and its row's relevance travel in one integer key: the key orders rows as the score does,
and its lowest bit says whether the row is relevant. So sorting the keys of a user ranks the rows
and carries the relevance along; nothing is ever searched or looked up again. Keys have 32 bits;
the few users whose scores those do not tell apart are sorted again by exact ones.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from recframe.kernel.grouping import Array, sum_by_user
from recframe.kernel.rankings import Rankings
from recframe.kernel.sort_keys import break_ties, rankable, short_keys, to_places

CELLS_PER_BLOCK = 1 << 18  # a padded matrix of this size stays in the cache while it is sorted
FAST_WIDTH = 512  # rows up to here are sorted by a network of fixed steps
MOST_PIECES = 16  # of that width, into which wider rows are cut
FEW_COLUMNS = 8  # so many are padded one by one, more by a mask


class Block(NamedTuple):
    """Users of like size and the keys of their rows in ranked order.

    Parameters
    ----------
    users : ndarray of shape (n_users,), int
        The users.
    keys : ndarray of shape (n_users, width), int32 or int64
        The keys of each user's first rows, or of all of them and then pads. Shifted right by one a
        key is the place of the row's score; its lowest bit is the mark of relevance, see `mark`.
        A pad has all bits set, but for the mark.
    shared : ndarray of shape (n_users, width), bool, or None
        Whether a row shares its place with the next; None where no two rows do. Under "expected"
        a tie is whole unless it begins below a user's depth.
    """

    users: Array
    keys: Array
    shared: Array | None


def sorted_blocks(rankings: Rankings, ties: str, depths: Array | None = None) -> Iterator[Block]:
    """Yield the keys of users' rows in ranked order, users of like size together.

    They go down to the depth of each user at least, or to the end where none are given; users of
    depth 0 are left out. Sorted first are short keys. Where two rows of a user share one and that
    may not be a tie, or is one to be broken by row order, the user is sorted again by exact keys.
    """
    sizes = np.diff(rankings.offsets)
    depths = sizes if depths is None else depths
    longest = int(sizes.max(initial=0))
    scores = rankable(rankings.scores)
    short = short_keys(scores, _marked(rankings.relevant, ties), room=longest)
    by_order = ties in ("first", "last")
    by_size = np.flatnonzero(depths)
    by_size = by_size[_largest_first(sizes[by_size], longest)]
    n_again = first = 0
    while first < len(by_size):
        width = int(sizes[by_size[first]])
        users = by_size[first : first + max(1, CELLS_PER_BLOCK // width)]
        first += len(users)
        depth = int(depths[users].max())
        again = users
        if 2 * n_again <= first:
            if width > max(FAST_WIDTH, 1 << short.n_bits):
                depth = width  # more rows than places: whole rows are sorted fast, but not parted
            own_sizes = sizes[users]
            keys = _pick(short.keys, rankings.offsets[users], own_sizes, width)
            if by_order:
                keys = _number(keys, short.n_bits, ties)
            _pad(keys, own_sizes, ties)
            is_exact = short.is_exact and not by_order
            keep_tie = is_exact and ties == "expected"
            keys, shared = _ranked_first(keys, own_sizes, depth, keep_tie=keep_tie)
            if shared is None or is_exact:
                yield Block(users, keys, shared)
                continue
            is_apart = ~shared.any(axis=1)
            again = users[~is_apart]
            if len(again) < len(users):
                yield Block(users[is_apart], keys[is_apart], None)
        n_again += len(again)
        keys = _exact_keys(scores, rankings, again, ties)
        ranked = _ranked_first(keys, sizes[again], depth, keep_tie=ties == "expected")
        yield Block(again, *ranked)


def _exact_keys(scores: Array, rankings: Rankings, users: Array, ties: str) -> Array:
    """Return the exact keys of users' rows, the largest user first."""
    starts = rankings.offsets[users]
    sizes = rankings.offsets[users + 1] - starts
    keys = to_places(_gather(scores, starts, int(sizes[0])))
    if ties in ("first", "last"):
        keys = break_ties(keys, ties)
    keys += keys  # makes room for the mark
    keys |= _marked(_gather(rankings.relevant, starts, int(sizes[0])), ties)
    _pad(keys, sizes, ties)
    return keys


def _gather(values: Array, starts: Array, width: int) -> Array:
    """Return the runs of this width at the starts, as rows of a new matrix.

    What is beyond the end of the values is undefined.
    """
    if len(starts) == 1:
        return values[None, starts[0] : starts[0] + width].copy()
    return values.take(starts[:, None] + np.arange(width), mode="clip")


def _pad(keys: Array, sizes: Array, ties: str) -> None:
    """Make what follows each user's rows pads, the largest user first."""
    # A pad sorts last and is not relevant; no row has its place.
    pad = int(np.iinfo(keys.dtype).max) - mark(ties)
    shortest, width = int(sizes[-1]), keys.shape[1]
    if width - shortest <= FEW_COLUMNS:
        for column in range(shortest, width):
            keys[np.count_nonzero(sizes > column) :, column] = pad
    else:
        is_pad = np.arange(shortest, width, dtype=np.int32) >= sizes.astype(np.int32)[:, None]
        np.copyto(keys[:, shortest:], pad, where=is_pad)


Ranked = tuple[Array, Array | None]  # keys in order, and which share their place with the next


def _ranked_first(keys: Array, sizes: Array, depth: int, *, keep_tie: bool) -> Ranked:
    """Return each user's keys in order, down to a depth and, if asked, to the end of the tie there.

    Half the columns or more are as fast to read where they stand as to cut off.
    """
    if 2 * depth >= keys.shape[1]:
        return _ranked(keys, sizes)
    first = _sorted_first(keys, depth + 1)
    shared = _shared(first, sizes)
    if keep_tie and shared is not None and shared[:, depth - 1].any():
        last = first[:, depth - 1 : depth] | 1  # no key of the same place is larger
        n_inside = sum_by_user((keys <= last).ravel(), np.arange(len(keys) + 1) * keys.shape[1])
        depth = int(np.minimum(n_inside, sizes).max())
        first = keys[:, :depth] if keys.shape[1] <= FAST_WIDTH else _sorted_first(keys, depth)
        return first, _shared(first, sizes)
    return first[:, :depth], None if shared is None else shared[:, :depth]


def _ranked(keys: Array, sizes: Array) -> Ranked:
    """Return each user's keys in order."""
    keys.sort(axis=1)
    return keys, _shared(keys, sizes)


def _sorted_first(keys: Array, n_first: int) -> Array:
    """Return the first so many keys of each user in order; the others are left in any order."""
    width = keys.shape[1]
    n_pieces = -(-width // FAST_WIDTH)
    if n_pieces == 1 or 2 * n_first > width:
        keys.sort(axis=1)
    elif n_pieces > MOST_PIECES or 2 * n_first > FAST_WIDTH:
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


def _shared(keys: Array, sizes: Array) -> Array | None:
    """Return which rows share a key with the next, but for the mark; None where no two do."""
    cells = keys.ravel()
    shared = np.zeros(keys.shape, bool)
    flags = shared.ravel()[:-1]
    np.less_equal((cells[1:] ^ cells[:-1]).view(f"u{keys.itemsize}"), 1, out=flags)
    shared[:, -1] = False
    # Pads share theirs.
    n_shared_by_pads = int(np.maximum(keys.shape[1] - 1 - sizes, 0).sum())
    if np.count_nonzero(flags) == n_shared_by_pads:
        return None
    flags &= cells[1:] < np.iinfo(keys.dtype).max - 1
    return shared


def _number(keys: Array, n_bits: int, ties: str) -> Array:
    """Return short keys that also tell tied cells of a row apart by column, if there is room."""
    n_columns = keys.shape[1]
    if n_bits + n_columns.bit_length() > 31:
        return keys
    column = np.arange(n_columns, dtype=np.int32)
    marks = keys & 1
    keys >>= 1
    keys <<= n_columns.bit_length()
    keys |= column if ties == "first" else column[::-1]
    keys += keys
    keys |= marks
    return keys


def mark(ties: str) -> int:
    """Return the lowest bit of a relevant row's key: last in a tie, under "best" first."""
    return 0 if ties == "best" else 1


def _marked(relevant: Array, ties: str) -> Array:
    """Return the lowest bits of rows' keys."""
    return relevant if mark(ties) else ~relevant


def _pick(keys: Array, starts: Array, sizes: Array, width: int) -> Array:
    """Return the runs of this width at the starts, as rows of a matrix that may be overwritten."""
    span = keys[starts[0] : starts[-1] + width]
    if sizes[-1] == width and len(span) == len(starts) * width:
        return span.reshape(len(starts), width)  # users who stand together, all of one size
    # Every run as one item of as many bytes, overlapping the next: copied whole, not by cells.
    n_runs = len(keys) - width + 1
    runs = np.ndarray((n_runs,), f"V{width * keys.itemsize}", keys, strides=keys.strides)
    picked: Array = runs[starts].view(keys.dtype).reshape(len(starts), width)
    return picked


def _largest_first(sizes: Array, longest: int) -> Array:
    """Return the order of users from the largest to the smallest."""
    # 16-bit integers are sorted by radix, ten times as fast.
    order_by = (longest - sizes).astype(np.uint16 if longest < 1 << 16 else np.int64)
    return np.argsort(order_by, kind="stable")
