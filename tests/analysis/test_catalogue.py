"""df.rec.catalogue has means over all possible lists, on every engine and at the edges.

Tests of recframe catalogue belong here.
"""

import json
import math

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

K = 2
ROWS = st.dictionaries(
    st.tuples(st.integers(0, 2), st.sampled_from("abcde")), st.integers(1, 3), min_size=1
)
OPTIONS = st.fixed_dictionaries(
    {
        "ties": st.sampled_from(["expected", "first", "last", "best", "worst"]),
        "short": st.sampled_from(["pad", "nan"]),
    }
)


def frame_of(scores):
    """Return a frame of the scores of (user, item) pairs, with relevance decided by the item."""
    frame = pd.DataFrame([(*pair, score) for pair, score in scores.items()])
    frame.columns = ["user", "item", "score"]
    return frame.assign(relevant=frame["item"].isin(["a", "d"]))


def possible_lists(rows, ties, short):
    """Return the equally likely lists of the first K items that a user's rows can give."""
    if len(rows) < K and short == "nan":
        return [[]]
    if ties in ("first", "last"):
        order = reference.order([(score, flag) for score, flag, _ in rows], ties)
        return [[rows[i][2] for i in order[:K]]]
    if ties != "expected":
        rows = [((score, flag == (ties == "best")), flag, item) for score, flag, item in rows]
    return [[item for *_, item in order[:K]] for order in reference.rankings(rows)]


def expected_figures(frame, n_items, ties="expected", short="pad"):
    """Return the catalogue metrics computed from all lists that ties allow."""
    columns = frame[["score", "relevant", "item"]]
    lists = [
        possible_lists([tuple(row) for row in own.itertuples(index=False)], ties, short)
        for _, own in columns.groupby(frame["user"])
    ]
    coverage, shares, apart = reference.catalogue(lists, K, n_items)
    if not shares:
        return [0.0, math.nan, math.nan, math.nan]
    parts = [float(share / sum(shares)) for share in shares]
    entropy = -math.fsum(part * math.log2(part) for part in parts)
    return [float(coverage), float(reference.gini(shares, n_items)), entropy, float(apart)]


@given(ROWS, OPTIONS, st.integers(5, 7))
def test_it_is_the_mean_over_all_lists(scores, options, n_items):
    """Coverage and personalization are expectations; gini and entropy use expected shares."""
    frame = frame_of(scores)
    found = frame.rec(**options).catalogue(K, n_items).loc["score"]

    assert [f"{name}@2" for name in ("coverage", "gini", "entropy", "personalization")] == list(
        found.index
    )
    assert pytest.approx(
        expected_figures(frame, n_items, **options), rel=1e-12, abs=1e-12, nan_ok=True
    ) == list(found)


def interactions(ids="int"):
    """Return 3,000 rows of 90 users in random order, with ties, in two score columns."""
    rng = np.random.default_rng(6)
    pairs = pd.MultiIndex.from_product([range(90), range(60)], names=["user", "item"]).to_frame()
    frame = pairs.sample(3_000, random_state=1).reset_index(drop=True)
    frame["a_score"] = rng.integers(0, 5, len(frame))
    frame["b_score"] = rng.random(len(frame))
    if ids != "int":
        frame["item"] = frame["item"].map("i{}".format).astype(ids)
    return frame


@pytest.mark.parametrize(
    ("ids", "items"), [("int", None), ("str", 80), ("category", "list"), ("object", "list")]
)
def test_every_entry_point_gives_the_same_bits(ids, items, tmp_path, monkeypatch, capsys):
    """Row order, threads, partitions and files leave the catalogue the same to the last bit."""
    frame = interactions(ids)
    known = items
    if items == "list":
        known = pd.Series(range(80)) if ids == "int" else [f"i{number}" for number in range(80)]
    expected = frame.rec(short="shrink").catalogue(k=7, items=known)
    shuffled = frame.sample(frac=1, random_state=3)
    numbered = interactions().rec(short="shrink").catalogue(k=7, items=80 if items else None)
    pd.testing.assert_frame_equal(expected, numbered, check_exact=True)
    lazy = dd.from_pandas(frame, npartitions=4, sort=False).rec(short="shrink")
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=200)
    pd.DataFrame({"item": known if items == "list" else []}).to_parquet(tmp_path / "items.parquet")
    given = {None: [], 80: ["--items", "80"], "list": ["--items", f"{tmp_path}/items.parquet"]}
    words = ["catalogue", str(tmp_path / "a.parquet"), "--k", "7", "--short", "shrink", "-q"]
    main([*words, "--memory", "50KiB", "--format", "json", *given[items]])
    scores = json.loads(capsys.readouterr().out)["scores"]

    for table in (
        shuffled.rec(short="shrink").catalogue(k=7, items=known),
        lazy.catalogue(k=7, items=known).compute(),
        pd.DataFrame(scores).T[expected.columns].loc[expected.index],
    ):
        pd.testing.assert_frame_equal(expected, table, check_exact=True, check_names=False)
    monkeypatch.setattr("recframe.kernel.threads.ROWS_PER_THREAD", 100)
    monkeypatch.setattr("recframe.kernel.ranking.SLICE", 64)
    monkeypatch.setattr("recframe.kernel.grouping.SLICE", 64)
    again = frame.rec(short="shrink").catalogue(k=7, items=known)
    pd.testing.assert_frame_equal(expected, again, check_exact=True)


def test_by_hand():
    """Two users who share one of two items, of four in all, have the catalogue counted by hand."""
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "item": list("abac"), "score": [3, 2, 3, 2]})
    whole = frame.rec.catalogue(k=2, items=list("abcdd"))

    assert [0.75, 0.5, 1.5, 0.5] == whole.loc["score"].tolist()
    assert ("score", "metric") == (whole.index.name, whole.columns.name)
    for items in (4, set("abcd"), np.array(list("abcd")), pd.DataFrame({"product": list("abcd")})):
        pd.testing.assert_frame_equal(whole, frame.rec.catalogue(k=2, items=items))
    assert 1 / 3 == frame.rec.catalogue(k=1).loc["score", "coverage@1"]
    same = frame.assign(item=list("abab")).rec.catalogue(k=2).loc["score"].tolist()
    assert [1.0, 0.0] == same[2:]


def test_short_lists():
    """Option `short` refuses short lists, pads them, compares them unpadded or leaves them out."""
    frame = pd.DataFrame({"user": [1, 1, 2, 3], "item": list("abab"), "score": [3, 2, 3, None]})
    rec = {short: frame.rec(short=short, missing="unranked") for short in ("pad", "shrink", "nan")}
    apart = {short: one.catalogue(k=2).loc["score"] for short, one in rec.items()}

    assert 0.5 == apart["pad"]["personalization@2"]
    assert pytest.approx(1 - 1 / math.sqrt(2)) == apart["shrink"]["personalization@2"]
    assert [1.0, 0.0, 1.0] == apart["nan"].tolist()[:3]
    assert math.isnan(apart["nan"]["personalization@2"])
    with pytest.raises(recframe.RecframeError, match="fewer than k=2 ranked rows"):
        frame.rec(missing="unranked").catalogue(k=2)


def test_what_has_no_value():
    """Option `zero_division` gives the values of a catalogue without lists or with only one."""
    frame = pd.DataFrame({"user": [1], "item": ["a"], "score": [1.0]})

    expected = [1.0, math.nan, 0.0, math.nan]
    np.testing.assert_array_equal(expected, frame.rec.catalogue(k=1).iloc[0])
    assert [1.0] * 2 == frame.rec(zero_division=1.0).catalogue(k=1).iloc[0].tolist()[1::2]
    assert frame[:0].rec.catalogue(k=1).isna().all(axis=None)


def test_relevance_and_truth():
    """A catalogue reads relevance and truth only if the tie rule needs them."""
    frame = pd.DataFrame({"user": 1, "item": list("ab"), "score": [1, 1]})
    truth = pd.DataFrame({"user": [1], "item": ["b"]})

    assert [0.5, 0.0, 1.0] == frame.rec(truth=truth).catalogue(1).iloc[0].tolist()[:3]
    assert [0.5, 1.0, 0.0] == frame.rec(ties="best", truth=truth).catalogue(1).iloc[0].tolist()[:3]
    with pytest.raises(recframe.MissingColumnError, match="relevant: no column found"):
        frame.rec(ties="best").catalogue(1)


def test_repeated_pairs():
    """A repeated pair counts once in a list or is refused; it cannot count twice."""
    frame = pd.DataFrame({"user": 1, "item": list("aab"), "score": [3, 2, 1]})

    assert 1.0 == frame.rec(duplicates="max").catalogue(k=2).loc["score", "coverage@2"]
    with pytest.raises(recframe.RepeatedPairError, match="but 1 of 3 rows repeat"):
        frame.rec.catalogue(k=2)
    with pytest.raises(recframe.RecframeError, match="'keep': an item of a list counts once"):
        frame.rec(duplicates="keep").catalogue(k=2)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (1, "items must be the number of all items, but is 1 although 2 are recommended"),
        (
            ["a"],
            r"must have every item that is recommended, but 1 of 2 are missing \(such as 'b'\)",
        ),
        (
            [1, 2],
            r"item: ids of different kinds .* 'a'\), items has int64 \(such as 1\). No text is a",
        ),
        ([], "items must hold at least one item, but holds none"),
        (["a", None], "items must not be null, but 1 of 2 are null"),
        (0, "items must be a list or Series of ids, .*, 1 or more, but is 0"),
        (True, "1 or more, but is True"),
        (2**53 + 1, r"items must be at most 2\*\*53 in number, but is 9007199254740993"),
        (2.5, "items must be a list or Series of ids, .* or their number, but is 2.5"),
        ("items.csv", r"but is 'items.csv'. Pass pd.read_csv\(items\)"),
        ([["a"], ["b"]], "items must be a list or Series of ids"),
        (pd.DataFrame({"x": [1]}), "items: item: no column found"),
    ],
)
def test_catalogues_that_are_refused(items, message):
    """An unusable catalogue is refused, and the message names the fault."""
    frame = pd.DataFrame({"user": [1, 1], "item": list("ab"), "score": [3, 2]})

    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec.catalogue(k=2, items=items)


def test_other_refusals():
    """A missing item column, a null item and an invalid cut-off are refused."""
    frame = pd.DataFrame({"user": [1, 1], "item": ["a", None], "score": [3, 2]})
    for call, message in (
        (frame.drop(columns="item").rec.catalogue, "item: no column found"),
        (frame.rec.catalogue, "item='item': ids must not be null"),
        (lambda: frame.rec.catalogue(k=0), "k must be an integer of 1 or more"),
    ):
        with pytest.raises(recframe.RecframeError, match=message):
            call()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--items", "5"], "but is 5 although 60 are recommended"),
        (["--items", "0"], "1 or more, but is 0"),
        (["--items", "nix.parquet"], "items: cannot read nix.parquet: no such file"),
        (["--duplicates", "keep"], "an item of a list counts once"),
        (["--item", "nix"], "item='nix': no such column"),
    ],
)
def test_the_command_refuses(words, message, tmp_path, capsys):
    """The command refuses the same catalogues as the method, in one line."""
    interactions().to_parquet(tmp_path / "a.parquet")

    assert 1 == main(["catalogue", str(tmp_path / "a.parquet"), "--k", "3", *words])
    assert message in capsys.readouterr().err


def test_the_command_writes(tmp_path, capsys):
    """The command writes a row for each score, as it prints it, also for no rows."""
    frame = interactions()
    frame.to_parquet(tmp_path / "a.parquet")
    frame[:0].to_parquet(tmp_path / "none.parquet")
    out = tmp_path / "out.csv"

    assert 0 == main(["catalogue", f"{tmp_path}/a.parquet", "--k", "3", "-o", str(out)])
    assert "coverage@3" in capsys.readouterr().out
    pd.testing.assert_frame_equal(
        frame.rec.catalogue(k=3), pd.read_csv(out, index_col=0), check_names=False
    )
    assert 0 == main(["catalogue", f"{tmp_path}/none.parquet", "--k", "3"])


@pytest.mark.parametrize("categories", [["a", "b"], ["b", "a"], ["b", "x", "a"]])
def test_categories_of_partitions_are_the_items_that_rows_have(categories):
    """A category that no row of a partition uses is not an item, in any order of categories."""
    frame = pd.DataFrame({"user": [1, 2], "item": ["a", "b"], "score": [0.9, 0.7]})
    expected = frame.rec(short="pad").catalogue(k=1)
    item = pd.Categorical(frame["item"], categories=categories)
    partitions = dd.from_pandas(frame.assign(item=item), npartitions=2)

    assert 2 == partitions.npartitions
    pd.testing.assert_frame_equal(expected, partitions.rec(short="pad").catalogue(k=1).compute())


LISTS = pd.DataFrame({"user": [1, 1, 2, 2], "item": list("abac"), "score": [2, 1, 2, 1]})


def test_a_catalogue_of_lists():
    """Coverage and gini need `items` when no ranking is longer than its list."""
    table = LISTS.rec.catalogue(2)
    (note,) = table.notes

    assert [math.nan, math.nan] == pytest.approx(table.iloc[0].tolist()[:2], nan_ok=True)
    assert [1.5, 0.5] == table.iloc[0].tolist()[2:]
    assert "no ranking is longer than its list" in note.text
    assert "items=" in note.text
    assert 3 / 10 == LISTS.rec.catalogue(2, items=10).iloc[0, 0]
    assert [] == LISTS.rec.catalogue(2, items=10).notes
    longer = LISTS.rec.catalogue(1)
    assert 1 / 3 == longer.iloc[0, 0]
    assert "coverage and gini are of the 3 items of the frame" in longer.notes[0].text
    grid = LISTS.merge(pd.DataFrame({"user": [1, 2], "item": list("cb"), "score": 0}), how="outer")
    assert [] == grid.rec.catalogue(1).notes


def test_users_that_population_leaves_out():
    """Users that `population` leaves out, and their items, do not count in the catalogue."""
    truth = pd.DataFrame({"user": [2, 3], "item": ["a", "b"]})
    for population in ("both", "truth"):
        rec = LISTS.rec(truth=truth, population=population)
        alone = LISTS[LISTS["user"] == 2].rec.catalogue(1)
        pd.testing.assert_frame_equal(alone, rec.catalogue(1))
    for population in ("rows", "all"):
        rec = LISTS.rec(truth=truth, population=population)
        pd.testing.assert_frame_equal(LISTS.rec.catalogue(1), rec.catalogue(1))


ITEMS = pd.DataFrame({"item": list("abcdef"), "maker": ["x", "x", "y", None, "y", "x"]})
GROUPS = [["a", "b", "f"], ["c", "e"], ["d"]]


def expected_groups(frame, truth, ties, short):
    """Return the figures of each group computed from all lists that ties allow."""
    columns = frame[["score", "relevant", "item"]]
    users = {user: columns[frame["user"] == user] for user in frame["user"].unique()}
    rows = {user: [*own.itertuples(index=False, name=None)] for user, own in users.items()}
    lists = {user: possible_lists(own, ties, short) for user, own in rows.items()}
    counted = {user for user, own in rows.items() if short == "pad" or len(own) >= K}
    relevant = {(u, i) for u, i in truth if u in counted or (u not in rows and short == "pad")}
    shares = dict.fromkeys(ITEMS["item"], 0.0)
    found, missed = 0.0 * pd.Series(shares), 1 + 0.0 * pd.Series(shares)
    for user, worlds in lists.items():
        for item in shares:
            chance = sum(item in world for world in worlds) / len(worlds)
            shares[item] += chance
            missed[item] *= 1 - chance
            found[item] += chance * ((user, item) in relevant)
    return [
        [
            sum(shares[item] for item in group) / total if total else math.nan,
            len(group) / len(ITEMS),
            sum(1 - missed[item] for item in group) / len(group),
            sum(found[item] for item in group) / n_relevant if n_relevant else math.nan,
        ]
        for group in GROUPS
        for total in [sum(shares.values())]
        for n_relevant in [sum(item in group for _, item in relevant)]
    ]


@given(ROWS, OPTIONS)
def test_groups_of_items(scores, options):
    """Groups have expected shares of lists and of relevant items, of columns and of truth."""
    frame = frame_of(scores)
    pairs = {pair for pair in scores if pair[1] in "ad"}
    expected = expected_groups(frame, pairs, **options)
    unlisted = {(user, item) for user in frame["user"] for item in "ade"}
    truth = pd.DataFrame(sorted(unlisted), columns=["user", "item"])
    judged = frame.assign(relevant=frame["item"].isin(list("ade")))
    table = frame.rec(**options).catalogue(K, ITEMS, by="maker")
    names = ["exposure@2", "catalogue_share", "coverage@2", "recall@2"]

    assert names == [*table.columns]
    assert ["maker", "score"] == [*table.index.names]
    assert ["x", "y"] == [*table.index.get_level_values(0)[:2]]
    assert table.index.get_level_values(0).isna().tolist() == [False, False, True]
    assert pytest.approx(np.array(expected), rel=1e-12, nan_ok=True) == table.to_numpy()
    expected = expected_groups(judged, unlisted, **options)
    table = frame.rec(truth=truth, **options).catalogue(K, ITEMS, by="maker")
    assert pytest.approx(np.array(expected), rel=1e-12, nan_ok=True) == table.to_numpy()


def test_groups_without_relevance():
    """Groups have no recall if relevance is unknown; several columns of groups are levels."""
    items = ITEMS.assign(size=1)
    table = LISTS.rec.catalogue(1, items, by=["maker", "size"])

    assert ["exposure@1", "catalogue_share", "coverage@1"] == [*table.columns]
    assert ["maker", "size", "score"] == [*table.index.names]
    assert [1.0, 0.5, 1 / 3] == table.loc[("x", 1, "score")].tolist()


def test_groups_and_population():
    """Truth of users without a list counts in recall as population says."""
    truth = pd.DataFrame({"user": [1, 2, 3], "item": ["a", "c", "c"]})
    for population, expected in {"all": 0.5, "rows": 1.0}.items():
        rec = LISTS.rec(truth=truth, population=population, short="pad")
        recall = rec.catalogue(2, ITEMS, by="maker")["recall@2"].tolist()
        assert pytest.approx([1, expected, math.nan], nan_ok=True) == recall


@pytest.mark.parametrize(
    ("items", "by", "message"),
    [
        (None, "maker", "by='maker' groups items, so items must be a frame .* but is None; mean"),
        (6, "maker", "by='maker' groups items, .* 6"),
        (list("abc"), "maker", "by='maker' groups items, .* but is"),
        ("it.csv", "maker", r"items must be .* but is 'it.csv'. Pass pd.read_csv\(items\)"),
        (ITEMS, "nix", "items: by='nix': no such column"),
        (ITEMS, [], "items: by must name at least one column"),
        (ITEMS, ITEMS["maker"], "items: by=.*: no such column"),
        (ITEMS.rename(columns={"maker": "score"}), "score", "has the name of an index level"),
        (
            ITEMS[:2],
            "maker",
            r"is recommended or relevant, but 1 of 3 are missing .*. Pass the whole catalogue\.$",
        ),
        (
            pd.concat([ITEMS, ITEMS.assign(maker="y")[:3]]),
            "maker",
            r"items must have one group by 'maker' for each item, but have 2 rows .* of 'a'\)",
        ),
        (ITEMS.assign(maker=[["x"]] * 6), "maker", "must hold values that can be compared"),
    ],
)
def test_groups_that_are_refused(items, by, message):
    """Groups need a frame of items with their columns, and one group for each item."""
    with pytest.raises(recframe.RecframeError, match=message):
        LISTS.rec.catalogue(2, items, by=by)


def test_a_relevant_item_outside_the_catalogue():
    """A relevant item that items lacks is refused, and so is one without a row."""
    truth = pd.DataFrame({"user": [1, 2], "item": ["a", "z"]})
    with pytest.raises(recframe.RecframeError, match=r"recommended or relevant, but 1 .* 'z'"):
        LISTS.rec(truth=truth).catalogue(2, ITEMS, by="maker")


def test_every_entry_point_has_groups(tmp_path, capsys):
    """Partitions, files, Polars and the command line give the groups of pandas, bit for bit."""
    frame = interactions("str")
    names = [f"i{number}" for number in range(60)]
    items = pd.DataFrame({"item": names, "maker": [*"xyz", None] * 15, "price": 1.5})
    truth = frame.sample(frac=0.2, random_state=1)[["user", "item"]]
    truth = pd.concat([truth, pd.DataFrame({"user": 1, "item": names})]).drop_duplicates()
    asked = {"truth": truth, "population": "all", "short": "pad"}
    expected = frame.rec(**asked).catalogue(3, items, by="maker")
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=200)
    items.to_parquet(tmp_path / "items.parquet")
    truth.to_parquet(tmp_path / "truth.parquet")
    lazy = dd.from_pandas(frame, npartitions=4, sort=False).rec(**asked)
    scanned = recframe.scan(tmp_path / "a.parquet", memory="50KiB")(
        **asked | {"truth": tmp_path / "truth.parquet"}
    )
    polars = pl.from_pandas(frame).rec(**asked).catalogue(3, pl.from_pandas(items), by="maker")
    words = ["catalogue", f"{tmp_path}/a.parquet", "--k=3", f"--items={tmp_path}/items.parquet"]
    words += [f"--truth={tmp_path}/truth.parquet", "--population=all", "--short=pad", "--by=maker"]
    main([*words, "-q", "--format=json"])
    (groups,) = [json.loads(capsys.readouterr().out)["groups"]]
    main([*words, "-q", "--format=csv"])

    for table in (
        frame.sample(frac=1, random_state=3).rec(**asked).catalogue(3, items, by="maker"),
        lazy.catalogue(3, items, by="maker").compute(),
        scanned.catalogue(3, items, by="maker"),
    ):
        pd.testing.assert_frame_equal(expected, table, check_exact=True)
    plain = expected.reset_index().astype(object)
    plain = plain.where(plain.notna(), None)
    assert plain.to_dict("records") == polars.to_dicts() == groups
    assert "maker,score,exposure@3,catalogue_share" in capsys.readouterr().out
