"""Labels: the one string that names a metric and its cut-off, the same everywhere. NumPy only."""

import difflib
import re
from collections.abc import Iterable
from numbers import Integral
from typing import NamedTuple

import numpy as np

from recframe.errors import RecframeError
from recframe.metrics.definitions import DEFINITIONS


class Metric(NamedTuple):
    """A metric as asked for: its label, its name and its cut-off (None where it has none)."""

    label: str
    name: str
    k: int | None


def check_k(k: object) -> int:
    """Return the cut-off as an int, or raise `RecframeError` unless it is an integer >= 1."""
    if isinstance(k, bool | np.bool_) or not isinstance(k, Integral) or k < 1:
        raise RecframeError(f"k must be an integer of 1 or more, found {k!r}")
    return int(k)


def make_metric(name: str, k: object = None) -> Metric:
    """Return the metric of this name, labelled; raise `RecframeError` where k is not valid."""
    cut_off = DEFINITIONS[name].cut_off
    if cut_off == "none" or (cut_off == "optional" and k is None):
        return Metric(name, name, None)
    k = check_k(k)
    return Metric(f"{name}@{k}", name, k)


def parse_metric(label: object) -> Metric:
    """Return the metric a label such as "recall@4" names, or raise `RecframeError`."""
    if isinstance(label, Metric):
        return label
    name, at, k = label.partition("@") if isinstance(label, str) else ("", "", "")
    if name not in DEFINITIONS:
        raise RecframeError(
            f"unknown metric {label!r}{_suggestion(label)}; metrics are {_metric_names()}"
        )
    cut_off = DEFINITIONS[name].cut_off
    if at and cut_off == "none":
        raise RecframeError(f"{label!r}: {name} takes no cut-off, pass {name!r}")
    if not at and cut_off != "needed":
        return make_metric(name)
    if not re.fullmatch(r"[1-9][0-9]*", k):
        found = f"found {k!r}" if at else "found none"
        needs = "needs a cut-off" if cut_off == "needed" else "takes a cut-off after its @"
        raise RecframeError(
            f"{label!r}: {name} {needs}, an integer of 1 or more as in '{name}@10', {found}"
        )
    return make_metric(name, int(k))


def parse_metrics(labels: str | Iterable[str]) -> list[Metric]:
    """Return the metrics that labels name, or raise `RecframeError` for none or a repeated one."""
    if isinstance(labels, str):
        labels = [labels]
    elif not isinstance(labels, Iterable):
        raise RecframeError(
            f"metrics must be a name such as 'recall@4' or a list of names, found {labels!r}"
        )
    metrics = [parse_metric(label) for label in labels]
    if not metrics:
        raise RecframeError(f"metrics must name at least one metric: {_metric_names()}")
    seen: set[str] = set()
    for metric in metrics:
        if metric.label in seen:
            raise RecframeError(f"metrics must differ, found {metric.label!r} more than once")
        seen.add(metric.label)
    return metrics


def describe_metrics() -> str:
    """Return a line on each metric: its name and its definition."""
    lines = [
        (_shown(name), (definition.formula.__doc__ or "").splitlines()[0])
        for name, definition in DEFINITIONS.items()
    ]
    width = max(len(name) for name, _ in lines)
    texts = [f"  {name:{width}}  {line.removeprefix('Return ')}" for name, line in lines]
    return "\n".join(["metrics, with hits@c the relevant rows among the first c:", *texts])


def _metric_names() -> str:
    """Return the names of all metrics as a sentence part."""
    return ", ".join(map(_shown, DEFINITIONS))


def _shown(name: str) -> str:
    """Return the name of a metric with its cut-off, in brackets where it can be left out."""
    return name + {"needed": "@k", "optional": "[@k]", "none": ""}[DEFINITIONS[name].cut_off]


def _suggestion(label: object) -> str:
    """Return a question naming the metric most like the label, or nothing."""
    if not isinstance(label, str):
        return ""
    name, _, k = label.partition("@")
    near = difflib.get_close_matches(name.lower().replace("-", "_"), DEFINITIONS, n=1)
    if not near:
        return ""
    cut_off = DEFINITIONS[near[0]].cut_off
    is_given = k.isdigit() and cut_off != "none"
    ending = f"@{k}" if is_given else "@k" if cut_off == "needed" else ""
    return f", did you mean '{near[0]}{ending}'?"
