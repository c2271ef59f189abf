"""Cells of text: of which type a column of them is, as pandas reads it."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recframe.formats.rows import Known

# A column has the first of these types that holds all its cells, else it is text.
TYPES = (pa.null(), pa.int64(), pa.uint64(), pa.bool_(), pa.float64())
# What may follow each where cells of later blocks are not of it; text may follow all.
WIDER_TYPES = {
    pa.null(): TYPES,
    pa.int64(): (pa.uint64(), pa.float64()),
    pa.uint64(): (pa.float64(),),
}
TRUTHS = pa.array(["True", "TRUE", "true"])
FALSEHOODS = pa.array(["False", "FALSE", "false"])
FIRST_CELLS = 64
EXACT = 2.0**53  # up to which floats hold all integers
WHOLE_DIGITS = r"^-?[0-9]+$"


def read_cells(name: str, cells: pa.Array, known: Known) -> pa.Array:
    """Return the cells of a column in the type known; raise where they show a wider one."""
    wanted = known.types.get(name)
    if wanted == pa.string():
        return cells
    kind, found = _parse(cells, TYPES if wanted is None else (wanted,))
    if wanted is None:
        known.types[name] = kind
    elif kind != wanted:
        kind, _ = _parse(cells, TYPES)
        raise known.widen(name, kind if kind in WIDER_TYPES.get(wanted, ()) else pa.string())
    return found


def _parse(cells: pa.Array, kinds: tuple[pa.DataType, ...]) -> tuple[pa.DataType, pa.Array]:
    """Return the first of these types that all cells are of, else text, and the cells so."""
    for kind in kinds:
        if (found := _cast(cells, kind)) is not None:
            return kind, found
    # Pandas reads numbers that have blanks around them, or a plus before them.
    trimmed = pc.ascii_ltrim(pc.ascii_trim_whitespace(cells), "+")
    if not trimmed.equals(cells):
        for kind in kinds:
            if kind != pa.bool_() and (found := _cast(trimmed, kind)) is not None:
                return kind, found
    return pa.string(), cells


def _cast(cells: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Return cells as values of a type, or None where some are none."""
    # Arrow parses all cells even where the first is none, and is slow to find so of each.
    if len(cells) > FIRST_CELLS and _cast(cells[:FIRST_CELLS], kind) is None:
        return None
    if kind == pa.null():  # which pandas has as floats
        return pa.nulls(len(cells), pa.float64()) if cells.null_count == len(cells) else None
    if kind == pa.bool_():
        is_true, is_false = pc.is_in(cells, TRUTHS), pc.is_in(cells, FALSEHOODS)
        n_known = is_true.true_count + is_false.true_count + cells.null_count
        return cells.cast(kind) if n_known == len(cells) else None
    if pc.starts_with(cells, "+").true_count:
        return None  # which Arrow takes in floats only
    try:
        found = cells.cast(kind)
    except pa.ArrowInvalid:
        return None
    if _are_padded(cells):
        return None  # "007" is not 7, nor is "0x7"
    if kind == pa.float64():  # an integer that a float rounds is none
        large = cells.filter(pc.greater_equal(pc.abs(found), EXACT))
        if pc.match_substring_regex(large, WHOLE_DIGITS).true_count:
            return None
    return found


def _are_padded(cells: pa.Array) -> bool:
    """Return whether some numbers begin with a zero that a digit or an x follows."""
    _, offsets, text = cells.buffers()
    if text is None or text.size == 0:
        return False
    offsets = np.frombuffer(offsets, np.int32)[cells.offset : cells.offset + len(cells) + 1]
    signs = np.frombuffer(text, np.uint8)
    is_negative = signs[np.minimum(offsets[:-1], len(signs) - 1)] == ord("-")
    starts, n_signs = offsets[:-1] + is_negative, np.diff(offsets) - is_negative
    starts = starts[n_signs > 1]
    first, second = signs[starts], signs[starts + 1]
    is_digit = (second >= ord("0")) & (second <= ord("9"))
    return bool(((first == ord("0")) & (is_digit | (second | 32 == ord("x")))).any())
