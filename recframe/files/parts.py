"""What is made of files block by block: of the rows of whole users, judged where there is truth."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from recframe.errors import RecframeError, RepeatedPairError, say_where
from recframe.files.blocks import iter_blocks
from recframe.files.budget import Limits, Progress, showing
from recframe.files.filters import FILTERS
from recframe.files.footers import Files
from recframe.files.plans import row_bytes_of
from recframe.files.repeated import advise_on_files
from recframe.files.user_ids import read_dtypes, restore_users
from recframe.frames.interactions import Interactions, read_interactions
from recframe.frames.truth import open_candidates, open_judge
from recframe.options import Options

Made = TypeVar("Made")


def iter_parts(
    files: Files,
    make: Callable[[Interactions, Options], Made],
    options: Options,
    limits: Limits,
) -> Generator[Made]:
    """Return an iterator over what is made of the rows of files, at least one.

    What footers can refuse is refused at once.
    """
    empty = read_interactions(files.sample, files.columns, options)
    judge = open_judge(files.columns, options)
    candidates = open_candidates(files.columns, options, judge)

    def parts() -> Generator[Made]:
        user_dtypes, dtypes = read_dtypes(files)

        def make_part(block: pd.DataFrame) -> Made:
            block = candidates.among(block.astype(dtypes) if dtypes else block)
            interactions = read_interactions(block, files.columns, options)
            if judge is not None:
                interactions = judge.judge(interactions)
            return make(restore_users(interactions, user_dtypes), options)

        with showing(limits.progress, files.n_rows) as progress:
            yield from make_each(files, limits, progress, make_part)
        candidates.check()
        if judge is not None:
            none = read_interactions(files.sample.astype(dtypes), files.columns, options)
            with_absent = judge.judge_absent(none)
            if len(with_absent.users.ids) > len(empty.users.ids):
                yield make(with_absent, options)
                return
        if progress.n_evaluated == 0:
            yield make(restore_users(empty, user_dtypes), options)

    return parts()


def make_each(
    files: Files, limits: Limits, progress: Progress, make: Callable[[pd.DataFrame], Made]
) -> Iterator[Made]:
    """Yield what is made of each block of whole users; a refusal says that it is of a part."""
    progress.report()
    _keep_freed()
    n_bytes = 0
    for block in iter_blocks(files, limits, progress):
        with _naming_part(files, len(block)):
            made = make(block)
        progress.n_evaluated += len(block)
        progress.report()
        yield made
        n_bytes += len(block) * row_bytes_of(files)
        if n_bytes > limits.memory:  # else the pool grows with the blocks
            pa.default_memory_pool().release_unused()
            n_bytes = 0
    progress.report()  # also what was dropped since
    if files.is_filtered and progress.n_evaluated + progress.n_dropped == 0:
        raise RecframeError(
            f"{FILTERS}: no row of the files matches, so that there is nothing to evaluate; look "
            "at the values that they compare with"
        )


def _keep_freed() -> None:
    """Have what blocks free kept for the next ones: to get it anew takes a tenth of the time.

    The C library of Linux does so once an array as large has been freed, and of no larger ones.
    """
    np.empty(31 << 20, np.uint8)  # of 32 MiB on none are kept


@contextmanager
def _naming_part(files: Files, n_rows: int) -> Iterator[None]:
    """Say of a refusal how many of the rows it is about, where these are not all."""
    try:
        yield
    except RecframeError as error:
        is_all = n_rows == files.n_rows
        part = "" if is_all else f"in a part of {n_rows:,} of the {files.rows_said} rows: "
        if isinstance(error, RepeatedPairError):
            advice = advise_on_files(files, error.user, error.item)
            raise RepeatedPairError(f"{part}{error.found}; {advice}") from error
        say_where(part, error)
        raise
