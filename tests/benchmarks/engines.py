"""The same question put to each engine, and the clock; every function returns something to call."""

import gc
import statistics
import time

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import recframe

K = 4
METRICS = (f"precision@{K}", f"recall@{K}", "r_precision")
USED = ["user", "score", "relevant"]
NOTEBOOK_USERS = 1_000


def medians(calls, repeat):
    """Return the median milliseconds of each call, the repeats interleaved: A B C A B C ..."""
    times = {name: [] for name in calls}
    for _ in range(repeat):
        for name, call in calls.items():
            gc.collect()
            start = time.perf_counter()
            result = call()
            times[name].append(1e3 * (time.perf_counter() - start))
            del result
    return {name: statistics.median(values) for name, values in times.items()}


def cut_offs(n_cut_offs):
    """Return the metrics at k = 4, or precision and recall at 1 to n and R-precision."""
    if n_cut_offs == 1:
        return METRICS
    cuts = range(1, n_cut_offs + 1)
    return (*(f"{name}@{k}" for k in cuts for name in ("precision", "recall")), "r_precision")


def recframe_call(frame, metrics=METRICS, **options):
    """Return recframe's call, DataFrame in and per-user table out.

    Like its peers it does not look at items, unless told to.
    """
    options = {"short": "pad", "duplicates": "keep"} | options
    return lambda: recframe.evaluate(frame, metrics, **options)


def read_call(frame):
    """Return the one-pass read of the three columns: NumPy's sum, one thread."""
    arrays = [array for name in USED for array in buffers(frame[name])]
    return lambda: [array.sum() for array in arrays]


def buffers(column):
    """Return the arrays behind a column: its values, its codes, or the buffers of its strings."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [column.cat.codes.to_numpy()]
    if not pd.api.types.is_string_dtype(column.dtype):
        return [column.to_numpy()]
    chunks = pa.chunked_array(pa.array(column)).chunks
    found = [buffer for chunk in chunks for buffer in chunk.buffers() if buffer is not None]
    return [np.frombuffer(buffer, np.uint64, count=buffer.size // 8) for buffer in found]


def polars_call(frame, engine="in-memory"):
    """Return Polars' hits@4 and R per user, from a Polars frame built beforehand.

    Of six formulations (top_k_by, a filter by top_k, sort then head, ...) this one is the fastest.
    """
    hits = pl.col("relevant").sort_by("score", descending=True).head(K).sum()
    query = (
        pl.from_pandas(frame[USED])
        .lazy()
        .group_by("user")
        .agg(hits=hits, n_relevant=pl.col("relevant").sum())
    )
    return lambda: query.collect(engine=engine)


def duckdb_calls(frame, threads):
    """Return DuckDB's hits@4 and R per user by `max_by` and by a window, from an Arrow table."""
    connection = duckdb.connect(config={"threads": threads})
    connection.register("t", pa.Table.from_pandas(frame[USED], preserve_index=False))
    max_by = f"""
        SELECT user, list_sum(max_by(relevant, score, {K})) AS hits, sum(relevant) AS n_relevant
        FROM t GROUP BY user"""
    window = f"""
        SELECT user, sum(relevant) FILTER (place <= {K}) AS hits, sum(relevant) AS n_relevant
        FROM (SELECT user, relevant,
                     row_number() OVER (PARTITION BY user ORDER BY score DESC) AS place FROM t)
        GROUP BY user"""
    return {
        "DuckDB max_by": lambda: connection.sql(max_by).to_arrow_table(),
        "DuckDB window": lambda: connection.sql(window).to_arrow_table(),
    }


def pandas_call(frame):
    """Return pandas' hits@4 and R per user by a global sort and groupby.head."""

    def call():
        ranked = frame.sort_values("score", ascending=False)
        top = ranked.groupby("user", sort=False, observed=True).head(K)
        by_user = {"by": "user", "observed": True}
        return pd.DataFrame(
            {
                "hits": top.groupby(**by_user)["relevant"].sum(),
                "n_relevant": frame.groupby(**by_user)["relevant"].sum(),
            }
        )

    return call


def notebook_call(frame):
    """Return the notebook's groupby.apply on some users, and the factor to all of them."""
    users = frame["user"].unique()
    chosen = frame[frame["user"].isin(users[:NOTEBOOK_USERS])]

    def recall(group):
        first = group.sort_values("score", ascending=False)["relevant"].head(K)
        return first.sum() / max(1, group["relevant"].sum())

    def call():
        return chosen.groupby("user", observed=True)[["score", "relevant"]].apply(recall)

    return call, max(1.0, len(users) / NOTEBOOK_USERS)


def check_agreement(frame):
    """Exit unless recframe's hits and R-precision fit Polars' hits and R; for untied scores."""
    found = recframe_call(frame)()["score"]
    found.index = found.index.astype("str")
    peer = polars_call(frame)().to_pandas().set_index("user")
    peer.index = peer.index.astype("str")
    peer = peer.reindex(found.index)
    defined = peer["n_relevant"] > 0
    recalled = found[METRICS[1]] * peer["n_relevant"]
    if not (
        len(found) == frame["user"].nunique()
        and np.allclose(K * found[METRICS[0]], peer["hits"], rtol=0, atol=1e-9)
        and np.allclose(recalled[defined], peer["hits"][defined], rtol=0, atol=1e-9)
        and recalled[~defined].isna().all()
    ):
        raise SystemExit("recframe and Polars disagree on the hits")
