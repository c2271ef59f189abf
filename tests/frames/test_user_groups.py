"""Rows by user: which rows are whose, whatever holds the ids."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from recframe.frames.id_runs import text_run_bounds


@pytest.mark.parametrize("rows_per_chunk", [1 << 20, 7])
@pytest.mark.parametrize("dtype", ["str", "string", "string[pyarrow]", object])
@pytest.mark.parametrize("n_runs", [1, 50])
def test_text_users(dtype, n_runs, rows_per_chunk, monkeypatch):
    """Text ids are grouped alike whatever holds them, in runs or not, in slices or not."""
    monkeypatch.setattr("recframe.kernel.threads.ROWS_PER_CHUNK", rows_per_chunk)
    monkeypatch.setattr("recframe.kernel.threads.n_processors", lambda: 3)
    users = np.repeat([f"u{n % 20:02}" for n in np.random.default_rng(2).permutation(60)], n_runs)
    frame = pd.DataFrame({"user": pd.Series(users, dtype=dtype)})
    frame = frame.assign(score=np.arange(len(frame)) % 11, relevant=np.arange(len(frame)) % 3 == 0)
    codes = frame.assign(user=[int(user[1:]) for user in users])
    table = frame.rec(short="pad", zero_division=0.0).recall(k=2)

    assert [f"u{n:02}" for n in range(20)] == table.index.tolist()
    assert frame["user"].dtype == table.index.dtype
    assert (
        codes.rec(short="pad", zero_division=0.0).recall(k=2)["score"].tolist()
        == table["score"].tolist()
    )


@pytest.mark.parametrize("lengths", [[1], [9], [1, 8, 7], [3] * 30, [1] * 40, [16, 16, 1]])
@pytest.mark.parametrize("rows_per_chunk", [1 << 20, 7])
def test_bounds_of_runs_of_texts(lengths, rows_per_chunk, monkeypatch):
    """Runs are found whatever their lengths, cut into slices or not, of a slice of texts too."""
    monkeypatch.setattr("recframe.kernel.threads.ROWS_PER_CHUNK", rows_per_chunk)
    monkeypatch.setattr("recframe.kernel.threads.n_processors", lambda: 3)
    texts = np.repeat([f"u{n % 3}" for n in range(len(lengths))], lengths).tolist()

    bounds = text_run_bounds(pa.array(["before", *texts, "after"])[1:-1])
    assert [0, *np.cumsum(lengths)] == bounds.tolist()


@pytest.mark.parametrize("ids", ["u{}", "u-{}", "a long name {}"])
@pytest.mark.parametrize("is_shuffled", [False, True])
@pytest.mark.parametrize("dtype", ["str", object])
def test_short_and_long_text_users(ids, is_shuffled, dtype, monkeypatch):
    """Users that are text are in order, whether integers stand for them or not."""
    monkeypatch.setattr("recframe.frames.keys.SOME", 1)
    numbers = np.repeat(np.random.default_rng(3).permutation(120)[:40], 5)
    if is_shuffled:
        np.random.default_rng(4).shuffle(numbers)
    rows = pd.DataFrame({"user": numbers, "score": np.arange(200) % 7, "relevant": numbers % 3 < 2})
    rows["relevant"] &= np.arange(200) % 2 == 0
    texts = rows.assign(user=pd.Series([ids.format(n) for n in numbers], dtype=dtype))
    expected = rows.rec.dcg(k=3)
    expected.index = pd.Index([ids.format(n) for n in expected.index], dtype=dtype, name="user")

    pd.testing.assert_frame_equal(expected.sort_index(), texts.rec.dcg(k=3))


@pytest.mark.parametrize("dtype", ["int64", "str"])
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_runs_at_one_end_only(dtype, order, monkeypatch):
    """Whether the first ids come in runs or not, all rows of a user are found."""
    monkeypatch.setattr("recframe.frames.id_runs.N_SAMPLED", 8)
    runs, mixed = np.repeat([3, 1, 2], 20), np.tile([2, 3, 1], 4)
    users = np.concatenate([[runs, mixed][part] for part in order])
    frame = pd.DataFrame({"user": users}).astype(dtype)
    frame = frame.assign(score=np.arange(len(frame)) % 7, relevant=np.arange(len(frame)) % 3 == 0)
    alone = [frame[frame["user"] == user].rec.recall(k=5) for user in sorted(set(frame["user"]))]

    pd.testing.assert_frame_equal(pd.concat(alone), frame.rec.recall(k=5))
