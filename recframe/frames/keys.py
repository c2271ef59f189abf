"""Ids as keys: whether they can be, which pandas and objects only say by what they raise."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import infer_dtype, is_integer_dtype

from recframe.errors import RecframeError, quote, shorten
from recframe.frames.nulls import has_nulls
from recframe.frames.shared_objects import find_shared
from recframe.kernel import views
from recframe.kernel.grouping import lowest
from recframe.kernel.repeats import write_bits
from recframe.kernel.texts import Texts
from recframe.kernel.threads import Array, in_slices

Keys: TypeAlias = Array | pa.Array  # ids as numbers in their order, or as Arrow's text
MANY = 1 << 17  # rows from which on it pays to look how texts can be numbered
SOME = 1 << 12  # texts from which on it pays to look whether they are short
TEXTS = ("string", "bytes")  # as pandas infers
# What Python raises for ids that cannot be keys, or not be compared.
NO_IDS = (TypeError, ValueError, ArithmeticError, RecursionError, NotImplementedError)


def factorize(column: pd.Series | pd.Index[Any], role: str) -> tuple[Array, Any]:
    """Return the codes and the distinct ids of a column, or raise where ids cannot be compared."""
    if (shared := find_shared(column)) is not None:
        codes, ids = factorize(shared.objects, role)
        return shared.spread(codes), ids
    try:
        return pd.factorize(column)
    except NO_IDS as error:
        found = shorten(str(error))
        raise RecframeError(
            f"{role}={quote(column.name)}: ids must be what can be a key of a dict, found {found}; "
            f"make a row of each id with df.explode({quote(column.name)}), or one id of all in a "
            f"cell with df[{quote(column.name)}].map(tuple)"
        ) from error


def check_dtype(column: pd.Series, role: str) -> None:
    """Raise where pandas has no index of a dtype, so that no table could show its ids."""
    dtype = column.dtype
    of_arrow = dtype.pyarrow_dtype if isinstance(dtype, pd.ArrowDtype) else pa.null()
    if pa.types.is_nested(of_arrow):
        raise RecframeError(
            f"{role}={quote(column.name)}: ids must be one value in a cell, found "
            f"{shorten(str(dtype))}; take one field of it, or convert it with .astype(str)"
        )
    if dtype == np.longdouble and np.dtype(np.longdouble).itemsize > 8:
        raise RecframeError(
            f"{role}={quote(column.name)}: ids must not be {dtype}, of which pandas has no index; "
            "convert them, for example with .astype('int64')"
        )
    if dtype == np.float16 or pa.types.is_float16(of_arrow):
        raise RecframeError(
            f"{role}={quote(column.name)}: ids must not be float16, which has whole numbers to "
            "2048 only; read them as integers in the first place"
        )


def compare(ids: pd.Index[Any]) -> None:
    """Compare objects, which raises where they cannot be: a hash alone does not make an id."""
    if ids.dtype == object and infer_dtype(ids) not in TEXTS:
        distinct = ids.to_numpy()
        bool((distinct == distinct).all())


def in_one_chunk(text: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return text as one array, which copies only where there are several."""
    if isinstance(text, pa.ChunkedArray):
        return text.chunk(0) if text.num_chunks == 1 else text.combine_chunks()
    return text


def read_text(column: pd.Series | pd.Index[Any]) -> pa.Array | None:
    """Return ids as Arrow's text, None where there are others among them."""
    cells: Any = column.array
    if column.dtype == object:
        if len(column) and not isinstance(cells[0], str | float | None):
            return None
        cells = column.to_numpy()  # of pandas' own array Arrow has pandas look for nulls first
    elif not isinstance(column.dtype, pd.StringDtype | pd.ArrowDtype):
        return None
    try:
        text = in_one_chunk(pa.array(cells, from_pandas=True))
    except (pa.ArrowException, UnicodeError, OverflowError):
        return None  # objects of several kinds, or text that is none
    return text if text.type in (pa.string(), pa.large_string()) else None


def number_text(text: pa.Array) -> Array:
    """Return an integer of 32 bits for each text, that is equal where texts are."""
    return write_bits(as_texts(text))


def as_texts(text: pa.Array) -> Texts:
    """Return the bytes of texts, which are not copied, and their bounds."""
    _, offsets, data = text.buffers()
    width = np.int32 if text.type in (pa.string(), pa.binary()) else np.int64
    bounds = np.frombuffer(offsets, width)[text.offset : text.offset + len(text) + 1]
    return Texts(bounds, np.frombuffer(data or b"", np.uint8))


def find_keys(user: pd.Series | pd.Index[Any]) -> Keys | None:
    """Return the keys of ids, or None where these are neither numbers nor text.

    Null texts of objects that rows share are -1; integers with a null among them are no keys.
    """
    dtype = user.dtype
    if (shared := find_shared(user)) is not None:
        objects = shared.objects
        return None if read_text(objects) is None else shared.spread(pd.factorize(objects)[0])
    if isinstance(dtype, pd.CategoricalDtype):
        return user.array.codes  # `user.cat.codes` would copy them
    if isinstance(dtype, np.dtype) and dtype.kind in "iufbmM":
        integer = {"b": np.uint8, "m": np.int64, "M": np.int64}.get(dtype.kind, dtype)
        return user.to_numpy().view(integer)
    if is_integer_dtype(dtype) and not user.hasnans:
        return user.to_numpy(getattr(dtype, "numpy_dtype", None))
    return read_text(user)


def have_nulls(keys: Keys | None, ids: pd.Series) -> bool:
    """Return whether an id is null, of which the keys of text know."""
    if isinstance(keys, pa.Array):
        return bool(keys.null_count)
    if keys is not None and ids.dtype == object:
        return bool(lowest(keys) < 0)
    return has_nulls(ids)


def number_short(text: pa.Array) -> Array | None:
    """Return an integer for each of some short texts, in their order, if it can be."""
    if len(text) < SOME or text.null_count:
        return None
    try:
        found = views.number_short([_ShortTexts(text)])
    except pa.ArrowException:  # long texts may be too far from each other to be in views
        return None
    return None if found is None else found[1]


class _ShortTexts:
    """The views of texts, made of those that are asked for."""

    def __init__(self, text: pa.Array) -> None:
        self._type, self._data = text.type, text.buffers()[2]
        self._offsets = as_texts(text).offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, own: slice) -> Array:
        # Not of a slice of the texts: Arrow makes room for all before it too.
        offsets = self._offsets[own.start or 0 : own.stop + 1]
        buffers = [None, pa.py_buffer(offsets), self._data]
        text = pa.Array.from_buffers(self._type, len(offsets) - 1, buffers)
        words = np.frombuffer(text.cast(pa.string_view()).buffers()[1], np.uint64)
        return words[: 2 * len(text)].reshape(-1, 2)


def encode_values(values: pa.Array) -> tuple[Array, pa.Array]:
    """Return the code of each value, and the values that have them."""
    # Slices are encoded in threads, each with codes of its own, which are then made one.
    slices = in_slices(lambda start, stop: values[start:stop].dictionary_encode(), 0, len(values))
    encoded = pa.chunked_array(slices or [values.dictionary_encode()]).unify_dictionaries()
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks])
    return codes, encoded.chunk(0).dictionary
