"""Spark DataFrames: rows of a frame and of those beside it brought together, and results."""

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that all give it
from pyspark.sql import types as kinds

from recframe.analysis.inspect import N_IDS_NAMED
from recframe.errors import RecframeError, quote
from recframe.frames.columns import Columns, find_columns, other_labels
from recframe.options import Options
from recframe.spark import cells, tasks
from recframe.spark.beside import find_roles, put
from recframe.spark.columns import make_sample
from recframe.spark.tidy import as_frame, type_of

INTEGERS = (kinds.ByteType, kinds.ShortType, kinds.IntegerType, kinds.LongType)
CELL_FIELDS = [
    kinds.StructField(tasks.PARTITION, kinds.IntegerType()),
    kinds.StructField(tasks.CELL, kinds.BinaryType()),
]
OF_RESULTS = {
    pa.string(): kinds.StringType(),
    pa.int64(): kinds.LongType(),
    pa.float64(): kinds.DoubleType(),
}


class ResultColumns(NamedTuple):
    """The columns of a result: Spark's schema by names of their own, and the labels they get."""

    schema: Any
    labels: list[str]
    users: list[str]


class UserRows(NamedTuple):
    """Rows of which those of a user are in one partition, what their columns are, and the users'.

    Each column of users is one, or one of the frame and one of truth.
    """

    rows: Any
    layout: tasks.PartitionLayout
    users: list[list[str]]

    def make_result(
        self, made: pd.DataFrame, own: list[str], columns: Columns, *, reads_all: bool
    ) -> ResultColumns:
        """Return the columns of what is made, given it for no row and the columns of the frame."""
        types, string, double = self.rows.schema, kinds.StringType(), kinds.DoubleType()
        if reads_all:
            added = ["ranked_by", "rank"] if len(columns.scores) > 1 else ["rank"]
            given = [types[name].dataType for name in self.layout.frame]
            given += [string, double] if len(added) > 1 else [double]
            places = [list(self.layout.frame).index(of_frame) for of_frame, *_ in self.users]
        else:
            own = list(map(str, columns.users)) or ["user"]
            added = ["score", *made.columns.unique("metric")]
            ids = [_type_of([types[name].dataType for name in names]) for names in self.users]
            given = [*(ids or [string]), string, *[double] * (len(added) - 1)]
            places = list(range(len(own)))
        _check_labels(own, added)
        labels = [*own, *added]
        names = [f"r{at}" for at in range(len(labels))]
        fields = map(kinds.StructField, names, given)
        return ResultColumns(kinds.StructType(list(fields)), labels, [names[at] for at in places])


def _type_of(ids: list[Any]) -> Any:
    """Return the type of ids of the frame and of truth, of integers the wider one."""
    return max(ids, key=_width) if all(map(_width, ids)) else ids[0]


def _width(kind: Any) -> int:
    """Return how wide a type of integers is, 0 of another."""
    return 1 + INTEGERS.index(type(kind)) if type(kind) in INTEGERS else 0


def _check_labels(own: list[str], added: list[str]) -> None:
    """Raise where a column has the name of one that is added, as Spark compares names."""
    names = {label.casefold() for label in added}
    for label in own:
        if label.casefold() in names:
            raise RecframeError(
                f"the column {quote(label)} has the name of one of the result; rename it"
            )


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
    labels = list(frame.columns)
    others = other_labels(make_sample(frame), columns.labels)
    own = {f"f{at}": one for at, one in enumerate(labels) if reads_all or one in columns.labels}
    names = {label: name for name, label in own.items()}
    rows = frame.toDF(*(f"f{at}" for at in range(len(labels)))).select(*own)
    users = {"": [names[label] for label in columns.users]}
    sides: dict[str, dict[str, Hashable]] = {}
    for number, (other, side) in enumerate(beside.items()):
        roles = find_roles(other, columns, options)
        same = dict(zip(roles.users, columns.users, strict=True)) | {roles.item: columns.item}
        kinds_of = {field.name: field.dataType for field in side.schema}
        sides[other] = {}
        for at, label in enumerate(roles.labels):
            match = same.get(label)
            is_shared = match is not None and frame.schema[match].dataType == kinds_of[label]
            sides[other][names[match] if is_shared else f"{other}{at}"] = label
        users[other] = list(sides[other])[: len(columns.users)]  # the first labels are the users'
        places = [side.columns.index(label) for label in roles.labels]
        side = side.toDF(*(f"c{at}" for at in range(len(side.columns))))
        picked = [
            F.col(f"c{at}").alias(name) for at, name in zip(places, sides[other], strict=True)
        ]
        if number == 0:
            rows = rows.withColumn(tasks.SIDE, F.lit(0).cast("byte"))
        rows = rows.unionByName(
            side.select(*picked).withColumn(tasks.SIDE, F.lit(number + 1).cast("byte")),
            allowMissingColumns=True,
        )
    layout = tasks.PartitionLayout(own, sides, others)
    if columns.user is None:
        return UserRows(rows.repartition(1), layout, [])
    if beside or not keeps:
        rows = rows.repartition(*(_key(rows, names) for names in _join(list(users.values()))))
    return UserRows(rows, layout, _join([users[side] for side in ("", "truth") if side in users]))


def _join(sides: list[list[str]]) -> list[list[str]]:
    """Return the names of each column of users, where sides may share them."""
    return [list(dict.fromkeys(names)) for names in zip(*sides, strict=True)]


def _key(rows: Any, users: list[str]) -> Any:
    """Return what equal ids in a column of users have in common, whatever their types."""
    types = [rows.schema[user].dataType for user in users]
    common = "string"
    if all(isinstance(kind, kinds.NumericType) for kind in types):
        common = "long" if all(isinstance(kind, INTEGERS) for kind in types) else "double"
    ids = [F.col(user).cast(common) if len(users) > 1 else F.col(user) for user in users]
    return F.coalesce(*ids)


def make_checked(rows: Any, run: Any, result: ResultColumns, task: tasks.Task) -> Any:
    """Return what is made of every partition, checked when it is computed where that is needed."""
    schema = result.schema
    if not task.is_checked:
        return rows.mapInArrow(run, schema).toDF(*result.labels)
    wider = kinds.StructType([*schema.fields, *CELL_FIELDS])
    # A user's results meet, and so do all cells. Both branches below share what is here.
    made = rows.mapInArrow(run, wider).repartition(*map(F.col, result.users))
    finish = partial(tasks.finish, names=schema.names, users=result.users)
    done = made.mapInArrow(finish, schema)
    if task.layout.beside:
        # In front, so that no first rows are shown of what is refused.
        done = made.mapInArrow(tasks.check_beside, schema).union(done)
    return done.toDF(*result.labels)


def make_cells(frame: Any, read: Callable[[pa.Table], Any]) -> Any:
    """Return what is read of every partition, in a cell for each."""
    return frame.mapInArrow(partial(cells.make_cell, make=read), kinds.StructType(CELL_FIELDS))


def make_of_partitions(
    rows: Any,
    read: Callable[[pa.Table], Any],
    make: Callable[[list[Any]], pd.DataFrame],
    labels: list[str],
) -> Any:
    """Return what is made, in one place, of what is read of every partition."""
    always = [F.lit(None).cast(field.dataType).alias(field.name) for field in CELL_FIELDS]
    made = make_cells(rows, read).union(rows.sparkSession.range(1).select(*always))
    fields = [kinds.StructField(label, OF_RESULTS[type_of(label)]) for label in labels]
    make_one = partial(cells.make_of_cells, make=make, labels=labels)
    return made.repartition(1).mapInArrow(make_one, kinds.StructType(fields))


def make_of_users(
    per_user: Any,
    read: Callable[..., Any],
    make: Callable[[list[Any]], pd.DataFrame],
    labels: list[str],
    empty: pd.DataFrame,
) -> Any:
    """Return what is made, in one place, of what is read of every part of a per-user table."""
    scores, metrics = (list(empty.columns.unique(level)) for level in ("score", "metric"))
    plain = per_user.toDF(*(f"r{at}" for at in range(len(per_user.columns))))
    return make_of_partitions(plain, partial(read, scores=scores, metrics=metrics), make, labels)


def make_empty(per_user: Any, sample: pd.DataFrame, options: Options) -> pd.DataFrame:
    """Return the per-user table of no user, of the metrics of one in tidy form."""
    # Which columns are scores depends on no other role, and some metrics need no relevance.
    columns = find_columns(sample, options, with_relevant=False)
    metrics = per_user.columns[max(1, len(columns.users)) + 1 :]
    labels = pd.MultiIndex.from_product([columns.scores, metrics], names=["score", "metric"])
    return pd.DataFrame(columns=labels, dtype=float)


def pick(frame: Any, labels: list[Hashable]) -> Any:
    """Return the columns of these labels, whatever signs they have."""
    return frame.select(*("`{}`".format(str(label).replace("`", "``")) for label in labels))


def find_user(frame: Any, user: Hashable, users: list[Hashable]) -> pd.DataFrame:
    """Return the rows of one user; a few others where there is none."""
    labels = list(frame.columns)
    plain = frame.toDF(*(f"c{at}" for at in range(len(labels))))
    find = partial(tasks.find_rows, user=user, users=users, labels=labels)
    found = plain.mapInArrow(find, plain.schema).toArrow()
    return as_frame(found if len(found) else plain.limit(N_IDS_NAMED).toArrow(), labels)


def find_beside(
    beside: Mapping[str, Any], user: Hashable, columns: Columns, options: Options
) -> Options:
    """Return options with the rows of one user in truth and in exclude."""
    labels = {other: find_roles(other, columns, options).users for other in beside}
    return put(options, {other: find_user(beside[other], user, labels[other]) for other in beside})
