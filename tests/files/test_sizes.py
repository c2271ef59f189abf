"""Sizes: what is taken of the memory, to the byte, and what is refused before it is taken."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import recframe
from layouts import page_header
from recframe.files import sizes
from recframe.files.found import Found
from recframe.files.sizes import (
    FREE,
    LEAST_TEXT_BYTES,
    PAGE_HEADERS,
    TEXT_COPIES,
    batch_bytes,
    check_footer,
    left_after,
    measure_texts,
)


def write_footer(path, n_bytes, end=b"PAR1", before=b"PAR1"):
    """Write a file that ends as one whose footer has so many bytes."""
    path.write_bytes(before + bytes(n_bytes) + n_bytes.to_bytes(4, "little") + end)
    return str(path)


def test_small_footers_take_no_memory():
    """A quarter of what is free beside the memory is theirs; what is more is taken from it."""
    assert [100, 100, 99, -900] == [
        left_after(FREE // 4 + more, 100) for more in (-1000, 0, 1, 1000)
    ]


@pytest.mark.parametrize("end", [b"PAR1", b"PARE"])
def test_the_least_memory_of_a_footer(tmp_path, monkeypatch, end):
    """A footer may take three quarters of the memory, ten times its bytes, and not one more."""
    monkeypatch.setattr(sizes, "FREE", 0)
    path = write_footer(tmp_path / "0.parquet", 300, end)
    check_footer(Found(path, {}), 4000)
    with pytest.raises(
        recframe.RecframeError,
        match=r"0.parquet has 300 bytes and .* 10 times .*found memory of 3,999; pass memory='1MB'",
    ):
        check_footer(Found(path, {}), 3999)


def test_the_least_memory_is_said_in_megabytes(tmp_path, monkeypatch):
    """Rounded up, so that what is said suffices."""
    monkeypatch.setattr(sizes, "FREE", 0)
    for n_bytes, least in ((75_000, "1MB"), (75_001, "2MB"), (150_000, "2MB")):
        path = write_footer(tmp_path / "0.parquet", n_bytes)
        with pytest.raises(recframe.RecframeError, match=f"memory='{least}'"):
            check_footer(Found(path, {}), 1)
        check_footer(Found(path, {}), int(least[0]) * 10**6)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"\xff\xff\xff\x7fPAR1", b"PAR1" * 5 + b"\xff" * 8])
def test_what_is_no_footer_is_not_judged(tmp_path, monkeypatch, data):
    """A file that is not parquet, or longer by its own word than it is, is for others to refuse."""
    monkeypatch.setattr(sizes, "FREE", 0)
    path = tmp_path / "0.parquet"
    path.write_bytes(data)

    check_footer(Found(str(path), {}), 1)


def test_bytes_of_a_batch():
    """Those of its columns, and those of the work on each row."""
    batch = pa.record_batch({"user": np.arange(10), "score": np.ones(10, np.float32)})

    assert 120 + 70 == batch_bytes(batch, 7)
    assert 120 == batch_bytes(batch, 0)


def test_bytes_of_texts_that_are_held_once():
    """Of codes, the texts are there in the rows, their block, and those of the block to follow."""
    texts = pa.array(["x" * 96, "y" * 100])
    codes = pa.array([0, 1, 1, 0, 1], pa.int32())
    batch = pa.record_batch({"user": pa.DictionaryArray.from_arrays(codes, texts)})

    assert TEXT_COPIES * texts.nbytes + 20 == batch_bytes(batch, 0)
    assert TEXT_COPIES * texts.nbytes + 25 == batch_bytes(batch, 1)


def chunk(path, pages, *, n_bytes=None, encodings=("PLAIN",), is_coded=True):
    """Write pages (header, stored bytes) and return what a footer says of them as one column."""
    data = b"".join(header + bytes(stored) for header, stored in pages)
    path.write_bytes(b"PAR1" + data)
    return SimpleNamespace(
        total_uncompressed_size=len(data) if n_bytes is None else n_bytes,
        total_compressed_size=len(data),
        encodings=encodings,
        dictionary_page_offset=4 if is_coded else None,
        data_page_offset=4 + len(pages[0][0]) + pages[0][1] if is_coded else 4,
    )


def test_few_texts_are_not_looked_at(tmp_path):
    """Where all texts of all rows would be small, the file is not opened."""
    column = SimpleNamespace(total_uncompressed_size=LEAST_TEXT_BYTES // 16, encodings=("PLAIN",))

    assert (LEAST_TEXT_BYTES / 256, False) == measure_texts(
        Found(str(tmp_path / "none"), {}), "user", column, 16, 1
    )
    with pytest.raises(FileNotFoundError):
        measure_texts(Found(str(tmp_path / "none"), {}), "user", column, 17, 1)


@pytest.mark.parametrize(("mean", "length"), [(1000, 1024), (1024, 1024), (1025, 1025)])
def test_texts_without_what_they_begin_with(tmp_path, mean, length):
    """Texts of which the beginning is left out in the file may be long in the rows."""
    column = SimpleNamespace(total_uncompressed_size=mean * 4, encodings=("DELTA_BYTE_ARRAY",))

    assert (length, False) == measure_texts(Found(str(tmp_path / "none"), {}), "user", column, 4, 1)
    column.encodings = ("PLAIN",)
    assert (mean, False) == measure_texts(Found(str(tmp_path / "none"), {}), "user", column, 4, 1)


@pytest.mark.parametrize("more", [0, 1])
def test_texts_that_are_all_codes(tmp_path, more):
    """The chunk has no more than the distinct texts, the codes of all rows, and headers."""
    dictionary = page_header(2, 5000, 100, 7, 50)
    n_rows = 7000  # with codes of six bits, as of 50 values
    n_bytes = 5000 + 6 * n_rows // 7 + PAGE_HEADERS + more
    column = chunk(tmp_path / "0", [(dictionary, 100)], n_bytes=n_bytes)

    assert (100, not more) == measure_texts(
        Found(str(tmp_path / "0"), {}), "user", column, n_rows, 1 << 30
    )


@pytest.mark.parametrize(("kind", "field", "n_values"), [(0, 5, 50), (3, 8, 50), (2, 7, 0)])
def test_a_first_page_that_is_no_dictionary_says_nothing(tmp_path, kind, field, n_values):
    """Of texts that are not distinct, or of none, the mean of the rows is what is known."""
    page = page_header(kind, 5000, 100, field, n_values)
    column = chunk(tmp_path / "0", [(page, 100)], n_bytes=7000, is_coded=kind == 2)

    assert (7, False) == measure_texts(
        Found(str(tmp_path / "0"), {}), "user", column, 1000, 1 << 30
    )


def refuse(path, column, memory, *, is_refused):
    """Measure texts, which are refused or not."""
    if not is_refused:
        measure_texts(Found(str(path), {}), "user", column, 10_000, memory)
        return
    with pytest.raises(recframe.RecframeError, match="has 4,000 bytes of 'user' in one piece"):
        measure_texts(Found(str(path), {}), "user", column, 10_000, memory)


@pytest.mark.parametrize("memory", [63_999, 64_000])
@pytest.mark.parametrize("free", [0, 63_999, 64_000])
def test_the_least_memory_of_a_page(tmp_path, monkeypatch, memory, free):
    """The largest page may take the memory, or what is free beside it, and not one byte more."""
    monkeypatch.setattr(sizes, "FREE", free)
    pages = [(page_header(2, 60, 60, 7, 2), 60), (page_header(0, 4000, 40, 5, 3), 40)]
    pages.append((page_header(0, 3999, 50, 5, 3), 50))
    column = chunk(tmp_path / "0", pages)
    column.total_uncompressed_size = 8059
    refuse(tmp_path / "0", column, memory, is_refused=max(memory, free) < 64_000)


def test_pages_are_not_followed_where_all_have_room(tmp_path, monkeypatch):
    """Where the memory has room for the whole chunk, only its first page is looked at."""
    monkeypatch.setattr(sizes, "FREE", 0)
    pages = [(page_header(2, 60, 60, 7, 2), 60), (page_header(0, 4000, 40, 5, 3), 40)]
    column = chunk(tmp_path / "0", pages)
    column.total_uncompressed_size = 3999  # were it so, no page could have 4000

    refuse(tmp_path / "0", column, 16 * 3999, is_refused=False)
    refuse(tmp_path / "0", column, 16 * 3999 - 1, is_refused=True)
