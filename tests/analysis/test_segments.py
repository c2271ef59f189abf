"""A segment of `by` counts like a separate frame, and users with `weights` like repeated users."""

import sys

import numpy as np
import pandas as pd
import pytest

import recframe
import recframe.dask

dd = pytest.importorskip("dask.dataframe")

METRICS = ["recall@2", "auc", "ndcg@3"]
OPTIONS = {"score": ["score", "b_score"], "short": "pad"}

ASKED = {
    "mean": {"metrics": METRICS},
    "curve": {"metric": "recall", "k": 3},
    "summary": {"metrics": METRICS},
    "compare": {"metrics": METRICS, "correction": "max_t", "n_resamples": 99},
}


def interactions(countries=("NL", "FR", None), n_rows=300, n_users=25):
    """Return a frame of shuffled users with a country and clicks each, and these facts by user."""
    rng = np.random.default_rng(0)
    users = pd.Index([f"u{number:02}" for number in range(n_users)], name="user")
    facts = pd.DataFrame({"country": rng.choice(np.array(countries, object), n_users)}, users)
    facts["clicks"] = rng.integers(0, 4, n_users)
    frame = pd.DataFrame({"user": rng.choice(users, n_rows), "item": range(n_rows)})
    frame["score"], frame["b_score"] = rng.integers(0, 5, n_rows), rng.random(n_rows)
    frame["relevant"] = rng.random(n_rows) < 0.3
    return frame.assign(
        **{name: frame["user"].map(values) for name, values in facts.items()}
    ), facts


@pytest.mark.parametrize(
    "countries",
    [("NL", "FR", None), (3, 1, 2), (pd.Timestamp("2026-11-01"), pd.NaT), (1.5, None), ("NL",)],
    ids=["text", "int", "date", "float", "one"],
)
@pytest.mark.parametrize("method", ASKED)
def test_segments_are_frames_of_their_own(method, countries):
    """A segment has the table of its users' rows to the last bit, and nulls are a segment too."""
    frame, _ = interactions(countries)
    frame["country"] = frame["country"].infer_objects()
    asked = ASKED[method]
    table = getattr(frame.rec(**OPTIONS), method)(**asked, by="country")

    keys, tables = [], []
    for key, rows in frame.groupby("country", dropna=False):
        keys.append(key)
        tables.append(getattr(rows.rec(**OPTIONS), method)(**asked))
    assert ["country", *tables[0].index.names] == table.index.names
    assert len(keys) == len(table.index.unique("country"))
    expected = pd.concat(tables)
    counts = [label for label in expected if str(label).startswith("n_undefined")]
    expected[counts] = expected[counts].fillna(0).astype("int64")
    actual = table.droplevel("country")[expected.columns]
    pd.testing.assert_frame_equal(expected, actual, check_exact=True, check_frame_type=False)
    found = table.index.get_level_values("country")[:: len(tables[0])]
    assert pd.Series(keys).equals(pd.Series(found, dtype=pd.Series(keys).dtype))


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("weights", [None, "clicks"])
def test_means_of_segments_are_those_of_pandas(weights):
    """The mean of a segment has the bits of its users' mean in pandas, without NaN."""
    sizes = [1, 2, 7, 8, 9, 15, 16, 17, 127, 128, 129, 300, 1025]
    rng = np.random.default_rng(0)
    segments = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    frame = pd.DataFrame({"user": range(len(segments)), "segment": segments, "relevant": 0})
    frame["score"], frame["clicks"] = 1.0, rng.random(len(frame))
    frame["price"] = rng.normal(size=len(frame)) * 10.0 ** rng.integers(-8, 8, len(frame))
    frame["relevant"] = rng.random(len(frame)) < 0.5
    metrics = ["mean(price)@1", "recall@1"]
    actual = frame.rec.mean(metrics, by="segment", weights=weights)

    per_user, of_users = frame.rec.evaluate(metrics), frame.set_index("user")[["clicks"]]
    for segment, users in frame.groupby("segment")["user"]:
        values = per_user.loc[users]
        expected = values.mean()
        if weights is not None:
            own = of_users.loc[users, "clicks"]
            known = values.notna().mul(own, axis=0).sum()
            expected = values.mul(own, axis=0).sum() / known.where(known > 0)
        np.testing.assert_array_equal(expected, actual.loc[segment].iloc[0])


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("weights", [None, "clicks"])
@pytest.mark.parametrize("source", ["frame", "file"])
@pytest.mark.parametrize("asked", [{"metrics": "recall@1"}, {"metric": "recall", "k": 1}])
def test_segments_of_means_take_no_step_each(asked, source, weights, tmp_path):
    """A thousand segments need about as many calls of Python functions as ten."""
    frame = pd.DataFrame({"user": range(2000), "score": 1.0, "relevant": 1, "clicks": 2.0})
    frame["ten"], frame["thousand"] = frame["user"] % 10, frame["user"] % 1000
    frame.to_parquet(tmp_path / "run.parquet")
    rec = frame.rec if source == "frame" else recframe.scan(tmp_path / "run.parquet")
    method, n_calls = "curve" if "k" in asked else "mean", dict[str, int]()

    def count(_, event, __):
        n_calls[by] += event == "call"

    # The first run imports modules.
    for by in ("ten", "ten", "thousand"):
        n_calls[by] = 0
        sys.setprofile(count)
        try:
            table = getattr(rec, method)(**asked, by=by, weights=weights)
        finally:
            sys.setprofile(None)
        assert len(table) == len(set(frame[by]))
    assert n_calls["thousand"] < n_calls["ten"] + 500


@pytest.mark.parametrize("weights", [None, "clicks"])
def test_a_curve_has_the_bits_of_means(weights):
    """Cut-offs found in the data have the same means as named ones, with and without segments."""
    frame, _ = interactions(n_rows=3000, n_users=100)
    rec, ks = frame.rec(score=["score", "b_score"]), [1, 2, 3, 7, 9, 11]
    for by in (None, "country"):
        curve = rec.curve("precision", by=by, weights=weights)
        means = rec.mean([f"precision@{k}" for k in ks], by=by, weights=weights)
        for k in ks:
            expected = means[f"precision@{k}"].to_numpy()
            actual = curve[curve.index.get_level_values("k") == k].to_numpy().ravel()
            np.testing.assert_array_equal(expected, actual)


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
def test_segments_of_the_rows_that_are_kept():
    """Rows dropped for their nulls leave the segments' means unchanged."""
    frame, _ = interactions()
    frame.loc[::7, "score"] = None
    asked = {"metrics": METRICS, "by": "country"}
    expected = frame.dropna(subset="score").rec(**OPTIONS).mean(**asked)

    pd.testing.assert_frame_equal(expected, frame.rec(**OPTIONS, missing="drop").mean(**asked))


def test_several_segments():
    """Several columns and Series divide users together, each as a level of the index."""
    frame, facts = interactions()
    bound = frame.rec(**OPTIONS)
    table = bound.mean("recall@2", by=["country", facts["clicks"]])
    both = facts["country"].fillna("none") + facts["clicks"].astype(str)
    joined = bound.mean("recall@2", by=both)

    assert ["country", "clicks", "score"] == table.index.names
    assert sorted(joined["recall@2"]) == sorted(table["recall@2"])


def test_a_series_is_a_column():
    """A Series indexed by user gives the table of a column with its name and values."""
    frame, facts = interactions()
    bound = frame.drop(columns="country").rec(**OPTIONS)
    pd.testing.assert_frame_equal(
        frame.rec(**OPTIONS).mean(METRICS, by="country"),
        bound.mean(METRICS, by=facts["country"][::-1]),
        check_index_type=False,
    )
    assert "segment" == bound.mean("auc", by=facts["country"].rename(None)).index.names[0]


@pytest.mark.parametrize("index", ["default", "repeated", "users", "columns"])
@pytest.mark.parametrize("method", ASKED)
def test_a_series_of_the_frame_goes_row_by_row(method, index):
    """A Series with the frame's index counts row by row, as in pandas' groupby, for any index."""
    frame, _ = interactions()
    if index == "repeated":
        frame = frame.set_axis(frame.index % 7)
    if index == "users":
        frame = frame.set_index("user")
    if index == "columns":
        frame.columns = pd.CategoricalIndex(frame.columns)
    bound, asked = frame.rec(**OPTIONS), ASKED[method]
    ask = getattr(bound, method)
    expected = ask(**asked, by="country", weights="clicks")
    filled = ask(**asked, by=frame["country"].fillna("?"))

    pd.testing.assert_frame_equal(
        expected, ask(**asked, by=frame["country"], weights=frame["clicks"])
    )
    assert ["country"] == filled.index.names[:1]
    assert {"?", "FR", "NL"} == set(filled.index.unique("country"))
    assert list(frame) == list(bound._frame)
    with pytest.raises(recframe.RecframeError, match="by='item' must hold one value for each user"):
        ask(**asked, by=frame["item"] + 1)


ROWS = pd.DataFrame({"user": [1, 1, 2, 2], "score": [2, 1, 1, 2], "relevant": [1, 0, 1, 0]})


@pytest.mark.parametrize("argument", ["by", "weights"])
@pytest.mark.parametrize(
    ("frame", "given"),
    [
        (ROWS, pd.Series([5, 7])),
        (ROWS, pd.Series([5, 5, 7], [0, 1, 3])),
        (ROWS, pd.Series([5, 7], pd.Index([1, 2], name="id"))),
        (ROWS.assign(date=1), pd.Series([5, 7], [1, 2])),
    ],
    ids=["of users by number", "of some rows", "of another name", "of two columns"],
)
def test_a_series_of_unknown_index_is_refused(frame, given, argument):
    """A Series with an unknown index is refused, and the suggested call runs."""
    bound = frame.rec(user=["date", "user"]) if "date" in frame else frame.rec
    with pytest.raises(recframe.RecframeError, match=r"index is named as the user colu") as refused:
        bound.mean("recall@1", **{argument: given})
    call = str(refused.value).partition(f"pass {argument}=")[2]
    users = eval(call, {argument: given})

    assert ["user"] == users.index.names
    by_user = pd.Series([5, 7], pd.Index([1, 2], name="user"))
    bound.mean("recall@1", **{argument: users + 0 if users.index.isin([1, 2]).all() else by_user})


def test_users_are_not_rows_where_their_ids_are_row_labels():
    """A Series named as the user column is indexed by user, even with the labels of the rows."""
    frame = pd.DataFrame({"user": [2, 0, 1], "score": 1, "relevant": [1, 0, 0]})
    by = pd.Series(list("xyz"), pd.RangeIndex(3, name="user"))

    assert [0.0, 0.0, 1.0] == frame.rec.mean("recall@1", by=by)["recall@1"].fillna(0).tolist()


def test_unsigned_users_of_a_series_are_no_larger_users():
    """A Series whose users are single bytes has no value for user 257, also within days."""
    rows = {"user": [257, 257, 2, 2], "score": [1.0, 2, 3, 4], "relevant": [0, 1, 1, 0]}
    frame = pd.DataFrame(rows).assign(day="mon")
    users = pd.Index([1, 2], dtype="uint8", name="user")
    by = pd.Series(["x", "y"], users, name="segment")
    alone = frame.rec(user="user").mean("recall@1", by=by)
    assert [("y", 0.0), (None, 1.0)] == [
        (None if key != key else key, value) for (key, _), value in alone["recall@1"].items()
    ]
    categories = by.set_axis(pd.CategoricalIndex(users, name="user"))
    pd.testing.assert_frame_equal(alone, frame.rec(user="user").mean("recall@1", by=categories))
    days = pd.MultiIndex.from_arrays([["mon", "mon"], users], names=["day", "user"])
    both = frame.rec(user=["day", "user"]).mean("recall@1", by=by.set_axis(days))
    pd.testing.assert_frame_equal(alone, both)


def test_a_series_of_a_table_of_users():
    """A Series for a per-user table must have the table's index, in any order, or its name."""
    per_user = pd.DataFrame({"a": [0.0, 0.5, 1.0]}, pd.Index([3, 1, 2], name="user"))
    by = pd.Series(list("xyz"), per_user.index)
    plain = per_user.rename_axis(None)
    expected = recframe.summary(per_user, by=by)

    pd.testing.assert_frame_equal(expected, recframe.summary(per_user, by=by[::-1]))
    pd.testing.assert_frame_equal(expected, recframe.summary(plain, by=by.rename_axis(None)))
    with pytest.raises(recframe.RecframeError, match=r"pass by=by.rename_axis\('user'\)"):
        recframe.summary(per_user, by=by.reset_index(drop=True))
    with pytest.raises(recframe.RecframeError, match=r"pass by=by.reindex\(per_user.index\)"):
        recframe.summary(plain, by=by[::-1])
    days = pd.MultiIndex.from_product([["mon"], [3, 1, 2]])
    assert [0.0, 0.5, 1.0] == recframe.summary(per_user.set_axis(days), by=by.set_axis(days))[
        "mean"
    ].tolist()


@pytest.mark.parametrize("method", ["mean", "curve"])
def test_weights_are_repeated_users(method):
    """A user of weight 3 counts like three users with the same rows, one of weight 0 like none."""
    frame, facts = interactions()
    asked = {"mean": {"metrics": METRICS}, "curve": {"metric": "ndcg", "k": 3}}[method]
    copies = frame.loc[frame.index.repeat(frame["clicks"])]
    copies["user"] += copies.groupby(level=0).cumcount().astype(str)
    expected = getattr(copies.rec(**OPTIONS), method)(**asked)

    for weights in ("clicks", facts["clicks"], facts["clicks"].astype("Int8")):
        actual = getattr(frame.rec(**OPTIONS), method)(**asked, weights=weights)
        pd.testing.assert_frame_equal(expected, actual, rtol=1e-12)


@pytest.mark.parametrize("method", ["summary", "compare"])
def test_weights_that_are_equal_change_nothing(method):
    """Equal weights of 2.5 give the intervals and p-values of users without weights."""
    frame, facts = interactions()
    bound, asked = frame.rec(**OPTIONS), ASKED[method]
    weighted = getattr(bound, method)(**asked, weights=pd.Series(2.5, facts.index))

    pd.testing.assert_frame_equal(getattr(bound, method)(**asked), weighted, rtol=1e-9)


def test_weighted_intervals():
    """The error of a weighted mean equals its linear form by hand, and weight 0 is no user."""
    per_user = pd.DataFrame({"a": [0.0, 1.0, 0.5, 0.9], "b": [1.0, 1.0, 0.5, 0.1]})
    weights = pd.Series([1.0, 2.0, 3.0, 0.0])
    row = recframe.summary(per_user, weights=weights, interval="t").loc[("a", "value")]
    mean = (0 + 2 + 1.5) / 6
    residuals = np.array([1 * (0 - mean), 2 * (1 - mean), 3 * (0.5 - mean)]) / 2
    difference = recframe.compare(per_user, weights=weights).loc[("b", "value")]

    assert [mean, 3] == [pytest.approx(row["mean"]), row["n_users"]]
    assert np.sqrt((residuals**2).sum() / 2 / 3) == pytest.approx(row["standard_error"])
    assert [1 / 6, 3, 1 / 6 / mean] == pytest.approx(
        difference[["difference", "n_users", "relative"]].tolist()
    )


def test_weighted_signs():
    """Signs flip weighted differences, so a user who outweighs all others decides alone."""
    per_user = pd.DataFrame({"a": 0.0, "b": [1.0, 1.0, 1.0, 1.0, -1.0]})
    weights = pd.Series([1.0, 1.0, 1.0, 1.0, 5.0])
    plain, weighted = (
        recframe.compare(per_user, weights=given)["p_value"].item() for given in (None, weights)
    )

    # These are the patterns of 32 with a sum of 3 or more in size; weighted, they are all.
    assert [12 / 32, 1.0] == [plain, weighted]
    with pytest.raises(recframe.RecframeError, match="'wilcoxon' ranks users, who cannot weigh"):
        recframe.compare(per_user, weights=weights, test="wilcoxon")


@pytest.mark.parametrize("method", ["summary", "compare"])
def test_values_that_are_there(method):
    """`summary` and `compare` of a per-user table take Series and equal the methods."""
    frame, facts = interactions()
    bound = frame.rec(**OPTIONS)
    own = {"by": facts["country"], "weights": facts["clicks"]}
    asked = {name: value for name, value in ASKED[method].items() if name != "metrics"}
    actual = getattr(recframe, method)(bound.evaluate(METRICS), **asked, **own)

    pd.testing.assert_frame_equal(getattr(bound, method)(**ASKED[method], **own), actual)
    with pytest.raises(recframe.RecframeError, match=r"by must be a Series .* but is 'country'"):
        getattr(recframe, method)(bound.evaluate(METRICS), by="country")


def test_weights_within_segments():
    """Users weigh within their segment, and a segment whose weights are all 0 has no mean."""
    frame, facts = interactions(("NL", "FR"))
    weights = facts["clicks"].where(facts["country"] == "NL", 0)
    table = frame.rec(**OPTIONS).mean("auc", by="country", weights=weights)
    dutch = frame[frame["country"] == "NL"].rec(**OPTIONS).mean("auc", weights="clicks")

    pd.testing.assert_frame_equal(dutch, table.loc["NL"])
    assert table.loc["FR"].isna().all(axis=None)


def test_gauc():
    """The AUC weighted by each user's number of rows equals a hand count."""
    rows = {"user": [1, 1, 2, 2, 2], "score": [2, 1, 1, 2, 3], "relevant": [1, 0, 1, 0, 1]}
    frame = pd.DataFrame(rows)
    frame["rows"] = frame.groupby("user")["user"].transform("size")

    assert (2 * 1.0 + 3 * 0.5) / 5 == frame.rec.mean("auc", weights="rows").loc["score", "auc"]


def test_users_without_a_value_weigh_nothing():
    """A mean and its weights count only users who have a value."""
    rows = {"user": [1, 2, 2], "score": [1, 2, 1], "relevant": [0, 1, 0], "w": [9, 2, 2]}

    assert 1.0 == pd.DataFrame(rows).rec.mean("recall@1", weights="w").loc["score", "recall@1"]


def test_users_without_rows():
    """Users of truth without rows belong to the null segment of a column."""
    recs = pd.DataFrame({"user": [1, 2], "item": [1, 1], "score": 1.0, "country": "NL"})
    truth = pd.DataFrame({"user": [1, 3], "item": [1, 1]})
    bound = recs.rec(population="all", truth=truth, short="pad")
    table = bound.mean("recall@1", by="country")
    by_user = bound.mean("recall@1", by=pd.Series({1: "NL", 2: "NL", 3: "FR"}).rename_axis("user"))

    assert [1.0, 0.0] == table["recall@1"].tolist()
    assert ["NL", True] == [table.index[0][0], pd.isna(table.index[1][0])]
    assert {"FR": 0.0, "NL": 1.0} == by_user["recall@1"].droplevel("score").to_dict()
    with pytest.raises(
        recframe.RecframeError, match=r"but has 1 other \(user 3 has nan\); a Series"
    ):
        recs.assign(w=1).rec(population="all", truth=truth, short="pad").mean(
            "recall@1", weights="w"
        )


U00 = pd.Index(["u00"], name="user")


@pytest.mark.parametrize(
    ("arguments", "message"),
    {
        "varies": (
            {"by": "item"},
            "by='item' must hold one value for each user, but holds several ",
        ),
        "unknown": ({"by": "nope"}, "by='nope': no such column"),
        "none": ({"by": []}, "by must name at least one column"),
        "twice": ({"by": ["country", "country"]}, "by must name each column once"),
        "a level": ({"by": pd.Series(1, U00, name="metric")}, "by='metric' has the name of an"),
        "a dict": ({"by": {"u00": 1}}, "by must be a column of the frame or a Series"),
        "others": (
            {"by": pd.Series([1], pd.Index(["x"], name="user"))},
            "by: the index of the Series must hold us",
        ),
        "repeated": (
            {"by": pd.Series([1, 2], U00.append(U00))},
            "but has several for user 'u00",
        ),
        "text": ({"weights": "country"}, "weights='country' must hold numbers, but holds"),
        "negative": (
            {"weights": interactions()[1]["clicks"] - 10},
            "but has 25 others",
        ),
        "unweighed": ({"weights": pd.Series(1.0, U00)}, r"24 others \(user 'u01' has nan"),
    }.values(),
)
def test_refusals(arguments, message):
    """Segments and weights without one valid value for each user are refused with an example."""
    frame, _ = interactions()
    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec(**OPTIONS).mean("auc", **arguments)


def test_dask():
    """Dask partitions that divide the users give the table of pandas."""
    # Dask has several kinds of null, so this frame has none.
    frame, facts = interactions(("NL", "FR"))
    lazy = dd.from_pandas(frame, npartitions=4, sort=False).rec(**OPTIONS)
    for asked in ({"by": "country", "weights": "clicks"}, {"by": ["country", facts["clicks"]]}):
        for method in ("mean", "summary"):
            expected = getattr(frame.rec(**OPTIONS), method)(METRICS, **asked)
            actual = getattr(lazy, method)(METRICS, **asked).compute()
            pd.testing.assert_frame_equal(
                expected.reset_index(),
                actual.reset_index(),
                check_exact=True,
                # Dask has another dtype for text.
                check_dtype=False,
                check_like=True,
            )


def test_curves_of_segments_are_panels():
    """A plotted curve has a panel for each segment, and one legend at the right of them."""
    pytest.importorskip("matplotlib").use("Agg")
    frame, _ = interactions(("NL", "FR"))
    axes = frame.rec(**OPTIONS).curve("recall", k=3, by="country").plot()

    assert ["FR", "NL"] == [panel.get_title() for panel in axes]
    assert ["recall@k", "k"] == [axes[0].get_ylabel(), axes[1].get_xlabel()]
    assert [None, "score"] == [
        legend and legend.get_texts()[0].get_text() for legend in (one.get_legend() for one in axes)
    ]
    for panel in axes:
        assert ["score", "b_score"] == [line.get_label() for line in panel.lines]
        assert [1, 2, 3] == panel.lines[0].get_xdata().tolist()
    asked = {"by": ["country", frame["item"] * 0]}
    axes = frame.rec(**OPTIONS).curve("recall", k=3, **asked).plot()
    assert ["FR, 0", "NL, 0"] == [panel.get_title() for panel in axes]
    kinds = pd.Categorical.from_codes(frame["country"].eq("NL") * 2, ["1", "unseen", "2"])
    axes = frame.assign(kind=kinds).rec(**OPTIONS).curve("recall", k=3, by="kind").plot()
    assert ["1", "2"] == [panel.get_title() for panel in axes]


def test_who_varies_is_said():
    """A column that varies within users is refused with their number and an example."""
    frame = pd.DataFrame(
        {
            "user": ["ann"] * 3 + ["bob"] * 4 + ["cat"] * 2 + ["dan"],
            "item": range(10),
            "score": range(10),
            "relevant": 1,
            "country": [*"xxx", *"yyzx", *"xy", "x"],
        }
    )
    message = r"but holds several for 2 of 4 \(user 'bob' has 'y' and 'z'\)"
    for rows in (frame, frame.sort_values("item", key=lambda item: item % 3, kind="stable")):
        with pytest.raises(recframe.RecframeError, match=message if rows is frame else "for 2 of"):
            rows.rec(short="pad").mean("precision@1", by="country")
