"""Row groups: what footers say of them."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from opened import open_files
from recframe.files.footers import (
    CODE_BYTES,
    CODED_SHARE,
    LONG_TEXT,
    ROW_BYTES,
    SCORE_BYTES,
    TEXT_COPIES,
)
from recframe.files.found import plain_type
from recframe.options import Options

PLAIN = {
    pa.string(): [pa.string(), pa.large_string(), pa.string_view()],
    pa.binary(): [pa.binary(), pa.large_binary()],
    pa.int8(): [pa.int8()],
    pa.bool_(): [pa.bool_()],
}


@pytest.mark.parametrize("plain", PLAIN, ids=str)
def test_plain_types(plain):
    """Codes are what they stand for, and text of any kind is one; so are bytes."""
    for kind in PLAIN[plain]:
        assert plain == plain_type(kind)
        assert plain == plain_type(pa.dictionary(pa.int8(), kind))


def write(path, users, memory=1 << 30, **options):
    """Write rows of users and return the first row group, read in so much memory."""
    n_rows = len(users)
    columns = {"user": users, "extra": ["x" * 999] * n_rows, "score": range(n_rows)}
    columns["relevant"] = [True] * n_rows
    pq.write_table(pa.table(columns), path, **options)
    return open_files(path, Options(), memory).row_groups[0]


def used_bytes(path):
    """Return what the columns used have, as the footer says, by name."""
    row_group = pq.read_metadata(path).row_group(0)
    sizes = {row_group.column(at).path_in_schema: row_group.column(at) for at in range(4)}
    return {name: sizes[name].total_uncompressed_size for name in ("user", "score", "relevant")}


def test_bytes_of_numbers(tmp_path):
    """The bytes of a row group are those of the columns used, and of the work on its rows."""
    found = write(tmp_path / "0.parquet", range(100))
    n_bytes = sum(used_bytes(tmp_path / "0.parquet").values()) + 100 * (ROW_BYTES + SCORE_BYTES)

    assert (100, n_bytes, 0, 99, 0, ()) == (
        *(found.n_rows, found.n_bytes, found.low, found.high, found.number, found.coded),
    )


@pytest.mark.parametrize("length", [10, 200])
def test_bytes_of_texts(tmp_path, length):
    """Each row has a code; of long texts copies are held beside those of the rows."""
    path = tmp_path / "0.parquet"
    found = write(path, [f"{number:0{length}}" for number in range(400)])
    n_bytes = used_bytes(path)
    n_copies = TEXT_COPIES if length > LONG_TEXT else 1

    assert found.n_bytes == (
        400 * (CODE_BYTES + ROW_BYTES + SCORE_BYTES)
        + n_copies * n_bytes["user"]
        + n_bytes["score"]
        + n_bytes["relevant"]
    )


@pytest.mark.parametrize("more", [0, -1])
def test_texts_that_arrow_reads_as_codes(tmp_path, more):
    """Those of which a row group has no more than so small a part of the memory."""
    path, users = tmp_path / "0.parquet", [f"{number % 9:040}" for number in range(400)]
    write(path, users)
    found = write(path, users, CODED_SHARE * used_bytes(path)["user"] + more)

    assert (() if more else ("user",)) == found.coded


def test_row_groups_without_rows(tmp_path):
    """An empty row group has no texts to be measured, and is no part of the plan."""
    schema = pa.schema([("user", pa.string()), ("score", pa.int64()), ("relevant", pa.bool_())])
    rows = {"user": ["a", "b"], "score": [1, 2], "relevant": [True, False]}
    with pq.ParquetWriter(tmp_path / "0.parquet", schema) as writer:
        for table in (schema.empty_table(), pa.table(rows, schema), schema.empty_table()):
            writer.write_table(table)
    files = open_files(tmp_path, Options(), 1)

    assert [(1, 2)] == [(one.number, one.n_rows) for one in files.row_groups]


def test_users_of_folders_are_their_bounds(tmp_path):
    """Where a folder names the user, that is the lowest and the highest."""
    (tmp_path / "user=7").mkdir()
    rows = pa.table({"score": [1, 2], "relevant": [1, 0]})
    pq.write_table(rows, tmp_path / "user=7" / "0.parquet")
    (found,) = open_files(tmp_path, Options(), 1).row_groups

    assert (7, 7) == (found.low, found.high)


def test_one_ranking_has_no_bounds(tmp_path):
    """Without users there is nothing to bound."""
    pq.write_table(pa.table({"score": [1, 2], "relevant": [1, 0]}), tmp_path / "0.parquet")
    (found,) = open_files(tmp_path, Options(user=None), 1).row_groups

    assert (None, None) == (found.low, found.high)


def test_columns_are_found_by_name(tmp_path):
    """Fields of nested columns that play no role do not shift those behind them."""
    rows = {
        "nested": [{"user": 5, "deep": [1]}] * 3,
        "user": [1, 2, 3],
        "score": [1, 2, 3],
        "relevant": [1, 0, 1],
    }
    pq.write_table(pa.table(rows), tmp_path / "0.parquet")
    (found,) = open_files(tmp_path, Options(), 1).row_groups

    assert (1, 3) == (found.low, found.high)
