"""Cells of text files: the type of their column."""

import io

import pandas as pd
import pyarrow as pa
import pytest

import recframe
from recframe.formats import convert_all, open_rows
from recframe.text_types import TextTypes

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


def parse(cells, monkeypatch=None):
    """Return a column of these cells; with monkeypatch they are ids in blocks of one cell."""
    data = "id,n\n" + "".join(f"{'' if cell is None else cell},0\n" for cell in cells)
    if monkeypatch is not None:
        monkeypatch.setattr("recframe.text_types.FIRST_BLOCK", 4)
    rows = open_rows("x.csv", lambda: io.BytesIO(data.encode()))
    types = TextTypes(ids=["id"] if monkeypatch is not None else ())
    batches = list(rows.iter_batches(["id"], types))
    schema = types.complete(pa.schema([("id", pa.null())]))
    return pa.Table.from_batches([convert_all(one, schema) for one in batches], schema)["id"]


@pytest.mark.parametrize("cells", COLUMNS)
def test_types_of_cells(cells):
    """A column is integers, floats or booleans if all its cells are, else text."""
    wanted, values = COLUMNS[cells]
    found = parse(cells)

    assert values == found.to_pylist()
    assert found.type == (pa.float64() if wanted == NONE else wanted)


@pytest.mark.parametrize("cells", COLUMNS)
def test_types_are_those_of_pandas(cells):
    """Pandas reads a file of these cells with the same values."""
    text = "id,n\n" + "".join(f"{cell or ''},0\n" for cell in cells)
    read = pd.read_csv(io.StringIO(text))["id"]
    values = read.astype(object).where(read.notna(), None).tolist()

    assert values == parse(cells).to_pylist()


@pytest.mark.parametrize("cells", AS_TEXT)
def test_digits_that_numbers_would_lose_are_text(cells):
    """Ids with leading zeros, or with more digits than numbers hold, stay text."""
    assert list(cells) == parse(cells).to_pylist()


@pytest.mark.parametrize(
    ("first", "then", "values"),
    [
        ("1", "0.5", [1.0, 0.5]),
        ("0.5", "1", [0.5, 1.0]),
        ("1", str(2**63), [1, 2**63]),
        ("-1", str(2**63), ["-1", str(2**63)]),
        (str(2**53 + 1), "0.5", [str(2**53 + 1), "0.5"]),
        ("1", "a", ["1", "a"]),
        ("-0", "a", ["-0", "a"]),
        (" 1", "a", [" 1", "a"]),
        (" 1", "2", [1, 2]),
        ("+1", "0.5", [1.0, 0.5]),
        ("1", "01", ["1", "01"]),
        ("1", "True", ["1", "True"]),
        ("0.5", "a", ["0.5", "a"]),
        ("1.1", "1.10", ["1.1", "1.10"]),
        ("1.1", "1e5", ["1.1", "1e5"]),
        ("0.5", "1" * 20, ["0.5", "1" * 20]),
        ("True", "0", ["True", "0"]),
        (None, "1", [None, 1]),
        (None, "a", [None, "a"]),
        ("a", None, ["a", None]),
    ],
)
def test_cells_of_all_blocks_decide(first, then, values, monkeypatch):
    """The type fits the cells of all blocks, and text cells stay as written."""
    found = parse([first, then], monkeypatch)

    assert values == found.to_pylist()
    assert [type(one) for one in values] == [type(one) for one in found.to_pylist()]


def test_numbers_that_text_follows():
    """Cells of a column that becomes text stay as written; scores are parsed at once."""
    types = TextTypes()
    types.numbers = {"score"}
    rows = open_rows("x.csv", lambda: io.BytesIO(b"score,n\n1.10,1.10\n"))
    (batch,) = rows.iter_batches(["score", "n"], types)

    assert [1.1] == batch["score"].to_pylist()
    assert ["1.10"] == batch["n"].to_pylist()


@pytest.mark.parametrize("first", [" ", "+", " +"])
def test_files_with_spaces_and_plus_have_the_values_of_pandas(first, tmp_path):
    """Rows that were staged as text become numbers without spaces and a plus, in each column."""
    path = tmp_path / "rows.csv"
    rows = ["1,7,1,5", f"{first}1,{first}8,{first}0,{first}6", "2,7,1,-4", "2,9,0,"]
    path.write_text("user,item,relevant,score\n" + "\n".join(rows) + "\n")
    frame = pd.read_csv(path, skipinitialspace=True)
    options = {"missing": "unranked", "short": "pad"}

    pd.testing.assert_frame_equal(
        recframe.scan(path, **options).evaluate(["precision@1", "recall@1"]),
        recframe.evaluate(frame, ["precision@1", "recall@1"], **options),
    )
