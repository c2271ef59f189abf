"""Sizes: estimates of memory, to the byte, and refusals before it is taken."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recframe
from files.layouts import FEW
from files.opening import open_files
from recframe.files import footers
from recframe.files.batches import batch_bytes
from recframe.files.blocks import plan_blocks
from recframe.files.footers import _read_end
from recframe.files.row_groups import FREE, TEXT_COPIES
from recframe.files.source_files import SourceFile
from recframe.options import Options
from recframe.stores.store import HERE, Location


def write_footer(path, n_bytes, end=b"PAR1", before=b"PAR1"):
    """Write a file that ends like one with a footer of so many bytes."""
    path.write_bytes(before + bytes(n_bytes) + n_bytes.to_bytes(4, "little") + end)
    return str(path)


def test_small_footers_take_no_memory(frame, tmp_path):
    """Footers within a quarter of the free bytes take no memory, and larger ones the rest."""
    frame.to_parquet(tmp_path / "0.parquet")
    files = open_files(tmp_path, Options(), 100)

    for more, memory in ((-1000, 100), (0, 100), (1, 99), (60, 40)):
        planned = plan_blocks(files._replace(open_bytes=FREE // 4 + more))
        assert memory == planned.memory


def read_end(path, memory):
    """Return the size of a file and its footer."""
    return _read_end(SourceFile(str(path), {}, place=Location(HERE, str(path))), memory)


@pytest.mark.parametrize("end", [b"PAR1", b"PARE"])
def test_the_least_memory_of_a_footer(tmp_path, monkeypatch, end):
    """A footer may take three quarters of the memory, at ten times its bytes, and no more."""
    monkeypatch.setattr(footers, "FREE", 0)
    path = write_footer(tmp_path / "0.parquet", 300, end)
    read_end(path, 4000)
    with pytest.raises(
        recframe.RecframeError,
        match=r"has 300 bytes, and .* 10 times .*but memory is 3,999. Pass memory='1MB'",
    ):
        read_end(path, 3999)


def test_the_least_memory_is_said_in_megabytes(tmp_path, monkeypatch):
    """The least memory is rounded up to megabytes, so that it suffices."""
    monkeypatch.setattr(footers, "FREE", 0)
    for n_bytes, least in ((75_000, "1MB"), (75_001, "2MB"), (150_000, "2MB")):
        path = write_footer(tmp_path / "0.parquet", n_bytes)
        with pytest.raises(recframe.RecframeError, match=f"memory='{least}'"):
            read_end(path, 1)
        read_end(path, int(least[0]) * 10**6)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"\xff\xff\xff\x7fPAR1", b"PAR1" * 5 + b"\xff" * 8])
def test_what_is_no_footer_is_not_judged(tmp_path, monkeypatch, data):
    """Arrow refuses files that are not parquet, or whose footer exceeds the file."""
    monkeypatch.setattr(footers, "FREE", 0)
    path = tmp_path / "0.parquet"
    path.write_bytes(data)

    with pytest.raises(pa.ArrowInvalid, match="Parquet"):
        read_end(path, 1)


def test_bytes_of_a_batch():
    """The bytes of a batch include its columns and the work on its rows."""
    batch = pa.record_batch({"user": np.arange(10), "score": np.ones(10, np.float32)})

    assert 120 + 70 == batch_bytes(batch, 7)
    assert 120 == batch_bytes(batch, 0)


def test_bytes_of_texts_that_are_held_once():
    """The texts of a dictionary count several times: rows, their block and the next one."""
    texts = pa.array(["x" * 96, "y" * 100])
    codes = pa.array([0, 1, 1, 0, 1], pa.int32())
    batch = pa.record_batch({"user": pa.DictionaryArray.from_arrays(codes, texts)})

    assert TEXT_COPIES * texts.nbytes + 20 == batch_bytes(batch, 0)
    assert TEXT_COPIES * texts.nbytes + 25 == batch_bytes(batch, 1)


def test_a_footer_larger_than_the_memory(tmp_path, monkeypatch):
    """A footer that is too large is refused before it is read; with more memory it is read."""
    monkeypatch.setattr(footers, "FREE", 0)
    path = tmp_path / "0.parquet"
    pq.write_table(
        pa.table({"user": [1] * 50, "score": range(50), "relevant": [1, 0] * 25}), path, 1
    )
    with pytest.raises(
        recframe.RecframeError,
        match=r"memory: the footer of .*0.parquet has [0-9,]+ bytes, and .* 10 times .*. "
        "Pass memory='1MB' or more, or write the file with larger row groups",
    ):
        recframe.evaluate(path, FEW, memory=100_000)

    assert [1] == recframe.evaluate(path, FEW, memory="1MB").index.tolist()


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_giant_ids(tmp_path, use_dictionary):
    """Ids of a megabyte are read in a memory of one byte."""
    users = ["x" * 1_000_000 + end for end in "ab"]
    rows = {"score": [2, 1] * 2, "relevant": [True, False] * 2}
    table = pa.table({"user": sorted(users * 2), **rows})
    pq.write_table(table, tmp_path / "0.parquet", use_dictionary=use_dictionary)

    for memory in (1, "1MiB", "1GiB"):
        found = recframe.evaluate(tmp_path, FEW, short="pad", memory=memory)
        assert users == found.index.tolist()
