"""Objects as sources: datasets and readers of Arrow, tables of deltalake."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow.fs import LocalFileSystem

import recframe
from files.layouts import FEW


@pytest.fixture
def rows(large):
    """Return rows of many users, with items and a part for each third of them."""
    items = large.groupby("user").cumcount()
    return large.assign(item=items, part=np.arange(300) // 100)


@pytest.fixture
def folder(rows, tmp_path):
    """Return a folder with the rows as parquet files in folders of parts."""
    for part, group in rows.groupby("part"):
        path = tmp_path / "parts" / f"part={part}" / "x.parquet"
        path.parent.mkdir(parents=True)
        group.drop(columns="part").to_parquet(path, row_group_size=20, index=False)
    return tmp_path / "parts"


def of_files(rows, folder):
    """Return a dataset of parquet files in folders of parts."""
    return ds.dataset(folder, partitioning="hive")


def of_coded(rows, folder):
    """Return the same dataset with folders and texts as categories."""
    partitioning = ds.HivePartitioning.discover(infer_dictionary=True)
    coded = ds.ParquetFileFormat(dictionary_columns=["user"])
    return ds.dataset(folder, format=coded, partitioning=partitioning)


def of_csv(rows, folder):
    """Return a dataset of csv files."""
    rows.to_csv(folder.parent / "x.csv", index=False)
    return ds.dataset(folder.parent / "x.csv", format="csv")


def of_memory(rows, folder):
    """Return a dataset of a table."""
    return ds.dataset(pa.Table.from_pandas(rows))


def of_several(rows, folder):
    """Return a dataset of datasets."""
    halves = [ds.dataset(pa.Table.from_pandas(half)) for half in (rows[:150], rows[150:])]
    return ds.dataset(halves)


def of_batches(rows, folder):
    """Return a reader of small batches."""
    return pa.Table.from_pandas(rows).to_reader(7)


def of_views(rows, folder):
    """Return a reader of string views, as Polars and DuckDB pass them."""
    table = pa.Table.from_pandas(rows)
    at = table.schema.get_field_index("user")
    return table.set_column(at, "user", table["user"].cast(pa.string_view())).to_reader()


def of_delta(rows, folder):
    """Return a table of deltalake at its first of two versions."""
    deltalake = pytest.importorskip("deltalake")
    root = str(folder.parent / "a table")
    deltalake.write_deltalake(root, pa.Table.from_pandas(rows), partition_by=["part"])
    deltalake.write_deltalake(root, pa.Table.from_pandas(rows[:9]), mode="overwrite")
    return deltalake.DeltaTable(root, version=0)


MAKERS = [of_files, of_coded, of_csv, of_memory, of_several, of_batches, of_views, of_delta]


@pytest.mark.parametrize("make", MAKERS)
def test_a_source_gives_what_its_frame_gives(rows, folder, make):
    """Every kind of source gives the table of its frame in little memory."""
    expected = rows.rec(short="pad").evaluate(FEW)
    options = {"short": "pad", "memory": 40_000}

    pd.testing.assert_frame_equal(
        expected, recframe.evaluate(make(rows, folder), FEW, **options), check_index_type=False
    )
    tables = recframe.iter_evaluate(of_batches(rows, folder), FEW, **options)
    pd.testing.assert_frame_equal(expected, pd.concat(tables).sort_index())


@pytest.mark.parametrize("make", MAKERS)
def test_filters_of_a_source(rows, folder, make):
    """Filters leave the same rows as for files."""
    kept = rows[(rows["part"] > 0) & (rows["item"] < 4)]
    filters = [("part", "in", [1, 2]), ("item", "<", 4)]
    source = make(rows, folder)
    if make is of_coded:
        source = of_files(rows, folder)
    runs = recframe.scan(source, filters=filters)(short="pad")

    pd.testing.assert_frame_equal(kept.rec(short="pad").recall(2), runs.recall(2))


def test_the_filter_of_a_dataset_is_respected(rows, folder):
    """Rows that a dataset filters out are not evaluated."""
    dataset = of_files(rows, folder).filter(ds.field("item") < 4)
    expected = rows[rows["item"] < 4].rec(short="pad").recall(2)

    pd.testing.assert_frame_equal(expected, recframe.scan(dataset)(short="pad").recall(2))


def test_row_groups_of_a_fragment_are_respected(rows, tmp_path):
    """Only the row groups of a fragment are read from its file."""
    rows.to_parquet(tmp_path / "x.parquet", row_group_size=100, index=False)
    file, here = ds.ParquetFileFormat(), LocalFileSystem()
    part = file.make_fragment(str(tmp_path / "x.parquet"), here, row_groups=[0, 2])
    dataset = ds.FileSystemDataset([part], pq.read_schema(tmp_path / "x.parquet"), file, here)
    expected = rows[rows["part"] != 1].rec(short="pad").recall(2)

    pd.testing.assert_frame_equal(expected, recframe.scan(dataset)(short="pad").recall(2))
    filters = [("part", ">=", 1)]
    last = recframe.scan(dataset, filters=filters)(short="pad").recall(2)
    pd.testing.assert_frame_equal(rows[rows["part"] == 2].rec(short="pad").recall(2), last)


def test_a_column_that_files_got_later(frame, tmp_path):
    """A column that older files lack is null in them, as in the dataset."""
    frame[:6].drop(columns="relevant").to_parquet(tmp_path / "a.parquet", index=False)
    frame[6:].to_parquet(tmp_path / "b.parquet", index=False)
    schema = pa.Schema.from_pandas(frame, preserve_index=False)
    dataset = ds.dataset(tmp_path, schema=schema)

    with pytest.raises(recframe.RecframeError, match=r"6 of .* are null"):
        recframe.evaluate(dataset, ["recall@1"])


def test_a_dataset_in_a_store(rows, folder, tmp_path):
    """Files of a dataset in a store are read with the filesystem of the dataset."""
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.put(str(folder), "/parts", recursive=True)
    dataset = ds.dataset("/parts", filesystem=store, partitioning="hive")
    runs = recframe.scan(dataset, filters=[("part", ">", 0)])(short="pad")

    assert "200 rows in 2 files, 10 row groups" in repr(runs)
    pd.testing.assert_frame_equal(rows[100:].rec(short="pad").recall(2), runs.recall(2))
    store.rm("/parts", recursive=True)


def test_what_is_for_paths_is_refused(rows, folder):
    """Options for access to stores are refused for a dataset, which has them already."""
    with pytest.raises(recframe.RecframeError, match="are for paths, not source of type FileSy"):
        recframe.scan(of_files(rows, folder), storage_options={"key": "secret"})


def test_a_reader_is_read_once(rows, folder):
    """A second call on a reader is refused; its repr reads nothing."""
    runs = recframe.scan(of_batches(rows, folder))(short="pad")
    assert "without footers" in repr(runs)
    pd.testing.assert_frame_equal(rows.rec(short="pad").recall(2), runs.recall(2))

    with pytest.raises(recframe.RecframeError, match="RecordBatchReader: it gives its rows once"):
        runs.recall(2)


def test_a_relation_of_duckdb(rows, folder):
    """The query of a relation runs at each call, and gives the tables of its rows."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        query = f"SELECT * EXCLUDE part FROM '{folder}/*/*.parquet'"
        runs = recframe.scan(connection.sql(query), short="pad", memory="64KiB")
        assert "without footers" in repr(runs)
        for _ in range(2):
            pd.testing.assert_frame_equal(rows.rec(short="pad").recall(2), runs.recall(2))
        first = recframe.scan(
            connection.sql(query), short="pad", filters=[("user", "<", "user 002")]
        )
        assert ["user 000", "user 001"] == first.recall(2).index.tolist()
        wrong = connection.sql(
            "SELECT range AS user, 0.5 AS score, ('x' || range)::INT AS relevant FROM range(3)"
        )
        with pytest.raises(recframe.RecframeError, match="cannot read the DuckDB relation: Conv"):
            recframe.scan(wrong).recall(1)


def test_methods_that_read_a_reader(rows, folder):
    """Each method reads the rows of a reader only once."""
    calls = {
        "describe": (2,),
        "catalogue": (2,),
        "summary": (FEW,),
        "curve": ("recall", [1, 2]),
        "compare": (FEW, "knn_score"),
        "mean": (FEW,),
    }
    for name, arguments in calls.items():
        runs = recframe.scan(of_batches(rows, folder))(short="pad")
        expected = getattr(rows.rec(short="pad"), name)(*arguments)
        found = getattr(runs, name)(*arguments)
        pd.testing.assert_frame_equal(pd.DataFrame(expected), pd.DataFrame(found))


def test_refusals_name_the_source(frame):
    """The refusal of a null user names the reader."""
    reader = pa.Table.from_pandas(frame.assign(user=[None, *"aaaaaaa"])).to_reader()

    with pytest.raises(recframe.RecframeError, match="1 of 8 rows are null in the RecordBatch"):
        recframe.evaluate(reader, ["recall@1"])


def test_notes_next_to_text_files(tmp_path):
    """The pattern in the refusal of several formats finds the files that have the ending."""
    pd.DataFrame({"user": [1], "item": [2], "score": [3.0], "relevant": [1]}).to_csv(
        tmp_path / "rows.csv", index=False
    )
    (tmp_path / "README.md").write_text("# Rows")
    with pytest.raises(recframe.RecframeError, match=r"such as '\*\.csv'\.$"):
        recframe.scan(tmp_path)

    assert [str(tmp_path / "rows.csv")] == recframe.scan(tmp_path / "*.csv").paths
