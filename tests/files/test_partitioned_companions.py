"""Truth and exclude that are partitioned by user with the rows give the results of frames."""

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe import RecframeError

MEMORY = 256 << 10  # holds about 1,000 pairs
METRICS = ["recall@2", "precision@2", "ndcg@3"]
N_USERS = 300


@pytest.fixture(scope="module")
def rows():
    """3,000 rows of 300 users in random order, with two scores."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"user": np.repeat(np.arange(N_USERS), 10), "item": 0})
    frame["item"] = rng.permuted(np.tile(np.arange(30), (N_USERS, 1)), axis=1)[:, :10].ravel()
    frame["a_score"], frame["b_score"] = rng.integers(0, 9, 3000) / 8, rng.random(3000)
    return frame.sample(frac=1, random_state=5, ignore_index=True)


@pytest.fixture(scope="module")
def truth(rows):
    """1,200 graded pairs of users with and without rows."""
    rng = np.random.default_rng(6)
    pairs = pd.DataFrame({"user": rng.integers(40, N_USERS + 40, 1400), "item": 0})
    pairs["item"] = rng.integers(0, 40, 1400)
    pairs = pairs.drop_duplicates(ignore_index=True)
    return pairs.assign(relevance=rng.integers(0, 4, len(pairs)))


def write(frame, path, n_files=2):
    """Write a frame to files in a folder, and return the folder."""
    path.mkdir()
    for number in range(n_files):
        part = frame[number::n_files]
        part.to_parquet(path / f"{number}.parquet", row_group_size=200, index=False)
    return path


def is_partitioned(scanned):
    """Return whether an evaluation partitions truth or exclude by user."""
    noted = []
    scanned._frame = scanned._frame._replace(note=noted.append)
    scanned.iter_evaluate("recall@2")
    return bool(noted[0].companions)


def compare(rows, folder, frames, metrics=METRICS, **options):
    """Check that files give the result of their frame, with companions as frames and as files."""
    path = write(rows, folder / "rows")
    files = {name: write(frame, folder / name) for name, frame in frames.items()}
    expected = recframe.rec(rows, **options, **frames).evaluate(metrics)
    for companions in (frames, files):
        scanned = recframe.scan(path, memory=MEMORY, **options, **companions)
        assert is_partitioned(scanned)
        pd.testing.assert_frame_equal(expected, scanned.evaluate(metrics))


@pytest.mark.parametrize("population", ["both", "truth", "rows", "all"])
def test_populations(rows, truth, population, tmp_path):
    """Each population counts the same users, and grades the same gains, as in a frame."""
    options = {"population": population, "min_relevance": 2}
    compare(rows, tmp_path, {"truth": truth}, **options)


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_users_of_truth_beyond_the_integers_of_the_rows(rows, truth, dtype, tmp_path):
    """A user whom only truth has keeps an id that the integers of the rows do not hold."""
    narrow = rows[rows["user"] < 200].astype({"user": dtype})
    beyond = truth.assign(user=truth["user"].where(truth["user"] < 200, 2**40 + truth["user"]))
    compare(narrow, tmp_path, {"truth": beyond}, population="all", min_relevance=2)


def test_exclude(rows, truth, tmp_path):
    """Pairs are excluded without truth, and with truth that has some of them."""
    marked = rows.assign(relevant=rows["item"] % 3 == 0)
    seen = truth[["user", "item"]]
    (tmp_path / "alone").mkdir()
    compare(marked, tmp_path / "alone", {"exclude": seen}, short="pad")
    companions = {"truth": truth, "exclude": truth[["user", "item"]][::3]}
    compare(rows, tmp_path, companions, short="pad", min_relevance=2, population="all")


def test_blocks_without_pairs(rows, tmp_path):
    """A block may have no users of truth or exclude."""
    pairs = pd.MultiIndex.from_product([range(8), range(150)], names=["user", "item"])
    companions = {"truth": pairs.to_frame(index=False), "exclude": pairs[::3].to_frame(index=False)}
    compare(rows, tmp_path, companions, short="pad", population="all")


def test_judged_rows_only(rows, truth, tmp_path):
    """Rows that truth lacks are left out."""
    options = {"unjudged": "drop", "short": "pad", "population": "all", "min_relevance": 1}
    compare(rows, tmp_path, {"truth": truth}, **options)


IDS = {
    "text": (str, str),
    "other numbers": (lambda ids: ids.astype("int32"), lambda ids: ids.astype(float)),
    "nullable": (lambda ids: ids.astype("Int64"), lambda ids: ids.astype("uint16")),
    "days": (lambda ids: pd.to_datetime(ids, unit="D").astype("datetime64[ns]"),) * 2,
    "of other units": (
        lambda ids: pd.to_datetime(ids, unit="D").astype("datetime64[ms]"),
        lambda ids: pd.to_datetime(ids, unit="D").astype("datetime64[ns]"),
    ),
}


@pytest.mark.parametrize("kind", IDS)
def test_kinds_of_ids(rows, truth, kind, tmp_path):
    """Equal ids match even if the types of their columns differ."""
    of_rows, of_truth = IDS[kind]
    if of_rows is str:
        of_rows = of_truth = lambda ids: ids.astype("str")
    companions = {"truth": truth.assign(user=of_truth(truth["user"]))}
    options = {"population": "both", "min_relevance": 2}
    compare(rows.assign(user=of_rows(rows["user"])), tmp_path, companions, **options)


def test_several_columns_of_users(rows, truth, tmp_path):
    """Each pair of day and user is a user."""
    rows, truth = (one.assign(day=one["user"] % 3) for one in (rows, truth))
    options = {"user": ["day", "user"], "population": "all", "min_relevance": 2}
    compare(rows, tmp_path, {"truth": truth}, **options)


def test_segments_and_weights(rows, truth, tmp_path):
    """Segments and weights of rows apply to users of truth who have rows."""
    rows = rows.assign(country=(rows["user"] % 4).map(list("wxyz").__getitem__), w=1.5)
    options = {"truth": truth, "min_relevance": 2, "population": "both"}
    expected = rows.rec(**options).mean("recall@2", by="country", weights="w")
    found = recframe.scan(write(rows, tmp_path / "rows"), memory=MEMORY, **options)
    table = found.mean("recall@2", by="country", weights="w")

    pd.testing.assert_frame_equal(expected, table)
    described = found.describe(3)
    pd.testing.assert_frame_equal(rows.rec(**options).describe(3), described)


def test_few_pairs_are_held(rows, truth, tmp_path):
    """Few pairs, and pairs without footers, stay in memory."""
    path = write(rows, tmp_path / "rows")
    truth.to_csv(tmp_path / "truth.csv", index=False)
    options = {"population": "both", "min_relevance": 2}
    expected = rows.rec(truth=truth, **options).evaluate(METRICS)
    mixed = truth.assign(user=pd.Series([(1, 2), *truth["user"][1:]], dtype=object))
    for source, memory in ((truth, "1GiB"), (tmp_path / "truth.csv", MEMORY)):
        scanned = recframe.scan(path, memory=memory, truth=source, **options)
        assert not is_partitioned(scanned)
        pd.testing.assert_frame_equal(expected, scanned.evaluate(METRICS))
    with pytest.raises(RecframeError, match=r"truth: .*user"):
        recframe.scan(path, memory=MEMORY, truth=mixed, **options).evaluate(METRICS)


def test_refusals(rows, truth, tmp_path):
    """Users that differ, never match or have ids of another kind are refused as in a frame."""
    path, options = write(rows, tmp_path / "rows"), {"min_relevance": 2}
    texts = truth.assign(user=truth["user"].astype("str"))
    changes = {
        "population: users differ .*: 258 in both, 42 only in the frame": truth,
        "user: no user is in both the frame and truth": truth.assign(user=truth["user"] + 10**6),
        "user: ids of different kinds are never equal": texts,
        "truth: .*must occur once": pd.concat([truth, truth]),
        "truth: .*ids must not be null": truth.assign(user=truth["user"].mask(truth.index == 7)),
    }
    for number, (match, wrong) in enumerate(changes.items()):
        there = write(wrong, tmp_path / f"truth{number}")
        for source in (wrong, there):
            scanned = recframe.scan(path, memory=MEMORY, truth=source, **options)
            with pytest.raises(RecframeError, match=match):
                scanned.evaluate(METRICS)


def test_columns_that_may_be_grades(rows, truth, tmp_path):
    """Columns that may be grades, and folders of a split, are asked about."""
    path, named = write(rows, tmp_path / "rows"), truth.rename(columns={"relevance": "points"})
    write(named, tmp_path / "truth")
    for source in (named, tmp_path / "truth"):
        with pytest.raises(RecframeError, match=r"truth: .*'points' holds few distinct values"):
            recframe.scan(path, memory=MEMORY, truth=source).evaluate(METRICS)
    (tmp_path / "split").mkdir()
    for split in ("test", "train"):
        write(truth[["user", "item"]], tmp_path / "split" / f"split={split}")
    with pytest.raises(RecframeError, match="truth: 'split' tells parts of a split apart"):
        recframe.scan(path, memory=MEMORY, truth=tmp_path / "split").evaluate(METRICS)


def test_relevant_pairs_that_are_excluded(rows, truth, tmp_path):
    """A note has the number of relevant pairs that are excluded."""
    companions = {"truth": truth, "exclude": truth[["user", "item"]][::2]}
    options = {"min_relevance": 2, "population": "both", "short": "pad", **companions}
    notes = rows.rec(**options).mean("recall@2").notes
    scanned = recframe.scan(write(rows, tmp_path / "rows"), memory=MEMORY, **options)

    assert notes == scanned.mean("recall@2").notes
    assert "excluded_relevant" in [note.kind for note in notes]


@pytest.mark.parametrize("population", ["both", "truth"])
def test_what_reads_no_truth(rows, truth, population, tmp_path):
    """The catalogue has the lists of all users in every population."""
    options = {"truth": truth, "population": population, "min_relevance": 2}
    scanned = recframe.scan(write(rows, tmp_path / "rows"), memory=MEMORY, **options)

    expected = rows.rec(**options).catalogue(k=3)
    pd.testing.assert_frame_equal(expected, scanned.catalogue(k=3))


@pytest.mark.parametrize("folder", ["relevance=0", "relevance=2", "user=7", "day=007"])
def test_folders_above_truth_in_any_memory(rows, truth, folder, tmp_path):
    """Values in the names of folders above truth are read alike in any memory, and by a frame."""
    (tmp_path / folder).mkdir()
    path = write(rows, tmp_path / "rows")
    files = write(truth[["user", "item"]], tmp_path / folder / "truth")
    options = {"truth": files, "population": "both", "short": "pad", "zero_division": 0}
    options |= {"min_relevance": 1} if folder.startswith("relevance") else {}
    found = []
    for rec in (rows.rec, recframe.scan(path), recframe.scan(path, memory=MEMORY)):
        try:
            found.append(rec(**options).mean(METRICS).to_dict())
        except RecframeError as error:
            found.append(str(error).replace("1.parquet", "0.parquet").split("' is ")[0])

    assert found[0] == found[1] == found[2]
    assert isinstance(found[0], str) is folder.startswith("user")


@pytest.mark.parametrize("memory", ["1GiB", MEMORY])
def test_a_file_of_truth_that_lacks_relevance(rows, truth, memory, tmp_path):
    """The pairs of a file without the column of relevance have a null there, which is refused."""
    path, folder = write(rows, tmp_path / "rows"), write(truth[:600], tmp_path / "truth", 1)
    truth[["user", "item"]][600:].to_parquet(folder / "b.parquet")
    scanned = recframe.scan(path, memory=memory, truth=folder, min_relevance=2, population="both")
    with pytest.raises(RecframeError, match=r"truth: relevant='relevance': must not be null"):
        scanned.mean(METRICS)

    counted = scanned(**vars(scanned._options) | {"null_relevance": "nonrelevant"})
    expected = rows.rec(
        truth=truth.assign(relevance=truth["relevance"].where(truth.index < 600, 0)),
        min_relevance=2,
        population="both",
    )
    pd.testing.assert_frame_equal(expected.mean("recall@2"), counted.mean("recall@2"))
