"""The per-user tables of files, block by block."""

from collections.abc import Iterator, Sequence

import pandas as pd
import pyarrow as pa

from recframe.errors import RecframeError
from recframe.files.blocks import iter_blocks
from recframe.files.budget import Limits, Progress, showing
from recframe.files.footers import open_files
from recframe.files.paths import PathLike
from recframe.files.user_ids import restore_users, user_dtype
from recframe.frames.graded import needs_gains
from recframe.frames.interactions import read_rows
from recframe.frames.per_user import measure_table
from recframe.frames.truth import open_judge, read_part
from recframe.metrics.names import Metric
from recframe.options import Options


def iter_tables(
    path: PathLike | Sequence[PathLike], metrics: list[Metric], options: Options, limits: Limits
) -> Iterator[pd.DataFrame]:
    """Return an iterator over the tables of files; what footers can refuse is refused at once."""
    files = open_files(path, options)
    empty = read_rows(files.sample, files.columns, options)
    graded = needs_gains(metrics, options)
    judge = None
    if options.truth is not None:
        judge = open_judge(files.columns, options, graded=graded)
    n_rows = sum(group.n_rows for group in files.row_groups)

    def tables() -> Iterator[pd.DataFrame]:
        dtype = user_dtype(files)
        n_evaluated = 0
        with showing(limits.progress, n_rows) as report:
            progress = Progress(n_rows, report)
            drop_nulls = options.missing == "drop"
            for block in iter_blocks(files, limits, progress, drop_nulls=drop_nulls):
                try:
                    interactions = read_part(block, files.columns, options, judge, graded=graded)
                    table = measure_table(interactions, metrics, options)
                except RecframeError as error:
                    part = f"in a part of {len(block):,} of the {n_rows:,} rows: "
                    raise type(error)((part if len(block) < n_rows else "") + str(error)) from error
                n_evaluated += len(block)
                progress.n_evaluated += len(block)
                progress.report()
                yield restore_users(table, dtype)
                pa.default_memory_pool().release_unused()  # else the pool grows with the blocks
            progress.report()  # also what was dropped since
        rest = empty if judge is None else judge.add_absent(empty)
        if n_evaluated == 0 or rest is not empty:
            table = measure_table(rest, metrics, options)
            yield restore_users(table, dtype) if rest is empty else table

    return tables()
