"""Text order: texts put in order within runs, by integers of their bytes. NumPy only."""

import numpy as np

from recframe.kernel.grouping import group_offsets, run_sizes
from recframe.kernel.radix import differs
from recframe.kernel.runs import order_runs
from recframe.kernel.texts import Texts
from recframe.kernel.threads import Array

WORD = 8  # bytes


def order_texts(texts: Texts, rows: Array, sizes: Array) -> Array:
    """Return the order of the texts of these rows within runs of these sizes, the last first.

    It is that of their bytes, of which eight are compared at a time. In a run no text repeats, and
    no run is empty.
    """
    words = _words(texts)
    begin, length = _bounds(texts, rows)
    longest = int(length.max(initial=0))
    order, left = np.arange(len(rows)), np.arange(len(rows))
    for start in (*range(0, longest, WORD), longest):
        if start < longest:
            keys = _read(words, begin + start, length - start)
        else:  # of texts alike so far one has but zeros more
            keys = length.view(np.uint64)
        if (keys == keys[:1]).all():  # as where all texts begin alike
            continue
        # No byte of UTF-8 is 255: none of these becomes the highest integer, which is the pad.
        keys = ~keys - np.uint64(1)
        in_order = order_runs(keys, sizes, np.iinfo(np.uint64).max)
        order[left] = order[left[in_order]]
        begins = differs(keys[in_order])
        begins[group_offsets(sizes)[:-1]] = True
        if begins.all():
            break
        # Those that are alike so far go by what follows.
        sizes = run_sizes(np.flatnonzero(begins), len(left))
        kept = np.flatnonzero(np.repeat(sizes > 1, sizes))
        left, sizes = left[kept], sizes[sizes > 1]
        begin, length = begin[in_order[kept]], length[in_order[kept]]
    return order


def find_higher(texts: Texts, rows: Array, others: Array, sizes: Array) -> Array | None:
    """Return whether the texts of other rows are higher than those of rows; None if any are equal.

    With each row so many others are compared.
    """
    words = _words(texts)
    begin, length = _bounds(texts, rows)
    begins, lengths = _bounds(texts, others)
    row, left = np.repeat(np.arange(len(rows)), sizes), np.arange(len(others))
    longest = int(max(length.max(initial=0), lengths.max(initial=0)))
    is_higher = np.zeros(len(others), bool)
    for start in (*range(0, longest, WORD), longest):
        if start < longest:
            keys = _read(words, begin + start, length - start)[row]
            of_others = _read(words, begins + start, lengths - start)
        else:  # of texts alike so far one has but zeros more
            keys, of_others = length[row], lengths
        is_higher[left] = of_others > keys
        alike = np.flatnonzero(of_others == keys)
        if len(alike) == 0:
            return is_higher
        left, row, begins, lengths = left[alike], row[alike], begins[alike], lengths[alike]
    return None


def _words(texts: Texts) -> Array:
    """Return eight bytes from every byte on, each time as one integer, whose first byte leads."""
    data = texts.data
    if len(data) < WORD:
        data = np.append(data, np.zeros(WORD, np.uint8))
    return np.ndarray((len(data) - WORD + 1,), ">u8", data, strides=(1,))


def _bounds(texts: Texts, rows: Array) -> tuple[Array, Array]:
    """Return where the texts of rows begin, and their lengths."""
    begin = texts.offsets[rows].astype(np.int64)
    return begin, texts.offsets[1:][rows] - begin


def _read(words: Array, begin: Array, length: Array) -> Array:
    """Return the eight bytes from each position on, zeros for what is beyond the text."""
    at = np.minimum(begin, len(words) - 1)  # as nothing is behind the data
    read: Array = words[at].astype(np.uint64)
    read <<= (WORD * (begin - at)).view(np.uint64)
    beyond = np.clip(8 * (WORD - length), 0, 64).view(np.uint64)
    read >>= beyond  # NumPy shifts all 64 bits out too
    read <<= beyond
    return read
