"""Synonyms: what the field and other libraries call the metrics that are here. NumPy only."""

import re
from collections.abc import Container
from typing import NamedTuple

# By the name here. Names are compared as `find_meant` says; that of a library is here where the
# metric is the same or, of several by that name, the nearest.
SYNONYMS = {
    "precision": ("p", "prec"),
    "recall": ("r", "rec", "sensitivity", "tpr"),
    "r_precision": ("rprec", "rp"),
    "f1": ("f", "fmeasure", "f1beta"),
    "hit_rate": ("hit", "hits", "hr", "hitratio", "success", "accuracy", "acc"),
    "reciprocal_rank": ("rr", "mrr", "reciprank"),
    "average_precision": ("ap", "map", "apk", "mapk", "avgprec"),
    "ndcg": ("normalizeddcg", "normalizeddiscountedcumulativegain"),
    "dcg": ("discountedcumulativegain",),
    "rbp": ("rankbiasedprecision",),
    "err": ("expectedreciprocalrank",),
    "bpref": ("binarypreference",),
    "judged": ("judgedat", "judgedrate"),
    "all_relevant": ("allrecall", "allhits", "completerecall"),
    "fall_out": ("fpr", "falsepositiverate"),
    "capped_recall": ("rcap", "recallcap", "cappedr"),
    "auc": ("rocauc", "auroc", "aucroc", "gauc"),
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
MEANT = {plain: name for name, plains in SYNONYMS.items() for plain in plains}
MEANT |= {name.replace("_", ""): name for name in SYNONYMS}
OF_CATALOGUE = {plain: name for name, plains in FIGURES.items() for plain in (name, *plains)}


class Meant(NamedTuple):
    """A metric, or a figure, that a label seems to mean, and its cut-off, 0 where it has none."""

    name: str
    k: int


def find_meant(label: str) -> Meant | None:
    """Return the metric that a label means by a name of the field, None where none is known."""
    plain, k = _read(label, MEANT)
    return Meant(MEANT[plain], k) if plain in MEANT else None


def find_figure(label: str) -> Meant | None:
    """Return the figure of `catalogue` that a label means, None where it means none."""
    plain, k = _read(label, OF_CATALOGUE)
    return Meant(OF_CATALOGUE[plain], k) if plain in OF_CATALOGUE else None


def _read(label: str, known: Container[str]) -> tuple[str, int]:
    """Return a label's name, plainly, and its cut-off, 0 where it has none.

    The label is read as words, whatever parts them, as capitals within do; without its case, the
    words that do not tell, and a number at its end that is in no known name, which is the cut-off.
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label[:100])
    *words, last = re.findall(r"[a-z0-9]+", parted.lower()) or [""]
    k = int(last) if words and last.isdigit() else 0
    words = words if k else [*words, last]
    plain = "".join(word for word in words if word not in NO_NAMES)
    if not k and plain not in known and (found := re.fullmatch(r"(.*\D)([0-9]+)", plain)):
        plain, k = found[1], int(found[2])
    return plain, k
