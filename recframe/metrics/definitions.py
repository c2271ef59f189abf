"""The definitions: every metric, by its name. NumPy only.

A user's rows are ranked by score; hits@c is the number of relevant rows among the first c of
them, n the number of ranked rows and R that of relevant items, ranked or not. Under
``ties="expected"`` every metric is its expectation over all orders of tied rows (F. McSherry and
M. Najork, "Computing information retrieval performance measures efficiently in the presence of tied
scores", ECIR 2008).

Without a relevant item (R = 0) sums over hits are 0, and so is precision; fall-out and `judged` ask
for other rows. Every other metric asks how well relevant items were found, which has no answer
then: `zero_division`.
"""

from recframe.metrics.column_metrics import COLUMN_METRICS
from recframe.metrics.discounted_metrics import DISCOUNTED_METRICS
from recframe.metrics.hit_metrics import HIT_METRICS
from recframe.metrics.judged_metrics import JUDGED_METRICS
from recframe.metrics.position_metrics import POSITION_METRICS

# The order is that of help texts and messages.
DEFINITIONS = {
    **HIT_METRICS,
    **DISCOUNTED_METRICS,
    **POSITION_METRICS,
    **JUDGED_METRICS,
    **COLUMN_METRICS,
}

DEFAULT_METRICS = ("precision@10", "recall@10", "r_precision")
