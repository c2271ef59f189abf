"""Print the tables: the peers on one frame, the cases and their targets, and the growth."""

import os
import statistics

from tests.benchmarks import data, engines, memory
from tests.benchmarks.engines import medians, read_call, recframe_call, rounds

TIES = ("expected", "first", "last", "best", "worst")


def print_peers(options):
    """Print every engine's time on one frame, as a ratio to the read and to recframe."""
    frame_arguments = {
        name: getattr(options, name)
        for name in ("rows", "users", "sizes", "ids", "scores", "relevant", "shuffled")
    }
    frame_arguments["score_columns"] = options.score_columns
    frame = data.make(**frame_arguments)
    if options.scores == "float64":
        engines.check_agreement(frame)
    notebook, factor = engines.notebook_call(frame)
    slice_of = f"extrapolated x {factor:.0f} from {engines.NOTEBOOK_USERS:,} users"
    calls = {
        "one-pass read": read_call(frame),
        "recframe": recframe_call(frame, engines.cut_offs(options.cutoffs)),
        "recframe, pairs checked": recframe_call(
            frame, engines.cut_offs(options.cutoffs), duplicates="raise"
        ),
        "Polars": engines.polars_call(frame),
        "Polars streaming": engines.polars_call(frame, "streaming"),
        "Polars fair": engines.polars_fair(frame),
        **engines.duckdb_calls(frame, options.threads),
        "DuckDB fair": engines.duckdb_fair(frame, options.threads),
        "pandas sort, groupby.head": engines.pandas_call(frame),
        "groupby.apply": notebook,
    }
    notes = {
        "one-pass read": "NumPy sum of user, score, relevant; one thread",
        "recframe": "precision, recall, R-precision; exact with ties",
        "recframe, pairs checked": "the same, with repeated pairs refused, as is the default",
        **dict.fromkeys(("Polars fair", "DuckDB fair"), "precision, recall, R-precision"),
        "groupby.apply": f"recall@4 only, {slice_of}",
    }
    times = medians(calls, options.repeat)
    times["groupby.apply"] *= factor
    print(f"{len(frame):,} rows, {frame['user'].nunique():,} users,", described(options))
    print(f"{'':26}{'median ms':>10}{'x read':>9}{'recframe/it':>13}  note")
    for name, time in times.items():
        read, ours = time / times["one-pass read"], times["recframe"] / time
        note = notes.get(name, "hits@4 and R only")
        print(f"{name:26}{time:10,.1f}{read:9.1f}{ours:13.3f}  {note}")
    print_memory(frame_arguments)


def described(options):
    """Return the arguments of a run as words for a caption."""
    order = "shuffled" if options.shuffled else "grouped"
    return (
        f"{options.sizes} sizes, {order}, {options.ids} ids, {options.scores} scores, "
        f"relevant {options.relevant}, {options.threads} threads, median of {options.repeat}, "
        f"load before {os.getloadavg()[0]:.1f}"
    )


def print_memory(frame_arguments):
    """Print recframe's peak memory beyond the frame."""
    ratio = memory.peak_ratio(**frame_arguments)
    print(f"recframe's peak memory beyond the frame: {ratio:.2f} x the bytes of the columns used")


def print_cases(rows, repeat, threads):
    """Print for each case the measured ratio, the target, and whether it is reached."""
    print(f"{'case':40}{'measured':>10}  {'target':22}reached")
    for name, ratio, limit, unit in cases(rows, repeat, threads):
        target = f"<= {limit} {unit}"
        print(f"{name:40}{ratio:10.2f}  {target:22}{'yes' if ratio <= limit else 'NO'}", flush=True)


def cases(rows, repeat, threads):
    """Yield the name, measured ratio, limit and unit of the ratio for every case."""
    frame = data.make(rows)

    def compare(**calls):
        times = medians(calls, repeat)
        ours = times.pop("ours")
        return {name: ours / time for name, time in times.items()}

    ours = recframe_call(frame)
    engines.check_agreement(frame)
    max_by = engines.duckdb_calls(frame, threads)["DuckDB max_by"]
    polars, read = engines.polars_call(frame), read_call(frame)
    ratios = compare(ours=ours, read=read, polars=polars, max_by=max_by)
    yield "grouped, int64, float64, log-normal", ratios["read"], 8, "x read"
    yield "  the same", ratios["polars"], 0.5, "x Polars"
    yield "  the same", ratios["max_by"], 1, "x DuckDB max_by"
    del polars, max_by

    for per_user in (1_000, 10):
        other = data.make(rows, rows // per_user)
        ratio = compare(ours=recframe_call(other), read=read_call(other))["read"]
        yield f"{rows // per_user:,} users x {per_user:,}", ratio, 10, "x read"
    yield "shuffled, int64", *against_polars(compare, rows, shuffled=True), 0.8, "x Polars"
    yield "grouped, str", *against_polars(compare, rows, ids="str"), 1, "x Polars"
    yield "shuffled, str", *against_polars(compare, rows, ids="str", shuffled=True), 1.3, "x Polars"

    for name, arguments, limit, unit in (
        ("categorical ids", {"ids": "category"}, 1.1, "x int64"),
        ("float32 scores", {"scores": "float32"}, 1, "x float64"),
        ("four score columns", {"score_columns": 4}, 3, "x one"),
    ):
        ratio = compare(ours=recframe_call(data.make(rows, **arguments)), base=ours)["base"]
        yield name, ratio, limit, unit
    other = data.make(rows, relevant="one")
    ratio = compare(ours=recframe_call(other), read=read_call(other))["read"]
    yield "one relevant row per user", ratio, 6, "x read"
    other = data.make(rows, scores="ratings")
    for ties in TIES:
        ratio = compare(ours=recframe_call(other, ties=ties), base=ours)["base"]
        yield f"ratings 1-5, ties={ties!r}", ratio, 1.5, "x untied"
    many = recframe_call(frame, engines.cut_offs(20))
    yield "20 cut-offs", compare(ours=many, base=ours)["base"], 1.3, "x one"
    del frame, ours, many, other, read

    for small in (10, 300):
        call = recframe_call(data.make(small, max(2, small // 30)))
        yield f"{small} rows, warm", medians({"small": call}, 101)["small"], 3, "ms"
    yield "first call over import pandas", memory.first_call_seconds(repeat), 0.2, "s"
    yield "memory beyond the frame", memory.peak_ratio(rows=rows), 2, "x columns used"


def against_polars(compare, rows, **frame_arguments):
    """Return recframe's time divided by Polars' on the same frame, as a tuple of one."""
    frame = data.make(rows, **frame_arguments)
    return (compare(ours=recframe_call(frame), polars=engines.polars_call(frame))["polars"],)


def print_shuffled_growth(rows, repeat):
    """Print recframe's time and memory for a tenth of the rows and for all, shuffled."""
    print(f"{'rows':>12}{'median ms':>12}{'ns per row':>12}{'x first':>9}{'memory x columns':>18}")
    sizes = (rows // 10, rows)
    calls = {rows: recframe_call(data.make_narrow(rows)) for rows in sizes}
    times = rounds(calls, repeat)
    del calls
    for rows, own in times.items():
        pairs = zip(own, times[sizes[0]], strict=True)
        growth = statistics.median(a / b for (a, _), (b, _) in pairs) * sizes[0] / rows
        ours = statistics.median(wall for wall, _ in own)
        peak = memory.peak_ratio(data.make_narrow, rows=rows)
        print(f"{rows:12,}{ours:12,.1f}{1e6 * ours / rows:12.1f}{growth:9.2f}{peak:18.2f}")


def print_growth(repeat):
    """Print recframe's time at growing numbers of rows, 100 per user."""
    print(f"{'rows':>12}{'median ms':>12}{'ns per row':>12}{'x read':>9}")
    for rows in (1_000_000, 3_000_000, 10_000_000, 30_000_000):
        frame = data.make(rows)
        times = medians({"ours": recframe_call(frame), "read": read_call(frame)}, repeat)
        ours, read = times["ours"], times["read"]
        print(f"{rows:12,}{ours:12,.1f}{1e6 * ours / rows:12.1f}{ours / read:9.1f}", flush=True)
