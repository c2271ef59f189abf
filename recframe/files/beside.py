"""Truth and exclude as files of their own, which are parted by user as the rows are.

This is done if they have more pairs than a block has rows: to match all of them with each block
would take longer than the block. Fewer are held in memory, as are pairs that no footers describe.
"""

import os
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa

from recframe.files.batches import MOST_ROWS
from recframe.files.budget import Limits
from recframe.files.footers import Files, make_sample, open_files, read_schema
from recframe.files.found import Found, naming_file, open_file
from recframe.files.sources import find_files, stage
from recframe.formats import GivenRows
from recframe.frames.columns import Columns, get_column
from recframe.frames.judgments import check_no_grades, find_parted_columns, naming
from recframe.frames.names import is_infer
from recframe.options import Options
from recframe.stores import ENVIRONMENT, Placed

PAIR_BYTES = 128  # that a pair takes in memory, with what finds it
HEAD_ROWS = 1 << 12  # of a file, in which columns of grades are looked for
NAMED = Options(user="user", item="item", score="score")  # of which no column is inferred


def open_beside(files: Files, options: Options, limits: Limits) -> dict[str, Files]:
    """Return truth and exclude as files, by option, where they are to be parted by user."""
    given = {name: getattr(options, name) for name in ("truth", "exclude")}
    given = {name: one for name, one in given.items() if one is not None}
    most = min(MOST_ROWS, files.memory // (2 * PAIR_BYTES))
    are_frames = all(isinstance(one, pd.DataFrame) for one in given.values())
    if not files.users or files.n_rows == 0:
        return {}
    if are_frames and sum(map(len, given.values())) <= most:  # which needs no look at them
        return {}
    beside = dict[str, Files]()
    for name, one in given.items():
        with naming(name):
            if (opened := _open(name, one, files.columns, options, limits)) is None:
                return {}
            beside[name] = opened
    return beside if sum(one.n_rows for one in beside.values()) > most else {}


def _open(
    name: str, given: Any, columns: Columns, options: Options, limits: Limits
) -> Files | None:
    """Return the value of an option as files; None if their footers are not known."""
    is_frame = isinstance(given, pd.DataFrame)
    if is_frame:
        own = find_parted_columns(name, given, columns, options)
        try:
            table = pa.table({str(one): pa.array(get_column(given, one)) for one in own.labels})
        except (pa.ArrowException, TypeError):  # ids that no file has either
            return None
        import pyarrow.dataset as ds  # only datasets need it

        found = stage([Found(name, {}, rows=GivenRows(ds.dataset(table)))], own, limits)
    else:
        path, access = given if isinstance(given, Placed) else (os.fspath(given), ENVIRONMENT)
        found = find_files(path, access=access if access.leads_away(path) else ENVIRONMENT)
        if any(one.rows is not None for one in found):
            return None
        schema = read_schema(found[0], limits.memory)
        own = find_parted_columns(name, make_sample(schema, found[0].path), columns, options)
    if name == "truth" and own.relevant is None and is_infer(options.relevant):
        ends = [given] if is_frame else [_read_head(one) for one in (found[0], found[-1])]
        check_no_grades(pd.concat(ends), own)
    reading = replace(NAMED, relevant=options.relevant, missing=options.missing)
    return open_files(found, own, reading, limits.memory)


def _read_head(found: Found) -> pd.DataFrame:
    """Return the first rows of a file, with the values in its folders' names."""
    said = {name: one.as_py() for name, one in found.partitions.items()}
    with naming_file(found.path), open_file(found) as file:
        head = next(file.iter_batches(HEAD_ROWS), file.schema_arrow.empty_table())
        return pd.DataFrame(head.to_pandas()).assign(**said)
