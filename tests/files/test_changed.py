"""Files that change while they are read are refused."""

import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import recframe
from recframe.files.source_files import open_file
from recframe.stores.store import Location

CHANGED = r"cannot read {}: it changed while it was read. Pass its path again once it is written"
OPTIONS = {"short": "pad", "population": "both"}
METHODS = {
    "evaluate": lambda scan: scan.evaluate("recall@2"),
    "mean": lambda scan: scan.mean("recall@2"),
    "describe": lambda scan: scan.describe(2),
    "inspect": lambda scan: scan.inspect("u7", k=2),
    "catalogue": lambda scan: scan.catalogue(2),
    "iter_evaluate": lambda scan: list(scan.iter_evaluate("recall@2")),
}


@pytest.fixture
def frame():
    """Rows of 40 users, in random order."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"user": np.repeat([f"u{n}" for n in range(40)], 25)})
    frame = frame.assign(item=np.tile(range(25), 40), score=rng.random(1000))
    return frame.assign(relevant=rng.random(1000) < 0.4).sample(frac=1, random_state=0)


@pytest.fixture
def rows(frame, tmp_path):
    """Return a file of these rows, with truth and exclude next to it."""
    held = frame.loc[frame["relevant"], ["user", "item"]]
    held.to_parquet(tmp_path / "truth.parquet", row_group_size=50)
    frame.loc[frame["item"] == 3, ["user", "item"]].to_parquet(tmp_path / "seen.parquet")
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    return tmp_path / "rows.parquet"


@pytest.fixture
def rewrite(monkeypatch):
    """Change a file, by default by writing it again, whenever rows of any file are read."""

    def write(path):
        with path.open("r+b") as file:
            file.write(path.read_bytes())

    def rewrite_when_read(path, change=write):
        def read(*args, **options):
            change(path)
            return iter_batches(*args, **options)

        os.utime(path, (1, 1))
        iter_batches = pq.ParquetFile.iter_batches
        monkeypatch.setattr(pq.ParquetFile, "iter_batches", read)

    return rewrite_when_read


@pytest.mark.parametrize("method", METHODS)
def test_rows(rows, rewrite, monkeypatch, method):
    """Every table of a changed file is refused, and made once the file stays the same."""
    scan = recframe.scan(rows)(**OPTIONS)
    expected = METHODS[method](scan)
    rewrite(rows)
    with pytest.raises(recframe.RecframeError, match=CHANGED.format(rows)):
        METHODS[method](scan)
    monkeypatch.undo()

    assert repr(expected) == repr(METHODS[method](scan))


@pytest.mark.parametrize("memory", ["1GiB", 20_000])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_routes(frame, rows, rewrite, memory, is_sorted):
    """On every route, even a new time of change is refused."""
    if is_sorted:
        frame.sort_values("user").to_parquet(rows, row_group_size=100)
    rewrite(rows, Path.touch)
    with pytest.raises(recframe.RecframeError, match=CHANGED.format(rows)):
        recframe.evaluate(rows, "recall@2", memory=memory)


@pytest.mark.parametrize("memory", ["1GiB", 60_000])
@pytest.mark.parametrize("option", ["truth", "exclude"])
def test_companions(rows, rewrite, monkeypatch, memory, option):
    """Changed files of truth and exclude are refused with the name of the option."""
    paths = {"truth": rows.with_name("truth.parquet"), "exclude": rows.with_name("seen.parquet")}

    def open_and_touch(source, **options):
        opened = open_file(source, **options)
        if source.path == str(paths[option]):
            paths[option].touch()
        return opened

    frame = pd.read_parquet(rows)
    rewrite(paths[option])
    monkeypatch.setattr("recframe.files.companion_files.open_file", open_and_touch)
    match = f"{option}: {CHANGED.format(paths[option])}"
    with pytest.raises(recframe.RecframeError, match=match):
        recframe.scan(rows, memory=memory)(**OPTIONS, **paths).recall(2)
    with pytest.raises(recframe.RecframeError, match=match):
        frame.rec(**OPTIONS, **{option: paths[option]}).recall(2)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "arrow"])
def test_files_without_footers(frame, tmp_path, monkeypatch, ending):
    """A changed file without a footer is refused before the first table, also as truth."""
    path, open_file = tmp_path / f"rows.{ending}", Location.open
    if ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif ending == "arrow":
        frame.to_feather(path)
    else:
        frame.to_csv(path, index=False)

    def open_and_touch(self):
        file = open_file(self)
        os.utime(path, ns=(0, os.stat(path).st_mtime_ns + 1))  # noqa: PTH116
        return file

    monkeypatch.setattr(Location, "open", open_and_touch)
    scan, columns = recframe.scan(path), frame.drop(columns="relevant")
    with pytest.raises(recframe.RecframeError, match=CHANGED.format(path)):
        scan.iter_evaluate("recall@2")
    with pytest.raises(recframe.RecframeError, match=f"truth: {CHANGED.format(path)}"):
        columns.rec(truth=path, **OPTIONS).recall(2)


def test_other_files(frame, rows, rewrite, tmp_path):
    """The changed file of several is named; a file may change if no row of it is read."""
    folder = tmp_path / "days"
    for day in range(3):
        (folder / f"day={day}").mkdir(parents=True)
        of_day = frame["user"].str[1:].astype(int) % 3 == day
        frame[of_day].to_parquet(folder / f"day={day}/rows.parquet")
    changing = folder / "day=1/rows.parquet"
    others = recframe.scan(folder, filters=[("day", "!=", 1)])(short="pad")
    expected = others.recall(2)
    rewrite(changing)

    pd.testing.assert_frame_equal(expected, others.recall(2))
    with pytest.raises(recframe.RecframeError, match=CHANGED.format(changing)):
        recframe.scan(folder)(short="pad").recall(2)


def test_objects(rows, rewrite):
    """The files of an Arrow dataset are compared as well."""
    rewrite(rows)
    with pytest.raises(recframe.RecframeError, match=CHANGED.format(rows)):
        recframe.evaluate(ds.dataset(rows), "recall@2")


def test_files_that_are_replaced(rows, rewrite):
    """A new file of the same name is refused, although the old one could still be read."""
    new = rows.with_suffix(".new")
    new.write_bytes(rows.read_bytes())

    def replace(path):
        with suppress(FileNotFoundError):  # Another thread may have done it.
            new.replace(path)

    rewrite(rows, replace)
    with pytest.raises(recframe.RecframeError, match=CHANGED.format(rows)):
        recframe.evaluate(rows, "recall@2")


def test_files_that_change_between_calls(frame, rows):
    """Each call reads the present file."""
    scan = recframe.scan(rows)
    scan.recall(2)
    frame.assign(relevant=True).to_parquet(rows)

    assert [1.0] == scan.precision(2)["score"].unique().tolist()
