"""Splits: columns, folders and files that tell rows of train, validation and test apart."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache

import pandas as pd

from recframe.errors import DAMAGE, RecframeError, option, option_with, quote, spell
from recframe.frames.columns import Columns
from recframe.frames.names import get_column, plain_name
from recframe.options import Options

# The parts of a split, the one to evaluate first.
PARTS = (
    *("test", "tst", "te", "eval", "evaluation", "holdout", "probe", "validation", "valid", "val"),
    *("dev", "train", "trn", "tr"),
)
PART = re.compile(rf"(?<![a-z=])({'|'.join(PARTS)})([\s_-]?(set|data|ing))?(?![a-z=])")
OFF = (0, "0", "false", "f", "no", "n")  # flags as they are written
ON = (1, "1", "true", "t", "yes", "y")
OF_FILES = "split_of_file"  # the column of the parts that the names of files say
N_FIRST = 1000  # rows, in which most columns show more values than a split has parts


def find_part(label: Hashable, value: object) -> str:
    """Return the part of a split that a text names, or a flag whose column is named so."""
    flag = value.strip().casefold() if isinstance(value, str) else value
    if flag in (*OFF, *ON):
        part = _read_part(re.sub("^(is|in)|(mask|flag|row)$", "", plain_name(label)), whole=True)
        is_train = part in ("train", "trn", "tr")
        return part if flag in ON or part in ("", "valid") else "test" if is_train else "train"
    return _read_part(flag) if isinstance(flag, str) else ""


def _read_part(text: str, *, whole: bool = False) -> str:
    """Return the part of a split that a text names, as one of its words or as all of it."""
    found = PART.fullmatch(text) if whole else PART.search(text)
    return found[1] if found else ""


@lru_cache
def is_flag(label: Hashable) -> bool:
    """Return whether the name of a column of flags says that they tell parts of a split apart."""
    return find_part(label, 1) not in ("", "valid")


def split_files(paths: Sequence[str]) -> list[str]:
    """Return the part that each file is of by its name; none unless there are several parts."""
    shared = len(os.path.commonpath(paths)) if len(paths) > 1 else 0
    names = [path[shared:].casefold() for path in paths]
    parts = [found[-1][0] for name in names if (found := PART.findall(name))]
    return parts if len(parts) == len(paths) and len({*parts}) > 1 else []


def check_splits(
    rows: pd.DataFrame,
    labels: Iterable[Hashable],
    columns: Columns,
    options: Options,
    *,
    of_truth: bool = False,
) -> None:
    """Raise where a column tells parts of a split apart, and two users have rows of several.

    In truth no user need have.
    """
    for label in labels if columns.users and options.model is not None else ():
        parts, n_both = dict[object, str](), 0
        with suppress(*DAMAGE):  # of values that no set holds, and ids that are none
            parts = find_parts(get_column(rows, label))
            n_both = _count_users(rows, label, columns) if parts and not of_truth else 0
        if parts and (of_truth or n_both > 1):
            raise _split_error(label, parts, of_truth=of_truth)


def _split_error(label: Hashable, parts: dict[object, str], *, of_truth: bool) -> RecframeError:
    """Return the question which part of a split counts."""
    first = min(parts, key=lambda value: PARTS.index(parts[value]))
    name, both = ("truth", "the pairs of all") if of_truth else ("df", "rows of users in several")
    one = f"{name}[{name}[{quote(label)}] == {quote(first)}]"
    one = f"{option_with('truth', 'the path of its files')}" if label == OF_FILES else one
    if not of_truth:
        files = f"{one} (of files filters=[({quote(label)}, '==', {quote(first)})])"
        one = spell(files, f"--filter {quote(f'{label} = {first}')}")
    return RecframeError(
        f"{quote(label)} tells parts of a split apart ({', '.join(sorted(map(quote, parts)))}); "
        f"pass the rows of one, as {one}, or {option('model', None)} where {both} count"
    )


def find_parts(column: pd.Series) -> dict[object, str]:
    """Return the values of a column with the part that each names; none unless all name one."""
    is_other = column.dtype.kind in "biuf" and not is_flag(column.name)
    if is_other or len(column.iloc[:N_FIRST].unique()) > len(PARTS):
        return {}
    parts = {value: find_part(column.name, value) for value in column.dropna().unique().tolist()}
    return parts if all(parts.values()) and len({*parts.values()}) > 1 else {}


def _count_users(rows: pd.DataFrame, label: Hashable, columns: Columns) -> int:
    """Return how many users have several values of a column."""
    cells = pd.DataFrame({n: get_column(rows, one).array for n, one in enumerate(columns.users)})
    cells = cells.assign(part=get_column(rows, label).array).dropna().drop_duplicates()
    return int((cells.groupby([*range(len(columns.users))], observed=True).size() > 1).sum())
