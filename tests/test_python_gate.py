"""recframe.gate is the gate of recframe compare in Python, and its comment has all of it."""

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.cli import main
from recframe.errors import RecframeError
from recframe.frames.tables import tidy_table

METRICS = ["recall@10", "ndcg@10"]


def make_night(falls=(0.0, 0.0), n_users=200, score="als"):
    """Return values of users for two metrics, lower by these falls for half of the users."""
    rng = np.random.default_rng(3)
    base = rng.random((n_users, 1)) * [1, 0.8]
    values = np.clip(base - np.multiply(2, falls) * (rng.random((n_users, 1)) < 0.5), 0, 1)
    columns = pd.MultiIndex.from_product([[score], METRICS], names=["score", "metric"])
    return pd.DataFrame(values, pd.RangeIndex(n_users, name="user"), columns)


OLD, NEW = make_night(), make_night((0.03, 0.01))


def test_table_and_reasons():
    """The table has both means, the difference of `compare`, and the verdict on each metric."""
    gate = recframe.gate(OLD, NEW, max_drop=0.02)

    assert not gate.passed
    assert ["old", "new", "difference", "low", "high", "n_users", "passed"] == list(gate.table)
    assert OLD.mean().tolist() == pytest.approx(gate.table["old"].tolist())
    assert NEW.mean().tolist() == pytest.approx(gate.table["new"].tolist())
    expected = recframe.compare({"old": OLD, "new": NEW})
    names = ["difference", "low", "high"]
    np.testing.assert_allclose(expected[names].to_numpy(), gate.table[names].to_numpy())
    assert [False, True] == gate.table["passed"].tolist()
    (reason,) = gate.reasons
    assert reason.startswith("recall@10 of 'als' fell by 0.0")
    assert "Failed" in repr(gate)
    assert reason in repr(gate)
    assert "&#x27;als&#x27;" in gate._repr_html_()


def test_without_limits_nothing_fails():
    """Without limits the tables are compared, and nothing fails."""
    gate = recframe.gate(OLD, NEW)

    assert gate.passed
    assert "passed" not in gate.table
    assert "verdict" not in gate.to_markdown()


def test_limits_by_metric():
    """A dict has a limit for each metric, and "others" for metrics that it does not name."""
    limits = {"recall@10": 0.05, "others": 0.001}
    assert [True, False] == recframe.gate(OLD, NEW, max_drop=limits).table["passed"].tolist()
    only = recframe.gate(OLD, NEW, max_drop={"NDCG@10": 0.001})
    assert [None, False] == only.table["passed"].tolist()
    assert "| – |" in only.to_markdown()
    floors = {"ndcg@10": 0.9}
    assert [None, False] == recframe.gate(OLD, NEW, at_least=floors).table["passed"].tolist()
    one = recframe.gate(OLD, NEW, max_drop=0.1, metrics="ndcg@10")
    assert ["ndcg@10"] == one.table.index.unique("metric").tolist()
    assert not recframe.gate(OLD, NEW, non_inferior=0.02).passed
    assert recframe.gate(OLD, OLD, non_inferior=1e-6).passed


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"max_drop": 0.6}, "max_drop=0.6 must be below 0.5072"),
        ({"non_inferior": 0.6}, "non_inferior=0.6 must be below 0.5072"),
        ({"max_drop": {"recall@5": 0.1}}, "max_drop must name metrics that are compared"),
        ({"max_drop": -1}, "max_drop must be a number of 0 or more, but is -1"),
        ({"max_drop": "1%"}, "max_drop must be a number of 0 or more, but is '1%'"),
        ({"at_least": {"recall@10": 1.5}}, "at_least must be a number from 0 to 1, but is 1.5"),
        ({"at_least": 1.5}, "at_least must be a number from 0 to 1, but is 1.5"),
        ({"maxdrop": 0.1}, "unexpected keyword argument 'maxdrop'; did you mean 'max_drop'?"),
        ({"max_drop": 0.1, "non_inferior": 0.1}, "max_drop and non_inferior are two rules"),
        ({"max_drop": 0.1, "min_users": 95}, "min_users must be a number from 0 to 1"),
        ({"max_drop": 0.1, "test": "t"}, "test must be one of"),
    ],
)
def test_limits_that_are_refused(limits, words):
    """Limits that nothing could fail, unknown metrics, and two rules are refused."""
    with pytest.raises(RecframeError) as refused:
        recframe.gate(OLD, NEW, **limits)
    assert words in str(refused.value)


def test_the_command_is_the_function(tmp_path, monkeypatch, capsys):
    """Files give the verdict and the comment of the command, with limits for each metric."""
    monkeypatch.chdir(tmp_path)
    for name, night in {"old": OLD, "new": NEW}.items():
        tidy_table(night).to_csv(f"{name}.csv", index=False)
    words = ["--max-drop", "recall@10=0.05", "--max-drop", "0.001", "--format", "markdown"]

    status = main(["compare", "old.csv", "new.csv", *words])
    printed = capsys.readouterr().out
    gate = recframe.gate("old.csv", "new.csv", max_drop={"recall@10": 0.05, "others": 0.001})

    assert status == 3
    assert printed.split("<details>")[0] == gate.to_markdown().split("<details>")[0]
    assert printed.startswith("**Failed**\n\n- ndcg@10 of 'als' fell by")
    assert "| als | recall@10 |" in printed
    assert "**fail** |" in printed
    assert "does not say which options it was made with" in printed


def test_missing_users_and_segments():
    """Users and segments that the new table lacks fail, unless they may be missing."""
    gate = recframe.gate(OLD, NEW[:100], max_drop=0.1)
    assert "recall@10 of 'als' has new values for only 100 of 200 old users" in gate.reasons[0]
    allowed = recframe.gate(OLD, NEW[:100], max_drop=0.1, allow_missing=True)
    assert allowed.passed
    assert any("100 of 200 old users" in one for one in allowed.notes)
    country = pd.Series(["NL", "FR"] * 100, OLD.index, name="country")
    by_country = recframe.gate(OLD, NEW, max_drop=0.001, by=country)
    assert ["country", "score", "metric"] == by_country.table.index.names
    assert "<details><summary>Segments</summary>" in by_country.to_markdown()
    assert "where country is 'FR'" in by_country.reasons[0]


def test_labels_of_people():
    """People's values correct the verdict, from a table for each night."""
    trusted = [OLD[:120] * 0.9, NEW[:120] * 0.9]
    gate = recframe.gate(OLD, NEW, max_drop=0.02, trusted=trusted)

    expected = recframe.compare(
        pd.concat({"old": OLD["als"], "new": NEW["als"]}, axis=1, names=["score", "metric"]),
        trusted=pd.concat(
            dict(zip(["old", "new"], (one["als"] for one in trusted), strict=True)),
            axis=1,
            names=["score", "metric"],
        ),
    )
    np.testing.assert_allclose(expected["difference"], gate.table["difference"])
    with pytest.raises(RecframeError, match="trusted must be two tables"):
        recframe.gate(OLD, NEW, max_drop=0.02, trusted=OLD)


def test_nothing_in_common(tmp_path):
    """Tables without a common user are refused; people's values may be files."""
    with pytest.raises(RecframeError, match="new has no user of old, only users such as"):
        recframe.gate(OLD, OLD.set_axis(OLD.index.astype(str)), max_drop=0.1)
    paths = [tmp_path / f"{name}.parquet" for name in ("old", "new")]
    for path, night in zip(paths, (OLD[:120], NEW[:120]), strict=True):
        tidy_table(night).to_parquet(path)
    by_paths = recframe.gate(OLD, NEW, max_drop=0.02, trusted=paths)
    by_tables = recframe.gate(OLD, NEW, max_drop=0.02, trusted=[OLD[:120], NEW[:120]])
    pd.testing.assert_frame_equal(by_tables.table, by_paths.table)


def test_a_floor_is_for_metrics_of_which_high_values_are_better():
    """A floor for fall_out is refused, as low values are better."""
    old, new = (
        one.rename(columns={"recall@10": "fall_out@10"}, level="metric") for one in (OLD, NEW)
    )
    with pytest.raises(RecframeError, match="low values of 'fall_out@10' are better"):
        recframe.gate(old, new, at_least=0.1)
    assert recframe.gate(old, new, at_least={"ndcg@10": 0.1}).passed


def test_names_are_escaped():
    """Names with signs of Markdown appear as they are."""
    night = make_night(score="a|b*<i>")
    assert r"a\|b\*\<i\>" in recframe.gate(night, night, max_drop=0.1).to_markdown()


@pytest.mark.parametrize(("max_drop", "passes"), [(0.01, False), (0.4, True)])
def test_truth_of_a_verdict(max_drop, passes):
    """A verdict is true if nothing failed, so that `assert` may hold it."""
    old = pd.DataFrame({"als": [0.25, 0.5, 0.75, 1.0] * 10}).rename_axis(columns="recall@10")
    verdict = recframe.gate(old, 0.5 * old, max_drop=max_drop)
    assert passes == bool(verdict) == verdict.passed
