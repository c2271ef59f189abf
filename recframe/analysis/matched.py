"""Two tables of values of users, as of two nights: what both have is compared, score by score."""

from typing import NamedTuple

import pandas as pd

from recframe.analysis.compare import Comparison, compare_table
from recframe.analysis.pairs import ScorePairs
from recframe.errors import RecframeError, quote, show_path
from recframe.frames.judgments import naming
from recframe.frames.user_values import LEVELS, read_given
from recframe.kernel.threads import Array


class Only(NamedTuple):
    """What only one of the tables has, and is left out."""

    n_users: int
    scores: list[str]
    metrics: list[str]


class Matched(NamedTuple):
    """What two tables have in common.

    Parameters
    ----------
    old, new : DataFrame
        The values of the users that both have, with the same metrics, and scores of the same
        number, each compared with that in its place.
    only : (Only, Only)
        What was left out of each.
    """

    old: pd.DataFrame
    new: pd.DataFrame
    only: tuple[Only, Only]

    def of_users(self, rows: Array) -> "Matched":
        """Return the same of some of the users, by position."""
        return self._replace(old=self.old.iloc[rows], new=self.new.iloc[rows])

    def scores(self) -> list[tuple[str, str]]:
        """Return the scores that are compared, the old one of each first."""
        old, new = (table.columns.unique("score") for table in (self.old, self.new))
        return list(zip(old, new, strict=True))


def match_tables(
    tables: list[pd.DataFrame], names: list[str], metrics: list[str] | None
) -> Matched:
    """Return what an old and a new table have in common, of these metrics or all.

    Raise where that is nothing, or where one lacks a metric that is asked for.
    """
    old, new = (_read_named(table, name) for table, name in zip(tables, names, strict=True))
    users = old.index.intersection(new.index)
    scores = [list(table.columns.unique("score")) for table in (old, new)]
    known = [list(table.columns.unique("metric")) for table in (old, new)]
    shared = _find_metrics(known, names, metrics)
    paired = [(score, score) for score in scores[1] if score in scores[0]]
    if not paired and len(scores[0]) == len(scores[1]) == 1:
        paired = [(scores[0][0], scores[1][0])]
    if not paired:
        raise _nothing_error("score", names, scores)
    only = tuple(
        Only(
            len(table) - len(users),
            [score for score in own if score not in taken],
            [metric for metric in labels if metrics is None and metric not in shared],
        )
        for table, own, labels, taken in zip(
            (old, new), scores, known, zip(*paired, strict=True), strict=True
        )
    )
    columns = [
        pd.MultiIndex.from_product([each, shared], names=LEVELS)
        for each in zip(*paired, strict=True)
    ]
    return Matched(old.loc[users, columns[0]], new.loc[users, columns[1]], (only[0], only[1]))


def _read_named(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a table of floats, or raise with the name of what it was read from."""
    with naming(show_path(name)):
        return read_given(table)


def _find_metrics(known: list[list[str]], names: list[str], asked: list[str] | None) -> list[str]:
    """Return the metrics that both tables have, of those asked for."""
    for metric in asked or ():
        for name, labels in zip(names, known, strict=True):
            if metric not in labels:
                raise RecframeError(
                    f"{quote(metric)} must be in both files; {show_path(name)} has {quote(labels)}"
                )
    shared = [metric for metric in known[1] if metric in known[0]]
    if not shared:
        raise _nothing_error("metric", names, known)
    return shared if asked is None else list(dict.fromkeys(asked))


def _nothing_error(what: str, names: list[str], found: list[list[str]]) -> RecframeError:
    """Return the error for tables that have nothing in common."""
    old, new = map(show_path, names)
    return RecframeError(
        f"{new} has no {what} of {old}, found {quote(found[1])} and {quote(found[0])}"
    )


def compare_matched(matched: Matched, how: Comparison) -> pd.DataFrame:
    """Return what every score has changed, a row for each metric."""
    scores = matched.scores()
    n, metrics = len(scores), matched.new.columns.unique("metric")
    # Old and new scores are called alike, so that they go by number.
    columns = pd.MultiIndex.from_product([range(2 * n), metrics], names=LEVELS)
    both = pd.concat([matched.old, matched.new], axis=1).set_axis(columns, axis=1)
    pairs = ScorePairs(both, [(i, n + i) for i in range(n)], are_several=False)
    table = compare_table(both, baseline=pairs, how=how)
    return table.rename(index={n + i: new for i, (_, new) in enumerate(scores)}, level="score")
