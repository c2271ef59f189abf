"""Names: the one string that names a metric and its cut-off, the same everywhere. NumPy only."""

import re
import textwrap
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from numbers import Integral
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from recframe.errors import RecframeError, find_near, is_number, quote, shorten
from recframe.metrics.definitions import DEFINITIONS

Label = TypeVar("Label", bound=Hashable)

# Of a column in brackets: plain, or in quotes, which are doubled inside.
PLAIN = re.compile(r"""[^\s()@,='"](?:[^()@,='"]*[^\s()@,='"])?""")
QUOTED = r"""(?:"(?:[^"]|"")*"|'(?:[^']|'')*')"""
# Name, parameters, @, k.
LABEL = re.compile(rf"""^([^(@]*)(\((?:{QUOTED}|[^()"'])*\))?(@?)(.*)""", re.DOTALL)
NO_LISTS = (str, bytes, bytearray, Mapping)  # whose members are not what was meant
N_NAMED = 5  # unknown metrics in a message
LINE, OF_EACH = 79, " of every user."  # of definitions, which all end so
MAX_METRICS = 100_000  # at a time, for names without end to be refused
MAX_K = 1 << 53  # up to which floats, by which hits are divided, hold every integer


class Metric(NamedTuple):
    """A metric as asked for.

    Parameters
    ----------
    label, name : str
        The string that names it whole, as "recall@4", "RBP(p=0.8)@10" or "mrr", as it was typed,
        and its name here alone.
    parameters : tuple of (str, float or str)
        The parameters that were given, in the order of its definition; of a metric of a column
        its name.
    k : int or None
        Its cut-off, None where it has none.
    """

    label: str
    name: str
    parameters: tuple[tuple[str, Any], ...]
    k: int | None

    @property
    def meaning(self) -> tuple[Any, ...]:
        """What it is, by whatever label: parameters that were not given have their defaults."""
        own = {one.name: one.default for one in DEFINITIONS[self.name].parameters}
        return self.name, *(own | dict(self.parameters)).items(), self.k


def check_k(k: object) -> int:
    """Return the cut-off as an int, or raise `RecframeError` unless it is one from 1 to 2**53."""
    if not is_number(k, Integral) or k < 1:
        raise RecframeError(f"k must be an integer of 1 or more, found {quote(k)}")
    if int(k) > MAX_K:
        raise RecframeError(f"k must be at most 2**53, as no ranking is longer, found {quote(k)}")
    return int(k)


def make_metric(name: str, k: object = None, **parameters: object) -> Metric:
    """Return the metric of this name, labelled, or raise `RecframeError` for a value not valid."""
    checked = _check_parameters(name, parameters)
    # The shortest texts that are read as the same numbers.
    given = ", ".join(f"{key}={value!r}".removesuffix(".0") for key, value in checked)
    if DEFINITIONS[name].of_column:
        given = _spell_column(checked[0][1])
    label = f"{name}({given})" if given else name
    cut_off = DEFINITIONS[name].cut_off
    if cut_off == "none" or (cut_off == "optional" and k is None):
        return Metric(label, name, checked, None)
    if isinstance(k, Sequence | np.ndarray) and not isinstance(k, NO_LISTS):
        several = shorten(f"evaluate(['{label}@5', '{label}@10'])")
        one = f"k must be an integer of 1 or more, found {quote(k)}"
        raise RecframeError(f"{one}; several are asked for by {several}")
    k = check_k(k)
    return Metric(f"{label}@{k}", name, checked, k)


def parse_metric(label: object) -> Metric:
    """Return the metric a label such as "recall@4" names, or raise `RecframeError`."""
    if isinstance(label, Metric):
        return label
    if not isinstance(label, str):
        raise _unknown_error([label])
    return _parse_text(label)


@lru_cache(1 << 10)  # names of metrics, which are asked for again and again
def _parse_text(label: str) -> Metric:
    typed, given, at, k = _parts(label)
    name = find_name(label)
    if not name:
        raise _unknown_error([label])
    if k and not at:
        raise RecframeError(
            f"{quote(label)}: write it as {show_name(name)}, found {quote(k)} after {typed!r}"
        )
    parameters = _parse_parameters(label, name, given)
    written = typed if given is None else shorten(f"{typed}({given})")
    cut_off = DEFINITIONS[name].cut_off
    if at and cut_off == "none":
        raise RecframeError(f"{quote(label)}: {name} takes no cut-off, pass {written!r}")
    if not at and cut_off != "needed":
        metric = make_metric(name, **parameters)
        return metric._replace(label=typed + metric.label.removeprefix(name))
    if not re.fullmatch(r"[1-9][0-9]*", k):
        found = f"found {quote(k)}" if at else "found none"
        needs = "needs a cut-off" if cut_off == "needed" else "takes a cut-off after its @"
        raise RecframeError(
            f"{quote(label)}: {name} {needs}, an integer of 1 or more as in '{written}@10', {found}"
        )
    if len(k) > len(str(MAX_K)):  # Python does not even read thousands of digits
        raise RecframeError(f"{quote(label)}: k must be at most 2**53, as no ranking is longer")
    metric = make_metric(name, int(k), **parameters)
    written = f"({given})@{k}" if "column" in parameters else metric.label.removeprefix(name)
    return metric._replace(label=typed + written)


def _unknown_error(labels: list[object]) -> RecframeError:
    """Return the error for labels that name no metric."""
    named = " and ".join(f"{quote(label)}{_suggestion(label)}" for label in labels[:N_NAMED])
    more = f" and {len(labels) - N_NAMED:,} more" if len(labels) > N_NAMED else ""
    unknown = f"unknown metric{'s' * (len(labels) > 1)} {named}{more}"
    return RecframeError(f"{unknown}; metrics are {list_names()}")


def find_name(label: object) -> str:
    """Return the name here of the metric that a label begins with, "" where that is none."""
    typed, _, at, _ = _parts(label)
    name = typed.lower()
    name = ALIASES.get(name + at, name)
    return name if name in DEFINITIONS else ""


def parse_name(label: object) -> str:
    """Return the name here of a label to which a cut-off is added, "" where it has one."""
    _, _, at, k = _parts(label)
    return find_name(f"{label}@") if isinstance(label, str) and not (at or k) else ""


def find_alike(labels: Iterable[Label]) -> dict[Label, Label]:
    """Return the first of the labels that means the same metric as each; its own of no metric."""
    first: dict[Hashable, Label] = {}
    return {label: first.setdefault(_find_meaning(label), label) for label in labels}


def _find_meaning(label: Hashable) -> Hashable:
    """Return what a label means, itself where it is of a column of somebody's own."""
    try:
        return parse_metric(label).meaning if find_name(label) else label
    except RecframeError:
        return label


def is_metric(label: Hashable) -> bool:
    """Return whether a label is that of a metric."""
    return _find_meaning(label) is not label


def parse_metrics(labels: str | Iterable[str]) -> list[Metric]:
    """Return the metrics that labels name, or raise `RecframeError` for none or a repeated one."""
    required = "a name such as 'recall@4' or a list of names"
    given = [labels] if isinstance(labels, str) else list_given("metrics", required, labels)
    try:
        metrics = [parse_metric(label) for label in given]
    except RecframeError:
        unknown = [one for one in given if not isinstance(one, Metric) and not find_name(one)]
        if len(unknown) > 1:
            raise _unknown_error(unknown) from None
        raise
    if not metrics:
        raise RecframeError(f"metrics must name at least one metric: {list_names()}")
    first: dict[Hashable, str] = {}
    for label, meaning in [(metric.label, metric.meaning) for metric in metrics]:
        if meaning in first:
            same = "" if first[meaning] == label else f", which is {quote(first[meaning])},"
            raise RecframeError(f"metrics must differ, found {quote(label)}{same} more than once")
        first[meaning] = label
    return metrics


def list_given(name: str, required: str, values: Any) -> list[Any]:
    """Return what an argument holds that may be any iterable, or raise where it is none."""
    try:  # what says that it can be iterated over may not be
        given = None if isinstance(values, NO_LISTS) else list(islice(values, MAX_METRICS + 1))
    except TypeError:
        given = None
    if given is None:
        raise RecframeError(f"{name} must be {required}, found {quote(values)}")
    if len(given) > MAX_METRICS:
        raise RecframeError(f"{name} must hold at most {MAX_METRICS:,}, found more; pass fewer")
    return given


def _parts(label: object) -> tuple[str, str | None, str, str]:
    """Return the name, the parameters, the @ and the cut-off of a label, as they are written."""
    ((name, brackets, at, k),) = LABEL.findall(label if isinstance(label, str) else "")
    return name, brackets[1:-1].strip() if brackets else None, at, k


def _parse_parameters(label: str, name: str, given: str | None) -> dict[str, object]:
    """Return what is written in brackets: a column, or parameters, as numbers where they are."""
    if DEFINITIONS[name].of_column:
        column = given or ""
        if PLAIN.fullmatch(column):
            return {"column": column}
        if len(column) > 2 and re.fullmatch(QUOTED, column):
            return {"column": column[1:-1].replace(2 * column[0], column[0])}
        raise RecframeError(
            f"{quote(label)}: {name} takes the name of a column, in quotes where that has "
            "brackets, commas, quotes, @ or =, as in "
            f"{name}({_spell_column(column or 'price')})@10, found {quote(column or 'none')}"
        )
    parameters: dict[str, object] = {}
    for part in [] if given is None else given.split(","):
        key, _, text = map(str.strip, part.partition("="))
        if key in parameters:
            raise RecframeError(f"{quote(label)}: {key} must be given once, found {quote(given)}")
        try:
            parameters[key] = float(text)
        except ValueError:
            parameters[key] = text
    return parameters


def _check_parameters(name: str, given: Mapping[str, object]) -> tuple[tuple[str, Any], ...]:
    """Return the parameters given in the order of the definition, or raise."""
    if DEFINITIONS[name].of_column:
        return tuple(given.items())
    parameters = DEFINITIONS[name].parameters
    ranges = {key: f"{key}, a number in [{low:g}, {high:g})" for key, low, high, *_ in parameters}
    for key in sorted(given.keys() - ranges):
        taken = " and ".join(ranges.values()) or "no parameters"
        raise RecframeError(f"{show_name(name)} takes {taken}, found {quote(key)}")
    checked = []
    for key, low, high, _, default in parameters:
        value: Any = given.get(key)
        if is_number(value) and low <= value < high:
            checked.append((key, float(value)))
        elif value is not None or default is None:
            found = "none" if value is None else f"{key}={quote(value)}"
            raise RecframeError(f"{show_name(name)} takes {ranges[key]}, found {found}")
    return tuple(checked)


def _suggestion(label: object) -> str:
    """Return a question naming the metric most like the label, or nothing."""
    name, given, _, k = _parts(label)
    if isinstance(label, str) and (figure := find_meant(label, FIGURES)):
        call = f"catalogue(k={figure.k or 10})"
        return (
            f", a figure of all lists together: {call} has it as '{figure.name}@{figure.k or 10}'"
        )
    near = find_near(name.lower().replace("-", "_"), DEFINITIONS)
    meant = find_meant(label) if isinstance(label, str) else None
    if meant is not None:
        near, k = [meant.name], str(meant.k or "")
    if not near:
        return ""
    cut_off = DEFINITIONS[near[0]].cut_off
    takes_given = given and (DEFINITIONS[near[0]].parameters or DEFINITIONS[near[0]].of_column)
    brackets = f"({given})" if takes_given else required_parameters(near[0])
    is_given = k.isdigit() and cut_off != "none"
    ending = f"@{k}" if is_given else "@k" if cut_off == "needed" else ""
    return f", did you mean '{shorten(near[0] + brackets + ending)}'?"


def _spell_column(name: str) -> str:
    """Return the name of a column as it is written in brackets."""
    if PLAIN.fullmatch(name):
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def describe_metrics() -> str:
    """Return a line on each metric, or two: its name and its definition."""
    lines = [(show_name(name), define(name)) for name in DEFINITIONS]
    width = max(len(name) for name, _ in lines) + 4
    lay_out = partial(textwrap.fill, width=LINE, subsequent_indent=" " * width)
    head = "metrics of every user; hits@k are relevant rows up to k, R all relevant items:"
    texts = [lay_out(f"  {name}".ljust(width) + text) for name, text in lines]
    return "\n".join([head, *texts])


def define(name: str) -> str:
    """Return the definition of a metric in a line."""
    text = DEFINITIONS[name].formula.__doc__ or "Return (python -OO leaves definitions out)"
    return text.strip().splitlines()[0].removeprefix("Return ").removesuffix(OF_EACH).rstrip(",")


def list_names() -> str:
    """Return the names of all metrics as a sentence part."""
    return ", ".join(map(show_name, DEFINITIONS))


def show_name(name: str) -> str:
    """Return a metric's name with what must be given, and its cut-off, in brackets if it may be."""
    at = {"needed": "@k", "optional": "[@k]", "none": ""}[DEFINITIONS[name].cut_off]
    return f"{name}{required_parameters(name)}{at}"


def required_parameters(name: str) -> str:
    """Return what a metric must be given in brackets, with these, or nothing."""
    if DEFINITIONS[name].of_column:
        return "(COLUMN)"
    keys = [f"{one.name}=…" for one in DEFINITIONS[name].parameters if one.default is None]
    return f"({', '.join(keys)})" if keys else ""


# Other names of metrics, read as `find_meant` says. Where a library means another metric by one of
# them than most of the field, the field's meaning counts.
SYNONYMS = {
    "precision": ("prec", "p"),
    "recall": ("rec", "r", "sensitivity", "tpr"),
    "r_precision": ("rp", "rprec"),
    "f1": ("f", "fmeasure", "fbeta", "f1beta"),
    "hit_rate": ("hit", "hits", "hr", "hitratio", "success", "accuracy", "acc"),
    "all_relevant": ("allrecall", "allhits", "completerecall"),
    "reciprocal_rank": ("rr", "mrr", "reciprank"),
    "average_precision": ("ap", "apk", "map", "mapk", "avgprec"),
    "ndcg": ("ndcgburges", "normalizeddcg", "normalizeddiscountedcumulativegain"),
    "dcg": ("dcgburges", "discountedcumulativegain"),
    "rbp": ("rankbiasedprecision",),
    "err": ("expectedreciprocalrank",),
    "bpref": ("binarypreference",),
    "judged": ("judgedat", "judgedrate"),
    "fall_out": ("fpr", "falsepositiverate"),
    "capped_recall": ("recallcap", "rcap", "cappedr"),
    "auc": ("aucroc", "rocauc", "auroc", "gauc"),
}
# Those that are taken, with @ where a cut-off follows. Others are refused with what they seem to
# mean, as `map@10` is: libraries divide it by R, min(R, 10) or hits@10.
ALIASES = {
    "p@": "precision",
    "r@": "recall",
    "rprec": "r_precision",
    "hr@": "hit_rate",
    "success@": "hit_rate",
    "mrr": "reciprocal_rank",
    "mrr@": "reciprocal_rank",
    "rr": "reciprocal_rank",
    "rr@": "reciprocal_rank",
    "map": "average_precision",
}
# Of the figures of `catalogue`, which are of all lists together and no metric of a user.
FIGURES = {
    "coverage": ("cataloguecoverage", "catalogcoverage", "itemcoverage"),
    "gini": ("giniindex", "ginicoefficient", "exposuregini"),
    "entropy": ("shannonentropy", "distributionalcoverage"),
    "personalization": ("personalisation",),
}
# Words of a name that do not tell which metric it is.
NO_NAMES = ("at", "k", "cut", "mean", "retrieval", "score", "top", "cosine", "dot")


class Meant(NamedTuple):
    """A metric, or a figure, that a label seems to mean, and its cut-off, 0 where it has none."""

    name: str
    k: int


def find_meant(
    label: str, synonyms: Mapping[str, tuple[str, ...]] = MappingProxyType(SYNONYMS)
) -> Meant | None:
    """Return the metric that a label means by a name of the field, None where none is known.

    The label is read as words, whatever parts them, as capitals within do; without its case, the
    words that do not tell, and a number at its end that is in no known name, which is the cut-off.
    """
    meant = {name.replace("_", ""): name for name in synonyms}
    meant |= {plain: name for name, plains in synonyms.items() for plain in plains}
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label[:100])
    *words, last = re.findall(r"[a-z0-9]+", parted.lower()) or [""]
    k = int(last) if words and last.isdigit() else 0
    plain = "".join(word for word in [*words, *([] if k else [last])] if word not in NO_NAMES)
    if not k and plain not in meant and (found := re.fullmatch(r"(.*\D)([0-9]+)", plain)):
        plain, k = found[1], int(found[2])
    return Meant(meant[plain], k) if plain in meant else None
