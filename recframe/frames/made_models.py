"""Columns that tell the rankings of a user apart, and columns of models that can be made."""

from collections.abc import Hashable, Iterator
from contextlib import suppress
from functools import partial, reduce
from itertools import combinations
from operator import methodcaller
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype

from recframe.errors import MadeFrame, quote
from recframe.frames.columns import Columns, other_labels
from recframe.frames.names import find_role, get_column, list_labels
from recframe.frames.words import has_word, is_of_row
from recframe.kernel.threads import Array

LEAST_OF_EACH = 4  # rows of each time or fraction that tells rankings apart
MOST_SETTINGS = 20  # values of a column of settings, and their combinations
MOST_COLUMNS = 8  # columns of settings that are joined
MOST_UNEVEN = 2  # times as many rows of one combination of settings as of another


def find_telling(
    frame: pd.DataFrame, columns: Columns, rows: Array, pair: Array
) -> tuple[Hashable, list[Any]] | None:
    """Return a column in which rows of one pair differ, and its values; None if no column does.

    It is the column with the fewest values, so a model or a day comes before a time of day. Times
    and fractions tell rankings apart only if they are few.
    """
    telling: dict[Hashable, list[Any]] = {}
    for label in other_labels(frame, columns):
        column = get_column(frame, label, rows)
        is_label = find_role(label) == "relevant"
        is_row = is_of_row(label) and not has_word(label, "part")
        is_doubtful = is_row or is_float_dtype(column.dtype)
        if is_label or (is_doubtful and LEAST_OF_EACH * column.nunique() > len(column)):
            continue
        with suppress(TypeError):  # Cells such as lists cannot be compared.
            codes, values = pd.factorize(column, use_na_sentinel=False)
            cells = pd.DataFrame({"pair": pair, "row": rows, "code": codes}).drop_duplicates("row")
            if not cells.duplicated(["pair", "code"]).any():
                telling[label] = pd.Index(values).tolist()
    return min(telling.items(), key=lambda column: len(column[1]), default=None)


def find_made_models(
    frame: pd.DataFrame, columns: Columns, rows: Array, pair: Array
) -> tuple[str, dict[str, Any]] | None:
    """Return advice and answers that make a column of models in which rows of one pair differ.

    It joins two or three columns of settings, whose combinations have about equally many rows, or
    is a level of the index without a name. Return None if no such column does.
    """
    distinct, at = np.unique(rows, return_inverse=True)
    labels = [one for one in (columns.model, *other_labels(frame, columns)) if one in frame.columns]
    cells = {label: get_column(frame, label, distinct).array for label in labels}
    seen = pd.DataFrame(cells, index=frame.index[distinct])
    for made in _list_made(seen, columns.model):
        alone = pd.DataFrame({"model": get_column(made.make(seen), "model").array})
        telling = find_telling(alone, columns._replace(model=None), at, pair)
        if telling is not None and len(telling[1]) <= MOST_SETTINGS:
            one, other, *_ = map(quote, telling[1])
            advice = f"The column 'model' of {made.code} tells them apart (such as {one} and "
            advice += f"{other}): pass both to evaluate each of its values as a model"
            return advice, {"df": made, "model": "model"}
    return None


def _list_made(seen: pd.DataFrame, model: Hashable) -> Iterator[MadeFrame]:
    """Yield frames with a column of models: of a level without a name, and of joined columns."""
    names = [*seen.index.names]
    for at, name in enumerate(names if len(names) > 1 and "model" not in list_labels(seen) else ()):
        if name is None:
            named = [*names[:at], "model", *names[at + 1 :]]
            yield MadeFrame(f"df.rename_axis({named})", methodcaller("rename_axis", named))
    few = [
        label
        for label in seen
        if (find_role(label) in (None, "model", "item") and not has_word(label, "time"))
        and 1 < seen[label].astype(str).nunique() <= MOST_SETTINGS
    ]
    for size in (2, 3):
        for labels in combinations(few[:MOST_COLUMNS], size):
            join = partial(_join_columns, labels=labels)
            counts = join(seen)["model"].value_counts()
            is_even = counts.max() <= MOST_UNEVEN * counts.min()
            if model in (None, *labels) and is_even and counts.min() >= LEAST_OF_EACH:
                code = " + ' ' + ".join(f"df[{quote(one)}].astype(str)" for one in labels)
                yield MadeFrame(f"df.assign(model={code})", join)


def _join_columns(frame: pd.DataFrame, labels: tuple[Hashable, ...]) -> pd.DataFrame:
    """Return a frame whose column of models has the texts of several columns."""
    texts = (frame[label].astype(str) for label in labels)
    return frame.assign(model=reduce(lambda some, more: some + " " + more, texts))
