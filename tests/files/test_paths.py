"""What a path may name: files of several writers, and folders that are columns."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recframe

METRICS = ["recall@1"]


def save(path, user, kind=None, scores=(0.9, 0.1)):
    """Write a file of one user's two rows; without a user the folder has to name it."""
    columns = {"score": list(scores), "relevant": [1, 0]}
    if kind == "dictionary":
        columns["user"] = pa.array([user, user]).dictionary_encode()
    elif user is not None:
        columns["user"] = pa.array([user, user], kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


KEYS = {
    "numbers": (["2", "10", "-1"], [-1, 2, 10]),
    "not all numbers": (["2", "10", "x"], ["10", "2", "x"]),
    "numbers with zeros before": (["02", "10"], ["02", "10"]),
    "signs": (["a%2Fb", "c%20d"], ["a/b", "c d"]),
}


@pytest.mark.parametrize("memory", [1, "1GiB"])
@pytest.mark.parametrize("case", KEYS)
@pytest.mark.parametrize("named", ["folder", "pattern"])
def test_users_named_by_folders(tmp_path, case, named, memory):
    """Hive's folders are columns, of numbers where all of them are; the user may be one."""
    texts, users = KEYS[case]
    for text in texts:
        save(tmp_path / "runs" / f"user={text}" / "0.parquet", None)
        save(tmp_path / "runs" / f"user={text}" / "1.parquet", None, scores=(0.8, 0.7))
    (tmp_path / "runs" / "_SUCCESS").touch()
    (tmp_path / "runs" / ".note").touch()
    where = tmp_path / "runs" / "*" / "*.parquet" if named == "pattern" else tmp_path / "runs"
    table = recframe.evaluate(where, METRICS, memory=memory)

    assert users == table.index.tolist()
    assert "user" == table.index.name
    assert [0.5] * len(users) == table["score", "recall@1"].tolist()


def test_a_null_user_named_by_a_folder(tmp_path):
    """Hive's name of a null is one."""
    save(tmp_path / "user=1" / "0.parquet", None)
    save(tmp_path / "user=__HIVE_DEFAULT_PARTITION__" / "0.parquet", None)
    with pytest.raises(
        recframe.RecframeError, match=r"ids must not be null, found 2 null of 2 rows"
    ):
        recframe.evaluate(tmp_path, METRICS)

    assert [1] == recframe.evaluate(tmp_path, METRICS, missing="drop").index.tolist()


def test_the_column_of_a_file_goes_before_its_folder(tmp_path):
    """A folder says nothing about a column that the file has."""
    path = save(tmp_path / "user=1" / "score=x" / "0.parquet", "ann")

    assert ["ann"] == recframe.evaluate(path, METRICS).index.tolist()


def test_folders_that_play_no_role(tmp_path):
    """Keys that no option names are ignored, also where only some files have them."""
    save(tmp_path / "day=1" / "0.parquet", "ann")
    save(tmp_path / "0.parquet", "bob")

    assert ["ann", "bob"] == recframe.evaluate(tmp_path, METRICS).index.tolist()


ONE_TYPE = {
    "integers": (1, pa.int32(), 2**40, pa.int64(), "int64"),
    "large text": ("a", pa.string(), "b", pa.large_string(), None),
    "dictionary": ("a", "dictionary", "b", pa.string(), None),
    "dictionary second": ("a", pa.large_string(), "b", "dictionary", None),
}


@pytest.mark.parametrize("memory", [1, "1GiB"])
@pytest.mark.parametrize("case", ONE_TYPE)
def test_types_of_one_kind_are_one(tmp_path, case, memory):
    """Files of several writers have one type of users."""
    first, first_type, second, second_type, dtype = ONE_TYPE[case]
    save(tmp_path / "0.parquet", first, first_type)
    save(tmp_path / "1.parquet", second, second_type)
    save(tmp_path / "2.parquet", first, first_type)
    table = recframe.evaluate(tmp_path, METRICS, memory=memory)

    assert [first, second] == table.index.tolist()
    assert pd.Index([first, second], dtype=dtype).dtype == table.index.dtype
    assert [0.5, 1.0] == table["score", "recall@1"].tolist()


TWO_TYPES = {
    "text": (1, pa.int64(), "b", pa.string(), "'user' has type string in .*1.parquet but int64"),
    "bytes": ("a", pa.string(), b"a", pa.binary(), "'user' has type binary in .*1.parquet but st"),
}


@pytest.mark.parametrize("case", TWO_TYPES)
def test_types_of_two_kinds_are_refused(tmp_path, case):
    """Ids that are not the same kind of thing are not made so."""
    first, first_type, second, second_type, message = TWO_TYPES[case]
    save(tmp_path / "0.parquet", first, first_type)
    save(tmp_path / "1.parquet", second, second_type)
    with pytest.raises(recframe.RecframeError, match=message + ".* write the files with one type"):
        recframe.evaluate(tmp_path, METRICS)


def test_a_type_that_does_not_hold_a_value(tmp_path):
    """A number that the common type rounds is refused, and the file named."""
    save(tmp_path / "0.parquet", 0.5)
    save(tmp_path / "1.parquet", 2**53 + 1)
    with pytest.raises(
        recframe.RecframeError, match=r"cannot read .*1.parquet: Integer value 90071"
    ):
        recframe.evaluate(tmp_path, METRICS)


def test_a_column_that_one_file_lacks(tmp_path):
    """A column that only other files have is not filled with nulls."""
    save(tmp_path / "0.parquet", "ann")
    save(tmp_path / "1.parquet", None)
    with pytest.raises(
        recframe.MissingColumnError, match=r"'user': no such column in .*1.parquet; it has 'score'"
    ):
        recframe.evaluate(tmp_path, METRICS)


def test_an_index_that_is_not_stored(frame, tmp_path):
    """A range is stored by its bounds only; as users it is no column of the file."""
    frame.drop(columns="user").rename_axis(index="user").to_parquet(tmp_path / "0.parquet")
    with pytest.raises(recframe.MissingColumnError, match="user: no column found"):
        recframe.evaluate(tmp_path, METRICS)


def test_labels_that_are_not_text(frame, tmp_path):
    """Numbers as labels are stored as text and come back as numbers."""
    frame = frame.set_axis([0, 1, 2, 3], axis=1)
    frame.to_parquet(tmp_path / "0.parquet")
    roles = {"user": 0, "item": 1, "score": 2, "relevant": 3}

    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, METRICS, **roles),
        recframe.evaluate(tmp_path / "0.parquet", METRICS, **roles),
    )


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
    expected = recframe.evaluate(frame, METRICS)

    for name in ("polars.parquet", "duck.parquet"):
        actual = recframe.evaluate(tmp_path / name, METRICS, memory="1MiB")
        pd.testing.assert_frame_equal(expected, actual, check_exact=True)
