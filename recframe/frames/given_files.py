"""Files given in place of a frame, here or in a store: read whole."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from recframe.disk import check_opens
from recframe.errors import RecframeError, quote, shorten, show_path, spell
from recframe.foreign import find_reader
from recframe.formats.endings import open_rows
from recframe.formats.rows import read_whole
from recframe.frames.judgments import naming
from recframe.lakehouse import find_delta, open_delta
from recframe.stores.access import ENVIRONMENT, Access, Placed, without_file
from recframe.stores.listings import Listings
from recframe.stores.store import Place


def load_file(name: str, given: Any) -> pd.DataFrame:
    """Return what the file that an option names holds, or raise where it cannot be read."""
    path, access = given if isinstance(given, Placed) else (os.fspath(given), ENVIRONMENT)
    if access.leads_away(path):
        with naming(name):
            return _load_stored(path, access)
    with naming(name):
        given = without_file(path)
        check_opens(os.fspath(given))
        root = find_delta(Path(given), {}) if os.path.isdir(given) else None  # noqa: PTH112 - raises nothing
        if root is not None:
            return pd.DataFrame(open_delta(root).to_table().to_pandas())
    path = os.fspath(given)
    rows = open_rows(path, partial(Path(path).open, "rb"))
    try:
        if rows is not None:
            return pd.DataFrame(read_whole(rows).to_pandas())
        return pd.read_parquet(given, page_checksum_verification=True)
    except (OSError, TypeError, ValueError) as error:
        is_missing = isinstance(error, FileNotFoundError)
        first = shorten(str(error).partition("\n")[0].rstrip("."))
        call = find_reader(given, quote(path)) if rows is None else ""
        remedy = f"; pass {spell(f'{name}={call}', 'it as a parquet file')}" if call else ""
        reason = "no such file" if is_missing else f"{first}{remedy}"
        raise RecframeError(f"{name}: cannot read {show_path(given)}: {reason}") from error


def _load_stored(path: str, access: Access) -> pd.DataFrame:
    """Return what a path in a store leads to as a frame, or raise where it cannot be read."""
    listings = Listings(access)
    found = listings.find(path)
    if isinstance(found, Place):
        return pd.DataFrame(open_delta(listings.of_delta(path)).to_table().to_pandas())
    listings.check()
    store, key = listings.place(path)
    rows = open_rows(found[0].path, found[0].remote.open) if len(found) == 1 else None
    with store.reaching(key):
        if rows is not None:
            return pd.DataFrame(read_whole(rows).to_pandas())
        source: Any = key
        filesystem = store.filesystem
        if store.is_web:  # which may not send parts of files
            source, filesystem = found[0].remote.open(), None
        return pd.DataFrame(
            pd.read_parquet(source, filesystem=filesystem, page_checksum_verification=True)
        )
