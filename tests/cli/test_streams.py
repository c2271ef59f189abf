"""The program handles streams in any state, signals and failures at its start."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from command_line_example import EXAMPLE, GOLDEN, OUT, TABLE
from recframe.cli import main


@pytest.mark.parametrize("program", [["recframe"], [sys.executable, "-m", "recframe"]])
def test_both_programs(program):
    """The installed program and `python -m recframe` are the same."""
    if program == ["recframe"]:
        program = [str(Path(sys.executable).with_name("recframe"))]
    command = [*program, *OUT]
    run = subprocess.run(command, capture_output=True, check=True)

    assert (GOLDEN / "table.txt").read_bytes() == run.stdout.replace(b"\r\n", b"\n")
    assert b"" == run.stderr


def run_on_terminal(*arguments):
    """Return the command's exit status and the terminal's text of its standard error."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    command = [sys.executable, "-m", "recframe", "evaluate", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as child:
        os.close(theirs)
        shown = b""
        # Reading the terminal of an ended process raises an error.
        with suppress(OSError):
            while found := os.read(ours, 4096):
                shown += found
    os.close(ours)
    return child.returncode, shown.decode()


def test_progress_on_a_terminal(large):
    """A terminal shows a bar with the total of rows, which disappears at the end."""
    status, shown = run_on_terminal(large, "--metric", "recall@3", "--memory", "1MiB")

    assert 0 == status
    bar, _, note = shown.rpartition("\r")[0].rpartition("\r")
    assert "/20.0k [" in bar
    assert note.startswith("recframe: note: of 900 users, means leave out ")
    assert "\n" not in shown[:-1]


def test_progress_of_segments_on_a_terminal(large):
    """Segments that are computed one by one have a progress bar, which disappears at the end."""
    words = ["--metric", "recall@3", "--by", "user", "--summary"]
    status, shown = run_on_terminal(large, *words)

    assert (0, True) == (status, "/900 [" in shown)
    assert "segments" not in shown.rpartition("\r")[2]


def test_quiet_on_a_terminal(large, capsys):
    """--quiet and its other names print no bar and no note."""
    assert (0, "") == run_on_terminal(large, "--metric", "recall@3", "--quiet")
    for flag in ("-q", "--no-progress"):
        assert 0 == main(["evaluate", str(large), "--metric", "recall@3", flag])
        assert "" == capsys.readouterr().err


def test_interrupted(tmp_path, monkeypatch, capsys):
    """Ctrl-C ends with status 130 and leaves no part of a file."""

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("recframe.scanned.iter_parts", interrupt)

    assert 130 == main(["evaluate", str(EXAMPLE), "--per-user", str(tmp_path / "users.csv")])
    assert "recframe: interrupted\n" == capsys.readouterr().err
    assert [] == list(tmp_path.iterdir())


def test_closed_pipe():
    """The command ends without an error when its reader closes the pipe early."""
    code = (
        "import sys; from recframe.cli import main; sys.stdin.read(); "
        f"sys.exit(main(['evaluate', {str(EXAMPLE)!r}]))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    child.stdout.close()
    child.stdin.close()
    errors = child.stderr.read()
    child.stderr.close()

    assert (0, b"") == (child.wait(), errors)


NO_OUTPUT = "recframe: cannot write to standard output: {}\n"


NOT_OUT = ["evaluate", "no.parquet"]


STATES = {
    "output full": ("stdout", "full", OUT, 1, NO_OUTPUT.format("No space left on device")),
    "output closed": ("stdout", "closed", OUT, 1, NO_OUTPUT.format("it is closed")),
    "help full": ("stdout", "full", ["--help"], 1, NO_OUTPUT.format("No space left on device")),
    "help closed": ("stdout", "closed", ["--help"], 1, NO_OUTPUT.format("it is closed")),
    "errors full": ("stderr", "full", OUT, 0, TABLE),
    "errors closed": ("stderr", "closed", OUT, 0, TABLE),
    "errors full, refused": ("stderr", "full", NOT_OUT, 1, ""),
    "errors closed, refused": ("stderr", "closed", NOT_OUT, 1, ""),
    "errors closed, usage": ("stderr", "closed", ["evaluate"], 2, ""),
}


needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")


@needs_full
@pytest.mark.parametrize("case", STATES)
def test_standard_streams(case, tmp_path, monkeypatch, capsys):
    """If one standard stream fails, the other tells it once, and a fault leaves no file."""
    name, state, arguments, expected, said = STATES[case]
    path = tmp_path / "users.csv"
    output = ["--per-user", str(path)] if arguments is OUT else []
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, name, full if state == "full" else None)
        try:
            status = main([*arguments, *output])
        except SystemExit as stopped:
            status = stopped.code
        monkeypatch.undo()

    assert (expected, said) == (status, "".join(capsys.readouterr()))
    assert (arguments is OUT and status == 0) == path.exists()
    assert len(list(tmp_path.iterdir())) == path.exists()


# This program runs the command line with a standard stream that is closed or full.
STREAM = """
import os, sys
number, state, *arguments = sys.argv[1:]
if state == "closed":
    os.close(int(number))
else:
    os.dup2(os.open("/dev/full", os.O_WRONLY), int(number))
os.execv(sys.executable, [sys.executable, "-m", "recframe", *arguments])
"""


@needs_full
def test_standard_streams_of_a_process():
    """A failed standard stream changes neither the exit status nor the output of a process."""
    children = {}
    for case in ("output full", "output closed", "errors full, refused"):
        name, state, arguments, *_ = STATES[case]
        number = str(["stdout", "stderr"].index(name) + 1)
        command = [sys.executable, "-c", STREAM, number, state, *arguments]
        children[case] = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    for case, child in children.items():
        said = "".join(child.communicate())

        assert (case, *STATES[case][3:]) == (case, child.returncode, said)


def test_a_reader_who_has_seen_enough(tmp_path):
    """A closed pipe ends with status 0, and the output file is complete."""
    path = tmp_path / "users.csv"
    command = [sys.executable, "-m", "recframe", *OUT, "--per-user", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.close()
        assert b"" == child.stderr.read()

    assert 0 == child.returncode
    assert [path] == list(tmp_path.iterdir())


def test_imports_of_others():
    """An import that fails raises an ordinary exception for other programs."""
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "try: import recframe\n"
        "except ImportError: print('raised')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "raised\n" == run.stdout


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError("of 8 GiB"), "the system gave no more memory or threads (MemoryError: of 8"),
        (RuntimeError("can't start new thread"), "the system gave no more memory or threads"),
        (KeyError("a\nb"), r"unexpected KeyError: 'a\nb'; python -X dev -m recframe shows where"),
    ],
)
def test_what_nobody_expected(error, message, monkeypatch, capsys):
    """An unexpected error is reported in one line with a way to see more."""

    def fail(*_, **__):
        raise error

    monkeypatch.setattr("recframe.scanned.iter_parts", fail)

    assert 1 == main(OUT)
    printed = capsys.readouterr()
    assert printed.err.startswith(f"recframe: {message}")
    assert 1 == printed.err.count("\n")


def test_without_docstrings():
    """Python -OO evaluates, and its help tells that definitions are missing."""
    code = (
        "import sys; from recframe.cli import main\n"
        f"assert False; main({OUT})\n"
        "main(['evaluate', '--help'])"
    )
    run = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True)

    assert (0, "") == (run.returncode, run.stderr)
    assert run.stdout.startswith(TABLE)
    assert "  recall@k                    (python -OO leaves definitions out)\n" in run.stdout


def test_what_is_printed_is_escaped(tmp_path, monkeypatch, capsys):
    """Names cannot control a terminal nor break a line, in any format and in errors."""
    name = "\x1b[31m\n\x7f\u202e score"
    frame = pd.DataFrame({"user": [1], name: [0.5], "relevant": [1]})
    monkeypatch.chdir(tmp_path)
    frame.to_parquet("run.parquet")
    expected = r"\x1b[31m\n\u007f\u202e score"
    for text_format in ("table", "csv", "json"):
        main(["evaluate", "run.parquet", "--metric", "recall@1", "--format", text_format])
        output = capsys.readouterr().out

        assert output.replace("\n", "").isprintable()
        assert expected in output.replace(r"\u001b", r"\x1b")
        assert text_format != "json" or [name] == list(json.loads(output)["scores"])
    for path in ("a\x1b[31m\nb", "a\udcff\u202e", "x" * 200_000):
        assert 1 == main(["evaluate", path])
        errors = capsys.readouterr().err

        assert errors.endswith("\n")
        assert errors[:-1].isprintable()
        assert len(errors) < 2100
    with pytest.raises(SystemExit):
        main(["evaluate", "run.parquet", "--ties", "a\x1b", "--b\nc\x1b"])
    assert "\x1b" not in capsys.readouterr().err


def test_what_a_terminal_cannot_show(tmp_path):
    """Characters that an encoding lacks are escaped."""
    frame = pd.DataFrame({"user": [1], "é score": [0.5], "relevant": [1]})
    frame.to_parquet(tmp_path / "run.parquet")
    command = [
        sys.executable,
        "-m",
        "recframe",
        "evaluate",
        "run.parquet",
        "--metric",
        "precision@1",
    ]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run(
        [*command, "--format", "json"], env=environment, cwd=tmp_path, capture_output=True
    )

    assert (0, b"") == (run.returncode, run.stderr)
    assert ["é score"] == list(json.loads(run.stdout)["scores"])
