"""The pairs of truth and of exclude, read from a frame or a file."""

from __future__ import annotations

import re
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.errors import (
    DAMAGE,
    Choice,
    RecframeError,
    RepeatedPairError,
    count_of,
    prefix_errors,
    quote,
)
from recframe.frames.columns import Columns, find_companion_columns
from recframe.frames.grades import FIRST_ROWS, LEAST_REPEATED, check_no_grades, list_numbers
from recframe.frames.id_matching import Pairs
from recframe.frames.ids import encode, find_users
from recframe.frames.interactions import Interactions, complete_rows, read_interactions
from recframe.frames.list_frames import make_companion_rows
from recframe.frames.names import find_role, get_column, has_some, is_infer, list_labels, shown
from recframe.frames.splits import check_splits
from recframe.frames.words import has_word, is_of_row
from recframe.kernel.threads import Array
from recframe.options import Duplicates, Options

NEGATIVE_UNJUDGED = ("trec_eval", "ir_measures")  # To these a grade below 0 is no judgment.
NO_ROWS = "there are no rows, so no item is relevant to anyone"
DAY = re.compile(
    r"((19|20)\d\d([-/.]?)(0[1-9]|1[0-2])\3(0[1-9]|[12]\d|3[01])(\.0)?"
    r"|[0-3]?\d[-/. ]([0-3]?\d|[A-Za-z]{3,9})[-/. ](19|20)\d\d)"
    r"(?P<time>[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"
)


class Judgments(NamedTuple):
    """Truth: distinct pairs of a user and an item, and whether each is relevant.

    `rows` are the rows of truth, one for each pair, if truth has a column of relevance; None: every
    pair is relevant. `is_judged` says which pairs count as judged.
    """

    pairs: Pairs
    relevant: Array
    rows: Interactions | None
    is_judged: Array

    def judged_pairs(self) -> Pairs:
        """Return the pairs that count as judged."""
        if self.is_judged.all():  # Each block asks; most truths need no copy.
            return self.pairs
        (users, item), judged = self.pairs, np.flatnonzero(self.is_judged)
        users = users._replace(groups=users.groups.take(judged))
        return Pairs(users, item._replace(codes=item.codes[judged]).used())


def load_frame(name: str, source: Any, options: Options | None = None) -> pd.DataFrame:
    """Return truth or exclude as a frame, or raise if its files cannot be read."""
    if isinstance(source, pd.DataFrame):
        return source
    with prefix_errors(name):
        return make_companion_rows(name, source.read_frame(), options)


def check_given_columns(columns: Columns, options: Options) -> None:
    """Raise if truth or exclude is a frame without the columns that it needs."""
    for name in ("truth", "exclude"):
        if isinstance(frame := getattr(options, name), pd.DataFrame):
            with prefix_errors(name):
                find_companion_columns(name, frame, columns, options)


def read_judgments(columns: Columns, options: Options, *, is_all: bool = True) -> Judgments:
    """Return the pairs of truth, or raise if its rows are not distinct pairs of ids.

    Unless it `is_all` of truth, it may have no row.
    """
    truth = load_frame("truth", options.truth, options)
    with prefix_errors("truth"):
        of_rows, columns = columns, find_companion_columns("truth", truth, columns, options)
        columns = columns._replace(of_grades=of_rows.of_grades)
        check_splits(truth, list_labels(truth, columns.labels), columns, options, of_truth=True)
        for label in find_shared_labels(truth, columns, of_rows, options):
            check_shared_label(label, truth, columns, of_rows)
        if columns.relevant is None and options.min_relevance is not None:
            labels = list_numbers(truth, columns) if is_infer(options.relevant) else []
            label = f"relevant={quote(labels[0])}" if len(labels) == 1 else "relevant= its label"
            one_of = f" ({shown(labels)})" if len(labels) > 1 else ""
            raise RecframeError(
                f"min_relevance needs a column of relevance, but has none. Pass {label}{one_of}, "
                "or leave it out where all are relevant.",
                {"relevant": labels[0] if len(labels) == 1 else Choice(labels)} if labels else {},
            )
        if columns.relevant is None and is_infer(options.relevant):
            check_no_grades(truth, columns, of_rows)
        # Truth without relevance is a set of pairs, and each pair counts once.
        duplicates: Duplicates = "first" if columns.relevant is None else "raise"
        try:
            rows = read_interactions(truth, columns, replace(options, duplicates=duplicates))
        except RepeatedPairError as error:
            _check_items_differ(truth, columns)
            labels = columns._replace(relevant=None).labels
            raise RecframeError(
                f"{error.found}. Keep one row of each, as truth.sort_values("
                f"{quote(columns.relevant)}).drop_duplicates({quote(labels)}, keep='last')."
            ) from None
        if is_all and len(rows.relevant) == 0:
            raise RecframeError(NO_ROWS)
        if rows.n_repeated:
            _check_items_differ(truth, columns)
    pairs = Pairs(rows.users, rows.items.used())  # type: ignore[union-attr]  # truth has items
    is_judged = rows.judged().rows
    if rows.is_judged:
        if options.like in NEGATIVE_UNJUDGED:
            grades = rows.get_column(columns.relevant).astype(float)
            is_judged = is_judged & (rows.relevant | ~(grades < 0).to_numpy())
        return Judgments(pairs, rows.relevant, rows, is_judged)
    return Judgments(pairs, is_judged, None, is_judged)


def _check_items_differ(truth: pd.DataFrame, columns: Columns) -> None:
    """Raise if all rows of truth have one item, although pairs repeat, as in a wrong column."""
    items = get_column(truth, columns.item)
    if len(items) >= LEAST_REPEATED and columns.users and (items == items.iloc[0]).all():
        only = quote(items.iloc[:1].tolist()[0])
        raise RecframeError(
            f"item={quote(columns.item)} must be the column of items, but has {only} in all "
            f"{len(items):,} rows. Pass truth_item= another, or one row of each user."
        )


def read_excluded(columns: Columns, options: Options, *, is_all: bool = True) -> Pairs | None:
    """Return the pairs of exclude, None if it is empty.

    Unless this `is_all` of exclude, an empty part is returned as it is.
    """
    frame = load_frame("exclude", options.exclude)
    with prefix_errors("exclude"):
        columns = find_companion_columns("exclude", frame, columns, options)
        may_drop = options.missing == "drop" or columns.has_empty
        rows = complete_rows(frame, columns.labels) if may_drop else None
        users = find_users(frame, columns.users, rows)
        if is_all and users.groups.n_rows == 0:
            return None
        item = encode(get_column(frame, columns.item, rows), "item")
    return Pairs(users, item.used())


def find_partitioned_columns(
    name: str, frame: pd.DataFrame, columns: Columns, options: Options
) -> Columns:
    """Return the columns of truth or exclude, with the shared labels that each partition checks."""
    found = find_companion_columns(name, frame, columns, options)
    times = find_shared_labels(frame, found, columns, options) if name == "truth" else ()
    return found._replace(of_users=tuple(times))


def find_shared_labels(
    truth: pd.DataFrame, of_truth: Columns, columns: Columns, options: Options
) -> list[Hashable]:
    """Return the labels that truth and the rows share: times, days by their values, and models.

    Parts of items, such as chunk_index, are among them unless the caller names the item.
    """
    if not (of_truth.users and is_infer(options.truth_user)):
        return []
    model, of_rows = columns.model, {*columns.others}
    of_model = {model} if model is not None and has_some(truth, model, columns.scores) else set()
    both = [one for one in list_labels(truth, of_truth.labels) if one in of_rows | of_model]
    times = {one for one in both if has_word(one, "time") and not is_of_row(one)}
    are_named = times | of_model
    if is_infer(options.item) and not has_word(of_truth.item, "part"):
        are_named |= {one for one in both if has_word(one, "part") and find_role(one) is None}
    return [label for label in both if label in are_named or _are_days(get_column(truth, label))]


def _are_days(column: pd.Series) -> bool:
    """Return whether values are dates, or text or numbers of dates, all at one time of the day."""
    with suppress(*DAMAGE):  # Values may be unhashable.
        values = column.iloc[:FIRST_ROWS].dropna().unique()
        days = [DAY.fullmatch(str(value)) for value in values]
        return len({found["time"] for found in days if found}) == 1 and all(days)
    return False


def check_shared_label(
    label: Hashable, truth: pd.DataFrame, of_truth: Columns, columns: Columns
) -> None:
    """Raise if a user's pairs differ in a time or model that the rows have too.

    A time that each item has by itself, such as a year of release, is accepted if items repeat. A
    part, such as a chunk, is accepted then too.
    """
    users = [f"user {number}" for number in range(len(of_truth.users))]
    labels = zip(["shared", "item", *users], [label, of_truth.item, *of_truth.users], strict=True)
    cells = pd.DataFrame({name: get_column(truth, one).array for name, one in labels})
    with suppress(TypeError):  # Reading the ids refuses those that are unhashable.
        of_items = cells.groupby("item", observed=True)["shared"].agg(["size", "nunique"])
        n_of_user = cells.groupby(users, observed=True)["shared"].nunique()
        is_of_item = of_items["nunique"].max() < 2 <= of_items["size"].max()
        if has_word(label, "part"):
            if not is_of_item:
                item, part = quote(columns.item), quote(label)
                raise RecframeError(
                    f"the rows have {part} too, so that an item may be the pair of {item} and "
                    f"{part}. Pass item={item} if items alone are relevant, or make one id in the "
                    f"rows and in truth, as df[{item}] = df[{item}].astype(str) + '#' + "
                    f"df.pop({part}).astype(str)."
                )
        elif n_of_user.max() > 1 and not is_of_item:
            several = n_of_user.index[n_of_user > 1]
            is_renamed = of_truth.users != columns.users
            also = f", truth_user={quote([label, *of_truth.users])}" if is_renamed else ""
            raise RecframeError(  # It has no answers: only the caller knows.
                f"the rows have {quote(label)} too, and it divides the pairs of "
                f"{count_of(len(several), 'user')} (such as {quote(several[:1].tolist()[0])}). "
                f"Pass user={quote([label, *columns.users])}{also} if a pair belongs to the rows "
                f"of one {label}, or truth_user={quote(of_truth.user)} if it belongs to all."
            )
