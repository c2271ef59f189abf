"""Views: texts as records of 16 bytes, the short ones themselves; as integers. NumPy only.

A record begins with the length, in four bytes. A text of at most twelve follows, and zeros.
"""

import sys
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from recframe.kernel.threads import Array, in_slices

BATCH = 1 << 16  # views that one step after the other leaves in the cache
LONGEST = 12  # bytes of a text that stands in its view
LAST = np.uint64(56)  # bits before the last byte of eight
ALL_BITS = (1 << 64) - 1
NO_DIGIT = np.uint64(0xC0C0C0C0C0C0C0C0)  # bits that no byte from "0" to "?" has
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

    def number(self, views: Views, numbers: Array) -> bool:
        """Write an integer for each view, in the order of the texts; return whether there is one.

        Integers of 32 bits have the lower half of each byte. That is enough where what differs is
        digits: each is "0" or above and has no bit of `NO_DIGIT`. No byte may be below "0".
        """
        shifts = np.uint64(32 + 8 * self.begin), np.uint64(32 - 8 * self.begin)

        def write(start: int, stop: int) -> bool:
            rooms = np.empty((2, min(BATCH, stop - start)), np.uint64)
            for first in range(start, stop, BATCH):
                head, tail = views[first : min(first + BATCH, stop)].T
                word, other = rooms[:, : len(head)]
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
                    if np.bitwise_or.reduce(word) & NO_DIGIT:
                        return False
                    _join_halves(word, other)
                numbers[first : first + len(head)] = word
            return True

        return all(in_slices(write, 0, len(views)))

    def write_views(self, numbers: Array) -> Array:
        """Return the views of which these are the numbers."""
        word = numbers.byteswap()
        views = np.empty((len(word), 2), np.uint64)
        views[:] = self.common
        if self.has_length:
            views[:, 0] |= word >> LAST
            word &= (np.uint64(1) << LAST) - np.uint64(1)
        views[:, 0] |= word << np.uint64(32 + 8 * self.begin)
        views[:, 1] |= word >> np.uint64(32 - 8 * self.begin)
        return views


def find_lengths(views: Sequence[Array]) -> tuple[int, int]:
    """Return the lengths of the shortest and the longest text, of pieces none of which is empty."""

    def find(piece: Array, start: int, stop: int) -> tuple[int, int]:
        lengths = piece[start:stop].view("<u4")[:, 0]
        return int(lengths.min()), int(lengths.max())

    found = [each for own in views for each in in_slices(partial(find, own), 0, len(own))]
    return min(low for low, _ in found), max(high for _, high in found)


def _join_halves(words: Array, room: Array) -> None:
    """Leave the lower halves of bytes, side by side."""
    for n_bits, kept in HALVES:
        words &= kept
        words |= np.right_shift(words, n_bits, out=room)


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

    def find(piece: Views, start: int, stop: int) -> tuple[int, int, int]:
        differing, longest = [0, 0], 0
        for begin in range(start, stop, BATCH):
            own = piece[begin : min(begin + BATCH, stop)]
            longest = max(longest, int(own.view(np.uint32)[:, 0].max()))
            for word in (0, 1):
                differing[word] |= int(np.bitwise_or.reduce(own[:, word] ^ first[word]))
        return differing[0], differing[1], longest

    def find_all(piece: Views) -> list[tuple[int, int, int]]:
        return in_slices(partial(find, piece), 0, len(piece))

    # The first ones as a rule show it where there is none.
    n_first = min(BATCH, len(views[0]))
    if _choose(first, [find(views[0], 0, n_first)]) is None:
        return None
    return _choose(first, [found for piece in views for found in find_all(piece)])


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
