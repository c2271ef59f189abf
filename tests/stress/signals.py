"""Runs that a signal ends at any time leave complete outputs and no other files."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pandas as pd

NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
ENDINGS = ["csv", "parquet"]


def run(folder, arguments):
    """Print the outcomes for each signal, and return the wrong ones."""
    chance = random.Random(arguments.seed)
    write_runs(folder / "runs")
    for name in ("tmp", "out"):
        (folder / name).mkdir()
    began = time.monotonic()
    expected = {ending: whole(folder, ending) for ending in ENDINGS}
    seconds = (time.monotonic() - began) / len(ENDINGS)
    print(f"left alone: {seconds:.2f} s")
    finds, rows = [], {number.name: Counter() for number in NUMBERS}
    for trial in range(arguments.count):
        number = NUMBERS[trial % len(NUMBERS)]
        ending = ENDINGS[trial // len(NUMBERS) % len(ENDINGS)]
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command(folder, ending), **pipes, preexec_fn=heed) as child:
            time.sleep(chance.uniform(0, 1.1 * seconds))
            child.send_signal(number)
            _, errors = child.communicate()
        left, temporary = take(folder / "out"), take(folder / "tmp")
        half = [name for name, data in left.items() if expected[ending].get(name) != data]
        status = child.returncode
        rows[number.name][status] += 1
        is_expected = status in (0, 128 + number, -number) and errors.count("\n") <= 1
        if half or temporary or not is_expected:
            said = errors.strip().splitlines()[-1:]
            finds.append(f"{number.name} of {ending}: {status}, {half}, {[*temporary]}, {said}")
    print(pd.DataFrame(rows).T.fillna(0).astype(int).to_string())
    return finds


def whole(folder, ending):
    """Return the files of a run without a signal."""
    subprocess.run(command(folder, ending), check=True, stdout=subprocess.DEVNULL)
    return take(folder / "out")


def take(folder):
    """Return the content of a folder's files, and empty the folder."""
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    for path in folder.iterdir():
        path.unlink()
    return found


def heed():
    """Let signals end this process, although background programs ignore them."""
    for number in NUMBERS:
        signal.signal(number, signal.SIG_DFL)


def command(folder, ending):
    """Return the command of a run that writes temporary files."""
    paths = ["--tmp", f"{folder}/tmp", "--output", f"{folder}/out/means.{ending}"]
    options = ["--metric", "recall@1", "--memory", "1MiB", "-q", "--short", "pad", *paths]
    each = ["--per-user", f"{folder}/out/users.{ending}"]
    return [sys.executable, "-m", "recframe", "evaluate", f"{folder}/runs", *options, *each]


def write_runs(folder, n_rows=40_000):
    """Write four files of shuffled rows."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(4):
        columns = {
            "user": rng.integers(0, 20_000, n_rows // 4),
            "score": rng.random(n_rows // 4),
            "relevant": rng.random(n_rows // 4) < 0.1,
        }
        pd.DataFrame(columns).to_parquet(folder / f"{number}.parquet", row_group_size=1000)
