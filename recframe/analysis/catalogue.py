"""The catalogue: what the lists of all users show of it, figures that no single user has."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence, Set
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.display import NotedTable
from recframe.analysis.ranks import rank_options
from recframe.analysis.summary import note_rankings
from recframe.errors import RecframeError, is_number, option, quote, spell
from recframe.frames.columns import Columns, find_columns
from recframe.frames.constructors.rows import as_ids, check_no_mask, read_array
from recframe.frames.id_matching import match, unwrap_ids
from recframe.frames.interactions import Interactions
from recframe.frames.judgments import naming
from recframe.frames.names import get_column, is_same, list_labels
from recframe.frames.open_roles import find_label
from recframe.frames.tables import check_lengths, in_cells
from recframe.kernel.counting import find_positions
from recframe.kernel.grouping import combine
from recframe.kernel.threads import Array
from recframe.metrics.names import FIGURES, MAX_K
from recframe.notes import note
from recframe.options import INFER, Options
from recframe.other_tables import frame_error, is_table, load_table, read_frame

KEYS = ["item", "chosen", "among", "length"]  # of rows that are counted together
ITEMS_ALONE = "pass the column of its items alone, or name it 'item'"


class Shown(NamedTuple):
    """What the lists of some users show, so that it adds to what other users' lists show.

    `rows` tell of each score how many (`n`) have an item in a list of this length with a
    probability of `chosen` / `among`. These are whole numbers, so that their sums are exact.
    """

    rows: list[pd.DataFrame]
    n_lists: list[int]  # of each score the users who have a list
    items: pd.Series | None  # the distinct ones of all rows; None where the catalogue is known
    n_rows: int  # that are counted
    n_longer: int  # rankings with rows beyond the lists

    @property
    def n_bytes(self) -> int:
        """How many bytes all of it takes."""
        held: list[Any] = [*self.rows, *([] if self.items is None else [self.items.to_frame()])]
        return sum(int(one.memory_usage(deep=True).sum()) for one in held)


def catalogue_columns(frame: pd.DataFrame, options: Options, call: str) -> Columns:
    """Return the label of each role, the item's too; relevance only where the tie rule reads it."""
    if options.duplicates == "keep":
        first = spell("'first'", "--duplicates first")
        raise RecframeError(
            "duplicates='keep': a catalogue counts an item of a list once; pass "
            f"{option('duplicates', 'max')} or {first}, which make one row of those of a pair",
            {"duplicates": "max"},
        )
    with_relevant = options.tie_rule.reads_relevance
    columns = find_columns(frame, options, with_relevant=with_relevant, with_item=True, call=call)
    if columns.item is None:
        find_label(frame, "item", options.item)  # which raises, and says what was looked for
    return columns


def catalogue_options(options: Options) -> Options:
    """Return the options of a catalogue, without truth unless it says whose lists count."""
    if options.has_truth and options.population in ("both", "truth"):
        return options
    return rank_options(options)


def count_shown(
    interactions: Interactions, options: Options, k: int, *, with_items: bool
) -> pd.DataFrame:
    """Return what the lists of all users of interactions show, in one cell."""
    item = interactions.items.used()  # type: ignore[union-attr]  # which a catalogue has read
    rows, n_lists, n_longer = [], [], 0
    note_rankings(interactions, [])
    for score in interactions.scores:
        rankings = interactions.rankings(score, options)
        n_ranked = rankings.n_ranked
        if options.short == "raise":
            check_lengths(n_ranked, interactions.users.ids, score, k, options)
        n_longer += int(np.count_nonzero(n_ranked > k))
        has_list = n_ranked >= (k if options.short == "nan" else 1)
        length = np.minimum(k, n_ranked) if options.short == "shrink" else np.full_like(n_ranked, k)
        row, first, size, user = find_positions(rankings, options.tie_rule, k)
        room = np.minimum(k + 1 - first, size)
        chosen, among = np.where(room == size, 1, room), np.where(room == size, 1, size)
        kept = np.flatnonzero(has_list[user])
        number, code, *values = _find_kinds(
            item.codes[row[kept]], chosen[kept], among[kept], length[user[kept]]
        )
        cells = [item.ids.take(code), *values, np.bincount(number, minlength=len(code))]
        rows.append(pd.DataFrame(dict(zip([*KEYS, "n"], cells, strict=True)), copy=False))
        n_lists.append(int(has_list.sum()))
    items = pd.Series(item.distinct()) if with_items else None
    return in_cells([Shown(rows, n_lists, items, len(interactions.relevant), n_longer)])


def join_shown(parts: Sequence[Shown]) -> Shown:
    """Return what the lists of all parts show together."""
    if len(parts) == 1:
        return parts[0]
    rows = [
        pd.concat(of_score).groupby(KEYS, observed=True, sort=False)["n"].sum().reset_index()
        for of_score in zip(*(part.rows for part in parts), strict=True)
    ]
    n_lists = [sum(of_score) for of_score in zip(*(part.n_lists for part in parts), strict=True)]
    items = [part.items for part in parts if part.items is not None]
    distinct = pd.concat(items).drop_duplicates() if items else None
    totals = [sum(of_parts) for of_parts in zip(*(part[3:] for part in parts), strict=True)]
    return Shown(rows, n_lists, distinct, *totals)


def catalogue_table(
    parts: pd.DataFrame,
    scores: list[Hashable],
    k: int,
    catalogue: Catalogue | None,
    zero_division: float,
) -> pd.DataFrame:
    """Return the figures that parts, a cell of each, add up to, a row for each score."""
    figures = [[math.nan] * len(FIGURES)] * len(scores)
    if len(parts):
        rows, n_lists, items, _, n_longer = join_shown(parts["cell"].tolist())
        n_items = catalogue.n_items if catalogue is not None else len(items)  # type: ignore[arg-type]  # one is there
        figures = [
            _figures(of_score, n, n_items, k, catalogue, zero_division)
            for of_score, n in zip(rows, n_lists, strict=True)
        ]
        if catalogue is None and n_longer == 0 and max(n_lists) > 1:
            figures = [[math.nan, math.nan, *others] for _, _, *others in figures]
            note(catalogues_of_lists=1)
    labels = pd.Index(scores, name="score", tupleize_cols=False)
    names = pd.Index([f"{name}@{k}" for name in FIGURES], name="metric")
    return NotedTable(figures, labels, names, dtype=float)


def _find_kinds(*columns: Array) -> list[Array]:
    """Return the kind of each row and what kinds, in order of these values, have in columns."""
    number, distinct = pd.factorize(combine(*columns), sort=True)
    row = np.empty(len(distinct), np.int64)
    row[number] = np.arange(len(number))  # one of each kind, whichever
    return [number, *(column[row] for column in columns)]


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
    order = np.argsort(code * len(chosen) + kind, kind="stable")
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
    most_unequal = (n_items - 1) * total
    overlap = together / (k * n_pairs) if n_pairs else 0.0
    return [
        math.fsum(-np.expm1(missed)) / n_items if n_items else zero_division,
        unequal / most_unequal if most_unequal else zero_division,
        0.0 - math.fsum(parts * np.log2(parts)) if total else zero_division,
        (0.0 if overlap > 1 - 1e-12 else 1 - overlap) if n_pairs else zero_division,
    ]


REQUIRED = "a list or Series of ids, a frame with a column of them, or their number"


class Catalogue(NamedTuple):
    """The items there are, each once; `ids` is None where only their number is known."""

    n_items: int
    ids: pd.Index[Any] | None = None

    def check(self, shown: pd.Index[Any]) -> None:
        """Raise where distinct items that are recommended are not all in the catalogue."""
        none = spell("items=None", "no --items")
        remedy = f"pass the whole catalogue, or {none} for the items of the frame"
        if self.ids is None:
            if len(shown) > self.n_items:
                raise RecframeError(
                    f"items must be the number of all items, found {self.n_items:,} although "
                    f"{len(shown):,} are recommended; {remedy}"
                )
            return
        found = match(self.ids, shown, "item", "items")
        unknown = shown.delete(found[found >= 0])
        if len(unknown):
            raise RecframeError(
                f"items must have every item that is recommended, found {len(unknown):,} of "
                f"{len(shown):,} missing (such as {quote(unknown.tolist()[0])}); {remedy}"
            )


def read_catalogue(items: Any, columns: Columns) -> Catalogue | None:
    """Return the catalogue that is passed, None where it is that of the frame."""
    if items is None:
        return None
    if isinstance(items, bool) or is_number(items, Integral):
        number = int(items)
        if number < 1 or items is True:
            raise RecframeError(f"items must be {REQUIRED}, 1 or more, found {quote(items)}")
        if number > MAX_K:
            raise RecframeError(f"items must be at most 2**53 in number, found {quote(items)}")
        return Catalogue(number)
    ids = _read_ids(items, columns)
    if n_null := np.count_nonzero(ids.isna()):
        raise RecframeError(f"items must not be null, found {n_null} null of {len(ids)}")
    if len(ids) == 0:
        raise RecframeError("items must hold at least one item, found none")
    distinct = unwrap_ids(ids).unique()
    return Catalogue(len(distinct), distinct)


def _read_ids(items: Any, columns: Columns) -> pd.Index[Any]:
    """Return the ids that are passed as items."""
    if not isinstance(items, pd.DataFrame) and is_table("items", items):
        items = read_frame(load_table("items", REQUIRED, items))
    if isinstance(items, pd.DataFrame):
        is_there = any(is_same(label, columns.item) for label in list_labels(items))
        with naming("items"):
            label = find_label(items, "item", columns.item if is_there else INFER, ITEMS_ALONE)
        return as_ids("items", get_column(items, label))
    check_no_mask("items", items)
    if isinstance(items, pd.Series | pd.Index):
        return as_ids("items", items)
    items = list(items) if isinstance(items, Set) else items
    is_list = isinstance(items, list | tuple | np.ndarray)
    if not is_list or read_array("items", items, REQUIRED).ndim != 1:
        raise frame_error("items", REQUIRED, items)
    return as_ids("items", list(items))
