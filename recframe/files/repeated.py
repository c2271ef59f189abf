"""Rows of files that repeat a pair: what the columns that are not read say about them."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from recframe.files.filters import matching
from recframe.files.footers import Files
from recframe.files.opening import naming_file, open_file
from recframe.files.row_groups import RowGroup, may_have
from recframe.frames.duplicates import advise, find_telling

LOOKUP_ROWS = 1 << 16  # that are read at a time, of all columns


def advise_on_files(files: Files, user: Any, item: Any) -> str:
    """Return what to do about the rows of one pair, looked up with all their columns."""
    users = files.users
    of_user = user if len(users) > 1 else [user][: len(users)]
    ids = {str(files.columns.item): item, **dict(zip(users, of_user, strict=True))}
    found: list[pd.DataFrame] = []
    paths: list[str] = []
    for row_group in files.row_groups:
        if not users or may_have(row_group, ids[users[0]]):
            for part in _find_rows(row_group, ids):
                found.append(part)
                paths += [row_group.path] * len(part)
        if len(paths) > 1:
            break
    if len(paths) < 2:  # as of integers that pandas has rounded beside nulls
        return advise(None, files.columns)
    frame = pd.concat(found, ignore_index=True)
    rows = np.arange(len(frame))
    told = find_telling(frame, files.columns, rows, np.zeros_like(rows))
    if told is None and len(set(paths)) > 1:
        return f"one is in {paths[0]}, another in {paths[-1]}; {advise(None, files.columns)}"
    return advise(told, files.columns)


def _find_rows(row_group: RowGroup, ids: dict[str, Any]) -> Iterator[pd.DataFrame]:
    """Yield the rows of a row group that have these ids, with all columns."""
    said = {name: value.as_py() for name, value in row_group.partitions.items()}
    stored = [name for name in ids if name not in said]
    if not all(said[name] == ids[name] for name in ids if name in said):
        return
    with naming_file(row_group.path), open_file(row_group.found) as file:
        read = partial(file.iter_batches, LOOKUP_ROWS, row_group.indexes)
        if not stored:  # all are the pair's, by the names of folders
            yield matching(next(read()), row_group).to_pandas().assign(**said)
            return
        is_own = [
            np.logical_and.reduce([batch[name].to_pandas().isin([ids[name]]) for name in stored])
            for batch in read(columns=stored)
        ]
        rows = np.flatnonzero(np.concatenate(is_own))
        n_before = 0
        for batch in read() if len(rows) else ():
            own = rows[(rows >= n_before) & (rows < n_before + batch.num_rows)] - n_before
            yield matching(batch.take(pa.array(own)), row_group).to_pandas().assign(**said)
            n_before += batch.num_rows
