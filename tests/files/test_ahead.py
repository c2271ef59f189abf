"""Reading ahead: what is fetched of row groups to come, in which order, and how much is held."""

from threading import Event, Thread

import pandas as pd
import pyarrow.fs
import pytest

import recframe
from recframe.files.ahead import LEAST_AHEAD, N_PARTS_AHEAD, _Ahead, _parts, read_ahead
from recframe.files.found import Found, RowGroup
from recframe.stores.remote import HOLE, Remote, merge, read_each
from recframe.stores.store import Store

SIZE = 40 << 20


@pytest.fixture
def remote(tmp_path):
    """A file of 40 MiB, of which byte 0x100000 * n and those up to the next are n."""
    path = tmp_path / "0"
    path.write_bytes(b"".join(bytes([n]) * (1 << 20) for n in range(40)))
    below = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    return Remote(Store(below), "0", SIZE)


def row_group(remote, *ranges):
    """Return a row group whose columns are there."""
    found = Found("0", {}, remote=remote)
    return RowGroup(0, found, 0, {}, 1, 1, (), None, None, ranges)


def parts(row_groups, n_bytes=8 << 20, **options):
    """Return (start, stop, number) of the parts of row groups."""
    found = _parts(row_groups, n_bytes, **{"with_footers": False} | options)
    return [(part.start, part.stop, part.number) for part in found]


def test_small_row_groups_are_fetched_as_one(remote):
    """As long as they are of one file and a part is not full; what lies between them too."""
    groups = [row_group(remote, (n * 100, n * 100 + 50)) for n in range(5)]
    other = Remote(remote._store, "0", SIZE)

    assert [(0, 450, 4)] == parts(groups)
    assert [(0, 250, 2), (0, 50, 3), (300, 450, 5)] == parts(
        [*groups[:3], row_group(other, (0, 50)), *groups[3:]]
    )
    assert [(0, 50, 0), (HOLE + 51, HOLE + 99, 0)] == parts(
        [row_group(remote, (0, 50), (HOLE + 51, HOLE + 99))]
    )
    assert [(0, 450, 4), (SIZE - (64 << 10), SIZE, 4)] == parts(groups, with_footers=True)


def test_columns_of_a_large_row_group_are_fetched_side_by_side(remote):
    """In the order in which rows need them."""
    columns = ((0, 4 << 20), (4 << 20, 5 << 20), (5 << 20, 9 << 20))
    found = parts([row_group(remote, *columns)])
    starts = [start >> 20 for start, _, _ in found]

    assert [0, 4, 5, 1, 6, 2, 7, 3, 8] == starts
    assert all(stop - start == 1 << 20 for start, stop, _ in found)


def test_no_more_is_held_than_there_is_room_for(remote, monkeypatch):
    """What is read makes room for what is next, and all of it is fetched once."""
    fetched = []
    fetch = Remote.fetch

    def fetch_and_note(self, start, stop):
        fetched.append((start, stop))
        return fetch(self, start, stop)

    monkeypatch.setattr(Remote, "fetch", fetch_and_note)
    groups = [row_group(remote, (n << 20, (n + 1) << 20)) for n in range(30)]
    reader = remote.open()
    with _Ahead(groups, 4 << 20, with_footers=False) as ahead:
        for number in range(30):
            held = sum(part.stop - part.start for part in ahead._held.values())
            reader.seek(number << 20)

            assert held <= 4 << 20
            assert bytes([number]) * (1 << 20) == bytes(reader.read_buffer(1 << 20))
            ahead.done(number)
    assert not remote._held
    assert (30 << 20) == sum(stop - start for start, stop in fetched)


def test_what_is_read_to_its_end_makes_room(remote):
    """A row group larger than the room there is is read on and on."""
    group = row_group(remote, (0, 16 << 20), (16 << 20, 32 << 20))
    readers = [remote.open(), remote.open()]
    readers[1].seek(16 << 20)
    for _ in read_ahead([group], 1, with_footers=False):
        for step in range(16):
            for reader, begin in zip(readers, (0, 16), strict=True):
                assert bytes([begin + step]) * (1 << 20) == reader.read(1 << 20)
    assert not remote._held
    assert LEAST_AHEAD // N_PARTS_AHEAD == 1 << 20


def test_what_is_not_foreseen_is_fetched(remote):
    """Small parts in blocks, and a file that is read to its end in larger and larger ones."""
    reader = remote.open()
    reader.seek(-3, 2)

    assert b"\x27\x27\x27" == reader.read()
    assert b"" == reader.read(5)
    reader.seek(0)
    data = b"".join(iter(lambda: reader.read(300_000), b""))

    assert SIZE == len(data)
    assert bytes(range(40)) == bytes(data[:: 1 << 20])


def test_ranges_are_merged():
    """Those with little between them, in any order."""
    assert [(0, 5), (7, 9)] == merge([(7, 9), (0, 3), (2, 5), (4, 5)], hole=1)
    assert [] == merge([])


def test_many_are_read_at_a_time():
    """In order; one that fails ends all."""
    begun = Event()
    assert list(range(50)) == list(read_each(lambda n: n, range(50)))

    def fail(number):
        begun.set()
        raise OSError(f"{number} fails")

    with pytest.raises(OSError, match="0 fails"):
        list(read_each(fail, range(50)))
    assert begun.is_set()


@pytest.mark.parametrize("memory", ["1GiB", 1])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_files_of_any_layout(large, tmp_path, memory, is_sorted):
    """In one row group or many, sorted or not, they give the table of the frame."""
    frame = large if is_sorted else large.sample(frac=1, random_state=1)
    below = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    expected = large.rec(short="pad").evaluate(["recall@3", "ndcg@2"])
    for size in (7, 1000):
        for number in range(3):
            own = frame[number * 100 : number * 100 + 100]
            own.to_parquet(tmp_path / f"{number}.parquet", row_group_size=size)
        runs = recframe.scan("*.parquet", memory=memory, filesystem=below)

        pd.testing.assert_frame_equal(expected, runs(short="pad").evaluate(["recall@3", "ndcg@2"]))


def test_threads_end(large, tmp_path):
    """Also where reading is left alone."""
    large.to_parquet(tmp_path / "0.parquet", row_group_size=10)
    below = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    tables = recframe.scan("0.parquet", memory=1, filesystem=below)(short="pad").iter_evaluate()
    next(tables)
    thread = Thread(target=tables.close)
    thread.start()
    thread.join(20)

    assert not thread.is_alive()
