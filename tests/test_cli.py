"""The command line: output compared with golden files, exit status, and errors in one line."""

import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.cli import main
from recframe.errors import in_flags, option, say_where, spell_flags
from recframe.metrics.definitions import DEFINITIONS
from recframe.options import MEANINGS

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "example.parquet"
GOLDEN = Path(__file__).parent / "golden"
TABLE = (GOLDEN / "table.txt").read_text("utf-8")
METRICS = ["--metric", "precision@4", "--metric", "recall@4", "--metric", "r_precision"]
COMMANDS = {
    "table": METRICS,
    "csv": [*METRICS, "--format", "csv"],
    "json": [*METRICS, "--format", "json"],
    "defaults": [],
    "options": [
        *["--metric", "precision@40", "--score", "KNN scores", "--user", "object"],
        *["--relevant", "relevant", "--item", "item", "--ties", "worst", "--short", "shrink"],
        *["--missing", "unranked", "--zero-division", "0", "--min-relevance", "1"],
        *["--min-score", "0.5"],
    ],
    "ranking": [
        *["--metric", "ndcg@10", "--metric", "auc", "--metric", "hit_rate@1"],
        *["--metric", "average_precision", "--min-relevance", "1", "--gain", "exponential"],
    ],
    "one_ranking": ["--no-user", "--duplicates", "keep", "--metric", "r_precision"],
    "no_value": ["--min-relevance", "2", "--metric", "recall@4", "--format", "json"],
    "describe": ["--k", "4"],
    "describe_csv": ["--k", "4", "--format", "csv"],
    "describe_json": ["--k", "4", "--format", "json", "--duplicates", "keep", "--min-score", "0.9"],
}


def test_every_golden_file_has_its_command():
    """No golden file lies unopened; those of compare have theirs in test_gate."""
    opened = {path.stem for path in GOLDEN.iterdir() if not path.stem.startswith("compare")}
    assert set(COMMANDS) == opened


@pytest.mark.parametrize("name", COMMANDS)
def test_output(name, capsys, monkeypatch):
    """The output on the example is the golden file, byte for byte; nothing else is printed."""
    monkeypatch.chdir(ROOT)
    command = "describe" if name.startswith("describe") else "evaluate"
    status = main([command, "examples/example.parquet", *COMMANDS[name]])

    assert 0 == status
    assert ((GOLDEN / f"{name}.txt").read_text("utf-8"), "") == capsys.readouterr()


def test_json_has_what_the_means_are_of(large, capsys):
    """Beside the means there are users, options as given or by default, and the version."""
    arguments = ["--metric", "recall@3", "--zero-division", "nan", "--min-score=-inf"]
    main(["evaluate", str(large), *arguments, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    users = pd.read_parquet(large).rec.recall(k=3)["score"]

    assert recframe.__version__ == document["recframe"]
    assert ("evaluate", [str(large)], 20_000) == tuple(
        document[name] for name in ("command", "paths", "rows")
    )
    assert {"user": "user", "item": None, "score": ["score"], "relevant": "relevant"} == document[
        "columns"
    ]
    assert list(MEANINGS) == list(document["options"])
    assert {"ties": "expected", "zero_division": None, "min_score": "-inf"}.items() <= document[
        "options"
    ].items()
    assert (900, ["recall@3"]) == (document["users"], document["metrics"])
    assert {
        "mean": pytest.approx(users.mean(), rel=1e-12, abs=0),
        "users": users.count(),
        "undefined": users.isna().sum(),
    } == document["scores"]["score"]["recall@3"]


@pytest.mark.parametrize("program", [["recframe"], [sys.executable, "-m", "recframe"]])
def test_both_programs(program):
    """The installed program and `python -m recframe` are one."""
    if program == ["recframe"]:
        program = [str(Path(sys.executable).with_name("recframe"))]
    command = [*program, "evaluate", str(EXAMPLE), *COMMANDS["table"]]
    run = subprocess.run(command, capture_output=True, check=True)

    assert (GOLDEN / "table.txt").read_bytes() == run.stdout.replace(b"\r\n", b"\n")
    assert b"" == run.stderr


def test_every_option_has_a_flag(capsys):
    """The help names every option in kebab-case and every metric with its definition."""
    with pytest.raises(SystemExit) as stopped:
        main(["evaluate", "--help"])
    text = capsys.readouterr().out

    assert 0 == stopped.value.code
    assert all(f"--{name.replace('_', '-')} " in text for name in MEANINGS)
    assert "precision@k = hits@k / k" in text
    assert all(f"  {name}" in text for name in DEFINITIONS)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_per_user_file(tmp_path, ending, capsys):
    """The values of every user are written as plain columns, the same bits as in memory."""
    path = tmp_path / f"users.{ending}"
    assert 0 == main(["evaluate", str(EXAMPLE), *METRICS, "--per-user", str(path)])
    # Of the csv readers only pyarrow's is exact to the last bit on every pandas.
    written = pd.read_parquet(path) if ending == "parquet" else pd.read_csv(path, engine="pyarrow")
    table = pd.read_parquet(EXAMPLE).rec.evaluate(METRICS[1::2])

    assert ["object", "score", *METRICS[1::2]] == list(written.columns)
    for score in ("Random scores", "KNN scores"):
        part = written[written["score"] == score].drop(columns="score").set_index("object")
        pd.testing.assert_frame_equal(table[score], part, check_names=False, check_exact=True)
    assert (GOLDEN / "table.txt").read_text("utf-8") == capsys.readouterr().out
    assert [path] == list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A shuffled file of 20,000 rows and 900 users, some without relevance."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "user": pd.Categorical(rng.integers(0, 900, 20_000).astype(str)),
            "score": rng.random(20_000),
            "relevant": rng.random(20_000) < 0.05,
        }
    )
    path = tmp_path_factory.mktemp("large") / "run.parquet"
    frame.to_parquet(path, row_group_size=1000)
    return path


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_per_user_file_of_many_blocks(large, tmp_path, ending, capsys):
    """Blocks are written as they come; the means taken in passing are those of the table."""
    path = tmp_path / f"users.{ending}"
    options = ["--metric", "recall@3", "--metric", "r_precision", "--memory", "1MiB"]
    main(["evaluate", str(large), *options, "--format", "json", "--per-user", str(path)])
    scores = json.loads(capsys.readouterr().out)["scores"]
    means = {metric: found["mean"] for metric, found in scores["score"].items()}
    written = pd.read_parquet(path) if ending == "parquet" else pd.read_csv(path, engine="pyarrow")
    table = pd.read_parquet(large).rec.evaluate(["recall@3", "r_precision"])["score"]

    written = written.drop(columns="score").set_index("user")
    written.index = written.index.astype("str")
    table.index = table.index.astype("str")
    pd.testing.assert_frame_equal(
        table.sort_index(), written.sort_index(), check_names=False, check_exact=True
    )
    assert table.isna().any().all()
    assert pytest.approx(table.mean().to_dict(), rel=1e-12, abs=0) == means


def run_on_terminal(*arguments):
    """Return the exit status and what a terminal shows as standard error of the command line."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    command = [sys.executable, "-m", "recframe", "evaluate", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as child:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the terminal of an ended process gives an error
            while found := os.read(ours, 4096):
                shown += found
    os.close(ours)
    return child.returncode, shown.decode()


def test_progress_on_a_terminal(large):
    """A terminal shows a bar with the total of rows, which is gone at the end."""
    status, shown = run_on_terminal(large, "--metric", "recall@3", "--memory", "1MiB")

    assert 0 == status
    bar, _, note = shown.rpartition("\r")[0].rpartition("\r")
    assert "/20.0k [" in bar
    assert note.startswith("recframe: note: recall@3 undefined for ")
    assert "\n" not in shown[:-1]


@pytest.mark.parametrize("flag", ["-q", "--quiet", "--no-progress"])
def test_quiet_on_a_terminal(large, flag):
    """It shows no bar and no note."""
    assert (0, "") == run_on_terminal(large, "--metric", "recall@3", flag)


def test_users_left_out_are_noted(large, capsys):
    """Where a metric is undefined for users, a line beside the means says for how many."""
    main(["evaluate", str(large), "--metric", "recall@3", "precision@3", "auc"])
    n_without = pd.read_parquet(large).rec.recall(k=3).isna().sum().item()

    assert (
        f"recframe: note: recall@3, auc undefined for {n_without} of 900 users, left out of the "
        "mean; --zero-division 0 counts them as 0\n"
    ) == capsys.readouterr().err


ROUTES = {
    "1MiB": "in any order, parted by users in a temporary file, within 1,048,576 bytes",
    "1GB": "in order of users, block by block, within 1,000,000,000 bytes",
}


@pytest.mark.parametrize("memory", ROUTES)
@pytest.mark.parametrize("command", ["evaluate", "describe"])
def test_verbose(large, memory, command, capsys):
    """What is read and by which route, the columns found, rows, users and seconds are said."""
    metric = ["--metric", "precision@3"] if command == "evaluate" else []
    assert 0 == main([command, str(large), *metric, "--memory", memory, "-v"])
    *lines, last = capsys.readouterr().err.splitlines()

    assert [
        f"recframe: 20,000 rows in 1 file, 20 row groups: {large}",
        "recframe: columns: user 'user', relevant 'relevant', score 'score'",
        f"recframe: read {ROUTES[memory]}",
    ] == lines
    expected = "900 users" if command == "evaluate" else "20,000 rows"
    assert re.fullmatch(rf"recframe: {expected} in \d+\.\d\d s", last)


def test_verbose_about_several_files(runs, capsys):
    """The first and the last file are named; one file in order of users is swept."""
    assert 0 == main(["evaluate", "runs", "--metric", "precision@1", "--verbose"])
    lines = capsys.readouterr().err.splitlines()

    assert "recframe: 4 rows in 2 files, 2 row groups: runs/a.parquet … runs/b.parquet" == lines[0]
    assert "recframe: read in order of users, block by block, within 1,073," in lines[2]


def test_nothing_asked(capsys):
    """Without arguments the help is printed, as by git; the status tells a job that it asked none.

    It has the commands, examples and what the statuses mean, in a terminal of 80 columns.
    """
    with pytest.raises(SystemExit) as stopped:
        main([])
    text, errors = capsys.readouterr()

    assert (2, "") == (stopped.value.code, errors)
    assert re.search("examples:\n  recframe evaluate .*exit status:\n  0    done", text, re.DOTALL)


@pytest.mark.parametrize("command", [[], ["evaluate"], ["describe"], ["compare"]])
def test_help_fits_a_terminal(command, capsys, monkeypatch):
    """No line is longer than a terminal of 80 columns; examples and statuses are at the end."""
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stopped:
        main([*command, "--help"])
    text = capsys.readouterr().out

    assert 0 == stopped.value.code
    assert all(len(line) < 80 for line in text.splitlines())
    assert re.search("examples:\n  recframe .*exit status:\n  0    done", text, re.DOTALL)


def test_version(capsys):
    """It is the one of the package."""
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])

    assert (0, f"recframe {recframe.__version__}\n") == (
        stopped.value.code,
        capsys.readouterr().out,
    )


SEVERAL = [
    "PATH --metric precision@4 recall@4 r_precision",
    "--metric precision@4 recall@4 r_precision PATH",
    "--metric precision@4 recall@4 --metric r_precision PATH",
    "--metric precision@4,recall@4 r_precision PATH",
    "--metrics precision@4 recall@4 --metrics r_precision PATH",
    "--metric=precision@4,recall@4 --metric=r_precision PATH",
    "--metric=precision@4 recall@4 r_precision PATH",
    "--metric precision@4, recall@4, r_precision PATH",
    "--metric precision@4 recall@4 r_precision -- PATH",
    "--metric precision@4 recall@4 r_precision --ties expected PATH",
    "PATH --metric precision@4 --ties expected --metric recall@4,r_precision",
    "@options PATH",
    "PATH @options",
    "--ties worst @options PATH",
]


@pytest.mark.parametrize("words", SEVERAL)
def test_several_metrics_in_any_order(words, tmp_path, monkeypatch, capsys):
    """One flag takes several metrics, and never a path that follows; a file holds arguments."""
    monkeypatch.chdir(tmp_path)
    Path("options").write_text(
        "# of every night\n\n--metric precision@4 'recall@4' # two\n r_precision\n--ties expected\n"
    )
    words = [str(EXAMPLE) if word == "PATH" else word for word in words.split()]

    assert 0 == main(["evaluate", *words])
    assert TABLE == capsys.readouterr().out


def test_a_path_after_a_metric(runs, capsys):
    """What is not named as a metric is a path; a folder that is named so is written with ./."""
    Path("runs").rename("auc")
    for words in (["run.parquet"], ["./auc"], ["--", "auc"], ["--ties", "worst", "auc"]):
        assert 0 == main(["evaluate", "--metric", "precision@1", *words])
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["evaluate", "--metric", "precision@1", "auc"])
    assert "arguments are required: PATH" in capsys.readouterr().err


def test_names_with_blanks_and_at_signs(tmp_path, monkeypatch, capsys):
    """Quotes keep what has blanks together; a path or name that begins with @ is still one."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"@id": [1, 1], "the score": [0.5, 0.4], "relevant": [1, 0]})
    frame.to_parquet("@run.parquet")
    Path("options").write_text("--user=@id --score 'the score'\n--metric precision@1\n")

    assert 0 == main(["evaluate", "./@run.parquet", "@options", "--format", "csv"])
    assert "score,precision@1\nthe score,1.0\n" == capsys.readouterr().out


FILES_OF_OPTIONS = {
    "not there": (None, "@options: cannot read options: no such file"),
    "no text": (b"PAR1\x00\xff", "must name a file of options, as text, found something else; "),
    "large": (b"#" * (1 << 20) + b"\n", "must name a file of options"),
    "quotes": (b"\n--user 'x", '@options, line 2: No closing quotation, found "--user \'x"'),
    "another": (b"--ties worst @more", "line 1: '@more' names another file of options; name it on"),
    "wrong usage": (b"--ties never", "argument --ties: invalid choice: 'never'"),
}


@pytest.mark.parametrize("case", FILES_OF_OPTIONS)
def test_wrong_files_of_options(case, tmp_path, monkeypatch, capsys):
    """What is wrong in them is wrong usage, said in one line after the usage."""
    content, message = FILES_OF_OPTIONS[case]
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("options").write_bytes(content)
    with pytest.raises(SystemExit) as stopped:
        main(["evaluate", str(EXAMPLE), "@options"])
    errors = capsys.readouterr().err

    assert 2 == stopped.value.code
    assert message in errors
    assert 2 == errors.count("\n")


@pytest.mark.parametrize("command", ["evaluate", "describe"])
@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_output_file(command, ending, tmp_path, capsys):
    """The means, or figures, are written as they are printed, a row for each score."""
    path = tmp_path / f"result.{ending}"
    text_format = "json" if ending == "json" else "csv"
    arguments = [command, str(EXAMPLE), "--format", text_format, "--output", str(path)]
    assert 0 == main(arguments)
    printed = capsys.readouterr().out

    if ending == "parquet":
        read = pd.read_csv(io.BytesIO(printed.encode()), engine="pyarrow")
        pd.testing.assert_frame_equal(read, pd.read_parquet(path), check_dtype=False)
    else:
        assert printed == path.read_bytes().decode().replace("\r\n", "\n")
    assert [path] == list(tmp_path.iterdir())


def test_output_and_per_user(tmp_path, capsys):
    """Both files are written, unless they are one; nothing is left where one cannot be."""
    out, users = tmp_path / "means.csv", tmp_path / "users.csv"
    arguments = ["evaluate", str(EXAMPLE), "--per-user", str(users), "--output"]
    assert 1 == main([*arguments, str(tmp_path / "." / "users.csv")])
    assert f"cannot write {users}: --output writes to it too" in capsys.readouterr().err
    assert 1 == main([*arguments, "no/folder/x.csv"])
    assert [] == list(tmp_path.iterdir())
    assert 0 == main([*arguments, str(out)])
    assert [out, users] == sorted(tmp_path.iterdir())


def test_describe_data_that_evaluate_refuses(tmp_path, capsys):
    """What is counted is not refused: the status is 0, whatever is found."""
    frame = pd.DataFrame(
        {"user": [1, 1, None], "item": [1, 1, 2], "score": [0.5, None, 0.1], "relevant": [1, 0, 1]}
    )
    frame.to_parquet(tmp_path / "run.parquet")
    path = str(tmp_path / "run.parquet")

    assert 1 == main(["evaluate", path])
    assert 0 == main(["describe", path, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    expected = frame.rec.describe()
    figures = {
        name: None if number != number else number for name, number in expected["score"].items()
    }
    assert figures == document["scores"]["score"]
    assert expected.warnings == document["warnings"]
    assert 0 == main(["describe", path])
    words = capsys.readouterr().out.partition("\n\n")[2]
    assert "- null users: 1 of 3" in words
    assert len(expected.warnings) == len(re.findall("^- ", words, re.MULTILINE)) > 3
    assert all(len(line) <= 80 for line in words.splitlines())


@pytest.mark.parametrize("k", ["0", "x", "2.5", "-1", "9" * 30])
def test_a_wrong_cut_off(k, capsys):
    """It is wrong usage, said as Python says it."""
    with pytest.raises(SystemExit) as stopped:
        main(["describe", str(EXAMPLE), f"--k={k}"])
    assert 2 == stopped.value.code
    assert "--k: k must be an integer of 1 or more, found " in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--metric", "--ties", "--per-user"])
def test_describe_takes_what_it_needs(flag, capsys):
    """Options that no figure depends on are wrong usage."""
    with pytest.raises(SystemExit):
        main(["describe", str(EXAMPLE), flag, "worst"])
    assert f"unrecognized arguments: {flag}" in capsys.readouterr().err


def test_per_user_of_one_ranking(tmp_path):
    """Without a user column the one ranking is named in a column called user."""
    path = tmp_path / "users.csv"
    asked = ["--no-user", "--duplicates", "keep", "--metric", "recall@1", "--per-user", str(path)]
    main(["evaluate", str(EXAMPLE), *asked])

    assert ["user", "score", "recall@1"] == list(pd.read_csv(path).columns)
    assert ["all", "all"] == pd.read_csv(path)["user"].tolist()


USAGE = {
    "unknown metric": (["--metric", "recal@4"], "did you mean 'recall@4'"),
    "k of 0": (["--metric", "recall@0"], "needs a cut-off, an integer of 1 or more"),
    "unknown rule": (["--ties", "random"], "invalid choice: 'random'"),
    "zero division": (["--zero-division", "2"], "zero_division must be NaN, 0.0 or 1.0"),
    "no number": (["--min-score", "high"], "could not convert string to float: 'high'"),
    "no table": (["--per-user", "x.txt"], "must end in .parquet or .csv, found 'x.txt'"),
    "no memory": (["--memory", "lots"], "memory must be a number of bytes above 0 or a text"),
    "much memory": (["--memory", "9" * 400 + "B"], "argument --memory: "),
    "much memory in bytes": (["--memory", "9" * 5000], "memory must be a number of bytes above 0"),
    "long k": (["--metric", "recall@" + "9" * 20], "k must be at most 2**53"),
    "longer k": (["--metric", "recall@" + "9" * 10_000], "k must be at most 2**53"),
    "high score": (["--min-score", "1e400"], "must be a number that floats can hold, found '1e4"),
    "higher": (["--min-relevance", "1" + "0" * 9000], "must be a number that floats can hold"),
    "user or none": (["--no-user", "--user", "x"], "--user: not allowed with argument --no-user"),
    "relevant or none": (["--relevant", "x", "--no-relevant"], "not allowed with argument --rel"),
    "cut-off": (["--k", "4"], "--k: the cut-off is a part of the metric: --metric recall@4"),
    "no such flag": (["--kk", "4"], "unrecognized arguments: --kk"),
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage(case, capsys):
    """What is wrong on the command line itself ends with status 2 and says so."""
    arguments, message = USAGE[case]
    with pytest.raises(SystemExit) as stopped:
        main(["evaluate", str(EXAMPLE), *arguments])
    printed = capsys.readouterr()

    assert 2 == stopped.value.code
    assert message in printed.err
    assert "" == printed.out


REFUSED = {
    "missing column": (["--user", "usr"], "user='usr': no such column"),
    "long k": (["--metric", "recall@31"], "k=31 is more than the ranked rows"),
    "text": (["--score", "object", "--user", "item", "--relevant", "KNN scores"], "0/1"),
    "no tmp": (["--tmp", "no/folder"], "tmp must be a folder that is there, found 'no/folder'"),
    "no folder": (["--per-user", "no/folder/x.csv"], "cannot write no/folder/x.csv: No such file"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_data(case, capsys):
    """Data that is refused ends with status 1 and one line, without a traceback."""
    arguments, message = REFUSED[case]
    status = main(["evaluate", str(EXAMPLE), *arguments])
    printed = capsys.readouterr()

    assert 1 == status
    assert printed.err.startswith("recframe: ")
    assert message in printed.err
    assert 1 == printed.err.count("\n")
    assert "" == printed.out


def test_refused_file(tmp_path, capsys):
    """A file that is not parquet is refused like data."""
    path = tmp_path / "x.parquet"
    path.write_text("user,score")

    assert 1 == main(["evaluate", str(path)])
    assert "not a parquet file" in capsys.readouterr().err


SURE = {
    "summary": (["--summary"], lambda rec, metrics: rec.summary(metrics)),
    "baseline": (
        ["--baseline", "KNN scores"],
        lambda rec, metrics: rec.compare(metrics, baseline="KNN scores"),
    ),
}


@pytest.mark.parametrize("name", SURE)
def test_how_sure(name, tmp_path, capsys):
    """--summary and --baseline give the table of df.rec, in every form, and as it prints it."""
    flags, expect = SURE[name]
    metrics = ["recall@4", "auc"]
    expected = pd.DataFrame(expect(pd.read_parquet(EXAMPLE).rec, metrics))
    words = ["evaluate", str(EXAMPLE), "--metric", *metrics, *flags]
    output = tmp_path / "table.parquet"
    main([*words, "--output", str(output), "--per-user", str(tmp_path / "users.csv")])
    table = capsys.readouterr().out
    main([*words, "--format", "csv"])
    csv = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=[0, 1])
    main([*words, "--format", "json"])
    document = json.loads(capsys.readouterr().out)

    printed = expected.rename_axis(index=[None, None])
    assert f"{printed.to_string()}\n" == table
    assert expected.equals(pd.read_parquet(output).set_index(["score", "metric"]))
    pd.testing.assert_frame_equal(expected.rename_axis(columns=None), csv)
    assert {
        score: expected.loc[score].to_dict("index") for score in expected.index.unique("score")
    } == document["scores"]
    assert (10, metrics) == (document["users"], document["metrics"])
    assert (document.get("baseline") == "KNN scores") == (name == "baseline")
    assert 20 == len(pd.read_csv(tmp_path / "users.csv"))


def test_how_sure_of_many_blocks(large, capsys):
    """Blocks are joined first, so that the table is that of the whole frame."""
    words = ["--metric", "recall@3", "--memory", "16MiB", "--summary", "--format", "csv"]
    main(["evaluate", str(large), *words])
    found = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=[0, 1])

    pd.testing.assert_frame_equal(pd.read_parquet(large).rec.summary("recall@3"), found)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"interval": "t", "confidence": 0.9}, ["--summary"]),
        ({"interval": "bootstrap", "seed": 3}, ["--baseline", "Random scores"]),
        ({"test": "ttest", "correction": None}, ["--baseline", "Random scores"]),
    ],
)
def test_how_intervals_are_made(flags, words, capsys):
    """Flags are the arguments of df.rec.summary and compare."""
    metrics = ["recall@4", "auc"]
    given = [f"--{name}={'none' if value is None else value}" for name, value in flags.items()]
    rec = pd.read_parquet(EXAMPLE).rec
    expected = (rec.summary if words == ["--summary"] else rec.compare)(metrics, **flags)
    main(["evaluate", str(EXAMPLE), "--metric", *metrics, *words, *given, "--format", "csv"])
    found = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=[0, 1])

    pd.testing.assert_frame_equal(pd.DataFrame(expected).rename_axis(columns=None), found)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seed", "1"], "--seed is of intervals; add --summary or --baseline"),
        (["--summary", "--test", "ttest"], "--test is of differences; add --baseline, not --summ"),
        (["--baseline", "x", "--interval", "wilson"], "interval must be one of .*found 'wilson'"),
        (["--summary", "--interval", "tango"], "interval must be one of .*found 'tango'"),
        (["--summary", "--confidence", "95"], "confidence must be between 0 and 1, found 95"),
        (["--summary", "--seed", "0.5"], "seed must be an integer of 0 or more, found 0.5"),
        (
            ["--baseline", "x", "--test", "ttest", "--correction", "max_t"],
            "found test='ttest'; pass --correction holm",
        ),
    ],
)
def test_flags_of_intervals_in_vain(words, message, capsys):
    """What would do nothing, or cannot be done, is wrong usage."""
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", str(EXAMPLE), *words])
    assert re.search(message, capsys.readouterr().err)


def test_an_interval_that_does_not_fit_the_values(capsys):
    """The remedy is spelled as a flag."""
    words = ["--metric", "recall@4", "--summary", "--interval", "wilson"]
    assert 1 == main(["evaluate", str(EXAMPLE), *words])
    assert "; pass --interval auto\n" in capsys.readouterr().err


def test_a_missing_extra_is_named(monkeypatch, capsys):
    """With how to install it."""
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    assert 1 == main(["evaluate", str(EXAMPLE), "--baseline", "KNN scores", "--test", "ttest"])
    assert "install it with pip install 'recframe[stats]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--baseline", "knn"],
            "--baseline must be one of the score columns evaluated, ['Random scores', "
            "'KNN scores'], found 'knn'",
        ),
        (
            ["--baseline", "KNN scores", "--score", "KNN scores"],
            "--baseline compares with others, found only 'KNN scores'; name two score columns or "
            "more",
        ),
    ],
)
def test_no_baseline(words, message, capsys):
    """A baseline that is no score column, or the only one, is refused before anything is read."""
    assert 1 == main(["evaluate", str(EXAMPLE), *words])
    assert f"recframe: {message}\n" == capsys.readouterr().err


def test_an_old_file_survives_a_refusal(tmp_path):
    """Output appears whole or not at all: a refused run leaves the old file and nothing else."""
    path = tmp_path / "users.csv"
    path.write_text("old")
    main(["evaluate", str(EXAMPLE), "--metric", "recall@31", "--per-user", str(path)])

    assert "old" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


def test_a_failing_write_leaves_nothing(tmp_path, monkeypatch, capsys):
    """A full disk is reported in one line; no part of a file is left."""

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


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A folder, the current one, with runs, truth and other names of them."""
    frame = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [0.5, 0.4], "relevant": [1, 0]})
    for name in ("runs/a.parquet", "runs/b.parquet", "truth/t.parquet", "run.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        frame.assign(user=ord(name[-9])).to_parquet(tmp_path / name)
    (tmp_path / "soft.parquet").symlink_to("runs/a.parquet")
    (tmp_path / "hard.parquet").hardlink_to(tmp_path / "runs/a.parquet")
    (tmp_path / "folder").symlink_to("runs")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


READ = {
    "itself": (["run.parquet"], "run.parquet", "it is read; write to another file"),
    "spelled otherwise": (["run.parquet"], "other/../run.parquet", "it is read, as run.parquet"),
    "symbolic link": (["runs/a.parquet"], "soft.parquet", "it is read, as runs/a.parquet"),
    "hard link": (["runs/a.parquet"], "hard.parquet", "it is read, as runs/a.parquet"),
    "through a link": (["soft.parquet"], "runs/a.parquet", "it is read, as soft.parquet"),
    "in a folder": (["runs"], "runs/b.parquet", "it is read; write"),
    "in a folder by a link": (["folder"], "hard.parquet", "it is read, as folder/a.parquet"),
    "in a pattern": (["r*/*.parquet"], "runs/b.parquet", "it is read, as ./runs/b.parquet; write"),
    "second of a list": (["run.parquet", "runs/b.parquet"], "folder/b.parquet", "it is read, as"),
    "truth": (["run.parquet", "--truth", "truth/t.parquet"], "truth/t.parquet", "it is read"),
    "truth's folder": (["run.parquet", "--truth", "truth"], "truth/t.parquet", "it is read; wri"),
    "new in a folder": (["runs"], "runs/new.csv", "it would be read the next time, as runs names"),
    "new below": (["./runs/"], "folder/new.parquet", "it would be read the next time"),
    "new in a pattern": (["runs/**/*.parquet"], "runs/new.parquet", "as runs/**/*.parquet names"),
    "new in truth": (["run.parquet", "--truth", "truth"], "truth/new.csv", "as truth names it too"),
}


@pytest.mark.parametrize("case", READ)
def test_what_is_read_is_not_overwritten(runs, case, capsys, monkeypatch):
    """An output that is read, by whatever name, or would be next time, is refused before work."""
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
    """Beside the runs there is room, also in place of what is not read."""
    arguments = ["evaluate", given, "--metric", "recall@1", "--per-user", output]

    assert [0, 0] == [main(arguments), main(arguments)]
    assert (runs / output).is_file()


def test_interrupted(tmp_path, monkeypatch, capsys):
    """Ctrl-C ends with status 130 and leaves no part of a file."""

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("recframe.scanned.iter_parts", interrupt)

    assert 130 == main(["evaluate", str(EXAMPLE), "--per-user", str(tmp_path / "users.csv")])
    assert "recframe: interrupted\n" == capsys.readouterr().err
    assert [] == list(tmp_path.iterdir())


def test_closed_pipe():
    """A reader that closes the pipe early is no error."""
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


def test_a_result_never_hides_the_users(tmp_path, capsys):
    """A user column named like a result is refused, not overwritten."""
    frame = pd.DataFrame({"recall@1": [1], "score": [0.5], "relevant": [1]})
    frame.to_parquet(tmp_path / "run.parquet")
    arguments = ["evaluate", str(tmp_path / "run.parquet"), "--user", "recall@1"]
    output = ["--metric", "recall@1", "--per-user", str(tmp_path / "users.csv")]

    assert 1 == main([*arguments, *output])
    assert "the user column 'recall@1' has the name of a result" in capsys.readouterr().err


def test_python_gives_what_the_command_line_prints(capsys):
    """`recframe.evaluate(path)` and the command line agree."""
    main(["evaluate", str(EXAMPLE), "--metric", "recall@4", "--format", "csv"])
    table = recframe.evaluate(EXAMPLE, "recall@4")
    lines = [f"{score},{value!r}" for (score, _), value in table.mean().items()]

    assert ["score,recall@4", *lines] == capsys.readouterr().out.splitlines()


NO_OUTPUT = "recframe: cannot write to standard output: {}\n"
OUT, NOT_OUT = ["evaluate", str(EXAMPLE), *METRICS], ["evaluate", "no.parquet"]
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
    """Whatever state one is in, the other says what there is, once; a fault leaves no file."""
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


# Runs the command line with a standard stream that is closed or full.
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
    """Nothing is said of them at its end either, and its status stays."""
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
    """The file is there where a closed pipe is the end, as status 0 says."""
    path = tmp_path / "users.csv"
    command = [sys.executable, "-m", "recframe", *OUT, "--per-user", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.close()
        assert b"" == child.stderr.read()

    assert 0 == child.returncode
    assert [path] == list(tmp_path.iterdir())


def test_a_result_is_in_place_once_it_is_shown(tmp_path, monkeypatch, capsys):
    """Means that cannot be shown leave the old file."""

    def fail(text):
        assert "recall@4" in text
        raise recframe.RecframeError("cannot write to standard output: it is full")

    monkeypatch.setattr("recframe.cli.results.show", fail)
    path = tmp_path / "users.csv"
    path.write_text("old")

    assert 1 == main([*OUT, "--per-user", str(path)])
    assert "old" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


# In place of pandas: what is imported first, and may be interrupted or fail.
TRAPS = {
    "interrupt": "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(9)",
    "memory": "raise MemoryError",
    "library": "raise ImportError('see the traceback') from OSError('no room\\nfor it')",
}
SAID = {
    "interrupt": (130, "recframe: interrupted\n"),
    "memory": (1, "recframe: cannot start: MemoryError\n"),
    "library": (1, "recframe: cannot start: OSError: no room\n"),
}


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_imports(tmp_path):
    """What stops the imports of the command line is said in a line, by both programs."""
    script = tmp_path / "recframe"
    script.write_text("import sys; from recframe.__main__ import run; sys.exit(run())")
    package = str(Path(recframe.__file__).parents[1])
    children = {}
    for trap, code in TRAPS.items():
        for program in (["-m", "recframe"], [str(script)]):
            path = tmp_path / trap
            path.mkdir(exist_ok=True)
            (path / "pandas.py").write_text(code)
            children[trap, program[0]] = subprocess.Popen(
                [sys.executable, *program, "evaluate", "no.parquet"],
                env={**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{package}"},
                # A suite in the background may have been told to ignore Ctrl-C.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
                stderr=subprocess.PIPE,
                text=True,
            )
    for case, child in children.items():
        errors = child.communicate()[1]

        assert (case, *SAID[case[0]]) == (case, child.returncode, errors)


def test_imports_of_others():
    """To a program of somebody else, an import that fails is an exception as ever."""
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
    """It is said in a line too, with how to see more."""

    def fail(*_, **__):
        raise error

    monkeypatch.setattr("recframe.scanned.iter_parts", fail)

    assert 1 == main(OUT)
    printed = capsys.readouterr()
    assert printed.err.startswith(f"recframe: {message}")
    assert 1 == printed.err.count("\n")


def test_without_docstrings():
    """Python -OO evaluates, and its help says what it lacks."""
    code = (
        "import sys; from recframe.cli import main\n"
        f"assert False; main({OUT})\n"
        "main(['evaluate', '--help'])"
    )
    run = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True)

    assert (0, "") == (run.returncode, run.stderr)
    assert run.stdout.startswith(TABLE)
    assert "  recall@k               (python -OO leaves definitions out)\n" in run.stdout


def test_what_is_printed_is_escaped(tmp_path, monkeypatch, capsys):
    """Names cannot steer a terminal nor break a line, in any format and in errors."""
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
    """Signs that an encoding lacks are escaped."""
    frame = pd.DataFrame({"user": [1], "é score": [0.5], "relevant": [1]})
    frame.to_parquet(tmp_path / "run.parquet")
    command = [sys.executable, "-m", "recframe", "evaluate", "run.parquet", "--metric", "recall@1"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run(
        [*command, "--format", "json"], env=environment, cwd=tmp_path, capture_output=True
    )

    assert (0, b"") == (run.returncode, run.stderr)
    assert ["é score"] == list(json.loads(run.stdout)["scores"])


def test_memory_in_bytes(capsys):
    """A number alone is one of bytes."""
    assert 0 == main([*OUT, "--memory", "1000000"])
    assert (GOLDEN / "table.txt").read_text("utf-8") == capsys.readouterr().out


SPELLED = {
    "text": ({"user": "session_id"}, "--user session_id"),
    "labels": ({"score": ["a b", "c"]}, "--score 'a b' --score c"),
    "directions": ({"ascending": [True, False]}, "--ascending --no-ascending"),
    "none": ({"relevant": None}, "--no-relevant"),
    "numbers": ({"min_relevance": 3.5, "gain": "linear"}, "--min-relevance 3.5 --gain linear"),
    "what to fill in": ({"user": ...}, "--user ..."),
    "quotes": ({"score": "user='x'"}, """--score 'user='"'"'x'"'"''"""),
}


@pytest.mark.parametrize("name", SPELLED)
def test_options_are_spelled_as_flags(name):
    """What a message says to pass can be pasted behind the command."""
    options, expected = SPELLED[name]

    assert expected == spell_flags(options)


def test_a_refusal_has_both_spellings():
    """Its text is that of Python; flags stay where it is said where it was found, and pickled."""
    refusal = recframe.RecframeError(f"x; pass {option('short', 'pad')}")
    say_where("truth: ", refusal)

    for error in (refusal, pickle.loads(pickle.dumps(refusal))):
        assert ("truth: x; pass short='pad'",) == error.args
        assert "truth: x; pass short='pad'" == str(error)
        assert "truth: x; pass --short pad" == in_flags(error)


def test_remedy_of_a_refusal(tmp_path, capsys):
    """A refusal of the data says which flag to pass, and that flag is taken."""
    path = str(tmp_path / "runs.parquet")
    pd.DataFrame({"user": [1], "score": [0.5], "relevant": [1]}).to_parquet(path)

    assert 1 == main(["evaluate", path])
    assert "pass --short pad to divide by k all the same, --short" in capsys.readouterr().err
    assert 0 == main(["evaluate", path, "--short", "pad"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["runs.parquet"], "'runs.parquet' is no command; did you mean recframe evaluate runs.p"),
        (
            ["evaluate", "x", "--shrt", "pad"],
            "unrecognized arguments: --shrt; did you mean --s",
        ),
        (["evaluate", "x", "--min_relevance=4"], "--min_relevance; did you mean --min-relevance?"),
        (["describe", "x", "--qqqq"], "unrecognized arguments: --qqqq"),
        (["evaluate", "x", "--metric", "recall@4", "P_5"], "'P_5', did you mean 'precision@5'?"),
        (["evaluate", "x", "-k", "5"], "the cut-off is a part of the metric: --metric recall@5"),
    ],
)
def test_usage_that_is_nearly_right(words, message, capsys):
    """The nearest flag is named, and the command that a path alone may mean."""
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert message in capsys.readouterr().err
