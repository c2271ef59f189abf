"""Values of users that are given, as `evaluate` returns them or of one metric: one form."""

from typing import Any

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, quote
from recframe.foreign import frame_error
from recframe.frames.names import find_role
from recframe.metrics.names import parse_metric

LEVELS = ["score", "metric"]
REQUIRED = "a DataFrame with a row for each user, as df.rec.evaluate() returns"


def read_given(per_user: Any, n_scores: int = 1) -> pd.DataFrame:
    """Return a table of floats with the columns (score, metric), all metrics of each score.

    Raise where it is no such table, could be read in two ways, or has fewer scores.
    """
    if not isinstance(per_user, pd.DataFrame):
        raise frame_error("per_user", REQUIRED, per_user)
    if per_user.shape[1] == 0:
        raise RecframeError("per_user must have a column for each score, found none")
    _check_once("column", per_user.columns)
    _check_once("user", per_user.index)
    columns = _find_columns(per_user)
    cells = [_read_values(label, per_user.iloc[:, i]) for i, label in enumerate(columns)]
    table = pd.DataFrame(np.transpose(cells), per_user.index, columns)
    scores, metrics = (list(columns.unique(level)) for level in LEVELS)
    if len(scores) < n_scores:
        raise RecframeError(
            f"per_user must have {n_scores} scores or more to compare, found {quote(scores)}"
        )
    if len(columns) == len(scores) * len(metrics):
        in_order = [(score, metric) for score in scores for metric in metrics]
        if in_order == columns.tolist():
            return table
    levels: list[Any] = [pd.Index(scores, tupleize_cols=False), pd.Index(metrics)]
    codes = np.indices((len(scores), len(metrics))).reshape(2, -1).tolist()
    return table.reindex(columns=pd.MultiIndex(levels, codes, names=LEVELS))


def _find_columns(per_user: pd.DataFrame) -> pd.MultiIndex:
    """Return the score and metric of each column."""
    columns = per_user.columns
    if isinstance(columns, pd.MultiIndex):
        if columns.nlevels != 2:
            raise RecframeError(
                f"per_user must have columns (score, metric), found {columns.nlevels} levels"
            )
        return columns.set_names(LEVELS)
    for label in columns:
        if find_role(label) in ("user", "item"):
            raise RecframeError(
                f"per_user must have users in its index and values in its columns, found the "
                f"column {quote(label)}; pass df.rec.evaluate() of rows of users and items, or "
                f"per_user.set_index({quote(label)})"
            )
    if any(map(_is_metric, columns)):
        raise RecframeError(
            f"per_user must have columns (score, metric), or be of one metric; found the metrics "
            f"{quote(columns.tolist())} without a score; pass pd.concat({{'model': per_user}}, "
            "axis=1)"
        )
    metric = "value" if columns.name is None else columns.name
    levels: list[Any] = [pd.Index(columns, tupleize_cols=False), pd.Index([metric])]
    return pd.MultiIndex(levels, [list(range(len(columns))), [0] * len(columns)], names=LEVELS)


def _is_metric(label: object) -> bool:
    """Return whether a label is the name of a metric."""
    try:
        parse_metric(label)
    except RecframeError:
        return False
    return True


def _check_once(what: str, labels: pd.Index) -> None:
    """Raise where a user or a column is there more than once."""
    is_repeated = labels.duplicated()
    if is_repeated.any():
        found = quote(labels[is_repeated].tolist()[0])
        raise RecframeError(
            f"per_user must have each {what} once, found {what} {found} more than once"
        )


def _read_values(label: object, column: pd.Series) -> Any:
    """Return the values of a column as floats, nulls as NaN."""
    if not (pd.api.types.is_numeric_dtype(column) and not np.iscomplexobj(column)):
        raise RecframeError(
            f"per_user must hold numbers, found {column.dtype} in column {quote(label)}; user ids "
            "belong into the index: per_user.set_index(...)"
        )
    values = column.to_numpy(float, na_value=np.nan)
    if np.isinf(values).any():
        raise RecframeError(f"per_user must hold finite numbers, found inf in {quote(label)}")
    return values
