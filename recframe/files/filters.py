"""Filters select rows of files, and leave out files and row groups that cannot have any."""

import operator
import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from functools import reduce
from itertools import chain
from numbers import Number
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import (
    MissingColumnError,
    RecframeError,
    find_near,
    first_line,
    is_number,
    quote,
    shorten,
    show_path,
)
from recframe.files.source_files import ARE_NUMBERS, PartitionValues, SourceFile, plain_type
from recframe.formats import Delimited, list_null_texts
from recframe.frames.names import shown
from recframe.other_tables import Term

COMPARISONS = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS = (*COMPARISONS, "in", "not in")
ROUNDINGS = {"<": ROUND_CEILING, ">=": ROUND_CEILING, ">": ROUND_FLOOR, "<=": ROUND_FLOOR}
MOST_DIGITS = {128: 38, 256: 76}  # the digits of decimals by their bits
PLAIN_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?")
# A date or a moment as in ISO 8601, dates in other forms, and those of them that characters order.
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ].*?(?P<zone>Z|[+-]\d\d:?\d\d)?)?")
OTHER_DATE = re.compile(r"\d+[-./ ](\d+|[A-Za-z]{3,9})[-./ ]\d+([T ].*)?")
SORTED_DATE = re.compile(r"\d{4}([-./ ])\d\d\1\d\d([T ].*)?")
VIEWS = (pa.lib.Type_STRING_VIEW, pa.lib.Type_BINARY_VIEW)  # Arrow compares none of these.
LIST_TYPES = (list, tuple, set, frozenset)
FILTERS_REQUIREMENT = (
    "filters must be a list of (column, operator, value), such as "
    "[('day', '>=', '2026-11-01')], a list of such lists, of which one must hold, or an "
    "expression of pyarrow"
)


class Written(str):
    """A value on a command line, which takes the type of its column."""

    __slots__ = ()


class Quoted(Written):
    """A value in quotes, which is text even if it has only digits."""

    __slots__ = ()


def filter_files(sources: list[SourceFile], filters: Any, schema: pa.Schema) -> list[SourceFile]:
    """Return the files that may have rows that match, each with the condition on its rows.

    The first is returned if none may have such rows: its columns are needed.
    """
    expression = filters
    if not isinstance(filters, pc.Expression):
        lists = _check_lists(filters)
        expression = reduce(
            operator.or_,
            (reduce(operator.and_, (_make_term(*one, schema) for one in terms)) for terms in lists),
        )
        _check_no_nulls(lists, sources)
    names = _find_names(expression, schema)
    left = _leave_out(sources, expression, schema)
    said = [{name: value.type for name, value in file.partitions.items()} for file in sources]
    if left and all(types.get(name) == schema.field(name).type for types in said for name in names):
        return left  # Their folders tell that all rows match.
    return [
        file._replace(condition=expression, condition_columns=names) for file in left or sources[:1]
    ]


def _check_lists(filters: Any) -> list[list[Term]]:
    """Return filters as lists of terms, or raise; a row matches if all terms of one list hold."""
    if not isinstance(filters, list | tuple) or not filters:
        raise RecframeError(f"{FILTERS_REQUIREMENT}, but is {quote(filters)}")
    lists = list(filters) if all(isinstance(one, list) for one in filters) else [list(filters)]
    if not all(lists):
        raise RecframeError(f"{FILTERS_REQUIREMENT}, but is an empty list")
    for term in (term for terms in lists for term in terms):
        if not isinstance(term, tuple) or len(term) != 3 or not isinstance(term[0], str):
            raise RecframeError(f"{FILTERS_REQUIREMENT}, but is {quote(term)}")
        name, sign, value = term
        if sign not in OPERATORS:
            raise RecframeError(
                f"filters: the operator of {quote(name)} must be one of {', '.join(OPERATORS)}, "
                f"but is {quote(sign)}"
            )
        is_one = sign in COMPARISONS
        if value is None or is_one == isinstance(value, (*LIST_TYPES, dict)[: 4 + is_one]):
            needed = "one value" if is_one else "a list of values"
            raise RecframeError(f"filters: {quote(name)} {sign} takes {needed}, not {quote(value)}")
    return lists


def _check_no_nulls(lists: list[list[Term]], sources: list[SourceFile]) -> None:
    """Raise if a value is written as nulls are in delimited text, such as NA for Namibia."""
    # Rows of lists are made of other rows. Folders write nulls in another way.
    texts = [one for one in sources if isinstance(getattr(one.rows, "rows", one.rows), Delimited)]
    for name, sign, value in chain.from_iterable(lists):
        values = value if isinstance(value, LIST_TYPES) else [value]
        nulls = [one for one in values if isinstance(one, str) and str(one) in list_null_texts()]
        is_stored = any(name not in file.partitions for file in texts)
        if nulls and is_stored and sign in ("=", "==", "in"):
            raise RecframeError(
                f"filters: {quote(name)}: {quote(str(nulls[0]))} in a csv stands for a null, which "
                "no value equals. Write it otherwise in the files, or save them as parquet."
            )


def _make_term(name: str, sign: str, value: Any, schema: pa.Schema) -> pc.Expression:
    """Return the condition of a term; like a comparison, it never holds for a null."""
    if name not in schema.names:
        near = find_near(name, schema.names)
        also = f"; did you mean {quote(near[0])}?" if near else ""
        raise MissingColumnError(
            f"filters: {quote(name)}: no such column; the files have {shown(schema.names)}{also}"
        )
    found = schema.field(name).type
    kind = plain_type(found)
    field = pc.field(name) if found.id not in VIEWS else pc.field(name).cast(kind)
    if sign in COMPARISONS:
        scalar = _scalar(name, value, kind, sign)
        if pa.types.is_string(kind) and scalar.is_valid and sign.strip("=!"):
            scalar = _find_place(name, value, sign)
            field = field.cast(scalar.type)
        return COMPARISONS[sign](field, scalar)
    values = [_scalar(name, one, kind, sign).as_py() for one in value]
    is_in = field.isin(pa.array(values, kind))
    return is_in if sign == "in" else ~is_in & field.is_valid()


def _find_place(name: str, value: str, sign: str) -> pa.Scalar:
    """Return the value that texts are ordered by, a time if it is a date; refuse other dates."""
    if date := DATE.fullmatch(value):
        try:
            return pa.scalar(str(value)).cast(pa.timestamp("us", "UTC" if date["zone"] else None))
        except pa.ArrowInvalid as error:
            raise RecframeError(f"filters: {quote(name)}: {value} is no date") from error
    if type(value) is Written and PLAIN_NUMBER.fullmatch(value):
        raise RecframeError(
            f"filters: {quote(name)} {sign} compares text, in which '10' is below '9', not "
            f"the number {value}. Write numbers in the files, or {str(value)!r} in quotes."
        )
    if OTHER_DATE.fullmatch(value) and not SORTED_DATE.fullmatch(value):
        raise RecframeError(
            f"filters: {quote(name)} {sign} compares text by its characters, which do not order "
            f"dates such as {value}. Write dates in the files as 2026-11-01; == and in compare "
            "them as they are."
        )
    return pa.scalar(str(value))


def _scalar(name: str, value: Any, kind: pa.DataType, sign: str) -> pa.Scalar:
    """Return a value in the type of its column, or raise if it does not fit."""
    if pa.types.is_string(kind) and not isinstance(value, str | None):
        raise RecframeError(
            f"filters: {quote(value)} for {quote(name)} cannot be evaluated, as the column is "
            "text. Pass text as the files, or the names of their folders, have it."
        )
    try:
        return _as_scalar(value, kind, sign)
    except (pa.ArrowException, TypeError, ValueError, ArithmeticError) as error:
        raise RecframeError(
            f"filters: a value for {quote(name)} must be of its type {kind}, but is {quote(value)}"
        ) from error


def _as_scalar(value: Any, kind: pa.DataType, sign: str) -> pa.Scalar:
    """Return a value in a type, or one that can be compared with it; raise if it is of another."""
    is_exact, is_temporal = sign not in COMPARISONS, pa.types.is_temporal(kind)
    if pa.types.is_decimal(kind) and (isinstance(value, Written) or is_number(value, Number)):
        return _decimal(Decimal(str(value)), kind, sign)  # The digits of a float are meant.
    if isinstance(value, Written) or (isinstance(value, str) and is_temporal):
        return _read(str(value), kind, exact=is_exact)
    value = value.as_py() if isinstance(value, pa.Scalar) else value
    if value is None:
        return pa.scalar(None, kind)
    if pa.types.is_boolean(kind) and value in (0, 1):
        return pa.scalar(bool(value))
    is_text = isinstance(value, str) and any(holds(kind) for holds in ARE_NUMBERS)
    if pa.types.is_boolean(kind) or is_text or (is_temporal and is_number(value)):
        raise TypeError
    # A float is rounded to the precision of the column, as everywhere.
    is_float = pa.types.is_floating(kind) and isinstance(value, float)
    return pa.scalar(value, kind if is_exact or is_float else None)


def _decimal(number: Decimal, kind: pa.DataType, sign: str) -> pa.Scalar:
    """Return a number in the scale of a column of decimals, of as many digits as it needs.

    A bound with more digits behind the point is rounded to the side on which no value is lost.
    """
    if rounding := ROUNDINGS.get(sign):
        with localcontext(prec=MOST_DIGITS[256]):
            number = number.quantize(Decimal(1).scaleb(-kind.scale), rounding)
    if sign not in COMPARISONS:
        return pa.scalar(number, kind)
    widest = pa.decimal128 if kind.bit_width <= 128 else pa.decimal256
    return pa.scalar(number, widest(MOST_DIGITS[max(kind.bit_width, 128)], kind.scale))


def _read(text: str, kind: pa.DataType, *, exact: bool) -> pa.Scalar:
    """Return a text as a value of a type; times without a zone are in the column's zone."""
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        try:
            return pc.assume_timezone(pa.scalar(text).cast(pa.timestamp(kind.unit)), kind.tz)
        except pa.ArrowInvalid:  # The text has a zone.
            return pa.scalar(text).cast(kind)
    if pa.types.is_integer(kind) and not exact and not text.lstrip("-").isdigit():
        return pa.scalar(text).cast(pa.float64())  # An example is n > 2.5.
    return pa.scalar(text).cast(kind)


def _find_names(expression: pc.Expression, schema: pa.Schema) -> tuple[str, ...]:
    """Return the columns that an expression reads, or raise if it cannot be evaluated."""
    empty = schema.empty_table()
    try:
        empty.filter(expression)
    except (pa.ArrowException, TypeError, KeyError) as error:
        said = f"{shorten(str(expression))} cannot be evaluated: {shorten(first_line(error))}"
        raise RecframeError(f"filters: {said}") from error
    names = []
    for name in schema.names:
        try:
            empty.drop_columns(name).filter(expression)
        except pa.ArrowInvalid:
            names.append(name)
    return tuple(names)


def _leave_out(
    sources: list[SourceFile], expression: pc.Expression, schema: pa.Schema
) -> list[SourceFile]:
    """Return the files whose folders' names allow rows that match; no file is opened."""
    import pyarrow.dataset as ds  # Only filters need it.
    from pyarrow.fs import LocalFileSystem

    known, here = ds.ParquetFileFormat(), LocalFileSystem()
    fragments = [
        known.make_fragment(str(number), here, _guarantee(file.partitions))
        for number, file in enumerate(sources)
    ]
    dataset = ds.FileSystemDataset(fragments, schema, known, here)
    with _comparing("the name of a folder"):
        return [sources[int(one.path)] for one in dataset.get_fragments(filter=expression)]


def find_row_groups(source: SourceFile, schema: pa.Schema, footer: bytes) -> list[int]:
    """Return the row groups of a file that may have matching rows according to statistics."""
    import pyarrow.dataset as ds

    fragment = ds.ParquetFileFormat().make_fragment(
        pa.BufferReader(footer), partition_expression=_guarantee(source.partitions)
    )
    with _comparing(show_path(source.path)):  # Arrow casts a value that all rows have.
        left = fragment.subset(source.condition, schema=schema)
    return [row_group.id for row_group in left.row_groups]


def _guarantee(partitions: PartitionValues) -> pc.Expression:
    """Return the condition that the folders of a file guarantee for all its rows."""
    terms = [
        pc.field(name) == value if value.is_valid else pc.field(name).is_null()
        for name, value in partitions.items()
    ]
    return reduce(operator.and_, terms, pc.scalar(True))


@contextmanager
def _comparing(where: str) -> Iterator[None]:
    """Refuse texts that are compared with a date and are no dates."""
    try:
        yield
    except pa.ArrowInvalid as error:
        if "scalar of type timestamp" not in str(error):  # A caller's expression may fail too.
            raise
        raise RecframeError(
            f"filters: text is compared with a date as times, but not so in {where}: "
            f"{shorten(first_line(error).partition('. ')[0])}. Write all dates in one form, such "
            "as 2026-11-01, and that of the filter too, with a zone or without."
        ) from error


def filter_rows(batch: pa.RecordBatch, source: SourceFile) -> pa.RecordBatch:
    """Return the rows of a file that match its condition."""
    values, n_rows = source.partitions, batch.num_rows
    columns = {
        name: pa.repeat(values[name], n_rows) if name in values else batch[name]
        for name in source.condition_columns
    }
    row = "#".join(["", *columns])  # No column has this name. Arrow may reorder rows.
    with _comparing(show_path(source.path)):
        table = pa.table({**columns, row: np.arange(n_rows)}).filter(source.condition)
    return batch if len(table) == n_rows else batch.take(pa.array(np.sort(table[row].to_numpy())))
