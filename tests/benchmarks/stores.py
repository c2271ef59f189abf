"""Compare files in a slow store with the transfer of the same bytes alone.

python -m tests.benchmarks.stores --rows 5000000 --delay 0.02 --rate 50e6

A server on this machine delays each request by some seconds, and sends so many bytes a second in
all. "transfer" fetches the bytes of the used columns in the best way, in 16 parts of 8 MiB at a
time. Each layout is also read from this machine. The second table compares ways to open the same
file, without delay, with the local file.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pyarrow.fs as fs
import pyarrow.parquet as pq

import recframe
from tests.benchmarks.data import make
from tests.stores.server import StoreServer

METRICS = ("precision@4", "recall@4", "r_precision")
# `evaluate` reads these columns.
USED = ("user", "item", "score", "relevant")
PART = 8 << 20
# A layout has rows of a row group, a number of files, and whether users are sorted.
LAYOUTS = {
    "1 file of row groups of 500,000 rows": (500_000, 1, True),
    "1 file of row groups of 20,000 rows": (20_000, 1, True),
    "1 file of one row group": (1 << 40, 1, True),
    "100 files": (1 << 40, 100, True),
    "100 files, shuffled": (1 << 40, 100, False),
}


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--delay", type=float, default=0.02)
    parser.add_argument("--rate", type=float, default=50e6)
    parser.add_argument("--memory", default="64MiB")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_layouts(Path(folder) / "bucket", asked.rows)
        print(
            f"{asked.rows:,} rows, memory {asked.memory}, {asked.rate / 1e6:,.0f} MB/s, "
            f"{1000 * asked.delay:.0f} ms added to each request; seconds, and times the transfer"
        )
        with served(folder, asked.delay, asked.rate) as port:
            time_layouts(Path(folder) / "bucket", port, asked)
        print("\nentry point, at full speed: seconds, and times the local file")
        with served(folder) as port:
            time_entry_points(Path(folder) / "bucket", port, asked)


def write_layouts(bucket, rows):
    """Write the same rows in each layout."""
    frame = make(rows)
    for number, (row_group_size, n_files, is_sorted) in enumerate(LAYOUTS.values()):
        ordered = frame.sort_values("user") if is_sorted else frame.sample(frac=1, random_state=0)
        folder = bucket / str(number)
        folder.mkdir(parents=True)
        step = -(-rows // n_files)
        for part in range(n_files):
            own = ordered[part * step : (part + 1) * step]
            path = folder / f"{part:03}.parquet"
            own.to_parquet(path, index=False, row_group_size=min(row_group_size, max(1, len(own))))


@contextmanager
def served(folder, delay=0.0, rate=None):
    """Yield the port of a server in another process."""
    command = [sys.executable, "-m", "tests.stores.server", str(folder), f"--delay={delay}"]
    command += [f"--rate={rate}"] * (rate is not None)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def time_layouts(bucket, port, asked):
    """Print a row for each layout."""
    query = StoreServer.query.fget(type("Asked", (), {"port": port}))
    for number, layout in enumerate(LAYOUTS):
        uri = f"s3://key:secret@bucket/{number}?{query}"
        ranges = find_ranges(bucket / str(number))
        ways = {
            "transfer": lambda uri=uri, ranges=ranges: transfer(uri, ranges),
            "recframe": lambda uri=uri: evaluate(uri, asked.memory),
            "local": lambda number=number: evaluate(bucket / str(number), asked.memory),
        }
        seconds = {name: [] for name in ways}
        for _ in range(asked.repeats):
            for name, way in ways.items():
                seconds[name].append(timed(way))
        alone = statistics.median(seconds["transfer"])
        n_bytes = sum(stop - start for of_file in ranges.values() for start, stop in of_file)
        shown = "  ".join(
            f"{name} {statistics.median(times):6.2f} ({statistics.median(times) / alone:4.2f})"
            for name, times in seconds.items()
        )
        print(f"{layout:37} {n_bytes / 1e6:5.0f} MB  {shown}", flush=True)


def time_entry_points(bucket, port, asked):
    """Print a row for each URL or path of the same file."""
    from fsspec.implementations.memory import MemoryFileSystem

    path = bucket / "0" / "000.parquet"
    MemoryFileSystem().put(str(path), "/0.parquet")
    query = StoreServer.query.fget(type("Asked", (), {"port": port}))
    entry_points = {
        "local": path,
        "file://": path.as_uri(),
        "s3:// (pyarrow)": f"s3://key:secret@bucket/0/000.parquet?{query}",
        "http:// (fsspec)": f"http://127.0.0.1:{port}/bucket/0/000.parquet",
        "memory:// (fsspec)": "memory://0.parquet",
    }
    seconds = {name: [] for name in entry_points}
    for _ in range(asked.repeats):
        for name, entry in entry_points.items():
            seconds[name].append(timed(lambda entry=entry: evaluate(entry, asked.memory)))
    local = statistics.median(seconds["local"])
    for name, times in seconds.items():
        print(
            f"{name:20} {statistics.median(times):6.2f} ({statistics.median(times) / local:4.2f})"
        )


def timed(way):
    """Return the seconds that a call takes."""
    begin = time.perf_counter()
    way()
    return time.perf_counter() - begin


def evaluate(path, memory):
    """Evaluate files within a memory limit."""
    return recframe.evaluate(path, METRICS, short="pad", memory=memory)


def find_ranges(folder):
    """Return the byte ranges of the used columns in the files of a folder."""
    ranges = {}
    for path in sorted(folder.iterdir()):
        metadata = pq.read_metadata(path)
        own = ranges[path.name] = []
        for index in range(metadata.num_row_groups):
            row_group = metadata.row_group(index)
            for number in range(row_group.num_columns):
                column = row_group.column(number)
                if column.path_in_schema in USED:
                    start = column.dictionary_page_offset or column.data_page_offset
                    own.append((start, start + column.total_compressed_size))
    return ranges


def transfer(uri, ranges):
    """Fetch ranges, and join adjacent ones."""
    store, root = fs.FileSystem.from_uri(uri)

    def fetch(name, start, stop):
        with store.open_input_file(f"{root}/{name}") as file:
            return file.read_at(stop - start, start)

    parts = []
    for name, own in ranges.items():
        joined = []
        for start, stop in sorted(own):
            if joined and start - joined[-1][1] < 1 << 16:
                joined[-1][1] = stop
            else:
                joined.append([start, stop])
        parts += [
            (name, at, min(stop, at + PART))
            for start, stop in joined
            for at in range(start, stop, PART)
        ]
    with ThreadPoolExecutor(16) as pool:
        for part in [pool.submit(fetch, *part) for part in parts]:
            part.result()


if __name__ == "__main__":
    main()
