"""Names of metrics are parsed to a metric, parameters and a cut-off, and printed back."""

import math
import re

import numpy as np
import pandas as pd
import pytest

import recframe
import strategies
from recframe.metrics.definitions import DEFINITIONS, Definition, Parameter
from recframe.metrics.names import describe_metrics, make_metric, parse_metric, parse_metrics


def persistence(statistics, k, policy, *, p, top=1.0):
    """Return top (1 - p) times the sum of p^(position - 1) over each user's relevant rows."""
    powers = p ** (statistics.positions(k) - 1)
    return top * (1 - p) * statistics.sum_positions(k, powers, statistics.ties.chance)


@pytest.fixture
def known(monkeypatch):
    """Define a metric with two parameters, one of them without a default."""
    parameters = (Parameter("p", 0, 1, "P"), Parameter("top", 1, math.inf, "Top", default=1.0))
    monkeypatch.setitem(DEFINITIONS, "rbp", Definition(persistence, "optional", parameters))


@pytest.mark.parametrize(("name", "k"), strategies.every_metric(3))
def test_labels_are_read_as_they_are_printed(name, k):
    """The label of every metric is parsed to that metric."""
    label = strategies.label(name, k)
    metric = parse_metric(label)

    assert label == metric.label
    assert metric == make_metric(metric.name, k, **dict(metric.parameters)) == parse_metric(metric)
    assert {metric} == set(parse_metrics(label))


def test_labels():
    """A cut-off is needed, optional or refused by definition, and the message says which."""
    assert ("ndcg", "ndcg", (), None) == parse_metric("ndcg")
    assert ("ndcg@5", "ndcg", (), 5) == parse_metric("ndcg@5")
    for label, message in {
        "auc@5": "'auc@5': auc takes no cut-off. Pass 'auc'.",
        "ndcg@": "'ndcg@': ndcg takes a cut-off after its @, an integer of 1 or more",
        "f1": "'f1': f1 needs a cut-off, an integer of 1 or more as in 'f1@10', but has none",
        "nDCGG@5": "did you mean 'ndcg@5'",
        "nDCGG@x": r"did you mean 'ndcg'\?",
        "precsion@x": r"did you mean 'precision@k'\?",
        "AUCC@5": r"did you mean 'auc'\?",
        "map@5": r"Metrics are precision@k, recall@k, r_precision, .*ndcg\[@k\], .*auc",
        "f1(p=1)@5": "f1@k takes no parameters, not 'p'",
        "f1()@5": "f1@k takes no parameters, not ''",
        "": "unknown metric ''; metrics are",
    }.items():
        with pytest.raises(recframe.RecframeError, match=message):
            parse_metric(label)


@pytest.mark.parametrize("k", [None, 0, -1, True, np.True_, 2.0, "3"])
def test_cut_offs_are_whole_numbers_from_1(k):
    """A cut-off that is no integer of 1 or more is refused, and so is a missing one."""
    with pytest.raises(recframe.RecframeError, match=f"k must be an integer of 1.*but is {k!r}"):
        make_metric("precision", k)
    assert [("precision@1", 1), ("precision@9007199254740992", 2**53)] == [
        make_metric("precision", k)[::3] for k in (np.int8(1), 2**53)
    ]


@pytest.mark.parametrize("k", [[5, 10], (5,), np.array([5, 10]), range(1, 3)])
def test_several_cut_offs_go_through_evaluate(k):
    """The message about several cut-offs names the metrics to ask for."""
    message = r"k must be an integer of 1 or more, but is .*; .*evaluate\(\['rbp\(p=0.8\)@5', 'rbp"
    with pytest.raises(recframe.RecframeError, match=message):
        make_metric("rbp", k, p=0.8)


def test_every_unknown_metric_is_named():
    """The message names every unknown metric with a suggestion, or the first of many."""
    message = r"unknown metrics 'recal@4', did you mean 'recall@4'\? and 'xyz' and 3; metrics are p"
    with pytest.raises(recframe.RecframeError, match=message):
        parse_metrics(["auc", "recal@4", "xyz", 3])
    with pytest.raises(recframe.RecframeError, match=r"'x1' and 'x2' and .*'x5' and 3 more; metr"):
        parse_metrics([f"x{n}" for n in range(1, 9)])
    with pytest.raises(recframe.RecframeError, match=r"unknown metric \['auc'\]; metrics are"):
        parse_metrics([["auc"]])


def test_metrics_are_asked_for():
    """At least one metric must be asked for, by a name or a list of names."""
    with pytest.raises(recframe.RecframeError, match=r"at least one metric: precision@k, .*auc"):
        parse_metrics([])
    with pytest.raises(recframe.RecframeError, match="or a list of names, but is 5"):
        parse_metrics(5)


def test_metrics_are_described():
    """The description has a line or two for each metric, with its name to the left."""
    head, *lines = describe_metrics().splitlines()
    names = [re.split(r"[(@\[]", line[2:30].strip())[0] for line in lines]

    assert head == "metrics of each user; hits@k are relevant rows up to k, R all relevant items:"
    assert lines[0] == f"  precision@k{'':17}precision@k = hits@k / k"
    assert list(DEFINITIONS) == [name for name in names if name]
    assert all(len(line) < 80 for line in lines)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("written", "label", "parameters", "k"),
    [
        ("rbp(p=0.8)", "rbp(p=0.8)", (("p", 0.8),), None),
        ("rbp(p=0.8)@10", "rbp(p=0.8)@10", (("p", 0.8),), 10),
        ("rbp( top=2.0 ,p = .80 )@3", "rbp(p=0.8, top=2)@3", (("p", 0.8), ("top", 2.0)), 3),
        ("rbp(p=0,top=1e300)", "rbp(p=0, top=1e+300)", (("p", 0.0), ("top", 1e300)), None),
    ],
)
def test_parameters(written, label, parameters, k):
    """A name with parameters and a cut-off is printed in one form, which parses to it."""
    metric = parse_metric(written)

    assert (label, "rbp", parameters, k) == metric == parse_metric(label)
    assert metric == make_metric("rbp", k, **dict(reversed(parameters)))
    assert {metric} == {metric, parse_metric(label)}


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("label", "message"),
    {
        "rbp": r"rbp\(p=…\)\[@k\] takes p, a number in \[0, 1\), but has none",
        "rbp@10": r"takes p, a number in \[0, 1\), but has none",
        "rbp(top=2)": r"takes p, a number in \[0, 1\), but has none",
        "rbp(p=1)": r"takes p, a number in \[0, 1\), not p=1\.0",
        "rbp(p=-0.1)": r"takes p, a number in \[0, 1\), not p=-0\.1",
        "rbp(p=nan)": r"takes p, a number in \[0, 1\), not p=nan",
        "rbp(p=half)": r"takes p, a number in \[0, 1\), not p='half'",
        "rbp(p=0.5, top=0.5)": r"takes top, a number in \[1, inf\), not top=0\.5",
        "rbp(q=0.5)": r"p, a number in \[0, 1\) and top, a number in \[1, inf\), not 'q'",
        "rbp(p=0.5, p=0.6)": r"p must be given once, but is 'p=0\.5, p=0\.6'",
        "rbp(0.5)": r"rbp\(p=…\)\[@k\] takes p, a number in .*, not '0\.5'",
        "rbp(p=)": r"rbp\(p=…\)\[@k\] takes p, a number in \[0, 1\), not p=''",
        "rbp()": r"rbp\(p=…\)\[@k\] takes p, .*, not ''",
        "rbp(p=0.5@10": r"write it as rbp\(p=…\)\[@k\], not '\(p=0\.5@10' after 'rbp'",
        "rbp(p=0.5)10": r"write it as rbp\(p=…\)\[@k\], not '10' after 'rbp'",
        "rbp(p=0.5)@0": r"as in 'rbp\(p=0\.5\)@10', but has '0'",
        "rpb(p=0.8)@10": r"did you mean 'rbp\(p=0\.8\)@10'\?",
        "rpb@10": r"did you mean 'rbp\(p=…\)@10'\?",
    }.items(),
)
def test_parameters_are_checked(label, message):
    """An unknown, missing, repeated, malformed or impossible parameter is refused."""
    with pytest.raises(recframe.RecframeError, match=message):
        parse_metric(label)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("rbp(p={})", 0, 1), ("err(max={})", 1, 100), ("ndcg(offset={})", 0, 1000)],
)
def test_ranges_of_parameters(name, low, high, frame):
    """The lowest value of a parameter is in its range, and the highest is not."""
    ours = frame.rec(short="pad")

    assert [name.format(low)] == ours.evaluate([name.format(low)])["score"].columns.tolist()
    for value in (low - 0.01, high):
        with pytest.raises(recframe.RecframeError, match=rf"in \[{low}, {high}\), not"):
            ours.evaluate(name.format(value))


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("value", [True, "0.5", None, np.float64(1.5)])
def test_a_parameter_is_a_number(value):
    """A parameter passed as a value must be a number in its range."""
    with pytest.raises(
        recframe.RecframeError, match=r"takes p, a number in \[0, 1\), (not|but has)"
    ):
        make_metric("rbp", p=value)


@pytest.mark.usefixtures("known")
def test_a_metric_with_parameters_is_evaluated():
    """A metric's formula gets the parameters in its name, which its column keeps."""
    frame = pd.DataFrame({"user": "u", "score": [3, 2, 2], "relevant": [1, 1, 0]})
    labels = ["rbp(p=0.5)", "rbp(p=0.5)@1", "rbp(p=0.25, top=2)", "recall@1"]
    table = recframe.evaluate(frame, labels)["score"]

    assert labels == table.columns.tolist()
    assert [0.5 * (1 + 0.375), 0.5, 2 * 0.75 * (1 + 0.15625), 0.5] == table.loc["u"].tolist()
    with pytest.raises(recframe.RecframeError, match=r"must differ, but have 'rbp\(p=0\.5\)' more"):
        recframe.evaluate(frame, ["rbp(p=0.5)", "rbp(p=0.50)"])


@pytest.mark.parametrize("k", [2**53 + 1, 2**62, 2**63 - 1, 2**63, 10**30, np.uint64(2**64 - 1)])
def test_cut_offs_that_no_ranking_reaches(frame, k):
    """A cut-off beyond 2**53 is refused, and f1 is exact up to it."""
    message = "k must be at most 2\\*\\*53, as no ranking is longer"
    ours = frame.rec(short="pad")
    for use in (
        lambda: ours.f1(k=k),
        lambda: ours.evaluate(f"recall@{k}"),
        lambda: ours.top(k=k),
        lambda: ours.describe(k=k),
        lambda: ours.curve("recall", k=[1, k]),
        lambda: ours.inspect(1, k=k),
        lambda: parse_metric("ndcg@" + "9" * 5000),
    ):
        with pytest.raises(recframe.RecframeError, match=message):
            use()
    assert 0 <= ours.f1(k=2**53).min().item() < 1e-15
