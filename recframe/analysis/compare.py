"""Comparison: differences of scores from a baseline, paired over users, and their power."""

import warnings
from collections.abc import Hashable, Iterator
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from recframe.analysis.display import WORDS, import_extra
from recframe.analysis.intervals import (
    Counted,
    detectable,
    deviation_of,
    has_limits,
    mean_interval,
    spread_by,
    student_tail,
    weigh_users,
)
from recframe.analysis.paper_tables import ResultTable
from recframe.analysis.resampling import (
    OfDifferences,
    Resampling,
    make_resampling,
    max_t_test,
    sign_flip_test,
)
from recframe.analysis.trusted import align_people, interval_by_both, subtract_people
from recframe.errors import RecframeError, as_text, check_choice, quote
from recframe.frames.names import is_infer, is_same
from recframe.frames.tables import plain_table
from recframe.kernel.threads import Array
from recframe.notes import note
from recframe.options import INFER

Test = Literal["permutation", "ttest", "wilcoxon"]
Row = dict[str, float | int | str]  # a row of a table, by its columns
Correction = Literal["holm", "bonferroni", "fdr_bh", "max_t"]
# The meanings of intervals, tests and corrections.
METHODS = {
    "auto": "wilson or tango if they apply, else skewed",
    "wilson": "Wilson score, for values of 0 and 1",
    "tango": "Tango score, for differences of -1, 0 and 1",
    "skewed": "Student t, corrected for skewness",
    "t": "Student t; too narrow for few users",
    "bootstrap": "percentile; too narrow for few users",
    "permutation": "flip the signs of users' differences",
    "ttest": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "holm": "Holm, for any rows",
    "bonferroni": "Bonferroni; never finds more than holm",
    "fdr_bh": "Benjamini-Hochberg: the false discovery rate",
    "max_t": "max-T, for correlated metrics",
    "none": "no correction",
}
UNDEFINED = ["n_undefined_score", "n_undefined_baseline", "n_undefined_both"]


class Comparison(NamedTuple):
    """How differences are tested and p-values corrected, and how intervals are made."""

    test: Test
    correction: Correction | None
    resampling: Resampling
    unit: Any = INFER
    trusted: pd.DataFrame | None = None  # people's values of some users


class PairedValues(NamedTuple):
    """The values of all users by a score and by its baseline, in one metric."""

    row: str  # the row of a table, in words
    metric: object
    values: Array
    base: Array
    people: Any  # differences by people, if they correct those of a judge

    @property
    def differences(self) -> Array:
        """The difference of every user."""
        return self.values - self.base


class ScorePairs(NamedTuple):
    """The scores that are compared, as positions of score columns."""

    per_user: pd.DataFrame  # all metrics of each score
    pairs: list[tuple[int, int]]  # the baseline and the other score of each comparison
    are_several: bool  # whether rows name their baseline too

    def each(self, trusted: pd.DataFrame | None) -> Iterator[PairedValues]:
        """Yield the values of each pair in each metric, with those by people if some are known."""
        scores, metrics = map(self.per_user.columns.unique, ("score", "metric"))
        shape = len(scores), len(metrics), len(self.per_user)
        cells = self.per_user.to_numpy().T.reshape(shape)
        people = None if trusted is None else align_people(trusted, self.per_user).reshape(shape)
        for base, other in self.pairs:
            names = f"{as_text(scores[other])} - {as_text(scores[base])}"
            for n, metric in enumerate(metrics):
                pair = f"{as_text(metric)} of {names}", metric, cells[other, n], cells[base, n]
                both = None if people is None else people[[other, base], n]
                yield PairedValues(*pair, None if both is None else subtract_people(*both))

    def table(self, rows: list[dict[str, Any]]) -> pd.DataFrame:
        """Return a table with a row for each pair and metric."""
        scores, metrics = map(self.per_user.columns.unique, ("score", "metric"))
        levels: list[Any] = [pd.Index(list(scores), tupleize_cols=False)] * 2 + [metrics]
        base, other = np.repeat(self.pairs, len(metrics), axis=0).T.tolist()
        metric = list(range(len(metrics))) * len(self.pairs)
        names = ["baseline", "score", "metric"]
        index = pd.MultiIndex(levels, [base, other, metric], names=names).remove_unused_levels()
        table = pd.DataFrame(rows, index=index)
        if not self.are_several:
            table = table.droplevel("baseline")
            table.columns.name = f"baseline: {as_text(scores[self.pairs[0][0]])}"
        return table


def plain_with_undefined(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of all users as plain columns; undefined values remove none."""
    plain = plain_table(table)
    if "interval" not in plain:
        return plain
    undefined = ["n_undefined"] if "mean" in plain else UNDEFINED
    return plain.assign(**{name: 0 for name in undefined if name not in plain})


def find_pairs(per_user: pd.DataFrame, baseline: Any) -> ScorePairs:
    """Return the pairs that a baseline means; raise if nothing can be compared."""
    scores = list[Hashable](per_user.columns.unique("score"))
    if len(scores) < 2:
        raise RecframeError(
            f"compare needs two score columns or more, but has {quote(scores)}. Pass score= a list "
            "of them."
        )
    is_all = isinstance(baseline, str) and baseline == "all" and baseline not in scores
    named = scores if is_all else baseline if isinstance(baseline, list) else [baseline]
    if not named:
        raise RecframeError("baseline must name a score column at least, but is []")
    bases = list[int]()
    for one in named:
        numbers = [n for n, score in enumerate(scores) if one is None or is_same(score, one)]
        if not numbers:
            raise RecframeError(
                f"baseline must be a score column, one of {quote(scores)}, a list of them or "
                f"'all', but is {quote(one)}"
            )
        bases.append(numbers[0])
    pairs: list[tuple[int, int]] = []
    for base in dict.fromkeys(bases):
        others = (other for other in range(len(scores)) if other != base)
        # Two baselines are compared with each other once.
        pairs += [(base, other) for other in others if (other, base) not in pairs]
    return ScorePairs(per_user, pairs, are_several=is_all or isinstance(baseline, list))


def make_comparison(
    confidence: Any = 0.95,
    n_resamples: Any = 9_999,
    seed: Any = 0,
    interval: object = "auto",
    test: Any = "permutation",
    correction: Any = "holm",
    *,
    weights: object = None,
    intervals: object = OfDifferences,
    unit: Any = INFER,
) -> Comparison:
    """Return these together; raise if one is invalid or contradicts another."""
    check_choice("test", test, get_args(Test))
    if test == "wilcoxon" and (weights is not None or not (unit is None or is_infer(unit))):
        other = "unit=None" if weights is None else "no weights"
        raise RecframeError(
            "test='wilcoxon' ranks users, who cannot weigh differently. Pass test='permutation', "
            f"or {other}."
        )
    if correction is not None:
        check_choice("correction", correction, get_args(Correction), "None or one of")
    if correction == "max_t" and test != "permutation":
        raise RecframeError(
            f"correction='max_t' flips signs, as test='permutation' does, not test={quote(test)}."
            " Pass correction='holm'."
        )
    resampling = make_resampling(confidence, n_resamples, seed, interval, intervals)
    return Comparison(test, correction, resampling, unit)


def trust(how: Comparison, people: pd.DataFrame | None) -> Comparison:
    """Return how means or differences by a judge are corrected by people's values, if any.

    Raise if a test or an interval is asked for that the regression has not.
    """
    for name, value, default in (
        ("test", how.test, "permutation"),
        ("interval", how.resampling.interval, "auto"),
        ("correction", how.correction, "holm"),
    ):
        is_other = value == "max_t" if name == "correction" else value != default
        if people is not None and is_other:
            raise RecframeError(
                f"trusted has a test and an interval of its own, not {name}={quote(value)}. Pass "
                f"{name}={default!r}, the default."
            )
    return how._replace(trusted=people)


def compare_table(
    per_user: pd.DataFrame, weights: pd.Series | None = None, *, baseline: Any, how: Comparison
) -> pd.DataFrame:
    """Return the differences of all other scores from the baseline, a row for each metric."""
    return compare_pairs(find_pairs(per_user, baseline), weights, how)


def compare_pairs(pairs: ScorePairs, weights: pd.Series | None, how: Comparison) -> pd.DataFrame:
    """Return the differences of all pairs, a row for each metric."""
    per_user, counted = weigh_users(pairs.per_user, weights, how.unit)
    pairs = pairs._replace(per_user=per_user)
    each = list(pairs.each(how.trusted))
    table = pairs.table([_compare_pair(pair, counted, how) for pair in each])
    p_values = table["p_value"].to_numpy()
    if how.correction == "max_t":
        joined = [counted.join(pair.differences) for pair in each]
        differences = np.array([values * weights for values, weights in joined]).T
        # These are other draws than those of the p-values, and could be a little lower by chance.
        table["p_corrected"] = np.maximum(max_t_test(differences, how.resampling), p_values)
    else:
        table["p_corrected"] = correct(p_values, how.correction)
    table = ResultTable(table.drop(columns=[one for one in UNDEFINED if not table[one].any()]))
    holds_0 = (table["low"] <= 0) & (table["high"] >= 0)
    is_shown = table["p_corrected"] < round(1 - how.resampling.confidence, 12)
    is_known = table[["low", "high", "p_corrected"]].notna().all(axis=1)
    disagreeing = holds_0[is_known & (holds_0 == is_shown)]
    for (*_, score, metric), holds in zip(disagreeing.index, disagreeing, strict=True):
        row = f"{as_text(metric)} of {as_text(score)}"
        note(**{f"disagreement:{row} (its interval {'holds' if holds else 'excludes'} 0)": 1})
    table.attrs = {"confidence": how.resampling.confidence, "correction": how.correction}
    return table


def _compare_pair(pair: PairedValues, counted: Counted, how: Comparison) -> Row:
    """Return the difference of one score in one metric, over the users with both values.

    People's values correct those of a judge, if they are known.
    """
    row, metric, values, base, people = pair
    lacks, lacks_base = np.isnan(values), np.isnan(base)
    known = np.array([values, base])[:, ~np.isnan(pair.differences)]
    is_limited = has_limits(metric, known)
    figures: dict[str, Any] = {}
    last, freedom = Row(), 0
    if people is None:
        differences, weights = counted.join(pair.differences)
        if counted.units is not None:  # means of equal values differ by rounding
            differences[np.abs(differences) < 1e-12] = 0
        spread = spread_by(differences, weights)
        of_base = spread_by(*counted.join(np.where(lacks, np.nan, base)))
        mean, base_mean = pd.Series(spread).mean(), pd.Series(of_base).mean()
        deviation = deviation_of(spread)
        low, high, interval = mean_interval(
            spread, is_limited, how.resampling, are_differences=True
        )
        figures["relative"] = mean / base_mean if base_mean != 0 else np.nan
        figures["effect"] = mean / deviation if deviation > 0 else np.nan
        figures["detectable"] = detectable(deviation, len(spread))
        last = {"n_users": len(spread), "interval": WORDS[interval]}
    else:
        both = people, pair.differences, counted, row, how.resampling
        estimate, figures, by_people = interval_by_both(
            *both, is_limited=is_limited, are_differences=True
        )
        mean, low, high = estimate.mean, figures.pop("low"), figures.pop("high")
        freedom = estimate.freedom
        last["interval"] = figures.pop("interval")
        differences, weights = counted.join(by_people)
        if mean * estimate.judge_mean < 0:
            note(**{f"judge_of_other_order:{row}": 1})
    if freedom:
        p, test = 2 * student_tail(abs(mean) / estimate.error, freedom), "regression"
    elif how.test == "permutation":
        p, test = sign_flip_test((differences * weights)[weights > 0], how.resampling)
    else:
        p, test = scipy_test(spread, how.test)
    won = {"n_won": differences > 0, "n_tied": differences == 0, "n_lost": differences < 0}
    undefined = lacks & ~lacks_base, ~lacks & lacks_base, lacks & lacks_base
    return {
        "difference": mean,
        "low": low,
        "high": high,
        "p_corrected": np.nan,  # known when all p-values are
        "p_value": p,
        **figures,
        **{name: int(mask.sum()) for name, mask in won.items()},
        **last,
        "test": WORDS[test],
        **{name: int(mask.sum()) for name, mask in zip(UNDEFINED, undefined, strict=True)},
    }


def scipy_test(differences: Array, test: Test) -> tuple[float, str]:
    """Return the two-sided p-value of no difference, NaN for too few users, and the test's name."""
    stats = import_extra("scipy.stats", "stats", f"test={quote(test)}")
    if len(differences) < 2:
        return np.nan, "none"
    if not differences.any():
        return 1.0, test
    with warnings.catch_warnings():
        # Equal differences have no variance, and p = 0; SciPy warns about them.
        warnings.simplefilter("ignore", RuntimeWarning)
        if test == "ttest":
            return float(stats.ttest_rel(differences, np.zeros(len(differences))).pvalue), test
        # Differences that differ in their last bits only must be tied.
        return float(stats.wilcoxon(differences.round(12)).pvalue), test


def correct(p_values: Array, correction: Correction | None) -> Array:
    """Return p-values corrected for their number; NaN does not count.

    "holm" (S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
    of Statistics 6, 1979) and "bonferroni" bound the chance of any false finding, "fdr_bh" (Y.
    Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
    Statistical Society B 57, 1995) the expected share of false ones among the findings.
    """
    corrected = p_values.copy()
    known = np.flatnonzero(~np.isnan(p_values))
    if correction is None or len(known) == 0:
        return corrected
    if correction == "fdr_bh":
        stats = import_extra("scipy.stats", "stats", "correction='fdr_bh'")
        corrected[known] = stats.false_discovery_control(p_values[known])
    else:
        rising = known[np.argsort(p_values[known], kind="stable")]
        n_left = len(known) - np.arange(len(known)) if correction == "holm" else len(known)
        corrected[rising] = np.minimum(np.maximum.accumulate(p_values[rising] * n_left), 1)
    return corrected
