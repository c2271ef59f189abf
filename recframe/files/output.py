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


def write_each(tables: Iterable[pd.DataFrame], path: Path) -> Iterator[pd.DataFrame]:
    """Yield per-user tables, each also added to a file in the format its ending names."""
    schema = None  # of a parquet file; the first table decides it
    with ExitStack() as stack:
        for number, table in enumerate(tables):
            rows = tidy_table(table)
            if path.suffix == ".csv":
                rows.to_csv(path, mode="a", index=False, header=number == 0)
            else:
                encoded = pa.Table.from_pandas(rows, schema=schema, preserve_index=False)
                if schema is None:
                    schema = encoded.schema
                    writer = stack.enter_context(pq.ParquetWriter(path, schema))
                writer.write_table(encoded)
            yield table


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a file beside `path` to write to, which is renamed to it once it is whole."""
    partial = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        if path.is_dir():
            raise IsADirectoryError("it is a folder")
        partial.open("xb").close()  # a path that cannot be written is found before the work
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
