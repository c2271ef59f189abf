"""Frames given beside the one evaluated, or their paths: read whole, refused by their option."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

from recframe.errors import RecframeError


def load_frame(name: str, given: Any) -> pd.DataFrame:
    """Return what an option gives as a frame, or raise where its file cannot be read."""
    if isinstance(given, pd.DataFrame):
        return given
    from recframe.frames.given_files import load_file  # which frames need not load

    return load_file(name, given)


NO_ROWS = {  # and what that means
    "truth": "there are no rows, so no item is relevant to anyone",
    "exclude": "there are no rows, so that nothing is excluded; leave it out",
}


def check_rows(name: str, n_rows: int) -> None:
    """Raise where what an option gives has no row."""
    if n_rows == 0:
        raise RecframeError(NO_ROWS[name])


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Say of a refusal which option it is about."""
    try:
        yield
    except RecframeError as error:
        raise type(error)(f"{name}: {error}") from None
