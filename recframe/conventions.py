"""What other libraries call each metric, and the options that give their figures.

Messages know all these names: `df.rec.mean("ndcg_cut_10")` says what it is here. The guide shows
the table: https://github.com/recframe/recframe/blob/main/examples/guide/conventions.md
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from recframe.errors import RecframeError

# A metric and its names there. In brackets is how the figures of a library differ from those with
# the options of `LIKE`; each is asserted against the library itself.
TABLE = """\
| `precision@k` | trec_eval `P_k`, ir_measures `P@k`, ranx `precision@k`, RecTools `Precision`, RePlay `Precision`, Recommenders `precision_at_k`, LensKit `Precision`, torchmetrics `RetrievalPrecision`, evidently `PrecisionTopK` |
| `recall@k` | trec_eval `recall_k`, ir_measures `R@k`, ranx `recall@k`, RecTools `Recall`, RePlay `Recall`, Recommenders `recall_at_k`, LensKit `Recall` (it is `capped_recall@k`), torchmetrics `RetrievalRecall`, evidently `RecallTopK` |
| `r_precision` | trec_eval `Rprec`, ir_measures `Rprec`, ranx `r-precision`, RecTools `Precision(r_precision=True)` (it is `capped_recall@k`), Recommenders `r_precision_at_k` (hits@min(R, k) / R, the mean of users with a hit), torchmetrics `RetrievalRPrecision` |
| `f1@k` | ranx `f1@k`, RecTools `F1Beta`, evidently `FBetaTopK` |
| `hit_rate@k` | trec_eval `success_k`, ir_measures `Success@k`, ranx `hit_rate@k`, RecTools `HitRate`, RePlay `HitRate`, LensKit `Hit`, torchmetrics `RetrievalHitRate`, evidently `HitRate` |
| `reciprocal_rank` | trec_eval `recip_rank`, ir_measures `RR`, ranx `mrr@k`, RecTools `MRR`, RePlay `MRR`, LensKit `RecipRank`, torchmetrics `RetrievalMRR`, evidently `MRR` |
| `average_precision` | trec_eval `map`, `map_cut_k`, ir_measures `AP@k`, ranx `map@k`, RecTools `MAP`, RePlay `MAP` (/ min(R, k)), Recommenders `map`, `map_at_k` (/ min(R, k)), LensKit `AveragePrecision` (/ min(R, k, n)), torchmetrics `RetrievalMAP` (at k, / hits@k), scikit-learn `average_precision_score` (a tie is one step), evidently `MAP` |
| `ndcg` | trec_eval `ndcg`, `ndcg_cut_k`, ir_measures `nDCG@k`, ranx `ndcg@k`, `ndcg_burges@k` (`gain="exponential"`), RecTools `NDCG` (an ideal of k relevant items, unless `divide_by_achievable=True`), RePlay `NDCG`, Recommenders `ndcg_at_k`, LensKit `NDCG` (it is `ndcg(offset=0)@k`, unless `weight=LogRankWeight(offset=1)`), torchmetrics `RetrievalNormalizedDCG`, scikit-learn `ndcg_score`, evidently `NDCG` |
| `capped_recall@k` | RecTools `Precision(r_precision=True)`, LensKit `Recall`, BEIR `R_cap@k` |
| `dcg` | ranx `dcg@k`, `dcg_burges@k` (`gain="exponential"`), LensKit `DCG` (it is `dcg(offset=0)@k`, unless `weight=LogRankWeight(offset=1)`), scikit-learn `dcg_score` |
| `rbp` | ir_measures `RBP(p=0.8, rel=1)` (by cwl_eval, of the whole ranking at any k), ranx `rbp.80` (a relevant row counts its grade), LensKit `RBP(patience=0.8)` |
| `err` | ir_measures `ERR@k` (five digits, grades up to 4) |
| `fall_out@k` | torchmetrics `RetrievalFallOut` |
| `auc` | ir_measures `Accuracy`, RePlay `RocAuc` (of the first k rows, 0 without a hit, 1 with hits only), torchmetrics `RetrievalAUROC`, scikit-learn `roc_auc_score` |
| `bpref` | trec_eval `bpref`, ir_measures `Bpref`, ranx `bpref` (no number where N = 0) |
| `judged@k` | ir_measures `Judged@k` (`short="shrink"`) |
| `coverage` | RecTools `CatalogCoverage(normalize=True)`, RePlay `Coverage`, Recommenders `catalog_coverage` |
| `entropy` | Recommenders `distributional_coverage` |
| `gini` | LensKit `ExposureGini` (of exposures, which fall with the position) |
| `personalization` | evidently `Personalization` |
"""
TABLE_ROW = re.compile(r"\| `(\w+)(?:@k)?` \| (.*) \|")
# A library, unless it is the one before; its name for the metric; how its figures differ.
CELL = re.compile(r"(?:([\w-]+) )?`([^`]+)`(?: \(((?:[^()`]|`[^`]*`|\([^()]*\))+)\))?(?:, |$)")
TREC: dict[str, Any] = {"ties": "item", "short": "pad", "zero_division": 0.0}
# The options with which figures are those of a library, where names do not differ.
LIKE: dict[str, dict[str, Any]] = {
    "trec_eval": {"population": "both", **TREC},
    "ir_measures": {"population": "truth", **TREC},
    "ranx": {"population": "truth", "short": "pad", "zero_division": 0.0},
    "RecTools": {"population": "truth", "short": "pad"},
    "RePlay": {"population": "truth", "short": "pad"},
    "Recommenders": {"population": "both", "short": "pad"},
    "LensKit": {"population": "rows", "short": "shrink", "zero_division": 0.0},
    "torchmetrics": {"short": "pad", "zero_division": 0.0},
    "scikit-learn": {"short": "pad", "zero_division": 0.0},
    "evidently": {"short": "pad"},
}
# What no option does.
LEFT: dict[str, str] = {
    "trec_eval": "trec_eval cuts scores to float32 first, which can make ties",
    "ir_measures": "RR@k of ir_measures does not cut scores, and ranks ties first name first",
    "ranx": "ranx keeps the order of ties in lists of up to 15 items (ties='first')",
    "RecTools": "RecTools has ranks, and no ties",
    "RePlay": "RePlay ranks ties by item, the last first (ties='item' by text)",
    "Recommenders": "Recommenders goes by row order, and its nDCG counts users without a row as 0",
    "LensKit": "LensKit keeps the order of ties",
    "torchmetrics": "torchmetrics finds no hit at a score of 0 or less, and sees listed items only",
    "scikit-learn": "scikit-learn sees listed items only",
    "evidently": "evidently sees listed items only, ties at the whole number of their mean position",
}


class Theirs(NamedTuple):
    """A name of a library for a metric, and how its figures differ, "" where they do not."""

    name: str
    differs: str


@cache
def read_table() -> dict[str, dict[str, list[Theirs]]]:
    """Return the names of libraries for each metric: {metric: {library: [Theirs]}}."""
    table: dict[str, dict[str, list[Theirs]]] = {}
    for metric, cells in TABLE_ROW.findall(TABLE):
        table[metric] = {}
        for cell in CELL.finditer(cells):
            library, name, differs = cell.groups(default="")
            library = library or next(reversed(table[metric]))
            table[metric].setdefault(library, []).append(Theirs(name, differs))
    return table


def check_like(metrics: Iterable[Any], options: Mapping[str, Any]) -> None:
    """Raise where the library that options are like defines one of the metrics otherwise."""
    library = options["like"]
    for metric in metrics:
        theirs = read_table().get(metric.name, {}).get(library)
        if not theirs:
            continue
        for one in theirs:
            option, _, value = one.differs.strip("`").partition("=")
            is_met = option in options and value.strip('"') == options[option]
            is_other = re.search(rf"`{re.escape(metric.label.partition('@')[0])}[`@]", one.differs)
            if not one.differs or is_met or is_other:
                break
        else:
            here = "no metric here has its figure; leave like out for the one here"
            if other := re.match("it is `([^`]+)`", theirs[0].differs):
                cut_off = "@k" if metric.k is None else f"@{metric.k}"
                here = f"pass {other[1].replace('@k', cut_off)!r}"
            raise RecframeError(
                f"{metric.label} with like={library!r}: {theirs[0].name} of {library} is another "
                f"metric ({theirs[0].differs}); {here}"
            )
