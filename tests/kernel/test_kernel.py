"""The NumPy layer: grouping, integers for scores, counting."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recframe.kernel import counting as kernel
from recframe.kernel import grouping as groups
from recframe.kernel import sorting as order
from recframe.kernel.rankings import Rankings
from recframe.kernel.sort_keys import break_ties, rankable, short_keys, to_places

INTEGERS = st.sampled_from(["int8", "uint8", "int16", "int32", "int64", "uint64"])
WIDE = {"int64": [-(2**63), 2**63 - 1], "uint64": [0, 2**64 - 1]}
NUMBERS = st.one_of(
    hnp.arrays(st.sampled_from(["float32", "float64"]), st.integers(0, 40)).filter(
        lambda values: not np.isnan(values).any()
    ),
    hnp.arrays(INTEGERS, st.integers(0, 40)),
)


@pytest.fixture(params=[1 << 20, 7])
def chunk(request, monkeypatch):
    """Slices large enough to hold everything, and small enough for threads."""
    monkeypatch.setattr(groups, "ROWS_PER_CHUNK", request.param)
    monkeypatch.setattr(groups, "n_processors", lambda: 3)


@pytest.mark.parametrize("rows_per_chunk", [1 << 20, 7])
@given(numbers=hnp.arrays(INTEGERS, st.integers(0, 60)))
def test_sorting_is_stable(rows_per_chunk, numbers):
    """Equal numbers keep their order, for every type and range, in one piece and in parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "ROWS_PER_CHUNK", rows_per_chunk)
        order, begins = groups.sort_numbers(numbers)
    expected = np.argsort(numbers, kind="stable")
    values = numbers[expected].tolist()

    np.testing.assert_array_equal(expected, order)
    assert [value not in values[:i] for i, value in enumerate(values)] == begins.tolist()


@pytest.mark.usefixtures("chunk")
@pytest.mark.parametrize("dtype", WIDE)
def test_sorting_the_widest_range(dtype):
    """Numbers from one end of their type to the other are sorted all the same."""
    numbers = np.array([*WIDE[dtype], 5] * 9, dtype)

    np.testing.assert_array_equal(np.argsort(numbers, kind="stable"), groups.argsort(numbers))


@pytest.mark.usefixtures("chunk")
def test_many_numbers_are_sorted_in_parts():
    """Parting by the leading bits changes nothing, however the numbers are spread."""
    rng = np.random.default_rng(8)
    for numbers in (
        rng.integers(0, 300, 900),
        rng.integers(-(2**40), 2**40, 900),
        rng.choice([0, 1, 2**62], 900),
        rng.integers(0, 2**64, 900, dtype=np.uint64),
    ):
        np.testing.assert_array_equal(np.argsort(numbers, kind="stable"), groups.argsort(numbers))


@given(st.lists(st.integers(1, 5), max_size=9), st.randoms())
def test_rows_of_runs(lengths, random):
    """The rows of a run stay together and in order, the runs come as they are told to."""
    starts = np.cumsum([0, *lengths])[:-1].astype(np.int64)
    order = list(range(len(lengths)))
    random.shuffle(order)
    expected = [starts[run] + place for run in order for place in range(lengths[run])]

    found = groups.rows_of_runs(np.array(order, np.int64), starts, sum(lengths))
    assert expected == found.tolist()


@pytest.mark.usefixtures("chunk")
def test_passes_in_slices():
    """Passes over rows give the same, in slices and threads or in one piece."""
    rng = np.random.default_rng(5)
    for n_rows in (0, 1, 6, 7, 8, 14, 100):
        values = rng.integers(0, 3, n_rows)
        bounds = [i for i in range(n_rows) if i == 0 or values[i] != values[i - 1]] + [n_rows]
        order = rng.permutation(n_rows)

        assert bounds == groups.run_bounds(values).tolist()
        assert values[order].tolist() == groups.take(values, order).tolist()
        assert min(values, default=0) == groups.lowest(values)
        if n_rows:
            last = np.arange(n_rows) == n_rows - 1
            assert np.isnan(groups.lowest(np.where(last, np.nan, values)))


@pytest.mark.parametrize("share", [0, 0.02, 0.05, 0.09, 0.1, 0.11, 1])
def test_find_flags(share):
    """The positions of set flags are found, few or many."""
    for n_flags in (0, 1, 9, 1_000):
        flags = np.random.default_rng(n_flags).random(n_flags) < share

        assert np.flatnonzero(flags).tolist() == groups.find_flags(flags).tolist()


@given(st.lists(st.lists(st.booleans(), max_size=150), max_size=6))
def test_sum_by_user(flags):
    """The flags of each group are counted, empty groups included."""
    offsets = groups.group_offsets(np.array([len(group) for group in flags], np.int64))
    joined = np.array([flag for group in flags for flag in group], bool)

    assert [sum(group) for group in flags] == groups.sum_by_user(joined, offsets).tolist()


@given(NUMBERS)
def test_places_order_as_scores_do(scores):
    """Places fall exactly as scores rise, are equal where scores are, and leave two bits free."""
    sortable = rankable(scores)
    places = to_places(sortable.copy())
    _, ranks = np.unique(scores + scores.dtype.type(0), return_inverse=True)
    _, place_ranks = np.unique(-places.astype(np.int64), return_inverse=True)
    bits = 8 * places.itemsize

    np.testing.assert_array_equal(ranks, place_ranks)
    assert (np.abs(places.astype(float)) <= 2.0 ** (bits - 2)).all()


@given(NUMBERS)
@example(np.array([1.0, np.finfo(float).max]))
@example(np.array([0, (1 << 30) - 1]))
@example(np.array([0, (1 << 31) - 2]))
def test_short_keys_never_rise_as_scores_do(scores):
    """As scores rise keys fall or stay, which exact ones never do; the lowest bit is the mark."""
    sortable = rankable(scores)
    marks = np.arange(len(scores)) % 3 == 0
    keys, is_exact, n_bits = short_keys(sortable, marks, room=3)
    assert marks.tolist() == (keys[: len(scores)] & 1).tolist()
    keys = keys[: len(scores)] & -2
    by_score = np.argsort(-sortable.astype(np.longdouble), kind="stable")
    steps = np.diff(keys[by_score].astype(np.int64))
    differs = sortable[by_score][1:] != sortable[by_score][:-1]

    assert (keys < np.iinfo(np.int32).max - 2).all()
    assert (steps >= 0).all()
    assert (steps[~differs] == 0).all()
    assert not is_exact or (steps[differs] > 0).all()
    assert n_bits == 32 or (keys >> n_bits == 0).all()


def test_short_keys_of_what_a_model_gives_are_exact_or_nearly():
    """Ratings and 32-bit floats lose nothing, 64-bit floats what lies beyond some 25 bits."""
    rng = np.random.default_rng(3)
    ratings = rng.integers(1, 11, 1_000) / 2
    uniform = rng.random(1_000)

    for scores in (ratings, ratings.astype(np.int8), uniform.astype(np.float32), 3 - ratings):
        assert short_keys(scores, uniform < 0, room=0).is_exact
    keys, is_exact, _ = short_keys(uniform, uniform < 0, room=0)
    assert not is_exact
    assert len(np.unique(keys)) == len(uniform)


@pytest.mark.parametrize("n_decimals", [0, 1, 2, 3, 6])
def test_rounded_scores_are_exact(n_decimals):
    """Scores of few decimals, rounded or parsed, are told apart as the whole numbers they are."""
    rounded = np.random.default_rng(5).normal(scale=20, size=500).round(n_decimals)
    parsed = np.array([float(f"{score:.{n_decimals}f}") for score in rounded])
    for scores in (rounded, parsed):
        keys, is_exact, _ = short_keys(scores, scores > 99, room=0)
        expected = np.unique(-scores, return_inverse=True)[1]

        assert is_exact
        assert expected.tolist() == np.unique(keys, return_inverse=True)[1].tolist()


def test_scores_that_are_decimals_but_for_one():
    """One score with more decimals than the others is not rounded to theirs."""
    scores = np.arange(200) / 100
    assert short_keys(scores, scores > 99, room=0).is_exact
    scores[100] += 2.0**-50  # not among those that are tried first
    assert not short_keys(scores, scores > 99, room=0).is_exact


def test_scales_that_would_lose_a_bit_are_not_used():
    """Tiny scores beside a huge negative one are told apart, though no one scale holds them."""
    assert [3, 2, 1, 0] == to_places(np.array([-1e308, 0.0, 5e-324, 1e-323])).tolist()


@given(
    hnp.arrays("int64", st.tuples(st.integers(1, 4), st.integers(1, 9)), elements=st.integers(0, 3))
    | hnp.arrays("int64", (2, 9), elements=st.sampled_from([-(2**61), 2**61, 1, 3]))
)
def test_break_ties(places):
    """Tied cells are told apart by column or its reverse, and nothing else changes order."""
    width = places.shape[1]
    for ties, column in [("first", np.arange(width)), ("last", -np.arange(width))]:
        broken = break_ties(places, ties)
        for row, told_apart in zip(places, broken, strict=True):
            expected = np.lexsort((column, row))

            assert len(set(told_apart.tolist())) == width
            assert expected.tolist() == np.argsort(told_apart).tolist()


def test_counts_by_hand():
    """One user: a row above, a tie of three with two relevant rows, one below."""
    rankings = Rankings(
        np.array([5.0, 3.0, 3.0, 3.0, 1.0]),
        np.array([False, True, False, True, True]),
        np.array([0, 5]),
        np.array([2]),
    )
    counts = kernel.count(rankings, "expected")

    assert ([5], [5]) == (counts.n_ranked.tolist(), counts.n_relevant.tolist())
    assert [(0, 1, 3), (0, 1, 3), (0, 4, 1)] == list(
        zip(counts.user.tolist(), counts.above.tolist(), counts.tied.tolist(), strict=True)
    )
    assert [1, 2, 4] == kernel.count(rankings, "best").above.tolist()
    assert [2, 3, 4] == kernel.count(rankings, "worst").above.tolist()
    assert [1, 3, 4] == kernel.count(rankings, "first").above.tolist()
    assert [1, 3, 4] == kernel.count(rankings, "last").above.tolist()


@pytest.mark.parametrize("ties", ["expected", "first", "last", "best", "worst"])
def test_scores_that_differ_in_their_last_bits_are_told_apart(ties):
    """Short keys they share are no ties: of users of one block some share them, some do not."""
    rng = np.random.default_rng(4)
    close = 1 + np.arange(4) * 2.0**-52
    scores = rng.permuted(np.tile([*close, 2.0, 2.5, 3.0, 4.0], (50, 1)), axis=1)
    scores[::7] = np.arange(8) * 1e9
    scores[1::7, ::2] = 1.0
    relevant = rng.random(scores.shape) < 0.4
    offsets = np.arange(0, scores.size + 1, 8)
    found = kernel.count(Rankings(scores.ravel(), relevant.ravel(), offsets, 0), ties)
    ranks = np.unique(scores, return_inverse=True)[1]
    expected = kernel.count(Rankings(ranks.ravel(), relevant.ravel(), offsets, 0), ties)

    assert not short_keys(scores.ravel(), relevant.ravel(), room=0).is_exact
    assert short_keys(ranks.ravel(), relevant.ravel(), room=0).is_exact
    for counts in (found, expected):
        assert relevant.sum() == len(counts.user)
    assert sorted(zip(*expected[2:], strict=True)) == sorted(zip(*found[2:], strict=True))


@pytest.mark.parametrize("ties", ["expected", "first", "last", "best", "worst"])
@pytest.mark.parametrize(("fast_width", "most_pieces"), [(512, 16), (6, 16), (6, 2)])
@given(
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=6),
    n_scores=st.sampled_from([2, 40, 2**40]),
    share=st.sampled_from([0.1, 0.5]),
    cells=st.sampled_from([8, 1 << 18]),
    depth=st.builds(kernel.Depth, st.sampled_from([0, 1, 3, 50]), st.booleans()),
    seed=st.integers(0, 2**32 - 1),
)
def test_rows_down_to_a_depth(
    ties, fast_width, most_pieces, sizes, n_scores, share, cells, depth, seed
):
    """With a depth the same rows are counted, but for those that have as many rows above them."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, n_scores, sum(sizes)) + rng.choice([0, 2.0**-20])
    relevant = rng.random(sum(sizes)) < share
    rankings = Rankings(scores, relevant, groups.group_offsets(np.array(sizes)), np.arange(1))
    every = kernel.count(rankings, ties)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "CELLS_PER_BLOCK", cells)
        patch.setattr(order, "FAST_WIDTH", fast_width)
        patch.setattr(order, "MOST_PIECES", most_pieces)
        found = kernel.count(rankings, ties, depth)
    n_relevant = [part.sum() for part in np.split(relevant, np.cumsum(sizes)[:-1])]
    depths = np.maximum(depth.k, np.multiply(n_relevant, depth.at_n_relevant))
    rows, every_row = (list(zip(*counts[2:], strict=True)) for counts in (found, every))

    assert n_relevant == found.n_relevant.tolist() == every.n_relevant.tolist()
    assert sum(n_relevant) == len(every_row)
    assert sorted(rows) == sorted(row for row in every_row if row[1] < depths[row[0]])


def test_keys_go_down_to_the_depth(monkeypatch):
    """Rows beyond the depth are left out, unless a tie goes on there."""
    monkeypatch.setattr(order, "FAST_WIDTH", 16)
    rng = np.random.default_rng(6)
    relevant = rng.random(500) < 0.02
    untied, tied = (
        next(
            order.sorted_blocks(
                Rankings(scores, relevant, np.array([0, 500]), np.zeros(1, np.int64)),
                "expected",
                np.array([7]),
            )
        )
        for scores in (rng.permutation(500), np.arange(500) // 3)
    )

    assert untied.keys.shape == (1, 7)
    assert untied.shared is None
    assert tied.keys.shape == (1, 8)
    assert tied.shared.tolist() == [[True, False, *[True, True, False] * 2]]


@pytest.mark.usefixtures("chunk")
@pytest.mark.parametrize("dtype", ["str", "string", "string[pyarrow]", object])
@pytest.mark.parametrize("n_runs", [1, 50])
def test_text_users(dtype, n_runs):
    """Text ids are grouped alike whatever holds them, in runs or not, in slices or not."""
    users = np.repeat([f"u{n % 20:02}" for n in np.random.default_rng(2).permutation(60)], n_runs)
    frame = pd.DataFrame({"user": pd.Series(users, dtype=dtype)})
    frame = frame.assign(score=np.arange(len(frame)) % 11, relevant=np.arange(len(frame)) % 3 == 0)
    codes = frame.assign(user=[int(user[1:]) for user in users])
    table = frame.rec(short="pad", zero_division=0.0).recall(k=2)

    assert [f"u{n:02}" for n in range(20)] == table.index.tolist()
    assert frame["user"].dtype == table.index.dtype
    assert (
        codes.rec(short="pad", zero_division=0.0).recall(k=2)["score"].tolist()
        == table["score"].tolist()
    )


@pytest.mark.parametrize("dtype", ["int64", "str"])
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_runs_at_one_end_only(dtype, order, monkeypatch):
    """Whether the first ids come in runs or not, all rows of a user are found."""
    monkeypatch.setattr("recframe.frames.user_groups.N_SAMPLED", 8)
    runs, mixed = np.repeat([3, 1, 2], 20), np.tile([2, 3, 1], 4)
    users = np.concatenate([[runs, mixed][place] for place in order])
    frame = pd.DataFrame({"user": users}).astype(dtype)
    frame = frame.assign(score=np.arange(len(frame)) % 7, relevant=np.arange(len(frame)) % 3 == 0)
    alone = [frame[frame["user"] == user].rec.recall(k=5) for user in sorted(set(frame["user"]))]

    pd.testing.assert_frame_equal(pd.concat(alone), frame.rec.recall(k=5))
