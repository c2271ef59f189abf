"""Batches of rows: nulls are refused or dropped, and types become one."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recframe
from files.layouts import FEW, SMALL, evaluate_as_in_memory, one_sorted_file, shuffled_file
from files.opening import open_files
from recframe.files import batches
from recframe.files.batches import _conform, gather, read_batches
from recframe.files.footers import ROW_BYTES
from recframe.files.limits import Progress
from recframe.options import Options


@pytest.mark.parametrize("ids", ["str", "float", "category"])
@pytest.mark.parametrize("layout", [one_sorted_file, shuffled_file])
def test_null_users_are_refused_or_dropped(large, tmp_path, layout, ids):
    """Null ids are refused or dropped although statistics do not show them."""
    user = large["user"] if ids == "str" else large["user"].str[-3:].astype(float)
    user = user.astype("category") if ids == "category" else user
    layout(large.assign(user=user.where(large.index % 50 != 7)), tmp_path)
    evaluate_as_in_memory(tmp_path, short="pad", missing="drop", memory=SMALL)

    with pytest.raises(
        recframe.RecframeError, match=r"ids must not be null, but 1 of .* are null in .*0.pa"
    ):
        recframe.evaluate(tmp_path, FEW, short="pad", memory=SMALL)


def test_integers_beside_nulls_stay_exact(tmp_path):
    """Integers next to a null do not become floats, in which these two would tie."""
    table = pa.table(
        {
            "user": [1, 1, 1],
            "score": pa.array([2**53 + 1, 2**53, None], pa.int64()),
            "relevant": [1, 0, 0],
        }
    )
    pq.write_table(table, tmp_path / "0.parquet")
    means = recframe.evaluate(tmp_path, "precision@1", missing="unranked").mean()

    assert [1.0] == means.tolist()


def test_a_type_that_does_not_hold_a_value(tmp_path):
    """A number that the common type rounds is refused with its column and file."""
    rows = {"score": [0.9, 0.1], "relevant": [1, 0]}
    pq.write_table(pa.table({"user": [0.5, 0.5], **rows}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"user": [2**53 + 1] * 2, **rows}), tmp_path / "1.parquet")
    with pytest.raises(
        recframe.RecframeError, match=r"'user' in .*1.parquet has type int64, and some .*90071"
    ):
        recframe.evaluate(tmp_path, ["recall@1"])


def read(path, n_bytes, *, files=None):
    """Return the batches of files, and the progress of reading them."""
    files = files or open_files(path, Options(missing="drop"), 1)
    progress = Progress(files.n_rows, print)
    found = read_batches(files, files.row_groups, n_bytes, progress)
    return [batch for _, batch in found], progress.n_read


def test_rows_of_a_batch(tmp_path):
    """A batch has as many rows as its bytes allow, with the work on each, and at least one."""
    rows = {"user": np.arange(1000), "score": np.arange(1000), "relevant": [True] * 1000}
    pq.write_table(pa.table(rows), tmp_path / "0.parquet")
    (row_group,) = open_files(tmp_path, Options(), 1).row_groups
    of_row = row_group.n_bytes / 1000

    for n_bytes, n_rows in ((0, 1), (of_row * 100.1, 100), (of_row * 100.9, 100), (10**9, 1000)):
        found, n_read = read(tmp_path, int(n_bytes))
        assert n_rows == found[0].num_rows
        assert (1000, 1000) == (sum(batch.num_rows for batch in found), n_read)


def test_most_rows_of_a_batch(large, tmp_path, monkeypatch):
    """A batch has at most MOST_ROWS rows, even in a large memory."""
    monkeypatch.setattr(batches, "MOST_ROWS", 150)
    large.to_parquet(tmp_path / "0.parquet")
    found, _ = read(tmp_path, 1 << 40)

    assert [150, 150] == [batch.num_rows for batch in found]


def test_a_dropped_row_counts_as_evaluated(large, tmp_path):
    """Reading a row is half of its progress, and dropping it is all of it."""
    users = large["user"].where(large.index % 50 != 7)
    large.assign(user=users).to_parquet(tmp_path / "0.parquet")
    found, n_read = read(tmp_path, 10_000)

    assert (294, 306) == (sum(batch.num_rows for batch in found), n_read)


@pytest.mark.parametrize(
    ("most", "open_bytes", "n_opened"),
    [
        (32, 0, 3),
        (3, 0, 3),
        (2, 0, 9),
        (1, 0, 9),
        (32, 5 << 20, 3),
        (32, 6 << 20, 9),
        (9, 1 << 30, 9),
    ],
)
def test_files_stay_open(large, tmp_path, monkeypatch, most, open_bytes, n_opened):
    """A thread keeps its files open, up to a number of files and bytes."""
    monkeypatch.setenv("RECFRAME_MAX_THREADS", "1")
    for name in "012":
        large[:30].to_parquet(tmp_path / f"{name}.parquet", row_group_size=10)
    files = open_files(tmp_path, Options(), 1)
    in_turns = sorted(files.row_groups, key=lambda row_group: row_group.number)
    files = files._replace(open_bytes=open_bytes, row_groups=in_turns)
    opened = []
    open_file = batches.open_file

    def open_and_note(*arguments):
        opened.append(arguments)
        return open_file(*arguments)

    monkeypatch.setattr(batches, "MAX_OPEN", most)
    monkeypatch.setattr(batches, "open_file", open_and_note)
    read(tmp_path, 10_000, files=files)

    assert n_opened == len(opened)


@pytest.mark.parametrize("use_dictionary", [True, False])
@pytest.mark.parametrize("memory", [1, 1 << 30])
def test_texts_are_codes(large, tmp_path, use_dictionary, memory):
    """Texts become codes however a file stores them, and other columns keep their types."""
    large.to_parquet(tmp_path / "0.parquet", use_dictionary=use_dictionary)
    (batch, *_), _ = read(tmp_path, 1 << 30, files=open_files(tmp_path, Options(), memory))

    assert pa.types.is_dictionary(batch.schema.field("user").type)
    assert pa.types.is_floating(batch.schema.field("knn_score").type)
    assert large["user"].tolist() == batch["user"].to_pylist()


@pytest.mark.parametrize("write_statistics", [True, False])
def test_plain_texts(tmp_path, write_statistics):
    """Batches of plain texts fit the memory."""
    texts = [f"{number % 3:0200}" for number in range(1000)]
    rows = {"user": texts, "score": range(1000), "relevant": [True] * 1000}
    pq.write_table(pa.table(rows), tmp_path / "0.parquet", write_statistics=write_statistics)
    files = open_files(tmp_path, Options(), 1 << 30)
    progress = Progress(files.n_rows, print)
    found = [
        batch
        for _, batch in read_batches(files, files.row_groups, 1 << 14, progress, is_plain=True)
    ]

    assert texts == [user for batch in found for user in batch["user"].to_pylist()]
    assert all(batch["user"].nbytes <= 1 << 14 for batch in found)


@pytest.mark.parametrize("user", [7, "ann"])
def test_users_of_folders_are_in_every_row(tmp_path, user):
    """The value in the name of a folder is in all rows of its files."""
    (tmp_path / f"user={user}").mkdir()
    rows = pa.table({"score": range(9), "relevant": [True] * 9})
    pq.write_table(rows, tmp_path / f"user={user}" / "0.parquet", row_group_size=5)
    found, _ = read(tmp_path, 5 * ROW_BYTES)

    assert 1 < len(found)
    assert [user] * 9 == [one for batch in found for one in batch["user"].to_pylist()]


def test_fewer_rows_than_the_footer_says(large, tmp_path):
    """Missing rows are refused, not left out."""
    large.to_parquet(tmp_path / "0.parquet", row_group_size=100)
    files = open_files(tmp_path, Options(), 1)
    wrong = files.row_groups[1]._replace(n_rows=103)
    files = files._replace(row_groups=[files.row_groups[0], wrong])
    with pytest.raises(
        recframe.RecframeError,
        match=r"cannot read .*0.parquet: row group 1 must have the 103 rows .*, but has 100.",
    ):
        read(tmp_path, 10_000, files=files)


TEXTS = pa.array(["a", "b", "c", None])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_texts_of_any_kind_are_one(kind):
    """Texts of all kinds, and codes of any width, become codes of the wanted type."""
    wanted = pa.dictionary(pa.int32(), pa.string())
    codes = pa.array([2, 0, None, 2, 1], pa.int8())
    encoded = pa.DictionaryArray.from_arrays(codes, TEXTS[:3].cast(kind))
    for array, expected in ((TEXTS.cast(kind), TEXTS), (encoded, TEXTS.take(codes))):
        actual = _conform(array, pa.string())
        assert wanted == actual.type
        assert expected.to_pylist() == actual.to_pylist()


def test_few_rows_keep_few_texts():
    """A dictionary with more texts than rows keeps only the texts of rows."""
    codes = pa.DictionaryArray.from_arrays(pa.array([2, 2], pa.int8()), TEXTS[:3])
    kept = pa.DictionaryArray.from_arrays(pa.array([2, 2, 2], pa.int8()), TEXTS[:3])

    assert ["c"] == _conform(codes, pa.string()).dictionary.to_pylist()
    assert TEXTS[:3].equals(_conform(kept, pa.string()).dictionary)


def test_texts_without_the_unused():
    """Unused texts are dropped; rows and the order of texts stay."""
    codes = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 2], pa.int32()), TEXTS[:3])
    fewer = _conform(codes.slice(0, 2), pa.string())
    with_null = _conform(codes.slice(1, 2), pa.string())

    assert (["c", "a"], ["c", "a"]) == (fewer.to_pylist(), fewer.dictionary.to_pylist())
    assert (["a", None], ["a"]) == (with_null.to_pylist(), with_null.dictionary.to_pylist())


# Ten rows have 64 bytes each for the work, and 8 for the number.
@pytest.mark.parametrize(
    ("n_bytes", "most", "expected"),
    [
        (0, 99, [10] * 5),
        (720, 99, [10] * 5),
        (721, 99, [20, 20, 10]),
        (1440, 99, [20, 20, 10]),
        (1441, 99, [30, 20]),
        (1 << 40, 99, [50]),
        (1 << 40, 20, [20, 20, 10]),
        (1 << 40, 21, [30, 20]),
    ],
)
def test_gathered_rows(monkeypatch, n_bytes, most, expected):
    """Gathered batches are as few as their bytes and rows allow, with each row once, in order."""
    monkeypatch.setattr(batches, "MOST_ROWS", most)
    rows = pa.record_batch({"row": np.arange(50)})
    found = list(gather((rows.slice(start, 10) for start in range(0, 50, 10)), n_bytes))

    assert expected == [batch.num_rows for batch in found]
    assert list(range(50)) == [row for batch in found for row in batch["row"].to_pylist()]


@pytest.mark.parametrize("n_bytes", [1, 10_000])
def test_users_that_are_not_a_number(tmp_path, n_bytes):
    """A user NaN is treated as null, although Arrow has both."""
    users = [1.0, float("nan"), None, 2.0]
    rows = pa.table({"user": users, "score": range(4), "relevant": [True] * 4})
    pq.write_table(rows, tmp_path / "0.parquet")
    found, n_read = read(tmp_path, n_bytes)

    assert ([1.0, 2.0], 6) == (
        [one for batch in found for one in batch["user"].to_pylist()],
        n_read,
    )
