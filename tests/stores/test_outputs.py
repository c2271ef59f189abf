"""Outputs in stores are complete or missing, and can be read again."""

import gzip

import pandas as pd
import pytest

import recframe
from recframe.cli import main
from recframe.cli.trec import name_runs
from recframe.stores import outputs

METRICS = ["--metric", "recall@3", "ndcg@3", "-q"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_results_go_to_stores_and_back(ending, kept, folder, tmp_path, capsys):
    """Per-user tables and means in stores equal files that are written on this machine."""
    out = "memory://bucket/out"
    for place in (out, str(tmp_path)):
        paths = ["--per-user", f"{place}/each.{ending}", "--output", f"{place}/means.{ending}"]
        assert 0 == main(["evaluate", str(folder / "bucket/runs"), *METRICS, *paths])
    for name in ("each", "means"):
        assert (
            kept.cat(f"/bucket/out/{name}.{ending}") == (tmp_path / f"{name}.{ending}").read_bytes()
        )

    table = recframe.read_per_user(tmp_path / f"each.{ending}")
    pd.testing.assert_frame_equal(table, recframe.read_per_user(f"{out}/each.{ending}"))
    pd.testing.assert_frame_equal(table, recframe.read_per_user(f"{out}/*ch.{ending}"))
    kept.copy(f"/bucket/out/each.{ending}", f"/bucket/out/new.{ending}")
    capsys.readouterr()
    compared = ["compare", f"{out}/each.{ending}", f"{out}/new.{ending}", "-o", f"{out}/c.json"]

    assert 0 == main(compared)
    assert f"baseline: {out}/each.{ending}" in capsys.readouterr().out
    assert b'"paths"' in kept.cat("/bucket/out/c.json")


def test_results_go_to_file_uris(folder, tmp_path):
    """A file:// URI is an output on this machine."""
    path = tmp_path / "a b.csv"

    assert 0 == main(["evaluate", (folder / "bucket/runs").as_uri(), *METRICS, "-o", path.as_uri()])
    assert path.is_file()


def test_trec_files_in_stores(kept, capsys):
    """Runs and qrels in a store are read like files of this machine; no output has a secret."""
    kept.pipe_file("/bucket/q.txt", b"1 0 b 1\n")
    kept.pipe_file("/bucket/a/run.gz", gzip.compress(b"1 Q0 a 1 0.9 x\n1 Q0 b 2 0.8 x\n"))
    kept.pipe_file("/bucket/b/run.gz", b"1 Q0 b 1 0.9 x\n")
    run = recframe.read_run("memory://bucket/a/run.gz")

    assert ["a", "b"] == run["doc"].tolist()
    runs = [f"memory://bucket/{name}/run.gz" for name in "ab"]
    assert 0 == main(["trec", "memory://bucket/q.txt", *runs, "-m", "map", "--format", "csv"])
    assert f"{runs[0]},0.5\n{runs[1]},1.0\n" in capsys.readouterr().out
    with pytest.raises(recframe.RecframeError, match=r"bucket/no\.txt: no such file"):
        recframe.read_run("memory://bucket/no.txt")
    kept.pipe_file("/bucket/bad.gz", gzip.compress(b"1 Q0 a 1 0.9 x\n")[:-4])
    with pytest.raises(recframe.RecframeError, match=r"bucket/bad\.gz: .*; fetch it anew"):
        recframe.read_qrels("memory://bucket/bad.gz")
    assert 1 == main(["trec", "memory://bucket/q.txt", runs[0], runs[0]])
    assert f"{runs[0]} is named twice" in capsys.readouterr().err


def test_runs_whose_addresses_differ_in_hidden_parts():
    """Two runs whose addresses look alike get different names, without their secrets."""
    pytest.importorskip("aiohttp")
    runs = [f"https://host/run.txt?token={secret}" for secret in ("abcd", "efgh")]
    assert ["https://host/run.txt (1)", "https://host/run.txt (2)"] == name_runs(runs)


def test_a_store_without_a_folder(kept, capsys):
    """An output below a whole store is refused, and one file is never two."""
    words = ["evaluate", "memory://", *METRICS, "-o", "memory://bucket/runs/means.csv"]
    assert 1 == main(words)
    assert "the next call would read it, because memory://" in capsys.readouterr().err
    kept.pipe_file("/bucket/one/a.csv", b"user,item,score,relevant\n1,a,0.9,1\n")
    with pytest.raises(recframe.RecframeError, match=r"a\.csv is named twice"):
        recframe.scan(["memory:///bucket/one", "memory:///bucket/one/a.csv"])


REFUSED = {
    "memory://bucket/runs/each.csv": "the next call would read it, because memory://bucket/runs",
    "memory://bucket/runs/day=1/0 é.parquet": "it is an input. Write to another file",
    "memory://bucket/runs": None,
    "http://127.0.0.1:9/x.csv": "a web server accepts no files",
    "nope://x/y.csv": "cannot write nope://x/y.csv: neither pyarrow nor fsspec",
}


@pytest.mark.parametrize("output", REFUSED)
def test_outputs_that_are_refused(output, kept, capsys):
    """An output that is an input, would be one or cannot be written is refused before the work."""
    if output.startswith("http"):
        pytest.importorskip("aiohttp")
    status = None
    try:
        status = main(["evaluate", "memory://bucket/runs", *METRICS, "--output", output])
    except SystemExit as ended:
        status = ended.code

    assert (2 if REFUSED[output] is None else 1) == status
    assert (REFUSED[output] or "must end in") in capsys.readouterr().err


def test_an_output_of_a_folder(kept, capsys):
    """A folder as output is refused and kept."""
    kept.pipe_file("/bucket/out.csv/x", b"")

    assert 1 == main(
        ["evaluate", "memory://bucket/runs", *METRICS, "-o", "memory://bucket/out.csv"]
    )
    assert "cannot write memory://bucket/out.csv: it is a folder" in capsys.readouterr().err


def test_nothing_is_left_of_a_run_that_fails(kept, folder, capsys):
    """A failed run leaves no new file, and the old one stays."""
    kept.pipe_file("/bucket/old.csv", b"old")
    for name in ("bucket/none.parquet", "bucket/truth.parquet"):
        paths = ["--per-user", "memory://bucket/new.csv", "-o", "memory://bucket/old.csv"]

        assert 1 == main(["evaluate", str(folder / name), *METRICS, *paths])
    assert b"old" == kept.cat("/bucket/old.csv")
    assert not kept.exists("/bucket/new.csv")
    assert not kept.glob("/bucket/.recframe*")


def test_an_upload_that_fails(kept, monkeypatch, folder, capsys):
    """If a store shows incomplete files, an upload has another name until it is complete."""
    monkeypatch.setattr(outputs, "OBJECT_STORES", set())
    arguments = ["evaluate", str(folder / "bucket/runs"), *METRICS, "-o", "memory://bucket/new.csv"]

    assert 0 == main(arguments)
    written = kept.cat("/bucket/new.csv")

    def fail(*_, **__):
        raise OSError("the store is full")

    monkeypatch.setattr(type(kept), "mv", fail)

    assert 1 == main(arguments)
    assert "cannot write memory://bucket/new.csv: the store is full" in capsys.readouterr().err
    assert written == kept.cat("/bucket/new.csv")
    assert not kept.glob("/bucket/.recframe*")


def test_uploads_are_moved_only_where_parts_show(kept, monkeypatch, folder):
    """An object store shows complete files only, so uploads to it are not moved."""
    arguments = ["evaluate", str(folder / "bucket/runs"), *METRICS, "-o", "memory://bucket/new.csv"]
    moved = []
    monkeypatch.setattr(type(kept), "mv", lambda _, *paths, **__: moved.append(paths))

    assert 0 == main(arguments)
    assert [] == moved
    assert kept.exists("/bucket/new.csv")

    monkeypatch.setattr(outputs, "OBJECT_STORES", set())

    assert 0 == main(arguments)
    assert 1 == len(moved)
    assert moved[0][0].split("/")[-1].startswith(".recframe-")


def test_a_bucket_to_write_to_that_is_not_there(uri, folder, capsys):
    """A missing bucket for the output is refused before the work."""
    output = uri("out.csv").replace("@bucket", "@nowhere")

    assert 1 == main(["evaluate", str(folder / "bucket/runs"), *METRICS, "-o", output])
    assert (
        "write s3://nowhere/out.csv: the bucket nowhere does not exist" in capsys.readouterr().err
    )
