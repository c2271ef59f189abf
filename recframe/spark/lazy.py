"""Spark DataFrames: rows of a frame and of those beside it brought together, and results."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that all give it
from pyspark.sql import types as kinds
from pyspark.sql.utils import is_remote

from recframe import partitions
from recframe.analysis.compare import UNDEFINED
from recframe.analysis.ranks import N_IDS_NAMED
from recframe.analysis.segments import Own
from recframe.errors import RecframeError, quote
from recframe.frames.columns import Columns, other_labels
from recframe.frames.tables import plain_table
from recframe.options import Options
from recframe.spark import tasks
from recframe.spark.columns import (
    arrow_type,
    as_frame,
    check_kinds,
    find_roles,
    hand_over,
    make_sample,
)

INTEGERS = (kinds.ByteType, kinds.ShortType, kinds.IntegerType, kinds.LongType)
CELL_FIELDS = [
    kinds.StructField(tasks.PARTITION, kinds.IntegerType()),
    kinds.StructField(tasks.CELL, kinds.BinaryType()),
]
TEXT_LABELS = ("score", "metric", "baseline", "interval", "test")


class UserRows(NamedTuple):
    """Rows of which those of a user are in one partition, and columns that have users' types."""

    rows: Any
    layout: tasks.PartitionLayout
    ids: list[str]


class ResultColumns(NamedTuple):
    """The columns of a result: Spark's schema by names of their own, and the labels they get."""

    schema: Any
    labels: list[str]
    users: list[str]


def bring_together(
    frame: Any,
    beside: Mapping[str, Any],
    columns: Columns,
    options: Options,
    *,
    reads_all: bool = False,
    keeps: bool = False,
) -> UserRows:
    """Return the rows of a frame and of those beside it, those of every user in one partition.

    Where it `keeps` its rows, they are so already, unless others are to join them.
    The columns are called by their places, whatever their labels are.
    """
    others = other_labels(make_sample(frame), columns)
    own: dict[str, Hashable] = {
        f"f{at}": label
        for at, label in enumerate(frame.columns)
        if reads_all or label in columns.labels
    }
    names = {label: name for name, label in own.items()}
    rows = _by_place(frame, "f").select(*own)
    users = [[names[label]] for label in columns.users]  # of each: the frame's, and the others'
    sides: dict[str, dict[str, Hashable]] = {}
    for number, (other, side) in enumerate(beside.items(), 1):
        roles = find_roles(other, columns, options)
        same = dict(zip(roles.users, columns.users, strict=True)) | {roles.item: columns.item}
        sides[other], picked = {}, []
        for at, label in enumerate(roles.labels):
            match, kind = same.get(label), side.schema[label].dataType
            is_shared = match is not None and frame.schema[match].dataType == kind
            name = names[match] if is_shared else f"{other}{at}"
            sides[other][name] = label
            picked.append(F.col(f"c{side.columns.index(label)}").alias(name))
        for of_user, name in zip(users, sides[other], strict=False):  # the users' labels are first
            of_user.append(name)
        if number == 1:
            rows = rows.withColumn(tasks.SIDE, F.lit(0).cast("byte"))
        picked.append(F.lit(number).cast("byte").alias(tasks.SIDE))
        rows = rows.unionByName(_by_place(side, "c").select(*picked), allowMissingColumns=True)
    layout = tasks.PartitionLayout(own, sides, others)
    if columns.user is None:
        return UserRows(rows.repartition(1), layout, [])
    if beside or not keeps:
        rows = rows.repartition(*(_find_key(rows, of_user) for of_user in users))
    n_named = 2 if "truth" in beside else 1
    return UserRows(rows, layout, [_find_widest(rows, of_user[:n_named]) for of_user in users])


def _by_place(frame: Any, letter: str) -> Any:
    """Return a frame whose columns are called by their places."""
    return frame.toDF(*(f"{letter}{at}" for at in range(len(frame.columns))))


def _find_widest(rows: Any, users: list[str]) -> str:
    """Return the column of users with the widest type of integers; of other types, the first."""
    types = [type(rows.schema[name].dataType) for name in users]
    if not all(kind in INTEGERS for kind in types):
        return users[0]
    return users[max(range(len(users)), key=lambda at: INTEGERS.index(types[at]))]


def _find_key(rows: Any, users: list[str]) -> Any:
    """Return a key that equal ids in columns of users share, whatever their types.

    Texts share it too if they differ in case, blanks at the ends or zeros at the front: of users of
    truth that is noted where they meet.
    """
    are_numbers = isinstance(rows.schema[users[0]].dataType, kinds.NumericType)  # or none is
    columns = [F.col(user).cast("double" if are_numbers else "string") for user in users]
    key = F.coalesce(*columns)
    return key if are_numbers else F.ltrim(F.lower(F.trim(key)), F.lit("0"))


def name_results(
    source: UserRows, columns: Columns, made: pd.DataFrame, own: list[str], *, reads_all: bool
) -> ResultColumns:
    """Return the columns of results, given the table for no row and the columns before it."""
    if reads_all:
        names, of_frame = list(source.layout.frame), list(source.layout.frame.values())
        users = [of_frame.index(label) for label in columns.users]
        added = ["ranked_by", "rank"] if len(columns.scores) > 1 else ["rank"]
    else:
        names, users = source.ids, list(range(len(own)))
        added = ["score", *made.columns.unique("metric")]
    for label in own:
        if label.casefold() in {one.casefold() for one in added}:  # as Spark compares names
            raise RecframeError(f"the column {quote(label)} has a name that results use; rename it")
    types = [source.rows.schema[name].dataType for name in names] or [kinds.StringType()]
    for label in added:
        is_text = label in ("score", "ranked_by")
        types.append(kinds.StringType() if is_text else kinds.DoubleType())
    fields = [kinds.StructField(f"r{at}", kind) for at, kind in enumerate(types)]
    return ResultColumns(kinds.StructType(fields), [*own, *added], [f"r{at}" for at in users])


def make_results(source: UserRows, task: tasks.Task, result: ResultColumns, **how: bool) -> Any:
    """Return the results of every partition, checked when computed if that is needed."""
    make, schema = partial(tasks.make_result, task=task, **how), result.schema
    if not task.is_checked:
        return _map(source.rows, make, schema).toDF(*result.labels)
    wider = kinds.StructType([*schema.fields, *CELL_FIELDS])
    # A user's results meet, and so do all cells. Both branches below share what is here.
    made = _map(source.rows, make, wider).repartition(*map(F.col, result.users))
    done = _map(made, partial(tasks.finish, names=schema.names, users=result.users), schema)
    if source.layout.beside:
        # In front, so that no first rows are shown of what is refused.
        done = _map(made, partial(tasks.check_beside, names=schema.names), schema).union(done)
    return done.toDF(*result.labels)


def _map(rows: Any, make: Callable[[pa.Table], pa.Table], schema: Any) -> Any:
    """Return the results of every partition that has rows."""
    return rows.mapInArrow(partial(tasks.run, make=make), schema)


def make_cells(rows: Any, read: Callable[[pa.Table], pa.Table]) -> Any:
    """Return the readings of every partition, in a cell for each."""
    return _map(rows, read, kinds.StructType(CELL_FIELDS))


def make_of_partitions(
    rows: Any,
    read: Callable[[pa.Table], pa.Table],
    make: partitions.MakeWhole,
    labels: list[str],
    own: Mapping[str, Any],
) -> Any:
    """Return the table made, in one place, from the readings of every partition."""
    always = [F.lit(None).cast(field.dataType).alias(field.name) for field in CELL_FIELDS]
    made = make_cells(rows, read).union(rows.sparkSession.range(1).select(*always))
    types: dict[str, Any] = dict.fromkeys(labels, kinds.DoubleType())
    types |= {label: kinds.StringType() for label in labels if label in TEXT_LABELS}
    types |= {label: kinds.LongType() for label in labels if label == "k" or label.startswith("n_")}
    types |= own
    fields = [kinds.StructField(label, kind) for label, kind in types.items()]
    arrow_types = {label: arrow_type(kind) for label, kind in types.items()}
    said = None
    if not is_remote():  # where the driver is not this process
        said = rows.sparkSession.sparkContext.accumulator([], tasks.WarningsOfTasks([]))
    make_one = partial(tasks.make_of_cells, make=make, types=arrow_types, said=said)
    return _map(made.repartition(1), make_one, kinds.StructType(fields))


def list_labels(table: pd.DataFrame) -> list[str]:
    """Return the columns of a result in tidy form, which are the same for any data."""
    labels = list(map(str, plain_table(table)))
    if "metric" in table.index.names:  # of intervals
        labels += ["n_undefined"] if "mean" in table else UNDEFINED
    names = [label.casefold() for label in labels]  # as Spark compares them
    for label in map(str, table.index.names):
        if names.count(label.casefold()) > 1:
            raise RecframeError(f"by={quote(label)} has a name that results use; rename it")
    return labels


def find_kinds(by: Sequence[Own], source: UserRows, columns: Columns) -> dict[str, Any]:
    """Return the types of segments: those of columns, and of values given by user."""
    names, found = {label: name for name, label in source.layout.frame.items()}, {}
    names |= dict(zip(columns.users, source.ids, strict=True))
    for one in by:
        label, rows = str(one.label), source.rows
        if one.given is not None:
            rows = hand_over("by", {label: one.given}, rows, "the label of a column")
            check_kinds(rows, Columns(None, [], None, of_users=(label,)))
        found[label] = rows.schema[names.get(one.column, label)].dataType
    return found


def select(frame: Any, labels: list[Hashable]) -> Any:
    """Return the columns of these labels, called by their places, whatever signs they have."""
    own = [f"c{frame.columns.index(label)}" for label in labels]
    return _by_place(frame, "c").select(*own)


def find_user(frame: Any, user: Hashable, columns: Columns, labels: list[Hashable]) -> pd.DataFrame:
    """Return the rows of one user, in these columns; a few others if the user has none."""
    rows = select(frame, labels)
    find = partial(tasks.find_rows, user=user, columns=columns, labels=labels)
    found = _map(rows, find, rows.schema).toArrow()
    return as_frame(found if len(found) else rows.limit(N_IDS_NAMED).toArrow(), labels)
