"""Every metric of arrays has the value of df.rec for the same rows."""

import inspect
import math
import typing

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import strategies
from recframe import metrics
from recframe.metrics.definitions import DEFINITIONS

RELEVANT, SCORE = [1, 0, 1], [0.9, 0.8, 0.7]
NAMES = [name for name, definition in DEFINITIONS.items() if not definition.of_column]
FUNCTIONS = {name: {"recall": "recall_at_k"}.get(name, name) for name in NAMES}


def measure(metric, k, relevant, score):
    """Return a metric of arrays by its name with parameters, like "rbp(p=0.8)"."""
    name, _, given = metric.rstrip(")").partition("(")
    parameters = dict(part.split("=") for part in given.split(", ") if part)
    given = {key: float(number) for key, number in parameters.items()}
    at = {} if k is None else {"k": k}
    return getattr(metrics, FUNCTIONS[name])(relevant, score, **at, **given)


def test_every_metric_is_there():
    """The module offers a function for each metric and nothing else."""
    functions = {*FUNCTIONS.values(), "precision_at_k", "recall"}

    assert functions == set(metrics.__all__) == set(dir(metrics))
    assert all(callable(getattr(metrics, name)) for name in functions)
    # Submodules can still be reached.
    assert callable(metrics.names.parse_metric)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=12),
    st.integers(1, 12),
)
def test_as_in_a_frame(rows, k):
    """Every metric of arrays has the value of a frame, bit for bit, with and without ties."""
    relevant, score = map(list, zip(*rows, strict=True))
    frame = pd.DataFrame({"relevant": relevant, "score": score})
    asked = strategies.every_metric(min(k, len(rows)))
    table = frame.rec(user=None).evaluate([strategies.label(*one) for one in asked])["score"]
    found = [measure(*one, relevant, score) for one in asked]

    assert list(map(repr, table.iloc[0].tolist())) == list(map(repr, found))


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, tuple])
def test_kinds_of_arrays(kind):
    """Lists, tuples, arrays and Series are accepted, and an undefined metric is NaN."""
    relevant, score = kind(RELEVANT), kind(SCORE)

    assert (
        0.5
        == metrics.precision(relevant, score, 2)
        == metrics.average_precision(relevant, score, k=2)
    )
    assert 1 / (1 + 1 / math.log2(3)) == pytest.approx(metrics.ndcg(relevant, score, 2), rel=1e-15)
    assert 1.0 == metrics.reciprocal_rank(relevant, score) == metrics.hit_rate(relevant, score, k=1)
    assert type(metrics.auc(relevant, score)) is float
    assert math.isnan(metrics.ndcg([0, 0], [1, 2]))
    assert math.isnan(metrics.average_precision([], []))
    assert 0.0 == metrics.dcg([0, 0], [1, 2])


@pytest.mark.parametrize("name", [name for name in NAMES if name != "recall"])
def test_signatures(name):
    """A function takes the arrays and its method's arguments; a needed cut-off has no default."""
    function, method = getattr(metrics, name), getattr(recframe.RecAccessor, name)
    own = dict(inspect.signature(function).parameters)
    theirs = dict(inspect.signature(method).parameters)
    theirs.pop("self")

    assert ["relevant", "score", *theirs] == list(own)
    assert float is inspect.signature(function).return_annotation
    hints = typing.get_type_hints(function)
    assert [*own, "return"] == list(hints)
    assert function.__module__ == "recframe.metrics"
    assert name == function.__name__ == function.__qualname__
    if DEFINITIONS[name].cut_off == "needed":
        with pytest.raises(TypeError, match=f"{name}.. missing a required argument: 'k'"):
            function(RELEVANT, SCORE)
    else:
        assert "k" not in own or own["k"].default is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.ndcg([1], SCORE), r"of one length, but have shapes \(1,\) and \(3,\)"),
        (lambda: metrics.ndcg([[1, 0, 1]], [SCORE]), r"one-dimensional and of one length"),
        (
            lambda: metrics.hit_rate(RELEVANT, [1, math.nan, 2], 1),
            "score must not be NaN, but has 1",
        ),
        (
            lambda: metrics.hit_rate(RELEVANT, [1, None, 2], 1),
            "score must be numbers, but has dtype o",
        ),
        (
            lambda: metrics.ndcg([3, 0, 1], SCORE),
            r"must be boolean or 0/1, but is array\(\[3, 0, 1\]\); grades are counted in a frame",
        ),
        (lambda: metrics.auc([None, 0, 1], SCORE), "relevant must be boolean or 0/1, but is"),
        (
            lambda: metrics.ndcg(RELEVANT, SCORE, 4),
            "k must be at most the 3 observations, but is 4",
        ),
        (lambda: metrics.f1(RELEVANT, SCORE, 0), "k must be an integer of 1 or more, but is 0"),
        (lambda: metrics.rbp(RELEVANT, SCORE, p=1), r"rbp.* takes p, a number in \[0, 1\), not"),
        (lambda: metrics.rbp(RELEVANT, SCORE), "rbp.. missing a required .*argument: 'p'"),
        (lambda: metrics.auc(RELEVANT, SCORE, k=3), "auc.. got an unexpected keyword argument 'k'"),
        (lambda: metrics.ndcg(RELEVANT, SCORE, at=3), r"its cut-off is k: ndcg\(k=3\)"),
    ],
)
def test_refusals(call, message):
    """Arrays that are no ranking, and invalid arguments, are refused with the reason."""
    with pytest.raises(recframe.RecframeError, match=message):
        call()


def test_the_set_function_says_why_it_is_0():
    """`recall` of sets is 0 without targets, where the recall of a ranking is NaN."""
    assert 0.0 == metrics.recall([1], [])
    assert "Without a target it is 0.0, so that" in metrics.recall.__doc__
    assert math.isnan(metrics.recall_at_k([0], [1], 1))
