"""Comparison: what each model changes against a baseline, paired over users."""

import warnings
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from recframe.analysis.display import without_zeros
from recframe.analysis.extras import import_extra
from recframe.analysis.intervals import find_range, mean_interval
from recframe.analysis.pairs import ScorePairs, find_pairs
from recframe.analysis.power import detectable, deviation_of
from recframe.analysis.resampling import Resampling
from recframe.analysis.sign_flips import max_t_test, sign_flip_test
from recframe.analysis.weights import spread_by, with_weight
from recframe.errors import RecframeError, quote
from recframe.kernel.threads import Array

Test = Literal["permutation", "ttest", "wilcoxon"]
Correction = Literal["holm", "bonferroni", "fdr_bh", "max_t"]
UNDEFINED = ["n_undefined_score", "n_undefined_baseline", "n_undefined_both"]


class Comparison(NamedTuple):
    """How scores are compared: the test, the correction of its p-values, intervals and draws."""

    test: Test
    correction: Correction | None
    resampling: Resampling


def check_comparison(test: object, correction: object, *, is_weighted: bool = False) -> None:
    """Raise unless the test, the correction and weights are there, and go together."""
    if not isinstance(test, str) or test not in get_args(Test):
        raise RecframeError(f"test must be one of {get_args(Test)}, found {quote(test)}")
    if is_weighted and test == "wilcoxon":
        raise RecframeError(
            "test='wilcoxon' ranks users, who cannot weigh differently; pass test='permutation' "
            "or leave out weights"
        )
    if correction is None:
        return
    if not isinstance(correction, str) or correction not in get_args(Correction):
        raise RecframeError(
            f"correction must be None or one of {get_args(Correction)}, found {quote(correction)}"
        )
    if correction == "max_t" and test != "permutation":
        raise RecframeError(
            f"correction='max_t' flips signs, as test='permutation' does, found test={quote(test)};"
            " pass correction='holm'"
        )


def compare_table(
    per_user: pd.DataFrame,
    weights: pd.Series | None = None,
    *,
    baseline: Any,
    how: Comparison,
) -> pd.DataFrame:
    """Return what every other score changes against the baseline, a row for each metric."""
    per_user, of_users = with_weight(per_user, weights)
    pairs = find_pairs(per_user, baseline)
    labelled = zip(pairs.labels(), pairs.columns(), strict=True)
    rows = [_compare_pair(*columns, of_users, label, how) for label, columns in labelled]
    table = pairs.table(rows)
    table["p_corrected"] = _correct(pairs, of_users, table["p_value"].to_numpy(), how)
    return without_zeros(table, UNDEFINED)


def _compare_pair(
    values: Array, base: Array, weights: Array | None, label: object, how: Comparison
) -> dict[str, float | int | str]:
    """Return what one score changes in one metric, over the users who have both values."""
    undefined, base_undefined = np.isnan(values), np.isnan(base)
    known = ~(undefined | base_undefined)
    values, base = values[known], base[known]
    weights = None if weights is None else weights[known]
    differences, n_users = values - base, len(values)
    spread, tested = spread_by(differences, weights), differences
    mean, base_mean = np.nan, np.nan
    if n_users:
        mean, base_mean = spread.mean(), spread_by(base, weights).mean()
    if weights is not None:
        tested = differences * weights if how.test == "permutation" else spread
    deviation = deviation_of(spread)
    is_bounded = find_range(label, np.append(values, base)) is not None
    limits = (-1.0, 1.0) if is_bounded else None
    interval = mean_interval(spread, limits, how.resampling, are_differences=True)
    p, test = p_value(tested, how.test, how.resampling)
    return {
        "difference": mean,
        "low": interval.low,
        "high": interval.high,
        "p_corrected": np.nan,  # known when all p-values are
        "p_value": p,
        "relative": mean / base_mean if base_mean != 0 else np.nan,
        "effect": mean / deviation if deviation > 0 else np.nan,
        "detectable": detectable(deviation, n_users),
        "n_won": int((differences > 0).sum()),
        "n_tied": int((differences == 0).sum()),
        "n_lost": int((differences < 0).sum()),
        "n_users": n_users,
        "interval": interval.name,
        "test": test,
        "n_undefined_score": int((undefined & ~base_undefined).sum()),
        "n_undefined_baseline": int((~undefined & base_undefined).sum()),
        "n_undefined_both": int((undefined & base_undefined).sum()),
    }


def p_value(differences: Array, test: Test, resampling: Resampling) -> tuple[float, str]:
    """Return the two-sided p-value of no difference, and how it was found.

    It is NaN where the test has too few users.
    """
    if test == "permutation":
        return sign_flip_test(differences, resampling)
    stats = import_extra("scipy.stats", "stats", f"test={quote(test)}")
    if len(differences) < 2:
        return np.nan, "none"
    if not differences.any():
        return 1.0, test
    with warnings.catch_warnings():
        # Differences that are all the same have no variance: p = 0, which SciPy warns about.
        warnings.simplefilter("ignore", RuntimeWarning)
        if test == "ttest":
            return float(stats.ttest_rel(differences, np.zeros(len(differences))).pvalue), test
        # Ranks of differences that are equal but for their last bits must be tied.
        return float(stats.wilcoxon(differences.round(12)).pvalue), test


def _correct(pairs: ScorePairs, weights: Array | None, p_values: Array, how: Comparison) -> Array:
    """Return the corrected p-values of all rows."""
    if how.correction != "max_t":
        return correct(p_values, how.correction)
    differences = np.array([values - base for values, base in pairs.columns()]).T
    if weights is not None:
        differences *= weights[:, None]
    # Drawn apart from the p-values: by chance one may come out a little below.
    return np.maximum(max_t_test(differences, how.resampling), p_values)


def correct(p_values: Array, correction: Correction | None) -> Array:
    """Return p-values corrected for their number; those that are NaN do not count.

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
