"""recframe.save_per_user writes the files of recframe evaluate with --per-user from Python."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import recframe
from command_line_example import EXAMPLE
from recframe.cli import main

METRICS = ["recall@4", "ndcg@4", "r_precision"]
NOT_SAID = "does not say which options it was made with"
NAMES = pd.Index(list("abcdefghij"), name="user")


@pytest.fixture
def per_user():
    """Return the values of the example's users, one of them without a value."""
    table = pd.read_parquet(EXAMPLE).rec.evaluate(METRICS)
    table.iloc[3, 1] = np.nan
    return table


def in_segments(per_user):
    """Return a table with segments, one of them null, in its index."""
    countries = pd.Index(["NL", "FR", None, "NL", "FR"] * 2, name="country")
    return per_user.set_index(countries, append=True)


def with_weights(per_user):
    """Return a table with weights in its index, as read_per_user returns them."""
    return per_user.set_index(pd.Index(np.arange(10) / 7, name="weights"), append=True)


FORMS = {
    "as it is": lambda table: table,
    "text": lambda table: table.set_axis(NAMES),
    "segments": in_segments,
    "weights": with_weights,
    "weighted segments": lambda table: with_weights(in_segments(table)),
    "one score": lambda table: table[["KNN scores"]],
    "any labels": lambda table: table.rename(columns={"KNN scores": 'K, "é"', "ndcg@4": "m"}),
}


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("form", FORMS)
def test_reading_returns_what_was_saved(per_user, tmp_path, form, ending):
    """Values, users, segments, weights and labels come back bit for bit."""
    table, path = FORMS[form](per_user), tmp_path / f"users.{ending}"
    before = table.copy()
    recframe.save_per_user(table, path, {})

    pd.testing.assert_frame_equal(table, recframe.read_per_user(path), check_exact=True)
    pd.testing.assert_frame_equal(before, table)
    assert [path] == list(tmp_path.iterdir())


def test_tables_in_other_forms(per_user, tmp_path):
    """Values of one metric, and levels in another order, are saved as (score, metric)."""
    rec, path = pd.read_parquet(EXAMPLE).rec, tmp_path / "users.parquet"
    recframe.save_per_user(rec.recall(k=4), path)
    pd.testing.assert_frame_equal(rec.evaluate("recall@4"), recframe.read_per_user(path))
    recframe.save_per_user(per_user.swaplevel(axis=1), path)
    pd.testing.assert_frame_equal(per_user, recframe.read_per_user(path))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, []),
        ({"ties": "worst", "min_relevance": 1}, ["--ties", "worst", "--min-relevance", "1"]),
    ],
)
def test_file_is_that_of_the_command(tmp_path, options, words):
    """The file has the rows and the metadata of the command with the same options."""
    paths = [str(tmp_path / name) for name in ("python.parquet", "command.parquet")]
    table = recframe.evaluate(EXAMPLE, METRICS, **options)
    recframe.save_per_user(table, paths[0], options)
    main(["evaluate", str(EXAMPLE), "--metric", *METRICS, *words, "--per-user", paths[1], "-q"])
    saved, expected = map(pq.read_table, paths)

    assert expected.equals(saved)
    assert expected.schema.metadata == saved.schema.metadata
    assert b'"recframe": "' in saved.schema.metadata[b"recframe"]


def test_weights_and_unit_are_those_of_the_command(tmp_path, capsys):
    """The gate takes weights and the unit from both files, and finds no difference."""
    rows = pd.read_parquet(EXAMPLE).assign(clicks=lambda rows: rows["object"] + 1)
    rows = pd.concat([rows.assign(day=day) for day in (1, 2)])
    users, paths = ["day", "object"], [str(tmp_path / name) for name in ("a.parquet", "b.parquet")]
    rows.to_parquet(tmp_path / "rows.parquet")
    weights = rows.groupby(users)["clicks"].first()
    table = rows.rec(user=users).evaluate("recall@4")
    recframe.save_per_user(table, paths[0], {"user": users}, weights, unit="object")
    words = ["--user", *users[:1], "--user", *users[1:], "--metric", "recall@4"]
    words += ["--weights", "clicks", "--unit", "object", "--per-user", paths[1], "-q"]
    main(["evaluate", str(tmp_path / "rows.parquet"), *words])
    capsys.readouterr()

    tables = [pq.read_table(path) for path in paths]
    assert tables[1].schema.metadata[b"recframe"] == tables[0].schema.metadata[b"recframe"]
    assert tables[1].equals(tables[0].cast(tables[1].schema))
    assert 0 == main(["compare", *paths, "--max-drop", "0.01"])
    assert "note: all values are the same" in capsys.readouterr().err


def test_gate_reads_the_options(per_user, tmp_path, capsys):
    """The gate refuses other options, and names the file that records none."""
    paths = {name: str(tmp_path / f"{name}.parquet") for name in ("a", "b", "none", "by_pandas")}
    recframe.save_per_user(per_user, paths["a"], {})
    recframe.save_per_user(per_user, paths["b"], {"ties": "worst"})
    weights = pd.Series(1.0, per_user.index, name="clicks")
    recframe.save_per_user(per_user, paths["none"], weights=weights)
    per_user.to_parquet(paths["by_pandas"])
    recframe.save_per_user(per_user, tmp_path / "weighted.parquet", {}, weights)

    assert 1 == main(["compare", paths["a"], paths["b"], "--max-drop", "0.01"])
    assert "ties='worst' were made with other options" in capsys.readouterr().err
    for old, new in (("a", "by_pandas"), ("weighted", "none")):
        files = [str(tmp_path / f"{name}.parquet") for name in (old, new)]
        assert 0 == main(["compare", *files, "--max-drop", "0.01"])
        assert f"{new}.parquet {NOT_SAID}" in capsys.readouterr().err


def test_versions_may_differ(per_user, tmp_path, monkeypatch, capsys):
    """The gate compares files of two versions without a note."""
    paths = [str(tmp_path / name) for name in ("old.parquet", "new.parquet")]
    monkeypatch.setattr("recframe.files.per_user_tables.version", lambda name: "0.0.1")
    recframe.save_per_user(per_user, paths[0], {})
    monkeypatch.undo()
    recframe.save_per_user(per_user, paths[1], {})

    assert 0 == main(["compare", *paths, "--max-drop", "0.01"])
    assert "recframe: note: all values are the same in both files\n" == capsys.readouterr().err


def change(per_user, **columns):
    """Return a table with other scores."""
    return per_user.rename(columns={"KNN scores": columns["knn"]}, level="score")


REFUSED = {
    "ending": (lambda table, path: (table, path.with_suffix(".txt")), "must end in .parquet or"),
    "no path": (lambda table, path: (table, 3), "path must end in .parquet or .csv, but is 3"),
    "no table": (lambda table, path: (table.iloc[:, 0], path), "per_user must be a DataFrame"),
    "means": (lambda table, path: (table.astype(str), path), "per_user must hold numbers"),
    "number": (lambda table, path: (change(table, knn=3), path), "text as scores, but has .* 3"),
    "tuple": (lambda table, path: (change(table, knn=(1, 2)), path), "must have text as scores"),
    "null": (lambda table, path: (table.set_axis([None, *range(9)]), path), "null. Drop"),
    "kinds": (lambda table, path: (table.set_axis(["a", *range(9)]), path), "cannot be saved: "),
    "twice": (lambda table, path: (table.set_axis([0] * 10), path), "each user once"),
    "levels": (
        lambda table, path: (
            table.set_axis(pd.MultiIndex.from_product([range(2), range(5)])),
            path,
        ),
        "user column 'user' has a name that results use",
    ),
    "accessor": (lambda table, path: (table, path, table.rec), "options must be a dict of the"),
    "option": (lambda table, path: (table, path, {"tie": 1}), "unknown option 'tie', did you"),
    "value": (lambda table, path: (table, path, {"ties": "no"}), "ties must be one of"),
    "weights": (lambda table, path: (table, path, {}, "clicks"), "weights must be a Series"),
    "negative": (lambda table, path: (table, path, {}, -table.iloc[:, 2] - 1), "of 0 or more"),
    "unit": (lambda table, path: (table, path, {}, None, "day"), "unit must be one of"),
    "folder": (lambda table, path: (table, path.parent / "no" / "a.csv"), "No such file"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(per_user, tmp_path, case):
    """A table or an argument that cannot be saved is refused, and no file is written."""
    make, message = REFUSED[case]
    with pytest.raises(recframe.RecframeError, match=message):
        recframe.save_per_user(*make(per_user, tmp_path / "users.parquet"))

    assert [] == list(tmp_path.iterdir())


def test_inputs_are_never_overwritten(per_user, tmp_path):
    """The files of truth and exclude stay, by every path that leads to them."""
    path = tmp_path / "test.parquet"
    path.write_bytes(b"not read")
    for options in (
        {"truth": path},
        {"exclude": str(path)},
        {"truth": f"{tmp_path}/../{tmp_path.name}"},
    ):
        with pytest.raises(recframe.RecframeError, match=r"cannot write .*test\.parquet: "):
            recframe.save_per_user(per_user, path, options)

    assert b"not read" == path.read_bytes()


def test_an_old_file_stays_if_the_new_one_fails(per_user, tmp_path):
    """A table that cannot be saved leaves the file as it was, and no other file."""
    path = tmp_path / "users.parquet"
    recframe.save_per_user(per_user, path, {})
    before = path.read_bytes()
    with pytest.raises(recframe.RecframeError, match="cannot be saved"):
        recframe.save_per_user(per_user.set_axis(["a", *range(9)]), path, {})

    assert (before, [path]) == (path.read_bytes(), list(tmp_path.iterdir()))
    recframe.save_per_user(per_user / 2, path, {})
    pd.testing.assert_frame_equal(per_user / 2, recframe.read_per_user(path))


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_stores(per_user, ending):
    """A file in a store is written and read like one of this machine."""
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    path = f"memory://saved/users.{ending}"
    recframe.save_per_user(per_user, path, {})

    pd.testing.assert_frame_equal(per_user, recframe.read_per_user(path), check_exact=True)


def test_tables_of_polars_are_refused_with_calls(tmp_path):
    """A table of Polars is refused with calls that lead to one that is saved."""
    polars = pytest.importorskip("polars", reason="polars is not installed")
    import recframe.polars

    rows = polars.read_parquet(EXAMPLE).rename({"object": "user"})
    per_user, path = rows.rec.evaluate(METRICS), tmp_path / "users.parquet"
    for _ in range(2):
        with pytest.raises(recframe.RecframeError, match=r". Pass .*per_user") as refused:
            recframe.save_per_user(per_user, path)
        call = str(refused.value).rpartition("Pass ")[2].rpartition(" or ")[2].removesuffix(".")
        per_user = eval(call, {"per_user": per_user})
    recframe.save_per_user(per_user, path)

    expected = pd.read_parquet(EXAMPLE).rename(columns={"object": "user"}).rec.evaluate(METRICS)
    saved = recframe.read_per_user(path)
    pd.testing.assert_frame_equal(expected, saved[expected.columns], check_exact=True)
