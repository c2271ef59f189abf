"""recframe: ranking metrics of pandas DataFrames, as ``df.rec``.

The guides show the calls for your data, explain options, metrics, intervals and tests, and say what
other libraries call each metric: https://github.com/recframe/recframe/blob/main/examples/guides.md
"""

import pandas as pd

from recframe import metrics
from recframe.accessor import RecAccessor, rec
from recframe.analysis.verdict import Gate
from recframe.errors import (
    MissingColumnError,
    RecframeError,
    RecframeWarning,
    RepeatedPairError,
    WrongTypeError,
)
from recframe.files.trec import read_qrels, read_run
from recframe.frames.constructors.lists import from_lists, truth_from
from recframe.frames.constructors.matrices import from_matrix, from_topk
from recframe.frames.constructors.runs import from_groups, from_runs
from recframe.functions import (
    compare,
    evaluate,
    flat,
    gate,
    iter_evaluate,
    read_per_user,
    save_per_user,
    scan,
    summary,
    users_needed,
)
from recframe.notes import Note

__version__: str  # `__getattr__` reads it
pd.api.extensions.register_dataframe_accessor("rec")(RecAccessor)

__all__ = [
    "Gate",
    "MissingColumnError",
    "Note",
    "RecAccessor",
    "RecframeError",
    "RecframeWarning",
    "RepeatedPairError",
    "WrongTypeError",
    "compare",
    "evaluate",
    "flat",
    "from_groups",
    "from_lists",
    "from_matrix",
    "from_runs",
    "from_topk",
    "gate",
    "iter_evaluate",
    "metrics",
    "read_per_user",
    "read_qrels",
    "read_run",
    "rec",
    "save_per_user",
    "scan",
    "summary",
    "truth_from",
    "users_needed",
]


def __dir__() -> list[str]:
    """Return the public names and the special names of a module, for completion."""
    return [*__all__, "__version__", *(name for name in globals() if name[:2] == "__")]


def __getattr__(name: str) -> object:
    """Return the version or the module `scanned`; both take too long for every import."""
    if name == "scanned":
        from importlib import import_module

        return import_module("recframe.scanned")
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("recframe")
