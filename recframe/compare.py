"""Comparison: what each model changes against a baseline, paired over users."""

import warnings
from collections.abc import Hashable, Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from recframe.errors import RecframeError
from recframe.extras import import_extra
from recframe.kernel import Array
from recframe.resampling import Resampling, bootstrap_interval, sign_flip_test

Test = Literal["permutation", "ttest", "wilcoxon"]
Correction = Literal["holm", "bonferroni", "fdr_bh"]


def check_comparison(test: object, correction: object) -> None:
    """Raise unless the test and the correction are there."""
    if test not in get_args(Test):
        raise RecframeError(f"test must be one of {get_args(Test)}, found {test!r}")
    if correction is not None and correction not in get_args(Correction):
        raise RecframeError(
            f"correction must be None or one of {get_args(Correction)}, found {correction!r}"
        )


def compare_table(
    per_user: pd.DataFrame,
    baseline: Hashable | None,
    test: Test,
    correction: Correction | None,
    resampling: Resampling,
) -> pd.DataFrame:
    """Return what every other score changes against the baseline, a row for each metric."""
    scores, metrics = (list(per_user.columns.unique(level)) for level in ("score", "metric"))
    baseline = _check_baseline(scores, baseline)
    others = [score for score in scores if score != baseline]
    values = per_user.to_numpy().reshape(len(per_user), len(scores), len(metrics))
    base = values[:, scores.index(baseline)]
    rows = [
        _compare_pair(values[:, scores.index(score), column], base[:, column], test, resampling)
        for score in others
        for column in range(len(metrics))
    ]
    labels = [pd.Index(others, tupleize_cols=False), metrics]
    index = pd.MultiIndex.from_product(labels, names=["score", "metric"])
    table = pd.DataFrame(rows, index=index)
    corrected = correct(table["p_value"].to_numpy(), correction)
    table.insert(table.columns.get_loc("p_value") + 1, "p_corrected", corrected)
    return table.rename_axis(columns=baseline)


def _check_baseline(scores: Sequence[Hashable], baseline: Hashable | None) -> Hashable:
    """Return the baseline, the first score unless given; raise where there is nothing to compare."""
    if len(scores) < 2:
        raise RecframeError(
            f"compare needs two score columns or more, found {scores}; pass score= a list of them"
        )
    if baseline is None:
        return scores[0]
    if baseline not in scores:
        raise RecframeError(f"baseline must be one of the score columns {scores}, found {baseline!r}")
    return baseline


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
    stats = import_extra("scipy.stats", "stats", f"test={test!r}")
    if len(differences) < 2:
        return np.nan
    if not differences.any():
        return 1.0
    with warnings.catch_warnings():
        # Differences that are all the same have no variance: p = 0, which SciPy warns about.
        warnings.simplefilter("ignore", RuntimeWarning)
        if test == "ttest":
            return float(stats.ttest_rel(differences, np.zeros(len(differences))).pvalue)
        return float(stats.wilcoxon(differences).pvalue)


def correct(p_values: Array, correction: Correction | None) -> Array:
    """Return p-values corrected for their number; those that are NaN do not count.

    "holm" [1]_ and "bonferroni" bound the chance of any false finding, "fdr_bh" [2]_ the expected
    share of false ones among the findings.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
       Journal of Statistics 6, 1979.
    .. [2] Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the
       Royal Statistical Society B 57, 1995.
    """
    corrected = p_values.copy()
    known = np.flatnonzero(~np.isnan(p_values))
    if correction is None or len(known) == 0:
        return corrected
    if correction == "fdr_bh":
        stats = import_extra("scipy.stats", "stats", "correction='fdr_bh'")
        corrected[known] = stats.false_discovery_control(p_values[known], method="bh")
        return corrected
    rising = known[np.argsort(p_values[known], kind="stable")]
    n_left = len(known) - np.arange(len(known)) if correction == "holm" else len(known)
    corrected[rising] = np.minimum(np.maximum.accumulate(p_values[rising] * n_left), 1)
    return corrected
