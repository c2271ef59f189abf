"""Unusual values for arguments, and every public call that could get them."""

import inspect
import itertools
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
from scipy.sparse import csr_array

import recframe
import recframe.dask
import recframe.polars


class Text(str):
    """A subclass of str."""

    __slots__ = ()


class Float(np.float64):
    """A subclass of NumPy's float."""


class Mute:
    """An object that cannot be shown."""

    def __repr__(self):
        """Fail."""
        raise KeyError("repr")


class Unequal:
    """An object that can be a key, but not be compared."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        """Fail."""
        raise ZeroDivisionError("eq")


class Unkeyed:
    """An object with a `__hash__` that fails."""

    def __hash__(self):
        """Fail."""
        raise ZeroDivisionError("hash")


def nest(depth):
    """Return nested lists, deeper than Python's recursion limit."""
    nested = []
    for _ in range(depth):
        nested = [nested]
    return nested


VALUES = {
    "None": lambda: None,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: -float("inf"),
    "-1": lambda: -1,
    "0": lambda: 0,
    "0.5": lambda: 0.5,
    "10**9": lambda: 10**9,
    "2**63": lambda: 2**63,
    "10**400": lambda: 10**400,
    # Python does not print so large a number.
    "10**5000": lambda: 10**5000,
    "Decimal 1e400": lambda: Decimal("1e400"),
    "Fraction": lambda: Fraction(1, 3),
    "1j": lambda: 1j,
    "True": lambda: True,
    "np.True_": lambda: np.True_,
    "array of ints": lambda: np.array([1, 2]),
    "array of a text": lambda: np.array("x"),
    "masked": lambda: np.ma.masked,
    "NA": lambda: pd.NA,
    "NaT": lambda: pd.NaT,
    "Series": lambda: pd.Series([1, 2]),
    "Index": lambda: pd.Index(["x", "y"]),
    "DataFrame": lambda: pd.DataFrame({"x": [1, 2]}),
    "no text": lambda: "",
    "long text": lambda: "x" * 10**6,
    "null byte": lambda: "\x00",
    "surrogate": lambda: "\ud800",
    "lines": lambda: "a\nb",
    "list": lambda: [],
    "dict": lambda: {},
    "set": lambda: set(),
    "tuple": lambda: (),
    "tuple of a list": lambda: ([],),
    "tuple of an array": lambda: (np.array([1, 2]),),
    "object": object,
    "bytes": lambda: b"x",
    "bytearray": lambda: bytearray(b"x"),
    "class": lambda: int,
    "lambda": lambda: lambda: None,
    "generator": lambda: (number for number in ()),
    "endless": lambda: itertools.count(1),
    "endlessly the same": lambda: itertools.repeat("recall@1"),
    "float": lambda: Float(0.25),
    "str": lambda: Text("x"),
    "path": lambda: Path("/nowhere"),
    "mute": Mute,
    "unequal": Unequal,
    "unkeyed": Unkeyed,
    "deep list": lambda: nest(10**4),
    "longdouble": lambda: np.longdouble("1e4000"),
    "timedelta": lambda: timedelta(1),
    "timedelta64": lambda: np.timedelta64(1, "D"),
    "timedeltas": lambda: pd.Series([timedelta(1), timedelta(2)]),
    "sparse Series": lambda: pd.Series(pd.arrays.SparseArray([1, 2])),
    "LazyFrame": lambda: pl.LazyFrame({"x": [1, 2]}),
}
# Each value is passed as it is, in a list, in a list of lists and in a dict.
FORMS = {
    "{}": lambda value: value,
    "[{}]": lambda value: [value],
    "[[{}]]": lambda value: [[value]],
    "{{1: {}}}": lambda value: {1: value},
    "{{1: [{}]}}": lambda value: {1: [value]},
}

FRAME = pd.DataFrame(
    {
        "user": [1, 1, 2, 2],
        "item": [1, 2, 1, 2],
        "a_score": [0.1, 0.2, 0.3, 0.4],
        "b_score": [4, 3, 2, 1],
        "relevant": [0, 1, 1, 0],
    }
)
TRUTH = pd.DataFrame({"user": [1, 2], "item": [1, 2]})
PER_USER = pd.DataFrame({"a": [0.1, 0.2, 0.4], "b": [0.2, 0.2, 0.3]})
LISTS = pd.DataFrame({"user": [1, 2], "items": [[1, 2], [3]]})
OF_TRUTH = ("truth_user", "truth_item", "population", "unjudged")


def public_methods(accessor):
    """Return the names of the public methods of an accessor."""
    return [name for name in dir(accessor) if name[0] != "_"]


def call_method(accessor, name, **arguments):
    """Return the computed result of a method."""
    made = getattr(accessor, name)(**arguments)
    return made.compute() if hasattr(made, "compute") else made


def call_options(accessor, **options):
    """Return a table under these options, judged by truth if they concern truth."""
    return accessor(**options).recall(1)


def list_entry_points(path):
    """Return every public call: name, function of keywords, signature and needed arguments."""
    ddf = dd.from_pandas(FRAME, npartitions=1)
    # This option allows any k.
    wide = {"short": "pad"}
    entry_points = {
        "evaluate": (recframe.evaluate, recframe.evaluate, {"frame": FRAME}),
        "evaluate of files": (recframe.evaluate, recframe.evaluate, {"frame": path}),
        "iter_evaluate": (
            lambda **arguments: list(recframe.iter_evaluate(**arguments)),
            recframe.iter_evaluate,
            {"path": path},
        ),
        "from_topk": (recframe.from_topk, recframe.from_topk, {"items": [[1, 2]]}),
        "from_lists": (recframe.from_lists, recframe.from_lists, {"lists": LISTS}),
        "from_matrix": (recframe.from_matrix, recframe.from_matrix, {"scores": [[1, 2]]}),
        "from_runs": (recframe.from_runs, recframe.from_runs, {}),
        "from_groups": (
            recframe.from_groups,
            recframe.from_groups,
            {"score": [0.5, 0.25, 0.1], "relevant": [1, 0, 1], "sizes": [3]},
        ),
        "truth_from": (recframe.truth_from, recframe.truth_from, {"truth": csr_array([[1, 2]])}),
        "read_run": (recframe.read_run, recframe.read_run, {}),
        "read_per_user": (recframe.read_per_user, recframe.read_per_user, {}),
        "save_per_user": (
            recframe.save_per_user,
            recframe.save_per_user,
            {"per_user": PER_USER, "path": f"{path}.saved.parquet"},
        ),
        "flat": (recframe.flat, recframe.flat, {"table": FRAME.rec.mean("recall@1")}),
        "summary": (recframe.summary, recframe.summary, {"per_user": PER_USER}),
        "compare": (recframe.compare, recframe.compare, {"per_user": PER_USER}),
        "users_needed": (
            recframe.users_needed,
            recframe.users_needed,
            {"per_user": PER_USER, "difference": 0.1},
        ),
        "read_qrels": (recframe.read_qrels, recframe.read_qrels, {}),
        "rec": (
            lambda frame, **options: recframe.rec(frame, **options).recall(1),
            recframe.rec,
            {"frame": FRAME},
        ),
        "RecAccessor": (
            lambda frame: recframe.RecAccessor(frame).recall(1),
            recframe.RecAccessor,
            {},
        ),
        "DaskRecAccessor": (
            lambda frame: recframe.dask.DaskRecAccessor(frame).recall(1),
            recframe.dask.DaskRecAccessor,
            {},
        ),
        "PolarsRecAccessor": (
            lambda frame: recframe.polars.PolarsRecAccessor(frame).recall(1),
            recframe.polars.PolarsRecAccessor,
            {},
        ),
    }
    for kind, frame in {"df.rec": FRAME, "ddf.rec": ddf}.items():
        accessor = frame.rec(**wide)
        entry_points[kind] = (lambda f=frame, **o: f.rec(**o).recall(1), frame.rec.__call__, {})
        for name in public_methods(accessor):
            method = getattr(accessor, name)
            base = {"judge": {"truth": TRUTH}, "inspect": {"user": 1}, "top": {"score": "a_score"}}
            base |= {"catalogue": {"k": 1}, "overlap": {"k": 1}}
            base |= {"rbp": {"p": 0.5}, "err": {"max": 4}}
            call = lambda a=accessor, n=name, **arguments: call_method(a, n, **arguments)  # noqa: E731
            entry_points[f"{kind}.{name}"] = call, method, base.get(name, {})
    for name in recframe.metrics.__all__:
        function = getattr(recframe.metrics, name)
        base = {key: [1, 0] for key in inspect.signature(function).parameters if key != "k"}
        taken = inspect.signature(function).parameters
        given = {"k": 1, "p": 0.5, "max": 4, "offset": 1}
        base |= {key: value for key, value in given.items() if key in taken}
        entry_points[f"metrics.{name}"] = function, function, base
    return entry_points


def base_of(entry, argument, base):
    """Return the other arguments of a call that passes a value as one of them."""
    needed = {}
    if "evaluate" in entry and argument != "metrics" and "." not in entry:
        needed["metrics"] = "recall@1"
    if entry.endswith((".summary", ".compare", ".evaluate", ".mean")) and argument != "metrics":
        needed["metrics"] = "recall@1"
    if argument in OF_TRUTH and "." not in entry.removeprefix("df.").removeprefix("ddf."):
        needed["truth"] = TRUTH
    return base | needed
