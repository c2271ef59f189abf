"""Blocks of whole users: every plan gives the table of the whole frame, bit for bit."""

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
from recframe.metrics.names import make_metric

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


@settings(max_examples=48)
@given(st.data())
def test_files_equal_their_frame(tmp_path_factory, data):
    """With any dtypes, nulls and options a file gives what its frame gives, or both refuse."""
    kinds = data.draw(strategies.kinds())
    options = data.draw(strategies.options())
    if data.draw(st.integers(0, 3)):  # what is not refused has more to show
        options["short"] = options["short"].replace("raise", "pad")
        options["min_relevance"] = options["min_relevance"] or 1
        nulls = {"raise": (), "unranked": ("score",), "drop": ("user", "score")}[options["missing"]]
        rows = data.draw(strategies.rows(**kinds, nulls=nulls, min_rows=4))
    else:
        nulls = data.draw(st.sets(st.sampled_from(["user", "score", "relevant"])))
        rows = data.draw(strategies.rows(**kinds, nulls=nulls))
    frame = strategies.frame(rows, **kinds)
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
