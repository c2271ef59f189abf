"""Unambiguous data are accepted: sets of pairs, nothing to exclude, no hit."""

import pandas as pd
import pytest

import recframe
from entry_points import ENTRY_POINTS
from recframe import MissingColumnError, RecframeError

METRIC = "recall@2"
OPTIONS = {"short": "pad", "zero_division": 0.0}
RECS = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "score": [2, 1, 1]})
TEST = pd.DataFrame({"user": [1, 1, 2], "item": [1, 3, 1]})
TWICE = pd.concat([TEST, TEST[1:]], ignore_index=True)


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_truth_without_relevance_is_a_set(entry, tmp_path):
    """Repeated pairs of truth count once, but are refused if truth has relevance."""
    found = ENTRY_POINTS[entry](RECS, METRIC, {"truth": TWICE, **OPTIONS}, tmp_path)
    assert {1: 0.5, 2: 1.0} == found["score", METRIC].to_dict()
    graded = {"truth": TWICE.assign(relevant=1), **OPTIONS}
    with pytest.raises(RecframeError, match="must occur once"):
        ENTRY_POINTS[entry](RECS, METRIC, graded, tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "csv", "feather"])
@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_an_empty_exclude_excludes_nothing(entry, ending, tmp_path):
    """An empty `exclude` excludes nothing, as a frame and as a file without dtypes."""
    path = tmp_path / f"seen.{ending}"
    getattr(TEST[:0], f"to_{ending}")(path, **({} if ending == "feather" else {"index": False}))
    given = RECS.assign(relevant=[0, 1, 1])
    for exclude in (TEST[:0], path):
        found = ENTRY_POINTS[entry](given, METRIC, {"exclude": exclude, **OPTIONS}, tmp_path)
        assert {1: 1.0, 2: 1.0} == found["score", METRIC].to_dict()
    assert 2 == given.rec(exclude=path).describe(1).loc["users", "score"]


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_a_model_may_find_nothing(entry, tmp_path):
    """A model without a hit has values of 0, unless ids are written differently."""
    truth = TEST.assign(item=TEST["item"] + 7)
    found = ENTRY_POINTS[entry](RECS, METRIC, {"truth": truth, **OPTIONS}, tmp_path)
    assert {1: 0.0, 2: 0.0} == found["score", METRIC].to_dict()
    texts = {"truth": TEST.assign(item="A"), **OPTIONS}
    with pytest.raises(RecframeError, match="they differ in case"):
        ENTRY_POINTS[entry](RECS.assign(item=["a", "b", "a"]), METRIC, texts, tmp_path)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "feather"])
@pytest.mark.parametrize("dtype", ["int64", "int8", "float64"])
def test_flags_and_numbers_in_two_files(dtype, ending, order, tmp_path):
    """Relevance may be bool in one file and 0 and 1 in another."""
    given = RECS.assign(relevant=[0, 1, 1])
    parts = {"a": given[:2].astype({"relevant": dtype}), "b": given[2:].astype({"relevant": bool})}
    for name, part in parts.items():
        path, rows = tmp_path / f"{name}.{ending}", part.reset_index(drop=True)
        if ending == "jsonl":
            rows.to_json(path, orient="records", lines=True)
        else:
            getattr(rows, f"to_{ending}")(path, **({"index": False} if ending == "csv" else {}))
    paths = sorted(tmp_path.iterdir())[::order]

    assert [1.0, 1.0] == recframe.evaluate(paths, METRIC, short="pad")["score", METRIC].tolist()


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("rows", [1, 1 << 17])
def test_flags_and_numbers_in_one_column(rows, order, tmp_path):
    """Relevance of "true" and 1 in one csv file is text, and refused."""
    cells = ["true", "1"][::order]
    lines = [f"{n},{n},1,{cells[n >= rows]}" for n in range(2 * rows)]
    path = tmp_path / "a.csv"
    path.write_text("user,item,score,relevant\n" + "\n".join(lines) + "\n")
    with pytest.raises(RecframeError, match="must be boolean, 0/1 or numbers, but has dtype"):
        recframe.evaluate(path, METRIC, short="pad")


@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_truth_of_a_whole_split_is_refused(entry, tmp_path):
    """Truth with all parts of a split is refused; the message selects one part, which works."""
    truth = TEST.assign(split=["test", "train", "test"])
    with pytest.raises(RecframeError) as refused:
        ENTRY_POINTS[entry](RECS, METRIC, {"truth": truth, **OPTIONS}, tmp_path)
    message = " ".join(str(refused.value).split())
    assert "'split' tells parts of a split apart ('test', 'train'). Pass the rows of one" in message
    assert "truth[truth['split'] == 'test'], or " in message
    found = ENTRY_POINTS[entry](
        RECS, METRIC, {"truth": truth[truth["split"] == "test"], **OPTIONS}, tmp_path
    )
    assert {1: 1.0, 2: 1.0} == found["score", METRIC].to_dict()


def test_folders_of_a_split_are_refused(tmp_path):
    """Folders of a split are refused like a column of it, and a folder of one part is accepted."""
    for part in ("train", "test"):
        (tmp_path / f"split={part}").mkdir()
        TEST.to_parquet(tmp_path / f"split={part}" / "a.parquet")
    with pytest.raises(RecframeError, match="'split' tells parts of a split apart"):
        recframe.evaluate(RECS, METRIC, truth=tmp_path, **OPTIONS)
    found = recframe.evaluate(RECS, METRIC, truth=tmp_path / "split=test", **OPTIONS)
    assert {1: 0.5, 2: 1.0} == found["score", METRIC].to_dict()
    both = recframe.evaluate(RECS, METRIC, truth=tmp_path, model=None, **OPTIONS)
    assert {1: 0.5, 2: 1.0} == both["score", METRIC].to_dict()


@pytest.mark.parametrize("ids", [["1.1", "1.10"], ["1e5", "100000"], ["2.50", "3.5"]])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("role", ["user", "item"])
def test_ids_of_csv_are_as_they_are_written(role, order, ids, tmp_path):
    """Ids in csv that are equal only as numbers stay different, in truth too, in any file order."""
    other = {"user": "item", "item": "user"}[role]
    frame = pd.DataFrame({role: ids, other: 7, "score": [0.5, 0.25]})
    for number in range(2):
        frame[number : number + 1].to_csv(tmp_path / f"{number}.csv", index=False)
    paths = [tmp_path / "0.csv", tmp_path / "1.csv"][::order]
    frame[[role, other]].to_csv(tmp_path / "truth.csv", index=False)
    for truth in (tmp_path / "truth.csv", frame[[role, other]]):
        table = recframe.evaluate(paths, METRIC, truth=truth, short="pad")["score", METRIC]
        assert (ids if role == "user" else [7], {1.0}) == (sorted(table.index, key=ids.index) if
            role == "user" else table.index.tolist(), {*table})  # fmt: skip


def test_ids_of_csv_that_are_floats_stay_so(tmp_path):
    """Floats in csv stay floats as ids, and scores are numbers in any notation."""
    frame = pd.DataFrame({"user": [1.0, 2.5], "score": ["1.10", "1e5"], "relevant": 1})
    frame.to_csv(tmp_path / "a.csv", index=False)
    table = recframe.evaluate(tmp_path / "a.csv", METRIC, short="pad")
    assert [1.0, 2.5] == table.index.tolist()


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("name", "other"), [("b_score", "note"), ("relevant", "rating"), ("user", "member")]
)
def test_columns_that_only_some_files_have(name, other, ending, order, tmp_path):
    """Columns that only some files have are refused in any order, unless others are named."""
    given = RECS.assign(b_score=[1, 2, 3], relevant=[0, 1, 1])
    for number, part in enumerate([given, given.rename(columns={name: other})]):
        getattr(part, f"to_{ending}")(tmp_path / f"{number}.{ending}", index=False)
    paths = sorted(tmp_path.iterdir())[::order]
    missing = other if order == -1 and other != "note" else name
    with pytest.raises(
        MissingColumnError, match=rf"^'{missing}': no such column in .*{ending}; it"
    ):
        recframe.evaluate(paths, METRIC, short="pad", duplicates="keep")
    if name == "b_score":
        asked = {"score": "score", "short": "pad", "duplicates": "keep"}
        assert [("score", METRIC)] == recframe.evaluate(paths, METRIC, **asked).columns.tolist()
