"""Calls leave no object, no memory and no open file or socket."""

import gc
import os
import subprocess
import sys
import time
from pathlib import Path
from weakref import ref

import pytest

import recframe
from stores import server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="Linux shows descriptors"),
    pytest.mark.skipif(sys.gettrace() is not None, reason="the tracer of coverage keeps objects"),
]

SMALL = 60_000  # bytes of memory in which files are partitioned
WARM, N_CALLS = 2, 7  # calls of each kind, more than 300 in all
N_OBJECTS, MB = 20, 10  # threads that end leave fewer; libraries keep this much
FEW = {"short": "pad", "population": "both"}


@pytest.fixture
def bucket(rows, tmp_path):
    """Return a folder with rows in several formats, truth, exclude and damaged files."""
    folder = tmp_path / "bucket"
    folder.mkdir()
    rows.loc[rows["relevant"], ["user", "item"]].to_parquet(folder / "truth.parquet")
    rows.loc[::7, ["user", "item"]].to_parquet(folder / "seen.parquet")
    rows.to_parquet(folder / "rows.parquet", row_group_size=60)
    rows.to_csv(folder / "rows.csv.gz", index=False)
    rows.to_feather(folder / "rows.arrow")
    rows.to_json(folder / "rows.jsonl", orient="records", lines=True)
    values = rows.rec(short="pad").recall(k=2).rename(columns={"score": "recall@2"}).reset_index()
    values.insert(1, "score", "s")
    values.to_parquet(folder / "values.parquet")
    (folder / "cut.parquet").write_bytes((folder / "rows.parquet").read_bytes()[:-9])
    return folder


@pytest.fixture(params=["here", "store"])
def name(bucket, request):
    """Yield a function that makes the path of a file, on this machine or in a store."""
    if request.param == "here":
        yield lambda file: str(bucket / file)
        return
    command = [sys.executable, server.__file__, str(bucket.parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        end = f"endpoint_override=127.0.0.1:{int(process.stdout.readline())}&scheme=http"
        yield lambda file: f"s3://key:secret@bucket/{file}?{end}&region=us-east-1"
        process.kill()


def refuse(call, *args):
    """Make a call that must be refused."""
    with pytest.raises(recframe.RecframeError):
        call(*args)


def list_calls(rows, name):
    """Return the public calls that open files, by name."""
    path, frame = name("rows.parquet"), rows.drop(columns="relevant")
    companions = {"truth": name("truth.parquet"), "exclude": name("seen.parquet"), **FEW}

    def scan(memory="1GiB", file="rows.parquet", **options):
        return recframe.scan(name(file), memory=memory)(**({"short": "pad"} | options))

    return {
        "repr": lambda: repr(scan()),
        "mean": lambda: scan().mean("recall@2"),
        "evaluate": lambda: recframe.evaluate(path, "recall@2", short="pad", memory=SMALL),
        "iter_evaluate": lambda: list(recframe.iter_evaluate(path, "recall@2", short="pad")),
        "half an iter_evaluate": lambda: next(iter(scan(SMALL).iter_evaluate("recall@2"))),
        "filters": lambda: recframe.scan(path, filters=[("item", "<", 9)], short="pad").recall(2),
        "union_by_name": lambda: recframe.scan([path], union_by_name=True).scores,
        "describe": lambda: scan().describe(2),
        "inspect": lambda: scan().inspect("user 07", k=2),
        "catalogue": lambda: scan().catalogue(2),
        "summary": lambda: scan().summary("recall@2"),
        "truth and exclude": lambda: scan(**companions).recall(2),
        "truth and exclude, partitioned": lambda: scan(SMALL, **companions).recall(2),
        "truth and exclude of a frame": lambda: frame.copy().rec(**companions).recall(2),
        "csv": lambda: scan(file="rows.csv.gz").recall(2),
        "arrow": lambda: scan(file="rows.arrow").recall(2),
        "JSON lines": lambda: scan(file="rows.jsonl").recall(2),
        "read_per_user": lambda: recframe.read_per_user(name("values.parquet")),
        "short lists": lambda: refuse(scan(short="raise").recall, 99),
        "no such column": lambda: refuse(scan(user="none").recall, 2),
        "no such file": lambda: refuse(recframe.scan, name("none.parquet")),
        "a cut file": lambda: refuse(scan(file="cut.parquet").recall, 2),
        "truth that is cut": lambda: refuse(scan(truth=name("cut.parquet")).recall, 2),
    }


def count_open():
    """Return the number of descriptors of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def count_bytes():
    """Return the bytes of memory of this process."""
    n_pages = int(Path("/proc/self/statm").read_text().split()[1])
    return n_pages * os.sysconf("SC_PAGE_SIZE")


def repeat(call, n_times):
    """Return the new objects and descriptors that so many calls leave."""
    gc.collect()
    gc.freeze()  # Older objects need no look.
    n_open = count_open()
    for _ in range(n_times):
        call()
    for _ in range(10):  # Threads of an abandoned call need a moment to end.
        gc.collect()
        # Pandas clears weak references to its arrays only now and then.
        n_left = sum(not isinstance(one, ref) for one in gc.get_objects())
        if n_left < N_OBJECTS * n_times:
            break
        time.sleep(0.1)
    return n_left, count_open() - n_open


def test_no_call_leaves_anything(rows, name):
    """Repeated calls leave no objects, not even cycles through Arrow, which are never collected."""
    calls = list_calls(rows, name)
    for call in calls.values():
        repeat(call, WARM)
    begun, leaks = count_bytes(), {}
    for kind, call in calls.items():
        n_objects, n_open = repeat(call, N_CALLS)
        if n_objects >= N_OBJECTS * N_CALLS or n_open >= N_CALLS:
            leaks[kind] = n_objects, n_open

    gc.unfreeze()

    assert {} == leaks
    assert MB * 1e6 > count_bytes() - begun
