"""Texts: keys of their last bytes, read from where they lie in memory. NumPy only."""

import sys
from typing import NamedTuple

import numpy as np

from recframe.kernel.threads import Array, in_slices

BATCH = 1 << 17  # texts that one step after the other leaves in the cache
# The golden ratio's bits, odd: a product with it differs wherever integers do.
ODD = np.uint64(0x9E3779B97F4A7C15)
HIGH = int(sys.byteorder == "little")  # which 32 bits of 64 are the high ones in memory


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
        offsets, data = self
        n_words = max(2, data.size // 8)
        words = np.zeros(2, "<u8") if data.size < 16 else data[: 8 * n_words].view("<u8")
        beyond = 0 if data.size < 16 else 8 * (n_words - 1)  # from where on no two words follow
        # The same memory for every batch, as new memory is handed out page by page.
        numbers = np.empty((3, min(BATCH, len(keys))), np.int64)
        pairs = np.empty((2, numbers.shape[1]), np.uint64)
        for begin in range(0, len(keys), BATCH):
            end = min(begin + BATCH, len(keys))
            at, length, shift = numbers[:, : end - begin]
            word, following = pairs[:, : end - begin]
            bounds = offsets[first + begin : first + end + 1]
            np.subtract(bounds[1:], bounds[:-1], out=length)
            np.subtract(bounds[1:], 8, out=at)
            edge = np.flatnonzero((at < 0) | (at >= beyond)) if _is_at_edge(at, beyond) else None
            of_edge = None if edge is None else _read_bytes(data, at[edge])
            # The last eight bytes are in two words, of which each shift leaves its part.
            if edge is not None:
                np.maximum(at, 0, out=at)
            np.left_shift(at, 3, out=shift)
            shift &= 63
            at >>= 3
            words.take(at, out=word, mode="wrap")
            words[1:].take(at, out=following, mode="wrap")
            word >>= shift.view(np.uint64)
            np.subtract(64, shift, out=shift)
            following <<= shift.view(np.uint64)  # NumPy shifts all 64 bits out too
            word |= following
            if edge is not None:
                word[edge] = of_edge
            if length.min() < 8:
                # What is before a shorter text goes.
                np.multiply(length, -8, out=shift)
                shift += 64
                np.maximum(shift, 0, out=shift)
                word >>= shift.view(np.uint64)
            word += length.view(np.uint64)
            word *= ODD
            keys[begin:end] = word.view(np.uint32)[HIGH::2]


def text_keys(texts: Texts) -> Array:
    """Return 32 bits of each text, equal where texts are."""
    keys = np.empty(len(texts.offsets) - 1, np.uint32)
    in_slices(lambda start, stop: texts.write_keys(keys[start:stop], start), 0, len(keys))
    return keys


def _is_at_edge(at: Array, beyond: int) -> bool:
    """Return whether some position is before the data, or too near to its end."""
    return bool(at[0] < 0 or at[-1] >= beyond)  # they ascend


def _read_bytes(data: Array, at: Array) -> Array:
    """Return the eight bytes from each position on as one integer; before the data they are 0."""
    low, high = int(at.min()), int(at.max()) + 8
    part = np.zeros(high - low, np.uint8)
    part[max(0, -low) :] = data[max(0, low) : high]
    # Eight bytes from every byte on, each time as one integer.
    words: Array = np.ndarray((part.size - 7,), "<u8", part, strides=(1,))
    return words.take(at - low)
