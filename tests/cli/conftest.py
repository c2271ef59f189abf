"""Files that several test modules of the command line read."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Write a shuffled file of 20,000 rows and 900 users, some without relevance."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "user": pd.Categorical(rng.integers(0, 900, 20_000).astype(str)),
            "score": rng.random(20_000),
            "relevant": rng.random(20_000) < 0.05,
        }
    )
    path = tmp_path_factory.mktemp("large") / "run.parquet"
    frame.to_parquet(path, row_group_size=1000)
    return path


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Make the current folder one with runs, truth and other names of them, and return it."""
    frame = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [0.5, 0.4], "relevant": [1, 0]})
    for name in ("runs/a.parquet", "runs/b.parquet", "truth/t.parquet", "run.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        frame.assign(user=ord(name[-9])).to_parquet(tmp_path / name)
    (tmp_path / "soft.parquet").symlink_to("runs/a.parquet")
    (tmp_path / "hard.parquet").hardlink_to(tmp_path / "runs/a.parquet")
    (tmp_path / "folder").symlink_to("runs")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path
