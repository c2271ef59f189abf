"""What goes wrong midway: real signals, full disks and damaged files leave nothing behind."""

import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe import cli

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")

# Evaluates with little memory; says so when the first block is written, then waits.
SLOW = """
import sys, time
from recframe import cli
tables = cli.iter_evaluate

def slow(*args, **options):
    for table in tables(*args, **options):
        yield table
        print("written", flush=True)
        time.sleep(60)

if "slow" in sys.argv:
    sys.argv.remove("slow")
    cli.iter_evaluate = slow
sys.exit(cli.main(sys.argv[1:]))
"""
OPTIONS = ["--metric", "recall@1", "--memory", "1MiB"]


@pytest.fixture
def folders(tmp_path):
    """Folders of shuffled files, of temporary files and of results."""
    for name in ("runs", "tmp", "out"):
        (tmp_path / name).mkdir()
    rng = np.random.default_rng(0)
    users = rng.integers(0, 2**60, 16_000)  # nothing in them to compress
    for number in range(4):
        frame = pd.DataFrame(
            {
                "user": rng.choice(users, 5000),
                "score": rng.random(5000),
                "relevant": rng.random(5000) < 0.1,
            }
        )
        frame.to_parquet(tmp_path / "runs" / f"{number}.parquet", row_group_size=500)
    return tmp_path


def arguments(folders, ending):
    """Return the arguments that have the runs evaluated to a file of all users."""
    paths = ["--tmp", str(folders / "tmp"), "--per-user", str(folders / f"out/u.{ending}")]
    return ["evaluate", str(folders / "runs"), *OPTIONS, *paths]


def command(folders, ending):
    """Return the same as the command of a process of its own."""
    return [sys.executable, "-c", SLOW, *arguments(folders, ending)]


def left(folders):
    """Return what is left in the folders of temporary files and of results."""
    return [path.name for name in ("tmp", "out") for path in (folders / name).iterdir()]


@pytest.mark.parametrize(
    ("number", "status", "message", "ending"),
    [
        (signal.SIGINT, 130, "recframe: interrupted\n", "csv"),
        (signal.SIGINT, 130, "recframe: interrupted\n", "parquet"),
        (signal.SIGTERM, 143, "", "parquet"),
    ],
)
def test_signals(folders, number, status, message, ending):
    """Ctrl-C and a request to end leave no part of a result and no temporary file."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}

    def heed():
        # A suite in the background may have been told to ignore Ctrl-C, which a child inherits.
        signal.signal(number, signal.SIG_DFL)

    with subprocess.Popen([*command(folders, ending), "slow"], **pipes, preexec_fn=heed) as child:
        assert "written\n" == child.stdout.readline()
        assert 1 == len(left(folders))
        child.send_signal(number)
        _, errors = child.communicate(timeout=30)

    assert (status, message) == (child.returncode, errors)
    assert [] == left(folders)


def test_killed(folders):
    """Even a kill leaves no temporary file: it never had a name."""
    child = subprocess.Popen([*command(folders, "csv"), "slow"], stdout=subprocess.PIPE, text=True)
    with child:
        child.stdout.readline()
        child.kill()
        child.communicate(timeout=30)

    assert [] == list((folders / "tmp").iterdir())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_whole_run(folders, ending):
    """Left alone, the same command leaves the result and nothing else."""
    assert 0 == cli.main(arguments(folders, ending))
    assert [f"u.{ending}"] == left(folders)


def limit_files():
    """Let this process write files of at most 40,000 bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))


FULL = {
    # the limit is met by the spill first, unless the whole fits in memory
    "temporary": ([], "cannot write temporary files to {tmp}: File too large; pass tmp= a folder"),
    "csv": (["--memory", "1GiB"], "cannot write {out}/u.csv: "),
    "parquet": (["--memory", "1GiB"], "cannot write {out}/u.parquet: "),
}


@pytest.mark.parametrize("case", FULL)
def test_too_large_a_file(folders, case):
    """A file that cannot grow is reported in a line that names it."""
    more, message = FULL[case]
    ending = "parquet" if case == "parquet" else "csv"
    # Coverage would meet the limit too.
    environment = {name: value for name, value in os.environ.items() if "COV" not in name}
    run = subprocess.run(
        [*command(folders, ending), *more],
        preexec_fn=limit_files,
        env=environment,
        capture_output=True,
        text=True,
    )

    expected = message.format(tmp=folders / "tmp", out=folders / "out")
    assert (1, "") == (run.returncode, run.stdout)
    assert run.stderr.startswith(f"recframe: {expected}")
    assert 1 == run.stderr.count("\n")
    assert [] == left(folders)


@contextmanager
def small_disk(folder):
    """Mount a disk of 64 KiB, where this user may."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root may mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


DISKS = {
    ("tmp", "csv"): "cannot write temporary files to {tmp}: No space left on device; pass tmp=",
    ("out", "csv"): "cannot write {out}/u.csv: No space left on device\n",
    ("out", "parquet"): "cannot write {out}/u.parquet: ",
}


@pytest.mark.parametrize(("full", "ending"), DISKS)
def test_full_disk(folders, full, ending, capsys):
    """A full disk is reported in a line that names the place; it is as empty as before."""
    with small_disk(folders / full):
        assert 1 == cli.main(arguments(folders, ending))
        assert [] == left(folders)

    expected = DISKS[full, ending].format(tmp=folders / "tmp", out=folders / "out")
    output, errors = capsys.readouterr()
    assert "" == output
    assert errors.startswith(f"recframe: {expected}")
    assert 1 == errors.count("\n")
    assert "No space left" in errors


def cut(path):
    """Cut a file in half."""
    os.truncate(path, path.stat().st_size // 2)


def damage(path):
    """Overwrite a row group in the middle of a file."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(bytes(5000))


def forbid(path):
    """Replace a file by one that is not parquet."""
    path.write_bytes(b"user,score\n" * 100)


@pytest.mark.parametrize(
    ("harm", "ending"), [(cut, "csv"), (damage, "csv"), (damage, "parquet"), (forbid, "parquet")]
)
def test_a_bad_file_in_the_middle(folders, harm, ending, capsys):
    """A file that cannot be read is named, whatever came before it, and nothing is left."""
    path = folders / "runs" / "2.parquet"
    harm(path)

    assert 1 == cli.main(arguments(folders, ending))
    output, errors = capsys.readouterr()
    assert "" == output
    assert errors.startswith(f"recframe: cannot read {path}: ")
    assert 1 == errors.count("\n")
    assert [] == left(folders)


def test_a_damaged_row_group_of_a_sorted_file(tmp_path):
    """The blocks before it are given; then the file is named."""
    path = tmp_path / "run.parquet"
    frame = pd.DataFrame({"user": range(20_000), "score": 0.5, "relevant": True})
    frame["score"] = np.random.default_rng(0).random(20_000)
    frame.to_parquet(path, row_group_size=2000)
    damage(path)
    tables = recframe.iter_evaluate(path, ["recall@1"], memory="500KiB")

    assert 0 < len(next(tables))
    with pytest.raises(recframe.RecframeError, match=r"cannot read .*run.parquet: "):
        list(tables)
