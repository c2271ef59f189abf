"""The per-user table of a frame: from its rows to the values of every user."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from recframe.frames.columns import Columns
from recframe.frames.graded import needs_gains
from recframe.frames.interactions import Interactions, check_lengths
from recframe.frames.tables import to_table
from recframe.frames.truth import read_interactions
from recframe.frames.user_groups import sort_users
from recframe.kernel.counting import count
from recframe.kernel.grouping import Array, in_threads
from recframe.kernel.rankings import Rankings, split_users
from recframe.metrics.ideal import grade
from recframe.metrics.measure import find_depth, measure
from recframe.metrics.names import Metric
from recframe.options import Options


def per_user_table(
    frame: pd.DataFrame, columns: Columns, metrics: list[Metric], options: Options
) -> pd.DataFrame:
    """Return the metrics of every user; the arguments have been checked."""
    graded = needs_gains(metrics, options)
    interactions = read_interactions(frame, columns, options, graded=graded)
    return measure_table(interactions, metrics, options)


def measure_table(
    interactions: Interactions, metrics: list[Metric], options: Options
) -> pd.DataFrame:
    """Return the metrics of every user of interactions, for each of their scores."""
    groups = interactions.groups
    order = sort_users(groups)
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    values = np.empty((len(interactions.scores), len(metrics), len(order)))

    def measure_run(rows: Array, run: Rankings, users: slice) -> None:
        for row, of_users in zip(rows, measure_rankings(run, metrics, options), strict=True):
            row[places[users]] = of_users

    runs = []
    for score, rows in zip(interactions.scores, values, strict=True):
        rankings = interactions.rankings(score)
        if options.short == "raise":
            is_empty_allowed = options.policy.absent is not None
            check_lengths(rankings, groups.users, score, metrics, empty_allowed=is_empty_allowed)
        runs += [(rows, *run) for run in split_users(rankings)]
    in_threads(measure_run, runs)
    labels = [metric.label for metric in metrics]
    return to_table(values, groups.users.take(order), list(interactions.scores), labels)


def measure_rankings(
    rankings: Rankings, metrics: list[Metric], options: Options
) -> Iterator[Array]:
    """Yield metrics one after the other, an array of shape (n_users,) each."""
    # Gains are matched to rows one by one, so that every row must be counted.
    depth = find_depth(metrics) if rankings.gains is None else None
    counts = count(rankings, options.ties, depth)
    gains = rankings.gains
    grades = None if gains is None else grade(rankings, gains, counts, options.ties)
    return measure(counts, metrics, options.policy, grades)
