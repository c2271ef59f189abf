"""Texts as integers, and back: of ids that begin alike, their last eight bytes and their length."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recframe.frames.keys import as_texts
from recframe.kernel.texts import (
    BATCH,
    FREE_BITS,
    Texts,
    find_lengths,
    number_words,
    read_lengths,
    read_words,
)
from recframe.kernel.threads import Array, in_slices


class Coding(NamedTuple):
    """What integers do not say of the texts that they stand for.

    Parameters
    ----------
    kind : DataType
        The type of the texts.
    begin : bytes
        What all of them begin with, but for the last eight bytes of the longest.
    shortest, longest : int
        The bytes of the shortest and the longest.
    """

    kind: pa.DataType
    begin: bytes
    shortest: int
    longest: int


def encode_texts(ids: pa.Array, known: Coding | None) -> tuple[Coding | None, pa.Array]:
    """Return texts as integers and what these do not say, or as they are and None."""
    texts = as_texts(ids)
    own = shortest, longest = find_lengths(texts)
    if known is not None:
        shortest, longest = min(shortest, known.shortest), max(longest, known.longest)
    begin = ids[0].as_py()
    begin = (begin.encode() if isinstance(begin, str) else begin)[: max(0, longest - 8)]
    is_alike = len(begin) == max(0, longest - 8)
    is_alike = is_alike and (not begin or _all_begin(ids, texts, begin, *own))
    words = number_words(texts, shortest, longest) if is_alike else None
    if words is None:
        return None, ids
    return Coding(ids.type, begin, shortest, longest), pa.array(words)


def _all_begin(ids: pa.Array, texts: Texts, begin: bytes, shortest: int, longest: int) -> bool:
    """Return whether all texts begin so, given the lengths of the shortest and the longest."""

    def is_alike(start: int, stop: int) -> bool:
        if shortest < longest or longest < 8:
            return bool(pc.all(pc.starts_with(ids[start:stop], begin)).as_py())
        # Eight bytes at a time, the last of them once more where there are not as many left.
        mask = np.uint64((1 << 8 * min(8, len(begin))) - 1)
        for at in {*range(0, len(begin) - 7, 8), max(0, len(begin) - 8)}:
            words = read_words(texts, longest, at)
            for first in range(start, stop, BATCH):
                if ((words[first : min(first + BATCH, stop)] ^ words[0]) & mask).any():
                    return False
        return True

    # A few most often decide.
    return is_alike(0, BATCH) and all(in_slices(is_alike, 0, len(ids)))


def decode_texts(words: Array, coding: Coding) -> pa.Array:
    """Return the texts that integers stand for."""
    if len(words) == 0:
        return pa.array([], coding.kind)
    lengths = np.full(len(words), coding.longest)
    if coding.shortest < coding.longest:
        lengths = coding.shortest + read_lengths(words)
        words = words & ~FREE_BITS
    found, places = [], []
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        texts = np.empty((len(rows), length), np.uint8)
        n_begin = max(0, length - 8)
        texts[:, :n_begin] = np.frombuffer(coding.begin, np.uint8)[:n_begin]
        lasts = words[rows].astype("<u8").view(np.uint8).reshape(-1, 8)
        texts[:, n_begin:] = lasts[:, : length - n_begin]
        offsets = np.arange(0, texts.size + 1, max(1, length), dtype=np.int32)
        if length == 0:
            offsets = np.zeros(len(rows) + 1, np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(texts)]
        found.append(pa.Array.from_buffers(coding.kind, len(rows), buffers))
        places.append(rows)
    texts = pa.concat_arrays(found)
    return texts.take(pa.array(np.argsort(np.concatenate(places))))
