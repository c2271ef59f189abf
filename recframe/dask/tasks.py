"""What Dask's workers run: functions of partitions of their own module, found there by name."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import pandas as pd

from recframe.analysis.describe import count_absent, has_duplicates, read_described, total_figures
from recframe.analysis.inspect import is_user
from recframe.errors import RecframeError
from recframe.frames.columns import Columns
from recframe.frames.graded import needs_gains
from recframe.frames.interactions import Interactions
from recframe.frames.per_user import measure_table
from recframe.frames.truth import open_judge, read_part
from recframe.frames.user_groups import order_of_ids
from recframe.metrics.names import Metric
from recframe.options import Options


def evaluate_part(
    frame: pd.DataFrame, columns: Columns, metrics: list[Metric], options: Options
) -> pd.DataFrame:
    """Return metrics of every user of a partition."""
    graded = needs_gains(metrics, options)
    return measure_table(_read(frame, columns, options, graded=graded), metrics, options)


def evaluate_absent(
    listed: pd.DataFrame,
    empty: Interactions,
    columns: Columns,
    metrics: list[Metric],
    options: Options,
) -> pd.DataFrame:
    """Return metrics of the users of truth that no partition lists."""
    judge = open_judge(columns, options, graded=needs_gains(metrics, options))
    judge.note(pd.Index(listed["user"]))
    return measure_table(judge.add_absent(empty), metrics, options)


def rank_part(
    frame: pd.DataFrame,
    columns: Columns,
    options: Options,
    make_table: Callable[[pd.DataFrame, Interactions], pd.DataFrame],
) -> pd.DataFrame:
    """Return the table of rows that is made of a partition and its arrays."""
    return make_table(frame, _read(frame, columns, options, graded=False))


def refuse_other_truth(
    listed: pd.DataFrame,
    empty: Interactions,
    table: pd.DataFrame,
    columns: Columns,
    options: Options,
) -> pd.DataFrame:
    """Return a table without rows, or raise where no partition lists a user of truth."""
    judge = open_judge(columns, options)
    judge.note(pd.Index(listed["user"]))
    judge.add_absent(empty)
    return table


def describe_parts(
    counts: pd.DataFrame,
    listed: pd.DataFrame | None = None,
    *,
    empty: pd.DataFrame,
    columns: Columns,
    k: int,
    options: Options,
) -> pd.DataFrame:
    """Return the description that the counts of all partitions add up to.

    With the users whom they list, those of truth who are not among them count too.
    """
    if listed is not None and not has_duplicates(counts):
        absent = count_absent(pd.Index(listed["user"]), empty, columns, k, options)
        counts = pd.concat([counts, absent], ignore_index=True)
    return total_figures(counts, columns.scores, k)


def sort_users_of(
    per_user: pd.DataFrame, make_table: Callable[[pd.DataFrame], pd.DataFrame]
) -> pd.DataFrame:
    """Return the table that is made of the per-user table of all partitions, users sorted.

    Sums depend on the order of what is summed: in this one they are those of pandas.
    """
    return make_table(per_user.iloc[order_of_ids(per_user.index)])


def list_users(frame: pd.DataFrame, columns: Columns, options: Options) -> pd.DataFrame:
    """Return the users of a partition; what is wrong with its rows is for others to say."""
    return pd.DataFrame({"user": read_described(frame, columns, options)[1].groups.users})


def rows_of_user(frame: pd.DataFrame, user: Hashable, label: Hashable | None) -> pd.DataFrame:
    """Return the rows of one user."""
    return frame[is_user(frame, user, label)]


def keep_promise(table: pd.DataFrame, n_listed: int, n_users: int) -> pd.DataFrame:
    """Return the table of a partition, or raise where those of all have a user twice."""
    if n_listed != n_users:
        raise RecframeError(
            f"partitioned=True: {n_users} users in all, but the partitions have {n_listed} "
            "together; leave partitioned=True out to have them brought together"
        )
    return table


def _read(frame: pd.DataFrame, columns: Columns, options: Options, *, graded: bool) -> Interactions:
    """Return the arrays of a partition, judged where there is truth."""
    judge = None if columns.item is None else open_judge(columns, options, graded=graded)
    return read_part(frame, columns, options, judge, graded=graded)
