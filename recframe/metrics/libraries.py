"""Libraries: what each calls the metrics that are here, and what differs. Plain data."""

from typing import NamedTuple

# By the name here, in the order of `recframe.conventions`. A cell is the library's name for it;
# after a colon, how its figures differ where the options of the README's table are given; a
# semicolon parts several.
LIBRARIES = {
    "precision": {
        "trec_eval": "P_k",
        "ir_measures": "P@k",
        "ranx": "precision@k",
        "RecTools": "Precision",
        "RePlay": "Precision",
        "Recommenders": "precision_at_k",
        "LensKit": "Precision",
        "torchmetrics": "RetrievalPrecision",
        "evidently": "PrecisionTopK",
    },
    "recall": {
        "trec_eval": "recall_k",
        "ir_measures": "R@k",
        "ranx": "recall@k",
        "RecTools": "Recall",
        "RePlay": "Recall",
        "Recommenders": "recall_at_k",
        "LensKit": "Recall: it is `capped_recall@k`",
        "torchmetrics": "RetrievalRecall",
        "evidently": "RecallTopK",
    },
    "r_precision": {
        "trec_eval": "Rprec",
        "ir_measures": "Rprec",
        "ranx": "r-precision",
        "RecTools": "Precision(r_precision=True): it is `capped_recall@k`",
        "Recommenders": "r_precision_at_k: hits@min(R, k) / R, the mean of users with a hit",
        "torchmetrics": "RetrievalRPrecision",
    },
    "f1": {"ranx": "f1@k", "RecTools": "F1Beta", "evidently": "FBetaTopK"},
    "hit_rate": {
        "trec_eval": "success_k",
        "ir_measures": "Success@k",
        "ranx": "hit_rate@k",
        "RecTools": "HitRate",
        "RePlay": "HitRate",
        "LensKit": "Hit",
        "torchmetrics": "RetrievalHitRate",
        "evidently": "HitRate",
    },
    "all_relevant": {},
    "reciprocal_rank": {
        "trec_eval": "recip_rank",
        "ir_measures": "RR",
        "ranx": "mrr@k",
        "RecTools": "MRR",
        "RePlay": "MRR",
        "LensKit": "RecipRank",
        "torchmetrics": "RetrievalMRR",
        "evidently": "MRR",
    },
    "average_precision": {
        "trec_eval": "map; map_cut_k",
        "ir_measures": "AP@k",
        "ranx": "map@k",
        "RecTools": "MAP",
        "RePlay": "MAP: / min(R, k)",
        "Recommenders": "map; map_at_k: / min(R, k)",
        "LensKit": "AveragePrecision: / min(R, k, n)",
        "torchmetrics": "RetrievalMAP: at k, / hits@k",
        "scikit-learn": "average_precision_score: a tie is one step",
        "evidently": "MAP",
    },
    "ndcg": {
        "trec_eval": "ndcg; ndcg_cut_k",
        "ir_measures": "nDCG@k",
        "ranx": 'ndcg@k; ndcg_burges@k: `gain="exponential"`',
        "RecTools": "NDCG: an ideal of k relevant items, unless `divide_by_achievable=True`",
        "RePlay": "NDCG",
        "Recommenders": "ndcg_at_k",
        "LensKit": "NDCG: it is `ndcg(offset=0)@k`, unless `weight=LogRankWeight(offset=1)`",
        "torchmetrics": "RetrievalNormalizedDCG",
        "scikit-learn": "ndcg_score",
        "evidently": "NDCG",
    },
    "capped_recall": {
        "RecTools": "Precision(r_precision=True)",
        "LensKit": "Recall",
        "BEIR": "R_cap@k",
    },
    "dcg": {
        "ranx": 'dcg@k; dcg_burges@k: `gain="exponential"`',
        "LensKit": "DCG: it is `dcg(offset=0)@k`, unless `weight=LogRankWeight(offset=1)`",
        "scikit-learn": "dcg_score",
    },
    "rbp": {
        "ir_measures": "RBP(p=0.8, rel=1): by cwl_eval, of the whole ranking at any k",
        "ranx": "rbp.80: a relevant row counts its grade",
        "LensKit": "RBP(patience=0.8)",
    },
    "err": {"ir_measures": "ERR@k: five digits, grades up to 4"},
    "fall_out": {"torchmetrics": "RetrievalFallOut"},
    "auc": {
        "ir_measures": "Accuracy",
        "RePlay": "RocAuc: of the first k rows, 0 without a hit, 1 with hits only",
        "torchmetrics": "RetrievalAUROC",
        "scikit-learn": "roc_auc_score",
    },
    "bpref": {
        "trec_eval": "bpref",
        "ir_measures": "Bpref",
        "ranx": "bpref: no number where N = 0",
    },
    "judged": {"ir_measures": 'Judged@k: `short="shrink"`'},
    "coverage": {
        "RecTools": "CatalogCoverage(normalize=True)",
        "RePlay": "Coverage",
        "Recommenders": "catalog_coverage",
    },
    "entropy": {"Recommenders": "distributional_coverage"},
    "gini": {"LensKit": "ExposureGini: of exposures, which fall with the position"},
    "personalization": {"evidently": "Personalization"},
}


class Theirs(NamedTuple):
    """A name of a library for a metric, and how its figures differ, "" where they do not."""

    name: str
    differs: str


def list_names(metric: str, library: str) -> list[Theirs]:
    """Return a library's names of a metric."""
    cell = LIBRARIES[metric].get(library, "")
    parted = (one.partition(": ") for one in cell.split("; ") if one)
    return [Theirs(name, differs) for name, _, differs in parted]
