"""Rows of pairs: where in a frame the pairs of a user and an item are that stand beside it."""

from __future__ import annotations

from itertools import starmap
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.frames.ids import Coded, PairItems, match
from recframe.frames.keys import find_keys, number_text
from recframe.frames.user_groups import UserGroups
from recframe.kernel.pairs import Match, find_members, find_pairs
from recframe.kernel.threads import Array, in_threads

MANY = 1 << 15  # pairs whose texts two threads take
MOST_UNCLEAR = 1000  # pairs that are looked up by themselves
LOW_BITS = (1 << 28) - 1  # of an integer id: as a rule they tell the items of a user apart


def find_rows(item: Coded, offsets: Array, user: Array, asked: Coded) -> Array:
    """Return a row of each pair of a user and an item asked for, -1 where there is none.

    The rows and their items are in grouped order.
    """
    rows = _find_by_low_bits(item, offsets, user, asked)
    if rows is not None:
        return rows
    return find_pairs(*_number_pairs(item, offsets, user, asked, "truth")).rows


def find_all_rows(item: Coded, offsets: Array, user: Array, asked: Coded, other: str) -> Array:
    """Return whether the pair of each row is asked for; rows, and what is asked, may repeat."""
    rows = _find_by_low_bits(item, offsets, user, asked)
    if rows is None:
        return find_members(*_number_pairs(item, offsets, user, asked, other)) >= 0
    is_found = np.zeros(len(item.codes), bool)
    is_found[rows[rows >= 0]] = True
    return is_found


def find_text_rows(
    text: pd.Series, groups: UserGroups, user: Array, asked: PairItems, keys: Array | None = None
) -> Match | None:
    """Return what `find_rows` does, of items that are text; None where they are to be encoded.

    Texts are looked up by 32 bits of each, which are their keys, in grouped order, if known, and
    what is found is compared. The few pairs whose bits are those of another text of the user are
    looked up by themselves.
    """
    own, (ids, codes) = find_keys(text), asked.texts
    if not isinstance(own, pa.Array) or ids is None or own.null_count:
        return None
    code = number_text(ids)[codes]
    keys = groups.in_order(number_text(own)) if keys is None else keys
    found = find_pairs(keys, groups.offsets, 1 << 32, user, code)
    rows, unclear = found.rows, found.repeated
    listed = np.flatnonzero(rows >= 0)
    taken = [(own, groups.take_rows(rows[listed])), (ids, codes[listed])]
    call: Any = in_threads if len(listed) >= MANY else starmap
    same, others = call(_take_text, taken)
    others = others.cast(same.type)
    if not same.equals(others):
        differs = np.asarray(pc.not_equal(same, others))
        unclear = np.union1d(unclear, listed[differs])
    if len(unclear) > MOST_UNCLEAR:
        return None
    for pair in unclear:
        first, stop = groups.offsets[user[pair]], groups.offsets[user[pair] + 1]
        wanted = ids[int(codes[pair])].cast(same.type)
        place = pc.index(_take_text(own, groups.take_rows(np.arange(first, stop))), wanted).as_py()
        rows[pair] = first + place if place >= 0 else -1
    return found


def _take_text(text: pa.Array, rows: Array) -> pa.Array:
    """Return the texts of rows."""
    return text.take(pa.array(rows))


def _number_pairs(
    item: Coded, offsets: Array, user: Array, asked: Coded, other: str
) -> tuple[Array, Array, int, Array, Array]:
    """Return what the kernel looks for pairs in: items as positions among those of the frame."""
    codes, ids = item.numbered()
    code = user
    if len(user):
        asked_codes, asked_ids = asked.numbered()
        code = match(asked_ids, ids, "item", other)[asked_codes]
    return codes, offsets, len(ids), user, code


def _find_by_low_bits(item: Coded, offsets: Array, user: Array, asked: Coded) -> Array | None:
    """Return what `find_rows` does, None where the low bits of ids do not tell items apart.

    The fewer bits, the fewer passes over them.
    """
    if item.ids is not None or asked.ids is not None:
        return None
    own, low_bits = item.codes & LOW_BITS, asked.codes & LOW_BITS
    n_codes = 1 + int(max(own.max(initial=0), low_bits.max(initial=0)))
    found = find_pairs(own, offsets, n_codes, user, low_bits)
    listed = found.rows >= 0
    is_same = np.array_equal(item.codes[found.rows[listed]], asked.codes[listed])
    return found.rows if is_same and not found.has_repeats else None
