"""The metrics: their definitions, and functions of one ranking given as arrays. NumPy only."""

from typing import TYPE_CHECKING

from recframe.metrics.measure import FUNCTIONS, recall

if TYPE_CHECKING:
    # The functions of metrics are made of their definitions; this is for editors.
    from numpy.typing import ArrayLike

    def precision(relevant: ArrayLike, score: ArrayLike, k: int) -> float: ...

    all_relevant = capped_recall = f1 = fall_out = hit_rate = judged = precision
    precision_at_k = recall_at_k = precision

    def reciprocal_rank(relevant: ArrayLike, score: ArrayLike, k: int | None = None) -> float: ...

    average_precision = reciprocal_rank

    def ndcg(
        relevant: ArrayLike, score: ArrayLike, k: int | None = None, *, offset: float = 1
    ) -> float: ...

    dcg = ndcg

    def r_precision(relevant: ArrayLike, score: ArrayLike) -> float: ...

    auc = bpref = r_precision

    def err(
        relevant: ArrayLike, score: ArrayLike, k: int | None = None, *, max: float
    ) -> float: ...

    def rbp(relevant: ArrayLike, score: ArrayLike, k: int | None = None, *, p: float) -> float: ...


globals().update(FUNCTIONS)
__all__ = ["recall"]
__all__ += FUNCTIONS


def __dir__() -> list[str]:
    """Return the names to complete, which are the functions and none of the modules."""
    return sorted(__all__)
