"""Comparison: what each model changes against a baseline, paired over users."""

import warnings
from collections.abc import Hashable
from typing import Literal, get_args

import numpy as np
import pandas as pd

from recframe.analysis.display import WideTable, without_zeros
from recframe.analysis.extras import import_extra
from recframe.analysis.resampling import Resampling, bootstrap_interval, sign_flip_test
from recframe.errors import RecframeError, as_text, quote
from recframe.frames.labels import is_same
from recframe.kernel.threads import Array

Test = Literal["permutation", "ttest", "wilcoxon"]
Correction = Literal["holm", "bonferroni", "fdr_bh"]
UNDEFINED = ["n_undefined_score", "n_undefined_baseline", "n_undefined_both"]


def check_comparison(test: object, correction: object) -> None:
    """Raise unless the test and the correction are there."""
    if not isinstance(test, str) or test not in get_args(Test):
        raise RecframeError(f"test must be one of {get_args(Test)}, found {quote(test)}")
    if correction is None:
        return
    if not isinstance(correction, str) or correction not in get_args(Correction):
        raise RecframeError(
            f"correction must be None or one of {get_args(Correction)}, found {quote(correction)}"
        )


def compare_table(
    per_user: pd.DataFrame,
    baseline: Hashable | None,
    test: Test,
    correction: Correction | None,
    resampling: Resampling,
) -> pd.DataFrame:
    """Return what every other score changes against the baseline, a row for each metric."""
    scores = list[Hashable](per_user.columns.unique("score"))
    position = _find_baseline(scores, baseline)
    n_metrics = len(per_user.columns) // len(scores)
    others = per_user.columns[np.arange(per_user.shape[1]) // n_metrics != position]
    values = per_user.to_numpy().T.reshape(len(scores), n_metrics, len(per_user))
    rows = [
        _compare_pair(of_score, of_baseline, test, resampling)
        for by_metric in np.delete(values, position, axis=0)
        for of_score, of_baseline in zip(by_metric, values[position], strict=True)
    ]
    table = pd.DataFrame(rows, index=others.remove_unused_levels())
    table["p_corrected"] = correct(table["p_value"].to_numpy(), correction)
    table.columns.name = f"baseline: {as_text(scores[position])}"
    return WideTable(without_zeros(table, UNDEFINED))


def _find_baseline(scores: list[Hashable], baseline: Hashable | None) -> int:
    """Return the position of the baseline, 0 unless given; raise where nothing can be compared."""
    if len(scores) < 2:
        raise RecframeError(
            f"compare needs two score columns or more, found {quote(scores)}; pass score= a list "
            "of them"
        )
    if baseline is None:
        return 0
    for position, score in enumerate(scores):
        if is_same(score, baseline):
            return position
    raise RecframeError(
        f"baseline must be a score column, one of {quote(scores)}, found {quote(baseline)}"
    )


def _compare_pair(
    values: Array, base: Array, test: Test, resampling: Resampling
) -> dict[str, float | int]:
    """Return what one score changes in one metric, over the users who have both values."""
    undefined, base_undefined = np.isnan(values), np.isnan(base)
    differences = (values - base)[~(undefined | base_undefined)]
    low, high = bootstrap_interval(differences, resampling)
    return {
        "difference": differences.mean() if len(differences) else np.nan,
        "low": low,
        "high": high,
        "p_corrected": np.nan,  # known when all p-values are
        "p_value": p_value(differences, test, resampling),
        "n_won": int((differences > 0).sum()),
        "n_tied": int((differences == 0).sum()),
        "n_lost": int((differences < 0).sum()),
        "n_users": len(differences),
        "n_undefined_score": int((undefined & ~base_undefined).sum()),
        "n_undefined_baseline": int((~undefined & base_undefined).sum()),
        "n_undefined_both": int((undefined & base_undefined).sum()),
    }


def p_value(differences: Array, test: Test, resampling: Resampling) -> float:
    """Return the two-sided p-value of no difference; NaN where the test has too few users."""
    if test == "permutation":
        return sign_flip_test(differences, resampling)
    stats = import_extra("scipy.stats", "stats", f"test={quote(test)}")
    if len(differences) < 2:
        return np.nan
    if not differences.any():
        return 1.0
    with warnings.catch_warnings():
        # Differences that are all the same have no variance: p = 0, which SciPy warns about.
        warnings.simplefilter("ignore", RuntimeWarning)
        if test == "ttest":
            return float(stats.ttest_rel(differences, np.zeros(len(differences))).pvalue)
        # Ranks of differences that are equal but for their last bits must be tied.
        return float(stats.wilcoxon(differences.round(12)).pvalue)


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
