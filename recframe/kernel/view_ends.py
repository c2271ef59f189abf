"""Long texts in views: their last eight bytes as integers, read where they lie. NumPy only.

A view of a text of more than twelve bytes has the length, the first four bytes, the number of the
data that the text is in, and its position there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from recframe.kernel.grouping import run_bounds
from recframe.kernel.texts import FREE_BITS, SPREAD, Words
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
    views: Sequence[Array], data: Sequence[Sequence[Array]], text: bytes
) -> Array | None:
    """Return the last eight bytes of long texts as integers; None where these do not tell them.

    Parameters
    ----------
    views : sequence of ndarray of shape (n, 2), uint64
        The views, in pieces.
    data : sequence of sequence of ndarray of bytes
        What the views of each piece point into.
    text : bytes
        One of the texts. The others are to be as long, and to begin as it does.
    """
    if not LONGEST < len(text) <= MOST_BYTES:
        return None
    return _write(views, data, partial(_Ends, text))


def number_several(
    views: Sequence[Array],
    data: Sequence[Sequence[Array]],
    begin: bytes,
    lengths: tuple[int, int],
) -> Array | None:
    """Return what `texts.number_words` does, of texts some of which are long.

    Parameters
    ----------
    views, data
        As above.
    begin : bytes
        What the longest begins with, but for its last eight bytes, and so is each to begin that
        has more than eight.
    lengths : tuple of two int
        Those of the shortest and of the longest, which differ.
    """
    shortest, longest = lengths
    if len(begin) != max(0, longest - WORD) or not len(begin) <= shortest < longest <= MOST_BYTES:
        return None
    return _write(views, data, partial(_SeveralEnds, begin, lengths))


def _write(
    views: Sequence[Array],
    data: Sequence[Sequence[Array]],
    make: Callable[[int], _Ends | _SeveralEnds],
) -> Array | None:
    """Return an integer for each view, None where one has none.

    What writes those of batches is made given the most rows of a batch.
    """
    numbers = np.empty(sum(map(len, views)), np.uint64)

    def write(start: int, stop: int) -> bool:
        ends = make(min(BATCH, stop - start))
        parts = batches(views, start, stop)
        return all(ends.write(views[n][own], data[n], numbers[rows]) for n, own, rows in parts)

    # A few most often decide.
    is_alike = write(0, min(BATCH, len(numbers)))
    return numbers if is_alike and all(in_slices(write, 0, len(numbers))) else None


class _Ends:
    """Writes the last eight bytes of texts that are as long as one, and begin as it does."""

    def __init__(self, text: bytes, n_rows: int) -> None:
        # As many words, the last ones of a text, as have the bytes that are not in its view.
        n_words = -(-(len(text) - FIRST) // WORD)
        self._words, self._n_before = Words(n_rows, n_words), n_words * WORD - len(text)
        of_view = len(text).to_bytes(FIRST, "little") + text[:FIRST]
        self._head = np.uint64(int.from_bytes(of_view, "little"))
        # The bytes of other texts, before this one, do not count.
        padded = bytes(max(0, self._n_before)) + text[max(0, -self._n_before) : -WORD]
        self._begin = np.frombuffer(padded, "<u8")
        self._mask = np.uint64((-1 << 8 * max(0, self._n_before)) & ((1 << 64) - 1))

    def write(self, views: Array, data: Sequence[Array], numbers: Array) -> bool:
        """Write those of a batch; return whether they could be."""
        head, tail = views.T
        if (head != self._head).any():
            return False
        parts = _follow(tail, data) or _part(tail, data)
        for texts, at, rows in parts:
            *others, last = self._read(texts, at)
            if not all(map(self._is_alike, range(len(others)), others)):
                return False
            numbers[rows] = last
        return bool(parts)

    def _is_alike(self, number: int, words: Array) -> bool:
        """Return whether these words of texts, but for the last ones, are those of the one."""
        differ = words ^ self._begin[number]
        if number == 0:
            differ &= self._mask
        return not differ.any()

    def _read(self, texts: Array, at: Array | range) -> Sequence[Array]:
        """Return the words in which texts end, of those that begin at these positions."""
        if isinstance(at, range):
            first = at.start - self._n_before
            if first >= 0:  # they need not be looked for
                places = range(first, first + WORD * (1 + len(self._begin)), WORD)
                return [np.ndarray((len(at),), "<u8", texts, own, (at.step,)) for own in places]
            at = np.array(at)
        return list(self._words.read(texts, at - self._n_before))


class _SeveralEnds:
    """Writes the last eight bytes of texts of several lengths, and these into bits left free."""

    def __init__(self, begin: bytes, lengths: tuple[int, int], n_rows: int) -> None:
        self._shortest, longest = lengths
        of_view = begin[:FIRST].ljust(FIRST, b"\0")
        self._head = np.uint64(int.from_bytes(of_view, "little")) << HALF
        self._mask = np.uint64((1 << 8 * min(len(begin), FIRST)) - 1) << HALF
        # As many words, the last ones of a text, as have the bytes that are not in its view.
        n_words = max(1, -(-(longest - FIRST) // WORD))
        self._words = Words(n_rows, n_words)
        # What those before the last one are to be, and which bits, by the length of a text.
        before, masks = np.zeros((2, longest + 1, WORD * (n_words - 1)), np.uint8)
        for length in range(LONGEST + 1, longest + 1):
            own = begin[max(0, length - WORD * n_words) : length - WORD]
            before[length, before.shape[1] - len(own) :] = np.frombuffer(own, np.uint8)
            masks[length, before.shape[1] - len(own) :] = 255
        self._before, self._masks = before.view("<u8").T.copy(), masks.view("<u8").T.copy()

    def write(self, views: Array, data: Sequence[Array], numbers: Array) -> bool:
        """Write those of a batch; return whether they could be."""
        head, tail = views.T
        if ((head ^ self._head) & self._mask).any():
            return False
        length = (head & LENGTH).view(np.int64)
        short = np.flatnonzero(length <= LONGEST)
        if len(short) < len(length) and not self._write_long(tail, length, short, data, numbers):
            return False
        if len(short):
            numbers[short] = _end_short(head[short], tail[short], length[short])
        if np.bitwise_or.reduce(numbers) & FREE_BITS:
            return False
        length -= self._shortest
        numbers |= SPREAD.take(length)
        return True

    def _write_long(
        self, tail: Array, length: Array, short: Array, data: Sequence[Array], numbers: Array
    ) -> bool:
        """Write those of long texts, of short ones anything; return whether they begin alike."""
        if len(short):  # for which a long one is read
            tail = tail.copy()
            tail[short] = tail[(length > LONGEST).argmax()]
        parts = _part(tail, data)
        for texts, at, rows in parts:
            own = length[rows]
            *others, last = self._words.read(texts, at + (own - WORD * (1 + len(self._before))))
            for words, before, masks in zip(others, self._before, self._masks, strict=True):
                differ = before.take(own)
                differ ^= words
                differ &= masks.take(own)
                if differ.any():
                    return False
            numbers[rows] = last
        return bool(parts)


def _end_short(head: Array, tail: Array, length: Array) -> Array:
    """Return the last eight bytes of texts that are in their views, zeros after shorter ones."""
    shift = np.clip(WORD * (length - WORD), 0, int(HALF)).view(np.uint64)
    ends: Array = tail << (HALF - shift)
    ends |= head >> HALF >> shift
    return ends


def _follow(tail: Array, data: Sequence[Array]) -> Sequence[Part]:
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


def _part(tail: Array, data: Sequence[Array]) -> Sequence[tuple[Array, Array, slice | Array]]:
    """Return texts in parts that are in the same data; [] where these are too many."""
    at = (tail >> HALF).view(np.int64)
    if len(data) == 1:
        return [(data[0], at, slice(None))]
    numbers = (tail & LENGTH).astype(np.uint32)
    bounds = run_bounds(numbers).tolist()
    rows: list[slice | Array]
    if len(bounds) <= MOST_DATA:
        rows = [slice(*own) for own in pairwise(bounds)]
    elif len(distinct := np.unique(numbers)) <= MOST_DATA:
        rows = [np.flatnonzero(numbers == number) for number in distinct]
    else:
        return []
    return [(data[int(numbers[own][0])], at[own], own) for own in rows]
