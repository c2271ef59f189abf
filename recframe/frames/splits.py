"""Columns, folders and files that divide rows into train, validation and test."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress

import pandas as pd

from recframe.errors import DAMAGE, RecframeError, as_text, quote
from recframe.frames.columns import Columns
from recframe.frames.names import get_column, plain_name
from recframe.options import Options

# The parts of a split, the one to evaluate first.
PARTS = (
    *("test", "tst", "te", "eval", "evaluation", "holdout", "heldout", "held_out", "oof", "probe"),
    *("validation", "valid", "val", "va", "dev", "development", "train", "trn", "tr", "trainval"),
)
PART = re.compile(rf"(?<![a-z=])({'|'.join(PARTS)})([\s_-]?(set|data|ing))?(?![a-z=])")
FOLD = re.compile(r"(k|cv|test|val|inner|outer)*folds?(id|idx|index|no|num|number)?")
OFF = (0, "0", "false", "f", "no", "n")
ON = (1, "1", "true", "t", "yes", "y")
OF_FILES = "split_of_file"  # the column of parts that come from names of files
N_FIRST = 1000  # Most columns have more values in these rows than a split has parts.


def find_part(label: Hashable, value: object) -> str:
    """Return the part of a split that a text names, or that a flag names by its column.

    Return "" if it names no part.
    """
    flag = value.strip().casefold() if isinstance(value, str) else value
    if flag in (*OFF, *ON):
        found = PART.fullmatch(re.sub("^(is|in|for)|(mask|flag|row)$", "", plain_name(label)))
        part = found[1] if found else ""
        is_train = part.startswith("tr")
        return part if flag in ON or part in ("", "valid") else "test" if is_train else "train"
    found = PART.search(flag) if isinstance(flag, str) else None
    return found[1] if found else ""


def is_flag(label: Hashable) -> bool:
    """Return whether a column has the name of a part, such as is_train, so that it holds flags."""
    return find_part(label, 1) not in ("", "valid")


def is_fold(label: Hashable) -> bool:
    """Return whether a column has a name such as cv_fold, so that its values are test folds."""
    return bool(FOLD.fullmatch(plain_name(label)))


def split_files(paths: Sequence[str]) -> list[str]:
    """Return the part in each file's name; [] unless all names have a part and these differ."""
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
    """Raise if a column has parts of a split, and two users, or the only one, have several parts.

    In truth, the column is enough to raise unless its parts are folds.
    """
    for label in labels if columns.users and options.model is not None else ():
        parts, n_both, n_users = dict[object, str](), 0, 0
        with suppress(*DAMAGE):  # Cells may be unhashable, or ids invalid.
            parts = find_parts(get_column(rows, label))
            if parts:
                cells = [get_column(rows, one).array for one in (label, *columns.users)]
                each = pd.DataFrame(dict(enumerate(cells))).dropna().drop_duplicates()
                n_parts = each.groupby([*each][1:], observed=True).size()
                n_both, n_users = int((n_parts > 1).sum()), len(n_parts)
        if n_both > 1 or 0 < n_both == n_users or (of_truth and parts and not is_fold(label)):
            raise _split_error(label, parts, columns, of_truth=of_truth)


def _split_error(
    label: Hashable, parts: dict[object, str], columns: Columns, *, of_truth: bool
) -> RecframeError:
    """Return the refusal that asks which part of a split counts."""
    first = min(parts, key=lambda value: PARTS.index(parts[value]))
    name, both = ("truth", "the pairs of all") if of_truth else ("df", "rows of users in several")
    one = f"{name}[{name}[{quote(label)}] == {quote(first)}]"
    one = "truth= the path of its files" if label == OF_FILES else one
    if not of_truth:
        one += f" (of files filters=[({quote(label)}, '==', {quote(first)})]; as a flag "
        one += f"--filter '{label} == {first}')"
        if is_fold(label):
            one += f", or user={quote([label, *columns.users])} to rank each by itself"
    return RecframeError(
        f"{quote(label)} tells parts of a split apart ({', '.join(sorted(map(quote, parts)))}). "
        f"Pass the rows of one, as {one}, or model=None where {both} count."
    )


def find_parts(column: pd.Series) -> dict[object, str]:
    """Return the part that each value of a column names; {} unless all do and parts differ.

    Folds without such names are parts for test, and so are the numbers of a column named split.
    """
    are_numbers = column.dtype.kind in "biuf"
    are_folds = is_fold(column.name) or (are_numbers and plain_name(column.name) == "split")
    is_other = are_numbers and not (are_folds or is_flag(column.name))
    if is_other or len(column.iloc[:N_FIRST].unique()) > len(PARTS):
        return {}
    parts = {value: find_part(column.name, value) for value in column.dropna().unique().tolist()}
    if all(parts.values()) and len({*parts.values()}) > 1:
        return parts
    return dict.fromkeys(sorted(parts, key=as_text), "test") if are_folds else {}
