"""The metrics: their definitions, and functions of one ranking in arrays. NumPy only."""

from recframe.metrics.arrays import *  # noqa: F403 - the names in its __all__
from recframe.metrics.arrays import __all__ as __all__


def __dir__() -> list[str]:
    """Return the names to complete, which are the functions and none of the modules."""
    return sorted(__all__)
