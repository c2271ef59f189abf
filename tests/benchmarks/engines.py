"""Make the same call for each engine and time it; every function returns something to call."""

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
    """Return the median milliseconds of each call."""
    return {
        name: statistics.median(wall for wall, _ in own)
        for name, own in rounds(calls, repeat).items()
    }


def rounds(calls, repeat, *, collect=True):
    """Return the milliseconds of each call and of processors, in the order A B C A B C ...

    Collecting garbage before each call leaves its caches cold, which matters for small frames.
    """
    times = {name: [] for name in calls}
    for _ in range(repeat):
        for name, call in calls.items():
            if collect:
                gc.collect()
            start = time.perf_counter(), time.process_time()
            result = call()
            end = time.perf_counter(), time.process_time()
            times[name].append([1e3 * (b - a) for a, b in zip(start, end, strict=True)])
            del result
    return times


def cut_offs(n_cut_offs):
    """Return the metrics at k = 4, or precision and recall at 1 to n and R-precision."""
    if n_cut_offs == 1:
        return METRICS
    cuts = range(1, n_cut_offs + 1)
    return (*(f"{name}@{k}" for k in cuts for name in ("precision", "recall")), "r_precision")


def recframe_call(frame, metrics=METRICS, **options):
    """Return a call of recframe, from a DataFrame to the per-user table.

    The call does not look at items by default, like its peers.
    """
    options = {"short": "pad", "duplicates": "keep"} | options
    return lambda: recframe.evaluate(frame, metrics, **options)


def read_call(frame):
    """Return a read of the three columns in one pass: NumPy's sum, one thread."""
    arrays = [array for name in USED for array in buffers(frame[name])]
    return lambda: [array.sum() for array in arrays]


def buffers(column):
    """Return the arrays that store a column: values, codes, or buffers of strings."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return [column.cat.codes.to_numpy()]
    if not pd.api.types.is_string_dtype(column.dtype):
        return [column.to_numpy()]
    chunks = pa.chunked_array(pa.array(column)).chunks
    found = [buffer for chunk in chunks for buffer in chunk.buffers() if buffer is not None]
    return [np.frombuffer(buffer, np.uint64, count=buffer.size // 8) for buffer in found]


def polars_call(frame, engine="in-memory"):
    """Return Polars' hits@4 and R of each user, from a Polars frame built beforehand.

    This is the fastest of six formulations (top_k_by, a filter by top_k, sort then head, ...).
    """
    hits = pl.col("relevant").sort_by("score", descending=True).head(K).sum()
    query = polars_frame(frame).group_by("user").agg(hits=hits, n_relevant=pl.col("relevant").sum())
    return lambda: query.collect(engine=engine)


def polars_frame(frame):
    """Return the used columns as a lazy frame of Polars."""
    return pl.from_pandas(frame[USED]).lazy()


def polars_fair(frame):
    """Return Polars' precision, recall and R-precision of each user, from a frame built beforehand.

    Each user's list is sorted once. Two sort_by in one agg take 1.7 times as long, a sort of all
    rows takes twice as long, and ranks over users 2.7 times (3M rows).
    """
    best = polars_frame(frame).group_by("user")
    return polars_metrics(
        best.agg(
            best=pl.col("relevant").sort_by("score", descending=True),
            n_relevant=pl.col("relevant").sum(),
        )
    ).collect


def polars_metrics(query):
    """Return the metrics of a query that has each user's list, best first, and relevant items."""
    hits = pl.col("best").list.head(K).list.sum()
    hits_at_relevant = pl.col("best").list.head("n_relevant").list.sum()
    return query.select(
        "user",
        precision=hits / K,
        recall=hits / pl.col("n_relevant"),
        r_precision=hits_at_relevant / pl.col("n_relevant"),
    )


def polars_join(frame, truth):
    """Return Polars' hits@4 and R of each user by a join with the pairs of truth."""
    joined, n_relevant = polars_joined(frame, truth)
    hits = pl.col("relevant").sort_by("score", descending=True).head(K).sum()
    return joined.agg(hits=hits).join(n_relevant, on="user", how="left").collect


def polars_join_fair(frame, truth):
    """Return Polars' precision, recall and R-precision of each user by the same join."""
    joined, n_relevant = polars_joined(frame, truth)
    best = pl.col("relevant").sort_by("score", descending=True)
    query = joined.agg(best=best).join(n_relevant, on="user", how="left")
    return polars_metrics(query.with_columns(pl.col("n_relevant").fill_null(0))).collect


def polars_joined(frame, truth):
    """Return a lazy query of rows with relevance by user, and of users' relevant items."""
    rows, pairs = pl.from_pandas(frame).lazy(), pl.from_pandas(truth).lazy()
    joined = rows.join(pairs.with_columns(relevant=True), on=["user", "item"], how="left")
    return joined.group_by("user"), pairs.group_by("user").len("n_relevant")


def duckdb_fair(frame, threads):
    """Return DuckDB's precision, recall and R-precision of each user, from an Arrow table.

    Sorted lists take 0.8 times as long as this window if rows are grouped by user, and 1.5 times
    if they are shuffled (3M rows).
    """
    query = f"""
        SELECT user, sum(relevant) FILTER (place <= {K}) / {K} AS precision,
               sum(relevant) FILTER (place <= {K}) / sum(relevant) AS recall,
               avg(relevant) FILTER (place <= n_relevant) AS r_precision
        FROM (SELECT user, relevant, sum(relevant) OVER (PARTITION BY user) AS n_relevant,
                     row_number() OVER (PARTITION BY user ORDER BY score DESC) AS place FROM t)
        GROUP BY user"""
    connection = duckdb_connection(frame, threads)
    return lambda: connection.sql(query).to_arrow_table()


def duckdb_join_fair(frame, truth, threads):
    """Return DuckDB's precision, recall and R-precision of each user by a join with truth."""
    query = f"""
        SELECT user, sum(relevant) FILTER (place <= {K}) / {K} AS precision,
               sum(relevant) FILTER (place <= {K}) / any_value(n_relevant) AS recall,
               sum(relevant) FILTER (place <= n_relevant) / any_value(n_relevant) AS r_precision
        FROM (SELECT user, (pairs.item IS NOT NULL)::INT AS relevant, n_relevant,
                     row_number() OVER (PARTITION BY user ORDER BY score DESC) AS place
              FROM t LEFT JOIN pairs USING (user, item)
              LEFT JOIN (SELECT user, count(*) AS n_relevant FROM pairs GROUP BY user) USING (user))
        GROUP BY user"""
    connection = duckdb.connect(config={"threads": threads})
    for name, table in {"t": frame, "pairs": truth}.items():
        connection.register(name, pa.Table.from_pandas(table, preserve_index=False))
    return lambda: connection.sql(query).to_arrow_table()


def duckdb_connection(frame, threads):
    """Return a connection in which the used columns are the Arrow table t."""
    connection = duckdb.connect(config={"threads": threads})
    connection.register("t", pa.Table.from_pandas(frame[USED], preserve_index=False))
    return connection


def duckdb_calls(frame, threads):
    """Return DuckDB's hits@4 and R of each user by `max_by` and by a window, from Arrow."""
    connection = duckdb_connection(frame, threads)
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
    """Return pandas' hits@4 and R of each user by a global sort and groupby.head."""

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
    """Return the notebook's groupby.apply on some users, and the factor from these to all users."""
    users = frame["user"].unique()
    chosen = frame[frame["user"].isin(users[:NOTEBOOK_USERS])]

    def recall(group):
        first = group.sort_values("score", ascending=False)["relevant"].head(K)
        return first.sum() / max(1, group["relevant"].sum())

    def call():
        return chosen.groupby("user", observed=True)[["score", "relevant"]].apply(recall)

    return call, max(1.0, len(users) / NOTEBOOK_USERS)


def check_agreement(frame):
    """Exit unless Polars and DuckDB have recframe's values for every user; scores must not tie."""
    peers = {"Polars": polars_fair(frame)(), "DuckDB": duckdb_fair(frame, 1)()}
    check_same(recframe_call(frame)(), peers)


def check_join_agreement(frame, truth):
    """Exit unless the joins have recframe's values for every user; scores must not tie."""
    peers = {
        "Polars": polars_join_fair(frame, truth)(),
        "DuckDB": duckdb_join_fair(frame, truth, 1)(),
    }
    check_same(recframe_call(frame, truth=truth, population="all")(), peers)


def check_same(table, peers):
    """Exit unless the other engines' tables have recframe's values, in any order of users."""
    found = table["score"]
    found.index = found.index.astype("str")
    for name, other in peers.items():
        values = other.to_pandas().set_index("user")
        values.index = values.index.astype("str")
        if not (
            len(values) == len(found)
            and np.allclose(found, values.reindex(found.index), rtol=0, atol=1e-9, equal_nan=True)
        ):
            raise SystemExit(f"recframe and {name} disagree")
