"""Synonyms: what the field and other libraries call the metrics that are here. NumPy only."""

import re
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
# Words of a name that do not tell which metric it is.
NO_NAMES = ("at", "k", "cut", "mean", "retrieval", "score", "top", "cosine", "dot")


class Meant(NamedTuple):
    """A metric that a label seems to mean, and its cut-off, 0 where it has none."""

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
    of_users = {name: row for name, row in LIBRARIES.items() if name in DEFINITIONS}
    meant = {name.replace("_", ""): name for name in of_users}
    meant |= {plain: name for name, plains in SYNONYMS.items() for plain in plains}
    for name, row in of_users.items():
        for one in (one for library in row for one in list_names(name, library)):
            meant.setdefault(_plain_words(one.name.partition("(")[0])[0], name)
    return meant


def find_meant(label: str) -> Meant | None:
    """Return the metric that a label means by a name of the field, None where none is known.

    The label is read as words, whatever parts them, as capitals within do; without its case, the
    words that do not tell, and a number at its end, which is the cut-off.
    """
    meant = list_meanings()
    plain, k = _plain_words(label)
    if not k and plain not in meant and (found := re.fullmatch(r"(.*\D)([0-9]+)", plain)):
        plain, k = found[1], int(found[2])
    return Meant(meant[plain], k) if plain in meant else None
