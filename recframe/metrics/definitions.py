"""The definitions: every metric, by its name. NumPy only.

A user's rows are ranked by score; hits@c is the number of relevant rows among the first c of
them, n the number of ranked rows and R that of relevant items, ranked or not. Under
``ties="expected"`` every metric is its expectation over all orders of tied rows (F. McSherry and
M. Najork, "Computing information retrieval performance measures efficiently in the presence of tied
scores", ECIR 2008).

Without a relevant item (R = 0) sums over hits are 0, and so is precision; fall-out and `judged`
count other rows. Every other metric measures how well relevant items are ranked. It is undefined
then, and has the value of `zero_division`.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from recframe.kernel.threads import Array
from recframe.metrics import column_metrics, hit_metrics, position_metrics


class Parameter(NamedTuple):
    """A number in [low, high) that a metric takes next to k, such as p in ``rbp(p=0.8)@10``.

    Its name is the formula's keyword. A parameter without a default is required.
    """

    name: str
    low: float
    high: float
    meaning: str
    default: float | None = None


class Definition(NamedTuple):
    """A metric.

    Parameters
    ----------
    formula : callable
        Returns the value of every user from `RankStatistics`, k, a `Policy` and its parameters. Its
        docstring is also the docstring of the method ``df.rec.<name>``.
    cut_off : {"needed", "optional", "none"}
        Whether the metric takes k: its method has ``k=10``, ``k=None`` or no k.
    parameters : tuple of Parameter, default none
        Its parameters next to k, in the order of its label.
    needs_gains : bool, default False
        Whether it counts grades of relevance.
    needs_judged : bool, default False
        Whether it counts which rows truth holds.
    at_n_relevant : bool, default False
        Whether, without a cut-off, it looks at the first R rows only, not the whole ranking.
    zero_without_relevant : bool, default False
        Whether it is 0 where R = 0, instead of `zero_division`.
    of_column : str, default ""
        An example of the column, named in brackets, that it reads in place of relevance; "" if it
        reads none. Its formula takes the name as `column`, and it has no method.
    least_k : int, default 1
        The least cut-off that it takes.
    is_bounded : bool, default True
        Whether values are in [0, 1]. Other values are 0 or more, or values of a column.
    better : {"high", "low", "unknown"}, default "high"
        Which values are better, for a gate; only the user knows it for some metrics.
    """

    formula: Callable[..., Array]
    cut_off: Literal["needed", "optional", "none"]
    parameters: tuple[Parameter, ...] = ()
    needs_gains: bool = False
    needs_judged: bool = False
    at_n_relevant: bool = False
    zero_without_relevant: bool = False
    of_column: str = ""
    least_k: int = 1
    is_bounded: bool = True
    better: Literal["high", "low", "unknown"] = "high"


HIGHEST = Parameter("max", 1, 100, "The highest grade that there can be")
OFFSET = Parameter("offset", 0, 1000, "What is added to positions under the logarithm", 1)
PERSISTENCE = Parameter("p", 0, 1, "The probability of going on to the next row")

# The order is that of help texts and messages.
DEFINITIONS = {
    "precision": Definition(hit_metrics.precision_per_user, "needed", zero_without_relevant=True),
    "recall": Definition(hit_metrics.recall_per_user, "needed"),
    "r_precision": Definition(hit_metrics.r_precision_per_user, "none", at_n_relevant=True),
    "f1": Definition(hit_metrics.f1_per_user, "needed"),
    "capped_recall": Definition(hit_metrics.capped_recall_per_user, "needed"),
    "fall_out": Definition(hit_metrics.fall_out_per_user, "needed", better="low"),
    "ndcg": Definition(position_metrics.ndcg_per_user, "optional", (OFFSET,), needs_gains=True),
    "dcg": Definition(
        position_metrics.dcg_per_user,
        "optional",
        (OFFSET,),
        needs_gains=True,
        zero_without_relevant=True,
        is_bounded=False,
    ),
    "err": Definition(
        position_metrics.err_per_user,
        "optional",
        (HIGHEST,),
        needs_gains=True,
        zero_without_relevant=True,
    ),
    "rbp": Definition(
        position_metrics.rbp_per_user, "optional", (PERSISTENCE,), zero_without_relevant=True
    ),
    "hit_rate": Definition(position_metrics.hit_rate_per_user, "needed"),
    "all_relevant": Definition(position_metrics.all_relevant_per_user, "needed"),
    "reciprocal_rank": Definition(position_metrics.reciprocal_rank_per_user, "optional"),
    "average_precision": Definition(position_metrics.average_precision_per_user, "optional"),
    "capped_average_precision": Definition(
        position_metrics.capped_average_precision_per_user, "needed"
    ),
    "auc": Definition(hit_metrics.auc_per_user, "none"),
    "bpref": Definition(hit_metrics.bpref_per_user, "none", needs_judged=True),
    "judged": Definition(
        hit_metrics.judged_per_user,
        "needed",
        needs_judged=True,
        zero_without_relevant=True,
        better="unknown",
    ),
    "mean": Definition(
        column_metrics.mean_per_user,
        "needed",
        of_column="price",
        is_bounded=False,
        better="unknown",
    ),
    "share": Definition(
        column_metrics.share_per_user, "needed", of_column="revenue", better="unknown"
    ),
    "diversity": Definition(
        column_metrics.diversity_per_user,
        "needed",
        of_column="genre",
        least_k=2,
        is_bounded=False,
        better="unknown",
    ),
}

DEFAULT_METRICS = ("precision@10", "recall@10", "r_precision")


def describe_arguments(definition: Definition, default: str, bounds: str) -> list[str]:
    """Return the lines of a docstring about the arguments of a metric.

    `default` is the default of a required cut-off, `bounds` the text for the range of cut-offs.
    """
    lines = []
    if definition.cut_off == "needed":
        lines.append(f"k : int{default}\n    The cut-off, {bounds}.")
    elif definition.cut_off == "optional":
        lines.append(f"k : int, default None\n    The cut-off, {bounds}; None: the whole ranking.")
    for one in definition.parameters:
        shown = "" if one.default is None else f", default {one.default:g}"
        bounds = f"in [{one.low:g}, {one.high:g})"
        lines.append(f"{one.name} : float{shown}\n    {one.meaning}, {bounds}.")
    return lines
