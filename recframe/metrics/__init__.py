"""The metrics: their definitions, and functions of one ranking in arrays. NumPy only."""

from recframe.metrics.arrays import (
    all_relevant,
    auc,
    average_precision,
    bpref,
    capped_average_precision,
    capped_recall,
    dcg,
    err,
    f1,
    fall_out,
    hit_rate,
    judged,
    ndcg,
    precision,
    precision_at_k,
    r_precision,
    rbp,
    recall,
    recall_at_k,
    reciprocal_rank,
)

__all__ = [
    "all_relevant",
    "auc",
    "average_precision",
    "bpref",
    "capped_average_precision",
    "capped_recall",
    "dcg",
    "err",
    "f1",
    "fall_out",
    "hit_rate",
    "judged",
    "ndcg",
    "precision",
    "precision_at_k",
    "r_precision",
    "rbp",
    "recall",
    "recall_at_k",
    "reciprocal_rank",
]


def __dir__() -> list[str]:
    """Return the names to complete, which are the functions and none of the modules."""
    return sorted(__all__)
