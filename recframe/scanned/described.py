"""What is said of files as a whole: figures of blocks, added up as they come."""

import pandas as pd

from recframe.analysis.describe import (
    Description,
    Figures,
    add_dropped,
    count_figures,
    describe_figures,
    join_figures,
)
from recframe.files.budget import Limits, showing
from recframe.files.footers import Files
from recframe.files.parts import make_each
from recframe.frames.interactions import read_interactions
from recframe.frames.truth import open_candidates, open_judge
from recframe.options import Options


def describe_files(files: Files, k: int, options: Options, limits: Limits) -> Description:
    """Return the description of files that `describe` gives of a frame of all their rows."""
    # Rows without a user are counted here, and not refused.
    files, columns = files._replace(drop_nulls=True), files.columns
    judge = open_judge(columns, options)
    candidates = open_candidates(columns, options, judge)

    def count(frame: pd.DataFrame) -> list[Figures]:
        rows = read_interactions(candidates.among(frame), columns, options, lenient=True)
        return count_figures(rows, options, k, judge)

    parts: list[list[Figures]] = []
    with showing(limits.progress, files.n_rows) as progress:
        for figures in make_each(files, limits, progress, count):
            parts = [join_figures([*parts, figures])]  # which stays small
    candidates.check()
    if not parts:
        parts = [count(files.sample)]
    add_dropped(parts[0], columns, progress.n_dropped, progress.nulls_dropped)
    return describe_figures(parts, files.sample, columns, k, options, judge)
