"""Plans: how many users a comparison needs, or how many of them people must judge."""

import sys
from bisect import bisect_left
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from recframe.analysis.compare import PairedValues, find_pairs
from recframe.analysis.display import WideTable
from recframe.analysis.intervals import (
    Counted,
    detectable,
    deviation_of,
    spread_by,
    weigh_users,
)
from recframe.analysis.trusted import mean_by_both
from recframe.errors import RecframeError, is_number, quote
from recframe.metrics.names import is_share

MOST_USERS_NEEDED = 1 << 60


def plan_table(
    per_user: pd.DataFrame,
    baseline: Any,
    difference: Any,
    power: Any,
    alpha: Any,
    unit: Any,
    trusted: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the number of users that every pair of scores needs in each metric.

    With people's values of some users, `trusted`, it counts users whom people judge.
    """
    most = 1 if any(map(is_share, per_user.columns.unique("metric"))) else sys.float_info.max
    for name, number, low, high in (
        ("difference", difference, 0, most),
        ("power", power, 0.5, 1),
        ("alpha", alpha, 0, 0.5),
    ):
        if not (is_number(number) and low < number < high):
            to = f"between {low} and {high}" if high <= 1 else "a number above 0"
            raise RecframeError(f"{name} must be {to}, but is {quote(number)}")
    target = float(difference), float(power), float(alpha)
    per_user, counted = weigh_users(per_user, None, unit)
    pairs = find_pairs(per_user, baseline)
    rows = [_plan_pair(pair, counted, target) for pair in pairs.each(trusted)]
    table = WideTable(pairs.table(rows))
    return table.astype({name: "Int64" for name in ("n_needed", "n_more") if name in table})


def _plan_pair(
    pair: PairedValues, counted: Counted, target: tuple[float, float, float]
) -> dict[str, Any]:
    """Return the number of users needed, or of those whom people must judge."""
    difference, power, alpha = target
    differences, weights = counted.join(pair.differences)
    n_users, constant, most = int(np.count_nonzero(weights)), 0.0, MOST_USERS_NEEDED
    if pair.people is None:
        n, deviation = n_users, deviation_of(spread_by(differences, weights))
    else:
        estimate = mean_by_both(pair.people, pair.differences, counted, pair.row)
        n, deviation, constant = estimate.n_trusted, estimate.deviation, estimate.of_judge
        most = n_users
    smallest = partial(detectable, deviation, power=power, alpha=alpha, constant=constant)
    needed, counts = None, range(2, most + 1)
    if deviation > 0:
        first = bisect_left(counts, True, key=lambda n: smallest(n) <= difference)
        needed = counts[first] if first < len(counts) else None
        if needed is None and pair.people is None:
            raise RecframeError(
                f"difference must be one that some users could show, but is {quote(difference)}, "
                f"where users' differences deviate by {deviation:g}"
            )
    plan: dict[str, Any] = {"n_needed": needed}
    if pair.people is not None:
        plan |= {"n_more": None if needed is None else max(needed - n, 0), "n_trusted": n}
    return {**plan, "n_users": n_users, "deviation": deviation, "detectable": smallest(n)}
