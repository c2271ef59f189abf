"""Arguments stand in any order or in files, and wrong ones are refused with a correction."""

import re
import shlex
from pathlib import Path
from typing import Literal, get_args

import pandas as pd
import pytest

import recframe
from command_line_example import EXAMPLE, GOLDEN, OUT, TABLE
from recframe.analysis.compare import METHODS, Correction, Test
from recframe.analysis.resampling import Interval, OfDifferences
from recframe.cli import COMMANDS, main
from recframe.cli.parser import Parser, spell_flags
from recframe.errors import Choice
from recframe.metrics.definitions import DEFINITIONS
from recframe.options import MEANINGS


def test_every_option_has_a_flag(capsys):
    """The help names every option in kebab-case and every metric with its definition."""
    with pytest.raises(SystemExit) as stopped:
        main(["evaluate", "--help"])
    text = capsys.readouterr().out

    assert 0 == stopped.value.code
    assert all(f"--{name.replace('_', '-')} " in text for name in MEANINGS)
    assert "precision@k = hits@k / k" in text
    assert all(f"  {name}" in text for name in DEFINITIONS)


def test_nothing_asked(capsys):
    """A call without arguments prints the help and ends with the status of wrong usage.

    The help has the commands, examples and the meanings of statuses.
    """
    with pytest.raises(SystemExit) as stopped:
        main([])
    text, errors = capsys.readouterr()

    assert (2, "") == (stopped.value.code, errors)
    assert re.search("examples:\n  recframe evaluate .*exit status:\n  0    done", text, re.DOTALL)


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=str)
def test_help_fits_a_terminal(command, capsys, monkeypatch):
    """The help fits 80 columns, and examples and exit statuses stand at its end."""
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stopped:
        main([*command, "--help"])
    text = capsys.readouterr().out

    assert 0 == stopped.value.code
    assert all(len(line) < 80 for line in text.splitlines())
    assert re.search("examples:\n  recframe .*exit status:\n  0    done", text, re.DOTALL)


@pytest.mark.parametrize("command", ["evaluate", "compare", "trec"])
def test_help_of_statistics(command, capsys):
    """The help gives each interval, test and correction its meaning, as it does for options."""
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = " ".join(capsys.readouterr().out.split())

    intervals = OfDifferences if command == "compare" else Literal[Interval, OfDifferences]
    names = [*get_args(intervals), *get_args(Test), *get_args(Correction), "none"]
    assert [] == [name for name in names if f" {name}: {METHODS[name]} " not in text]
    assert ("3 recframe compare: its gate fails" in text) is (command == "compare")


def test_version(capsys):
    """The command has the version of the package."""
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
    """One --metric takes several metrics, but no path after them, and a file may hold arguments."""
    monkeypatch.chdir(tmp_path)
    Path("options").write_text(
        "# of every night\n\n--metric precision@4 'recall@4' # two\n r_precision\n--ties expected\n"
    )
    words = [str(EXAMPLE) if word == "PATH" else word for word in words.split()]

    assert 0 == main(["evaluate", *words])
    assert TABLE == capsys.readouterr().out


def test_a_library_settles_each_metric(runs, capsys):
    """A metric with two definitions may stand after another one, for --like to settle."""
    words = ["--like", "ranx", "--format", "csv", "run.parquet"]

    assert 0 == main(["evaluate", "--metric", "recall@1", "map@1", *words])
    assert "score,recall@1,average_precision@1" in capsys.readouterr().out


def test_a_path_after_a_metric(runs, capsys):
    """A word after --metric that names no metric is a path; a folder named like one needs "./"."""
    Path("runs").rename("auc")
    for words in (["run.parquet"], ["./auc"], ["--", "auc"], ["--ties", "worst", "auc"]):
        assert 0 == main(["evaluate", "--metric", "precision@1", *words])
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["evaluate", "--metric", "precision@1", "auc"])
    assert "arguments are required: PATH" in capsys.readouterr().err


def test_names_with_blanks_and_at_signs(tmp_path, monkeypatch, capsys):
    """Quotes keep words with spaces together, and a path or name may begin with @."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"@id": [1, 1], "the score": [0.5, 0.4], "relevant": [1, 0]})
    frame.to_parquet("@run.parquet")
    Path("options").write_text("--user=@id --score 'the score'\n--metric precision@1\n")

    assert 0 == main(["evaluate", "./@run.parquet", "@options", "--format", "csv"])
    assert "score,precision@1\nthe score,1.0\n" == capsys.readouterr().out


def test_a_file_of_options_from_windows(runs, capsys):
    """A file of options may begin with a mark of the byte order, as Notepad writes it."""
    Path("options").write_text("--metric\nprecision@1\n--format=csv\n", encoding="utf-8-sig")

    assert 0 == main(["evaluate", "run.parquet", "@options"])
    assert capsys.readouterr().out.startswith("score,precision@1\n")


FILES_OF_OPTIONS = {
    "not there": (None, "as a shell reads it ([Errno 2] No such file or directory: 'options'); a"),
    "no text": (b"PAR1\x00\xff", "a file of options must be text, as a shell reads it ("),
    "quotes": (b"\n--user 'x", "(No closing quotation); a path that begins with @ is written ./@p"),
    "itself": (b"@options", "a file of options must be text, as a shell reads it ("),
    "wrong usage": (b"--ties never", "argument --ties: invalid choice: 'never'"),
}


@pytest.mark.parametrize("case", FILES_OF_OPTIONS)
def test_wrong_files_of_options(case, tmp_path, monkeypatch, capsys):
    """A fault in a file of options is wrong usage, described in one line after the usage."""
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


@pytest.mark.parametrize("k", ["0", "x", "2.5", "-1", "9" * 30])
def test_a_wrong_cut_off(k, capsys):
    """An invalid cut-off is wrong usage, described in the same words as in Python."""
    with pytest.raises(SystemExit) as stopped:
        main(["describe", str(EXAMPLE), f"--k={k}"])
    assert 2 == stopped.value.code
    assert "--k: k must be an integer of 1 or more, but is " in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--metric", "--ties", "--per-user"])
def test_describe_takes_what_it_needs(flag, capsys):
    """Options that no value of a description depends on are wrong usage."""
    with pytest.raises(SystemExit):
        main(["describe", str(EXAMPLE), flag, "worst"])
    assert f"unrecognized arguments: {flag}" in capsys.readouterr().err


USAGE = {
    "unknown metric": (["--metric", "recal@4"], "did you mean 'recall@4'"),
    "k of 0": (["--metric", "recall@0"], "needs a cut-off, an integer of 1 or more"),
    "unknown rule": (["--ties", "random"], "invalid choice: 'random'"),
    "zero division": (["--zero-division", "2"], "zero_division must be NaN, 0.0 or 1.0"),
    "no number": (["--min-score", "high"], "must be a number, but is 'high'"),
    "no table": (["--per-user", "x.txt"], "must end in .parquet or .csv, but is 'x.txt'"),
    "no memory": (["--memory", "lots"], "memory must be a number of bytes above 0 or a text"),
    "much memory": (["--memory", "9" * 400 + "B"], "argument --memory: "),
    "much memory in bytes": (["--memory", "9" * 5000], "memory must be a number of bytes above 0"),
    "long k": (["--metric", "recall@" + "9" * 20], "k must be at most 2**53"),
    "longer k": (["--metric", "recall@" + "9" * 10_000], "k must be at most 2**53"),
    "high score": (["--min-score", "1e400"], "must be a number that floats can hold, but is '1e4"),
    "higher": (["--min-relevance", "1" + "0" * 9000], "must be a number that floats can hold"),
    "user or none": (["--no-user", "--user", "x"], "--user: not allowed with argument --no-user"),
    "relevant or none": (["--relevant", "x", "--no-relevant"], "not allowed with argument --rel"),
    "cut-off": (["--k", "4"], "--k: the cut-off is a part of the metric: --metric recall@4"),
    "no such flag": (["--kk", "4"], "unrecognized arguments: --kk"),
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage(case, capsys):
    """Wrong usage ends with status 2, a message and no output."""
    arguments, message = USAGE[case]
    with pytest.raises(SystemExit) as stopped:
        main(["evaluate", str(EXAMPLE), *arguments])
    printed = capsys.readouterr()

    assert 2 == stopped.value.code
    assert message in printed.err
    assert "" == printed.out


REFUSED = {
    "missing column": (["--user", "usr"], "user='usr': no such column"),
    "long k": (["--metric", "recall@31"], "fewer than k=31 ranked rows"),
    "text": (["--score", "object", "--user", "item", "--relevant", "KNN scores"], "0/1"),
    "no tmp": (["--tmp", "no/folder"], "tmp must be an existing folder, but is 'no/folder'"),
    "no folder": (["--per-user", "no/folder/x.csv"], "cannot write no/folder/x.csv: No such file"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_data(case, capsys):
    """Data that is refused ends with status 1, a line and perhaps flags, without a traceback."""
    arguments, message = REFUSED[case]
    status = main(["evaluate", str(EXAMPLE), *arguments])
    printed = capsys.readouterr()

    assert 1 == status
    first, *flags = printed.err.splitlines()
    assert first.startswith("recframe: ")
    assert message in first
    assert len(flags) <= 1
    assert all(line.startswith("As flags: recframe evaluate ") for line in flags)
    assert "" == printed.out


def test_refused_file(tmp_path, capsys):
    """A file that is not parquet is refused like data."""
    path = tmp_path / "x.parquet"
    path.write_text("user,score")

    assert 1 == main(["evaluate", str(path)])
    assert "not a parquet file" in capsys.readouterr().err


def test_memory_in_bytes(capsys):
    """A number without a unit is a number of bytes."""
    assert 0 == main([*OUT, "--memory", "1000000"])
    assert (GOLDEN / "table.txt").read_text("utf-8") == capsys.readouterr().out


SPELLED = {
    "text": ({"user": "session_id"}, "--user session_id"),
    "labels": ({"score": ["a b", "c"]}, "--score 'a b' --score c"),
    "directions": ({"ascending": [True, False]}, "--ascending --no-ascending"),
    "none": ({"relevant": None}, "--no-relevant"),
    "numbers": ({"min_relevance": 3.5, "gain": "linear"}, "--min-relevance 3.5 --gain linear"),
    "a choice": ({"user": Choice(["a", "b"])}, "--user COLUMN"),
    "a choice of files": ({"truth": Choice([], "pairs")}, "--truth FILE"),
    "a minus": ({"min_score": -2.5}, "--min-score=-2.5"),
    "quotes": ({"score": "user='x'"}, """--score 'user='"'"'x'"'"''"""),
}


@pytest.mark.parametrize("name", SPELLED)
def test_options_are_spelled_as_flags(name):
    """Suggested options can be pasted after the command."""
    options, expected = SPELLED[name]

    assert expected == shlex.join(spell_flags(options))


def test_remedy_of_a_refusal(tmp_path, capsys):
    """A refusal of the data has a line with the command to paste, which is then accepted."""
    path = str(tmp_path / "runs of May.parquet")
    pd.DataFrame({"user": [1], "score": [0.5], "relevant": [1]}).to_parquet(path)

    assert 1 == main(["evaluate", path])
    message, flags = capsys.readouterr().err.splitlines()
    assert "Pass short='pad' to divide by k anyway, short='shrink'" in message
    assert f"As flags: recframe evaluate '{path}' --short pad" == flags
    assert 0 == main([*shlex.split(flags)[3:]])


def test_an_answer_replaces_a_flag(tmp_path, capsys):
    """In the command to paste, the flag of an answer replaces the flags of its option."""
    path = str(tmp_path / "runs.parquet")
    rows = {"user": 1, "item": ["a", "a"], "session": [1, 2], "score": 0.5, "relevant": 1}
    pd.DataFrame(rows).to_parquet(path)
    for user in (["--user", "user"], ["--user=user"]):
        assert 1 == main(["evaluate", path, *user, "--by", "session", "--metric", "recall@1"])
        command = capsys.readouterr().err.splitlines()[-1].partition(" recframe ")[2]
        flags = "--by session --metric recall@1 --user session --user user"
        assert f"evaluate {path} {flags}" == command
        assert 0 == main(shlex.split(command))


def test_ids_that_no_flag_converts(tmp_path, capsys):
    """For ids of two kinds, the command line names the function that reads ids as text."""
    runs, qrels = tmp_path / "run.jsonl", tmp_path / "qrels.tsv"
    runs.write_text('{"user": "1", "item": "2", "score": 0.5}\n')
    qrels.write_text("query-id\tcorpus-id\tscore\n1\t2\t1\n")
    assert 1 == main(["evaluate", str(runs), "--truth", str(qrels), "-m", "recall@1"])
    assert "No flag converts ids. In Python, recframe.read_qrels" in capsys.readouterr().err
    truth = recframe.read_qrels(qrels)
    assert [1.0] == recframe.scan(runs, truth=truth).recall(1)["score"].tolist()


def test_an_answer_without_a_flag(tmp_path, capsys):
    """An answer is left out of the command to paste if it has no flag or no candidate."""
    path = str(tmp_path / "pairs.parquet")
    pd.DataFrame({"user": [1], "item": ["a"], "relevant": [1]}).to_parquet(path)
    assert 1 == main(["evaluate", path])
    (message,) = capsys.readouterr().err.splitlines()
    assert "score: no column found" in message

    refusal = recframe.RecframeError("x", {"from_lists": True})
    assert "x" == Parser().spell_refusal(["recframe", "evaluate", path], refusal)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["runs.parquet"], "'runs.parquet' is no command; did you mean recframe evaluate runs.p"),
        (
            ["evaluate", "x", "--shrt", "pad"],
            "unrecognized arguments: --shrt; did you mean --s",
        ),
        (["evaluate", "x", "--min_relevance=4"], "--min_relevance; did you mean --min-relevance?"),
        (
            ["evaluate", "x", "--score", "a", "b"],
            "unrecognized arguments: b. Repeat a flag for each",
        ),
        (["describe", "x", "--qqqq"], "unrecognized arguments: --qqqq"),
        (["evaluate", "x", "--metric", "recall@4", "P_5"], "'P_5', did you mean 'precision@5'?"),
        (["evaluate", "x", "-m", "recall@4", "AP"], "AP is no file; unknown metric"),
        (["trec", "-m", "map", "gm_map", "qrels", "run"], "gm_map is no file; unknown metric"),
        (["trec", "-m", "map", "all_trec", "x", "y"], "'all_trec', a group of trec_eval's metrics"),
        (["evaluate", "x", "-k", "5"], "the cut-off is a part of the metric: --metric recall@5"),
    ],
)
def test_usage_that_is_nearly_right(words, message, capsys):
    """A wrong flag is answered with the nearest one, and a lone path with the likely command."""
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert message in capsys.readouterr().err


def test_the_unit_is_a_flag(tmp_path, capsys):
    """Rankings of a user on several days ask for the unit, with the flag of each answer."""
    rows = [
        (day, user, item, (user * 7 + item * 3 + day) % 11)
        for day in (1, 2)
        for user in range(5)
        for item in range(3)
    ]
    path = str(tmp_path / "rows.parquet")
    frame = pd.DataFrame(rows, columns=["date", "user", "item", "score"])
    frame.assign(relevant=frame["item"] == frame["user"] % 3).to_parquet(path)
    words = ["evaluate", path, "-m", "recall@2", "--user", "date", "--user", "user", "--summary"]
    assert 1 == main(words)
    assert "--unit COLUMN  # --unit: 'user' or --no-unit" in capsys.readouterr().err
    assert 0 == main([*words, "--unit", "user"])
