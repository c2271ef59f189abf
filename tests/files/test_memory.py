"""Blocks fit the memory by the bytes of their rows, for ids of any length."""

import gzip
import re
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recframe
from files.layouts import evaluate_as_in_memory, one_sorted_file, shuffled_file
from recframe import scanned
from recframe.files import blocks, row_groups
from recframe.files.batches import batch_bytes
from recframe.files.footers import ROW_BYTES, SCORE_BYTES

MEMORY = 1 << 19


@pytest.mark.parametrize("use_dictionary", [False, True])
@pytest.mark.parametrize("role", ["user", "item"])
def test_blocks_of_long_ids_fit_the_memory(tmp_path, monkeypatch, spills, role, use_dictionary):
    """Long ids with a common beginning are partitioned, and each is in memory once."""
    rows = np.random.default_rng(0).permutation(4_000)
    ids = {"user": rows // 10, "item": rows % 10}
    texts = np.array([f"{'x' * 1000}{number:024}" for number in range(400)])
    ids[role] = pa.array(texts[ids["user"] if role == "user" else rows % 400])
    table = pa.table({**ids, "score": rows, "relevant": rows % 7 == 0})
    path = tmp_path / "0.parquet"
    pq.write_table(table, path, row_group_size=2_000, use_dictionary=use_dictionary)
    sizes = []

    def note(batches, files):
        held = list(batches)
        sizes.append(sum(batch_bytes(batch, ROW_BYTES + SCORE_BYTES) for batch in held))
        return make_frame(held, files)

    make_frame = blocks.make_frame
    monkeypatch.setattr(blocks, "make_frame", note)
    evaluate_as_in_memory(tmp_path, short="pad", memory=MEMORY)

    assert spills
    assert max(sizes) <= MEMORY
    assert 3 < len(sizes) < 200


@pytest.mark.parametrize("layout", [one_sorted_file, shuffled_file])
@pytest.mark.parametrize("memory", [20_000, "1GiB"])
def test_long_items(large, tmp_path, layout, memory):
    """Each long item is in memory once, and tables and refusals stay the same."""
    items = large.groupby("user").cumcount().map(lambda number: f"{number:0100}")
    truth = large[["user"]].assign(item=items)[::3]
    truth.to_parquet(tmp_path / "truth.parquet")
    folder = tmp_path / "files"
    folder.mkdir()
    layout(large.drop(columns="relevant").assign(item=items), folder)
    options = {
        "population": "all",
        "truth": tmp_path / "truth.parquet",
        "relevant": None,
        "short": "pad",
    }
    evaluate_as_in_memory(folder, memory=memory, **options)
    layout(large.assign(item="x" * 100), folder)
    with pytest.raises(recframe.RecframeError, match="'user' and 'item' must occur once"):
        recframe.evaluate(folder, "recall@1", memory=memory, short="pad")
    layout(large.assign(item=items.where(large.index != 7)), folder)
    with pytest.raises(recframe.RecframeError, match="item='item': ids must not be null, but"):
        recframe.evaluate(folder, "recall@1", memory=memory, short="pad")
    evaluate_as_in_memory(folder, memory=memory, short="pad", missing="drop")


def test_columns_whose_pages_have_no_room(large, tmp_path, monkeypatch):
    """Too many columns in a row group are refused with the memory that suffices."""
    monkeypatch.setattr(row_groups, "FREE", 1 << 18)
    scores = {f"score_{number}": large["other_score"] + number for number in range(20)}
    rows = large.assign(**scores)
    rows.to_parquet(tmp_path / "0.parquet", row_group_size=200)

    with pytest.raises(recframe.RecframeError, match=r"has 2\d columns to read at once") as refusal:
        recframe.evaluate(tmp_path, "recall@1", memory="1MB")
    (least,) = re.findall(r"[Pp]ass memory='([0-9]+MB)' or more", str(refusal.value))
    evaluate_as_in_memory(tmp_path, short="pad", memory=least)


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("role", ["user", "item"])
def test_a_dictionary_that_has_no_room(tmp_path, monkeypatch, role):
    """Too large a dictionary is refused before it is read, with the memory that suffices."""
    monkeypatch.setattr(row_groups, "FREE", 1 << 20)
    rows = np.arange(4_000)
    texts = pa.array([f"{'x' * 1000}{number:024}" for number in range(400)])
    ids = {"user": rows // 10, "item": rows % 10}
    ids[role] = pa.DictionaryArray.from_arrays(rows // 10 if role == "user" else rows % 400, texts)
    path = tmp_path / "0.parquet"
    table = pa.table({**ids, "score": rows, "relevant": rows % 7 == 0})
    pq.write_table(table, path, compression="none", dictionary_pagesize_limit=1 << 20)

    with pytest.raises(
        recframe.RecframeError, match=rf"0.parquet has about .* '{role}'"
    ) as refusal:
        recframe.evaluate(path, "recall@1", memory="1MB")
    (least,) = re.findall(r"[Pp]ass memory='([0-9]+MB)' or more", str(refusal.value))
    pd.testing.assert_frame_equal(
        recframe.evaluate(path, "recall@1", memory=least), recframe.evaluate(path, "recall@1")
    )


LONG = {
    "csv": b'user,item,score,relevant\n1,1,0.5,1\n"%s",1,0.5,1\n',
    "jsonl": b'{"user": "%s", "item": 1, "score": 0.5, "relevant": 1}\n',
}


@pytest.mark.parametrize("argument", ["run", "truth", "exclude"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "jsonl.gz"])
def test_one_long_row_of_text(frame, tmp_path, ending, argument):
    """A row that is too long is refused with the file, its length and a remedy."""
    text = LONG[ending.split(".")[0]] % (b"x" * (19 << 20))
    path = tmp_path / f"long.{ending}"
    path.write_bytes(gzip.compress(text, 1) if ending.endswith("gz") else text)
    run = tmp_path / "run.parquet"
    frame.to_parquet(run)
    arguments = {"truth": {"relevant": None}}.get(argument, {})
    most, remedy = "16,777,216", "write it as parquet"
    if argument == "run":
        run, most, remedy = path, "2,097,152", f"pass memory of 34 MB or more, or {remedy}"
    else:
        arguments[argument] = path

    match = rf"long.{ending}: a row has more than {most} bytes, or a quote .* closed; {remedy}$"
    with pytest.raises(recframe.RecframeError, match=match):
        recframe.evaluate(run, "recall@1", memory="16MiB", **arguments)


@pytest.mark.parametrize("user", ["user", None])
@pytest.mark.parametrize("is_shuffled", [False, True])
def test_rows_of_one_user_that_have_no_room(tmp_path, monkeypatch, user, is_shuffled):
    """Too many rows of one user are refused with the memory that suffices."""
    monkeypatch.setattr(blocks, "ROOM", 0)
    number = np.arange(4_000)
    frame = pd.DataFrame({"user": number // 3_900, "item": number, "score": number % 97})
    frame["relevant"] = number % 7 == 0
    frame = frame.sample(frac=1, random_state=0) if is_shuffled else frame
    path = tmp_path / "0.parquet"
    frame.to_parquet(path, row_group_size=100)
    expected = recframe.evaluate(frame, "recall@1", user=user)

    with pytest.raises(recframe.RecframeError, match="memory must hold all rows of") as refusal:
        recframe.evaluate(path, "recall@1", user=user, memory=100_000)
    (least,) = re.findall(r"[Pp]ass memory='([0-9]+MB)' or more", str(refusal.value))
    pd.testing.assert_frame_equal(
        expected, recframe.evaluate(path, "recall@1", user=user, memory=least)
    )


def test_a_long_id_without_statistics(tmp_path, monkeypatch):
    """A text that may be as long as its column is refused before it is read."""
    monkeypatch.setattr(row_groups, "FREE", 1 << 20)
    path = tmp_path / "0.parquet"
    table = pa.table({"user": ["x" * 300_000, "a", "b"], "score": [3, 2, 1], "relevant": [1, 1, 0]})
    pq.write_table(table, path, use_dictionary=False)

    with pytest.raises(
        recframe.RecframeError, match=r"has about 300,.* bytes of .* 'user'"
    ) as error:
        recframe.evaluate(path, "recall@1", memory="1MB")
    (least,) = re.findall(r"[Pp]ass memory='([0-9]+MB)' or more", str(error.value))
    assert 3 == len(recframe.evaluate(path, "recall@1", memory=least))


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
def test_a_mean_holds_no_table_of_users(tmp_path):
    """A mean of a file takes less memory than the ids and values of its users."""
    n_users = 200_000
    frame = pd.DataFrame({"user": np.random.default_rng(0).permutation(n_users), "score": 1.0})
    path = tmp_path / "0.parquet"
    frame.assign(relevant=1).to_parquet(path, row_group_size=20_000)
    accessor = recframe.scan(path, memory="1MB")(short="pad")
    accessor.mean("recall@1")
    tracemalloc.start()
    try:
        found = accessor.mean("recall@1")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert 1 == found.loc["score", "recall@1"]
    assert peak < n_users * 16


def test_a_catalogue_that_has_no_room(tmp_path, monkeypatch):
    """Counts of items that do not fit are refused with the memory that suffices."""
    monkeypatch.setattr(scanned, "ROOM", 0)
    number = np.random.default_rng(0).permutation(20_000)
    frame = pd.DataFrame({"user": number // 10, "item": number, "score": number % 97})
    path = tmp_path / "0.parquet"
    frame.to_parquet(path, row_group_size=2_000)

    with pytest.raises(recframe.RecframeError, match="memory must hold the counts for") as refusal:
        recframe.scan(path, memory="1MB").catalogue(5)
    (least,) = re.findall(r"[Pp]ass memory='([0-9]+MB)' or more", str(refusal.value))
    pd.testing.assert_frame_equal(
        frame.rec.catalogue(5), recframe.scan(path, memory=least).catalogue(5)
    )
