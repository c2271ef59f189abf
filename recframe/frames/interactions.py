"""Interactions: from a frame to arrays. Labels and dtypes above, arrays below; the only way in."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from contextlib import nullcontext, suppress
from typing import NamedTuple

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, option, quote
from recframe.frames.columns import Columns
from recframe.frames.duplicates import Folded, check_same_relevance, rank_apart, repeated_error
from recframe.frames.ids import Ids, Users, encode, find_users
from recframe.frames.kinds import rank_as_text
from recframe.frames.names import get_column
from recframe.frames.overlap import plain
from recframe.frames.values import (
    Gains,
    Scores,
    find_missing,
    find_nulls,
    has_nulls,
    read_gains,
    read_relevance,
    read_scores,
    read_values,
)
from recframe.kernel.grouping import Repeats, SortedPairs, combine, take_rows
from recframe.kernel.ranking import Rankings
from recframe.kernel.threads import Array
from recframe.notes import note
from recframe.options import Options


class Judged(NamedTuple):
    """Whether truth holds each row, relevant or not.

    `n_others` are each user's items that truth holds, not relevant and not among these rows.
    """

    rows: Array
    n_others: Array


class Interactions(NamedTuple):
    """The columns of a frame in their roles, as arrays.

    Parameters
    ----------
    frame, columns : DataFrame, Columns
        The frame, and the labels of its columns in their roles.
    rows : ndarray of shape (n_rows,), int, or None
        The positions in the frame of the rows kept, ascending; None where all are.
    users : Users
        The users of the rows.
    relevant : ndarray of shape (n_rows,), bool
        Whether each row is relevant.
    scores : dict
        Label of each score column: (values, is_ranked). The highest value is the best: those of
        ascending scores are turned round. `is_ranked` is None where every row is ranked.
    items : Ids or None
        The items of the rows, where they are read.
    n_unlisted : ndarray of shape (n_users,), int
        Relevant items of each user that have no row.
    is_judged : bool
        Whether it is known which rows are relevant; where not, none is.
    grades : ndarray of shape (n_rows,), default None
        The relevance that nDCG reads of each row; None: 1 where relevant.
    n_repeated : int, default 0
        How many rows of the frame repeat the user and item of one before, as far as looked for.
    folded : Folded, default None
        The rows before those of one pair became one, where they did.
    averaged : tuple of ndarray of shape (n_rows,), float
        The values of the columns that metrics are of.
    find_gains, find_judged : callable, default None
        Return what truth says of the rows, and of items without one: gains and who is judged.
    pairs : SortedPairs, default None
        The pairs of the rows, for truth to look up, where they are sorted.
    """

    frame: pd.DataFrame
    columns: Columns
    rows: Array | None
    users: Users
    relevant: Array
    scores: Scores
    items: Ids | None
    n_unlisted: Array
    is_judged: bool
    grades: Array | None = None
    n_repeated: int = 0
    folded: Folded | None = None
    averaged: tuple[Array, ...] = ()
    find_gains: Callable[[str], Gains] | None = None
    find_judged: Callable[[], Judged] | None = None
    pairs: SortedPairs | None = None

    def gains(self, gain: str) -> Gains | None:
        """Return what rows, and items without one, add to nDCG; None: 1 where relevant."""
        if self.find_gains is not None:
            return self.find_gains(gain)
        if self.grades is None:
            return None
        gains = read_gains(self.grades, self.columns.relevant, gain)
        return Gains(gains, np.empty(0, np.int64), np.empty(0))

    def judged(self) -> Judged:
        """Return what truth holds; without truth that is every row."""
        if self.find_judged is not None:
            return self.find_judged()
        n_rows, n_users = len(self.relevant), len(self.users.ids)
        return Judged(np.ones(n_rows, bool), np.zeros(n_users, np.int64))

    def rankings(self, score: Hashable, options: Options, grades: Array | None = None) -> Rankings:
        """Return what ranks the rows of every user by one score column; grades are 0 and 1."""
        values, is_ranked = self.scores[score]
        tie_order = None
        if options.tie_rule.by_item:  # by the item as text, the last one lowest
            items = self.items.used()  # type: ignore[union-attr]  # which the rule has read
            rank = rank_as_text(items.ids, self.columns.item)
            tie_order = take_rows((len(rank) - 1 - rank).astype(np.int32), items.codes)
        grades = self.relevant.view(np.uint8) if grades is None else grades
        return Rankings(self.users.groups, values, grades, is_ranked, tie_order)

    def get_column(self, label: Hashable) -> pd.Series:
        """Return a column of the rows kept."""
        return get_column(self.frame, label, self.rows)

    def take(self, rows: Array) -> Interactions:
        """Return interactions with these of their rows, which ascend."""
        grades, items = self.grades, self.items
        kept = np.arange(len(self.relevant)) if self.rows is None else self.rows
        return self._replace(
            rows=kept[rows],
            users=self.users._replace(groups=self.users.groups.take(rows)),
            relevant=self.relevant[rows],
            scores={
                label: (values[rows], None if is_ranked is None else is_ranked[rows])
                for label, (values, is_ranked) in self.scores.items()
            },
            items=None if items is None else items._replace(codes=items.codes[rows]),
            grades=None if grades is None else grades[rows],
            averaged=tuple(column[rows] for column in self.averaged),
            pairs=None,
        )

    def keep_users(self, are_kept: Array) -> Interactions:
        """Return interactions of some of their users, without the rows of the others."""
        ids, groups, _ = self.users
        users = Users(ids[are_kept], groups.keep(are_kept))
        kept = self.take(np.flatnonzero(are_kept[groups.codes]))
        return kept._replace(users=users, n_unlisted=self.n_unlisted[are_kept], folded=None)

    def find_rows(self) -> tuple[Array, Array]:
        """Return the positions in the frame of the rows read, and where each is among these."""
        if self.folded is not None:
            return self.folded.rows, self.folded.pair
        place = np.arange(len(self.relevant))
        return place if self.rows is None else self.rows, place

    def find_ranked(self, score: Hashable) -> tuple[Array, Array]:
        """Return the positions in the frame of the rows ranked by a score, and where each is.

        Of a pair's rows that were made one, those with its score stand for it.
        """
        rows, place = self.find_rows()
        values, stands = self.scores[score]
        if self.folded is not None:
            own, stands = self.folded.scores[score]
            has_best = own == values[place]
            stands = has_best if stands is None else has_best & stands
        return (rows, place) if stands is None else (rows[stands], place[stands])


def read_interactions(
    frame: pd.DataFrame, columns: Columns, options: Options, *, lenient: bool = False
) -> Interactions:
    """Return the arrays of a frame's columns, nulls treated as `missing` says.

    With truth no row is relevant yet: `companions.read_judged` looks them up. Where reading is
    lenient, rows with a null user or relevance are left out, those with a null score not ranked,
    and a relevance column that cannot be read says nothing.
    """
    drops, averages = options.missing == "drop", [label for _, label in columns.averaged]
    reads_items = options.has_truth or options.duplicates != "keep"
    relevance = columns.relevant if options.null_relevance == "raise" else None
    complete = [*columns.users, relevance] if drops or lenient else []
    own = columns.score_columns  # of several models one, which have its direction
    directions = list(zip(own, columns.ascending[: len(own)], strict=True))
    missing: list[Array] = []
    if drops:
        complete += [columns.item if reads_items else None, columns.model, *averages]
        missing = [find_missing(get_column(frame, one), options, low) for one, low in directions]
    rows = complete_rows(frame, complete, missing)
    if drops and columns.scores:  # which truth has none of
        n_dropped = 0 if rows is None else len(frame) - len(rows)
        note(rows_dropped=n_dropped, rows_read=len(frame))
    users = find_users(frame, columns.users, rows)
    relevant, grades = None, None
    if columns.relevant is not None:
        with suppress(RecframeError) if lenient else nullcontext():
            relevant, grades = read_relevance(get_column(frame, columns.relevant, rows), options)
    scores: Scores = {}
    for label, is_low_best in directions:
        column = get_column(frame, label, rows)
        scores[label] = read_scores(column, users.groups, options, lenient, is_low_best)
    models = None
    if columns.model is not None:
        scores, models = _part_scores(scores, get_column(frame, columns.model, rows), columns)
    averaged = [read_values(get_column(frame, label, rows), scores, options) for label in averages]
    items = None
    if columns.item is not None and (reads_items or lenient):
        items = encode(get_column(frame, columns.item, rows), "item", lenient=lenient)
    n_rows = len(frame) if rows is None else len(rows)
    interactions = Interactions(
        frame,
        columns,
        rows,
        users,
        np.zeros(n_rows, bool) if relevant is None else relevant,
        scores,
        items,
        np.zeros(len(users.ids), np.int64),
        relevant is not None,
        grades,
        averaged=tuple(averaged),
    )
    settled = interactions
    if items is not None:
        settled = _settle_repeats(interactions, options, models, lenient=lenient)
    for label in () if lenient else columns.doubtful:
        with suppress(TypeError):  # lists and the like, which cannot be compared
            _check_model(interactions, label)
    return settled


def _part_scores(scores: Scores, column: pd.Series, columns: Columns) -> tuple[Scores, Array]:
    """Return the scores of each model, which ranks its own rows, and the number of each row's.

    It is the model's position among the scores, -1 for none of them.
    """
    codes, found = pd.factorize(column)
    names = pd.Index(columns.scores, tupleize_cols=False)
    place = names.get_indexer(plain(pd.Index(found, tupleize_cols=False)))
    models, of_models = np.append(place, -1)[codes], {}
    ((values, is_ranked),) = scores.values()
    for number, name in enumerate(columns.scores):
        is_own = models == number
        of_models[name] = values, is_own if is_ranked is None else is_own & is_ranked
    return of_models, models


def _check_model(interactions: Interactions, label: Hashable) -> None:
    """Raise where a column that tells models apart varies in the rows of a user."""
    users, column = interactions.users, interactions.get_column(label).array
    each = pd.DataFrame({"user": users.groups.codes, "model": column}).drop_duplicates()
    several = each[each["user"].duplicated(keep=False)]
    if len(several):
        user = several["user"].iloc[0]
        one, other, *_ = several["model"][several["user"] == user].tolist()
        shown = f"{quote(one)} and {quote(other)} for user {quote(users.ids[[user]].tolist()[0])}"
        raise RecframeError(
            f"the column {quote(label)} has several values in the rows of "
            f"{several['user'].nunique():,} of {len(users.ids):,} users (such as {shown}), as "
            f"several rankings of a user have: {rank_apart(label, interactions.columns)}; else "
            f"pass {option('model', None)}",
            {"model": label if interactions.columns.item is not None else None},
        )


def _settle_repeats(
    interactions: Interactions, options: Options, models: Array | None, *, lenient: bool
) -> Interactions:
    """Return what `duplicates` makes of rows that repeat the user and item of another.

    Of several models, given the one of each row, a pair becomes one row that all may rank.
    """
    groups, codes = interactions.users.groups, interactions.items.codes  # type: ignore[union-attr]  # which have been read
    columns, is_checked = interactions.columns, options.duplicates == "raise" and not lenient
    # Truth, which has no score, is looked up in the pairs of the frame, nothing in its own.
    pairs = SortedPairs(groups, codes, is_kept=options.has_truth and len(columns.scores) > 0)
    of_pairs = repeats = pairs.find_repeats()
    if models is not None:
        repeats = SortedPairs(groups, combine(codes, models + 1)).find_repeats()
    interactions = interactions._replace(
        n_repeated=len(repeats.rows), pairs=pairs if options.has_truth else None
    )
    if len(repeats.rows) and is_checked:
        raise repeated_error(interactions.frame, columns, interactions.find_rows()[0], repeats)
    if len(of_pairs.rows) == 0:
        return interactions
    if models is not None and is_checked and columns.relevant is not None:
        relevance = interactions.get_column(columns.relevant)
        nulls = find_nulls(relevance)  # which count as 0, where there are any
        check_same_relevance(relevance.mask(nulls, 0) if nulls.any() else relevance, of_pairs)
    if models is None and options.duplicates in ("raise", "keep"):
        return interactions
    return _fold(interactions, of_pairs, is_best=options.duplicates != "first")


def _fold(interactions: Interactions, repeats: Repeats, *, is_best: bool) -> Interactions:
    """Return interactions with one row for each pair: its first row, or with the best of all."""
    is_first = np.ones(len(interactions.relevant), bool)
    is_first[repeats.rows] = False
    first = np.flatnonzero(is_first)
    if not is_best:
        return interactions.take(first)
    place = np.cumsum(is_first) - 1
    place[repeats.rows] = place[repeats.first]
    folded = Folded(interactions.find_rows()[0], place, interactions.scores)
    averaged = zip(interactions.averaged, interactions.columns.averaged, strict=True)
    grades = interactions.grades
    best = interactions._replace(
        folded=folded,
        relevant=_fold_flags(interactions.relevant, repeats),
        scores={
            label: _fold_scores(*values, repeats) for label, values in interactions.scores.items()
        },
        averaged=tuple(_fold_values(values, repeats, label) for values, (_, label) in averaged),
        grades=None if grades is None else _fold_scores(grades, None, repeats)[0],
    )
    return best.take(first)


def _fold_scores(
    values: Array, is_ranked: Array | None, repeats: Repeats
) -> tuple[Array, Array | None]:
    """Return scores of rows, and which are ranked, where a first row has the best of its pair."""
    rows, first = repeats
    values = values.copy()
    if is_ranked is not None:
        # What is not ranked must not be the best: it becomes the lowest value there is.
        values[~is_ranked] = -np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).min
        is_ranked = _fold_flags(is_ranked, repeats)
    np.maximum.at(values, first, values[rows])
    return values, is_ranked


def _fold_flags(flags: Array, repeats: Repeats) -> Array:
    """Return flags of rows, where a first row has one if any row of its pair has."""
    folded = flags.copy()
    folded[repeats.first[flags[repeats.rows]]] = True
    return folded


def _fold_values(values: Array, repeats: Repeats, label: Hashable) -> Array:
    """Return values of rows that are the same in all rows of a pair, or raise; null is none."""
    rows, first = repeats
    highest, lowest = values.copy(), values.copy()
    np.fmax.at(highest, first, values[rows])
    np.fmin.at(lowest, first, values[rows])
    differs = np.flatnonzero(highest > lowest)
    if len(differs):
        found = f"{lowest[differs[0]]:g} and {highest[differs[0]]:g}"
        raise RecframeError(
            f"mean column={quote(label)}: a user and item that duplicates='max' makes one row "
            f"must have one value, found {len(differs)} that have several (such as {found}); "
            f"pass {option('duplicates', 'first')}, or give each pair one value"
        )
    return highest


def complete_rows(
    frame: pd.DataFrame, labels: Iterable[Hashable | None], missing: Iterable[Array] = ()
) -> Array | None:
    """Return the rows in which no column of these labels is null, None where all are such."""
    columns = [get_column(frame, label) for label in labels if label is not None]
    flags = [find_nulls(column) for column in columns if has_nulls(column)]
    flags += [rows for rows in missing if rows.any()]
    return np.flatnonzero(~np.any(flags, axis=0)) if flags else None
