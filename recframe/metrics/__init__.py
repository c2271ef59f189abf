"""The metrics: their definitions, and functions of one ranking given as arrays. NumPy only."""

from recframe.metrics.measure import precision_at_k, r_precision, recall, recall_at_k

__all__ = ["precision_at_k", "r_precision", "recall", "recall_at_k"]
