"""Option `ascending` ranks the lowest score first, on every engine and in every table."""

import math

import dask.dataframe as dd
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import recframe.dask  # This import registers ddf.rec.
import strategies
from dask_frames import LAZY, METRICS, assert_all_same, interactions, parts
from recframe.cli import main
from recframe.frames.words import BY_MEANING

ASCENDING = {"knn_score": True, "other_score": False}
MIXED = {"ascending": list(ASCENDING.values())}


@pytest.fixture
def frame():
    """Return rows of many users with ties, the first score a distance."""
    return interactions()


@pytest.fixture
def negated(frame):
    """Return the same rows with the first score negated by hand."""
    return frame.assign(knn_score=-frame["knn_score"])


@pytest.fixture
def ranked():
    """Return one list in order of its ranks, with the first of four rows relevant."""
    return pd.DataFrame(
        {"user": 1, "item": list("abcd"), "rank": range(4), "relevant": [1, 0, 0, 0]}
    )


@given(st.data())
def test_lowest_first_is_highest_first_of_what_is_turned_round(data):
    """Ranking the lowest first equals ranking reversed scores, for all dtypes, ties and nulls."""
    kinds = data.draw(strategies.kinds()) | {"relevance": "binary"}
    rows = data.draw(strategies.many_rows(**kinds, nulls={"score"}))
    options = data.draw(strategies.options(missing="unranked", short="pad", min_score=None))
    values = sorted({score for _, score, _ in rows if score is not None}, reverse=True)
    turned = [
        # A score of inf would mask the row.
        (user, None if score in (None, math.inf) else values.index(score), flag)
        for user, score, flag in rows
    ]
    expected = strategies.frame(turned, **kinds | {"scores": "ratings"})
    actual = strategies.frame(rows, **kinds)

    for make in (
        lambda rec: rec.evaluate(METRICS),
        lambda rec: rec.rank(),
        lambda rec: rec.describe(k=3),
        lambda rec: rec.top(2)[["user", "relevant", "rank"]],
    ):
        pd.testing.assert_frame_equal(
            make(expected.rec(**options | {"ascending": False})),
            make(actual.rec(**options | {"ascending": True})),
            check_exact=True,
        )


@pytest.mark.parametrize("name", LAZY)
def test_a_list_goes_with_the_scores(name, frame, negated):
    """Each score is ranked in its direction, in every table of every method."""
    # A column that a metric averages is a score too when several are named.
    highest = [False] * len(ASCENDING)
    expected = LAZY[name](negated.rec(short="pad", ascending=highest))
    actual = LAZY[name](frame.rec(short="pad", **MIXED))

    if "top" in name:
        expected["knn_score"] = -expected["knn_score"]
    pd.testing.assert_frame_equal(expected, actual, check_exact=True)


@pytest.mark.parametrize("score", ASCENDING)
def test_one_score_of_several_keeps_its_direction(score, frame, negated):
    """The score that `top` takes keeps its direction from the list."""
    expected = negated.rec.top(2, score)
    for options in ({}, {"score": list(ASCENDING)}):
        actual = frame.rec(**MIXED, **options).top(2, score)

        pd.testing.assert_index_equal(expected.index, actual.index)
        assert expected["rank"].tolist() == actual["rank"].tolist()


def test_inspect_shows_the_scores_that_are_there(frame, negated):
    """`inspect` shows the scores as the frame has them, in ranked order."""
    user = frame["user"].iloc[0]
    expected = negated.rec(short="pad").inspect(user).tables["knn_score"]
    actual = frame.rec(short="pad", **MIXED).inspect(user).tables["knn_score"]

    pd.testing.assert_frame_equal(expected.assign(score=-expected["score"]), actual)
    assert actual["score"].is_monotonic_increasing


@pytest.mark.parametrize("memory", [1, "1GiB"])
def test_files(frame, negated, tmp_path, memory):
    """Files give the values of the frame, bit for bit."""
    path = tmp_path / "run.parquet"
    frame.to_parquet(path, row_group_size=50)
    metrics = ["recall@2", "ndcg", "auc"]
    expected = negated.rec(short="pad").evaluate(metrics)
    options = {"short": "pad", "memory": memory, **MIXED}

    pd.testing.assert_frame_equal(expected, recframe.evaluate(path, metrics, **options))
    blocks = recframe.iter_evaluate(path, metrics, **options)
    pd.testing.assert_frame_equal(expected, pd.concat(blocks).sort_index())


def test_dask(frame):
    """Dask gives the tables of pandas."""
    assert_all_same(frame, parts(frame), **MIXED)


def test_truth(frame, negated):
    """Scores may ascend with truth too, and the judged frame keeps their values."""
    items = {"item": range(len(frame))}
    truth = frame.assign(**items).loc[::7, ["user", "item"]]
    frame, negated = (rows.drop(columns="relevant").assign(**items) for rows in (frame, negated))
    options = {"population": "all", "truth": truth, "short": "pad"}

    pd.testing.assert_frame_equal(
        negated.rec(**options).evaluate(METRICS), frame.rec(**options, **MIXED).evaluate(METRICS)
    )
    pd.testing.assert_frame_equal(
        negated.rec(**options).judge()[["user", "relevant"]],
        frame.rec(**options, **MIXED).judge()[["user", "relevant"]],
    )


@pytest.mark.parametrize(
    ("flags", "ascending"),
    [
        (["--ascending"], True),
        (["--no-ascending"], False),
        (["--no-ascending", "--ascending"], [False, True]),
        (["--score", "other_score", "--ascending", "--score", "knn_score", "--no-ascending"], None),
    ],
)
def test_command_line(flags, ascending, frame, tmp_path, capsys):
    """A single flag concerns all scores, and several flags concern the scores in their order."""
    path = tmp_path / "run.parquet"
    frame.to_parquet(path)
    options = {"ascending": ascending}
    if ascending is None:
        options = {"ascending": [True, False], "score": ["other_score", "knn_score"]}
    expected = frame.rec(short="pad", **options).mean("recall@4").to_csv()

    assert 0 == main(
        ["evaluate", str(path), "--metric", "recall@4", "--short", "pad", "--format", "csv", *flags]
    )
    assert expected == capsys.readouterr().out


def test_a_flag_of_one_score_of_several(frame, tmp_path, capsys):
    """A single flag for several named scores is refused, because it could mean the last only."""
    path = tmp_path / "run.parquet"
    frame.to_parquet(path)
    flags = ["--score", "knn_score", "--score", "other_score", "--ascending"]

    assert 1 == main(["evaluate", str(path), *flags])
    assert (
        "ascending must have an entry for each score column, but has 1" in capsys.readouterr().err
    )


LESS = [
    "rank",
    "Rank_2",
    "score_rank",
    "rankKNN",
    "distance_km",
    "error rate",
    "positions",
    "L2Distance",
    "cosine dist",
    "val_loss",
    "losses",
    "costs",
    "loss_score",
    "kl_divergence",
    "surprisal",
    "energy",
    "neg_log_prob",
    "neg_inner_product",
    "l2_score",
]
MORE = [
    "ranker",
    "pagerank",
    "distant",
    "blossom",
    "score",
    "ranking_score",
    "_rankingScore",
    "score_l2",
]


@pytest.mark.parametrize(
    "name", [*sorted(BY_MEANING["less is better"]), *LESS, ("knn", "distance")]
)
def test_names_that_mean_less_is_better(name, ranked):
    """A score whose name means that less is better is refused until `ascending` is passed."""
    labels = [name if label == "rank" else label for label in ranked]
    frame = ranked.set_axis(pd.Index(labels, tupleize_cols=False), axis=1)
    with pytest.raises(
        recframe.RecframeError,
        match=r"the name suggests that lower is better\. Pass ascending=True to rank the lowest "
        "first, or ascending=False if the highest is the best",
    ):
        frame.rec(score=name).recall(k=1)

    assert 1.0 == frame.rec(score=name, ascending=True).recall(k=1).iloc[0, 0]
    assert 0.0 == frame.rec(score=name, ascending=False).recall(k=1).iloc[0, 0]


@pytest.mark.parametrize("name", MORE)
def test_names_that_do_not(name, ranked):
    """Scores with other names rank the highest first."""
    assert 0.0 == ranked.rename(columns={"rank": name}).rec(score=name).recall(k=1).iloc[0, 0]


METHODS = {
    **LAZY,
    "recall": lambda rec: rec.recall(k=1),
    "rank": lambda rec: rec.rank(),
    "top": lambda rec: rec.top(2),
    "top of one": lambda rec: rec(score="score").top(2, "distance"),
    "inspect": lambda rec: rec.inspect(1, 3),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("entry", ["pandas", "Dask"])
def test_every_method_refuses_them(method, entry, ranked):
    """Every method refuses a distance until its direction is passed."""
    frame = ranked.rename(columns={"rank": "distance"}).assign(score=1.0, other_score=1.0)
    data = frame if entry == "pandas" else dd.from_pandas(frame, npartitions=1)
    with pytest.raises(recframe.RecframeError, match="score='distance': the name suggests"):
        METHODS[method](data.rec(score="distance"))


def test_files_and_the_command_line_refuse_them(ranked, tmp_path, capsys):
    """Files with a distance are refused before a row is read, with and without truth."""
    path, truth = tmp_path / "run.parquet", ranked.loc[:0, ["user", "item"]]
    ranked.to_parquet(path)
    message = "score='rank': the name suggests that lower is better"
    for options in ({}, {"truth": truth}):
        for evaluate in (recframe.evaluate, recframe.iter_evaluate):
            with pytest.raises(recframe.RecframeError, match=message):
                evaluate(path, "recall@1", score="rank", **options)

    assert 1 == main(["evaluate", str(path), "--score", "rank"])
    assert message in capsys.readouterr().err


def test_of_several_scores_the_remedy_is_a_list(ranked):
    """The message shows the list to pass if another score ranks the highest first."""
    with pytest.raises(recframe.RecframeError, match=r"Pass ascending=\[False, True\] to rank"):
        ranked.assign(model=1).rec(score=["model", "rank"]).recall(k=1)


def test_a_rank_that_may_be_the_score_is_named(ranked):
    """A column of ranks is suggested if no column is a score."""
    with pytest.raises(
        recframe.MissingColumnError, match=r"pass df.rec\(score='rank', ascending=True\)$"
    ):
        ranked.rec.recall(k=1)


def test_the_only_rank_or_distance_is_the_score(ranked):
    """With ascending=True the only column named like a distance is the score without a score."""
    assert [1.0] == ranked.rec(ascending=True).recall(k=1)["rank"].tolist()
    assert ["x_score"] == ranked.assign(x_score=1).rec(ascending=True).mean("recall@1").index
    with pytest.raises(recframe.MissingColumnError, match="'rank', 'distance'"):
        ranked.assign(distance=1).rec(ascending=True).recall(k=1)


def test_distances_that_were_negated():
    """Distances of lists are scores already, so ascending=True is refused."""
    lists = pd.DataFrame({"user": [1, 2], "items": [[1, 2], [3, 4]], "distances": [[0.1, 0.2]] * 2})
    frame = recframe.from_lists(lists).assign(relevant=[1, 0] * 2)

    assert [1.0, 1.0] == frame.rec.recall(k=1)["score"].tolist()
    with pytest.raises(recframe.RecframeError, match="score the negative of 'distances'") as no:
        frame.rec(ascending=True).recall(k=1)
    assert {"ascending": False} == no.value.answers
    assert [1.0, 1.0] == frame.rec(ascending=False).recall(k=1)["score"].tolist()


def test_top_of_a_frame_with_a_rank(ranked):
    """The refusal of a second column of ranks has a line that renames the first."""
    frame = ranked.assign(score=1)
    with pytest.raises(recframe.RecframeError, match=r"Rename that column, with df = df\.rename"):
        frame.rec.top(1)
    renamed = frame.rename(columns={"rank": "frame_rank"}).rec.top(1)
    assert ["frame_rank", "rank"] == renamed.filter(like="rank").columns.tolist()


REFUSED = {
    "text": (
        {"ascending": "yes"},
        "ascending must be True, False or a list of these, but is 'yes'",
    ),
    "number": ({"ascending": 1}, "ascending must be True, False or a list of these, but is 1"),
    "none in a list": ({"ascending": [None]}, r"or a list of these, but is \[None\]"),
    "too few": (
        {"ascending": [True]},
        "must have an entry for each score column, but has 1 for 'knn_score', 'other_score'. Pass",
    ),
    "too many": (
        {"ascending": [True, False], "score": "knn_score"},
        "but has 2 for 'knn_score'. Pass as many, or True or False for all",
    ),
    "min_score": (
        {"ascending": True, "min_score": 0.5},
        "min_score=0.5 with ascending=True could mean either side; in .* missing='unranked'",
    ),
    "min_score of one": (
        {**MIXED, "min_score": 2},
        r"min_score=2 with ascending=\[True, False\] could mean either side",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_values(case, frame):
    """A value of `ascending` that does not fit the scores is refused."""
    options, message = REFUSED[case]
    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec(short="pad", **options).recall(k=1)


def test_min_score_with_highest_first(frame):
    """`min_score` works with scores that rank the highest first."""
    expected = frame.rec(short="pad", min_score=0.5).recall(k=1)
    actual = frame.rec(short="pad", min_score=0.5, ascending=[False, False]).recall(k=1)

    pd.testing.assert_frame_equal(expected, actual)


def test_top_of_a_score_of_which_nothing_is_said(frame):
    """A list of directions does not apply to a score outside the option `score`."""
    with pytest.raises(
        recframe.RecframeError,
        match=r"ascending=\[True, False\] is for the score columns .* not score='user'",
    ):
        frame.rec(**MIXED).top(2, "user")
