"""Judgments: the pairs of truth and of exclude, read from a frame or a file."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from recframe.errors import (
    DAMAGE,
    RecframeError,
    RepeatedPairError,
    count_of,
    option,
    option_with,
    quote,
    say_where,
    shorten,
    show_path,
    spell,
)
from recframe.frames.columns import Columns, find_given_columns
from recframe.frames.grades import FIRST_ROWS, check_no_grades
from recframe.frames.ids import encode, find_users
from recframe.frames.interactions import Interactions, complete_rows, read_interactions
from recframe.frames.names import find_role, get_column, is_infer, list_labels
from recframe.frames.overlap import Overlap, Pairs
from recframe.frames.splits import OF_FILES, check_splits, split_files
from recframe.frames.words import is_of_row, is_time
from recframe.kernel.grouping import SortedPairs
from recframe.kernel.threads import Array
from recframe.notes import note
from recframe.options import Duplicates, Options
from recframe.other_tables import find_reader

NEGATIVE_UNJUDGED = ("trec_eval", "ir_measures")  # where a grade below 0 is no judgment
NO_ROWS = "there are no rows, so no item is relevant to anyone"
DAY = re.compile(
    r"((19|20)\d\d([-/.]?)(0[1-9]|1[0-2])\3(0[1-9]|[12]\d|3[01])(\.0)?"
    r"|[0-3]?\d[-/. ]([0-3]?\d|[A-Za-z]{3,9})[-/. ](19|20)\d\d)"
    r"(?P<time>[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"
)


class Judgments(NamedTuple):
    """Truth: distinct pairs of a user and an item, and whether each is relevant.

    `rows` are the rows of truth, one for each pair, where they have relevance; None: every pair is
    relevant. `is_judged` says which pairs count as judged.
    """

    pairs: Pairs
    relevant: Array
    rows: Interactions | None
    is_judged: Array

    def judged_pairs(self) -> Pairs:
        """Return the pairs that count as judged, of all users."""
        if self.is_judged.all():
            return self.pairs
        (users, item), kept = self.pairs, np.flatnonzero(self.is_judged)
        users = users._replace(groups=users.groups.take(kept))
        return Pairs(users, item._replace(codes=item.codes[kept]).used())


def load_frame(name: str, given: Any) -> pd.DataFrame:
    """Return what an option gives as a frame, or raise where its file cannot be read."""
    if isinstance(given, pd.DataFrame):
        return given
    # Which frames that are given do not load.
    from recframe.formats import open_rows
    from recframe.stores import ENVIRONMENT, Placed, without_file
    from recframe.stores.listings import Listings
    from recframe.stores.store import unchanged
    from recframe.stores.tables import open_delta

    path, access = given if isinstance(given, Placed) else (os.fspath(given), ENVIRONMENT)
    listings = Listings(access)
    with naming(name):
        first, *others = listed = listings.find(path)
        if first.log and not others:
            table = open_delta(first.log)
            try:
                return pd.DataFrame(table.to_table().to_pandas())
            except DAMAGE as error:
                said = shorten(str(error).partition("\n")[0])
                raise RecframeError(f"cannot read {show_path(first.log)}: {said}") from error
        listings.check()
        if parts := split_files([] if first.is_given else [one.path for one in listed]):
            frames = [load_frame(name, Placed(one.path, access)) for one in listed]
            both = zip(frames, parts, strict=True)
            return pd.concat([one.assign(**{OF_FILES: part}) for one, part in both])
        store = first.place.store
        rows = None if others else open_rows(first.path, first.place.open_stream)
        if not store.is_here:
            key = listings.place(path).key
            with unchanged(listed), store.reaching(key):
                if store.is_web or first.is_given:
                    return _read_all(rows, first.place.open())
                return _read_all(rows, key, store.filesystem)
        path = without_file(path)
        with unchanged(listed):
            try:
                return _read_all(rows, path)
            except (pa.ArrowException, *DAMAGE) as error:
                is_missing = isinstance(error, FileNotFoundError)  # as a pattern is
                call = "" if rows or is_missing else find_reader(path, quote(path))
                remedy = f"; pass {spell(f'{name}={call}', 'it as a parquet file')}" if call else ""
                said = "no such file" if is_missing else str(error).partition("\n")[0].rstrip(".")
                if not isinstance(error, OSError | ValueError):  # of what it holds for pandas
                    said = f"{type(error).__name__}: {said}"
                raise RecframeError(
                    f"cannot read {show_path(path)}: {shorten(said)}{remedy}"
                ) from error


def _read_all(rows: Any, source: Any, filesystem: Any = None) -> pd.DataFrame:
    """Return rows as a frame, None as those of parquet files."""
    if rows is None:
        frame = pd.read_parquet(source, filesystem=filesystem, page_checksum_verification=True)
        texts = frame.select_dtypes(["string"])
        for label in texts:
            pa.array(texts[label]).validate(full=True)
        return frame
    from recframe.formats import read_whole

    table = read_whole(rows, lambda name: find_role(name) in ("user", "item"))
    return pd.DataFrame(table.to_pandas())


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Say of a refusal which option it is about."""
    try:
        yield
    except RecframeError as error:
        say_where(f"{name}: ", error)
        raise


def check_given_columns(columns: Columns, options: Options) -> None:
    """Raise where truth or exclude is a frame without the columns that it needs."""
    for name in ("truth", "exclude"):
        if isinstance(given := getattr(options, name), pd.DataFrame):
            with naming(name):
                find_given_columns(name, given, columns, options)


def read_judgments(columns: Columns, options: Options, *, is_all: bool = True) -> Judgments:
    """Return what truth says, or raise where its rows are not distinct pairs of ids.

    Where it is not all there is, it may have no row.
    """
    truth = load_frame("truth", options.truth)
    with naming("truth"):
        of_rows, columns = columns, find_given_columns("truth", truth, columns, options)
        check_splits(truth, list_labels(truth, columns.labels), columns, options, of_truth=True)
        for label in find_times(truth, columns, of_rows, options):
            check_time(label, truth, columns, of_rows)
        if columns.relevant is None and options.min_relevance is not None:
            raise RecframeError(
                "min_relevance needs a column of relevance, found none; pass "
                f"{option_with('relevant', 'its label')}, or leave it out where all are relevant"
            )
        if columns.relevant is None and is_infer(options.relevant):
            check_no_grades(truth, columns, of_rows)
        # Without relevance it is a set of pairs, in which each counts once.
        duplicates: Duplicates = "first" if columns.relevant is None else "raise"
        try:
            rows = read_interactions(truth, columns, replace(options, duplicates=duplicates))
        except RepeatedPairError as error:
            labels = columns._replace(relevant=None).labels
            one = f"sort_values({quote(columns.relevant)}).drop_duplicates({quote(labels)}"
            how = spell(f"make them one, with truth.{one}, keep='last')", "keep one row of each")
            raise RecframeError(f"{error.found}; {how}") from None
        if is_all and len(rows.relevant) == 0:
            raise RecframeError(NO_ROWS)
    pairs = Pairs(rows.users, rows.items.used())  # type: ignore[union-attr]  # truth has items
    is_judged = np.ones(len(rows.relevant), bool)
    if rows.is_judged:
        if options.like in NEGATIVE_UNJUDGED:
            grades = rows.get_column(columns.relevant).astype(float)
            is_judged = rows.relevant | ~(grades < 0).to_numpy()
        return Judgments(pairs, rows.relevant, rows, is_judged)
    return Judgments(pairs, is_judged, None, is_judged)


def read_excluded(columns: Columns, options: Options, *, is_all: bool = True) -> Pairs | None:
    """Return the pairs that are no candidates, None where there are none.

    An empty frame excludes nothing, unless it is not all there is.
    """
    if options.exclude is None:
        return None
    frame = load_frame("exclude", options.exclude)
    with naming("exclude"):
        own = find_given_columns("exclude", frame, columns, options)
        rows = complete_rows(frame, own.labels) if options.missing == "drop" else None
        users = find_users(frame, own.users, rows)
        if is_all and users.groups.n_rows == 0:
            return None
        item = encode(get_column(frame, own.item, rows), "item")
    return Pairs(users, item.used())


class Candidates:
    """Leaves rows out of a frame, or of one part after another.

    Those of excluded pairs are left out, and those of no judged pair; None: no row is.
    """

    def __init__(self, columns: Columns, excluded: Pairs | None, judged: Pairs | None) -> None:
        self._columns, self.excluded = columns, excluded
        self._sides = [
            (pairs, Overlap(pairs.users.ids, pairs.item.ids, name))
            for name, pairs in (("exclude", excluded), ("truth", judged))
            if pairs is not None
        ]
        self.overlaps = [overlap for _, overlap in self._sides]  # with the frames, of each side

    def among(self, frame: pd.DataFrame, *, is_all: bool = False) -> pd.DataFrame:
        """Return the rows of a frame that are candidates; those with a null id are left to others.

        Raise, where the frame `is_all` there is, if it has no user or no item of one of the sides.
        """
        if not self._sides:
            return frame
        labels, item = self._columns.users, self._columns.item
        rows = complete_rows(frame, (*labels, item))
        users, ids = find_users(frame, labels, rows), get_column(frame, item, rows)
        items, is_out = encode(ids, "item"), np.zeros(len(ids), bool)
        sorted_pairs = SortedPairs(users.groups, items.codes)
        for pairs, overlap in self._sides:
            matches = overlap.find(pairs, users, items, sorted_pairs, frame.attrs)
            is_found = np.zeros(len(ids), bool)
            is_found[matches.row] = True
            is_own = is_found != (overlap.other == "truth")
            name = "unjudged" if overlap.other == "truth" else "excluded"
            note(**{f"rows_{name}": int(np.count_nonzero(is_own & ~is_out))})
            is_out |= is_own
        note(rows_looked_up=len(ids))
        if is_all:
            self.check()
        if not is_out.any():
            return frame
        is_left = np.ones(len(frame), bool)
        is_left[is_out.nonzero()[0] if rows is None else rows[is_out]] = False
        return frame.iloc[np.flatnonzero(is_left)]

    def check(self) -> None:
        """Raise if no user, or no item, of one of the sides was in any frame."""
        for overlap in self.overlaps:
            overlap.check()


def find_parted_columns(
    name: str, given: pd.DataFrame, columns: Columns, options: Options
) -> Columns:
    """Return the columns of truth or exclude that are parted, with times that each part checks."""
    own = find_given_columns(name, given, columns, options)
    times = find_times(given, own, columns, options) if name == "truth" else ()
    return own._replace(of_users=tuple(times))


def find_times(
    truth: pd.DataFrame, own: Columns, columns: Columns, options: Options
) -> list[Hashable]:
    """Return the columns of times that truth and the rows have, by their names or as days."""
    if not (own.users and is_infer(options.truth_user)):
        return []
    both = [label for label in list_labels(truth, own.labels) if label in columns.others]
    are_named = {label: is_time(label) and not is_of_row(label) for label in both}
    return [label for label in both if are_named[label] or _are_days(get_column(truth, label))]


def _are_days(column: pd.Series) -> bool:
    """Return whether values are dates, texts or numbers of them, all of one time of the day."""
    with suppress(*DAMAGE):  # of values that no set holds
        values = column.iloc[:FIRST_ROWS].dropna().unique()
        days = [DAY.fullmatch(str(value)) for value in values]
        return len({found["time"] for found in days if found}) == 1 and all(days)
    return False


def check_time(label: Hashable, truth: pd.DataFrame, own: Columns, columns: Columns) -> None:
    """Raise where a time that rows have too parts a user's pairs, as it may part the rows.

    It parts none where each item has its own, such as a year of release.
    """
    users = [f"user {number}" for number in range(len(own.users))]
    labels = zip(["time", "item", *users], [label, own.item, *own.users], strict=True)
    cells = pd.DataFrame({name: get_column(truth, one).array for name, one in labels})
    with suppress(TypeError):  # ids that no set holds are refused where they are read
        n_of_item = cells.groupby("item", observed=True)["time"].nunique()
        n_of_user = cells.groupby(users, observed=True)["time"].nunique()
        if n_of_user.max() > 1 and n_of_item.max() > 1:
            parted = n_of_user.index[n_of_user > 1]
            others = {"truth_user": [label, *own.users]} if own.users != columns.users else {}
            by_time = option("user", [label, *columns.users], **others)
            raise RecframeError(
                f"the rows have {quote(label)} too, and it parts the pairs of "
                f"{count_of(len(parted), 'user')} (such as {quote(parted[:1].tolist()[0])}); "
                f"pass {by_time} if a pair belongs to the rows of one {label}, or "
                f"{option('truth_user', own.user)} if it belongs to all"
            )  # neither of which is an answer to paste
