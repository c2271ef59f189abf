"""Texts: the order of ids as they are written."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError, quote
from recframe.frames.ids import encode
from recframe.frames.keys import find_keys
from recframe.kernel.grouping import group_offsets
from recframe.kernel.runs import order_runs
from recframe.kernel.threads import Array, in_threads

WORD = 8  # bytes
ReadWords = Callable[[int, int], Array]
AT_ONCE = 1 << 17  # rows, which the cache holds


def order_by_text(sizes: Array, item: pd.Series) -> Array:
    """Return the order of rows by item as text, the last first, within users of these sizes."""
    texts = find_keys(item)
    read = _find_words(texts) if isinstance(texts, pa.Array) and len(texts) else None
    read = read or partial(_of_rows, _rank(item))
    offsets = group_offsets(sizes)
    order = np.empty(len(item), np.int64)

    def sort(first: int, stop: int) -> None:
        own = slice(offsets[first], offsets[stop])
        keys = ~read(own.start, own.stop)
        keys -= keys.dtype.type(1)  # so that none is the highest integer
        in_order = order_runs(keys, sizes[first:stop], np.iinfo(keys.dtype).max)
        np.add(in_order, own.start, out=order[own])

    # Whole users, about so many rows at a time.
    firsts = np.searchsorted(offsets, np.arange(0, len(item), AT_ONCE))
    in_threads(sort, pairwise(np.unique([*firsts, len(sizes)]).tolist()))
    return order


def _of_rows(values: Array, start: int, stop: int) -> Array:
    """Return the values of rows."""
    return values[start:stop]


def _find_words(texts: pa.Array) -> ReadWords | None:
    """Return what reads texts as integers in their order, None where these need over seven bytes.

    What all begin with does not count.
    """
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
    from_each: Array = np.ndarray((ends[-1] + 1,), "<u8", signs, strides=(1,))

    def read(start: int, stop: int) -> Array:
        own = ends[start : stop + 1]
        words: Array = from_each[own[:-1] + n_same].byteswap()  # `take` would copy all there are
        # What follows a text goes; of two that begin alike the shorter comes first.
        length: Array = (np.diff(own) - n_same).astype(np.uint64)
        beyond = 8 * (WORD - length)
        words >>= beyond
        words <<= beyond
        words |= length
        return words

    return read


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
