"""recframe.iter_evaluate gives the tables of blocks: whole users, refusals and truth."""

import numpy as np
import pandas as pd
import pytest

import recframe
from files.layouts import FEW, SMALL, in_memory, one_sorted_file


def test_blocks_are_whole_users(large, tmp_path):
    """The tables of iter_evaluate have each user once; sorted files give them in order."""
    one_sorted_file(large, tmp_path)
    tables = list(recframe.iter_evaluate(tmp_path, FEW, short="pad", memory=SMALL))

    assert len(tables) > 3
    pd.testing.assert_frame_equal(in_memory(tmp_path, short="pad"), pd.concat(tables))


def test_files_without_rows_give_one_table(large, tmp_path):
    """Files without rows give one table with the usual dtypes."""
    one_sorted_file(large[:0], tmp_path)
    tables = list(recframe.iter_evaluate(tmp_path, FEW))

    assert 1 == len(tables)
    pd.testing.assert_frame_equal(in_memory(tmp_path), tables[0])


def test_refusals_of_a_part_say_so(large, tmp_path):
    """A refusal with counts of one block names the block as a part of the rows."""
    one_sorted_file(large.assign(relevant=7), tmp_path)
    with pytest.raises(
        recframe.RecframeError,
        match=r"1\. in a part of \d+ of the 300 rows: relevant='relevant': mu",
    ):
        recframe.evaluate(tmp_path, FEW, memory=SMALL)


@pytest.mark.parametrize("population", ["all", "rows"])
@pytest.mark.parametrize("grouped", [True, False])
def test_truth_over_many_blocks(tmp_path, population, grouped):
    """Truth judges every block, and users without rows come once, in the last table."""
    rng = np.random.default_rng(8)
    n_rows = 3_000
    frame = pd.DataFrame({"user": rng.integers(0, 90, n_rows), "item": range(n_rows)})
    frame["score"] = rng.random(n_rows).round(2)
    frame = frame.sort_values("user") if grouped else frame
    truth = frame.loc[::9, ["user", "item"]].assign(item=lambda rows: rows["item"] % 2_000)
    truth = pd.concat([truth, pd.DataFrame({"user": [95, 99], "item": [1, 2]})])
    frame.to_parquet(tmp_path / "run.parquet", row_group_size=200, index=False)
    truth.to_parquet(tmp_path / "truth.parquet", index=False)
    options = {"population": population, "short": "pad", "score": "score"}
    metrics = ["precision@3", "recall@3", "r_precision"]
    expected = frame.rec(truth=truth, **options).evaluate(metrics)

    path = tmp_path / "run.parquet"
    actual = recframe.evaluate(
        path, metrics, truth=tmp_path / "truth.parquet", memory="64KiB", **options
    )
    pd.testing.assert_frame_equal(expected, actual, check_exact=True)
    tables = list(recframe.iter_evaluate(path, metrics, truth=truth, memory="64KiB", **options))
    assert len(tables) > 3
    with pytest.raises(recframe.RecframeError, match="no user is in both the frame and truth"):
        recframe.evaluate(path, metrics, truth=truth[truth["user"] > 90], **options)


def test_no_table_of_absent_users_where_there_are_none(large, tmp_path):
    """If no user of truth is absent, only the tables of blocks are yielded."""
    large = large.assign(item=range(300))
    one_sorted_file(large, tmp_path)
    truth = large.loc[large["relevant"], ["user", "item"]]
    tables = list(
        recframe.iter_evaluate(tmp_path, FEW, truth=truth, short="pad", population="rows")
    )
    assert 1 == len(tables)
    tables = list(recframe.iter_evaluate(tmp_path, FEW, truth=truth, short="pad", population="all"))
    assert [40] == [len(table) for table in tables]

    absent = pd.concat([truth, pd.DataFrame({"user": ["user 999"], "item": [1]})])
    tables = list(
        recframe.iter_evaluate(tmp_path, FEW, truth=absent, short="pad", population="all")
    )
    assert ["user 999"] == tables[-1].index.tolist()
