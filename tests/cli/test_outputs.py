"""Commands write files whole or not at all, and never over their source files."""

import pandas as pd
import pytest

import recframe
from command_line_example import EXAMPLE, METRICS, OUT
from recframe.cli import main


def test_output_and_per_user(tmp_path, capsys):
    """--output and --per-user write two files, or none if one cannot be written."""
    out, users = tmp_path / "means.csv", tmp_path / "users.csv"
    arguments = ["evaluate", str(EXAMPLE), "--per-user", str(users), "--output"]
    assert 1 == main([*arguments, str(tmp_path / "." / "users.csv")])
    assert f"cannot write {users}: --output writes to it too" in capsys.readouterr().err
    assert 1 == main([*arguments, "no/folder/x.csv"])
    assert [] == list(tmp_path.iterdir())
    assert 0 == main([*arguments, str(out)])
    assert [out, users] == sorted(tmp_path.iterdir())


def test_an_old_file_survives_a_refusal(tmp_path):
    """A refused run leaves the old file unchanged and no other file."""
    path = tmp_path / "users.csv"
    path.write_text("old")
    main(["evaluate", str(EXAMPLE), "--metric", "recall@31", "--per-user", str(path)])

    assert "old" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


def test_a_failing_write_leaves_nothing(tmp_path, monkeypatch, capsys):
    """A full disk is reported in one line and leaves no part of a file."""

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    path = tmp_path / "users.csv"

    assert 1 == main(["evaluate", str(EXAMPLE), *METRICS, "--per-user", str(path)])
    assert f"cannot write {path}: No space left on device" in capsys.readouterr().err
    assert [] == list(tmp_path.iterdir())


def test_a_folder_is_not_overwritten(tmp_path, capsys):
    """A folder named as the output is refused before any work."""
    path = tmp_path / "users.csv"
    path.mkdir()

    assert 1 == main(["evaluate", str(EXAMPLE), "--per-user", str(path)])
    assert "it is a folder" in capsys.readouterr().err
    assert [path] == list(tmp_path.iterdir())


READ = {
    "itself": (["run.parquet"], "run.parquet", "it is an input. Write to another file"),
    "spelled otherwise": (["run.parquet"], "other/../run.parquet", "an input, named run.parquet"),
    "symbolic link": (["runs/a.parquet"], "soft.parquet", "it is an input, named runs/a.parquet"),
    "hard link": (["runs/a.parquet"], "hard.parquet", "it is an input, named runs/a.parquet"),
    "through a link": (["soft.parquet"], "runs/a.parquet", "it is an input, named soft.parquet"),
    "in a folder": (["runs"], "runs/b.parquet", "it is an input. Write"),
    "in a folder by a link": (["folder"], "hard.parquet", "it is an input, named folder/a.parquet"),
    "in a pattern": (["r*/*.parquet"], "runs/b.parquet", "an input, named ./runs/b.parquet."),
    "second of a list": (["run.parquet", "runs/b.parquet"], "folder/b.parquet", "an input, named"),
    "truth": (["run.parquet", "--truth", "truth/t.parquet"], "truth/t.parquet", "it is an input"),
    "truth's folder": (["run.parquet", "--truth", "truth"], "truth/t.parquet", "it is an input."),
    "new in a folder": (["runs"], "runs/new.csv", "the next call would read it, because runs"),
    "new below": (["./runs/"], "folder/new.parquet", "the next call would read it"),
    "new in a pattern": (
        ["runs/**/*.parquet"],
        "runs/new.parquet",
        "because runs/**/*.parquet names",
    ),
    "new in truth": (
        ["run.parquet", "--truth", "truth"],
        "truth/new.csv",
        "because truth names it too",
    ),
}


@pytest.mark.parametrize("case", READ)
def test_what_is_read_is_not_overwritten(runs, case, capsys, monkeypatch):
    """An output that is read now or next time is refused before work, under any name."""
    arguments, output, message = READ[case]
    monkeypatch.setattr("recframe.scanned.iter_parts", pytest.fail)
    before = {path: path.read_bytes() for path in runs.rglob("*.*")}

    assert 1 == main(["evaluate", *arguments, "--per-user", output])
    printed = capsys.readouterr()
    assert printed.err.startswith(f"recframe: cannot write {output}: ")
    assert message in printed.err
    assert 1 == printed.err.count("\n")
    assert before == {path: path.read_bytes() for path in runs.rglob("*.*")}


@pytest.mark.parametrize(
    ("given", "output"),
    [
        ("runs", "users.parquet"),
        ("runs", "runs/_users.parquet"),
        ("runs/*.parquet", "runs/users.csv"),
        ("runs/[ab].parquet", "runs/users.parquet"),
        ("runs/**/a.parquet", "runs/users.parquet"),
        ("run.parquet", "other/run.parquet"),
        ("runs/a.parquet", "runs/b.parquet"),
    ],
)
def test_an_output_beside_what_is_read(runs, given, output):
    """An output may stand next to source files, and replace files that are not read."""
    arguments = ["evaluate", given, "--metric", "recall@1", "--per-user", output]

    assert [0, 0] == [main(arguments), main(arguments)]
    assert (runs / output).is_file()


def test_a_result_never_hides_the_users(tmp_path, capsys):
    """A user column named like a result is refused, not overwritten."""
    frame = pd.DataFrame({"recall@1": [1], "score": [0.5], "relevant": [1]})
    frame.to_parquet(tmp_path / "run.parquet")
    arguments = ["evaluate", str(tmp_path / "run.parquet"), "--user", "recall@1"]
    output = ["--metric", "recall@1", "--per-user", str(tmp_path / "users.csv")]

    assert 1 == main([*arguments, *output])
    assert "the user column 'recall@1' has a name that results use" in capsys.readouterr().err


def test_a_result_is_in_place_once_it_is_shown(tmp_path, monkeypatch, capsys):
    """Means that cannot be shown leave the old file unchanged."""

    def fail(text):
        assert "recall@4" in text
        raise recframe.RecframeError("cannot write to standard output: it is full")

    monkeypatch.setattr("recframe.cli.results.show", fail)
    path = tmp_path / "users.csv"
    path.write_text("old")

    assert 1 == main([*OUT, "--per-user", str(path)])
    assert "old" == path.read_text()
    assert [path] == list(tmp_path.iterdir())
