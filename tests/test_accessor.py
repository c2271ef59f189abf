"""`df.rec` of recframe.accessor gives tables of the documented shape.

Tests of df.rec.evaluate, df.rec.mean, df.rec.rank and df.rec.top belong here.
"""

import inspect
import math

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.metrics.definitions import DEFAULT_METRICS
from recframe.options import CHOICES

METHODS = [
    name
    for name, _ in inspect.getmembers(recframe.RecAccessor, inspect.isfunction)
    if not name.startswith("_")
]
# These methods need arguments besides their defaults.
ARGUMENTS = {
    "compare": {"n_resamples": 9},
    "err": {"max": 4},
    "inspect": {"user": "ann"},
    "judge": {"truth": pd.DataFrame({"user": ["ann"], "item": [1]})},
    "overlap": {"k": 2},
    "rbp": {"p": 0.5},
    "reconcile": {"metric": "recall@1", "value": 0.5, "score": "score"},
    "robustness": {"metric": "recall@1"},
    "summary": {"n_resamples": 9},
    "top": {"score": "other score"},
}


def test_default_metrics_agree():
    """The function and both methods have the same default metrics."""
    for function in (recframe.evaluate, recframe.RecAccessor.evaluate, recframe.RecAccessor.mean):
        assert DEFAULT_METRICS == inspect.signature(function).parameters["metrics"].default


def test_making_the_accessor_looks_at_nothing():
    """Any frame has the accessor, and tab completion works for any columns."""
    empty = pd.DataFrame()

    assert hasattr(empty, "rec")
    assert "rec" in dir(empty)


def test_methods_equal_the_function(frame):
    """Every method returns a view of the function's table."""
    frame = frame.assign(other_score=-frame["score"])
    labels = ["precision@2", "recall@2", "r_precision"]
    table = recframe.evaluate(frame, labels)

    pd.testing.assert_frame_equal(table, frame.rec.evaluate(labels))
    singles = [frame.rec.precision(k=2), frame.rec.recall(k=2), frame.rec.r_precision()]
    for label, single in zip(labels, singles, strict=True):
        expected = table.xs(label, axis=1, level="metric").rename_axis(columns=label)
        pd.testing.assert_frame_equal(expected, single)
    expected = pd.DataFrame(
        {label: table.xs(label, axis=1, level="metric").mean() for label in labels}
    )
    pd.testing.assert_frame_equal(
        expected, frame.rec.mean(labels), check_names=False, check_frame_type=False
    )


def test_values_by_hand(frame):
    """The values of the small frame's three users equal hand counts."""
    table = frame.rec(short="pad").evaluate(["precision@2", "recall@2", "r_precision"])["score"]

    assert [0.75, 0.0, 0.0] == table["precision@2"].tolist()
    assert [0.75, 0.0] == table["recall@2"].tolist()[:2]
    assert [0.75, 0.0] == table["r_precision"].tolist()[:2]
    assert table.loc["cat", ["recall@2", "r_precision"]].isna().all()


@pytest.mark.parametrize(
    ("ties", "precision"),
    [("expected", 0.75), ("best", 1.0), ("worst", 0.5), ("first", 1.0), ("last", 0.5)],
)
def test_tie_rules_by_hand(frame, ties, precision):
    """Every tie rule treats the tie of the first user as a hand count does."""
    assert precision == frame.rec(ties=ties).precision(k=2).loc["ann", "score"]


def test_table_shapes(frame):
    """Indexes, columns and their names are as documented."""
    table = frame.rec.evaluate(["recall@1", "precision@1"])
    assert ["score", "metric"] == table.columns.names
    assert [("score", "recall@1"), ("score", "precision@1")] == table.columns.tolist()
    assert "user" == table.index.name
    assert "recall@1" == frame.rec.recall(k=1).columns.name
    means = frame.rec.mean(["recall@1", "precision@1"])
    assert ("score", "metric") == (means.index.name, means.columns.name)
    assert ["recall@1", "precision@1"] == means.columns.tolist()


def test_one_ranking(frame):
    """user=None ranks all rows together as "all", and refuses items that several users have."""
    table = frame.rec(user=None, duplicates="keep").recall(k=3)

    assert ["all"] == table.index.tolist()
    assert 3 == sum(frame["relevant"])
    # The scores 0.9, 0.9 and 0.8 have one of the three relevant rows.
    assert [1 / 3] == table["score"].tolist()
    with pytest.raises(
        recframe.RepeatedPairError, match=r"1\. each .item. must occur once.* .user. tells them"
    ):
        frame.rec(user=None).recall(k=3)


def test_options_do_not_add_up(frame):
    """A bound accessor that is called again has only the options of that call."""
    bound = frame.rec(ties="worst")

    assert 0.5 == bound.precision(k=2).loc["ann", "score"]
    assert 0.75 == bound().precision(k=2).loc["ann", "score"]
    assert 0.75 == frame.rec.precision(k=2).loc["ann", "score"]


def test_rank_is_aligned_with_the_frame(frame):
    """Ranks keep the index of the frame, and ties share their mean position."""
    shuffled = frame.set_index(pd.Index(list("abcdefgh"))).sample(frac=1, random_state=1)
    ranks = shuffled.rec.rank()

    assert shuffled.index.equals(ranks.index)
    assert [1.0, 2.5, 2.5, 1.0, 2.0, 3.0, 1.0, 2.0] == ranks.loc[list("abcdefgh"), "score"].tolist()
    expected = frame.groupby("user")["score"].rank(ascending=False)
    pd.testing.assert_series_equal(expected, frame.rec.rank()["score"])


def test_rank_needs_no_relevance(frame):
    """Ranks read relevance only under tie rules that use it."""
    bare = frame.drop(columns="relevant")

    assert 8 == bare.rec(ties="first").rank()["score"].count()
    with pytest.raises(recframe.MissingColumnError, match="relevant"):
        bare.rec(ties="best").rank()


def test_rank_of_rows_that_are_not_ranked(frame):
    """Rows without a score, under the threshold or dropped have no rank."""
    frame.loc[0, "score"] = math.nan
    ranks = frame.rec(missing="unranked", min_score=0.5).rank()["score"]
    assert [math.nan, 1.5, 1.5, 1.0, 2.0, math.nan, math.nan, math.nan] == pytest.approx(
        ranks.tolist(), nan_ok=True
    )
    assert 7 == frame.rec(missing="drop").rank()["score"].count()


def test_top(frame):
    """`top` returns the first rows of every user in ranked order, with all columns and the rank."""
    top = frame.sample(frac=1, random_state=2).rec.top(k=1)

    assert [0, 3, 6] == top.index.tolist()
    assert ["user", "item", "score", "relevant", "rank"] == top.columns.tolist()
    assert [1.0, 1.0, 1.0] == top["rank"].tolist()


def test_top_does_not_split_a_tie(frame):
    """`top` returns all rows of a tie at position k, unless the tie rule orders them."""
    assert [0, 1, 2] == frame.rec.top(k=2).query("user == 'ann'").index.tolist()
    assert [0, 1] == frame.rec(ties="first").top(k=2).query("user == 'ann'").index.tolist()
    assert [0, 2] == frame.rec(ties="last").top(k=2).query("user == 'ann'").index.tolist()
    assert [0, 2] == frame.rec(ties="worst").top(k=2).query("user == 'ann'").index.tolist()


def test_top_of_several_scores(frame):
    """`top` ranks by one of several score columns if `score` names it."""
    frame["other_score"] = -frame["score"]
    assert [2, 5, 7] == frame.rec(ties="last").top(k=1, score="other_score").index.tolist()


def test_top_refuses_a_rank_column(frame):
    """A column named rank is never overwritten."""
    with pytest.raises(recframe.RecframeError, match="which the frame has"):
        frame.assign(rank=0).rec.top(k=1)


@pytest.mark.parametrize("method", METHODS)
def test_the_frame_is_never_changed(frame, method):
    """No method writes to the frame, under any option."""
    frame["other score"] = [0.5, None, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5]
    before = frame.copy(deep=True)
    for ties in CHOICES["ties"]:
        bound = frame.rec(ties=ties, missing="unranked", short="pad")
        getattr(bound, method)(**ARGUMENTS.get(method, {}))

        pd.testing.assert_frame_equal(before, frame)


def test_read_only_arrays(frame):
    """Read-only columns can be evaluated."""
    values = {name: frame[name].to_numpy().copy() for name in ("score", "relevant")}
    for array in values.values():
        array.flags.writeable = False
    read_only = pd.DataFrame({"user": frame["user"], **values}, copy=False)

    pd.testing.assert_frame_equal(frame.rec.recall(k=1), read_only.rec.recall(k=1))


class Subclass(pd.DataFrame):
    """A DataFrame whose subclass has a constructor, like geopandas'."""

    @property
    def _constructor(self):
        return Subclass


def test_subclass(frame):
    """A subclass of DataFrame has the accessor, and its table is a plain DataFrame."""
    table = Subclass(frame).rec.recall(k=1)

    assert type(table) is pd.DataFrame
    pd.testing.assert_frame_equal(frame.rec.recall(k=1), table)


def test_results_are_the_callers_own(frame):
    """A result can be written to without touching the frame."""
    table = frame.rec.recall(k=1)
    table.iloc[:, 0] = 7.0
    top = frame.rec.top(k=1)
    top.loc[:, "score"] = 7.0

    assert 0.9 == frame["score"].max()
    assert np.isfinite(table.to_numpy()).all()
