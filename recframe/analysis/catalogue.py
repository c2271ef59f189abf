"""The catalogue: coverage, gini, entropy and personalization of the lists of all users."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence, Set
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.paper_tables import MeanTable
from recframe.analysis.ranked_rows import rank_options
from recframe.analysis.segments import find_grouping
from recframe.analysis.summary import note_rankings
from recframe.errors import RecframeError, count_of, is_number, prefix_errors, quote
from recframe.frames.columns import Columns, find_columns
from recframe.frames.constructors.rows import as_ids, read_array
from recframe.frames.id_matching import append, match, unwrap_ids
from recframe.frames.ids import Ids
from recframe.frames.interactions import Interactions
from recframe.frames.names import as_labels, check_label, get_column, is_same, list_labels
from recframe.frames.open_roles import find_label
from recframe.frames.roles import find_roles
from recframe.frames.tables import check_lengths, in_cells
from recframe.kernel.counting import find_positions
from recframe.kernel.grouping import combine
from recframe.kernel.threads import Array
from recframe.metrics.measure import check_no_mask
from recframe.metrics.names import MAX_K
from recframe.metrics.other_names import CATALOGUE_METRICS
from recframe.notes import note
from recframe.options import INFER, Options
from recframe.other_tables import frame_error, is_path, is_table, load_table, read_frame

# Equal rows of these columns are counted together.
KEYS = ["item", "chosen", "among", "length", "relevant"]
MOST_LISTED = 0.75  # With this share of all pairs of user and item or more, rows are no lists.
ITEMS_ALONE = "pass the column of its items alone, or name it 'item'"
REQUIRED = "a list or Series of ids, a frame with a column of them, or their number"


class Shown(NamedTuple):
    """Counts of the items in users' lists, which add up over parts of the users.

    Parameters
    ----------
    rows : list of DataFrame
        For each score, the number `n` of lists of a `length` that have an item with probability
        `chosen` / `among`. Sums of these whole numbers are exact. For groups of items, lists are
        counted apart in which the item is `relevant`, and those that lack it have `chosen` 0.
    n_lists : list of int
        For each score, the number of users with a list.
    items : Series or None
        The distinct items of all rows; None if the catalogue is known.
    n_rows, n_longer : int
        The number of rows, and of rankings with rows beyond their list.
    """

    rows: list[pd.DataFrame]
    n_lists: list[int]
    items: pd.Series | None
    n_rows: int
    n_longer: int

    @property
    def n_bytes(self) -> int:
        """The size in memory."""
        tables = [*self.rows, *([] if self.items is None else [self.items.to_frame()])]
        return sum(int(one.memory_usage(deep=True).sum()) for one in tables)


class Catalogue(NamedTuple):
    """The distinct items of the catalogue; if their number is None, the frame has them all.

    `ids` is None if no more than their number is known. If groups are asked for, `groups` has their
    values, and `group` is the group of each item.
    """

    n_items: int | None = None
    ids: pd.Index[Any] | None = None
    group: Array | None = None
    groups: pd.DataFrame | None = None

    def find(self, shown: pd.Index[Any]) -> Array:
        """Return the position of each known item among those shown; raise if one is unknown."""
        remedy = f"Pass the whole catalogue{', or items=None' * (self.group is None)}."
        if self.ids is None:
            if self.n_items is not None and len(shown) > self.n_items:
                raise RecframeError(
                    f"items must be the number of all items, but is {self.n_items:,} although "
                    f"{len(shown):,} are recommended. {remedy}"
                )
            return np.empty(0, np.int64)
        position = match(self.ids, shown, "item", "items")
        unknown = shown.delete(position[position >= 0])
        if len(unknown):
            what = "recommended" if self.group is None else "recommended or relevant"
            raise RecframeError(
                f"items must have every item that is {what}, but {len(unknown):,} of "
                f"{len(shown):,} are missing (such as {quote(unknown.tolist()[0])}). {remedy}"
            )
        return position


def catalogue_columns(frame: pd.DataFrame, options: Options, call: str, by: Any = None) -> Columns:
    """Return the label of each role with the item.

    Relevance has one if the tie rule reads it, or if the frame has it and `by` asks for groups.
    """
    if options.duplicates == "keep":
        raise RecframeError(
            "duplicates='keep': an item of a list counts once. Pass duplicates='max' or 'first', "
            "which make one row of those of a pair.",
            {"duplicates": "max"},
        )
    with_relevant = options.tie_rule.reads_relevance
    if by is not None and not options.has_truth:
        with_relevant |= find_roles(frame, options)["relevant"].how != "none"
    columns = find_columns(frame, options, with_relevant=with_relevant, with_item=True, call=call)
    if columns.item is None:
        find_label(frame, "item", options.item)  # raises with the names that were tried
    return columns


def catalogue_options(options: Options, by: Any = None) -> Options:
    """Return the options of a catalogue, without truth unless it decides which users count.

    Groups of items, by columns, need truth for their recall.
    """
    if by is not None or (options.has_truth and options.population in ("both", "truth")):
        return options
    return rank_options(options)


class CatalogueTask(NamedTuple):
    """The measuring of all users' lists.

    Parameters
    ----------
    k : int
        The length of the lists.
    scores : list of labels
        The score columns.
    catalogue : Catalogue
        The items that lists could have.
    zero_division : float
        The value of a figure that is not defined.
    with_recall : bool
        Whether groups of items have a recall.
    """

    k: int
    scores: list[Hashable]
    catalogue: Catalogue
    zero_division: float
    with_recall: bool

    def count_shown(self, interactions: Interactions, options: Options) -> pd.DataFrame:
        """Return the counts of all users' lists, in one cell."""
        k, with_recall = self.k, self.with_recall
        item = interactions.items.used()  # type: ignore[union-attr]  # `catalogue_columns` has found items
        rows, n_lists, n_longer = [], [], 0
        note_rankings(interactions, [])
        for score in interactions.scores:
            rankings = interactions.rankings(score, options)
            check_lengths(rankings, interactions.users.ids, score, k, options)
            n_ranked = rankings.n_ranked
            n_longer += int(np.count_nonzero(n_ranked > k))
            has_list = n_ranked >= (k if options.short == "nan" else 1)
            length = np.minimum(k, n_ranked)
            if options.short != "shrink":
                length[:] = k
            row, first, size, user = find_positions(rankings, options.tie_rule, k)
            room = np.minimum(k + 1 - first, size)
            chosen, among = np.where(room == size, 1, room), np.where(room == size, 1, size)
            is_listed, ids = has_list[user], item.ids
            relevant = interactions.relevant[row] & with_recall
            kinds = np.array([item.codes[row], chosen, among, length[user], relevant])[:, is_listed]
            if with_recall:
                is_counted = has_list | (options.short != "nan")
                missed, ids = _find_missed(interactions, item, row[is_listed], is_counted)
                others = np.repeat([[0], [1], [1], [1]], len(missed), axis=1)
                kinds = np.append(kinds, [missed, *others], axis=1)
            number, distinct = pd.factorize(combine(*kinds), sort=True)
            some_row = np.empty(len(distinct), np.int64)
            some_row[number] = np.arange(len(number))  # any row of each kind
            code, *values = kinds[:, some_row]
            cells = [ids.take(code), *values, np.bincount(number, minlength=len(code))]
            rows.append(pd.DataFrame(dict(zip([*KEYS, "n"], cells, strict=True)), copy=False))
            n_lists.append(int(has_list.sum()))
        items = pd.Series(item.distinct()) if self.catalogue.n_items is None else None
        return in_cells([Shown(rows, n_lists, items, len(interactions.relevant), n_longer)])

    def make_table(self, parts: pd.DataFrame) -> pd.DataFrame:
        """Return the figures of all parts together, for each score, or for each group and score."""
        labels = pd.Index(self.scores, name="score", tupleize_cols=False)
        rows, n_lists, items, n_rows, n_longer = join_shown(parts["cell"].tolist())
        if self.catalogue.groups is not None:
            table = self._measure_groups(rows, labels).fillna(self.zero_division)
            return MeanTable(table if self.with_recall else table.iloc[:, :-1])
        n_items: Any = self.catalogue.n_items if items is None else len(items)
        of_scores = zip(rows, n_lists, strict=True)
        figures = [self._measure(of_score, n, n_items) for of_score, n in of_scores]
        if items is not None and n_longer == 0 and max(n_lists) > 1:
            figures = [[math.nan, math.nan, *others] for _, _, *others in figures]
            note(catalogues_of_lists=1)
        elif items is not None and n_rows < MOST_LISTED * max(n_lists) * len(items):
            note(items_of_frame=len(items))
        names = pd.Index([f"{name}@{self.k}" for name in CATALOGUE_METRICS], name="metric")
        return CatalogueTable(figures, labels, names, dtype=float)

    def _measure_groups(self, parts: Sequence[pd.DataFrame], scores: pd.Index[Any]) -> pd.DataFrame:
        """Return the figures of each group of items and score; NaN is undefined."""
        tables, k = [], self.k
        catalogue: Any = self.catalogue  # it has groups
        for rows in parts:
            sums = _sum_by_item(rows, k)
            position = catalogue.find(sums.index)
            sums = sums.reset_index(drop=True).reindex(position, fill_value=0).assign(items=1)
            one = sums.groupby(catalogue.group).sum()
            figures = [one["lists"] / one["lists"].sum(), one["items"] / catalogue.n_items]
            figures += [one["covered"] / one["items"], one["hits"] / one["relevant"]]
            tables.append(np.transpose(figures))
        group, score = np.divmod(np.arange(len(catalogue.groups) * len(scores)), len(scores))
        rows = catalogue.groups.iloc[group].assign(score=scores.take(score))
        index = pd.MultiIndex.from_frame(rows)
        names = [f"exposure@{k}", "catalogue_share", f"coverage@{k}", f"recall@{k}"]
        values = np.stack(tables, axis=1).reshape(len(index), len(names))
        return pd.DataFrame(values, index, pd.Index(names, name="metric"))

    def _measure(self, rows: pd.DataFrame, n_lists: int, n_items: int) -> list[float]:
        """Return the figures of one score, in the order of their names."""
        sums, zero_division = _sum_by_item(rows, self.k), self.zero_division
        self.catalogue.find(pd.Index(rows["item"].unique()))
        shares = np.sort(sums["lists"])
        total, n_pairs = math.fsum(shares), n_lists * (n_lists - 1)
        ranks = np.arange(n_items - len(shares) + 1, n_items + 1)
        parts = shares / total if total else shares
        unequal = math.fsum((2 * ranks - n_items - 1) * shares)
        most_unequal = (n_items - 1) * total
        together = math.fsum(sums["weight"] ** 2) - math.fsum(sums["of_itself"])
        overlap = together / (self.k * n_pairs) if n_pairs else 0.0
        return [
            math.fsum(sums["covered"]) / n_items if n_items else zero_division,
            unequal / most_unequal if most_unequal else zero_division,
            0.0 - math.fsum(parts * np.log2(parts)) if total else zero_division,
            (0.0 if overlap > 1 - 1e-12 else 1 - overlap) if n_pairs else zero_division,
        ]


def _sum_by_item(rows: pd.DataFrame, k: int) -> pd.DataFrame:
    """Return sums over the lists for each item; `weight` is for the overlap of lists."""
    rows = rows.sort_values(KEYS[1:])  # Sums depend on their order.
    chance, n, relevant = rows["chosen"] / rows["among"], rows["n"], rows["relevant"]
    in_list = chance * np.sqrt(k / rows["length"])
    terms = {"lists": n * chance, "hits": n * chance * relevant, "relevant": n * relevant}
    terms |= {"weight": n * in_list, "of_itself": n * in_list**2, "missed": (1 - chance) ** n}
    of_item = pd.DataFrame(terms).groupby(rows["item"], observed=True)
    return of_item.sum().assign(covered=1 - of_item["missed"].prod())


def _find_missed(
    interactions: Interactions, item: Ids, listed: Array, is_counted: Array
) -> tuple[Array, pd.Index[Any]]:
    """Return the codes of relevant items that no list of their user has, and the ids of codes."""
    is_missed = interactions.relevant & is_counted[interactions.users.groups.codes]
    is_missed[listed] = False
    codes, ids = item.codes[is_missed], item.ids
    if interactions.find_unlisted is not None:
        user, unlisted = interactions.find_unlisted()
        unlisted = unlisted[is_counted[user]]
        codes = np.append(codes, len(ids) + np.arange(len(unlisted)))
        ids = append(ids, unlisted)
    return codes, ids


def join_shown(parts: Sequence[Shown]) -> Shown:
    """Return the counts of all parts together."""
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


class CatalogueTable(MeanTable):
    """The result of `catalogue`: a DataFrame that can be set in a paper, with its notes."""

    _numbers = "values over the lists of all users"


def read_catalogue(items: Any, columns: Columns, by: Any = None) -> Catalogue:
    """Return the catalogue that `items` holds, in groups by its columns `by`."""
    if not isinstance(items, pd.DataFrame) and is_table("items", items):
        items = read_frame(load_table("items", REQUIRED, items))
    if is_path(items):
        raise frame_error("items", REQUIRED, items)
    if by is not None and not isinstance(items, pd.DataFrame):
        raise RecframeError(
            f"by={quote(by)} groups items, so items must be a frame with that column, but is "
            f"{quote(items)}; mean(by=...) has segments of users"
        )
    if items is None:
        return Catalogue()
    if isinstance(items, bool) or is_number(items, Integral):
        number = int(items)
        if number < 1 or items is True:
            raise RecframeError(f"items must be {REQUIRED}, 1 or more, but is {quote(items)}")
        if number > MAX_K:
            raise RecframeError(f"items must be at most 2**53 in number, but is {quote(items)}")
        return Catalogue(number)
    ids = _read_item_ids(items, columns)
    if n_null := np.count_nonzero(ids.isna()):
        raise RecframeError(f"items must not be null, but {n_null} of {len(ids)} are null")
    if len(ids) == 0:
        raise RecframeError("items must hold at least one item, but holds none")
    ids = unwrap_ids(ids)
    distinct = ids.unique()
    grouped = () if by is None else _find_groups(items, ids, by)
    return Catalogue(len(distinct), distinct, *grouped)


def _find_groups(items: pd.DataFrame, ids: pd.Index[Any], by: Any) -> tuple[Array, pd.DataFrame]:
    """Return the group of each distinct item, and the values of each group."""
    with prefix_errors("items"):
        check_label(items, "by", *as_labels(by))
        labels = find_grouping(items, by, None, []).labels
    keys = pd.DataFrame({label: get_column(items, label).array for label in labels})
    try:
        group = keys.groupby(labels, dropna=False, observed=True).ngroup().to_numpy()
    except TypeError as error:
        raise RecframeError(
            f"items: by={quote(by)} must hold values that can be compared, but comparison fails: "
            f"{error}"
        ) from error
    is_first = ~ids.duplicated()
    several = np.flatnonzero(group != group[is_first][pd.factorize(ids)[0]])
    if len(several):
        raise RecframeError(
            f"items must have one group by {quote(by)} for each item, but have "
            f"{count_of(len(several), 'row')} with another (such as that of "
            f"{quote(ids[several[:1]].tolist()[0])}). Keep one row of each item."
        )
    _, first = np.unique(group, return_index=True)
    return group[is_first], keys.iloc[first]


def _read_item_ids(items: Any, columns: Columns) -> pd.Index[Any]:
    """Return the ids in `items`: a frame, a Series, or a list."""
    if isinstance(items, pd.DataFrame):
        is_there = any(is_same(label, columns.item) for label in list_labels(items))
        with prefix_errors("items"):
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
