"""Synonyms: what the field and other libraries call the metrics that are here. NumPy only."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.libraries import LIBRARIES, list_names

# The field's words that are not the name of one library in `LIBRARIES`, by the name here. Names are
# compared as `find_meant` says.
SYNONYMS = {
    "precision": ("prec",),
    "recall": ("rec", "sensitivity", "tpr"),
    "r_precision": ("rp",),
    "f1": ("f", "fmeasure"),
    "hit_rate": ("hits", "hr", "hitratio", "accuracy", "acc"),
    "average_precision": ("apk", "mapk", "avgprec"),
    "ndcg": ("normalizeddiscountedcumulativegain",),
    "dcg": ("discountedcumulativegain",),
    "rbp": ("rankbiasedprecision",),
    "err": ("expectedreciprocalrank",),
    "bpref": ("binarypreference",),
    "judged": ("judgedat", "judgedrate"),
    "all_relevant": ("allrecall", "allhits", "completerecall"),
    "fall_out": ("fpr", "falsepositiverate"),
    "capped_recall": ("recallcap", "cappedr"),
    "auc": ("aucroc", "gauc"),
}
# Of the figures of `catalogue`, which are of all lists together and no metric of a user.
FIGURES = {
    "coverage": ("cataloguecoverage", "itemcoverage"),
    "gini": ("giniindex", "ginicoefficient"),
    "entropy": ("shannonentropy",),
    "personalization": ("personalisation",),
}
# Words of a name that do not tell which metric it is.
NO_NAMES = ("at", "k", "cut", "mean", "retrieval", "score", "top", "cosine", "dot")


class Meant(NamedTuple):
    """A metric, or a figure, that a label seems to mean, and its cut-off, 0 where it has none."""

    name: str
    k: int


def _plain_words(label: str) -> tuple[str, int]:
    """Return a label without case, what parts its words, those that do not tell, and its k."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label[:100])
    *words, last = re.findall(r"[a-z0-9]+", parted.lower()) or [""]
    k = int(last) if words and last.isdigit() else 0
    words = words if k else [*words, last]
    return "".join(word for word in words if word not in NO_NAMES), k


@cache  # when first a name is not known: it takes most of a millisecond
def list_meanings() -> dict[str, str]:
    """Return the metric of each plain name; names here and of the field go before a library's."""
    return _list_plain([name for name in LIBRARIES if name in DEFINITIONS], SYNONYMS)


@cache
def list_figures() -> dict[str, str]:
    """Return the figure of `catalogue` of each plain name."""
    return _list_plain(FIGURES, FIGURES)


def _list_plain(names: Iterable[str], words: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return which of these names each plain name, of the field or of a library, means."""
    meant = {name.replace("_", ""): name for name in names}
    meant |= {plain: name for name, plains in words.items() for plain in plains}
    for name in names:
        for one in (one for library in LIBRARIES[name] for one in list_names(name, library)):
            meant.setdefault(_plain_words(one.name.partition("(")[0])[0], name)
    return meant


def find_meant(label: str) -> Meant | None:
    """Return the metric that a label means by a name of the field, None where none is known."""
    return _find(label, list_meanings())


def find_figure(label: str) -> Meant | None:
    """Return the figure of `catalogue` that a label means, None where it means none."""
    return _find(label, list_figures())


def _find(label: str, meant: Mapping[str, str]) -> Meant | None:
    """Return what a label means, and its cut-off, None where it means nothing.

    The label is read as words, whatever parts them, as capitals within do; without its case, the
    words that do not tell, and a number at its end that is in no known name, which is the cut-off.
    """
    plain, k = _plain_words(label)
    if not k and plain not in meant and (found := re.fullmatch(r"(.*\D)([0-9]+)", plain)):
        plain, k = found[1], int(found[2])
    return Meant(meant[plain], k) if plain in meant else None
