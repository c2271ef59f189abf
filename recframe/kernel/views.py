"""Views: texts as records of 16 bytes, the short ones themselves; as integers. NumPy only.

A record begins with the length, in four bytes. A text of at most twelve follows, and zeros.
"""

import sys
from collections.abc import Iterator, Sequence, Sized
from typing import NamedTuple, Protocol

import numpy as np

from recframe.kernel.threads import Array, in_slices

BATCH = 1 << 16  # views that one step after the other leaves in the cache
LONGEST = 12  # bytes of a text that stands in its view
LAST = np.uint64(56)  # bits before the last byte of eight
LENGTH = np.uint64(0xFFFFFFFF)  # bits of a view that are the length
HALF = np.uint64(0x0F)
ALL_BITS = (1 << 64) - 1
DIGITS = np.uint64(0x3030303030303030)  # what "0" to "?" have in common
NO_DIGIT = np.uint64(0xC0C0C0C0C0C0C0C0)  # bits that none of these has
# Bits by which to move halves of bytes, pairs of them and fours towards others; what to keep first.
HALVES = [
    (np.uint64(4), np.uint64(0x0F0F0F0F0F0F0F0F)),
    (np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
    (np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
]


class Views(Protocol):
    """What gives views of texts, two words each: an array of them, or what makes them."""

    def __len__(self) -> int:
        """Return how many there are."""

    def __getitem__(self, own: slice, /) -> Array:
        """Return those from one number to another."""


class Window(NamedTuple):
    """Where the bytes are in which short texts differ: eight, or seven beside the length.

    Parameters
    ----------
    common : tuple of two int
        The words of a view without those bytes.
    begin : int
        The first of those bytes in the texts, at most the fifth.
    has_length : bool
        Whether texts differ in length.
    """

    common: tuple[int, int]
    begin: int
    has_length: bool

    def number(self, views: Sequence[Views], numbers: Array) -> bool:
        """Write an integer for each view, in the order of the texts; return whether there is one.

        Integers of 32 bits have the lower half of each byte. That is enough where what differs is
        digits: each is from "0" to "?". Behind a text "0" stands; its length tells where.
        """
        shifts = np.uint64(32 + 8 * self.begin), np.uint64(32 - 8 * self.begin)
        pads = self._pads()

        def write(start: int, stop: int) -> bool:
            rooms = np.empty((3, min(BATCH, stop - start)), np.uint64)
            for number, own, rows in batches(views, start, stop):
                head, tail = views[number][own].T
                word, other, pad = rooms[:, : len(head)]
                # NumPy shifts all 64 bits out too.
                np.right_shift(head, shifts[0], out=word)
                np.left_shift(tail, shifts[1], out=other)
                word |= other
                if self.has_length:
                    word &= (np.uint64(1) << LAST) - np.uint64(1)
                    word |= np.left_shift(head, LAST, out=other)
                # The first byte leads, as in the order of texts.
                word.byteswap(inplace=True)
                if numbers.itemsize == 4:
                    if self.has_length:
                        length = np.bitwise_and(word, HALF, out=other)
                        word |= pads.take(length.view(np.int64), out=pad, mode="clip")
                    else:
                        word |= pads[0]
                    is_digit = np.bitwise_and.reduce(word) & DIGITS == DIGITS
                    if not is_digit or np.bitwise_or.reduce(word) & NO_DIGIT:
                        return False
                    _join_halves(word, other)
                numbers[rows] = word
            return True

        return all(in_slices(write, 0, len(numbers)))

    def _pads(self) -> Array:
        """Return "0" for the bytes that are after the end of texts, by their length."""
        if not self.has_length:
            lengths = [self.common[0] & int(LENGTH)]
        else:
            lengths = list(range(LONGEST + 1))
        pads = np.zeros((len(lengths), 8), np.uint8)
        for pad, length in zip(pads, lengths, strict=True):
            pad[max(0, length - self.begin) :] = ord("0")
            if self.has_length:
                pad[-1] = ord("0")  # where the length is
        return pads.view(">u8")[:, 0].astype(np.uint64)

    def write_views(self, numbers: Array) -> Array:
        """Return the views of which these are the numbers."""
        word = numbers.astype(np.uint64)
        if numbers.itemsize == 4:
            _part_halves(word)
            word |= DIGITS
            word &= ~self._pads().take((word & HALF).view(np.int64), mode="clip")
        word.byteswap(inplace=True)
        views = np.empty((len(word), 2), np.uint64)
        views[:] = self.common
        if self.has_length:
            views[:, 0] |= word >> LAST
            word &= (np.uint64(1) << LAST) - np.uint64(1)
        views[:, 0] |= word << np.uint64(32 + 8 * self.begin)
        views[:, 1] |= word >> np.uint64(32 - 8 * self.begin)
        return views


def batches(pieces: Sequence[Sized], start: int, stop: int) -> Iterator[tuple[int, slice, slice]]:
    """Yield the rows from one to another in batches: which piece, where in it, where in all."""
    first = 0
    for number, own in enumerate(pieces):
        end = first + len(own)
        for begin in range(max(start, first), min(stop, end), BATCH):
            last = min(begin + BATCH, stop, end)
            yield number, slice(begin - first, last - first), slice(begin, last)
        first = end


def number_short(views: Sequence[Views]) -> tuple[Window, Array] | None:
    """Return where short texts differ, and an integer for each in their order; None as below."""
    window = find_window(views)
    for kind in (np.uint32, np.uint64):
        numbers = np.empty(sum(map(len, views)), kind)
        if window is not None and window.number(views, numbers):
            return window, numbers
    return None


def find_lengths(views: Sequence[Array]) -> tuple[int, int]:
    """Return the lengths of the shortest and the longest text, of pieces none of which is empty."""

    def find(start: int, stop: int) -> tuple[int, int]:
        parts = [views[number][own] for number, own, _ in batches(views, start, stop)]
        lengths = [own.view("<u4")[:, 0] for own in parts]
        return min(int(own.min()) for own in lengths), max(int(own.max()) for own in lengths)

    lows, highs = zip(*in_slices(find, 0, sum(map(len, views))), strict=True)
    return min(lows), max(highs)


def _join_halves(words: Array, room: Array) -> None:
    """Leave the lower halves of bytes, side by side."""
    for n_bits, kept in HALVES:
        words &= kept
        words |= np.right_shift(words, n_bits, out=room)


def _part_halves(words: Array) -> None:
    """Write halves that are side by side into bytes of their own."""
    for n_bits, kept in reversed(HALVES):
        words |= words << n_bits
        words &= kept


def find_window(views: Sequence[Views]) -> Window | None:
    """Return where short texts differ; None where one is long, or they differ in too many bytes.

    Parameters
    ----------
    views : sequence of Views
        The views in pieces, of which none is empty: arrays of shape (n, 2), uint64, or what makes
        them.
    """
    if sys.byteorder != "little":
        return None
    first = views[0][:1][0]

    def find(start: int, stop: int) -> tuple[int, int, int]:
        differing, longest = [0, 0], 0
        for number, rows, _ in batches(views, start, stop):
            own = views[number][rows]
            longest = max(longest, int(own.view(np.uint32)[:, 0].max()))
            for word in (0, 1):
                differing[word] |= int(np.bitwise_or.reduce(own[:, word] ^ first[word]))
        return differing[0], differing[1], longest

    # The first ones as a rule show it where there is none.
    if _choose(first, [find(0, min(BATCH, len(views[0])))]) is None:
        return None
    return _choose(first, in_slices(find, 0, sum(map(len, views))))


def _choose(first: Array, found: Sequence[tuple[int, int, int]]) -> Window | None:
    """Return where texts differ by the bits in which views do from the first, and the longest."""
    head = tail = 0
    for own_head, own_tail, longest in found:
        head, tail = head | own_head, tail | own_tail
        if longest > LONGEST:
            return None
    has_length = head & 0xFFFFFFFF > 0
    differing = head >> 32 | tail << 32  # of the text, the first byte in the lowest bits
    begin = min(4, max(0, (differing & -differing).bit_length() - 1) // 8)
    n_bits = 64 - 8 * has_length
    if differing >> 8 * begin >> n_bits:
        return None
    window = ((1 << n_bits) - 1) << 32 + 8 * begin
    lengths = 0xFFFFFFFF if has_length else 0
    low, high = (int(word) for word in first)
    common = low & ~(window | lengths) & ALL_BITS, high & ~(window >> 64)
    return Window(common, begin, has_length)
