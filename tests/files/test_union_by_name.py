"""Files that lack a column of others are refused, or null in it with `union_by_name`."""

import deltalake
import pandas as pd
import pytest

import recframe
from recframe.cli import main

WHOLE = pd.DataFrame(
    {
        "user": ["a", "a", "b", "b", "c"],
        "item": [1, 2, 1, 2, 1],
        "score": [0.5, 0.25, 0.75, 1.0, 0.5],
        "relevant": [1, 0, 0, 1, 1],
    }
)
METRIC = "recall@1"
each_case = pytest.mark.parametrize("column", ["user", "score", "relevant"])
each_ending = pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "feather"])
each_order = pytest.mark.parametrize("order", [1, -1])


def save(frame, path):
    """Write a frame in the format of the path."""
    options = {
        ".csv": {"index": False},
        ".jsonl": {"orient": "records", "lines": True},
    }
    name = path.suffix.removeprefix(".").replace("jsonl", "json")
    getattr(frame.reset_index(drop=True), f"to_{name}")(path, **options.get(path.suffix, {}))


@pytest.fixture
def paths(request, tmp_path):
    """Return two files; the second, by name, lacks a column."""
    params = request.node.callspec.params
    for name, part in {"0": WHOLE[:4], "1": WHOLE[4:].drop(columns=params["column"])}.items():
        save(part, tmp_path / f"{name}.{params['ending']}")
    return sorted(tmp_path.iterdir())[:: params["order"]]


@pytest.mark.parametrize(
    ("column", "ending"),
    [("user", "csv"), ("score", "jsonl"), ("relevant", "feather"), ("user", "parquet")],
)
@each_order
def test_a_column_that_one_file_lacks(paths, column, ending, order, capsys):
    """A missing column is refused in any order of files, and the message names union_by_name."""
    of_first = rf"{column}: no column|{column}='{column}': no such column"
    of_other = f"'{column}': no such column in .*/1.{ending}; it has .* pass union_by_name=True to "
    for scan in (recframe.scan(paths), recframe.scan(paths)(**{column: column})):
        message = of_other if order == 1 else of_first
        with pytest.raises(recframe.MissingColumnError, match=message):
            scan.evaluate(METRIC)
    assert 1 == main(["evaluate", *map(str, paths), "--metric", METRIC])
    said = capsys.readouterr().err
    assert [order == 1] * 2 == ["pass union_by_name=True" in said, "--union-by-name" in said]


@each_case
@each_order
@pytest.mark.parametrize(
    ("ending", "memory"),
    [("parquet", "1GiB"), *((one, 1 << 14) for one in ("parquet", "csv", "jsonl", "feather"))],
)
def test_columns_are_united(paths, column, ending, order, memory, capsys):
    """A column is null in files that lack it, and `missing` decides about the nulls."""
    whole = pd.concat([WHOLE[:4], WHOLE[4:].drop(columns=column)][::order])
    whole = whole.convert_dtypes() if column == "relevant" else whole
    scan = recframe.scan(paths, memory, union_by_name=True)
    with pytest.raises(recframe.RecframeError, match=r"1 of .* are null"):
        scan.evaluate(METRIC)
    with pytest.raises(recframe.RecframeError, match=r"1 of .* are null"):
        whole.rec.evaluate(METRIC)
    if column == "relevant":
        return  # `missing` does not drop such rows.
    found = scan(missing="drop", ties="worst").mean(METRIC)
    assert "1 of 5 rows" in repr(found)
    pd.testing.assert_frame_equal(whole.rec(missing="drop", ties="worst").mean(METRIC), found)

    words = ["evaluate", *map(str, paths), "--metric", METRIC, "--union-by-name"]
    assert 1 == main(words)
    assert 0 == main([*words, "--missing", "drop"])
    assert "1.0" in capsys.readouterr().out


@each_ending
@each_order
@pytest.mark.parametrize("column", ["item"])
def test_a_column_that_no_file_has(paths, column, ending, order):
    """A column that no file has is refused without the advice to unite."""
    with pytest.raises(recframe.MissingColumnError, match="score='x': no such column") as caught:
        recframe.scan(paths, union_by_name=True)(score="x").evaluate(METRIC)
    assert "union" not in str(caught.value)


@each_ending
@each_order
@pytest.mark.parametrize("column", ["item"])
def test_rows_without_any_column_that_is_used(paths, column, ending, order, tmp_path):
    """Rows of a file without any used column still count, and filters see nulls in them."""
    save(pd.DataFrame({"note": ["x", "y"]}), tmp_path / f"2.{ending}")
    scan = recframe.scan([*paths, tmp_path / f"2.{ending}"][::order], union_by_name=True)
    with pytest.raises(recframe.RecframeError, match="2 of 2 rows are null"):
        scan.evaluate(METRIC)
    table = scan(missing="drop").mean(METRIC)
    assert (1.0, True) == (table.loc["score", METRIC], "3 of 7 rows" in repr(table))
    filtered = recframe.scan(tmp_path, filters=[("user", "in", ["a", "b"])], union_by_name=True)
    assert ["a", "b"] == filtered.evaluate(METRIC).index.tolist()


def test_tables_of_delta_are_united(tmp_path):
    """Several Delta tables are united like files; one table has the columns of its log."""
    deltalake.write_deltalake(tmp_path / "0", WHOLE[:4])
    deltalake.write_deltalake(tmp_path / "1", WHOLE[4:].drop(columns="user"))
    tables = [tmp_path / "0", tmp_path / "1"]
    with pytest.raises(recframe.MissingColumnError, match="union_by_name"):
        recframe.scan(tables).evaluate(METRIC)
    scan = recframe.scan(tables[::-1], union_by_name=True)
    table = scan(missing="drop").mean(METRIC)
    assert (1.0, True) == (table.loc["score", METRIC], "1 of 5 rows" in repr(table))


def test_the_option_is_a_flag():
    """Values other than True and False are refused."""
    with pytest.raises(recframe.RecframeError, match="union_by_name must be True or False, but is"):
        recframe.scan("x.parquet", union_by_name="score")


def test_a_later_file_without_a_header(tmp_path):
    """A part whose first row is no header is named, and no flag is proposed that loses its rows."""
    (tmp_path / "a.csv").write_text("user,item,score,relevant\n1,1,.9,1\n1,2,.1,0\n")
    (tmp_path / "b.csv").write_text("2,1,.1,1\n2,2,.9,0\n")
    with pytest.raises(
        recframe.RecframeError, match=r"b\.csv looks like values \('2', "
    ) as refused:
        recframe.scan(tmp_path).mean("recall@1")
    assert {} == refused.value.answers


def test_names_in_other_capitals(tmp_path):
    """A column that another file has in other capitals is refused, and is not read as null."""
    for name, header in (("a", "user,item,score,relevant"), ("b", "User,Item,Score,Relevant")):
        (tmp_path / f"{name}.csv").write_text(f"{header}\n{name},1,0.5,1\n{name},2,0.3,0\n")
    with pytest.raises(recframe.MissingColumnError, match=r"; rename 'User' in it$") as refused:
        recframe.scan(tmp_path).mean("mrr")
    assert {} == refused.value.answers
