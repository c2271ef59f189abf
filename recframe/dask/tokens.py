"""What Dask names pandas' frames by: their values, and here the dtypes and places of these too.

Rows of one name are taken to be one, so that frames that share a name by mistake share a result.
"""

from typing import Any

import dask.tokenize
import pandas as pd

normalize_token: Any = dask.tokenize.normalize_token  # which has no types


def register_tokens() -> None:
    """Have frames and indexes named by all that tells them apart.

    Dask's own way leaves out which column a value is in, and dtypes such as Int64 and string.
    """
    of_index = normalize_token.dispatch(pd.Index)
    normalize_token.register(pd.Index, lambda index: (index.dtype.name, of_index(index)))
    normalize_token.register(pd.DataFrame, _token_of_frame)


def _token_of_frame(frame: pd.DataFrame) -> list[Any]:
    """Return what tells a frame from others."""
    columns = (frame.iloc[:, place] for place in range(frame.shape[1]))
    tokens = [(column.dtype.name, normalize_token(column.array)) for column in columns]
    return [normalize_token(frame.columns), normalize_token(frame.index), tokens]
