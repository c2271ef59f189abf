"""Stores on this machine: a folder of rows, and servers of this folder."""

import numpy as np
import pandas as pd
import pytest

from stores.server import serving

SECRET = "T0PsecretK3y"


@pytest.fixture(autouse=True)
def _reached_directly(monkeypatch):
    """Remove proxies and other credentials from the environment."""
    for name in (
        "http_proxy",
        "https_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture(scope="session")
def rows():
    """Return 600 rows of 40 users with texts as ids, each user on one of two days."""
    rng = np.random.default_rng(3)
    users = [f"user {number:02}" for number in range(40)]
    frame = pd.DataFrame({"user": np.repeat(users, 15), "item": np.tile(np.arange(15), 40)})
    frame["score"], frame["relevant"] = rng.integers(0, 9, 600) / 8, rng.random(600) < 0.4
    return frame.assign(day=np.arange(600) // 15 % 2 + 1)


@pytest.fixture(scope="session")
def folder(rows, tmp_path_factory):
    """Return a folder with the bucket: files in folders of days, and files that are no data."""
    folder = tmp_path_factory.mktemp("stores")
    runs = folder / "bucket" / "runs"
    for number in range(4):
        path = runs / f"day={number % 2 + 1}" / f"{number} é.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        is_here = (rows["day"] == number % 2 + 1) & (rows.index % 2 == number // 2)
        part = rows[is_here].drop(columns="day")
        part.to_parquet(path, row_group_size=40, index=False)
    (runs / "_SUCCESS").touch()
    (runs / "day=1" / ".note").touch()
    held = rows[rows["relevant"]]
    held[["user", "item"]].to_parquet(folder / "bucket" / "truth.parquet")
    rows[::7][["user", "item"]].to_parquet(folder / "bucket" / "seen.parquet")
    return folder


@pytest.fixture
def server(folder):
    """Yield a server that answers like S3 and like the web."""
    with serving(folder) as server:
        yield server


@pytest.fixture
def uri(server):
    """Return a function that makes a URI of S3, with credentials in it."""
    return lambda key: f"s3://key:{SECRET}@bucket/{key}?{server.query}"


@pytest.fixture
def kept(folder):
    """Return a filesystem memory:// of fsspec with the same bucket."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.put(str(folder / "bucket"), "/bucket", recursive=True)
    yield memory
    memory.rm("/bucket", recursive=True)
