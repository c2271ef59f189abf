"""Arguments: the types of what public calls take."""

import os
from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

Ties = Literal["expected", "first", "last", "best", "worst", "item"]
Short = Literal["raise", "pad", "shrink", "nan"]
Missing = Literal["raise", "unranked", "drop"]
Duplicates = Literal["raise", "max", "first", "keep"]
Absent = Literal["zero", "drop"]
Unjudged = Literal["nonrelevant", "drop"]
Gain = Literal["linear", "exponential"]


class ArrowStream(Protocol):
    """A table that any library can read: of Polars, PyArrow, DuckDB, Ibis and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as a capsule."""


PathLike = str | os.PathLike[str]
TableLike = pd.DataFrame | ArrowStream
TruthLike = TableLike | PathLike
# Or a pyarrow.dataset.Dataset, or a deltalake.DeltaTable, whose types nothing here imports.
Source = PathLike | Sequence[PathLike] | pa.RecordBatchReader
Term: TypeAlias = tuple[str, str, Any]
Filters: TypeAlias = Sequence[Term] | Sequence[Sequence[Term]] | pc.Expression
