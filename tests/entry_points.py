"""Every engine and format evaluates one frame to a per-user table of the same form."""

import contextlib
import io
from functools import partial

import dask.dataframe as dd
import pandas as pd
import polars as pl
import pyarrow as pa

import recframe
import recframe.dask
import recframe.polars
from recframe.cli import main
from recframe.errors import RecframeError

# Files of a few rows do not fit into this many bytes, so they are read in blocks too.
SMALL = 1 << 14
ROWS_OF_GROUP = 5


def of_tidy(tidy):
    """Return a table of plain columns in the form of the others."""
    users = list(tidy.columns[: list(tidy.columns).index("score")])
    # No pair repeats, so `pivot_table` is not needed.
    wide = tidy.set_index([*users, "score"]).unstack("score")  # noqa: PD010
    return wide.swaplevel(axis=1).rename_axis(columns=["score", "metric"])


def of_polars(table):
    """Return a per-user table of Polars in the form of pandas."""
    return of_tidy(table.to_pandas())


def of_files(frame, metrics, options, folder, ending):
    """Return the table of a file in a format."""
    path = folder / f"rows.{ending}"
    save = {
        "parquet": lambda: frame.to_parquet(path, row_group_size=ROWS_OF_GROUP, index=False),
        "csv": lambda: frame.to_csv(path, index=False),
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        "feather": lambda: frame.reset_index(drop=True).to_feather(path),
    }
    save[ending]()
    return recframe.evaluate(path, metrics, memory=SMALL, **options)


def of_dask(frame, metrics, options, folder):
    """Return Dask's table of several partitions."""
    ddf = dd.from_pandas(frame, npartitions=3, sort=False)
    return ddf.rec(**options).evaluate(metrics).compute().sort_index()


def of_command_line(frame, metrics, options, folder):
    """Return the table that the command line writes, or raise its refusal as Python does."""
    frame.to_parquet(folder / "given.parquet", index=False)
    words = ["evaluate", str(folder / "given.parquet"), "--metric", metrics, "--quiet"]
    for name, value in options.items():
        if isinstance(value, pd.DataFrame):
            value.to_parquet(folder / f"{name}.parquet", index=False)
            value = folder / f"{name}.parquet"
        words.append(f"--{name.replace('_', '-')}={value}")
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        status = main([*words, "--per-user", str(folder / "users.csv")])
    if status:
        raise RecframeError(said.getvalue())
    return of_tidy(pd.read_csv(folder / "users.csv"))


ENTRY_POINTS = {
    "frame": lambda frame, metrics, options, _: frame.rec(**options).evaluate([metrics]),
    "Arrow": lambda frame, metrics, options, _: recframe.evaluate(
        pa.Table.from_pandas(frame, preserve_index=False), metrics, **options
    ),
    "Polars": lambda frame, metrics, options, _: of_polars(
        pl.from_pandas(frame).rec(**options).evaluate([metrics])
    ),
    "LazyFrame": lambda frame, metrics, options, _: of_polars(
        pl.from_pandas(frame).lazy().rec(**options).evaluate([metrics])
    ),
    **{
        ending: partial(of_files, ending=ending)
        for ending in ("parquet", "csv", "jsonl", "feather")
    },
    "Dask": of_dask,
    "command line": of_command_line,
}
