"""The gate of recframe compare follows the weights, units and options of saved tables."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.cli import main
from recframe.frames.tables import tidy_table

ROLES = ["--user", "kunde", "--item", "ware", "--score", "punkte", "--relevant", "kauf"]
METRICS = ["recall@2", "precision@3"]
SAID = "does not say which options it was made with"


def make_rows(is_worse=False):
    """Return rows of 60 users; each tenth user weighs 100 and may have become worse."""
    rng = np.random.default_rng(8)
    rows = pd.DataFrame({"kunde": np.arange(60).repeat(5), "ware": np.tile(range(5), 60)})
    rows["punkte"] = rng.random(300)
    rows["kauf"] = rng.random(300) < 0.5
    rows["land"] = np.where(rows["kunde"] % 3 == 0, "NL", "FR")
    rows["umsatz"] = np.where(rows["kunde"] % 10 == 0, 100, 1)
    if is_worse:
        lost = rows["kunde"] % 10 == 0
        rows.loc[lost, "punkte"] = np.where(rows.loc[lost, "kauf"], 0.1, 0.9)
    return rows


def evaluate(rows, name, *words):
    """Save the per-user values of rows in the current folder."""
    rows.to_parquet("rows.parquet")
    words = [*ROLES, "--metric", *METRICS, *words, "--per-user", name, "-q"]
    assert 0 == main(["evaluate", "rows.parquet", *words])


def write(name, values, users=None, metric="recall@4"):
    """Save values of a score as a file of pandas, which does not record how they were made."""
    index = pd.RangeIndex(len(values), name="kunde") if users is None else users
    columns = pd.MultiIndex.from_tuples([("als", metric)], names=["score", "metric"])
    tidy_table(pd.DataFrame(np.c_[values].astype(float), index, columns)).to_parquet(name)
    return name


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """Change to a new folder for each test."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("by", [[], ["--by", "land"]])
def test_weights_are_saved(ending, by, capsys):
    """Saved weights make the gate compare weighted means, so that it sees the loss."""
    nights = {"old": make_rows(), "new": make_rows(is_worse=True)}
    paths = [f"{name}.{ending}" for name in nights]
    for rows, path in zip(nights.values(), paths, strict=True):
        evaluate(rows, path, "--weights", "umsatz", *by)
    capsys.readouterr()
    words = ["compare", *paths, *by, "--format", "json", "-q"]
    words += ["--no-unit"] if ending == "csv" and by else []
    assert 3 == main([*words, "--max-drop", "0.15"])
    document = json.loads(capsys.readouterr().out)
    options = dict(zip(("user", "item", "score", "relevant"), ROLES[1::2], strict=True))
    old, new = (
        rows.rec(**options).mean(METRICS, by="land" if by else None, weights="umsatz")
        for rows in nights.values()
    )
    segments = document["segments"] if by else [document]
    found = [one["scores"]["punkte"][metric] for one in segments for metric in METRICS]

    expected = (new - old).to_numpy().ravel()
    np.testing.assert_allclose(expected, [one["difference"] for one in found], rtol=1e-9)
    np.testing.assert_allclose(new.to_numpy().ravel(), [one["new_mean"] for one in found])
    for name, rows in nights.items():
        evaluate(rows, f"{name}.{ending}", *by)
    assert 0 == main([*words, "--max-drop", "0.15"])


def test_weights_of_one_file(capsys):
    """A file with weights is not compared with one without weights."""
    evaluate(make_rows(), "heavy.parquet", "--weights", "umsatz")
    evaluate(make_rows(), "plain.parquet")
    capsys.readouterr()

    assert 1 == main(["compare", "plain.parquet", "heavy.parquet"])
    assert (
        "recframe: heavy.parquet has weights of users and plain.parquet has none. Evaluate both "
        "with --weights, or both without.\n"
    ) == capsys.readouterr().err
    with pytest.raises(recframe.RecframeError, match=r"heavy\.parquet has weights of users and"):
        recframe.read_per_user(["plain.parquet", "heavy.parquet"])


def test_weights_that_change():
    """Weights of the new file count, and Wilcoxon's test refuses weights."""
    rows = make_rows()
    evaluate(rows, "old.csv", "--weights", "umsatz")
    evaluate(rows.assign(umsatz=1), "new.csv", "--weights", "umsatz")

    found = recframe.read_per_user(["old.csv", "new.csv"])
    assert {1.0} == set(found.index.get_level_values("weights"))
    assert 1 == main(["compare", "old.csv", "new.csv", "--test", "wilcoxon"])


def test_weights_of_saved_tables_in_python():
    """Saved weights are a level of the index, and a summary without them has a note."""
    rows = make_rows()
    evaluate(rows, "users.parquet", "--weights", "umsatz")
    per_user = recframe.read_per_user("users.parquet")
    options = dict(zip(("user", "item", "score", "relevant"), ROLES[1::2], strict=True))
    expected = rows.rec(**options).summary(METRICS, weights="umsatz")
    found = recframe.summary(per_user, weights="weights")

    assert ["kunde", "weights"] == per_user.index.names
    pd.testing.assert_frame_equal(pd.DataFrame(expected), pd.DataFrame(found), rtol=1e-12)
    assert "weights_unused" not in {note.kind for note in found.notes}
    assert "weights_unused" in {note.kind for note in recframe.summary(per_user).notes}


def test_a_segment_called_weights(capsys):
    """A segment named "weights" cannot be saved, because it would be read as weights."""
    make_rows().rename(columns={"land": "weights"}).to_parquet("rows.parquet")
    words = ["evaluate", "rows.parquet", *ROLES, "--metric", *METRICS, "--by", "weights"]

    assert 0 == main(words)
    assert 1 == main([*words, "--per-user", "users.csv"])
    assert "by='weights' has a name that saved tables use. Rename it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("metric", "limit", "most"), [("recall@4", 0.25, 0.25), ("fall_out@4", 0.8, 0.75)]
)
def test_a_limit_that_no_loss_can_reach(metric, limit, most, capsys):
    """A limit that no loss can reach, given the old mean, is wrong usage."""
    paths = [write("old.parquet", [0, 0.5] * 20, metric=metric)]
    paths.append(write("new.parquet", [float(metric == "fall_out@4")] * 40, metric=metric))
    words = ["compare", *paths, "-q", "--max-drop"]

    with pytest.raises(SystemExit, match="2"):
        main([*words, str(limit)])
    assert (
        f"recframe: max_drop={limit} must be below {most} for {metric}, as its old mean by 'als' "
        f"is 0.25. Pass a difference of means such as {most / 20:.2g}.\n"
    ) == capsys.readouterr().err
    assert 3 == main([*words, str(most - 0.01)])


def test_a_limit_where_nothing_can_be_lost():
    """An old mean of 0 does not make a limit wrong."""
    paths = [write(name, [0.0] * 40) for name in ("old.parquet", "new.parquet")]

    assert 0 == main(["compare", *paths, "--max-drop", "0.01"])


@pytest.mark.parametrize(
    "options", [("--short pad", "--short shrink"), ("--zero-division 0", "--ties worst")]
)
def test_files_made_with_other_options(options, capsys):
    """A gate refuses files made with other options, and a table notes the difference."""
    rows = make_rows()[lambda frame: frame["ware"] < 2 + frame["kunde"] % 4]
    short = [] if "short" in options[0] else ["--short", "pad"]
    for name, text in zip(("old", "new"), options, strict=True):
        evaluate(rows, f"{name}.parquet", *text.split(), *short)
    capsys.readouterr()
    words = ["compare", "old.parquet", "new.parquet"]
    assert 0 == main(words)
    said = capsys.readouterr().err
    assert 1 == main([*words, "--max-drop", "0.01"])
    refused = capsys.readouterr().err

    named = {"short": ("'pad'", "'shrink'")}
    if "short" not in options[0]:
        named = {"ties": ("'expected'", "'worst'"), "zero_division": ("0.0", "nan")}
    made = [
        f"{path} with {', '.join(f'{name}={values[n]}' for name, values in named.items())}"
        for n, path in enumerate(words[1:])
    ]
    text = f"{' and '.join(made)} were made with other options"
    assert f"recframe: note: {text}" == said.splitlines()[0]
    assert f"recframe: {text}. Evaluate both with the same.\n" == refused


def test_options_that_changed_nothing(capsys):
    """The default short="raise" counts as short="pad", because it let no short list pass."""
    evaluate(make_rows(), "old.parquet")
    evaluate(make_rows(), "new.parquet", "--short", "pad")
    capsys.readouterr()

    assert 0 == main(["compare", "old.parquet", "new.parquet", "--max-drop", "0.01"])
    assert "options" not in capsys.readouterr().err


def test_files_that_say_nothing(capsys):
    """Files without recorded options pass the gate, with a note."""
    evaluate(make_rows(), "old.csv")
    evaluate(make_rows(), "new.parquet", "--ties", "worst")
    capsys.readouterr()

    assert 0 == main(["compare", "old.csv", "new.parquet", "--max-drop", "0.1"])
    assert f"recframe: note: old.csv {SAID}\n" in capsys.readouterr().err
    assert 0 == main(["compare", "old.csv", "new.parquet"])
    assert SAID not in capsys.readouterr().err


@pytest.mark.parametrize("rule", [["--max-drop", "0.01"], ["--non-inferior", "0.01"]])
@pytest.mark.parametrize("values", [[0.5] * 293, [0.5], [np.nan] * 3, [0.2, 0.7, np.nan]])
@pytest.mark.parametrize("metric", ["recall@4", "dcg@4"])
def test_files_that_are_the_same(rule, values, metric, capsys):
    """Equal files pass every gate, with any number of users."""
    paths = [write(name, values, metric=metric) for name in ("old.parquet", "new.parquet")]

    assert 0 == main(["compare", *paths, *rule, "-q"])
    assert "" == capsys.readouterr().err


@pytest.mark.parametrize("rule", [["--max-drop", "0.01"], ["--non-inferior", "0.01"]])
def test_units_are_counted_as_units(rule, capsys):
    """A gate with --unit counts units: 200 known people pass, and 100 are too few."""
    users = pd.MultiIndex.from_product([["Mo", "Di"], range(200)], names=["tag", "kunde"])
    old, same = (write(name, [0.2, 0.6] * 200, users) for name in ("a.parquet", "b.parquet"))
    half = write("c.parquet", [0.2, 0.6] * 100, users[users.get_level_values(1) < 100])

    assert 0 == main(["compare", old, same, "--unit", "kunde", *rule, "-q"])
    assert 3 == main(["compare", old, half, "--unit", "kunde", *rule, "-q"])
    assert "has new values for only 100 of 200 old users" in capsys.readouterr().err


def test_the_unit_is_saved(capsys):
    """Two files saved with the same unit are compared by it without --unit."""
    rows = pd.concat([make_rows().assign(tag=tag) for tag in ("Mo", "Di")])
    rows.to_parquet("rows.parquet")
    words = ["evaluate", "rows.parquet", "--user", "tag", *ROLES, "--metric", *METRICS, "-q"]
    for name in ("old", "new"):
        assert 0 == main([*words, "--summary", "--unit", "kunde", "--per-user", f"{name}.parquet"])
    assert 0 == main([*words, "--per-user", "other.parquet"])
    capsys.readouterr()

    assert 0 == main(["compare", "old.parquet", "new.parquet", "--format", "csv"])
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert {60} >= set(found["n_users"])
    assert 1 == main(["compare", "old.parquet", "other.parquet"])
    assert ": 120 rankings by ['tag', 'kunde'] of 60 'kunde'" in capsys.readouterr().err
