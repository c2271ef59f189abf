"""df.rec.overlap has means over all orders of ties, on every engine and at the edges.

Tests of recframe overlap belong here.
"""

import json
import math
from itertools import product

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import recframe.dask
import recframe.polars
import reference
from recframe.cli import main

SCORES = ["a_score", "b_score"]
MEASURES = [{"k": 1}, {"k": 2}, {"k": 4}, {"rbo": 0.0}, {"rbo": 0.75}]
CELL = st.none() | st.integers(1, 3)
# Users with rows of up to five items, each with two scores, which may be null.
ROWS = st.dictionaries(
    st.tuples(st.integers(0, 2), st.sampled_from("abcde")), st.tuples(CELL, CELL), min_size=1
)
OPTIONS = st.fixed_dictionaries(
    {
        "ties": st.sampled_from(["expected", "first", "last", "best", "worst", "item"]),
        "short": st.sampled_from(["pad", "shrink", "nan"]),
        "zero_division": st.sampled_from([math.nan, 0.0, 1.0]),
    }
)


def frame_of(scores):
    """Return a frame of two scores of (user, item) pairs, with relevance decided by the item."""
    frame = pd.DataFrame([(*pair, *both) for pair, both in scores.items()])
    frame.columns = ["user", "item", *SCORES]
    frame[SCORES] = frame[SCORES].astype(float)
    return frame.assign(relevant=frame["item"].isin(["a", "d"]))


def possible_lists(rows, ties):
    """Return the equally likely lists of items that a user's (score, relevant, item) rows give."""
    rows = [row for row in rows if not math.isnan(row[0])]
    if ties in ("first", "last", "item"):
        named = [(score, flag, *([item] if ties == "item" else [])) for score, flag, item in rows]
        return [[rows[i][2] for i in reference.order(named, ties)]]
    if ties != "expected":
        rows = [((score, flag == (ties == "best")), flag, item) for score, flag, item in rows]
    return [[item for *_, item in order] for order in reference.rankings(rows)]


def expected_overlap(frame, k=None, rbo=None, *, ties, short, zero_division):
    """Return the mean over users of the mean over all pairs of lists that ties allow."""
    values = []
    for _, own in frame.groupby("user"):
        lists = [
            possible_lists(list(zip(own[score], own["relevant"], own["item"], strict=True)), ties)
            for score in SCORES
        ]
        if k is not None and short == "nan" and min(len(one[0]) for one in lists) < k:
            continue
        pairs = [
            reference.overlap(*pair, k, short)
            if rbo is None
            else reference.rank_biased_overlap(*pair, rbo)
            for pair in product(*lists)
        ]
        values.append(zero_division if None in pairs else float(sum(pairs) / len(pairs)))
    values = [value for value in values if not math.isnan(value)]
    return sum(values) / len(values) if values else math.nan


@given(ROWS, OPTIONS)
def test_it_is_the_mean_over_all_lists(scores, options):
    """Overlaps are expectations over the orders of ties in both rankings, of any lengths."""
    frame = frame_of(scores)
    for measure in MEASURES:
        table = frame.rec(missing="unranked", **options).overlap(**measure)
        expected = expected_overlap(frame, **measure, **options)
        mirrored = [table.loc["a_score", "b_score"], table.loc["b_score", "a_score"]]

        assert pytest.approx([expected] * 2, rel=1e-12, abs=1e-13, nan_ok=True) == mirrored


THREE = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 2],
        "item": list("abcabd"),
        "a_score": [3, 2, 1, 3, 2, 1],
        "b_score": [3, 1, 2, 1, 2, 3],
        "c_score": [1.0, 1.0, 1.0, None, None, None],
    }
)


def test_by_hand():
    """Three models, one with ties and an empty list, have overlaps counted by hand."""
    rec = THREE.rec(missing="unranked", short="pad")
    table = rec.overlap(k=2)

    assert ("other_score", "overlap@2") == (table.index.name, table.columns.name)
    assert [*THREE.columns[2:]] == [*table.index] == [*table.columns]
    np.testing.assert_array_equal(
        [[1, 0.5, 1 / 3], [0.5, 1, 1 / 3], [1 / 3, 1 / 3, 1]], table.to_numpy()
    )
    (note,) = table.notes
    assert "empty lists among 2 users: 1 by c_score" in note.text
    # At depths 1, 2 and 3 user 1 has 1, 1 and 3 shared items, and user 2 has 0, 1 and 3.
    assert (0.875 + 0.375) / 2 == rec.overlap(rbo=0.5).loc["b_score", "a_score"]
    assert "rbo(p=0.5)" == rec.overlap(rbo=0.5).columns.name
    assert "rbo(p=0)" == rec.overlap(rbo=0).columns.name


def test_equal_rankings():
    """A model equals itself; a copy breaks ties independently unless items order them."""
    frame = pd.DataFrame({"user": 1, "item": list("ab"), "a_score": 1, "b_score": 1})

    assert [[1, 0.5], [0.5, 1]] == frame.rec.overlap(1).to_numpy().tolist()
    assert np.ones((2, 2)).tolist() == frame.rec(ties="item").overlap(1).to_numpy().tolist()
    for measure in ({"k": 2}, {"rbo": 0.9}):
        table = (
            THREE.drop(columns="c_score").assign(b_score=THREE["a_score"]).rec.overlap(**measure)
        )
        np.testing.assert_allclose(table.to_numpy(), 1, rtol=1e-15)


def test_empty_lists():
    """A user without both lists has no value, one with a single list has 0; both are noted."""
    rows = pd.DataFrame({"user": [1, 2, 3], "item": list("abc"), "a_score": [1.0, 1.0, None]})
    frame = rows.assign(b_score=[1.0, None, None])
    table = frame.rec(missing="unranked", short="pad").overlap(1)

    assert [[1, 0.5], [0.5, 1]] == table.to_numpy().tolist()
    assert ["undefined", "empty"] == [note.kind for note in table.notes]
    assert "means leave out 1 in overlap@1 (two empty lists)" in table.notes[0].text
    assert "1 by a_score and 2 by b_score" in table.notes[1].text
    zero = frame.rec(missing="unranked", short="pad", zero_division=0.0).overlap(rbo=0.5)
    assert 1 / 3 == zero.loc["a_score", "b_score"]
    with pytest.raises(recframe.RecframeError, match="fewer than k=1 ranked rows"):
        frame.rec(missing="unranked").overlap(1)
    assert frame[:0].rec.overlap(1).isna().all(axis=None)


def test_users_that_population_leaves_out():
    """Truth decides which users count, and nothing else; relevance is never asked for."""
    truth = pd.DataFrame({"user": [1, 9], "item": ["a", "b"]})
    frame = THREE.drop(columns="c_score")

    for population, expected in (("both", 1.0), ("truth", 1.0), ("rows", 0.5), ("all", 0.5)):
        table = frame.rec(truth=truth, population=population).overlap(1)
        assert expected == table.loc["a_score", "b_score"]
    with pytest.raises(recframe.MissingColumnError, match="relevant: no column found"):
        frame.rec(ties="best").overlap(1)


def test_models_in_rows():
    """Models in rows have the overlaps of models in columns."""
    wide = THREE.drop(columns="c_score")
    long = wide.melt(["user", "item"], var_name="model", value_name="score")
    for measure in MEASURES[:2]:
        expected = wide.rec.overlap(**measure)
        found = long.rec(model="model").overlap(**measure)
        pd.testing.assert_frame_equal(expected, found, check_exact=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {},
            "overlap takes either k or rbo, not k=None and rbo=None. Pass k=10",
        ),
        ({"k": 2, "rbo": 0.9}, "overlap takes either k or rbo, not k=2 and rbo=0.9"),
        ({"k": 0}, "k must be an integer of 1 or more, but is 0"),
        ({"rbo": 1}, r"rbo must be .* a number in \[0, 1\), but is 1. Pass rbo=0.9"),
        ({"rbo": -0.1}, r"rbo must be .* but is -0.1"),
        ({"rbo": math.nan}, r"rbo must be .* but is nan"),
        ({"rbo": "0.9"}, r"rbo must be .* but is '0.9'"),
        ({"rbo": True}, r"rbo must be .* but is True"),
    ],
)
def test_wrong_arguments(arguments, message):
    """Exactly one of `k` and `rbo` is needed, in its range."""
    with pytest.raises(recframe.RecframeError, match=message):
        THREE.rec.overlap(**arguments)


def test_other_refusals():
    """A single model, a frame without items, and repeated pairs are refused."""
    one = THREE[["user", "item", "a_score"]]
    two = THREE.drop(columns="c_score")
    for call, message in (
        (one.rec.overlap, r"needs two score columns or more, but has \['a_score'\]. Pass score="),
        (two.drop(columns="item").rec.overlap, "item: no column found"),
        (two.rec(duplicates="keep").overlap, "'keep': an item of a list counts once"),
        (two.assign(item="a").rec.overlap, "but 4 of 6 rows repeat"),
    ):
        with pytest.raises(recframe.RecframeError, match=message):
            call(1)


def test_a_column_that_could_be_models():
    """With two score columns no column of models is asked for, and wrong arguments come first."""
    frame = pd.DataFrame({"user": np.repeat([1, 2, 3], 8), "item": np.tile(range(8), 3)})
    frame["a_score"] = frame["b_score"] = np.random.default_rng(4).random(24)
    frame["lang"] = ["en", "de", "de", "en", "en", "de", "de", "en"] * 2 + ["de", "en"] * 4
    with pytest.raises(recframe.RecframeError, match="k must be an integer of 1 or more, but is 0"):
        frame.rec.overlap(0)
    with pytest.raises(recframe.RecframeError, match="pass model=None if the score"):
        frame.rec.overlap(2)
    assert [1.0] == np.unique(frame.rec(model=None).overlap(2)).tolist()


def interactions():
    """Return 3,000 rows of 90 users in random order, with ties and nulls in three score columns."""
    rng = np.random.default_rng(6)
    pairs = pd.MultiIndex.from_product([range(90), range(60)], names=["user", "item"]).to_frame()
    frame = pairs.sample(3_000, random_state=1).reset_index(drop=True)
    frame["a_score"] = rng.integers(0, 5, len(frame))
    frame["b_score"] = rng.random(len(frame))
    frame["c_score"] = np.where(
        rng.random(len(frame)) < 0.3, np.nan, rng.integers(0, 9, len(frame))
    )
    return frame


@pytest.mark.parametrize("measure", [{"k": 7}, {"rbo": 0.9}])
def test_every_entry_point(measure, tmp_path, monkeypatch, capsys):
    """Row order, threads, partitions, files and the command line give the same overlaps."""
    frame = interactions()
    options = {"short": "shrink", "missing": "unranked"}
    expected = frame.rec(**options).overlap(**measure)
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=200)
    lazy = dd.from_pandas(frame, npartitions=4, sort=False).rec(**options)
    scanned = recframe.scan(tmp_path / "a.parquet", memory="50KiB")(**options)
    flags = [f"--{name}={value}" for name, value in (options | measure).items()]
    words = ["overlap", str(tmp_path / "a.parquet"), *flags, "-q", "--format", "json"]
    main(words)
    document = json.loads(capsys.readouterr().out)
    tables = {
        "order": frame.sample(frac=1, random_state=3).rec(**options).overlap(**measure),
        "arrow": recframe.rec(pl.from_pandas(frame).to_arrow(), **options).overlap(**measure),
        "dask": lazy.overlap(**measure).compute(),
        "scan": scanned.overlap(**measure),
        "command": pd.DataFrame(document["scores"]).T,
    }
    monkeypatch.setattr("recframe.kernel.threads.ROWS_PER_THREAD", 100)
    monkeypatch.setattr("recframe.kernel.ranking.SLICE", 64)
    monkeypatch.setattr("recframe.kernel.grouping.SLICE", 64)
    tables["threads"] = frame.rec(**options).overlap(**measure)

    assert {**measure, "rbo": measure.get("rbo"), "k": measure.get("k")} == {
        name: document[name] for name in ("k", "rbo")
    }
    for name, table in tables.items():
        is_exact = name in ("order", "arrow", "threads")
        pd.testing.assert_frame_equal(
            expected, table, check_exact=is_exact, rtol=1e-14, check_names=name != "command"
        )


def test_polars():
    """Polars has a row for each two models, with the values of pandas."""
    frame = interactions()
    options = {"short": "pad", "missing": "unranked"}
    expected = frame.rec(**options).overlap(3)
    table = pl.from_pandas(frame, nan_to_null=True).rec(**options).overlap(3)
    rows = table.to_pandas().set_index(["other_score", "score"])["overlap@3"]
    wide = rows.unstack("score")  # noqa: PD010 - no pair repeats

    assert ["score", "other_score", "overlap@3"] == table.columns
    pd.testing.assert_frame_equal(
        expected, wide, check_exact=True, check_names=False, check_index_type=False
    )


def test_the_command(tmp_path, capsys):
    """The command prints and writes the table, and refuses like the method."""
    frame, out = THREE.drop(columns="c_score"), tmp_path / "out.csv"
    path = str(tmp_path / "a.parquet")
    frame.to_parquet(path)

    assert 0 == main(["overlap", path, "--k", "2", "-o", str(out)])
    printed = capsys.readouterr().out
    assert (
        "         a_score  b_score\na_score      1.0      0.5\nb_score      0.5      1.0\n"
        == printed
    )
    written = pd.read_csv(out, index_col=0)
    pd.testing.assert_frame_equal(frame.rec.overlap(2), written, check_names=False)
    for words, status, message in (
        (["--k", "2", "--rbo", "0.9"], 2, "not allowed with argument"),
        ([], 2, "one of the arguments -k/--k --rbo is required"),
        (["--rbo", "2"], 1, "rbo must be the probability"),
        (["--k", "1", "--score", "a_score"], 1, "overlap needs two score columns"),
    ):
        try:
            found = main(["overlap", path, *words])
        except SystemExit as error:
            found = error.code
        assert status == found
        assert message in capsys.readouterr().err
