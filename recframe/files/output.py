"""Results going out: a file that appears whole or not at all, and means taken in passing."""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recframe.errors import RecframeError
from recframe.frames.tables import mean_of_sums, sum_and_count, tidy_table

FILE_ENDINGS = (".parquet", ".csv")


def written(tables: Iterable[pd.DataFrame], path: Path) -> Iterator[pd.DataFrame]:
    """Yield per-user tables, each also added to a file in the format its ending names."""
    return (_written_csv if path.suffix == ".csv" else _written_parquet)(tables, path)


def _written_csv(tables: Iterable[pd.DataFrame], path: Path) -> Iterator[pd.DataFrame]:
    """Yield tables, each also added to a csv file."""
    for number, table in enumerate(tables):
        tidy_table(table).to_csv(path, mode="a", index=False, header=number == 0)
        yield table


def _written_parquet(tables: Iterable[pd.DataFrame], path: Path) -> Iterator[pd.DataFrame]:
    """Yield tables, each also added to a parquet file; the first decides its schema."""
    with ExitStack() as stack:
        writer: pq.ParquetWriter | None = None
        for table in tables:
            schema = None if writer is None else writer.schema
            rows = pa.Table.from_pandas(tidy_table(table), schema=schema, preserve_index=False)
            if writer is None:
                writer = stack.enter_context(pq.ParquetWriter(path, rows.schema))
            writer.write_table(rows)
            yield table


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a file beside `path` to write to, which takes its place once it is whole."""
    partial = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        if path.is_dir():
            raise IsADirectoryError("it is a folder")
        partial.open("xb").close()  # a place that cannot be written is found before the work
        yield partial
        partial.replace(path)
    except OSError as error:
        raise RecframeError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def mean_of_tables(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the means of per-user tables that come one by one."""
    return mean_of_sums(pd.concat([sum_and_count(table) for table in tables]))
