"""Runs that are told to end at any time: what is written is whole, and nothing else is left."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pandas as pd

NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def run(folder, arguments):
    """Print what became of the runs by their signal, and return what was left behind."""
    chance = random.Random(arguments.seed)
    write_runs(folder / "runs")
    expected, seconds = {}, 0
    finds, rows = [], {number.name: Counter() for number in NUMBERS}
    for trial in range(-1, arguments.count):  # the first is left alone
        number = NUMBERS[trial % len(NUMBERS)]
        ending = ("csv", "parquet")[trial // len(NUMBERS) % 2]
        for name in ("tmp", "out"):
            (folder / name).mkdir(exist_ok=True)
        began = time.monotonic()
        with subprocess.Popen(
            command(folder, ending),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed,
        ) as child:
            if trial >= 0:
                time.sleep(chance.uniform(0, 1.1 * seconds))
                child.send_signal(number)
            _, errors = child.communicate()
        left = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
        if trial < 0:
            seconds, expected["csv"] = time.monotonic() - began, left
            expected["parquet"] = whole(folder, "parquet")
            print(f"left alone: {seconds:.2f} s, {sorted(left)}")
            continue
        status = child.returncode
        allowed = {0, 128 + number, -number}
        temporary = [path.name for path in (folder / "tmp").iterdir()]
        half = [name for name, data in left.items() if expected[ending].get(name) != data]
        rows[number.name][status] += 1
        if half or temporary or status not in allowed or errors.count("\n") > 1:
            said = errors.strip().splitlines()[-1:]
            finds.append(f"{number.name} of {ending}: {status}, {half}, {temporary}, {said}")
        for path in [*(folder / "out").iterdir(), *(folder / "tmp").iterdir()]:
            path.unlink()
    print(pd.DataFrame(rows).T.fillna(0).astype(int).to_string())
    return finds


def whole(folder, ending):
    """Return the files of a run that is left alone."""
    for path in (folder / "out").iterdir():
        path.unlink()
    subprocess.run(command(folder, ending), check=True, stdout=subprocess.DEVNULL)
    found = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    for path in (folder / "out").iterdir():
        path.unlink()
    return found


def heed():
    """Heed signals that a program in the background was told to ignore."""
    for number in NUMBERS:
        signal.signal(number, signal.SIG_DFL)


def command(folder, ending):
    """Return the command of a run that spills."""
    paths = ["--tmp", f"{folder}/tmp", "--output", f"{folder}/out/means.{ending}"]
    options = ["--metric", "recall@1", "--memory", "1MiB", "-q", "--short", "pad", *paths]
    each = ["--per-user", f"{folder}/out/users.{ending}"]
    return [sys.executable, "-m", "recframe", "evaluate", f"{folder}/runs", *options, *each]


def write_runs(folder, n_rows=100_000):
    """Write four files of shuffled rows."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(4):
        columns = {
            "user": rng.integers(0, 20_000, n_rows // 4),
            "score": rng.random(n_rows // 4),
            "relevant": rng.random(n_rows // 4) < 0.1,
        }
        pd.DataFrame(columns).to_parquet(folder / f"{number}.parquet", row_group_size=2000)
