"""Counting: for every relevant row, the rows of its user ranked above it and tied with it.

NumPy only. A score and its row's relevance travel in one integer key: the key orders rows as the
score does, and its lowest bit says whether the row is relevant. So sorting the keys of a user
ranks the rows and carries the relevance along; nothing is ever searched or looked up again. Keys
have 32 bits; the few users whose scores those do not tell apart are sorted again by exact ones.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from recframe.gains import Gains
from recframe.groups import Array, Result, in_threads, positions, sum_by_user, user_bounds
from recframe.places import break_ties, rankable, short_keys, to_places

CELLS_PER_BLOCK = 1 << 17  # a padded matrix of this size stays in the cache while it is sorted
FEW_COLUMNS = 8  # so many are padded one by one, more by a mask


class Rankings(NamedTuple):
    """Rows of many users, grouped by user.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,), real
        The values rows are ranked by, highest first; no NaN.
    relevant : ndarray of shape (n_rows,), bool
        Whether a row is relevant.
    offsets : ndarray of shape (n_users + 1,), int
        The rows of user i are ``offsets[i]:offsets[i + 1]``.
    n_unranked : ndarray of shape (n_users,), int
        Relevant items of the user that are not among these rows.
    gains : Gains, default None
        What the rows and those items add to nDCG; None: 1 where relevant.
    """

    scores: Array
    relevant: Array
    offsets: Array
    n_unranked: Array
    gains: Gains | None = None


class Counts(NamedTuple):
    """What every metric is computed from: integers, per user and per ranked relevant row.

    Parameters
    ----------
    n_ranked : ndarray of shape (n_users,), int
        Rows in the user's ranking.
    n_relevant : ndarray of shape (n_users,), int
        Relevant items of the user, ranked or not (R in formulas).
    user : ndarray of shape (n_rows,), int
        The user of each ranked relevant row, as an index into the arrays above.
    above : ndarray of shape (n_rows,), int
        Rows of that user that are ranked above it.
    tied : ndarray of shape (n_rows,), int
        Rows of that user that share its place, itself included.
    """

    n_ranked: Array
    n_relevant: Array
    user: Array
    above: Array
    tied: Array


class Block(NamedTuple):
    """Users of like size and the keys of their rows in ranked order.

    Parameters
    ----------
    users : ndarray of shape (n_users,), int
        The users.
    keys : ndarray of shape (n_users, width), int32 or int64
        The keys of each user's rows, then one pad or more. Shifted right by one a key is the place
        of the row's score; its lowest bit is the mark of relevance, see `_mark`. A pad has all bits
        set, but for the mark.
    shared : ndarray of shape (n_users, width), bool, or None
        Whether a row shares its place with the next; None where no two rows do.
    """

    users: Array
    keys: Array
    shared: Array | None


def map_chunks(function: Callable[[Rankings], Result], rankings: Rankings) -> list[Result]:
    """Apply a function to runs of whole users, in threads when there is more than one run."""
    offsets = rankings.offsets
    bounds = user_bounds(offsets)
    if len(bounds) <= 2:
        return [function(rankings)]

    def run(first: int, stop: int) -> Result:
        rows = slice(offsets[first], offsets[stop])
        return function(
            Rankings(
                rankings.scores[rows],
                rankings.relevant[rows],
                offsets[first : stop + 1] - offsets[first],
                rankings.n_unranked[first:stop],
                None if rankings.gains is None else rankings.gains.part(rows, first, stop),
            )
        )

    return in_threads(run, bounds)


def count(rankings: Rankings, ties: str) -> Counts:
    """Return the counts of every ranked relevant row, ties resolved by the rule named.

    Under "expected" `tied` is the size of the row's tie group; every other rule gives each row a
    place of its own, so that `above` is its position and `tied` is 1.
    """
    sizes = np.diff(rankings.offsets)
    if np.count_nonzero(rankings.relevant) <= len(sizes):
        n_relevant = sum_by_user(rankings.relevant, rankings.offsets)
        if n_relevant.max(initial=0) <= 1:
            return _count_single(rankings, sizes, ties)
    none = (np.empty(0, np.int64),) * 3
    pieces = zip(none, *_count_blocks(rankings, ties), strict=True)
    user, above, tied = (np.concatenate(part) for part in pieces)
    n_relevant = np.bincount(user, minlength=len(sizes)) + rankings.n_unranked
    return Counts(sizes, n_relevant, user, above, tied)


def _count_single(rankings: Rankings, sizes: Array, ties: str) -> Counts:
    """Return the counts where no user has more than one relevant row.

    Then a user's rows are compared with that one row's score, and nothing is sorted.
    """
    offsets = rankings.offsets
    scores = rankings.scores
    found = np.flatnonzero(rankings.relevant)
    user = np.searchsorted(offsets, found, side="right") - 1
    own = np.zeros(len(sizes), scores.dtype)
    own[user] = scores[found]
    own = np.repeat(own, sizes)
    above = sum_by_user(scores > own, offsets)[user]
    is_tied = scores == own
    tied = sum_by_user(is_tied, offsets)[user]
    if ties in ("first", "last"):
        before = sum_by_user(is_tied, np.stack([offsets[user], found]).T.ravel())[::2]
        above += before if ties == "first" else tied - 1 - before
    elif ties == "worst":
        above += tied - 1
    if ties != "expected":
        tied[:] = 1
    n_relevant = np.bincount(user, minlength=len(sizes)) + rankings.n_unranked
    return Counts(sizes, n_relevant, user, above, tied)


def _count_blocks(rankings: Rankings, ties: str) -> Iterator[tuple[Array, Array, Array]]:
    """Yield (user, above, tied) of the relevant rows, a block of users of like size at a time."""
    for users, keys, shared in sorted_blocks(rankings, ties):
        width = keys.shape[1]
        cells = keys.ravel()
        marks = cells.astype(np.uint8)  # only the lowest bit counts, and bytes are fast
        marks &= 1
        if not _mark(ties):
            marks ^= 1
        found = positions(marks.view(bool))
        row = found // width
        above = found - row * width
        tied = np.ones(len(found), np.int64)
        if shared is not None and ties == "expected":
            _find_ties(shared.ravel(), found, above, tied)
        yield users[row], above, tied


def sorted_blocks(rankings: Rankings, ties: str) -> Iterator[Block]:
    """Yield the keys of all users' rows in ranked order, users of like size together.

    Sorted first are short keys. Where two rows of a user share one and that may not be a tie, or
    is one to be broken by row order, the user is sorted again by exact keys.
    """
    sizes = np.diff(rankings.offsets)
    longest = int(sizes.max(initial=0))
    scores = rankable(rankings.scores)
    short = short_keys(scores, _marked(rankings.relevant, ties), room=longest + 1)
    by_order = ties in ("first", "last")
    by_size = _largest_first(sizes, longest)
    n_again = first = 0
    while first < len(by_size):
        width = int(sizes[by_size[first]]) + 1
        users = by_size[first : first + max(1, CELLS_PER_BLOCK // width)]
        first += len(users)
        again = np.arange(len(users))
        if 2 * n_again <= first:
            keys = _pick(short.keys, rankings.offsets[users], width)
            if by_order:
                keys = _number(keys, short.n_bits, ties)
            _sort(keys, sizes[users], ties)
            shared = _shared(keys, sizes[users])
            if shared is None or (short.is_exact and not by_order):
                yield Block(users, keys, shared)
                continue
            is_apart = ~shared.any(axis=1)
            again = np.flatnonzero(~is_apart)
            if len(again) < len(users):
                yield Block(users[is_apart], keys[is_apart], None)
        n_again += len(again)
        yield _exact_block(rankings._replace(scores=scores), users[again], ties)


def _exact_block(rankings: Rankings, users: Array, ties: str) -> Block:
    """Return the exact keys of users' rows in ranked order, the largest user first."""
    starts, stops = rankings.offsets[users], rankings.offsets[users + 1]
    sizes = stops - starts
    width = int(sizes[0]) + 1
    cells = np.minimum(starts[:, None] + np.arange(width), len(rankings.scores) - 1)
    keys = to_places(rankings.scores[cells])
    if ties in ("first", "last"):
        keys = break_ties(keys, ties)
    keys += keys  # makes room for the mark
    keys |= _marked(rankings.relevant[cells], ties)
    _sort(keys, sizes, ties)
    return Block(users, keys, _shared(keys, sizes))


def _sort(keys: Array, sizes: Array, ties: str) -> None:
    """Sort the keys of each user, the largest user first; what follows a user's rows are pads."""
    # A pad sorts last and is not relevant; no row has its place.
    pad = int(np.iinfo(keys.dtype).max) - _mark(ties)
    shortest, width = int(sizes[-1]), keys.shape[1]
    if width - shortest <= FEW_COLUMNS:
        for column in range(shortest, width):
            keys[np.count_nonzero(sizes > column) :, column] = pad
    else:
        is_pad = np.arange(shortest, width) >= sizes[:, None]
        np.copyto(keys[:, shortest:], pad, where=is_pad)
    keys.sort(axis=1)


def _shared(keys: Array, sizes: Array) -> Array | None:
    """Return which rows share a key with the next, but for the mark; None where no two do."""
    cells = keys.ravel()
    shared = np.zeros(keys.shape, bool)
    flags = shared.ravel()[:-1]
    np.less_equal((cells[1:] ^ cells[:-1]).view(f"u{keys.itemsize}"), 1, out=flags)
    # Pads share theirs. One follows every user, and users without rows come last.
    n_pads = keys.size - int(sizes.sum())
    n_shared_by_pads = n_pads - max(1, int(np.count_nonzero(sizes)))
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


def _mark(ties: str) -> int:
    """Return the lowest bit of a relevant row's key: last in a tie, under "best" first."""
    return 0 if ties == "best" else 1


def _marked(relevant: Array, ties: str) -> Array:
    """Return the lowest bits of rows' keys."""
    return relevant if _mark(ties) else ~relevant


def _find_ties(shared: Array, found: Array, above: Array, tied: Array) -> None:
    """Move the found cells to the start of their tie groups and set the sizes of the groups."""
    in_tie = np.flatnonzero(shared[found] | shared[found - 1])
    if len(in_tie) == 0:
        return
    before = np.append(False, shared[:-1])
    starts = positions(shared > before)
    sizes = positions(shared < before) + 1 - starts
    group = np.searchsorted(starts, found[in_tie], side="right") - 1
    above[in_tie] -= found[in_tie] - starts[group]
    tied[in_tie] = sizes[group]


def _pick(keys: Array, starts: Array, width: int) -> Array:
    """Return the runs of this width at the starts, as rows of a new matrix."""
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


def rank_rows(rankings: Rankings, ties: str) -> Array:
    """Return the places of each row in its user's ranking, an array of shape (2, n_rows).

    Rows that a rule does not tell apart (all of a tie under "expected", those of the same
    relevance under "best" and "worst") share places: the first array holds the first of them,
    the second their mean. Places start at 1.
    """
    user = np.repeat(np.arange(len(rankings.offsets) - 1), np.diff(rankings.offsets))
    row = np.arange(len(user))
    keys = [user, to_places(rankable(rankings.scores).copy())]
    if ties in ("first", "last"):
        keys.append(row if ties == "first" else -row)
    elif ties in ("best", "worst"):
        relevant = rankings.relevant
        keys.append(~relevant if ties == "best" else relevant)
    order = np.lexsort(keys[::-1])
    begins = np.ones(len(row) + 1, bool)
    begins[1:-1] = False
    for key in keys:
        ordered = key[order]
        begins[1:-1] |= ordered[1:] != ordered[:-1]
    bounds = np.flatnonzero(begins)
    shared = np.stack([bounds[:-1] + 1, (bounds[:-1] + bounds[1:] + 1) / 2])
    positions = np.empty((2, len(row)))
    # A user's rows stay together, so the i-th row in order belongs to the same user as row i.
    positions[:, order] = np.repeat(shared, np.diff(bounds), axis=1) - rankings.offsets[user]
    return positions
