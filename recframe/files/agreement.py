"""What files of one call must agree on: the types of columns, and what their folders say."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recframe.errors import RecframeError, quote, shorten, show_path
from recframe.files.found import plain_type
from recframe.files.opening import naming_file, open_file
from recframe.files.row_groups import File


def check_as_said(file: File, name: str) -> None:
    """Raise where a column of a file has a value other than the one that its folder says."""
    said = file.said_too[name]
    text = pa.scalar(str(said) if said.is_valid else None, pa.string())
    try:
        wanted = text.cast(plain_type(file.schema.field(name).type))
    except pa.ArrowException:  # the file's values are no such thing
        wanted = text
    with naming_file(file.found.path), open_file(file.found) as opened:
        for index in file.indexes:
            if (
                wanted.is_valid
                and _only_value(file.metadata.row_group(index), name) == wanted.as_py()
            ):
                continue
            for batch in opened.iter_batches(row_groups=[index], columns=[name]):
                values = batch[name].cast(wanted.type)
                if wanted.is_valid:
                    others = pc.fill_null(pc.not_equal(values, wanted), True)
                else:
                    others = pc.is_valid(values)
                if others.true_count:
                    other = values.filter(others)[0].as_py()
                    raise RecframeError(
                        f"{quote(name)} is {quote(other)} in {show_path(file.found.path)}, but "
                        f"{quote(said.as_py())} by the name of its folder; rename the one that is "
                        "not meant"
                    )


def _only_value(row_group: pq.RowGroupMetaData, name: str) -> Any:
    """Return the one value of a column; None where statistics do not say that there is one."""
    columns = map(row_group.column, range(row_group.num_columns))
    found = next((column.statistics for column in columns if column.path_in_schema == name), None)
    if found is None or not found.has_min_max or not found.has_null_count or found.null_count:
        return None
    return found.min if found.min == found.max else None


def common_type(name: str, types: dict[str, pa.DataType]) -> pa.DataType:
    """Return the one type that holds a column of all files, or raise where there is none."""
    first, common = next(iter(types.items()))
    for path, own in types.items():
        if own == common:
            continue
        own, common = plain_type(own), plain_type(common)
        try:
            for is_kind in (pa.types.is_binary, pa.types.is_decimal):
                if is_kind(own) != is_kind(common):
                    # Text and bytes are not the same ids; no type holds all decimals and integers.
                    raise pa.ArrowTypeError
            fields = [pa.schema([pa.field(name, found)]) for found in (own, common)]
            common = pa.unify_schemas(fields, promote_options="permissive").field(0).type
        except pa.ArrowTypeError as error:
            raise RecframeError(
                f"{quote(name)} has type {shorten(str(types[path]))} in {show_path(path)} but "
                f"{shorten(str(types[first]))} in {show_path(first)}; write the files with one type"
            ) from error
    return common
