"""df.rec.curve: the means of `mean`, cut-off by cut-off, in one pass."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recframe
import strategies
from recframe.metrics.names import make_metric

CURVES = [name for name, cut_off in strategies.METRICS.items() if cut_off != "none"]
CUT_OFFS = st.lists(st.integers(1, 20), min_size=1, max_size=8, unique=True)


@settings(max_examples=40)
@given(strategies.many_rows(scores="ratings"), CUT_OFFS, strategies.options())
def test_curve_is_the_mean_at_every_cut_off(rows, cut_offs, options):
    """Every value is that of `mean` at its cut-off alone, to the last bit, whatever the options."""
    frame = strategies.frame(rows, scores="ratings")
    if options["short"] == "raise":
        options["short"] = "pad"
    bound = frame.rec(**options)
    for metric in CURVES:
        expected = [bound.mean(f"{metric}@{k}").loc["score", f"{metric}@{k}"] for k in cut_offs]
        curve = bound.curve(metric, k=cut_offs)
        np.testing.assert_array_equal(expected, curve["score"])
        assert cut_offs == curve.index.tolist()


@settings(max_examples=40)
@given(strategies.many_rows(scores="ratings"), st.sampled_from(strategies.TIES))
def test_metrics_together_and_alone(rows, ties):
    """A metric has the same value beside others as alone, to the last bit."""
    bound = strategies.frame(rows, scores="ratings").rec(ties=ties, short="pad")
    labels = [make_metric(*asked).label for k in (3, 1, 7) for asked in strategies.every_metric(k)]
    labels = list(dict.fromkeys(labels))
    together = bound.evaluate(labels)

    alone = pd.concat([bound.evaluate(label) for label in labels], axis=1)
    pd.testing.assert_frame_equal(alone, together, check_exact=True)


def test_curve_by_hand(frame):
    """The recall of the two users who have relevant rows, and the shape of the table."""
    curve = frame.assign(b_score=-frame["score"]).rec(short="pad").curve(k=range(1, 4))

    assert [(0.5 + 0) / 2, (0.75 + 0) / 2, 1.0] == curve["score"].tolist()
    assert [(0.25 + 1) / 2, (0.5 + 1) / 2, 1.0] == curve["b_score"].tolist()
    assert ("k", "score") == (curve.index.name, curve.columns.name)
    assert [1, 2, 3] == curve.index.tolist()


def test_precision_curve(frame):
    """Precision's curve under tie rule "worst"."""
    curve = frame.rec(short="pad", ties="worst").curve("precision", k=[2, 1])

    assert [2, 1] == curve.index.tolist()
    assert [0.5 / 3, 1 / 3] == curve["score"].tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "r_precision"}, "a curve is of 'precision', .* or '.*', found 'r_precision'"),
        ({"metric": "recall@5"}, "a curve is of 'precision', .* or '.*', found 'recall@5'"),
        ({"k": 5}, r"k must be several cut-offs, such as range\(1, 51\), found 5"),
        ({"k": "12"}, r"k must be several cut-offs, such as range\(1, 51\), found '12'"),
        ({"k": ["1"]}, "k must be an integer of 1 or more, found '1'"),
        ({"k": []}, "k must hold at least one cut-off, found none"),
        ({"k": [1, 0]}, "k must be an integer of 1 or more, found 0"),
        ({"k": [1, 2, 1]}, r"k must hold each cut-off once, found \[1, 2, 1\]"),
        ({}, "k=50 is more than the ranked rows by 'score' of 3 of 3 users"),
    ],
)
def test_curve_refuses(frame, arguments, message):
    """What has no curve is refused with the reason."""
    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec.curve(**arguments)


def test_curve_plots(frame):
    """Pandas draws a line for each score column."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    frame["b_score"] = frame["score"]
    axes = frame.rec(short="pad").curve(k=range(1, 6)).plot()

    assert ["score", "b_score"] == [line.get_label() for line in axes.lines]
    assert [1, 2, 3, 4, 5] == axes.lines[0].get_xdata().tolist()
    matplotlib.pyplot.close(axes.figure)
