"""Failing stores and full disks give the right table or one line, and leave no files."""

import os
import random
import resource
import subprocess
import time
from collections import Counter
from threading import Timer

import pandas as pd

from tests.stores.server import serving
from tests.stress.signals import command, write_runs
from tests.stress.worker import Worker

SECONDS = 90


def run(folder, arguments):
    """Print the outcomes for each fault, and return the wrong ones."""
    rows, finds = {}, []
    chance = random.Random(arguments.seed)
    for name, fault in FAULTS.items():
        if arguments.only and name not in arguments.only:
            continue
        counts = rows.setdefault(name, Counter())
        for trial in range(arguments.count):
            where = folder / f"{name}-{trial}"
            where.mkdir()
            began = time.monotonic()
            kind, text = fault(where, chance)
            counts[kind] += 1
            counts["slowest s"] = max(counts["slowest s"], round(time.monotonic() - began))
            if kind not in ("whole", "refused"):
                finds.append(f"{name} {trial}: {kind}: {text}")
    columns = ["whole", "refused", "other table", "foreign", "crash", "hang", "left", "slowest s"]
    print(pd.DataFrame(rows).T.reindex(columns=columns).fillna(0).astype(int).to_string())
    return finds


def of_store(scheme, harm):
    """Return a fault of a store, which is harmed before or during the reading."""

    def fault(folder, chance):
        write_runs(folder / "bucket", 20_000)
        address = "http://127.0.0.1:{0.port}/bucket/{1}.parquet"
        if scheme == "s3":
            address = "s3://a:b@bucket/{1}.parquet?{0.query}"
        with serving(folder) as server, Worker() as worker:
            # A reader may close connections, which is no error.
            server.handle_error = lambda *_: None
            path = address.format(server, chance.randrange(4))
            kind, whole, _ = worker.evaluate(path, SECONDS)
            if kind != "ok":
                return kind, whole
            harm(server, chance)
            kind, text, _ = worker.evaluate(path, SECONDS)
        if kind == "ok":
            return ("whole" if text == whole else "other table"), text
        return kind, text

    return fault


def answer(status):
    """Return a harm that gives all requests a status from some time on."""

    def harm(server, chance):
        Timer(chance.uniform(0, 0.05), setattr, (server, "status", status)).start()

    return harm


def die(server, chance):
    """Let the server die after some bytes."""
    server.n_left = chance.randrange(200_000)


def shorten(server, chance):
    """Shorten the server's files, as another writer would."""
    for path in (server.folder / "bucket").iterdir():
        os.truncate(path, chance.randrange(path.stat().st_size))


def ignore_ranges(server, _):
    """Send whole files in answer to requests for a part."""
    server.has_ranges = False


def wait(server, _):
    """Answer late."""
    server.delay = 0.3


def fill(folder, chance):
    """Evaluate where no file can grow beyond some size."""
    limit = int(2 ** chance.uniform(4, 20))
    for name in ("tmp", "out"):
        (folder / name).mkdir()
    write_runs(folder / "runs")

    def limit_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    ending = chance.choice(["csv", "parquet"])
    pipes = {"capture_output": True, "text": True}
    done = subprocess.run(command(folder, ending), **pipes, preexec_fn=limit_files)
    left = [path.name for name in ("tmp", "out") for path in (folder / name).iterdir()]
    if done.returncode == 0:
        return ("whole" if len(left) == 2 else "left"), str(left)
    named = [name for name in left if name.startswith(".recframe") or name == f"users.{ending}"]
    is_line = done.stderr.startswith("recframe: cannot write") and done.stderr.count("\n") == 1
    if named or not is_line:
        return ("left" if named else "foreign"), f"limit {limit}: {left} {done.stderr[-200:]}"
    return "refused", done.stderr


HARMS = {
    "503": answer(503),
    "404": answer(404),
    "403": answer(403),
    "dies": die,
    "shorter": shorten,
    "no ranges": ignore_ranges,
    "late": wait,
}
FAULTS = {
    **{f"http {name}": of_store("http", harm) for name, harm in HARMS.items()},
    **{f"s3 {name}": of_store("s3", harm) for name, harm in HARMS.items()},
    "full disk": fill,
}
