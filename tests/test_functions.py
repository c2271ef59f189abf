"""recframe.evaluate equals the slow reference for generated frames."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import reference
import strategies
from recframe.metrics.definitions import DEFINITIONS

# The reference of other metrics tries all orders of ties, too many for long rankings.
CHEAP = [("precision", 3), ("recall", 7), ("r_precision", None), ("f1", 3), ("ndcg", 7)]
COLUMNS = st.sets(st.sampled_from(["user", "score", "relevant"]))


def needs_no_threshold(rows, asked, options):
    """Return whether metrics count only grades from 0 to 10, which no threshold changes."""
    are_of_grades = all(DEFINITIONS[name.partition("(")[0]].needs_gains for name, _ in asked)
    if options["min_relevance"] is not None or options["gain"] == "binary" or not are_of_grades:
        return False
    return all(0 <= row[2] <= 10 for row in reference.complete_rows(rows, options["missing"]))


def expected_table(rows, asked, options):
    """Return the reference's values: {label: {user: value}}."""
    if needs_no_threshold(rows, asked, options):
        options = options | {"min_relevance": 1e-9}
    return {
        strategies.label(name, k): reference.evaluate(rows, name, k, **options) for name, k in asked
    }


@given(st.data())
def test_evaluate_equals_the_reference(data):
    """Every value is the float nearest to the exact one, sums are close to it, or both refuse."""
    kinds = data.draw(strategies.kinds())
    rows = data.draw(strategies.rows(**kinds, nulls=data.draw(COLUMNS)))
    options = data.draw(strategies.options())
    asked = data.draw(st.lists(strategies.metrics(), min_size=1, max_size=3, unique=True))
    frame = strategies.frame(rows, **kinds)
    labels = [strategies.label(name, k) for name, k in asked]
    try:
        expected = expected_table(rows, asked, options)
    except reference.Refused:
        with pytest.raises(
            recframe.RecframeError, match=r"null|must be boolean or 0/1|ranked rows"
        ):
            recframe.evaluate(frame, labels, **options)
        return
    table = recframe.evaluate(frame, labels, **options)
    for label in labels:
        actual = table["score", label]

        assert set(expected[label]) == set(actual.index)
        for user, value in actual.items():
            strategies.assert_value(expected[label][user], value, label.partition("@")[0])


@given(st.data())
def test_one_relevant_row_a_user_equals_the_reference(data):
    """The shortcut for one relevant row by user gives the values of sorting, for all rules."""
    kinds = data.draw(strategies.kinds()) | {"relevance": "bool"}
    options = data.draw(strategies.options(missing="unranked", short="pad", min_relevance=None))
    seen = set()
    rows = []
    for user, score, relevant in data.draw(strategies.rows(**kinds)):
        rows.append((user, score, relevant and user not in seen))
        seen |= {user} if relevant else set()
    asked = strategies.every_metric(data.draw(st.integers(1, 3)))
    frame = strategies.frame(rows, **kinds)
    table = frame.rec(**options).evaluate([strategies.label(name, k) for name, k in asked])
    for label, values in expected_table(rows, asked, options).items():
        for user, value in table["score", label].items():
            strategies.assert_value(values[user], value, label.partition("@")[0])


@given(st.data())
def test_rank_equals_the_reference(data):
    """Every row's position equals the reference's, and tied rows share their mean."""
    kinds = data.draw(strategies.kinds()) | {"relevance": "binary"}
    rows = data.draw(strategies.rows(**kinds, nulls={"score"}))
    ties = data.draw(st.sampled_from(strategies.TIES))
    ascending = data.draw(st.booleans())
    frame = strategies.frame(rows, **kinds)
    # A score of inf masks its row.
    if ascending:
        rows = [(user, None if score == math.inf else score, flag) for user, score, flag in rows]
    positions = reference.ranks(rows, ties, ascending)
    if ties in ("best", "worst"):
        groups = pd.DataFrame(rows, columns=["user", "score", "relevant"], dtype=object)
        groups["position"] = [math.nan if p is None else float(p) for p in positions]
        positions = groups.groupby(["user", "score", "relevant"], dropna=False)["position"]
        positions = positions.transform("mean").tolist() if rows else []

    actual = frame.rec(ties=ties, missing="unranked", ascending=ascending).rank()["score"]

    expected = [math.nan if position is None else float(position) for position in positions]
    pd.testing.assert_series_equal(
        pd.Series(expected, name="score", dtype=float), actual, check_names=False
    )


@pytest.mark.parametrize(
    ("ties", "scores"),
    [
        *((ties, "float64") for ties in strategies.TIES),
        *(("expected", each) for each in ("float32", "ratings", "wide", "close", "cents")),
    ],
)
def test_many_chunks_equal_one_user_at_a_time(ties, scores, monkeypatch):
    """Splitting the rows into chunks, blocks and threads changes no bit of the result."""
    rng = np.random.default_rng(3)
    n_rows = 2_000
    values = {
        "float64": rng.normal(size=n_rows).round(1) * math.pi,
        "float32": rng.normal(size=n_rows).astype(np.float32).round(1),
        "ratings": rng.integers(1, 6, n_rows),
        "cents": rng.normal(size=n_rows).round(2),
        "close": rng.choice([1, 1 + 2.0**-52, 1 + 2.0**-51, 3, 7], n_rows),
        "wide": rng.choice([1e300, -1e300, 1e-300, -1e-300, 3e-310, 0.0, -0.0, math.inf], n_rows),
    }[scores]
    frame = pd.DataFrame(
        {
            "user": (rng.pareto(1, n_rows) * 3).astype(int),
            "score": values,
            "relevant": rng.random(n_rows) < 0.3,
        }
    )
    asked = list(dict.fromkeys([*strategies.every_metric(3), *strategies.every_metric(7)]))
    labels = [strategies.label(name, k) for name, k in asked]
    whole = frame.rec(ties=ties, short="pad").evaluate(labels)
    ranks = frame.rec(ties=ties).rank()
    monkeypatch.setattr("recframe.kernel.threads.ROWS_PER_THREAD", 170)
    monkeypatch.setattr("recframe.kernel.ranking.SLICE", 64)
    monkeypatch.setattr("recframe.kernel.grouping.SLICE", 64)

    pd.testing.assert_frame_equal(whole, frame.rec(ties=ties, short="pad").evaluate(labels))
    pd.testing.assert_frame_equal(ranks, frame.rec(ties=ties).rank())
    rows = list(frame.itertuples(index=False, name=None))
    options = {"short": "pad", "missing": "raise", "zero_division": math.nan}
    for name, k in CHEAP:
        expected = reference.evaluate(
            rows, name, k, ties=ties, min_relevance=None, min_score=None, **options
        )
        for user, value in whole["score", strategies.label(name, k)].items():
            strategies.assert_value(expected[user], value, name)
