"""df.rec.summary has the means, errors and intervals of pandas, SciPy and theory."""

import math

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.analysis.resampling import Resampling, bootstrap_interval, sign_flip_test

COLUMNS = ["mean", "low", "high", "n_users", "interval", "standard_error"]
DRAWS = Resampling(0.95, 9_999, 0)


def values_like_recall(n, seed=1):
    """Return n values k/5, skewed like a recall."""
    rng = np.random.default_rng(seed)
    return rng.binomial(5, rng.beta(0.3, 2.0, n)) / 5


def users_with(values):
    """Return a frame in which user i has precision@5 = values[i], a multiple of 1/5."""
    n = len(values)
    frame = pd.DataFrame(
        {"user": np.repeat(np.arange(n), 5), "score": np.tile(range(14, 9, -1), n)}
    )
    hits = np.repeat(np.rint(values * 5), 5)
    return frame.assign(relevant=(frame["score"] < 10 + hits).astype(int))


def test_columns_and_counts(frame):
    """Mean, standard error and counts follow from the per-user table."""
    bound = frame.assign(b_score=1).rec(short="pad")
    table = bound.summary()
    per_user = bound.evaluate()

    assert [*COLUMNS, "n_undefined"] == table.columns.tolist()
    assert per_user.columns.equals(table.index)
    pd.testing.assert_series_equal(per_user.mean(), table["mean"], check_names=False)
    pd.testing.assert_series_equal(per_user.sem(), table["standard_error"], check_names=False)
    assert [3, 2, 2, 3, 2, 2] == table["n_users"].tolist()
    assert [0, 1, 1, 0, 1, 1] == table["n_undefined"].tolist()


def test_undefined_users_have_a_column_where_there_are_any(frame):
    """The column of undefined users is left out if it would hold only zeros."""
    bound = frame.rec(short="pad")

    assert COLUMNS == bound.summary("precision@1").columns.tolist()
    assert [*COLUMNS, "n_undefined"] == bound.summary("recall@1").columns.tolist()
    assert COLUMNS == frame.rec(zero_division=0.0).summary("recall@1").columns.tolist()


def test_the_answer_is_seen_in_a_terminal_of_80_columns(frame, monkeypatch):
    """The text shows every column within 80 columns, the main ones first."""
    monkeypatch.setenv("COLUMNS", "80")
    table = frame.rename(columns={"score": "popularity_score"}).rec(short="pad").summary()
    with pd.option_context("display.max_columns", 0):  # A terminal has this setting.
        texts = [repr(shown) for shown in (table, table.round(3), table.iloc[:2])]
    with pd.option_context("display.max_columns", 4):  # Here the user asks for few columns.
        assert "..." in repr(table)

    for text in texts:
        assert "..." not in text
        assert 80 >= max(map(len, text.splitlines()))
        assert ["mean", "low", "high", "n_users"] == text.split()[:4]
        assert "n_undefined" in text


def test_means_are_those_of_mean(frame):
    """`summary` and `mean` have the same means, to the last bit."""
    bound = frame.rec(short="pad")
    means = bound.summary()["mean"]

    assert bound.mean().loc["score"].tolist() == means.tolist()


@pytest.mark.parametrize("n", [12, 150, 3_000])
def test_interval_agrees_with_scipy(n):
    """Bootstrap bounds agree with scipy.stats.bootstrap within random error."""
    stats = pytest.importorskip("scipy.stats")
    values = values_like_recall(n)
    low, high = bootstrap_interval(values, DRAWS)
    theirs = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=9_999, batch=500, rng=7
    ).confidence_interval

    # Means of fifths are 1 / 5n apart, which exceeds the random error of few users.
    near = max(0.05 * (theirs.high - theirs.low), 1 / (5 * n))
    np.testing.assert_allclose([theirs.low, theirs.high], [low, high], atol=near)


def test_interval_has_the_normal_width():
    """The interval of many users is the mean plus and minus 1.96 standard errors."""
    values = values_like_recall(20_000)
    error = values.std(ddof=1) / math.sqrt(len(values))
    low, high = bootstrap_interval(values, DRAWS)

    np.testing.assert_allclose([-1.96, 1.96], (np.array([low, high]) - values.mean()) / error, 0.04)


@pytest.mark.parametrize("n", [3_000, 30_000])
def test_interval_of_all_distinct_values(n):
    """Values that are all different are resampled in batches."""
    values = np.sort(np.random.default_rng(3).random(n))
    low, high = bootstrap_interval(values, Resampling(0.95, 1_500, 0))
    error = values.std(ddof=1) / math.sqrt(len(values))

    np.testing.assert_allclose([-1.96, 1.96], (np.array([low, high]) - values.mean()) / error, 0.15)


def test_many_different_values_keep_their_far_ones():
    """A resample has the one far value none to three times, although groups share draws."""
    values = np.append(np.arange(20_000) / 20_000, 1e4)
    low, high = bootstrap_interval(values, DRAWS)
    rest, of_far = values[:-1].mean(), 1e4 / len(values)

    np.testing.assert_allclose([rest, rest + 3 * of_far], [low, high], atol=0.01)


def test_groups_of_like_values_deviate_as_users_do(monkeypatch):
    """Grouped draws give the bounds of users drawn one by one, within random error."""
    values = np.sort(np.random.default_rng(5).pareto(3, 6_000))
    grouped = bootstrap_interval(values, DRAWS)
    monkeypatch.setattr("recframe.analysis.resampling.MOST_GROUPS", 6_000)
    alone = bootstrap_interval(values, DRAWS)

    assert grouped != alone
    np.testing.assert_allclose(alone, grouped, atol=0.1 * values.std() / math.sqrt(6_000))


@pytest.mark.parametrize("n_users", [70, 7_000])
def test_threads_change_nothing(monkeypatch, n_users):
    """Any number of threads draws the same numbers."""
    monkeypatch.setattr("recframe.analysis.resampling.CELLS_PER_BATCH", 100)
    draws = Resampling(0.9, 200, 3)
    values = np.arange(n_users) / 7 - 4.5
    drawn = {}
    for n in (1, 3):
        monkeypatch.setattr("recframe.kernel.threads.n_processors", lambda n=n: n)
        drawn[n] = bootstrap_interval(values, draws), sign_flip_test(values, draws)

    assert drawn[1] == drawn[3]


def test_a_million_users_are_resampled_in_little_memory():
    """A million users with few distinct values need no array of a million random numbers."""
    tracemalloc = pytest.importorskip("tracemalloc")
    values = values_like_recall(1_000_000)
    tracemalloc.start()
    low, high = bootstrap_interval(values, DRAWS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 4 * values.nbytes
    assert low < values.mean() < high


def test_the_seed_decides():
    """A seed decides the table, and a metric's row is the same alone as among others."""
    bound = users_with(values_like_recall(50)).rec
    table = bound.summary(["precision@5", "recall@5"])

    pd.testing.assert_frame_equal(table, bound.summary(["precision@5", "recall@5"]))
    few, others = (
        bound.summary("precision@5", n_resamples=7, seed=seed, interval="bootstrap")
        for seed in (0, 1)
    )
    assert not few.equals(others)
    own = table.iloc[:1][COLUMNS]
    pd.testing.assert_frame_equal(own, bound.summary("precision@5"))


@pytest.mark.parametrize(
    ("seed", "low", "high"),
    [
        (0, 0.7340245313911472, 0.7348022527100272),
        (1, 0.7331072154471545, 0.7343408423667571),
        (2**70, 0.7307668812104787, 0.7322751242095755),
    ],
)
def test_a_seed_means_the_same_interval_everywhere(seed, low, high):
    """A seed gives the same bounds on every NumPy."""
    values = np.repeat(np.arange(40) / 40, np.arange(1, 41) ** 2)
    interval = bootstrap_interval(values, Resampling(0.95, 2, seed))

    assert (low, high) == pytest.approx(interval, rel=1e-12)


@pytest.mark.parametrize(
    ("n_users", "seed", "low", "high"),
    [
        (3_000, 0, 0.49452120555555557, 0.5012465722222222),
        (3_000, 2**70, 0.49033024166666667, 0.5082585361111112),
        (70_000, 0, 0.49818479835673535, 0.499776470658993),
        (70_000, 2**70, 0.5000158350649405, 0.5002508984745043),
    ],
)
def test_a_seed_means_the_same_users_everywhere(n_users, seed, low, high):
    """A seed gives the same bounds on every NumPy, for few users and for many in groups."""
    interval = bootstrap_interval(np.arange(n_users) / n_users, Resampling(0.95, 2, seed))

    assert (low, high) == pytest.approx(interval, rel=1e-12)


def test_confidence_widens():
    """More confidence gives a wider interval around the same mean."""
    bound = users_with(values_like_recall(80)).rec
    wide, narrow = (
        bound.summary("precision@5", confidence=confidence).iloc[0] for confidence in (0.99, 0.5)
    )

    assert wide["low"] < narrow["low"] < narrow["mean"] < narrow["high"] < wide["high"]


def test_few_users():
    """One user has a mean without an interval, and two users have an interval."""
    one = users_with(np.array([0.4])).rec.summary("precision@5").iloc[0]
    assert [0.4, 1.0] == one[["mean", "n_users"]].tolist()
    assert one[["standard_error", "low", "high"]].isna().all()
    assert "none" == one["interval"]
    two = users_with(np.array([0.2, 0.6])).rec.summary("precision@5").iloc[0]
    assert [0.4, 0.0, 1.0, 2, "skewness-adjusted t"] == two[COLUMNS[:5]].tolist()
    same = users_with(np.full(9, 0.4)).rec.summary("precision@5").iloc[0]
    # Wilson: of 9 equal users at most a share of 0.2992 has another value, which may be 0 or 1.
    np.testing.assert_allclose([0.28034, 0.57949], same[["low", "high"]].tolist(), atol=1e-5)
    assert "Wilson score for equal values" == same["interval"]
    assert 0 == pytest.approx(same["standard_error"], abs=1e-15)


def test_no_user_with_a_value(frame):
    """A metric without a value for any user has no mean."""
    row = frame.assign(relevant=0).rec.summary("recall@1").iloc[0]

    assert [0, 3] == row[["n_users", "n_undefined"]].tolist()
    assert row[["mean", "standard_error", "low", "high"]].isna().all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"confidence": 95}, "confidence must be between 0 and 1, but is 95"),
        ({"confidence": 1.0}, "confidence must be between 0 and 1, but is 1.0"),
        ({"confidence": "0.9"}, "confidence must be between 0 and 1, but is '0.9'"),
        ({"n_resamples": 0}, "n_resamples must be an integer of 1 or more, but is 0"),
        ({"n_resamples": 1e4}, "n_resamples must be an integer of 1 or more, but is 10000.0"),
        ({"seed": None}, "seed must be an integer of 0 or more, but is None"),
        ({"interval": "bca"}, r"interval must be one of 'auto', 'wilson', .*'bca'"),
        ({"metrics": "recall"}, "'recall': recall needs a cut-off"),
    ],
)
def test_summary_refuses(frame, arguments, message):
    """Values out of range are refused."""
    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec.summary(**arguments)


def test_summary_plots():
    """One call of pandas plots bars with asymmetric errors."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    table = users_with(values_like_recall(50)).rec.summary(["precision@5", "recall@5"])
    errors = [table["mean"] - table["low"], table["high"] - table["mean"]]
    axes = table["mean"].plot.barh(xerr=errors)

    assert 2 == len(axes.patches)
    matplotlib.pyplot.close(axes.figure)
