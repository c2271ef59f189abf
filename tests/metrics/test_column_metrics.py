"""`mean(COLUMN)@k` equals its definition, over all orders of tied rows, also at its edges."""

import math
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import reference
import strategies
from recframe.metrics.names import make_metric, parse_metric

VALUES = st.sampled_from([-2.5, -1.0, 0.0, 0.1, 0.2, 0.3, 1e15, 1e-15, 7.0])
ROW = st.tuples(
    st.integers(0, 2), st.none() | st.integers(1, 3) | st.just(math.inf),
    st.booleans(), VALUES,
)  # fmt: skip
RANKED = st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.integers(-3, 9)), max_size=6)
REFUSED = {
    "mean@10": r"'mean@10': mean takes the name of a column, .* as in mean\(price\)@10, but has "
    "none",
    "mean()@3": r"mean takes the name of a column, .*, but has none",
    "mean(a,b)@3": r"brackets, commas, quotes, @ or =, as in mean\(\"a,b\"\)@10, not 'a,b'",
    "mean(a@b)@3": r"as in mean\(\"a@b\"\)@10, not 'a@b'",
    "mean(column=a)@3": r"as in mean\(\"column=a\"\)@10, not 'column=a'",
    'mean("")@3': "takes the name of a column",
    'mean("a)@3': r"write it as mean\(COLUMN\)@k, not '\(\"a\)@3' after 'mean'",
    "mean(price)": r"'mean\(price\)': mean needs a cut.*as in 'mean\(price\)@10', but has none",
    "mean(price)@0": "needs a cut-off.*'0'",
    "maen(price)@3": r"did you mean 'mean\(price\)@3'\?",
}


def frame_of(rows):
    """Return (user, score, relevant, value) rows as a frame."""
    columns = {"user": "int64", "score": "float64", "relevant": "bool", "price": "float64"}
    frame = pd.DataFrame(rows, columns=list(columns))
    return frame.astype(columns)


@given(RANKED, st.integers(1, 7), st.sampled_from(strategies.TIES))
def test_the_reference_is_the_mean_over_orders(ranked, k, ties):
    """The reference equals the mean over all orders that the tie rule allows."""
    heights = {"best": lambda row: (row[0], row[1]), "worst": lambda row: (row[0], not row[1])}
    height = heights.get(ties, lambda row: row[0])
    rows = list(enumerate(ranked))
    if ties == "last":
        rows = rows[::-1]
    orders = [
        order
        for order in permutations(rows)
        if all(height(a[1]) >= height(b[1]) for a, b in pairwise(order))
    ]
    if ties in ("first", "last"):
        orders = [sorted(rows, key=lambda row: -row[1][0])]
    found = [Fraction(sum(row[2] for _, row in order[:k]), k) for order in orders]
    options = {"ties": ties, "short": "pad", "zero_division": 0}

    assert Fraction(sum(found), len(found)) == reference.column_mean(ranked, k, **options)


@given(st.lists(ROW, max_size=14), st.data())
def test_it_equals_the_reference(rows, data):
    """Every value equals the reference under every option, or both refuse."""
    options = {
        "ties": data.draw(st.sampled_from(strategies.TIES)),
        "short": data.draw(st.sampled_from(strategies.SHORT)),
        "zero_division": data.draw(st.sampled_from([math.nan, 0.0, 1.0])),
    }
    ks = data.draw(st.sets(st.integers(1, 6), min_size=1, max_size=3))
    asked = [f"mean(price)@{k}" for k in ks]
    rec = frame_of(rows).rec(missing="unranked", **options)
    try:
        expected = {
            (user, label): reference.column_mean(
                [row[1:] for row in rows if row[0] == user], k, **options
            )
            for user in {row[0] for row in rows}
            for k, label in zip(ks, asked, strict=True)
        }
    except reference.Refused:
        with pytest.raises(recframe.RecframeError, match="ranked rows"):
            rec.evaluate(asked)
        return
    table = rec.evaluate(asked)["score"]
    for (user, label), value in expected.items():
        assert (
            pytest.approx(float(value), rel=1e-12, abs=1e-9, nan_ok=True) == table.loc[user, label]
        )


@given(st.lists(ROW, min_size=1, max_size=20), st.integers(0, 99))
def test_the_order_of_rows_changes_no_bit(rows, seed):
    """The order of rows changes no bit of a mean."""
    frame = frame_of(rows)
    shuffled = frame.sample(frac=1, random_state=seed)
    for ties in ("expected", "best", "worst"):
        tables = [
            each.rec(ties=ties, short="pad", missing="unranked").evaluate(
                ["mean(price)@2", "mean(price)@5", "recall@2"]
            )
            for each in (frame, shuffled)
        ]
        pd.testing.assert_frame_equal(*tables, check_exact=True)


def test_what_else_is_asked_changes_no_bit(monkeypatch):
    """A mean has the same bits alone as among other metrics, columns and cut-offs."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "user": rng.integers(0, 60, 2_000),
            "a_score": rng.integers(0, 9, 2_000),
            "b_score": rng.random(2_000),
            "relevant": rng.random(2_000) < 0.2,
            "price": rng.normal(size=2_000),
            "seen": rng.random(2_000) < 0.5,
        }
    )
    labels = ["mean(price)@3", "mean(seen)@7", "recall@3", "ndcg", "mean(price)@40", "auc"]
    labels += ["rbp(p=0.8)@5", "err(max=1)@5", "dcg(offset=0)@9", "judged@6", "bpref"]
    rec = frame.rec(short="pad")
    whole = rec.evaluate(labels)
    for label in labels:
        alone = rec.evaluate([label])
        pd.testing.assert_frame_equal(whole.xs(label, axis=1, level=1, drop_level=False), alone)
    monkeypatch.setattr("recframe.kernel.threads.ROWS_PER_THREAD", 100)
    monkeypatch.setattr("recframe.kernel.ranking.SLICE", 64)
    monkeypatch.setattr("recframe.kernel.grouping.SLICE", 64)
    pd.testing.assert_frame_equal(whole, rec.evaluate(labels), check_exact=True)


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "Int64", "bool", "double[pyarrow]"])
def test_scores_and_columns_of_any_dtype(dtype):
    """A column of any dtype is read as floats, with booleans as 0 and 1."""
    values = [1, 0, 1, 1, 0]
    frame = pd.DataFrame({"user": 1, "score": [5, 4, 3, 2, 1], "price": values})
    frame["price"] = frame["price"].astype(dtype)
    if dtype != "bool":
        frame["score"] = frame["score"].astype(dtype)

    assert [1.0, 0.5, 0.6] == frame.rec.mean([f"mean(price)@{k}" for k in (1, 2, 5)]).iloc[
        0
    ].tolist()


@pytest.mark.parametrize(
    ("written", "column"),
    {
        "price": "price",
        " price ": "price",
        "unit price": "unit price",
        '"unit price"': "unit price",
        "'a, (b)@3'": "a, (b)@3",
        '"a ""b"""': 'a "b"',
        "'it''s'": "it's",
        "prix_é": "prix_é",
        "3": "3",
    }.items(),
)
def test_names_of_columns(written, column):
    """The name of a column may be quoted, and the label keeps the way it is written."""
    metric = parse_metric(f"mean({written})@4")
    made = make_metric("mean", 4, column=column)

    assert (f"mean({written.strip()})@4", "mean", (("column", column),), 4) == metric
    assert metric == parse_metric(metric.label)
    assert metric[1:] == made[1:] == parse_metric(made.label)[1:]
    frame = pd.DataFrame({"user": [1, 1], "score": [2, 1], column: [3, 5]})
    assert [f"mean({written.strip()})@4"] == frame.rec(short="pad").mean(metric.label).columns


@pytest.mark.parametrize(("label", "message"), REFUSED.items())
def test_names_that_are_refused(label, message):
    """An invalid name of a column is refused with the way to write it."""
    with pytest.raises(recframe.RecframeError, match=message):
        parse_metric(label)


def test_columns_that_are_refused():
    """A column that is missing, or has text, nulls or huge values, is refused by its name."""
    frame = pd.DataFrame({"user": 1, "score": [2, 1], "price": [1.0, 2.0]})
    for changed, label, message in [
        (frame, "mean(prise)@1", r"mean column='prise': no such column;.*did you mean 'price'"),
        (frame.assign(price=["a", "b"]), "mean(price)@1", "mean column='price': must be numbers"),
        (frame.assign(price=["1", "2"]), "mean(price)@1", "with pd.to_numeric"),
        (
            frame.assign(price=[1, math.inf]),
            "mean(price)@1",
            "at most 8.45e.270 in size, but has 1 ",
        ),
        (
            frame.assign(price=[1, None]),
            "mean(price)@1",
            "must not be null, but 1 of 2 rows are null",
        ),
        (frame, "mean(price)@3", "fewer than k=3 ranked rows"),
    ]:
        with pytest.raises(recframe.RecframeError, match=message):
            changed.rec.mean(label)


def test_labels_that_are_no_text():
    """A numeric label is written in digits, and an index level by its name."""
    frame = pd.DataFrame({"user": 1, "score": [2, 1], 7: [1.0, 2.0]})
    indexed = frame.rename(columns={7: "price"}).set_index("price")

    assert [1.0] == frame.rec.mean("mean(7)@1").loc["score"].tolist()
    assert [1.5] == indexed.rec.mean("mean(price)@2").loc["score"].tolist()
    assert [1.5, 2.0] == indexed.rec.mean(["mean(score)@2", "mean(score)@1"]).iloc[0].tolist()


def test_relevance_is_not_needed():
    """A mean needs no relevance, unless another metric or the tie rule reads it."""
    frame = pd.DataFrame({"user": 1, "score": [1, 1], "price": [1.0, 2.0]})

    assert [1.5] == frame.rec.mean("mean(price)@1").loc["score"].tolist()
    assert [1.5] == frame.rec.curve("mean(price)", k=[1])["score"].tolist()
    with pytest.raises(recframe.RecframeError, match="mean takes the name of a column"):
        frame.rec.curve("mean")
    for call in (
        lambda: frame.rec.mean(["mean(price)@1", "recall@1"]),
        lambda: frame.rec(ties="best").mean("mean(price)@1"),
    ):
        with pytest.raises(recframe.MissingColumnError, match="relevant: no column found"):
            call()


def test_nulls():
    """A null is refused, unless its row is dropped or no score ranks it under "unranked"."""
    frame = pd.DataFrame({"user": 1, "score": [3.0, 2.0, None], "price": [4.0, 2.0, None]})
    of_ranked = frame.assign(price=[None, 2.0, 6.0])
    rec = frame.rec(missing="unranked", short="pad")

    assert [3.0] == rec.mean("mean(price)@2").iloc[0].tolist()
    assert [2.0] == of_ranked.rec(missing="drop").evaluate("mean(price)@1").iloc[0].tolist()
    with pytest.raises(recframe.RecframeError, match="mean column='price': must not be null"):
        of_ranked.rec(missing="unranked").mean("mean(price)@1")
    other = frame.assign(b_score=[1.0, 2.0, 3.0])
    with pytest.raises(recframe.RecframeError, match="first in row 2"):
        other.rec(missing="unranked").mean("mean(price)@1")


def test_empty_lists():
    """Missing rows add 0, a mean of no rows is undefined, and an absent user has 0."""
    frame = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "score": [2.0, 1.0, None]})
    frame["price"] = [4.0, 2.0, 9.0]
    truth = pd.DataFrame({"user": [1, 3], "item": [1, 2]})
    means = {
        short: frame.rec(missing="unranked", short=short).evaluate("mean(price)@4")
        for short in ("pad", "shrink", "nan")
    }
    absent = frame.rec(population="all", truth=truth, missing="unranked", short="pad").evaluate(
        "mean(price)@2"
    )

    assert [1.5, 0.0] == means["pad"].iloc[:, 0].tolist()
    np.testing.assert_array_equal([3.0, math.nan], means["shrink"].iloc[:, 0])
    assert means["nan"].isna().all(axis=None)
    assert [3.0, 0.0, 0.0] == absent.iloc[:, 0].tolist()


def test_repeated_pairs():
    """A repeated pair must have one value under "max", and has its first row's under "first"."""
    frame = pd.DataFrame({"user": 1, "item": [1, 1, 2], "score": [1, 3, 2], "price": [5, 5, 2]})
    differs = frame.assign(price=[5, 6, 2])

    assert [5.0] == frame.rec(duplicates="max").mean("mean(price)@1").iloc[0].tolist()
    assert [2.0] == differs.rec(duplicates="first").mean("mean(price)@1").iloc[0].tolist()
    for rows in (differs, differs.iloc[::-1]):
        with pytest.raises(recframe.RecframeError, match=r"must have one value, but 1 have"):
            rows.rec(duplicates="max").mean("mean(price)@1")


def test_every_entry_point(tmp_path):
    """Files and Dask give the frame's table bit for bit, and unused columns are not read."""
    dd = pytest.importorskip("dask.dataframe")
    import recframe.dask

    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"user": rng.integers(0, 30, 900), "score": rng.integers(0, 6, 900)})
    frame["unit price"] = rng.normal(size=900)
    frame["other"] = "text"
    labels = ['mean("unit price")@3', "mean(unit price)@10", "mean(score)@2"]
    expected = recframe.evaluate(frame, labels)
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=100)
    found = recframe.evaluate(tmp_path / "a.parquet", labels, memory=20_000)
    lazy = dd.from_pandas(frame, npartitions=3).rec.evaluate(labels).compute().sort_index()

    pd.testing.assert_frame_equal(expected, found, check_exact=True)
    pd.testing.assert_frame_equal(expected, lazy, check_exact=True)
    with pytest.raises(recframe.MissingColumnError, match="mean column='nix': no such column"):
        recframe.evaluate(tmp_path / "a.parquet", "mean(nix)@1")
    summary = frame.rec.summary(labels[:1])
    assert summary["mean"].iloc[0] == pytest.approx(expected[("score", labels[0])].mean())
    assert "mean(unit price)@k" == frame.rec.curve("mean(unit price)", k=3).columns.name


@pytest.mark.parametrize(
    ("short", "price"), [("raise", 0.0), ("pad", 0.0), ("shrink", math.nan), ("nan", math.nan)]
)
def test_empty_lists_of_users_of_truth(short, price):
    """The mean of a truth user's empty list is NaN under "shrink" and "nan", and 0 otherwise."""
    frame = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [2, 1], "price": 10})
    truth = pd.DataFrame({"user": [1, 2], "item": [1, 2]})
    rec = frame.rec(truth=truth, population="truth", short=short)
    found = rec.evaluate("mean(price)@2")["score", "mean(price)@2"].tolist()

    assert [10.0, price] == pytest.approx(found, nan_ok=True)
    texts = [note.text for note in rec.mean("mean(price)@2").notes]
    assert any("empty lists among 2 users: 1 by score" in text for text in texts)
    assert [0.0] == rec.recall(k=2)["score"].tolist()[1:] or short == "nan"
