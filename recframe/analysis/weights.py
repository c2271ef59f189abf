"""Weights: users who do not all count alike, as values that do.

The mean of values x_i of weights w_i is Σ w_i x_i / Σ w_i. To first order it moves with its users
as the plain mean of the values m + (w_i / mean of w)(x_i - m), whose mean it is: of these the error
and the intervals are those of any mean (W. G. Cochran, "Sampling Techniques", 1977, ch. 6).
"""

import numpy as np
import pandas as pd

from recframe.kernel.threads import Array


def with_weight(
    per_user: pd.DataFrame, weights: pd.Series | None
) -> tuple[pd.DataFrame, Array | None]:
    """Return the users who weigh something, and their weights."""
    if weights is None:
        return per_user, None
    of_users = weights.to_numpy()
    of_users = of_users / of_users.max(initial=1e-300)  # equal ones are exactly 1
    return per_user[of_users > 0], of_users[of_users > 0]


def spread_by(values: Array, weights: Array | None) -> Array:
    """Return values that count alike, whose mean and error are those of weighted values."""
    if weights is None or len(values) == 0:
        return values
    mean = (values * weights).sum() / weights.sum()
    spread: Array = mean + weights / weights.mean() * (values - mean)
    return spread


def spread_table(per_user: pd.DataFrame, weights: Array | None) -> pd.DataFrame:
    """Return a per-user table of such values, NaN where there is none."""
    if weights is None:
        return per_user
    cells = per_user.to_numpy(copy=True)
    for column in cells.T:
        known = ~np.isnan(column)
        column[known] = spread_by(column[known], weights[known])
    return pd.DataFrame(cells, per_user.index, per_user.columns)
