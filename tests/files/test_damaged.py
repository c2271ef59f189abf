"""Damaged files: every kind of damage is refused in one line that names the file."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recframe

ROWS = pa.table({"user": ["a", "a"], "item": ["x", "y"], "score": [0.2, 0.1], "relevant": [1, 0]})
FRAME = ROWS.to_pandas().drop(columns="relevant")

# Each file is read in another process, so that a crash does not end the tests.
READ_ALL = """
import sys, recframe
for path in sys.argv[1:]:
    for filters in (None, [("item", "<", 3)]):
        try:
            recframe.scan(path, filters=filters)(short="pad").evaluate("recall@1")
        except recframe.RecframeError as error:
            assert path in str(error) or "=" in str(error), error
"""


def with_footers(path, n_files=150):
    """Yield files with random bytes in their footers, and one with a wrong column type."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"user": [f"u{n % 12}" for n in range(60)], "item": range(60)})
    frame.assign(score=rng.random(60), relevant=1).to_parquet(path, row_group_size=20)
    data = path.read_bytes()
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    yield data[:begin] + data[begin:].replace(b"\x15\x0c\x19", b"\x15\x08\x19", 1)
    for seed in range(n_files):
        draw, damaged = random.Random(seed), bytearray(data)
        for _ in range(draw.randint(1, 2)):
            damaged[draw.randrange(begin, len(data) - 8)] = draw.randrange(256)
        yield bytes(damaged)


def test_damaged_footers(tmp_path):
    """A damaged footer is refused before Arrow would crash on it."""
    for number, data in enumerate(with_footers(tmp_path / "rows.parquet")):
        (tmp_path / f"{number}.parquet").write_bytes(data)
    paths = sorted(map(str, tmp_path.glob("*.parquet")))
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READ_ALL, *paths],
        capture_output=True,
        text=True,
        cwd=Path(recframe.__file__).parents[1],
    )

    assert (0, "") == (run.returncode, run.stderr)


def write(path, table):
    """Write a table in the format of the ending, without statistics that Arrow would read."""
    if path.suffix == ".parquet":
        pq.write_table(table, path, write_statistics=False)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    return path


def with_bytes(name):
    """Return rows whose column of text has bytes that are not UTF-8."""
    offsets = pa.py_buffer(np.array([0, 1, 2], np.int32))
    text = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a\xff")])
    return ROWS.set_column(ROWS.schema.get_field_index(name), name, text)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("name", ["user", "item"])
def test_ids_that_are_not_utf_8(tmp_path, name, ending):
    """The refusal of such ids names the file, or in a table the column.

    Older pandas makes objects of them, which Arrow cannot wrap.
    """
    table = with_bytes(name)
    path = write(tmp_path / f"x.{ending}", table)
    for call, named in (
        (lambda: recframe.evaluate(path, "recall@1"), f"cannot read {path}"),
        (lambda: recframe.evaluate(path, "recall@1", memory=1), f"cannot read {path}"),
        (lambda: recframe.scan(path).describe(), f"cannot read {path}"),
        (lambda: FRAME.rec(truth=path).recall(1), f"truth: cannot read {path}"),
        (lambda: recframe.rec(table).recall(1), f"the column '{name}'"),
        (lambda: FRAME.rec(truth=table).recall(1), f"the column '{name}'"),
    ):
        with pytest.raises(recframe.RecframeError, match=f"{named}: .*(Invalid UTF8 sequence|Wr)"):
            call()


def test_names_that_are_not_utf_8(tmp_path):
    """Names of columns, and keys of JSON lines, that are not UTF-8 are shown as text."""
    line = b'{"user": 1, "item": 1, "score": 1, "relevant": 1, "s\xffe": 1}\n'
    (tmp_path / "x.jsonl").write_bytes(line)
    path = write(tmp_path / "x.parquet", ROWS.rename_columns(["user", "item", "score", "s--e"]))
    path.write_bytes(path.read_bytes().replace(b"s--e", b"s-\xffe"))
    for name in ("x.jsonl", "x.parquet"):
        for call, named in (
            (lambda name=name: recframe.evaluate(tmp_path / name, "auc"), ""),
            (lambda name=name: FRAME.rec(truth=tmp_path / name).recall(1), "truth: "),
        ):
            match = f"{named}cannot read {tmp_path / name}: .*(utf-8|UTF-8|base64)"
            with pytest.raises(recframe.RecframeError, match=match):
                call()


NOTED = {
    "no columns": b"{}",
    "text": b"\xff",
    "deep": b"[" * 10**5 + b"]" * 10**5,
    "an index without a name": json.dumps({"index_columns": [{"kind": "range"}], "columns": []}),
    "numbers": json.dumps({"index_columns": [], "columns": [3], "column_indexes": [3]}),
}


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("noted", NOTED)
def test_damaged_notes_of_pandas(tmp_path, noted, ending):
    """Files with damaged pandas metadata are read, or refused by their names."""
    path = write(tmp_path / f"x.{ending}", ROWS.replace_schema_metadata({"pandas": NOTED[noted]}))
    ids = {"truth_user": "user", "truth_item": "item", "relevant": "relevant"}
    for call, named in (
        (lambda: recframe.evaluate(path, "recall@1"), ""),
        (lambda: FRAME.rec(truth=path, **ids).recall(1), "truth: "),
    ):
        message = f"{named}cannot read {path}: "
        try:
            call()
        except recframe.RecframeError as error:
            message = str(error)
        assert message.startswith(f"{named}cannot read {path}: ")
        assert "\n" not in message


def test_a_saved_table_with_damaged_notes(tmp_path):
    """A saved table with damaged pandas metadata is refused by its name."""
    table = pa.table({"user": [1], "score": ["s"], "recall@1": [0.5]})
    path = write(tmp_path / "x.parquet", table.replace_schema_metadata({"pandas": NOTED["deep"]}))
    with pytest.raises(recframe.RecframeError, match=f"cannot read {path}: .*recursion"):
        recframe.read_per_user(path)


def test_links_that_do_not_say_where_they_lead(tmp_path, monkeypatch):
    """The refusal of a broken link works even if the link has no readable target."""
    (tmp_path / "fd").symlink_to(tmp_path / "none")

    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr(os, "readlink", refuse)
    with pytest.raises(recframe.RecframeError, match="fd: it is a symbolic link, which does not"):
        recframe.evaluate(tmp_path)
