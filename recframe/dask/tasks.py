"""What Dask's workers run: functions of partitions, found there by name."""

from collections.abc import Callable, Hashable
from typing import Any

import pandas as pd

from recframe import partitions
from recframe.analysis.ranks import is_user
from recframe.calls import public
from recframe.frames.columns import Columns
from recframe.frames.interactions import read_interactions
from recframe.frames.tables import in_cells, sort_table
from recframe.methods import Make, MakeTable
from recframe.options import Options
from recframe.partitions import Lookups

NOTHING = Lookups(None, None)


@public
def read_lookups(_: pd.DataFrame, columns: Columns, options: Options) -> pd.DataFrame:
    """Return what rows are looked up in, in one cell."""
    return in_cells([partitions.read_lookups(columns, options)])


@public
def in_cell(
    frame: pd.DataFrame, lookups: pd.DataFrame | None, make: Callable[..., Any]
) -> pd.DataFrame:
    """Return what is made of a partition and what its rows are looked up in, in one cell."""
    return in_cells([make(frame, _open(lookups))])


def get_made(results: pd.DataFrame) -> pd.DataFrame:
    """Return the table that is made of a partition."""
    made: pd.DataFrame = results["cell"].iloc[0].made
    return made


def leave_made(results: pd.DataFrame) -> pd.DataFrame:
    """Return what is to be checked of a partition, without the table."""
    return in_cells([results["cell"].iloc[0]._replace(made=None)])


@public
def check(
    results: pd.DataFrame, lookups: pd.DataFrame | None, columns: Columns, options: Options
) -> pd.DataFrame:
    """Return, in one cell, the judge that has taken note of all partitions, or raise."""
    parts = results["cell"].tolist()
    return in_cells([partitions.check_partitions(parts, _open(lookups), columns, options)])


def give_checked(made: pd.DataFrame, _: pd.DataFrame) -> pd.DataFrame:
    """Return the table of a partition, when all have been checked."""
    return made


@public
def make_absent(
    checked: pd.DataFrame, empty: pd.DataFrame, make: Make, columns: Columns, options: Options
) -> pd.DataFrame:
    """Return what is made of the users of truth that no partition has, given one without rows.

    Raise if no user, or no item, of truth is in any partition.
    """
    judge = checked["cell"].iloc[0]
    return make(judge.judge_absent(read_interactions(empty, columns, options)), options)


@public
def describe(results: pd.DataFrame, lookups: pd.DataFrame | None, **roles: Any) -> pd.DataFrame:
    """Return the description that the figures of all partitions add up to."""
    return partitions.describe_partitions(results["cell"].tolist(), _open(lookups), **roles)


@public
def make_of_all(per_user: pd.DataFrame, make_table: MakeTable) -> pd.DataFrame:
    """Return what is made of the per-user table of all partitions, users sorted."""
    # Sums depend on the order of what is summed: in this one they are those of pandas.
    return make_table(sort_table(per_user))


def rows_of_user(frame: pd.DataFrame, user: Hashable, labels: list[Hashable]) -> pd.DataFrame:
    """Return the rows of one user."""
    return frame[is_user(frame, user, labels)]


def _open(lookups: pd.DataFrame | None) -> Lookups:
    """Return what rows are looked up in, if anything."""
    return NOTHING if lookups is None else lookups["cell"].iloc[0]
