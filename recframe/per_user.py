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
    values = {}
    for score in interactions.scores:
        rankings = interactions.rankings(score)
        if options.short == "raise":
            check_lengths(
                rankings,
                interactions.groups.users,
                score,
                metrics,
                empty_allowed=options.policy.absent is not None,
            )
        values[score] = measure_all(rankings, metrics, options)
    return to_table(values, interactions.groups, [metric.label for metric in metrics])


def measure_all(rankings: Rankings, metrics: list[Metric], options: Options) -> Array:
    """Return the metrics of every user, an array of shape (n_metrics, n_users)."""
    # Gains are matched to rows one by one, so that every row must be counted.
    depth = find_depth(metrics) if rankings.gains is None else None

    values = np.empty((len(metrics), len(rankings.offsets) - 1))

    def measure_chunk(chunk: Rankings, users: slice) -> None:
        counts = count(chunk, options.ties, depth)
        grades = None if chunk.gains is None else grade(chunk, chunk.gains, counts, options.ties)
        values[:, users] = measure(counts, metrics, options.policy, grades)

    map_chunks(measure_chunk, rankings)
    return values
