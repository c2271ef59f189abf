"""The definitions: every metric, by its name. NumPy only.

A user's rows are ranked by score; hits@c is the number of relevant rows among the first c of
them, n the number of ranked rows and R that of relevant items, ranked or not. Under
``ties="expected"`` every metric is its expectation over all orders of tied rows (F. McSherry and
M. Najork, "Computing information retrieval performance measures efficiently in the presence of tied
scores", ECIR 2008).

Without a relevant item (R = 0) precision is 0, as nothing can be a hit; every other metric asks
how well relevant items were found, which has no answer then: `zero_division`.
"""

from recframe.metrics.column_metrics import COLUMN_METRICS
from recframe.metrics.hit_metrics import HIT_METRICS
from recframe.metrics.position_metrics import POSITION_METRICS

# The order is that of help texts and messages.
DEFINITIONS = {**HIT_METRICS, **POSITION_METRICS, **COLUMN_METRICS}

DEFAULT_METRICS = ("precision@10", "recall@10", "r_precision")
