"""`diversity(COLUMN)@k` and `share(COLUMN)@k` equal their definitions over all orders of ties."""

import math
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import reference
import strategies
from entry_points import ENTRY_POINTS
from recframe.metrics.names import parse_metric

VECTORS = {
    "a": (1.0, 0.0), "b": (0.0, 3.0), "c": (-2.0, 0.0), "d": (0.5, 0.5), "e": (1e-9, -3e-9),
}  # fmt: skip
COLUMNS = ("genre", "vector", "price")
ROW = st.tuples(
    st.integers(0, 2), st.none() | st.integers(1, 2) | st.just(math.inf),
    st.booleans(), st.sampled_from("abcde"), st.sampled_from([0.0, 0.1, 0.3, 2.0, 1e15]),
)  # fmt: skip
LISTS = {
    "lists": list,
    "tuples": tuple,
    "arrays": np.array,
    "float32": lambda cells: np.array(cells, np.float32),
}


def frame_of(rows):
    """Return (user, score, relevant, genre, price) rows as a frame with a vector of each genre."""
    columns = {"user": "int64", "score": "float64", "relevant": "bool", "genre": "object"}
    columns["price"] = "float64"
    frame = pd.DataFrame(rows, columns=list(columns)).astype(columns)
    return frame.assign(vector=frame["genre"].map(VECTORS))


def cosine_distance(one, other):
    """Return 1 - the cosine of the vectors of two genres."""
    one, other = VECTORS[one], VECTORS[other]
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return 1 - product / math.hypot(*one) / math.hypot(*other)


def differ(one, other):
    """Return whether two genres differ."""
    return one != other


def expected_value(label, rows, **options):
    """Return a metric of one user's (score, relevant, genre, price) rows."""
    metric, k = label.partition("(")[0], int(label.partition("@")[2])
    if metric == "share":
        return reference.column_share([(*row[:2], row[3]) for row in rows], k, **options)
    difference = cosine_distance if "vector" in label else differ
    return reference.diversity([row[:3] for row in rows], k, difference, **options)


@pytest.mark.filterwarnings("ignore:.* than the cut-off; if rankings were cut")
@given(st.lists(ROW, max_size=9), st.data())
def test_they_equal_the_reference(rows, data):
    """Every value equals the mean over all orders of tied rows, or both refuse."""
    options = {
        "ties": data.draw(st.sampled_from(strategies.TIES)),
        "short": data.draw(st.sampled_from(strategies.SHORT)),
        "zero_division": data.draw(st.sampled_from([math.nan, 0.0, 1.0])),
    }
    ks = data.draw(st.sets(st.integers(2, 6), min_size=1, max_size=2))
    labels = [f"{name}@{k}" for k in ks for name in ("diversity(genre)", "diversity(vector)")] + [
        f"share(price)@{k}" for k in ks
    ]
    rec = frame_of(rows).rec(missing="unranked", **options)
    users = {row[0] for row in rows}
    try:
        expected = {
            (user, label): expected_value(
                label, [row[1:] for row in rows if row[0] == user], **options
            )
            for user in users
            for label in labels
        }
    except reference.Refused:
        with pytest.raises(recframe.RecframeError, match="ranked rows"):
            rec.evaluate(labels)
        return
    table = rec.evaluate([*labels, "recall@1", "mean(price)@2"])["score"]
    for (user, label), value in expected.items():
        assert (
            pytest.approx(float(value), rel=1e-12, abs=1e-14, nan_ok=True) == table.loc[user, label]
        )


@pytest.mark.filterwarnings("ignore:.* than the cut-off; if rankings were cut")
@given(st.lists(ROW, min_size=1, max_size=20), st.integers(0, 99))
def test_the_order_of_rows_changes_no_bit(rows, seed):
    """The order of rows changes no bit, and other metrics neither."""
    frame = frame_of(rows).assign(third=np.arange(len(rows)) // 3)
    angle = np.array([math.cos(n) for n in range(len(rows))])
    frame["vector"] = list(np.stack([angle, angle**2, np.full(len(rows), 0.1)], axis=1))
    labels = ["diversity(genre)@2", "diversity(vector)@5", "diversity(third)@3", "share(price)@2"]
    shuffled = frame.sample(frac=1, random_state=seed)
    for ties in ("expected", "best", "worst"):
        options = {"user": "user", "model": None, "ties": ties, "short": "pad"}
        options["missing"] = "unranked"
        table, other = (each.rec(**options).evaluate(labels) for each in (frame, shuffled))
        pd.testing.assert_frame_equal(table, other, check_exact=True)
        for label in labels:
            alone = shuffled.rec(**options).evaluate([label])
            pd.testing.assert_frame_equal(table[[("score", label)]], alone, check_exact=True)


def test_a_frame_by_hand():
    """Two of three pairs differ, their mean cosine is 1/3, and 8 of 10 euros are in the first."""
    frame = pd.DataFrame({"user": 1, "score": [4, 3, 2, 1], "genre": ["a", "b", "a", "c"]})
    frame["vector"], frame["price"] = [[1, 0], [0, 5], [3, 0], [1, 1]], [1, 3, 4, 2]
    labels = ["diversity(genre)@3", "diversity(vector)@3", "share(price)@3"]

    assert pytest.approx([2 / 3, 2 / 3, 0.8]) == frame.rec.mean(labels).iloc[0].tolist()


@pytest.mark.parametrize("cells", LISTS)
@pytest.mark.parametrize("kind", ["object", "list", "fixed_size_list"])
def test_vectors_of_any_type(cells, kind):
    """Vectors may be lists, tuples, arrays or Arrow's lists."""
    rows = [[1, 0], [1, 1], [0, 2]]
    frame = pd.DataFrame({"user": 1, "score": [3, 2, 1], "vector": [*map(LISTS[cells], rows)]})
    if kind != "object":
        lists = pa.list_(pa.float32(), 2 if kind == "fixed_size_list" else -1)
        frame["vector"] = pd.Series(rows, dtype=pd.ArrowDtype(lists))
    expected = 1 - 2 * math.sqrt(0.5) / 3

    assert pytest.approx(expected) == frame.rec.mean("diversity(vector)@3").iloc[0, 0]


@pytest.mark.parametrize(
    "values",
    [
        ["x", "y", "x"],
        pd.Categorical(["x", "y", "x"]),
        [7, 8, 7],
        [True, False, True],
        [date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 1)],
        pd.array([1, 2, 1], "Int64"),
        pd.array(["x", "y", "x"], pd.ArrowDtype(pa.string())),
        pd.cut([0.1, 0.6, 0.2], [0, 0.5, 1]),
    ],
)
def test_categories_of_any_dtype(values):
    """Categories may be text, integers, booleans, dates or intervals."""
    frame = pd.DataFrame({"user": 1, "score": [3, 2, 1], "genre": values})

    assert pytest.approx(2 / 3) == frame.rec.mean("diversity(genre)@3").iloc[0, 0]


def test_identical_and_opposite_vectors():
    """Equal vectors of any length have no diversity, and two opposite ones have 2."""
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "score": 1})
    frame["vector"] = [[0.1, 0.7, -3], [0.2, 1.4, -6], [1e-30, 0, 0], [-1e30, 0, 0]]
    values = frame.rec.evaluate("diversity(vector)@2").iloc[:, 0]

    assert 0 <= values[1] < 1e-15
    assert 2 == values[2]


def test_lists_without_a_pair():
    """A list of one row has no value if lists shrink, 0 if they are padded, and a note."""
    frame = pd.DataFrame({"user": [1, 1, 2], "score": [2, 1, 1], "genre": ["x", "y", "x"]})
    of_short = {
        short: frame.rec(short=short).evaluate("diversity(genre)@2").iloc[:, 0].tolist()
        for short in ("pad", "shrink", "nan")
    }

    assert [1.0, 0.0] == of_short["pad"]
    assert [1.0, math.nan] == pytest.approx(of_short["shrink"], nan_ok=True)
    assert [1.0, math.nan] == pytest.approx(of_short["nan"], nan_ok=True)
    notes = frame.rec(short="shrink").mean("diversity(genre)@2").notes
    assert "1 in diversity(genre)@2 (fewer than two ranked rows)" in notes[0].text


def test_missing_rows_form_pairs_that_add_nothing():
    """Two differing rows are one of the three pairs of a padded list of three."""
    frame = pd.DataFrame({"user": 1, "score": [2, 1], "genre": ["x", "y"]})

    assert pytest.approx(1 / 3) == frame.rec(short="pad").mean("diversity(genre)@3").iloc[0, 0]
    assert 1.0 == frame.rec(short="shrink").mean("diversity(genre)@3").iloc[0, 0]


def test_users_whose_column_sums_to_0():
    """A share of nothing is `zero_division`, and a note counts these users."""
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "score": [2, 1, 2, 1], "price": [1, 3, 0, 0]})
    means = frame.rec.mean("share(price)@1")

    assert [0.25] == means["share(price)@1"].tolist()
    assert "1 in share(price)@1 (column that sums to 0)" in means.notes[0].text
    assert [0.25, 1.0] == frame.rec(zero_division=1).evaluate("share(price)@1").iloc[:, 0].tolist()


def test_rows_without_a_score_count_in_a_share():
    """Rows that a score does not rank count in the sum of all rows, and -inf masks like a null."""
    frame = pd.DataFrame({"user": 1, "score": [2.0, 1.0, -math.inf], "price": [1, 1, 2]})

    assert [0.25] == frame.rec(missing="unranked").mean("share(price)@1").iloc[0].tolist()
    assert [0.5] == frame.rec(missing="drop").mean("share(price)@1").iloc[0].tolist()


def test_shares_of_lists_that_are_cut():
    """A note warns of shares that are too high if no ranking is longer than the cut-off."""
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "score": [2, 1, 2, 1]})
    frame["price"] = [1, 3, 2, 5]
    message = "no ranking is longer .* rows beyond it are missing, .* too high: add them"
    for rec in (frame.rec, frame.rec(truth=frame[["user", "item"]])):
        with pytest.warns(recframe.RecframeWarning, match=message):
            rec.evaluate("share(price)@2")

        notes = rec.mean(["share(price)@1", "diversity(price)@2"]).notes
        assert "cut" not in [note.kind for note in notes]


def test_truth_without_rows():
    """Items of truth without a row have no value, and an absent user has no share and no pair."""
    frame = pd.DataFrame({"user": 1, "item": [1, 2, 3], "score": [3, 2, 1], "price": [1, 1, 2]})
    truth = pd.DataFrame({"user": [1, 2], "item": [2, 9]})
    rec = frame.rec(truth=truth, population="truth", short="shrink")
    table = rec.evaluate(["share(price)@1", "diversity(price)@2", "recall@2"])["score"]

    assert [0.25, 0.0, 1.0] == table.loc[1].tolist()
    assert [math.nan, math.nan, 0.0] == pytest.approx(table.loc[2].tolist(), nan_ok=True)


def test_nulls():
    """Nulls are refused, dropped, or allowed where no score ranks the row; a share reads all."""
    frame = pd.DataFrame({"user": 1, "score": [3.0, 2.0, 1.0, None], "price": [4.0, 2, 2, None]})
    frame["genre"] = ["x", "y", "y", None]
    frame["vector"] = [[1, 0], [0, 1], [0, 1], None]
    labels = ["diversity(genre)@3", "diversity(vector)@3"]
    rec = frame.rec(missing="unranked")

    assert pytest.approx([2 / 3, 2 / 3]) == rec.mean(labels).iloc[0].tolist()
    assert pytest.approx([0.75]) == frame.rec(missing="drop").mean("share(price)@2").iloc[0]
    with pytest.raises(recframe.RecframeError, match="share column='price': must not be null"):
        rec.mean("share(price)@2")
    for label, name in zip(labels, ("genre", "vector"), strict=True):
        ranked = frame.assign(score=[4, 3, 2, 1])
        with pytest.raises(recframe.RecframeError, match=f"diversity column='{name}': must not be"):
            ranked.rec.mean(label)


REFUSED = {
    "diversity(genre)@1": (["x", "y"], r"diversity\(genre\)@1: k must be 2 or more, because 1 row"),
    "diversity(score)@2": (["x", "y"], r"but has 2.5; pd.cut makes"),
    "whole floats": ([10.0, 20.0], r"but has 10.0; pd.cut .*df\['genre'\].astype\('Int64'\)"),
    "floats of objects": (["x", 2.0], "but has 2.0; pd.cut makes"),
    "diversity(nix)@2": (["x", "y"], "diversity column='nix': no such column"),
    "share(genre)@1": (["x", "y"], "share column='genre': must be numbers, but has"),
    "share(below)@1": (
        ["x", "y"],
        r"must be 0 or more .* 1 beyond \(such as -2\). .*clip\(0",
    ),
    "lengths": (
        [[1, 2], [1, 2, 3]],
        r"one length, here 2, .*but have 1 of 2 .*\[1, 2, 3\] in row 1",
    ),
    "too long": ([[1, 2], [1e200, 0]], r"squares add up to .* less than 8e\+270, but have 1 of 2 "),
    "zeros": (
        [[1, 2], [0, 0]],
        r"more than 0 .*but have 1 of 2 others \(such as \[0, 0\] in row 1\)",
    ),
    "NaN": ([[1, 2], [math.nan, 0]], r"squares add up .*such as \[nan, 0.0\] in row 1"),
    "null": ([[1, 2], [None, 1]], r"squares add up .*such as \[None, 1\] in row 1"),
    "infinite": ([[1, 2], [math.inf, 1]], r"squares add up .*such as \[inf, 1.0\] in row 1"),
    "empty": ([np.array([]), np.array([])], r"one length, here 0, .*but have 2 of 2 others"),
    "text in lists": (
        [["x"], ["y", "z"]],
        r"vectors of numbers, but has \['x'\]; .*str.get_dummies",
    ),
    "mixed": ([[1, 2], "x"], r"must be categories or vectors of numbers, but has 'x'; "),
    "text of lists": (["[1, 2]", "[3, 4]"], r"but has '\[1, 2\]'; .*map\(json.loads\)"),
    "dicts": (
        [{"x": 1}, {"x": 2}],
        r"must be categories or vectors of numbers, but has \{'x': 1\}",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_columns_that_are_refused(name):
    """A column that has neither categories nor vectors with a direction is refused in words."""
    values, message = REFUSED[name]
    frame = pd.DataFrame({"user": 1, "score": [2.5, 1.5], "genre": values, "below": [1, -2]})
    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec(score="score").mean(name if "@" in name else "diversity(genre)@2")


def test_the_length_of_most_vectors():
    """The refusal of vectors of several lengths shows the rare lengths."""
    frame = pd.DataFrame({"user": 1, "score": [3, 2, 1], "vector": [[1], [1, 2], [2, 1]]})
    with pytest.raises(recframe.RecframeError, match=r"here 2, .*but have 1 of 3 .*\[1\] in row 0"):
        frame.rec.mean("diversity(vector)@2")


def test_several_labels_in_a_cell():
    """The line of the refusal makes vectors of 0 and 1, whose order does not matter."""
    frame = pd.DataFrame({"user": 1, "score": [3, 2, 1]})
    frame["genre"] = [["pop", "jazz"], ["jazz", "pop"], ["folk"]]
    with pytest.raises(recframe.RecframeError, match="get_dummies") as refused:
        frame.rec.mean("diversity(genre)@3")
    line = str(refused.value).split("; ")[1].split(" makes")[0]
    vectors = frame.assign(genre=eval(line, {"df": frame}))

    assert pytest.approx(2 / 3) == vectors.rec.mean("diversity(genre)@3").iloc[0, 0]


def test_several_labels_in_a_text():
    """Texts of several labels are refused if labels recur, and both lines of the refusal run."""
    frame = pd.DataFrame({"user": 1, "score": [3, 2, 1]})
    frame["genre"] = ["pop|jazz", "jazz|pop", "folk"]
    with pytest.raises(recframe.RecframeError, match=r"but has 'pop\|jazz'; df") as refused:
        frame.rec.mean("diversity(genre)@3")
    first, second = str(refused.value).split("; ")[1].split(", df")
    vectors, texts = first.split(" makes")[0], f"df{second.split(' one category')[0]}"
    both = [frame.assign(genre=eval(one, {"df": frame})) for one in (vectors, texts)]

    assert [pytest.approx(2 / 3), 1.0] == [
        one.rec.mean("diversity(genre)@3").iloc[0, 0] for one in both
    ]
    plain = frame.assign(genre=["a|b", "c", "d"])
    assert 1.0 == plain.rec.mean("diversity(genre)@3").iloc[0, 0]


def test_vectors_of_other_lengths_in_blocks(tmp_path):
    """Users in different blocks and partitions must have vectors of one length too."""
    dd = pytest.importorskip("dask.dataframe")
    label, path = "diversity(vector)@2", tmp_path / "rows.parquet"
    frame = pd.DataFrame({"user": np.repeat(range(20), 2), "score": [2, 1] * 20})
    frame["vector"] = [[1.0, 2.0]] * 38 + [[1.0, 2.0, 3.0]] * 2
    frame.to_parquet(path, row_group_size=2)
    lists = frame.astype({"vector": pd.ArrowDtype(pa.list_(pa.float64()))})
    partitions = dd.from_pandas(lists, npartitions=10)
    calls = [
        lambda: frame.rec.mean(label),
        lambda: recframe.scan(path, memory=1 << 14).mean(label),
        lambda: recframe.scan(path, memory=1 << 14).evaluate(label),
        lambda: partitions.rec.mean(label).compute(),
        lambda: partitions.rec.evaluate(label).compute(),
    ]
    for call in calls:
        with pytest.raises(recframe.RecframeError, match="vectors must have one length"):
            call()


def test_names():
    """Names of the field suggest the metric, and a curve begins at the first pair."""
    frame = pd.DataFrame({"user": 1, "score": [3, 2, 1], "genre": ["x", "x", "y"]})

    for name in ("ILD@2", "intra_list_diversity@2", "diversty(genre)@2"):
        with pytest.raises(recframe.RecframeError, match=r"did you mean 'diversity\(\w+\)@2'"):
            parse_metric(name)
    with pytest.raises(recframe.RecframeError, match=r"as in diversity\(genre\)@10"):
        parse_metric("diversity@10")
    assert [0.0, 2 / 3] == frame.rec.curve("diversity(genre)", k=3)["score"].tolist()
    with pytest.raises(recframe.RecframeError, match="k must be 2 or more"):
        frame.rec.curve("diversity(genre)", k=[1, 2])


def test_repeated_pairs():
    """Rows that become one must have one category and one vector; the refusal names both."""
    frame = pd.DataFrame({"user": 1, "item": [1, 1, 2], "score": [1, 3, 2]})
    frame["genre"], frame["vector"] = ["x", "x", "y"], [[1, 2], [1, 2], [2, 1]]
    labels = ["diversity(genre)@2", "diversity(vector)@2"]

    assert pytest.approx([1, 0.2]) == frame.rec(duplicates="max").mean(labels).iloc[0].tolist()
    frame["genre"], frame["vector"] = ["x", "z", "y"], [[1, 2], [1, 3], [2, 1]]
    for label, found in zip(labels, ("'x' and 'z'", r"\[1, 2\] and \[1, 3\]"), strict=True):
        for rows in (frame, frame.iloc[::-1]):
            with pytest.raises(recframe.RecframeError, match=f"but 1 have .*such as {found}"):
                rows.rec(duplicates="max").mean(label)


def test_two_models_in_rows():
    """Each model's list has a diversity; a share counts the rows of all models."""
    frame = pd.DataFrame(
        {
            "user": 1,
            "item": [1, 2, 1, 3],
            "model": ["one", "one", "two", "two"],
            "score": [2, 1, 2, 1],
            "genre": ["x", "x", "x", "y"],
            "price": [1, 1, 1, 2],
        }
    )
    means = frame.rec(model="model").mean(["diversity(genre)@2", "share(price)@2"])

    assert [[0.0, 0.5], [1.0, 0.75]] == means.to_numpy().tolist()


def random_frame(n_rows=400):
    """Return a frame of many ties with a genre, a price and a vector of floats in each row."""
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "user": rng.integers(0, 30, n_rows),
            "item": np.arange(n_rows),
            "score": rng.integers(0, 6, n_rows),
            "relevant": rng.random(n_rows) < 0.4,
            "genre": rng.choice(["x", "y", "z"], n_rows),
            "price": rng.integers(0, 99, n_rows),
            "vector": list(rng.integers(-9, 9, (n_rows, 3)) + 0.5),
        }
    )


def test_sums_in_slices(monkeypatch):
    """Slices of a few rows give the same bits as all rows at once."""
    rec, labels = random_frame().rec, ["diversity(vector)@5", "share(price)@3"]
    expected = rec.evaluate(labels)
    for module in ("recframe.metrics.gains", "recframe.kernel.ranking", "recframe.kernel.grouping"):
        monkeypatch.setattr(f"{module}.SLICE", 64)

    pd.testing.assert_frame_equal(expected, rec.evaluate(labels), check_exact=True)


@pytest.mark.parametrize("label", ["diversity(genre)@5", "diversity(vector)@5", "share(price)@3"])
def test_every_entry_point(label, tmp_path):
    """Every engine, format and the command line give the values of the frame."""
    frame = random_frame()
    expected = frame.rec.evaluate([label])
    refused = []
    for name, evaluate in ENTRY_POINTS.items():
        lists = pd.ArrowDtype(pa.list_(pa.float64())) if name == "Dask" else object
        rows = frame.assign(vector=pd.Series(list(frame["vector"]), dtype=lists))
        try:  # Dask makes text of lists in cells of pandas.
            table = evaluate(rows, label, {}, tmp_path)
        except recframe.RecframeError as error:
            refused.append((name, "csv has no lists" in str(error)))
            continue
        pd.testing.assert_frame_equal(expected, table, rtol=1e-14, check_column_type=False)
    assert ([("csv", True)] if "vector" in label else []) == refused


def test_all_tables():
    """Means, summaries, segments, comparisons and one user's page have these metrics."""
    frame = random_frame().assign(group=lambda rows: rows["user"] % 2, other_score=1)
    labels = ["diversity(genre)@5", "diversity(vector)@5", "share(price)@3", "recall@3"]
    rec = frame.rec(score=["score", "other_score"])
    per_user = rec.evaluate(labels)

    assert rec.mean(labels).to_numpy().ravel().tolist() == pytest.approx(per_user.mean().tolist())
    assert rec.summary(labels)["mean"].tolist() == pytest.approx(per_user.mean().tolist())
    assert 4 == len(rec.mean(labels, by="group"))
    difference = per_user["other_score"] - per_user["score"]
    assert rec.compare(labels)["difference"].tolist() == pytest.approx(difference.mean().tolist())
    curve = rec.curve("share(price)", k=3)
    assert curve.loc[3].tolist() == pytest.approx(per_user.mean().xs("share(price)@3", level=1))
    page = repr(rec.inspect(4, 5, metrics=labels))
    assert f"diversity(genre)@5: {per_user.loc[4, ('score', labels[0])]:.4g}" in page
    assert f"share(price)@3: {per_user.loc[4, ('score', labels[2])]:.2%}" in page
    assert "diversity(vector)@5" in rec.report(metrics=labels).html
