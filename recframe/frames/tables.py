"""Tables: from the rows of a frame to the values of every user, and the tables taken from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, option, quote
from recframe.frames.ids import sort_ids
from recframe.frames.interactions import Interactions, Judged
from recframe.kernel.counting import count
from recframe.kernel.grouping import invert
from recframe.kernel.ranking import Ranker
from recframe.kernel.threads import Array, in_threads
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.gains import Ideal, JudgedRows, rank_ideal, rank_judged, sum_columns
from recframe.metrics.measure import Plan, make_plan, measure_one
from recframe.metrics.names import Metric
from recframe.metrics.statistics import Policy, RankStatistics
from recframe.options import Options

Make = Callable[[Interactions, Options], pd.DataFrame]
MakeTable = Callable[[pd.DataFrame], pd.DataFrame]
AddUp = Callable[[Array], Array]

MOST_JOINED = 1 << 16  # users whose values are held at a time where only means are asked for


def policy_of(options: Options) -> Policy:
    """Return what the metrics need to know of the options."""
    return Policy(options.short, float(options.zero_division), options.has_truth, options.gain)


def measure_table(
    interactions: Interactions, options: Options, metrics: list[Metric], *, is_single: bool = False
) -> pd.DataFrame:
    """Return the metrics of every user of interactions, for each of their scores.

    The columns of a single metric may be the scores alone.
    """
    plan = make_plan(metrics)
    users = interactions.users
    order = users.sort()
    position = invert(order)
    ideal = None
    if plan.needs_gains and (gains := interactions.gains(options.gain)) is not None:
        ideal = rank_ideal(users.groups.codes, users.groups.n_groups, *gains)
    judged = interactions.judged() if plan.needs_judged else None
    cells = np.empty((len(interactions.scores), len(metrics), len(order)))
    for score, of_score in zip(interactions.scores, cells, strict=True):
        measure_run, runs = _plan_runs(
            interactions, score, plan, options, ideal, judged, of_score, position
        )
        in_threads(measure_run, ((run,) for run in runs))
    labels: pd.Index[Any]
    labels = make_columns(list(interactions.scores), [metric.label for metric in metrics])
    if is_single:
        labels = labels.unique("score").rename(metrics[0].label)
    table = cells.reshape(len(labels), len(order)).T
    return pd.DataFrame(table, index=users.ids.take(order), columns=labels, copy=False)


def _plan_runs(
    interactions: Interactions,
    score: Hashable,
    plan: Plan,
    options: Options,
    ideal: Ideal | None,
    judged: Judged | None,
    cells: Array,
    position: Array,
) -> tuple[Callable[[slice], None], list[slice]]:
    """Return what measures runs of users by a score, and these runs.

    It writes metrics into cells: a row for each, with users at their positions.
    """
    rule, policy, n_unlisted = options.tie_rule, policy_of(options), interactions.n_unlisted
    rankings = interactions.rankings(score, options)
    if options.short == "raise":
        deepest = max(plan.cut_offs, default=0)
        check_lengths(rankings.n_ranked, interactions.users.ids, score, deepest, options)
    of_gains, of_judged, sums = None, None, {}
    if ideal is not None:
        graded = rankings._replace(grades=ideal.grades)
        if np.array_equal(ideal.grades > 0, interactions.relevant) and np.array_equal(
            ideal.n_unlisted, n_unlisted
        ):
            rankings = graded  # which are counted once for all metrics
        else:
            of_gains = Ranker(graded, rule)
    ranker = Ranker(rankings, rule)
    if judged is not None:
        of_judged = rank_judged(rankings, rule, judged.rows, n_unlisted, judged.n_others)
    if interactions.averaged:
        names = [name for name, _ in interactions.columns.averaged]
        averaged = dict(zip(names, interactions.averaged, strict=True))
        sums = sum_columns(rankings, rule, plan.sum_cut_offs, averaged)

    def measure_run(run: slice) -> None:
        counts = count(ranker, run, rule, n_unlisted, plan.depth)
        grades = None if ideal is None or of_gains is not None else ideal.select(run, counts)
        rows = None if of_judged is None else JudgedRows(of_judged, rule, run, plan.cut_offs)
        own = {name: (total[run], n_rows[run]) for name, (total, n_rows) in sums.items()}
        statistics = gained = RankStatistics(counts, grades, own, rows)
        if ideal is not None and of_gains is not None:
            counts = count(of_gains, run, rule, ideal.n_unlisted, plan.depth)
            gained = RankStatistics(counts, ideal.select(run, counts))
        for index in plan.order:
            metric = plan.metrics[index]
            of_metric = gained if DEFINITIONS[metric.name].needs_gains else statistics
            cells[index][position[run]] = measure_one(metric, of_metric, policy)

    return measure_run, ranker.runs()


def check_lengths(
    n_ranked: Array, users: pd.Index[Any], score: Hashable, k: int, options: Options
) -> None:
    """Raise where a user has fewer ranked rows than the deepest cut-off."""
    fewest = 1 if options.has_truth else 0  # a user of truth may have none
    short = np.flatnonzero((n_ranked < k) & (n_ranked >= fewest))
    if len(short):
        user = int(short[n_ranked[short].argmin()])
        found = f"user {quote(users[[user]].tolist()[0])} has {n_ranked[user]}"
        raise RecframeError(
            f"k={k} is more than the ranked rows by {quote(score)} of {len(short)} of {len(users)} "
            f"users ({found}); pass {option('short', 'pad')} to divide by k all the same, "
            f"{option('short', 'shrink')} to divide by the rows there are, or "
            f"{option('short', 'nan')} for NaN",
            {"short": "pad"},
        )


def make_columns(scores: Collection[Any], metrics: Collection[Any]) -> pd.MultiIndex:
    """Return the columns of a per-user table."""
    levels: list[Any] = [pd.Index(labels, tupleize_cols=False) for labels in (scores, metrics)]
    codes: Any = np.divmod(np.arange(len(scores) * len(metrics)), len(metrics))
    # from_product gives the same, but sorts its levels by way of categoricals.
    return pd.MultiIndex(levels, codes, names=["score", "metric"], verify_integrity=False)


def tidy_table(per_user: pd.DataFrame) -> pd.DataFrame:
    """Return a per-user table as plain columns: the users', score, and one for each metric."""
    tidy = pd.DataFrame(tidy_columns(per_user), copy=False)
    scores = per_user.columns.unique("score")
    which = np.tile(np.arange(len(scores)), len(per_user))
    tidy.insert(per_user.index.nlevels, "score", pd.Index(scores, tupleize_cols=False).take(which))
    return tidy


def tidy_columns(per_user: pd.DataFrame) -> dict[Hashable, Any]:
    """Return the columns of a tidy table but for the scores', which are written in many ways."""
    scores, metrics = (list(per_user.columns.unique(level)) for level in ("score", "metric"))
    names = ["user" if name is None else name for name in per_user.index.names]
    taken = [name for name in names if name in ("score", *metrics)]
    if taken:
        raise RecframeError(
            f"the user column {quote(taken[0])} has a name that results use; rename it"
        )
    users = per_user.index if len(scores) == 1 else per_user.index.repeat(len(scores))
    columns = {name: users.get_level_values(level) for level, name in enumerate(names)}
    values = per_user.to_numpy().reshape(-1, len(metrics)).T
    return columns | dict(zip(metrics, values, strict=True))


def plain_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of means, intervals or differences as plain columns."""
    name, plain = str(table.columns.name), pd.DataFrame(table)
    levels = list(plain.index.names)
    taken = [level for level in levels if level in plain.columns]
    if taken:
        raise RecframeError(f"by={quote(taken[0])} has a name that results use; rename it")
    if "score" not in levels:  # that of a curve, whose columns are the scores
        rows, scores = np.arange(len(plain)), list(plain.columns)
        keys = plain.index.to_frame(index=False).iloc[np.repeat(rows, len(scores))]
        keys.insert(len(levels) - 1, "score", np.tile(pd.Index(scores), len(rows)))
        return keys.assign(**{name: plain.to_numpy().ravel()}).reset_index(drop=True)
    plain = plain.rename_axis(columns=None).reset_index()
    if name.startswith("baseline: "):
        plain.insert(len(levels), "baseline", name.removeprefix("baseline: "))
    return plain


def add_columns(values: Array) -> Array:
    """Return the sum of each column, added up in pairs as pandas does."""
    sums: Array = np.ascontiguousarray(values.T).sum(axis=1)
    return sums


def mean_table(
    per_user: pd.DataFrame, weights: pd.Series | None = None, add_up: AddUp = add_columns
) -> pd.DataFrame:
    """Return the means of a per-user table: a row for each score, a column for each metric.

    If `add_up` returns a row of sums for each segment of users, each segment has these rows.
    """
    scores, metrics = (per_user.columns.unique(level) for level in ("score", "metric"))
    values = per_user.to_numpy(float)
    # Each user who has a value counts with its weight.
    of_users = 1.0 if weights is None else weights.to_numpy()[:, np.newaxis]
    counts = ~np.isnan(values) * of_users
    sums, totals = add_up(np.where(counts > 0, values, 0) * of_users), add_up(counts)
    means = np.divide(sums, totals, out=np.full(sums.shape, np.nan), where=totals > 0)
    means = means.reshape(-1, len(metrics))
    return pd.DataFrame(means, scores.take(np.arange(len(means)) % len(scores)), metrics)


def sum_and_count(per_user: pd.DataFrame) -> pd.DataFrame:
    """Return what a part of a per-user table adds to the means; NaN is left out."""
    return pd.DataFrame({"sum": per_user.sum(), "count": per_user.count()})


def add_up(parts: pd.DataFrame) -> pd.DataFrame:
    """Return the sums and counts of several parts of a per-user table, joined, as those of one."""
    return parts.groupby(level=["score", "metric"], sort=False).sum()


def mean_of_sums(parts: pd.DataFrame) -> pd.DataFrame:
    """Return the means of a per-user table from the sums and counts of its parts, joined."""
    totals = add_up(parts)
    return mean_table((totals["sum"] / totals["count"]).to_frame().T)


def mean_of_parts(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the means of per-user tables of different users that come one by one.

    Many users are added up part by part, which needs no table of all. The last digit of a mean may
    then differ, as sums depend on their order.
    """
    held, sums = list[pd.DataFrame](), list[pd.DataFrame]()
    for table in tables:
        held.append(table)
        if sum(map(len, held)) > MOST_JOINED:
            sums = [reduce(pd.DataFrame.add, map(sum_and_count, held), *sums)]
            held = []
    if sums:
        return mean_of_sums(reduce(pd.DataFrame.add, map(sum_and_count, held), *sums))
    return mean_table(join_tables(held))


def in_cells(values: Sequence[Any]) -> pd.DataFrame:
    """Return a frame with a cell for each value, as which any value travels to anywhere."""
    return pd.DataFrame({"cell": pd.Series(values, dtype=object)})


def join_tables(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return per-user tables of different users as one, users sorted where there are several."""
    return tables[0] if len(tables) == 1 else sort_table(pd.concat(tables))


def sort_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a per-user table with users sorted."""
    return table.iloc[sort_ids(table.index)]
