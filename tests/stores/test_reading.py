"""Files in stores give the same tables as files of this machine, bit for bit.

Tests of `storage_options` and `filesystem` belong here.
"""

import gc
import logging
import os
import subprocess
import sys
import time
import weakref
from threading import Thread

import numpy as np
import pandas as pd
import pyarrow.fs
import pytest

import recframe
from recframe.files import batches
from recframe.files.discovery import find_files

from .conftest import SECRET

METRICS = ["recall@3", "ndcg@3", "r_precision"]


OF_TRUTH = ("truth", "truth_user", "exclude", "population")


def measure(source, **options):
    """Return the table of files; options of truth go to the accessor, the others to scan."""
    truth_options = {name: options.pop(name) for name in OF_TRUTH if name in options}
    return recframe.scan(source, memory="64MiB", **options)(**truth_options).evaluate(METRICS)


@pytest.fixture
def local(folder):
    """Return the table of the local files."""
    return measure(folder / "bucket" / "runs")


NAMED = ["runs", "runs/", "runs/*", "runs/**/*.parquet", "runs/day=[12]/? *.parquet", "r*"]


@pytest.mark.parametrize("named", NAMED)
def test_folders_and_patterns(named, uri, kept, folder, local):
    """A folder and a pattern name the same files in a store."""
    here = [file.path for file in find_files(folder / "bucket" / named)]
    for place in (uri(named), f"memory://bucket/{named}"):
        pd.testing.assert_frame_equal(local, measure(place))
        there = [file.path for file in find_files(place)]

        assert [path.partition("/bucket/")[2] for path in here] == [
            path.partition("bucket/")[2] for path in there
        ]


def test_a_folder_named_like_a_pattern(kept):
    """A folder that exists is read with all its files, even if its name looks like a pattern."""
    for key in ("run[1]/0.parquet", "run1/0.parquet", "run[1]/metadata/1.parquet"):
        kept.pipe_file(f"/bucket/named/{key}", b"")
    for pattern, names in {"run[1]": ["0", "metadata/1"], "run[[]1]/*.parquet": ["0"]}.items():
        found = [file.path for file in find_files(f"memory://bucket/named/{pattern}")]

        assert [f"memory://bucket/named/run[1]/{name}.parquet" for name in names] == found


def test_days_are_columns(uri, rows):
    """Hive folders are columns in a store too."""
    table = recframe.scan(uri("runs"))(user="day", duplicates="keep").recall(k=3)

    assert [1, 2] == table.index.tolist()


def test_lists_of_files(uri, kept, folder, local):
    """A list may have files of several stores and of this machine."""
    paths = [uri("runs/day=1"), "memory://bucket/runs/day=2/1 é.parquet"]
    paths.append((folder / "bucket" / "runs" / "day=2" / "3 é.parquet").as_uri())

    pd.testing.assert_frame_equal(local, measure(paths))


def test_truth_and_exclude(uri, server, kept, folder, rows):
    """Truth and exclude may be in stores, for rows in files and in frames."""
    bucket = folder / "bucket"
    here = measure(bucket / "runs", truth=bucket / "truth.parquet", exclude=bucket / "seen.parquet")
    for place in (uri, lambda key: f"memory://bucket/{key}"):
        companions = {"truth": place("truth.parquet"), "exclude": place("seen.parquet")}
        pd.testing.assert_frame_equal(here, measure(place("runs"), **companions))
        pd.testing.assert_frame_equal(
            here, rows.drop(columns="day").rec(**companions).evaluate(METRICS)
        )


def test_storage_options(kept, folder, local):
    """storage_options open the URIs of a call, and plain paths are of this machine."""
    companions = {
        "truth": "memory://bucket/truth.parquet",
        "exclude": folder / "bucket/seen.parquet",
    }
    here = measure(
        folder / "bucket/runs", truth=folder / "bucket/truth.parquet", exclude=companions["exclude"]
    )

    options = {"storage_options": {"skip_instance_cache": True}}
    pd.testing.assert_frame_equal(local, measure("memory://bucket/runs", **options))
    pd.testing.assert_frame_equal(here, measure("memory://bucket/runs", **options, **companions))


def test_a_filesystem_has_all_paths(server, kept, folder):
    """With filesystem=, every path of the call is in it."""
    bucket = folder / "bucket"
    here = measure(bucket / "runs", truth=bucket / "truth.parquet", exclude=bucket / "seen.parquet")
    s3 = pyarrow.fs.S3FileSystem(
        access_key="key",
        secret_key=SECRET,
        endpoint_override=f"127.0.0.1:{server.port}",
        scheme="http",
        region="us-east-1",
    )
    below = pyarrow.fs.SubTreeFileSystem(str(folder), pyarrow.fs.LocalFileSystem())
    for filesystem in (s3, kept, below):
        companions = {"truth": "bucket/truth.parquet", "exclude": "bucket/seen.parquet"}
        if filesystem is kept:
            companions = {name: f"/{path}" for name, path in companions.items()}
        there = measure("bucket/runs/**/*.parquet", filesystem=filesystem, **companions)

        pd.testing.assert_frame_equal(here, there)


@pytest.mark.parametrize("has_sizes", [True, False])
@pytest.mark.parametrize("has_ranges", [True, False])
def test_the_web(has_ranges, has_sizes, server, folder):
    """A web server may list folders, send parts of files and tell sizes, or not."""
    pytest.importorskip("aiohttp")
    server.has_ranges, server.has_sizes = has_ranges, has_sizes
    bucket = folder / "bucket"
    web = f"http://127.0.0.1:{server.port}/bucket"
    of_frame = {"population": "rows"}  # The file of truth has users of other days too.
    here = measure(bucket / "runs/day=1", truth=bucket / "truth.parquet", **of_frame)
    for place in (
        f"{web}/runs/day=1/",
        [f"{web}/runs/day=1/{n} é.parquet?sig={n}" for n in (0, 2)],
    ):
        there = measure(place, truth=f"{web}/truth.parquet", **of_frame)
        pd.testing.assert_frame_equal(here, there)


def test_a_web_server_that_is_not_there(server):
    """A web server that does not answer is not called a missing file."""
    pytest.importorskip("aiohttp")
    server.shutdown()
    server.server_close()
    with pytest.raises(recframe.RecframeError, match=r"run\.parquet") as refused:
        recframe.evaluate(f"http://127.0.0.1:{server.port}/run.parquet")
    assert "no such file" not in str(refused.value)


def test_pythons_own_web_server(folder):
    """Files of `python -m http.server`, which sends only whole files, are read."""
    pytest.importorskip("aiohttp")
    command = [sys.executable, "-u", "-m", "http.server", "0", "-b", "127.0.0.1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen([*command, "-d", str(folder)], **pipes) as process:
        try:
            port = process.stdout.readline().split("port ")[1].split()[0]
            table = measure(f"http://127.0.0.1:{port}/bucket/runs/day=2/")
        finally:
            process.kill()

    pd.testing.assert_frame_equal(measure(folder / "bucket/runs/day=2"), table)


@pytest.fixture(scope="module")
def s3(folder):
    """Upload the bucket to S3 as simulated by moto, and return the query of its URIs."""
    server = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    keys = {"aws_access_key_id": "key", "aws_secret_access_key": SECRET}
    client = boto3.client(
        "s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1", **keys
    )
    client.create_bucket(Bucket="bucket")
    for path in (folder / "bucket").rglob("*"):
        if path.is_file():
            client.upload_file(str(path), "bucket", path.relative_to(folder / "bucket").as_posix())
    yield f"endpoint_override={host}:{port}&scheme=http&region=us-east-1"
    client.close()
    running.stop()


def test_s3(s3, folder):
    """Files uploaded to S3 are read, and outputs in S3 are read again."""
    bucket, there = folder / "bucket", f"s3://key:{SECRET}@bucket"
    names = {"truth": "truth.parquet", "exclude": "seen.parquet"}
    here = measure(bucket / "runs", **{name: bucket / path for name, path in names.items()})
    companions = {name: f"{there}/{path}?{s3}" for name, path in names.items()}

    pd.testing.assert_frame_equal(here, measure(f"{there}/runs?{s3}", **companions))
    pd.testing.assert_frame_equal(here, measure(f"{there}/**/[0-3] *.parquet?{s3}", **companions))
    each = f"{there}/out/each.parquet?{s3}"
    arguments = [f"{there}/runs?{s3}", "--metric", *METRICS, "--per-user", each, "-q"]
    for name, path in companions.items():
        arguments += [f"--{name}", path]
    from recframe.cli import main

    assert 0 == main(["evaluate", *arguments])
    pd.testing.assert_frame_equal(here, recframe.read_per_user(each), check_names=False)


def test_a_delta_table_in_s3(s3, rows, folder, monkeypatch):
    """The live files of a Delta table are read, with the credentials in the environment."""
    # Requests of older versions do not reach this server.
    deltalake = pytest.importorskip("deltalake", minversion="1.1")
    endpoint = "http://" + s3.partition("=")[2].partition("&")[0]
    known = {"ENDPOINT_URL": endpoint, "ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": SECRET}
    for name, value in (known | {"REGION": "us-east-1", "ALLOW_HTTP": "true"}).items():
        monkeypatch.setenv(f"AWS_{name}", value)
    for mode in ("overwrite", "overwrite"):  # The files of the first version stay.
        deltalake.write_deltalake("s3://bucket/delta", rows, mode=mode, partition_by=["day"])
    options = {"truth_user": "user"}  # Rows and truth both have a day.
    there = measure(f"s3://bucket/delta?{s3}", truth=f"s3://bucket/delta?{s3}", **options)

    pd.testing.assert_frame_equal(rows.rec(truth=rows, **options).evaluate(METRICS), there)
    with pytest.raises(
        recframe.RecframeError, match=r"Pass deltalake.DeltaTable\('s3://bucket/del"
    ):
        recframe.scan(f"s3://key:{SECRET}@bucket/delta?{s3}")
    with pytest.raises(
        recframe.RecframeError, match="part of the Delta table s3://bucket/delta, wh"
    ):
        recframe.scan(f"s3://bucket/delta/*/*.parquet?{s3}")


def test_options_of_s3fs(s3, folder, local):
    """Options of s3fs open a store as they do in pandas."""
    pytest.importorskip("s3fs")
    endpoint = "http://" + s3.partition("=")[2].partition("&")[0]
    options = {"key": "key", "secret": SECRET, "client_kwargs": {"endpoint_url": endpoint}}

    pd.testing.assert_frame_equal(local, measure("s3://bucket/runs", storage_options=options))


def test_text_in_stores(uri, kept, folder, rows, local):
    """Formats without footers are read in a store too."""
    path = folder / "bucket" / "text" / "rows.csv.gz"
    path.parent.mkdir(exist_ok=True)
    rows.to_csv(path, index=False)
    kept.put(str(path), "/bucket/text/rows.csv.gz")
    for place in (uri("text"), "memory://bucket/text/*.csv.gz"):
        pd.testing.assert_frame_equal(measure(path), measure(place))


def test_row_groups_that_cannot_match_are_not_fetched(uri, server, folder, rows):
    """Neither files of other days nor row groups of other users are requested."""
    filters = [("day", "==", 1), ("user", "==", "user 20")]
    runs = recframe.scan(uri("runs"), memory="64MiB", filters=filters)
    begun = len(server.requests)
    table = runs(short="pad").recall(k=1)
    asked = [path for method, path, part in server.requests[begun:] if part]

    assert ["user 20"] == table.index.tolist()
    assert asked
    assert not any("day%3D2" in path for path in asked)


def test_requests(uri, server):
    """A folder is listed twice, and each file takes a request for its size, end and row groups."""
    recframe.evaluate(uri("runs"), METRICS, memory="64MiB")
    lists = [path for _, path, _ in server.requests if "list-type=2&max-keys=1000" in path]
    gets = [path for method, path, part in server.requests if method == "GET" and part]

    assert 2 == len(lists)
    assert 4 == sum(method == "HEAD" and "day" in path for method, path, _ in server.requests)
    assert 4 + 16 >= len(gets)


CHANGED = "cannot read {}: it changed while it was read. Pass its path again once it is written"


@pytest.mark.parametrize("below", ["", "/*.parquet", "/0.parquet"])
def test_files_that_change_in_s3(uri, folder, rows, below):
    """A file whose time of change differs in the listing at the end is refused.

    A scan keeps the old time, so its later calls are refused too.
    """
    path = folder / "bucket" / "nightly" / "0.parquet"
    path.parent.mkdir(exist_ok=True)
    rows.to_parquet(path)
    os.utime(path, (1, 1))
    scan = recframe.scan(uri(f"nightly{below}"), progress=lambda *_: path.touch())
    for _ in range(2):
        with pytest.raises(
            recframe.RecframeError, match=CHANGED.format("s3://bucket/nightly/0.parquet")
        ):
            scan(short="pad").recall(2)


@pytest.mark.parametrize("name", ["0.parquet", "0.csv"])
def test_files_that_change_in_other_stores(kept, rows, monkeypatch, name):
    """The time of change is known for every library of fsspec, for rows and truth."""
    uri, write = f"memory://changing/{name}", rows.to_csv if name == "0.csv" else rows.to_parquet
    cat_file = type(kept).cat_file
    write(uri, index=False)

    def read_and_rewrite(self, path, *args, **options):
        data = cat_file(self, path, *args, **options)
        self.pipe_file(path, cat_file(self, path))
        return data

    frame = rows.drop(columns="relevant")
    monkeypatch.setattr(type(kept), "cat_file", read_and_rewrite)
    with pytest.raises(recframe.RecframeError, match=CHANGED.format(uri)):
        recframe.scan(uri)(short="pad").evaluate(METRICS)
    with pytest.raises(recframe.RecframeError, match=f"truth: {CHANGED.format(uri)}"):
        frame.rec(truth=uri, truth_user="user", short="pad").recall(2)


@pytest.mark.parametrize("memory", ["1GiB", 1])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_files_of_any_layout(rows, kept, tmp_path, memory, is_sorted):
    """Files in one or many row groups, sorted or not, give the table of the frame."""
    rows = rows.drop(columns="day")[:240]
    frame = rows if is_sorted else rows.sample(frac=1, random_state=1)
    below = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    expected = rows.rec(short="pad").evaluate(["recall@3", "ndcg@2"])
    for size in (7, 1000):
        for number in range(3):
            part = frame[number * 80 : number * 80 + 80]
            part.to_parquet(tmp_path / f"{number}.parquet", row_group_size=size)
        kept.put(f"{tmp_path}/*.parquet", "/bucket/layouts/")
        for place, filesystem in (("*.parquet", below), ("/bucket/layouts", kept)):
            runs = recframe.scan(place, memory=memory, filesystem=filesystem)
            table = runs(short="pad").evaluate(["recall@3", "ndcg@2"])

            pd.testing.assert_frame_equal(expected, table)


def test_threads_end(rows, tmp_path):
    """The reading thread ends if its iterator is abandoned."""
    rows.to_parquet(tmp_path / "0.parquet", row_group_size=10)
    below = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    tables = recframe.scan("0.parquet", memory=1, filesystem=below)(short="pad").iter_evaluate()
    next(tables)
    thread = Thread(target=tables.close)
    thread.start()
    thread.join(20)

    assert not thread.is_alive()


def test_filesystems_go(rows, tmp_path):
    """No filesystem of fsspec is kept after a call."""
    below = pytest.importorskip("fsspec").filesystem("local", skip_instance_cache=True)
    rows.to_parquet(tmp_path / "0.parquet")
    recframe.scan(tmp_path / "0.parquet", filesystem=below)(short="pad").evaluate(METRICS)
    gone = weakref.ref(below)
    del below
    gc.collect()

    assert gone() is None


def test_row_groups_are_fetched_ahead(uri, server, rows, folder):
    """Later row groups are requested while one is read, each in one request."""
    path = folder / "bucket" / "ahead" / "0.parquet"
    path.parent.mkdir(exist_ok=True)
    rows.to_parquet(path, row_group_size=60)
    server.delay = 0.2
    begun = time.monotonic()
    recframe.evaluate(uri("ahead/0.parquet"), METRICS, memory="64MiB")
    parts = [part for method, _, part in server.requests if method == "GET" and part]

    assert 1 + 10 == len(parts)
    assert time.monotonic() - begun < 10 * server.delay


def test_wide_row_groups_are_read_part_by_part(uri, server, folder, monkeypatch):
    """A row group that does not fit is fetched in parts, in the order of rows."""
    monkeypatch.setattr(batches, "LEAST_AHEAD", 1)
    rng, n_rows = np.random.default_rng(0), 100_000
    frame = pd.DataFrame({"user": np.arange(n_rows) // 10, "score": rng.random(n_rows)})
    frame["relevant"] = rng.random(n_rows) < 0.2
    path = folder / "bucket" / "wide" / "0.parquet"
    path.parent.mkdir(exist_ok=True)
    frame.to_parquet(path, row_group_size=n_rows)
    table = recframe.evaluate(uri("wide/0.parquet"), "recall@3", memory="1MiB")
    parts = [part for method, _, part in server.requests if method == "GET" and part]

    pd.testing.assert_frame_equal(recframe.evaluate(path, "recall@3"), table)
    assert len(parts) > 4
