"""Segments of users on the command line: the same view of each, one below the other."""

import argparse
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from recframe.analysis.grouping import Grouping, find_grouping
from recframe.analysis.segments import Segmented, join_segments, segment_users
from recframe.cli.results import Result
from recframe.cli.views import view
from recframe.files.output import Means
from recframe.frames.columns import Columns
from recframe.metrics.names import Metric


def add_segments(command: argparse.ArgumentParser) -> None:
    """Add what parts users, and what they weigh."""
    group = command.add_argument_group("segments")
    group.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="a table for each segment of users: a column that does not vary within a user's rows; "
        "for several repeat it",
    )
    group.add_argument(
        "--weights",
        metavar="COLUMN",
        help="what each user counts, 0 or more: a column that does not vary within a user's rows",
    )


def read_grouping(arguments: argparse.Namespace, sample: pd.DataFrame) -> Grouping | None:
    """Return what parts and weighs users, None where nothing does."""
    return find_grouping(sample, arguments.by, arguments.weights)


def view_each(
    parts: Iterable[pd.DataFrame],
    arguments: argparse.Namespace,
    baseline: Hashable | None,
    about: Mapping[str, Any],
    grouping: Grouping,
    columns: Columns,
    metrics: list[Metric],
) -> tuple[Result, Means]:
    """Return what is asked for of the users of each segment, and the means of all."""
    segmented = segment_users(
        pd.concat(parts, ignore_index=True), grouping, columns.scores, metrics
    )
    per_user, weights, _, segments = segmented
    _, means = view([per_user], arguments, None, {}, weights)
    if not grouping.by or not segments:  # as of no user
        return view([per_user], arguments, baseline, about, weights)
    results = [
        view([per_user.iloc[rows]], arguments, baseline, {}, _take(weights, rows))[0]
        for rows in segments
    ]
    return join_results(results, segmented, grouping, {**about, "users": means.n_all}), means


def join_results(
    results: list[Result], segmented: Segmented, grouping: Grouping, about: Mapping[str, Any]
) -> Result:
    """Return the results of segments as one."""
    shown = join_segments([result.shown for result in results], segmented, grouping)
    found = [
        {"segment": segment, **result.document}
        for segment, result in zip(list_segments(segmented, grouping), results, strict=True)
    ]
    return Result(shown, shown, {**about, "segments": found}, corner=results[0].corner)


def list_segments(segmented: Segmented, grouping: Grouping) -> list[dict[str, Any]]:
    """Return what each segment is: its values by the names of columns."""
    names = [str(one.label) for one in grouping.by]
    if not names:
        return [{}]
    return [
        dict(zip(names, segmented.keys.iloc[rows[0]].tolist(), strict=True))
        for rows in segmented.segments
    ]


def _take(weights: pd.Series | None, rows: Any) -> pd.Series | None:
    """Return the weights of users, where there are any."""
    return None if weights is None else weights.iloc[rows]
