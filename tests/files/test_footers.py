"""Footers: columns in their roles, one type for all files, and bounds of users."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recframe
from files.layouts import rewrite_bound, save_frame, save_user
from files.opening import open_files
from recframe.files.source_files import naming_file
from recframe.options import Options


@pytest.mark.parametrize("as_type", [str, lambda path: path, lambda path: [path]])
def test_a_path_gives_the_table_of_its_frame(frame, tmp_path, as_type):
    """A file, passed as text, path or list, gives the table of its frame."""
    path = save_frame(frame, tmp_path / "run.parquet")

    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@1"]), recframe.evaluate(as_type(path), ["recall@1"])
    )


def test_only_the_columns_used_are_read(frame, tmp_path):
    """Columns without a role are not read, nor are items if they may repeat."""
    path = save_frame(frame.assign(extra="x"), tmp_path / "run.parquet")

    assert ["user", "item", "relevant", "score"] == list(open_files(path, Options(), 1 << 30).types)
    kept = Options(duplicates="keep")
    assert ["user", "relevant", "score"] == list(open_files(path, kept, 1 << 30).types)


def test_index_levels_of_a_file(frame, tmp_path):
    """A file that pandas wrote with users in the index is read with users."""
    path = save_frame(frame.set_index(["user", "item"]), tmp_path / "run.parquet")

    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@1"]), recframe.evaluate(path, ["recall@1"])
    )


def test_categorical_users_of_a_file(frame, tmp_path):
    """Users that are categories in a file become plain values, in order of these."""
    categories = frame["user"].astype(pd.CategoricalDtype(["unused", "cat", "bob", "ann"]))
    path = save_frame(frame.assign(user=categories), tmp_path / "run.parquet")

    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@1"]), recframe.evaluate(path, ["recall@1"])
    )


def test_one_ranking_of_a_file(frame, tmp_path):
    """user=None needs no user column in the file."""
    path = save_frame(frame.drop(columns=["user", "item"]), tmp_path / "run.parquet")

    assert ["all"] == recframe.evaluate(path, ["recall@1"], user=None).index.tolist()


def no_file(path):
    """Write no file."""


def empty_file(path):
    """Write a file without bytes."""
    path.touch()


def other_file(path):
    """Write a file that is not parquet."""
    path.write_text("user,score\n" * 100)


def cut_file(path):
    """Write the first half of a parquet file."""
    pd.DataFrame({"user": range(1000)}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:2000])


def damaged_file(path):
    """Write a parquet file with wrong bytes in its data."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"user": 1, "score": rng.random(9000), "relevant": True})
    frame.to_parquet(path, compression="gzip")
    data = bytearray(path.read_bytes())
    data[1000:30_000] = bytes(29_000)
    path.write_bytes(data)


def empty_folder(path):
    """Make a folder without files."""
    path.mkdir()


UNREADABLE = {
    no_file: "cannot read .*x.parquet: no such file",
    empty_file: "cannot read .*x.parquet: .*0 bytes",
    other_file: "cannot read .*x.parquet: .*not a parquet file",
    cut_file: "cannot read .*x.parquet: ",
    damaged_file: "cannot read .*x.parquet: ",
    empty_folder: "cannot read .*x.parquet: no file in that folder",
}


@pytest.mark.parametrize("make", UNREADABLE, ids=lambda make: make.__name__)
def test_unreadable_files(tmp_path, make):
    """A file that cannot be read is named in one line."""
    path = tmp_path / "x.parquet"
    make(path)
    with pytest.raises(recframe.RecframeError, match=UNREADABLE[make]) as caught:
        recframe.evaluate(path, ["recall@1"])
    assert "\n" not in str(caught.value)


def test_missing_column_of_a_file(frame, tmp_path):
    """A missing role is refused before any data is read."""
    path = save_frame(frame, tmp_path / "run.parquet")
    with pytest.raises(recframe.MissingColumnError, match="score='b': no such column"):
        recframe.evaluate(path, ["recall@1"], score="b")


ONE_TYPE = {
    "integers": (1, pa.int32(), 2**40, pa.int64(), "int64"),
    "large text": ("a", pa.string(), "b", pa.large_string(), None),
    "dictionary": ("a", "dictionary", "b", pa.string(), None),
    "dictionary second": ("a", pa.large_string(), "b", "dictionary", None),
}


@pytest.mark.parametrize("memory", [1, "1GiB"])
@pytest.mark.parametrize("case", ONE_TYPE)
def test_types_of_one_kind_are_one(tmp_path, case, memory):
    """Files of several writers may have different types for the same kind of users."""
    first, first_type, second, second_type, dtype = ONE_TYPE[case]
    save_user(tmp_path / "0.parquet", first, first_type)
    save_user(tmp_path / "1.parquet", second, second_type)
    save_user(tmp_path / "2.parquet", first, first_type)
    table = recframe.evaluate(tmp_path, ["recall@1"], memory=memory)

    assert [first, second] == table.index.tolist()
    assert pd.Index([first, second], dtype=dtype).dtype == table.index.dtype
    assert [0.5, 1.0] == table["score", "recall@1"].tolist()


TWO_TYPES = {
    "decimals": (
        *(1, pa.int64(), Decimal("2.5"), pa.decimal128(5, 1)),
        r"'user' has type decimal128\(5, 1\) in .*1.parquet but int64",
    ),
    "unsigned": (
        *(1, pa.int64(), 2**63 + 1, pa.uint64()),
        "'user' in .*1.parquet has type uint64, .* do not fit int64",
    ),
    "large": (
        *(2.5, pa.float64(), 2**62 + 1, pa.int64()),
        "'user' in .*1.parquet has type int64, .* do not fit double",
    ),
    "text": (1, pa.int64(), "b", pa.string(), "'user' has type string in .*1.parquet but int64"),
    "bytes": ("a", pa.string(), b"a", pa.binary(), "'user' has type binary in .*1.parquet but st"),
}


@pytest.mark.parametrize("case", TWO_TYPES)
def test_types_of_two_kinds_are_refused(tmp_path, case):
    """Files with ids of different kinds are refused."""
    first, first_type, second, second_type, message = TWO_TYPES[case]
    save_user(tmp_path / "0.parquet", first, first_type)
    save_user(tmp_path / "1.parquet", second, second_type)
    with pytest.raises(recframe.RecframeError, match=message + ".* Write the files with one type"):
        recframe.evaluate(tmp_path, ["recall@1"])


def test_a_column_that_one_file_lacks(tmp_path):
    """A file that lacks a column of others is refused."""
    save_user(tmp_path / "0.parquet", "ann")
    save_user(tmp_path / "1.parquet", None)
    with pytest.raises(
        recframe.MissingColumnError, match=r"'user': no such column in .*1.parquet; it has 'score'"
    ):
        recframe.evaluate(tmp_path, ["recall@1"])


def test_an_index_that_is_not_stored(frame, tmp_path):
    """A range is stored by its bounds only; as users it is no column of the file."""
    frame.drop(columns="user").rename_axis(index="user").to_parquet(tmp_path / "0.parquet")
    with pytest.raises(recframe.MissingColumnError, match="user: no column found"):
        recframe.evaluate(tmp_path, ["recall@1"])


def test_labels_that_are_not_text(frame, tmp_path):
    """Numbers as labels are stored as text and come back as numbers."""
    frame = frame.set_axis([0, 1, 2, 3], axis=1)
    frame.to_parquet(tmp_path / "0.parquet")
    roles = {"user": 0, "item": 1, "score": 2, "relevant": 3}

    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@1"], **roles),
        recframe.evaluate(tmp_path / "0.parquet", ["recall@1"], **roles),
    )


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
def test_files_of_other_writers(tmp_path):
    """Polars cuts the statistics of long text; DuckDB writes small row groups."""
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    users = [f"{'x' * 100}{number:03}" for number in range(200) for _ in range(20)]
    frame = pd.DataFrame({"user": users, "score": range(4000), "relevant": [1, 0, 0, 0] * 1000})
    pl.from_pandas(frame).write_parquet(tmp_path / "polars.parquet", row_group_size=500)
    with duckdb.connect() as connection:
        connection.register("rows", frame)
        connection.sql("FROM rows").write_parquet(
            str(tmp_path / "duck.parquet"), row_group_size=2048
        )
    expected = recframe.evaluate(frame, ["recall@1"])

    for name in ("polars.parquet", "duck.parquet"):
        actual = recframe.evaluate(tmp_path / name, ["recall@1"], memory="1MiB")
        pd.testing.assert_frame_equal(expected, actual, check_exact=True)


def test_bounds_that_are_nan(tmp_path):
    """Statistics of NaN say nothing."""
    path = tmp_path / "0.parquet"
    frame = pd.DataFrame({"user": [2.0, 1.0] * 99, "score": range(198), "relevant": [1, 0, 0] * 66})
    frame.to_parquet(path, row_group_size=20)

    def bounds():
        return {
            (group.low, group.high) for group in open_files(path, Options(), 1 << 30).row_groups
        }

    assert {(1.0, 2.0)} == bounds()
    rewrite_bound(path, 1.0, math.nan)
    assert {(None, None)} == bounds()


@pytest.mark.parametrize("kind", ["list", "struct"])
def test_cells_of_several_values(tmp_path, kind):
    """A score or an id is one value; the type that is not is named."""
    value = [1, 2] if kind == "list" else {"a": 1}
    table = pa.table({"user": [value] * 2, "score": [1, 2], "relevant": [1, 0]})
    pq.write_table(table, tmp_path / "0.parquet")
    with pytest.raises(
        recframe.RecframeError,
        match=f"'user' must have one value in a cell, but is of type {kind}<",
    ):
        recframe.evaluate(tmp_path, ["recall@1"])


def test_what_footers_take(frame, tmp_path):
    """The largest footer decides how much memory footers take."""
    for name, size in (("0", 3), ("1", 1), ("2", 2)):
        frame.to_parquet(tmp_path / f"{name}.parquet", row_group_size=size)
    largest = pq.read_metadata(tmp_path / "1.parquet").serialized_size

    assert 10 * largest == open_files(tmp_path, Options(), 1 << 30).open_bytes


def test_a_column_that_the_folder_names_too(tmp_path):
    """A column may be in the file and in the name of its folder if both have one value."""
    (tmp_path / "user=7").mkdir()
    table = pa.table({"user": [7] * 4, "score": range(4), "relevant": [1, 0, 0, 1]})
    pq.write_table(table, tmp_path / "user=7" / "0.parquet", row_group_size=2)

    assert [7] == recframe.evaluate(tmp_path, ["recall@1"]).index.tolist()


@pytest.mark.parametrize("users", [[7, 7, 7, 8], [7, 8, 7, 7], [7, 7, None, 7], [6, 8, 7, 7]])
@pytest.mark.parametrize("folder", ["7", "6"])
def test_every_row_group_says_what_its_folder_says(tmp_path, users, folder):
    """A single different value anywhere in the file is shown in the refusal."""
    (tmp_path / f"user={folder}").mkdir()
    table = pa.table({"user": users, "score": range(4), "relevant": [1, 0, 0, 1]})
    pq.write_table(table, tmp_path / f"user={folder}" / "0.parquet", row_group_size=2)
    other = next(user for user in users if user != int(folder))
    with pytest.raises(
        recframe.RecframeError, match=rf"'user' is {other} in .*0.parquet, but {folder} by the name"
    ):
        recframe.evaluate(tmp_path, ["recall@1"])


def test_nulls_as_their_folder_says(tmp_path):
    """Hive's name of a null goes with nulls only."""
    (tmp_path / "user=__HIVE_DEFAULT_PARTITION__").mkdir()
    users = pa.array([None, None], pa.int64())
    table = pa.table({"user": users, "score": [1, 2], "relevant": [1, 0]})
    pq.write_table(table, tmp_path / "user=__HIVE_DEFAULT_PARTITION__" / "0.parquet")

    assert [2] == recframe.scan(tmp_path).describe().loc["null users"].tolist()


@pytest.mark.parametrize(
    ("kinds", "common"),
    [
        ([pa.int8(), pa.int32(), pa.int16()], pa.int32()),
        ([pa.int64(), pa.float64()], pa.float64()),
        ([pa.float32(), pa.float64(), pa.float32()], pa.float64()),
        ([pa.large_string(), pa.string()], pa.string()),
        ([pa.large_binary(), pa.binary()], pa.binary()),
    ],
)
def test_the_type_of_all_files(tmp_path, kinds, common):
    """The common type is the narrowest that holds all values, in any order of files."""
    for turn, order in enumerate((kinds, kinds[::-1])):
        (tmp_path / str(turn)).mkdir()
        for number, kind in enumerate(order):
            user = "a" if pa.types.is_large_string(kind) or pa.types.is_string(kind) else 1
            user = b"a" if "binary" in str(kind) else user
            save_user(tmp_path / str(turn) / f"{number}.parquet", user, kind)
        files = open_files(tmp_path / str(turn), Options(), 1)
        assert common == files.types["user"]


def test_errors_of_one_line(tmp_path):
    """A message of Arrow or the system becomes one line without its full stop."""
    for error, message in (
        (pa.ArrowInvalid("damaged.\nmore\nlines"), "damaged"),
        (pa.ArrowInvalid(""), "ArrowInvalid"),
        (OSError("a disk..."), "a disk"),
    ):
        with pytest.raises(recframe.RecframeError) as caught, naming_file("x.parquet"):
            raise error
        assert f"cannot read x.parquet: {message}" == str(caught.value)
