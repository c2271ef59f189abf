"""Row groups: what footers say of them, and which are read as one."""

from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from opened import open_files
from recframe.files import row_groups as module
from recframe.files.found import Found
from recframe.files.row_groups import RowGroup, _bounds, is_text, join, plain_type
from recframe.files.sizes import LONG_TEXT, TEXT_COPIES, Texts
from recframe.options import Options


def row_group(index, n_bytes=100, low=1, high=2, coded=()):
    """Return a row group of a file."""
    indexes = range(index, index + 1)
    coded = frozenset(coded)
    return RowGroup(
        0, Found("0.parquet", {}), indexes, {}, 10, n_bytes, 2 * n_bytes, coded, low, high
    )


def test_joined_row_groups():
    """Of those that are read as one, rows and bytes are summed, and users within both bounds."""
    one, other = row_group(3, 100, 5, 7), row_group(4, 50, 2, 6)
    (joined,) = join([one, other], 8, 150)

    assert (
        RowGroup(8, Found("0.parquet", {}), range(3, 5), {}, 20, 150, 300, frozenset(), 2, 7)
        == joined
    )
    (joined,) = join([other, one._replace(indexes=range(5, 6))], 0, 150)
    assert (0, range(4, 6), 2, 7) == (joined[0], joined.indexes, joined.low, joined.high)


def test_row_groups_are_joined_up_to_a_size():
    """As many as have so many bytes together, and not one byte more; all are in order."""
    sizes = [40, 60, 40, 61, 99, 1, 1, 100, 200, 50]
    joined = list(join((row_group(*each) for each in enumerate(sizes)), 5, 100))
    expected = [range(0, 2), range(2, 3), range(3, 4), range(4, 6), range(6, 7)]

    assert expected + [range(n, n + 1) for n in (7, 8, 9)] == [one.indexes for one in joined]
    assert list(range(5, 13)) == [one.index_overall for one in joined]
    assert [] == list(join([], 5, 100))


def test_row_groups_that_are_not_alike_are_not_joined():
    """Bounds are not lost, nor texts read as codes where they are none, nor what is between."""
    known, unknown = {}, {"low": None, "high": None}
    codes = {"coded": ["user"]}

    def join_two(one, other, second=1):
        return list(join([row_group(0, **one), row_group(second, **other)], 0, 1000))

    assert 2 == len(join_two(known, unknown))
    assert 2 == len(join_two(unknown, known))
    assert 2 == len(join_two(known, codes))
    assert 1 == len(join_two(codes, codes))
    assert 2 == len(join_two(codes, codes, second=2))
    (joined,) = join_two(unknown, unknown)
    assert (None, None) == (joined.low, joined.high)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1, 2, (1, 2)),
        (1.0, 1.0, (1.0, 1.0)),
        (float("nan"), 2.0, (None, None)),
        (1.0, float("nan"), (None, None)),
        (float("nan"), float("nan"), (None, None)),
    ],
)
def test_bounds(low, high, expected):
    """Statistics bound the users, unless one of the bounds is no number."""
    assert expected == _bounds(SimpleNamespace(has_min_max=True, min=low, max=high))


def test_no_bounds():
    """Where there are no statistics, or none of values, there are no bounds."""
    assert (None, None) == _bounds(None)
    assert (None, None) == _bounds(SimpleNamespace(has_min_max=False, min=1, max=2))


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
    assert is_text(plain) == (plain in (pa.string(), pa.binary()))


def write(path, users, **options):
    """Write rows of users and return the first row group, as of much memory."""
    n_rows = len(users)
    columns = {"user": users, "extra": ["x" * 999] * n_rows, "score": range(n_rows)}
    columns["relevant"] = [True] * n_rows
    pq.write_table(pa.table(columns), path, **options)
    files = open_files(path, Options(), 1 << 30)
    return files, files.row_groups[0]


def used_bytes(path):
    """Return what the columns used have, as the footer says, by name."""
    row_group = pq.read_metadata(path).row_group(0)
    sizes = {row_group.column(at).path_in_schema: row_group.column(at) for at in range(4)}
    return {name: sizes[name].total_uncompressed_size for name in ("user", "score", "relevant")}


def test_bytes_of_numbers(tmp_path):
    """The bytes of a row group are those of the columns that are used."""
    files, found = write(tmp_path / "0.parquet", range(100))
    n_bytes = sum(used_bytes(tmp_path / "0.parquet").values())

    assert (100, n_bytes, n_bytes) == (found.n_rows, found.n_bytes, found.n_read)
    assert (0, 99, range(1)) == (found.low, found.high, found.indexes)
    assert (frozenset(), frozenset()) == (found.coded, files.long_text)


@pytest.mark.parametrize("coded", [True, False])
@pytest.mark.parametrize("length", [1.5, LONG_TEXT, LONG_TEXT + 0.5])
@pytest.mark.parametrize("n_rows", [9, 400])
def test_bytes_of_texts(tmp_path, monkeypatch, length, coded, n_rows):
    """Short texts are in every row; long ones are held as codes, which are read so."""
    monkeypatch.setattr(module, "measure_texts", lambda *_: Texts(length, coded))
    files, found = write(tmp_path / "0.parquet", [f"{n % 9:040}" for n in range(n_rows)])
    size = used_bytes(tmp_path / "0.parquet")
    numbers = size["score"] + size["relevant"]
    in_rows = max(size["user"], int(length * n_rows))
    is_long = length > LONG_TEXT

    assert numbers + (TEXT_COPIES * size["user"] if is_long else in_rows) == found.n_bytes
    assert numbers + (size["user"] if coded else in_rows) == found.n_read
    assert (frozenset({"user"}) if coded else frozenset()) == found.coded
    assert (frozenset({"user"}) if is_long else frozenset()) == files.long_text


def test_row_groups_without_rows(tmp_path):
    """An empty row group has no texts to be measured, and is no part of the plan."""
    schema = pa.schema([("user", pa.string()), ("score", pa.int64()), ("relevant", pa.bool_())])
    rows = {"user": ["a", "b"], "score": [1, 2], "relevant": [True, False]}
    with pq.ParquetWriter(tmp_path / "0.parquet", schema) as writer:
        for table in (schema.empty_table(), pa.table(rows, schema), schema.empty_table()):
            writer.write_table(table)
    files = open_files(tmp_path, Options(), 1)

    assert [(range(1, 2), 2)] == [(one.indexes, one.n_rows) for one in files.row_groups]


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
