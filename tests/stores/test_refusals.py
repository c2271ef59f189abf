"""Errors in a store become one clear line, which never has credentials."""

import sys
import traceback

import pandas as pd
import pyarrow.fs
import pytest

import recframe
from recframe.cli import main
from recframe.errors import hide
from recframe.stores import Access, expand_path, is_uri, show_uri

from .conftest import SECRET


def refusal(call, match):
    """Return the text of a refusal and its causes; the message must be one line."""
    with pytest.raises(recframe.RecframeError, match=match) as caught:
        call()
    error = caught.value
    whole = "".join(traceback.format_exception(error))
    led = [error]
    for one in led:
        led += [new for new in (one.__cause__, one.__context__) if new and new not in led]

    assert "\n" not in str(error)
    assert SECRET not in f"{led}{[*map(str, led)]}{whole}"
    return whole


REFUSED = {
    "runs/none.parquet": "cannot read s3://bucket/runs/none.parquet: no such file",
    "none": "cannot read s3://bucket/none: no such file",
    "runs/*.csv": "cannot read s3://bucket/runs/.*csv: no such file",
    "runs/day=1/.note": "cannot read s3://bucket/runs/day=1/.note: Parquet file size is 0 bytes",
}


@pytest.mark.parametrize("key", REFUSED)
def test_what_is_not_there(key, uri, frame):
    """A missing file, folder or match is refused by its URI, for every option."""
    refusal(lambda: recframe.evaluate(uri(key)), REFUSED[key])
    if "*" not in key:
        for name in ("truth", "exclude"):
            refusal(lambda name=name: frame.rec(**{name: uri(key)}).recall(k=1), f"{name}: .*s3://")


def test_a_folder_expand_paths(kept):
    """A folder without files is refused as on this machine, also next to other matches."""
    kept.pipe_file("/bucket/days/1/_SUCCESS", b"")
    kept.pipe_file("/bucket/days/2/0.parquet", b"")
    for path in ("days/1", "days/*"):
        refusal(
            lambda path=path: recframe.scan(f"memory://bucket/{path}"),
            "cannot read memory://bucket/days/1: no file in that folder",
        )


def test_a_bucket_that_is_not_there(uri):
    """A missing bucket is refused like a missing file."""
    gone = uri("runs").replace("@bucket", "@nowhere")

    refusal(lambda: recframe.evaluate(gone), "cannot read s3://nowhere/runs: no such file")


@pytest.mark.parametrize("status", [401, 403])
def test_wrong_credentials(uri, server, frame, status):
    """A store that denies access is refused with the store's message, not as a missing file."""
    server.status = status
    for key in ("runs", "runs/*.parquet"):
        match = r"s3://bucket/runs.*: .*ACCESS_DENIED"
        refusal(lambda key=key: recframe.evaluate(uri(key)), match)
        refusal(lambda key=key: frame.rec(truth=uri(key)).recall(1), match)
    pytest.importorskip("aiohttp")
    web = f"http://127.0.0.1:{server.port}/bucket"
    options = {"headers": {"Authorization": SECRET}}
    for path in (f"{web}/x.parquet?sig={SECRET}", f"{web}/", f"{web}/*.csv", f"{web}/a#{SECRET}"):
        for call in (
            lambda path=path: recframe.evaluate(path),
            lambda path=path: recframe.scan(path, storage_options=options).recall(1),
            lambda path=path: frame.rec(truth=path).recall(1),
        ):
            refusal(call, f"cannot read http.*: {status}, message=")


@pytest.fixture
def s3(server):
    """Return a filesystem of the same store that does not retry."""
    return pyarrow.fs.S3FileSystem(
        access_key="key",
        secret_key=SECRET,
        endpoint_override=f"127.0.0.1:{server.port}",
        scheme="http",
        region="us-east-1",
        retry_strategy=pyarrow.fs.AwsStandardS3RetryStrategy(max_attempts=1),
    )


def test_a_server_that_dies(server, s3, tmp_path):
    """If a server dies, temporary files are removed and the file being read is named."""
    runs = recframe.scan("bucket/runs", memory=1, tmp=tmp_path, filesystem=s3)
    server.n_left = 4_000
    refusal(lambda: runs.evaluate("recall@3"), "cannot read bucket/runs/day=.*parquet: .*")

    assert [] == list(tmp_path.iterdir())


def test_a_store_that_says_nothing(server):
    """A filesystem with a timeout gives up a request without an answer."""
    server.delay = 30
    s3 = pyarrow.fs.S3FileSystem(
        access_key="key",
        secret_key=SECRET,
        endpoint_override=f"127.0.0.1:{server.port}",
        scheme="http",
        region="us-east-1",
        request_timeout=1,
        retry_strategy=pyarrow.fs.AwsStandardS3RetryStrategy(max_attempts=1),
    )
    match = "cannot read bucket/runs: .*NETWORK_CONNECTION"
    refusal(lambda: recframe.scan("bucket/runs", filesystem=s3), match)


def test_a_web_server_that_dies(server):
    """A web server that dies is refused without the secret in its address."""
    pytest.importorskip("aiohttp")
    web = f"http://127.0.0.1:{server.port}/bucket"
    sure = recframe.scan(f"{web}/0.parquet?sig={SECRET}")
    server.n_left = 0
    for call in (
        lambda: sure.recall(k=1),
        lambda: recframe.scan(f"{web}/runs/"),
    ):
        refusal(call, "cannot read http://127.0.0.1:[0-9]*/bucket")
    server.shutdown()
    server.server_close()
    refusal(
        lambda: recframe.evaluate(f"{web}/truth.parquet?sig={SECRET}"),
        "cannot read http://.*(503|onnect)",
    )


def test_an_address_of_a_web_page():
    """A slash before the @ is refused, because a part of the secret would be a path."""
    path = f"s3://key:abc/{SECRET}@bucket/x.parquet"

    refusal(lambda: recframe.evaluate(path), "write a slash before the @ as %2F")


def test_unknown_schemes(monkeypatch):
    """A scheme that no library knows is refused, and so is one that needs a missing library."""
    match = "cannot read nope://x/y: neither pyarrow nor fsspec .the extra cloud. knows the scheme"
    refusal(lambda: recframe.evaluate(f"nope://{SECRET}@x/y"), match)
    refusal(lambda: recframe.evaluate(f"s3://bucket/x?nope={SECRET}"), "s3://bucket/x: Unexpected")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    match = r"memory:// is opened by fsspec, which could not be .*pip install 'recframe\[cloud\]'"
    refusal(lambda: recframe.evaluate(f"memory://{SECRET}@x/y"), match)


def test_a_library_that_is_missing(monkeypatch):
    """A missing library is refused with the message of fsspec and the extra to install."""
    pytest.importorskip("fsspec")
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
    monkeypatch.setitem(sys.modules, "s3fs", None)
    options = {"storage_options": {"secret": SECRET}}

    refusal(
        lambda: recframe.scan("s3://b/x", **options), r"s3fs.*; install it with pip install 're"
    )


def test_the_remedy_behind_a_long_message(monkeypatch):
    """A long message still ends with how to install the library."""
    fsspec = pytest.importorskip("fsspec")

    def fail(uri):
        raise ImportError("no module " * 100)

    monkeypatch.setattr(fsspec.core, "url_to_fs", fail)
    match = r"install it with pip install 'recframe\[cloud\]'$"
    refusal(lambda: recframe.scan("memory://x"), match)


def test_storage_options_are_never_shown(kept):
    """Neither refusals nor displays show storage_options."""
    options = {"key": SECRET, "more": [{"secret": SECRET}]}
    refusal(lambda: recframe.scan("x.parquet", storage_options=options), "storage_options are for")
    refusal(
        lambda: recframe.scan("memory://none", storage_options=options), "memory://none: no such"
    )
    refusal(
        lambda: recframe.scan("s3://b", storage_options=options, filesystem=kept),
        "both given",
    )
    refusal(lambda: recframe.scan("s3://b", storage_options=SECRET), "must be a dict .*type str")
    refusal(lambda: recframe.scan("s3://b", filesystem=SECRET), "a filesystem of pyarrow or fsspec")
    runs = recframe.scan("memory://bucket/runs", storage_options=options)(truth="memory://x")

    assert SECRET not in f"{runs!r}{runs._frame!r}{runs._options!r}{Access(options)!r}"


def test_a_filesystem_and_a_uri(s3):
    """With a filesystem of pyarrow, paths must have no scheme."""
    match = "with a filesystem of pyarrow, a path must have no scheme"
    refusal(lambda: recframe.scan("s3://bucket/runs", filesystem=s3), match)


def test_a_library_that_says_a_secret(kept, monkeypatch):
    """Credentials are cut out of a library's message, and its cause is left out."""

    def fail(*_, **__):
        raise PermissionError(f"no entry with {SECRET} to memory://user:{SECRET}@x/y?key={SECRET}")

    options = {"storage_options": {"token": SECRET}}
    with monkeypatch.context() as context:
        context.setattr(type(kept), "find", fail)
        refusal(
            lambda: recframe.scan("memory://bucket/*", **options), "no entry with … to memory:/"
        )


@pytest.mark.parametrize("keys", [["runs/day=1/0 é.parquet"] * 2, ["runs", "runs/day=2/*"]])
def test_files_named_twice(keys, uri, kept):
    """A file named twice is refused, because it would count twice."""
    for place in (uri, lambda key: f"memory://bucket/{key}"):
        with pytest.raises(recframe.RecframeError, match=r"is named twice\. Name it once"):
            recframe.evaluate([place(key) for key in keys])


TABLES = {"Delta": "_delta_log/0.json", "Hudi": ".hoodie/x", "Iceberg": "metadata/1.metadata.json"}


@pytest.mark.parametrize("kind", TABLES)
def test_parts_of_tables(kind, kept, rows):
    """Single files and folders of a table are refused however they are named."""
    frame = rows.drop(columns="day")
    for path in ("a/day=1/0.parquet", "a/day=1/1.parquet"):
        with kept.open(f"/bucket/tables/{path}", "wb") as file:
            frame.to_parquet(file)
    kept.pipe_file(f"/bucket/tables/a/{TABLES[kind]}", b"{}")
    root = "memory://bucket/tables"
    named = [f"{root}/a/day=1", f"{root}/a/*/*.parquet", f"{root}/*", root]
    named.append([f"{root}/a/day=1/{n}.parquet" for n in (0, 1)])
    if kind != "Delta":
        named.append(f"{root}/a")
    for path in named:
        with pytest.raises(recframe.RecframeError, match=rf"it is (part of )?the {kind} table mem"):
            recframe.evaluate(path)

    assert 40 == len(recframe.evaluate(f"{root}/a/day=1/1.parquet", short="pad"))


def test_a_delta_table(kept):
    """A Delta table is refused if its store needs other credentials than the environment's."""
    kept.pipe_file("/bucket/delta/_delta_log/0.json", b"{}")
    match = "storage_options=…"
    options = {"storage_options": {"key": SECRET}}
    refusal(lambda: recframe.scan("memory://bucket/delta", **options), match)
    with pytest.raises(recframe.RecframeError, match=r"memory://bucket/delta: |recframe.de"):
        recframe.scan("memory://bucket/delta")


def test_what_is_a_uri():
    """A drive letter or a name with a colon is no URI, and a shown URI has no secret."""
    assert [False] * 3 == [is_uri(path) for path in ("C:\\x", "c:/x", "day:1/x.parquet")]
    assert "/a b/c" == expand_path("file:///a%20b/c")
    with pytest.raises(recframe.RecframeError, match="URI must begin with a slash"):
        expand_path("file://folder/x")

    hidden = {
        f"s3://k:{SECRET}@b/x.csv?region=r&k={SECRET}": "s3://b/x.csv",
        f"https://{SECRET}@h/x.csv?{SECRET}": "https://h/x.csv",
        f"https://h/x.csv#{SECRET}": "https://h/x.csv",
        f"https://h/a b.csv?x#{SECRET}": "https://h/a b.csv",
        "s3://b/a#1.csv": "s3://b/a#1.csv",
        f"s3://k:a/{SECRET}@b/x y": "s3://b/x y",
        "s3://b/day?/x*.parquet": "s3://b/day?/x*.parquet",
        "abfs://container@account/x": "abfs://container@account/x",
        f"abfs://container:{SECRET}@account/x": "abfs://account/x",
        "http://[::1]:80/a@b": "http://[::1]:80/a@b",
    }
    assert list(hidden.values()) == [show_uri(uri) for uri in hidden]
    assert "https://h/x: In CSV column #0" == hide("https://h/x: In CSV column #0")
    assert f"say 's3://b/x?…' and {SECRET}" == hide(f"say 's3://b/x?k={SECRET}' and {SECRET}")


def test_the_command_line_shows_no_secret(uri, server, capsys):
    """Neither refusals, output nor files of the command line show credentials."""
    commands = (
        ["evaluate", uri("none")],
        ["evaluate", uri("runs"), "--truth", uri("none"), "--format", "json"],
        ["evaluate", uri("runs"), "--truth", uri("truth.parquet"), "--format", "json", "-v"],
        ["evaluate", uri("runs"), "--nope", uri("runs")],
        ["evaluate", uri("runs"), "--per-user", uri("x.nope")],
        ["compare", uri("none.csv"), uri("gone.csv")],
        [uri("runs")],
    )
    statuses = []
    for command in commands:
        try:
            statuses.append(main(command))
        except SystemExit as ended:
            statuses.append(ended.code)
        shown = capsys.readouterr()

        assert SECRET not in shown.out + shown.err
        assert "bucket" in shown.out + shown.err

    assert [1, 1, 0, 2, 2, 1, 2] == statuses


def test_frames_show_no_secret(frame, uri):
    """The repr of options hides credentials."""
    bound = frame.rec(truth=uri("truth.parquet"))

    assert SECRET not in f"{bound!r}{bound._options!r}"
    assert isinstance(frame, pd.DataFrame)
