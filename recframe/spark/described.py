"""The description of a Spark DataFrame: figures of its partitions, added up by the driver."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from recframe.analysis.describe import Figures, count_figures, describe_figures
from recframe.analysis.description import Description
from recframe.frames.columns import Columns, get_column
from recframe.frames.interactions import read_interactions
from recframe.frames.judgments import Judgments, read_judgments
from recframe.frames.overlap import Items, find_items
from recframe.frames.truth import Judge
from recframe.options import Options
from recframe.spark.beside import Common, check_common, leave_candidates
from recframe.spark.cells import read_cells
from recframe.spark.lazy import UserRows, make_cells
from recframe.spark.tasks import PartitionLayout, join_users
from recframe.spark.tidy import as_frame


class Counted(NamedTuple):
    """The figures of a partition, its users, and what it has in common with truth and exclude."""

    figures: list[Figures]
    users: "pd.Index[Any]"
    items: Items
    common: list[Common]


def describe(
    source: UserRows,
    truth: Any,
    sample: pd.DataFrame,
    columns: Columns,
    k: int,
    options: Options,
) -> Description:
    """Return the description that the figures of all partitions add up to, computed here."""
    judgments = None
    if truth is not None:
        rows = as_frame(truth.toArrow(), truth.columns)
        judgments = read_judgments(columns, replace(options, truth=rows))
        options = replace(options, truth=rows.iloc[:0])  # which workers do not need
    partitions, layout, _ = source
    count = partial(
        count_partition, layout=layout, judgments=judgments, columns=columns, k=k, options=options
    )
    counted = read_cells(make_cells(partitions, count).toArrow())
    users = join_users([part.users for part in counted])
    check_common([one for part in counted for one in part.common])
    figures = [part.figures for part in counted]
    judge = None if judgments is None else Judge(judgments, options)
    if judge is not None and counted and columns.user is not None:
        judge.note(users, [part.items for part in counted])
    return describe_figures(figures, sample, columns, k, options, judge)


def count_partition(
    table: pa.Table,
    layout: PartitionLayout,
    judgments: Judgments | None,
    columns: Columns,
    k: int,
    options: Options,
) -> Counted:
    """Return the figures of a partition."""
    _, frame, options = layout.split(table, options)
    frame, common = leave_candidates(frame, judgments, columns, options)
    judge = None if judgments is None else Judge(judgments, options)
    rows = read_interactions(frame, columns, options, lenient=True)
    figures = count_figures(rows, options, k, judge)
    users = rows.users.ids
    items = Items(False)
    if judgments is not None:
        items = find_items(get_column(frame, columns.item), judgments.pairs.item)
    return Counted(figures, users, items, common)
