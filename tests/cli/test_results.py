"""The results of commands equal the golden files and the tables of df.rec.

Tests of recframe evaluate belong here.
"""

import io
import json
import re

import pandas as pd
import pytest

import recframe
from command_line_example import EXAMPLE, GOLDEN, METRICS, ROOT
from recframe.cli import main
from recframe.options import MEANINGS

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
    """Every golden file has a command, here or in test_compare."""
    opened = {path.stem for path in GOLDEN.iterdir() if not path.stem.startswith("compare")}
    assert set(COMMANDS) == opened


@pytest.mark.parametrize("name", COMMANDS)
def test_output(name, capsys, monkeypatch):
    """The output for the example equals the golden file, byte for byte."""
    monkeypatch.chdir(ROOT)
    command = "describe" if name.startswith("describe") else "evaluate"
    status = main([command, "examples/example.parquet", *COMMANDS[name]])

    assert 0 == status
    assert ((GOLDEN / f"{name}.txt").read_text("utf-8"), "") == capsys.readouterr()


def test_json_has_what_the_means_are_of(large, capsys):
    """The JSON document has the means, the numbers of users, all options and the version."""
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


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_per_user_file(tmp_path, ending, capsys):
    """The values of every user are written as plain columns, with the same bits as in memory."""
    path = tmp_path / f"users.{ending}"
    assert 0 == main(["evaluate", str(EXAMPLE), *METRICS, "--per-user", str(path)])
    # Only pyarrow's csv reader is exact to the last bit on every pandas.
    written = pd.read_parquet(path) if ending == "parquet" else pd.read_csv(path, engine="pyarrow")
    table = pd.read_parquet(EXAMPLE).rec.evaluate(METRICS[1::2])

    assert ["object", "score", *METRICS[1::2]] == list(written.columns)
    for score in ("Random scores", "KNN scores"):
        part = written[written["score"] == score].drop(columns="score").set_index("object")
        pd.testing.assert_frame_equal(table[score], part, check_names=False, check_exact=True)
    assert (GOLDEN / "table.txt").read_text("utf-8") == capsys.readouterr().out
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_per_user_file_of_many_blocks(large, tmp_path, ending, capsys):
    """Blocks are written in turn, and the table has the means computed on the way."""
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


def test_per_user_of_one_ranking(tmp_path):
    """The only ranking of data without users is written as user "all"."""
    path = tmp_path / "users.csv"
    asked = ["--no-user", "--duplicates", "keep", "--metric", "recall@1", "--per-user", str(path)]
    main(["evaluate", str(EXAMPLE), *asked])

    assert ["user", "score", "recall@1"] == list(pd.read_csv(path).columns)
    assert ["all", "all"] == pd.read_csv(path)["user"].tolist()


@pytest.mark.parametrize("command", ["evaluate", "describe"])
@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_output_file(command, ending, tmp_path, capsys):
    """--output writes the printed values, a row for each score."""
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


def test_describe_data_that_evaluate_refuses(tmp_path, capsys):
    """`describe` counts faults that `evaluate` refuses, and ends with status 0."""
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


def test_python_gives_what_the_command_line_prints(capsys):
    """`recframe.evaluate(path)` equals the output of the command line."""
    main(["evaluate", str(EXAMPLE), "--metric", "recall@4", "--format", "csv"])
    table = recframe.evaluate(EXAMPLE, "recall@4")
    lines = [f"{score},{value!r}" for (score, _), value in table.mean().items()]

    assert ["score,recall@4", *lines] == capsys.readouterr().out.splitlines()


def test_users_left_out_are_noted(large, capsys):
    """A note tells for how many users a metric is undefined."""
    main(["evaluate", str(large), "--metric", "recall@3", "precision@3", "auc"])
    n_without = pd.read_parquet(large).rec.recall(k=3).isna().sum().item()

    assert (
        f"recframe: note: of 900 users, means leave out {n_without} in recall@3 (no relevant row), "
        f"{n_without} in auc (no relevant row, or no other); zero_division=0 counts them as 0\n"
    ) == capsys.readouterr().err


ROUTES = {
    "1MiB": "in any order, partitioned by user in a temporary file, within 1,048,576 bytes",
    "1GB": "in one piece, within 1,000,000,000 bytes",
}


@pytest.mark.parametrize("memory", ROUTES)
@pytest.mark.parametrize("command", ["evaluate", "describe"])
def test_verbose(large, memory, command, capsys):
    """--verbose prints the files, the columns, the way of reading, rows, users and seconds."""
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
    """--verbose names the first and the last file, and sweeps one file in order of users."""
    assert 0 == main(["evaluate", "runs", "--metric", "precision@1", "--verbose"])
    lines = capsys.readouterr().err.splitlines()

    assert "recframe: 4 rows in 2 files, 2 row groups: runs/a.parquet … runs/b.parquet" == lines[0]
    assert "recframe: read in order of users, block by block, within 1,073," in lines[2]


def test_blocks_of_a_file_as_json(large, capsys):
    """The document of a file that is read in blocks has the means and users of all of them."""
    metrics = ["recall@2", "ndcg"]
    words = ["-m", *metrics, "--memory", "1MB", "--short", "pad", "--format", "json"]
    assert 0 == main(["evaluate", str(large), *words])
    document = json.loads(capsys.readouterr().out)
    rec = recframe.scan(large, memory="1MB", short="pad")
    expected, values = rec.mean(metrics), rec.evaluate(metrics)

    assert len([*rec.iter_evaluate(metrics)]) > 1
    assert len(values) == document["users"]
    for metric, figures in document["scores"]["score"].items():
        n_users = int(values["score", metric].count())
        undefined = len(values) - n_users
        mean = expected.loc["score", metric]
        assert {"mean": mean, "users": n_users, "undefined": undefined} == figures
