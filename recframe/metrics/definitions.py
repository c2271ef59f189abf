"""The definitions: every metric, by its name. NumPy only.

A user's rows are ranked by score; hits@c is the number of relevant rows among the first c of
them, n the number of ranked rows and R that of relevant items, ranked or not. Under
``ties="expected"`` every metric is its expectation over all orders of tied rows (F. McSherry and
M. Najork, "Computing information retrieval performance measures efficiently in the presence of tied
scores", ECIR 2008).

Without a relevant item (R = 0) sums over hits are 0, and so is precision; fall-out and `judged` ask
for other rows. Every other metric asks how well relevant items were found, which has no answer
then: `zero_division`.
"""

import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from recframe.kernel.threads import Array
from recframe.metrics import hit_metrics, position_metrics


class Parameter(NamedTuple):
    """A number in [low, high) that a metric takes beside k, as p in ``rbp(p=0.8)@10``.

    Its name is the formula's keyword, and a line says what it means; without a default it must be
    given.
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
        Its value of every user, from `RankStatistics`, k, a `Policy` and its parameters. The
        docstring is that of the method ``df.rec.<name>`` too.
    cut_off : {"needed", "optional", "none"}
        Whether it takes k: its method has ``k=10``, ``k=None`` or no k.
    parameters : tuple of Parameter, default none
        What it takes beside k, in the order that its label names them in.
    needs_gains : bool, default False
        Whether grades of relevance count.
    needs_judged : bool, default False
        Whether it counts which rows truth holds.
    at_n_relevant : bool, default False
        Whether without a cut-off it is about the first R rows only, not the whole ranking.
    zero_without_relevant : bool, default False
        Whether it is 0 where R = 0, not `zero_division`.
    of_column : bool, default False
        Whether it is of a column, named in brackets, in place of relevance. Its formula takes the
        name as `column`; it has no method of its own.
    is_bounded : bool, default True
        Whether values are in [0, 1]; where not, they are 0 or more, or of any column.
    better : {"high", "low", "unknown"}, default "high"
        Which values are better, for a gate; of some metrics only those who look at them know.
    """

    formula: Callable[..., Array]
    cut_off: Literal["needed", "optional", "none"]
    parameters: tuple[Parameter, ...] = ()
    needs_gains: bool = False
    needs_judged: bool = False
    at_n_relevant: bool = False
    zero_without_relevant: bool = False
    of_column: bool = False
    is_bounded: bool = True
    better: Literal["high", "low", "unknown"] = "high"


HIGHEST = Parameter("max", 1, 100, "The highest grade that there can be")
OFFSET = Parameter("offset", 0, 1000, "What is added to positions under the logarithm", 1)
PERSISTENCE = Parameter("p", 0, 1, "The probability of going on to the next row")

# The order is that of help texts and messages.
DEFINITIONS = {
    "precision": Definition(hit_metrics.precision, "needed", zero_without_relevant=True),
    "recall": Definition(hit_metrics.recall, "needed"),
    "r_precision": Definition(hit_metrics.r_precision, "none", at_n_relevant=True),
    "f1": Definition(hit_metrics.f1, "needed"),
    "capped_recall": Definition(hit_metrics.capped_recall, "needed"),
    "fall_out": Definition(hit_metrics.fall_out, "needed", better="low"),
    "ndcg": Definition(position_metrics.ndcg, "optional", (OFFSET,), needs_gains=True),
    "dcg": Definition(
        position_metrics.dcg,
        "optional",
        (OFFSET,),
        needs_gains=True,
        zero_without_relevant=True,
        is_bounded=False,
    ),
    "err": Definition(
        position_metrics.err, "optional", (HIGHEST,), needs_gains=True, zero_without_relevant=True
    ),
    "rbp": Definition(position_metrics.rbp, "optional", (PERSISTENCE,), zero_without_relevant=True),
    "hit_rate": Definition(position_metrics.hit_rate, "needed"),
    "all_relevant": Definition(position_metrics.all_relevant, "needed"),
    "reciprocal_rank": Definition(position_metrics.reciprocal_rank, "optional"),
    "average_precision": Definition(position_metrics.average_precision, "optional"),
    "auc": Definition(position_metrics.auc, "none"),
    "bpref": Definition(hit_metrics.bpref, "none", needs_judged=True),
    "judged": Definition(
        hit_metrics.judged,
        "needed",
        needs_judged=True,
        zero_without_relevant=True,
        better="unknown",
    ),
    "mean": Definition(
        hit_metrics.mean,
        "needed",
        of_column=True,
        zero_without_relevant=True,
        is_bounded=False,
        better="unknown",
    ),
}

DEFAULT_METRICS = ("precision@10", "recall@10", "r_precision")


def list_arguments(
    definition: Definition, needed_k: Any, bounds: str
) -> tuple[list[inspect.Parameter], list[str]]:
    """Return what a function of a metric takes beside data, and the lines of its docstring.

    `needed_k` is the default of a cut-off that is needed, `bounds` what cut-offs may be.
    """
    make, arguments, lines = inspect.Parameter, [], []
    if definition.cut_off != "none":
        k = needed_k if definition.cut_off == "needed" else None
        kind, end = (int, "") if k else (int | None, "; None: the whole ranking")
        arguments.append(make("k", make.POSITIONAL_OR_KEYWORD, default=k, annotation=kind))
        shown = "" if k is make.empty else f", default {k}"
        lines.append(f"k : int{shown}\n    The cut-off, {bounds}{end}.")
    for own in definition.parameters:  # by name only, so that no cut-off is taken for one
        default = make.empty if own.default is None else own.default
        arguments.append(make(own.name, make.KEYWORD_ONLY, default=default, annotation=float))
        shown = "" if own.default is None else f", default {own.default:g}"
        lines.append(
            f"{own.name} : float{shown}\n    {own.meaning}, in [{own.low:g}, {own.high:g})."
        )
    return arguments, lines
