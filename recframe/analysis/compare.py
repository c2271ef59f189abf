"""Comparison: differences of scores from a baseline, paired over users, and their power."""

import warnings
from collections.abc import Hashable, Iterator
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from recframe.analysis.display import WORDS, import_extra
from recframe.analysis.intervals import (
    Counted,
    has_limits,
    mean_interval,
    spread_by,
    weigh_users,
)
from recframe.analysis.paper_tables import ResultTable
from recframe.analysis.power import detectable, deviation_of
from recframe.analysis.resampling import (
    OfDifferences,
    Resampling,
    make_resampling,
    max_t_test,
    sign_flip_test,
)
from recframe.analysis.trusted import (
    align_people,
    check_regression,
    interval_by_both,
    subtract_people,
)
from recframe.errors import RecframeError, as_text, check_choice, quote
from recframe.frames.names import is_infer, is_same
from recframe.frames.tables import plain_table
from recframe.kernel.threads import Array
from recframe.notes import note
from recframe.options import INFER

Test = Literal["permutation", "ttest", "wilcoxon"]
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
    """The test of a comparison, the correction of its p-values, its intervals, and its units."""

    test: Test
    correction: Correction | None
    resampling: Resampling
    unit: Any = INFER
    trusted: pd.DataFrame | None = None  # people's values of some users


class ScorePairs(NamedTuple):
    """The scores that are compared, as positions of score columns."""

    per_user: pd.DataFrame  # all metrics of each score
    pairs: list[tuple[int, int]]  # the baseline and the other score of each comparison
    are_several: bool  # whether rows name their baseline too

    def columns(self, cells: Array | None = None) -> Iterator[tuple[Any, Array, Array]]:
        """Yield each metric of each pair, with the values of the score and of the baseline.

        `cells` are other values of the same columns and users, a row for each column.
        """
        metrics = self.per_user.columns.unique("metric")
        cells = self.per_user.to_numpy().T if cells is None else cells
        values = cells.reshape(len(cells) // len(metrics), len(metrics), len(self.per_user))
        for base, other in self.pairs:
            yield from zip(metrics, values[other], values[base], strict=True)

    def list_names(self) -> list[str]:
        """Return each row of a table in words."""
        scores, metrics = map(self.per_user.columns.unique, ("score", "metric"))
        names = [
            f"{as_text(scores[other])} - {as_text(scores[base])}" for base, other in self.pairs
        ]
        return [f"{as_text(metric)} of {name}" for name in names for metric in metrics]

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
    test: Any = "permutation",
    correction: Any = "holm",
    confidence: Any = 0.95,
    n_resamples: Any = 9_999,
    seed: Any = 0,
    interval: object = "auto",
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
    """Return how means or differences by a judge are corrected by people's values, if any."""
    if people is not None:
        chosen = {"interval": how.resampling.interval, "correction": how.correction}
        check_regression(test=how.test, **chosen)
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
    if how.trusted is None:
        rows = [_compare_pair(*columns, counted, how) for columns in pairs.columns()]
    else:
        people = pairs.columns(align_people(how.trusted, per_user))
        each = zip(pairs.list_names(), pairs.columns(), people, strict=True)
        rows = [_compare_by_both(*columns, counted, how) for columns in each]
    table = pairs.table(rows)
    p_values = table["p_value"].to_numpy()
    if how.correction == "max_t":
        joined = [counted.join(values - base) for _, values, base in pairs.columns()]
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


def _compare_pair(
    label: object, values: Array, base: Array, counted: Counted, how: Comparison
) -> dict[str, float | int | str]:
    """Return the difference of one score in one metric, over the users with both values."""
    undefined, base_undefined = np.isnan(values), np.isnan(base)
    base = np.where(undefined, np.nan, base)
    differences, weights = counted.join(values - base)
    if counted.units is not None:  # means of equal values differ by rounding
        differences[np.abs(differences) < 1e-12] = 0
    spread = spread_by(differences, weights)
    mean, base_mean = pd.Series(spread).mean(), pd.Series(spread_by(*counted.join(base))).mean()
    deviation = deviation_of(spread)
    known = np.array([values, base])[:, ~(undefined | base_undefined)]
    is_limited = has_limits(label, known)
    low, high, interval = mean_interval(spread, is_limited, how.resampling, are_differences=True)
    if how.test == "permutation":
        p, test = sign_flip_test((differences * weights)[weights > 0], how.resampling)
    else:
        p, test = scipy_test(spread, how.test)
    return {
        "difference": mean,
        "low": low,
        "high": high,
        "p_corrected": np.nan,  # known when all p-values are
        "p_value": p,
        "relative": mean / base_mean if base_mean != 0 else np.nan,
        "effect": mean / deviation if deviation > 0 else np.nan,
        "detectable": detectable(deviation, len(spread)),
        **_count_won(differences),
        "n_users": len(spread),
        "interval": WORDS[interval],
        "test": WORDS[test],
        **_count_undefined(undefined, base_undefined),
    }


def _count_won(differences: Array) -> dict[str, int]:
    """Return how many users have a higher, the same and a lower value than by the baseline."""
    masks = {"n_won": differences > 0, "n_tied": differences == 0, "n_lost": differences < 0}
    return {name: int(mask.sum()) for name, mask in masks.items()}


def _count_undefined(score: Array, base: Array) -> dict[str, int]:
    """Return how many users lack a value by the score, the baseline or both."""
    masks = (score & ~base, ~score & base, score & base)
    return {name: int(mask.sum()) for name, mask in zip(UNDEFINED, masks, strict=True)}


def _compare_by_both(
    row: str,
    of_judge: tuple[object, Array, Array],
    of_people: tuple[object, Array, Array],
    counted: Counted,
    how: Comparison,
) -> dict[str, float | int | str]:
    """Return the difference of one score in one metric by a judge, corrected by people's values."""
    label, values, base = of_judge
    people, differences = subtract_people(*of_people[1:]), values - base
    known = np.array([values, base])[:, ~np.isnan(differences)]
    limits = {"is_limited": has_limits(label, known), "are_differences": True}
    estimate, figures, own = interval_by_both(
        people, differences, counted, row, how.resampling, **limits
    )
    n_users, test = np.count_nonzero(counted.join(differences)[1]), "regression"
    own, weights = counted.join(own)
    if estimate.freedom:
        p = estimate.p_value()
    else:
        p, test = sign_flip_test((own * weights)[weights > 0], how.resampling)
    if estimate.mean * estimate.judge_mean < 0:
        note(**{f"judge_of_other_order:{row}": 1})
    return {
        "difference": estimate.mean,
        "low": figures.pop("low"),
        "high": figures.pop("high"),
        "p_corrected": np.nan,  # known when all p-values are
        "p_value": p,
        "n_users": int(n_users),
        "n_trusted": figures.pop("n_trusted"),
        "judge_difference": estimate.judge_mean,
        "judge_bias": figures.pop("judge_bias"),
        "worth": figures.pop("worth"),
        **_count_won(own),
        **figures,
        "test": WORDS[test],
        **_count_undefined(np.isnan(values), np.isnan(base)),
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
