"""Synonyms: what the field and other libraries call the metrics that are here. NumPy only."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

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
    "coverage": ("catalogcoverage", "cataloguecoverage", "itemcoverage"),
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
    """Return the metric of each plain name."""
    return _list_plain_names([name for name in LIBRARIES if name not in FIGURES], SYNONYMS)


@cache
def list_figures() -> dict[str, str]:
    """Return the figure of `catalogue` of each plain name."""
    return _list_plain_names(FIGURES, FIGURES)


def _list_plain_names(names: Iterable[str], words: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return what each plain name stands for; names here and of the field go before a library's."""
    plain_names = {name.replace("_", ""): name for name in names}
    plain_names |= {plain: name for name, plains in words.items() for plain in plains}
    for name in list(dict.fromkeys(plain_names.values())):
        for one in (one for library in LIBRARIES[name] for one in list_names(name, library)):
            plain_names.setdefault(_plain_words(one.name.partition("(")[0])[0], name)
    return plain_names


def find_meant(label: str) -> Meant | None:
    """Return the metric that a label means by a name of the field, None where none is known."""
    return _find(label, list_meanings())


def find_figure(label: str) -> Meant | None:
    """Return the figure of `catalogue` that a label means, None where it means none."""
    return _find(label, list_figures())


def _find(label: str, known: Mapping[str, str]) -> Meant | None:
    """Return what a label means by a known name, None where it means none.

    The label is read as words, whatever parts them, as capitals within do; without its case, the
    words that do not tell, and a number at its end that is in no known name, which is the cut-off.
    """
    plain, k = _plain_words(label)
    if not k and plain not in known and (found := re.fullmatch(r"(.*\D)([0-9]+)", plain)):
        plain, k = found[1], int(found[2])
    return Meant(known[plain], k) if plain in known else None
