"""The metrics: their definitions, and functions of one ranking given as arrays. NumPy only."""

from typing import TYPE_CHECKING

from recframe.metrics.measure import FUNCTIONS, recall

if TYPE_CHECKING:
    # The functions of metrics are made of their definitions; this is for editors.
    from typing import Protocol

    from numpy.typing import ArrayLike

    class _Whole(Protocol):
        def __call__(self, relevant: ArrayLike, score: ArrayLike) -> float: ...

    class _At(Protocol):
        def __call__(self, relevant: ArrayLike, score: ArrayLike, k: int) -> float: ...

    class _Optionally(Protocol):
        def __call__(
            self, relevant: ArrayLike, score: ArrayLike, k: int | None = None
        ) -> float: ...

    class _WithOffset(Protocol):
        def __call__(
            self, relevant: ArrayLike, score: ArrayLike, k: int | None = None, *, offset: float = 1
        ) -> float: ...

    class _WithMax(Protocol):
        def __call__(
            self, relevant: ArrayLike, score: ArrayLike, k: int | None = None, *, max: float
        ) -> float: ...

    class _WithP(Protocol):
        def __call__(
            self, relevant: ArrayLike, score: ArrayLike, k: int | None = None, *, p: float
        ) -> float: ...

    all_relevant: _At
    auc: _Whole
    average_precision: _Optionally
    bpref: _Whole
    capped_recall: _At
    dcg: _WithOffset
    err: _WithMax
    f1: _At
    fall_out: _At
    hit_rate: _At
    judged: _At
    ndcg: _WithOffset
    precision: _At
    precision_at_k: _At
    r_precision: _Whole
    rbp: _WithP
    recall_at_k: _At
    reciprocal_rank: _Optionally

globals().update(FUNCTIONS)
__all__ = ["recall"]
__all__ += FUNCTIONS


def __dir__() -> list[str]:
    """Return the names to complete, which are the functions and none of the modules."""
    return sorted(__all__)
