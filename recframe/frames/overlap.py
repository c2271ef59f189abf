"""Overlap: the pairs and ids that a frame shares with truth or exclude, and how others differ."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, NoReturn
from unicodedata import normalize

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError, option, quote
from recframe.frames.ids import Ids, Users, as_users, list_levels, read_text
from recframe.frames.kinds import (
    NUMBERS,
    TEXT,
    ZONED_TIMES,
    check_comparable,
    find_kinds,
    show_sides,
)
from recframe.frames.words import is_time
from recframe.kernel.grouping import Groups, SortedPairs, combine
from recframe.kernel.threads import Array
from recframe.notes import is_noting, note
from recframe.options import POSITIONS

N_EXAMPLES = 1 << 16  # ids of either side among which it is looked for why none is common
Difference = tuple[str, str, Callable[[Any], Any], str]
# What ids of a kind may differ in and mean the same: what takes it away, and that in pandas.
DIFFERENCES: list[Difference] = [
    (TEXT, "blanks at the ends", str.strip, ".str.strip()"),
    (TEXT, "case", str.casefold, ".str.casefold()"),
    (TEXT, "the form of Unicode", partial(normalize, "NFKC"), ".str.normalize('NFKC')"),
    (TEXT, "'.0' at the end", lambda id_: id_.removesuffix(".0"), ".str.removesuffix('.0')"),
    (TEXT, "zeros at the front", lambda id_: id_.lstrip("0"), ".str.lstrip('0')"),
    (NUMBERS, "precision", lambda id_: np.float32(id_) if id_ % 1 else id_, ".astype('float32')"),
    (ZONED_TIMES, "time zones", lambda id_: id_.replace(tzinfo=None), ".dt.tz_localize(None)"),
    ("tuple", "types", lambda id_: tuple(map(str, id_)), ".map(lambda id: tuple(map(str, id)))"),
]


class Items(NamedTuple):
    """What the items of a part of a frame have in common with those of truth, or of exclude.

    `are_common` says whether these have any. `examples` are of those that they have not, where that
    is none.
    """

    are_common: bool
    examples: pd.Index[Any] = pd.Index([])


class UserCounts(NamedTuple):
    """How many users are in both sides, only in the frame and only in truth."""

    n_users: tuple[int, ...]
    examples: tuple[list[Any], ...]
    difference: str
    answer: str = "truth"

    def check(self) -> None:
        """Raise where a side has users that the other has not."""
        n_both, *n_only = self.n_users
        only = [
            f"{n:,} only in {side} (such as {quote(users[0])})"
            for n, side, users in zip(n_only, ("the frame", "truth"), self.examples, strict=True)
            if n
        ]
        if only:
            raise RecframeError(
                f"population: users differ between the frame and truth, found {n_both:,} in both, "
                f"{' and '.join(only)}{self.difference}; pass {option('population', 'both')} for "
                f"the users that both have, {option('population', 'truth')} for those of truth "
                "(with an empty list where they have no row), "
                f"{option('population', 'rows')} for those of the frame (with nothing relevant "
                f"where truth has none), or {option('population', 'all')} for either",
                {"population": self.answer},
            )


def add_counts(parts: Sequence[UserCounts]) -> UserCounts:
    """Return the counts of all users, given those of parts that have different ones."""
    n_users, examples, differences, answers = zip(*parts, strict=True)
    answer = "both" if "both" in answers else "truth"
    longest = (max(some, key=len) for some in zip(*examples, strict=True))
    totals = map(sum, zip(*n_users, strict=True))
    return UserCounts(tuple(totals), tuple(longest), max(differences, key=len), answer)


class Overlap:
    """Which users of truth, or of exclude, are in the parts noted, and whether any item is."""

    def __init__(self, users: pd.Index[Any], items: pd.Index[Any], other: str = "truth"):
        self.other_users, self.other_items, self.other = users, items, other
        self.is_listed = np.zeros(len(users), bool)
        self.users = users[:0]  # examples of those of the frame
        self.unknown = users[:0]  # examples of those that the other side has not
        self.items = Items(False)
        self.attrs: Mapping[Any, Any] = {}  # of the other side's frame
        self.n_users = 0  # of the frame
        self.is_cut = False  # where the other side has further users

    def find(
        self, pairs: Pairs, users: Users, item: Ids, rows: SortedPairs, attrs: Mapping[Any, Any]
    ) -> Matches:
        """Return where the other side's pairs are in a part of a frame, and take note of the part.

        The part is given by its users, its items, its pairs and the attributes of its frame.
        """
        for role, n in attrs.get(POSITIONS, {}).items():
            is_user, size = role == "user", self.attrs.get(POSITIONS, {}).get(role, 0)
            others = self.other_users if is_user else self.other_items
            ids, positions = users.ids if is_user else item.distinct(), pd.RangeIndex(n)
            beyond = others[positions.get_indexer(plain(others)) < 0][:1].tolist()
            beyond += range(n, size)[:1]
            # Ids of the frame that are beyond the matrix have replaced its positions.
            if beyond and (positions.get_indexer(plain(ids)) >= 0).all():
                raise RecframeError(
                    f"{role}: ids of the frame are positions in a matrix, from 0 to {n - 1:,}, and "
                    f"those of {self.other} go beyond (such as {quote(beyond[0])}); pass {role}s= "
                    "with the ids of all positions where the frame is made, such as "
                    f"recframe.from_matrix(scores, {role}s=ids)"
                )
        position = match(pairs.users.ids, users.ids, "user", self.other)
        place = match(pairs.item.ids, item.ids, "item", self.other)
        user, common, unknown = position[pairs.users.groups.codes], place[place >= 0], pd.Index([])
        matches = Matches(user, *rows.match(user, place[pairs.item.codes]))
        # As a rule some pair is found. Ids may be in no row.
        are_common = len(matches.row) > 0 or bool(np.isin(common, item.codes).any())
        if not are_common:
            is_unknown = np.bincount(item.codes, minlength=len(item.ids))[: len(item.ids)] > 0
            is_unknown[common] = False
            unknown = item.restore(np.flatnonzero(is_unknown)[:N_EXAMPLES])
        self.note(users.ids, [Items(are_common, unknown)], position)
        if is_noting(mistakes=True) and self.other == "truth":
            near = np.full(len(place), -1)
            near[place < 0] = _match_near(pairs.item.ids[place < 0], item.ids)
            if (near >= 0).any():  # pairs that have a row, but for how the item is written
                pair, _ = rows.match(user, near[pairs.item.codes])
                note(truth_pairs_written_differently=len(np.unique(pair)))
        return matches

    def note(
        self, users: pd.Index[Any], items: Sequence[Items], position: Array | None = None
    ) -> None:
        """Take note of users, of where each of the other side is among these, or -1, and of items.

        The items are those of parts.
        """
        if position is None:
            position = match(self.other_users, users, "user", self.other)
        found = position[position >= 0]
        self.is_listed |= position >= 0
        self.n_users += len(users)
        self.users = self.users if len(self.users) else users[:N_EXAMPLES]
        if len(found) < len(users) and len(self.unknown) < N_EXAMPLES:
            unknown = users[np.bincount(found, minlength=len(users)) == 0]
            unknown = append(self.unknown, unknown) if len(self.unknown) else unknown
            self.unknown = unknown[:N_EXAMPLES]
        for part in items:
            are_common, known = self.items
            if len(known) == 0:  # whose dtype is none
                known = part.examples
            elif len(part.examples) > 0 and len(known) < N_EXAMPLES:
                known = known.append(part.examples).unique()[:N_EXAMPLES]
            self.items = Items(are_common or part.are_common, known)

    def count_users(self) -> UserCounts:
        """Return how many users the parts noted and the other side have, and each alone."""
        n_both = int(np.count_nonzero(self.is_listed))
        first = int(np.append(self.is_listed, False).argmin())
        n_users = n_both, self.n_users - n_both, len(self.is_listed) - n_both
        examples = list(self.unknown[:1]), list(self.other_users[first : first + 1])
        others = self.other_users[~self.is_listed]
        difference = _find_difference(self.unknown, others, self.other)
        for at in [at for at, name in enumerate(others.names) if is_time(name)]:
            name, times = others.names[at], others.get_level_values(at).unique()
            listed = self.other_users[self.is_listed].get_level_values(at)
            if not (gone := times.difference(listed, sort=False)).empty:
                # Days that rows were not read of: to count them as 0 is nobody's default.
                difference += f"; truth alone has {len(gone):,} {name} (such as {quote(gone[0])})"
                return UserCounts(n_users, examples, difference, "both")
        return UserCounts(n_users, examples, difference)

    def note_near(self, users: Groups) -> None:
        """Note how many pairs are of users who are in no part noted, but for how they are written.

        `users` are those of the pairs.
        """
        if not self.is_listed.all():
            known = self.other_users[self.is_listed].append(self.unknown)
            near = _match_near(self.other_users[~self.is_listed], known)
            absent = np.flatnonzero(~self.is_listed)[near >= 0]
            note(truth_pairs_written_differently=int(np.isin(users.codes, absent).sum()))

    def note_left_out(self, population: str) -> None:
        """Note how many users are in the frame alone, or in truth alone, and are left out."""
        n_listed = int(np.count_nonzero(self.is_listed))
        if population in ("both", "truth"):
            note(users_only_in_frame=self.n_users - n_listed)
        if population in ("both", "rows"):
            note(users_only_in_truth=len(self.is_listed) - n_listed)

    def check(self) -> None:
        """Raise where no user of the other side was in any part, or no item and it looks odd."""
        users, others = self.users, self.other_users
        if not self.is_listed.any():
            is_known = len(users) == self.n_users and not self.is_cut
            if is_known and users.nlevels == others.nlevels > 1:
                for at, name in enumerate(map(quote, users.names)):
                    ids, other_ids = (of.get_level_values(at).unique() for of in (users, others))
                    if not (match(other_ids, ids, f"user={name}", self.other) >= 0).any():
                        self._refuse(f"user={name}", ids, other_ids)
            self._refuse("user", users, others)
        if self.items.are_common:
            return
        items, other_items = self.items.examples, self.other_items
        # A model may find nothing, which its values show. What excludes nothing they do not show.
        is_odd = self.other == "exclude" and min(self.n_users, len(others)) > 1
        if is_odd or _find_difference(items, other_items, self.other):
            self._refuse("item", items, other_items)

    def _refuse(self, role: str, ids: pd.Index[Any], other_ids: pd.Index[Any]) -> NoReturn:
        """Refuse a frame and another that have no user, or no item, in common."""
        sides = ids, other_ids, self.other
        raise RecframeError(
            f"{role}: no {role.removeprefix('user=')} is in both the frame and {self.other}; "
            f"{show_sides(*sides)}{_find_difference(*sides)}"
        )


class Matches(NamedTuple):
    """Where pairs are in a frame: for each match a pair, and a row of the frame that has it.

    `user` is the user of each pair among those of the frame, -1 for none.
    """

    user: Array
    pair: Array
    row: Array

    def are_known(self, n_users: int) -> Array:
        """Return which users of the frame have a pair."""
        return np.asarray(np.bincount(self.user + 1, minlength=n_users + 1)[1:] > 0)

    def are_listed(self) -> Array:
        """Return which pairs some row has."""
        is_listed = np.zeros(len(self.user), bool)
        is_listed[self.pair] = True
        return is_listed


class Pairs(NamedTuple):
    """Pairs of a user and an item, which may repeat; each of the item's ids is in some."""

    users: Users
    item: Ids


def _find_difference(ids: pd.Index[Any], other_ids: pd.Index[Any], other: str) -> str:
    """Return what makes ids of two frames differ, as a sentence part; "" if it is not seen."""
    kinds = find_kinds(ids).keys() | find_kinds(other_ids).keys()
    differences = [one for one in DIFFERENCES if kinds == {one[0]}]
    of_frame = {_simplify(id_, differences): id_ for id_ in islice(ids, N_EXAMPLES)}
    for id_ in islice(other_ids, N_EXAMPLES):
        if (same := of_frame.get(_simplify(id_, differences))) is not None:
            for one in list(differences):  # left out, unless the two then differ
                fewer = [difference for difference in differences if difference is not one]
                if _simplify(same, fewer) == _simplify(id_, fewer):
                    differences = fewer
            _, what, _, how = zip(*differences, strict=True)
            pair = f"{quote(same)} in the frame is {quote(id_)} in {other}"
            return (
                f"; they differ in {' and '.join(what)} ({pair}): convert both with {''.join(how)}"
            )
    return ""


def _match_near(ids: pd.Index[Any], among: pd.Index[Any]) -> Array:
    """Return where each id is among others but for case, blanks or zeros, -1 for nowhere.

    Where these tell the others apart, they are no mistake.
    """
    nowhere = np.full(len(ids), -1)
    text, others = _simplify_text(ids), _simplify_text(among)
    if text is None or others is None:
        return nowhere
    position = np.asarray(pc.index_in(text, value_set=others).fill_null(-1))
    return position if position.max() >= 0 and len(others.unique()) == len(others) else nowhere


def _simplify_text(ids: pd.Index[Any]) -> pa.Array | None:
    """Return ids of text without case, blanks at the ends and zeros at the front."""
    text = None if ids.nlevels > 1 or len(ids) == 0 else read_text(plain(ids))
    if text is None:
        return None
    simple = pc.utf8_ltrim(pc.utf8_lower(pc.utf8_trim_whitespace(text)), "0")
    return simple.cast(pa.large_string())


def _simplify(id_: Any, differences: Sequence[Difference]) -> Any:
    """Return an id without what ids may differ in and mean the same."""
    for _, _, simplify, _ in differences:
        id_ = simplify(id_)
    return id_


def match(ids: pd.Index[Any], among: pd.Index[Any], role: str, other: str = "truth") -> Array:
    """Return the position of each id of the other side among those of the frame, -1 for none.

    The ids are distinct on either side. Those of two kinds, as numbers and text, are refused.
    """
    if isinstance(ids, pd.MultiIndex):  # each level is matched by itself
        codes: list[Array] = []
        of_frame: Any = among
        for own, own_codes, level, level_codes in zip(
            ids.levels, ids.codes, of_frame.levels, of_frame.codes, strict=True
        ):
            place = match(own, level, f"user={quote(level.name)}", other)
            codes.append(np.append(level_codes, place[own_codes]))
        is_known = np.min(codes, axis=0) >= 0
        numbers = pd.Index(combine(*(code[is_known] for code in codes)))
        position, is_own = np.full(len(ids), -1), is_known[len(among) :]
        position[is_own] = numbers[: len(among)].get_indexer(numbers[len(among) :])
        return position
    if not all(isinstance(of.dtype, np.dtype) and of.dtype.kind in "iu" for of in (ids, among)):
        check_comparable(ids, among, role, other)
        ids, among = plain(ids), plain(among)
        text, others = read_text(ids), read_text(among)
        if text is not None and others is not None and text.type == others.type:
            return np.asarray(pc.index_in(text, value_set=others).fill_null(-1), np.int64)
    return np.asarray(among.get_indexer(ids))


def append(ids: pd.Index[Any], others: pd.Index[Any]) -> pd.Index[Any]:
    """Return ids followed by others, one or more, of the dtype of the first.

    Where that does not hold them all, it is that of the categories, or what pandas finds for both.
    """
    if isinstance(ids, pd.MultiIndex):
        return as_users(list(map(append, list_levels(ids), list_levels(others))))
    codes, distinct = pd.factorize(others)
    dtype: Any = ids.dtype
    same = _cast(pd.Index(distinct, dtype=distinct.dtype), dtype)
    if same is not None:
        both: pd.Index[Any] = ids.append(same.take(codes).rename(ids.name)).astype(dtype)
        return both
    if isinstance(dtype, pd.CategoricalDtype):
        return append(ids.astype(dtype.categories.dtype), others)
    values: list[Hashable] = [*ids.tolist(), *others.tolist()]
    try:
        return pd.Index(values, name=ids.name, tupleize_cols=False)
    except (OverflowError, UnicodeError):  # beside others, what a dtype does not hold
        return pd.Index(values, dtype=object, name=ids.name, tupleize_cols=False)


def _cast(ids: pd.Index[Any], dtype: Any) -> pd.Index[Any] | None:
    """Return distinct ids in a dtype, or None where it does not hold them."""
    if isinstance(dtype, pd.CategoricalDtype):
        codes = match(ids, dtype.categories, "user")
        if codes.min() < 0:
            return None
        return pd.Index(pd.Categorical.from_codes(codes, dtype=dtype))
    try:
        same = plain(ids).astype(dtype)
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        return None  # each is what some dtype raises for a value it does not hold
    kept = same.is_unique and np.array_equal(match(ids, same, "user"), np.arange(len(ids)))
    return same if kept else None


def plain(ids: pd.Index[Any]) -> pd.Index[Any]:
    """Return ids, none null, out of what stores them: categories, nullable and Arrow arrays."""
    dtype = ids.dtype
    if isinstance(ids, pd.CategoricalIndex):
        return plain(ids.categories.take(ids.codes))
    numpy_dtype = getattr(dtype, "numpy_dtype", None)
    if numpy_dtype is not None and np.dtype(numpy_dtype).kind in "iufb":
        ids = pd.Index(ids.to_numpy(numpy_dtype))
    elif isinstance(dtype, pd.ArrowDtype):
        ids = ids.astype(object)
    return ids
