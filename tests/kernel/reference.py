"""Count for the kernel in a slow and obvious way, from rows that are tuples.

Rows are ``(user, score, grade, is_ranked, place)`` in row order; the lowest place comes first in a
tie ordered by item. Nothing here comes from recframe.
"""

from collections.abc import Callable
from itertools import groupby
from typing import NamedTuple


class Row(NamedTuple):
    """A row of a user, at a position in the frame."""

    number: int
    score: object
    grade: int
    is_ranked: bool
    place: int


# Tied rows are ordered by these keys, the lowest first; the expectation has no order.
ORDERS: dict[str, Callable[[Row], object]] = {
    "expected": lambda row: 0,
    "first": lambda row: row.number,
    "last": lambda row: -row.number,
    "best": lambda row: -row.grade,
    "worst": lambda row: row.grade,
    "item": lambda row: row.place,
}
# These rules order rows by relevance only, although each row has a position.
ALIKE = {"best": lambda row: row.grade == 0, "worst": lambda row: row.grade > 0}


def rows_of(rows, user):
    """Return the rows of a user."""
    return [Row(number, *rest) for number, (own, *rest) in enumerate(rows) if own == user]


def group_alike(rows, order):
    """Return ranked rows, best first, as lists of rows with equal score and equal tie order."""
    ranked = [row for row in rows if row.is_ranked]
    ranked.sort(key=order)
    ranked.sort(key=lambda row: row.score, reverse=True)
    alike = groupby(ranked, key=lambda row: (row.score, order(row)))
    return [list(group) for _, group in alike]


def count_user(rows, rule, n_unlisted, depth):
    """Return n_ranked, n_relevant, n_ranked_relevant, and (above, tied, grade) of relevant rows.

    `depth` is a function of n_relevant.
    """
    n_relevant = n_unlisted + sum(row.grade > 0 for row in rows)
    n_above, found = 0, []
    for group in group_alike(rows, ORDERS[rule]):
        for nth, row in enumerate(group):
            above, tied = (n_above, len(group)) if rule == "expected" else (n_above + nth, 1)
            if row.grade > 0 and above < depth(n_relevant):
                found.append((above, tied, row.grade))
        n_above += len(group)
    n_ranked_relevant = sum(row.grade > 0 for row in rows if row.is_ranked)
    return (n_above, n_relevant, n_ranked_relevant), found


def count_ties(rows, k):
    """Return n_tied, is_cut, most_hits and fewest_hits of a user."""
    ties = group_alike(rows, ORDERS["expected"])
    scores = [row.score for tie in ties for row in tie]
    best, worst = (
        [row.grade > 0 for alike in group_alike(rows, ORDERS[rule]) for row in alike][:k]
        for rule in ("best", "worst")
    )
    is_cut = k < len(scores) and scores[k - 1] == scores[k]
    return sum(len(tie) for tie in ties if len(tie) > 1), is_cut, sum(best), sum(worst)


def find_positions(rows, rule, k):
    """Return (first, size, rows) for the rows that share positions, from 1 on."""
    n_above, found = 0, []
    for group in group_alike(rows, ALIKE.get(rule, ORDERS[rule])):
        if k is None or n_above < k:
            found.append((n_above + 1, len(group), {row.number for row in group}))
        n_above += len(group)
    return found
