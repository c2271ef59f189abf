"""Judgments: what truth says, read from its frame or file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, RepeatedPairError, quote
from recframe.frames.beside import check_rows, load_frame, naming
from recframe.frames.candidates import Pairs
from recframe.frames.columns import Columns, find_truth_columns, get_column
from recframe.frames.grades import check_no_grades
from recframe.frames.ids import Coded, PairItems, encode
from recframe.frames.interactions import Interactions
from recframe.frames.labels import is_infer
from recframe.frames.reading import read_interactions
from recframe.kernel.rankings import Gains
from recframe.kernel.threads import Array
from recframe.options import Options


class Judgments(NamedTuple):
    """What truth says: distinct pairs of a user and an item.

    Parameters
    ----------
    users : Index
        The distinct users.
    user : ndarray of shape (n_pairs,), int
        The user of each pair, as a position in `users`.
    item, relevant : PairItems of length n_pairs, ndarray of shape (n_pairs,), bool
        The item of each pair, and whether it is relevant.
    find_gains : callable, default None
        Returns what relevant items add to nDCG; None: 1 each.
    find_grades : callable, default None
        Returns the relevance of each pair, as truth has it; None: every pair is relevant.
    """

    users: pd.Index[Any]
    user: Array
    item: PairItems
    relevant: Array
    find_gains: Callable[[], Gains] | None = None
    find_grades: Callable[[], pd.Series] | None = None

    @property
    def pairs(self) -> Pairs:
        """The pairs alone."""
        return Pairs(self.users, self.user, self.item)


def check_truth_columns(columns: Columns, options: Options) -> None:
    """Raise where truth is a frame without the columns that it needs."""
    if isinstance(options.truth, pd.DataFrame):
        with naming("truth"):
            find_truth_columns(options.truth, columns, options)


def read_judgments(columns: Columns, options: Options, *, is_all: bool = True) -> Judgments:
    """Return what truth says, or raise where its rows are not distinct pairs of ids.

    Where it is not all there is, it may have no row.
    """
    truth = load_frame("truth", options.truth)
    with naming("truth"):
        columns = find_truth_columns(truth, columns, options)
        if columns.relevant is None and is_infer(options.relevant):
            check_no_grades(truth, columns)
        if columns.relevant is None and options.min_relevance is not None:
            raise RecframeError(
                "min_relevance needs a column of relevance, found none; pass relevant= its label"
            )
        try:
            rows = read_interactions(truth, columns, replace(options, duplicates="raise"))
        except RepeatedPairError as error:
            labels = columns._replace(relevant=None).labels
            one = f"drop_duplicates({quote(labels)})"
            if columns.relevant is not None:
                one = f"sort_values({quote(columns.relevant)}).{one[:-1]}, keep='last')"
            raise RecframeError(f"{error.found}; make them one, with truth.{one}") from None
        users, offsets = rows.groups.users, rows.groups.offsets
        if is_all:
            check_rows("truth", offsets[-1])
        item = PairItems(get_items(rows), rows.groups.order)
    user = np.repeat(np.arange(len(users)), np.diff(offsets))
    relevant = rows.relevant if rows.is_judged else np.ones(len(user), bool)
    find_grades = partial(_read_grades, rows) if rows.is_judged else None
    return Judgments(users, user, item, relevant, rows.find_gains, find_grades)


def _read_grades(rows: Interactions) -> pd.Series:
    """Return the column of relevance, of the rows kept, in grouped order."""
    grades = get_column(rows.frame, rows.columns.relevant, rows.rows)
    return grades if rows.groups.order is None else grades.iloc[rows.groups.order]


def read_items(interactions: Interactions) -> Coded:
    """Return the items of the rows kept, in grouped order."""
    item = encode(get_items(interactions), "item")
    return item._replace(codes=interactions.groups.in_order(item.codes))


def get_items(interactions: Interactions) -> pd.Series:
    """Return the column of items, of the rows kept."""
    return get_column(interactions.frame, interactions.columns.item, interactions.rows)
