"""The catalogue: what the lists of all users show of it, figures that no single user has."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.frames.catalogue import Catalogue
from recframe.frames.columns import Columns, find_columns, find_label
from recframe.frames.ids import Coded
from recframe.frames.interactions import Interactions
from recframe.frames.judgments import read_items
from recframe.frames.tables import check_lengths
from recframe.frames.ties import order_ties
from recframe.kernel.first_rows import FirstRows, find_first_rows
from recframe.kernel.grouping import number_distinct
from recframe.kernel.radix import argsort
from recframe.kernel.rankings import Rankings, TieRule, map_users
from recframe.kernel.threads import Array
from recframe.metrics.synonyms import FIGURES
from recframe.options import Options

MOST_KINDS = 1 << 16  # of a table that is small
KEYS = ["item", "chosen", "among", "length"]  # of rows that are counted together


class Shown(NamedTuple):
    """What the lists of some users show, so that it adds to what other users' lists show.

    Parameters
    ----------
    rows : list of DataFrame
        Of each score how many rows (`n`) have an item in a list of this length with a probability
        of `chosen` / `among`. These are whole numbers, so that their sums are exact.
    n_lists : list of int
        Of each score the users who have a list.
    items : Series or None
        The distinct items of the rows, listed or not; None where the catalogue is known.
    """

    rows: list[pd.DataFrame]
    n_lists: list[int]
    items: pd.Series | None


def catalogue_columns(frame: pd.DataFrame, options: Options, call: str = "") -> Columns:
    """Return the label of each role, the item's too; relevance only where the tie rule reads it."""
    check_once(options)
    with_relevant = options.tie_rule.reads_relevance
    columns = find_columns(frame, options, with_relevant=with_relevant, with_item=True, call=call)
    check_item(frame, columns, options)
    return columns


def check_once(options: Options) -> None:
    """Raise where an item could be in a list more than once."""
    if options.duplicates == "keep":
        raise RecframeError(
            "duplicates='keep': in the lists of a catalogue an item is once; pass duplicates='max' "
            "or 'first', which make one row of those of a pair"
        )


def check_item(frame: pd.DataFrame, columns: Columns, options: Options) -> None:
    """Raise where no column of items was found, and say what was looked for."""
    if columns.item is None:
        find_label(frame, "item", options.item)


def count_shown(interactions: Interactions, options: Options, k: int, *, with_items: bool) -> Shown:
    """Return what the lists of all users of interactions show."""
    interactions = order_ties(interactions, options)
    item = read_items(interactions)
    rows, n_lists = [], []
    for score, (_, is_ranked) in interactions.scores.items():
        rankings = interactions.rankings(score)
        if options.short == "raise":
            check_lengths(rankings, interactions.groups.users, score, k, options)
        n_ranked = np.diff(rankings.offsets)
        has_list = n_ranked >= (k if options.short == "nan" else 1)
        length = np.minimum(k, n_ranked) if options.short == "shrink" else np.full_like(n_ranked, k)
        row, user, chosen, among = _find_first(rankings, options.tie_rule, k)
        kept = np.flatnonzero(has_list[user])
        row, user = row[kept], user[kept]
        own = item.codes if is_ranked is None else item.codes[is_ranked]
        rows.append(_count(item._replace(codes=own[row]), chosen[kept], among[kept], length[user]))
        n_lists.append(int(has_list.sum()))
    return Shown(rows, n_lists, pd.Series(item.distinct()) if with_items else None)


def join_shown(parts: Sequence[Shown]) -> Shown:
    """Return what the lists of all parts show together."""
    if len(parts) == 1:
        return parts[0]
    rows = [
        pd.concat(of_score).groupby(KEYS, sort=False)["n"].sum().reset_index()
        for of_score in zip(*(part.rows for part in parts), strict=True)
    ]
    n_lists = [sum(of_score) for of_score in zip(*(part.n_lists for part in parts), strict=True)]
    items = [part.items for part in parts if part.items is not None]
    return Shown(rows, n_lists, pd.concat(items).drop_duplicates() if items else None)


def catalogue_table(
    parts: Sequence[Shown],
    scores: list[Hashable],
    k: int,
    catalogue: Catalogue | None,
    zero_division: float,
) -> pd.DataFrame:
    """Return the figures that parts add up to, a row for each score."""
    figures = [[math.nan] * len(FIGURES)] * len(scores)
    if parts:
        rows, n_lists, items = join_shown(parts)
        n_items = catalogue.n_items if catalogue is not None else len(items)  # type: ignore[arg-type]  # one is there
        figures = [
            _figures(of_score, n, n_items, k, catalogue, zero_division)
            for of_score, n in zip(rows, n_lists, strict=True)
        ]
    labels = pd.Index(scores, name="score", tupleize_cols=False)
    names = pd.Index([f"{name}@{k}" for name in FIGURES], name="metric")
    return pd.DataFrame(figures, labels, names, dtype=float)


def _find_first(rankings: Rankings, rule: TieRule, k: int) -> FirstRows:
    """Return the rows that may be among the first k, found in threads."""

    def find(run: Rankings, users: slice) -> FirstRows:
        row, user, *chance = find_first_rows(run, rule, k)
        return FirstRows(row + rankings.offsets[users.start], user + users.start, *chance)

    runs = map_users(find, rankings)
    return FirstRows(*map(np.concatenate, zip(*runs, strict=True)))


class Kinds(NamedTuple):
    """Rows of the same chance in lists of the same length are of one kind, a whole number.

    Kinds are in the order of these values, which does not depend on that of the rows.
    """

    of_row: Array
    chosen: Array
    among: Array
    length: Array


def _find_kinds(*columns: Array) -> Kinds:
    """Return the kinds of rows, given what they differ in."""
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    if math.prod(sizes) > max(len(columns[0]), MOST_KINDS):
        order, number = number_distinct(*columns)
        values = [column[order] for column in columns]
    else:  # a table of all that there could be
        code = np.ravel_multi_index(columns, sizes)
        found = np.flatnonzero(np.bincount(code, minlength=math.prod(sizes)))
        lookup = np.zeros(math.prod(sizes), np.int64)
        lookup[found] = np.arange(len(found))
        number, values = lookup[code], list(np.unravel_index(found, sizes))
    return Kinds(number, *values)


def _count(item: Coded, *columns: Array) -> pd.DataFrame:
    """Return how many rows have the same item, chance and length of the list."""
    codes, ids = item.numbered()
    kind, *values = _find_kinds(*columns)
    n_kinds = max(1, len(values[0]))
    kind += codes.astype(np.int64) * n_kinds  # codes of categories may have 8 bits
    if kind.max(initial=0) < 1 << 31:
        kind = kind.astype(np.int32)  # sorted in half the time
    distinct, n_rows = np.unique(kind, return_counts=True)
    code, kind = np.divmod(distinct, n_kinds)
    cells = [ids.take(code), *(column[kind] for column in values), n_rows]
    return pd.DataFrame(dict(zip([*KEYS, "n"], cells, strict=True)), copy=False)


def _figures(
    rows: pd.DataFrame,
    n_lists: int,
    n_items: int,
    k: int,
    catalogue: Catalogue | None,
    zero_division: float,
) -> list[float]:
    """Return the figures of one score, in the order of their names."""
    code, ids = pd.factorize(rows["item"])
    if catalogue is not None:
        catalogue.check(pd.Index(ids))
    kind, chosen, among, length = _find_kinds(*(rows[name].to_numpy() for name in KEYS[1:]))
    # Sums depend on their order: an item's rows are in that of their kinds, and the sums over
    # items are those of `fsum`, which are exact.
    order = argsort(code * len(chosen) + kind)
    code, kind, n_rows = code[order], kind[order], rows["n"].to_numpy()[order]

    def of_items(terms: Array) -> Array:
        return np.bincount(code, n_rows * terms[kind], len(ids))

    probability = chosen / among
    in_list = probability * np.sqrt(k / length)
    with np.errstate(divide="ignore"):  # of what is certain to be shown
        missed = of_items(np.log1p(-probability))
    shares = np.sort(of_items(probability))
    total = math.fsum(shares)
    of_kind = np.bincount(kind, n_rows, len(chosen))
    together = math.fsum(of_items(in_list) ** 2) - math.fsum(of_kind * in_list**2)
    n_pairs = n_lists * (n_lists - 1)
    ranks = np.arange(n_items - len(shares) + 1, n_items + 1)
    parts = shares / total if total else shares
    unequal = math.fsum((2 * ranks - n_items - 1) * shares)
    return [
        _divide(math.fsum(-np.expm1(missed)), n_items, zero_division),
        _divide(unequal, (n_items - 1) * total, zero_division),
        0.0 - math.fsum(parts * np.log2(parts)) if total else zero_division,
        1 - min(together / (k * n_pairs), 1.0) if n_pairs else zero_division,
    ]


def _divide(numerator: float, denominator: float, zero_division: float) -> float:
    """Return the quotient, `zero_division` where the denominator is 0."""
    return numerator / denominator if denominator else zero_division
