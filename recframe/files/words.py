"""Ids of users that are text as integers, which are parted and made distinct faster than texts.

Ids as a rule begin alike, so that their last eight bytes and their length are all that differs.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recframe.frames.keys import as_texts
from recframe.kernel.texts import FREE_BITS, find_lengths, number_words, read_lengths
from recframe.kernel.threads import Array

TEXTS = (pa.string(), pa.binary())


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


Codings = dict[str, Coding | None]  # by column; None where its texts stay


def encode(
    batch: pa.RecordBatch, users: Iterable[str], known: Codings
) -> tuple[pa.RecordBatch, Codings]:
    """Return rows with ids that are text as integers, where they can be, and what these leave out.

    What is known of other rows is kept where it fits, so that theirs can be compared with them.
    """
    codings: Codings = {}
    for name in users:
        if batch[name].type in TEXTS and len(batch[name]):
            codings[name], ids = _encode(batch[name], known.get(name))
            batch = batch.set_column(batch.schema.get_field_index(name), name, ids)
    return batch, codings


def _encode(ids: pa.Array, known: Coding | None) -> tuple[Coding | None, pa.Array]:
    """Return texts as integers and what these do not say, or as they are and None."""
    texts = as_texts(ids)
    shortest, longest = find_lengths(texts)
    if known is not None:
        shortest, longest = min(shortest, known.shortest), max(longest, known.longest)
    begin = ids[0].as_py()
    begin = (begin.encode() if isinstance(begin, str) else begin)[: max(0, longest - 8)]
    is_alike = len(begin) == max(0, longest - 8)
    is_alike = is_alike and (not begin or pc.all(pc.starts_with(ids, begin)).as_py())
    words = number_words(texts, shortest, longest) if is_alike else None
    if words is None:
        return None, ids
    return Coding(ids.type, begin, shortest, longest), pa.array(words)


def decode(batch: pa.RecordBatch, codings: Codings) -> pa.RecordBatch:
    """Return the rows again, their ids that are text dictionary-encoded."""
    for name, coding in codings.items():
        ids = batch[name].dictionary_encode()
        if coding is not None:
            texts = _decode(ids.dictionary.to_numpy(), coding)
            ids = pa.DictionaryArray.from_arrays(ids.indices, texts)
        batch = batch.set_column(batch.schema.get_field_index(name), name, ids)
    return batch


def text_bytes(codings: Codings) -> int:
    """Return the most bytes that the texts of a row have."""
    return sum(coding.longest for coding in codings.values() if coding is not None)


def _decode(words: Array, coding: Coding) -> pa.Array:
    """Return the texts that integers stand for."""
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
