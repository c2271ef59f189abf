"""The pairs and ids that a frame shares with truth or exclude, and the differences of other ids."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError, quote
from recframe.frames.id_kinds import (
    N_EXAMPLES,
    check_comparable,
    find_difference,
    find_shapes,
    show_sides,
)
from recframe.frames.ids import Ids, Users, as_users, list_levels, look_up_ids, read_text
from recframe.frames.words import has_word
from recframe.kernel.grouping import Groups, SortedPairs, combine
from recframe.kernel.threads import Array
from recframe.notes import is_noting, note
from recframe.options import POSITIONS

FEW_ITEMS = 100  # distinct items of exclude, of which the frame may have none


class Items(NamedTuple):
    """Whether a part of a frame shares an item with truth or exclude.

    `examples` are items of the part that truth or exclude lacks, if no item is shared.
    """

    are_common: bool
    examples: pd.Index[Any] = pd.Index([])


class UserCounts(NamedTuple):
    """How many users are in the frame and in truth, only in the frame, and only in truth."""

    n_users: tuple[int, ...]
    examples: tuple[list[Any], ...]
    difference: str
    answer: str = "truth"


def check_same_users(parts: Sequence[UserCounts]) -> None:
    """Raise if the frame or truth has users that the other lacks; parts have different users."""
    n_users, of_parts, differences, answers = zip(*parts, strict=True)
    n_both, *n_only = map(sum, zip(*n_users, strict=True))
    examples = (max(some, key=len) for some in zip(*of_parts, strict=True))
    only = [
        f"{n:,} only in {side} (such as {quote(users[0])})"
        for n, side, users in zip(n_only, ("the frame", "truth"), examples, strict=True)
        if n
    ]
    if only:
        raise RecframeError(
            f"population: users differ between the frame and truth: {n_both:,} in both, "
            f"{' and '.join(only)}{max(differences, key=len)}. Pass population='both' to "
            "count users of both, population='truth' those of truth (an empty list if they "
            "have no row), population='rows' those of the frame, or population='all' all "
            "users.",
            # If ids are written differently, no choice gives the values that are meant.
            {"population": "both" if "both" in answers else "truth"} if all(answers) else {},
        )


class Overlap:
    """The users, and whether any item, of truth or exclude that are in the parts of a frame.

    Parameters
    ----------
    users, items : Index
        The ids in truth or exclude.
    other : str, default "truth"
        The name of the companion: "truth" or "exclude".
    """

    def __init__(self, users: pd.Index[Any], items: pd.Index[Any], other: str = "truth"):
        self.other_users, self.other_items, self.other = users, items, other
        self.is_listed = np.zeros(len(users), bool)
        self.users = users[:0]  # examples of users of the frame
        self.unknown = users[:0]  # examples of users that the companion lacks
        self.items = Items(False)
        self.attrs: Mapping[Any, Any] = {}  # attributes of the companion's frame
        self.n_users = 0  # users of the frame
        self.is_cut = False  # whether the companion has further users

    def find(
        self, pairs: Pairs, users: Users, item: Ids, rows: SortedPairs, attrs: Mapping[Any, Any]
    ) -> Matches:
        """Return the rows of a part of a frame that have pairs of the companion, and note the part.

        `users`, `item`, `rows` and `attrs` are the users, items, pairs and attributes of the part.
        """
        self._check_positions(users, item, attrs)
        position = match(pairs.users.ids, users.ids, "user", self.other)
        item_position = match(pairs.item.ids, item.ids, "item", self.other)
        user = position[pairs.users.groups.codes]
        matches = Matches(user, *rows.match(user, item_position[pairs.item.codes]))
        # Usually a pair matches. If none does, only ids that are in a row may count.
        are_common = len(matches.row) > 0 or bool(np.isin(item_position, item.codes).any())
        unknown = pd.Index([]) if are_common else item.distinct()[:N_EXAMPLES]
        self.note(users.ids, Items(are_common, unknown), position)
        if is_noting(mistakes=True):
            n_near = _count_near(matches, pairs, users, item, rows, item_position < 0)
            note(**{f"{self.other}_pairs_written_differently": n_near})
        return matches

    def _check_positions(self, users: Users, item: Ids, attrs: Mapping[Any, Any]) -> None:
        """Raise if ids of a part are positions in a matrix, and ids of the companion are not."""
        for role, n in attrs.get(POSITIONS, {}).items():
            is_user, size = role == "user", self.attrs.get(POSITIONS, {}).get(role, 0)
            others = self.other_users if is_user else self.other_items
            ids, positions = users.ids if is_user else item.distinct(), pd.RangeIndex(n)
            beyond = others[positions.get_indexer(unwrap_ids(others)) < 0][:1].tolist()
            beyond += range(n, size)[:1]
            # If the frame has an id beyond the matrix, its ids are no longer positions.
            if beyond and (positions.get_indexer(unwrap_ids(ids)) >= 0).all():
                raise RecframeError(
                    f"{role}: ids of the frame are positions in a matrix, from 0 to {n - 1:,}, and "
                    f"those of {self.other} go beyond (such as {quote(beyond[0])}). Pass {role}s= "
                    "with the ids of all positions where the frame is made, such as "
                    f"recframe.from_matrix(scores, {role}s=ids)."
                )

    def note(self, users: pd.Index[Any], items: Items, position: Array | None = None) -> None:
        """Note the users and items of a part.

        `position` is the position of each of the companion's users among the users of the part, -1
        for none. If it is None, it is computed.
        """
        if position is None:
            position = match(self.other_users, users, "user", self.other)
        is_listed = position >= 0
        self.is_listed |= is_listed
        self.n_users += len(users)
        self.users = self.users if len(self.users) else users[:N_EXAMPLES]
        if is_listed.sum() < len(users) and len(self.unknown) < N_EXAMPLES:
            unknown = users[np.bincount(position[is_listed], minlength=len(users)) == 0]
            unknown = append(self.unknown, unknown) if len(self.unknown) else unknown
            self.unknown = unknown[:N_EXAMPLES]
        are_common, known = self.items
        if len(known) == 0:  # An empty index has no dtype to append to.
            known = items.examples
        elif len(items.examples) > 0 and len(known) < N_EXAMPLES:
            known = known.append(items.examples).unique()[:N_EXAMPLES]
        self.items = Items(are_common or items.are_common, known)

    def count_users(self) -> UserCounts:
        """Return how many users the parts and the companion share, and how many each has alone."""
        n_both = int(np.count_nonzero(self.is_listed))
        first = int(np.append(self.is_listed, False).argmin())
        n_users = n_both, self.n_users - n_both, len(self.is_listed) - n_both
        examples = list(self.unknown[:1]), list(self.other_users[first : first + 1])
        others = self.other_users[~self.is_listed]
        difference = find_difference(self.unknown, others, self.other)
        if not difference:  # The frame may have an id in both spellings.
            listed = self.other_users[self.is_listed]
            near = _match_near_users(others, listed)
            sides = listed[near[near >= 0]], others[near >= 0]
            difference = find_difference(*sides, self.other)
        if difference:
            return UserCounts(n_users, examples, difference, "")
        for at in [at for at, name in enumerate(others.names) if has_word(name, "time")]:
            name, times = others.names[at], others.get_level_values(at).unique()
            listed = self.other_users[self.is_listed].get_level_values(at)
            if not (missing := times.difference(listed, sort=False)).empty:
                # Rows of these days were not read, so the answer must not count their users as 0.
                example = quote(missing[0])
                difference += f"; truth alone has {len(missing):,} {name} (such as {example})"
                return UserCounts(n_users, examples, difference, "both")
        return UserCounts(n_users, examples, difference)

    def note_apart(self, users: Groups, population: str) -> None:
        """Note how many users only in the frame, or only in truth, `population` leaves out.

        Note too how many pairs of truth have a user that only differently written ids keep out of
        all parts. `users` are the users of the pairs.
        """
        if not self.is_listed.all():
            known = self.other_users[self.is_listed].append(self.unknown)
            near = _match_near_users(self.other_users[~self.is_listed], known)
            absent = np.flatnonzero(~self.is_listed)[near >= 0]
            note(truth_pairs_written_differently=int(np.isin(users.codes, absent).sum()))
        n_listed = int(np.count_nonzero(self.is_listed))
        if population in ("both", "truth"):
            note(users_only_in_frame=self.n_users - n_listed)
        if population in ("both", "rows"):
            note(users_only_in_truth=len(self.is_listed) - n_listed)

    def check(self) -> None:
        """Raise if no part has a user of the companion, or none an item and this looks wrong."""
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
        # Values show that a model has no hit. They do not show that exclude removes nothing.
        are_several = min(self.n_users, len(others)) > 1
        is_unseen = self.other == "exclude" and are_several
        if 1 < len(other_items) < FEW_ITEMS:  # Few seen items may be none of those ranked.
            is_unseen &= find_shapes(items).isdisjoint(find_shapes(other_items))
        if is_unseen or find_difference(items, other_items, self.other):
            self._refuse("item", items, other_items)
        if are_several and len(items):
            pair = " and ".join(quote(min(of.tolist(), key=str)) for of in (items, other_items))
            note(**{f"no_item_shared:{self.other} (such as {pair})": 1})

    def _refuse(self, role: str, ids: pd.Index[Any], other_ids: pd.Index[Any]) -> NoReturn:
        """Refuse a frame and a companion that share no user, or no item."""
        sides = ids, other_ids, self.other
        raise RecframeError(
            f"{role}: no {role.removeprefix('user=')} is in both the frame and {self.other}; "
            f"{show_sides(*sides)}{find_difference(*sides)}"
        )


class Matches(NamedTuple):
    """The matches of pairs in a frame: a pair, and the row of the frame that has it.

    `user` is the position of each pair's user among the users of the frame, -1 for none.
    """

    user: Array
    pair: Array
    row: Array

    def are_known(self, n_users: int) -> Array:
        """Return for each user of the frame whether a pair has this user."""
        return np.asarray(np.bincount(self.user + 1, minlength=n_users + 1)[1:] > 0)

    def are_listed(self) -> Array:
        """Return for each pair whether a row has it."""
        is_listed = np.zeros(len(self.user), bool)
        is_listed[self.pair] = True
        return is_listed


class Pairs(NamedTuple):
    """Pairs of a user and an item, which may repeat; each id of `item` is in a pair."""

    users: Users
    item: Ids


def _match_near_users(users: pd.Index[Any], among: pd.Index[Any]) -> Array:
    """Return the position of each simplified user among the other simplified users, -1 for none.

    If two of the others are equal once simplified, their difference is no mistake, and no user
    matches.
    """
    text, others = _simplify_ids(users), _simplify_ids(among)
    if text is None or others is None or len(others.unique()) < len(others):
        return np.full(len(users), -1)
    return np.asarray(pc.index_in(text, value_set=others).fill_null(-1))


def _count_near(
    matches: Matches, pairs: Pairs, users: Users, item: Ids, rows: SortedPairs, is_unknown: Array
) -> int:
    """Return how many pairs would have a row if their items were written as the user's are.

    `is_unknown` says which items of pairs the rows lack. A user whose rows have an item in several
    spellings tells them apart.
    """
    others = _simplify_ids(item.ids)
    if others is None:
        return 0
    if len(others.unique()) < len(others):  # Some users may have another spelling than others.
        first = np.asarray(pc.index_in(others, value_set=others))
        rows, is_unknown = SortedPairs(users.groups, first[item.codes]), np.ones_like(is_unknown)
    text, near = _simplify_ids(pairs.item.ids[is_unknown]), np.full(len(is_unknown), -1)
    if text is not None:
        near[is_unknown] = pc.index_in(text, value_set=others).fill_null(-1)
    if (near < 0).all():
        return 0
    pair, row = rows.match(matches.user, near[pairs.item.codes])
    items = pd.Series(item.codes[row]).groupby(pair)
    found = items.min()[items.min() == items.max()].index
    return len(found.difference(pd.Index(matches.pair)))


def _simplify_ids(ids: pd.Index[Any]) -> pa.Array | None:
    """Return simplified ids, None if they are no text."""
    text = None if ids.nlevels > 1 or len(ids) == 0 else read_text(unwrap_ids(ids))
    return None if text is None else simplify_text(text).cast(pa.large_string())


def simplify_text(text: pa.Array) -> pa.Array:
    """Return text in lower case and one Unicode form, without outer spaces, leading zeros, and .0.

    If only simplified ids are equal, they were probably written differently by mistake. Users with
    such ids meet in one block of files, and in one partition of Spark, where a note names them.
    """
    simple = pc.ascii_lower(pc.ascii_ltrim(pc.ascii_trim_whitespace(text), "0"))
    is_ascii = pc.string_is_ascii(text)
    if is_ascii.false_count:
        others = pc.utf8_trim_whitespace(pc.utf8_normalize(text, form="NFKC"))
        others = pc.utf8_ltrim(pc.utf8_lower(others), "0")
        simple = pc.if_else(is_ascii, simple, others)
    is_float = pc.ends_with(simple, ".0")  # Numbers are written so next to nulls.
    if is_float.true_count:
        simple = pc.if_else(is_float, pc.utf8_slice_codeunits(simple, 0, -2), simple)
    return simple


def match(ids: pd.Index[Any], among: pd.Index[Any], role: str, other: str = "truth") -> Array:
    """Return the position of each id of the companion among ids of the frame, -1 for none.

    Both have distinct ids. Ids of two kinds, such as numbers and text, are refused.
    """
    if isinstance(ids, pd.MultiIndex):  # Levels are matched one by one.
        codes: list[Array] = []
        frame: Any = among
        for level, level_codes, frame_level, frame_codes in zip(
            ids.levels, ids.codes, frame.levels, frame.codes, strict=True
        ):
            position = match(level, frame_level, f"user={quote(frame_level.name)}", other)
            codes.append(np.append(frame_codes, position[level_codes]))
        is_known = np.min(codes, axis=0) >= 0
        numbers = pd.Index(combine(*(code[is_known] for code in codes)))
        positions, may_match = np.full(len(ids), -1), is_known[len(among) :]
        positions[may_match] = numbers[: len(among)].get_indexer(numbers[len(among) :])
        return positions
    if not all(isinstance(of.dtype, np.dtype) and of.dtype.kind in "iu" for of in (ids, among)):
        check_comparable(ids, among, role, other)
        ids, among = unwrap_ids(ids), unwrap_ids(among)
        text, others = read_text(ids), read_text(among)
        if text is not None and others is not None and text.type == others.type:
            return np.asarray(pc.index_in(text, value_set=others).fill_null(-1), np.int64)
    return look_up_ids(ids, among)


def append(ids: pd.Index[Any], others: pd.Index[Any]) -> pd.Index[Any]:
    """Return ids followed by one or more others, in the dtype of the first.

    If this dtype cannot hold them all, the categories' dtype is used, or pandas chooses one.
    """
    if isinstance(ids, pd.MultiIndex):
        return as_users(list(map(append, list_levels(ids), list_levels(others))))
    codes, distinct = pd.factorize(others)
    dtype: Any = ids.dtype
    same = _cast_ids(pd.Index(distinct, dtype=distinct.dtype), dtype)
    if same is not None:
        both: pd.Index[Any] = ids.append(same.take(codes).rename(ids.name)).astype(dtype)
        return both
    if isinstance(dtype, pd.CategoricalDtype):
        return append(ids.astype(dtype.categories.dtype), others)
    values: list[Hashable] = [*ids.tolist(), *others.tolist()]
    try:
        return pd.Index(values, name=ids.name, tupleize_cols=False)
    except (OverflowError, UnicodeError):  # Only the dtype object can hold all values.
        return pd.Index(values, dtype=object, name=ids.name, tupleize_cols=False)


def _cast_ids(ids: pd.Index[Any], dtype: Any) -> pd.Index[Any] | None:
    """Return distinct ids in a dtype, None if it cannot hold them."""
    if isinstance(dtype, pd.CategoricalDtype):
        codes = match(ids, dtype.categories, "user")
        if codes.min() < 0:
            return None
        return pd.Index(pd.Categorical.from_codes(codes, dtype=dtype))
    try:
        same = unwrap_ids(ids).astype(dtype)
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        return None  # Dtypes raise one of these for a value that they cannot hold.
    is_equal = same.is_unique and np.array_equal(match(ids, same, "user"), np.arange(len(ids)))
    return same if is_equal else None


def unwrap_ids(ids: pd.Index[Any]) -> pd.Index[Any]:
    """Return ids without nulls in plain dtypes: not categories, nullable or Arrow's."""
    dtype = ids.dtype
    if isinstance(ids, pd.CategoricalIndex):
        return unwrap_ids(ids.categories.take(ids.codes))
    numpy_dtype = getattr(dtype, "numpy_dtype", None)
    if numpy_dtype is not None and np.dtype(numpy_dtype).kind in "iufb":
        ids = pd.Index(ids.to_numpy(numpy_dtype))
    elif isinstance(dtype, pd.ArrowDtype):
        ids = ids.astype(object)
    return ids
