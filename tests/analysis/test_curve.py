"""df.rec.curve returns the means at each cut-off in one pass."""

import sys
import types

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import strategies

CURVES = [name for name, cut_off in strategies.METRICS.items() if cut_off != "none"]
LABELS = [strategies.label(*asked) for k in (3, 1, 7) for asked in strategies.every_metric(k)]
LABELS = list(dict.fromkeys(LABELS))
CUT_OFFS = st.lists(st.integers(1, 20), min_size=1, max_size=8, unique=True)


@given(strategies.many_rows(scores="ratings"), CUT_OFFS, strategies.options())
def test_curve_is_the_mean_at_every_cut_off(rows, cut_offs, options):
    """Every value of a curve equals `mean` at its cut-off to the last bit, under all options."""
    frame = strategies.frame(rows, scores="ratings")
    if options["short"] == "raise":
        options["short"] = "pad"
    bound = frame.rec(**options)
    means = bound.mean([f"{metric}@{k}" for metric in CURVES for k in cut_offs]).loc["score"]
    for metric in CURVES:
        curve = bound.curve(metric, k=cut_offs)
        expected = means[[f"{metric}@{k}" for k in cut_offs]]
        np.testing.assert_array_equal(expected, curve["score"])
        assert f"{metric}@k" == curve.columns.name
        assert cut_offs == curve.index.tolist()


@given(
    strategies.many_rows(scores="ratings"),
    st.sampled_from(strategies.TIES),
    st.lists(st.sampled_from(LABELS), min_size=1, max_size=9, unique=True),
)
def test_metrics_together_and_alone(rows, ties, labels):
    """A metric has the same value among all others as alone, to the last bit."""
    bound = strategies.frame(rows, scores="ratings").rec(ties=ties, short="pad")
    together = bound.evaluate(LABELS)["score"]

    for label in labels:
        pd.testing.assert_series_equal(
            bound.evaluate(label)["score", label],
            together[label],
            check_exact=True,
            check_names=False,
        )


def test_curve_by_hand(frame):
    """A curve has the recall of the two users who have relevant rows."""
    curve = frame.assign(b_score=-frame["score"]).rec(short="pad").curve(k=range(1, 4))

    assert [(0.5 + 0) / 2, (0.75 + 0) / 2, 1.0] == curve["score"].tolist()
    assert [(0.25 + 1) / 2, (0.5 + 1) / 2, 1.0] == curve["b_score"].tolist()
    assert ("k", "recall@k") == (curve.index.name, curve.columns.name)
    assert [1, 2, 3] == curve.index.tolist()


def test_precision_curve(frame):
    """Precision's curve follows the tie rule "worst"."""
    curve = frame.rec(short="pad", ties="worst").curve("precision", k=[2, 1])

    assert [2, 1] == curve.index.tolist()
    assert [0.5 / 3, 1 / 3] == curve["score"].tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "r_precision"}, "a curve takes 'precision', .* or '.*', not 'r_precision'"),
        ({"metric": "recall@5"}, "a curve takes 'precision', .* or '.*', not 'recall@5'"),
        ({"metric": "recall@"}, "a curve takes 'precision', .* or '.*', not 'recall@'"),
        ({"k": 5}, "3 of 3 users have fewer than k=5 ranked rows by 'score'"),
        ({"k": "12"}, r"k must be a number or several cut-offs, such as .*, but is '12'"),
        ({"k": 2.5}, r"k must be a number or several cut-offs, such as .*, but is 2.5"),
        ({"k": 0}, "k must be an integer of 1 or more, but is 0"),
        ({"k": True}, "k must be an integer of 1 or more, but is True"),
        ({"k": 10**6}, "k must hold at most 100,000, but holds more"),
        ({"k": ["1"]}, "k must be an integer of 1 or more, but is '1'"),
        ({"metric": "diversity(score)", "k": 1}, "k must be 2 or more, because 1 row has no pair"),
        (
            {"metric": "novelty"},
            r"not 'novelty', which is 'mean\(novelty\)@10' .* adapt the one",
        ),
        ({"k": []}, "k must hold at least one cut-off, but holds none"),
        ({"k": [1, 0]}, "k must be an integer of 1 or more, but is 0"),
        ({"k": [1, 2, 1]}, r"k must hold each cut-off once, but is \[1, 2, 1\]"),
        ({"k": range(1, 51)}, "3 of 3 users have fewer than k=50 ranked rows by 'score'"),
    ],
)
def test_curve_refuses(frame, arguments, message):
    """Metrics without a curve and invalid cut-offs are refused with the reason."""
    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec.curve(**arguments)


def test_users_with_fewer_rows_than_the_first_cut_off():
    """A curve of pairs is refused if a user has one row, as it would have no point."""
    frame = pd.DataFrame({"user": [1, 1, 2], "score": [2, 1, 1], "genre": ["x", "y", "x"]})
    with pytest.raises(recframe.RecframeError, match="1 of 2 users have fewer than k=2 "):
        frame.rec.curve("diversity(genre)")


@given(strategies.many_rows(scores="ratings"), strategies.options(), st.sampled_from(CURVES))
def test_the_default_goes_as_far_as_it_can(rows, options, metric):
    """The default curve ends at 50, or under short="raise" at the shortest ranking."""
    frame = strategies.frame(rows, scores="ratings")
    bound = frame.rec(**options)
    last = 50
    if options["short"] == "raise":
        last = int(bound.describe(1).loc["shortest ranking", "score"])
    if last == 0:
        with pytest.raises(recframe.RecframeError, match="fewer than k=1 ranked rows"):
            bound.curve()
        return
    pd.testing.assert_frame_equal(bound.curve(metric, k=last), bound.curve(metric))


def test_one_number_means_all_up_to_it(frame):
    """The number k=2 means the cut-offs 1 and 2, as a Python or NumPy integer."""
    expected = frame.rec.curve("ndcg", k=[1, 2])

    for k in (2, np.int8(2)):
        pd.testing.assert_frame_equal(expected, frame.rec.curve("ndcg", k=k))


def test_the_shortest_ranking_of_all_scores_ends_the_curve(frame):
    """The shortest ranking of any score ends the default curve of all scores."""
    frame["b_score"] = [0.3, 0.2, 0.1, 0.2, None, 0.1, None, 0.1]
    curve = frame.rec(missing="unranked").curve()

    assert [1] == curve.index.tolist()
    assert [1, 2] == frame.rec(missing="unranked", score="score").curve().index.tolist()


def test_users_without_a_list_do_not_end_the_curve():
    """A user of truth without rows has an empty list, and `short` does not concern it."""
    frame = pd.DataFrame({"user": [1, 1, 1], "item": list("abc"), "score": [3, 2, 1]})
    truth = pd.DataFrame({"user": [1, 2], "item": ["b", "a"]})
    bound = frame.rec(truth=truth, population="all")

    assert [0.0, 0.5, 0.5] == bound.curve()["score"].tolist()
    assert [0.0, 1.0, 1.0] == bound(truth=truth, population="rows").curve()["score"].tolist()


def test_curve_plots(frame):
    """A line for each score column over k is drawn, and the metric names the other axis."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    frame["b_score"] = frame["score"]
    curve = frame.rec(short="pad").curve(k=5)
    drawn = [curve.plot(), curve.loc[:3].plot(marker="."), curve.plot(ylabel="y")]

    for axes in drawn:
        assert (1,) == axes.shape
    assert ("k", "recall@k") == (drawn[1][0].get_xlabel(), drawn[1][0].get_ylabel())
    assert "y" == drawn[2][0].get_ylabel()
    axes = drawn[0][0]
    assert ["score", "b_score"] == [line.get_label() for line in axes.lines]
    assert [1, 2, 3, 4, 5] == axes.lines[0].get_xdata().tolist() == axes.get_xticks().tolist()
    assert "" == axes.get_legend().get_title().get_text()
    assert curve.columns.name == "recall@k"
    matplotlib.pyplot.close("all")


def test_where_curves_are_drawn(frame):
    """A curve is drawn on the axes passed, or in a figure of the size passed, with its title."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    curve = frame.rec(short="pad").curve(k=5)
    _, own = pyplot.subplots()

    assert own is curve.plot(ax=own)[0]
    (axes,) = curve.plot(figsize=(7, 3), title="a curve", legend=False)
    assert [7.0, 3.0] == axes.figure.get_size_inches().tolist()
    assert ("a curve", None) == (axes.get_title(), axes.get_legend())
    with pytest.raises(
        recframe.RecframeError, match=r"ax must be one for each of \[''\], but has 2"
    ):
        curve.plot(ax=[own, own])
    pyplot.close("all")


@pytest.mark.parametrize(
    ("cut_offs", "ticks"),
    [
        (10, [1, 2, 4, 6, 8, 10]),
        (50, [1, 10, 20, 30, 40, 50]),
        ([3, 7], [3, 4, 5, 6, 7]),
        (1, [1]),
    ],
)
def test_ticks_are_cut_offs(cut_offs, ticks):
    """The ticks of k are whole numbers, and the first is the first cut-off."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    frame = pd.DataFrame({"user": 1, "score": range(60), "relevant": [0, 1] * 30})
    (axes,) = frame.rec.curve("precision", k=cut_offs).plot()

    assert ticks == axes.get_xticks().tolist()
    pyplot.close("all")


def test_lines_of_many_models_differ():
    """Eight models differ in colour, and the others repeat the colours in another style."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    scores = {f"m{n}_score": [2 + n, 1, 3] for n in range(18)}
    frame = pd.DataFrame({"user": 1, "relevant": [0, 1, 1], **scores})
    (axes,) = frame.rec.curve("recall", k=2).plot()
    looks = [(line.get_color(), line.get_linestyle()) for line in axes.lines]
    axes.figure.canvas.draw()
    right = axes.get_window_extent().x1

    assert 18 == len(set(looks))
    assert 8 == len({colour for colour, _ in looks})
    assert ["-"] * 8 + ["--"] * 8 + [":"] * 2 == [style for _, style in looks]
    assert axes.get_legend().get_window_extent().x0 >= right
    pyplot.close("all")


def test_other_libraries_draw_it(frame, monkeypatch):
    """Plotting backends other than Matplotlib get the table unchanged."""
    backend = types.ModuleType("drawer")
    backend.plot = lambda table, **arguments: (table.columns.name, arguments)
    monkeypatch.setitem(sys.modules, "drawer", backend)

    name, arguments = frame.rec.curve().plot(backend="drawer")
    assert "recall@k" == name
    assert {"ax", "legend"}.isdisjoint(arguments)
    assert "ylabel" not in arguments
