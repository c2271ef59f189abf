"""What a path may name: files, folders, patterns, lists of them, and folders that are columns."""

import pandas as pd
import pytest

import recframe
from layouts import save_frame, save_user

PARTITIONS = {
    "numbers": (["2", "10", "-1"], [-1, 2, 10]),
    "not all numbers": (["2", "10", "x"], ["10", "2", "x"]),
    "numbers with zeros before": (["02", "10"], ["02", "10"]),
    "signs": (["a%2Fb", "c%20d"], ["a/b", "c d"]),
}


@pytest.mark.parametrize("memory", [1, "1GiB"])
@pytest.mark.parametrize("case", PARTITIONS)
@pytest.mark.parametrize("named", ["folder", "pattern"])
def test_users_named_by_folders(tmp_path, case, named, memory):
    """Hive's folders are columns, of numbers where all of them are; the user may be one."""
    texts, users = PARTITIONS[case]
    for text in texts:
        save_user(tmp_path / "runs" / f"user={text}" / "0.parquet", None)
        save_user(tmp_path / "runs" / f"user={text}" / "1.parquet", None, scores=(0.8, 0.7))
    (tmp_path / "runs" / "_SUCCESS").touch()
    (tmp_path / "runs" / ".note").touch()
    where = tmp_path / "runs" / "*" / "*.parquet" if named == "pattern" else tmp_path / "runs"
    table = recframe.evaluate(where, ["recall@1"], memory=memory)

    assert users == table.index.tolist()
    assert "user" == table.index.name
    assert [0.5] * len(users) == table["score", "recall@1"].tolist()


def test_a_null_user_named_by_a_folder(tmp_path):
    """Hive's name of a null is one."""
    save_user(tmp_path / "user=1" / "0.parquet", None)
    save_user(tmp_path / "user=__HIVE_DEFAULT_PARTITION__" / "0.parquet", None)
    with pytest.raises(
        recframe.RecframeError, match=r"ids must not be null, found 2 null of 2 rows"
    ):
        recframe.evaluate(tmp_path, ["recall@1"])

    assert [1] == recframe.evaluate(tmp_path, ["recall@1"], missing="drop").index.tolist()


def test_the_column_of_a_file_goes_before_its_folder(tmp_path):
    """A folder says nothing about a column that the file has."""
    path = save_user(tmp_path / "user=1" / "score=x" / "0.parquet", "ann")

    assert ["ann"] == recframe.evaluate(path, ["recall@1"]).index.tolist()


def test_folders_that_play_no_role(tmp_path):
    """Folders that no option names are ignored, also where only some files have them."""
    save_user(tmp_path / "day=1" / "0.parquet", "ann")
    save_user(tmp_path / "0.parquet", "bob")

    assert ["ann", "bob"] == recframe.evaluate(tmp_path, ["recall@1"]).index.tolist()


@pytest.mark.parametrize("named", ["folder", "pattern", "list"])
def test_several_files_are_one_frame(frame, tmp_path, named):
    """A folder, a pattern and a list of files are read as one frame; users may straddle files."""
    paths = [
        save_frame(part, tmp_path / "runs" / f"{n}.parquet")
        for n, part in enumerate([frame[:1], frame[1:5], frame[5:]])
    ]
    where = {"folder": tmp_path / "runs", "pattern": tmp_path / "r*" / "*.parquet", "list": paths}

    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@1"]), recframe.evaluate(where[named], ["recall@1"])
    )


def test_no_files():
    """An empty list of files is refused."""
    with pytest.raises(recframe.RecframeError, match="path: no file named, found an empty list"):
        recframe.evaluate([])


@pytest.mark.parametrize("again", ["run.parquet", "*.parquet", ""])
def test_a_file_named_twice(frame, tmp_path, again):
    """Rows are not counted twice because two patterns name their file."""
    path = save_frame(frame, tmp_path / "run.parquet")
    with pytest.raises(recframe.RecframeError, match=r"path: .*run.parquet is named twice"):
        recframe.evaluate([path, tmp_path / again])


@pytest.mark.parametrize("path", [3, None, pd.DataFrame()])
def test_what_is_no_path(path):
    """Frames are not iterated over, nor anything else that is not a path."""
    with pytest.raises(recframe.RecframeError, match="path must be that of parquet files, found"):
        recframe.iter_evaluate(path)
