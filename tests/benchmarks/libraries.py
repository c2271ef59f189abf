"""Compare recframe with engines and libraries: seconds from a DataFrame to a mean recall@10.

python -m tests.benchmarks.libraries --rows 1000000 --repeat 3 --output examples/speed.csv

Each library gets the frame, and the conversion that it needs is part of its time. A first call,
which compiles and loads, is not. The environment needs the groups bench and others. The first line
of the file names the machine, the versions and the day.
"""

import argparse
import datetime
import os
import platform
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from tests.benchmarks import data, engines

METRIC = "recall@10"


def main():
    """Measure all installed libraries in turns, and print or write the medians."""
    options = arguments()
    frame = data.make(options.rows, ids="str", shuffled=True)
    calls, missing = {}, []
    for name, call in CALLS.items():
        try:
            value = call(frame)
        except ImportError:
            missing.append(name)
            continue
        calls[name] = lambda call=call: call(frame)
        expected = CALLS["recframe"](frame)
        if abs(value - expected) > 1e-6:
            raise SystemExit(f"{name}: {value} is not {expected}")
    medians = pd.Series(engines.medians(calls, options.repeat)).sort_values()
    table = pd.DataFrame(
        {"seconds": (medians / 1e3).round(4), "ratio": (medians / medians["recframe"]).round(1)}
    )
    table = table.rename_axis("with").reset_index()
    print(f"{options.rows:,} rows, {frame['user'].nunique():,} users; missing: {missing or 'none'}")
    print(table.to_string(index=False), describe_machine(), sep="\n")
    if options.output:
        text = f"# {describe_machine()}\n{table.to_csv(index=False)}"
        Path(options.output).write_text(text, encoding="utf-8")


def describe_machine():
    """Return the processor, the versions of Python and of the libraries of tables, and the day."""
    processor = platform.processor() or platform.machine()
    if (known := Path("/proc/cpuinfo")).exists():
        names = [line for line in known.read_text().splitlines() if line.startswith("model name")]
        processor = names[0].partition(":")[2].strip() if names else processor
    packages = ("pandas", "numpy", "pyarrow", "polars", "duckdb")
    return ", ".join(
        [
            f"{processor} with {os.cpu_count()} cores",
            f"Python {platform.python_version()}",
            *(f"{name} {version(name)}" for name in packages),
            f"{datetime.date.today()}",
        ]
    )


def arguments():
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.libraries", description=__doc__
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--output", help="a csv file")
    return parser.parse_args()


def recframe_mean(frame):
    """Return the mean by the accessor."""
    import recframe  # noqa: F401 - registers df.rec

    return frame.rec(short="pad").mean(METRIC).iloc[0, 0]


def apply_mean(frame):
    """Return the mean by a loop as blog posts have it."""

    def recall(rows):
        n_relevant = rows["relevant"].sum()
        hits = rows.sort_values("score", ascending=False)["relevant"].head(10).sum()
        return hits / n_relevant if n_relevant else float("nan")

    return frame.groupby("user")[["score", "relevant"]].apply(recall).mean()


def pandas_mean(frame):
    """Return the mean by one sort and two sums by user in pandas."""
    ranked = frame.sort_values("score", ascending=False)
    hits = ranked.groupby("user").head(10).groupby("user")["relevant"].sum()
    n_relevant = frame.groupby("user")["relevant"].sum()
    return (hits / n_relevant.where(n_relevant > 0)).mean()


def polars_mean(frame):
    """Return the mean by a sort, and a sum of the first rows of each group, in Polars."""
    import polars as pl

    relevant = pl.col("relevant").cast(pl.Int64)
    first = relevant.sort_by("score", descending=True).head(10).sum()
    table = pl.from_pandas(frame[["user", "score", "relevant"]]).lazy().group_by("user")
    recalls = table.agg(first / relevant.sum().cast(pl.Float64)).collect()["relevant"]
    return recalls.fill_nan(None).mean()


def duckdb_mean(frame):
    """Return the mean by a window over each user in DuckDB."""
    import duckdb

    return duckdb.sql(
        """
        with ranked as (
            select user, relevant::int as hit,
                row_number() over (partition by user order by score desc) as position
            from frame
        ), users as (
            select sum(hit) filter (position <= 10) / nullif(sum(hit), 0) as recall
            from ranked group by user
        )
        select avg(recall) from users
        """
    ).fetchall()[0][0]


def ranx_mean(frame):
    """Return the mean by ranx, from its Qrels and Run."""
    import ranx

    frame = frame.assign(item=as_text).astype({"user": object, "item": object})
    judged = frame[frame["relevant"].astype(bool)].assign(relevant=1)
    names = {"q_id_col": "user", "doc_id_col": "item"}
    qrels = ranx.Qrels.from_df(judged, **names, score_col="relevant")
    run = ranx.Run.from_df(frame, **names, score_col="score")
    return ranx.evaluate(qrels, run, METRIC, make_comparable=True)


def pytrec_eval_mean(frame):
    """Return the mean by pytrec_eval, from its dicts of dicts."""
    import pytrec_eval

    frame = frame.assign(item=as_text, relevant=frame["relevant"].astype(int))
    judged = frame[frame["relevant"] > 0]
    qrels, run = {}, {}
    for user, item, relevant in zip(
        judged["user"], judged["item"], judged["relevant"], strict=True
    ):
        qrels.setdefault(user, {})[item] = relevant
    for user, item, score in zip(frame["user"], frame["item"], frame["score"], strict=True):
        run.setdefault(user, {})[item] = score
    values = pytrec_eval.RelevanceEvaluator(qrels, {"recall.10"}).evaluate(run)
    return sum(value["recall_10"] for value in values.values()) / len(qrels)


def ir_measures_mean(frame):
    """Return the mean by ir_measures, from its frames of runs and qrels."""
    import ir_measures
    from ir_measures import R

    names = {"user": "query_id", "item": "doc_id", "relevant": "relevance"}
    named = frame.assign(item=as_text, relevant=frame["relevant"].astype(int)).rename(columns=names)
    judged = named.loc[named["relevance"] > 0, list(names.values())]
    run = named[["query_id", "doc_id", "score"]]
    return ir_measures.calc_aggregate([R @ 10], judged, run)[R @ 10]


def rectools_mean(frame):
    """Return the mean by RecTools, from its frames of recommendations and interactions."""
    from rectools.metrics import Recall

    ranked = frame.sort_values(["user", "score"], ascending=[True, False])
    ranked = ranked.rename(columns={"user": "user_id", "item": "item_id"})
    ranked["rank"] = ranked.groupby("user_id").cumcount() + 1
    return Recall(k=10).calc(ranked, ranked[ranked["relevant"].astype(bool)])


def as_text(frame):
    """Return the items as text, because some libraries need it."""
    return frame["item"].astype(str)


CALLS = {
    "recframe": recframe_mean,
    "pandas groupby.apply": apply_mean,
    "pandas, one sort": pandas_mean,
    "Polars": polars_mean,
    "DuckDB": duckdb_mean,
    "ranx": ranx_mean,
    "pytrec_eval": pytrec_eval_mean,
    "ir_measures": ir_measures_mean,
    "RecTools": rectools_mean,
}

if __name__ == "__main__":
    main()
