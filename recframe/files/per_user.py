"""The per-user tables of files, block by block."""

from collections.abc import Iterator, Sequence

import pandas as pd
import pyarrow as pa

from recframe.errors import RecframeError, RepeatedPairError
from recframe.files.blocks import iter_blocks
from recframe.files.budget import Limits, showing
from recframe.files.footers import open_files
from recframe.files.paths import PathLike
from recframe.files.repeated import advise_on_files
from recframe.files.user_ids import read_user_dtype, restore_users
from recframe.frames.interactions import read_interactions
from recframe.frames.tables import measure_table
from recframe.frames.truth import open_judge
from recframe.metrics.names import Metric
from recframe.options import Options


def iter_tables(
    path: PathLike | Sequence[PathLike], metrics: list[Metric], options: Options, limits: Limits
) -> Iterator[pd.DataFrame]:
    """Return an iterator over the tables of files; what footers can refuse is refused at once."""
    files = open_files(path, options, limits.memory)
    empty = read_interactions(files.sample, files.columns, options)
    judge = open_judge(files.columns, options)

    def measure(block: pd.DataFrame) -> pd.DataFrame:
        try:
            interactions = read_interactions(block, files.columns, options)
            if judge is not None:
                interactions = judge.judge(interactions)
            return measure_table(interactions, metrics, options)
        except RecframeError as error:
            is_all = len(block) == files.n_rows
            part = "" if is_all else f"in a part of {len(block):,} of the {files.n_rows:,} rows: "
            if isinstance(error, RepeatedPairError):
                advice = advise_on_files(files, error.user, error.item)
                raise RepeatedPairError(f"{part}{error.found}; {advice}") from error
            raise type(error)(f"{part}{error}") from error

    def tables() -> Iterator[pd.DataFrame]:
        dtype = read_user_dtype(files)
        with showing(limits.progress, files.n_rows) as progress:
            progress.report()
            for block in iter_blocks(files, limits, progress):
                table = measure(block)
                progress.n_evaluated += len(block)
                progress.report()
                yield restore_users(table, dtype)
                pa.default_memory_pool().release_unused()  # else the pool grows with the blocks
            progress.report()  # also what was dropped since
        if judge is not None:
            with_absent = judge.judge_absent(empty)
            if len(with_absent.groups.users) > len(empty.groups.users):
                yield measure_table(with_absent, metrics, options)
        elif progress.n_evaluated == 0:
            yield restore_users(measure_table(empty, metrics, options), dtype)

    return tables()
