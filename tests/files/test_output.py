"""Outputs are complete or missing, with the same values in every format."""

import os
import secrets
import shutil
import stat
import subprocess
import sys
from contextlib import suppress

import pandas as pd
import pytest

import recframe
from files.layouts import FEW
from recframe.cli import main
from recframe.files.per_user_tables import FILE_ENDINGS
from recframe.stores.listings import list_files
from recframe.stores.outputs import check_apart, whole_file


def test_a_file_appears_once_it_is_whole(tmp_path):
    """The old file stays, next to a hidden one, until the new file is complete."""
    path = tmp_path / "users.csv"
    path.write_text("before")
    with whole_file(path) as file:
        file.write(b"after")
        assert "before" == path.read_text()

    assert "after" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


def test_a_file_that_does_not_become_whole(tmp_path):
    """An incomplete output leaves the old file and nothing else."""
    path = tmp_path / "users.csv"
    path.write_text("before")
    with suppress(KeyboardInterrupt), whole_file(path) as file:
        file.write(b"after")
        raise KeyboardInterrupt

    assert "before" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


def test_two_runs_at_once(tmp_path, monkeypatch):
    """Runs with one process id, as in two containers, do not touch each other's files."""
    monkeypatch.setattr(os, "getpid", lambda: 1)
    path = tmp_path / "users.csv"
    with whole_file(path) as first:
        first.write(b"first ")
        with suppress(KeyboardInterrupt), whole_file(path) as second:
            second.write(b"second")
            raise KeyboardInterrupt
        with whole_file(path) as third:
            third.write(b"third")
        assert "third" == path.read_text()
        first.write(b"run")

    assert "first run" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


def test_a_name_that_is_taken(tmp_path, monkeypatch):
    """If two runs draw the same name, the second is refused and the first succeeds."""
    monkeypatch.setattr(secrets, "token_hex", lambda n_bytes: "0" * 2 * n_bytes)
    path = tmp_path / "users.csv"
    with whole_file(path) as file:
        file.write(b"first")
        with pytest.raises(recframe.RecframeError, match=r"cannot write .*: File exists"):
            whole_file(path).__enter__()

    assert "first" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


def test_a_file_taken_away(tmp_path):
    """An output that somebody removes during the call raises."""
    path = tmp_path / "users.csv"
    output = whole_file(path)
    output.__enter__().write(b"after")
    next(tmp_path.iterdir()).unlink()
    with pytest.raises(recframe.RecframeError, match=r"cannot write .*users.csv: No such file"):
        output.__exit__(None, None, None)

    assert [] == list(tmp_path.iterdir())


NAMESPACE = ["unshare", "--pid", "--fork", "--user", "--map-root-user"]
# The program prints its process id once it writes, and waits for a line to go on.
RUN = """
import os, sys
from pathlib import Path
from recframe.stores.outputs import check_apart, whole_file
with whole_file(Path(sys.argv[1])) as file:
    file.write(b"begun ")
    print(os.getpid(), flush=True)
    file.write(sys.stdin.readline().encode())
"""


@pytest.mark.skipif(not shutil.which("unshare"), reason="needs namespaces of process ids")
def test_two_containers(tmp_path):
    """Two runs that are both process 1 may write to one folder, one after the other."""
    path = tmp_path / "users.csv"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [*NAMESPACE, sys.executable, "-c", RUN, str(path)]
    if subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode:
        pytest.skip("no namespace may be made here")
    with subprocess.Popen(command, **pipes) as one, subprocess.Popen(command, **pipes) as other:
        assert ["1\n"] * 2 == [one.stdout.readline(), other.stdout.readline()]
        assert 2 == len(list(tmp_path.iterdir()))
        other.communicate("other")
        assert "begun other" == path.read_text()
        one.communicate("one")

    assert "begun one" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
def test_permissions_and_links_stay(tmp_path):
    """New files get usual permissions, old files keep their permissions, and links stay."""
    path, link = tmp_path / "users.csv", tmp_path / "link.csv"
    link.symlink_to(path)
    for mode in (0o640, 0o600):
        before = os.umask(0o027)
        try:
            with whole_file(link) as file:
                file.write(b"after")
        finally:
            os.umask(before)

        assert link.is_symlink()
        assert "after" == path.read_text()
        assert mode == stat.S_IMODE(path.stat().st_mode)
        path.chmod(0o600)
    assert {link, path} == set(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_what_is_no_file_is_not_replaced(tmp_path):
    """A pipe as output is refused at once."""
    path = tmp_path / "users.csv"
    os.mkfifo(path)
    with pytest.raises(recframe.RecframeError, match=r"cannot write .*: it is a pipe, not a file"):
        whole_file(path).__enter__()

    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", FILE_ENDINGS)
def test_values_of_all_blocks_are_written(large, tmp_path, ending):
    """The file of --per-user has the values of the users of all blocks."""
    rows, path = tmp_path / "rows.parquet", tmp_path / f"users{ending}"
    large.to_parquet(rows, row_group_size=50)
    words = ["--memory", "1", "--short", "pad", "--per-user", str(path), "-q"]
    assert 0 == main(["evaluate", str(rows), "--metric", *FEW, *words])
    blocks = recframe.scan(rows, memory=1, short="pad").iter_evaluate(FEW)

    assert len([*blocks]) > 1
    expected = recframe.evaluate(large, FEW, short="pad")
    pd.testing.assert_frame_equal(expected, recframe.read_per_user(path), check_exact=True)


def test_a_folder_is_not_replaced(tmp_path):
    """A folder at the path of an output is refused before the work."""
    (tmp_path / "users.csv").mkdir()
    with pytest.raises(recframe.RecframeError, match=r"cannot write .*users.csv: it is a folder"):
        whole_file(tmp_path / "users.csv").__enter__()

    assert ["users.csv"] == [path.name for path in tmp_path.iterdir()]


def test_files_that_are_read(tmp_path):
    """A folder lists its files without a writer's notes; any other path lists itself."""
    for name in ("b", "a/1", "a/_notes"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    assert [f"{tmp_path}/a/1", f"{tmp_path}/b"] == list_files(str(tmp_path))
    assert [f"{tmp_path}/b"] == list_files(f"{tmp_path}/b")
    assert ["no such file"] == list_files("no such file")


def test_an_output_that_is_read(tmp_path):
    """An output must not be an input under any name."""
    one, other, link = (tmp_path / name for name in ("one.csv", "other.csv", "link.csv"))
    one.touch()
    other.touch()
    os.link(one, link)
    check_apart(other, [str(one)], [])
    check_apart(tmp_path / "new.csv", [str(one)], [str(one)])
    with pytest.raises(recframe.RecframeError, match=r"one.csv: it is an input. Write to"):
        check_apart(one, [str(other), str(one)], [])
    with pytest.raises(recframe.RecframeError, match=r"an input, named .*link.csv."):
        check_apart(one, [str(link)], [])


def test_an_output_that_would_be_read(tmp_path):
    """An output that the next run would read is refused."""
    (tmp_path / "runs").mkdir()
    check_apart(tmp_path / "users.parquet", [], [f"{tmp_path}/runs", f"{tmp_path}/runs/*"])
    for pattern in (f"{tmp_path}/runs", f"{tmp_path}/*/*.parquet"):
        with pytest.raises(
            recframe.RecframeError,
            match=r"next call would read it, because .*/(runs|.*parquet) n",
        ):
            check_apart(tmp_path / "runs" / "users.parquet", [], ["elsewhere", pattern])
