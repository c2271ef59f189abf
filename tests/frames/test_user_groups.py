"""Rows by user: which rows are whose, whatever holds the ids."""

import numpy as np
import pandas as pd
import pytest


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


@pytest.mark.parametrize("dtype", ["int64", "str"])
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_runs_at_one_end_only(dtype, order, monkeypatch):
    """Whether the first ids come in runs or not, all rows of a user are found."""
    monkeypatch.setattr("recframe.frames.user_groups.N_SAMPLED", 8)
    runs, mixed = np.repeat([3, 1, 2], 20), np.tile([2, 3, 1], 4)
    users = np.concatenate([[runs, mixed][part] for part in order])
    frame = pd.DataFrame({"user": users}).astype(dtype)
    frame = frame.assign(score=np.arange(len(frame)) % 7, relevant=np.arange(len(frame)) % 3 == 0)
    alone = [frame[frame["user"] == user].rec.recall(k=5) for user in sorted(set(frame["user"]))]

    pd.testing.assert_frame_equal(pd.concat(alone), frame.rec.recall(k=5))
