"""Tables of all users carry notes, and three of these are also warnings, on every engine."""

import json
import warnings
from random import Random

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recframe
import recframe.dask
import recframe.polars
from entry_points import ENTRY_POINTS
from note_cases import (
    AGGREGATES,
    ALIKE,
    CASES,
    CUT,
    DROPPED,
    EQUAL,
    FACTS,
    FRAME,
    MISTAKES,
    NO_ITEM,
    RELEVANT,
    SILENT,
    TWO_MODELS,
    WHOLE,
    WRITTEN,
    run_evaluate,
    texts_of,
    warnings_of,
)
from recframe import RecframeWarning
from recframe.analysis.description import EXCLUDED, NEAR_PAIRS


def scan(frame, folder, options, memory):
    """Return the methods of a file of rows."""
    frame.to_parquet(folder / "rows.parquet", row_group_size=2)
    return recframe.scan(folder / "rows.parquet", memory=memory, **options)


# The tables of these engines carry notes.
OPENED = {
    "frame": lambda frame, options, _: frame.rec(**options),
    "Arrow": lambda frame, options, _: recframe.rec(pa.Table.from_pandas(frame), **options),
    "files": lambda frame, options, folder: scan(frame, folder, options, "64KiB"),
    # This memory is too little, so that rows are partitioned by user.
    "parted": lambda frame, options, folder: scan(frame, folder, options, 1),
}


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("engine", OPENED)
@pytest.mark.parametrize("kind", CASES)
def test_kinds(kind, engine, tmp_path):
    """Each kind of note is a sentence that begins with its numbers, on every engine."""
    frame, options, metrics, start = CASES[kind]
    table = OPENED[engine](frame, options, tmp_path).mean(metrics)

    assert texts_of(table)[kind].startswith(start)
    assert all(n > 0 for note in table.notes for n in note.figures.values())


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("kind", CASES)
def test_kinds_on_the_command_line(kind, tmp_path):
    """The command line prints the same notes, has them in JSON, and omits them under --quiet."""
    frame, options, metrics, _ = CASES[kind]
    notes = frame.rec(**options).mean(metrics).notes
    _, said = run_evaluate(frame, options, metrics, tmp_path)
    out, other = run_evaluate(frame, options, metrics, tmp_path, "--format", "json")

    assert "".join(f"recframe: note: {note.text}\n" for note in notes) == said
    assert ([note._asdict() for note in notes], "") == (json.loads(out)["notes"], other)
    assert "" == run_evaluate(frame, options, metrics, tmp_path, "--quiet")[1]


@pytest.mark.parametrize("name", AGGREGATES)
@pytest.mark.parametrize("engine", OPENED)
def test_every_table_of_all_users(engine, name, tmp_path):
    """Every table of all users has its notes as an attribute, in its text and in its HTML."""
    table = AGGREGATES[name](OPENED[engine](FRAME, {"missing": "drop"}, tmp_path))

    assert texts_of(table)["missing"].startswith(DROPPED)
    assert f"note: {DROPPED}" in repr(table)
    assert "<p>missing=&#x27;drop&#x27; removed 2 of 5 rows" in table._repr_html_()


@pytest.mark.parametrize("kind", MISTAKES)
@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_mistakes_in_values_of_users(entry, kind, tmp_path):
    """Per-user tables warn of a mistake once, except for lazy Dask and the command line."""
    frame, options, (metric,), start = MISTAKES[kind]
    said = warnings_of(lambda: ENTRY_POINTS[entry](frame, metric, options, tmp_path))

    is_silent = entry in ("Dask", "command line")
    assert ([] if is_silent else [start]) == [one[: len(start)] for one in said]


@pytest.mark.parametrize("kind", MISTAKES)
def test_mistakes_in_methods(kind, tmp_path):
    """Methods of metrics warn at the caller's line, and so does the end of `iter_evaluate`."""
    frame, options, (metric,), start = MISTAKES[kind]
    name, _, k = metric.partition("@")
    with pytest.warns(RecframeWarning, match=start) as said:
        getattr(frame.rec(**options), name)(int(k))
    assert [__file__] == [warning.filename for warning in said]
    with pytest.warns(RecframeWarning, match=start) as said:
        list(scan(frame, tmp_path, options, 1).iter_evaluate(metric))
    assert [__file__] == [warning.filename for warning in said]


@pytest.mark.parametrize("kind", FACTS)
def test_facts_are_no_alarm(kind):
    """A fact that an option asks for is noted without a warning."""
    frame, options, metrics, start = FACTS[kind]
    said = warnings_of(lambda: frame.rec(**options).mean(metrics))

    assert not [one for one in said if one.startswith(start)]


@pytest.mark.parametrize("kind", MISTAKES)
def test_mistakes_of_tables_without_notes(kind):
    """Polars warns of a mistake, and Dask warns once when the table is computed."""
    frame, options, metrics, start = MISTAKES[kind]
    tables = pl.from_pandas(frame), pl.from_pandas(frame).lazy()
    said = [warnings_of(lambda table=table: table.rec(**options).mean(metrics)) for table in tables]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = dd.from_pandas(frame, npartitions=2, sort=False).rec(**options).mean(metrics)
    said.append(warnings_of(table.compute))

    assert [[start]] * 3 == [[one[: len(start)] for one in own] for own in said]


@pytest.mark.parametrize("case", SILENT)
def test_silence(case):
    """Clean data, and rows that options leave out, give no warning."""
    frame, options, call = SILENT[case]

    assert [] == warnings_of(lambda: call(frame.rec(**options)))
    ddf = dd.from_pandas(frame, npartitions=2, sort=False)
    assert [] == warnings_of(lambda: call(ddf.rec(**options)).compute())


def test_clean_data():
    """Clean data have only the note about users without a relevant row."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"user": np.repeat(range(50), 30), "item": np.tile(range(30), 50)})
    frame = frame.assign(score=rng.random(1500), relevant=rng.random(1500) < 0.05)
    metrics = ["recall@10", "ndcg@10", "reciprocal_rank", "average_precision", "precision@10"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = frame.rec.mean(metrics)

    assert ["undefined"] == list(texts_of(table))
    assert [] == frame.rec(zero_division=0).mean(metrics).notes
    assert [] == frame.rec.mean("precision@10").notes


def test_users_left_out_for_short_rankings():
    """A note tells the users whom short="nan" leaves out."""
    table = WHOLE.rec(short="nan", zero_division=0).mean("precision@3")

    assert (
        "of 2 users, means leave out 1 in precision@3 (fewer rows than k)"
        in (texts_of(table)["undefined"])
    )


def test_more_metrics_than_a_sentence_names():
    """A note names the first three metrics and counts the others."""
    table = EQUAL.rec.mean([f"recall@{k}" for k in (1, 2)] + ["ndcg@1", "ndcg@2", "hit_rate@1"])

    assert (
        "1 in recall@1, recall@2, ndcg@1 and 2 more (no relevant row)"
        in (texts_of(table)["undefined"])
    )


@pytest.mark.parametrize("short", ["pad", "nan"])
def test_lists_cut_with_several_scores(short):
    """Scores and models that rank no more than k rows warn like a single score."""
    models = pd.concat([EQUAL.assign(model="a"), EQUAL.assign(model="b")])
    for rec in (
        EQUAL.assign(other_score=1.0).rec(short=short),
        models.rec(model="model", short=short),
    ):
        assert [CUT] == [one[: len(CUT)] for one in warnings_of(lambda rec=rec: rec.recall(3))]


def test_few_longer_lists():
    """Recall warns if at most 5% of the rankings are longer than k."""
    frame = pd.DataFrame({"user": np.repeat(range(40), 2), "item": range(80), "score": 1.0})
    frame["relevant"] = np.arange(80) % 2
    longer = pd.DataFrame({"user": [0, 1], "item": 99, "score": 0.5, "relevant": 0})
    more = pd.concat([frame, longer.assign(user=[2, 3])])
    (said,) = warnings_of(lambda: pd.concat([frame, longer]).rec.recall(2))

    assert said.startswith("only 2 of 40 rankings are longer than the cut-off; if")
    assert [] == warnings_of(lambda: pd.concat([more, longer]).rec.recall(2))


@pytest.mark.parametrize(
    "metric",
    [
        "ndcg@3",
        "average_precision@3",
        "hit_rate@3",
        "mrr@3",
        "capped_recall@3",
        "capped_average_precision@3",
    ],
)
def test_equal_lists_cut_at_k(metric):
    """Metrics that need a relevant row warn if some of equally long lists have none."""
    with_one = EQUAL.assign(relevant=[0, 1, 0] * 4)

    assert [CUT] == [one[: len(CUT)] for one in warnings_of(lambda: EQUAL.rec.evaluate(metric))]
    assert [] == warnings_of(lambda: with_one.rec.evaluate(metric))
    assert [] == warnings_of(lambda: EQUAL[1:].rec(short="pad").evaluate(metric))
    assert [] == warnings_of(lambda: EQUAL.rec.evaluate(metric.replace("3", "2")))
    assert [] == warnings_of(lambda: EQUAL.rec.evaluate("precision@3"))


def lists(n_users=30, n_rows=4, **changes):
    """Return lists of different items with one relevant row, none for the first user."""
    frame = pd.DataFrame({"user": np.repeat(range(n_users), n_rows)})
    frame = frame.assign(item=range(len(frame)), score=[*range(n_rows, 0, -1)] * n_users)
    frame["relevant"] = (frame["score"] == n_rows - 1) & (frame["user"] > 0)
    return frame.assign(**changes)


@pytest.mark.parametrize("metric", ["recall@2", "ndcg", "ndcg@3", "map", "r_precision"])
def test_equal_lists_longer_than_k(metric):
    """A note asks for truth if equally long lists of different items have no relevant row."""
    (note, _) = lists().rec.mean(metric).notes

    assert "may_be_cut" == note.kind
    assert note.text.startswith("all rankings have 4 rows, and 1 have no relevant one; if they")
    assert note.text.endswith("pass all relevant items as truth")
    silent = [
        lists(relevant=[0, 1, 0, 0] * 30),
        lists(item=[*range(4)] * 30),
        lists().iloc[1:],
        lists(19),
    ]
    for rows in silent:
        notes = rows.rec(short="pad", zero_division=0).mean(metric).notes
        assert "may_be_cut" not in [one.kind for one in notes]
    assert ["undefined"] == [one.kind for one in lists().rec.mean("mrr").notes]


def test_one_row_for_each_user():
    """Metrics that need a relevant row warn if each user has one row, and precision does not."""
    rows = lists(n_rows=1, relevant=[0, 1] * 15)
    with pytest.warns(RecframeWarning, match="each of 30 users has one row, so nothing is ranked"):
        assert ["one_row", "undefined"] == [one.kind for one in rows.rec.mean("mrr").notes]
    assert [] == rows.rec(score="score").mean("precision@1").notes
    assert ["undefined"] == [one.kind for one in rows[:19].rec.mean("mrr").notes]


def filled(n_lists=1):
    """Return lists after an outer merge with relevant items, or with each other, and fillna(0)."""
    rows = pd.DataFrame({"user": np.repeat(range(30), 6), "item": [*"abcdef"] * 30})
    rows = rows.assign(score=[0.9, 0.8, 0.7, 0.6, 0, 0] * 30, relevant=[0, 1, 0, 1, 1, 1] * 30)
    return rows.assign(b_score=[0, 0, 0.2, 0.3, 0.5, 0.4] * 30) if n_lists > 1 else rows


@pytest.mark.parametrize("n_lists", [1, 2])
def test_scores_that_were_filled_in(n_lists):
    """Rows of the lowest score that are all relevant, or in another list, are warned of."""
    rows = filled(n_lists)
    names = " and ".join(rows.filter(like="score"))
    with pytest.warns(RecframeWarning, match=f"several rows of the lowest score by {names}, and"):
        assert ["filled"] == [one.kind for one in rows.rec.mean("precision@1").notes]


@pytest.mark.parametrize(
    "changes",
    [
        {"relevant": [0, 1, 0, 1, 1, 0] * 30},
        {"relevant": 1},
        {"score": [0.9, 0.8, 0.7, 0.6, 0.1, 0] * 30},
        {"b_score": [0, 0, 0, 0.3, 0, 0.4] * 30, "relevant": [0, 0, 0, 1, 1, 0] * 30},
        {"b_score": [0.1, 0.2, 0.3, 0, 0.5, 0.4] * 30, "relevant": [0, 0, 0, 1, 1, 0] * 30},
    ],
)
def test_scores_that_were_not_filled_in(changes):
    """No note is made of rows that differ in relevance, or of few rows of the lowest score."""
    with warnings.catch_warnings(record=True):
        notes = filled().assign(**changes).rec.mean("precision@1").notes
    assert "filled" not in [one.kind for one in notes]


def test_curves_of_lists():
    """A curve to a passed k warns of lists cut at k, and a curve to the end does not."""
    assert [] == warnings_of(lambda: WHOLE.rec.curve("recall"))
    assert [CUT] == [one[: len(CUT)] for one in warnings_of(lambda: EQUAL.rec.curve("recall", 3))]


def test_relevance_of_one_ranking():
    """A single ranking with relevant rows only, or with none, has no note."""
    for relevant in (0, 1):
        rec = WHOLE.assign(relevant=relevant).rec(user=None, duplicates="keep")
        assert [] == rec.mean("precision@1").notes


def test_relevance_that_describe_says():
    """`describe` tells that every ranked row is relevant in the words of the note."""
    (line,) = [one for one in RELEVANT.rec.describe(1).warnings if one.startswith("every")]

    assert texts_of(RELEVANT.rec.mean("precision@1"))["all_relevant"] == line


def test_an_item_column_by_another_name():
    """A column that repeats values within rankings is noted, unless an item column is known."""
    text = texts_of(NO_ITEM.rec.mean("precision@1"))["items"]

    assert "'tomo' repeats values within a ranking; pass item='tomo'" in text
    once = NO_ITEM.assign(tomo=[*"pqrs", *"sqpr"])
    for rec in (once.rec, NO_ITEM.rec(duplicates="keep"), NO_ITEM.drop(columns="tomo").rec):
        assert [] == rec.mean("precision@1").notes


def test_segments_of_users_without_rows():
    """A note counts the users of truth without a row, who belong to no segment of a column."""
    truth = pd.DataFrame({"user": [1, 2, 3], "item": [1, 1, 1]})
    rec = WHOLE.assign(country="NL").rec(truth=truth, population="truth")

    assert texts_of(rec.mean("recall@1", by="country"))["segments"].startswith(
        "1 of the users of truth have no row that names their segment"
    )
    of_users = pd.Series("NL", pd.Index([1, 2, 3], name="user"))
    assert "segments" not in texts_of(rec.mean("recall@1", by=of_users))


def test_empty_lists_of_each_model():
    """A note counts the empty lists of each model, also in a catalogue."""
    truth = pd.DataFrame({"user": [1, 2, 3], "item": [1, 1, 1]})
    rows = WHOLE.assign(b_score=[1, None, 2, None, None])
    rec = rows.rec(truth=truth, population="truth", missing="unranked")

    assert (
        "empty lists among 3 users: 1 by score and 2 by b_score; population and short decide how "
        "they count"
    ) == texts_of(rec.mean("recall@1"))["empty"]
    catalogue = rows.rec(missing="unranked", short="pad").catalogue(1)
    assert "1 by b_score" in texts_of(catalogue)["empty"]


def test_lists_longer_for_ties():
    """`top` notes the number of lists that ties make longer than k."""
    top = WHOLE.assign(score=1).rec.top(1)

    assert {
        "ties": "ties at the cut make 2 of the lists longer than k; ties='first' breaks them"
    } == (texts_of(top))
    assert [] == WHOLE.rec.top(1).notes


def test_a_table_of_users():
    """`summary` and `compare` of a per-user table note the users without a value."""
    per_user = pd.DataFrame({"a": [1.0, None, 0.5], "b": [0.5, 0.5, 1.0]})
    for table in (recframe.summary(per_user), recframe.compare(per_user)):
        assert "of 3 users, means leave out 1 in value" == texts_of(table)["undefined"]


def test_a_model_that_does_not_rank_a_user():
    """The empty list of a user whom a model does not rank is noted, with other models or alone."""
    for score in (["a", "b"], "b"):
        rec = TWO_MODELS.rec(score=score, missing="unranked", short="shrink")
        assert (
            "empty lists among 2 users: 1 by b; population and short decide how they count"
            == (texts_of(rec.mean("precision@1"))["empty"])
        )


def test_what_pandas_keeps_of_iterators(tmp_path):
    """Other calls between the tables of `iter_evaluate` do not mix up their notes."""
    tables = scan(RELEVANT, tmp_path, {}, 1).iter_evaluate("precision@1")
    said = warnings_of(lambda: [texts_of(EQUAL.rec.mean("recall@1")).keys() for _ in tables])

    assert ["every ranked row is relevant"] == [one[:28] for one in said]


# Truth writes some of these ids differently.


def make_written(tmp_path, rows=WRITTEN):
    """Return rows on each engine; truth writes some of their ids differently."""
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=2)
    return {
        "frame": rows.rec,
        "Polars": pl.from_pandas(rows).rec,
        # This memory is enough for truth.
        "files": recframe.scan(tmp_path / "rows.parquet", memory="64KiB"),
        # This memory is too little, so that rows and truth are partitioned by user.
        "parted": recframe.scan(tmp_path / "rows.parquet", memory=1),
        "Dask": dd.from_pandas(rows, npartitions=2, sort=False).rec,
    }


def write_differently(id_, random):
    """Return an id, in a third of all cases in capitals or with an added space, zero or .0."""
    return random.choice([id_.upper(), f" {id_}", f"{id_} ", f"0{id_}", f"{id_}.0"] + 10 * [id_])


def plain(id_):
    """Return an id without capitals, outer spaces, leading zeros and a .0 at the end."""
    return id_.strip().casefold().lstrip("0").removesuffix(".0")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("engine", ["frame", "Polars", "files", "parted", "Dask"])
def test_figure_of_pairs_written_differently(engine, seed, tmp_path):
    """The number of pairs written differently equals a count pair by pair, on every engine."""
    random = Random(seed)
    users, items = ([f"{role}{n}" for n in range(20)] for role in ("ü", "i"))
    written = {id_: write_differently(id_, random) for id_ in [*users, *items]}
    pairs = [(user, item) for user in users for item in random.sample(items, 6)]
    rows = pd.DataFrame([(written[user], written[item]) for user, item in pairs])
    rows = rows.set_axis(["user", "item"], axis=1).assign(score=range(len(pairs)))
    truth = [
        (
            random.choice([written[user], write_differently(user, random)]),
            random.choice([written[item], item]),
        )
        for user, item in random.sample(pairs, 50)
    ]
    own, of_frame = set(zip(rows["user"], rows["item"], strict=True)), list(written.values())
    by_plain = {plain(id_): id_ for id_ in of_frame}
    n_near = 0
    for user, item in truth:
        near = by_plain[plain(user)], by_plain[plain(item)]
        n_near += user not in of_frame or (item not in of_frame and (user, near[1]) in own)
    rec = make_written(tmp_path, rows)[engine](
        truth=pd.DataFrame(truth, columns=["user", "item"]), population="all"
    )
    table = rec.describe(1)

    assert n_near == (table.compute() if engine == "Dask" else table).loc[NEAR_PAIRS, "score"]


def test_ids_written_in_two_ways():
    """An id of truth may match the frame in one pair and be written differently in another."""
    truth = pd.DataFrame({"user": ["ann", "ann", "Bob"], "item": ["x", "X", "x"]})
    frame = WRITTEN[WRITTEN["item"] == "x"]
    with pytest.warns(RecframeWarning, match="1 of the pairs of truth would match the frame"):
        frame.rec(truth=truth).mean("recall@1")


def test_ids_told_apart_by_case():
    """Ids of truth that differ in case alone are no mistake if the frame has both spellings."""
    truth = pd.DataFrame({"user": ["ann", "ann"], "item": ["aB", "ab"]})
    frame = pd.DataFrame({"user": ["ann", "ann"], "item": ["AB", "ab"], "score": [2, 1]})

    assert [] == warnings_of(lambda: frame.rec(truth=truth).mean("recall@1"))


TWO_SPELLINGS = pd.DataFrame(
    {"user": ["ann", "ann", "bob", "bob"], "item": ["x", "y", "X", "Y"], "score": [2, 1, 2, 1]}
)


@pytest.mark.parametrize("engine", ["frame", "Polars", "files", "parted"])
def test_a_frame_that_writes_an_id_in_two_ways(engine, tmp_path):
    """Each user's rows are compared with truth as that user has them."""
    truth = pd.DataFrame({"user": ["ann", "bob"], "item": ["x", "x"]})
    rec = make_written(tmp_path, TWO_SPELLINGS)[engine](truth=truth)
    with pytest.warns(RecframeWarning, match="1 of the pairs of truth would match the frame"):
        rec.evaluate("recall@1")


def test_ids_of_exclude_in_another_unicode_form():
    """A note counts ids of exclude that differ from the frame in their Unicode form alone."""
    frame = TWO_SPELLINGS.assign(item=["caf\u00e9", "tea", "caf\u00e9", "tea"])
    seen = pd.DataFrame({"user": ["ann", "bob"], "item": ["cafe\u0301", "tea"]})
    with pytest.warns(RecframeWarning, match="1 of the pairs of exclude would match the frame"):
        frame.assign(relevant=[1, 0, 1, 0]).rec(exclude=seen).evaluate("recall@1")


@pytest.mark.parametrize("engine", ["frame", "files", "parted", "Dask"])
def test_figures_of_notes(engine, tmp_path):
    """`describe` has the numbers of the notes and explains them."""
    seen = pd.DataFrame({"user": ["ann"], "item": ["x"]})
    rec = make_written(tmp_path)[engine](truth=ALIKE, exclude=seen)
    table = rec.describe(1)
    table = table.compute() if engine == "Dask" else table

    assert [3, 1] == table.loc[[NEAR_PAIRS, EXCLUDED], "score"].tolist()
    if engine != "Dask":
        assert any(line.startswith(f"{NEAR_PAIRS}: 3; not in the frame") for line in table.warnings)


def test_users_written_differently():
    """A refusal of users tells how some of them are written differently."""
    with pytest.raises(recframe.RecframeError, match=r"they differ in case \('Bob' in the frame"):
        WRITTEN.rec(truth=ALIKE).mean("recall@1")


def ranks(**changes):
    """Return the ranks of 30 users' rows from 1, under a name that does not say so."""
    frame = pd.DataFrame({"user": np.repeat(range(30), 4), "item": list("abcd") * 30})
    return frame.assign(score=[1, 2, 3, 4] * 30, relevant=frame["item"] == "a").assign(**changes)


RANKS = {
    "from 1": lambda: ranks(),
    "from 0": lambda: ranks(score=[0, 1, 2, 3] * 30),
    "nullable": lambda: ranks().astype({"score": "Int64"}),
    "shuffled floats": lambda: ranks().astype({"score": float}).sample(frac=1, random_state=1),
    "lists of several lengths": lambda: ranks()[:-3],
}
NO_RANKS = {
    "the highest is the best": lambda: ranks().rec(ascending=False),
    "the lowest is the best": lambda: ranks().rec(ascending=True),
    "the best stands first": lambda: ranks(score=[4, 3, 2, 1] * 30).rec,
    "ratings": lambda: ranks(score=[4, 2, 1, 2] * 30).rec,
    "one other user": lambda: ranks(score=[1, 2, 3, 4] * 29 + [4, 3, 1, 1]).rec,
    "negative ranks": lambda: ranks(score=[-1, -2, -3, -4] * 30).rec,
    "few rows": lambda: ranks()[:28].rec,
}


@pytest.mark.parametrize("case", RANKS)
def test_scores_that_are_ranks(case, tmp_path):
    """Scores from 1 to n for each user are noted, and warned of, on engines and in files."""
    frame, path = RANKS[case](), tmp_path / "ranks.parquet"
    frame.to_parquet(path, row_group_size=30)
    for rec in (frame.rec, pl.from_pandas(frame).rec, recframe.scan(path)):
        with pytest.warns(recframe.RecframeWarning, match="as ranks are.* ascending=True"):
            rec.mean("precision@1")
    with pytest.warns(recframe.RecframeWarning, match="scores by score are consecutive"):
        assert ["ranks"] == [one.kind for one in frame.rec.mean("precision@1").notes]
    with pytest.warns(recframe.RecframeWarning, match="scores by score are consecutive"):
        frame.rec.precision(k=1)


@pytest.mark.parametrize("case", NO_RANKS)
def test_scores_that_are_no_ranks(case):
    """No note is made if a direction is passed, or if scores are not ranks of every user."""
    assert [] == NO_RANKS[case]().mean("precision@1").notes


def test_relevant_rows_without_a_score():
    """Lists are not called cut if relevant items beyond them have rows that are not ranked."""
    rows = pd.DataFrame({"user": [1, 1, 1, 2, 2, 2], "item": list("abcabc")})
    rows = rows.assign(score=[0.9, 0.8, None] * 2, relevant=[1, 0, 1, 0, 1, 0])
    assert [] == rows.rec(missing="unranked").mean("recall@2").notes
    with pytest.warns(RecframeWarning, match="no ranking is longer than the cut-off"):
        rows.assign(relevant=[1, 0, 0, 0, 1, 0]).rec(missing="unranked").mean("recall@2")


def test_ranks_of_some_partitions():
    """Ranks are noted if all partitions have them; partitions of short lists say nothing."""
    short = ranks().query("score < 3")
    cases = {
        "no ranks": (ranks(), ranks(score=[4, 2, 1, 2] * 30).head(80), 0),
        "the best first": (ranks(), ranks(score=[4, 3, 2, 1] * 30), 1),
        "short lists": (ranks(), short, 1),
    }
    for case, (first, second, n_warnings) in cases.items():
        rows = pd.concat([first, second.assign(user=second["user"] + 100)], ignore_index=True)
        parts = dd.from_pandas(rows, chunksize=len(first), sort=False)
        table = parts.rec(partitioned=True).mean("precision@1")
        said = warnings_of(lambda rows=rows: rows.rec.mean("precision@1"))
        assert n_warnings == len(said), case
        assert said == warnings_of(table.compute), case


RISING = ranks(score=np.tile([0.1, 0.25, 0.25, 0.7], 30), item=range(120))
NOT_RISING = {
    "items decide": lambda: ranks(score=np.tile([0.1, 0.25, 0.25, 0.7], 30)).rec,
    "times": lambda: RISING.assign(score=1.7e9 + RISING.index).rec,
    "a direction": lambda: RISING.rec(ascending=False),
    "shuffled": lambda: RISING.sample(frac=1, random_state=1).rec,
    "one user's scores fall": lambda: ranks(score=[0.1, 0.2, 0.3, 0.7] * 29 + [3, 2, 1, 0]).rec,
    "one user's scores are equal": lambda: ranks(score=[0.1, 0.2, 0.3, 0.7] * 29 + [0] * 4).rec,
    "few users": lambda: RISING[:76].rec,
    "one score of two": lambda: RISING.assign(b_score=[0.9, 0.8, 0.6, 0.7] * 30).rec,
}


def test_scores_that_rise_down_the_rows(tmp_path):
    """Scores that rise down the rows of every user are warned of, and values do not change."""
    path = tmp_path / "rows.parquet"
    RISING.to_parquet(path, row_group_size=30)
    for rec in (RISING.rec, pl.from_pandas(RISING).rec, recframe.scan(path)):
        with pytest.warns(RecframeWarning, match="scores by score rise down the rows of all users"):
            rec.mean("precision@1")
    with pytest.warns(RecframeWarning, match="if the lowest is the best, pass ascending=True"):
        table = RISING.rec.precision(k=1)
    pd.testing.assert_frame_equal(RISING.rec(ascending=False).precision(k=1), table)


@pytest.mark.parametrize("case", NOT_RISING)
def test_scores_that_do_not_rise(case):
    """No note is made if a direction is passed, or if scores rise for some users only."""
    assert [] == NOT_RISING[case]().mean("precision@1").notes


def test_scores_that_are_classes():
    """Scores of 0 and 1 alone are warned of, unless an option orders tied rows."""
    classes = ranks(prediction=[0, 1, 1, 0] * 30).drop(columns="score")
    with pytest.warns(RecframeWarning, match="all scores by prediction are 0 or 1, as classes are"):
        assert ["classes"] == [one.kind for one in classes.rec.mean("precision@1").notes]
    assert [] == classes.rec(ties="best").mean("precision@1").notes
    assert [] == classes.assign(prediction=[1, 0, 1, 2] * 30).rec.mean("precision@1").notes


def test_scores_that_are_all_equal():
    """Equal scores of all rows are noted, unless an option orders the rows."""
    n_rows = 120
    rows = pd.DataFrame({"user": np.arange(n_rows) // 4, "item": range(n_rows), "score": 1.0})
    rows["relevant"] = rows["item"] % 3 == 0
    said = texts_of(rows.rec.mean("precision@1"))
    assert said["tied"].startswith("all scores by score are equal, so values are those of a random")
    assert "tied" not in texts_of(rows.rec(ties="first").mean("precision@1"))
    assert "tied" not in texts_of(rows.head(28).rec.mean("precision@1"))
    varied = rows.assign(score=[2.0] + [1.0] * (n_rows - 1))
    assert "tied" not in texts_of(varied.rec.mean("precision@1"))


def test_users_in_both_spellings():
    """A refusal names the spelling of a user of truth whom the frame has in another one."""
    truth = pd.DataFrame({"user": ["ann", "bob", "BOB"], "item": ["x", "x", "y"]})
    with pytest.raises(recframe.RecframeError, match=r"'bob' in the frame is 'BOB' in truth") as no:
        TWO_SPELLINGS.rec(truth=truth).mean("recall@1")

    assert {} == no.value.answers


def test_users_told_apart_by_case():
    """Users of truth who differ in case alone are no mistake if the frame has both spellings."""
    frame = pd.DataFrame({"user": ["Ab", "ab", "cd"], "item": "x", "score": 1})
    truth = pd.DataFrame({"user": ["Ab", "ab", "CD"], "item": "x"})

    said = warnings_of(lambda: frame.rec(truth=truth, population="both").mean("recall@1"))

    assert not [one for one in said if "would match the frame" in one]


def test_scores_that_are_classes_in_some_blocks(tmp_path):
    """Scores of 0 and 1, or equal ones, in some blocks of files alone are not noted."""
    rng = np.random.default_rng(5)
    rows = pd.DataFrame({"user": np.repeat(range(2000), 10), "score": rng.random(20_000)})
    rows["relevant"] = rng.integers(0, 2, 20_000)
    path = tmp_path / "rows.parquet"
    for first in (rng.integers(0, 2, 10_000), 1.0):
        rows.loc[: 10_000 - 1, "score"] = first
        rows.to_parquet(path, row_group_size=2000)
        for memory in ("1GiB", 1 << 18):
            assert [] == recframe.scan(path, memory=memory).mean("precision@5").notes


def test_rows_of_nobody_are_noted(tmp_path):
    """A table of no user says so, in memory and in files; an empty partition says nothing."""
    rows = pd.DataFrame({"user": [1, 1, 2], "score": [3, 2, 1], "relevant": [0, 1, 1]})
    rows.head(0).to_parquet(tmp_path / "none.parquet")
    for empty in (rows.head(0).rec, recframe.scan(tmp_path / "none.parquet")):
        assert "no user has a row" in texts_of(empty.mean("mrr"))["no_user"]

    frame = dd.from_pandas(rows, npartitions=1)
    parts = dd.concat([frame, frame[frame["user"] > 9]])
    assert [] == warnings_of(lambda: parts.rec.mean("mrr").compute())
    assert [] == rows.rec.mean("mrr").notes
