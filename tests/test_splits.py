"""Rows or pairs of truth from several parts of a split are asked about."""

import random
import string

import pandas as pd
import pytest

import recframe
from entry_points import ENTRY_POINTS
from recframe import RecframeError

METRIC = "precision@1"
ROWS = pd.DataFrame(
    {
        "user": ["a"] * 6 + ["b"] * 6 + ["c"] * 6,
        "item": list("pqrstu") * 3,
        "score": [6, 5, 4, 3, 2, 1] * 3,
        "relevant": [1, 1, 0, 0, 1, 0] * 3,
    }
)
WORDS = {"train": ["train"] * 3 + ["test"] * 3, "Validation": ["DEV"] * 3 + ["Validation"] * 3}
RANDOM = "".join(random.Random(58).choices(string.ascii_lowercase, k=7))
# Dask does not read rows beforehand.
LOOKING = [entry for entry in ENTRY_POINTS if entry != "Dask"]
ASKED = "tells parts of a split apart"


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("entry", LOOKING)
def test_a_column_of_parts_is_asked_about(entry, words, tmp_path):
    """A column of parts of any name is asked about, and the message selects the evaluated part."""
    rows = ROWS.assign(**{RANDOM: WORDS[words] * 3})
    with pytest.raises(RecframeError) as refused:
        ENTRY_POINTS[entry](rows, METRIC, {}, tmp_path)
    message = " ".join(str(refused.value).split())
    assert "as a flag --filter" in message
    assert f"'{RANDOM}' {ASKED}" in message
    evaluated = WORDS[words][-1]
    assert f"'{evaluated}'" in message
    assert f"== '{evaluated}'" in message or f"'{RANDOM} = {evaluated}'" in message
    one = ENTRY_POINTS[entry](rows[rows[RANDOM] == evaluated], METRIC, {}, tmp_path)
    assert [0.0] * 3 == one["score", METRIC].tolist()


@pytest.mark.parametrize("entry", [entry for entry in ENTRY_POINTS if entry != "command line"])
def test_all_rows_where_that_is_said(entry, tmp_path):
    """model=None counts all rows, and a part in `user` ranks each part by itself."""
    rows = ROWS.assign(split=WORDS["train"] * 3)
    table = ENTRY_POINTS[entry](rows, METRIC, {"model": None}, tmp_path)
    assert [1.0] * 3 == table["score", METRIC].tolist()
    table = ENTRY_POINTS[entry](rows, METRIC, {"user": ["split", "user"]}, tmp_path)
    assert [0.0] * 3 + [1.0] * 3 == table["score", METRIC].tolist()


@pytest.mark.parametrize(
    "name",
    ["is_test", "isTest", "test", "holdout", "in_train", "test_mask", "heldout", "held_out", "oof"],
)
@pytest.mark.parametrize("dtype", [bool, int, float])
def test_flags_by_their_names(name, dtype):
    """Flags are parts of a split if the column has the name of a part."""
    of_test = pd.Series([0, 0, 0, 1, 1, 1] * 3).astype(bool)
    rows = ROWS.assign(**{name: (of_test ^ (name == "in_train")).astype(dtype)})
    with pytest.raises(RecframeError, match=ASKED) as refused:
        rows.rec.mean(METRIC)
    value = str(dtype(name != "in_train"))
    assert f"df[df['{name}'] == {value}]" in str(refused.value)
    assert 1.0 == rows.rename(columns={name: "is_new"}).rec.mean(METRIC).loc["score", METRIC]


def test_one_user():
    """The only user is enough to ask."""
    rows = ROWS.iloc[:6].assign(**{RANDOM: WORDS["train"]})
    with pytest.raises(RecframeError, match=ASKED):
        rows.rec.mean(METRIC)


@pytest.mark.parametrize(
    "values", [[0, 1], ["trainval", "test"], ["tr", "va"], ["development", "test"]]
)
def test_other_values_of_a_split(values):
    """A column that is named as a split may number the parts or shorten their names."""
    rows = ROWS.assign(split=[value for value in values for _ in range(3)] * 3)
    with pytest.raises(RecframeError, match=ASKED):
        rows.rec.mean(METRIC)


def test_no_question():
    """A single part, users of one part each, other texts and lists are not asked about."""
    of_users = ROWS["user"].map({"a": "train", "b": "test", "c": "test"})
    alone = pd.Series([*WORDS["train"], *["test"] * 12])
    others = ["test", of_users, alone, ["test", "control", "x"] * 6, [["train"], ["test"]] * 9]
    for values in others:
        rows = ROWS.assign(split=values, is_valid=[True, False] * 9)
        assert 1.0 == rows.rec.mean(METRIC).loc["score", METRIC]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_and_folders(ending, tmp_path):
    """Files and folders named like parts are asked about, unless each file is named."""
    parts = {"train": ROWS[ROWS.index % 6 < 3], "test": ROWS[ROWS.index % 6 > 2]}
    layouts = [f"{RANDOM}={{}}/a", "{}/a", "{}-0-of-1", "ratings_{}"]
    for number, layout in enumerate(layouts):
        root, paths = tmp_path / str(number), []
        for part, rows in parts.items():
            path = root / f"{layout.format(part)}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            getattr(rows, f"to_{ending}")(path, index=False)
            paths.append(path)
        with pytest.raises(RecframeError, match=ASKED) as refused:
            recframe.evaluate(root, METRIC)
        name = RANDOM if number == 0 else "split_of_file"
        assert f"filters=[('{name}', '==', 'test')]" in str(refused.value)
        scanned = recframe.scan(root, filters=[(name, "==", "test")])
        assert 0.0 == scanned.mean(METRIC).loc["score", METRIC]
        if number:
            table = recframe.evaluate(paths, METRIC)
            assert [1.0] * 3 == table["score", METRIC].tolist()


def test_truth_in_files_of_parts(tmp_path):
    """A folder of truth with files of several parts is asked about, and a single file is not."""
    ROWS[:3].to_parquet(tmp_path / "train.parquet")
    ROWS[3:6].to_parquet(tmp_path / "test.parquet")
    rows = ROWS.drop(columns="relevant")
    with pytest.raises(RecframeError, match=f"truth: 'split_of_file' {ASKED}"):
        rows.rec(truth=tmp_path).mean(METRIC)
    one = rows.rec(truth=tmp_path / "test.parquet", population="both")
    assert 0.0 == one.mean(METRIC).loc["score", METRIC]


@pytest.mark.parametrize("relevance", [{}, {"relevant": [1, 0, 1]}])
def test_truth_of_parts(relevance):
    """Truth with a column of parts is asked about, also with relevance."""
    truth = pd.DataFrame({"user": ["a", "b", "c"], "item": list("pqr")}).assign(**relevance)
    truth[RANDOM] = ["Training", "Test", "Test"]
    rows = ROWS.drop(columns="relevant")
    with pytest.raises(RecframeError, match=rf"truth: '{RANDOM}' {ASKED}.*== 'Test'\]"):
        rows.rec(truth=truth).mean(METRIC)
    assert 1 / 3 == pytest.approx(
        rows.rec(truth=truth, model=None).mean(METRIC).loc["score", METRIC]
    )


FOLDS = ["fold", "fold_id", "cv_fold", "kfold", "testFold"]


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("written", [int, "f{}".format])
def test_folds_within_users_are_asked_about(name, written):
    """Folds that vary within users are asked about, in rows and in truth, and others are not."""
    rows = ROWS.assign(**{name: [*map(written, [1, 0] * 9)]})
    with pytest.raises(RecframeError, match=rf"'{name}' {ASKED}") as refused:
        rows.rec.mean(METRIC)
    first = repr(written(0))
    assert f"df[df['{name}'] == {first}]" in str(refused.value)
    assert f"or user=['{name}', 'user'] to rank each by itself" in str(refused.value)
    assert 6 == len(rows.rec(user=[name, "user"]).evaluate(METRIC))
    truth, lists = rows[rows["relevant"] > 0], ROWS.drop(columns="relevant")
    with pytest.raises(RecframeError, match=rf"truth: '{name}' {ASKED}") as refused:
        lists.rec(truth=truth).mean(METRIC)
    assert f"truth[truth['{name}'] == {first}]" in str(refused.value)
    of_users = ROWS["user"].map({"a": written(0), "b": written(1), "c": written(2)})
    for frame in (ROWS.assign(**{name: of_users}), ROWS.assign(above_the_fold=[0, 1] * 9)):
        assert 1.0 == frame.rec.mean(METRIC).loc["score", METRIC]
        truth = frame[frame["relevant"] > 0]
        assert 1.0 == lists.rec(truth=truth).mean(METRIC).loc["score", METRIC]


@pytest.mark.parametrize("model", ["infer", "algo"])
def test_a_model_that_is_named_answers_nothing(model):
    """A named model does not answer the question about parts, and only model=None does."""
    rows = pd.concat([ROWS.assign(algo=one, score=ROWS["score"] * sign) for one, sign in MODELS])
    rows["time_split"] = WORDS["train"] * 6
    with pytest.raises(RecframeError, match=f"'time_split' {ASKED}"):
        rows.rec(model=model).mean(METRIC)


PARTED = {
    "words": ["tr"] * 3 + ["te"] * 3,
    "folds": ["train_fold1"] * 3 + ["X_test"] * 3,
    "texts of flags": ["0"] * 3 + ["1"] * 3,
    "words of flags": ["False"] * 3 + ["True"] * 3,
}
MODELS = [("a", 1), ("b", -1)]


@pytest.mark.parametrize("written", PARTED)
def test_parts_as_people_write_them(written):
    """Common words for parts, and flags as text under a telling name, are asked about."""
    name = "is_test" if "flags" in written else RANDOM
    with pytest.raises(RecframeError, match=ASKED):
        ROWS.assign(**{name: PARTED[written] * 3}).rec.mean(METRIC)


@pytest.mark.parametrize("dtype_backend", ["pyarrow", "numpy_nullable"])
def test_dtypes_of_arrow(dtype_backend):
    """Parts are found in texts of any dtype."""
    rows = ROWS.assign(**{RANDOM: WORDS["train"] * 3}).convert_dtypes(dtype_backend=dtype_backend)
    with pytest.raises(RecframeError, match=ASKED):
        rows.rec.mean(METRIC)


def test_train_above_test_in_a_large_frame():
    """Parts are found at any position of a user's rows in a large frame."""
    n = 2_000
    rows = pd.DataFrame(
        {"user": [*range(n)] * 10, "item": [i for i in range(10) for _ in range(n)]}
    )
    rows["score"], rows["relevant"] = rows["item"] * 7 % 11, rows["item"] % 2
    rows[RANDOM] = ["train"] * 14_000 + ["test"] * 6_000
    for frame in (rows, rows.sample(frac=1, random_state=1)):
        with pytest.raises(RecframeError, match=ASKED):
            frame.rec.mean(METRIC)


def test_files_of_truth_have_a_path(tmp_path):
    """The refusal of truth in several files asks for the path of one, and model=None counts all."""
    ROWS[:3].to_parquet(tmp_path / "train.parquet")
    ROWS[3:6].to_parquet(tmp_path / "test.parquet")
    rows = ROWS[ROWS["user"] == "a"].drop(columns="relevant")
    with pytest.raises(
        RecframeError, match="Pass the rows of one, as truth= the path of its files"
    ):
        rows.rec(truth=tmp_path).mean(METRIC)
    assert 1.0 == rows.rec(truth=tmp_path, model=None).mean(METRIC).loc["score", METRIC]
