"""From a frame to arrays, the only way in: labels and dtypes above, arrays below."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import nullcontext, suppress
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.frames.columns import Columns
from recframe.frames.duplicates import (
    Folded,
    check_model,
    check_one_list,
    check_same_relevance,
    fold_pairs,
    repeated_error,
)
from recframe.frames.features import read_feature
from recframe.frames.id_kinds import rank_as_text
from recframe.frames.id_matching import unwrap_ids
from recframe.frames.ids import Ids, Users, encode, find_users
from recframe.frames.list_frames import check_no_texts
from recframe.frames.names import get_column
from recframe.frames.values import (
    Gains,
    Scores,
    find_missing,
    find_nulls,
    read_gains,
    read_relevance,
    read_scores,
)
from recframe.kernel.grouping import SortedPairs, combine, take_rows
from recframe.kernel.ranking import Rankings
from recframe.kernel.threads import Array
from recframe.notes import note
from recframe.options import Options


class Judged(NamedTuple):
    """Whether each row is judged, relevant or not, and the number of judged items without a row."""

    rows: Array
    n_others: Array  # each user's items that truth judges as not relevant and that have no row


class Interactions(NamedTuple):
    """The columns of a frame in their roles, as arrays.

    Parameters
    ----------
    frame, columns : DataFrame, Columns
        The frame, and the labels of its columns in their roles.
    rows : ndarray of shape (n_rows,), int, or None
        The positions of the rows in the frame, ascending; None for all rows.
    users : Users
        The users of the rows.
    relevant : ndarray of shape (n_rows,), bool
        Whether each row is relevant.
    scores : dict
        Label of each score column: (values, is_ranked). The highest value is the best: ascending
        scores are turned round. `is_ranked` is None if every row is ranked.
    n_unlisted : ndarray of shape (n_users,), int
        The relevant items of each user that have no row.
    is_judged : bool
        Whether relevance is known; if not, no row is relevant.
    grades : ndarray of shape (n_rows,) or None
        The relevance of each row for nDCG; None: 1 if relevant.
    features : dict of ndarray of shape (n_rows,) or (n_rows, n_dimensions), float
        The values, or vectors, of the columns that metrics such as ``mean(column)`` read.
    items : Ids, default None
        The items of the rows, None if they are not read.
    n_repeated : int, default 0
        The number of rows that repeat the user and item of a row before, if this was counted.
    folded : Folded, default None
        The rows before the rows of each pair were folded into one, if they were.
    find_gains, find_judged, find_unlisted : callable, default None
        Return the gains, or the judged rows, that truth gives, or the user and the item of each
        relevant item without a row.
    pairs : SortedPairs, default None
        The sorted pairs of the rows, for truth to look up, if they were sorted.
    """

    frame: pd.DataFrame
    columns: Columns
    rows: Array | None
    users: Users
    relevant: Array
    scores: Scores
    n_unlisted: Array
    is_judged: bool = False
    grades: Array | None = None
    features: Mapping[tuple[str, str], Array] = MappingProxyType({})
    items: Ids | None = None
    n_repeated: int = 0
    folded: Folded | None = None
    find_gains: Callable[[str], Gains] | None = None
    find_judged: Callable[[], Judged] | None = None
    find_unlisted: Callable[[], tuple[Array, pd.Index[Any]]] | None = None
    pairs: SortedPairs | None = None

    def gains(self, gain: str) -> Gains | None:
        """Return the gains of rows, and of items without a row, for nDCG; None: 1 if relevant."""
        if self.find_gains is not None:
            return self.find_gains(gain)
        if self.grades is None:
            return None
        gains = read_gains(self.grades, self.columns.relevant, gain)
        return Gains(gains, np.empty(0, np.int64), np.empty(0))

    def judged(self) -> Judged:
        """Return the rows and items that truth judges; without truth, rows with a relevance."""
        if self.find_judged is not None:
            return self.find_judged()
        label = self.columns.relevant
        judged = np.full(len(self.relevant), label is None)
        if label is not None:
            rows, row = self.find_rows()
            judged[row[~find_nulls(get_column(self.frame, label, rows))]] = True
        return Judged(judged, np.zeros(len(self.users.ids), np.int64))

    def rankings(self, score: Hashable, options: Options) -> Rankings:
        """Return the input of a `Ranker` for one score; the grades are 0 and 1."""
        values, is_ranked = self.scores[score]
        tie_order = None
        if options.tie_rule.by_item:  # Items are ordered as text, the last one lowest.
            items = self.items.used()  # type: ignore[union-attr]  # The tie rule reads items.
            rank = rank_as_text(items.ids, self.columns.item)
            tie_order = take_rows((len(rank) - 1 - rank).astype(np.int32), items.codes)
        grades = self.relevant.view(np.uint8)
        return Rankings(self.users.groups, values, grades, is_ranked, tie_order)

    def get_column(self, label: Hashable) -> pd.Series:
        """Return a column of the rows."""
        return get_column(self.frame, label, self.rows)

    def take(self, rows: Array) -> Interactions:
        """Return interactions with some of their rows, at ascending positions."""
        grades, items = self.grades, self.items
        positions = np.arange(len(self.relevant)) if self.rows is None else self.rows
        return self._replace(
            rows=positions[rows],
            users=self.users._replace(groups=self.users.groups.take(rows)),
            relevant=self.relevant[rows],
            scores={
                label: (values[rows], None if is_ranked is None else is_ranked[rows])
                for label, (values, is_ranked) in self.scores.items()
            },
            items=None if items is None else items._replace(codes=items.codes[rows]),
            grades=None if grades is None else grades[rows],
            features={key: column[rows] for key, column in self.features.items()},
            pairs=None,
        )

    def keep_users(self, are_kept: Array) -> Interactions:
        """Return interactions with some of their users, without the rows of the others."""
        ids, groups = self.users
        users = Users(ids[are_kept], groups.keep(are_kept))
        kept = self.take(np.flatnonzero(are_kept[groups.codes]))
        return kept._replace(users=users, n_unlisted=self.n_unlisted[are_kept], folded=None)

    def find_rows(self) -> tuple[Array, Array]:
        """Return the positions in the frame of the rows read, and the row that each became."""
        if self.folded is not None:
            return self.folded.rows, self.folded.pair
        positions = np.arange(len(self.relevant))
        return positions if self.rows is None else self.rows, positions

    def find_ranked(self, score: Hashable) -> tuple[Array, Array]:
        """Return the positions in the frame of rows that a score ranks, and the row each became.

        If the rows of a pair were folded into one, only rows with its score stand for it.
        """
        rows, pair = self.find_rows()
        values, is_ranked = self.scores[score]
        if self.folded is not None:
            unfolded, is_ranked = self.folded.scores[score]
            has_best = unfolded == values[pair]
            is_ranked = has_best if is_ranked is None else has_best & is_ranked
        return (rows, pair) if is_ranked is None else (rows[is_ranked], pair[is_ranked])


def read_interactions(
    frame: pd.DataFrame, columns: Columns, options: Options, *, lenient: bool = False
) -> Interactions:
    """Return the arrays of a frame's columns; `missing` decides about nulls.

    With truth no row is relevant yet: `companions.read_judged` looks them up. If reading is
    lenient, rows with a null user or relevance are left out, rows with a null score are not ranked,
    and a relevance column that cannot be read is ignored.
    """
    rows, users = _read_users(frame, columns, options, lenient=lenient)
    groups, models, items = users.groups, None, None
    relevant, grades, is_judged = np.zeros(groups.n_rows, bool), None, False
    if columns.relevant is not None:
        with suppress(RecframeError) if lenient else nullcontext():
            column = get_column(frame, columns.relevant, rows)
            relevant, grades = read_relevance(column, options, of_grades=columns.of_grades)
            is_judged = True
    # Models share one column and its direction.
    directions = zip(columns.score_columns, columns.ascending, strict=False)
    scores = {
        label: read_scores(get_column(frame, label, rows), groups, options, lenient, is_low_best)
        for label, is_low_best in directions
    }
    if columns.model is not None:
        scores, models = _split_by_model(scores, get_column(frame, columns.model, rows), columns)
    features = {
        key: read_feature(get_column(frame, label, rows), key[0], scores, options)
        for key, label in columns.features
    }
    if columns.item is not None and (lenient or options.has_truth or options.duplicates != "keep"):
        items = encode(get_column(frame, columns.item, rows), "item", lenient=lenient)
        if len(users.ids) == groups.n_rows and not lenient:
            check_no_texts(items.ids, columns.item, "df" if columns.scores else "truth")
    n_unlisted = np.zeros(len(users.ids), np.int64)
    interactions = Interactions(frame, columns, rows, users, relevant, scores, n_unlisted)
    interactions = interactions._replace(
        is_judged=is_judged, grades=grades, features=features, items=items
    )
    settled = _settle_repeats(interactions, options, models, lenient=lenient)
    for label in () if lenient else columns.doubtful:
        with suppress(TypeError):  # Cells such as lists cannot be compared.
            check_model(interactions, label, models)
    if columns.list_number is not None and not lenient:
        check_one_list(interactions, models)
    return settled


def find_empty_lists(frame: pd.DataFrame, columns: Columns) -> Array | None:
    """Return which rows stand for lists without items, None if no row does."""
    if not columns.has_empty or columns.item is None:
        return None
    labels = [columns.item, *columns.score_columns]
    is_empty = np.all([find_nulls(get_column(frame, label)) for label in labels], axis=0)
    return is_empty if is_empty.any() else None


def _read_users(
    frame: pd.DataFrame, columns: Columns, options: Options, *, lenient: bool
) -> tuple[Array | None, Users]:
    """Return the rows that have an item, None for all rows, and the users of rows and of lists.

    A list without items has no row.
    """
    rows, missing = None, list[Array]()
    if options.missing == "drop" or lenient:
        labels: list[Hashable | None]
        labels = [*columns.users, columns.relevant if options.null_relevance == "raise" else None]
        if options.missing == "drop":
            has_pairs = options.has_truth or options.duplicates != "keep"
            labels += [columns.item if has_pairs else None, columns.model]
            labels += dict(columns.features).values()
            scores = zip(columns.score_columns, columns.ascending, strict=False)
            missing = [find_missing(get_column(frame, one), options, low) for one, low in scores]
        rows = complete_rows(frame, labels, missing)
    if options.missing == "drop" and columns.scores:  # Rows of truth have no score.
        n_kept = len(frame) if rows is None else len(rows)
        note(rows_dropped=len(frame) - n_kept, rows_read=len(frame))
    is_empty = find_empty_lists(frame, columns)
    if is_empty is None:
        return rows, find_users(frame, columns.users, rows)
    kept = np.arange(len(frame)) if rows is None else np.union1d(rows, np.flatnonzero(is_empty))
    users, with_items = find_users(frame, columns.users, kept), np.flatnonzero(~is_empty[kept])
    return kept[with_items], users._replace(groups=users.groups.take(with_items))


def _split_by_model(scores: Scores, column: pd.Series, columns: Columns) -> tuple[Scores, Array]:
    """Return the scores of each model, which ranks its rows only, and the model of each row.

    The model is a position among the scores, -1 for a value that is no model.
    """
    codes, values = pd.factorize(column)
    names = pd.Index(columns.scores, tupleize_cols=False)
    position = names.get_indexer(unwrap_ids(pd.Index(values, tupleize_cols=False)))
    models, of_models = np.append(position, -1)[codes], {}
    ((score, is_ranked),) = scores.values()
    for number, name in enumerate(columns.scores):
        is_of_model = models == number
        of_models[name] = score, is_of_model if is_ranked is None else is_of_model & is_ranked
    return of_models, models


def _settle_repeats(
    interactions: Interactions, options: Options, models: Array | None, *, lenient: bool
) -> Interactions:
    """Apply `duplicates` to rows that repeat the user and item of another row.

    `models` are the models of rows, if there are several: a pair then becomes one row, which each
    model may rank.
    """
    if interactions.items is None:
        return interactions
    groups, codes = interactions.users.groups, interactions.items.codes
    columns, is_checked = interactions.columns, options.duplicates == "raise" and not lenient
    # Truth is looked up in the sorted pairs of the frame; those of truth itself are not kept.
    pairs = SortedPairs(groups, codes, is_kept=options.has_truth and len(columns.scores) > 0)
    of_pairs = repeats = pairs.find_repeats()
    if models is not None:
        repeats = SortedPairs(groups, combine(codes, models + 1)).find_repeats()
    interactions = interactions._replace(
        n_repeated=len(repeats.rows), pairs=pairs if options.has_truth else None
    )
    if len(repeats.rows) and is_checked:
        rows, _ = interactions.find_rows()
        raise repeated_error(interactions.frame, columns, rows, repeats, options)
    if len(of_pairs.rows) == 0:
        return interactions
    if models is not None and is_checked and columns.relevant is not None:
        relevance = interactions.get_column(columns.relevant)
        nulls = find_nulls(relevance)  # Nulls that are read at all count as 0.
        check_same_relevance(relevance.mask(nulls, 0) if nulls.any() else relevance, of_pairs)
    if models is None and options.duplicates in ("raise", "keep"):
        return interactions
    return fold_pairs(interactions, of_pairs, is_best=options.duplicates != "first")


def complete_rows(
    frame: pd.DataFrame, labels: Iterable[Hashable | None], missing: Iterable[Array] = ()
) -> Array | None:
    """Return the rows without a null in these columns and not `missing`, None for all rows."""
    flags = [find_nulls(get_column(frame, label)) for label in labels if label is not None]
    flags = [rows for rows in (*flags, *missing) if rows.any()]
    return np.flatnonzero(~np.any(flags, axis=0)) if flags else None
