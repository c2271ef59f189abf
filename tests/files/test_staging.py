"""Files without footers give the results of parquet files with the same rows, in any memory."""

import tempfile
import weakref

import numpy as np
import pandas as pd
import pytest

import recframe
from files.layouts import FEW
from recframe.files import staging
from recframe.files.limits import TemporaryRows

WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "jsonl.gz": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "feather": lambda frame, path: frame.to_feather(path),
    "arrow": lambda frame, path: frame.to_feather(path),
}
SMALL = 40_000


def save(frame, folder, ending, name="run"):
    """Write rows in the format of an ending, and return their path."""
    path = folder / f"{name}.{ending}"
    WRITERS[ending](frame.reset_index(drop=True), path)
    return path


@pytest.fixture
def rows(large):
    """Return rows of many users in random order, with items and a column without a role."""
    items = large.groupby("user").cumcount()
    rows = large.assign(item=items, other_score=large["other_score"].astype(np.int64), note="x")
    return rows.sample(frac=1, random_state=2)


@pytest.fixture
def small_batches(monkeypatch):
    """Make blocks of text and row groups so small that a file has many."""
    monkeypatch.setattr(staging, "LEAST_BATCH", 1000)


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.usefixtures("small_batches")
def test_each_format_gives_what_its_frame_gives(rows, tmp_path, ending, is_sorted):
    """Each format gives the table of its frame, bit for bit, with the dtypes of ids."""
    rows = rows.sort_values("user", kind="stable") if is_sorted else rows
    path = save(rows, tmp_path, ending)

    pd.testing.assert_frame_equal(
        recframe.evaluate(rows, FEW, short="pad"),
        recframe.evaluate(path, FEW, short="pad", memory=SMALL),
        check_exact=True,
    )


@pytest.mark.parametrize("ending", ["csv", "jsonl", "feather"])
@pytest.mark.parametrize("is_large", [True, False])
def test_truth_and_exclude_of_each_format(recs, test, tmp_path, monkeypatch, ending, is_large):
    """Truth and exclude may have each format, and staged rows may be on disk."""
    if is_large:
        monkeypatch.setattr(staging, "STAGED_SHARE", 1 << 30)
    seen = recs.iloc[:1][["user", "item"]]
    companions = {"truth": test, "exclude": seen}
    paths = {name: save(table, tmp_path, ending, name) for name, table in companions.items()}
    path = save(recs, tmp_path, ending)

    pd.testing.assert_frame_equal(
        recframe.evaluate(recs, ["recall@1"], population="all", **companions),
        recframe.evaluate(path, ["recall@1"], population="all", **paths),
    )


def test_several_files_have_one_type(frame, tmp_path):
    """A column is text if it is text in any file, else floats if it is in any."""
    frames = [
        frame.assign(user=7, score=frame["item"]),
        frame.assign(user=["a"] * 4 + ["007"] * 4),
    ]
    both = pd.concat(frames).astype({"user": str}).assign(item=lambda rows: range(len(rows)))
    for number, one in enumerate(frames):
        folder = tmp_path / f"day={number}"
        folder.mkdir()
        save(one.assign(item=both["item"][8 * number : 8 * number + 8]), folder, "csv")
    both["day"] = [0] * 8 + [1] * 8

    for user in ("user", "day"):
        pd.testing.assert_frame_equal(
            recframe.evaluate(both, ["recall@2"], user=user),
            recframe.evaluate(tmp_path, ["recall@2"], user=user),
        )


def test_leading_zeros_are_kept(frame, tmp_path):
    """Users of digits are text if some begin with a zero."""
    path = save(frame.assign(user=["007"] * 3 + ["12"] * 5, item=range(8)), tmp_path, "csv")

    assert ["007", "12"] == recframe.evaluate(path, ["recall@1"]).index.tolist()


def test_what_is_known_without_reading(frame, tmp_path):
    """The repr lists the columns without counting rows."""
    path = save(frame, tmp_path, "csv")
    shown = repr(recframe.scan(path))

    assert "1 file without footers, staged as they are read" in shown
    assert "inferred   'score'" in shown
    assert "sweep" not in shown


REFUSED = {
    "user,item,score,relevant\nann,1,0.5\n": "cannot read .*x.csv: .*Row #2: Expected 4 columns",
    "user,item,score,relevant\nann,1,a,1\n": "'score'",
    "user,item,score,relevant\n,1,0.5,1\n": "ids must not be null, but 1 of 1 rows are null "
    ".*x.csv",
    "user,item,score\nann,1,0.5\n": "relevant",
    "user,user,item,score,relevant\nann,bob,1,0.5,1\n": "'user'",
    "": "cannot read .*x.csv: Empty CSV file$",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals(tmp_path, text):
    """Damaged, null and missing values are refused as in parquet files."""
    path = tmp_path / "x.csv"
    path.write_text(text)

    with pytest.raises(recframe.RecframeError, match=REFUSED[text]):
        recframe.evaluate(path, ["recall@1"])


def test_a_file_that_lacks_a_column(frame, tmp_path):
    """The refusal names the file that lacks a column, and the columns it has."""
    paths = [save(frame, tmp_path, "csv"), save(frame[["user", "item"]], tmp_path, "csv", "x")]

    match = "'relevant': no such column in .*x.csv; it has 'user', 'item'"
    with pytest.raises(recframe.MissingColumnError, match=match):
        recframe.evaluate(paths, ["recall@1"])


def test_mixed_folders_are_refused(frame, tmp_path):
    """A folder with two formats is refused, and a pattern selects files of one."""
    save(frame, tmp_path, "csv")
    frame.to_parquet(tmp_path / "run.parquet")

    with pytest.raises(recframe.RecframeError, match=r"run.csv \(csv\) and .*run.parquet \(parqu"):
        recframe.evaluate(tmp_path, ["recall@1"])
    assert 3 == len(recframe.evaluate(tmp_path / "*.csv", ["recall@1"]))


def test_advice_on_rows_that_repeat(frame, tmp_path):
    """The refusal of repeated pairs in several files suggests evaluating them one by one."""
    paths = [save(frame, tmp_path, "csv", name) for name in ("a", "b")]

    with pytest.raises(recframe.RepeatedPairError, match=r"2 files \(evaluate one file at a time"):
        recframe.evaluate(paths, ["recall@1"])


@pytest.mark.parametrize("is_damaged", [True, False])
def test_nothing_is_left(frame, tmp_path, monkeypatch, is_damaged):
    """Staged rows are removed at the end of the call, also if a file is damaged."""
    left = weakref.WeakSet()

    def make(*args, **options):
        left.add(rows := TemporaryRows(*args, **options))
        return rows

    monkeypatch.setattr(staging, "TemporaryRows", make)
    path = save(frame, tmp_path, "csv")
    if is_damaged:
        monkeypatch.setattr("recframe.text_types.FIRST_BLOCK", 100)
        path.write_text(path.read_text() + "a,b\n")
        with pytest.raises(recframe.RecframeError, match="Row #10"):
            recframe.evaluate(path, ["recall@1"], tmp=tmp_path)
    else:
        recframe.evaluate(path, ["recall@1"], tmp=tmp_path)

    assert all(rows.closed for rows in left)
    assert [path] == list(tmp_path.iterdir())


def test_a_full_disk(frame, tmp_path, monkeypatch):
    """A temporary file that cannot be written is named, not the source file."""

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile.SpooledTemporaryFile, "write", fail)
    path = save(frame, tmp_path, "csv")

    with pytest.raises(recframe.RecframeError, match=r"cannot write temporary files to .*No space"):
        recframe.evaluate(path, ["recall@1"])


def test_categories_of_feather(frame, tmp_path):
    """Users that are categories become plain values, as from parquet."""
    categories = frame["user"].astype(pd.CategoricalDtype(["cat", "bob", "ann"]))
    path = save(frame.assign(user=categories), tmp_path, "feather")

    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@1"]), recframe.evaluate(path, ["recall@1"])
    )
