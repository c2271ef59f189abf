"""Randomly damaged files of each format give a table or a refusal."""

import gzip
import shutil
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from tests.stress.worker import EXPLOSION, Worker

MEMORY = ["1GiB", "64MiB", 9000]


def run(folder, arguments):
    """Print the outcomes of damaged files of each format, and return the wrong ones."""
    files = write_files(folder)
    arguments.keep.mkdir(parents=True, exist_ok=True)
    rows, finds = {}, []
    with Worker() as worker:
        for name, path in files.items():
            if arguments.only and name not in arguments.only:
                continue
            intact = path.read_bytes()
            kind, text, _ = worker.evaluate(path)
            if kind != "ok":
                finds.append(f"{name}: the intact file is {kind}: {text}")
            counts = Counter()
            for number in range(arguments.count):
                rng = np.random.default_rng([arguments.seed, number, *name.encode()])
                path.write_bytes(mutate(bytearray(intact), rng))
                is_trec = name.startswith("trec")
                options = {} if is_trec else {"memory": MEMORY[number % len(MEMORY)]}
                kind, text, peak = worker.evaluate(path, **options)
                counts[kind] += 1
                counts["peak MB"] = max(counts["peak MB"], peak)
                if kind in ("foreign", "crash", "hang") or peak > EXPLOSION:
                    saved = arguments.keep / f"{name}-{arguments.seed}-{number}{path.suffix}"
                    shutil.copy(path, saved)
                    finds.append(f"{saved}: {kind}, {peak} MB, {options}: {text}")
            path.write_bytes(intact)
            rows[name] = counts
    columns = ["ok", "refused", "foreign", "crash", "hang", "peak MB"]
    print(pd.DataFrame(rows).T.reindex(columns=columns).fillna(0).astype(int).to_string())
    return finds


def write_files(folder):
    """Write the rows in each format, and return the paths."""
    rng = np.random.default_rng(0)
    names = [f"user é {number}" for number in range(40)]
    columns = {
        "user": np.sort(rng.choice(names, 300)),
        "item": np.arange(300),
        "score": rng.random(300).round(3),
        "relevant": rng.random(300) < 0.4,
    }
    frame = pd.DataFrame(columns)
    table = pa.table(columns)
    lines = frame.to_json(orient="records", lines=True)
    csv = frame.to_csv(index=False).encode()
    files = {
        "parquet": folder / "a.parquet",
        "parquet-plain": folder / "b.parquet",
        "arrow": folder / "c.arrow",
        "feather": folder / "d.feather",
        "csv": folder / "e.csv",
        "csv.gz": folder / "f.csv.gz",
        "jsonl": folder / "g.jsonl",
        "trec-run": folder / "h.run",
        "trec-qrels": folder / "h.qrels",
    }
    frame.to_parquet(files["parquet"], row_group_size=50)
    plain = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    pq.write_table(table, files["parquet-plain"], row_group_size=50, **plain)
    pyarrow.feather.write_feather(table, str(files["arrow"]), compression="uncompressed")
    pyarrow.feather.write_feather(table, str(files["feather"]), compression="lz4")
    files["csv"].write_bytes(csv)
    files["csv.gz"].write_bytes(gzip.compress(csv, mtime=0))
    files["jsonl"].write_text(lines)
    run = [f"q{i // 30} Q0 d{i % 30} {i % 30} {s} mine\n" for i, s in enumerate(columns["score"])]
    qrels = [f"q{i // 30} 0 d{i % 30} {int(r)}\n" for i, r in enumerate(columns["relevant"])]
    for name, written in (("trec-run", run), ("trec-qrels", qrels)):
        files[name].write_text("".join(written))
        shutil.copy(files[name], f"{files[name]}.intact")
    return files


def mutate(data, rng):
    """Return data with one or two damages."""
    for _ in range(rng.integers(1, 3)):
        start = int(rng.integers(len(data) + 1))
        stop = min(len(data), start + int(2 ** rng.uniform(0, 8)))
        match rng.integers(9):
            # This turns a bit.
            case 0 if start < len(data):
                data[start] ^= 1 << int(rng.integers(8))
            # These bytes are random.
            case 1:
                data[start:stop] = rng.bytes(stop - start)
            case 2:
                data[start:stop] = bytes(stop - start)
            # This cuts the end off.
            case 3:
                del data[max(start, 1) :]
            case 4:
                del data[start:stop]
            # This repeats bytes, sometimes very often.
            case 5:
                data[stop:stop] = data[start:stop] * int(4 ** rng.integers(6))
            # These are the largest integers of 32 and of 64 bits.
            case 6:
                data[start : start + 8] = (2 ** int(rng.choice([31, 32, 63])) - 1).to_bytes(
                    8, "little"
                )
            # This changes a byte near the end, where footers are.
            case 7:
                at = max(0, len(data) - int(2 ** rng.uniform(0, 11)))
                data[at : at + 1] = rng.bytes(1)
            # These texts are hard for parsers.
            case _:
                texts = [b'{"a":' * 3000, b"[" * 20_000, b'"', b"\n", b"\r", b",", b"\xff", b"\0"]
                data[start:start] = texts[rng.integers(len(texts))]
    return bytes(data)
