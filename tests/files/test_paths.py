"""Paths name files, folders, patterns, lists of them, and folders that are columns."""

import datetime
import errno
import inspect
import os
import re
import socket
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recframe
from files.layouts import save_frame, save_user
from recframe.cli import main
from recframe.files.discovery import find_files
from recframe.stores.outputs import would_find

PARTITIONS = {
    "numbers": (["2", "10", "-1"], [-1, 2, 10]),
    "not all numbers": (["2", "10", "x"], ["10", "2", "x"]),
    "numbers with zeros before": (["02", "10"], ["02", "10"]),
    "signs": (["a%2Fb", "c%20d"], ["a/b", "c d"]),
}


@pytest.mark.parametrize("memory", [1, "1GiB"])
@pytest.mark.parametrize("case", PARTITIONS)
@pytest.mark.parametrize("named", ["folder", "pattern"])
def test_users_named_by_folders(tmp_path, case, named, memory):
    """Hive folders are columns, of integers if all values are, and may name users."""
    texts, users = PARTITIONS[case]
    for text in texts:
        save_user(tmp_path / "runs" / f"user={text}" / "0.parquet", None)
        save_user(tmp_path / "runs" / f"user={text}" / "1.parquet", None, scores=(0.8, 0.7))
    (tmp_path / "runs" / "_SUCCESS").touch()
    (tmp_path / "runs" / ".note").touch()
    where = tmp_path / "runs" / "*" / "*.parquet" if named == "pattern" else tmp_path / "runs"
    table = recframe.evaluate(where, ["recall@1"], memory=memory)

    assert users == table.index.tolist()
    assert "user" == table.index.name
    assert [0.5] * len(users) == table["score", "recall@1"].tolist()


def test_a_null_user_named_by_a_folder(tmp_path):
    """Hive's name for null is a null user."""
    save_user(tmp_path / "user=1" / "0.parquet", None)
    save_user(tmp_path / "user=__HIVE_DEFAULT_PARTITION__" / "0.parquet", None)
    with pytest.raises(
        recframe.RecframeError, match=r"ids must not be null, but 2 of 2 rows are null"
    ):
        recframe.evaluate(tmp_path, ["recall@1"])

    assert [1] == recframe.evaluate(tmp_path, ["recall@1"], missing="drop").index.tolist()


def test_a_file_may_have_the_column_of_its_folder(tmp_path):
    """A column in both file and folder has the type of the file."""
    day = datetime.date(2024, 1, 1)
    users = {"7": np.int8(7), "ann": "ann", "a%2Fb": "a/b", "2024-01-01": day, "0.5": 0.5}
    for text, user in users.items():
        path = save_user(tmp_path / text / f"user={text}" / "0.parquet", user)

        assert [user] == recframe.evaluate(path, ["recall@1"]).index.tolist()


@pytest.mark.parametrize("memory", [1, "1GiB"])
@pytest.mark.parametrize("write_statistics", [True, False])
@pytest.mark.parametrize(
    ("folder", "users", "message"),
    [
        ("user=1", ["ann", "ann"], "'user' is 'ann' in .*0.parquet, but 1 by the name of its fol"),
        ("user=ann", ["ann", "bob"], "'user' is 'bob' in .*0.parquet, but 'ann' by the name"),
        ("user=ann", ["ann", None], "'user' is None in .*0.parquet, but 'ann' by the name"),
        ("user=ann", [7, 7], "'user' is '7' in .*0.parquet, but 'ann' by the name"),
        ("user=__HIVE_DEFAULT_PARTITION__", [None, "ann"], "'user' is 'ann' in .*, but None by"),
    ],
)
def test_a_file_at_odds_with_its_folder(tmp_path, folder, users, message, write_statistics, memory):
    """A column that differs between file and folder is refused if it is used."""
    frame = pd.DataFrame({"user": users, "score": [0.9, 0.1], "relevant": [1, 0]})
    path = tmp_path / folder / "0.parquet"
    path.parent.mkdir()
    frame.to_parquet(path, write_statistics=write_statistics)
    for where in (tmp_path, path, tmp_path / "*" / "*.parquet"):
        with pytest.raises(recframe.RecframeError, match=message):
            recframe.evaluate(where, ["recall@1"], memory=memory)


def test_a_column_without_a_role_may_be_at_odds_with_its_folder(tmp_path):
    """A column that is not read may differ from the name of its folder."""
    frame = pd.DataFrame({"user": "ann", "score": [0.9, 0.1], "relevant": [1, 0], "day": 1})
    path = save_frame(frame, tmp_path / "day=2" / "0.parquet")

    assert ["ann"] == recframe.evaluate(path, ["recall@1"]).index.tolist()


def test_folders_that_play_no_role(tmp_path):
    """Folders without a role are ignored, even if only some files have them."""
    save_user(tmp_path / "day=1" / "0.parquet", "ann")
    save_user(tmp_path / "0.parquet", "bob")

    assert ["ann", "bob"] == recframe.evaluate(tmp_path, ["recall@1"]).index.tolist()


@pytest.mark.parametrize("named", ["folder", "pattern", "list"])
def test_several_files_are_one_frame(frame, tmp_path, named):
    """A folder, pattern or list is read as one frame, and users may span files."""
    paths = [
        save_frame(part, tmp_path / "runs" / f"{n}.parquet")
        for n, part in enumerate([frame[:1], frame[1:5], frame[5:]])
    ]
    where = {"folder": tmp_path / "runs", "pattern": tmp_path / "r*" / "*.parquet", "list": paths}

    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@1"]), recframe.evaluate(where[named], ["recall@1"])
    )


def test_no_files():
    """An empty list of files is refused."""
    with pytest.raises(recframe.RecframeError, match="frame: must name at least one file, but is"):
        recframe.evaluate([])


@pytest.mark.parametrize("again", ["run.parquet", "*.parquet", "", "../{0}/run.parquet"])
def test_a_file_named_twice(frame, tmp_path, again):
    """A file that two patterns name is refused, so that rows do not count twice."""
    path = save_frame(frame, tmp_path / "run.parquet")
    with pytest.raises(recframe.RecframeError, match=r"path: .*run.parquet is named twice"):
        recframe.evaluate([path, tmp_path / again.format(tmp_path.name)])


def test_a_file_named_twice_in_two_spellings(frame, tmp_path, monkeypatch):
    """A file named twice under two names is refused with both names."""
    path = save_frame(frame, tmp_path / "runs" / "run.parquet")
    (tmp_path / "runs" / "link.parquet").symlink_to(path)
    (tmp_path / "runs" / "hard.parquet").hardlink_to(path)
    (tmp_path / "other").symlink_to(path.parent)
    monkeypatch.chdir(path.parent)
    for other in ("run.parquet", "link.parquet", "hard.parquet", "../other/run.parquet"):
        expected = re.escape(f"path: {other} is named twice, first as {path}. Name it once")
        with pytest.raises(recframe.RecframeError, match=expected):
            recframe.evaluate([path, other], ["recall@1"])
    with pytest.raises(recframe.RecframeError, match=r"hard.parquet is named twice|link.parquet"):
        recframe.evaluate(tmp_path / "runs")


def test_a_file_named_twice_without_inodes(frame, tmp_path, monkeypatch):
    """Files without inode numbers are compared by their real paths."""
    path = save_frame(frame, tmp_path / "run.parquet")
    (tmp_path / "link.parquet").symlink_to(path)
    stat = os.stat
    no_inode = lambda *args, **kwargs: os.stat_result((*stat(*args, **kwargs)[:1], 0, *[0] * 8))  # noqa: E731
    monkeypatch.setattr(os, "stat", no_inode)
    with pytest.raises(recframe.RecframeError, match=r"run.parquet is named twice, first as .*lin"):
        recframe.evaluate(tmp_path)


def test_links_to_folders_are_followed_once(tmp_path):
    """Linked folders are read, and a loop of links adds no files."""
    save_user(tmp_path / "runs" / "0.parquet", "ann")
    save_user(tmp_path / "other" / "1.parquet", "bob")
    (tmp_path / "runs" / "linked").symlink_to(tmp_path / "other")
    (tmp_path / "runs" / "loop").symlink_to(tmp_path / "runs")
    (tmp_path / "other" / "loop").symlink_to("../runs")
    for where in (tmp_path / "runs", tmp_path / "runs" / "**" / "*.parquet"):
        assert ["ann", "bob"] == recframe.evaluate(where, ["recall@1"]).index.tolist()


def test_a_folder_linked_to_twice(tmp_path):
    """Two links to one folder are refused, because its files would count twice."""
    save_user(tmp_path / "runs" / "0.parquet", "ann")
    (tmp_path / "runs" / "a").mkdir()
    save_user(tmp_path / "other" / "1.parquet", "bob")
    (tmp_path / "runs" / "a" / "b").symlink_to(tmp_path / "other")
    (tmp_path / "runs" / "c").symlink_to(tmp_path / "other")
    with pytest.raises(
        recframe.RecframeError, match=r"runs/c/1.parquet is named twice, first as .*a/b/1.parquet"
    ):
        recframe.evaluate(tmp_path / "runs")


def test_a_pattern_in_no_folder(tmp_path):
    """A pattern below a folder that does not exist is refused with the folder's name."""
    with pytest.raises(recframe.RecframeError, match=r"no folder '.*' for the pattern .*\*.x"):
        recframe.evaluate(tmp_path / "nosuch" / "*.x")


@pytest.mark.parametrize("where", ["", "*", "**/*.parquet", "*.parquet", "1.parquet"])
def test_a_link_that_leads_nowhere(tmp_path, where):
    """A broken link is refused, not skipped."""
    save_user(tmp_path / "0.parquet", "ann")
    (tmp_path / "1.parquet").symlink_to(tmp_path / "gone.parquet")
    with pytest.raises(
        recframe.RecframeError, match=r"1.parquet: it is a symbolic link to .*gone.parquet, which"
    ):
        recframe.evaluate(tmp_path / where)
    assert ["ann"] == recframe.evaluate(tmp_path / "0*.parquet", ["recall@1"]).index.tolist()


@pytest.mark.parametrize("where", ["", "*", "*/*.parquet", "*/0.parquet", "**/0.parquet", "a"])
def test_a_folder_that_cannot_be_read(tmp_path, monkeypatch, where):
    """A folder that cannot be read is refused, not skipped."""
    save_user(tmp_path / "a" / "0.parquet", "ann")
    save_user(tmp_path / "b" / "0.parquet", "bob")
    scandir = os.scandir

    def refuse(folder):
        if Path(folder).name == "a":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(
        recframe.RecframeError, match=r"cannot read .*/a: Permission denied; its rows would be mis"
    ):
        recframe.evaluate(tmp_path / where)


def test_notes_of_a_writer_match_no_pattern(tmp_path):
    """A pattern matches a writer's notes only if it begins like them."""
    save_user(tmp_path / "0.parquet", "ann")
    save_user(tmp_path / "_temporary" / "0.parquet", "bob")
    save_user(tmp_path / "_old.parquet", "cat")
    (tmp_path / "_SUCCESS").touch()
    users = {"*": ["ann"], "**/*.parquet": ["ann"], "_t*/*.parquet": ["bob"], "_*t": ["cat"]}
    for where, expected in users.items():
        table = recframe.evaluate(tmp_path / where, ["recall@1"])

        assert expected == table.index.tolist()


def test_patterns_match_folders_too(tmp_path):
    """A pattern may name folders, and each file in them is read once."""
    save_user(tmp_path / "day=1" / "0.parquet", "ann")
    save_user(tmp_path / "day=2" / "more" / "0.parquet", "bob")
    save_user(tmp_path / "1.parquet", "cat")
    users = {"day=*": ["ann", "bob"], "**": ["ann", "bob", "cat"], "day=[1]": ["ann"]}
    users["**/*"] = users["*"] = users["**"]
    for where, expected in users.items():
        table = recframe.evaluate(tmp_path / where, ["recall@1"])

        assert expected == table.index.tolist()


def test_patterns_from_where_we_are(tmp_path, monkeypatch):
    """Patterns and folders may be relative to the current folder."""
    save_user(tmp_path / "0.parquet", "ann")
    monkeypatch.chdir(tmp_path)
    for where in (".", "*.parquet", "**/*.parquet", "./*", f"../{tmp_path.name}/*"):
        assert ["ann"] == recframe.evaluate(where, ["recall@1"]).index.tolist()


def test_keys_of_folders_in_a_list(tmp_path):
    """Folders in a list give columns, as folders from a pattern do."""
    for user in ("ann", "bob"):
        save_user(tmp_path / f"user={user}" / "0.parquet", None)
    where = [tmp_path / "user=ann", tmp_path / "user=bob"]

    assert ["ann", "bob"] == recframe.evaluate(where, ["recall@1"]).index.tolist()


@pytest.mark.parametrize("path", [3, None, pd.DataFrame()])
def test_what_is_no_path(path):
    """Values that are no paths are refused without iterating over them."""
    with pytest.raises(recframe.RecframeError, match="path must be that of files, but is"):
        recframe.iter_evaluate(path)


def open_socket(path):
    """Make a socket with a name."""
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(os.fspath(path))


SPECIAL = {"pipe": os.mkfifo, "socket": open_socket} if hasattr(os, "mkfifo") else {}


@pytest.mark.parametrize("kind", SPECIAL)
def test_what_is_no_file(tmp_path, monkeypatch, kind):
    """Pipes and sockets are refused at once, by name and in a folder."""
    monkeypatch.chdir(tmp_path)  # Names of sockets must be short.
    path = save_user(Path("runs/0.parquet"), "ann")
    SPECIAL[kind](Path("runs/1.parquet"))
    Path("link.parquet").symlink_to("runs/1.parquet")
    message = f"1.parquet: it is a {kind}, not a file"
    for where in ("runs", "runs/1.parquet", "runs/*", "r*", [path, "runs/1.parquet"]):
        with pytest.raises(recframe.RecframeError, match=message):
            recframe.evaluate(where)
    with pytest.raises(recframe.RecframeError, match=f"link.parquet: it is a {kind}"):
        recframe.evaluate("link.parquet")
    pairs = pd.DataFrame({"user": [1], "item": [1], "score": [0.5]})
    with pytest.raises(recframe.RecframeError, match=f"truth: cannot read .*{message}"):
        recframe.evaluate(pairs, truth="runs/1.parquet")

    assert ["ann"] == recframe.evaluate("**/0*.parquet", ["recall@1"]).index.tolist()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="devices of POSIX")
def test_a_device():
    """A device is refused, because reading it may never end."""
    with pytest.raises(recframe.RecframeError, match="/dev/zero: it is a device, not a file"):
        recframe.evaluate("/dev/zero")


def test_an_empty_path(frame, tmp_path, monkeypatch):
    """An empty path, such as an unset variable of the shell, is refused."""
    path = save_frame(frame, tmp_path / "run.parquet")
    monkeypatch.chdir(tmp_path)
    for where in ("", [path, ""]):
        with pytest.raises(recframe.RecframeError, match=r"path must .*but is ''"):
            find_files(where)


@pytest.mark.skipif(os.name != "posix", reason="names of POSIX are bytes")
def test_names_that_are_not_text(frame, tmp_path):
    """Names with bytes that are not UTF-8, or with null characters, are refused."""
    path = tmp_path / os.fsdecode(b"run \xff.parquet")
    save_frame(frame, tmp_path / "run.parquet").rename(path)
    for where in (path, tmp_path, tmp_path / "run*", tmp_path / "\0"):
        with pytest.raises(recframe.RecframeError, match=r"its name is not UTF-8 text\. Rename it"):
            find_files(where)


def test_a_name_that_is_too_long(tmp_path):
    """Names that are too long are refused with the message of the system."""
    long = "x" * 300
    for where in (long, f"{long}/0.parquet", f"{long}/*.parquet", f"*/{long}"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        with pytest.raises(recframe.RecframeError, match=r"name too long|no such file"):
            recframe.evaluate(tmp_path / where)


def test_a_link_into_a_folder_that_cannot_be_reached(tmp_path, monkeypatch):
    """A link whose target cannot be reached is not called broken."""
    (tmp_path / "0.parquet").symlink_to(tmp_path / "a" / "b")
    stat_link = os.stat

    def refuse(path, **options):
        if os.fspath(path).endswith("0.parquet"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return stat_link(path, **options)

    monkeypatch.setattr(os, "stat", refuse)
    with pytest.raises(recframe.RecframeError, match=r"cannot read .*0.parquet: Permission denied"):
        recframe.evaluate(tmp_path / "0.parquet")
    monkeypatch.undo()
    (tmp_path / "0.parquet").unlink()
    (tmp_path / "0.parquet").symlink_to("0.parquet")
    with pytest.raises(recframe.RecframeError, match=r"0.parquet: Too many levels of symbolic li"):
        recframe.evaluate(tmp_path)


def test_deep_folders(tmp_path):
    """Folders may be nested deeper than Python's calls."""
    below = "/".join(["d"] * 300)
    (tmp_path / below).mkdir(parents=True)
    (tmp_path / below / "run.parquet").touch()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    try:
        found = find_files(tmp_path / "d")
    finally:
        sys.setrecursionlimit(limit)

    assert [f"{tmp_path}/{below}/run.parquet"] == [file.path for file in found]


def test_one_walk(tmp_path, monkeypatch, capsys):
    """The command line lists a folder once, however many files it has."""
    save_user(tmp_path / "runs" / "a" / "0.parquet", "ann")
    save_user(tmp_path / "runs" / "1.parquet", "bob")
    scanned, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: scanned.append(str(path)) or scandir(path))
    output = ["--per-user", str(tmp_path / "users.csv")]

    assert 0 == main(["evaluate", str(tmp_path / "runs"), "--metric", "recall@1", *output])
    assert [str(tmp_path / "runs"), str(tmp_path / "runs" / "a")] == scanned


@pytest.mark.parametrize(
    ("pattern", "path", "is_found"),
    [
        ("runs", "runs/out.parquet", True),
        ("runs", "runs/deep/down/out.parquet", True),
        ("runs", "runs", True),
        ("runs", "runs2/out.parquet", False),
        ("runs", "out.parquet", False),
        ("runs/deep", "runs/out.parquet", False),
        ("runs", "runs/_notes/out.parquet", False),
        ("runs", "runs/deep/.out.parquet", False),
        ("_runs", "_runs/out.parquet", True),
        ("runs/a.parquet", "runs/a.parquet", True),
        ("runs/a.parquet", "runs/b.parquet", False),
        ("runs/*.parquet", "runs/out.parquet", True),
        ("runs/*.parquet", "runs/out.csv", False),
        ("runs/*.parquet", "runs/_out.parquet", False),
        ("runs/_*.parquet", "runs/_out.parquet", True),
        ("runs/*.parquet", "runs/deep/out.parquet", False),
        ("runs/*", "runs/deep/out.parquet", True),
        ("runs/*", "runs/deep/_out.parquet", False),
        ("runs/*", "runs", False),
        ("runs/*/*.parquet", "runs/deep/out.parquet", True),
        ("runs/*/*.parquet", "runs/out.parquet", False),
        ("runs/*/a*", "runs/deep/out.parquet", False),
        ("*/out.parquet", "runs/out.parquet", True),
        ("runs/**/*.parquet", "runs/out.parquet", True),
        ("runs/**/*.parquet", "runs/deep/down/out.parquet", True),
        ("runs/**/*.parquet", "runs/_deep/down/out.parquet", False),
        ("runs/**/down/*", "runs/deep/down/out.parquet", True),
        ("runs/**/down/*", "runs/deep/up/out.parquet", False),
        ("runs/**", "runs/deep/out.parquet", True),
        ("runs/**", "runs", False),
        ("runs/**/_out.*", "runs/deep/_out.parquet", True),
        ("runs/**/_out.*", "runs/_deep/_out.parquet", False),
    ],
)
def test_paths_that_would_be_found(tmp_path, monkeypatch, pattern, path, is_found):
    """would_find tells whether a path would find a file that does not exist yet."""
    monkeypatch.chdir(tmp_path)

    assert is_found == would_find(pattern, path)
    assert is_found == would_find(f"{tmp_path}/{pattern}", path)
    Path("runs").mkdir()
    if path == "runs":
        return
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).touch()
    try:
        found = [os.path.normpath(file.path) for file in find_files(pattern)]
    except recframe.RecframeError:
        found = []
    assert is_found == (path in found)


def test_a_folder_named_like_a_pattern(tmp_path, monkeypatch):
    """A path that exists is read as it is, even if it looks like a pattern."""
    monkeypatch.chdir(tmp_path)
    for folder in ("run[1]", "run1"):
        Path(folder).mkdir()
        Path(folder, "0.parquet").touch()

    assert ["run[1]/0.parquet"] == [file.path for file in find_files("run[1]")]
    assert would_find("run[1]", "run[1]/out.parquet")
    assert not would_find("run[1]", "run1/out.parquet")


def test_files_in_the_order_of_names(tmp_path):
    """Files are read in the order of names, a folder before the names that follow it."""
    names = ["a/1", "a/2/0", "a/2/9", "a/3", "b", "c/0"]
    for name in reversed(names):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    for path in (tmp_path, tmp_path / "*"):
        found = [file.path for file in find_files(path)]
        assert [f"{tmp_path}/{name}" for name in names] == found


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1", "-20", "0"], [1, -20, 0]),
        (["1", "007"], ["1", "007"]),
        (["1", "-0"], ["1", "-0"]),
        (["1", "1.5"], ["1", "1.5"]),
        (["9" * 18, "1"], [10**18 - 1, 1]),
        (["9" * 19, "1"], ["9" * 19, "1"]),
        (["1", "__HIVE_DEFAULT_PARTITION__"], [1, None]),
        (["a%20b", "c=d"], ["a b", "c=d"]),
    ],
)
def test_what_folders_say(tmp_path, texts, expected):
    """Values of folders are integers if all have the usual form, else text."""
    paths = [tmp_path / f"key={text}" / "0.parquet" for text in texts]
    for path in paths:
        path.parent.mkdir()
        path.touch()
    found = find_files(paths)

    assert expected == [file.partitions["key"].as_py() for file in found]
    assert 1 == len({file.partitions["key"].type for file in found})


@pytest.mark.parametrize("pattern", ["*/rows.parquet", "*/*.parquet", "**/rows.parquet"])
@pytest.mark.parametrize("target", ["gone", "b"])
def test_a_link_that_should_lead_to_a_folder(tmp_path, pattern, target):
    """A link to no folder is refused where a pattern names files in folders."""
    (tmp_path / "a").mkdir()
    save_user(tmp_path / "a" / "rows.parquet", "ann")
    (tmp_path / "b").symlink_to(tmp_path / target)
    with pytest.raises(recframe.RecframeError, match=r"cannot read .*b: "):
        recframe.evaluate(tmp_path / pattern)


def test_paths_that_begin_with_a_tilde(tmp_path, monkeypatch, capsys):
    """A leading ~ is the home folder, in inputs and outputs, as pandas has it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    pairs = {"user": [1, 1, 2, 2], "item": list("abac"), "score": [0.9, 0.8, 0.7, 0.6]}
    frame = pd.DataFrame(pairs)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.iloc[1:3, :2].to_csv(tmp_path / "truth.csv", index=False)
    (tmp_path / "run.txt").write_text("1 Q0 a 1 0.9 x\n", "utf-8")
    asked = ["--truth=~/truth.csv", "-m", "recall@1", "-q"]

    for path in ("~/rows.csv", "~/row?.csv", ["~/rows.csv"]):
        table = recframe.evaluate(path, ["recall@1"], truth="~/truth.csv")
        assert [0.0, 1.0] == table["score", "recall@1"].tolist()
    assert 0.5 == frame.rec(truth="~/truth.csv").mean("recall@1").iloc[0, 0]
    assert ["a"] == recframe.read_run("~/run.txt")["doc"].tolist()
    assert 0 == main(["evaluate", "~/rows.csv", *asked, "--per-user", "~/each.csv"])
    assert (2, 1) == recframe.read_per_user("~/each.csv").shape
    assert 1 == main(["evaluate", "~/rows.csv", *asked, "-o", "~/rows.csv"])
    assert "rows.csv: it is an input" in capsys.readouterr().err
    frame.assign(relevant=[0, 1, 1, 0]).rec.report(["recall@1"]).save("~/page.html")
    assert (tmp_path / "page.html").is_file()
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "~"))]


def test_a_folder_named_by_a_tilde(tmp_path, monkeypatch, capsys):
    """A folder named ~ is written as ./~, and is not the home folder for an output either."""
    home, here = tmp_path / "home", tmp_path / "here" / "~"
    for folder in (home, here):
        folder.mkdir(parents=True)
        save_user(folder / "a.csv.parquet", 1)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here.parent)
    before = (home / "a.csv.parquet").read_bytes()
    words = ["evaluate", "./~/a.csv.parquet", "-m", "recall@1", "-q", "-o"]
    assert 1 == main([*words, "./~/a.csv.parquet"])
    assert "it is an input" in capsys.readouterr().err
    assert 0 == main([*words, "./~/means.parquet"])

    assert before == (home / "a.csv.parquet").read_bytes()
    assert ["a.csv.parquet", "means.parquet"] == sorted(one.name for one in here.iterdir())
    assert ["a.csv.parquet"] == [one.name for one in home.iterdir()]
