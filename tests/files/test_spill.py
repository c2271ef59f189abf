"""Rows partitioned by user in a temporary file."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
from files.layouts import FEW, SMALL, giant_user, one_sorted_file, only_one_user, shuffled_file
from recframe.files.blocks import Spill


def test_what_is_still_too_large_is_spilled_again(large, tmp_path, spills):
    """Too large a bucket is partitioned again by other bits, unless it is one giant user."""
    shuffled_file(large, tmp_path)
    recframe.evaluate(tmp_path, FEW, short="pad", memory=1)

    assert 1 < len(spills)
    spills.clear()
    giant_user(large, tmp_path)
    recframe.evaluate(tmp_path, FEW, short="pad", memory=SMALL)
    assert 1 == len(spills)
    spills.clear()
    only_one_user(large, tmp_path)
    recframe.evaluate(tmp_path, FEW, short="pad", memory=SMALL)
    assert [] == spills


@pytest.mark.parametrize("level", [0, 1])
def test_a_bucket_holds_whole_users_in_the_order_written(level):
    """All rows of a user are in one bucket, in order, and levels group users differently."""
    user = np.random.default_rng(0).integers(0, 50, 400)
    batch = pa.record_batch({"user": user, "row": np.arange(400)})
    spill = Spill(None, batch.schema, ["user"], 8, level)
    spill.add(spill.divide(batch.slice(0, 100)))
    spill.add(spill.divide(batch.slice(100)))
    buckets = [pa.Table.from_batches(spill.read_bucket(bucket)).to_pandas() for bucket in range(8)]
    spill.close()

    assert spill.n_rows.tolist() == [len(bucket) for bucket in buckets]
    assert list(range(400)) == sorted(row for bucket in buckets for row in bucket["row"])
    assert all(bucket["row"].is_monotonic_increasing for bucket in buckets)
    assert len(set(user)) == sum(bucket["user"].nunique() for bucket in buckets)


@pytest.mark.parametrize("layout", [one_sorted_file, shuffled_file])
def test_nothing_is_seen_of_the_temporary_file(large, tmp_path, layout):
    """The temporary file has no name, even while it is in use."""
    (tmp_path / "files").mkdir()
    (tmp_path / "tmp").mkdir()
    layout(large, tmp_path / "files")
    tables = recframe.iter_evaluate(
        tmp_path / "files", FEW, short="pad", memory=SMALL, tmp=tmp_path / "tmp"
    )
    next(tables)

    assert [] == list((tmp_path / "tmp").iterdir())


def test_the_temporary_file_is_closed(large, tmp_path, spills):
    """The temporary file is closed after the last block, or when the caller stops."""
    shuffled_file(large, tmp_path)
    tables = recframe.iter_evaluate(tmp_path, FEW, short="pad", memory=SMALL)
    next(tables)

    assert [False] == [spill.closed for spill in spills]
    tables.close()
    assert [True] == [spill.closed for spill in spills]


def test_the_next_level_parts_the_users_of_one_bucket():
    """The next level spreads the users of one bucket over several."""
    batch = pa.record_batch({"user": np.arange(6400)})
    spill = Spill(None, batch.schema, ["user"], 8, 0)
    spill.add(spill.divide(batch))
    (bucket,) = spill.read_bucket(3)
    spill.close()
    sizes = []
    for level in (1, 2, 3):
        again = Spill(None, batch.schema, ["user"], 8, level)
        again.add(again.divide(bucket))
        sizes.append(again.n_rows)
        again.close()

    assert 700 < spill.n_rows[3] < 900
    assert np.all((np.array(sizes) > 60) & (np.array(sizes) < 140))


def test_users_that_are_text_in_rows_written_one_after_the_other():
    """All rows of a user are in one bucket, in order, for any texts in the batches."""
    rng = np.random.default_rng(0)
    batches, texts = [], []
    for beginning in ("", "user", "", "shop/of/someone/", "é" * 99, "user"):
        names = [f"{beginning}{number}" for number in range(95, 105)] + ["user99", "100"]
        users = rng.choice(names, 200)
        rows = np.arange(len(texts), len(texts) + 200)
        batches.append(pa.record_batch({"user": pa.array(users), "row": rows}))
        texts += users.tolist()
    spill = Spill(None, batches[0].schema, ["user"], 4, 0)
    for batch in batches:
        spill.add(spill.divide(batch))
    buckets = [pa.Table.from_batches(spill.read_bucket(bucket)).to_pandas() for bucket in range(4)]
    spill.close()

    assert spill.n_rows.tolist() == [len(bucket) for bucket in buckets]
    assert all(bucket["row"].is_monotonic_increasing for bucket in buckets)
    assert all(texts[row] == user for bucket in buckets for user, row in bucket.to_numpy())
    assert len(set(texts)) == sum(bucket["user"].nunique() for bucket in buckets)


@pytest.mark.filterwarnings("ignore:each of 40,000 users has one row")
def test_rows_are_partitioned_in_large_pieces(tmp_path, monkeypatch):
    """Rows are divided in batches with some rows for every bucket, even in little memory."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"user": rng.permutation(40_000), "score": 1.0, "relevant": 1})
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=1000)
    sizes, divide = [], Spill.divide

    def note(spill, batch):
        sizes.append(batch.num_rows)
        return divide(spill, batch)

    monkeypatch.setattr(Spill, "divide", note)
    recframe.evaluate(tmp_path / "rows.parquet", "recall@1", memory="1MiB")

    assert 40_000 == sum(sizes)
    assert len(sizes) <= 16
