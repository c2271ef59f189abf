"""Names: strings that name a metric and its cut-off, such as "recall@4". NumPy only."""

import re
import textwrap
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from numbers import Integral
from typing import Any, NamedTuple, TypeVar

import numpy as np

from recframe.errors import RecframeError, is_number, quote, shorten
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.other_names import (
    ALIASES,
    TREC_SETS,
    describe_map,
    find_near_name,
    read_synonym,
)
from recframe.metrics.recipes import Roles, find_recipe

Label = TypeVar("Label", bound=Hashable)

# The name of a column in brackets is plain or quoted. Quotes within quotes are doubled.
PLAIN = re.compile(r"""[^\s()@,='"](?:[^()@,='"]*[^\s()@,='"])?""")
QUOTED = r"""(?:"(?:[^"]|"")*"|'(?:[^']|'')*')"""
# The parts of a label: name, parameters, @, k.
LABEL = re.compile(rf"""^([^(@]*)(\((?:{QUOTED}|[^()"'])*\))?(@?)(.*)""", re.DOTALL)
NO_LISTS = (str, bytes, bytearray, Mapping)  # iterables that are no lists of values
N_NAMED = 5  # unknown metrics in a message
LINE, FOR_EACH = 79, " for each user: "  # the width of help; a metric's name and its definition
MAX_METRICS = 100_000  # an endless iterable is refused
MAX_K = 1 << 53  # hits are divided as floats, which hold every integer up to this


class Metric(NamedTuple):
    """A metric with its parameters and cut-off.

    Parameters
    ----------
    label, name : str
        The label as it was typed, such as "recall@4", "RBP(p=0.8)@10" or "mrr", and the
        metric's name in `DEFINITIONS`.
    parameters : tuple of (str, float or str)
        The parameters that were passed, in the order of the definition; the name of a column.
    k : int or None
        The cut-off, if any.
    """

    label: str
    name: str
    parameters: tuple[tuple[str, Any], ...]
    k: int | None

    @property
    def meaning(self) -> tuple[Any, ...]:
        """The name, all parameters and k, which labels of the same metric share."""
        defaults = {one.name: one.default for one in DEFINITIONS[self.name].parameters}
        return self.name, *(defaults | dict(self.parameters)).items(), self.k


def check_k(k: object) -> int:
    """Return the cut-off as an int; raise unless it is an integer from 1 to 2**53."""
    if not is_number(k, Integral) or k < 1:
        raise RecframeError(f"k must be an integer of 1 or more, but is {quote(k)}")
    if int(k) > MAX_K:
        raise RecframeError(f"k must be at most 2**53, as no ranking is longer, but is {quote(k)}")
    return int(k)


def make_metric(name: str, k: object = None, **parameters: object) -> Metric:
    """Return the metric of this name with its label; raise for an invalid value."""
    checked = _check_parameters(name, parameters)
    # repr is the shortest text that is read as the same number.
    brackets = ", ".join(f"{key}={value!r}".removesuffix(".0") for key, value in checked)
    if DEFINITIONS[name].of_column:
        brackets = _spell_column(checked[0][1])
    label = f"{name}({brackets})" if brackets else name
    cut_off = DEFINITIONS[name].cut_off
    if cut_off == "none" or (cut_off == "optional" and k is None):
        return Metric(label, name, checked, None)
    if isinstance(k, Sequence | np.ndarray) and not isinstance(k, NO_LISTS):
        several = shorten(f"evaluate(['{label}@5', '{label}@10'])")
        one = f"k must be an integer of 1 or more, but is {quote(k)}"
        raise RecframeError(f"{one}; several are asked for by {several}")
    k = check_k(k)
    if k < DEFINITIONS[name].least_k:
        raise RecframeError(f"{label}@{k}: k must be 2 or more, because {k} row has no pair")
    return Metric(f"{label}@{k}", name, checked, k)


def parse_metric(label: object) -> Metric:
    """Return the metric of a label such as "recall@4", or raise if no metric has this name."""
    if isinstance(label, Metric):
        return label
    if not isinstance(label, str):
        raise _unknown_metrics([label])
    return _parse_text(label)


@lru_cache(1 << 10)  # calls repeat the same names
def _parse_text(label: str) -> Metric:
    typed, brackets, at, k = _split_label(label)
    name = find_name(label)
    if not name:
        raise _unknown_metrics([label])
    if k and not at:
        raise RecframeError(
            f"{quote(label)}: write it as {show_name(name)}, not {quote(k)} after {typed!r}"
        )
    parameters = _parse_parameters(label, name, brackets)
    written = typed if brackets is None else shorten(f"{typed}({brackets})")
    cut_off = DEFINITIONS[name].cut_off
    if at and cut_off == "none":
        raise RecframeError(f"{quote(label)}: {name} takes no cut-off. Pass {written!r}.")
    if not at and cut_off != "needed":
        metric = make_metric(name, **parameters)
        return metric._replace(label=typed + metric.label.removeprefix(name))
    if not re.fullmatch(r"[1-9][0-9]*", k):
        found = f"but has {quote(k)}" if at else "but has none"
        needs = "needs a cut-off" if cut_off == "needed" else "takes a cut-off after its @"
        raise RecframeError(
            f"{quote(label)}: {name} {needs}, an integer of 1 or more as in '{written}@10', {found}"
        )
    if len(k) > len(str(MAX_K)):  # Python refuses to read thousands of digits
        raise RecframeError(f"{quote(label)}: k must be at most 2**53, as no ranking is longer")
    metric = make_metric(name, int(k), **parameters)
    written = f"({brackets})@{k}" if "column" in parameters else metric.label.removeprefix(name)
    return metric._replace(label=typed + written)


def _unknown_metrics(labels: list[object], find_roles: Roles = dict) -> RecframeError:
    """Return the error for labels that name no metric."""
    named = " and ".join(
        f"{quote(label)}{_suggest(label, find_roles)}" for label in labels[:N_NAMED]
    )
    more = f" and {len(labels) - N_NAMED:,} more" if len(labels) > N_NAMED else ""
    unknown = f"unknown metric{'s' * (len(labels) > 1)} {named}{more}"
    return RecframeError(
        f"{unknown}; metrics are {list_names()}".replace("\n; ", "\n").replace("?; m", "? M")
    )


def find_name(label: object) -> str:
    """Return the name in `DEFINITIONS` that a label begins with, "" for none."""
    typed, _, at, _ = _split_label(label)
    name = typed.lower()
    name = ALIASES.get(name + at, name)
    return name if name in DEFINITIONS else ""


def parse_name(label: object) -> str:
    """Return the name of a label that has no cut-off yet, "" for none."""
    _, _, at, k = _split_label(label)
    return find_name(f"{label}@") if isinstance(label, str) and not (at or k) else ""


def find_map_at(label: object) -> str:
    """Return the cut-off of a label such as "map@10" or "mapk" ("k"), "" for any other label.

    Libraries divide this metric by R or by min(R, k). `map_cut_10` is a name of trec_eval alone.
    """
    synonym = read_synonym(label) if isinstance(label, str) and not find_name(label) else None
    if synonym is None or synonym.name != "average_precision" or "cut" in str(label):
        return ""
    is_at_k = re.search(r"(k|at)\W*$", str(label).lower())
    return str(synonym.k or "") or ("k" if is_at_k else "")


def settle_map(label: Any, map_at_k: str) -> Any:
    """Return the label of the metric `map_at_k` for a label such as "map@10"; others stay."""
    cut_off = find_map_at(label) if map_at_k else ""
    return f"{map_at_k}@{cut_off}" if cut_off else label


def find_alike(labels: Iterable[Label]) -> dict[Label, Label]:
    """Return for each label the first label of the same metric; for no metric, the label itself."""
    first: dict[Hashable, Label] = {}
    return {label: first.setdefault(_resolve_label(label), label) for label in labels}


def _resolve_label(label: Hashable) -> Hashable:
    """Return the meaning of a metric's label; any other label is returned as it is."""
    try:
        return parse_metric(label).meaning if find_name(label) else label
    except RecframeError:
        return label


def is_metric(label: Hashable) -> bool:
    """Return whether a label names a metric."""
    return _resolve_label(label) is not label


def is_share(label: object) -> bool:
    """Return whether a metric is between 0 and 1 by its definition."""
    return bool(getattr(DEFINITIONS.get(find_name(label)), "is_bounded", False))


def parse_metrics(
    labels: str | Iterable[str], map_at_k: str = "", find_roles: Roles = dict
) -> list[Metric]:
    """Return the metrics that labels name; raise for no metric and for a repeated one.

    Labels such as "map@10" name the metric `map_at_k`, or are refused without it. Refusals have
    lines of pandas with the columns that `find_roles` returns.
    """
    required = "a name such as 'recall@4' or a list of names"
    several = [labels] if isinstance(labels, str) else list_values("metrics", required, labels)
    several = [settle_map(label, map_at_k) for label in several]
    unknown = [one for one in several if not isinstance(one, Metric) and not find_name(one)]
    if unknown:
        raise _unknown_metrics(unknown, find_roles)
    metrics = [parse_metric(label) for label in several]
    if not metrics:
        raise RecframeError(f"metrics must name at least one metric: {list_names()}")
    first: dict[Hashable, str] = {}
    for label, meaning in [(metric.label, metric.meaning) for metric in metrics]:
        if meaning in first:
            same = "" if first[meaning] == label else f", which is {quote(first[meaning])},"
            raise RecframeError(
                f"metrics must differ, but have {quote(label)}{same} more than once"
            )
        first[meaning] = label
    return metrics


def list_values(name: str, required: str, values: Any) -> list[Any]:
    """Return the values of any iterable as a list; raise for other objects."""
    try:  # an object with `__iter__` may still fail to iterate
        listed = None if isinstance(values, NO_LISTS) else list(islice(values, MAX_METRICS + 1))
    except TypeError:
        listed = None
    if listed is None:
        raise RecframeError(f"{name} must be {required}, but is {quote(values)}")
    if len(listed) > MAX_METRICS:
        raise RecframeError(
            f"{name} must hold at most {MAX_METRICS:,}, but holds more. Pass fewer."
        )
    return listed


def _split_label(label: object) -> tuple[str, str | None, str, str]:
    """Return the name, the parameters, the @ and the cut-off of a label as typed."""
    ((name, brackets, at, k),) = LABEL.findall(label if isinstance(label, str) else "")
    return name, brackets[1:-1].strip() if brackets else None, at, k


def _parse_parameters(label: str, name: str, brackets: str | None) -> dict[str, object]:
    """Return the parameters in brackets, numbers as floats, or the column."""
    if example := DEFINITIONS[name].of_column:
        column = brackets or ""
        if PLAIN.fullmatch(column):
            return {"column": column}
        if len(column) > 2 and re.fullmatch(QUOTED, column):
            return {"column": column[1:-1].replace(2 * column[0], column[0])}
        raise RecframeError(
            f"{quote(label)}: {name} takes the name of a column, in quotes if that has brackets, "
            f"commas, quotes, @ or =, as in {name}({_spell_column(column or example)})@10, "
            f"{f'not {quote(column)}' if column else 'but has none'}"
        )
    parameters: dict[str, object] = {}
    for part in [] if brackets is None else brackets.split(","):
        key, _, text = map(str.strip, part.partition("="))
        if key in parameters:
            raise RecframeError(
                f"{quote(label)}: {key} must be given once, but is {quote(brackets)}"
            )
        try:
            parameters[key] = float(text)
        except ValueError:
            parameters[key] = text
    return parameters


def _check_parameters(name: str, parameters: Mapping[str, object]) -> tuple[tuple[str, Any], ...]:
    """Return the parameters in the order of the definition; raise for an invalid one."""
    if DEFINITIONS[name].of_column:
        return tuple(parameters.items())
    known = DEFINITIONS[name].parameters
    ranges = {key: f"{key}, a number in [{low:g}, {high:g})" for key, low, high, *_ in known}
    for key in sorted(parameters.keys() - ranges):
        taken = " and ".join(ranges.values()) or "no parameters"
        raise RecframeError(f"{show_name(name)} takes {taken}, not {quote(key)}")
    checked = []
    for key, low, high, _, default in known:
        value: Any = parameters.get(key)
        if is_number(value) and low <= value < high:
            checked.append((key, float(value)))
        elif value is not None or default is None:
            found = "but has none" if value is None else f"not {key}={quote(value)}"
            raise RecframeError(f"{show_name(name)} takes {ranges[key]}, {found}")
    return tuple(checked)


def _suggest(label: object, find_roles: Roles) -> str:
    """Return a question with the metric most like the label, a line of pandas, or ""."""
    name, typed, _, k = _split_label(label)
    if isinstance(label, str) and (recipe := find_recipe(label, find_roles)):
        return recipe
    if isinstance(label, str) and label in TREC_SETS:
        return ", a group of trec_eval's metrics (name each one, as 'map' or 'precision@5')"
    if at_k := find_map_at(label):
        return f", did you mean {describe_map(at_k)}?"
    near = find_near_name(name.lower().replace("-", "_"), DEFINITIONS)
    synonym = read_synonym(label) if isinstance(label, str) else None
    if synonym is not None:
        near, k = [synonym.name], str(synonym.k or "")
    if not near:
        return ""
    cut_off = DEFINITIONS[near[0]].cut_off
    takes_typed = typed and (DEFINITIONS[near[0]].parameters or DEFINITIONS[near[0]].of_column)
    brackets = f"({typed})" if takes_typed else required_parameters(near[0])
    has_k = k.isdigit() and cut_off != "none"
    ending = f"@{k}" if has_k else "@k" if cut_off == "needed" else ""
    return f", did you mean '{shorten(near[0] + brackets + ending)}'?"


def _spell_column(name: str) -> str:
    """Return the name of a column as it is written in the brackets of a label."""
    if PLAIN.fullmatch(name):
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def describe_metrics() -> str:
    """Return a line or two for each metric: its name and its definition."""
    lines = [(show_name(name), define(name)) for name in DEFINITIONS]
    width = max(len(name) for name, _ in lines) + 4
    lay_out = partial(textwrap.fill, width=LINE, subsequent_indent=" " * width)
    head = "metrics of each user; hits@k are relevant rows up to k, R all relevant items:"
    texts = [lay_out(f"  {name}".ljust(width) + text) for name, text in lines]
    return "\n".join([head, *texts])


def define(name: str) -> str:
    """Return the definition of a metric in one line."""
    text = DEFINITIONS[name].formula.__doc__ or "Return (python -OO leaves definitions out)"
    return text.strip().splitlines()[0].removeprefix("Return ").replace(FOR_EACH, " = ").rstrip(".")


def list_names() -> str:
    """Return the names of all metrics with commas."""
    return ", ".join(map(show_name, DEFINITIONS))


def show_name(name: str) -> str:
    """Return a metric's name, its required parameters and its cut-off, in brackets if optional."""
    at = {"needed": "@k", "optional": "[@k]", "none": ""}[DEFINITIONS[name].cut_off]
    return f"{name}{required_parameters(name)}{at}"


def required_parameters(name: str) -> str:
    """Return the required parameters of a metric in brackets, or ""."""
    if DEFINITIONS[name].of_column:
        return "(COLUMN)"
    keys = [f"{one.name}=…" for one in DEFINITIONS[name].parameters if one.default is None]
    return f"({', '.join(keys)})" if keys else ""
