"""Kinds of ids: those of a column are of one kind, and those of two frames can be equal."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable
from datetime import datetime
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import infer_dtype, is_list_like, is_object_dtype

from recframe.errors import RecframeError, quote, shorten
from recframe.frames.values import check_digits
from recframe.kernel.grouping import invert
from recframe.kernel.threads import Array

NUMBERS, TEXT, BYTES, BOOLEANS = "numbers", "text", "bytes", "booleans"
DATES, TIMES, ZONED_TIMES = "dates", "times without a zone", "times with a zone"
FLOATS = ("floating", "mixed-integer-float")  # as pandas infers
OF_ALL = {"string": TEXT, "bytes": BYTES, "boolean": BOOLEANS}
OF_ALL |= dict.fromkeys(("integer", *FLOATS, "decimal"), NUMBERS)
# What pandas infers of several times does not tell whether they have a zone.
OF_ONE = OF_ALL | {"date": DATES, "datetime": TIMES, "datetime64": TIMES, "timedelta": "durations"}
# What makes ids of several kinds one, at the first of these sets that has all their kinds.
CONVERSIONS = [
    ({TEXT, BYTES}, "{}.map(lambda id: id.decode() if isinstance(id, bytes) else id)"),
    ({BOOLEANS, NUMBERS}, "{}.astype(float)"),
    ({TEXT, DATES, TIMES}, "pd.to_datetime({})"),
    ({TEXT, DATES, TIMES, ZONED_TIMES}, "pd.to_datetime({}, utc=True)"),
]
AS_TEXT, BESIDE = "ids.astype(str)", ("truth", "exclude")
N_TEXTS = 1_000  # ids in which zeros at the front are looked for
# What Python raises for ids that cannot be keys, or not be compared.
NO_IDS = (TypeError, ValueError, ArithmeticError, RecursionError, NotImplementedError)


def check_dtype(column: pd.Series | pd.Index[Any], role: str) -> None:
    """Raise where pandas has no index of a dtype, so that no table could show its ids."""
    dtype = column.dtype
    of_arrow = dtype.pyarrow_dtype if isinstance(dtype, pd.ArrowDtype) else pa.null()
    problem = ""
    if pa.types.is_nested(of_arrow):
        problem = (
            f"must be one value in a cell, found {shorten(str(dtype))}; take one field of it, or "
            "convert it with .astype(str)"
        )
    elif dtype == np.longdouble and np.dtype(np.longdouble).itemsize > 8:
        problem = (
            f"must not be {dtype}: pandas has no index for it; convert them, for example with "
            ".astype('int64')"
        )
    elif dtype == np.float16 or pa.types.is_float16(of_arrow):
        problem = (
            "must not be float16, which has whole numbers to 2048 only; read them as integers in "
            "the first place"
        )
    if problem:
        raise RecframeError(f"{role}={quote(column.name)}: ids {problem}")


def may_be_mixed(dtype: Any) -> bool:
    """Return whether ids of a dtype may be of several kinds, or so large that floats err."""
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = dtype.categories.dtype
    return dtype.kind in "fO" and not isinstance(dtype, pd.StringDtype)


def check_ids(ids: pd.Index[Any], column: pd.Series, role: str) -> None:
    """Raise where the distinct ids of a column are of several kinds, or so large that floats err.

    Only objects and floats can be, which costs columns of integers or of text nothing.
    """
    named = f"{role}={quote(column.name)}: ids"
    kinds = find_kinds(ids)
    if column.dtype == object and not kinds.keys().isdisjoint((NUMBERS, BOOLEANS)):
        # True equals 1: of the two, distinct ids hold one.
        kinds = kinds if infer_dtype(column) in OF_ALL else find_kinds(pd.Index(column))
    try:
        compare(ids)
    except NO_IDS as error:
        raise RecframeError(
            f"{named} must be comparable, found {quote(ids[0])}, which raises "
            f"{type(error).__name__}; convert them, for example with "
            f"df[{quote(column.name)}].map(str)"
        ) from error
    if len(kinds) > 1:
        n_ids = sum(map(len, kinds.values()))
        found = [
            f"{kind} ({len(of)} of {n_ids}, such as {quote(of[0])})" for kind, of in kinds.items()
        ]
        raise RecframeError(
            f"{named} must be of one kind, found {' and '.join(found)}; make them one, with "
            f"{_unify(kinds, f'df[{quote(column.name)}]')}"
        )
    check_digits(_floats(ids), named)


def check_comparable(ids: pd.Index[Any], among: pd.Index[Any], role: str, other: str) -> None:
    """Raise where ids of the other side never equal those of the frame, being of another kind."""
    of_frame, of_other = find_kinds(among), find_kinds(ids)
    if len(of_other) == len(of_frame) == 1 and of_other.keys() != of_frame.keys():
        both = of_frame | of_other
        has_zeros = both.keys() == {TEXT, NUMBERS} and any(
            re.fullmatch(r"0\d+", text) for text in both[TEXT][:N_TEXTS]
        )
        how = "ids.astype(int)" if has_zeros else _unify(both, "ids")
        raise RecframeError(
            f"{role}: ids of different kinds are never equal; {show_sides(among, ids, other)}; "
            f"convert both with {how}",
            {"as_text": True} if how == AS_TEXT and other in BESIDE else None,
        )
    sides = _floats(among), _floats(ids)
    if len({side.dtype for side in sides if (side != np.floor(side)).any()}) > 1:
        raise RecframeError(
            f"{role}: fractions of different precision are rarely equal; "
            f"{show_sides(among, ids, other)}; convert both, for example with .astype('float32')"
        )


def find_kinds(ids: pd.Index[Any]) -> dict[str, Any]:
    """Return the ids of each kind that there is."""
    if len(ids) == 0:
        return {}
    if not is_object_dtype(getattr(ids.dtype, "categories", ids).dtype):
        return {_kind(ids[0]): ids}
    if kind := OF_ALL.get(infer_dtype(ids.to_numpy())):
        return {kind: ids}
    kinds: dict[str, list[Any]] = {}
    for id_ in ids:
        kinds.setdefault(_kind(id_), []).append(id_)
    return kinds


def _kind(id_: Any) -> str:
    """Return the kind of an id; of two kinds none are equal, but True and 1."""
    if isinstance(id_, datetime) and id_.tzinfo is not None:
        return ZONED_TIMES
    other = NUMBERS if isinstance(id_, Real) else type(id_).__name__
    return OF_ONE.get(infer_dtype([id_]), other)


def _unify(kinds: dict[str, Any], ids: str) -> str:
    """Return the call that makes ids of several kinds one, by what these ids are named."""
    for convertible, call in CONVERSIONS:
        if kinds.keys() <= convertible:
            return call.format(ids)
    has_floats = infer_dtype(kinds.get(NUMBERS, ())) in FLOATS  # as text 1.0 is not "1"
    return f"{ids}.astype(str)" + (".str.removesuffix('.0')" if has_floats else "")


def _floats(ids: pd.Index[Any]) -> Array:
    """Return those of the ids that are floats."""
    dtype: Any = getattr(ids.dtype, "categories", ids).dtype
    if dtype.kind == "f":
        return ids.to_numpy(getattr(dtype, "numpy_dtype", None))
    are_some = is_object_dtype(dtype) and infer_dtype(ids.to_numpy()) in FLOATS
    return np.array(
        [id_ for id_ in ids if isinstance(id_, float | np.floating)] if are_some else []
    )


def show_sides(ids: pd.Index[Any], other_ids: pd.Index[Any], other: str) -> str:
    """Return the dtypes and an example of the ids of the frame and of the other side."""
    dtypes = [getattr(of.dtype, "categories", of).dtype for of in (ids, other_ids)]
    shown = [
        f"{dtype} (such as {quote(of[[0]].tolist()[0])})" if len(of) else "no rows"
        for of, dtype in zip((ids, other_ids), dtypes, strict=True)
    ]
    return f"the frame has {shown[0]}, {other} has {shown[1]}"


def compare(ids: pd.Index[Any]) -> None:
    """Compare objects, which raises where they cannot be: a hash alone does not make an id."""
    if ids.dtype == object and infer_dtype(ids) not in ("string", "bytes"):
        distinct = ids.to_numpy()
        bool((distinct == distinct).all())


def rank_as_text(ids: pd.Index[Any], label: Hashable) -> Array:
    """Return the rank of each of distinct ids as text, the lowest 0, in order of code points.

    Numbers are written in decimals, whole ones without a point. Raise where two ids of the column
    of this label are written alike.
    """
    try:
        texts = pa.array(ids, from_pandas=True)
    except (pa.ArrowException, UnicodeError, OverflowError, TypeError, ValueError):
        texts = pa.nulls(0)  # objects of several kinds, or text that UTF-8 does not have
    if pa.types.is_integer(texts.type):
        texts = pc.cast(texts, pa.string())
    elif texts.type not in (pa.string(), pa.large_string()):
        written = [_write_one(id_) for id_ in ids.tolist()]
        for text, n_ids in Counter(written).most_common(1):
            if n_ids > 1:
                raise RecframeError(
                    f"item={quote(label)}: ties='item' needs ids that differ as text, found two "
                    f"written {quote(text)}; convert them to text that differs"
                )
        # Surrogates are in the same order in bytes, which Arrow's text does not have.
        texts = pa.array([text.encode("utf-8", "surrogatepass") for text in written], pa.binary())
    return invert(pc.sort_indices(texts).to_numpy().view(np.int64))


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


def list_lists(frame: pd.DataFrame) -> list[Hashable]:
    """Return the labels of columns of lists, as far as their first cells show."""
    labels: list[Hashable] = []
    for at, (label, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        cells = frame.iloc[:100, at] if dtype.kind == "O" else ()  # of Python's and of Arrow's
        # Tuples can be ids.
        if any(is_list_like(cell) and not isinstance(cell, Hashable) for cell in cells):
            labels.append(label)
    return labels
