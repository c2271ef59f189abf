"""The per-user table of a frame: from its rows to the values of every user."""

import numpy as np
import pandas as pd

from recframe.columns import Columns
from recframe.frames import Interactions, check_lengths
from recframe.graded import needs_gains
from recframe.grades import grade
from recframe.groups import Array
from recframe.kernel import count
from recframe.labels import Metric
from recframe.metrics import find_depth, measure
from recframe.options import Options
from recframe.rankings import Rankings, map_chunks
from recframe.tables import to_table
from recframe.truth import read_interactions
from recframe.users import sort_users


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
    for score, of_score in zip(interactions.scores, values, strict=True):
        rankings = interactions.rankings(score)
        if options.short == "raise":
            is_empty_allowed = options.policy.absent is not None
            check_lengths(rankings, groups.users, score, metrics, empty_allowed=is_empty_allowed)
        measure_all(rankings, metrics, options, places, of_score)
    labels = [metric.label for metric in metrics]
    return to_table(values, groups.users[order], list(interactions.scores), labels)


def measure_all(
    rankings: Rankings, metrics: list[Metric], options: Options, places: Array, values: Array
) -> None:
    """Write the metrics of every user to values of shape (n_metrics, n_users), at their places."""
    # Gains are matched to rows one by one, so that every row must be counted.
    depth = find_depth(metrics) if rankings.gains is None else None

    def measure_chunk(chunk: Rankings, users: slice) -> None:
        counts = count(chunk, options.ties, depth)
        grades = None if chunk.gains is None else grade(chunk, chunk.gains, counts, options.ties)
        measured = measure(counts, metrics, options.policy, grades)
        for row, of_users in zip(values, measured, strict=True):
            row[places[users]] = of_users

    map_chunks(measure_chunk, rankings)
