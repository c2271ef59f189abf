"""Files as a whole: their description is that of the frame they hold."""

import numpy as np
import pandas as pd
import pytest

import recframe
from opened import open_files
from recframe.files.blocks import plan_blocks
from recframe.options import Options

SMALL = 64 << 10


@pytest.fixture
def frame():
    """800 rows of 30 users in random order, with ties, nulls and grades."""
    rng = np.random.default_rng(8)
    n_rows = 800
    return pd.DataFrame(
        {
            "user": rng.integers(0, 30, n_rows),
            "item": range(n_rows),
            "knn_score": rng.random(n_rows).round(2),
            "other_score": np.where(rng.random(n_rows) < 0.1, np.nan, rng.integers(0, 9, n_rows)),
            "relevant": rng.random(n_rows) < 0.2,
        }
    )


def describe(path, k=10, memory=SMALL, **options):
    """Return the description of files."""
    return recframe.scan(path, memory=memory)(**options).describe(k)


def with_nulls(frame):
    """Return the frame with nulls in all columns, some beside each other."""
    user = frame["user"].astype("Int64").mask(frame.index % 50 == 0)
    relevant = frame["relevant"].astype("boolean").mask(frame.index % 75 == 0)
    return frame.assign(user=user, relevant=relevant)


CHANGES = {
    "as it is": lambda frame: frame,
    "in order of users": lambda frame: frame.sort_values("user"),
    "users as text": lambda frame: frame.assign(user=frame["user"].astype("str")),
    "nulls": with_nulls,
    "no user at all": lambda frame: frame.assign(user=np.full(len(frame), np.nan)),
    "grades": lambda frame: frame.assign(relevant=frame["item"] % 4),
    "pairs repeated": lambda frame: frame.assign(item=frame["item"] // 40),
    "no rows": lambda frame: frame[:0],
}


@pytest.mark.parametrize("memory", [SMALL, 1 << 30])
@pytest.mark.parametrize("change", CHANGES)
def test_files_are_described_as_their_frame(frame, change, memory, tmp_path):
    """Block by block or in one, the figures are those of the frame, to the last bit."""
    path = tmp_path / "run.parquet"
    CHANGES[change](frame).to_parquet(path, row_group_size=80, index=False)
    frame = pd.read_parquet(path)
    for options in (
        {},
        {"missing": "drop", "min_relevance": 2},
        {"duplicates": "max", "short": "shrink", "score": ["other_score"]},
    ):
        expected = frame.rec(**options).describe(k=5)

        pd.testing.assert_frame_equal(
            expected, describe(path, 5, memory, **options), check_exact=True
        )


@pytest.mark.parametrize("absent", ["zero", "drop"])
@pytest.mark.parametrize("n_pairs", [1, 40])
@pytest.mark.parametrize("grouped", [True, False])
def test_files_are_described_with_truth(frame, grouped, n_pairs, absent, tmp_path):
    """Users and items of truth that no file has are counted once, as in a frame."""
    path = tmp_path / "run.parquet"
    truth = frame.loc[::9, ["user", "item"]].assign(item=lambda rows: rows["item"] // n_pairs % 500)
    truth = pd.concat([truth, pd.DataFrame({"user": [35, 39], "item": [1, 2]})]).drop_duplicates()
    frame = frame.drop(columns="relevant").assign(item=frame["item"] // n_pairs)
    frame = frame.sort_values("user") if grouped else frame
    frame.to_parquet(path, row_group_size=80, index=False)
    options = {"truth": truth, "absent": absent, "missing": "unranked"}
    expected = frame.rec(**options).describe()

    pd.testing.assert_frame_equal(expected, describe(path, **options), check_exact=True)
    with pytest.raises(recframe.RecframeError, match="no user is in both the frame and truth"):
        describe(path, truth=truth[truth["user"] > 30], duplicates="max")


def test_one_ranking_is_described(frame, tmp_path):
    """Without a user column the files are one ranking, with truth too."""
    path = tmp_path / "run.parquet"
    frame = frame.drop(columns="relevant")
    for rows in (frame, frame[:0]):
        rows.to_parquet(path, index=False)
        options = {"user": None, "truth": frame.loc[::7, ["item"]]}
        if len(rows):
            expected = rows.rec(**options).describe()
            pd.testing.assert_frame_equal(expected, describe(path, **options), check_exact=True)


def test_text_for_scores_is_refused(frame, tmp_path):
    """What a frame is refused for, files are."""
    path = tmp_path / "run.parquet"
    frame.assign(knn_score="x").to_parquet(path)
    with pytest.raises(recframe.RecframeError, match="score='knn_score'"):
        describe(path, score="knn_score")


@pytest.mark.parametrize(
    ("change", "memory", "route"),
    [
        ("as it is", SMALL, "spill"),
        ("in order of users", SMALL, "sweep"),
        ("as it is", 1 << 30, "sweep"),
        ("users as text", 1 << 30, "sweep"),
        ("no user at all", 1 << 30, "whole"),
    ],
)
def test_the_route_is_known_beforehand(frame, change, memory, route, tmp_path):
    """How files will be read follows from their footers and the memory."""
    path = tmp_path / "run.parquet"
    CHANGES[change](frame).to_parquet(path, row_group_size=80, index=False)

    assert route == plan_blocks(open_files(path, Options(), memory), memory).route
