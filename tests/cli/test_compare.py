"""recframe compare tells from two saved tables whether a metric has become worse."""

import io
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recframe
from command_line_example import GOLDEN
from recframe.analysis.gate import Thresholds, find_failed, find_low
from recframe.cli import main
from recframe.frames.tables import tidy_table
from recframe.metrics.definitions import DEFINITIONS

COMMANDS = {
    "compare": [],
    "compare_csv": ["--format", "csv", "--metric", "recall@4"],
    "compare_json": ["--format", "json", "--metric", "fall_out@4", "--max-drop", "0.01"],
}
LONG = re.compile(r"\d\.\d{9,}")
FAILED = """recframe: failed: recall@4 of 'als' fell by 0.125, more than 0.01 \
(95% interval -0.1868 to -0.06317)
recframe: failed: fall_out@4 of 'als' rose by 0.125, more than 0.01 \
(95% interval 0.08352 to 0.1665; the lower the better)
"""


def shorten(match):
    """Return a matched number, rounded to 8 digits."""
    return f"{float(match[0]):.8f}"


def make_table(shift=0.0, users=range(12)):
    """Return values of users for two scores; als is worse by the shift."""
    base, half = np.arange(12) % 4 / 4, np.arange(12) % 3 % 2 / 2
    columns = {
        ("knn", "recall@4"): base,
        ("knn", "fall_out@4"): half,
        ("als", "recall@4"): base * (1 - shift * 8 / 3),
        ("als", "fall_out@4"): half + shift * (np.arange(12) % 2 + 0.5),
    }
    table = pd.DataFrame(columns, index=pd.Index(range(12), name="user")).set_axis(list(users))
    return table.rename_axis("user").rename_axis(["score", "metric"], axis=1)


@pytest.fixture
def save(tmp_path, monkeypatch):
    """Return a function that saves a table in the current folder, as --per-user does."""
    monkeypatch.chdir(tmp_path)

    def save(per_user, name):
        rows = tidy_table(per_user)
        rows.to_csv(name, index=False) if name.endswith(".csv") else rows.to_parquet(name)
        return name

    return save


@pytest.fixture
def nights(save):
    """Return two saved tables; als is worse in the second."""
    return [save(make_table(), "old.parquet"), save(make_table(0.125), "new.parquet")]


def test_every_golden_file_has_its_command():
    """Every golden file has a command."""
    assert set(COMMANDS) == {path.stem for path in GOLDEN.glob("compare*")}


@pytest.mark.parametrize("name", COMMANDS)
def test_output(name, nights, capsys):
    """The output equals the golden file, except for last digits that depend on NumPy."""
    status = main(["compare", *nights, *COMMANDS[name], "-q"])
    golden, printed = (GOLDEN / f"{name}.txt").read_text("utf-8"), capsys.readouterr().out

    assert LONG.sub(shorten, golden) == LONG.sub(shorten, printed)
    assert (3 if "--max-drop" in COMMANDS[name] else 0) == status


def test_it_is_the_comparison_of_values_of_users(save, capsys):
    """The table of files with one score each equals recframe.compare, and --output writes it."""
    one = [table[["als"]] for table in (make_table(), make_table(0.125))]
    paths = [save(table, name) for table, name in zip(one, ("a.csv", "b.parquet"), strict=True)]
    how = {"interval": "t", "confidence": 0.9, "correction": "bonferroni", "test": "ttest"}
    flags = [f"--{name}={value}" for name, value in how.items()]
    assert 0 == main(["compare", *paths, *flags, "--format", "csv", "--output", "out.parquet"])
    found = pd.read_csv(io.StringIO(capsys.readouterr().out), index_col=[0, 1])
    expected = pd.DataFrame(recframe.compare(recframe.read_per_user(paths), **how))
    expected = expected.rename(index={"b": "als"}).rename_axis(columns=None)

    pd.testing.assert_frame_equal(expected, found)
    assert expected.equals(pd.read_parquet("out.parquet").set_index(["score", "metric"]))


def test_p_values_are_corrected_for_all_rows(nights, capsys):
    """P-values are corrected for the rows of all scores together."""
    main(["compare", *nights, "--format", "json", "--correction", "bonferroni"])
    scores = json.loads(capsys.readouterr().out)["scores"]
    row = scores["als"]["fall_out@4"]

    assert min(1, 4 * row["p_value"]) == row["p_corrected"]


def test_a_gate_fails(nights, capsys):
    """A failed gate ends with status 3 and a line for each metric and score, also under -q."""
    assert 3 == main(["compare", *nights, "--max-drop", "0.01", "-q"])
    assert FAILED == capsys.readouterr().err
    assert 0 == main(["compare", *nights[::-1], "--max-drop", "0.01"])
    assert 0 == main(["compare", *nights, "--max-drop", "0.25"])
    assert 3 == main(["compare", *nights, "--non-inferior", "0.15", "--metric", "fall_out@4"])
    assert (
        "failed: fall_out@4 of 'als' may have risen by 0.1665, not less than 0.15 "
        "(95% interval 0.08352 to 0.1665; the lower the better)"
    ) in capsys.readouterr().err
    assert 0 == main(["compare", *nights, "--non-inferior", "0.3", "--metric", "fall_out@4"])


NAN = float("nan")
RULES = [
    # The rule, whether low values are better, the difference, its interval, users, failure.
    ("max_drop", False, -0.2, (-0.3, -0.1), 9, True),
    ("max_drop", False, -0.1, (-0.3, -0.1), 9, False),
    ("max_drop", False, 0.49 - 0.59, (-0.3, -0.01), 9, False),
    ("max_drop", False, -0.2, (-0.5, 0.1), 9, False),
    ("max_drop", False, -0.2, (-0.5, 0.0), 9, False),
    ("max_drop", False, 0.2, (0.1, 0.3), 9, False),
    ("max_drop", True, 0.2, (0.1, 0.3), 9, True),
    ("max_drop", True, -0.2, (-0.3, -0.1), 9, False),
    ("max_drop", True, 0.2, (-0.1, 0.5), 9, False),
    ("max_drop", False, 0.2, (NAN, NAN), 1, True),
    ("max_drop", False, NAN, (NAN, NAN), 0, True),
    ("max_drop", True, NAN, (NAN, NAN), 0, True),
    ("max_drop", False, -0.2, (NAN, NAN), 9, True),
    ("max_drop", False, 0.0, (NAN, NAN), 9, False),
    ("non_inferior", False, 0.0, (-0.09, 0.09), 9, False),
    ("non_inferior", False, 0.0, (-0.1, 0.09), 9, True),
    ("non_inferior", False, 0.1, (-0.2, 0.4), 9, True),
    ("non_inferior", True, 0.0, (-0.2, 0.09), 9, False),
    ("non_inferior", True, 0.0, (-0.09, 0.1), 9, True),
    ("non_inferior", False, 0.0, (NAN, NAN), 9, True),
    ("non_inferior", True, 0.3, (NAN, NAN), 1, True),
]


@pytest.mark.parametrize(("rule", "is_low", "difference", "interval", "n", "fails"), RULES)
def test_rules(rule, is_low, difference, interval, n, fails):
    """A gate with a limit of 0.1 follows its rule, and fails on unknown values with a reason."""
    row = {"difference": difference, "low": interval[0], "high": interval[1], "n_users": n}
    row |= {"n_old": n, "new_mean": 0.5}
    table = pd.DataFrame([row], pd.MultiIndex.from_tuples([("knn", "m")]))
    gate = Thresholds(rule, {"m": 0.1}, frozenset(["m"] if is_low else []), {}, 0.95)
    failed, _ = find_failed(table, gate, 0.95)

    assert fails == bool(failed)
    reason = failed["knn"]["m"] if failed else ""
    assert not failed or ("nan" not in reason and "no interval" in reason) == (
        np.isnan(interval[0]) and n > 1
    )


@pytest.mark.parametrize("name", DEFINITIONS)
def test_which_values_are_better(name):
    """A definition knows which values are better, or that no direction is."""
    definition = DEFINITIONS[name]
    expected = "unknown" if name in ("judged", "mean", "share", "diversity") else "high"
    if "The lower the better." in definition.formula.__doc__:
        expected = "low"

    assert expected == definition.better


def test_low_values_are_better_where_it_is_said():
    """Low values are better by definition or by the user's word, and a user's metric needs one."""
    metrics = ["recall@4", "fall_out@4", "mean(price)@4", "own"]

    given = {"low": ["own"], "high": ["mean(price)@4", "fall_out@4"]}
    assert frozenset(["own"]) == find_low(metrics, **given)
    assert frozenset(["fall_out@4"]) == find_low(metrics[:2], [], [])


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([], ["own"], r"low values of 'mean\(price\)@4' are better is not known, .*Pass higher_"),
        (["mean(price)@4"], [], "low values of 'own' are better is not known"),
        (["x"], [], "must name metrics that are compared, .*but names 'x'"),
        (["own"], ["own"], "must name once metrics that are compared, .*but names 'own'"),
    ],
)
def test_directions_that_are_refused(low, high, message):
    """Unknown, foreign and contradictory directions are refused."""
    with pytest.raises(recframe.RecframeError, match=message):
        find_low(["recall@4", "mean(price)@4", "own"], low, high)


def test_what_only_one_file_has_is_said(save, capsys):
    """Users, scores and metrics in one file only are left out of the table with a note."""
    old = make_table(users=range(3, 15))[["knn"]]
    old = save(old.rename(columns={"fall_out@4": "auc"}), "old.csv")
    new = save(make_table(), "new.parquet")

    assert 0 == main(["compare", old, new])
    table, notes = capsys.readouterr()
    assert ["0.753906", "9"] == table.splitlines()[1].split()[-2:]
    assert (
        "recframe: note: only old.csv has 3 users, 1 metric ['auc'], left out; both have 9 users\n"
        "recframe: note: only new.parquet has 3 users, 1 score ['als'], 1 metric ['fall_out@4'], "
        "left out; both have 9 users\n"
    ) == notes
    main(["compare", old, new, "--format", "json", "--quiet"])
    document = json.loads(capsys.readouterr().out)
    expected = {"n_users": 3, "scores": ["als"], "metrics": ["fall_out@4"]}
    assert (9, expected, None) == (
        document["users"],
        document["only"]["new"],
        document["gate"],
    )


def test_two_files_of_one_score_each(save, capsys):
    """Two files of one score each are compared under any names, with a note."""
    old, new = save(make_table()[["knn"]], "a.csv"), save(make_table()[["als"]], "b.csv")

    assert 0 == main(["compare", old, new])
    assert (
        "recframe: note: 'als' is compared with 'knn', each the only score of a file\n"
        "recframe: note: all values are the same in both files\n"
    ) == capsys.readouterr().err


def test_users_as_text_and_as_numbers(save, capsys):
    """Users in csv match text and numbers; text and integers in parquet files are refused."""
    text = save(make_table(users=map(str, range(12))), "text.parquet")
    paths = [save(make_table(), f"whole.{ending}") for ending in ("csv", "parquet")]

    assert 0 == main(["compare", paths[0], text])
    assert 0 == main(["compare", text, paths[0]])
    assert 1 == main(["compare", paths[1], text])
    assert (
        "recframe: text.parquet has no user of whole.parquet: they begin with '0' and 0, which are "
        "text and integers. Write them alike.\n"
    ) == capsys.readouterr().err.partition("\n")[2].partition("\n")[2]


def test_one_user_never_passes(save, capsys):
    """A gate fails if fewer than two users have a value in both files."""
    old, new = make_table(), make_table()
    new.loc[1:, ("knn", "recall@4")] = np.nan
    new.loc[:, ("als", "recall@4")] = np.nan
    paths = [save(old, "old.parquet"), save(new, "new.parquet")]
    recall = ["--metric", "recall@4", "--min-users", "0", "-q"]

    assert 3 == main(["compare", *paths, "--max-drop", "0.3", *recall])
    assert (
        "recframe: failed: recall@4 of 'knn' cannot be told (1 user has a value in both, of two "
        "needed)\n"
        "recframe: failed: recall@4 of 'als' cannot be told (0 users have a value in both, of two "
        "needed)\n"
    ) == capsys.readouterr().err


def test_what_has_nothing_in_common_is_refused(save, nights, capsys):
    """Files that share nothing, lack a metric, are the same or cannot be read are refused."""
    table = make_table()
    save(table.rename(columns=lambda name: f"{name}0", level="metric"), "metrics.parquet")
    save(table.rename(columns=lambda name: f"{name}0", level="score"), "scores.parquet")
    save(table / 0, "inf.csv")
    Path("link.parquet").symlink_to("old.parquet")
    Path("empty.parquet").touch()
    for words, message in {
        "old.parquet metrics.parquet": "metrics.parquet has no metric of old.parquet: they have",
        "old.parquet scores.parquet": "scores.parquet has no score of old.parquet: they have [",
        "old.parquet new.parquet --metric auc": "'auc' must be in both files; old.parquet has [",
        "old.parquet link.parquet": "old.parquet and link.parquet are one file. Name two",
        "'' new.parquet": "OLD must name a file or folder, but is '' (an unset variable?)",
        "no.parquet new.parquet": "cannot read no.parquet: no such file",
        "old.parquet empty.parquet": "cannot read empty.parquet: ",
        "old.parquet inf.csv": "inf.csv: per_user must hold finite numbers, but holds inf in",
        "old.parquet new.parquet -o old.parquet": "cannot write old.parquet: it is an input",
    }.items():
        assert 1 == main(["compare", *shlex.split(words)])
        assert capsys.readouterr().err.startswith(f"recframe: {message}")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max-drop", "-1"], "argument --max-drop: must be a number of 0 or more, but is -1"),
        (["--max-drop", "1", "--max-drop", "2"], "--max-drop without a metric may be given once"),
        (["--at-least", "auc=1", "--at-least", "auc=0"], "--at-least for auc may be given once"),
        (["--non-inferior", "nan"], "must be a number of 0 or more, but is nan"),
        (["--max-drop", "1", "--non-inferior", "1"], "not allowed with argument --max-drop"),
        (
            ["--lower-is-better", "x"],
            "--lower-is-better belongs to a gate. Add --max-drop, --non-inf",
        ),
        (
            ["--allow-missing"],
            "--allow-missing belongs to a gate. Add --max-drop, --non-inferior or --",
        ),
        (
            ["--min-users", "0.9"],
            "--min-users belongs to a gate. Add --max-drop, --non-inferior or --",
        ),
        (["--at-least", "2"], "--at-least: must be a number from 0 to 1, but is 2"),
        (["--at-least", "ndcg@10=-1"], "--at-least: must be a number from 0 to 1, but is -1"),
        (["--at-least", "ndcg@10=1.5"], "--at-least: must be a number from 0 to 1, but is 1.5"),
        (["--at-least", "rbp(p=0.8)=2"], "--at-least: must be a number from 0 to 1, but is 2"),
        (["--at-least", "dcg@10=-1"], "--at-least: must be a number of 0 or more, but is -1"),
        (["--min-users", "95"], "--min-users: must be a number from 0 to 1, but is 95"),
        (["--interval", "wilson"], "argument --interval: invalid choice: 'wilson'"),
        (["--correction", "max_t", "--test", "ttest"], ". Pass correction='holm'"),
    ],
)
def test_wrong_usage(words, message, capsys):
    """Limits out of range, two rules, and gate flags without a gate are wrong usage."""
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "old.parquet", "new.parquet", *words])
    assert message in capsys.readouterr().err


@pytest.fixture
def segmented(tmp_path, monkeypatch):
    """Save values of users with and without a country, and lower ones for the next night."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    user, country = np.arange(60), np.where(np.arange(60) % 3 == 0, "NL", "FR").astype(object)
    country[57:] = None
    frame = pd.DataFrame(
        {
            "user": user.repeat(4),
            "country": country.repeat(4),
            "score": np.tile([4, 3, 2, 1], 60),
            "relevant": rng.random(240) < 0.4,
        }
    )
    frame.to_parquet("run.parquet")
    words = ["evaluate", "run.parquet", "--metric", "precision@2", "--by", "country", "-q"]
    assert 0 == main([*words, "--per-user", "old.parquet"])
    old = pd.read_parquet("old.parquet")
    assert ["user", "country", "score", "precision@2"] == list(old)
    new = old.assign(**{"precision@2": old["precision@2"].where(old["country"] != "NL", 0.1)})
    new.to_parquet("new.parquet")
    return old, new


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_gate_for_each_segment(segmented, ending, capsys):
    """A gate compares each segment alone and fails for each alone."""
    for name, rows in zip(("old", "new"), segmented, strict=True):
        rows.to_csv(f"{name}.csv", index=False)
    words = ["compare", f"old.{ending}", f"new.{ending}", "--by", "country", "--max-drop", "0.01"]
    capsys.readouterr()
    assert 3 == main(words)
    printed = capsys.readouterr()
    (line,) = [line for line in printed.err.splitlines() if "failed" in line]
    assert line.startswith("recframe: failed: precision@2 of 'score' where country is 'NL' fell by")
    assert ["country", "FR", "NL", "NaN"] == [
        line.split()[0] for line in printed.out.partition("\nlow, high")[0].splitlines()[1:]
    ]

    assert 3 == main([*words, "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert ["FR", "NL", None] == [one["segment"]["country"] for one in document["segments"]]
    assert [38, 19, 3] == [one["users"] for one in document["segments"]]
    assert [False, True, False] == [bool(one["gate"]["failed"]) for one in document["segments"]]


def test_segments_of_saved_tables(segmented):
    """Segments saved with users become a level of the index, and `by` may name it."""
    per_user = recframe.read_per_user(["old.parquet", "new.parquet"])
    table = recframe.compare(per_user, by="country")

    assert ["user", "country"] == per_user.index.names
    assert ["country", "score", "metric"] == table.index.names
    assert [38, 19, 3] == table["n_users"].tolist()


def test_what_is_no_segment_of_saved_tables(segmented, capsys):
    """A column that was not saved as a segment is refused, and the message names the saved ones."""
    assert 1 == main(["compare", "old.parquet", "new.parquet", "--by", "nix"])
    said = "--by must be a column before the score in both files, 'user', 'country', but is 'nix'"
    assert said in capsys.readouterr().err


def make_night(n_users, names=("knn",), metrics=("recall@4",), undefined=0):
    """Return values of users for each score that do not change from night to night."""
    columns = pd.MultiIndex.from_product([names, metrics], names=["score", "metric"])
    values = np.random.default_rng(5).random((n_users, 1)).repeat(len(columns), axis=1)
    values[:undefined] = np.nan
    return pd.DataFrame(values, pd.RangeIndex(n_users, name="user"), columns)


LOST = {
    # Each case has the old table, the new table and the message.
    "users": (
        make_night(200),
        make_night(200)[150:],
        "recall@4 of 'knn' has new values for only 50 of 200 old users; 95% are needed",
    ),
    "values": (
        make_night(1000),
        make_night(1000, undefined=980),
        "recall@4 of 'knn' has new values for only 20 of 1,000 old users; 95% are needed",
    ),
    "model": (
        make_night(20, ["knn", "als"]),
        make_night(20),
        "score 'als' of old.parquet is not in new.parquet",
    ),
    "only model": (
        make_night(20),
        make_night(20, ["als"]),
        "score 'knn' of old.parquet is not in new.parquet; its 'als' is compared instead",
    ),
    "metric": (
        make_night(20, metrics=["recall@4", "ndcg@4"]),
        make_night(20),
        "metric 'ndcg@4' of old.parquet is not in new.parquet",
    ),
}


@pytest.mark.parametrize("what", LOST)
@pytest.mark.parametrize(
    "rule", [["--max-drop", "0.4"], ["--non-inferior", "0.4"], ["--at-least", "recall@4=0"]]
)
def test_a_gate_fails_where_something_is_missing(what, rule, save, capsys):
    """A gate by any rule fails if users, scores or metrics are missing, unless that is allowed."""
    old, new, line = LOST[what]
    words = ["compare", save(old, "old.parquet"), save(new, "new.parquet"), "-q"]

    assert 3 == main([*words, *rule])
    assert f"recframe: failed: {line}\n" == capsys.readouterr().err
    assert 0 == main([*words, *rule, "--allow-missing"])
    noted = f"recframe: note: {line}, which --allow-missing lets pass\n"
    assert noted == capsys.readouterr().err
    assert 0 == main(words)
    assert capsys.readouterr().err == ""


def test_what_is_missing_in_figures(save, capsys):
    """The JSON document has the numbers of users that a gate checks and its limits."""
    old, new = save(make_night(200), "old.parquet"), save(make_night(200)[11:], "new.parquet")
    words = ["compare", old, new, "--format", "json", "--at-least", "recall@4=0.1"]

    assert 3 == main(words)
    document = json.loads(capsys.readouterr().out)
    row, gate = document["scores"]["knn"]["recall@4"], document["gate"]
    assert (189, 200, 11) == (row["n_users"], row["n_old"], document["only"]["old"]["n_users"])
    assert (0.95, False, {"recall@4": 0.1}) == (
        gate["min_users"],
        gate["allow_missing"],
        gate["at_least"],
    )
    assert ({}, ["knn"]) == (gate["failed"], list(gate["missing"]))
    assert 0 == main([*words, "--min-users", "0.945"])


def test_more_users_and_scores_are_no_loss(save, capsys):
    """New users and scores, and users who never had a value, are no reason to fail."""
    old = save(make_night(200, undefined=100), "old.parquet")
    new = save(make_night(300, ["knn", "als"], undefined=100), "new.parquet")

    assert 0 == main(["compare", old, new, "--max-drop", "0.4", "-q"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("becomes", [None, "France"])
def test_a_segment_that_is_gone_or_renamed(segmented, becomes, capsys):
    """A gate fails for a segment that is gone or renamed, and the document names it."""
    new = pd.read_parquet("old.parquet")
    is_french = new["country"] == "FR"
    new = new[~is_french] if becomes is None else new.replace({"country": {"FR": becomes}})
    new.to_parquet("new.parquet")
    words = ["compare", "old.parquet", "new.parquet", "--by", "country", "--max-drop", "0.3", "-q"]
    line = "no user where country is 'FR' is in both files"
    capsys.readouterr()

    assert 3 == main([*words, "--format", "json"])
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert f"recframe: failed: {line}\n" == printed.err
    assert [{"country": "FR"}] == document["segments_gone"]
    assert ["NL", None] == [one["segment"]["country"] for one in document["segments"]]
    assert 0 == main([*words, "--allow-missing"])
    noted = f"recframe: note: {line}, which --allow-missing lets pass\n"
    assert noted == capsys.readouterr().err


def test_users_missing_in_one_segment(segmented, capsys):
    """A gate checks the share of known users in each segment."""
    new = pd.read_parquet("old.parquet")
    new[~new["user"].isin([0, 3, 6])].to_parquet("new.parquet")
    words = ["compare", "old.parquet", "new.parquet", "--max-drop", "0.3", "-q"]
    capsys.readouterr()

    assert 0 == main(words)
    assert 3 == main([*words, "--by", "country"])
    assert (
        "recframe: failed: precision@2 of 'score' where country is 'NL' has new values for only "
        "16 of 19 old users; 95% are needed\n"
    ) == capsys.readouterr().err


def test_a_floor(save, capsys):
    """--at-least compares the mean of all users in the new file, new users included."""
    old, new = make_night(20) * 0 + 0.5, make_night(40) * 0 + 0.5
    new[20:] = 0.1
    words = ["compare", save(old, "old.parquet"), save(new, "new.parquet"), "-q"]

    assert 0 == main([*words, "--at-least", "recall@4=0.3"])
    assert 3 == main([*words, "--at-least", "recall@4=0.31", "--max-drop", "0.01"])
    failed = "recframe: failed: recall@4 of 'knn' has a mean of 0.3, below 0.31\n"
    assert failed == capsys.readouterr().err
    assert 3 == main([*words, "--at-least", "recall@4=1"])
    assert 1 == main([*words, "--at-least", "ndcg@4=0.3"])
    assert "'ndcg@4' must be in both files; old.parquet has ['re" in capsys.readouterr().err


@pytest.mark.parametrize("rule", ["--max-drop", "--non-inferior"])
def test_a_limit_that_nothing_exceeds(rule, save, capsys):
    """A limit above the old mean is wrong usage and leaves no file."""
    paths = [save(make_night(20), "old.parquet"), save(make_night(20), "new.parquet")]

    with pytest.raises(SystemExit, match="2"):
        main(["compare", *paths, rule, "5", "-q", "--output", "out.json"])
    assert (
        f"recframe: {rule[2:].replace('-', '_')}=5 must be below 0.5007 for recall@4, as its old "
        "mean by 'knn' is 0.5007. Pass a difference of means such as 0.025.\n"
    ) == capsys.readouterr().err
    assert not Path("out.json").exists()


@pytest.mark.parametrize("metric", ["dcg@4", "own"])
def test_limits_of_metrics_that_may_be_above_1(metric, save):
    """A metric without an upper bound, or unknown to recframe, may have any limit."""
    table = make_night(20, metrics=[metric])
    paths = [save(table * 9, name) for name in ("old.csv", "new.csv")]
    words = ["compare", *paths, "--higher-is-better", metric, "--max-drop"]

    assert [0, 0] == [main([*words, "5", "--at-least", f"{metric}={mean}"]) for mean in (0, 1.5)]
    assert 3 == main([*words, "5", "--at-least", f"{metric}=9.5"])
    paths = [save(table, name) for name in ("old.csv", "new.csv")]
    assert 0 == main(["compare", *paths, "--higher-is-better", metric, "--max-drop", "5"])
