"""An `interval` of a mean agrees with SciPy and its definition, also at the edges.

Tests of `confidence` belong here.
"""

import math
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pytest

from recframe.analysis.compare import Correction, Test
from recframe.analysis.display import WORDS
from recframe.analysis.intervals import has_limits, mean_interval, student_bound, wilson
from recframe.analysis.resampling import Interval, OfDifferences, Resampling
from recframe.errors import RecframeError

GUIDE = (Path(__file__).parents[2] / "examples/guide/compare.md").read_text("utf-8")


def how(interval="auto", confidence=0.95):
    """Return the settings of an interval."""
    return Resampling(confidence, 9_999, 0, interval)


def skewed(n, seed=0):
    """Return n values, most of them near 0."""
    return np.random.default_rng(seed).beta(0.3, 3, n)


@pytest.mark.parametrize("freedom", [1, 2, 3, 19, 200, 999, 1_000, 10**6])
def test_quantiles_are_those_of_scipy(freedom):
    """Quantiles of Student's t agree with SciPy's, and need no SciPy."""
    stats = pytest.importorskip("scipy.stats")
    confidences = [0.5, 0.8, 0.95, 0.99, 0.9999]
    ours = [student_bound((1 - confidence) / 2, freedom) for confidence in confidences]

    expected = stats.t.ppf([(1 + confidence) / 2 for confidence in confidences], freedom)
    np.testing.assert_allclose(expected, ours, rtol=1e-7)


@pytest.mark.parametrize(("n_hits", "n"), [(0, 20), (1, 20), (7, 20), (20, 20), (3, 5_000)])
@pytest.mark.parametrize("confidence", [0.8, 0.99])
def test_shares_have_the_interval_of_wilson(n_hits, n, confidence):
    """The Wilson interval equals SciPy's in binomtest, also without hits or with hits only."""
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(n_hits, n).proportion_ci(confidence, method="wilson")

    np.testing.assert_allclose(expected, wilson(n_hits / n, n, confidence), atol=1e-12)


def signs(n_won, n_lost, n):
    """Return differences of n users, n_won of them 1 and n_lost of them -1."""
    return np.repeat([1.0, -1.0, 0.0], [n_won, n_lost, n - n_won - n_lost])


def of_signs(n_won, n_lost, n, confidence=0.95, interval="tango"):
    """Return the interval of the mean of these differences."""
    asked = how(interval, confidence)
    return mean_interval(signs(n_won, n_lost, n), True, asked, are_differences=True)


@pytest.mark.parametrize(
    ("n_won", "n_lost", "n"), [(3, 0, 20), (7, 1, 21), (0, 4, 9), (40, 20, 90)]
)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_bounds_of_tango_are_as_far_as_the_score_test_goes(n_won, n_lost, n, confidence):
    """The score test at a bound of Tango's interval is just a normal quantile away."""
    stats = pytest.importorskip("scipy.stats")
    low, high, name = of_signs(n_won, n_lost, n, confidence)
    z_scores = []
    for bound in (low, high):
        lost = np.linspace(max(0, -bound), (1 - bound) / 2, 200_001)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log([lost + bound, lost, 1 - bound - 2 * lost])
            counts = np.array([[n_won], [n_lost], [n - n_won - n_lost]])
            likeliest = lost[np.nanargmax(np.where(counts > 0, counts * logs, 0).sum(axis=0))]
        error = math.sqrt((bound + 2 * likeliest - bound**2) / n)
        z_scores.append(((n_won - n_lost) / n - bound) / error)

    assert "tango" == name
    quantile = stats.norm.ppf((1 + confidence) / 2)
    np.testing.assert_allclose([quantile, -quantile], z_scores, rtol=1e-4)


def test_where_nobody_lost_tango_ends_as_wilson():
    """Tango's upper bound is Wilson's if no user lost, and swapping the models turns the signs."""
    low, high, _ = of_signs(3, 0, 20)

    assert wilson(3 / 20, 20, 0.95)[1] == pytest.approx(high)
    assert (-high, -low) == pytest.approx(of_signs(0, 3, 20)[:2])
    assert -1 / 20 < low < 0 < of_signs(4, 0, 20)[0]


@pytest.mark.parametrize(
    ("values", "label", "name"),
    [
        ([0, 1, 1, -1], "hit_rate@4", "tango"),
        ([0, 0, 1], "hit_rate@4", "tango"),
        ([0, 0, 0], "hit_rate@4", "equal"),
        ([0, 0.5, -1], "hit_rate@4", "skewed"),
        ([-1, 0, 1], "dcg@1", "tango"),
        ([0, 0, 1], "dcg@1", "skewed"),
    ],
)
def test_auto_is_chosen_by_the_differences(values, label, name):
    """Option "auto" takes Tango's interval for an unlimited metric only if both 1 and -1 occur."""
    values = np.array(values, float)
    limits = has_limits(label, np.abs(values))

    assert name == mean_interval(values, limits, how(), are_differences=True)[2]


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("sign", [1, -1])
def test_skewed_by_its_formula(confidence, sign):
    """The skewed interval is moved by the second term of the expansion and widened by it."""
    stats = pytest.importorskip("scipy.stats")
    values, n = 5 + sign * skewed(30), 30
    low, high, name = mean_interval(values, False, how("skewed", confidence))
    quantile = stats.t.ppf((1 + confidence) / 2, n - 1)
    step = stats.skew(values, bias=False) * values.std(ddof=1) / n

    assert "skewed" == name
    moved = (low + high) / 2 - values.mean()
    assert (1 + 2 * quantile**2) / 6 * step == pytest.approx(moved)
    widened = ((high - low) / 2 / quantile) ** 2 - values.var(ddof=1) / n
    assert (1.15 * quantile * step) ** 2 == pytest.approx(widened)
    assert sign * moved > 0


def test_without_skewness_it_is_student():
    """Symmetric values have Student's interval under "t" and "skewed"."""
    stats = pytest.importorskip("scipy.stats")
    values = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)

    for name in ("t", "skewed"):
        np.testing.assert_allclose(expected, mean_interval(values, False, how(name))[:2])


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([0, 1, 1, 0], "wilson"),
        ([0, 0, 0], "wilson"),
        ([0, 0.5, 1], "skewed"),
        ([0, 1, 30], "skewed"),
        ([-0.1, 0, 0.4], "skewed"),
        ([0.25, 0.25], "equal"),
        ([0.1 + 0.2, 0.3], "equal"),
        ([7, 7], "none"),
        ([0.5], "none"),
        ([], "none"),
    ],
)
def test_auto_is_chosen_by_the_values(values, name):
    """Option "auto" tells zeros and ones, skewed, signed, equal and too few values apart."""
    values = np.array(values, float)
    low, high, chosen = mean_interval(values, has_limits("recall@4", values), how())

    assert name == chosen
    assert math.isnan(low) == math.isnan(high) == (name == "none")


@pytest.mark.parametrize("label", ["dcg@10", "dcg(offset=0)", "mean('price')@3"])
def test_one_value_of_a_metric_without_limits_says_nothing(label):
    """Equal values of a metric without limits have no interval."""
    assert "none" == mean_interval(np.zeros(20), has_limits(label, np.zeros(20)), how())[2]


def test_users_without_a_hit_have_an_interval():
    """20 users without a hit leave shares up to 0.16 possible, and differences of 0 both ways."""
    share = 1.959963984540054**2 / (20 + 1.959963984540054**2)
    hits = mean_interval(np.zeros(20), True, how())
    same = mean_interval(np.zeros(20), True, how(), are_differences=True)

    assert (0.0, pytest.approx(share), "wilson") == hits
    assert (pytest.approx(-share), pytest.approx(share), "equal") == same


@pytest.mark.parametrize("name", ["skewed", "t", "bootstrap"])
def test_the_order_of_users_changes_nothing(name):
    """The order of users leaves the bounds the same to the last bit."""
    values = skewed(3_000)
    others = np.random.default_rng(5).permutation(values)
    asked = how(name)._replace(n_resamples=99)

    assert mean_interval(values, True, asked) == mean_interval(others, True, asked)


def test_intervals_stay_where_values_can_be():
    """The bounds stay in [0, 1] for a mean recall and in [-1, 1] for differences."""
    few = np.array([0.0, 0.0, 0.9])

    assert (0.0, 1.0) == mean_interval(few, True, how("t"))[:2]
    both = np.array([-0.9, 0.9])
    assert (-1.0, 1.0) == mean_interval(both, True, how(), are_differences=True)[:2]
    assert mean_interval(few, False, how("t"))[1] > 1


@pytest.mark.parametrize(("values", "found"), [([0.0, 0.5, 1.0], "not 0.5"), ([7.0, 7.0], "not 7")])
def test_wilson_refuses_other_values(values, found):
    """interval="wilson" is refused for values other than zeros and ones."""
    with pytest.raises(RecframeError, match=f"interval='wilson' is for .*{found}"):
        mean_interval(np.array(values), False, how("wilson"))


def test_tango_refuses_other_differences():
    """interval="tango" is refused for differences of values other than zeros and ones."""
    with pytest.raises(RecframeError, match=r"interval='tango' is for differences .*not 0\.5"):
        mean_interval(np.array([0.5, 1.0]), False, how("tango"), are_differences=True)


def test_the_guide_explains_every_choice():
    """The guide explains every interval, test and correction."""
    intervals = get_args(Literal[Interval, OfDifferences])[1:]
    names = [*intervals, *get_args(Test), *get_args(Correction)]
    words = [WORDS[name] for name in (*intervals, *get_args(Test)[1:], "equal", "exact", "drawn")]

    assert [] == [one for one in words if one not in " ".join(GUIDE.split())]
    assert [] == [name for name in names if f"{name}`" not in GUIDE.replace('"', "`")]
