"""Each cell of the table in examples/guide/engines.md tells whether a call works on that engine."""

import importlib
from pathlib import Path

import pyarrow as pa
import pytest

import recframe
from engines_page import CALLS, TABLE, check_column
from recframe.scanned import MOST_ROWS_ASKED

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
COLUMNS = list(next(iter(TABLE.values())))


def open_arrow(frame, folder, **options):
    """Return the methods of an Arrow table."""
    return recframe.rec(pa.Table.from_pandas(frame, preserve_index=False), **options)


def open_duckdb(frame, folder, **options):
    """Return the methods of a relation of DuckDB."""
    return recframe.rec(pytest.importorskip("duckdb").from_df(frame), **options)


def open_polars(frame, folder, *, lazily=False, **options):
    """Return the namespace of Polars."""
    polars = pytest.importorskip("polars")
    importlib.import_module("recframe.polars")
    table = polars.from_pandas(frame.reset_index(drop=True))
    return (table.lazy() if lazily else table).rec(**options)


def open_files(frame, folder, **options):
    """Return the methods of a file."""
    frame.to_parquet(folder / "rows.parquet", index=False)
    return recframe.scan(folder / "rows.parquet", **options)


def open_dask(frame, folder, **options):
    """Return the accessor of Dask."""
    dask = pytest.importorskip("dask.dataframe")
    importlib.import_module("recframe.dask")
    return dask.from_pandas(frame.reset_index(drop=True), npartitions=2).rec(**options)


ENGINES = {
    "pandas": lambda frame, folder, **options: frame.rec(**options),
    "Arrow": open_arrow,
    "DuckDB": open_duckdb,
    "Polars": open_polars,
    "LazyFrame": lambda *given, **options: open_polars(*given, lazily=True, **options),
    "files": open_files,
    "Dask": open_dask,
}


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("engine", ENGINES)
def test_cells(engine, tmp_path):
    """A cell says yes if the call gives a table, and no if it is refused."""
    (column,) = [label for label in COLUMNS if engine in label.split(", ")]
    check_column(column, lambda frame, **options: ENGINES[engine](frame, tmp_path, **options))


def test_rows_and_columns():
    """Every row has a call, every engine has a column, and the README links the page."""
    assert len(CALLS) == len(TABLE)
    assert {*ENGINES, "Spark"} == set(", ".join(COLUMNS).split(", "))
    (asked,) = [cells["files"] for row, cells in TABLE.items() if "open questions" in row]
    assert f"up to {MOST_ROWS_ASKED:,} rows" in asked
    assert "/examples/guide/engines.md)" in README
