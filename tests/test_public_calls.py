"""Arguments that a public function does not take are refused with the call that takes them."""

import inspect

import dask.dataframe as dd
import pandas as pd
import pytest

import recframe
import recframe.dask
from recframe.analysis.compare import make_comparison
from recframe.methods import RankingMethods

ROWS = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [0.5, 0.2], "relevant": [0, 1]})
REC = ROWS.rec


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda: REC.mean(k=10),
            "mean() got an unexpected keyword argument 'k'; name the cut-off in the metric: "
            "mean(['recall@10'])",
        ),
        (
            lambda: REC.summary("recall@1", at=[5, 10]),
            "summary() got an unexpected keyword argument 'at'; name the cut-off in the metric: "
            "summary(['recall@5', 'recall@10'])",
        ),
        (
            lambda: REC.evaluate(top_k=4),
            "evaluate() got an unexpected keyword argument 'top_k'; name the cut-off in the metric:"
            " evaluate(['recall@4'])",
        ),
        (
            lambda: REC.recall(4, ties="worst", short="pad"),
            "recall() got an unexpected keyword argument 'ties'; it is an option: "
            "df.rec(ties='worst', short='pad').recall(k=4)",
        ),
        (
            lambda: REC.rank(ties="best"),
            "rank() got an unexpected keyword argument 'ties'; it is an option: "
            "df.rec(ties='best').rank()",
        ),
        (
            lambda: REC.recall(at=4),
            "recall() got an unexpected keyword argument 'at'; its cut-off is k: recall(k=4)",
        ),
        (
            lambda: REC.top(n=5),
            "top() got an unexpected keyword argument 'n'; its cut-off is k: top(k=5)",
        ),
        (
            lambda: REC.auc(k=4),
            "auc() got an unexpected keyword argument 'k'; it takes no argument",
        ),
        (lambda: REC.recall(4, "worst"), "recall() got too many positional arguments; it takes k"),
        (lambda: REC.recall(4, k=4), "recall() got multiple values for argument 'k'; it takes k"),
        (
            lambda: REC.compare("auc", base="score"),
            "compare() got an unexpected keyword argument 'base'; did you mean baseline?",
        ),
        (
            lambda: REC.judge(test=1),
            "judge() got an unexpected keyword argument 'test'; it takes truth",
        ),
        (
            lambda: REC("user"),
            "rec() got too many positional arguments; "
            "it takes nothing but options, by name, as truth=...",
        ),
        (
            lambda: recframe.evaluate(),
            "evaluate() missing a required argument: 'frame'; "
            "it takes frame, metrics, memory, tmp, progress",
        ),
        (
            lambda: recframe.iter_evaluate(),
            "iter_evaluate() missing a required argument: 'path'; it takes path, metrics, memory, "
            "tmp, progress",
        ),
        (
            lambda: recframe.from_topk([[1]], user=[1]),
            "from_topk() got an unexpected keyword argument 'user'; did you mean users?",
        ),
        (
            lambda: REC.recall(k=1, ties="worst", zzz=1),
            "recall() got an unexpected keyword argument 'ties'; it is an option: "
            "df.rec(ties='worst').recall(k=1)",
        ),
        (
            lambda: dd.from_pandas(ROWS, npartitions=1).rec("user"),
            "rec() got too many positional arguments; it takes partitioned",
        ),
    ],
)
def test_arguments_that_are_not_taken(call, expected):
    """The message has the passed argument, and the call in which it has a meaning."""
    with pytest.raises(recframe.RecframeError) as refused:
        call()

    assert expected == str(refused.value)
    assert isinstance(refused.value, TypeError)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda: REC(k=4),
            "unknown option 'k'. Pass a cut-off to the metric: df.rec.recall(k=4), or 'recall@4' "
            "by its name.",
        ),
        (
            lambda: recframe.iter_evaluate("x", k=4),
            "unknown option 'k'. Pass a cut-off to the metric: df.rec.recall(k=4), or 'recall@4' "
            "by its name.",
        ),
        (
            lambda: REC(metrics=["recall@4"]),
            "unknown option 'metrics'. Pass metrics to a method: "
            "df.rec.evaluate(['recall@4', 'ndcg@4']).",
        ),
    ],
)
def test_what_is_no_option(call, expected):
    """A cut-off and metrics passed as options are refused with the calls that take them."""
    with pytest.raises(recframe.RecframeError) as refused:
        call()

    assert expected == str(refused.value)


@pytest.mark.parametrize(
    ("name", "hint"),
    {
        "mrr": "; did you mean reciprocal_rank()?",
        "recall_10": "; did you mean recall(k=10)?",
        "roc_auc": "; did you mean auc()?",
        "r_precision_5": "; did you mean r_precision()?",
        "recal": "; did you mean recall()?",
        "sumary": "; did you mean summary()?",
        "zzz": "",
        "_mean_": "",
    }.items(),
)
def test_methods_that_are_not_there(name, hint):
    """A method of another library's name is no attribute, and the message has recframe's name."""
    with pytest.raises(AttributeError) as refused:
        getattr(REC, name)

    assert f"'RecAccessor' object has no attribute {name!r}{hint}" == str(refused.value)
    assert not hasattr(REC, name)


def test_signatures_are_as_written():
    """The decorator keeps a public function's signature and docstring."""
    assert "metrics" in inspect.signature(recframe.evaluate).parameters
    assert ["self", "k", "trusted"] == list(inspect.signature(RankingMethods.describe).parameters)
    assert "evaluate" == recframe.evaluate.__name__
    assert recframe.evaluate.__doc__ is None or "Return" in recframe.evaluate.__doc__


@pytest.mark.parametrize("compare", [recframe.compare, recframe.RecAccessor.compare])
def test_the_gate_compares_by_default_as_compare_does(compare):
    """The gate and the commands have the defaults of `compare`, as a function and a method."""
    expected = inspect.signature(make_comparison).parameters
    names = ["test", "correction", "confidence", "n_resamples", "seed", "interval", "unit"]
    actual = inspect.signature(compare).parameters

    assert [expected[name].default for name in names] == [actual[name].default for name in names]


def test_two_dicts_and_metrics():
    """Qrels, a run and metrics in a row are answered with the call for dicts."""
    qrels, run = {"q": {"d": 1, "e": 0}}, {"q": {"d": 0.3, "e": 0.4}}
    with pytest.raises(recframe.WrongTypeError) as refused:
        recframe.evaluate(qrels, run, ["mrr"])
    call = str(refused.value).partition("; pass ")[2]
    assert (
        0.5
        == eval(call, {"recframe": recframe, "run": run, "qrels": qrels, "metrics": ["mrr"]}).iloc[
            0, 0
        ]
    )
