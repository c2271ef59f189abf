"""Long texts in views: their last eight bytes as integers, read where they lie. NumPy only.

A view of a text of more than twelve bytes has the length, the first four bytes, the number of the
data that the text is in, and its position there.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from recframe.kernel.grouping import run_bounds
from recframe.kernel.texts import Packing, Words
from recframe.kernel.threads import Array, in_slices
from recframe.kernel.views import BATCH, LENGTH, LONGEST, batches

MOST_DATA = 16  # that the texts of a batch may be in
WORD = 8  # bytes
FIRST = 4  # bytes of a long text that are in its view
HALF = np.uint64(32)

# Of some texts: the data they are in, their positions there, and their rows.
Part: TypeAlias = tuple[Array, Array | range, slice | Array]


def number_ends(
    views: Sequence[Array], data: Sequence[Sequence[Array]], begin: bytes, packing: Packing
) -> Array | None:
    """Return what `texts.number_words` does of texts in views; None where it cannot be.

    Parameters
    ----------
    views : sequence of ndarray of shape (n, 2), uint64
        The views, in pieces.
    data : sequence of sequence of ndarray of bytes
        What the views of each piece point into.
    begin : bytes
        What the longest texts are to begin with, all but their last eight bytes.
    packing : Packing
        How lengths are written; other ones cannot be.
    """
    numbers = np.empty(sum(map(len, views)), np.uint64)

    are_long = packing.shortest == packing.longest > LONGEST
    kind: type[_OneLength | _SeveralLengths] = _OneLength if are_long else _SeveralLengths

    def write(start: int, stop: int) -> bool:
        ends = kind(begin, packing, min(BATCH, stop - start))
        parts = batches(views, start, stop)
        return all(ends.write(views[n][own], data[n], numbers[rows]) for n, own, rows in parts)

    # A few most often decide.
    if not (packing.is_possible and write(0, min(BATCH, len(numbers)))):
        return None
    return numbers if all(in_slices(write, 0, len(numbers))) else None


class _OneLength:
    """The last eight bytes of texts of one length, none of which is in its view."""

    def __init__(self, begin: bytes, packing: Packing, n_rows: int) -> None:
        self._words, self._last = Words(n_rows), packing.longest - WORD
        head = packing.longest.to_bytes(FIRST, "little") + begin[:FIRST]
        self._head = np.uint64(int.from_bytes(head, "little"))
        self._begins = _cut(begin, packing)

    def write(self, views: Array, data: Sequence[Array], numbers: Array) -> bool:
        """Write those of a batch; return whether they could be."""
        head, tail = views.T
        if (head != self._head).any():
            return False
        parts = _follow(tail, data) or _part(tail, data)
        for texts, at, rows in parts:
            if not all(each.is_in(self._read(texts, at, each.at)) for each in self._begins):
                return False
            numbers[rows] = self._read(texts, at, self._last)
        return bool(parts)

    def _read(self, texts: Array, at: Array | range, n_before: int) -> Array:
        """Return eight bytes from so many after each position on."""
        if isinstance(at, range):  # they need not be looked for
            first = at.start + n_before
            return np.ndarray((len(at),), "<u8", texts, first, (at.step,))
        return self._words.read(texts, at + n_before)


class _SeveralLengths:
    """The last eight bytes of texts of several lengths, some of which may be in their views."""

    def __init__(self, begin: bytes, packing: Packing, n_rows: int) -> None:
        self._packing, self._words = packing, Words(n_rows)
        self._word, self._length = np.empty(n_rows, np.uint64), np.empty(n_rows, np.int64)
        self._first, self._begins = _Begin(begin, 0, FIRST, packing), _cut(begin, packing)

    def write(self, views: Array, data: Sequence[Array], numbers: Array) -> bool:
        """Write those of a batch; return whether they could be."""
        head, tail = views.T
        word, length = self._word[: len(views)], self._length[: len(views)]
        np.bitwise_and(head, LENGTH, out=length.view(np.uint64))
        if length.min() < self._packing.shortest or length.max() > self._packing.longest:
            return False
        if not self._first.is_in(np.right_shift(head, HALF, out=word), length):
            return False
        if self._packing.shortest > LONGEST:
            is_read = self._read(tail, length, data, word)
        else:
            is_long = length > LONGEST
            long, short = np.flatnonzero(is_long), np.flatnonzero(~is_long)
            word[short] = _read_short(views[short], length[short])
            found = np.empty(len(long), np.uint64)
            is_read = self._read(tail[long], length[long], data, found)
            word[long] = found
        return is_read and self._packing.write(word, length, numbers)

    def _read(self, tail: Array, length: Array, data: Sequence[Array], word: Array) -> bool:
        """Write the last eight bytes of long texts; return whether they could be."""
        parts = _part(tail, data)
        for texts, at, rows in parts:
            last = length[rows] - WORD
            for begin in self._begins:
                # Of a text with fewer bytes before its last eight none of these counts.
                others = self._words.read(texts, at + np.minimum(begin.at, last))
                if not begin.is_in(others, length[rows]):
                    return False
            word[rows] = self._words.read(texts, at + last)
        return len(tail) == 0 or bool(parts)


class _Begin:
    """Bytes from one position on with which texts are to begin, but for their last eight."""

    def __init__(self, begin: bytes, at: int, n_bytes: int, packing: Packing) -> None:
        self.at, self._shortest = at, packing.shortest
        self._word = np.uint64(int.from_bytes(begin[at : at + n_bytes], "little"))
        lengths = np.arange(packing.shortest, packing.longest + 1)
        counted = np.clip(lengths - WORD - at, 0, n_bytes).tolist()
        self._masks = np.array([(1 << 8 * n) - 1 for n in counted], np.uint64)

    def is_in(self, words: Array, lengths: Array | None = None) -> bool:
        """Return whether texts of these lengths have them, given their own bytes there."""
        differ = words ^ self._word
        differ &= self._masks[0] if lengths is None else self._masks.take(lengths - self._shortest)
        return not differ.any()


def _cut(begin: bytes, packing: Packing) -> list[_Begin]:
    """Return what texts begin with by eight bytes, but for the first ones, which views have."""
    return [_Begin(begin, at, WORD, packing) for at in range(FIRST, len(begin), WORD)]


def _follow(tail: Array, data: Sequence[Array]) -> list[Part]:
    """Return texts in parts where one lies after the other, as those of a page; [] where not."""
    growth = tail[1:] - tail[:-1]
    step = int(growth[0]) if len(growth) else 0
    is_cut = growth != step
    # That it is of the position alone, and no step back.
    is_step = step & int(LENGTH) == 0 and 0 < step < 1 << 63
    if not is_step or np.count_nonzero(is_cut) >= MOST_DATA:
        return []
    cuts = (np.flatnonzero(is_cut) + 1).tolist()
    parts: list[Part] = []
    for first, end in pairwise([0, *cuts, len(tail)]):
        own, step_bytes = int(tail[first]), step >> 32
        at = own >> 32
        parts.append(
            (
                data[own & int(LENGTH)],
                range(at, at + step_bytes * (end - first), step_bytes),
                slice(first, end),
            )
        )
    return parts


def _part(tail: Array, data: Sequence[Array]) -> list[tuple[Array, Array, slice | Array]]:
    """Return texts in parts that are in the same data; [] where these are too many."""
    numbers, at = (tail & LENGTH).astype(np.uint32), (tail >> HALF).view(np.int64)
    bounds = run_bounds(numbers).tolist()
    rows: list[slice | Array]
    if len(bounds) <= MOST_DATA:
        rows = [slice(*own) for own in pairwise(bounds)]
    elif len(distinct := np.unique(numbers)) <= MOST_DATA:
        rows = [np.flatnonzero(numbers == number) for number in distinct]
    else:
        return []
    return [(data[int(numbers[own][0])], at[own], own) for own in rows]


def _read_short(views: Array, length: Array) -> Array:
    """Return the last eight bytes of texts that are in their views, zeros behind shorter ones."""
    head, tail = views.T
    others = (8 * np.maximum(length - WORD, 0)).view(np.uint64)  # bits before the last eight bytes
    word: Array = (head >> HALF | tail << HALF) >> others
    word |= (tail >> HALF) << (np.uint64(64) - others)  # NumPy shifts all 64 bits out too
    return word
