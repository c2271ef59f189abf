"""A file as it was found, and what is known of its columns and rows beside it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from recframe.errors import RecframeError, show_path
from recframe.formats.endings import PARQUET, find_format, open_rows
from recframe.formats.rows import Rows
from recframe.stores.remote import Remote

KEPT_FOOTERS = 256  # of so few files they are kept, as every call reads them

PartitionValues = dict[str, pa.Scalar]  # what a file's folders say, as in country=NL


class Staged(NamedTuple):
    """What a file is read from that has no footer: the same rows as parquet."""

    open: Callable[[], Any]
    schema: pa.Schema  # with the columns that are not in it


class Condition(NamedTuple):
    """Which rows of a file are there: others are as if they were not."""

    expression: Any  # of Arrow
    names: tuple[str, ...]  # of the columns that it reads


class Found(NamedTuple):
    """A file, and what is known of its columns beside it."""

    path: str
    partitions: PartitionValues  # what its folders say, or the log of its table
    table_schema: pa.Schema | None = None  # of the Delta table or dataset that names it
    given: Rows | None = None  # what gives its rows, where it is no file
    staged: Staged | None = None
    only: tuple[int, ...] | None = None  # its row groups, where not all are meant
    condition: Condition | None = None
    remote: Remote | None = None  # where it is, if not on this machine

    def __fspath__(self) -> str:
        """Return its path."""
        return self.path

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The columns that are read to tell which of its rows are there."""
        return () if self.condition is None else self.condition.names

    def under(self, condition: Condition) -> "Found":
        """Return it with one more condition on its rows."""
        if self.condition is not None:
            expression, names = self.condition
            names = tuple(dict.fromkeys([*names, *condition.names]))
            condition = Condition(expression & condition.expression, names)
        return self._replace(condition=condition)

    @property
    def rows(self) -> Rows | None:
        """Its rows where no footer describes them, until they are staged."""
        if self.given is not None or self.staged is not None or self.table_schema is not None:
            return self.given
        return open_rows(self.path, self.open)

    def open(self) -> Any:
        """Return it opened to be read."""
        if self.staged is not None:
            return self.staged.open()
        return Path(self.path).open("rb") if self.remote is None else self.remote.open()

    def open_footer(self) -> Any:
        """Return it opened to be read for what its footer says alone."""
        if self.staged is not None or self.remote is None:
            return self.open()
        return pa.BufferReader(self.remote.read_footer())


def list_files(dataset: Any, root: Path | None = None) -> list[Found]:
    """Return the files of a dataset of parquet files; on this machine paths are below a root.

    What its fragments say is what the log of a Delta table does.
    """
    import pyarrow.dataset as ds  # only datasets need it

    found, schema = [], dataset.schema
    for fragment in dataset.get_fragments():
        values = ds.get_partition_keys(fragment.partition_expression)
        # Of categories there is one here, which is no reason to have the users of all files so.
        for name in {*values, *dataset.format.read_options.dictionary_columns} & {*schema.names}:
            at = schema.get_field_index(name)
            schema = schema.set(at, pa.field(name, plain_type(schema.field(at).type)))
        said = {
            name: pa.scalar(value, schema.field(name).type)
            for name, value in values.items()
            if name in schema.names
        }
        path = fragment.path if root is None else os.fspath(root / fragment.path)
        # As it is pickled, since to ask for its row groups reads its footer.
        *_, only = fragment.__reduce__()[1]
        found.append(Found(path, said, schema, only=None if only is None else tuple(only)))
    return found


def check_one_format(found: list[Found]) -> None:
    """Raise where files are of several formats, as in a folder with a table and notes on it."""
    first: dict[str, str] = {}
    for file in found:
        first.setdefault(PARQUET if file.table_schema else find_format(file.path), file.path)
    if len(first) > 1:
        (one, path), (other, also), *_ = first.items()
        raise RecframeError(
            f"cannot read {show_path(path)} ({one}) and {show_path(also)} ({other}) as one table; "
            f"name the files of one format, for example by a pattern as '*.{one}'"
        )


def keep_footers(found: list[Found]) -> None:
    """Have the footers of files in stores kept once they are read, where there are few."""
    for file in found if len(found) <= KEPT_FOOTERS else ():
        if file.remote is not None:
            file.remote.keeps_footer = True


def plain_type(found: pa.DataType) -> pa.DataType:
    """Return the type of the values of a type, text of any kind being one."""
    if pa.types.is_dictionary(found):
        return plain_type(found.value_type)
    if pa.types.is_large_string(found) or pa.types.is_string_view(found):
        return pa.string()
    return pa.binary() if pa.types.is_large_binary(found) else found
