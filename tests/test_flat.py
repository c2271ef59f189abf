"""recframe.flat names the figures of tables as experiment trackers accept them."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recframe
from command_line_example import EXAMPLE
from recframe.cli import main

METRICS = ["recall@4", "rbp(p=0.8)@4"]
COUNTRY = pd.Series(["NL", "FR"] * 5, pd.RangeIndex(10, name="object"), name="country")
PART = "[_a-zA-Z][_a-zA-Z0-9]*"
TABLES = {
    "mean": lambda rec: rec.mean(METRICS),
    "mean by": lambda rec: rec.mean(METRICS, by=COUNTRY),
    "summary": lambda rec: rec.summary(METRICS),
    "summary by": lambda rec: rec.summary(METRICS, by=COUNTRY),
    "compare": lambda rec: rec.compare(METRICS),
    "compare all": lambda rec: rec.compare(METRICS, "all", by=COUNTRY),
    "curve": lambda rec: rec.curve("recall", k=[1, 4]),
    "curve by": lambda rec: rec.curve("recall", k=[1, 4], by=COUNTRY),
    "catalogue": lambda rec: rec.catalogue(4),
    "one score": lambda rec: rec(score="KNN scores").mean("recall@4"),
    "needed": lambda rec: recframe.users_needed(rec.evaluate(METRICS), 0.1),
}
FIRST = {
    "mean": "Random_scores.recall_at_4",
    "mean by": "country_FR.Random_scores.recall_at_4",
    "summary": "Random_scores.recall_at_4",
    "summary by": "country_FR.Random_scores.recall_at_4",
    "compare": "KNN_scores.recall_at_4.difference",
    "compare all": "country_FR.baseline_Random_scores.KNN_scores.recall_at_4.difference",
    "curve": "Random_scores.recall_at_1",
    "curve by": "country_FR.Random_scores.recall_at_1",
    "catalogue": "Random_scores.coverage_at_4",
    "one score": "KNN_scores.recall_at_4",
    "needed": "KNN_scores.recall_at_4.difference.n_needed",
}


@pytest.fixture(scope="module")
def rec():
    """Return the accessor of the example."""
    return pd.read_parquet(EXAMPLE).rec


@pytest.mark.parametrize("name", TABLES)
def test_every_finite_number_has_a_name(rec, name):
    """A table's numbers come in its order, as floats under names that trackers accept."""
    table = TABLES[name](rec)
    numbers = table.select_dtypes("number").to_numpy(float, na_value=np.nan).ravel()
    found = recframe.flat(table)

    assert numbers[np.isfinite(numbers)].tolist() == list(found.values())
    assert {float} == {type(number) for number in found.values()}
    assert FIRST[name] == next(iter(found))
    assert all(re.fullmatch(rf"{PART}(\.{PART})+", one) for one in found)


def test_figures_follow_the_mean_and_the_difference(rec):
    """The mean has the name alone, and so a summary has the names of the means, and more."""
    means, summary = (recframe.flat(TABLES[name](rec)) for name in ("mean", "summary"))

    assert means.items() <= summary.items()
    figures = ["", ".low", ".high", ".n_users", ".standard_error"]
    assert [f"Random_scores.recall_at_4{one}" for one in figures] == list(summary)[:5]
    compared = recframe.flat(TABLES["compare"](rec))
    assert not compared.keys() & summary.keys()
    assert "KNN_scores.recall_at_4.difference.p_corrected" in compared


def test_curve_has_the_names_of_means(rec):
    """The points of a curve have the names of the means at these cut-offs."""
    assert recframe.flat(rec.mean(["recall@1", "recall@4"])) == recframe.flat(TABLES["curve"](rec))


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("als", "als"),
        ("als score", "als_score"),
        ("2-tower", "_2_tower"),
        ("modèle", "mod_xe8le"),
        ("模型", "u6a21_u578b"),
        (("als", 2), "als_2"),
        (7, "_7"),
        ("_x__y_", "x_y"),
        ("+", "_"),
    ],
)
def test_labels_become_names(label, name):
    """Any label becomes letters, digits and underscores of ASCII."""
    frame = pd.DataFrame({"user": [1, 1], "relevant": [1, 0]})
    frame[[label]] = [[2.0], [1.0]]
    table = frame.rec(score=label).mean("recall@1")

    assert {f"{name}.recall_at_1": 1.0} == recframe.flat(table)


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("recall@10", "recall_at_10"),
        ("r_precision", "r_precision"),
        ("rbp(p=0.8)@10", "rbp_p_0_8_at_10"),
        ("mean(price)@10", "mean_price_at_10"),
        ("mean('a (b), c')@10", "mean_a_b_c_at_10"),
        ("P@5", "P_at_5"),
    ],
)
def test_metrics_become_names(metric, name):
    """The label of a metric becomes a name, with its parameters, column and cut-off."""
    rows = {
        "user": [1, 1],
        "score": [2, 1],
        "relevant": [1, 0],
        "price": [1, 2],
        "a (b), c": [1, 2],
    }
    table = pd.DataFrame(rows).rec(short="pad").mean(metric)

    assert [f"score.{name}"] == list(recframe.flat(table))


def test_labels_that_become_one_name_are_refused():
    """A name for two labels is refused with both; the JSON of the command leaves names out."""
    table = pd.DataFrame({"a b": [1.0], "a_b": [0.5]}, [0]).rename_axis("user")
    means = recframe.summary(table)
    both = r"\('a b', 'value'\) and \('a_b', 'value'\) both become 'a_b.value'. Rename one"
    with pytest.raises(recframe.RecframeError, match=both):
        recframe.flat(means)
    with pytest.raises(recframe.RecframeError, match=r"both become 'a_x\.a\.value'"):
        recframe.flat(
            pd.concat({"x": means[:1], "x ": means[:1]}, names=["a"]).rename({"a b": "a"})
        )


def test_numbers_that_are_not_finite_are_left_out(rec):
    """NaN, null and infinite values have no name."""
    table = rec.mean(METRICS)
    table.iloc[0, 0], table.iloc[1, 1] = math.nan, math.inf

    assert ["Random_scores.rbp_p_0_8_at_4", "KNN_scores.recall_at_4"] == list(recframe.flat(table))


def test_computed_and_selected_tables(rec):
    """Tables that are selected, rounded or computed keep their names."""
    table = rec.mean(METRICS)

    assert {name: 100 * one for name, one in recframe.flat(table).items()} == recframe.flat(
        table * 100
    )
    assert list(recframe.flat(table))[2:] == list(recframe.flat(table.loc[["KNN scores"]]))
    chosen = rec.compare(METRICS)[["difference"]]
    assert list(recframe.flat(chosen.rename_axis(columns=None))) == list(recframe.flat(chosen))


@pytest.mark.parametrize("name", [one for one in TABLES if one != "needed" and "by" not in one])
def test_tables_of_polars(rec, name):
    """Polars' tables give the same dict, except for columns that pandas leaves out."""
    polars = pytest.importorskip("polars", reason="polars is not installed")
    import recframe.polars

    expected = recframe.flat(TABLES[name](rec))
    table = TABLES[name](polars.read_parquet(EXAMPLE).rec)

    assert expected.items() <= recframe.flat(table).items()


def test_tables_of_files_and_of_dask(rec):
    """Files have the names of frames, and so have Dask's tables once they are computed."""
    expected = recframe.flat(rec.mean(METRICS))
    assert expected == recframe.flat(recframe.scan(EXAMPLE).mean(METRICS))
    dask = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    pytest.importorskip("recframe.dask", reason="dask is not installed")
    table = dask.from_pandas(pd.read_parquet(EXAMPLE), npartitions=2).rec.mean(METRICS)
    with pytest.raises(
        recframe.RecframeError, match=r"a dask DataFrame. Pass table\.compute\(\)\.$"
    ):
        recframe.flat(table)
    assert pytest.approx(expected) == recframe.flat(table.compute())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda rec: rec.evaluate(METRICS), "has the levels .'object'.; for values of users"),
        (lambda rec: rec.recall(k=4), "for values of users pass recframe.summary"),
        (lambda rec: rec(score="KNN scores").recall(k=4).set_axis(["score"], axis=1), "the levels"),
        (lambda rec: rec.describe(4), "has the levels .None.; for values"),
        (lambda rec: rec.mean(METRICS)["recall@4"], "a pandas Series. Pass table.reset_index"),
        (lambda rec: {"recall": 1}, "table must be the result of mean, summary, compare, curve or"),
    ],
)
def test_other_tables_are_refused(rec, make, message):
    """Values of users and other objects are refused."""
    with pytest.raises(recframe.RecframeError, match=message):
        recframe.flat(make(rec))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ([], "mean"),
        (["--summary"], "summary"),
        (["--baseline", "Random scores"], "compare"),
    ],
)
def test_json_of_evaluate_has_the_names(rec, capsys, words, name):
    """The document of the command has the dict of the same table of Python."""
    main(["evaluate", str(EXAMPLE), "--metric", *METRICS, "--format", "json", "-q", *words])
    document = json.loads(capsys.readouterr().out)

    assert recframe.flat(TABLES[name](rec)) == document["flat"]


def test_json_of_segments_and_of_saved_values(rec, tmp_path, monkeypatch, capsys):
    """Segments and compared files have the names of Python's tables, in JSON files too."""
    monkeypatch.chdir(tmp_path)
    frame = pd.read_parquet(EXAMPLE)
    frame["country"] = frame["object"].map(COUNTRY)
    frame.to_parquet("rows.parquet")
    words = ["--metric", *METRICS, "--by", "country", "-q", "-o", "means.json"]
    main(["evaluate", "rows.parquet", *words])
    document = json.loads(Path("means.json").read_text("utf-8"))
    assert recframe.flat(TABLES["mean by"](rec)) == document["flat"]
    capsys.readouterr()
    per_user = rec.evaluate(METRICS)
    recframe.save_per_user(per_user, "old.parquet")
    recframe.save_per_user(per_user / 2, "new.parquet")
    main(["compare", "old.parquet", "new.parquet", "-q", "--format", "json"])
    flat = json.loads(capsys.readouterr().out)["flat"]
    assert -per_user.mean()["KNN scores", "recall@4"] / 2 == pytest.approx(
        flat["KNN_scores.recall_at_4.difference"]
    )


def test_json_without_names(tmp_path, capsys):
    """The document has no names if two scores become one; the means are printed all the same."""
    frame = pd.read_parquet(EXAMPLE)
    frame["KNN_scores"] = frame["KNN scores"]
    frame.to_parquet(tmp_path / "rows.parquet")
    main(
        ["evaluate", str(tmp_path / "rows.parquet"), "--metric", *METRICS, "--format", "json", "-q"]
    )
    document = json.loads(capsys.readouterr().out)

    assert "flat" not in document
    assert ["Random scores", "KNN scores", "KNN_scores"] == list(document["scores"])


@pytest.mark.parametrize("metrics", [["recall@1"], ["recall@1", "mrr"]])
def test_values_of_users_have_no_names(metrics):
    """A table of users' values is refused with the call that makes means of it."""
    frame = pd.DataFrame({"user": [1, 1], "score": [2, 1], "relevant": [0, 1]})
    with pytest.raises(recframe.RecframeError, match=r"pass recframe\.summary\(table\)"):
        recframe.flat(frame.rec.evaluate(metrics))
