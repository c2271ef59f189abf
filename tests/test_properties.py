"""Identities hold for frames of any values.

Tests of `precision`, `recall` and `r_precision` that compare metrics belong here.
"""

import math

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recframe
import recframe.dask
import recframe.polars
import strategies
from recframe.metrics.definitions import DEFINITIONS

LABELS = [strategies.label(*asked) for asked in strategies.every_metric(3)]
ROWS = strategies.rows(relevance="bool", min_rows=1)
SEEDS = st.integers(0, 2**32 - 1)


def evaluate(frame, labels=LABELS, **options):
    """Return the table of a frame, with short lists padded."""
    return frame.rec(short="pad", **options).evaluate(labels)["score"]


@given(ROWS, SEEDS)
def test_row_order_changes_nothing(rows, seed):
    """The order of rows changes no bit of the result."""
    frame = strategies.frame(rows)
    shuffled = frame.sample(frac=1, random_state=seed)
    for ties in ("expected", "best", "worst"):
        pd.testing.assert_frame_equal(
            evaluate(frame, ties=ties), evaluate(shuffled, ties=ties), check_exact=True
        )


@given(ROWS, st.sampled_from(strategies.TIES))
def test_renaming_users_changes_nothing(rows, ties):
    """Other ids of users change the order of the table, and no value."""
    frame = strategies.frame(rows)
    codes, users = pd.factorize(frame["user"])
    renamed = frame.assign(user=[f"u{99 - code}" for code in codes])
    expected = evaluate(frame, ties=ties).loc[users].to_numpy()
    actual = evaluate(renamed, ties=ties).loc[[f"u{99 - n}" for n in range(len(users))]].to_numpy()

    np.testing.assert_array_equal(expected, actual)


@given(strategies.rows(scores="ratings", min_rows=1), st.sampled_from(strategies.TIES))
def test_increasing_maps_of_scores_change_nothing(rows, ties):
    """Only the order of scores counts."""
    frame = strategies.frame(rows, scores="ratings")
    for change in (np.exp, np.arctan, lambda x: x**3 - 1e9, lambda x: x.astype("float32") / 7):
        mapped = frame.assign(score=change(frame["score"].astype(float)))
        pd.testing.assert_frame_equal(evaluate(frame, ties=ties), evaluate(mapped, ties=ties))


@given(ROWS, ROWS, st.sampled_from(strategies.TIES))
def test_other_users_change_nothing(rows, others, ties):
    """Adding users changes no other user's row."""
    frame = strategies.frame(rows)
    added = strategies.frame(others)
    added = added[~added["user"].isin(frame["user"])]
    # Scores that look like masks rank too.
    ranks_all = {"ties": ties, "min_score": -np.inf}
    both = evaluate(pd.concat([added, frame], ignore_index=True), **ranks_all)

    expected = evaluate(frame, **ranks_all)
    pd.testing.assert_frame_equal(expected, both.loc[expected.index])


@pytest.mark.parametrize("ties", strategies.TIES)
@pytest.mark.parametrize("n_scores", [9, 2**40])
def test_what_else_is_asked_changes_nothing(ties, n_scores):
    """A metric has the same bits alone, or with one of another depth, as among all metrics."""
    rng = np.random.default_rng(4)
    users = np.repeat(np.arange(40), rng.integers(1, 40, 40))
    scores, relevant = rng.integers(0, n_scores, len(users)), rng.random(len(users)) < 0.2
    frame = pd.DataFrame({"user": users, "score": scores, "relevant": relevant})
    expected = evaluate(frame, [*LABELS, "precision@1"], ties=ties)

    for labels in [each for label in LABELS for each in ([label], [label, "precision@1"])]:
        found = evaluate(frame, labels, ties=ties)
        pd.testing.assert_frame_equal(expected[labels], found, check_exact=True)


@given(
    strategies.rows(scores="sparse", relevance="sparse", min_rows=1),
    st.booleans(),
    st.lists(st.integers(1, 6), min_size=2, max_size=3, unique=True),
)
def test_cut_offs_and_whole_rankings_beside_each_other(rows, is_one_user, cut_offs):
    """Metrics with and without a cut-off have the same bits alone as together."""
    frame = strategies.frame(rows, scores="sparse", relevance="sparse")
    frame = frame.assign(user=1) if is_one_user else frame
    labels = strategies.at_cut_offs(cut_offs)
    alone = [evaluate(frame, label, min_relevance=1) for label in labels]

    together = evaluate(frame, labels, min_relevance=1)
    pd.testing.assert_frame_equal(pd.concat(alone, axis=1), together, check_exact=True)


def in_turn(make):
    """Return an engine that gets frames of one user, made by a function, one after the other."""

    def table(frames, labels, folder, **options):
        return pd.concat(recframe.evaluate(make(frame), labels, **options) for frame in frames)

    return table


def of_polars(frames, labels, folder, **options):
    """Return the table of frames of one user each by Polars' accessor."""
    tables = [pl.from_pandas(frame).rec(**options).evaluate(labels) for frame in frames]
    table = pl.concat(tables).to_pandas().set_index("user")[labels]
    return pd.concat({"score": table}, axis=1, names=["score", "metric"])


def of_files(frames, labels, folder, **options):
    """Return the table of a folder with a file for each user, read in blocks of one user."""
    for number, frame in enumerate(frames):
        frame.to_parquet(folder / f"{number}.parquet", index=False)
    blocks = list(recframe.iter_evaluate(folder, labels, memory="8KiB", **options))
    assert [1] * len(frames) == [len(block) for block in blocks]
    table = recframe.scan(folder, memory="8KiB")(**options).evaluate(labels)
    pd.testing.assert_frame_equal(pd.concat(blocks), table, check_exact=True)
    return table


def of_dask(frames, labels, folder, **options):
    """Return the table of a Dask DataFrame with a partition for each user."""
    ddf = dd.from_map(lambda frame: frame, frames, meta=frames[0][:0])
    lazy = ddf.rec(partitioned=True, **options).evaluate(labels)
    return lazy.compute(scheduler="sync")


ENTRY_POINTS = {
    "pandas": in_turn(lambda frame: frame),
    "Arrow": in_turn(lambda frame: pa.Table.from_pandas(frame, preserve_index=False)),
    "Polars": of_polars,
    "files": of_files,
    "Dask": of_dask,
}


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_cut_offs_and_whole_rankings_of_one_user_at_a_time(entry, tmp_path):
    """Every engine gives, user by user, the bits of pandas for all users and each metric alone."""
    frame, labels = strategies.sparse_frame(), strategies.at_cut_offs([1, 2, 5])
    options = {"short": "pad", "min_relevance": 1}
    frames = [rows for _, rows in frame.groupby("user")]
    expected = pd.concat([frame.rec(**options).evaluate(label) for label in labels], axis=1)

    found = ENTRY_POINTS[entry](frames, labels, tmp_path, **options)
    pd.testing.assert_frame_equal(expected, found, check_exact=True)


@given(ROWS, st.integers(1, 20), st.sampled_from(strategies.TIES))
def test_hits_agree(rows, k, ties):
    """hits@k equals k times precision@k and R times recall@k, and values are in [0, 1]."""
    frame = strategies.frame(rows)
    table = evaluate(frame, [f"precision@{k}", f"recall@{k}"], ties=ties, zero_division=0.0)
    n_relevant = frame.groupby("user")["relevant"].sum()

    assert table.min(axis=None) >= 0
    assert table.max(axis=None) <= 1
    np.testing.assert_allclose(
        k * table[f"precision@{k}"], n_relevant * table[f"recall@{k}"], rtol=1e-14
    )


@given(ROWS, st.sampled_from(strategies.TIES))
def test_every_value_is_in_0_to_1(rows, ties):
    """Metrics that are shares or probabilities stay in [0, 1] to the last bit."""
    bounded = [label for label in LABELS if DEFINITIONS[strategies.name_of(label)].is_bounded]
    table = evaluate(strategies.frame(rows), ties=ties, zero_division=0.0)

    assert table.min(axis=None) >= 0
    assert table[bounded].max(axis=None) <= 1


@given(ROWS, st.sampled_from(strategies.TIES))
def test_a_cut_off_beyond_all_rows_is_none(rows, ties):
    """A cut-off beyond the last row gives the same bits as no cut-off."""
    frame = strategies.frame(rows)
    names = [name for name, cut_off in strategies.METRICS.items() if cut_off == "optional"]
    whole = evaluate(frame, names, ties=ties)
    cut = evaluate(frame, [f"{name}@{len(rows)}" for name in names], ties=ties)

    np.testing.assert_array_equal(whole, cut)


@given(ROWS, st.sampled_from(strategies.TIES))
def test_r_precision_is_precision_and_recall_at_r(rows, ties):
    """R-precision equals precision@R and recall@R exactly."""
    frame = strategies.frame(rows)
    for user, n_relevant in frame.groupby("user")["relevant"].sum().items():
        if n_relevant == 0:
            continue
        labels = ["r_precision", f"precision@{n_relevant}", f"recall@{n_relevant}"]
        values = evaluate(frame[frame["user"] == user], labels, ties=ties).loc[user]
        assert 1 == values.nunique()


@given(ROWS, st.sampled_from(strategies.TIES))
def test_recall_never_falls_as_k_grows(rows, ties):
    """Recall never falls as k grows, and is 1 at the end of the list."""
    labels = [f"recall@{k}" for k in range(1, len(rows) + 1)]
    table = evaluate(strategies.frame(rows), labels, ties=ties, zero_division=1.0)

    assert (table.diff(axis=1).iloc[:, 1:] >= -1e-15).all(axis=None)
    assert (table[labels[-1]] == 1).all()


@given(ROWS)
def test_expected_lies_between_worst_and_best(rows):
    """The expected value and every order of ties lie between worst and best."""
    frame = strategies.frame(rows)
    tables = {ties: evaluate(frame, ties=ties, zero_division=0.0) for ties in strategies.TIES}
    for table in tables.values():
        low = [label for label in LABELS if strategies.name_of(label) in strategies.LOW_IS_BEST]
        table[low] *= -1

    for ties in ("expected", "first", "last"):
        assert (tables[ties] >= tables["worst"]).all(axis=None)
        assert (tables[ties] <= tables["best"]).all(axis=None)


@given(ROWS)
def test_last_is_first_of_the_reversed_frame(rows):
    """ties="last" equals ties="first" for the reversed frame."""
    frame = strategies.frame(rows)

    pd.testing.assert_frame_equal(evaluate(frame, ties="last"), evaluate(frame[::-1], ties="first"))


@given(ROWS)
def test_several_scores_are_evaluated_apart(rows):
    """Each score column has the same values alone as with others."""
    frame = strategies.frame(rows)
    second = frame.assign(score=frame["score"].iloc[::-1].to_numpy())
    both = frame.assign(b_score=second["score"])
    table = both.rec(short="pad").evaluate(LABELS)

    pd.testing.assert_frame_equal(evaluate(frame), table["score"])
    pd.testing.assert_frame_equal(evaluate(second), table["b_score"])


@given(ROWS)
def test_mean_is_the_mean_of_the_table(rows):
    """`mean` returns the means of the per-user table, without NaN."""
    frame = strategies.frame(rows)
    means = frame.rec(short="pad").mean(LABELS).loc["score"]
    for label, column in evaluate(frame).items():
        values = [value for value in column if not math.isnan(value)]
        expected = math.fsum(values) / len(values) if values else math.nan
        assert expected == pytest.approx(means[label], rel=1e-14, nan_ok=True)


@given(ROWS, st.sampled_from(strategies.TIES))
def test_top_agrees_with_rank(rows, ties):
    """`top` returns the rows ranked up to k, in the order of their ranks."""
    frame = strategies.frame(rows)
    ranks = frame.rec(ties=ties).rank()["score"]
    top = frame.rec(ties=ties).top(k=2)
    assume(len(top))

    assert set(ranks.index[ranks <= 2]) <= set(top.index)
    assert ranks.loc[top.index].tolist() == top["rank"].tolist()
    assert top["user"].is_monotonic_increasing
    assert top.groupby("user")["rank"].is_monotonic_increasing.all()
    if ties in ("first", "last"):
        assert set(ranks.index[ranks <= 2]) == set(top.index)


def test_a_user_without_hits_counts_in_the_mean():
    """A user with relevant rows and no hit counts as 0 in the mean."""
    frame = pd.DataFrame(
        {"user": [1, 1, 2, 2], "score": [0.9, 0.1, 0.9, 0.1], "relevant": [1, 0, 0, 1]}
    )

    assert [0.5, 0.5, 0.5] == frame.rec.mean(["precision@1", "recall@1", "r_precision"]).iloc[
        0
    ].tolist()
