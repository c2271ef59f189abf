"""Per-user tables become plain columns, and means of their parts give the mean of all."""

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe.frames.tables import mean_of_sums, mean_table, sum_and_count, tidy_table


@pytest.fixture
def table():
    """Return two users, two scores and two metrics; bob has no recall for the second score."""
    rows = {"user": ["bob", "bob", "ann", "ann"], "a_score": [1, 2, 3, 4], "relevant": [1, 0, 1, 0]}
    frame = pd.DataFrame(rows).assign(b_score=[1, 2, 4, 3])
    table = recframe.evaluate(frame, ["precision@1", "recall@1"])
    table.loc["bob", ("b_score", "recall@1")] = np.nan
    return table


def test_plain_columns(table):
    """Plain columns have a row for each user and score, in the order of the table."""
    expected = {
        "user": ["ann", "ann", "bob", "bob"],
        "score": ["a_score", "b_score"] * 2,
        "precision@1": [0.0, 1, 0, 0],
        "recall@1": [0.0, 1, 0, np.nan],
    }
    found = tidy_table(table)

    pd.testing.assert_frame_equal(pd.DataFrame(expected), found, check_dtype=False)
    assert list(expected) == found.columns.tolist()
    unnamed = tidy_table(table.rename_axis(index=None))
    assert list(expected) == unnamed.columns.tolist()
    for name in ("score", "recall@1"):
        with pytest.raises(recframe.RecframeError, match=f"user column '{name}' has a name that"):
            tidy_table(table.rename_axis(index=name))


def test_means_of_parts(table):
    """The sums and counts of parts give the means of the table, without NaN."""
    parts = [sum_and_count(table.iloc[:1]), sum_and_count(table.iloc[1:])]
    means = mean_table(table)

    assert [[0.0, 0.0], [0.5, 1.0]] == means.to_numpy().tolist()
    assert (["a_score", "b_score"], "score") == (means.index.tolist(), means.index.name)
    assert (["precision@1", "recall@1"], "metric") == (means.columns.tolist(), means.columns.name)
    pd.testing.assert_frame_equal(means, mean_of_sums(parts))
