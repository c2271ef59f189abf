"""Trusted labels: values by a judge for all users, corrected by people's values for some users.

A judge is a language model, or clicks. `mean_by_both` is the regression estimator of two-phase
sampling (W. G. Cochran, "Sampling Techniques", 3rd ed., 1977, 12.6; A. N. Angelopoulos, J. C. Duchi
and T. Zrnic, "PPI++", arXiv 2311.01453; for ranking metrics H. Oosterhuis et al., "Reliable
confidence intervals for information retrieval evaluation using generative A.I.", KDD 2024).
`tests/benchmarks/trusted.py` measures how often its intervals hold the mean.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.display import WORDS
from recframe.analysis.intervals import (
    Counted,
    mean_interval,
    spread_by,
    student_bound,
)
from recframe.analysis.resampling import Resampling
from recframe.errors import RecframeError, count_of, prefix_errors, quote
from recframe.frames.user_values import check_per_user, find_rows_of_users
from recframe.kernel.threads import Array
from recframe.metrics.names import find_alike
from recframe.notes import note

NOT_JUDGED = math.inf  # people's value of a user whom they did not judge
LEAST_DIFFERENT = 20  # with fewer users on whom judge and people differ, the judge is left out
MOST_ERRORS = 3  # standard errors between users who are judged and others
LEAST_GAIN = 1.1  # a smaller factor of judged users is no help


class Estimate(NamedTuple):
    """A mean of people's values over all users.

    Parameters
    ----------
    mean, error, judge_mean : float
        The mean with its standard error, and the mean of the judge's values.
    n_trusted : int
        The users, or units, with a value by people.
    worth : float
        How many such users would give the same error without the judge.
    freedom : int
        The degrees of freedom of `error`; 0 if the judge is left out.
    deviation, of_judge : float
        The error is that of `deviation` among n_trusted users, and `of_judge` in any case.
    """

    mean: float
    error: float
    judge_mean: float
    n_trusted: int
    worth: float
    freedom: int = 0
    deviation: float = math.nan
    of_judge: float = 0.0


def mean_by_both(people: Array, judge: Array, counted: Counted, row: str) -> Estimate:
    """Return the mean of people's values over all users, estimated from theirs and the judge's.

    With y by people for n users, f by the judge for these and F for all N, the mean is
    mean(y) + b (mean(F) - mean(f)), where b = cov(y, f) / var(f) among the n users. Users with
    weights w, rankings of units, and users without a value are sums: d is the sum of w over the
    rankings of a unit with a value by people, D the mean of d; g is the sum of w (f - mean(F)).
    With z = d (y - mean) and b = cov(z, g) / var(g), the mean solves mean(z) = b mean(g). Its
    variance is the sum of (z - b g)² / (n - 2) x (1 / n + mean(g)² / Σ (g - mean(g))²), for b is
    estimated too, divided by D² after the same correction, + b² times the variance of mean(F).
    """
    weights = np.ones(len(judge)) if counted.weights is None else counted.weights
    is_judged = people != NOT_JUDGED
    of_judge = np.where(np.isnan(judge), 0.0, weights)
    by_judge = np.nan_to_num(judge)
    judge_mean = _quotient((of_judge * by_judge).sum(), of_judge.sum())
    of_people = np.where(is_judged & ~np.isnan(people), weights, 0.0)
    by_people = np.where(of_people > 0, people, 0.0)
    deviations = of_judge * (by_judge - judge_mean)
    differs = (of_people > 0) != (of_judge > 0)
    differs |= np.abs(of_people * by_people - of_judge * by_judge) > 1e-12
    units = np.arange(len(judge)) if counted.units is None else counted.units
    sums = [of_people, of_people * by_people, deviations * is_judged, differs & is_judged]
    sums += [is_judged, deviations, of_judge * is_judged, of_judge]
    d, dy, g, n_different, n_judged, g_all, e, e_all = (np.bincount(units, one) for one in sums)
    judged = n_judged > 0
    d, dy, g, n = d[judged], dy[judged], g[judged], int(np.count_nonzero(judged))
    n_trusted = int(np.count_nonzero(d))
    _note_others(g, g_all[~judged], row)
    alone = _quotient(dy.sum(), d.sum())
    variance = np.square(dy - alone * d).sum() / max(n - 1, 1) / max(n, 1)
    error = _quotient(math.sqrt(variance), d.sum() / max(n, 1)) if n_trusted > 1 else math.nan
    if np.count_nonzero(n_different) < LEAST_DIFFERENT:
        note(**{f"judge_left_out:{row}": 1})
        return Estimate(
            alone, error, judge_mean, n_trusted, n_trusted, deviation=math.sqrt(n) * error
        )
    middle, spread = g.mean(), np.square(g - g.mean()).sum()
    slopes = [_quotient(((g - middle) * one).sum(), spread, 0.0) for one in (dy, d)]
    size = d.mean() - slopes[1] * middle
    mean = (dy.mean() - slopes[0] * middle) / size
    slope = slopes[0] - mean * slopes[1]
    rest = float(np.square(dy - mean * d - slope * g).sum()) / (n - 2) / size**2
    of_judge_mean = e[judged].mean() / e_all.mean() / size  # 1 / size if whole units are judged
    of_mean = (slope * of_judge_mean) ** 2 * g_all.var(ddof=1) / len(g_all)
    total = rest * (1 / n + _quotient(middle**2, spread, 0.0)) + of_mean
    worth = n_trusted * error**2 / total if total > 0 else math.inf
    if worth < LEAST_GAIN * n_trusted and not judged.all():
        note(**{f"judge_of_no_help:{row}": 1})
    errors = math.sqrt(total), math.sqrt(rest), math.sqrt(of_mean)
    return Estimate(mean, errors[0], judge_mean, n_trusted, worth, n - 2, *errors[1:])


def _quotient(numerator: float, denominator: float, otherwise: float = math.nan) -> float:
    """Return a quotient; `otherwise` if the denominator is 0."""
    return float(numerator / denominator) if denominator else otherwise


def _note_others(judged: Array, others: Array, row: str) -> None:
    """Note that by the judge, judged users differ from others more than by chance."""
    if min(len(judged), len(others)) > 1:
        variance = judged.var(ddof=1) / len(judged) + others.var(ddof=1) / len(others)
        if abs(judged.mean() - others.mean()) > MOST_ERRORS * math.sqrt(variance) + 1e-12:
            note(**{f"judged_not_at_random:{row}": 1})


def interval_by_both(
    people: Array,
    judge: Array,
    counted: Counted,
    row: str,
    resampling: Resampling,
    *,
    is_limited: bool,
    are_differences: bool = False,
) -> tuple[Estimate, dict[str, Any], Array]:
    """Return the estimate of a mean, its columns in a table, and people's values that it used.

    If the judge is left out, the interval is that of people's values alone.
    """
    estimate = mean_by_both(people, judge, counted, row)
    known = np.where(people == NOT_JUDGED, np.nan, people)
    if estimate.freedom:
        half = student_bound((1 - resampling.confidence) / 2, estimate.freedom) * estimate.error
        low, high, name = estimate.mean - half, estimate.mean + half, "regression"
        if is_limited:
            low, high = max(low, -1.0 if are_differences else 0.0), min(high, 1.0)
    else:
        how = {"is_limited": is_limited, "are_differences": are_differences}
        spread = spread_by(*counted.join(known))
        low, high, name = mean_interval(spread, resampling=resampling, **how)
    figures = {
        "low": low,
        "high": high,
        "n_users": int(np.count_nonzero(counted.join(judge)[1])),
        "n_trusted": estimate.n_trusted,
        "judge_difference" if are_differences else "judge_mean": estimate.judge_mean,
        "judge_bias": estimate.judge_mean - estimate.mean,
        "worth": round(min(estimate.worth, 1e15)),
        "interval": WORDS[name],
    }
    return estimate, figures, known


def read_people(trusted: Any, columns: pd.MultiIndex) -> pd.DataFrame:
    """Return people's values of users in the columns of a judge's per-user table.

    A user whom it lacks is not judged; a null is a judged user without a value.
    """
    with prefix_errors("trusted"):
        table = check_per_user(trusted)
    alike = find_alike([*columns.unique("metric"), *table.columns.unique("metric")])
    table = table.rename(columns=alike, level="metric")
    if missing := [one for one in columns if one not in table.columns]:
        raise RecframeError(
            "trusted must have the scores and metrics of the judge, but lacks "
            f"{quote(missing[0])}; it has {quote(table.columns.tolist())}"
        )
    return table[columns]


def check_users_known(trusted: pd.DataFrame, users: pd.Index[Any]) -> None:
    """Raise if no user is in both tables."""
    if (find_rows_of_users(trusted.index, users) < 0).all():
        raise RecframeError(
            f"trusted must have users of the judge in its index, but none of its "
            f"{count_of(len(trusted), 'user')} (such as {quote(trusted.index[:1].tolist())}) is "
            f"among the {len(users):,} (such as {quote(users[:1].tolist())}). Give ids of one kind."
        )


def align_people(trusted: pd.DataFrame, per_user: pd.DataFrame) -> Array:
    """Return people's values of the users of a per-user table, a row for each of its columns."""
    values = trusted[per_user.columns].to_numpy()
    values = np.append(values, np.full((1, values.shape[1]), NOT_JUDGED), axis=0)
    people: Array = values[find_rows_of_users(trusted.index, per_user.index)].T
    return people


def subtract_people(values: Array, base: Array) -> Array:
    """Return people's differences of users whom they judged by both scores."""
    is_judged = (values != NOT_JUDGED) & (base != NOT_JUDGED)
    known = (np.where(is_judged, one, 0.0) for one in (values, base))
    return np.where(is_judged, np.subtract(*known), NOT_JUDGED)
