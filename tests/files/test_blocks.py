"""Blocks of whole users: every plan gives the table of the whole frame, bit for bit."""

import threading
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import strategies
from files.layouts import (
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
from files.opening import open_files
from recframe.files import blocks
from recframe.files.batches import batch_bytes, next_ahead, read_batches
from recframe.files.blocks import (
    _are_below,
    _in_order,
    _most_open,
    _split,
    _sweep,
    iter_blocks,
    make_frame,
    plan_blocks,
)
from recframe.files.footers import FREE, ROW_BYTES, SCORE_BYTES
from recframe.files.limits import Limits, Progress
from recframe.files.row_groups import RowGroup
from recframe.files.source_files import SourceFile
from recframe.options import Options

METRICS = ["recall@2", *(strategies.label(*asked) for asked in strategies.every_metric(3))]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("ties", ["expected", "last"])
def test_every_layout_gives_the_table_of_the_frame(large, tmp_path, layout, ties, spills):
    """Every order and split of files gives the table of the frame, also with ties by row order."""
    layout(large, tmp_path)
    evaluate_as_in_memory(tmp_path, METRICS, ties=ties, short="pad", memory=SMALL)

    assert LAYOUTS[layout] == bool(spills)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_ample_memory_needs_no_temporary_file(large, tmp_path, layout, spills):
    """Rows in random order are one block if they fit, with the same bits."""
    layout(large, tmp_path)
    evaluate_as_in_memory(tmp_path, METRICS, ties="first", short="pad", memory="1GiB")

    assert [] == spills


def test_nulls_dropped_are_told(large, tmp_path):
    """Dropped rows count as done, and a refusal has the number of nulls."""
    shuffled_file(large.assign(user=large["user"].where(large.index % 3 > 0)), tmp_path)
    done = []
    expected = in_memory(tmp_path, short="pad", missing="drop")
    actual = recframe.evaluate(
        tmp_path, FEW, short="pad", missing="drop", progress=lambda *numbers: done.append(numbers)
    )

    pd.testing.assert_frame_equal(expected, actual, check_exact=True)
    assert (len(large), len(large)) == done[-1]
    with pytest.raises(recframe.RecframeError, match="user='user': ids must not be null, but"):
        recframe.evaluate(tmp_path, FEW, short="pad", memory="1GiB")


@pytest.mark.parametrize("memory", [1, 2_000, "1GiB"])
def test_memory_changes_no_bit(large, tmp_path, memory):
    """Any amount of memory gives the same table."""
    shuffled_file(large, tmp_path)
    evaluate_as_in_memory(tmp_path, METRICS, short="pad", memory=memory)


@given(st.data())
def test_files_equal_their_frame(tmp_path_factory, data):
    """A file gives the result of its frame for all dtypes, nulls and options, or both refuse."""
    kinds = data.draw(strategies.kinds())
    options = data.draw(strategies.options())
    if data.draw(st.integers(0, 3)):  # Tables show more than refusals.
        options["short"] = options["short"].replace("raise", "pad")
        options["min_relevance"] = options["min_relevance"] or 1
        nulls = {"raise": (), "unranked": ("score",), "drop": ("user", "score")}[options["missing"]]
        rows = data.draw(strategies.rows(**kinds, nulls=nulls, min_rows=4))
    else:
        nulls = data.draw(st.sets(st.sampled_from(["user", "score", "relevant"])))
        rows = data.draw(strategies.rows(**kinds, nulls=nulls))
    frame = strategies.frame(rows, **kinds)
    asked = data.draw(st.lists(strategies.metrics(), min_size=1, max_size=3, unique=True))
    labels = [strategies.label(name, k) for name, k in asked]
    path = tmp_path_factory.getbasetemp() / "run.parquet"
    frame.to_parquet(path, row_group_size=2)
    frame = pd.read_parquet(path)
    if kinds["users"] == "category":  # Files give plain values.
        frame["user"] = frame["user"].astype(pd.Series([""]).dtype)
    memory = data.draw(st.sampled_from([1, 800, "1GiB"]))
    try:
        expected = recframe.evaluate(frame, labels, **options)
    except recframe.RecframeError:
        with pytest.raises(
            recframe.RecframeError, match=r"null|must not be inf|must be boolean or 0/1|ranked rows"
        ):
            recframe.evaluate(path, labels, memory=memory, **options)
        return
    actual = recframe.evaluate(path, labels, memory=memory, **options)

    pd.testing.assert_frame_equal(expected, actual, check_exact=True)


@pytest.mark.parametrize("layout", [one_sorted_file, users_across_files])
def test_bounds_that_are_not_tight(large, tmp_path, layout, spills):
    """Statistics of long text may be truncated in both directions."""
    layout(large, tmp_path)
    expected = in_memory(tmp_path, short="pad")
    for path in tmp_path.iterdir():
        rewrite_text_bounds(path, lambda low, high: (low[:-1], high[:-1] + "\U0010ffff"))

    pd.testing.assert_frame_equal(
        expected, recframe.evaluate(tmp_path, FEW, short="pad", memory=2 * SMALL)
    )
    assert [] == spills


def test_statistics_that_lie(large, tmp_path):
    """A user below the bound of its row group is refused before any result."""
    one_sorted_file(large, tmp_path)
    rewrite_text_bounds(tmp_path / "0.parquet", lambda low, high: (low + "0", high))
    with pytest.raises(
        recframe.RecframeError,
        match=r"0.parquet: .*row group 0 say that no 'user' is below 'user 0000', but one is",
    ):
        recframe.evaluate(tmp_path, FEW, short="pad", memory=SMALL)


def test_one_ranking_ignores_the_memory(large, tmp_path):
    """With user=None, all rows are one block."""
    shuffled_file(large, tmp_path)
    evaluate_as_in_memory(tmp_path, METRICS, user=None, memory=1)


def test_a_sweep_holds_no_more_than_its_memory(tmp_path):
    """A sweep ends blocks before the next row group would not fit."""
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
            files, files.row_groups, memory // 16, Progress(0, print)
        ):
            held.append(size(batch))
            assert sum(held) <= memory + size(batch)  # The next batch has been read.
            yield row_group, batch

    memory = int(6_000 * (ROW_BYTES + SCORE_BYTES + 17) / 0.7)  # The first file takes most of it.
    n_rows = 0
    for block in _sweep(files, read(), memory):
        held.extend(-size(batch) for batch in block)
        n_rows += sum(batch.num_rows for batch in block)

    assert 18_000 == n_rows


def plan(*bounds, kind="int64", n_rows=10, n_scores=1):
    """Return files with row groups of 1,000 bytes, with these lowest and highest users."""
    columns = SimpleNamespace(scores=["score"] * n_scores, labels=["user"])
    row_bytes = ROW_BYTES + n_scores * SCORE_BYTES
    row_groups = [
        RowGroup(
            index,
            SourceFile("0", {}),
            index,
            n_rows,
            1000 + n_rows * row_bytes,
            (),
            *bound,
        )
        for index, bound in enumerate(bounds)
    ]
    types = {"user": getattr(pa, kind)()} if isinstance(kind, str) else {"user": kind}
    return SimpleNamespace(
        companions={},
        columns=columns,
        row_groups=row_groups,
        row_bytes=row_bytes,
        memory=1,
        types=types,
        users=["user"],
        open_bytes=0,
    )


OF_ONE = 1000 + 10 * (64 + 32)  # bytes of a row group in a plan
OPEN = {
    "one": ([(1, 9)], 1),
    "apart": ([(1, 2), (3, 4), (5, 6)], 1),
    "touching": ([(1, 2), (2, 3), (3, 4)], 1),
    "all at once": ([(1, 9), (1, 9), (1, 9)], 3),
    "within": ([(1, 9), (2, 3), (4, 5), (6, 7)], 2),
    "at the end": ([(1, 2), (3, 9), (4, 8), (5, 7), (8, 9)], 3),
    "at the beginning": ([(1, 3), (2, 3), (3, 3), (4, 5), (6, 7)], 2),
    "in the middle": ([(1, 2), (3, 5), (4, 6), (5, 9), (7, 8), (9, 9)], 2),
}


@pytest.mark.parametrize("case", OPEN)
def test_what_a_sweep_holds_at_most(case):
    """A sweep holds a row group until one begins that cannot have its users."""
    bounds, most = OPEN[case]
    files = plan(*bounds)

    assert most * OF_ONE == _most_open(files, files.row_groups)
    files = plan(*bounds, n_scores=2)
    assert most * (OF_ONE + 320) == _most_open(files, files.row_groups)


def test_what_touches_has_users_in_common_where_several_columns_tell_them_apart():
    """If several columns name a user, row groups with a common id of the first stay together."""
    files = plan((1, 2), (2, 2), (2, 3))

    assert OF_ONE == _most_open(files, files.row_groups)
    files.users.append("fold")
    assert 3 * OF_ONE == _most_open(files, files.row_groups)


def test_the_order_of_a_sweep():
    """Row groups are read in order of their lowest users, then of their highest."""
    files = plan((3, 4), (1, 9), (2, 2), (1, 3), (2, 2))

    assert [3, 1, 2, 4, 0] == [row_group.index_overall for row_group in _in_order(files)]


@pytest.mark.parametrize("bounds", [[(None, None)], [(1, 2), (None, None)], [(None, None), (1, 2)]])
def test_no_sweep_without_bounds(bounds):
    """A row group with unknown bounds prevents a sweep, because it may have any user."""
    assert _in_order(plan(*bounds)) is None


def test_no_sweep_of_one_ranking():
    """Row groups without users have no order."""
    files = plan((1, 2))
    files.users = []

    assert _in_order(files) is None


SWEPT = ["int8", "uint64", "float32", "float64", "string", "binary", "date32", "date64"]
OTHERS = [pa.bool_(), pa.decimal128(9, 2), pa.time32("s"), pa.duration("s"), pa.float16()]


@pytest.mark.parametrize("kind", [*SWEPT, pa.timestamp("us"), *OTHERS], ids=str)
def test_kinds_of_users_that_are_swept(kind):
    """Users are swept only if bounds sort like ids of their type."""
    assert (kind in OTHERS) == (_in_order(plan((1, 2), kind=kind)) is None)


@pytest.mark.parametrize("ids", [[1, 2, 3, 4], [4, 3, 2, 1], [2, 4, 1, 3], [3, 3], [2, 2], []])
@pytest.mark.parametrize("encode", [False, True])
def test_rows_below_a_bound(ids, encode):
    """Rows are split by a bound of users, and both parts stay in order."""
    array = pa.array(ids, pa.int64())
    array = array.dictionary_encode() if encode else array
    batch = pa.record_batch({"user": array, "row": np.arange(len(ids))})
    done, held = _split([(None, batch), (None, batch)], "user", 3)
    below = [row for row, one in enumerate(ids) if one < 3]
    others = [row for row, one in enumerate(ids) if one >= 3]

    assert [one < 3 for one in ids] == _are_below(array, 3).to_pylist()
    assert [below] * 2 * bool(below) == [part["row"].to_pylist() for _, part in done]
    assert [others] * 2 * bool(others) == [part["row"].to_pylist() for _, part in held]


def sweep(files, memory):
    """Return the number of rows in each block of a sweep over files."""
    batch_rows = 10
    reads = (
        (row_group, pa.record_batch({"user": np.linspace(*bounds, batch_rows).astype(int)}))
        for row_group in files.row_groups
        for bounds in [(row_group.low, row_group.high)]
    )
    return [sum(batch.num_rows for batch in block) for block in _sweep(files, reads, memory)]


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        (1, [10] * 6),
        (4 * 1040, [10] * 6),
        (4 * 1040 + 4, [20] * 3),
        (12 * 1040, [30, 30]),
        (12 * 1040 + 4, [40, 20]),
        (24 * 1040, [60]),
    ],
)
def test_blocks_of_a_sweep(memory, expected):
    """A block ends at a quarter of the memory, or if the next row group would not fit."""
    files = plan(*[(number, number) for number in range(6)])

    assert expected == sweep(files, memory)


def test_a_sweep_carries_on_who_may_come_again():
    """Users that a later row group may have are kept for a later block."""
    files = plan((0, 9), (5, 14), (10, 19), (20, 29))

    assert [5, 10, 15, 10] == sweep(files, 1)


def test_a_sweep_waits_for_twice_what_it_carries(monkeypatch):
    """Kept rows are copied once, not with every row group."""
    monkeypatch.setattr(blocks, "MOST_ROWS", 1)
    files = plan(*[(0, 99)] * 20)
    n_split = []
    monkeypatch.setattr(
        blocks, "_split", lambda *arguments: n_split.append(1) or _split(*arguments)
    )

    assert [200] == sweep(files, 1 << 30)
    assert 5 == len(n_split)


def test_least_memory_of_many_scores():
    """Blocks of many columns have more rows, so that columns take less time than rows."""
    assert [32, 128, 3200 * 100, FREE] == [
        plan_blocks(plan((1, 2), n_scores=n_scores)).memory for n_scores in (1, 2, 100, 2000)
    ]


@pytest.fixture
def made_spills(monkeypatch):
    """Return the list of bucket numbers and levels of all spills."""
    made = []

    class Spill(blocks.Spill):
        def __init__(self, folder, schema, users, n_buckets, level):
            made.append((n_buckets, level))
            super().__init__(folder, schema, users, n_buckets, level)

    monkeypatch.setattr(blocks, "Spill", Spill)
    return made


def spill_users(tmp_path, users, memory):
    """Evaluate shuffled rows of numbered users, and return their bytes and frames."""
    rows = {"user": users, "score": np.arange(len(users)), "relevant": True}
    pd.DataFrame(rows).to_parquet(tmp_path / "0.parquet")
    files = open_files(tmp_path, Options(), memory)
    limits, progress = Limits(memory, None, False), Progress(0, lambda *_: None)
    frames = [frame for (frame,) in iter_blocks(files, limits, progress, list)]

    assert len(users) == sum(map(len, frames))
    assert len(set(users)) == sum(frame["user"].nunique() for frame in frames)
    (row_group,) = files.row_groups
    return row_group.n_bytes, frames


def test_how_many_buckets(tmp_path, made_spills):
    """A bucket has a quarter of the memory on average."""
    users = np.random.default_rng(0).permutation(2000)
    for memory in (160_000, 40_000):
        made_spills.clear()
        n_bytes, frames = spill_users(tmp_path, users, memory)

        assert [(-(-n_bytes // (memory // 4)), 0)] == made_spills
        assert made_spills[0][0] == len(frames)


def test_no_more_buckets_than_so_many(tmp_path, made_spills):
    """With less memory, buckets are larger, and too large ones are spilled again by other bits."""
    users = np.random.default_rng(0).permutation(700)
    spill_users(tmp_path, users, 1100)

    assert (blocks.MAX_BUCKETS, 0) == made_spills[0]
    assert {1} == {level for _, level in made_spills[1:]}
    assert 1 < len(made_spills) <= blocks.MAX_BUCKETS


def test_levels_of_a_spill(tmp_path, made_spills, monkeypatch):
    """Buckets that are too large after the last level become blocks."""
    bits = np.array([sum(3 * (user >> at & 1) << 16 * at for at in range(4)) for user in range(32)])
    monkeypatch.setattr(blocks, "hash_users", lambda ids: bits.astype(np.uint64)[ids.to_numpy()])
    _, frames = spill_users(tmp_path, np.arange(32).repeat(10), 1)

    assert {0, 1, 2, 3} == {level for _, level in made_spills}
    parts = sorted(frame["user"].unique().tolist() for frame in frames)
    assert [[user, user + 16] for user in range(16)] == parts


def test_a_bucket_with_most_rows_is_taken_whole(tmp_path, made_spills):
    """A giant user cannot be split, so it is not spilled again and again."""
    users = np.append(np.zeros(1000, int), np.random.default_rng(0).permutation(100))
    _, frames = spill_users(tmp_path, users, 4000)

    assert [0] == [level for _, level in made_spills]
    assert 1000 < max(map(len, frames)) < 1100


def test_categories_are_those_of_the_rows():
    """Texts become categories in the order of rows, and null has no category."""
    ids = [pa.array(part).dictionary_encode() for part in (["b", "a", None], ["c", "b"])]
    files = SimpleNamespace(columns=SimpleNamespace(labels=[7]), types={"7": pa.string()})
    found = make_frame([pa.record_batch({"7": part}) for part in ids], files)[7].cat

    assert ["b", "a", "c"] == found.categories.tolist()
    assert [0, 1, -1, 2, 0] == found.codes.tolist()


def test_reading_ahead_may_end_in_its_own_thread():
    """An iterator that an error abandons may be collected in the thread that reads ahead."""
    is_left, is_closed, errors = threading.Event(), threading.Event(), []

    def elements():
        yield 1
        is_left.wait(10)
        try:
            ahead.close()
        except RuntimeError as error:
            errors.append(error)
        is_closed.set()
        yield 2

    ahead = next_ahead(elements())
    assert 1 == next(ahead)
    is_left.set()
    assert is_closed.wait(10)
    assert [] == errors


@pytest.mark.parametrize("route", ["sweep", "spill"])
def test_readers_end_with_an_error(route, tmp_path, monkeypatch):
    """Readers end where an error is raised, not where a garbage collector finds them later."""
    rng = np.random.default_rng(0)
    user = rng.integers(0, 2**40, 20_000)
    frame = pd.DataFrame({"user": np.sort(user) if route == "sweep" else user})
    frame = frame.assign(score=rng.random(20_000), relevant=rng.random(20_000) < 0.1)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=500)
    opened, closed, read = [], [], blocks.read_batches

    def note(*args, **options):
        opened.append(1)
        try:
            yield from read(*args, **options)
        finally:
            closed.append(1)

    def fail(*_, **options):
        raise KeyError("made by the test")

    monkeypatch.setattr(blocks, "read_batches", note)
    monkeypatch.setattr(blocks.Spill, "add", fail)
    monkeypatch.setattr("recframe.frames.companions.read_block", fail)
    rec = recframe.scan(tmp_path / "rows.parquet", memory=100_000)(short="pad")
    assert route in repr(rec)
    with pytest.raises(KeyError, match="made by the test") as error:
        rec.evaluate("recall@1")
    assert error.tb is not None  # Its frames still hold what they had.
    assert 1 <= len(opened) == len(closed)
