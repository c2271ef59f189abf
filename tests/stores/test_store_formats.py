"""Formats, filters and datasets in stores give the tables of this machine, with few requests."""

import pandas as pd
import pyarrow.dataset as ds
import pyarrow.fs
import pytest

import recframe

from .conftest import SECRET

FEW = ["recall@3", "ndcg@3"]
WRITERS = {
    "csv.gz": lambda rows, path: rows.to_csv(path, index=False),
    "jsonl": lambda rows, path: rows.to_json(path, orient="records", lines=True),
    "feather": lambda rows, path: rows.reset_index(drop=True).to_feather(path),
}


def fetched(server):
    """Return the list of files whose rows or footers are requested."""
    return {path for method, path, part in server.requests if method == "GET" and part}


@pytest.mark.parametrize("ending", WRITERS)
def test_other_formats(ending, folder, uri, rows):
    """Rows, truth and exclude may have each format in a store."""
    rows = rows.drop(columns="day")
    tables = {"rows": rows, "truth": rows[rows["relevant"]][["user", "item"]]}
    tables["seen"] = rows[::7][["user", "item"]]
    for name, table in tables.items():
        path = folder / "bucket" / ending / f"{name}.{ending}"
        path.parent.mkdir(exist_ok=True)
        WRITERS[ending](table, path)
    there = {name: uri(f"{ending}/{name}.{ending}") for name in tables}
    companions = {"truth": tables["truth"], "exclude": tables["seen"]}
    found = recframe.scan(there["rows"])(truth=there["truth"], exclude=there["seen"])

    pd.testing.assert_frame_equal(rows.rec(**companions).evaluate(FEW), found.evaluate(FEW))


def test_filters_fetch_nothing_that_cannot_match(uri, server, rows):
    """Files and row groups that cannot match a filter are not requested."""
    kept = rows[(rows["day"] == 2) & (rows["user"] < "user 05")]
    filters = [("day", "==", 2), ("user", "<", "user 05")]
    runs = recframe.scan(uri("runs"), filters=filters)
    server.requests.clear()

    pd.testing.assert_frame_equal(kept.rec.evaluate(FEW), runs.evaluate(FEW))
    assert all("day%3D2" in path or "day=2" in path for path in fetched(server))
    assert 2 == len(fetched(server))
    n_filtered = len(server.requests)
    server.requests.clear()
    recframe.scan(uri("runs"), filters=filters[:1]).evaluate(FEW)
    assert n_filtered < len(server.requests)


def test_a_dataset_in_s3(server, rows):
    """A dataset in S3 is read from the store, without row groups that cannot match."""
    store = pyarrow.fs.S3FileSystem(
        endpoint_override=f"127.0.0.1:{server.port}",
        scheme="http",
        region="us-east-1",
        access_key="key",
        secret_key="secret",
    )
    dataset = ds.dataset("bucket/runs", filesystem=store, partitioning="hive", format="parquet")
    runs = recframe.scan(dataset, filters=[("day", "==", 1)])

    assert "300 rows in 2 files" in repr(runs)
    pd.testing.assert_frame_equal(rows[rows["day"] == 1].rec.evaluate(FEW), runs.evaluate(FEW))


def test_a_table_of_deltalake_in_s3(folder, server, rows):
    """A table of deltalake in S3 is read at its version, with the table's options."""
    deltalake = pytest.importorskip("deltalake")
    root = folder / "bucket" / "table"
    deltalake.write_deltalake(str(root), rows, partition_by=["day"])
    deltalake.write_deltalake(str(root), rows[:9], mode="append")
    options = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }
    table = deltalake.DeltaTable("s3://bucket/table", version=0, storage_options=options)
    runs = recframe.scan(table, filters=[("day", "==", 1)])

    assert "300 rows in 1 file, 1 row group" in repr(runs)
    pd.testing.assert_frame_equal(rows[rows["day"] == 1].rec.evaluate(FEW), runs.evaluate(FEW))
