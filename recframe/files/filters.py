"""Filters: which rows of files are there, and which files and row groups cannot have any."""

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import MissingColumnError, RecframeError, find_near, quote, shorten, spell
from recframe.files.found import Condition, Found, PartitionValues, RowGroup, plain_type
from recframe.foreign import Term
from recframe.frames.names import shown

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS = (*COMPARISONS, "in", "not in")
FILTERS = spell("filters", "--filter")
FILTERS_REQUIREMENT = (
    f"{FILTERS} must be a list of (column, operator, value), as [('day', '>=', '2026-11-01')], "
    "a list of such lists, of which one must hold, or an expression of pyarrow"
)


class Written(str):
    """A value as it is written on a command line, which is of whatever type the column is."""

    __slots__ = ()


def check_filters(filters: Any) -> list[list[Term]] | pc.Expression | None:
    """Return filters as lists of terms, of which all terms of one list must hold, or raise."""
    if filters is None or isinstance(filters, pc.Expression):
        return filters
    if not isinstance(filters, list | tuple) or not filters:
        raise RecframeError(f"{FILTERS_REQUIREMENT}, found {quote(filters)}")
    if all(isinstance(one, list) for one in filters):
        lists = [[_check_term(term) for term in terms] for terms in filters]
        if not all(lists):
            raise RecframeError(f"{FILTERS_REQUIREMENT}, found an empty list")
        return lists
    return [[_check_term(term) for term in filters]]


def _check_term(term: Any) -> Term:
    """Return one term, or raise."""
    if not isinstance(term, tuple) or len(term) != 3 or not isinstance(term[0], str):
        raise RecframeError(f"{FILTERS_REQUIREMENT}, found {quote(term)}")
    name, sign, value = term
    if sign not in OPERATORS:
        raise RecframeError(
            f"{FILTERS}: the operator of {quote(name)} must be one of {', '.join(OPERATORS)}, "
            f"found {quote(sign)}"
        )
    if sign in COMPARISONS:
        is_odd = isinstance(value, list | tuple | set | frozenset | dict)
    else:
        is_odd = not isinstance(value, list | tuple | set | frozenset)
    if is_odd or value is None:
        needed = "one value" if sign in COMPARISONS else "a list of values"
        raise RecframeError(f"{FILTERS}: {quote(name)} {sign} takes {needed}, found {quote(value)}")
    return name, sign, value


def filter_files(found: list[Found], filters: Any, schema: pa.Schema) -> list[Found]:
    """Return the files that may have rows that match, each with the condition on its rows.

    One at least is left, for its columns.
    """
    checked = check_filters(filters)
    if checked is None:
        return found
    expression = checked if isinstance(checked, pc.Expression) else _join(checked, schema)
    condition = Condition(expression, _find_names(expression, schema))
    if all(_say_all(file, condition, schema) for file in found):
        return _pick(found, condition) or [found[0].under(condition)]
    return [file.under(condition) for file in _leave_out(found, expression, schema) or found[:1]]


def _say_all(file: Found, condition: Condition, schema: pa.Schema) -> bool:
    """Return whether the folders of a file say whether its rows match."""
    types = {name: value.type for name, value in file.partitions.items()}
    return all(types.get(name) == schema.field(name).type for name in condition.names)


def _pick(found: list[Found], condition: Condition) -> list[Found]:
    """Return the files whose rows all match, by the names of their folders."""
    columns = {}
    for name in condition.names:
        said = [file.partitions[name] for file in found]
        columns[name] = pa.array([value.as_py() for value in said], said[0].type)
    return [found[number] for number in _find_rows(columns, len(found), condition).tolist()]


def _leave_out(found: list[Found], expression: pc.Expression, schema: pa.Schema) -> list[Found]:
    """Return the files whose folders leave room for rows that match; none is opened."""
    import pyarrow.dataset as ds  # only filters need it
    from pyarrow.fs import LocalFileSystem

    known, here = ds.ParquetFileFormat(), LocalFileSystem()
    fragments = [
        known.make_fragment(str(number), here, _guarantee(file.partitions))
        for number, file in enumerate(found)
    ]
    dataset = ds.FileSystemDataset(fragments, schema, known, here)
    return [found[int(one.path)] for one in dataset.get_fragments(filter=expression)]


def find_row_groups(found: Found, schema: pa.Schema, n: int) -> Sequence[int]:
    """Return which of the row groups of a file may have rows that match, by its statistics."""
    meant = range(n) if found.only is None else found.only
    if found.condition is None or found.staged is not None:
        return meant
    import pyarrow.dataset as ds

    with found.open_footer() as file:
        fragment = ds.ParquetFileFormat().make_fragment(
            file, partition_expression=_guarantee(found.partitions)
        )
        left = fragment.subset(found.condition.expression, schema=schema)
        return [row_group.id for row_group in left.row_groups if row_group.id in meant]


def _guarantee(partitions: PartitionValues) -> pc.Expression:
    """Return what is true of all rows of a file."""
    terms = [
        pc.field(name) == value if value.is_valid else pc.field(name).is_null()
        for name, value in partitions.items()
    ]
    return reduce(operator.and_, terms, pc.scalar(True))


def matching(batch: pa.RecordBatch, row_group: RowGroup) -> pa.RecordBatch:
    """Return the rows of a row group that match, where its file has a condition."""
    condition = row_group.found.condition
    if condition is None:
        return batch
    said, n_rows = row_group.partitions, batch.num_rows
    columns = {
        name: pa.repeat(said[name], n_rows) if name in said else batch[name]
        for name in condition.names
    }
    left = _find_rows(columns, n_rows, condition)
    return batch if len(left) == n_rows else batch.take(pa.array(left))


def _find_rows(columns: dict[str, pa.Array], n_rows: int, condition: Condition) -> Any:
    """Return the numbers of the rows that match, in order: Arrow may not keep it."""
    number = "#".join(["", *columns])  # as no column is named
    table = pa.table({**columns, number: np.arange(n_rows)})
    return np.sort(table.filter(condition.expression)[number].to_numpy())


def _join(lists: list[list[Term]], schema: pa.Schema) -> pc.Expression:
    """Return lists of terms, of one of which all terms must hold, as an expression."""
    each = [reduce(operator.and_, (_term(*term, schema) for term in terms)) for terms in lists]
    return reduce(operator.or_, each)


def _term(name: str, sign: str, value: Any, schema: pa.Schema) -> pc.Expression:
    """Return one term as an expression."""
    kind = plain_type(_field(name, schema).type)
    if sign in COMPARISONS:
        return COMPARISONS[sign](pc.field(name), _scalar(name, value, kind))
    values = [_scalar(name, one, kind, exact=True) for one in value]
    is_in = pc.field(name).isin(pa.array([one.as_py() for one in values], kind))
    return ~is_in if sign == "not in" else is_in


def _field(name: str, schema: pa.Schema) -> pa.Field:
    """Return a column, or raise where there is none of this name."""
    if name in schema.names:
        return schema.field(name)
    near = find_near(name, schema.names)
    also = f"; did you mean {quote(near[0])}?" if near else ""
    raise MissingColumnError(
        f"{FILTERS}: {quote(name)}: no such column; the files have {shown(schema.names)}{also}"
    )


def _scalar(name: str, value: Any, kind: pa.DataType, *, exact: bool = False) -> pa.Scalar:
    """Return a value in the type of its column, or raise where it is none."""
    is_time = isinstance(value, str) and pa.types.is_temporal(kind)
    try:
        if isinstance(value, Written) or is_time:
            return _read(str(value), kind, exact=exact)
        # A float is the nearest of the column's own precision, as everywhere.
        is_float = pa.types.is_floating(kind) and isinstance(value, float)
        return pa.scalar(value, kind if exact or is_float else None)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise RecframeError(
            f"{FILTERS}: {quote(name)} is of type {kind}, which {quote(value)} is not"
        ) from error


def _read(text: str, kind: pa.DataType, *, exact: bool) -> pa.Scalar:
    """Return a text as a value of a type; times are those of the column's zone."""
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        try:
            return pc.assume_timezone(pa.scalar(text).cast(pa.timestamp(kind.unit)), kind.tz)
        except pa.ArrowInvalid:  # it has a zone of its own
            return pa.scalar(text).cast(kind)
    if pa.types.is_integer(kind) and not exact and not text.lstrip("-").isdigit():
        return pa.scalar(text).cast(pa.float64())  # as in n > 2.5
    return pa.scalar(text).cast(kind)


def _find_names(expression: pc.Expression, schema: pa.Schema) -> tuple[str, ...]:
    """Return which columns an expression reads; raise where it cannot be evaluated."""
    empty = schema.empty_table()
    try:
        empty.filter(expression)
    except (pa.ArrowException, TypeError, KeyError) as error:
        said = shorten(str(error).partition("\n")[0].rstrip("."))
        raise RecframeError(
            f"{FILTERS}: {shorten(str(expression))} cannot be evaluated: {said}"
        ) from error
    return tuple(name for name in schema.names if _reads(expression, empty, name))


def _reads(expression: pc.Expression, empty: pa.Table, name: str) -> bool:
    """Return whether an expression that can be evaluated cannot be without a column."""
    try:
        empty.drop_columns(name).filter(expression)
    except pa.ArrowInvalid:
        return True
    return False
