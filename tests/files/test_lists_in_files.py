"""Arguments `lists` and `sep`: each member is a row, in every format and within memory."""

import json
import shlex

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import recframe
from recframe import RecframeError
from recframe.cli import main

duckdb = pytest.importorskip("duckdb")

N_USERS = 40
METRICS = ["recall@3", "ndcg@5", "reciprocal_rank"]
OPTIONS = {"short": "pad"}


def make_lists(with_score=True):
    """Return a frame with a list of recommended movies for each user; every fifth is empty."""
    rng = np.random.default_rng(3)
    lists = []
    for user in range(N_USERS):
        movies = rng.permutation(50)[: 0 if user % 5 == 0 else 3 + user % 4].tolist()
        scores = np.sort(rng.integers(0, 9, len(movies)))[::-1].tolist()
        both = zip(movies, scores, strict=True)
        lists.append(
            [{"movieId": movie, "rating": score / 2} for movie, score in both]
            if with_score
            else movies
        )
    return pd.DataFrame(
        {"userId": range(N_USERS), "recommendations": lists, "country": ["NL", "BE"] * 20}
    )


RECS = make_lists()
TRUTH = pd.DataFrame({"userId": np.arange(N_USERS).repeat(3)})
TRUTH["movieId"] = np.random.default_rng(4).integers(0, 50, len(TRUTH))
TRUTH = TRUTH.drop_duplicates()
SHAPES = {
    "structs": RECS,
    "ids": make_lists(with_score=False),
    "ids and scores": RECS.assign(
        movies=[[one["movieId"] for one in row] for row in RECS["recommendations"]],
        scores=[[one["rating"] for one in row] for row in RECS["recommendations"]],
    ).drop(columns="recommendations"),
}


def write(frame, path):
    """Write a frame in the format of the path's ending, and return the path."""
    if path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=7)
    elif path.suffix == ".feather":
        frame.to_feather(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    return path


SOURCES = {
    "parquet": lambda frame, folder: write(frame, folder / "a.parquet"),
    "jsonl": lambda frame, folder: write(frame, folder / "a.jsonl"),
    "feather": lambda frame, folder: write(frame, folder / "a.feather"),
    "dataset": lambda frame, folder: ds.dataset(write(frame, folder / "a.parquet")),
    "reader": lambda frame, _: pa.Table.from_pandas(frame).to_reader(5),
    "relation": lambda frame, folder: duckdb.sql(f"FROM '{write(frame, folder / 'a.parquet')}'"),
    "several files": lambda frame, folder: [
        write(frame[:25], folder / "a.parquet"),
        write(frame[25:], folder / "b.parquet"),
    ],
}


def values(table):
    """Return the values of a table of users, without the name of its score."""
    return table.droplevel("score", axis=1)


@pytest.mark.parametrize("memory", ["16MiB", "1GiB"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_has_the_values_of_a_frame(kind, shape, memory, tmp_path):
    """Lists in files give the values of `from_lists`, with a value for users without items."""
    source = SOURCES[kind](SHAPES[shape], tmp_path)
    found = recframe.scan(source, truth=TRUTH, memory=memory, **OPTIONS).evaluate(METRICS)
    expected = recframe.from_lists(SHAPES[shape]).rec(truth=TRUTH, **OPTIONS).evaluate(METRICS)

    assert N_USERS == len(found)
    pd.testing.assert_frame_equal(values(expected), values(found), check_names=False)


@pytest.mark.parametrize("form", ["frame", "series", "file", "lines", "table"])
@pytest.mark.parametrize("role", ["truth", "exclude"])
def test_truth_and_exclude_take_lists(form, role, tmp_path):
    """Truth and exclude with lists equal the same pairs with a row for each item."""
    lists = TRUTH.groupby("userId")["movieId"].agg(list)
    frame = lists.rename("movies").reset_index()
    forms = {
        "frame": frame,
        "series": lists,
        "file": write(frame, tmp_path / "truth.parquet"),
        "lines": write(frame, tmp_path / "truth.jsonl"),
        "table": pa.Table.from_pandas(frame),
    }
    path = write(RECS, tmp_path / "recs.parquet")
    others = {"truth": TRUTH, "population": "rows", **OPTIONS}
    flat, nested = ({**others, role: given} for given in (TRUTH, forms[form]))

    for rec in (recframe.scan(path), recframe.from_lists(RECS).rec):
        expected, found = rec(**flat).evaluate(METRICS), rec(**nested).evaluate(METRICS)
        pd.testing.assert_frame_equal(expected, found)


def test_fields_keep_their_names(tmp_path):
    """Fields of members are columns under the names of the fields, which options take."""
    path = write(RECS, tmp_path / "recs.parquet")
    asked = {"truth": TRUTH, "user": "userId", "item": "movieId", "score": "rating", **OPTIONS}
    table = recframe.scan(path, **asked).evaluate("recall@3")

    assert [("rating", "recall@3")] == table.columns.tolist()
    pd.testing.assert_frame_equal(
        recframe.scan(path, truth=TRUTH, **OPTIONS).evaluate("recall@3"), table
    )


def test_other_columns_come_along(tmp_path):
    """Columns next to lists give segments, filters and users of several columns."""
    path = write(RECS.assign(day="monday"), tmp_path / "recs.parquet")
    rec = recframe.scan(path, truth=TRUTH, **OPTIONS)
    by = rec.summary("recall@3", by="country")
    assert [20, 20] == by["n_users"].tolist()
    some = recframe.scan(
        path, filters=[("country", "==", "NL")], truth=TRUTH, population="rows", **OPTIONS
    )
    assert 20 == len(some.evaluate("recall@3"))
    users = ["day", "userId"]
    of_days = recframe.scan(path, user=users, truth=TRUTH.assign(day="monday"), **OPTIONS)
    frame = recframe.from_lists(RECS.assign(day="monday"), user=users)
    expected = frame.rec(truth=TRUTH.assign(day="monday"), **OPTIONS).evaluate("recall@3")
    assert users == expected.index.names
    pd.testing.assert_frame_equal(
        values(expected), values(of_days.evaluate("recall@3")), check_names=False
    )


def test_a_column_named_like_a_field_is_renamed(tmp_path):
    """A column next to lists that has the name of a field is list_NAME."""
    line = {"query_id": 1, "text": "q", "results": [{"doc_id": 7, "text": "d", "score": 0.5}]}
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(line))
    truth = pd.DataFrame({"query_id": [1], "doc_id": [7]})

    expected = ["user", "item", "score", "text", "list_text"]
    assert expected == recframe.from_lists(pd.DataFrame([line])).columns.tolist()
    shown = recframe.scan(path, truth=truth, short="pad").inspect(1, label="list_text")
    assert "q" in str(shown)


@pytest.mark.parametrize("name", ["embedding", "scores"])
def test_vectors_are_no_items(name, tmp_path):
    """A lone list of floats holds no items."""
    frame = pd.DataFrame({"user": [1, 2], name: [[0.5, 1.0], [1.5, 2.0]]})
    with pytest.raises(RecframeError, match="item: no column found"):
        recframe.scan(write(frame, tmp_path / "a.parquet"), truth=TRUTH).recall(k=1)


def test_lists_next_to_rows_stay(tmp_path):
    """Lists next to columns of items and scores are left as they are."""
    frame = pd.DataFrame({"user": [1, 1], "item": [7, 3], "score": [0.5, 0.25], "relevant": [1, 0]})
    path = write(frame.assign(genres=[["x", "y"], ["z"]]), tmp_path / "a.parquet")

    assert [0.5] == recframe.scan(path).precision(k=2)["score"].tolist()
    with pytest.raises(RecframeError, match="no column found"):
        recframe.scan(write(RECS, tmp_path / "b.parquet"), lists=None, truth=TRUTH).recall(k=1)


def test_which_lists_is_asked(tmp_path):
    """Two columns of ids are asked about, and each answer gives another value."""
    frame = pd.DataFrame({"query": ["a", "b"], "dense": [["x"], ["y"]], "sparse": [["x"], ["z"]]})
    truth = pd.DataFrame({"query": ["a", "b"], "doc": ["x", "z"]})
    path = write(frame, tmp_path / "a.parquet")
    with pytest.raises(RecframeError, match="'dense'") as refused:
        recframe.scan(path, truth=truth).recall(k=1)
    assert ["dense", "sparse"] == refused.value.answers["lists"].candidates
    values = {
        name: recframe.scan(path, lists=name, truth=truth).mean("recall@1").iloc[0, 0]
        for name in ("dense", "sparse")
    }
    assert {"dense": 0.5, "sparse": 1.0} == values


def test_lists_of_different_lengths_are_refused(tmp_path):
    """Lists that belong together must be equally long in each row."""
    frame = SHAPES["ids and scores"].assign(scores=[[1.0]] * N_USERS)
    with pytest.raises(RecframeError, match="must have equally long lists in each row"):
        recframe.scan(write(frame, tmp_path / "a.parquet"), truth=TRUTH, short="pad").recall(k=1)


def run(words, capsys):
    """Run the command; return its status, standard output and standard error."""
    status = main(words)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_the_output_of_spark_on_the_command_line(tmp_path, capsys):
    """Folders as Spark writes recommendForAllUsers are evaluated at the first try."""
    for name, frame in (("recs", RECS), ("truth", TRUTH)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "_SUCCESS").touch()
        write(frame, tmp_path / name / "part-00000.snappy.parquet")
    words = ["evaluate", str(tmp_path / "recs"), "--truth", str(tmp_path / "truth")]
    status, out, _ = run(
        [*words, "--metric", "recall@3", "--short", "pad", "--format", "csv"], capsys
    )
    expected = recframe.from_lists(RECS).rec(truth=TRUTH, **OPTIONS).mean("recall@3").iloc[0, 0]
    assert 0 == status
    assert expected == float(out.splitlines()[1].split(",")[1])


@pytest.mark.parametrize("separator", [" ", ",", "|"])
@pytest.mark.parametrize("truth_is_lists", [False, True])
def test_text_lists_on_the_command_line(separator, truth_is_lists, tmp_path, capsys):
    """Lists in text are asked about, and the flags shown give the value of the lists."""
    lists = {"a": ["0706", "0108"], "b": ["0108"], "c": ["0212", "0706", "0999"]}
    bought = {"a": ["0706"], "b": ["0212", "0108"], "c": ["0001"]}
    texts = {
        name: [separator.join(one) for one in each.values()]
        for name, each in (("prediction", lists), ("bought", bought))
    }
    pd.DataFrame({"customer_id": [*lists], "prediction": texts["prediction"]}).to_csv(
        tmp_path / "sub.csv", index=False
    )
    truth = pd.DataFrame({"customer_id": [*bought], "bought": texts["bought"]})
    if not truth_is_lists:
        truth = recframe.truth_from(bought).set_axis(["customer_id", "article_id"], axis=1)
        truth = truth.rename(columns={"article_id": "item"})
    truth.to_csv(tmp_path / "truth.csv", index=False)
    words = ["evaluate", str(tmp_path / "sub.csv"), "--truth", str(tmp_path / "truth.csv")]
    words += ["--metric", "recall@2", "--format", "csv"]
    status, _, error = run(words, capsys)
    assert 1 == status
    flags = shlex.split(error.splitlines()[-1].removeprefix("As flags: recframe "))
    status, out, _ = run(flags, capsys)
    assert 0 == status
    assert 0.5 == float(out.splitlines()[1].split(",")[1])


def test_a_field_is_a_score_or_a_relevance(tmp_path):
    """A field that ranks is no relevance, so truth is asked for."""
    path = write(RECS, tmp_path / "recs.parquet")
    with pytest.raises(RecframeError, match="relevant: no column found"):
        recframe.scan(path, min_relevance=2).mean("recall@3")


def test_rows_of_a_user_know_the_fields(tmp_path):
    """`inspect` finds the item and the score of lists as metrics do."""
    path = write(RECS, tmp_path / "recs.parquet")
    shown = recframe.scan(path, truth=TRUTH, **OPTIONS).inspect(1, k=2)
    assert "rating" in str(shown)


def test_single_numbers_are_lists_too(tmp_path):
    """A column of text lists may hold one number in each cell."""
    pd.DataFrame({"user": [1, 2], "bought": [7, 8]}).to_csv(tmp_path / "a.csv", index=False)
    truth = pd.DataFrame({"user": [1, 2], "item": [7, 9]})
    rec = recframe.scan(tmp_path / "a.csv", lists="bought", sep=" ", truth=truth)
    assert [1.0, 0.0] == rec.recall(k=1)["score"].tolist()


def test_padded_lists_are_refused(tmp_path):
    """The item -1 fills up short lists, so it is no item."""
    frame = pd.DataFrame({"user": [1, 2], "items": [[7, -1], [3, 5]]})
    with pytest.raises(RecframeError, match="'items': lists must not be padded, but hold -1"):
        recframe.scan(write(frame, tmp_path / "a.parquet"), truth=TRUTH).recall(k=1)


def test_lists_in_several_rows_of_a_user(tmp_path):
    """Lists of one user in several rows are several rankings, which are asked about."""
    frame = pd.DataFrame({"date": ["a", "b"], "user": [1, 1], "recs": [[11, 12], [10, 13]]})
    truth = pd.DataFrame({"date": ["b"], "user": [1], "item": [10]})
    path = write(frame, tmp_path / "a.parquet")
    with pytest.raises(RecframeError, match=r"but has several for 1 user. Pass user=\['date', 'us"):
        recframe.scan(path, truth=truth[["user", "item"]]).mean("recall@2")
    asked = {"user": ["date", "user"], "truth": truth, "population": "truth"}
    assert 1.0 == recframe.scan(path, **asked).mean("recall@2").iloc[0, 0]


def test_lists_named_score(tmp_path):
    """A list of items named score is ranked by its order."""
    frame = pd.DataFrame({"user": [1, 2], "score": [[10, 20, 30], [20, 10, 5]]})
    truth = pd.DataFrame({"user": [1, 1, 2], "item": [10, 30, 10]})
    rec = recframe.scan(write(frame, tmp_path / "a.parquet"), truth=truth)
    assert [0.5, 1.0] == rec.recall(k=2).iloc[:, 0].tolist()


def test_a_field_named_like_a_user_is_none(tmp_path):
    """The author of a hit is not the user who searched."""
    hits = [[(2, 10, 0.3), (1, 20, 0.2)], [(1, 11, 0.2), (2, 30, 0.1)]]
    names = ("user_id", "doc_id", "score")
    lists = [[dict(zip(names, hit, strict=True)) for hit in row] for row in hits]
    frame = pd.DataFrame({"user_id": [1, 2], "hits": lists})
    truth = pd.DataFrame({"user_id": [1, 1, 2], "doc_id": [10, 30, 10]})
    found = recframe.scan(write(frame, tmp_path / "a.jsonl"), truth=truth).recall(k=1)
    assert [0.5, 0.0] == found["score"].tolist()
    assert [0.5, 0.0] == recframe.from_lists(frame).rec(truth=truth).recall(k=1)["score"].tolist()


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
@pytest.mark.parametrize("ids", [["p1", "x", "y", "z", "p2", "p5"], [1, 2, 3, 4, 5, 6]])
def test_a_log_of_ranked_and_relevant_lists(tmp_path, capsys, ids, ending):
    """A file with two lists is asked about as rows and as truth, and each answer leads on."""
    log = {"question": ["a", "b"], "contexts": [ids[:2], ids[2:4]]}
    log["ground_truth"] = [[ids[1], ids[4]], ids[5:]]
    path = str(write(pd.DataFrame(log), tmp_path / f"log.{ending}"))
    words = ["evaluate", path, "-m", "recall@2", "-q", "--format", "csv"]
    for asked, answer in {
        "--lists COLUMN  # --lists: 'contexts', 'ground_truth'": ["--lists", "contexts"],
        "--truth FILE  # --truth: the frame of relevant pairs": ["--truth", path],
        "--truth-item COLUMN  # --truth-item: 'contexts', ": ["--truth-item", "ground_truth"],
    }.items():
        assert 1 == main(words)
        assert asked in capsys.readouterr().err
        words += answer
    assert 0 == main(words)
    assert "score,0.25" in capsys.readouterr().out


def test_lists_in_text_are_asked_about_with_their_scores(tmp_path, capsys):
    """The answer for lists in text names the column of their scores too, and it is right."""
    texts = {"recs": ['["c","a"]', '["a","b"]'], "scores": ["[0.1,0.9]", "[0.2,0.8]"]}
    frame = pd.DataFrame({"user": [1, 2], **texts})
    frame.to_csv(tmp_path / "lists.csv", index=False)
    pd.DataFrame({"user": [1, 2], "item": ["a", "b"]}).to_csv(tmp_path / "truth.csv", index=False)
    words = ["evaluate", str(tmp_path / "lists.csv"), "--truth", str(tmp_path / "truth.csv")]
    assert 1 == main([*words, "-m", "mrr"])
    assert capsys.readouterr().err.endswith("--lists recs --lists scores\n")
    assert 0 == main([*words, "-m", "mrr", "--lists", "recs", "--lists", "scores"])
    assert "scores  1.0" in capsys.readouterr().out

    sorted_ = frame.assign(scores=["[0.9,0.1]", "[0.8,0.2]"])
    rows = recframe.from_lists(sorted_, items=["recs", "scores"])
    assert [("c", 0.9), ("a", 0.1)] == [*zip(rows["item"][:2], rows["score"][:2], strict=True)]
