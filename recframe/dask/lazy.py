"""Lazy frames: what travels beside the rows in one cell, and the candidates among the rows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import dask.dataframe as dd
import pandas as pd
from dask.base import tokenize

from recframe.dask import tasks
from recframe.errors import RecframeError, quote
from recframe.frames.columns import Columns
from recframe.frames.judgments import check_pair_columns, check_truth_columns
from recframe.frames.tables import in_cells
from recframe.options import Options


class Partitions(NamedTuple):
    """Rows in partitions, those of every user in one, and the users of each.

    `check` returns a table made of the partitions, which raises where what was promised of them,
    or said of all of them, does not hold.
    """

    frame: Any
    listed: Any
    check: Callable[[Any], Any]


def leave_candidates(
    rows: Partitions, list_users: Callable[..., Any], truth: Any, columns: Columns, options: Options
) -> Partitions:
    """Return the partitions without the rows that are no candidates."""
    excluded = None
    if options.exclude is not None:
        check_pair_columns(columns, options)
        excluded = _read_once(tasks.read_exclude, columns, options)
    sides = {"exclude": excluded, "truth": truth if options.is_condensed else None}
    items = {
        other: list_items(rows.frame, side, columns, other)
        for other, side in sides.items()
        if side is not None
    }
    if not items:
        return rows
    frame, listed, keep_promise = rows
    left = frame.map_partitions(tasks.leave_candidates, *sides.values(), columns, meta=frame._meta)
    of_all = in_one(listed), *sides.values(), columns, *items.values()

    def check(table: Any) -> Any:
        kept = keep_promise(table)
        return kept.map_partitions(tasks.check_candidates, *of_all, meta=kept._meta)

    return Partitions(left, left.map_partitions(list_users, meta=listed._meta), check)


def check_named(name: str, value: object) -> None:
    """Raise where Dask has no name for a task with this value."""
    try:
        tokenize(value, ensure_deterministic=True)
    except (RuntimeError, TypeError, ValueError) as error:
        raise RecframeError(
            f"{name} must be a value that Dask can name a task by, found {quote(value)}"
        ) from error


def open_truth(columns: Columns, options: Options) -> Any:
    """Return what truth says in one cell, to be read once by a worker; None without truth."""
    if not options.has_truth:
        return None
    check_truth_columns(columns, options)
    return _read_once(tasks.read_truth, columns, options)


def _read_once(read: Callable[..., pd.DataFrame], columns: Columns, options: Options) -> Any:
    """Return in one cell what a task reads of a frame beside the rows, or of its file."""
    # A task needs a frame, whatever is in it.
    one = dd.from_pandas(pd.DataFrame({"": [0]}))  # type: ignore[no-untyped-call]  # Dask has none
    return one.map_partitions(read, columns, options, meta=in_cells([None]))


def list_items(frame: Any, beside: Any, columns: Columns, other: str = "truth") -> Any:
    """Return what the items of every partition have in common with those of what is beside."""
    meta = in_cells([None])
    return in_one(frame.map_partitions(tasks.list_items, beside, columns, other, meta=meta))


def in_one(frame: Any) -> Any:
    """Return a frame of one partition."""
    return frame.repartition(npartitions=1)
