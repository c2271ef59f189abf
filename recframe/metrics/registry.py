"""What the definition of a metric consists of, and its value where it divides by 0. NumPy only."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from recframe.kernel.threads import Array
from recframe.metrics.statistics import RankStatistics


class Policy(NamedTuple):
    """What a metric does at its edges: the options of these names in `recframe.evaluate`.

    `absent` is None where there is no truth that a user could be absent from.
    """

    short: str
    zero_division: float
    absent: str | None = None
    gain: str = "linear"


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


def defined(values: Array, statistics: RankStatistics, policy: Policy) -> Array:
    """Return values, `zero_division` where there is no relevant item."""
    values[statistics.counts.n_relevant == 0] = policy.zero_division
    return values


def ratio(numerator: Array, denominator: Array, policy: Policy) -> Array:
    """Return the quotients, `zero_division` where the denominator is 0."""
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: nothing is counted where nothing can be
        quotient: Array = numerator / denominator
    if not np.isnan(policy.zero_division):
        quotient[denominator == 0] = policy.zero_division
    return quotient
