"""Parquet files in: what may be named, and what cannot be read."""

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.files.footers import open_files
from recframe.options import Options


def save(frame, path):
    """Write a frame and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_parquet(path)
    return path


@pytest.mark.parametrize("as_type", [str, lambda path: path, lambda path: [path]])
def test_a_path_gives_the_table_of_its_frame(frame, tmp_path, as_type):
    """A file, named by text, path or list, gives what its frame gives."""
    path = save(frame, tmp_path / "run.parquet")

    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@1"]), recframe.evaluate(as_type(path), ["recall@1"])
    )


@pytest.mark.parametrize("named", ["folder", "pattern", "list"])
def test_several_files_are_one_frame(frame, tmp_path, named):
    """A folder, a pattern and a list of files are read as one frame; users may straddle files."""
    paths = [
        save(part, tmp_path / "runs" / f"{n}.parquet")
        for n, part in enumerate([frame[:1], frame[1:5], frame[5:]])
    ]
    where = {"folder": tmp_path / "runs", "pattern": tmp_path / "r*" / "*.parquet", "list": paths}

    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@1"]), recframe.evaluate(where[named], ["recall@1"])
    )


def test_only_the_columns_used_are_read(frame, tmp_path):
    """Columns without a role stay unread."""
    path = save(frame.assign(extra="x"), tmp_path / "run.parquet")

    assert ["user", "relevant", "score"] == list(open_files(path, Options()).types)


def test_index_levels_of_a_file(frame, tmp_path):
    """A file written with users in the index is read as such."""
    path = save(frame.set_index(["user", "item"]), tmp_path / "run.parquet")

    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@1"]), recframe.evaluate(path, ["recall@1"])
    )


def test_categorical_users_of_a_file(frame, tmp_path):
    """Categories survive the file."""
    frame["user"] = frame["user"].astype(pd.CategoricalDtype(["unused", "cat", "bob", "ann"]))
    path = save(frame, tmp_path / "run.parquet")

    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@1"]), recframe.evaluate(path, ["recall@1"])
    )


def test_one_ranking_of_a_file(frame, tmp_path):
    """user=None needs no user column in the file."""
    path = save(frame.drop(columns="user"), tmp_path / "run.parquet")

    assert ["all"] == recframe.evaluate(path, ["recall@1"], user=None).index.tolist()


def no_file(path):
    """Leave nothing at the path."""


def empty_file(path):
    """Leave a file of no bytes."""
    path.touch()


def other_file(path):
    """Leave a file that is not parquet."""
    path.write_text("user,score\n" * 100)


def cut_file(path):
    """Leave the first half of a parquet file."""
    pd.DataFrame({"user": range(1000)}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:2000])


def damaged_file(path):
    """Leave a parquet file with wrong bytes amid its data."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"user": 1, "score": rng.random(9000), "relevant": True})
    frame.to_parquet(path, compression="gzip")
    data = bytearray(path.read_bytes())
    data[1000:30_000] = bytes(29_000)
    path.write_bytes(data)


def empty_folder(path):
    """Leave a folder without files."""
    path.mkdir()


UNREADABLE = {
    no_file: "cannot read .*x.parquet: no such file",
    empty_file: "cannot read .*x.parquet: .*0 bytes",
    other_file: "cannot read .*x.parquet: .*not a parquet file",
    cut_file: "cannot read .*x.parquet: ",
    damaged_file: "cannot read .*x.parquet: ",
    empty_folder: "cannot read .*x.parquet: no parquet file in that folder",
}


@pytest.mark.parametrize("make", UNREADABLE, ids=lambda make: make.__name__)
def test_unreadable_files(tmp_path, make):
    """A file that cannot be read is named in one line."""
    path = tmp_path / "x.parquet"
    make(path)
    with pytest.raises(recframe.RecframeError, match=UNREADABLE[make]) as caught:
        recframe.evaluate(path, ["recall@1"])
    assert "\n" not in str(caught.value)


def test_no_files():
    """An empty list of files is refused."""
    with pytest.raises(recframe.RecframeError, match="path: no file named, found an empty list"):
        recframe.evaluate([])


@pytest.mark.parametrize("again", ["run.parquet", "*.parquet", ""])
def test_a_file_named_twice(frame, tmp_path, again):
    """Rows are not counted twice because two patterns name their file."""
    path = save(frame, tmp_path / "run.parquet")
    with pytest.raises(recframe.RecframeError, match=r"path: .*run.parquet is named twice"):
        recframe.evaluate([path, tmp_path / again])


@pytest.mark.parametrize("path", [3, None, pd.DataFrame()])
def test_what_is_no_path(path):
    """Frames are not iterated over, nor anything else that is not a path."""
    with pytest.raises(recframe.RecframeError, match="path must be that of parquet files, found"):
        recframe.iter_evaluate(path)


def test_missing_column_of_a_file(frame, tmp_path):
    """Roles are sought in the schema, before any data is read."""
    path = save(frame, tmp_path / "run.parquet")
    with pytest.raises(recframe.MissingColumnError, match="score='b': no such column"):
        recframe.evaluate(path, ["recall@1"], score="b")
