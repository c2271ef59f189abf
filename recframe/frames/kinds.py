"""Kinds of ids: what can equal what, which columns say two things, and why nothing is common."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from itertools import islice
from numbers import Number
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from recframe.errors import RecframeError, quote
from recframe.frames.keys import NO_IDS, compare
from recframe.frames.numbers import check_digits
from recframe.kernel.threads import Array

NUMBERS, TEXT, BYTES, BOOLEANS = "numbers", "text", "bytes", "booleans"
DATES, TIMES, ZONED_TIMES = "dates", "times without a zone", "times with a zone"
KNOWN = {NUMBERS, TEXT, BYTES, BOOLEANS, DATES, TIMES, ZONED_TIMES}
# What pandas infers of objects of one type. Of all others each is looked at.
INFERRED = {"string": TEXT, "bytes": BYTES, "boolean": BOOLEANS}
INFERRED |= dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal"), NUMBERS)
# Of two kinds: the one to convert (none: both), and how.
CONVERSIONS: dict[frozenset[str], tuple[str | None, str]] = {
    frozenset((TEXT, BYTES)): (BYTES, ".str.decode('utf-8')"),
    frozenset((BOOLEANS, NUMBERS)): (BOOLEANS, ".astype('int64')"),
    frozenset((DATES, TIMES)): (DATES, "pd.to_datetime"),
    frozenset((DATES, TEXT)): (None, "pd.to_datetime"),
    frozenset((DATES, ZONED_TIMES)): (DATES, "pd.to_datetime and .dt.tz_localize of their zone"),
    frozenset((TIMES, ZONED_TIMES)): (TIMES, ".dt.tz_localize of their zone, such as 'UTC'"),
    frozenset((TIMES, TEXT)): (TEXT, "pd.to_datetime"),
    frozenset((ZONED_TIMES, TEXT)): (TEXT, "pd.to_datetime(..., utc=True)"),
}
# What texts may differ in and mean the same: what it is, what takes it away, and that in pandas.
DIFFERENCES: list[tuple[str, Callable[[str], str], str]] = [
    ("blanks at the ends", str.strip, ".str.strip()"),
    ("case", str.casefold, ".str.casefold()"),
    ("the form of Unicode", lambda id: unicodedata.normalize("NFKC", id), ".str.normalize('NFKC')"),
    ("'.0' at the end", lambda id: id.removesuffix(".0"), ".str.removesuffix('.0')"),
    ("zeros at the front", lambda id: id.lstrip("0"), ".str.lstrip('0')"),
]
N_COMPARED = 1 << 17  # ids of either side among which the reason is looked for


def check_ids(ids: pd.Index[Any], column: pd.Series, role: str) -> None:
    """Raise where the distinct ids of a column are of several kinds, or so large that floats err.

    Only objects and floats can be, which costs columns of integers or of text nothing.
    """
    kinds = find_kinds(ids)
    if column.dtype == object and not kinds.keys().isdisjoint((NUMBERS, BOOLEANS)):
        # True equals 1: of the two, distinct ids hold one.
        kinds = kinds if infer_dtype(column) in INFERRED else find_kinds(pd.Index(column))
    if not kinds.keys() <= KNOWN:
        try:
            compare(ids)
        except NO_IDS as error:
            raise RecframeError(
                f"{role}={quote(column.name)}: ids must be such as can be compared, found "
                f"{quote(ids[0])}, which raises {type(error).__name__}; convert them, for example "
                f"with df[{quote(column.name)}].map(str)"
            ) from error
    if len(kinds) > 1:
        n_ids = sum(map(len, kinds.values()))
        found = [
            f"{kind} ({len(of)} of {n_ids}, such as {quote(of[0])})" for kind, of in kinds.items()
        ]
        raise RecframeError(
            f"{role}={quote(column.name)}: ids must be of one kind, found {' and '.join(found)}; "
            f"make them one, with {_unify(kinds, f'df[{quote(column.name)}]')}"
        )
    check_digits(_floats(ids), f"{role}={quote(column.name)}: ids")


def find_kinds(ids: pd.Index[Any]) -> dict[str, Any]:
    """Return the ids of each kind that there is."""
    if len(ids) == 0:
        return {}
    dtype = ids.dtype
    if isinstance(dtype, pd.CategoricalDtype) and dtype.categories.dtype == object:
        ids = ids.astype(object)
    if ids.dtype != object:
        return {_kind(ids[0]): ids}
    if inferred := INFERRED.get(infer_dtype(ids)):
        return {inferred: ids}
    kinds: dict[str, list[Any]] = {}
    for id_ in ids:
        kinds.setdefault(_kind(id_), []).append(id_)
    return kinds


def _kind(id_: Any) -> str:
    """Return the kind of an id; of two kinds none are equal, but True and 1."""
    if isinstance(id_, bool | np.bool_):
        return BOOLEANS
    if isinstance(id_, datetime):
        return TIMES if id_.tzinfo is None else ZONED_TIMES
    if isinstance(id_, pd.Period):
        return f"periods of frequency {id_.freqstr}"
    kinds: dict[Any, str] = {
        (timedelta, np.timedelta64): "durations",  # before numbers, which NumPy counts them among
        (Number,): NUMBERS,
        (str,): TEXT,
        (bytes,): BYTES,
        (date,): DATES,
        (np.datetime64,): TIMES,
    }
    found = (kind for types, kind in kinds.items() if isinstance(id_, types))
    return next(found, type(id_).__name__)


def _unify(kinds: dict[str, Any], column: str) -> str:
    """Return the call that makes the ids of a column one kind."""
    if kinds.keys() <= {DATES, TIMES, ZONED_TIMES}:
        return f"pd.to_datetime({column}{', utc=True' if ZONED_TIMES in kinds else ''})"
    if kinds.keys() == {TEXT, BYTES}:
        return f"{column}.map(lambda id: id.decode() if isinstance(id, bytes) else id)"
    if any(_is_whole_float(id_) for id_ in kinds.get(NUMBERS, ())):
        # As text 1.0 is not "1".
        return f"{column}.map(lambda id: str(int(id)) if isinstance(id, float) else str(id))"
    return f"{column}.astype(str)"


def _is_whole_float(id_: Any) -> bool:
    """Return whether an id is a float that is a whole number."""
    return isinstance(id_, float | np.floating) and bool(id_ == np.floor(id_))


def _floats(ids: pd.Index[Any]) -> Array:
    """Return those of the ids that are floats."""
    if isinstance(ids.dtype, pd.CategoricalDtype):
        if isinstance(ids.dtype.categories.dtype, pd.StringDtype):
            return np.array([])
        ids = ids.astype(ids.dtype.categories.dtype)
    dtype = getattr(ids.dtype, "numpy_dtype", ids.dtype)
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        return ids.to_numpy(dtype)
    is_mixed = ids.dtype == object and infer_dtype(ids) in ("floating", "mixed-integer-float")
    return np.array(
        [id_ for id_ in ids if isinstance(id_, float | np.floating)] if is_mixed else []
    )


def check_comparable(ids: pd.Index[Any], among: pd.Index[Any], role: str, other: str) -> None:
    """Raise where ids of the other side never equal those of the frame, being of another kind."""
    of_other, of_frame = find_kinds(ids), find_kinds(among)
    if len(of_other) == len(of_frame) == 1 and of_other.keys() != of_frame.keys():
        sides = {next(iter(of_frame)): "the frame's", next(iter(of_other)): f"{other}'s"}
        raise RecframeError(
            f"{role}: ids of different kinds are never equal; {shown(among, ids, other)}; "
            f"convert {_convert(of_frame | of_other, sides)}"
        )
    sizes = {floats.itemsize for floats in map(_floats, (ids, among)) if _has_fractions(floats)}
    if len(sizes) > 1:
        raise RecframeError(
            f"{role}: fractions of different precision are rarely equal; "
            f"{shown(among, ids, other)}; convert both, for example with .astype('float32')"
        )


def _has_fractions(floats: Array) -> bool:
    """Return whether some float is no whole number."""
    return bool((floats != np.floor(floats)).any())


def _convert(kinds: dict[str, Any], sides: dict[str, str]) -> str:
    """Return whose ids to convert, and how, so that those of two kinds become one."""
    if sides.keys() == {NUMBERS, TEXT}:
        kind, how = _convert_numbers(kinds[NUMBERS], kinds[TEXT])
        return f"{sides[kind]} with {how}"
    as_text = next((kind for kind in sides if kind != TEXT), None) if TEXT in sides else None
    which, how = CONVERSIONS.get(frozenset(sides), (as_text, ".astype(str)"))
    if which is None and any(kind.startswith("periods") for kind in sides):
        how = ".dt.to_timestamp() of periods and pd.to_datetime of others"
    return f"{'both' if which is None else sides[which]} with {how}"


def _convert_numbers(numbers: Sequence[Any], texts: Sequence[Any]) -> tuple[str, str]:
    """Return which of numbers and texts to convert, and how: so that some are equal if any are."""
    are_whole = any(map(_is_whole_float, numbers))
    as_texts = {str(int(id_) if are_whole else id_) for id_ in numbers}
    read = pd.to_numeric(pd.Series(list(texts), dtype=object), errors="coerce")
    # Whichever way more are found: "007" is 7 as a number only.
    if read.isin(list(numbers)).sum() > sum(text in as_texts for text in texts):
        return TEXT, "pd.to_numeric"
    return NUMBERS, ".astype('int64').astype(str)" if are_whole else ".astype(str)"


def refuse_disjoint(
    role: str, ids: pd.Index[Any], other_ids: pd.Index[Any], other: str, what: str = ""
) -> NoReturn:
    """Refuse a frame and another, by its option, that have no user, or no item, in common."""
    raise RecframeError(
        f"{role}: no {what or role} is in both the frame and {other}; "
        f"{shown(ids, other_ids, other)}{find_difference(ids, other_ids, other)}"
    )


def find_difference(ids: pd.Index[Any], other_ids: pd.Index[Any], other: str) -> str:
    """Return what makes ids of two frames differ, as a sentence part; "" if it is not seen."""
    kinds = find_kinds(ids).keys() | find_kinds(other_ids).keys()
    differences: list[tuple[str, Callable[[Any], Any], str]] = []
    if kinds == {TEXT}:
        every = " ".join(call for *_, call in DIFFERENCES)
        differences = [*DIFFERENCES, ("more than one way", _strip_all, f"those needed of {every}")]
    elif kinds == {NUMBERS} and (len(_floats(ids)) or len(_floats(other_ids))):
        differences = [("precision", np.float32, ".astype('float32')")]
    elif kinds == {ZONED_TIMES}:
        how = ".dt.tz_localize(None), where the same time of day is meant"
        differences = [("time zones", lambda id_: id_.replace(tzinfo=None), how)]
    elif kinds == {"tuple"}:
        how = ".map(lambda id: tuple(map(str, id)))"
        differences = [("the types inside", lambda id_: tuple(map(str, id_)), how)]
    for what, simplify, how in differences:
        of_frame = {simplify(id_): id_ for id_ in islice(ids, N_COMPARED)}
        for id_ in islice(other_ids, N_COMPARED):
            if (same := of_frame.get(simplify(id_))) is not None:
                pair = f"{quote(same)} in the frame is {quote(id_)} in {other}"
                return f"; they differ in {what} ({pair}): convert both with {how}"
    return ""


def _strip_all(text: str) -> str:
    """Return a text without all that texts may differ in and mean the same."""
    for _, simplify, _ in DIFFERENCES:
        text = simplify(text)
    return text


def shown(ids: pd.Index[Any], other_ids: pd.Index[Any], other: str) -> str:
    """Return the dtypes and an example of the ids of the frame and of the other side."""
    return f"the frame has {_example(ids)}, {other} has {_example(other_ids)}"


def _example(ids: pd.Index[Any]) -> str:
    """Return the dtype of ids and one of them."""
    return f"{ids.dtype} (such as {quote(ids[[0]].tolist()[0])})" if len(ids) else "no rows"
