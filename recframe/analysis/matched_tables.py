"""Two tables of users, such as of two nights: matched and compared."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.compare import Comparison, ScorePairs, compare_pairs
from recframe.analysis.intervals import weigh_users
from recframe.analysis.summary import summary_table
from recframe.analysis.trusted import NOT_JUDGED, check_users_known, read_people
from recframe.errors import RecframeError, count_of, prefix_errors, quote, show_path
from recframe.frames.names import is_infer
from recframe.frames.tables import make_columns, mean_table
from recframe.frames.user_values import (
    LEVELS,
    check_indexes,
    check_per_user,
    list_other_options,
)
from recframe.kernel.threads import Array
from recframe.metrics.names import find_alike
from recframe.notes import taking_notes


class Matched(NamedTuple):
    """The values that two tables share, and a summary of the rest.

    Parameters
    ----------
    per_user : DataFrame
        The compared scores of all users, numbered, all old scores first.
    has_user : ndarray of shape (2, n_users), bool
        Whether each table has the user.
    scores : list of (str, str)
        The old and the new score of each comparison.
    only : list of dict
        The number of users, the scores and the metrics that only one table has.
    weights : Series, default None
        The weights of all users.
    """

    per_user: pd.DataFrame
    has_user: Array
    scores: list[tuple[str, str]]
    only: list[dict[str, Any]]
    weights: pd.Series | None = None

    @property
    def shared(self) -> pd.DataFrame:
        """The values of the users that both tables have."""
        return self.per_user[self.has_user.all(axis=0)]


def match_tables(
    tables: list[pd.DataFrame], names: list[str], metrics: list[str] | None, floors: Iterable[str]
) -> Matched:
    """Return the values that an old and a new table share, of these metrics and floors or of all.

    Raise if they share nothing, or if a table lacks a metric that is asked for.
    """
    read = []
    for table, name in zip(tables, names, strict=True):
        with prefix_errors(show_path(name)):
            read.append(check_per_user(table))
    check_indexes(read)
    labels = chain(*(table.columns.unique("metric") for table in reversed(read)))
    alike = find_alike([*(metrics or ()), *labels, *floors])
    read = [table.rename(columns=alike, level="metric") for table in read]
    asked = list(dict.fromkeys(alike[metric] for metric in [*(metrics or ()), *floors]))
    scores, known = ([list(table.columns.unique(level)) for table in read] for level in LEVELS)
    shared, pairs = _find_shared(known, scores, names, asked)
    shared = asked if metrics else shared
    compared = list(zip(*pairs, strict=True))
    columns = [pd.MultiIndex.from_product([of_table, shared]) for of_table in compared]
    cells = [table[of_table] for table, of_table in zip(read, columns, strict=True)]
    # Old and new scores may have the same label, so they are numbered.
    numbered = pd.MultiIndex.from_product([range(2 * len(pairs)), shared], names=LEVELS)
    per_user = pd.concat(cells, axis=1).set_axis(numbered, axis=1)
    per_user.index.names = read[1].index.names
    has_user = np.array([per_user.index.isin(table.index) for table in read])
    if not has_user.all(axis=0).any():
        users = " and ".join(quote(table.index[:1].tolist()) for table in read)
        raise RecframeError(
            f"{show_path(names[1])} has no user of {show_path(names[0])}, only users such as "
            f"{users}. Give ids of one kind."
        )
    only = [
        {
            "n_users": int((has_user[n] & ~has_user.all(axis=0)).sum()),
            "scores": [score for score in scores[n] if score not in compared[n]],
            "metrics": [label for label in known[n] if not metrics and label not in shared],
        }
        for n in range(2)
    ]
    return Matched(per_user, has_user, pairs, only)


def _find_shared(
    known: list[list[str]], scores: list[list[str]], names: list[str], asked: list[str]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the metrics that both tables have, and the old and the new score of each pair.

    A pair has equal labels, or the only score of each table. Raise if a table lacks a metric that
    is asked for, or if tables share nothing.
    """
    for metric in asked:
        for name, labels in zip(names, known, strict=True):
            if metric not in labels:
                raise RecframeError(
                    f"{quote(metric)} must be in both files; {show_path(name)} has {quote(labels)}"
                )
    metrics = [metric for metric in known[1] if metric in known[0]]
    pairs = [(score, score) for score in scores[1] if score in scores[0]]
    if not pairs and len(scores[0]) == len(scores[1]) == 1:
        pairs = [(scores[0][0], scores[1][0])]
    for level, shared, of_tables in (("metric", metrics, known), ("score", pairs, scores)):
        if not shared:
            raise RecframeError(
                f"{show_path(names[1])} has no {level} of {show_path(names[0])}: they have "
                f"{quote(of_tables[1])} and {quote(of_tables[0])}"
            )
    return metrics, pairs


def list_missing(matched: Matched, names: list[str]) -> list[str]:
    """Return a line for each score and metric of the old table that the new one lacks."""
    old, new = map(show_path, names)
    missing = [
        f"{what} {quote(label)} of {old} is not in {new}"
        for what in ("score", "metric")
        for label in matched.only[0][f"{what}s"]
    ]
    return missing + [
        f"score {quote(score)} of {old} is not in {new}; its {quote(other)} is compared instead"
        for score, other in matched.scores
        if score != other
    ]


def compare_matched(matched: Matched, how: Comparison) -> pd.DataFrame:
    """Return the changes of every score, a row for each metric.

    The last columns hold the number of all users with an old value, the mean of all new values,
    and the means of the users compared.
    """
    n, shared, weights = len(matched.scores), matched.shared, matched.weights
    pairs = ScorePairs(shared, [(i, n + i) for i in range(n)], are_several=False)
    of_shared = None if weights is None else weights[matched.has_user.all(axis=0)]
    table = compare_pairs(pairs, of_shared, how)
    unit = None if is_infer(how.unit) else how.unit  # compare_pairs refused repeated units
    per_user, counted = weigh_users(matched.per_user, weights, unit)
    old = per_user.to_numpy().T[: len(table)]
    table["n_old"] = [np.count_nonzero(counted.join(values)[1]) for values in old]
    table["new_mean"] = find_means(matched, how).to_numpy()[n:].ravel()
    if how.trusted is not None:
        table["old"] = table["new_mean"] - table["difference"]
    else:
        has_new = shared.iloc[:, len(table) :].notna().to_numpy()
        of_both = shared.iloc[:, : len(table)].where(has_new)
        table["old"] = mean_table(of_both, of_shared).to_numpy().ravel()
    table["new"] = table["old"] + table["difference"]
    named = {n + i: new for i, (_, new) in enumerate(matched.scores)}
    return table.rename(index=named, level="score")


def find_means(matched: Matched, how: Comparison) -> pd.DataFrame:
    """Return the means of all values of each score, by people if they corrected some."""
    per_user, weights = matched.per_user, matched.weights
    if how.trusted is None:
        return mean_table(per_user, weights)
    with taking_notes():  # the differences note the same
        how = how._replace(unit=None if is_infer(how.unit) else how.unit)
        means = summary_table(per_user, weights, how=how)["mean"]
    columns = per_user.columns.unique("metric")
    return pd.DataFrame(means.to_numpy().reshape(-1, len(columns)), columns=columns)


def number_people(people: Sequence[pd.DataFrame], matched: Matched) -> pd.DataFrame:
    """Return people's values in the columns of matched tables, whose scores are numbered.

    They are one table of the old and the new scores, or one for each.
    """
    are_apart = all(old != new for old, new in matched.scores)
    if len(people) > 2 or (len(people) == 1 and not are_apart):
        raise RecframeError(
            "trusted must be two tables, people's values for the old and for the new table, or one "
            f"if all scores have other names in both, but is {count_of(len(people), 'table')}"
        )
    metrics, sides = matched.per_user.columns.unique("metric"), zip(*matched.scores, strict=True)
    tables = []
    for table, scores in zip([people[0], people[-1]], sides, strict=True):
        check_users_known(table, matched.shared.index)
        tables.append(read_people(table, make_columns(scores, metrics)))
    users = tables[0].index.union(tables[1].index)
    both = [one.reindex(users, fill_value=NOT_JUDGED) for one in tables]
    return pd.concat(both, axis=1).set_axis(matched.per_user.columns, axis=1)


def list_alone(matched: Matched, names: list[str]) -> list[str]:
    """Return a line for all that only one of the tables has, for renamed scores, equal values."""
    shared, lines = matched.shared, list[str]()
    for name, only in zip(names, matched.only, strict=True):
        n_only, *labels = only.values()
        of_nouns = zip(("score", "metric"), labels, strict=True)
        parts = [count_of(n_only, "user")] if n_only else []
        parts += [f"{count_of(len(one), noun)} {quote(one)}" for noun, one in of_nouns if one]
        if parts:
            both = f"; both have {count_of(len(shared), 'user')}" if n_only else ""
            lines.append(f"only {show_path(name)} has {', '.join(parts)}, left out{both}")
    for old, new in matched.scores:
        if old != new:
            lines.append(
                f"{quote(new)} is compared with {quote(old)}, each the only score of a file"
            )
    old, new = np.split(shared.to_numpy(), 2, axis=1)
    if np.array_equal(old, new, equal_nan=True):
        lines.append("all values are the same in both files")
    return lines


def check_same_options(
    made: Sequence[Mapping[str, Any]], names: list[str], *, has_limits: bool
) -> list[str]:
    """Return lines on options that differ between two tables; with limits, raise."""
    others, texts, lines = list_other_options(made), list[str](), list[str]()
    for name, one in zip(names, made, strict=True):
        texts.append(f"{show_path(name)} with {', '.join(f'{at}={one.get(at)}' for at in others)}")
        if has_limits and not one:
            lines.append(f"{show_path(name)} does not say which options it was made with")
    if others and all(made):
        lines.append(f"{' and '.join(texts)} were made with other options")
        if has_limits:
            raise RecframeError(f"{lines[0]}. Evaluate both with the same.")
    return lines
