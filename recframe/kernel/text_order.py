"""Text order: texts put in order within runs, by integers of their bytes. NumPy only."""

import numpy as np

from recframe.kernel.grouping import group_offsets
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
    data = texts.data
    if len(data) < WORD:
        data = np.append(data, np.zeros(WORD, np.uint8))
    # Eight bytes from every byte on, each time as one integer, of which the first byte leads.
    words: Array = np.ndarray((len(data) - WORD + 1,), ">u8", data, strides=(1,))
    begin = texts.offsets[rows].astype(np.int64)
    length = texts.offsets[1:][rows] - begin
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
        sizes = np.diff(np.flatnonzero(begins), append=len(left))
        kept = np.flatnonzero(np.repeat(sizes > 1, sizes))
        left, sizes = left[kept], sizes[sizes > 1]
        begin, length = begin[in_order[kept]], length[in_order[kept]]
    return order


def _read(words: Array, begin: Array, length: Array) -> Array:
    """Return the eight bytes from each position on, zeros for what is beyond the text."""
    at = np.minimum(begin, len(words) - 1)  # as nothing is behind the data
    read: Array = words[at].astype(np.uint64)
    read <<= (WORD * (begin - at)).view(np.uint64)
    beyond = np.clip(8 * (WORD - length), 0, 64).view(np.uint64)
    read >>= beyond  # NumPy shifts all 64 bits out too
    read <<= beyond
    return read
