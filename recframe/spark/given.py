"""Truth and exclude as they are given: opened as Spark DataFrames, and checked."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa

from recframe.errors import RecframeError, shorten
from recframe.frames.columns import Columns, find_pair_columns, find_truth_columns, get_column
from recframe.frames.judgments import load_frame, naming, read_excluded, read_judgments
from recframe.options import Options
from recframe.spark.columns import check_alike, check_kinds, check_said, check_whole, make_sample

BESIDE = ("truth", "exclude")  # the options that are frames


def find_roles(other: str, columns: Columns, options: Options) -> Columns:
    """Return the label of each role in truth, or in what is excluded, where it is a frame."""
    frame: Any = getattr(options, other)
    with naming(other):
        if other == "truth":
            return find_truth_columns(frame, columns, options)
        return find_pair_columns(frame, columns)


def open_beside(
    given: Mapping[str, Any], frame: Any, columns: Columns, options: Options
) -> tuple[dict[str, Any], Options]:
    """Return truth and exclude as Spark DataFrames, if any, and the options that go with them.

    What is `given` is; that of pandas, or of a file, is read and checked by the driver.
    """
    beside = {}
    for other in BESIDE:
        if getattr(options, other) is None:
            continue
        if other in given:
            one = given[other]
        else:
            one, options = _hand_over(other, frame, columns, options)
        options = put(options, other, make_sample(one))
        roles = find_roles(other, columns, options)
        check_whole(other, one)
        check_kinds(one, roles)
        check_alike(frame, columns, one, roles, other)
        if other == "truth":
            check_said(one, roles, options)
            read_judgments(columns, options, is_all=False)
        beside[other] = one
    return beside, options


def put(options: Options, other: str, frame: Any) -> Options:
    """Return options with another frame as truth or exclude."""
    given: dict[str, Any] = {other: frame}
    return replace(options, **given)


def _hand_over(other: str, frame: Any, columns: Columns, options: Options) -> tuple[Any, Options]:
    """Return truth or exclude of pandas, or of a file, on Spark; those of truth have new names."""
    table = load_frame(other, getattr(options, other))
    options = put(options, other, table)
    found = find_roles(other, columns, options)
    users: list[Any] = columns.users  # by which those of exclude are found, as is its item
    item: Any = columns.item
    if other == "truth":
        read_judgments(columns, options)
        users, item = [f"user{number}" for number in range(len(found.users))], "item"
        relevant = None if found.relevant is None else "relevant"
        options = replace(options, truth_user=users, truth_item=item, relevant=relevant)
    else:
        read_excluded(columns, options)
    labels = [
        *zip(users, found.users, strict=True),
        (item, found.item),
        ("relevant", found.relevant),
    ]
    try:
        arrays = {
            str(name): _as_array(get_column(table, label))
            for name, label in labels
            if label is not None
        }
        return frame.sparkSession.createDataFrame(pa.table(arrays)), options
    except (TypeError, ValueError, pa.ArrowException) as error:  # and those of Spark
        raise RecframeError(
            f"{other}: Spark cannot hold its columns ({shorten(str(error))}); convert them, or "
            "pass a Spark DataFrame"
        ) from error


def _as_array(column: pd.Series) -> pa.Array:
    """Return a column of pandas in a type that Spark has."""
    array = pa.array(column.array, from_pandas=True)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_unsigned_integer(array.type):
        array = array.cast(pa.int64())
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.timestamp("us", array.type.tz))
    return array
