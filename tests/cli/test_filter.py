"""--filter takes conditions on the command line, for files of every format."""

import json

import pandas as pd
import pytest

import recframe
from recframe.cli import main
from recframe.cli.parser import read_term
from recframe.files import staging

WRITTEN = {
    "day >= 2026-11-01": ("day", ">=", "2026-11-01"),
    "n=1": ("n", "=", "1"),
    " n != -1.5e3 ": ("n", "!=", "-1.5e3"),
    "n<=1": ("n", "<=", "1"),
    "'KNN scores' < 0.5": ("KNN scores", "<", "0.5"),
    '"a ""b""" == \'it\'\'s\'': ('a "b"', "==", "it's"),
    "country in (NL, 'New Zealand')": ("country", "in", ["NL", "New Zealand"]),
    "id not  in (1)": ("id", "not in", ["1"]),
    "at > '2026-11-01 10:00'": ("at", ">", "2026-11-01 10:00"),
    "at > 2026-11-01T10:00:00Z": ("at", ">", "2026-11-01T10:00:00Z"),
    "index in (1,2)": ("index", "in", ["1", "2"]),
    "name = ''": ("name", "=", ""),
}
WRONG = {
    **dict.fromkeys(
        ("day >=", "day", "", "day >= a b", "KNN scores > 1", "n > (", "n in ()", "n => 1", "> 1"),
        "must be COLUMN OPERATOR VALUE, such as 'day >= 2026-11-01'",
    ),
    "n in 1": r"in takes values in brackets, as \(1, 2\)",
    "n = (1, 2)": "= takes one value",
}


@pytest.mark.parametrize("text", WRITTEN)
def test_conditions_as_they_are_written(text):
    """Names and values with spaces need quotes, and lists need brackets."""
    assert WRITTEN[text] == read_term(text)


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_condition(text, capsys):
    """A malformed condition is wrong usage, and the message quotes it."""
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", "x.parquet", "--filter", text])
    with pytest.raises(recframe.RecframeError, match=WRONG[text]):
        read_term(text)
    assert "argument --filter: " in capsys.readouterr().err


@pytest.fixture
def path(frame, tmp_path):
    """Write a file of two days, the second with the rows of `frame`."""
    early = frame.assign(day=pd.Timestamp("2026-11-01"), score=0.5, country="NL")
    late = frame.assign(day=pd.Timestamp("2026-11-02"), country=["NL", "BE"] * 4)
    pd.concat([early, late]).to_parquet(tmp_path / "days.parquet", row_group_size=8, index=False)
    return str(tmp_path / "days.parquet")


@pytest.mark.parametrize("command", ["evaluate", "describe", "catalogue"])
def test_commands_take_filters(frame, path, tmp_path, capsys, command):
    """Commands print for filtered rows the same as for a file of these rows alone."""
    frame[::2].to_csv(tmp_path / "left.csv", index=False)
    words = ["--short", "pad", *(["--metric", "recall@1"] if command == "evaluate" else [])]
    assert 0 == main([command, str(tmp_path / "left.csv"), *words])
    expected = capsys.readouterr().out

    filters = ["--filter", "day > 2026-11-01", "--filter", "country in (NL, DE)"]
    assert 0 == main([command, path, *words, *filters])
    assert expected == capsys.readouterr().out


def test_what_an_evaluation_would_ask(path, capsys):
    """A description notes the questions of an evaluation, unless --quiet is passed."""
    words = ["describe", path, "--k", "1", "--filter", "day >= 2026-11-01"]
    main(words)
    asked = capsys.readouterr()
    assert "recframe: note: recframe evaluate asks: " in asked.err
    main([*words, "--quiet"])
    assert (asked.out, "") == capsys.readouterr()


def test_what_is_told_of_filters(path, capsys):
    """JSON has the filters as written, and --verbose tells the most rows that can match."""
    words = ["--metric", "recall@1", "--filter", "day = 2026-11-02"]
    assert 0 == main(["evaluate", path, *words, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert (["day = 2026-11-02"], None) == (document["filters"], document["rows"])

    assert 0 == main(["evaluate", path, *words, "--verbose"])
    assert "up to 8 rows in 1 file, 1 row group" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    {
        "dy > 1": "filters: 'dy': no such column; .* did you mean 'day'",
        "day > x": "filters: a value for 'day' must be of its type timestamp.*, but is 'x'",
        "item in (x)": "filters: a value for 'item' must be of its type int64, but is 'x'",
    }.items(),
)
def test_filters_that_do_not_fit(path, text, message, capsys):
    """A filter that does not fit the data is refused with its column, type and value."""
    assert 1 == main(["evaluate", path, "--filter", text])
    assert pd.Series([capsys.readouterr().err]).str.contains(message).all()


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
def test_numbers_that_text_is_compared_with(frame, tmp_path, sign, capsys):
    """A number compared with text is refused, and a quoted number is text."""
    path = str(tmp_path / "rows.parquet")
    frame.assign(kunde="0" + frame["user"].astype(str)).to_parquet(path)
    words = ["evaluate", path, "--metric", "recall@1", "--filter"]

    assert 1 == main([*words, f"kunde {sign} 50"])
    assert (
        f"recframe: filters: 'kunde' {sign} compares text, in which '10' is below '9', not the "
        "number 50. Write numbers in the files, or '50' in quotes.\n"
    ) == capsys.readouterr().err
    with pytest.raises(recframe.RecframeError, match=r"filters: .*cannot be evaluated"):
        recframe.scan(path, filters=[("kunde", sign, 50)])
    fitting = f"kunde {sign} '{int('<' in sign)}'", "kunde != 50", f"score {sign} '0.5'"
    assert [0, 0, 0] == [main([*words, text]) for text in fitting]


def test_csv_is_staged_once(frame, tmp_path, monkeypatch, capsys):
    """A command that opens files twice stages files without footers once."""
    frame.to_csv(tmp_path / "run.csv", index=False)
    staged, stage = [], staging._stage

    def note(*arguments):
        staged.append(arguments)
        return stage(*arguments)

    monkeypatch.setattr(staging, "_stage", note)
    assert 0 == main(["describe", str(tmp_path / "run.csv"), "--k", "1"])

    assert 1 == len(staged)
    assert "users" in capsys.readouterr().out
