"""Signals, full disks and damaged files midway leave no files behind."""

import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recframe
from files.layouts import SMALL
from recframe import cli

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")

# The program evaluates in little memory. After each block, it prints a line and waits for one.
SLOW = """
import select, sys
from recframe import cli
from recframe import scanned
tables = scanned.iter_parts

def slow(*args, **options):
    for table in tables(*args, **options):
        yield table
        print("written", flush=True)
        # A signal that comes just before a call waits does not end the call.
        while not select.select([sys.stdin], [], [], 0.1)[0]:
            pass
        sys.stdin.readline()

if "slow" in sys.argv:
    sys.argv.remove("slow")
    scanned.iter_parts = slow
sys.exit(cli.main(sys.argv[1:]))
"""
OPTIONS = ["--metric", "recall@1", "--memory", "1MiB", "-q"]


PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.fixture
def route():
    """Return how files are read: spilled, or swept in order of users."""
    return "spill"


@pytest.fixture
def folders(tmp_path, route):
    """Return folders of files, of temporary files and of results; a sweep has users in order."""
    for name in ("runs", "tmp", "out"):
        (tmp_path / name).mkdir()
    rng = np.random.default_rng(0)
    users = rng.integers(0, 2**60, 16_000)  # They cannot be compressed.
    user = rng.choice(users, 20_000)
    if route == "sweep":
        user.sort()
    for number in range(4):
        frame = pd.DataFrame(
            {
                "user": user[5000 * number :][:5000],
                "score": rng.random(5000),
                "relevant": rng.random(5000) < 0.1,
            }
        )
        frame.to_parquet(tmp_path / "runs" / f"{number}.parquet", row_group_size=500)
    return tmp_path


def arguments(folders, ending):
    """Return the arguments that evaluate the runs to a file of all users."""
    paths = ["--tmp", str(folders / "tmp"), "--per-user", str(folders / f"out/u.{ending}")]
    return ["evaluate", str(folders / "runs"), *OPTIONS, *paths]


def command(folders, ending):
    """Return the command of a process with the same arguments."""
    return [sys.executable, "-c", SLOW, *arguments(folders, ending)]


def left(folders):
    """Return the files in the folders of temporary files and of results."""
    return [path.name for name in ("tmp", "out") for path in (folders / name).iterdir()]


def start(folders, ending, *more, **options):
    """Start a run that waits before each block is written."""
    return subprocess.Popen([*command(folders, ending), "slow", *more], text=True, **options)


INTERRUPTED = (signal.SIGINT, 130, "recframe: interrupted\n")
TERMINATED = (signal.SIGTERM, 143, "")
HUNG_UP = (signal.SIGHUP, 129, "")


@pytest.mark.parametrize(
    ("route", "ending", "number", "status", "message"),
    [
        ("spill", "csv", *INTERRUPTED),
        ("sweep", "parquet", *TERMINATED),
        ("spill", "parquet", *HUNG_UP),
    ],
)
def test_signals(folders, ending, number, status, message):
    """Ctrl-C and a termination signal leave no partial result and no temporary file."""

    def heed():
        # A test run in the background may ignore Ctrl-C, and its children then do too.
        signal.signal(number, signal.SIG_DFL)

    with start(folders, ending, **PIPES, preexec_fn=heed) as child:
        assert "written\n" == child.stdout.readline()
        assert 1 == len(left(folders))
        child.send_signal(number)
        assert status == child.wait(timeout=30)
        assert message == child.stderr.read()

    assert [] == left(folders)


@pytest.mark.parametrize("route", ["spill", "sweep"])
def test_killed(folders, route):
    """A killed run leaves no result and no visible temporary file, and the next run succeeds."""
    with start(folders, "csv", **PIPES) as child:
        child.stdout.readline()
        child.kill()
        child.wait(timeout=30)

    assert [] == list((folders / "tmp").iterdir())
    assert not (folders / "out/u.csv").exists()
    assert 0 == cli.main(arguments(folders, "csv"))
    assert 1 + expected_users(folders) == len((folders / "out/u.csv").read_text().splitlines())


def expected_users(folders):
    """Return the number of users in the runs."""
    return pd.read_parquet(folders / "runs")["user"].nunique()


def test_two_runs_at_once(folders):
    """Two runs with one output both succeed, and the output is the complete result of one."""
    metrics = ["precision@1", "reciprocal_rank"]
    children = [start(folders, "parquet", "--metric", metric, **PIPES) for metric in metrics]
    for child in children:
        assert "written\n" == child.stdout.readline()
    for child in children:
        _, errors = child.communicate(timeout=30)
        assert (0, "") == (child.returncode, errors)

    table = pd.read_parquet(folders / "out/u.parquet")
    assert ["u.parquet"] == left(folders)
    assert {"recall@1", *metrics} - set(table.columns) in [{metric} for metric in metrics]
    assert expected_users(folders) == len(table)


@pytest.mark.parametrize("route", ["spill", "sweep"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_whole_run(folders, route, ending, spills):
    """Without a signal, the same command leaves the result and nothing else."""
    assert 0 == cli.main(arguments(folders, ending))
    assert [f"u.{ending}"] == left(folders)
    assert (route == "spill") == bool(spills)


def limit_files():
    """Let this process write files of at most 40,000 bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))


FULL = {
    # The spill reaches the limit first, unless all rows fit in memory.
    "temporary": (
        [],
        "cannot write temporary files to {tmp}: File too large. Pass tmp= a folder",
    ),
    "csv": (["--memory", "1GiB"], "cannot write {out}/u.csv: "),
    "parquet": (["--memory", "1GiB"], "cannot write {out}/u.parquet: "),
}


@pytest.mark.parametrize("case", FULL)
def test_too_large_a_file(folders, case):
    """A file that cannot grow is reported in a line that names it."""
    more, message = FULL[case]
    ending = "parquet" if case == "parquet" else "csv"
    # Coverage would reach the limit too.
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
    """Mount a disk of 64 KiB, if this user may."""
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
    ("tmp", "csv"): "cannot write temporary files to {tmp}: No space left on device. Pass tmp=",
    ("out", "csv"): "cannot write {out}/u.csv: No space left on device\n",
    ("out", "parquet"): "cannot write {out}/u.parquet: ",
}


@pytest.mark.parametrize(("full", "ending"), DISKS)
def test_full_disk(folders, full, ending, capsys):
    """A full disk is reported in one line that names it, and no file is left on it."""
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
    """A file that cannot be read is named even after good files, and no output is left."""
    path = folders / "runs" / "2.parquet"
    harm(path)

    assert 1 == cli.main(arguments(folders, ending))
    output, errors = capsys.readouterr()
    assert "" == output
    assert errors.startswith(f"recframe: cannot read {path}: ")
    assert 1 == errors.count("\n")
    assert [] == left(folders)


def test_a_damaged_row_group_of_a_sorted_file(tmp_path):
    """The blocks before a damaged row group are yielded, then the file is named."""
    path = tmp_path / "run.parquet"
    frame = pd.DataFrame({"user": range(20_000), "score": 0.5, "relevant": True})
    frame["score"] = np.random.default_rng(0).random(20_000)
    frame.to_parquet(path, row_group_size=2000)
    damage(path)
    tables = recframe.iter_evaluate(path, ["recall@1"], memory="500KiB")

    assert 0 < len(next(tables))
    with pytest.raises(recframe.RecframeError, match=r"cannot read .*run.parquet: "):
        list(tables)


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Return two files of 300 rows with checksums, one in order of users."""
    rng = np.random.default_rng(0)
    columns = {
        "user": np.sort(rng.integers(0, 40, 300)),
        "item": np.arange(300),
        "score": rng.random(300).round(2),
        "relevant": rng.random(300) < 0.4,
    }
    options = {"row_group_size": 50, "write_page_checksum": True, "use_dictionary": False}
    paths = [tmp_path_factory.mktemp("checked") / f"{name}.parquet" for name in ("sorted", "any")]
    for path, order in zip(paths, (np.arange(300), rng.permutation(300)), strict=True):
        table = pa.table({name: values[order] for name, values in columns.items()})
        pq.write_table(table, path, **options, compression="none" if path == paths[0] else "zstd")
    return paths


def flip(data, rng):
    """Flip a bit of a page; the footer has no checksum."""
    footer = 8 + int.from_bytes(data[-8:-4], "little")
    data[rng.integers(len(data) - footer)] ^= 1 << int(rng.integers(8))


def zero(data, rng):
    """Overwrite some bytes with zeros."""
    start = int(rng.integers(len(data)))
    data[start : start + 40] = bytes(len(data[start : start + 40]))


def shorten(data, rng):
    """Truncate the data."""
    del data[int(rng.integers(len(data))) :]


@pytest.mark.parametrize("harm", [flip, zero, shorten])
def test_random_damages(checked, harm, tmp_path):
    """A damaged file gives the right table or a refusal of one line that names it."""
    path = tmp_path / "run.parquet"
    options = {"metrics": ["recall@2", "ndcg"], "short": "pad"}
    expected = [recframe.evaluate(intact, **options) for intact in checked]
    refusals = []
    for seed in range(70):
        rng = np.random.default_rng(seed)
        data = bytearray(checked[seed % 2].read_bytes())
        harm(data, rng)
        path.write_bytes(data)
        try:
            table = recframe.evaluate(path, memory=("1GiB", 9000)[seed // 2 % 2], **options)
        except recframe.RecframeError as error:
            refusals.append(str(error))
        else:
            pd.testing.assert_frame_equal(expected[seed % 2], table, check_exact=True)

    assert len(refusals) > 35
    assert all(str(path) in refusal and "\n" not in refusal for refusal in refusals)


def test_damaged_values(checked, tmp_path):
    """A checksum shows a changed value, in truth too."""
    path = tmp_path / "run.parquet"
    metadata = pq.read_metadata(checked[0])
    for seed in range(40):
        rng = np.random.default_rng(seed)
        data = bytearray(checked[0].read_bytes())
        column = metadata.row_group(int(rng.integers(6))).column(int(rng.integers(4)))
        # One of the last bytes of a page, so that no header is hit.
        end = column.data_page_offset + column.total_compressed_size
        data[end - 1 - int(rng.integers(5))] ^= 1 << int(rng.integers(8))
        path.write_bytes(data)
        memory = ("1GiB", 9000)[seed % 2]
        with pytest.raises(recframe.RecframeError, match=r"cannot read .*run.parquet: .*integrity"):
            recframe.evaluate(path, ["ndcg"], memory=memory)

    with pytest.raises(recframe.RecframeError, match=r"truth: .*run.parquet: .*integrity"):
        recframe.evaluate(checked[0], ["ndcg"], truth=path)


def test_rows_that_are_not_there(checked, tmp_path):
    """Arrow skips a page with a damaged header, and the missing rows are refused."""
    path = tmp_path / "run.parquet"
    data = bytearray(checked[0].read_bytes())
    start = pq.read_metadata(checked[0]).row_group(2).column(3).data_page_offset
    data[start + 1] = 2  # the type of the page, in Thrift's compact form
    path.write_bytes(data)
    with pytest.raises(
        recframe.RecframeError, match=r"group 2 must have the 50 rows .*, but has 0"
    ):
        recframe.evaluate(path, ["recall@2"], short="pad", memory=SMALL)


@pytest.mark.parametrize("changed", [b'\xffpandas_type"', b'"pandas_tYpe"', b'{pandas_type"'])
def test_damaged_metadata_of_pandas(changed, tmp_path):
    """Damaged pandas metadata in a footer are refused: no text, other keys, no JSON."""
    path = tmp_path / "run.parquet"
    frame = pd.DataFrame({"user": [1, 1], "score": [0.5, 0.2], "relevant": [True, False]})
    table = pa.Table.from_pandas(frame)
    pandas = table.schema.metadata[b"pandas"].replace(b'"pandas_type"', changed)
    pq.write_table(table.replace_schema_metadata({"pandas": pandas}), path)
    with pytest.raises(recframe.RecframeError, match="its pandas metadata is damaged"):
        recframe.evaluate(path, ["recall@1"])


@pytest.fixture
def alarm():
    """Install a signal handler that raises TimeoutError."""

    def end(number, frame):
        raise TimeoutError("time is up")

    previous = signal.signal(signal.SIGALRM, end)
    yield
    signal.signal(signal.SIGALRM, previous)


def call_until(name, call):
    """Call a function, with a signal when a function of this name is entered."""

    def enter(frame, event, argument):
        if event == "call" and frame.f_code.co_name == name:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGALRM)

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)


ROWS = pd.DataFrame({"user": [1], "item": [1], "score": [1], "relevant": [1]})
# In these functions, an error of the system or of a library is reworded.
ENTERED = {
    "_read_end": lambda path: recframe.scan(path / "runs").mean("recall@1"),
    "table_to_dataframe": lambda path: recframe.scan(path / "runs").mean("recall@1"),
    "rollover": lambda path: list(recframe.iter_evaluate(path / "runs", memory="1MiB")),
    "_read_texts": lambda path: recframe.evaluate(ROWS, truth=path / "truth.csv"),
    "_parse_file": lambda path: recframe.read_per_user(path / "users.csv"),
    "_answer": lambda _: ROWS.rec.recall(k=9),
}


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("name", ENTERED)
def test_what_a_handler_raises_passes(name, folders):
    """An error that a signal handler raises passes through the call."""
    for path in ("truth.csv", "users.csv"):
        (folders / path).touch()
    with pytest.raises(TimeoutError, match=r"^time is up$"):
        call_until(name, lambda: ENTERED[name](folders))
