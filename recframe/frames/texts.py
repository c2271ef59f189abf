"""Texts: the order of ids as they are written."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError, quote
from recframe.frames.ids import encode
from recframe.frames.user_groups import find_keys
from recframe.kernel.grouping import argsort
from recframe.kernel.threads import Array

WORD = 8  # bytes


def order_by_text(user: Array, item: pd.Series) -> Array:
    """Return the order of rows by user and then by item as text, the last first."""
    keys = find_keys(item)
    words = _read_words(keys) if isinstance(keys, pa.Array) and len(keys) else None
    ranks = _rank(item) if words is None else words
    order = np.argsort(~ranks)
    return order[argsort(user[order])]


def _read_words(texts: pa.Array) -> Array | None:
    """Return integers in the order of texts, None where they differ in more than seven bytes."""
    bounds = pc.min_max(texts)
    low, high = bounds["min"].as_py().encode(), bounds["max"].as_py().encode()
    # What these two begin with, all that are between them do.
    pairs = enumerate(zip(low, high, strict=False))
    n_same = next((number for number, (one, other) in pairs if one != other), len(low))
    if pc.max(pc.binary_length(texts)).as_py() - n_same > WORD - 1:
        return None
    _, offsets, data = texts.buffers()
    width = np.int32 if pa.types.is_string(texts.type) else np.int64
    ends: Array = np.frombuffer(offsets, width)[texts.offset : texts.offset + len(texts) + 1]
    signs = np.zeros(ends[-1] + WORD, np.uint8)
    signs[: ends[-1]] = np.frombuffer(data or b"", np.uint8)[: ends[-1]]
    # Eight bytes from every byte on, each time as one integer.
    from_each: Array = np.ndarray((ends[-1] + 1,), ">u8", signs, strides=(1,))
    words: Array = from_each.take(ends[:-1] + n_same).astype(np.uint64)
    # What follows a text goes; of two that begin alike the shorter comes first.
    length: Array = (np.diff(ends) - n_same).astype(np.uint64)
    beyond = 8 * (WORD - length)
    words >>= beyond
    words <<= beyond
    words |= length
    return words


def _rank(item: pd.Series) -> Array:
    """Return the position of each id among the distinct ids as text, by code points."""
    codes, ids = encode(item, "item").numbered()
    texts = _write(ids)
    if isinstance(texts, pa.Array):  # whose order is that of UTF-8, the same
        order = pc.sort_indices(texts).to_numpy()
    else:
        order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
        same = [at for at in range(1, len(order)) if texts[order[at]] == texts[order[at - 1]]]
        if same:
            raise RecframeError(
                f"item={quote(item.name)}: ties='item' needs ids that differ as text, found two "
                f"written {quote(texts[order[same[0]]])}; convert them to text that differs"
            )
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[codes]


def _write(ids: pd.Index[Any]) -> pa.Array | list[str]:
    """Return distinct ids as text: numbers in decimals, whole ones without a point."""
    if isinstance(ids.dtype, np.dtype) and ids.dtype.kind in "iu":
        return pc.cast(pa.array(ids.to_numpy()), pa.string())
    try:
        texts = pa.array(ids, from_pandas=True)
    except (pa.ArrowException, UnicodeError, OverflowError, TypeError, ValueError):
        texts = None  # objects of several kinds, or text that UTF-8 does not have
    if isinstance(texts, pa.Array) and texts.type in (pa.string(), pa.large_string()):
        return texts
    return [_write_one(id_) for id_ in ids.tolist()]


def _write_one(id_: Any) -> str:
    """Return one id as text."""
    if isinstance(id_, bytes):
        return id_.decode("latin-1")
    if isinstance(id_, Decimal) and id_.is_finite():
        whole, point, rest = f"{id_:f}".partition(".")
        return f"{whole}{point}{rest}".rstrip("0").rstrip(".") if point else whole
    if isinstance(id_, float) and math.isfinite(id_) and id_ == int(id_):
        return str(int(id_))
    return str(id_)
