"""Long texts in views: their last eight bytes as integers, read where they lie. NumPy only.

A view of a text of more than twelve bytes has the length, the first four bytes, the number of the
data that the text is in, and its position there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from recframe.kernel.grouping import run_bounds
from recframe.kernel.texts import Packing, Words
from recframe.kernel.threads import Array, in_slices
from recframe.kernel.views import BATCH, LENGTH, LONGEST, batches

MOST_DATA = 16  # that the texts of a batch may be in
MOST_BYTES = 128  # of a text, all of which are read at once
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

    if not packing.is_possible or packing.longest > MOST_BYTES:
        return None
    # As many words before the last as have the bytes that are not in views.
    n_others = max(0, -(-(packing.longest - FIRST) // WORD) - 1)
    first = _Begin(begin, packing, None, FIRST)
    before = [WORD * number for number in range(n_others + 1, 1, -1)]
    others = [_Begin(begin, packing, most, WORD) for most in before]

    def write(start: int, stop: int) -> bool:
        ends = _Ends(packing, first, others, min(BATCH, stop - start))
        parts = batches(views, start, stop)
        return all(ends.write(views[n][own], data[n], numbers[rows]) for n, own, rows in parts)

    # A few most often decide.
    if not write(0, min(BATCH, len(numbers))):
        return None
    return numbers if all(in_slices(write, 0, len(numbers))) else None


class _Ends:
    """Writes the last eight bytes of texts that begin alike, a batch at a time."""

    def __init__(
        self, packing: Packing, first: _Begin, others: Sequence[_Begin], n_rows: int
    ) -> None:
        self._packing, self._first, self._others = packing, first, others
        self._words = Words(n_rows, len(others) + 1)
        self._n_bytes = WORD * (len(others) + 1)

    def write(self, views: Array, data: Sequence[Array], numbers: Array) -> bool:
        """Write those of a batch; return whether they could be."""
        shortest, longest = self._packing
        head, tail = views.T
        if shortest == longest > LONGEST:
            if (head != head[0]).any() or head[0] & LENGTH != longest:
                return False
            return self._first.is_in(head[:1] >> HALF) and self._read(tail, None, data, numbers)
        length = (head & LENGTH).view(np.int64)
        if length.min() < shortest or length.max() > longest:
            return False
        if not self._first.is_in(head >> HALF, length):
            return False
        is_long = length > LONGEST
        long, short = np.flatnonzero(is_long), np.flatnonzero(~is_long)
        word = np.empty(len(views), np.uint64)
        word[short] = _read_short(views[short], length[short])
        found = np.empty(len(long), np.uint64)
        is_read = self._read(tail[long], length[long], data, found)
        word[long] = found
        return is_read and self._packing.write(word, length, numbers)

    def _read(self, tail: Array, length: Array | None, data: Sequence[Array], last: Array) -> bool:
        """Write the last eight bytes of long texts, None: of one length; return as above."""
        parts = (length is None and _follow(tail, data)) or _part(tail, data)
        for texts, at, rows in parts:
            own = None if length is None else length[rows]
            words = self._read_words(texts, at, self._packing.longest if own is None else own)
            if not all(map(partial(_Begin.is_in, lengths=own), self._others, words)):
                return False
            last[rows] = words[-1]
        return len(tail) == 0 or bool(parts)

    def _read_words(self, texts: Array, at: Array | range, length: Array | int) -> Sequence[Array]:
        """Return the words in which texts end, of those that begin at these positions."""
        if isinstance(at, range):
            first = at.start + length - self._n_bytes
            if first >= 0:  # they need not be looked for
                places = range(first, first + self._n_bytes, WORD)
                return [np.ndarray((len(at),), "<u8", texts, own, (at.step,)) for own in places]
            at = np.array(at)
        return list(self._words.read(texts, at + (length - self._n_bytes)))


class _Begin:
    """Bytes that texts are to have, from their begin on or so many before their end, by length.

    Their last eight may be any.
    """

    def __init__(self, begin: bytes, packing: Packing, before: int | None, n_bytes: int) -> None:
        self._shortest = packing.shortest
        words, masks = [], []
        for length in range(packing.shortest, packing.longest + 1):
            start = 0 if before is None else length - before
            places = range(max(0, start), max(0, min(start + n_bytes, length - WORD)))
            words.append(sum(begin[at] << 8 * (at - start) for at in places))
            masks.append(sum(0xFF << 8 * (at - start) for at in places))
        self._words, self._masks = np.array(words, np.uint64), np.array(masks, np.uint64)

    def is_in(self, words: Array, lengths: Array | None = None) -> bool:
        """Return whether texts of these lengths have them, given their own bytes there."""
        if lengths is None:
            differ = words ^ self._words[0]
            differ &= self._masks[0]
        else:
            place = lengths - self._shortest
            differ = words ^ self._words.take(place)
            differ &= self._masks.take(place)
        return not differ.any()


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
    step_bytes = step >> 32
    for first, end in pairwise([0, *cuts, len(tail)]):
        at, number = divmod(int(tail[first]), 1 << 32)
        places = range(at, at + step_bytes * (end - first), step_bytes)
        parts.append((data[number], places, slice(first, end)))
    return parts


def _part(tail: Array, data: Sequence[Array]) -> list[Part]:
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
