"""Blocks of whole users: every plan gives the table of the whole frame, bit for bit."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recframe
import strategies
from layouts import (
    FEW,
    LAYOUTS,
    SMALL,
    evaluate_as_in_memory,
    in_memory,
    one_sorted_file,
    rewrite_text_bounds,
    shuffled_file,
    users_across_files,
)
from recframe.files.batches import read_batches
from recframe.files.blocks import _sweep
from recframe.files.budget import Progress
from recframe.files.footers import open_files
from recframe.files.sizes import ROW_BYTES, SCORE_BYTES, batch_bytes
from recframe.metrics.names import make_metric
from recframe.options import Options

METRICS = ["recall@2", *(make_metric(*asked).label for asked in strategies.every_metric(3))]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("ties", ["expected", "first", "last"])
def test_every_layout_gives_the_table_of_the_frame(large, tmp_path, layout, ties, spills):
    """Whatever the order and the cut of files; for ties row order is that of files."""
    layout(large, tmp_path)
    evaluate_as_in_memory(tmp_path, METRICS, ties=ties, short="pad", memory=SMALL)

    assert LAYOUTS[layout] == bool(spills)


@pytest.mark.parametrize("memory", [1, 2_000, "1GiB"])
def test_memory_changes_no_bit(large, tmp_path, memory):
    """Any amount of memory gives the same table."""
    shuffled_file(large, tmp_path)
    evaluate_as_in_memory(tmp_path, METRICS, short="pad", memory=memory)


@settings(max_examples=45)
@given(st.data())
def test_files_equal_their_frame(tmp_path_factory, data):
    """With any dtypes, nulls and options a file gives what its frame gives, or both refuse."""
    kinds = data.draw(strategies.kinds())
    nulls = data.draw(st.sets(st.sampled_from(["user", "score", "relevant"])))
    draw_rows = data.draw(st.sampled_from([strategies.rows, strategies.many_rows]))
    frame = strategies.frame(data.draw(draw_rows(**kinds, nulls=nulls)), **kinds)
    options = data.draw(strategies.options())
    asked = data.draw(st.lists(strategies.metrics(), min_size=1, max_size=3, unique=True))
    labels = [make_metric(name, k).label for name, k in asked]
    path = tmp_path_factory.getbasetemp() / "run.parquet"
    frame.to_parquet(path, row_group_size=2)
    frame = pd.read_parquet(path)  # a file without rows has no categories
    memory = data.draw(st.sampled_from([1, 800, "1GiB"]))
    try:
        expected = recframe.evaluate(frame, labels, **options)
    except recframe.RecframeError:
        with pytest.raises(
            recframe.RecframeError, match=r"null|must be boolean or 0/1|ranked rows"
        ):
            recframe.evaluate(path, labels, memory=memory, **options)
        return
    actual = recframe.evaluate(path, labels, memory=memory, **options)

    pd.testing.assert_frame_equal(expected, actual, check_exact=True)


@pytest.mark.parametrize("layout", [one_sorted_file, users_across_files])
def test_bounds_that_are_not_tight(large, tmp_path, layout, spills):
    """Writers may cut the statistics of long text short, downwards and upwards."""
    layout(large, tmp_path)
    expected = in_memory(tmp_path, short="pad")
    for path in tmp_path.iterdir():
        rewrite_text_bounds(path, lambda low, high: (low[:-1], high[:-1] + "\U0010ffff"))

    pd.testing.assert_frame_equal(
        expected, recframe.evaluate(tmp_path, FEW, short="pad", memory=2 * SMALL)
    )
    assert [] == spills


def test_statistics_that_lie(large, tmp_path):
    """A user below the bound of its row group is found, before a number is wrong."""
    one_sorted_file(large, tmp_path)
    rewrite_text_bounds(tmp_path / "0.parquet", lambda low, high: (low + "0", high))
    with pytest.raises(
        recframe.RecframeError,
        match=r"0.parquet: .*row group 0 say that no 'user' is below 'user 0000', but one is",
    ):
        recframe.evaluate(tmp_path, FEW, short="pad", memory=SMALL)


def test_one_ranking_ignores_the_memory(large, tmp_path):
    """user=None is one giant user: it is read whole."""
    shuffled_file(large, tmp_path)
    evaluate_as_in_memory(tmp_path, METRICS, user=None, memory=1)


def test_a_sweep_holds_no_more_than_its_memory(tmp_path):
    """Users are done with before the next row group would not fit, however many are carried on."""
    rows = {"score": 0.5, "relevant": True}
    pd.DataFrame({"user": np.arange(6_000), **rows}).to_parquet(tmp_path / "0.parquet")
    sorted_rows = pd.DataFrame({"user": np.arange(6_000).repeat(2), **rows})
    sorted_rows.to_parquet(tmp_path / "1.parquet", row_group_size=100)
    files = open_files(tmp_path, Options(), 1)
    size = partial(batch_bytes, row_bytes=ROW_BYTES + SCORE_BYTES)
    memory = 0
    held = []

    def read():
        for row_group, batch in read_batches(
            files, files.row_groups, memory // 16, Progress(0, print), encode=True
        ):
            held.append(size(batch))
            assert sum(held) <= memory + size(batch)  # the one that decides is read by then
            yield row_group, batch

    memory = int(6_000 * (ROW_BYTES + SCORE_BYTES + 17) / 0.7)  # the first file is most of it
    n_rows = 0
    for block in _sweep(files, read(), memory):
        held.extend(-size(batch) for batch in block)
        n_rows += sum(batch.num_rows for batch in block)

    assert 18_000 == n_rows


def test_tiny_row_groups_are_read_several_at_a_time(large, tmp_path, spills):
    """Where memory has room for many, they are one to the plan; no bit changes."""
    large.to_parquet(tmp_path / "0.parquet", row_group_size=2)
    files = open_files(tmp_path, Options(short="pad"), 100_000)
    evaluate_as_in_memory(tmp_path, METRICS, short="pad", memory=100_000)

    assert [] == spills
    assert 1 < len(files.row_groups) < 20
    assert 300 == files.n_rows
    indexes = [index for row_group in files.row_groups for index in row_group.indexes]
    assert list(range(150)) == indexes
    assert list(range(len(files.row_groups))) == [one.index_overall for one in files.row_groups]


def test_statistics_that_lie_of_several_row_groups(large, tmp_path):
    """Of row groups that are read as one, the message names the first and the last."""
    large.to_parquet(tmp_path / "0.parquet", row_group_size=2)
    rewrite_text_bounds(tmp_path / "0.parquet", lambda low, high: (low + "0", high))
    with pytest.raises(
        recframe.RecframeError, match=r"of row groups 0 to \d+ say that no 'user' is below"
    ):
        recframe.evaluate(tmp_path, FEW, short="pad", memory=100_000)
