"""Other names of metrics, in the field and in libraries, and which metrics they mean."""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from recframe.errors import MISSPELT, find_near

# Other names of metrics, as `read_synonym` reads them. Where a library disagrees with most of the
# field about a name, the field's meaning counts.
SYNONYMS = {
    "precision": ("prec", "p"),
    "recall": ("rec", "r", "sensitivity", "tpr", "contextrecall"),
    "r_precision": ("rp", "rprec"),
    "f1": ("f", "fmeasure", "f1beta"),
    "hit_rate": ("hit", "hits", "hr", "hitratio", "success", "accuracy", "acc"),
    "all_relevant": ("allrecall", "allhits", "completerecall"),
    "reciprocal_rank": ("rr", "mrr", "reciprank"),
    "capped_average_precision": ("cappedap", "cappedmap", "truncaverageprecision"),
    "average_precision": ("ap", "apk", "map", "mapk", "avgprec", "contextprecision"),
    "ndcg": ("ndcgburges", "normalizeddcg", "normalizeddiscountedcumulativegain"),
    "dcg": ("dcgburges", "discountedcumulativegain"),
    "rbp": ("rankbiasedprecision",),
    "err": ("expectedreciprocalrank",),
    "bpref": ("binarypreference",),
    "judged": ("judgedat", "judgedrate"),
    "fall_out": ("fpr", "falsepositiverate"),
    "capped_recall": ("recallcap", "rcap", "cappedr"),
    "auc": ("aucroc", "rocauc", "auroc"),
    "diversity": ("ild", "intralistdiversity", "intralistdistance"),
}
# Names that are accepted too; the @ means that a cut-off follows. Other names are refused with a
# suggestion. `map@10` has two meanings, see `MAP_AT_K`.
ACCEPTED = ("p@", "r@", "rprec", "hr@", "success@", "mrr", "mrr@", "rr", "rr@", "map")
ALIASES = {
    one: name for name, others in SYNONYMS.items() for one in ACCEPTED if one.strip("@") in others
}
# The metrics that a name such as `map@10` stands for.
MAP_AT_K = {
    "average_precision": "divided by R: trec_eval, ranx, RecTools",
    "capped_average_precision": "by min(R, {k}): Kaggle, Spark, RecBole, Recommenders, RePlay",
}
# Other metrics, whose names are only spelled like a metric here.
NO_METRICS = ("lauc", "nrbp", "pauc")
# Groups of trec_eval's metrics, each of which is to be named.
TREC_SETS = ("all_trec", "official", "set", "all_prefs", "qrels_jg", "prefs")
# Other names of the figures of `catalogue`, which describe all lists together, not a user.
CATALOGUE_METRICS = {
    "coverage": ("cataloguecoverage", "catalogcoverage", "itemcoverage"),
    "gini": ("giniindex", "ginicoefficient", "exposuregini"),
    "entropy": ("shannonentropy", "distributionalcoverage"),
    "personalization": ("personalisation",),
}
# Words in a name that many metrics have.
NO_NAMES = ("at", "k", "cut", "mean", "retrieval", "score", "top", "cosine", "dot")


class Synonym(NamedTuple):
    """A metric or figure that a label seems to mean, and its cut-off, 0 for none."""

    name: str
    k: int


def read_synonym(
    label: str, synonyms: Mapping[str, tuple[str, ...]] = MappingProxyType(SYNONYMS)
) -> Synonym | None:
    """Return the metric that a label means by a name of the field, None for no known name.

    The label is read as words, separated by signs or capitals. Case and the words in `NO_NAMES` are
    ignored. A number at the end that belongs to no known name is the cut-off.
    """
    names = {name.replace("_", ""): name for name in synonyms}
    names |= {other: name for name, others in synonyms.items() for other in others}
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label[:100])
    *words, last = re.findall(r"[a-z0-9]+", spaced.lower()) or [""]
    k = int(last) if words and last.isdigit() else 0
    name = "".join(word for word in [*words, *([] if k else [last])] if word not in NO_NAMES)
    if not k and name not in names and (match := re.fullmatch(r"(.*\D)([0-9]+)", name)):
        name, k = match[1], int(match[2])
    return Synonym(names[name], k) if name in names else None


def describe_map(k: str) -> str:
    """Return the two metrics that "map@k" names, and the libraries that mean each."""
    return " or ".join(f"'{name}@{k}' ({says.format(k=k)})" for name, says in MAP_AT_K.items())


def find_near_name(name: str, names: Collection[str]) -> list[str]:
    """Return a list with the name that is misspelt, empty for names of other metrics."""
    if name in NO_METRICS:
        return []
    swapped = [one for one in names if sorted(one) == sorted(name)]  # "rpb" is a slip for "rbp"
    return swapped[:1] or find_near(name, names, MISSPELT)
