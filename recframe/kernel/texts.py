"""Texts: integers of their bytes, read from where they lie in memory. NumPy only."""

import sys
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from recframe.kernel.radix import ODD
from recframe.kernel.threads import Array, in_slices

BATCH = 1 << 17  # texts that one step after the other leaves in the cache
HIGH = int(sys.byteorder == "little")  # which 32 bits of 64 are the high ones in memory
MOST_LENGTHS = 255  # by which texts may differ whose length is written into 8 bits
FREE_BITS = np.uint64(0x8080808080808080)  # of eight bytes of ASCII
# Numbers of 8 bits with each bit as the highest of a byte.
SPREAD = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
SPREAD = (SPREAD << 7).view("<u8")[:, 0].astype(np.uint64)  # in the order of this machine


class Texts(NamedTuple):
    """Texts one after the other.

    Parameters
    ----------
    offsets : ndarray of shape (n_texts + 1,), int
        The bounds of the texts in the data.
    data : ndarray of bytes
        The texts.
    """

    offsets: Array
    data: Array

    def write_keys(self, keys: Array, first: int) -> None:
        """Write 32 bits of each text from the first one on: of its last eight bytes and length."""
        lasts = _Lasts(self, len(keys))
        for begin in range(0, len(keys), BATCH):
            own = keys[begin : begin + BATCH]
            word, length = lasts.read(first + begin, first + begin + len(own))
            word += length.view(np.uint64)
            word *= ODD
            own[:] = word.view(np.uint32)[HIGH::2]


def find_length(texts: Texts) -> int | None:
    """Return the length of texts that have one length, None of none or where they differ."""
    lengths = np.diff(texts.offsets)
    return int(lengths[0]) if len(lengths) and (lengths == lengths[0]).all() else None


def read_words(texts: Texts, length: int, at: int) -> Array:
    """Return eight bytes of each text from the same one on as an integer, of texts of one length.

    They are not copied: the next text is as far behind each as it is long.
    """
    n_texts, first = len(texts.offsets) - 1, int(texts.offsets[0])
    return np.ndarray((n_texts,), "<u8", texts.data, first + at, (length,))


def number_words(texts: Texts, shortest: int, longest: int) -> Array | None:
    """Return 64 bits of each text that hold its last eight bytes and its length; None where not.

    The lengths of the shortest and the longest are given. A length is written into the highest bits
    of bytes, which ASCII leaves free.
    """
    numbers = np.empty(len(texts.offsets) - 1, np.uint64)
    if longest - shortest > MOST_LENGTHS:
        return None

    def write(start: int, stop: int) -> bool:
        if shortest == longest >= 8:
            part = texts._replace(offsets=texts.offsets[start : stop + 1])
            numbers[start:stop] = read_words(part, longest, longest - 8)
            return True
        lasts = _Lasts(texts, stop - start)
        for begin in range(start, stop, BATCH):
            own = numbers[begin : min(begin + BATCH, stop)]
            word, length = lasts.read(begin, begin + len(own))
            if shortest == longest:
                own[:] = word
            elif (word & FREE_BITS).any():
                return False
            else:
                length -= shortest
                np.bitwise_or(word, SPREAD.take(length), out=own)
        return True

    return numbers if all(in_slices(write, 0, len(numbers))) else None


def find_lengths(texts: Texts) -> tuple[int, int]:
    """Return the lengths of the shortest and the longest text."""

    def find(start: int, stop: int) -> tuple[int, int]:
        cuts = pairwise([*range(start, stop, BATCH), stop])
        lengths = [np.diff(texts.offsets[first : end + 1]) for first, end in cuts]
        return min(int(own.min()) for own in lengths), max(int(own.max()) for own in lengths)

    lows, highs = zip(*in_slices(find, 0, len(texts.offsets) - 1), strict=True)
    return min(lows), max(highs)


def read_lengths(numbers: Array) -> Array:
    """Return the numbers of 8 bits of which each bit is the highest of a byte."""
    lengths = np.zeros(len(numbers), np.int64)
    for bit in range(8):
        lengths |= (numbers >> np.uint64(8 * bit + 7) & np.uint64(1)).astype(np.int64) << bit
    return lengths


class _Lasts:
    """The last eight bytes of texts, zeros before those of shorter ones, and the lengths."""

    def __init__(self, texts: Texts, n_texts: int) -> None:
        self._texts, self._words = texts, Words(min(BATCH, n_texts))
        self._numbers = np.empty((2, min(BATCH, n_texts)), np.int64)

    def read(self, begin: int, end: int) -> tuple[Array, Array]:
        """Return those of a batch of texts; the next one overwrites them."""
        at, length = self._numbers[:, : end - begin]
        bounds = self._texts.offsets[begin : end + 1]
        np.subtract(bounds[1:], bounds[:-1], out=length)
        np.subtract(bounds[1:], 8, out=at)
        word = self._words.read(self._texts.data, at)[0]
        if length.min() < 8:
            # What is before a shorter text goes.
            shift = np.multiply(length, -8, out=at)
            shift += 64
            np.maximum(shift, 0, out=shift)
            word >>= shift.view(np.uint64)
        return word, length


class Words:
    """Eight bytes of data from any byte on as an integer, or several, for batches of some rows.

    They are in two words, of which each shift leaves its part. The same memory serves every batch,
    as new memory is handed out page by page.
    """

    def __init__(self, n_rows: int, n_words: int = 1) -> None:
        self._rooms = np.empty((n_words + 2, n_rows), np.uint64)
        self._shifts = np.empty(n_rows, np.int64)

    def read(self, data: Array, at: Array) -> Array:
        """Return those from each byte on, one after the other in rows, outside the data zeros.

        The next batch overwrites them. The positions are overwritten too.
        """
        n_words = len(self._rooms) - 2
        # From where on words are aligned, without which NumPy copies all, and enough follow.
        first = -data.__array_interface__["data"][0] % 8
        n_aligned = max(0, data.size - first) // 8
        if n_aligned <= n_words:
            return _read_bytes(data, at, n_words)
        aligned = data[first : first + 8 * n_aligned].view("<u8")
        rooms, shift = self._rooms[:, : len(at)], self._shifts[: len(at)]
        words, other = rooms[:-2], rooms[-1]
        at -= first
        beyond = 8 * (n_aligned - n_words)
        edges = []
        if at.min() < 0 or at.max() >= beyond:
            for flags in (at < 0, at >= beyond):
                edge = np.flatnonzero(flags)
                edges.append((edge, _read_bytes(data, at[edge] + first, n_words)))
            np.clip(at, 0, beyond - 1, out=at)
        np.left_shift(at, 3, out=shift)
        shift &= 63
        at >>= 3
        for number, room in enumerate(rooms[:-1]):
            aligned[number:].take(at, out=room, mode="wrap")
        rest = np.subtract(64, shift, out=at)
        for word, following in pairwise(rooms[:-1]):
            np.left_shift(following, rest.view(np.uint64), out=other)
            word >>= shift.view(np.uint64)  # NumPy shifts all 64 bits out too
            word |= other
        for edge, of_edge in edges:
            words[:, edge] = of_edge
        return words


def _read_bytes(data: Array, at: Array, n_words: int) -> Array:
    """Return so many integers of eight bytes from each position on; outside the data they are 0.

    The positions are near each other: what lies between is copied.
    """
    if len(at) == 0:
        return np.empty((n_words, 0), np.uint64)
    n_bytes, low = 8 * n_words, int(at.min())
    near = np.zeros(int(at.max()) - low + n_bytes, np.uint8)
    own = data[max(0, low) : max(0, low + near.size)]
    near[max(0, -low) : max(0, -low) + own.size] = own
    # An item begins at every byte.
    items = np.ndarray((near.size - n_bytes + 1,), f"V{n_bytes}", near, strides=(1,))
    words: Array = items[at - low].view("<u8").reshape(-1, n_words).astype(np.uint64).T
    return words
