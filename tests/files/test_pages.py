"""Headers of pages: what they say of texts, whoever wrote them, and what is refused."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recframe
from layouts import FEW
from recframe.files import sizes
from recframe.files.pages import first_page, largest_page
from recframe.files.sizes import measure_texts

N = 3000
FIELD = pa.field("user", pa.string())
USERS = [f"user of a long name {number % 50:0100}" for number in range(N)]


def write(path, **options):
    """Write rows of long users as one row group and return the chunk of its users."""
    table = pa.table({"user": USERS, "score": range(N), "relevant": [1, 0, 0] * (N // 3)})
    pq.write_table(table, path, **options)
    return pq.read_metadata(path).row_group(0).column(0)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_pages_of_a_dictionary(tmp_path, version, compression):
    """The first page has each text once, which tells their length; no other is larger."""
    options = {"data_page_version": version, "compression": compression}
    column = write(tmp_path / "0.parquet", **options)
    with (tmp_path / "0.parquet").open("rb") as file:
        page = first_page(file, column)
        largest = largest_page(file, column)

    assert (True, 50, 50 * 124) == (page.is_dictionary, page.n_values, page.n_bytes)
    assert 50 * 124 <= largest < column.total_uncompressed_size
    texts = measure_texts(str(tmp_path / "0.parquet"), FIELD, column, N, 1 << 30)
    assert (124, True) == texts


def test_pages_without_a_dictionary(tmp_path):
    """Pages are followed one by one; the largest is as the writer was told."""
    path = tmp_path / "0.parquet"
    column = write(path, use_dictionary=False, data_page_size=10_000, write_batch_size=10)
    with path.open("rb") as file:
        page, largest = first_page(file, column), largest_page(file, column)

    assert not page.is_dictionary
    assert 10_000 < largest < 12_000
    texts = measure_texts(str(path), FIELD, column, N, 1 << 30)
    assert not texts.are_coded
    assert 124 < texts.length < 130


def test_damaged_headers(tmp_path):
    """Where a header makes no sense, the footer is believed; what is damaged is told in reading."""
    path = tmp_path / "0.parquet"
    column = write(path)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(200):
        path.write_bytes(data[:4] + rng.bytes(30) + data[34:])
        assert 0 < measure_texts(str(path), FIELD, column, N, 1).length
    path.write_bytes(data[:4] + b"\xff" * 30 + data[34:])
    with pytest.raises(recframe.RecframeError, match=r"cannot read .*0.parquet: "):
        recframe.evaluate(path, FEW, short="pad")


def test_a_piece_larger_than_the_memory(tmp_path, monkeypatch):
    """An id that memory has no room for is refused before it is read; with room it is read."""
    monkeypatch.setattr(sizes, "FREE", 0)
    path = tmp_path / "0.parquet"
    users = ["x" * 1_000_000 + end for end in "ab"]
    rows = {"score": [2, 1] * 2, "relevant": [True, False] * 2}
    pq.write_table(pa.table({"user": sorted(users * 2), **rows}), path, compression="zstd")
    with pytest.raises(
        recframe.RecframeError,
        match=r"^memory: .*0.parquet has 2,000,010 bytes of 'user' in one piece, which takes about "
        r"8 times as many .* found memory of 1,048,576; pass memory='17MB' or more",
    ):
        recframe.evaluate(path, FEW, short="pad", memory="1MiB")

    assert users == recframe.evaluate(path, FEW, short="pad", memory="17MB").index.tolist()


def test_a_footer_larger_than_the_memory(tmp_path, monkeypatch):
    """The footer of too many row groups is refused before it is read; with room it is read."""
    monkeypatch.setattr(sizes, "FREE", 0)
    path = tmp_path / "0.parquet"
    pq.write_table(
        pa.table({"user": [1] * 50, "score": range(50), "relevant": [1, 0] * 25}), path, 1
    )
    with pytest.raises(
        recframe.RecframeError,
        match=r"memory: the footer of .*0.parquet has [0-9,]+ bytes and takes about 10 times .*; "
        "pass memory='1MB' or more, or write the file with larger row groups",
    ):
        recframe.evaluate(path, FEW, memory=100_000)

    assert [1] == recframe.evaluate(path, FEW, memory="1MB").index.tolist()
