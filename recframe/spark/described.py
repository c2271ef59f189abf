"""The description of a Spark DataFrame: figures of its partitions, added up by the driver."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from recframe.analysis.describe import (
    Figures,
    count_absent,
    count_figures,
    describe_figures,
    is_unique,
)
from recframe.analysis.description import DUPLICATES, Description
from recframe.errors import RecframeError
from recframe.frames.columns import Columns, get_column
from recframe.frames.interactions import read_interactions
from recframe.frames.overlap import Items, find_items
from recframe.frames.truth import Judge, Judgments, read_judgments
from recframe.options import Options
from recframe.spark.lazy import Parts, make_cells
from recframe.spark.tasks import Layout, read_cells
from recframe.spark.tidy import as_frame
from recframe.spark.truth import drop_nulls


class Counted(NamedTuple):
    """The figures of a partition, its users, and what its items have in common with truth."""

    figures: list[Figures]
    users: "pd.Index[Any]"
    items: Items


def describe(
    parts: Parts,
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
        options = replace(options, truth=drop_nulls(rows, columns, options))
        judgments = read_judgments(columns, options)
        options = replace(options, truth=rows.iloc[:0])  # which workers do not need
    count = partial(
        count_part, layout=parts.layout, judgments=judgments, columns=columns, k=k, options=options
    )
    counted = read_cells(make_cells(parts.rows, count).toArrow())
    n_listed = sum(len(part.users) for part in counted)
    users = pd.Index(pd.concat([pd.Series(part.users) for part in counted]) if counted else [])
    if len(users.unique()) < n_listed:
        raise RecframeError(
            f"partitioned=True: {len(users.unique())} users in all, but the partitions have "
            f"{n_listed} together; leave partitioned=True out to have them brought together"
        )
    figures = [part.figures for part in counted]
    if not figures:
        judge = None if judgments is None else Judge(judgments, options)
        figures = [count_figures(sample, columns, k, options, judge, is_all=columns.user is None)]
    n_repeated = sum(each.numbers.get(DUPLICATES, 0) for part in figures for each in part)
    if judgments is not None and columns.user is not None and is_unique(options, int(n_repeated)):
        judge = Judge(judgments, options)
        judge.note(users, [part.items for part in counted])
        figures.append(count_absent(sample, columns, k, options, judge))
    return describe_figures(figures, columns.scores, k)


def count_part(
    table: pa.Table,
    layout: Layout,
    judgments: Judgments | None,
    columns: Columns,
    k: int,
    options: Options,
) -> Counted:
    """Return the figures of a partition."""
    frame = as_frame(table.select(list(layout.frame)), list(layout.frame.values()))
    is_all = columns.user is None
    judge = None if judgments is None else Judge(judgments, options)
    figures = count_figures(frame, columns, k, options, judge, is_all=is_all)
    users = read_interactions(frame, columns, options, lenient=True).groups.users
    items = Items(False)
    if judgments is not None:
        items = find_items(get_column(frame, columns.item), judgments.item)
    return Counted(figures, users, items)
