"""Common names of metrics from elsewhere are refused with the name in recframe."""

import pandas as pd
import pytest

import recframe
import strategies
from elsewhere import LIBRARIES
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import (
    ALIASES,
    FIGURES,
    NO_NAMES,
    SYNONYMS,
    find_meant,
    parse_metric,
)

MEANINGS = {
    "map@10": "average_precision@10",
    "mAP@10": "average_precision@10",
    "map_cut_10": "average_precision@10",
    "map_at_100": "average_precision@100",
    "mapk": "average_precision",
    "ap": "average_precision",
    "AP@1000": "average_precision@1000",
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
}


@pytest.mark.parametrize(("label", "meant"), MEANINGS.items())
def test_the_name_here_is_said(label, meant):
    """The message has the name of the metric in recframe, and the cut-off as it was passed."""
    with pytest.raises(recframe.RecframeError) as refused:
        parse_metric(label)

    assert str(refused.value).startswith(f"unknown metric {label!r}, did you mean '{meant}'?; met")
    if not meant.endswith("@k"):
        assert meant == parse_metric(meant).label


@pytest.mark.parametrize("label", ["infap", "coverage", "iprec_at_recall_0.10", "10", "k", "@", ""])
def test_what_means_nothing_here(label):
    """A metric that recframe lacks has no other name in the message."""
    assert find_meant(label) is None


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
    message = f"unknown metric {label!r}, a figure of all lists.*: catalogue.k={k}. has it as "
    with pytest.raises(recframe.RecframeError, match=f"{message}'{figure}@{k}'; metrics are"):
        parse_metric(label)


def test_curves_know_the_names_too():
    """A curve of a metric by another name is refused with the name in recframe."""
    rows = {"user": [1, 1], "score": [2, 1], "relevant": [0, 1]}
    with pytest.raises(recframe.RecframeError, match="found 'map'; did you mean 'average_precisio"):
        pd.DataFrame(rows).rec.curve("map")


def test_the_table():
    """The table of synonyms has every metric, and each synonym means one metric."""
    names = [name for names in SYNONYMS.values() for name in names]

    assert set(map(strategies.name_of, strategies.METRICS)) == set(SYNONYMS)
    assert len(names) == len({*names} - {name.replace("_", "") for name in SYNONYMS})
    assert not {*names} & set(NO_NAMES)
    assert all(name.isalnum() and name.islower() for name in names)
    assert ALIASES == {name: find_meant(name).name for name in ALIASES}


# These libraries use a name that elsewhere more often means another metric.
OTHERS_FIRST = {("LensKit", "Recall"), ("ir_measures", "Accuracy")}


@pytest.mark.parametrize("metric", LIBRARIES)
def test_names_of_libraries(metric):
    """A library's name for a metric means this metric, at any k."""
    synonyms = FIGURES if metric in FIGURES else SYNONYMS
    for library, names in LIBRARIES[metric].items():
        for name in [one.name for one in names]:
            is_known = "=" in name or name in DEFINITIONS or (library, name) in OTHERS_FIRST
            found = find_meant(name.replace("@k", "@10").replace("_k", "_10"), synonyms)
            assert is_known or found.name == metric, (library, name)
