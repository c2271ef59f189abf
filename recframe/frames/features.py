"""Columns that metrics such as `mean` and `diversity` read instead of relevance, as arrays."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import RecframeError, quote
from recframe.frames.list_columns import join_chunks
from recframe.frames.text_lists import N_CELLS_SEEN, find_separator
from recframe.frames.value_errors import null_error
from recframe.frames.values import MAX_GAIN, Scores, find_nulls, read_numbers
from recframe.kernel.threads import Array
from recframe.options import Options

VECTORS = (list, tuple, np.ndarray)  # cells of objects that are vectors
REMEDIES: dict[type, str] = {  # The key is the kind of the first wrong cell.
    float: "pd.cut makes categories of floats, and {}.astype('Int64') of whole ones",
    str: "{}.map(json.loads) makes lists of text; csv has no lists, and Dask only those of Arrow",
    list: "{}.str.join('|').str.get_dummies().apply(list, axis=1) makes vectors of several labels",
    object: "make them text, or lists of numbers",
}


def read_feature(column: pd.Series, metric: str, scores: Scores, options: Options) -> Array:
    """Return the values of a column that a metric reads, as floats.

    Categories become codes, and vectors become the rows of a matrix. With ``missing="unranked"``, a
    null in a row that no score ranks stays null; `share` reads all rows.
    """
    role = f"{metric} column={quote(column.name)}:"
    read = _read_feature if metric == "diversity" else _read_amounts
    nulls = find_nulls(column)
    if not nulls.any():
        return read(column, role)
    if (
        options.missing != "unranked"
        or metric == "share"
        or any(is_ranked is None or (nulls & is_ranked).any() for _, is_ranked in scores.values())
    ):
        remedy = "Fill them in; missing='drop' removes these rows, for every score."
        raise null_error(role, nulls, remedy)
    values = read(column[~nulls], role)
    of_rows = np.full((len(nulls), *values.shape[1:]), np.nan)
    of_rows[~nulls] = values
    return of_rows


def _read_amounts(column: pd.Series, role: str) -> Array:
    """Return numbers to add up, which must not be negative in a share."""
    numbers = read_numbers(column, role.partition("=")[0]).astype(np.float64)
    least, required = (0.0, "0 or more and ") if role.startswith("share") else (-MAX_GAIN, "")
    beyond = np.flatnonzero(~((numbers >= least) & (numbers <= MAX_GAIN)))
    if len(beyond):
        raise RecframeError(
            f"{role} must be {required}at most {MAX_GAIN:.3g} in size, but has {len(beyond)} "
            f"beyond (such as {numbers[beyond[0]]:g}). Clip them, for example with "
            f"df[{quote(column.name)}].clip({max(least, -1e9):g}, 1e9)."
        )
    return numbers


def _read_feature(column: pd.Series, role: str) -> Array:
    """Return the codes of categories, or vectors of numbers; raise for other cells."""
    cells = column.iloc[:N_CELLS_SEEN].tolist()
    _check_one_label(cells, column.name, role)
    wrong = [cell for cell in cells if isinstance(cell, float)]
    with suppress(pa.ArrowException, TypeError):  # Cells have several types, or are no categories.
        if cells and isinstance(cells[0], VECTORS):
            lists = join_chunks(pa.array(column.array))
            if pa.types.is_integer(kind := lists.type.value_type) or pa.types.is_floating(kind):
                return _read_vectors(lists, role)
        elif find_separator(cells) != "" and not wrong:
            return (pd.factorize(column)[0] if cells else np.empty(0)).astype(np.float64)
    wrong = wrong or [cell for cell in cells if not isinstance(cell, VECTORS)] or cells
    remedy = next(text for kind, text in REMEDIES.items() if isinstance(wrong[0], kind))
    raise RecframeError(
        f"{role} must be categories or vectors of numbers, but has {quote(wrong[0])}; "
        f"{remedy.format(f'df[{quote(column.name)}]')}"
    )


def _check_one_label(cells: list[Any], label: Hashable, role: str) -> None:
    """Raise if texts hold several labels, such as Action|Comedy, which are also in others."""
    texts = dict.fromkeys(cell for cell in cells if isinstance(cell, str))
    labels = [one for text in texts for one in text.split("|")]
    if len({*labels}) < len(labels):
        several = next(text for text in texts if "|" in text)
        texts_of = f"df[{quote(label)}].str"
        raise RecframeError(
            f"{role} must have one category in a cell, but has {quote(several)}; "
            f"{texts_of}.get_dummies().apply(list, axis=1) makes vectors of several labels, "
            f"{texts_of}.replace('|', '+') one category of each text"
        )


def _read_vectors(lists: pa.Array, role: str) -> Array:
    """Return vectors as the rows of a matrix; raise if one has another length or no direction."""
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    length = np.bincount(lengths).argmax()  # Most vectors have this one.
    is_valid = (lengths == length) & (lengths > 0)
    if is_valid.all():
        vectors: Array = lists.flatten().to_numpy(zero_copy_only=False).reshape(len(lists), -1)
        squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
        is_valid = (squares >= 1 / MAX_GAIN) & (squares <= MAX_GAIN)
        if is_valid.all():
            return vectors
    row = int(is_valid.argmin())
    raise RecframeError(
        f"{role} vectors must have one length, here {length}, and numbers whose squares add up to "
        f"more than 0 and less than {MAX_GAIN:.0e}, but have "
        f"{np.count_nonzero(~is_valid)} of {len(lengths)} others (such as "
        f"{quote(lists[row].as_py())} in row {row}). Remove these rows, or correct them."
    )
