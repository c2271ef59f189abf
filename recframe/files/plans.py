"""The plan for files of any size, made before any data is read: how they are read in memory."""

from operator import le, lt
from typing import Literal, NamedTuple

import pyarrow as pa

from recframe.files.footers import FREE, SCORE_BYTES, Files
from recframe.files.found import RowGroup

Route = Literal["sweep", "whole", "spill"]
ROUTES: dict[Route, str] = {
    "sweep": "in order of users, block by block",
    "whole": "in one piece",
    "spill": "in any order, parted by users in a temporary file",
}


class ReadingPlan(NamedTuple):
    """How files are read: in order of users, as one block, or parted in a temporary file."""

    route: Route
    row_groups: list[RowGroup]  # in the order they are read
    memory: int  # bytes that are left to work in


def plan_blocks(files: Files) -> ReadingPlan:
    """Return how files with rows are read in their memory; no data is read."""
    n_scores = len(files.columns.scores)
    # In less, the columns of a block would take more time than its rows.
    least = min(FREE, SCORE_BYTES * n_scores * n_scores)
    # An open footer is beside it, for which some is free.
    memory = max(files.memory - max(0, files.footer_bytes - FREE // 4), least)
    in_order, n_bytes = _in_order(files), sum(one.n_bytes for one in files.row_groups)
    # Where all are open at a time, a sweep would part nothing.
    if in_order and _most_open(files, in_order) <= min(memory - memory // 4, n_bytes - 1):
        return ReadingPlan("sweep", in_order, memory)
    is_whole = not files.users or n_bytes <= memory
    return ReadingPlan("whole" if is_whole else "spill", files.row_groups, memory)


def _in_order(files: Files) -> list[RowGroup] | None:
    """Return the row groups in order of their lowest users, or None where some are not known."""
    if not files.users or any(row_group.low is None for row_group in files.row_groups):
        return None
    kinds = ("integer", "float32", "float64", "string", "binary", "date", "timestamp")
    if not any(getattr(pa.types, f"is_{kind}")(files.types[files.users[0]]) for kind in kinds):
        return None
    return sorted(files.row_groups, key=lambda row_group: (row_group.low, row_group.high))


def _most_open(files: Files, row_groups: list[RowGroup]) -> int:
    """Return the most bytes a sweep over row groups in order of users holds at a time.

    Of row groups that touch, one user's rows may go on, and these are held at a time on any road.
    """
    is_done = le if len(files.users) == 1 else lt
    most = n_open = 0
    last_to_first = sorted(row_groups, key=lambda row_group: row_group.high, reverse=True)
    for row_group in row_groups:
        n_open += row_group.n_bytes
        while last_to_first and is_done(last_to_first[-1].high, row_group.low):
            n_open -= last_to_first.pop().n_bytes
        most = max(most, n_open)
    return most
