"""Kinds of ids: a column has one kind, as in the other frame; and how ids of one kind differ."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import islice
from numbers import Real
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import infer_dtype, is_object_dtype

from recframe.errors import RecframeError, quote
from recframe.frames.values import check_digits
from recframe.kernel.grouping import invert
from recframe.kernel.threads import Array

A_NUMBER = re.compile(r"\s*[+-]?\d[\d.,]*\s*").fullmatch
NUMBERS, TEXT, BYTES, BOOLEANS = "numbers", "text", "bytes", "booleans"
DATES, TIMES, ZONED_TIMES = "dates", "times without a zone", "times with a zone"
FLOATS = ("floating", "mixed-integer-float")  # kinds as `infer_dtype` names them
KIND_OF_SEVERAL = {"string": TEXT, "bytes": BYTES, "boolean": BOOLEANS}
KIND_OF_SEVERAL |= dict.fromkeys(("integer", *FLOATS, "decimal"), NUMBERS)
# For several times, `infer_dtype` does not show whether they have a zone; for one it does.
KIND_OF_ONE = KIND_OF_SEVERAL | dict.fromkeys(("datetime", "datetime64"), TIMES)
KIND_OF_ONE |= {"date": DATES, "timedelta": "durations"}
# Calls that make ids of several kinds one kind; the first row with all the kinds is used.
CONVERSIONS = [
    ({TEXT, BYTES}, "{}.map(lambda id: id.decode() if isinstance(id, bytes) else id)"),
    ({BOOLEANS, NUMBERS}, "{}.astype(float)"),
    ({TEXT, DATES, TIMES}, "pd.to_datetime({})"),
    ({TEXT, DATES, TIMES, ZONED_TIMES}, "pd.to_datetime({}, utc=True)"),
]
AS_TEXT = "ids.astype(str)"
N_TEXTS = 1_000  # ids in which zeros at the front are searched
# Python raises these for ids that cannot be keys, or cannot be compared.
ID_ERRORS = (TypeError, ValueError, ArithmeticError, RecursionError, NotImplementedError)
N_EXAMPLES = 1 << 16  # ids of each frame that are compared to find why none is shared
Difference = tuple[str, str, Callable[[Any], Any], str]
# Differences that may hide equal ids: the kind of id, the name of the difference, the function that
# removes it, and the same in pandas.
DIFFERENCES: list[Difference] = [
    (TEXT, "spaces at the ends", str.strip, ".str.strip()"),
    (TEXT, "case", str.casefold, ".str.casefold()"),
    (TEXT, "the form of Unicode", partial(normalize, "NFKC"), ".str.normalize('NFKC')"),
    (TEXT, "'.0' at the end", lambda id_: id_.removesuffix(".0"), ".str.removesuffix('.0')"),
    (TEXT, "zeros at the front", lambda id_: id_.lstrip("0"), ".str.lstrip('0')"),
    (NUMBERS, "precision", lambda id_: np.float32(id_) if id_ % 1 else id_, ".astype('float32')"),
    (ZONED_TIMES, "time zones", lambda id_: id_.replace(tzinfo=None), ".dt.tz_localize(None)"),
    ("tuple", "types", lambda id_: tuple(map(str, id_)), ".map(lambda id: tuple(map(str, id)))"),
]


def check_ids(ids: pd.Index[Any], column: pd.Series, role: str) -> None:
    """Raise if the distinct ids of a column are of several kinds, or too large for exact floats.

    It is called for objects and floats only, so that integers and text cost nothing.
    """
    named = f"{role}={quote(column.name)}: ids"
    kinds = group_by_kind(ids)
    if column.dtype == object and not kinds.keys().isdisjoint((NUMBERS, BOOLEANS)):
        # True equals 1, so distinct ids have only one of the two; the column is searched for both.
        is_one = infer_dtype(column) in KIND_OF_SEVERAL
        kinds = kinds if is_one else group_by_kind(pd.Index(column))
    try:
        check_equality(ids)
    except ID_ERRORS as error:
        raise RecframeError(
            f"{named} must be comparable, but include {quote(ids[0])}, which raises "
            f"{type(error).__name__}. Convert them, for example with "
            f"df[{quote(column.name)}].map(str)."
        ) from error
    if len(kinds) > 1:
        n_ids = sum(map(len, kinds.values()))
        found = [
            f"{kind} ({len(of)} of {n_ids}, such as {quote(of[0])})" for kind, of in kinds.items()
        ]
        raise RecframeError(
            f"{named} must be of one kind, but are {' and '.join(found)}. Make them one, with "
            f"{_unify(kinds, f'df[{quote(column.name)}]')}."
        )
    check_digits(_select_floats(ids), named)


def check_comparable(ids: pd.Index[Any], among: pd.Index[Any], role: str, other: str) -> None:
    """Raise if ids of a companion cannot equal ids of the frame, because their kinds differ."""
    of_frame, of_other = group_by_kind(among), group_by_kind(ids)
    if len(of_other) == len(of_frame) == 1 and of_other.keys() != of_frame.keys():
        both = of_frame | of_other
        has_zeros = (
            both.keys() == {TEXT, NUMBERS}
            and any(re.fullmatch(r"0\d+", text) for text in both[TEXT][:N_TEXTS])
            and _are_distinct(both[TEXT], lambda id_: id_.lstrip("0"))
        )
        how = "ids.astype('Int64')" if has_zeros else _unify(both, "ids")
        remedy = f"Convert both with {how}."
        answer = "items_as_text" if role == "item" else "as_text"
        is_answered = how == AS_TEXT and other in ("truth", "exclude")
        if both.keys() == {TEXT, NUMBERS} and not any(map(A_NUMBER, both[TEXT][:N_TEXTS])):
            is_answered = False
            remedy = "No text is a number: if numbers are positions, look up the ids at them."
        elif isinstance(ids[0], tuple):
            is_answered = False
            remedy = (
                f"If each has the items of a user, make lists of them: {other}[...].map(list); if "
                "each is an item and its grade, pass recframe.truth_from({user: {item: grade}})."
            )
        raise RecframeError(
            f"{role}: ids of different kinds are never equal; {show_sides(among, ids, other)}. "
            f"{remedy}",
            {answer: True} if is_answered else None,
        )
    sides = _select_floats(among), _select_floats(ids)
    if len({side.dtype for side in sides if (side != np.floor(side)).any()}) > 1:
        raise RecframeError(
            f"{role}: fractions of different precision are rarely equal; "
            f"{show_sides(among, ids, other)}. Convert both, for example with .astype('float32')."
        )


def group_by_kind(ids: pd.Index[Any]) -> dict[str, Any]:
    """Return the ids of each kind."""
    if len(ids) == 0:
        return {}
    if not is_object_dtype(getattr(ids.dtype, "categories", ids).dtype):
        return {_find_kind(ids[0]): ids}
    if kind := KIND_OF_SEVERAL.get(infer_dtype(ids.to_numpy())):
        return {kind: ids}
    kinds: dict[str, list[Any]] = {}
    for id_ in ids:
        kinds.setdefault(_find_kind(id_), []).append(id_)
    return kinds


def _find_kind(id_: Any) -> str:
    """Return the kind of an id; ids of two kinds are never equal, except True and 1."""
    if isinstance(id_, datetime) and id_.tzinfo is not None:
        return ZONED_TIMES
    other = NUMBERS if isinstance(id_, Real) else type(id_).__name__
    return KIND_OF_ONE.get(infer_dtype([id_]), other)


def _unify(kinds: dict[str, Any], ids: str) -> str:
    """Return the call that makes ids of several kinds one kind; `ids` is their code in the call."""
    for convertible, call in CONVERSIONS:
        if kinds.keys() <= convertible:
            return call.format(ids)
    # The text of 1.0 is not "1".
    texts = [text for text in kinds.get(TEXT, ())[:N_TEXTS] if isinstance(text, str)]
    has_floats = infer_dtype(kinds.get(NUMBERS, ())) in FLOATS
    has_floats |= any(text.endswith(".0") for text in texts)
    return f"{ids}.astype(str)" + (".str.removesuffix('.0')" if has_floats else "")


def _select_floats(ids: pd.Index[Any]) -> Array:
    """Return the ids that are floats."""
    dtype: Any = getattr(ids.dtype, "categories", ids).dtype
    if dtype.kind == "f":
        return ids.to_numpy(getattr(dtype, "numpy_dtype", None))
    are_some = is_object_dtype(dtype) and infer_dtype(ids.to_numpy()) in FLOATS
    return np.array(
        [id_ for id_ in ids if isinstance(id_, float | np.floating)] if are_some else []
    )


def show_sides(ids: pd.Index[Any], other_ids: pd.Index[Any], other: str) -> str:
    """Return a clause with dtype and example of the ids in the frame and in its companion."""
    dtypes = [getattr(of.dtype, "categories", of).dtype for of in (ids, other_ids)]
    shown = [
        f"{dtype} (such as {quote(of[[0]].tolist()[0])})" if len(of) else "no rows"
        for of, dtype in zip((ids, other_ids), dtypes, strict=True)
    ]
    return f"the frame has {shown[0]}, {other} has {shown[1]}"


def find_shapes(ids: pd.Index[Any]) -> set[str]:
    """Return the ids as text with a 0 in place of each number, such as "d0" for "d17"."""
    return {re.sub(r"\d+", "0", str(id_)) for id_ in islice(ids, N_EXAMPLES)}


def find_difference(ids: pd.Index[Any], other_ids: pd.Index[Any], other: str) -> str:
    """Return a clause with the difference between ids of two frames, "" if none is known."""
    kinds = group_by_kind(ids).keys() | group_by_kind(other_ids).keys()
    differences = [
        one
        for one in DIFFERENCES
        if kinds == {one[0]} and all(_are_distinct(of, one[2]) for of in (ids, other_ids))
    ]
    of_frame = {_simplify(id_, differences): id_ for id_ in islice(ids, N_EXAMPLES)}
    for id_ in islice(other_ids, N_EXAMPLES):
        if (same := of_frame.get(_simplify(id_, differences))) is not None:
            for one in list(differences):  # Only differences of these two ids stay.
                fewer = [difference for difference in differences if difference is not one]
                if _simplify(same, fewer) == _simplify(id_, fewer):
                    differences = fewer
            _, what, _, how = zip(*differences, strict=True)
            pair = f"{quote(same)} in the frame is {quote(id_)} in {other}"
            return (
                f"; they differ in {' and '.join(what)} ({pair}): convert both with {''.join(how)}"
            )
    return ""


def _are_distinct(ids: Iterable[Any], simplify: Callable[[Any], Any]) -> bool:
    """Return whether the ids of one frame stay different once they are simplified."""
    first = [*islice(ids, N_EXAMPLES)]
    return len({*map(simplify, first)}) == len(first)


def _simplify(id_: Any, differences: Sequence[Difference]) -> Any:
    """Return an id without these differences."""
    for _, _, simplify, _ in differences:
        id_ = simplify(id_)
    return id_


def check_equality(ids: pd.Index[Any]) -> None:
    """Raise if objects cannot be compared, because ids must be comparable as well as hashable."""
    if ids.dtype == object and infer_dtype(ids) not in ("string", "bytes"):
        distinct = ids.to_numpy()
        bool((distinct == distinct).all())


def rank_as_text(ids: pd.Index[Any], label: Hashable) -> Array:
    """Return the rank of each distinct id as text, from 0 on, in the order of code points.

    Numbers are written in decimals, integers without a point. Raise if two ids are written alike;
    `label` names their column.
    """
    try:
        texts = pa.array(ids, from_pandas=True)
    except (pa.ArrowException, UnicodeError, OverflowError, TypeError, ValueError):
        texts = pa.nulls(0)  # The ids are objects of several kinds, or no text of UTF-8.
    if pa.types.is_integer(texts.type):
        texts = pc.cast(texts, pa.string())
    elif texts.type not in (pa.string(), pa.large_string()):
        written = [_write_one(id_) for id_ in ids.tolist()]
        for text, n_ids in Counter(written).most_common(1):
            if n_ids > 1:
                raise RecframeError(
                    f"item={quote(label)}: ties='item' needs ids that differ as text, but two "
                    f"are written {quote(text)}. Convert them to text that differs."
                )
        # Arrow's text has no surrogates; as bytes they keep their order.
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
