"""Headers of pages: what they say of texts, whoever wrote them, and what is refused."""

from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recframe
from layouts import FEW, page_header, varint
from recframe.files import sizes
from recframe.files.found import Found
from recframe.files.pages import Page, first_page, largest_page
from recframe.files.sizes import measure_texts

N = 3000
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
    texts = measure_texts(Found(str(tmp_path / "0.parquet"), {}), "user", column, N, 1 << 30)
    assert (124, True) == texts


def test_pages_without_a_dictionary(tmp_path):
    """Pages are followed one by one; the largest is as the writer was told."""
    path = tmp_path / "0.parquet"
    column = write(path, use_dictionary=False, data_page_size=10_000, write_batch_size=10)
    with path.open("rb") as file:
        page, largest = first_page(file, column), largest_page(file, column)

    assert not page.is_dictionary
    assert 10_000 < largest < 12_000
    texts = measure_texts(Found(str(path), {}), "user", column, N, 1 << 30)
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
        assert 0 < measure_texts(Found(str(path), {}), "user", column, N, 1).length
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
        r"16 times as many .* found memory of 1,048,576; pass memory='33MB' or more",
    ):
        recframe.evaluate(path, FEW, short="pad", memory="1MiB")

    assert users == recframe.evaluate(path, FEW, short="pad", memory="33MB").index.tolist()


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


def read(data, start=4, n_stored=0):
    """Return the first page of a column that begins at a place of a file."""
    column = SimpleNamespace(
        dictionary_page_offset=None, data_page_offset=start, total_compressed_size=n_stored
    )
    return first_page(BytesIO(bytes(start) + data), column)


@pytest.mark.parametrize("number", [0, 1, 63, 64, 127, 128, 8191, 8192, 2**31 - 1, 2**63 - 1])
def test_numbers_of_any_size(number):
    """Numbers are seven bits to a byte, with their sign."""
    header = page_header(0, number, 7, 5, number)

    assert Page(4 + len(header) + 7, number, number, is_dictionary=False) == read(header)


@pytest.mark.parametrize(("field", "is_dictionary"), [(5, False), (7, True), (8, False)])
def test_the_three_kinds_of_pages(field, is_dictionary):
    """Each says in a field of its own how many values it has."""
    assert (50, is_dictionary) == read(page_header(0, 9, 8, field, 50))[2:]


def test_a_page_of_another_kind():
    """A page that is neither data nor a dictionary has no values."""
    assert (0, False) == read(page_header(1, 9, 8, 6, 50))[2:]


# Fields as Thrift has them: step to the number of the field and type, then the value.
SKIPPED = {
    "a checksum": b"\x15" + varint(-12345),
    "a number of two bytes": b"\x14" + varint(-300),
    "a number of eight bytes": b"\x16" + varint(2**40),
    "a byte": b"\x13\xff",
    "a true": b"\x11",
    "a false": b"\x12",
    "a double": b"\x17" + b"\xff" * 8,
    "bytes": b"\x18\x03\xff\xff\xff",
    "many bytes": b"\x18\xac\x02" + b"\xff" * 300,
    "a struct": b"\x1c\x15\x02\x1c\x11\x00\x00",
}


@pytest.mark.parametrize("name", SKIPPED)
def test_what_does_not_matter_is_passed_over(name):
    """Behind a field of any type the next is read as it is."""
    for where in ("before", "after"):
        header = page_header(0, 9000, 800, 7, 50, **{where: SKIPPED[name]})

        assert Page(4 + len(header) + 800, 9000, 50, is_dictionary=True) == read(header)


def test_fields_are_numbered_by_steps():
    """A field is so many above the one before it, or has its number written out."""
    by_steps = b"\x15\x00\x15\x10\x15\x0e\x4c\x15\x0a\x00\x00"
    written_out = b"\x15\x00\x05\x04\x10\x15\x0e\x0c\x0e\x15\x0a\x00\x00"

    assert Page(4 + len(by_steps) + 7, 8, 5, is_dictionary=True) == read(by_steps)
    assert Page(4 + len(written_out) + 7, 8, 5, is_dictionary=True) == read(written_out)


WRONG = {
    "no end": (b"\x15\x00", IndexError),
    "no size": (b"\x15\x00\x00", KeyError),
    "a list": (b"\x15\x00\x19\x15\x00", KeyError),
    "65 bits": (b"\x16" + b"\xff" * 10 + b"\x01\x00", ValueError),
    "an end before it begins": (page_header(0, 9, -1, 5, 50), ValueError),
}


@pytest.mark.parametrize("name", WRONG)
def test_headers_that_make_no_sense(name):
    """What cannot be read raises what those who ask expect."""
    header, error = WRONG[name]
    with pytest.raises(error):
        read(header)


def test_a_number_of_64_bits():
    """Nothing that fits is refused."""
    header = b"\x16" + b"\xff" * 9 + b"\x01" + page_header(0, 9, 8, 5, 50)[2:]

    assert 9 == read(header).n_bytes


def test_a_page_of_no_bytes():
    """A page may be empty: the next begins where its header ends."""
    header = page_header(0, 0, 0, 5, 0)

    assert 4 + len(header) == read(header).end


@pytest.mark.parametrize("largest", range(4))
def test_the_largest_of_several_pages(largest):
    """Whichever it is, it is found; what is behind the column is not looked at."""
    sizes_of_pages = [700 + 200 * (number == largest) for number in range(4)] + [9999]
    pages = [
        page_header(0, size, size // 10, 5, 50) + b"\xff" * (size // 10) for size in sizes_of_pages
    ]
    column = SimpleNamespace(
        dictionary_page_offset=6,
        data_page_offset=6 + len(pages[0]),
        total_compressed_size=sum(map(len, pages[:4])),
    )

    assert 900 == largest_page(BytesIO(bytes(6) + b"".join(pages)), column)


@pytest.mark.parametrize("offsets", [(None, 9), (0, 9), (9, 40), (40, 9)])
def test_where_a_column_begins(offsets):
    """At its dictionary, where it has one; some writers say 0 where it has none."""
    column = SimpleNamespace(dictionary_page_offset=offsets[0], data_page_offset=offsets[1])
    data = bytes(9) + page_header(2, 77, 8, 7, 5)

    assert 77 == first_page(BytesIO(data), column).n_bytes
