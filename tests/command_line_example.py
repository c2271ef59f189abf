"""Tests of the command line share an example, its golden table and its metrics."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "example.parquet"
GOLDEN = Path(__file__).parent / "golden"
TABLE = (GOLDEN / "table.txt").read_text("utf-8")
METRICS = ["--metric", "precision@4", "--metric", "recall@4", "--metric", "r_precision"]
OUT = ["evaluate", str(EXAMPLE), *METRICS]
