"""Files of any size: every route gives the table of the whole frame, bit for bit."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recframe
import strategies
from recframe.files import blocks
from recframe.files.footers import _bounds
from recframe.metrics.names import make_metric

METRICS = ["recall@2", *(make_metric(*asked).label for asked in strategies.every_metric(3))]
SMALL = 12_000  # bytes: some 70 rows at a time


@pytest.fixture
def spills(monkeypatch):
    """The levels of the spills that are made."""
    levels = []

    class Counted(blocks.Spill):
        def __init__(self, folder, user, n_buckets, level):
            levels.append(level)
            super().__init__(folder, user, n_buckets, level)

    monkeypatch.setattr(blocks, "Spill", Counted)
    return levels


@pytest.fixture
def large():
    """500 rows of 60 users with many ties, in two score columns, sorted by user."""
    rng = np.random.default_rng(5)
    user = np.sort(rng.integers(0, 60, 500))
    return pd.DataFrame(
        {
            "user": pd.array([f"user {number:03}" for number in user], dtype="str"),
            "knn_score": rng.integers(0, 4, 500) / 4,
            "other_score": rng.integers(0, 9, 500).astype(np.int8),
            "relevant": rng.random(500) < 0.4,
        }
    )


def one_sorted_file(frame, folder):
    """Write a file in order of users."""
    frame.to_parquet(folder / "0.parquet", row_group_size=20)


def users_across_files(frame, folder):
    """Write files one after the other; users straddle them."""
    for number in range(25):
        frame[20 * number : 20 * number + 20].to_parquet(folder / f"{number:02}.parquet")


def sorted_files_of_all_users(frame, folder):
    """Write files that are each sorted and each have every user."""
    for number in range(3):
        frame[number::3].to_parquet(folder / f"{number}.parquet", row_group_size=5)


def sorted_backwards(frame, folder):
    """Write files in falling order of users."""
    for number in range(10):
        part = frame[50 * number : 50 * number + 50]
        part.to_parquet(folder / f"{9 - number}.parquet", row_group_size=10)


def shuffled_file(frame, folder):
    """Write a file in random order."""
    frame.sample(frac=1, random_state=1).to_parquet(folder / "0.parquet", row_group_size=20)


def no_statistics(frame, folder):
    """Write a sorted file that does not say so."""
    frame.to_parquet(folder / "0.parquet", row_group_size=20, write_statistics=False)


def giant_row_group(frame, folder):
    """Write a file that is one row group."""
    frame.to_parquet(folder / "0.parquet")


def giant_user(frame, folder):
    """Write a shuffled file in which one user has most rows."""
    frame = frame.assign(user=frame["user"].where(frame.index % 5 == 0, "giant"))
    shuffled_file(frame, folder)


def only_one_user(frame, folder):
    """Write a file of one user."""
    frame.assign(user="giant").to_parquet(folder / "0.parquet", row_group_size=20)


# layout: whether it has to be spilled within SMALL
LAYOUTS = {
    one_sorted_file: False,
    users_across_files: False,
    sorted_files_of_all_users: False,
    sorted_backwards: False,
    shuffled_file: True,
    no_statistics: True,
    giant_row_group: True,
    giant_user: True,
    only_one_user: True,
}


def in_memory(folder, **options):
    """Return the table of the files read whole, one after the other."""
    frame = pd.concat([pd.read_parquet(path) for path in sorted(folder.iterdir())])
    return recframe.evaluate(frame, METRICS, **options)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("ties", ["expected", "first", "last"])
def test_every_layout_gives_the_table_of_the_frame(large, tmp_path, layout, ties, spills):
    """Whatever the order and the cut of files; for ties row order is that of files."""
    layout(large, tmp_path)
    expected = in_memory(tmp_path, ties=ties, short="pad")

    actual = recframe.evaluate(tmp_path, METRICS, ties=ties, short="pad", memory=SMALL)

    pd.testing.assert_frame_equal(expected, actual, check_exact=True)
    assert LAYOUTS[layout] == bool(spills)


def test_what_is_still_too_large_is_spilled_again(large, tmp_path, spills):
    """Too large a bucket is parted again, by other bits; one giant user ends that."""
    shuffled_file(large, tmp_path)
    recframe.evaluate(tmp_path, METRICS, short="pad", memory=1)

    assert {0, 1} <= set(spills)
    spills.clear()
    giant_user(large, tmp_path)
    recframe.evaluate(tmp_path, METRICS, short="pad", memory=SMALL)
    assert 1 < len(spills) <= 4
    spills.clear()
    only_one_user(large, tmp_path)
    recframe.evaluate(tmp_path, METRICS, short="pad", memory=SMALL)
    assert [0] == spills


@pytest.mark.parametrize("memory", [1, 2_000, "1GiB"])
def test_memory_changes_no_bit(large, tmp_path, memory):
    """Any amount of memory gives the same table."""
    shuffled_file(large, tmp_path)

    pd.testing.assert_frame_equal(
        in_memory(tmp_path, short="pad"),
        recframe.evaluate(tmp_path, METRICS, short="pad", memory=memory),
        check_exact=True,
    )


@settings(max_examples=60)  # of files, which are slower than frames
@given(st.data())
def test_files_equal_their_frame(tmp_path_factory, data):
    """With any dtypes, nulls and options a file gives what its frame gives, or both refuse."""
    kinds = data.draw(strategies.kinds())
    nulls = data.draw(st.sets(st.sampled_from(["user", "score", "relevant"])))
    frame = strategies.frame(data.draw(strategies.rows(**kinds, nulls=nulls)), **kinds)
    options = data.draw(strategies.options())
    asked = data.draw(st.lists(strategies.metrics(), min_size=1, max_size=3, unique=True))
    labels = [make_metric(name, k).label for name, k in asked]
    path = tmp_path_factory.mktemp("files") / "run.parquet"
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


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("layout", [one_sorted_file, sorted_backwards, shuffled_file])
def test_categories_of_all_blocks(large, tmp_path, layout, ordered):
    """Categories stay, the unused too, and users sort by them in the order of files."""
    names = large["user"].unique()
    categories = pd.CategoricalDtype(["unused", *names[::2], *names[1::2]], ordered)
    layout(large.assign(user=large["user"].astype(categories)), tmp_path)
    expected = in_memory(tmp_path, short="pad")

    actual = recframe.evaluate(tmp_path, METRICS, short="pad", memory=SMALL)

    pd.testing.assert_frame_equal(expected, actual, check_exact=True)
    assert "unused" in actual.index.categories


def test_categories_that_differ_by_file(large, tmp_path):
    """Files that each have their own categories sort as they do when read as one table."""
    for number, part in enumerate([large[400:], large[:250], large[250:400]]):
        dtype = pd.CategoricalDtype(part["user"].unique()[::-1])
        part.astype({"user": dtype}).to_parquet(tmp_path / f"{number}.parquet", row_group_size=9)
    tables = [pq.read_table(path) for path in sorted(tmp_path.iterdir())]
    expected = recframe.evaluate(pa.concat_tables(tables).to_pandas(), METRICS, short="pad")

    actual = recframe.evaluate(tmp_path, METRICS, short="pad", memory=SMALL)

    pd.testing.assert_frame_equal(expected, actual, check_exact=True)


IDS = {
    "int32": lambda number: number.astype("int32"),
    "uint64": lambda number: number.astype("uint64") + 2**63,
    "float64": lambda number: number / 7,
    "nullable": lambda number: number.astype("Int64"),
    "arrow": lambda number: number.astype("int64[pyarrow]"),
    "timestamps": lambda number: pd.Timestamp("2020", tz="UTC") + pd.to_timedelta(number, "s"),
    "dates": lambda number: (pd.Timestamp("2020") + pd.to_timedelta(number, "D")).dt.date,
    "bytes": lambda number: number.map(lambda one: b"%03d" % one),
    "booleans": lambda number: number % 2 == 0,
    "string": lambda number: number.map(str).astype("string"),
    "long": lambda number: number.map(lambda one: "x" * 20 * (one % 3) + f"{one}" + "y" * 300),
    "not ascii": lambda number: number.map(lambda one: chr(0x1F600 + one) * (1 + one % 3)),
}


@pytest.mark.parametrize("layout", [one_sorted_file, shuffled_file])
@pytest.mark.parametrize("ids", IDS)
def test_ids_of_every_type(large, tmp_path, ids, layout):
    """Users of any type that parquet stores come back as themselves."""
    number = large["user"].str[-3:].astype(int)
    layout(large.assign(user=IDS[ids](number)), tmp_path)
    expected = in_memory(tmp_path, short="pad")

    actual = recframe.evaluate(tmp_path, METRICS, short="pad", memory=SMALL)

    pd.testing.assert_frame_equal(expected, actual, check_exact=True)


@pytest.mark.parametrize("memory", [SMALL, "1GiB"])
def test_two_zeros_are_one_user(tmp_path, memory):
    """Ids 0.0 and -0.0 are equal, so they are one user on every route."""
    users = [0.0, -0.0, 1.0] * 100
    frame = pd.DataFrame({"user": users, "score": range(300), "relevant": [1, 0, 0, 0] * 75})
    shuffled_file(frame, tmp_path)

    assert [0.0, 1.0] == recframe.evaluate(tmp_path, "recall@1", memory=memory).index.tolist()


@pytest.mark.parametrize("ids", ["str", "float", "category"])
@pytest.mark.parametrize("layout", [one_sorted_file, shuffled_file])
def test_null_users_are_refused_or_dropped(large, tmp_path, layout, ids):
    """Statistics do not show null ids; no route may lose them."""
    user = large["user"] if ids == "str" else large["user"].str[-3:].astype(float)
    user = user.astype("category") if ids == "category" else user
    layout(large.assign(user=user.where(large.index % 50 != 7)), tmp_path)
    expected = in_memory(tmp_path, short="pad", missing="drop")

    actual = recframe.evaluate(tmp_path, METRICS, short="pad", missing="drop", memory=SMALL)

    pd.testing.assert_frame_equal(expected, actual, check_exact=True)
    with pytest.raises(
        recframe.RecframeError, match=r"ids must not be null, found 1 null of .*0.pa"
    ):
        recframe.evaluate(tmp_path, METRICS, short="pad", memory=SMALL)


def test_integers_beside_nulls_stay_exact(tmp_path):
    """A null beside integers does not make floats of them, which would tie these two."""
    table = pa.table(
        {
            "user": [1, 1, 1],
            "score": pa.array([2**53 + 1, 2**53, None], pa.int64()),
            "relevant": [1, 0, 0],
        }
    )
    pq.write_table(table, tmp_path / "0.parquet")
    means = recframe.evaluate(tmp_path, "precision@1", missing="unranked").mean()

    assert [1.0] == means.tolist()


@pytest.mark.parametrize("layout", [one_sorted_file, users_across_files])
def test_bounds_that_are_not_tight(large, tmp_path, layout, monkeypatch, spills):
    """Writers may cut the statistics of long text short, downwards and upwards."""
    layout(large, tmp_path)
    bounds = "recframe.files.footers._bounds"
    monkeypatch.setattr(bounds, lambda found: (found.min[:-1], found.max[:-1] + "\U0010ffff"))

    pd.testing.assert_frame_equal(
        in_memory(tmp_path, short="pad"),
        recframe.evaluate(tmp_path, METRICS, short="pad", memory=2 * SMALL),
    )
    assert [] == spills


def test_statistics_that_lie(large, tmp_path, monkeypatch):
    """A user below the bound of its row group is found, before a number is wrong."""
    one_sorted_file(large, tmp_path)
    monkeypatch.setattr(
        "recframe.files.footers._bounds", lambda found: (found.min + "0", found.max)
    )
    with pytest.raises(
        recframe.RecframeError,
        match=r"0.parquet: .*row group 0 say that no 'user' is below 'user 0000', but one is",
    ):
        recframe.evaluate(tmp_path, METRICS, short="pad", memory=SMALL)


def test_bounds_that_are_nan(tmp_path):
    """Statistics of NaN say nothing."""
    frame = pd.DataFrame({"user": [2.0, 1.0] * 99, "score": range(198), "relevant": [1, 0, 0] * 66})
    one_sorted_file(frame, tmp_path)
    group = pq.ParquetFile(tmp_path / "0.parquet").metadata.row_group(0)

    class WithNaN(NamedTuple):
        has_min_max: bool = True
        min: float = math.nan
        max: float = 2.0

    assert (1.0, 2.0) == _bounds(group.column(0).statistics)
    assert (None, None) == _bounds(WithNaN())


def test_blocks_are_whole_users(large, tmp_path):
    """The tables of iter_evaluate have each user once; sorted files give them in order."""
    one_sorted_file(large, tmp_path)
    tables = list(recframe.iter_evaluate(tmp_path, METRICS, short="pad", memory=SMALL))

    assert len(tables) > 3
    pd.testing.assert_frame_equal(in_memory(tmp_path, short="pad"), pd.concat(tables))


def test_refusals_of_a_part_say_so(large, tmp_path):
    """What is counted in a part of the rows is not passed off as counted in all."""
    one_sorted_file(large.assign(relevant=7), tmp_path)
    with pytest.raises(
        recframe.RecframeError, match=r"^in a part of \d+ of the 500 rows: relevant='relevant': mu"
    ):
        recframe.evaluate(tmp_path, METRICS, memory=SMALL)


@pytest.mark.parametrize("layout", [one_sorted_file, shuffled_file])
@pytest.mark.parametrize("memory", [SMALL, "1GiB"])
def test_progress(large, tmp_path, layout, memory):
    """Progress starts at 0, never falls, and ends with all rows, the dropped ones too."""
    layout(large.assign(user=large["user"].where(large.index % 50 != 7)), tmp_path)
    calls = []
    recframe.evaluate(
        tmp_path,
        METRICS,
        short="pad",
        missing="drop",
        memory=memory,
        progress=lambda done, total: calls.append((done, total)),
    )
    done = [one for one, _ in calls]

    assert {500} == {total for _, total in calls}
    assert (0, 500) == (done[0], done[-1])
    assert sorted(done) == done
    assert len(calls) > (5 if memory == SMALL else 1)


def test_progress_bar(large, tmp_path, capsys):
    """True draws a bar."""
    one_sorted_file(large, tmp_path)
    recframe.evaluate(tmp_path, METRICS, short="pad", progress=True)

    assert "0.00/500 [" in capsys.readouterr().err


@pytest.mark.parametrize("layout", [one_sorted_file, shuffled_file])
def test_nothing_is_seen_of_the_temporary_file(large, tmp_path, layout):
    """The temporary file has no name, even while it is in use."""
    (tmp_path / "files").mkdir()
    (tmp_path / "tmp").mkdir()
    layout(large, tmp_path / "files")
    tables = recframe.iter_evaluate(
        tmp_path / "files", METRICS, short="pad", memory=SMALL, tmp=tmp_path / "tmp"
    )
    next(tables)

    assert [] == list((tmp_path / "tmp").iterdir())


def test_one_ranking_ignores_the_memory(large, tmp_path):
    """user=None is one giant user: it is read whole."""
    shuffled_file(large, tmp_path)
    table = recframe.evaluate(tmp_path, METRICS, user=None, memory=1)

    pd.testing.assert_frame_equal(in_memory(tmp_path, user=None), table, check_exact=True)


@pytest.mark.parametrize("absent", ["zero", "drop"])
@pytest.mark.parametrize("grouped", [True, False])
def test_truth_over_many_blocks(tmp_path, absent, grouped):
    """Truth judges every block, and users that no file lists are added once, at the end."""
    rng = np.random.default_rng(8)
    n_rows = 3_000
    frame = pd.DataFrame({"user": rng.integers(0, 90, n_rows), "item": range(n_rows)})
    frame["score"] = rng.random(n_rows).round(2)
    frame = frame.sort_values("user") if grouped else frame
    truth = frame.loc[::9, ["user", "item"]].assign(item=lambda rows: rows["item"] % 2_000)
    truth = pd.concat([truth, pd.DataFrame({"user": [95, 99], "item": [1, 2]})])
    frame.to_parquet(tmp_path / "run.parquet", row_group_size=200, index=False)
    truth.to_parquet(tmp_path / "truth.parquet", index=False)
    options = {"absent": absent, "short": "pad", "score": "score"}
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
