"""What is said of parquet files as a whole, block by block: the engine over files."""

import pandas as pd

from recframe.analysis.catalogue import Shown, catalogue_table, count_shown, join_shown
from recframe.analysis.describe import (
    Figures,
    add_dropped,
    count_absent,
    count_figures,
    describe_figures,
    is_unique,
    join_figures,
)
from recframe.analysis.description import DUPLICATES, Description
from recframe.files.budget import Limits, showing
from recframe.files.footers import Files
from recframe.files.per_user import make_each
from recframe.frames.catalogue import Catalogue
from recframe.frames.reading import read_interactions
from recframe.frames.truth import open_candidates, open_judge
from recframe.options import Options


def catalogue_files(
    files: Files, k: int, catalogue: Catalogue | None, options: Options, limits: Limits
) -> pd.DataFrame:
    """Return the figures of the catalogue that files have, as of a frame of all their rows."""
    columns = files.columns
    judge = open_judge(columns, options)
    candidates = open_candidates(columns, options, judge)

    def count(frame: pd.DataFrame) -> Shown:
        interactions = read_interactions(candidates.among(frame), columns, options)
        if judge is not None:
            interactions = judge.judge(interactions, is_all=files.user is None)
        return count_shown(interactions, options, k, with_items=catalogue is None)

    parts: list[Shown] = []
    with showing(limits.progress, files.n_rows) as progress:
        for shown in make_each(files, limits, progress, count):
            parts = [join_shown([*parts, shown])]  # which stays small
    candidates.check()
    if judge is not None and files.user is not None:
        judge.judge_absent(read_interactions(files.sample, columns, options))  # which may refuse
    zero_division = float(options.zero_division)
    return catalogue_table(parts, columns.scores, k, catalogue, zero_division)


def describe_files(files: Files, k: int, options: Options, limits: Limits) -> Description:
    """Return the description of files that `describe` gives of a frame of all their rows."""
    # Rows without a user are counted here, and not refused.
    files = files._replace(drop_nulls=True)
    columns, is_all = files.columns, files.user is None
    judge = open_judge(columns, options)
    candidates = open_candidates(columns, options, judge)

    def count(frame: pd.DataFrame) -> list[Figures]:
        frame = candidates.among(frame)
        return count_figures(frame, columns, k, options, judge, is_all=is_all)

    parts: list[list[Figures]] = []
    with showing(limits.progress, files.n_rows) as progress:
        for figures in make_each(files, limits, progress, count):
            parts = [join_figures([*parts, figures])]  # which stays small
    candidates.check()
    if not parts:
        parts = [count(files.sample)]
    n_repeated = sum(figures.numbers.get(DUPLICATES, 0) for figures in parts[0])
    if judge is not None and not is_all and is_unique(options, int(n_repeated)):
        parts.append(count_absent(files.sample, columns, k, options, judge))
    described = add_dropped(
        join_figures(parts), columns, progress.n_dropped, progress.nulls_dropped
    )
    return describe_figures([described], columns.scores, k)
