"""Option `truth`: relevance comes from another frame, which may lack users or have more.

Tests of `truth_user` and `truth_item` belong here.
"""

import math

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import reference
import strategies
from recframe import RecframeError
from recframe.cli import main

LABELS = ["precision@2", "recall@2", "r_precision"]


def values(table, user):
    """Return a user's values of the only score column."""
    return table.loc[user].tolist()


def test_values_by_hand(recs, test):
    """R counts listed and unlisted items; absent users have 0, and users without truth R = 0."""
    table = recs.rec(population="all", truth=test, short="pad").evaluate(LABELS)

    assert ["ann", "bob", "cat", "eve"] == table.index.tolist()
    assert [1 / 2, 1 / 3, 1 / 3] == values(table, "ann")
    assert [1 / 2, 1.0, 1.0] == values(table, "bob")
    assert [0.0, 0.0, 0.0] == values(table, "cat")
    assert [0.0, math.nan, math.nan] == pytest.approx(values(table, "eve"), nan_ok=True)


def test_absent_drop(recs, test):
    """population="rows" leaves out the users of truth without a row, and changes no other."""
    zero = recs.rec(truth=test, short="pad", population="all").evaluate(LABELS)
    drop = recs.rec(truth=test, short="pad", population="rows").evaluate(LABELS)

    pd.testing.assert_frame_equal(zero.drop(index="cat"), drop)


def test_all_entry_points_agree(recs, test, tmp_path, capsys):
    """Accessor, function, files, file URIs and command line give the same table."""
    recs.to_parquet(tmp_path / "recs.parquet")
    test.to_parquet(tmp_path / "test.parquet")
    test.to_csv(tmp_path / "a tést.csv", index=False)
    files = [tmp_path / "test.parquet", str(tmp_path / "test.parquet")]
    table = recs.rec(truth=test, short="pad", population="all").evaluate(LABELS)

    for frame in (recs, tmp_path / "recs.parquet"):
        for truth in (test, *files, (tmp_path / "a tést.csv").as_uri()):
            pd.testing.assert_frame_equal(
                table,
                recframe.evaluate(frame, LABELS, truth=truth, short="pad", population="all"),
            )
    paths = [str(tmp_path / "recs.parquet"), "--truth", str(tmp_path / "test.parquet")]
    options = [
        "--short",
        "pad",
        "--population",
        "rows",
        "--metric",
        "precision@2",
        "--format",
        "csv",
    ]
    assert 0 == main(["evaluate", *paths, *options])
    assert f"score,precision@2\nscore,{1 / 3}\n" == capsys.readouterr().out


@pytest.mark.parametrize("short", ["raise", "pad", "shrink", "nan"])
def test_an_absent_user_is_no_short_list(recs, test, short):
    """An absent user has the value 0 under every `short`, and short="raise" allows it."""
    table = (
        recs[recs["user"] != "eve"].rec(population="all", truth=test, short=short).evaluate(LABELS)
    )

    assert [0.0, 0.0, 0.0] == values(table, "cat")
    assert [1 / 2, 1 / 3, 1 / 3] == values(table, "ann")


@pytest.mark.parametrize(
    ("short", "precision", "recall"),
    [("pad", 1 / 5, 1 / 3), ("shrink", 1 / 2, 1 / 3), ("nan", math.nan, math.nan)],
)
def test_short_lists(recs, test, short, precision, recall):
    """Option `short` treats a list of two at k = 5 and R = 3 as it does without truth."""
    table = recs.rec(population="all", truth=test, short=short).evaluate(
        ["precision@5", "recall@5"]
    )

    assert [precision, recall] == pytest.approx(values(table, "ann"), nan_ok=True)


def test_short_raise_counts_listed_users(recs, test):
    """The message of short="raise" names a user who has a list."""
    with pytest.raises(
        RecframeError, match=r"1 of 4 users have fewer than k=2 .* \(user 'eve' has 1\)"
    ):
        recs.rec(population="all", truth=test).recall(k=2)


def test_all_listed_are_relevant(recs):
    """A list of all relevant items and no other has the value 1 in every metric."""
    table = recs.rec(truth=recs[["user", "item"]], short="shrink").evaluate(LABELS)

    assert (table == 1.0).all(axis=None)


def test_a_list_without_a_judged_item(recs):
    """A user with no item in truth has the value 0."""
    truth = pd.DataFrame({"user": ["ann", "bob"], "item": [77, 1]})

    assert [0.0, 0.0, 0.0] == values(
        recs.rec(population="all", truth=truth, short="pad").evaluate(LABELS), "ann"
    )


def test_several_models(recs, test):
    """Each model in an outer-joined frame has the values that its lists have alone."""
    other = pd.DataFrame({"user": ["ann", "cat"], "item": [8, 4], "b_score": [3, 2]})
    both = recs.merge(other, how="outer")
    assert both["score"].isna().any()
    table = both.rec(population="all", truth=test, missing="unranked", short="pad").evaluate(LABELS)

    for frame, score in ((recs, "score"), (other, "b_score")):
        alone = frame.rec(population="all", truth=test, short="pad").evaluate(LABELS)[score]
        pd.testing.assert_frame_equal(alone, table.loc[alone.index, score])


def test_a_model_without_a_list_for_a_user(recs, test):
    """A user whose rows a model does not score has an empty list for that model."""
    recs["b_score"] = recs["score"].where(recs["user"] != "ann")
    bound = {"truth": test, "missing": "unranked", "short": "shrink"}
    for population in ("all", "rows", "truth", "both"):
        table = recs.rec(**bound, population=population).evaluate(LABELS)
        assert [0.0, 0.0, 0.0] == table.loc["ann", "b_score"].tolist()
        assert table.loc["ann", "score"].notna().all()


def test_relevance_column_of_truth(recs, test):
    """Truth's relevance is read and the frame's is not, so the frame needs none."""
    rated = test.assign(rating=[5, 1, 4, 2, 5], relevant=[1, 0, 1, 0, 1])
    expected = recs.rec(population="all", truth=test.iloc[[0, 2, 4]], short="pad").evaluate(LABELS)
    expected.loc["bob"] = [0.0, math.nan, math.nan]

    for options in ({"relevant": "relevant"}, {"relevant": "rating", "min_relevance": 4}):
        for frame in (recs, recs.assign(relevant="no")):
            table = frame.rec(population="all", truth=rated, short="pad", **options).evaluate(
                LABELS
            )
            pd.testing.assert_frame_equal(expected, table)


def test_a_user_whose_truth_is_all_irrelevant(recs, test):
    """A user of truth with R = 0 is in the table, with or without a row."""
    rated = test.assign(relevant=[1, 1, 1, 0, 0])
    table = recs.rec(population="all", truth=rated, short="pad").evaluate(LABELS)

    for user in ("bob", "cat"):
        assert [0.0, math.nan, math.nan] == pytest.approx(values(table, user), nan_ok=True)
    table = recs.rec(population="all", truth=rated, short="pad", zero_division=1.0).evaluate(LABELS)
    assert [0.0, 1.0, 1.0] == values(table, "cat")


def test_one_ranking(recs):
    """Truth of a single ranking (user=None) is a list of items."""
    frame = recs.iloc[[1, 2, 3]]
    table = frame.rec(user=None, truth=pd.DataFrame({"item": [2, 9]})).evaluate(LABELS)

    assert ["all"] == table.index.tolist()
    assert [1 / 2, 1 / 2, 1 / 2] == values(table, "all")


def test_missing_drop(recs, test):
    """missing="drop" removes rows with a null id or score, in the frame and in truth."""
    recs["item"] = recs["item"].astype("Int64").where(recs["score"] != 0.6)
    test = pd.concat([test, pd.DataFrame({"user": ["bob"], "item": [None]})], ignore_index=True)
    table = recs.rec(population="all", truth=test, missing="drop", short="pad").evaluate(LABELS)

    assert [1 / 2, 1.0, 1.0] == values(table, "bob")


def test_rank_and_top_read_truth(recs, test):
    """Tie rules that use relevance take it from truth."""
    recs["score"] = 1.0
    ranks = recs.rec(truth=test, ties="best").rank()["score"]

    assert [1.0, 2.0, 2.0, 1.0, 1.0] == ranks.tolist()
    assert [2, 4] == recs.rec(truth=test, ties="worst").top(k=1).index.tolist()[::2]


LABELLED = {
    "the frame's label": ({"user": "who"}, {"user": "who"}, {"user": "who"}),
    "inferred": ({"user": "who"}, {}, {"user": "who"}),
    "given": ({}, {"user": "customer", "item": "product"}, None),
    "given for both": (
        {"user": "who", "item": "what"},
        {"user": "customer", "item": "product"},
        {"user": "who", "item": "what", "truth_user": "customer", "truth_item": "product"},
    ),
}


@pytest.mark.parametrize("case", LABELLED)
def test_labels_of_truth(recs, test, case):
    """Truth's columns have the frame's labels, inferred labels or passed ones."""
    frame_labels, truth_labels, options = LABELLED[case]
    options = options or {"truth_user": "customer", "truth_item": "product"}
    expected = recs.rec(population="all", truth=test, short="pad").evaluate(LABELS)
    truth = test.rename(columns=truth_labels)
    table = recs.rename(columns=frame_labels).rec(
        population="all", truth=truth, short="pad", **options
    )

    pd.testing.assert_frame_equal(expected, table.evaluate(LABELS), check_names=False)


def test_what_is_wrong_with_both_frames(recs, test):
    """A fault in truth is reported before a fault in the frame."""
    twice = pd.concat([recs, recs])
    with pytest.raises(RecframeError, match=r"^truth: there are no rows"):
        twice.rec(truth=test[:0]).recall(k=1)
    with pytest.raises(RecframeError, match=r"\n1\. each combination of 'user' and 'item' must"):
        twice.rec(truth=test).recall(k=1)


def test_index_levels(recs, test):
    """Ids may be index levels, in the frame and in truth."""
    expected = recs.rec(population="all", truth=test, short="pad").evaluate(LABELS)
    frame, truth = recs.set_index(["user", "item"]), test.set_index(["item", "user"])

    pd.testing.assert_frame_equal(
        expected, frame.rec(population="all", truth=truth, short="pad").evaluate(LABELS)
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(item=t["item"].astype(str)), r"int64 \(such as \d\), truth has .*'\d'"),
        (lambda t: t.assign(user=range(5)), r"user: ids of different kinds .*'\w+'\).*\d\)"),
        (lambda t: t.assign(user=t["user"] + "!"), r"no user is in both.*'bob'\).*'ann!'\)"),
        (lambda t: t.iloc[:0], "truth: there are no rows"),
        (lambda t: pd.concat([t, t]).assign(rel=1), r"truth: .*5 of 10 rows repeat .*, item"),
        (
            lambda t: t.assign(item=[1, None, 2, 3, None]),
            "truth: item='item'.*2 of 5 rows are null",
        ),
        (lambda t: t.assign(user=None), "truth: user='user'.*5 of 5 rows are null"),
        (lambda t: t.assign(relevant=3), "truth: relevant='relevant'.*Pass min_relevance="),
        (lambda t: t.assign(rating=1, label=1), "truth: relevant: 2 columns could be it"),
        (lambda t: t.drop(columns="item"), "truth: truth_item: no column found.*pass truth_item="),
        (lambda t: t.rename(columns={"user": "x"}), "truth: truth_user: no column found"),
    ],
)
def test_refused_truth(recs, test, change, message):
    """Truth that cannot be matched is refused with the argument, the count and an example."""
    with pytest.raises(RecframeError, match=message):
        recs.rec(truth=change(test), short="pad").recall(k=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truth": 3}, "truth must be a pandas DataFrame, an Arrow table"),
        ({"truth": "no.parquet"}, "truth: cannot read no.parquet: no such file"),
        (
            {"truth": pd.DataFrame(), "population": "no"},
            "population must be one of 'raise', 'both'",
        ),
        ({"min_relevance": 1}, "truth: min_relevance needs a column of relevance"),
        ({"truth_user": "customer"}, "truth: truth_user='customer': no such column"),
        ({"relevant": "rating"}, "truth: relevant='rating': no such column"),
        ({"item": "it"}, "item='it': no such column; the frame has"),
        ({"truth_item": "user"}, "truth_user and truth_item are the same column"),
    ],
)
def test_refused_options(recs, test, options, message):
    """Options that suit neither frame are refused."""
    with pytest.raises(RecframeError, match=message):
        recs.rec(**{"truth": test, "short": "pad", **options}).recall(k=1)


def test_truth_file_that_is_not_parquet(recs, tmp_path):
    """A truth file that cannot be read is refused in one line."""
    (tmp_path / "x.parquet").write_text("user,item")
    with pytest.raises(RecframeError, match=r"truth: cannot read .*x\.parquet: "):
        recs.rec(truth=tmp_path / "x.parquet").recall(k=1)


def test_truth_file_at_odds_with_its_folder(recs, test, tmp_path):
    """A truth file with other users than its folder's name is refused, as files of rows are."""
    (tmp_path / "user=1").mkdir()
    test.to_parquet(tmp_path / "user=1" / "0.parquet")
    with pytest.raises(RecframeError, match=r"^truth: 'user' is 'ann' in .*, but 1 by the name"):
        recs.rec(truth=tmp_path).recall(k=1)


def test_refused_frames(recs, test):
    """Repeated pairs, null items and a missing item column are refused in the frame too."""
    twice = pd.concat([recs, recs.iloc[[3, 4]].assign(score=[0.1, None])])
    with pytest.raises(RecframeError, match=r"2 of 7 rows .*\(such as user '\w+', item 2\)"):
        twice.rec(truth=test, missing="unranked").recall(k=1)
    with pytest.raises(RecframeError, match=r"item='item': .*1 of 5 rows are null \(.*in row 2\)"):
        recs.assign(item=[1, 2, None, 4, 5]).rec(truth=test).recall(k=1)
    with pytest.raises(recframe.MissingColumnError, match="item: no column found"):
        recs.drop(columns="item").rec(truth=test).recall(k=1)


SCORE = st.sampled_from([0.0, 0.5, 1.0, -1.0])
PAIR = st.tuples(st.sampled_from("abcd"), st.integers(0, 5))
# Twice as many users with as many pairs each need only half as many examples.
MANY = {"pair": st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 5)), "least": 8}


@st.composite
def listed_and_true(draw, highest=1, pair=PAIR, least=1):
    """Return lists {(user, item): score or None} and truth {(user, item): grade} of one user."""
    size = {"min_size": least, "max_size": 11 + least}
    lists = draw(st.dictionaries(pair, SCORE | st.none(), **size))
    truth = draw(st.dictionaries(pair, st.integers(0, highest), **size))
    common = (next(iter(lists))[0], draw(st.sampled_from(sorted({item for _, item in lists}))))
    return lists, {common: 1, **truth}


def make_frames(lists, truth):
    """Return lists and truth as frames."""
    return (
        pd.DataFrame(
            [(*pair, score) for pair, score in lists.items()], columns=["user", "item", "score"]
        ),
        pd.DataFrame(
            [(*pair, flag) for pair, flag in truth.items()], columns=["user", "item", "relevant"]
        ),
    )


def expected_values(lists, truth, metric, k, options):
    """Return the reference's values, with every pair of lists and truth as a row."""
    none = reference.UNJUDGED
    rows = [(user, score, truth.get((user, item), none)) for (user, item), score in lists.items()]
    rows += [(pair[0], None, flag) for pair, flag in truth.items() if pair not in lists]
    limit = options["min_score"]
    have_list = {
        user for user, score, _ in rows if score is not None and (limit is None or score >= limit)
    }
    found = {}
    for user in {row[0] for row in rows}:
        # A user without a list has an empty list, under any rule for short ones.
        short = options["short"] if user in have_list else "pad"
        own = [row for row in rows if row[0] == user]
        found |= reference.evaluate(own, metric, k, **options | {"short": short})
        is_relevant = any(flag for _, _, flag in own if flag is not none)
        if metric in ("auc", "fall_out") and user not in have_list and is_relevant:
            # The list is empty, so no rows are compared.
            found[user] = 0.0
    return found


@given(strategies.options(missing="unranked"), st.data())
def test_truth_equals_the_reference(options, data):
    """Every value equals the reference's under every option, with and without grades."""
    options["min_relevance"] = data.draw(st.sampled_from([None, 1]))
    frames = data.draw(listed_and_true(highest=1 if options["min_relevance"] is None else 3))
    metric, k = data.draw(strategies.metrics())
    label = strategies.label(metric, k)
    recs, truth = make_frames(*frames)
    try:
        expected = expected_values(*frames, metric, k, options)
    except reference.Refused:
        with pytest.raises(RecframeError, match="ranked rows"):
            recframe.evaluate(recs, label, population="all", truth=truth, **options)
        return
    actual = recframe.evaluate(recs, label, population="all", truth=truth, **options)[
        "score", label
    ]

    assert set(expected) == set(actual.index)
    for user, value in actual.items():
        strategies.assert_value(expected[user], value, metric)


@given(
    listed_and_true(**MANY),
    strategies.options(missing="unranked", min_relevance=None, short="pad"),
)
def test_judged_frame_evaluates_alike(frames, options):
    """Evaluating the judged frame equals evaluating with truth."""
    recs, truth = make_frames(*frames)
    judged = recs.rec(missing="unranked").judge(truth)
    expected = recframe.evaluate(recs, LABELS, population="all", truth=truth, **options)

    pd.testing.assert_frame_equal(expected, recframe.evaluate(judged, LABELS, **options))


@given(listed_and_true(**MANY), st.integers(0, 2**32 - 1))
def test_row_order_changes_nothing(frames, seed):
    """The order of the lists' rows and of truth's rows changes no bit."""
    recs, truth = make_frames(*frames)
    shuffled = [frame.sample(frac=1, random_state=seed) for frame in (recs, truth)]
    options = {"missing": "unranked", "short": "pad"}

    pd.testing.assert_frame_equal(
        recframe.evaluate(recs, LABELS, population="all", truth=truth, **options),
        recframe.evaluate(shuffled[0], LABELS, population="all", truth=shuffled[1], **options),
        check_exact=True,
    )


def test_neither_frame_is_changed(recs, test):
    """Evaluating and judging write to neither frame."""
    before = recs.copy(deep=True), test.copy(deep=True)
    recs.rec(population="all", truth=test, short="pad").mean(LABELS)
    recs.rec.judge(test)

    pd.testing.assert_frame_equal(before[0], recs)
    pd.testing.assert_frame_equal(before[1], test)


@pytest.mark.parametrize("relevance", [{}, {"rel": 1}])
def test_one_item_in_all_rows(relevance):
    """Truth that repeats one item in all its rows has the items in another column."""
    rows = pd.DataFrame({0: [1, 1, 2, 2] * 3, 1: range(12), 2: range(12)})
    truth = pd.DataFrame({0: [1, 2] * 10, 1: 0, 2: range(20)}).assign(**relevance)
    columns = {"user": 0, "item": 1, "score": 2, "population": "both"}
    with pytest.raises(RecframeError, match="item=1 must be the column of items, but has 0 in all"):
        rows.rec(truth=truth, **columns).mean("recall@2")
    assert len(rows.rec(truth=truth, truth_item=2, **columns).mean("recall@2"))


WRITE = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "feather": lambda frame, path: frame.to_feather(path),
}


@pytest.mark.parametrize("where", ["", "*.{}", "[ab].*"])
@pytest.mark.parametrize("ending", WRITE)
def test_truth_of_several_files(ending, where, tmp_path):
    """Truth may be a folder or a pattern; a column has one type in all its files."""
    for name, item in {"a": "101", "b": "A8"}.items():
        WRITE[ending](pd.DataFrame({"user": [1], "item": [item]}), tmp_path / f"{name}.{ending}")
    rows = pd.DataFrame({"user": 1, "item": ["101", "007", "A8"], "score": [3.0, 2, 1]})
    found = rows.rec(truth=tmp_path / where.format(ending)).recall(k=2)
    assert [0.5] == found["score"].tolist()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_folders_of_files_that_name_columns(ending, tmp_path):
    """Folders that name columns of truth are read for every format, as for files of rows."""
    for day in ("007", "010"):
        (folder := tmp_path / f"day={day}").mkdir()
        WRITE[ending](pd.DataFrame({"user": [1], "item": [int(day)]}), folder / f"a.{ending}")
    rows = pd.DataFrame({"day": ["007", "007", "010"], "user": 1, "item": [7, 10, 7], "score": 1.0})
    rows["score"] += rows.index

    recall = rows.rec(truth=tmp_path, user=["day", "user"], short="pad").recall(k=2)
    assert {("007", 1): 1.0, ("010", 1): 0.0} == recall["score"].to_dict()


def test_ids_written_as_floats_are_noted():
    """Ids of truth that match but for .0 at their ends are noted."""
    rows = pd.DataFrame({"user": [1, 1, 2], "item": ["101", "A8", "102"], "score": [2.0, 1, 1]})
    truth = pd.DataFrame({"user": [1, 1, 2], "item": ["101.0", "A8", "102"]})
    with pytest.warns(
        recframe.RecframeWarning,
        match=r"1 of the pairs .*, \.0 at the end or the Unicode form of ids",
    ):
        assert [0.5, 1.0] == rows.rec(truth=truth, short="pad").recall(k=2)["score"].tolist()


UNUSED = {
    "zones": (pd.Timestamp("2026-01-01", tz="UTC"), pd.Timestamp("2026-01-01", tz="Asia/Tokyo")),
    "numbers and text": (1, "x"),
    "large numbers": (2**60 + 1, 0.5),
    "lists and numbers": ([1, 2], 3),
}


@pytest.mark.parametrize("case", UNUSED)
def test_columns_of_truth_that_are_not_used(case, tmp_path):
    """A column that is not read may have a different type in each file of truth."""
    rows = pd.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 3], "score": [4.0, 3, 2, 1]})
    for number, value in enumerate(UNUSED[case]):
        part = pd.DataFrame({"user": [number + 1], "item": [number + 2], "x": [value]})
        part.to_parquet(tmp_path / f"{number}.parquet")

    assert [0.5, 0.5] == rows.rec(truth=tmp_path, relevant=None).reciprocal_rank()["score"].tolist()


def test_flags_and_numbers_of_truth(tmp_path):
    """Relevance may be flags in one file of truth and 0 or 1 in another, as in files of rows."""
    rows = pd.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 3], "score": [4.0, 3, 2, 1]})
    for number, label in enumerate([True, 1]):
        part = pd.DataFrame({"user": [number + 1], "item": [number + 2], "label": [label]})
        part.to_parquet(tmp_path / f"{number}.parquet")

    assert [0.5, 0.5] == rows.rec(truth=tmp_path).reciprocal_rank()["score"].tolist()


def test_labels_that_only_the_metadata_of_a_file_has(tmp_path):
    """Labels that are numbers, and an index of positions with a name, are read as pandas does."""
    rows = pd.DataFrame({0: [1, 1, 2, 2], 1: [1, 2, 1, 3], 2: [4.0, 3, 2, 1]})
    pd.DataFrame({0: [1, 2], 1: [2, 3]}).to_parquet(tmp_path / "numbers.parquet")
    of_user = pd.DataFrame({"item": [2, 3]}, index=pd.RangeIndex(1, 3, name="user"))
    of_user.to_parquet(tmp_path / "index.parquet")
    named = rows.set_axis(["user", "item", "score"], axis=1)
    found = [
        rows.rec(user=0, item=1, score=2, truth=tmp_path / "numbers.parquet").reciprocal_rank(),
        named.rec(truth=tmp_path / "index.parquet").reciprocal_rank(),
    ]

    assert [[0.5, 0.5]] * 2 == [table.iloc[:, 0].tolist() for table in found]


def test_two_columns_of_one_name_in_truth(tmp_path):
    """Two columns of one name are refused only if they are used."""
    rows = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [4.0, 3]})
    table = pa.table([[1], [2], [0], [1]], ["user", "item", "x", "x"])
    pq.write_table(table, tmp_path / "truth.parquet")
    assert [0.5] == rows.rec(truth=tmp_path / "truth.parquet").reciprocal_rank()["score"].tolist()

    pq.write_table(table.rename_columns([*"abcc"]), tmp_path / "truth.parquet")
    with pytest.raises(RecframeError, match=r"2 columns \(or index levels\) have that name"):
        rows.rec(truth=tmp_path / "truth.parquet", truth_user="a", truth_item="c").mean("mrr")
