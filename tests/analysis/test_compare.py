"""df.rec.compare agrees with SciPy, brute force and simulations.

Tests of `baseline`, `test`, `correction`, `n_resamples` and `seed` belong here.
"""

import itertools
import sys

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.analysis.compare import correct, scipy_test
from recframe.analysis.resampling import Resampling, max_t_test, sign_flip_test

COLUMNS = [
    *("difference", "low", "high", "p_corrected", "p_value"),
    *("relative", "effect", "detectable"),
    *("n_won", "n_tied", "n_lost", "n_users", "interval", "test"),
]
UNDEFINED = ["n_undefined_score", "n_undefined_baseline", "n_undefined_both"]
DRAWS = Resampling(0.95, 9_999, 0)
NINE = [0.2, -0.2, 0.4, 0.2, 0.0, 0.2, -0.4, 0.6, 0.2]


def two_models(shift, n_users=200, seed=0):
    """Return a frame in which the mean of recall@4 is 0.3, and for b_score 0.3 + shift.

    A user has eight rows, and the first one to three of them are relevant. A model puts each
    relevant row on top of the others with this probability, and below them otherwise.
    """
    rng = np.random.default_rng(seed)
    row = np.tile(np.arange(8), n_users)
    frame = pd.DataFrame({"user": np.repeat(np.arange(n_users), 8)})
    frame["relevant"] = row < np.repeat(rng.integers(1, 4, n_users), 8)
    for name, chance in (("a_score", 0.3), ("b_score", 0.3 + shift)):
        scores = rng.random(len(frame))
        on_top = np.where(rng.random(len(frame)) < chance, 1, -1)
        frame[name] = scores + frame["relevant"] * on_top
    return frame


@pytest.fixture
def models(frame):
    """Return the small frame with three score columns."""
    return frame.assign(b_score=frame["relevant"], c_score=-frame["relevant"])


def test_table_by_hand(models):
    """A table has a row for each other score and metric, with users won, tied, lost, left out."""
    table = models.rec.compare(["precision@2", "recall@1"])

    assert [*COLUMNS, "n_undefined_both"] == table.columns.tolist()
    assert "baseline: score" == table.columns.name
    labels = ["precision@2", "recall@1"]
    assert [(name, label) for name in ("b_score", "c_score") for label in labels] == list(
        table.index
    )
    assert ["score", "metric"] == table.index.names
    # precision@2 of ann, bob, cat: score 3/4, 0, 0; b_score 1, 1/2, 0; c_score 1/2, 0, 0.
    assert [0.25, -0.25 / 3] == table.xs("precision@2", level=1)["difference"].tolist()
    # recall@1 of ann and bob: score 1/2, 0; b_score 1/2, 1; c_score 0, 0; cat has none.
    assert [0.5, -0.25] == table.xs("recall@1", level=1)["difference"].tolist()
    users = table[["n_won", "n_tied", "n_lost", "n_users"]]
    assert [[2, 1, 0, 3], [1, 1, 0, 2], [0, 2, 1, 3], [0, 1, 1, 2]] == users.to_numpy().tolist()
    assert [0, 1, 0, 1] == table["n_undefined_both"].tolist()
    assert COLUMNS == models.rec.compare("precision@2").columns.tolist()


def test_the_answer_is_seen_in_a_terminal_of_80_columns(models, monkeypatch):
    """The first lines show the difference, its interval and the corrected p-value."""
    monkeypatch.setenv("COLUMNS", "80")
    named = models.rename(columns={"score": "popularity_score"})
    with pd.option_context("display.max_columns", 0):  # A terminal has this setting.
        lines = repr(named.rec.compare("precision@2")).splitlines()

    assert ["baseline:", "popularity_score", *COLUMNS[:4]] == lines[0].split()[:6]
    assert 80 >= max(map(len, lines))
    assert all(name in "".join(lines) for name in COLUMNS)


@pytest.mark.parametrize("label", [3, ("knn", 1), 2.5])
def test_the_baseline_is_named_in_text(label):
    """The columns' name is a text that names the baseline, for a label of any type."""
    columns = pd.Index(["user", "relevant", label, "b_score"], tupleize_cols=False)
    frame = pd.DataFrame([[1, 0, 2, 1], [1, 1, 1, 2]], columns=columns)
    table = frame.rec(score=[label, "b_score"]).compare("recall@1")

    assert f"baseline: {label}" == table.columns.name


def test_users_left_out():
    """Users without a value are counted under the model that lacks it."""
    frame = pd.DataFrame(
        {
            "user": [1, 1, 2, 2, 3, 3, 4, 4],
            "a_score": [1, 2, 1, None, 1, 2, None, None],
            "b_score": [1, 2, 1, 2, None, 2, None, 1],
            "relevant": 1,
        }
    )
    bound = frame.rec(short="nan", missing="unranked")
    row = bound.compare("precision@2").loc[("b_score", "precision@2")]

    assert [1, 1, 1, 1] == row[["n_users", *UNDEFINED]].tolist()
    swapped = bound.compare("precision@2", baseline="b_score").loc[("a_score", "precision@2")]
    assert [1, 1, 1, 1] == swapped[["n_users", *UNDEFINED]].tolist()
    one_sided = frame.iloc[:4].rec(short="nan", missing="unranked").compare("precision@2")
    assert [1, 1] == one_sided[["n_users", "n_undefined_baseline"]].iloc[0].tolist()
    assert [*COLUMNS, "n_undefined_baseline"] == one_sided.columns.tolist()


def test_baseline(models):
    """Another baseline turns the sign of the difference and of the users won."""
    forward = models.rec.compare("precision@2").loc[("b_score", "precision@2")]
    table = models.rec.compare("precision@2", baseline="b_score")
    backward = table.loc[("score", "precision@2")]

    assert ["score", "c_score"] == table.index.get_level_values("score").tolist()
    assert forward["difference"] == -backward["difference"]
    np.testing.assert_allclose(
        [forward["low"], forward["high"]], [-backward["high"], -backward["low"]]
    )
    assert [2, 0, 0, 2] == [*forward[["n_won", "n_lost"]], *backward[["n_won", "n_lost"]]]
    assert forward["p_value"] == backward["p_value"]


@pytest.mark.parametrize("differences", [NINE, [0.5, 0.5], [0.1, 0.1, 0.1], [0.0, 0.0, 0.3, -0.3]])
def test_few_users_have_an_exact_p_value(differences):
    """A test of few users tries every pattern of signs, as brute force and SciPy do."""
    stats = pytest.importorskip("scipy.stats")
    differences = np.array(differences)
    sums = [
        sum(sign * size for sign, size in zip(signs, np.abs(differences), strict=True))
        for signs in itertools.product([1, -1], repeat=len(differences))
    ]
    extreme = [abs(total) >= abs(differences.sum()) - 1e-12 for total in sums]
    by_scipy = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=np.inf
    )

    p, how = sign_flip_test(differences, DRAWS)
    assert (sum(extreme) / len(sums), "exact") == (p, how)
    assert by_scipy.pvalue == pytest.approx(p)


@pytest.mark.parametrize("shift", [0.0, 0.06, 0.12])
def test_many_users_have_the_p_value_of_scipy(shift):
    """The p-values of many users agree with SciPy's permutation test within random error."""
    stats = pytest.importorskip("scipy.stats")
    table = two_models(shift, n_users=300, seed=5).rec.evaluate("recall@4")
    differences = table["b_score", "recall@4"] - table["a_score", "recall@4"]
    theirs = stats.permutation_test(
        (differences.to_numpy(),),
        lambda values, axis: values.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9_999,
        batch=500,
        rng=3,
    ).pvalue

    ours, how = sign_flip_test(differences.to_numpy(), DRAWS)
    assert "drawn" == how
    assert theirs == pytest.approx(ours, abs=4 * np.sqrt(theirs / 5_000))


@pytest.mark.parametrize(("seed", "expected"), [(0, 0.5964), (1, 0.5985), (2**70, 0.6016)])
def test_a_seed_means_the_same_p_value_everywhere(seed, expected):
    """A seed gives the same p-value on every NumPy."""
    sizes = np.repeat(np.arange(40) / 40, np.arange(1, 41) ** 2)
    differences = np.where(np.arange(len(sizes)) % 2 == 0, sizes, -sizes)
    differences = np.append(differences, np.full(300, 0.2))

    assert (expected, "drawn") == sign_flip_test(differences, Resampling(0.95, 9_999, seed))


def test_no_p_value_is_zero():
    """The observed signs count as one of the random patterns, so no p-value is 0."""
    assert (1 / 10_000, "drawn") == sign_flip_test(np.full(100, 0.1), DRAWS)


@pytest.mark.parametrize("test", ["ttest", "wilcoxon"])
def test_tests_of_scipy(test):
    """The other tests equal SciPy's tests on the differences of the per-user table."""
    stats = pytest.importorskip("scipy.stats")
    frame = two_models(0.1)
    per_user = frame.rec.evaluate("recall@4")
    b, a = (per_user[name, "recall@4"] for name in ("b_score", "a_score"))
    # Rounded, because Wilcoxon ranks differences that differ in their last bits only.
    expected = {
        "ttest": stats.ttest_rel(b, a),
        "wilcoxon": stats.wilcoxon((b - a).round(12)),
    }[test].pvalue
    table = frame.rec.compare("recall@4", test=test)

    assert [expected] == pytest.approx(table["p_value"].tolist())


def test_wilcoxon_ties_differences_that_differ_by_rounding():
    """Wilcoxon's ranks treat 0.3 - 0.2 and 0.2 - 0.1 as equal differences."""
    stats = pytest.importorskip("scipy.stats")
    differences = np.array([0.3 - 0.2, 0.2 - 0.1, 0.1 - 0.2, 0.5, 0.7, -0.9, 0.4])

    expected = stats.wilcoxon(differences.round(12)).pvalue
    assert (expected, "wilcoxon") == scipy_test(differences, "wilcoxon")


@pytest.mark.parametrize("test", ["permutation", "ttest", "wilcoxon"])
def test_degenerate_differences(test):
    """The p-value is 1 without differences, small for equal ones and NaN without users."""
    pytest.importorskip("scipy.stats")

    def find_p_value(differences):
        scores = pd.DataFrame({"a": 0.0, "b": differences}, dtype=float)
        table = recframe.compare(scores.rename_axis(columns="score"), test=test)
        return table["p_value"].iloc[0]

    assert 1.0 == find_p_value(np.zeros(5))
    assert 0 <= find_p_value(np.full(8, 0.25)) < 0.01
    assert np.isnan(find_p_value([]))


def test_corrections_by_hand():
    """Holm, Bonferroni and Benjamini-Hochberg equal a hand count, and NaN does not count."""
    stats = pytest.importorskip("scipy.stats")
    p_values = np.array([0.01, 0.04, np.nan, 0.03, 0.005])

    np.testing.assert_allclose([0.03, 0.06, np.nan, 0.06, 0.02], correct(p_values, "holm"))
    np.testing.assert_allclose([0.04, 0.16, np.nan, 0.12, 0.02], correct(p_values, "bonferroni"))
    np.testing.assert_allclose([0.02, 0.04, np.nan, 0.04, 0.02], correct(p_values, "fdr_bh"))
    known = p_values[[0, 1, 3, 4]]
    np.testing.assert_allclose(
        stats.false_discovery_control(known), correct(p_values, "fdr_bh")[[0, 1, 3, 4]]
    )
    np.testing.assert_array_equal(p_values, correct(p_values, None))
    assert 1.0 == correct(np.array([0.7, 0.9]), "holm").max()
    assert np.isnan(correct(np.array([np.nan]), "fdr_bh")).all()


def test_correction_is_over_the_table(models):
    """The p-values of all scores and metrics are corrected together."""
    table = models.rec.compare(["precision@2", "recall@1"], correction="bonferroni")

    np.testing.assert_allclose(np.minimum(4 * table["p_value"], 1), table["p_corrected"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"baseline": "x"}, r"baseline must be a score column, one of \['score', 'b_score'"),
        ({"test": "z"}, r"test must be one of 'permutation', 'ttest', 'wilcoxon', but is 'z'"),
        ({"correction": "x"}, r"correction must be None or one of 'holm', .*but is 'x'"),
        ({"baseline": ["x"]}, r"baseline must be a score column, .*but is 'x'"),
        ({"baseline": []}, r"baseline must name a score column at least, but is \[\]"),
        ({"correction": "max_t", "test": "ttest"}, "correction='max_t' flips signs, .*'ttest'"),
        ({"interval": "wilson"}, r"interval must be one of 'auto', 'tango', .*but is 'wilson'"),
        ({"confidence": 2}, "confidence must be between 0 and 1, but is 2"),
        ({"metrics": "recall@9"}, "fewer than k=9 ranked rows"),
    ],
)
def test_compare_refuses(models, arguments, message):
    """Unknown baselines, tests, corrections and intervals are refused with the possible values."""
    with pytest.raises(recframe.RecframeError, match=message):
        models.rec.compare(**({"metrics": "recall@1"} | arguments))


def test_the_frame_is_never_changed(models):
    """Comparing writes nothing to the frame."""
    before = models.copy(deep=True)
    models.rec.compare("recall@1")

    pd.testing.assert_frame_equal(before, models)


def test_one_score_column(frame):
    """A comparison needs two score columns or more."""
    with pytest.raises(recframe.RecframeError, match="compare needs two score columns or more"):
        frame.rec.compare("recall@1")


@pytest.mark.parametrize("arguments", [{"test": "ttest"}, {"correction": "fdr_bh"}])
def test_without_scipy(models, monkeypatch, arguments):
    """Without SciPy its tests name the extra to install, and the default test still works."""
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    assert 2 == len(models.rec.compare("recall@1"))
    with pytest.raises(ImportError, match=r"needs scipy.*pip install 'recframe\[stats\]'"):
        models.rec.compare("recall@1", **arguments)


def test_relative_effect_and_detectable_by_hand(models):
    """The relative difference, effect and detectable difference equal a hand count."""
    stats = pytest.importorskip("scipy.stats")
    row = models.rec.compare("precision@2").loc[("b_score", "precision@2")]
    n_errors = stats.t.ppf(0.975, 2) + stats.t.ppf(0.8, 2)

    assert [1.0, 1.0] == pytest.approx(row[["relative", "effect"]].tolist())
    assert n_errors * 0.25 / np.sqrt(3) == pytest.approx(row["detectable"])
    words = ["skewness-adjusted t", "exact sign-flip permutation test"]
    assert words == row[["interval", "test"]].tolist()


def test_what_is_not_known_of_equal_users(frame):
    """The relative difference is NaN without a hit, and the effect is NaN without spread."""
    same = frame.assign(relevant=0, b_score=frame["score"])
    row = same.rec.compare("precision@2").iloc[0]

    assert [0.0, 1.0, "Wilson score for equal values"] == row[
        ["difference", "p_value", "interval"]
    ].tolist()
    assert row[["relative", "effect", "detectable"]].isna().all()
    assert -row["low"] == row["high"] > 0.5


def test_several_baselines(models):
    """A list takes each baseline, "all" makes every pair once, and the index names the baseline."""
    labels = ["score", "b_score", "c_score"]
    every = models.rec.compare("precision@2", baseline="all")
    two = models.rec.compare("precision@2", baseline=["b_score", "score"])
    one = models.rec.compare("precision@2", baseline=["b_score"])

    assert ["baseline", "score", "metric"] == every.index.names
    assert list(itertools.combinations(labels, 2)) == [row[:2] for row in every.index]
    assert [("b_score", "score"), ("b_score", "c_score"), ("score", "c_score")] == [
        row[:2] for row in two.index
    ]
    alone = models.rec.compare("precision@2", baseline="b_score")
    assert alone["difference"].tolist() == one["difference"].tolist()
    assert every.columns.name is None


def test_a_score_named_all_is_a_baseline(models):
    """A score column named "all" is taken as the baseline."""
    table = models.rename(columns={"b_score": "all"}).rec(score=["score", "all"])

    assert "baseline: all" == table.compare("precision@2", baseline="all").columns.name


def test_max_t_counts_columns_that_say_the_same_as_one():
    """max_t corrects ten copies of a column like one column, and Holm multiplies by ten."""
    differences = np.random.default_rng(2).normal(0.2, 1, (100, 1))
    p_value, _ = sign_flip_test(differences[:, 0], DRAWS)
    corrected = max_t_test(np.repeat(differences, 10, axis=1), DRAWS)

    assert [corrected[0]] * 10 == corrected.tolist()
    assert p_value == pytest.approx(corrected[0], abs=0.01)
    assert min(1, 10 * p_value) == pytest.approx(correct(np.full(10, p_value), "holm").max())


def test_max_t_of_few_users_is_exact():
    """max_t of 8 users tries all patterns of signs, as brute force does step by step."""
    values = np.random.default_rng(3).normal(0.5, 1, (8, 3))
    signs = np.array(list(itertools.product([1, -1], repeat=8)))
    lengths = np.sqrt((values**2).sum(axis=0))
    flipped = np.abs(signs @ values) / lengths
    observed = np.abs(values.sum(axis=0)) / lengths
    expected, largest = np.empty(3), 0.0
    for step, column in enumerate(order := np.argsort(-observed)):
        extreme = flipped[:, order[step:]].max(axis=1) >= observed[column] - 1e-9
        largest = expected[column] = max(largest, extreme.mean())

    np.testing.assert_allclose(expected, max_t_test(values, DRAWS))
    missing = np.column_stack([values, np.full(8, np.nan)])
    np.testing.assert_allclose([*expected, np.nan], max_t_test(missing, DRAWS))


def test_of_many_users_small_differences_add_up_to_a_normal_sum():
    """The p-values of very many users agree with SciPy's normal distribution."""
    stats = pytest.importorskip("scipy.stats")
    differences = np.random.default_rng(4).beta(0.3, 3, 30_000)
    differences[::2] *= -1
    z = abs(differences.sum()) / np.sqrt((differences**2).sum())
    columns = np.column_stack([differences, -differences, differences])

    p_value, how = sign_flip_test(differences, DRAWS)
    assert "drawn" == how
    assert 2 * stats.norm.sf(z) == pytest.approx(p_value, abs=0.02)
    assert [p_value] * 3 == pytest.approx(max_t_test(columns, DRAWS).tolist(), abs=0.02)


def test_the_order_of_users_changes_no_p_value():
    """The order of users changes no p-value, neither of a single test nor of max_t."""
    differences = np.random.default_rng(5).normal(0.1, 1, (300, 3))
    others = differences[::-1]

    assert sign_flip_test(differences[:, 0], DRAWS) == sign_flip_test(others[:, 0], DRAWS)
    assert max_t_test(differences, DRAWS).tolist() == max_t_test(others, DRAWS).tolist()
