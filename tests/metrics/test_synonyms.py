"""Common names of metrics from elsewhere are refused with the name in recframe."""

import pandas as pd
import pytest

import recframe
import strategies
from other_libraries import LIBRARIES
from recframe.conventions import name_map_at_k
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import parse_metric
from recframe.metrics.other_names import (
    ACCEPTED,
    ALIASES,
    CATALOGUE_METRICS,
    MAP_AT_K,
    NO_NAMES,
    SYNONYMS,
    read_synonym,
)

ROWS = pd.DataFrame({"user": [1, 1], "score": [2, 1], "relevant": [0, 1]})
MEANINGS = {
    "map_cut_10": "average_precision@10",
    "ap": "average_precision",
    "average_precision_score": "average_precision",
    "mean_average_precision": "average_precision",
    "RetrievalMAP": "average_precision",
    "recip_rank": "reciprocal_rank",
    "RecipRank": "reciprocal_rank",
    "mean_reciprocal_rank": "reciprocal_rank",
    "P_4": "precision@4",
    "P10": "precision@10",
    "precision_at_4": "precision@4",
    "precision_at_k(4)": "precision@4",
    "precision_at_k": "precision@k",
    "recall_10": "recall@10",
    "recall10": "recall@10",
    "R-Precision": "r_precision",
    "r_prec@5": "r_precision",
    "hit@4": "hit_rate@4",
    "hits@k": "hit_rate@k",
    "HitRate": "hit_rate@k",
    "Success_1": "hit_rate@1",
    "cosine_accuracy@1": "hit_rate@1",
    "top_k_accuracy_score": "hit_rate@k",
    "ndcg_cut_10": "ndcg@10",
    "ndcg_cut.10": "ndcg@10",
    "ndcg10": "ndcg@10",
    "ndcg_score": "ndcg",
    "RetrievalNormalizedDCG": "ndcg",
    "f1_score@3": "f1@3",
    "R_cap@10": "capped_recall@10",
    "roc_auc": "auc",
    "RocAuc": "auc",
    "AUROC@10": "auc",
    "map@0": "average_precision",
    "capped_ap@5": "capped_average_precision@5",
    "CappedMAP": "capped_average_precision@k",
}


@pytest.mark.parametrize(("label", "meant"), MEANINGS.items())
def test_the_name_here_is_said(label, meant):
    """The message has the name of the metric in recframe, and the cut-off as it was passed."""
    with pytest.raises(recframe.RecframeError) as refused:
        parse_metric(label)

    assert str(refused.value).startswith(f"unknown metric {label!r}, did you mean '{meant}'? Met")
    if not meant.endswith("@k"):
        assert meant == parse_metric(meant).label


MAPS = {
    "map@10": "10",
    "mAP@10": "10",
    "map_at_100": "100",
    "mapk": "k",
    "map@k": "k",
    "apk(5)": "5",
    "AP@1000": "1000",
    "cosine_map@100": "100",
    "mean_average_precision_at_k": "k",
    "meanAveragePrecisionAt": "k",
}


@pytest.mark.parametrize(("label", "k"), MAPS.items())
def test_two_meanings_are_asked_about(label, k):
    """MAP at a cut-off has two definitions; the message has both, and the libraries of each."""
    both = (
        f"unknown metric '{label}', did you mean 'average_precision@{k}' (divided by R: trec_eval, "
        f"ranx, RecTools) or 'capped_average_precision@{k}' (by min(R, {k}): Kaggle, Spark, "
        "RecBole, Recommenders, RePlay)? Metrics are"
    )
    with pytest.raises(recframe.RecframeError) as refused:
        parse_metric(label)

    assert str(refused.value).startswith(both)


def test_the_libraries_of_each_meaning():
    """The libraries in the question have the metric under which the question names them."""
    found = {
        name: {name_map_at_k(library) for library in text.partition(": ")[2].split(", ")}
        for name, text in MAP_AT_K.items()
    }
    assert {name: {name} for name in MAP_AT_K} == found


@pytest.mark.parametrize("label", ["lauc", "iprec@5", "nrbp", "alpha_ndcg"])
def test_other_metrics_are_no_misspelling(label):
    """The name of another metric gets no suggestion, however near it is in letters."""
    with pytest.raises(recframe.RecframeError) as refused:
        parse_metric(label)

    assert str(refused.value).startswith(f"unknown metric '{label}'; metrics are")
    with pytest.raises(AttributeError, match=r"has no attribute '[a-z_]*'$"):
        getattr(ROWS.rec, label.partition("@")[0].lower())


@pytest.mark.parametrize(
    ("label", "meant"),
    [("ndgc@5", "ndcg@5"), ("recal@5", "recall@5"), ("precisiom@5", "precision@5")],
)
def test_misspellings(label, meant):
    """A name with a slip of the keyboard gets the metric as a suggestion."""
    with pytest.raises(recframe.RecframeError) as refused:
        parse_metric(label)

    assert str(refused.value).startswith(f"unknown metric '{label}', did you mean '{meant}'?")


@pytest.mark.parametrize("label", ["infap", "coverage", "iprec_at_recall_0.10", "10", "k", "@", ""])
def test_what_means_nothing_here(label):
    """A metric that recframe lacks has no other name in the message."""
    assert read_synonym(label) is None


@pytest.mark.parametrize(
    ("label", "k", "figure"),
    [
        ("coverage@5", 5, "coverage"),
        ("CatalogCoverage@20", 20, "coverage"),
        ("gini_index", 10, "gini"),
        ("entropy@10", 10, "entropy"),
        ("personalisation", 10, "personalization"),
    ],
)
def test_figures_of_the_catalogue(label, k, figure):
    """The message about a catalogue metric has the call of `catalogue`."""
    message = f"unknown metric {label!r}, one value of all lists together. Call catalogue.k={k}., "
    with pytest.raises(recframe.RecframeError, match=f"{message}which returns '{figure}@{k}'"):
        parse_metric(label)


def test_curves_know_the_names_too():
    """A curve of a metric by another name is refused with the name in recframe."""
    with pytest.raises(recframe.RecframeError, match="not 'map'; did you mean 'average_precisio"):
        ROWS.rec.curve("map")


def test_the_table():
    """The table of synonyms has every metric but two of columns; each synonym means one metric."""
    names = [name for names in SYNONYMS.values() for name in names]

    assert {*map(strategies.name_of, strategies.METRICS), "diversity"} == set(SYNONYMS)
    assert len(names) == len({*names} - {name.replace("_", "") for name in SYNONYMS})
    assert not {*names} & set(NO_NAMES)
    assert all(name.isalnum() and name.islower() for name in names)
    assert ALIASES == {name: read_synonym(name).name for name in ACCEPTED}


# These libraries use a name that elsewhere more often means another metric.
OTHERS_FIRST = {("LensKit", "Recall"), ("ir_measures", "Accuracy"), ("RecBole", "GAUC")}
OTHERS_FIRST |= {("evidently", "FBetaTopK")}


@pytest.mark.parametrize("metric", LIBRARIES)
def test_names_of_libraries(metric):
    """A library's name for a metric means this metric, at any k."""
    synonyms = CATALOGUE_METRICS if metric in CATALOGUE_METRICS else SYNONYMS
    for library, names in LIBRARIES[metric].items():
        for name in [one.name for one in names]:
            if metric == "capped_average_precision":  # the message asks which of the two is meant
                assert read_synonym(name).name == "average_precision", (library, name)
                continue
            is_known = "=" in name or name in DEFINITIONS or (library, name) in OTHERS_FIRST
            found = read_synonym(name.replace("@k", "@10").replace("_k", "_10"), synonyms)
            assert is_known or found.name == metric, (library, name)
