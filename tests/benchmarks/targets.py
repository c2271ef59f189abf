"""Print the table of targets: recframe and a peer, case by case, and its serial share."""

import os
import statistics
import tempfile
from functools import partial
from itertools import product
from pathlib import Path

import pandas as pd

from tests.benchmarks import analysis, data, duplicates, engines, memory, truth
from tests.benchmarks.engines import K, recframe_call, rounds

OURS = "recframe"
HITS = f"Polars hits@{K}"
CONVERTED = "with from_pandas"
# These compute precision, recall and R-precision, as recframe does.
FAIR = "Polars fair", "DuckDB fair"
# The name under which a target in milliseconds is listed, among the peers.
MILLISECONDS = "ms"
# Each peer takes a frame and a number of threads.
PEERS = {
    HITS: lambda frame, threads: engines.polars_call(frame),
    CONVERTED: lambda frame, threads: lambda: engines.polars_call(frame)(),
    "read": lambda frame, threads: engines.read_call(frame),
    FAIR[0]: lambda frame, threads: engines.polars_fair(frame),
    FAIR[1]: engines.duckdb_fair,
}
# A small frame has this many rounds for each round of a large one.
SMALL_ROUNDS = 20


def print_table(options):
    """Print a line for every case and peer, and free a case's frames before the next."""
    print(
        f"{options.rows:,} rows, {options.threads} threads, median of {options.repeat} rounds, "
        f"load before {os.getloadavg()[0]:.1f}"
    )
    print(
        f"{'case':28}{'ms':>8}  {'peer':17}{'ms':>7}{'ratio':>6}{'target':>7}{'':>4}{'serial':>7}"
    )
    engines.check_agreement(data.make(100_000))
    engines.check_join_agreement(*truth.make(100_000, 10_000, "str", shuffled=False))
    for name, build in cases(options.rows, options.threads).items():
        if options.only in name:
            print_case(name, *build(), options)
    print(
        "serial: (n x wall - processor time) / (n - 1) of n threads, by recframe's processor\n"
        "time, which counts waiting for cores that others use. Files: tests.benchmarks.parquet.\n"
        "100M rows: --growth --shuffled --rows 100000000."
    )


def print_case(name, calls, targets, options):
    """Print recframe's time next to each peer's with its target, which may be None."""
    if MILLISECONDS in targets:
        times = rounds(calls, SMALL_ROUNDS * options.repeat, collect=False)
    else:
        times = rounds(calls, options.repeat)
    walls = {call: [wall for wall, _ in own] for call, own in times.items()}
    ours = statistics.median(walls[OURS])
    serial = statistics.median(serial_share(*own, options.threads) for own in times[OURS])
    for peer, target in targets.items():
        time, ratio = "", ours
        if peer != MILLISECONDS:
            time = f"{statistics.median(walls[peer]):,.0f}"
            ratio = statistics.median(a / b for a, b in zip(walls[OURS], walls[peer], strict=True))
        wanted, reached = "-", ""
        if target is not None:
            wanted, reached = target, "yes" if ratio <= target else "NO"
        print(
            f"{name:28}{ours:8,.1f}  {peer:17}{time:>7}{ratio:6.2f}{wanted:>7}{reached:>4}"
            f"{serial:7.0%}",
            flush=True,
        )


def serial_share(wall, processors, threads):
    """Return the share of processor time in which one thread works and the others wait."""
    if threads == 1:
        return 1.0
    return (threads * wall - processors) / (threads - 1) / processors


def cases(rows, threads):
    """Return for each name a function that makes the calls of a case and the peers' targets."""
    made = {}
    for name, arguments, targets in (
        ("grouped int64", {}, {HITS: 0.3}),
        ("grouped str", {"ids": "str"}, {HITS: 0.45}),
        ("10 rows a user", {"users": rows // 10}, {HITS: None, "read": 14}),
        ("shuffled int64", {"shuffled": True}, {HITS: 0.6}),
        (
            "shuffled int32, float32",
            {"shuffled": True, "ids": "int32", "scores": "float32"},
            {HITS: 0.7},
        ),
        ("shuffled category", {"shuffled": True, "ids": "category"}, {HITS: 0.7}),
        ("shuffled str", {"shuffled": True, "ids": "str"}, {HITS: 0.8}),
        *(
            (f"{order} object, {ids}", {"shuffled": order == "shuffled", "ids": ids}, targets)
            for (order, targets), ids in product(
                (("grouped", {CONVERTED: 0.8}), ("shuffled", {CONVERTED: 0.9})), data.OBJECTS
            )
        ),
    ):
        made[name] = partial(beside_peers, rows, arguments, targets, threads)
    for order in ("grouped", "shuffled"):
        made[f"fresh parquet, {order}"] = partial(of_fresh_frame, rows, order == "shuffled")
    for order, (items, target) in product(("grouped", "shuffled"), (("int32", 1.5), ("str", 2))):
        arguments = (rows, order == "shuffled", items, target)
        made[f"pairs checked, {order} {items}"] = partial(of_checked_pairs, *arguments)
    made["truth, int"] = partial(of_truth, rows, "int", 0.5, threads)
    made["truth, str"] = partial(of_truth, rows, "str", 0.85, threads)
    for metric in ("recall", "ndcg", "average_precision"):
        made[f"curve, {metric}"] = partial(of_curve, rows, metric)
    for small in (10, 300):
        made[f"{small} rows"] = partial(of_small_frame, small)
    return made


def beside_peers(rows, arguments, targets, threads):
    """Return the calls on one frame, which is converted for each peer beforehand.

    Objects are converted within the call, because peers cannot read them.
    """
    frame = data.make(rows, **arguments)
    peers = {peer: PEERS[peer](frame, threads) for peer in [*targets, *FAIR]}
    if CONVERTED in targets:
        peers |= {peer: lambda peer=peer: PEERS[peer](frame, threads)() for peer in FAIR}
    return {OURS: recframe_call(frame)} | peers, targets | dict.fromkeys(FAIR)


def of_fresh_frame(rows, shuffled):
    """Return the first call on a frame as read from parquet, and a later call."""
    folder, frames = tempfile.TemporaryDirectory(), {}
    path = Path(folder.name) / "run.parquet"
    data.make(rows, ids="str", shuffled=shuffled).to_parquet(path)

    def read():
        # The folder must exist as long as this function can be called.
        assert folder
        frames.clear()
        # A process that begins with reading has no free memory either.
        memory.release()
        frames["fresh"] = pd.read_parquet(path)

    def evaluate():
        return recframe_call(frames["fresh"])()

    calls = {"read_parquet": read, OURS: evaluate, "a later call": evaluate}
    return calls, {"a later call": 1.3, "read_parquet": None}


def of_checked_pairs(rows, shuffled, items, target):
    """Return a call that refuses repeated pairs, and one that does not look at items."""
    frame = data.make(rows, shuffled=shuffled)
    frame = frame.assign(item=duplicates.ITEMS[items](frame["item"].to_numpy()))
    return {OURS: recframe_call(frame, duplicates="raise"), "keep": recframe_call(frame)}, {
        "keep": target
    }


def of_truth(rows, ids, target, threads):
    """Return a call with a truth of a tenth as many pairs, and the joins of Polars and DuckDB."""
    recs, relevant = truth.make(rows, rows // 10, ids, shuffled=False)
    calls = {
        OURS: recframe_call(recs, truth=relevant, population="all"),
        "Polars join": engines.polars_join(recs, relevant),
        FAIR[0]: engines.polars_join_fair(recs, relevant),
        FAIR[1]: engines.duckdb_join_fair(recs, relevant, threads),
    }
    return calls, {"Polars join": target} | dict.fromkeys(FAIR)


def of_curve(rows, metric):
    """Return the curve of 50 cut-offs on tied ratings, and the value at a single cut-off."""
    bound = data.make(rows, scores="ratings").rec(short="pad")
    return {
        OURS: lambda: bound.curve(metric, k=analysis.CUT_OFFS),
        "one cut-off": lambda: bound.curve(metric, k=[10]),
    }, {"one cut-off": 1.6}


def of_small_frame(rows):
    """Return the call on a small frame."""
    return {OURS: recframe_call(data.make(rows, max(2, rows // 30)))}, {MILLISECONDS: 0.8}
