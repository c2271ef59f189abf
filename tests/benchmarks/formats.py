"""Compare the seconds of each format and source with a parquet file of the same rows.

Run it by hand: ``python -m tests.benchmarks.formats [ROWS]``. The sources are timed in turn, and
the ratios are medians of rounds.
"""

import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds

import recframe

ROUNDS = 5
PER_USER = 50


def make_rows(n_rows: int) -> pd.DataFrame:
    """Return rows in order of users, whose ids are text."""
    rng = np.random.default_rng(0)
    users = np.repeat(np.arange(n_rows // PER_USER), PER_USER)
    return pd.DataFrame(
        {
            "user": pd.Series(users).map("user-{:08}".format),
            "item": np.tile(np.arange(PER_USER), n_rows // PER_USER),
            "knn_score": rng.random(len(users)),
            "als_score": rng.random(len(users)),
            "relevant": rng.integers(0, 2, len(users)),
        }
    )


def write_all(rows: pd.DataFrame, folder: Path) -> dict[str, Callable[[], Any]]:
    """Write rows in all formats, and return a function for each source."""
    table = pa.Table.from_pandas(rows, preserve_index=False)
    rows.to_parquet(folder / "run.parquet", row_group_size=1 << 18)
    pyarrow.csv.write_csv(table, folder / "run.csv")
    rows.to_csv(folder / "run.csv.gz", index=False)
    rows.to_json(folder / "run.jsonl", orient="records", lines=True)
    rows.to_feather(folder / "run.feather")
    names = ("parquet", "csv", "csv.gz", "jsonl", "feather")
    sources: dict[str, Callable[[], Any]] = {
        name: lambda name=name: folder / f"run.{name}" for name in names
    }
    sources["dataset"] = lambda: ds.dataset(folder / "run.parquet")
    sources["dataset of csv"] = lambda: ds.dataset(folder / "run.csv", format="csv")
    sources["reader"] = lambda: table.to_reader(1 << 16)
    if importlib.util.find_spec("deltalake"):
        import deltalake

        deltalake.write_deltalake(str(folder / "delta"), table)
        sources["DeltaTable"] = lambda: deltalake.DeltaTable(str(folder / "delta"))
    return sources


def measure(sources: dict[str, Callable[[], Any]], memory: str) -> pd.DataFrame:
    """Return the seconds of each source, and the ratio to parquet."""
    seconds: dict[str, list[float]] = {name: [] for name in sources}
    for _ in range(ROUNDS):
        for name, make in sources.items():
            source, started = make(), time.perf_counter()
            recframe.evaluate(source, ["recall@10", "ndcg@10"], memory=memory)
            seconds[name].append(time.perf_counter() - started)
    pairs = {name: zip(own, seconds["parquet"], strict=True) for name, own in seconds.items()}
    ratios = {name: median(own / of for own, of in each) for name, each in pairs.items()}
    best = {name: median(own) for name, own in seconds.items()}
    return pd.DataFrame({"seconds": best, "of parquet": ratios}).round(2)


def main() -> None:
    """Print the table."""
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    with tempfile.TemporaryDirectory() as folder:
        sources = write_all(make_rows(n_rows), Path(folder))
        for memory in ("1GiB", "64MiB"):
            print(f"{n_rows:,} rows, memory={memory}, medians of {ROUNDS} rounds")
            print(measure(sources, memory).to_string())


if __name__ == "__main__":
    main()
