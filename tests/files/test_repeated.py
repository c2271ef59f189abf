"""Rows of files that repeat a pair: found again with all their columns, and what tells them apart.

Where the first row of a pair lies, and what a footer says of it, must change nothing of the advice.
"""

import datetime

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recframe
from opened import open_files
from recframe.errors import RepeatedPairError
from recframe.files import parts
from recframe.files.parts import _advise
from recframe.frames.duplicates import REMEDY
from recframe.options import Options

MODEL = r"the column 'source' tells them apart \(such as '{}' and '{}'\): pass user=.*'source'"


@pytest.fixture
def rows():
    """Twelve rows of the users 1 to 6, of two items each; no pair is in two of them."""
    users = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    frame = pd.DataFrame({"user": users, "item": ["a", "b"] * 6, "score": range(12)})
    return frame.assign(relevant=True, source=[f"m{number}" for number in range(12)])


NAMED = {"user": "user", "model": None}  # so that no other column is looked at


def repeat(rows, position, **changed):
    """Return rows with one of them once more at the end, changed in this."""
    return pd.concat([rows, rows.iloc[[position]].assign(**changed)], ignore_index=True)


def refuse(path, message, **options):
    """Require that files are refused for a pair, with this said."""
    with pytest.raises(RepeatedPairError, match=message):
        recframe.evaluate(path, ["recall@1"], short="pad", **options)


def advise(path, user, item, **options):
    """Return what is said of a pair of files."""
    return _advise(open_files(path, Options(**options), 1), user, item)[0]


def note_opened(monkeypatch):
    """Return a list of the files that are opened from now on to look a pair up."""
    opened = []
    open_file = parts.open_file

    def open_and_note(path, *more):
        opened.append(path.path)
        return open_file(path, *more)

    monkeypatch.setattr(parts, "open_file", open_and_note)
    return opened


@pytest.mark.parametrize("position", [0, 4, 11])
@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_pair_in_any_two_row_groups(rows, tmp_path, position, size):
    """Wherever a row lies, what its other columns say is found."""
    repeat(rows, position, source="again").to_parquet(tmp_path / "0.parquet", row_group_size=size)

    refuse(tmp_path, MODEL.format(f"m{position}", "again"), memory=1)


@pytest.mark.parametrize("at_once", [1, 5, 13])
@pytest.mark.parametrize("position", [0, 4, 11])
def test_a_pair_in_two_batches(rows, tmp_path, monkeypatch, at_once, position):
    """A row group is read in batches; the rows of each are those that it has."""
    monkeypatch.setattr(parts, "LOOKUP_ROWS", at_once)
    repeat(rows, position, source="again").to_parquet(tmp_path / "0.parquet")

    refuse(tmp_path, MODEL.format(f"m{position}", "again"))


@pytest.mark.parametrize("at_once", [1, 3, 4, 100])
def test_only_rows_of_the_pair_are_looked_at(rows, tmp_path, monkeypatch, at_once):
    """Neither the user's other items nor the item's other users are of the pair."""
    monkeypatch.setattr(parts, "LOOKUP_ROWS", at_once)
    again = repeat(rows.assign(source="one"), 4, source="two")
    again.to_parquet(tmp_path / "0.parquet")

    refuse(tmp_path, MODEL.format("one", "two"))


def test_each_row_of_the_pair_is_told_apart(rows, tmp_path):
    """A column that has one value in two rows of three does not tell them apart."""
    again = repeat(repeat(rows, 4, source="again"), 4, source="again")
    again.to_parquet(tmp_path / "0.parquet", row_group_size=4)

    # The row group that has the second row is the last looked at.
    assert REMEDY == advise(tmp_path, 3, "a")


def test_no_column_tells_apart(rows, tmp_path):
    """In one file, rows that are equal are told apart by nothing."""
    repeat(rows, 4).to_parquet(tmp_path / "0.parquet", row_group_size=3)

    refuse(tmp_path, r"\(such as user 3, item 'a'\); pass duplicates='max'")
    assert REMEDY == advise(tmp_path, 3, "a")


def test_two_files(rows, tmp_path):
    """Of equal rows in two files both are named, the first and the last."""
    rows.to_parquet(tmp_path / "0.parquet")
    rows[:4].to_parquet(tmp_path / "1.parquet")
    rows[4:6].to_parquet(tmp_path / "2.parquet")
    expected = (
        f"one row is in {tmp_path}/0.parquet, another in {tmp_path}/2.parquet: evaluate one file "
        f"if each has lists of its own, such as those of a night; else {REMEDY}"
    )

    assert expected == advise(tmp_path, 3, "b")


def test_two_files_that_a_column_tells_apart(rows, tmp_path):
    """Where a column tells rows apart, their files need not be named."""
    rows.to_parquet(tmp_path / "0.parquet")
    rows[4:6].assign(source="again").to_parquet(tmp_path / "1.parquet")

    refuse(tmp_path, r"item 'a'\); " + MODEL.format("m4", "again"))


def test_a_pair_that_is_in_no_row(rows, tmp_path):
    """Where the pair is not found again, as of ids in another form, nothing is said of a file."""
    rows.to_parquet(tmp_path / "0.parquet", row_group_size=3)

    assert REMEDY == advise(tmp_path, 3, "c")
    assert REMEDY == advise(tmp_path, 7, "a")


@pytest.mark.parametrize("user", ["3", None, b"3", pd.Timestamp("2026")])
def test_users_that_statistics_cannot_be_held_against(rows, tmp_path, monkeypatch, user):
    """Ids that are something else in the file are looked for in every row group."""
    rows.to_parquet(tmp_path / "0.parquet")
    opened = note_opened(monkeypatch)

    assert REMEDY == advise(tmp_path, user, "a")
    assert 1 == len(opened)


def test_dates_have_bounds_of_another_type(rows, tmp_path):
    """Days that are dates in statistics and text or times elsewhere are found."""
    days = rows["user"].map(lambda number: datetime.date(2026, 1, number))
    repeat(rows.assign(user=days), 6, source="again").to_parquet(tmp_path / "0.parquet")

    refuse(tmp_path, MODEL.format("m6", "again"))


@pytest.mark.parametrize(("user", "read"), [(0, 0), (1, 1), (2, 1), (5, 1), (6, 1), (7, 0)])
def test_statistics_leave_row_groups_out(rows, tmp_path, monkeypatch, user, read):
    """Row groups whose lowest user is above, or whose highest is below, are not read."""
    rows.to_parquet(tmp_path / "0.parquet", row_group_size=4)
    opened = note_opened(monkeypatch)

    assert REMEDY == advise(tmp_path, user, "c")
    assert read == len(opened)


def test_without_statistics_all_row_groups_are_read(rows, tmp_path, monkeypatch):
    """What footers do not say may be anywhere."""
    repeat(rows, 0, source="again").to_parquet(
        tmp_path / "0.parquet", row_group_size=4, write_statistics=False
    )
    opened = note_opened(monkeypatch)

    refuse(tmp_path, MODEL.format("m0", "again"), memory=1, **NAMED)
    assert 4 == len(opened)


def test_two_rows_are_enough(rows, tmp_path, monkeypatch):
    """What is behind the row group that has the second row is not read."""
    for name in "0123":
        rows.to_parquet(tmp_path / f"{name}.parquet")
    opened = note_opened(monkeypatch)
    advise(tmp_path, 3, "a")

    assert [f"{tmp_path}/0.parquet", f"{tmp_path}/1.parquet"] == opened


@pytest.mark.parametrize("keys", [["user"], ["item"], ["user", "item"], ["day", "user"], ["day"]])
def test_ids_that_folders_name(rows, tmp_path, keys):
    """Folders may name the user, the item, both, or neither."""
    again = repeat(rows.assign(day="mon"), 5, source="again")
    for values, part in again.groupby(keys):
        names = [f"{key}={value}" for key, value in zip(keys, values, strict=True)]
        folder = tmp_path.joinpath(*names)
        folder.mkdir(parents=True)
        part.drop(columns=keys).to_parquet(folder / "0.parquet", row_group_size=2)

    refuse(tmp_path, r"item 'b'\); " + MODEL.format("m5", "again"))


@pytest.mark.parametrize("key", ["user", "item"])
def test_folders_of_other_ids_are_not_read(rows, tmp_path, monkeypatch, key):
    """A folder that names another id has no row of the pair."""
    for value, part in rows.groupby(key):
        (tmp_path / f"{key}={value}").mkdir()
        twice = pd.concat([part, part]).drop(columns=key)
        twice.to_parquet(tmp_path / f"{key}={value}" / "0.parquet")
    opened = note_opened(monkeypatch)

    assert REMEDY == advise(tmp_path, 3, "a")
    assert 1 == len(opened)
    assert f"{key}={'3' if key == 'user' else 'a'}" in opened[0]


def test_what_folders_say_tells_apart(rows, tmp_path):
    """A key of folders that has no role is a column like any other."""
    for source in ("knn", "svd"):
        (tmp_path / f"source={source}").mkdir()
        rows.drop(columns="source").to_parquet(tmp_path / f"source={source}" / "0.parquet")

    refuse(tmp_path, MODEL.format("knn", "svd"), **NAMED)


def test_what_folders_of_one_pair_say_tells_apart(tmp_path):
    """Where folders name both ids, their other keys are columns too."""
    for source in ("knn", "svd"):
        folder = tmp_path / "user=1" / "item=a" / f"source={source}"
        folder.mkdir(parents=True)
        pd.DataFrame({"score": [0.5], "relevant": [1]}).to_parquet(folder / "0.parquet")

    refuse(tmp_path, MODEL.format("knn", "svd"))


def test_one_ranking(rows, tmp_path):
    """Without users, the item alone is what is repeated."""
    once = rows.drop_duplicates("item")
    again = repeat(once, 1, source="again").drop(columns="user")
    again.to_parquet(tmp_path / "0.parquet", row_group_size=2)

    refuse(tmp_path, r"\(such as item 'b'\); " + MODEL.format("m1", "again"), user=None)


@pytest.mark.parametrize("kind", ["category", "large_string", "int64", "float64"])
def test_ids_of_every_type_are_found(rows, tmp_path, kind):
    """However a file stores ids, they are found again."""
    again = repeat(rows, 7, source="again")
    table = pa.Table.from_pandas(again, preserve_index=False)
    texts = [table[name].cast(pa.string()) for name in ("user", "item")]
    if kind == "category":
        users, items = (text.dictionary_encode() for text in texts)
    elif kind == "large_string":
        users, items = (text.cast(kind) for text in texts)
    else:
        users = table["user"].cast(kind)
        items = pa.array([0, 1] * 6 + [1]).cast(kind)
    table = table.set_column(0, "user", users).set_column(1, "item", items)
    pq.write_table(table, tmp_path / "0.parquet", row_group_size=5)

    refuse(tmp_path, MODEL.format("m7", "again"), memory=1)


def test_of_several_columns_that_with_fewest_values(rows, tmp_path):
    """Rather a source than a time of day, of those that tell the rows apart."""
    again = repeat(rows.assign(source="knn", at=range(12), same=0), 3, source="svd", at=99)
    again = again.assign(again=range(13))[["user", "item", "same", "again", "at", "source"]]
    again = again.assign(score=range(13), relevant=1)
    again = pd.concat([again, again.iloc[[3]].assign(source="als", at=99)])
    again.to_parquet(tmp_path / "0.parquet")

    assert "the column 'source' tells them apart (such as 'knn' and 'svd')" in advise(
        tmp_path, 2, "b"
    )


def test_a_file_that_is_gone_by_then(rows, tmp_path):
    """What goes wrong in looking a pair up names the file."""
    files = open_files([save(rows, tmp_path / "0.parquet")], Options(), 1)
    (tmp_path / "0.parquet").unlink()
    with pytest.raises(recframe.RecframeError, match=r"cannot read .*0.parquet: "):
        _advise(files, 3, "a")


def save(rows, path):
    """Write rows and return the path of their file."""
    rows.to_parquet(path)
    return path


def test_a_pair_that_is_not_found_again(tmp_path):
    """Integers that pandas rounds beside nulls: what tells the rows apart is not known then."""
    for number, items in enumerate([[2**53 + 1], [2**53 + 1, None]]):
        frame = pd.DataFrame({"user": 1, "item": pd.array(items, "Int64"), "score": 0.5})
        frame.assign(relevant=1).to_parquet(tmp_path / f"{number}.parquet")

    with pytest.raises(recframe.RecframeError, match=r"must not be the same.*duplicates='max'"):
        recframe.evaluate(tmp_path, "recall@1", missing="drop")
