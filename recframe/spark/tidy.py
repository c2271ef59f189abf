"""Arrow tables and pandas' frames: rows as they are read, results in tidy form."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from recframe.arrow_tables import NULLABLE
from recframe.frames.ids import as_users

COUNTS = ("k", "n_users", "n_won", "n_tied", "n_lost")
TEXT_LABELS = ("score", "metric", "baseline", "interval", "test")


def as_frame(table: pa.Table, labels: Sequence[Hashable]) -> pd.DataFrame:
    """Return a table as a frame with these labels; nulls round no integer."""
    frame = pd.DataFrame(dict(enumerate(map(as_series, table.columns))), copy=False)
    return frame.set_axis(pd.Index(labels, tupleize_cols=False), axis=1)


def as_series(column: pa.ChunkedArray) -> pd.Series:
    """Return a column: text as Arrow has it, integers with nulls as such."""
    kind = column.type
    mapper: Any = NULLABLE.get if column.null_count else None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        mapper = {kind: pd.StringDtype("pyarrow")}.get
    return pd.Series(column.to_pandas(types_mapper=mapper))


def as_arrays(columns: Sequence[Any], types: Sequence[pa.DataType]) -> list[pa.Array]:
    """Return columns as Arrow has them: what is NaN is null, which Spark's own means leave out."""
    pairs = zip(columns, types, strict=True)
    return [pa.Array.from_pandas(column, type=kind) for column, kind in pairs]


def as_tidy(per_user: pd.DataFrame, ids: Sequence[pa.DataType]) -> list[pa.Array]:
    """Return a per-user table as columns with a row for each user and score.

    Those of users, whose types are given, stand first.
    """
    scores = list(per_user.columns.unique("score"))
    shape = len(per_user) * len(scores), per_user.shape[1] // len(scores)
    cells = per_user.to_numpy().reshape(shape)
    users, texts = per_user.index.repeat(len(scores)), np.tile(scores, len(per_user))
    types = [*ids, pa.string(), *[pa.float64()] * cells.shape[1]]
    levels = [users.get_level_values(level) for level in range(users.nlevels)]
    columns = [*levels, texts.astype(object), *cells.T]
    return as_arrays(columns, types)


def as_per_user(table: pa.Table, scores: list[str], metrics: list[str]) -> pd.DataFrame:
    """Return a per-user table, given it in tidy form in any order."""
    *users, score = map(as_series, table.columns[: -len(metrics)])
    values = map(as_series, table.columns[-len(metrics) :])
    rows = pd.DataFrame(dict(zip(metrics, values, strict=True)))
    rows.index = as_users(list(map(pd.Index, users)))
    of_each = [rows[(score == one).to_numpy(bool)] for one in scores]
    of_each = [values.reindex(of_each[0].index) for values in of_each]
    return pd.concat(of_each, axis=1, keys=scores, names=["score", "metric"]).astype(float)


def type_of(label: str) -> pa.DataType:
    """Return the type of a column of such a table."""
    if label in TEXT_LABELS:
        return pa.string()
    is_count = label in COUNTS or label.startswith("n_undefined")
    return pa.int64() if is_count else pa.float64()
