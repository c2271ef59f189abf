"""What Dask's workers run: functions of partitions, found there by name."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from recframe.analysis.describe import count_figures, describe_figures
from recframe.analysis.inspect import is_user
from recframe.calls import public
from recframe.errors import RecframeError, RepeatedPairError
from recframe.frames.columns import Columns, get_column
from recframe.frames.duplicates import advise_blindly
from recframe.frames.ids import as_users
from recframe.frames.interactions import read_interactions
from recframe.frames.judgments import Candidates, read_excluded, read_judgments
from recframe.frames.overlap import find_items
from recframe.frames.tables import in_cells, sort_table
from recframe.frames.truth import Judge
from recframe.methods import Make, MakeTable
from recframe.options import Options


@public
def read_truth(_: pd.DataFrame, columns: Columns, options: Options) -> pd.DataFrame:
    """Return what truth says, in one cell."""
    return in_cells([read_judgments(columns, options)])


@public
def make_partition(
    frame: pd.DataFrame,
    truth: pd.DataFrame | None,
    make: Make,
    columns: Columns,
    options: Options,
    others: list[Hashable],
) -> pd.DataFrame:
    """Return what is made of the rows of a partition, judged where there is truth.

    Its frame has more columns, the others, which may tell rows of one pair apart.
    """
    try:
        interactions = read_interactions(frame, columns, options)
    except RepeatedPairError as error:
        raise RepeatedPairError(f"{error.found}; {advise_blindly(others)}") from error
    if truth is not None:
        is_all = columns.user is None
        interactions = _open_judge(truth, options).judge(interactions, is_all=is_all)
    return make(interactions, options)


@public
def read_exclude(_: pd.DataFrame, columns: Columns, options: Options) -> pd.DataFrame:
    """Return the pairs that are no candidates, in one cell."""
    return in_cells([read_excluded(columns, options)])


@public
def leave_candidates(
    frame: pd.DataFrame,
    excluded: pd.DataFrame | None,
    truth: pd.DataFrame | None,
    columns: Columns,
) -> pd.DataFrame:
    """Return the candidates among the rows of a partition."""
    return _open_candidates(excluded, truth, columns).among(frame)


@public
def check_candidates(
    table: pd.DataFrame,
    listed: pd.DataFrame,
    excluded: pd.DataFrame | None,
    truth: pd.DataFrame | None,
    columns: Columns,
    *items: pd.DataFrame,
) -> pd.DataFrame:
    """Return a table, or raise if no user, or no item, of one of the sides is in any partition."""
    candidates = _open_candidates(excluded, truth, columns)
    candidates.note(read_users(listed), [side["cell"].tolist() for side in items])
    candidates.check()
    return table


def list_items(
    frame: pd.DataFrame, beside: pd.DataFrame, columns: Columns, other: str
) -> pd.DataFrame:
    """Return what items of a partition are common to truth, or to exclude, in one cell."""
    given = beside["cell"].iloc[0]
    item = given.pairs.item if other == "truth" else given.item
    return in_cells([find_items(get_column(frame, columns.item), item, other)])


@public
def make_absent(
    listed: pd.DataFrame,
    items: pd.DataFrame,
    truth: pd.DataFrame,
    make: Make,
    empty: pd.DataFrame,
    columns: Columns,
    options: Options,
) -> pd.DataFrame:
    """Return what is made of the users of truth that no partition lists.

    Raise if no user, or no item, of truth is in any partition.
    """
    judge = _open_judge(truth, options, listed, items)
    return make(judge.judge_absent(read_interactions(empty, columns, options)), options)


@public
def count_partition(
    frame: pd.DataFrame, truth: pd.DataFrame | None, columns: Columns, k: int, options: Options
) -> pd.DataFrame:
    """Return the figures of a partition, in one cell."""
    judge = None if truth is None else _open_judge(truth, options)
    rows = read_interactions(frame, columns, options, lenient=True)
    return in_cells([count_figures(rows, options, k, judge)])


@public
def describe_partitions(
    counts: pd.DataFrame,
    listed: pd.DataFrame | None,
    items: pd.DataFrame | None,
    truth: pd.DataFrame | None,
    empty: pd.DataFrame,
    columns: Columns,
    k: int,
    options: Options,
) -> pd.DataFrame:
    """Return the description that the figures of all partitions add up to.

    With the users `listed` by them, those of truth who are not among these count too.
    """
    judge = None if truth is None else _open_judge(truth, options, listed, items)
    return describe_figures(counts["cell"].tolist(), empty, columns, k, options, judge)


@public
def make_of_all(per_user: pd.DataFrame, make_table: MakeTable) -> pd.DataFrame:
    """Return what is made of the per-user table of all partitions, users sorted."""
    # Sums depend on the order of what is summed: in this one they are those of pandas.
    return make_table(sort_table(per_user))


@public
def list_users(frame: pd.DataFrame, columns: Columns, options: Options) -> pd.DataFrame:
    """Return the users of a partition; what is wrong with its rows is for others to say."""
    users = read_interactions(frame, columns, options, lenient=True).users.ids
    return pd.DataFrame(
        {f"user{number}": users.get_level_values(number) for number in range(users.nlevels)}
    )


def read_users(listed: pd.DataFrame) -> pd.Index[Any]:
    """Return users that are listed."""
    return as_users([pd.Index(ids) for _, ids in listed.items()])


def rows_of_user(frame: pd.DataFrame, user: Hashable, labels: list[Hashable]) -> pd.DataFrame:
    """Return the rows of one user."""
    return frame[is_user(frame, user, labels)]


@public
def keep_promise(table: pd.DataFrame, n_listed: int, n_users: int) -> pd.DataFrame:
    """Return the table of a partition, or raise where those of all have a user twice."""
    if n_listed != n_users:
        raise RecframeError(
            f"partitioned=True: {n_users} users in all, but the partitions have {n_listed} "
            "together; leave partitioned=True out to have them brought together"
        )
    return table


def _open_candidates(
    excluded: pd.DataFrame | None, truth: pd.DataFrame | None, columns: Columns
) -> Candidates:
    """Return what leaves rows out, given what is excluded and, if others are, what is judged."""
    judged = None if truth is None else truth["cell"].iloc[0].pairs
    return Candidates(columns, None if excluded is None else excluded["cell"].iloc[0], judged)


def _open_judge(
    truth: pd.DataFrame,
    options: Options,
    listed: pd.DataFrame | None = None,
    items: pd.DataFrame | None = None,
) -> Judge:
    """Return the judge that holds truth, and has taken note of the users and items listed."""
    judge = Judge(truth["cell"].iloc[0], options)
    if listed is not None and items is not None:
        judge.note(read_users(listed), items["cell"].tolist())
    return judge
