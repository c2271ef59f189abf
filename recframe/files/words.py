"""Ids of users that are text as integers, which are parted and made distinct faster than texts."""

from collections.abc import Iterable

import pyarrow as pa

from recframe.frames.text_words import Coding, decode_texts, encode_texts

TEXTS = (pa.string(), pa.binary())
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
            codings[name], ids = encode_texts(batch[name], known.get(name))
            batch = batch.set_column(batch.schema.get_field_index(name), name, ids)
    return batch, codings


def decode(batch: pa.RecordBatch, codings: Codings) -> pa.RecordBatch:
    """Return the rows again, their ids that are text dictionary-encoded."""
    for name, coding in codings.items():
        ids = batch[name].dictionary_encode()
        if coding is not None:
            texts = decode_texts(ids.dictionary.to_numpy(), coding)
            ids = pa.DictionaryArray.from_arrays(ids.indices, texts)
        batch = batch.set_column(batch.schema.get_field_index(name), name, ids)
    return batch


def text_bytes(codings: Codings) -> int:
    """Return the most bytes that the texts of a row have."""
    return sum(coding.longest for coding in codings.values() if coding is not None)
