"""The definitions, slow and obvious, that every number of recframe is compared with.

Rows are tuples ``(user, score, relevant)`` in row order; None is a null. Nothing here is meant to
be fast, and nothing comes from recframe.
"""

import math
from fractions import Fraction
from itertools import pairwise, permutations


class Refused(Exception):  # noqa: N818 - it mirrors recframe's refusals, it is no error of the reference
    """The input is one for which recframe must raise instead of returning a number."""


def evaluate(rows, metric, k, *, ties, short, missing, zero_division, min_relevance, min_score):
    """Return the "precision", "recall" or "r_precision" of each user, as a dictionary."""
    lists = {}
    for user, score, relevant in complete_rows(rows, missing):
        ranked = score is not None and (min_score is None or score >= min_score)
        lists.setdefault(user, []).append(
            (score if ranked else None, is_relevant(relevant, min_relevance))
        )
    return {
        user: float(value(pairs, metric, k, ties=ties, short=short, zero_division=zero_division))
        for user, pairs in lists.items()
    }


def complete_rows(rows, missing):
    """Return the rows to judge; "drop" leaves out rows that hold a null, else most are refused."""
    if missing == "drop":
        return [row for row in rows if None not in row]
    for user, score, relevant in rows:
        if user is None or relevant is None:
            raise Refused("null user or relevance")
        if score is None and missing == "raise":
            raise Refused("null score")
    return rows


def is_relevant(relevant, min_relevance):
    """Return whether a row is relevant; without a threshold its relevance must be 0 or 1."""
    if min_relevance is not None:
        return relevant >= min_relevance
    if relevant not in (0, 1):
        raise Refused("relevance is neither 0 nor 1")
    return relevant == 1


def value(pairs, metric, k, *, ties, short, zero_division):
    """Return one user's exact metric from (score, relevant) pairs; None as score is unranked."""
    ranked = [pair for pair in pairs if pair[0] is not None]
    n_ranked = len(ranked)
    n_relevant = sum(relevant for _, relevant in pairs)
    if metric == "r_precision":
        return divide(hits(ranked, n_relevant, ties), n_relevant, zero_division)
    if n_ranked < k and short == "raise":
        raise Refused("fewer ranked rows than k")
    if n_ranked < k and short == "nan":
        return math.nan
    if metric == "recall":
        return divide(hits(ranked, k, ties), n_relevant, zero_division)
    if metric == "precision":
        return divide(
            hits(ranked, k, ties), min(k, n_ranked) if short == "shrink" else k, zero_division
        )
    raise KeyError(metric)


def divide(numerator, denominator, zero_division):
    """Return the exact quotient, or `zero_division` where there is none."""
    return Fraction(numerator) / denominator if denominator else zero_division


def hits(ranked, cut, ties):
    """Return the number of relevant rows among the first `cut`, in expectation or exactly."""
    if ties == "expected":
        return expected_hits(ranked, cut)
    return sum(ranked[i][1] for i in order(ranked, ties)[:cut])


def expected_hits(ranked, cut):
    """Return the expected hits: whole tie groups above the cut, and a share of the one across."""
    total = Fraction(0)
    for score in {score for score, _ in ranked}:
        above = sum(other > score for other, _ in ranked)
        group = [relevant for other, relevant in ranked if other == score]
        if above + len(group) <= cut:
            total += sum(group)
        elif above < cut:
            total += Fraction((cut - above) * sum(group), len(group))
    return total


def expected_hits_by_permutation(ranked, cut):
    """Return the mean hits over all rankings of the rows, which are few up to about six rows."""
    orders = rankings(ranked)
    return Fraction(sum(relevant for rows in orders for _, relevant in rows[:cut]), len(orders))


def rankings(ranked):
    """Return every order of the rows in which scores never rise."""
    return [rows for rows in permutations(ranked) if all(a[0] >= b[0] for a, b in pairwise(rows))]


def order(ranked, ties):
    """Return the indexes from best to worst; rows the tie rule leaves equal stay in row order."""
    among_tied = {
        "first": lambda i: i,
        "last": lambda i: -i,
        "best": lambda i: not ranked[i][1],
        "worst": lambda i: bool(ranked[i][1]),
    }[ties]
    return sorted(range(len(ranked)), key=lambda i: (-ranked[i][0], among_tied(i)))


def ranks(rows, ties):
    """Return each row's position in its user's ranking, 1 = best, None where unranked.

    Relevance, which "best" and "worst" read, must be 0 or 1.
    """
    result = [None] * len(rows)
    for user in {row[0] for row in rows}:
        places = [i for i, row in enumerate(rows) if row[0] == user and row[1] is not None]
        ranked = [rows[i][1:] for i in places]
        if ties == "expected":
            positions = [average_position(score, ranked) for score, _ in ranked]
        else:
            positions = [order(ranked, ties).index(i) + 1 for i in range(len(ranked))]
        for place, position in zip(places, positions, strict=True):
            result[place] = position
    return result


def average_position(score, ranked):
    """Return the mean position of the rows tied at `score`, as a Fraction."""
    above = sum(other > score for other, _ in ranked)
    tied = sum(other == score for other, _ in ranked)
    return above + Fraction(tied + 1, 2)
