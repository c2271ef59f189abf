"""Metrics may have other common names, which stay the label, while values follow the meaning."""

import json

import pandas as pd
import pytest

import recframe
import strategies
from entry_points import ENTRY_POINTS
from recframe.cli import main

ROWS = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 2, 3, 3, 3],
        "item": [1, 2, 3] * 3,
        "score": [0.9, 0.8, 0.7, 0.9, 0.9, 0.7, 0.1, 0.3, 0.2],
        "other": [0.7, 0.8, 0.9, 0.7, 0.9, 0.9, 0.3, 0.1, 0.2],
        "relevant": [1, 0, 1, 0, 1, 0, 0, 1, 1],
    }
)
MODELS = ROWS.rename(columns={"score": "a_score", "other": "b_score"})
ONE = ROWS.drop(columns="other")
MEANT = {
    "P@2": "precision@2",
    "p@2": "precision@2",
    "R@2": "recall@2",
    "Rprec": "r_precision",
    "mrr": "reciprocal_rank",
    "MRR@2": "reciprocal_rank@2",
    "RR": "reciprocal_rank",
    "rr@2": "reciprocal_rank@2",
    "hr@2": "hit_rate@2",
    "HR@2": "hit_rate@2",
    "Success@1": "hit_rate@1",
    "map": "average_precision",
    "MAP": "average_precision",
    "NDCG@2": "ndcg@2",
    "nDCG(offset=0)@2": "ndcg(offset=0)@2",
    "RBP(p=0.8)": "rbp(p=0.8)",
    "Mean(item)@2": "mean(item)@2",
}


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_every_entry_point_takes_them(entry, tmp_path):
    """A column keeps the typed name, with the values of recframe's name, on every engine."""
    for name in ("MRR@2", "P@2", "nDCG(offset=0)@2", "map"):
        table = ENTRY_POINTS[entry](ONE, name, {}, tmp_path)

        assert [("score", name)] == table.columns.tolist()
        assert ONE.rec.evaluate(MEANT[name]).to_numpy().tolist() == table.to_numpy().tolist()


def test_each_is_what_it_means():
    """Common names and recframe's names in any case have the values of the metric they mean."""
    here = [name for name in strategies.at_cut_offs([3]) if "(" not in name]
    for typed, name in (MEANT | {name.swapcase(): name for name in here}).items():
        table = ONE.rec.evaluate(typed)

        assert [("score", typed)] == table.columns.tolist()
        assert str(ONE.rec.evaluate(name).to_numpy()) == str(table.to_numpy())
    pd.testing.assert_series_equal(
        ONE.rec.mean("RR@2")["RR@2"], ONE.rec.mean("mrr@2")["mrr@2"], check_names=False
    )


@pytest.mark.parametrize(
    ("label", "message"),
    {
        "map_cut_10": "unknown metric 'map_cut_10', did you mean 'average_precision@10'? Metrics",
        "P_5": "unknown metric 'P_5', did you mean 'precision@5'? Metrics are",
        "P": "unknown metric 'P', did you mean 'precision@k'? Metrics are",
        "hr": "unknown metric 'hr', did you mean 'hit_rate@k'? Metrics are",
        "Rprec@5": "unknown metric 'Rprec@5', did you mean 'r_precision'? Metrics are",
        "P@0": "'P@0': precision needs a cut-off, an integer of 1 or more as in 'P@10', but has "
        "'0'",
        "F1": "'F1': f1 needs a cut-off, an integer of 1 or more as in 'F1@10', but has none",
        "AUC@5": "'AUC@5': auc takes no cut-off. Pass 'AUC'",
        "mrr(p=1)": "reciprocal_rank[@k] takes no parameters, not 'p'",
        "AUC(3)5": "'AUC(3)5': write it as auc, not '5' after 'AUC'",
    }.items(),
)
def test_others_are_refused(label, message):
    """Ambiguous and malformed names are refused with the choices."""
    with pytest.raises(recframe.RecframeError) as refused:
        ONE.rec.evaluate(label)

    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_like_settles_map_at_k(entry, tmp_path):
    """Under `like` MAP at a cut-off is the library's, under recframe's name, on every engine."""
    for library, name in (("Spark", "capped_average_precision@2"), ("ranx", "average_precision@2")):
        found = ENTRY_POINTS[entry](ONE, "map@2", {"like": library}, tmp_path)

        assert [("score", name)] == found.columns.tolist()
        expected = ONE.rec(like=library).evaluate(name)
        assert expected.to_numpy().tolist() == found.to_numpy().tolist()


def test_every_table_settles_map_at_k():
    """`like` settles MAP at a cut-off in each table of metrics, and in a list of several."""
    rec = MODELS.rec(like="Kaggle")
    name = "capped_average_precision@2"

    assert [name, "P@1"] == rec.mean(["MAP@2", "P@1"]).columns.tolist()
    for table in (rec.summary("map_at_2"), rec.compare("ap@2")):
        assert [name] == table.index.unique("metric").tolist()
    assert rec.curve("capped_average_precision", 2).equals(rec.curve("map", 2))
    with pytest.raises(recframe.RecframeError, match=f"but have '{name}' more than once"):
        rec.mean(["map@2", name])


@pytest.mark.parametrize(
    ("labels", "second"),
    [
        (["mrr@2", "reciprocal_rank@2"], "'reciprocal_rank@2', which is 'mrr@2',"),
        (["auc", "Precision@2", "P@2"], "'P@2', which is 'Precision@2',"),
        (["ndcg(offset=1)@2", "NDCG@2"], "'NDCG@2', which is 'ndcg(offset=1)@2',"),
        (["mean(item)@2", "mean('item')@2"], "\"mean('item')@2\", which is 'mean(item)@2',"),
        (["auc", "auc"], "'auc'"),
    ],
)
def test_repeats_go_by_the_meaning(labels, second):
    """Two names of one metric in a list are refused, on the command line too."""
    with pytest.raises(recframe.RecframeError) as refused:
        ONE.rec.evaluate(labels)

    assert f"metrics must differ, but have {second} more than once" == str(refused.value)
    assert ["P@1", "P@2"] == ONE.rec.mean(["P@1", "P@2"]).columns.tolist()


def test_curves():
    """A curve keeps the typed name, and names without a curve are refused."""
    curve = ONE.rec.curve("MRR", k=[1, 2])

    assert "MRR@k" == curve.columns.name
    assert (
        ONE.rec.curve("reciprocal_rank", k=[1, 2]).to_numpy().tolist() == curve.to_numpy().tolist()
    )
    assert "P@k" == ONE.rec.curve("P", k=[1]).columns.name
    for name in ("map", "AUC", "Rprec"):
        with pytest.raises(recframe.RecframeError, match=f"a curve takes .*, not '{name}'"):
            ONE.rec.curve(name)


def test_tables_of_users():
    """`summary` and `compare` treat a metric by its meaning and keep its label."""
    both = MODELS.rec.evaluate(["Recall@2", "Mean(item)@2"])
    here = MODELS.rec.evaluate(["recall@2", "mean(item)@2"])
    for function in (recframe.summary, recframe.compare):
        table = function(both)
        assert ["Recall@2", "Mean(item)@2"] == table.index.unique("metric").tolist()
        pd.testing.assert_frame_equal(
            pd.DataFrame(function(here)).reset_index("metric", drop=True),
            pd.DataFrame(table).reset_index("metric", drop=True),
        )
    # The names of metrics tell which level holds them.
    swapped = both.swaplevel(axis=1).rename_axis(columns=[None, None])
    pd.testing.assert_frame_equal(recframe.compare(both), recframe.compare(swapped))


def test_tables_of_two_labels_are_joined():
    """A metric with two names in joined tables is one, and a repeat in one score is refused."""
    tables = MODELS.rec.evaluate("mrr@2")["a_score"], MODELS.rec.evaluate("RR@2")["b_score"]
    joined = pd.concat(dict(zip("ab", tables, strict=True)), axis=1)
    found = recframe.compare(joined)
    expected = recframe.compare(
        pd.concat({"a": tables[0], "b": tables[1].set_axis(["mrr@2"], axis=1)}, axis=1)
    )

    pd.testing.assert_frame_equal(expected, found)
    twice = pd.concat({"a": tables[0].assign(**{"RR@2": 1.0})}, axis=1)
    message = r"each column once, but has column \('a', 'RR@2'\), which is 'mrr@2', more than once"
    with pytest.raises(recframe.RecframeError, match=message):
        recframe.summary(twice)


@pytest.fixture
def nights(tmp_path, monkeypatch):
    """Save two per-user files in which each metric has two labels."""
    monkeypatch.chdir(tmp_path)
    ROWS.to_parquet("rows.parquet")
    for name, flags in {
        "old.csv": "RR@2,fall_out@1",
        "new.csv": "reciprocal_rank@2,FALL_OUT@1",
    }.items():
        command = ["evaluate", "rows.parquet", "--score", "score", "-q", "--metric", flags]
        assert 0 == main([*command, "--per-user", name])
    return ["old.csv", "new.csv"]


def test_files_are_joined(nights):
    """Joined files with two names of a metric keep the name in the first file."""
    joined = recframe.read_per_user(nights)

    assert ["RR@2", "fall_out@1"] == joined.columns.unique("metric").tolist()
    assert not joined.isna().any(axis=None)


@pytest.mark.parametrize(
    ("flags", "labels"),
    [
        ([], ["reciprocal_rank@2", "FALL_OUT@1"]),
        (["--metric", "mrr@2"], ["mrr@2"]),
        (["--metric", "mrr@2", "Reciprocal_Rank@2"], ["mrr@2"]),
        (["--at-least", "mrr@2=0.1"], ["reciprocal_rank@2", "FALL_OUT@1"]),
        (["--metric", "Mrr@2", "--at-least", "RR@2=0.1"], ["Mrr@2"]),
        (["--max-drop", "0.05"], ["reciprocal_rank@2", "FALL_OUT@1"]),
        (
            ["--max-drop", "0.05", "--higher-is-better", "Fall_out@1"],
            ["reciprocal_rank@2", "FALL_OUT@1"],
        ),
    ],
)
def test_the_gate(nights, flags, labels, capsys):
    """A gate compares metrics whose labels changed, under the labels asked for or the new ones."""
    assert 0 == main(["compare", *nights, *flags, "--format", "json"])
    captured = capsys.readouterr()
    document = json.loads(captured.out)

    assert labels == document["metrics"]
    assert "recframe: note: all values are the same in both files" in captured.err
    assert "only" not in captured.err
    if "--at-least" in flags:
        assert {labels[0]: 0.1} == document["gate"]["at_least"]
    if "--max-drop" in flags:
        low = [] if "--higher-is-better" in flags else ["FALL_OUT@1"]
        assert low == document["gate"]["lower_is_better"]


def test_a_floor_holds_by_another_name(nights, capsys):
    """--at-least and its limits apply to a metric by any of its names."""
    assert 3 == main(["compare", *nights, "--at-least", "mrr@2=0.99"])
    assert "failed: reciprocal_rank@2 of 'score' has a mean of" in capsys.readouterr().err
    assert 1 == main(["compare", *nights, "--at-least", "hr@2=0.1"])
    assert "'hr@2' must be in both files" in capsys.readouterr().err
    for flags in (["--max-drop", "1", "--metric", "MRR@2"], ["--at-least", "mrr@2=1.5"]):
        with pytest.raises(SystemExit):
            main(["compare", *nights, *flags])
    assert "must be below 0.9167 for MRR@2" in capsys.readouterr().err


def test_the_command_line_settles_map_at_k(tmp_path, monkeypatch, capsys):
    """--like settles MAP at a cut-off, and without it both definitions are named."""
    monkeypatch.chdir(tmp_path)
    ROWS.to_csv("rows.csv", index=False)
    words = ["evaluate", "--score", "score", "--format", "csv", "-q", "--metric", "map@2"]
    for library, name in (("RecBole", "capped_average_precision"), ("RecTools", "average_precis")):
        assert 0 == main([*words, "rows.csv", "--like", library, "--population", "rows"])
        assert capsys.readouterr().out.startswith(f"score,{name}")
    assert 1 == main([*words, "rows.csv"])
    assert "did you mean 'average_precision@2' (divided by R: " in capsys.readouterr().err


def test_the_command_line(tmp_path, monkeypatch, capsys):
    """The command line takes other names of metrics, and refuses repeats in a list."""
    monkeypatch.chdir(tmp_path)
    ROWS.to_csv("rows.csv", index=False)
    words = ["evaluate", "--score", "score", "--format", "csv", "-q", "--metric"]
    assert 0 == main([*words, "NDCG@2", "P@1,mrr", "MAP", "rows.csv"])
    assert "score,NDCG@2,P@1,mrr,MAP" == capsys.readouterr().out.splitlines()[0]
    assert 1 == main([*words, "NDCG@2", "ndcg@2", "rows.csv"])
    message = "metrics must differ, but have 'ndcg@2', which is 'NDCG@2', more than once"
    assert message in capsys.readouterr().err
