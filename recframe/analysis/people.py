"""Labels by people: the options that read them, and which users they judged."""

import math
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import PurePath
from typing import Any, cast

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from recframe.analysis.bounds import share_judged
from recframe.analysis.trusted import NOT_JUDGED
from recframe.errors import RecframeError, as_text, count_of, prefix_errors, quote
from recframe.frames.columns import Columns, find_companion_columns
from recframe.frames.ids import sort_ids
from recframe.frames.interactions import Interactions
from recframe.frames.judgments import load_frame, read_judgments
from recframe.frames.names import check_label, get_column, is_same, list_labels, remove_labels
from recframe.frames.tables import make_columns, measure_table
from recframe.frames.truth import Judge
from recframe.frames.value_errors import ABSTAINED
from recframe.frames.values import find_nulls, read_relevance
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import Metric, is_metric
from recframe.options import INFER, Options, is_key
from recframe.other_tables import is_path, load_companion

AGREEMENT = (  # figures of rows that people judged
    "rows judged by people",
    "of these relevant to the judge",
    "of these relevant to people",
    "of these relevant to both",
)
KAPPA = "kappa of judge and people"
PARTLY_JUDGED = -math.inf  # people's value of a user of whom they judged some rows only
FIRST_HITS = ("hit_rate", "reciprocal_rank")  # where R = 0 counts as 0, they do not read R


def is_per_user(trusted: Any) -> bool:
    """Return whether trusted labels are people's values of users, not of rows."""
    columns = trusted.columns if isinstance(trusted, pd.DataFrame) else None
    return columns is not None and (columns.nlevels > 1 or is_metric(columns.name))


def find_people(
    trusted: Any,
    columns: Columns,
    options: Options,
    sample: pd.DataFrame,
    read_values: Callable[[Hashable], pd.Series],
    open_path: Callable[[Any], Any],
) -> Options:
    """Return the options that evaluate people's labels.

    The labels are a column of the rows, or pairs in a frame or file, like truth.
    """
    if options.is_condensed:
        raise RecframeError(
            "trusted needs the same rows by judge and people, but unjudged='drop' removes "
            "some. Pass unjudged='nonrelevant'."
        )
    if isinstance(trusted, pd.Series):
        raise RecframeError(
            "trusted must be the label of a column, pairs, or a table of users' values, but is a "
            "Series. Add it to the frame, and pass its label."
        )
    least = options.trusted_min_relevance
    shared: dict[str, Any] = {"min_relevance": least, "null_relevance": "nonrelevant"}
    is_text = isinstance(trusted, str) and not (PurePath(trusted).suffix or "/" in trusted)
    if is_text or any(is_same(label, trusted) for label in list_labels(sample)):
        check_label(sample, "trusted", trusted)
        _check_grades(read_values(trusted), least)
        return replace(options, relevant=trusted, truth=None, population="raise", **shared)
    pairs = load_companion("trusted", trusted)
    pairs = load_frame("trusted", open_path(pairs) if is_path(pairs) else pairs)
    names = {name: getattr(options, name) for name in ("truth_user", "truth_item")}
    kept = {name: one if is_key(one) and one in pairs else INFER for name, one in names.items()}
    shared |= {"truth": pairs, "population": "all", "relevant": None, **kept}
    people = replace(options, **{**shared, "min_relevance": None})
    with prefix_errors("trusted"):
        ids = find_companion_columns("truth", pairs, columns, people).labels
    others = remove_labels(list_labels(pairs), ids)
    if len(others) != 1:
        raise RecframeError(
            f"trusted must have a column of labels next to the ids {quote(ids)}, also 0 for what "
            f"is not relevant, but has {quote(others)}. Pass trusted[{quote([*ids, 'LABEL'])}], or "
            "the table of users' values that evaluate makes."
        )
    _check_grades(get_column(pairs, others[0]), least)
    return replace(options, **{**shared, "relevant": others[0]})


def _check_grades(labels: pd.Series, least: float | None) -> None:
    """Raise unless labels are grades, of relevant rows and of others."""
    grades, name = labels.dropna(), quote(labels.name)
    if infer_dtype(grades) in ("string", "mixed"):
        raise RecframeError(
            f"trusted must hold booleans or grades, but holds {quote(grades.iloc[0])} in {name}. "
            "Pass numbers, null where people did not judge, such as .map({'yes': 1, 'no': 0})."
        )
    if least is None and not grades.isin([0, 1]).all():
        remedy = "Pass a number." + (ABSTAINED if grades.min() == -1 else "")
        raise RecframeError(
            "trusted_min_relevance must be the lowest grade that is relevant to people, whose "
            f"grades {name} go from {grades.min()} to {grades.max()}. {remedy}"
        )
    if (grades >= (1 if least is None else least)).all():
        raise RecframeError(
            f"trusted must also say which rows are not relevant, but has relevant ones only in "
            f"{name}. Add the other rows that people judged, with 0, or pass the table of users' "
            "values that evaluate makes, with the users whom people judged."
        )


def check_trustable(metrics: list[Metric]) -> None:
    """Raise if the values of a metric do not depend on labels."""
    for metric in metrics:
        if DEFINITIONS[metric.name].of_column or metric.name == "judged":
            raise RecframeError(
                f"trusted corrects metrics of relevance, but {metric.label} does not depend on "
                "labels. Leave it out."
            )


def measure_people(
    interactions: Interactions, options: Options, metrics: list[Metric]
) -> pd.DataFrame:
    """Return the metrics of every user by people, infinite for users whom they did not judge.

    A user counts as judged if people judged all rows that a metric reads: for some metrics those
    that may be among the first k, for others all. The value is -inf if they judged a part of them.
    """
    table = measure_table(interactions, options, metrics)
    judged, users = interactions.judged(), interactions.users
    order, n_rows = sort_ids(users.ids), np.diff(users.groups.offsets)
    n_judged = users.groups.count(judged.rows)
    is_listed = (n_judged + judged.n_others + interactions.n_unlisted)[order, np.newaxis] > 0
    of_rows = np.divide(n_judged, n_rows, out=np.ones(len(n_rows)), where=n_rows > 0)
    for metric in metrics:
        shares = of_rows[order, np.newaxis]
        # Some metrics with a cut-off read no relevance beyond it.
        reads_first = DEFINITIONS[metric.name].zero_without_relevant or (
            metric.name in FIRST_HITS and options.zero_division == 0
        )
        if metric.k is not None and reads_first:
            shares = share_judged(interactions, options, [metric.k]).fillna(1).to_numpy()
        shares = np.where(is_listed, shares, 0.0)
        states = np.where(shares == 0, NOT_JUDGED, PARTLY_JUDGED)
        columns = make_columns(list(interactions.scores), [metric.label])
        table[columns] = np.where(shares > 1 - 1e-12, table[columns], states)
    return table


def check_judged(people: pd.DataFrame) -> pd.DataFrame:
    """Return people's values of users; raise if they judged no user, or a part of some user."""
    for column, values in people.items():
        score, label = cast(tuple[Hashable, str], column)
        partly = people.index[values == PARTLY_JUDGED]
        if len(partly):
            raise RecframeError(
                f"trusted: people must have judged all rows that {label} of {as_text(score)} "
                f"reads, or none, but of {count_of(len(partly), 'user')} (such as "
                f"{quote(partly[:1].tolist()[0])}) they judged some; judge the others, or leave "
                "out the labels of these users; precision, dcg and rbp at k read the first k rows, "
                "most other metrics all rows"
            )
    if (people == NOT_JUDGED).all(axis=None):
        raise RecframeError(
            "trusted: people judged none of the users evaluated. Pass their labels."
        )
    return people


def count_agreement(interactions: Interactions, people: Options) -> dict[str, float]:
    """Return how many rows people judged, and how many of these judge and people call relevant."""
    if people.has_truth:
        judge = Judge(read_judgments(interactions.columns, people, is_all=False), people)
        by_people = judge.judge(interactions)
        relevant, is_judged = by_people.relevant, by_people.judged().rows
    else:
        column = interactions.get_column(people.relevant)
        relevant, is_judged = read_relevance(column, people)[0], ~find_nulls(column)
    by_judge = interactions.relevant
    masks = (is_judged, is_judged & by_judge, is_judged & relevant, by_judge & is_judged & relevant)
    counts = (int(mask.sum()) if interactions.is_judged else math.nan for mask in masks)
    return dict[str, float](zip(AGREEMENT, counts, strict=True))


def find_kappa(n: float, by_judge: float, by_people: float, by_both: float) -> float:
    """Return the agreement of judge and people beyond chance (J. Cohen, 1960), from row counts."""
    agreed = n - by_judge - by_people + 2 * by_both
    by_chance = (by_judge * by_people + (n - by_judge) * (n - by_people)) / n if n else 0
    return (agreed - by_chance) / (n - by_chance) if n > by_chance else math.nan
