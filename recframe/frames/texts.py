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
from recframe.frames.keys import as_texts, read_text
from recframe.kernel.grouping import group_offsets
from recframe.kernel.runs import order_runs
from recframe.kernel.text_order import order_texts
from recframe.kernel.threads import Array, in_threads

AT_ONCE = 1 << 17  # rows, which the cache holds


def order_by_text(item: pd.Series, rows: Array, sizes: Array) -> Array:
    """Return the order of these rows of a column of items as text, the last first.

    That is within runs of these sizes, in which no item repeats.
    """
    text = None if item.dtype == object else read_text(item)
    if text is None or text.null_count:  # few objects are read in less time than all
        item, rows = item.iloc[rows], np.arange(len(rows))
        text = read_text(item)
    sort: Callable[[Array, Array], Array]
    if text is not None:
        sort = partial(order_texts, as_texts(text))
    else:
        sort = partial(_sort_ranks, _rank(item))
    sizes = sizes[sizes > 0]
    offsets = group_offsets(sizes)

    def sort_part(first: int, stop: int) -> Array:
        own = slice(offsets[first], offsets[stop])
        order = sort(rows[own], sizes[first:stop])
        order += own.start
        return order

    # Whole runs, about so many rows at a time.
    firsts = np.searchsorted(offsets, np.arange(0, len(rows), AT_ONCE))
    parts = pairwise(np.unique([*firsts, len(sizes)]).tolist())
    return np.concatenate(in_threads(sort_part, parts))


def _sort_ranks(rank: Array, rows: Array, sizes: Array) -> Array:
    """Return what `order_texts` does, of texts whose order is known."""
    return order_runs(-rank[rows], sizes, 1)


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
