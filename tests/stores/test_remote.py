"""Files in stores: what is fetched ahead, how much of it is held, and what is read of it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import pandas as pd
import pyarrow.fs
import pytest

import recframe
from recframe.stores.remote import (
    HOLE,
    KEPT_FOOTERS,
    LARGEST,
    Reader,
    Remote,
    read_ahead,
)
from recframe.stores.store import Store

SIZE = 40 << 20


@pytest.fixture
def remote(tmp_path):
    """A file of 40 MiB, of which byte 0x100000 * n and those up to the next are n."""
    path = tmp_path / "0"
    path.write_bytes(b"".join(bytes([n]) * (1 << 20) for n in range(40)))
    below = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    return Remote(Store(below), "0")


@pytest.fixture
def fetched(monkeypatch):
    """The parts that are fetched, as they are."""
    fetched = []
    fetch = Remote.fetch

    def fetch_and_note(self, start, stop):
        fetched.append((start, stop))
        return fetch(self, start, stop)

    monkeypatch.setattr(Remote, "fetch", fetch_and_note)
    return fetched


def test_no_more_is_held_than_there_is_room_for(remote, fetched):
    """What is read makes room for what is next, and all of it is fetched once."""
    reader = Reader(remote)
    for number in read_ahead(range(30), lambda n: (remote, [(n << 20, (n + 1) << 20)]), 1):
        reader.seek(number << 20)

        assert sum(stop - start for start, stop in remote._held) <= 16 << 20
        assert bytes([number]) * (1 << 20) == reader.read(1 << 20)
    assert not remote._held
    assert (30 << 20) == sum(stop - start for start, stop in fetched)


def test_what_has_no_room_is_read_on_and_on(remote, fetched):
    """Columns of a large row group are fetched a part ahead each, and none beyond its end."""
    columns = [(0, 10 << 20), (10 << 20, 19 << 20)]
    readers = [Reader(remote), Reader(remote)]
    for _ in read_ahead([0], lambda _: (remote, columns), 1):
        for step in range(10):
            for reader, (start, stop) in zip(readers, columns, strict=True):
                if start + (step << 20) < stop:
                    reader.seek(start + (step << 20))

                    assert bytes([(start >> 20) + step]) * (1 << 20) == reader.read(1 << 20)
    assert sorted(fetched) == [(n << 19, (n + 1) << 19) for n in range(38)]


def test_a_footer_is_fetched_with_what_is_read(remote, fetched):
    """Unless it is kept; it is found in the end of the file, and fetched whole if it is larger."""
    remote.store.n_files = KEPT_FOOTERS + 1
    parts = remote.hold([(SIZE - (1 << 20), SIZE - 10)], pool := ThreadPoolExecutor())
    pool.shutdown()
    assert parts == fetched == [(SIZE - (1 << 20), SIZE)]

    remote.release(parts)
    n_bytes = 0x27272727 + 8  # as its last bytes say, which is more than there are
    assert SIZE == len(remote.read_footer()) < n_bytes


def test_what_is_not_foreseen_is_fetched(remote):
    """Small parts in blocks, and a file that is read to its end in larger and larger ones."""
    reader = Reader(remote)
    reader.seek(-3, 2)

    assert b"\x27\x27\x27" == reader.read()
    assert b"" == reader.read(5)
    reader.seek(0)
    data = b"".join(iter(lambda: reader.read(300_000), b""))

    assert SIZE == len(data)
    assert bytes(range(40)) == bytes(data[:: 1 << 20])


def test_ranges_are_merged(remote):
    """Those with little between them, in any order, up to so many bytes."""
    far, full = HOLE + 10, LARGEST + 1
    with ThreadPoolExecutor() as pool:
        apart = remote.hold([(far, far + 2), (0, 3), (2, 5), (4, 5)], pool)

        assert [(0, 5), (far, far + 2)] == apart
        assert [(0, 5), (5, full)] == remote.hold([(0, 5), (5, full)], pool)
        assert [] == remote.hold([], pool)


@pytest.mark.parametrize("memory", ["1GiB", 1])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_files_of_any_layout(rows, tmp_path, memory, is_sorted):
    """In one row group or many, sorted or not, they give the table of the frame."""
    rows = rows[:240]
    frame = rows if is_sorted else rows.sample(frac=1, random_state=1)
    below = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    expected = rows.rec(short="pad").evaluate(["recall@3", "ndcg@2"])
    for size in (7, 1000):
        for number in range(3):
            own = frame[number * 80 : number * 80 + 80]
            own.to_parquet(tmp_path / f"{number}.parquet", row_group_size=size)
        runs = recframe.scan("*.parquet", memory=memory, filesystem=below)

        pd.testing.assert_frame_equal(expected, runs(short="pad").evaluate(["recall@3", "ndcg@2"]))


def test_threads_end(rows, tmp_path):
    """Also where reading is left alone."""
    rows.to_parquet(tmp_path / "0.parquet", row_group_size=10)
    below = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    tables = recframe.scan("0.parquet", memory=1, filesystem=below)(short="pad").iter_evaluate()
    next(tables)
    thread = Thread(target=tables.close)
    thread.start()
    thread.join(20)

    assert not thread.is_alive()
