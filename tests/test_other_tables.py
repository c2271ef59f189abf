"""recframe.rec reads an object in place of a DataFrame, or refuses it with the call that works."""

from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pytest
import scipy.sparse

import recframe
import recframe.dask
from recframe import RecframeError

ROWS = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [0.5, 0.2], "relevant": [0, 1]})
PAIRS = ROWS[["user", "item", "relevant"]]
ENTRY_POINTS = {
    "evaluate": lambda frame: recframe.evaluate(frame, "recall@1"),
    "accessor": lambda frame: recframe.RecAccessor(frame).evaluate("recall@1"),
}


def refusal(call):
    """Return the message that refuses a call."""
    with pytest.raises(RecframeError) as refused:
        call()
    return str(refused.value)


def is_taken(frame):
    """Return whether a frame gives the values of ROWS, as the frame and as truth."""
    expected = recframe.evaluate(ROWS, "recall@1")
    frame = pd.DataFrame(frame)[list(ROWS)]
    pd.testing.assert_frame_equal(expected, recframe.evaluate(frame, "recall@1"))
    judged = recframe.evaluate(ROWS, "recall@1", truth=frame[list(PAIRS)])
    pd.testing.assert_frame_equal(expected, judged)
    return True


def polars(make):
    """Return an object made with Polars, or skip the test without it."""
    return make(pytest.importorskip("polars"))


def duckdb_relation():
    """Return the rows as a relation of DuckDB."""
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_df(ROWS)


REFUSED = {
    "dataset": (
        lambda: pyarrow.dataset.dataset(pa.Table.from_pandas(ROWS)),
        "a pyarrow InMemoryDataset",
        ".to_table().to_pandas()",
    ),
    "Dask": (lambda: dd.from_pandas(ROWS, npartitions=1), "a dask DataFrame", ".compute()"),
    "lazy": (
        lambda: polars(lambda pl: pl.LazyFrame(ROWS.to_dict("list"))),
        "a polars LazyFrame",
        ".collect().to_pandas()",
    ),
    "Series": (
        lambda: polars(lambda pl: pl.DataFrame(ROWS.to_dict("list")).to_struct()),
        "a polars Series",
        ".to_frame().to_pandas()",
    ),
}
TAKEN = {
    "Arrow": lambda: pa.Table.from_pandas(ROWS),
    "batch": lambda: pa.RecordBatch.from_pandas(ROWS),
    "Polars": lambda: polars(lambda pl: pl.DataFrame(ROWS.to_dict("list"))),
    "DuckDB": duckdb_relation,
}


@pytest.mark.parametrize("kind", REFUSED)
def test_tables_that_are_refused(kind):
    """A table without Arrow's protocol is refused with the call that makes a DataFrame."""
    make, name, call = REFUSED[kind]
    table = make()
    entry_points = [entry for entry in ENTRY_POINTS if (kind, entry) != ("dataset", "evaluate")]
    for entry in map(ENTRY_POINTS.get, entry_points):
        assert f"but is {name}. Pass frame{call}" in refusal(lambda entry=entry: entry(table))
    told = refusal(lambda: ROWS.rec(truth=table))

    assert told.endswith(f"but is {name}. Pass truth{call}.")
    # A Series has only one column.
    if kind != "Series":
        assert is_taken(eval(f"table{call}"))


@pytest.mark.parametrize("kind", TAKEN)
def test_tables_that_are_taken(kind):
    """A table with Arrow's protocol is read as the frame, truth and exclude."""
    table, seen = TAKEN[kind](), ROWS[:1]
    expected = recframe.evaluate(ROWS, "recall@1")
    for entry in ENTRY_POINTS.values():
        pd.testing.assert_frame_equal(expected, entry(table))
    for name, others in {"truth": {}, "exclude": {"short": "pad"}}.items():
        frame = ROWS if name == "exclude" else ROWS[["user", "item", "score"]]
        rows = ROWS if name == "truth" else seen
        given = table if name == "truth" else pa.Table.from_pandas(seen)
        judged = frame.rec(**{name: rows}, **others).recall(1)
        pd.testing.assert_frame_equal(judged, frame.rec(**{name: given}, **others).recall(1))


def test_readers_are_read_beside_the_frame():
    """A reader, which gives its rows once, is read as truth and refused as the frame."""
    reader = pa.Table.from_pandas(ROWS).to_reader()
    bound = ROWS.rec(truth=reader)
    pd.testing.assert_frame_equal(bound.recall(1), bound.recall(1))
    reader = pa.Table.from_pandas(ROWS).to_reader()
    told = refusal(lambda: recframe.RecAccessor(reader))

    assert told.endswith("but is a pyarrow RecordBatchReader. Pass frame.read_pandas().")
    assert is_taken(reader.read_pandas())


class Failing:
    """A table whose rows cannot be read."""

    def __arrow_c_stream__(self, requested_schema=None):
        """Fail."""
        raise OSError("the query failed\nin pages")


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (Failing(), "Failing object at "),
        (pa.chunked_array([[1]]), "a pyarrow ChunkedArray: Cannot import schema: "),
    ],
    ids=["failing", "column"],
)
def test_tables_that_cannot_be_read(table, reason):
    """A table that raises an error is refused with the first line of the library's message."""
    for entry in ENTRY_POINTS.values():
        told = refusal(lambda entry=entry: entry(table))
        assert told.startswith("frame: cannot read ")
        assert reason in told
        assert "in pages" not in told
    assert refusal(lambda: ROWS.rec(exclude=table)).startswith("exclude: cannot read ")


def test_tables_are_no_files():
    """Arguments for reading files are refused for a table."""
    with pytest.raises(RecframeError, match="are for files, not a table"):
        recframe.evaluate(pa.Table.from_pandas(ROWS), "recall@1", memory="1MiB")


def like(module, name, method):
    """Return an instance of a class named like one of a library that is not installed."""
    return type(name, (), {"__module__": module, method: lambda self: ROWS})()


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            like("pyspark.sql.classic.dataframe", "DataFrame", "toPandas"),
            "a pyspark DataFrame. Pass frame.toPandas(), or recframe.spark.rec(frame) after",
        ),
        (like("ibis.expr.types.relations", "Table", "to_pandas"), "an ibis Table. Pass frame.to_p"),
        (like("cudf.core.dataframe", "DataFrame", "to_pandas"), "a cudf DataFrame. Pass frame.to_"),
        (
            like("xarray.core.dataset", "Dataset", "to_dataframe"),
            "an xarray Dataset. Pass frame.to",
        ),
    ],
    ids=["Spark", "Ibis", "cuDF", "xarray"],
)
def test_libraries_are_known_by_their_types(table, expected):
    """A library's table is known by its type without an import, as frame and as truth."""
    for entry in ENTRY_POINTS.values():
        assert expected in refusal(lambda entry=entry: entry(table))
    method = expected.partition("frame")[2]
    assert refusal(lambda: ROWS.rec(truth=table)).partition("truth.")[2].endswith("()."), method


@pytest.mark.parametrize(
    ("value", "of_frame", "of_truth"),
    [
        (
            ROWS.set_index(["user", "item"])["score"],
            "a pandas Series. Pass frame.reset_index(), in which the index is columns",
            "a pandas Series. Pass truth.reset_index(), in which",
        ),
        (
            {"ann": [1, 2]},
            "Pass recframe.from_lists(frame) where its keys are users, or pd.DataFrame(frame) where"
            " its keys are columns",
            "Pass recframe.truth_from(truth) where its keys are users, or pd.DataFrame(truth)",
        ),
        (
            {"q1": {"d1": 0.5}},
            "Pass recframe.from_runs(frame) where it holds scores of items by user",
            "Pass recframe.truth_from(truth) where its keys are users",
        ),
        ([{"user": 1}], ". Pass pd.DataFrame(frame)", ". Pass pd.DataFrame(truth)"),
        (
            [(1, 2)],
            ". Pass pd.DataFrame(frame, columns=['user', 'item', 'score']) where its members are",
            ". Pass pd.DataFrame(truth, columns=['user', 'item']) where its members are these",
        ),
        ({(1, 2)}, "pd.DataFrame(list(frame), columns=['user", "pd.DataFrame(list(truth), co"),
        (
            [[7, 3], [5]],
            "Pass recframe.from_lists(dict(zip(users, frame))) where each member has the items of",
            "Pass recframe.truth_from(dict(zip(users, truth))) where",
        ),
        (
            np.eye(2),
            "Pass recframe.from_matrix(frame) where its cells are scores, recframe.from_topk(frame)"
            " where they are items, or pd.DataFrame(frame, columns=['user', 'item', 'score']) wh",
            "Pass recframe.truth_from(scipy.sparse.csr_array(truth)) where its cells are relevance,"
            " or pd.DataFrame(truth, columns=['user', 'item']) where its columns are these",
        ),
        (
            scipy.sparse.csr_array(np.eye(2)),
            "Pass recframe.from_matrix(frame.toarray()) where its cells are scores",
            "Pass recframe.truth_from(truth)",
        ),
        (5, "but is 5", "but is 5"),
    ],
    ids=["Series", "dict", "run", "records", "tuples", "set", "lists", "array", "csr", "number"],
)
def test_values_that_could_be_a_frame(value, of_frame, of_truth):
    """Rows in another form are refused with the call that makes a frame of them."""
    for entry in ENTRY_POINTS.values():
        told = refusal(lambda entry=entry: entry(value))
        assert told.startswith("frame must be a pandas DataFrame")
        assert of_frame in told
    told = refusal(lambda: ROWS.rec(truth=value))
    assert told.startswith("truth must be a pandas DataFrame, an Arrow table (such as one of Po")
    assert "or the path of a file, but is" in told
    assert of_truth in told


@pytest.mark.parametrize(
    ("name", "call"),
    {
        "x.txt": "pd.read_csv({})",
        "x.CSV.xz": "pd.read_csv({})",
        "x.xlsx": "pd.read_excel({})",
    }.items(),
)
def test_paths_of_other_formats(name, call, tmp_path):
    """A path of another format is refused with the call that reads its ending."""
    path = tmp_path / name
    path.write_text("user,item,score,relevant\n1,1,0.5,1\n")
    told = refusal(lambda: recframe.evaluate(str(path), "recall@1"))

    assert f"Pass {call.format(repr(str(path)))}, or write it as parquet" in told
    told = refusal(lambda: recframe.evaluate(ROWS, "recall@1", truth=path))
    assert told.endswith(f". Pass {call.format(repr(str(path)))}, or write it as parquet.")


@pytest.mark.parametrize(
    ("name", "call"),
    {
        "x.csv": "pd.read_csv(frame)",
        "x.CSV.gz": "pd.read_csv(frame)",
        "x.tsv": r"pd.read_csv(frame, sep='\t')",
        "x.jsonl": "pd.read_json(frame, lines=True)",
        "x.feather": "pd.read_feather(frame)",
    }.items(),
)
def test_paths_in_place_of_a_frame(name, call, tmp_path):
    """The accessor refuses a path with the call that reads it, and a faulty file by its fault."""
    path = tmp_path / name
    path.write_text("")

    assert f"Pass {call}" in refusal(lambda: recframe.RecAccessor(path))
    assert "Pass pd" not in refusal(lambda: recframe.evaluate(str(path), "recall@1"))
    told = refusal(lambda: recframe.evaluate(ROWS, "recall@1", truth=path))
    assert told.startswith("truth: cannot read")
    assert "pass" not in told


def test_paths_that_say_nothing():
    """A path of unknown ending, or of no file, is refused for that reason."""
    assert refusal(lambda: recframe.evaluate("nowhere.csv", "auc")).endswith("no such file")
    assert "pass" not in refusal(lambda: recframe.evaluate(str(Path(__file__)), "auc"))
    assert refusal(lambda: recframe.RecAccessor("x.parquet")).endswith("pd.read_parquet(frame).")


def test_dask_is_told_what_to_do_with_a_dataframe():
    """A pandas DataFrame passed to Dask's accessor is refused with the call to make."""
    told = refusal(lambda: recframe.dask.DaskRecAccessor(ROWS))
    assert told.endswith(". Pass dd.from_pandas(frame), or use frame.rec.")
