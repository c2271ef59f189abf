"""Row groups: their rows, bytes and bounds, from footers."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recframe
from files.opening import open_files
from recframe.files.footers import ROW_BYTES, SCORE_BYTES
from recframe.files.row_groups import CODE_BYTES, CODED_SHARE, LONG_TEXT, TEXT_COPIES
from recframe.files.source_files import plain_type
from recframe.options import Options

PLAIN = {
    pa.string(): [pa.string(), pa.large_string(), pa.string_view()],
    pa.binary(): [pa.binary(), pa.large_binary()],
    pa.int8(): [pa.int8()],
    pa.bool_(): [pa.bool_()],
}


@pytest.mark.parametrize("plain", PLAIN, ids=str)
def test_plain_types(plain):
    """Categories have the type of their values; all kinds of text have one type, as have bytes."""
    for kind in PLAIN[plain]:
        assert plain == plain_type(kind)
        assert plain == plain_type(pa.dictionary(pa.int8(), kind))


def write(path, users, memory=1 << 30, **options):
    """Write rows of users, and return the first row group as read in this memory."""
    n_rows = len(users)
    columns = {"user": users, "extra": ["x" * 999] * n_rows, "score": range(n_rows)}
    columns["relevant"] = [True] * n_rows
    pq.write_table(pa.table(columns), path, **options)
    return open_files(path, Options(), memory).row_groups[0]


def used_bytes(path):
    """Return the bytes of the columns used, by name, from the footer."""
    row_group = pq.read_metadata(path).row_group(0)
    sizes = {row_group.column(at).path_in_schema: row_group.column(at) for at in range(4)}
    return {name: sizes[name].total_uncompressed_size for name in ("user", "score", "relevant")}


def test_bytes_of_numbers(tmp_path):
    """The bytes of a row group include the columns used and the work on rows."""
    found = write(tmp_path / "0.parquet", range(100))
    n_bytes = sum(used_bytes(tmp_path / "0.parquet").values()) + 100 * (ROW_BYTES + SCORE_BYTES)

    assert (100, n_bytes, 0, 99, 0, ()) == (
        *(found.n_rows, found.n_bytes, found.low, found.high, found.number, found.coded),
    )


@pytest.mark.parametrize("length", [10, 200])
def test_bytes_of_texts(tmp_path, length):
    """Each row has a code, and long texts are copied several times."""
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
    """Arrow reads texts as codes if a row group of them takes a small share of memory."""
    path, users = tmp_path / "0.parquet", [f"{number % 9:040}" for number in range(400)]
    write(path, users)
    found = write(path, users, CODED_SHARE * used_bytes(path)["user"] + more)

    assert (() if more else ("user",)) == found.coded


def test_row_groups_without_rows(tmp_path):
    """An empty row group is not part of the plan."""
    schema = pa.schema([("user", pa.string()), ("score", pa.int64()), ("relevant", pa.bool_())])
    rows = {"user": ["a", "b"], "score": [1, 2], "relevant": [True, False]}
    with pq.ParquetWriter(tmp_path / "0.parquet", schema) as writer:
        for table in (schema.empty_table(), pa.table(rows, schema), schema.empty_table()):
            writer.write_table(table)
    files = open_files(tmp_path, Options(), 1)

    assert [(1, 2)] == [(one.number, one.n_rows) for one in files.row_groups]


def test_users_of_folders_are_their_bounds(tmp_path):
    """A user in the name of a folder is the lowest and the highest one."""
    (tmp_path / "user=7").mkdir()
    rows = pa.table({"score": [1, 2], "relevant": [1, 0]})
    pq.write_table(rows, tmp_path / "user=7" / "0.parquet")
    (found,) = open_files(tmp_path, Options(), 1).row_groups

    assert (7, 7) == (found.low, found.high)


def test_one_ranking_has_no_bounds(tmp_path):
    """A row group without users has no bounds."""
    pq.write_table(pa.table({"score": [1, 2], "relevant": [1, 0]}), tmp_path / "0.parquet")
    (found,) = open_files(tmp_path, Options(user=None), 1).row_groups

    assert (None, None) == (found.low, found.high)


def test_columns_are_found_by_name(tmp_path):
    """Fields of nested columns do not shift the columns after them."""
    rows = {
        "nested": [{"user": 5, "deep": [1]}] * 3,
        "user": [1, 2, 3],
        "score": [1, 2, 3],
        "relevant": [1, 0, 1],
    }
    pq.write_table(pa.table(rows), tmp_path / "0.parquet")
    (found,) = open_files(tmp_path, Options(), 1).row_groups

    assert (1, 3) == (found.low, found.high)


TEXTS = ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]
ENCODINGS = {
    "dictionary": {},
    "full dictionary": {"dictionary_pagesize_limit": 1},
    "byte stream split": {"use_dictionary": ["user"], "use_byte_stream_split": ["item", "score"]},
    **{
        f"{text}, {number}": {
            "use_dictionary": False,
            "column_encoding": {"user": text, "code": text, "item": number, "score": "PLAIN"},
        }
        for text in TEXTS
        for number in ("PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT")
    },
}
COLUMNS = [{"item": "item"}, {"user": "code", "item": "user"}]


@pytest.fixture(scope="module")
def encoded():
    """Return 40 shuffled lists of 15 rows: users are texts, items integers, codes bytes."""
    numbers = [number * 7 % 600 for number in range(600)]
    columns = {"user": [f"user {n // 15:02}" for n in numbers], "item": [n % 15 for n in numbers]}
    columns["code"] = [f"{n:03}".encode() for n in numbers]
    columns["score"] = [n * 7919 % 600 / 8 for n in numbers]
    return pa.table(columns | {"relevant": [n % 3 == 0 for n in numbers]})


def read_as_frame(path, table):
    """Check that a file gives the table of its frame, in much and in little memory."""
    metrics = ["recall@2", "ndcg"]
    for columns in COLUMNS:
        expected = table.to_pandas().rec(**columns, short="pad").evaluate(metrics)
        for memory in ("1GiB", 20_000):
            scan = recframe.scan(path, memory=memory)(**columns, short="pad")
            pd.testing.assert_frame_equal(expected, scan.evaluate(metrics))


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("page", ["1.0", "2.0"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings_of_pyarrow(tmp_path, encoded, encoding, page):
    """All encodings of pyarrow are read, also encodings that Arrow cannot read as codes."""
    options = {"data_page_version": page, "row_group_size": 100, **ENCODINGS[encoding]}
    pq.write_table(encoded, tmp_path / "0.parquet", **options)
    read_as_frame(tmp_path / "0.parquet", encoded)


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
def test_encodings_of_duckdb(tmp_path, encoded, version):
    """Both encodings that DuckDB chooses for texts are read."""
    duckdb, path = pytest.importorskip("duckdb"), tmp_path / "0.parquet"
    copy = f"COPY rows TO '{path}' (PARQUET_VERSION {version}, ROW_GROUP_SIZE 2048)"
    duckdb.from_arrow(encoded).query("rows", copy)
    read_as_frame(path, encoded)
