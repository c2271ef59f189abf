"""Tables of the values of every user, and the tables that are made from them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, as_text, is_number, quote
from recframe.frames.ids import sort_ids
from recframe.frames.interactions import Interactions, Judged
from recframe.kernel.counting import count
from recframe.kernel.grouping import invert
from recframe.kernel.ranking import Ranker, Rankings
from recframe.kernel.threads import Array, in_threads
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.gains import Ideal, JudgedRows, rank_ideal, rank_judged, sum_columns
from recframe.metrics.measure import Plan, make_plan, measure_one
from recframe.metrics.names import Metric
from recframe.metrics.statistics import Policy, RankStatistics
from recframe.options import Options
from recframe.other_tables import load_table, read_frame

Make = Callable[[Interactions, Options], pd.DataFrame]
MakeTable = Callable[[pd.DataFrame], pd.DataFrame]
AddUp = Callable[[Array], Array]

RESULTS = "the result of mean, summary, compare, curve or catalogue"
MOST_JOINED = 1 << 16  # users whose values are in memory at a time if only means are needed


def policy_of(options: Options) -> Policy:
    """Return the options that metrics read."""
    return Policy(options.short, float(options.zero_division), options.has_truth, options.gain)


def measure_table(
    interactions: Interactions, options: Options, metrics: list[Metric]
) -> pd.DataFrame:
    """Return the metrics of every user of interactions, for each of their scores."""
    plan = make_plan(metrics)
    users = interactions.users
    order = sort_ids(users.ids)
    position = invert(order)
    ideal = None
    if plan.needs_gains and (gains := interactions.gains(options.gain)) is not None:
        ideal = rank_ideal(users.groups.codes, users.groups.n_groups, *gains)
    judged = interactions.judged() if plan.needs_judged else None
    cells = np.empty((len(interactions.scores), len(metrics), len(order)))
    for score, values in zip(interactions.scores, cells, strict=True):
        task = ScoreTask(interactions, score, plan, options, ideal, judged)
        in_threads(task.measure, ((run, values, position) for run in task.ranker.runs()))
    labels = make_columns(list(interactions.scores), [metric.label for metric in metrics])
    table = cells.reshape(len(labels), len(order)).T
    return pd.DataFrame(table, index=users.ids.take(order), columns=labels, copy=False)


class ScoreTask:
    """Measures all metrics by one score, a run of users at a time.

    `ranker` ranks rows by the score. `graded` ranks rows for the metrics of gains, if these need
    another count: some row has a gain but is not relevant, or is relevant without a gain.
    """

    def __init__(
        self,
        interactions: Interactions,
        score: Hashable,
        plan: Plan,
        options: Options,
        ideal: Ideal | None,
        judged: Judged | None,
    ) -> None:
        self.plan, self.policy, self.ideal = plan, policy_of(options), ideal
        self.n_unlisted, rule = interactions.n_unlisted, options.tie_rule
        rankings = interactions.rankings(score, options)
        deepest = max(plan.cut_offs, default=0)
        check_lengths(rankings, interactions.users.ids, score, deepest, options)
        self.graded = None
        if ideal is not None:
            graded = rankings._replace(grades=ideal.grades)
            if np.array_equal(ideal.grades > 0, interactions.relevant) and np.array_equal(
                ideal.n_unlisted, self.n_unlisted
            ):
                rankings = graded  # One count serves all metrics.
            else:
                self.graded = Ranker(graded, rule)
        self.ranker = Ranker(rankings, rule)
        self.judged = None
        if judged is not None:
            n_others = judged.n_others
            self.judged = rank_judged(rankings, rule, judged.rows, self.n_unlisted, n_others)
        features = interactions.features
        self.sums = sum_columns(rankings, rule, plan.sum_cut_offs, features) if features else {}

    def measure(self, run: slice, cells: Array, position: Array) -> None:
        """Write the metrics of a run of users into cells, a row for each metric.

        Each user has a column, at the user's position.
        """
        plan, ideal = self.plan, self.ideal
        counts = count(self.ranker, run, self.n_unlisted, plan.depth)
        rows = None if self.judged is None else JudgedRows(self.judged, run, plan.cut_offs)
        sums = {name: (total[run], n_rows[run]) for name, (total, n_rows) in self.sums.items()}
        grades = ideal.select(run, counts) if ideal is not None and self.graded is None else None
        statistics = of_gains = RankStatistics(counts, grades, sums, rows)
        if ideal is not None and self.graded is not None:
            counts = count(self.graded, run, ideal.n_unlisted, plan.depth)
            of_gains = RankStatistics(counts, ideal.select(run, counts))
        for metric, values in zip(plan.metrics, cells, strict=True):
            of_metric = of_gains if DEFINITIONS[metric.name].needs_gains else statistics
            values[position[run]] = measure_one(metric, of_metric, self.policy)


def check_lengths(
    rankings: Rankings, users: pd.Index[Any], score: Hashable, k: int, options: Options
) -> None:
    """Raise if `short` refuses a user with fewer ranked rows than k."""
    if options.short != "raise":  # Rows that are not sorted yet take long to count by user.
        return
    n_ranked = rankings.n_ranked
    fewest = 1 if options.has_truth else 0  # A user of truth may have no row.
    short = np.flatnonzero((n_ranked < k) & (n_ranked >= fewest))
    if len(short):
        user = int(short[n_ranked[short].argmin()])
        found = f"user {quote(users[[user]].tolist()[0])} has {n_ranked[user]}"
        n_short = f"{len(short)} of {len(users)} users"
        cut = "If lists were cut before exclude took rows from them, make them longer. "
        raise RecframeError(
            f"{n_short} have fewer than k={k} ranked rows by {quote(score)} ({found}). "
            f"{cut * (options.exclude is not None)}Pass short='pad' to divide by k anyway, "
            "short='shrink' to divide by the length of the list, or short='nan' for NaN.",
            {"short": "pad"},
        )


def make_columns(scores: Collection[Any], metrics: Collection[Any]) -> pd.MultiIndex:
    """Return the columns of a per-user table."""
    levels: list[Any] = [pd.Index(labels, tupleize_cols=False) for labels in (scores, metrics)]
    codes: Any = np.divmod(np.arange(len(scores) * len(metrics)), len(metrics))
    # from_product gives the same, but makes categoricals to sort the levels.
    return pd.MultiIndex(levels, codes, names=["score", "metric"], verify_integrity=False)


def tidy_table(per_user: pd.DataFrame) -> pd.DataFrame:
    """Return a per-user table as plain columns: users, score, and a column for each metric."""
    tidy = pd.DataFrame(tidy_columns(per_user), copy=False)
    scores = per_user.columns.unique("score")
    which = np.tile(np.arange(len(scores)), len(per_user))
    tidy.insert(per_user.index.nlevels, "score", pd.Index(scores, tupleize_cols=False).take(which))
    return tidy


def tidy_columns(per_user: pd.DataFrame) -> dict[Hashable, Any]:
    """Return the columns of a tidy table without the score, which callers write in other ways."""
    scores, metrics = (list(per_user.columns.unique(level)) for level in ("score", "metric"))
    names = ["user" if name is None else name for name in per_user.index.names]
    taken = [one for one in names if one in ("score", *metrics) or names.count(one) > 1]
    if taken:
        raise RecframeError(
            f"the user column {quote(taken[0])} has a name that results use. Rename it."
        )
    users = per_user.index if len(scores) == 1 else per_user.index.repeat(len(scores))
    columns = {name: users.get_level_values(level) for level, name in enumerate(names)}
    values = per_user.to_numpy().reshape(-1, len(metrics)).T
    return columns | dict(zip(metrics, values, strict=True))


def plain_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of means, intervals or differences as plain columns."""
    name, table = str(table.columns.name), pd.DataFrame(table)
    levels = list(table.index.names)
    taken = [level for level in levels if level in table.columns]
    if taken:
        raise RecframeError(f"by={quote(taken[0])} has a name that results use. Rename it.")
    if "score" not in levels:  # The columns of a curve are the scores.
        rows, scores = np.arange(len(table)), list(table.columns)
        keys = table.index.to_frame(index=False).iloc[np.repeat(rows, len(scores))]
        keys.insert(len(levels) - 1, "score", np.tile(pd.Index(scores), len(rows)))
        return keys.assign(**{name: table.to_numpy().ravel()}).reset_index(drop=True)
    table = table.rename_axis(columns=None).reset_index()
    if name.startswith("baseline: "):
        table.insert(len(levels), "baseline", name.removeprefix("baseline: "))
    return table


def name_figures(table: Any) -> dict[str, float]:
    """Return the finite figures of a table of all users under names for trackers."""
    rows = as_columns(table)
    outer = list(rows)[: list(rows).index("score")]  # segments, and one of several baselines
    figures, labels = dict[str, float](), dict[str, tuple[Hashable, ...]]()
    for row in rows.to_dict("records"):
        head = [*(f"{name}={as_text(row.pop(name))}" for name in outer), row.pop("score")]
        metric, k = row.pop("metric", None), row.pop("k", None)
        kind = [] if {"baseline", "difference"}.isdisjoint([*row, *outer]) else ["difference"]
        for column, number in row.items():
            names = [metric, *(one for one in dict.fromkeys([*kind, column]) if one != "mean")]
            if metric is None:  # A column has the means of a metric, for a curve at each cut-off.
                names = [column if k is None else f"{as_text(column).removesuffix('k')}{k}"]
            if is_number(number) and math.isfinite(number):
                label, name = (*head, *names), ".".join(map(_name_part, [*head, *names]))
                if name in labels:
                    both = f"{quote(labels[name])} and {quote(label)}"
                    raise RecframeError(f"table: {both} both become {quote(name)}. Rename one.")
                labels[name], figures[name] = label, float(number)
    return figures


def as_columns(table: Any) -> pd.DataFrame:
    """Return a table of all users as plain columns; tables of some engines have them already."""
    is_frame = isinstance(table, pd.DataFrame)
    rows = table if is_frame else read_frame(load_table("table", RESULTS, table))
    has_metrics = rows.columns.nlevels == 1  # Values of users have the levels score and metric.
    if has_metrics and {"score", "k"} & {*rows.index.names}:
        return plain_table(rows)
    if not has_metrics or "score" not in rows or pd.api.types.is_numeric_dtype(rows["score"]):
        raise RecframeError(
            f"table must be {RESULTS}, with scores in its index, but has the levels "
            f"{quote(list(rows.index.names))}; for values of users pass recframe.summary(table)"
        )
    return rows


def _name_part(label: Hashable) -> str:
    """Return a label in the letters, digits and underscores of ASCII, without a digit in front."""
    text = as_text(label).replace("@", "_at_").encode("ascii", "backslashreplace").decode()
    name = re.sub("[^A-Za-z0-9]+", "_", text).strip("_")
    return name if name[:1].isalpha() else f"_{name}"


def add_columns(values: Array) -> Array:
    """Return the sum of each column, by the pairwise summation that pandas uses."""
    sums: Array = np.ascontiguousarray(values.T).sum(axis=1)
    return sums


def mean_table(
    per_user: pd.DataFrame, weights: pd.Series | None = None, add_up: AddUp = add_columns
) -> pd.DataFrame:
    """Return the means of a per-user table: a row for each score, a column for each metric.

    If `add_up` returns a row of sums for each segment of users, the rows repeat for each segment.
    """
    scores, metrics = (per_user.columns.unique(level) for level in ("score", "metric"))
    values = per_user.to_numpy(float)
    # A user with a value counts by the user's weight.
    weight = 1.0 if weights is None else weights.to_numpy()[:, np.newaxis]
    counts = ~np.isnan(values) * weight
    sums, totals = add_up(np.where(counts > 0, values, 0) * weight), add_up(counts)
    means = np.divide(sums, totals, out=np.full(sums.shape, np.nan), where=totals > 0)
    means = means.reshape(-1, len(metrics))
    return pd.DataFrame(means, scores.take(np.arange(len(means)) % len(scores)), metrics)


def sum_and_count(per_user: pd.DataFrame) -> pd.DataFrame:
    """Return the sum and the count of values in each column of a per-user table, without NaN."""
    return pd.DataFrame({"sum": per_user.sum(), "count": per_user.count()})


def mean_of_sums(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the means of a per-user table from the sums and counts of its parts."""
    totals = reduce(pd.DataFrame.add, parts)
    return mean_table((totals["sum"] / totals["count"]).to_frame().T)


def mean_of_parts(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the means of per-user tables of different users that come one by one.

    Many users are added up part by part, without a table of all users. The last digit of a mean
    may then differ, because sums depend on their order.
    """
    waiting, sums = list[pd.DataFrame](), list[pd.DataFrame]()
    for table in tables:
        waiting.append(table)
        if sum(map(len, waiting)) > MOST_JOINED:
            sums = [reduce(pd.DataFrame.add, map(sum_and_count, waiting), *sums)]
            waiting = []
    if sums:
        return mean_of_sums([*sums, *map(sum_and_count, waiting)])
    return mean_table(join_tables(waiting))


def in_cells(values: Sequence[Any]) -> pd.DataFrame:
    """Return a frame with a cell for each value; engines can send this frame."""
    return pd.DataFrame({"cell": pd.Series(values, dtype=object)})


def join_tables(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return per-user tables of different users as one; several tables are sorted by user."""
    return tables[0] if len(tables) == 1 else sort_table(pd.concat(tables))


def sort_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a per-user table with users sorted."""
    return table.iloc[sort_ids(table.index)]
