"""Cells of text: the type of a column of them."""

import io

import pandas as pd
import pyarrow as pa
import pytest

from recframe.cells import AgainError, Known
from recframe.formats import open_rows

NONE = pa.null()
COLUMNS = {
    ("1", "-2", None): (pa.int64(), [1, -2, None]),
    ("0", "18446744073709551615"): (pa.uint64(), [0, 2**64 - 1]),
    ("1", "0.5", "-inf", "1e3"): (pa.float64(), [1, 0.5, float("-inf"), 1000]),
    (" 1", "+2"): (pa.int64(), [1, 2]),
    ("+1", "-2"): (pa.int64(), [1, -2]),
    (" 0.5", "+1"): (pa.float64(), [0.5, 1]),
    ("True", "FALSE", "true", None): (pa.bool_(), [True, False, True, None]),
    ("a", "1"): (pa.string(), ["a", "1"]),
    ("True", "1"): (pa.string(), ["True", "1"]),
    ("2026-11-22", "2026-11-23"): (pa.string(), ["2026-11-22", "2026-11-23"]),
    (None, None): (NONE, [None, None]),
}
AS_TEXT = [
    ("007", "12"),
    ("0", "-01"),
    ("0x1F", "1"),
    ("007", "0.5"),
    ("1" * 25, "2"),
    ("-1", "9" * 19),
]


def parse(cells, known=None):
    """Return what a column of these cells is."""
    data = "id,n\n" + "".join(f"{'' if cell is None else cell},0\n" for cell in cells)
    rows = open_rows("x.csv", lambda: io.BytesIO(data.encode()))
    (batch,) = rows.iter_batches(["id"], known or Known())
    return batch["id"]


@pytest.mark.parametrize("cells", COLUMNS)
def test_types_of_cells(cells):
    """A column is whole numbers, floats or booleans where all its cells are, else text."""
    wanted, values = COLUMNS[cells]
    known = Known()
    found = parse(cells, known)

    assert wanted == known.types["id"]
    assert values == found.to_pylist()
    assert found.type == (pa.float64() if wanted == NONE else wanted)


@pytest.mark.parametrize("cells", COLUMNS)
def test_types_are_those_of_pandas(cells):
    """Pandas reads a file of these cells as the same values."""
    text = "id,n\n" + "".join(f"{cell or ''},0\n" for cell in cells)
    read = pd.read_csv(io.StringIO(text))["id"]
    values = read.astype(object).where(read.notna(), None).tolist()

    assert values == parse(cells).to_pylist()


@pytest.mark.parametrize("cells", AS_TEXT)
def test_digits_that_numbers_would_lose_are_text(cells):
    """Ids with leading zeros, or with more digits than numbers hold, stay what they are."""
    assert list(cells) == parse(cells).to_pylist()


@pytest.mark.parametrize(
    ("first", "then", "wider"),
    [
        ("1", "0.5", pa.float64()),
        ("1", str(2**63), pa.uint64()),
        ("1", "a", pa.string()),
        ("1", "01", pa.string()),
        ("1", "True", pa.string()),
        ("0.5", "a", pa.string()),
        ("0.5", "1" * 20, pa.string()),
        ("True", "0", pa.string()),
        (None, "1", pa.int64()),
        (None, "a", pa.string()),
    ],
)
def test_later_cells_widen_a_type(first, then, wider):
    """Where later cells do not fit, all are read anew in the type that holds both."""
    known = Known()
    parse([first], known)
    with pytest.raises(AgainError):
        parse([then], known)

    assert wider == known.types["id"]
    assert [wider] * 2 == [parse([cell], known).type for cell in (first, then)]


def test_later_cells_that_fit():
    """Whole numbers and empty cells are floats where others are."""
    known = Known()
    parse(["0.5"], known)

    assert [1.0, None] == parse(["1", None], known).to_pylist()
