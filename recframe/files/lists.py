"""Files with columns of lists: their rows, one for each member."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from recframe.errors import RecframeError, quote
from recframe.files.batches import next_ahead
from recframe.files.footers import read_schema
from recframe.files.source_files import SourceFile, open_file, plain_type
from recframe.formats import Delimited, JsonLines
from recframe.frames.list_columns import (
    find_list_columns,
    find_member_columns,
    is_list_type,
    relist,
)
from recframe.frames.names import as_labels, find_role, is_infer, shown
from recframe.frames.text_lists import N_CELLS_SEEN, find_separator, split_texts
from recframe.frames.words import may_be_score
from recframe.options import LIST, LISTS
from recframe.text_types import TextTypes, check_type, read_cells

MOST_LISTS = 1 << 16  # lists that are read at once; fewer, where lists are long


@dataclass(eq=False, repr=False)
class ParquetRows:
    """The rows of a parquet file whose lists become rows, so its footer does not count these."""

    source: SourceFile

    def read_schema(self, memory: int | None = None) -> pa.Schema:
        """Return the columns."""
        with open_file(self.source) as file:
            schema: pa.Schema = file.schema_arrow
            return schema

    def iter_batches(self, names: Sequence[str], types: TextTypes) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows, as many rows at a time as have room."""
        with open_file(self.source, pre_buffer=not self.source.is_here) as file:
            groups = [file.metadata.row_group(at) for at in range(file.num_row_groups)]
            n_bytes = max([1, *(one.total_byte_size // max(1, one.num_rows) for one in groups)])
            n_rows = max(1, min(MOST_LISTS, types.n_bytes // n_bytes))
            fragment = self.source.fragment
            numbers = None if fragment is None else [one.id for one in fragment.row_groups]
            yield from next_ahead(file.iter_batches(n_rows, numbers, list(names)))


@dataclass(eq=False, repr=False)
class MemberRows:
    """The rows of a file with lists, one for each member; fields of members keep their names.

    `lists` are the columns of lists. `sep` separates ids in lists that are text.
    """

    rows: Any
    lists: Sequence[str]
    sep: str | None = None

    @property
    def is_read(self) -> bool:
        """Whether the rows were read and cannot be read again."""
        return getattr(self.rows, "is_read", False)

    def read_schema(self, memory: int | None = None) -> pa.Schema:
        """Return the columns, with the types that the first rows have."""
        schema, types = self.rows.read_schema(memory), TextTypes(memory=memory)
        columns = find_member_columns(schema, self.lists)
        if all(is_list_type(schema.field(name).type) for name in self.lists):
            return self._make(pa.RecordBatch.from_pylist([], schema), schema, types).schema
        names = [*columns.carried, *columns.fields, *columns.order, LIST]
        head = next(self.iter_batches(names, types), None)
        return pa.schema([]) if head is None else types.complete(head.schema)

    def iter_batches(self, names: Sequence[str], types: TextTypes) -> Iterator[pa.RecordBatch]:
        """Yield these columns of all rows."""
        schema = self.rows.read_schema(types.memory)
        carried = find_member_columns(schema, self.lists).carried
        stored = [*self.lists, *(carried[name] for name in names if name in carried)]
        types.texts = self.lists  # A list of one id is no number.
        for batch in self.rows.iter_batches(stored, types):
            yield self._make(batch, schema, types).select(list(names))

    def _make(self, batch: pa.RecordBatch, schema: pa.Schema, types: TextTypes) -> pa.RecordBatch:
        """Return a row for each member of the lists in a batch."""
        columns = find_member_columns(schema, self.lists)
        cells = {name: self._read_lists(name, batch[name], types) for name in self.lists}
        for name in columns.carried.values():
            if name in batch.schema.names:
                cells[name] = batch[name].cast(plain_type(batch[name].type))
        made = columns.flatten(pa.record_batch(cells))
        if isinstance(self.rows, JsonLines):  # Lines may have other types than lines before.
            for name in (*columns.fields, *columns.order):
                check_type(name, made[name].type, 0, types)
        return made

    def _read_lists(self, name: str, cells: pa.Array, types: TextTypes) -> pa.Array:
        """Return the lists that cells hold; ids in texts have the types of cells of csv."""
        if is_list_type(cells.type):
            return cells
        lists = split_texts(quote(name), cells.cast(pa.string()), self.sep)
        if not isinstance(lists, pa.Array):
            return pa.array(lists)
        return relist(lists, read_cells(name, lists.flatten(), types))


def find_list_rows(
    sources: list[SourceFile], passed: Any, sep: str | None, memory: int
) -> tuple[list[SourceFile], dict[str, Any]]:
    """Return files whose lists become rows, and the attributes of their sample.

    Lists become rows if they are passed, or if no other column is named as an item or a score.
    Attributes say the roles of their fields, or which columns may hold lists.
    """
    if passed is None:
        return sources, {}
    schema = read_schema(sources[0], memory)
    if is_infer(passed):
        names, attrs = _infer_lists(sources[0], schema, sep, memory)
    else:
        names, attrs = list[Any](as_labels(passed)), {}
    for name in names:
        kind = plain_type(schema.field(name).type) if name in schema.names else None
        is_text = kind is not None and (sep is not None or pa.types.is_string(kind))
        if kind is None or not (is_list_type(kind) or is_text):
            how = "no such column" if kind is None else f"must hold lists, but is of type {kind}"
            raise RecframeError(f"lists={quote(name)}: {how}; the files have {shown(schema.names)}")
    if not names:
        return sources, attrs
    rows = [
        MemberRows(ParquetRows(one) if one.rows is None else one.rows, names, sep)
        for one in sources
    ]
    # A table's schema has the lists, and its values of partitions are those of the file.
    files = [
        one._replace(rows=own, table_schema=None, fragment=None)
        for one, own in zip(sources, rows, strict=True)
    ]
    others = [one.name for one in schema if is_list_type(one.type) and one.name not in names]
    attrs = find_member_columns(rows[0].rows.read_schema(memory), names).attrs
    return files, attrs | ({LISTS: dict.fromkeys(others, "")} if others else {})


def _infer_lists(
    source: SourceFile, schema: pa.Schema, sep: str | None, memory: int
) -> tuple[Sequence[Any], dict[str, Any]]:
    """Return the columns of lists that become rows, and those that the caller is asked about."""
    types = {one.name: plain_type(one.type) for one in schema}
    if any(map(is_list_type, types.values())):
        columns = find_list_columns(schema, "", {})
        return columns.lists, columns.attrs
    roles = {"score" if may_be_score(name) else find_role(name) for name in types}
    texts = [name for name in types if pa.types.is_string(types[name])]
    if not isinstance(source.rows, Delimited) or not texts or {"item", "score"} <= roles:
        return [], {}
    head = next(source.rows.iter_batches(texts, TextTypes(memory=memory)), None)
    cells = {} if head is None else {name: head[name][:N_CELLS_SEEN].to_pylist() for name in texts}
    separators = {name: find_separator(own, sep) for name, own in cells.items()}
    known = {name: one for name, one in separators.items() if one is not None}
    if sep is not None and len(known) == 1:
        return list(known), {}
    return [], {LISTS: known} if known else {}
