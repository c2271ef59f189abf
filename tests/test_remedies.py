"""The remedy that a refusal names in common situations works and gives the right values.

Tests of `names`, for files without a header, belong here.
"""

import json
import re

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe import RecframeError
from recframe.cli import main

METRIC = "recall@1"
ROWS = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 2],
        "item": [1, 2, 3] * 2,
        "score": [0.9, 0.85, 0.4, 0.7, 0.6, 0.1],
        "relevant": [1, 0, 1, 0, 1, 0],
    }
)
EXPECTED = 0.25


def refuse(call):
    """Return the message that refuses a call."""
    with pytest.raises(RecframeError) as refused:
        call()
    return str(refused.value)


def mean(frame, **options):
    """Return the mean of a frame with one score."""
    return frame.rec(**options).mean(METRIC).iloc[0, 0]


@pytest.mark.parametrize(
    "texts",
    [
        ["0,9", "0,85", "0,4", "0,7", "0,6", "0,1"],
        ["90%", "85%", "40%", "70 %", "60%", "10%"],
        ["1,900", "1,850", "1,400", "1,700", "1,600", "1,100"],
    ],
    ids=["decimal commas", "percent", "thousands"],
)
def test_numbers_as_texts(texts):
    """The suggested conversion of numbers written as text keeps their order."""
    frame = ROWS.assign(score=texts)
    message = refuse(lambda: frame.rec.mean(METRIC))
    call = re.search(r"pd\.to_numeric\(df\['score'\]\.str\.\w+\(.*?\)\)", message)[0]
    assert EXPECTED == mean(frame.assign(score=eval(call, {"pd": pd, "df": frame})))


@pytest.mark.parametrize(
    "texts", [["1.2k", "900", "10"] * 2, ["$9.5", "$9", "$1"] * 2, [*"lmhlmh"]]
)
def test_texts_that_lose_their_number_as_nulls(texts):
    """Nulls in place of texts with digits, or of all texts, are not suggested."""
    message = refuse(lambda: ROWS.assign(score=texts).rec.mean(METRIC))
    assert "df['score'].map(function)" in message
    assert "coerce" not in message


def test_times_of_events_as_relevance():
    """Times as relevance become flags of those that are known."""
    frame = ROWS.assign(
        bought_at=pd.to_datetime(ROWS["relevant"].replace({1: "2026-11-01", 0: None}))
    )
    options = {"relevant": "bought_at", "null_relevance": "nonrelevant"}
    call = re.search(r"with (.*?\(\)), true", refuse(lambda: frame.rec(**options).mean(METRIC)))[1]
    assert EXPECTED == mean(frame.assign(relevant=eval(call, {"df": frame})))


def test_json_by_its_usual_name(tmp_path, capsys):
    """A file named .json may hold JSON lines; one of a single document is read by pandas."""
    path, truth = tmp_path / "rows.json", tmp_path / "truth.json.gz"
    ROWS.to_json(path, orient="records", lines=True)
    TRUTH.to_json(truth, orient="records", lines=True)
    assert EXPECTED == recframe.scan(path).mean(METRIC).iloc[0, 0]
    assert 0 == main(["evaluate", str(path), "-m", METRIC, "--truth", str(truth)])
    assert str(EXPECTED)[:6] in capsys.readouterr().out
    for orient in ("records", "columns"):
        for indent in (None, 2):
            ROWS.astype({"user": str}).to_json(path, orient=orient, indent=indent)
            message = refuse(lambda: recframe.evaluate(path, [METRIC]))
            call = re.search(r"pass (pd\.read_json\(.*?\))", message)[1]
            assert call in refuse(lambda: recframe.evaluate(ROWS, [METRIC], truth=path))
            frame = eval(call, {"pd": pd, "path": path})
            assert EXPECTED == mean(frame)
            assert "1" == frame["user"].tolist()[0]


def test_a_file_without_a_header(tmp_path, capsys):
    """A csv file without a header is refused, and names for its columns read it."""
    path = tmp_path / "rows.csv"
    ROWS.to_csv(path, header=False, index=False)
    message = refuse(lambda: recframe.evaluate(path, [METRIC]))
    assert "the first row looks like values ('1', '1', '0.9', '1'), not like names" in message
    names = re.search(r"names to recframe.scan or pd.read_csv, such as names=(\[.*\])", message)
    names = eval(names[1])
    assert EXPECTED == mean(pd.read_csv(path, names=names))
    assert EXPECTED == recframe.scan(path, names=names).mean(METRIC).iloc[0, 0]
    assert 1 == main(["evaluate", str(path), "-m", METRIC])
    assert f"As flags: recframe evaluate {path} -m {METRIC} --names" in capsys.readouterr().err
    assert 0 == main(["evaluate", str(path), "-m", METRIC, "--names", ",".join(names)])
    assert str(EXPECTED) in capsys.readouterr().out


def test_truth_without_a_header(tmp_path):
    """A csv file of truth without a header is refused, and the suggested call reads it."""
    path, texts = tmp_path / "truth.csv", {"user": ["u1", "u1", "u2"], "item": ["a", "b", "a"]}
    pd.DataFrame(texts).assign(relevant=[1, 0, 1]).to_csv(path, header=False, index=False)
    frame = pd.DataFrame(texts).assign(score=[0.1, 0.2, 0.3])
    message = refuse(lambda: recframe.evaluate(frame, [METRIC], truth=path))
    names = eval(re.search(r"the names to pd.read_csv, such as names=(\[.*?\])", message)[1])
    assert 0.5 == mean(frame, truth=pd.read_csv(path, names=names))
    path.write_text("1,1,1\n1,2,0\n")
    message = refuse(lambda: recframe.evaluate(frame, [METRIC], truth=path))
    assert message.endswith(
        "truth.csv: 3 columns are named '1'. Write a header with different names"
    )


@pytest.mark.parametrize(
    ("names", "message"),
    {
        "user,item,score": "names must be a list of different texts, but is 'user,item,score'",
        ("user", "item", "item", "score"): "names must be a list of different texts",
        (): "names must be a list of different texts",
        (0, 1, 2, 3): "names must be a list of different texts",
        ("user", "item", "score"): "cannot read .*rows.csv: .* Expected 3 columns, got 4",
        ("user", "item", "score", "rel", "x"): "cannot read .*rows.csv: .*Expected 5 col.*, got 4",
    }.items(),
)
def test_names_that_do_not_fit(names, message, tmp_path):
    """Names are different texts, as many as columns."""
    ROWS.to_csv(tmp_path / "rows.csv", header=False, index=False)
    with pytest.raises(RecframeError, match=message):
        recframe.scan(tmp_path / "rows.csv", names=names).mean(METRIC)


def test_names_of_other_formats(tmp_path):
    """Files that have names for their columns take no others."""
    ROWS.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(RecframeError, match="names are for csv and tsv without a header, not"):
        recframe.scan(tmp_path / "rows.parquet", names=["user", "item", "score", "relevant"])


@pytest.mark.parametrize(
    ("labels", "is_asked"),
    {
        ("u1", "i5", "0.3"): True,
        ("u1", "i5", "0.3", "1"): True,
        ("u1", "i5", "x"): False,
        ("user_id", "item_id", "10"): False,
        ("user", "item", "1", "2"): False,
    }.items(),
)
def test_labels_that_look_like_values(labels, is_asked):
    """A third of numbers among labels looks like a row, unless other labels are known names."""
    message = refuse(lambda: pd.DataFrame([[1] * len(labels)], columns=labels).rec.mean(METRIC))
    assert is_asked == ("the first row looks like values" in message)


def test_lists_of_a_series():
    """A Series of lists is truth by user, like a dict."""
    truth = pd.Series({1: [1, 3], 2: [2]})
    expected = recframe.truth_from(truth.to_dict())
    pd.testing.assert_frame_equal(expected, recframe.truth_from(truth))


@pytest.mark.parametrize("how", ["({})", "[{}]"])
def test_texts_of_tuples(how):
    """Texts of tuples are read as lists."""
    texts = [how.format("'a', 'b'"), how.format("'c',")]
    frame = pd.DataFrame({"user": [1, 2], "items": texts})
    assert [*"abc"] == recframe.from_lists(frame)["item"].tolist()


def test_lists_without_a_user():
    """Lists without users get row numbers as users by the suggested call."""
    frame = pd.DataFrame({"prediction": [[1, 2], [3, 4]], "label": [[1], [4]]})
    message = refuse(lambda: recframe.from_lists(frame))
    call = re.search(r"pd\.DataFrame\(frame\)\.reset_index\(.*?\)", message)[0]
    lists = eval(call, {"frame": frame, "pd": pd})
    rows = recframe.from_lists(lists, items="prediction")
    truth = recframe.truth_from(lists.set_index("user")["label"])
    assert 0.5 == rows.rec(truth=truth).mean("precision@1").iloc[0, 0]


CELLS = {
    "arrays": lambda score: np.array([score]),
    "texts": lambda score: f"[{score}]",
    "two classes": lambda score: [1 - score, score],
}


@pytest.mark.parametrize("name", CELLS)
def test_scores_in_lists(name):
    """The suggested call takes scores out of lists, as classifiers give them."""
    frame = ROWS.assign(score=[*map(CELLS[name], ROWS["score"])])
    call = re.search(r"df\.assign\(.*?\)(?=$|;|\n)", refuse(lambda: frame.rec.mean(METRIC)))[0]
    assert EXPECTED == mean(eval(call, {"df": frame}))


@pytest.mark.parametrize("name", ["place", "row_number", "#"])
def test_numbers_of_rows_are_ranks(name):
    """The hint for a column that numbers the rows of each user from 1 on gives the number."""
    ranks = ROWS.groupby("user")["score"].rank(ascending=False).astype(int)
    frame = ROWS.drop(columns="score").assign(**{name: ranks})
    message = refuse(lambda: frame.rec.mean(METRIC))
    assert f"is 1 in the best row of each user, score='{name}', ascending=True" in message
    assert EXPECTED == mean(frame, score=name, ascending=True)
    counts = frame.assign(**{name: ranks + 1})
    assert "ascending" not in refuse(lambda: counts.rec.mean(METRIC))


def test_a_document_of_lists_by_user(tmp_path):
    """A JSON document whose keys are users is read as a dict, and lists of it make rows."""
    lists = {"ann": ["a", "b"], "bob": ["b"]}
    path = tmp_path / "lists.json"
    path.write_text(json.dumps(lists))
    said = "where names are users, recframe.from_lists takes a dict of lists, as json.load gives it"
    assert said in refuse(lambda: recframe.scan(path).mean("mrr"))
    rows = recframe.from_lists(json.loads(path.read_text()))
    truth = recframe.truth_from({"ann": ["b"], "bob": ["b"]})
    assert 0.75 == rows.rec(truth=truth).mean("mrr").iloc[0, 0]


def test_fractions_named_as_ranks():
    """A column of fractions such as rank_bm25 is asked about, and a rank of that name is not."""
    frame = ROWS.rename(columns={"score": "rank_bm25"}).assign(rank_bm25=ROWS["score"] + 0.5)
    assert "ascending=True,  # or False" in refuse(lambda: frame.rec.mean(METRIC))
    assert EXPECTED == mean(frame, score="rank_bm25", ascending=False)
    ranks = frame.assign(rank_bm25=ROWS["score"].rank(ascending=False).astype(int))
    assert "pass df.rec(score='rank_bm25', ascending=True)" in refuse(
        lambda: ranks.rec.mean(METRIC)
    )


def test_structs_of_ranks():
    """Structs with ranks put the lowest rank first."""
    one = [{"doc_id": 7, "rank": 1}, {"doc_id": 8, "rank": 2}]
    frame = pd.DataFrame({"user": [1], "recs": [one]})
    made = recframe.from_lists(frame)
    assert [7, 8] == made.sort_values("score", ascending=False)["item"].tolist()


def test_zeros_at_the_front():
    """Ids that only one table pads with zeros are refused with a conversion to integers."""
    truth = pd.DataFrame({"user": ["001", "002"], "item": ["001", "002"]})
    rows = ROWS.drop(columns="relevant")
    assert "Convert both with ids.astype('Int64')" in refuse(lambda: mean(rows, truth=truth))
    assert 0.5 == mean(rows, truth=truth.astype(int))


def test_zeros_at_the_front_of_other_ids():
    """A conversion that would make one id of two is not suggested."""
    truth = pd.DataFrame({"user": ["001", "1", "2"], "item": ["1", "001", "2"]})
    rows = ROWS.drop(columns="relevant")
    assert "Int64" not in refuse(lambda: mean(rows, truth=truth))
    texts = rows.astype({"user": str, "item": str})
    assert "lstrip" not in refuse(lambda: mean(texts.assign(user="0001"), truth=truth))


OLD, NEW = (ROWS.assign(score=ROWS["score"] * sign).rec.evaluate(METRIC) for sign in (1, -1))


@pytest.mark.parametrize("how", ["positions", "list", "dict", "concat"])
def test_two_tables_of_users(how):
    """Two per-user tables are named by keys or by their scores, and the first is the baseline."""
    made = {
        "positions": lambda function: function(OLD, NEW),
        "list": lambda function: function([OLD, NEW]),
        "dict": lambda function: function({"old": OLD, "new": NEW}),
        "concat": lambda function: function(pd.concat({"old": OLD, "new": NEW}, axis=1)),
    }[how]
    names = ["old", "new"] if how in ("dict", "concat") else ["score", "score_2"]
    compared = made(recframe.compare)
    assert f"baseline: {names[0]}" == compared.columns.name
    assert [(names[1], METRIC)] == compared.index.tolist()
    expected = (NEW - OLD).mean().item()
    assert expected == pytest.approx(compared["difference"].item())
    assert names == made(recframe.summary).index.unique("score").tolist()


def test_tables_of_other_users():
    """Users in one table only are noted, and tables without a common user are refused."""
    more = pd.concat([NEW, NEW.rename(index={1: 8, 2: 9})])
    compared = recframe.compare(OLD, more)
    assert {2} == set(compared["n_users"])
    assert "other_users" in [note.kind for note in compared.notes]
    message = refuse(lambda: recframe.compare(OLD, NEW.rename(index=str)))
    assert "must be tables with users in common, but have none" in message
    message = refuse(lambda: recframe.compare(OLD.iloc[:0], NEW))
    assert "must be tables with users in common, but have none" in message
    both = pd.concat({"a": OLD["score"], "b": OLD["score"]}, axis=1)
    table = recframe.summary({"x": both, "y": NEW})
    assert ["x: a", "x: b", "y"] == table.index.unique("score").tolist()


def test_repeated_pairs_of_models():
    """Repeated pairs of named models are refused without "keep" as a choice."""
    twice = pd.concat([ROWS.assign(run="a")] * 2)
    message = refuse(lambda: twice.rec(model="run").mean(METRIC))
    assert "'keep'" not in message
    assert EXPECTED == twice.rec(model="run", duplicates="max").mean(METRIC).loc["a", METRIC]


def test_arguments_by_position():
    """The message names the arguments that may be positional."""
    by_name = "memory, tmp, progress, and options such as truth=..."
    match = f"takes frame, metrics, and by name {by_name}"
    with pytest.raises(recframe.WrongTypeError, match=match):
        recframe.evaluate(ROWS, [METRIC], ROWS)


QRELS, RUN = "q1 0 d2 1\nq2 0 d9 1\n", "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\nq2 Q0 d9 1 5 t\n"


@pytest.mark.parametrize(
    ("given", "columns"),
    [
        (["-m", "map", "recip_rank"], ["average_precision", "reciprocal_rank"]),
        (["-m", "P_5,map"], ["precision@5", "average_precision"]),
        (["-m", "map@10,AP@5"], ["average_precision@10", "average_precision@5"]),
        (["-m", "ndcg_cut_10,map"], ["ndcg@10", "average_precision"]),
        (["-m", "P.5,10"], ["precision@5", "precision@10"]),
        (["-m", "P.5,10,map"], ["precision@5", "precision@10", "average_precision"]),
    ],
)
def test_metrics_of_trec(given, columns, tmp_path, capsys):
    """Metrics may be separated by commas or spaces, before and after the files."""
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    paths = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    for words in ([*paths, *given], [*given, *paths]):
        assert 0 == main(["trec", *words, "--format=csv"])
        assert columns == capsys.readouterr().out.splitlines()[0].split(",")[1:]


@pytest.mark.parametrize("name", ["all_trec", "official"])
def test_sets_of_trec(name, capsys):
    """Names of sets of metrics are refused with an example of metrics."""
    with pytest.raises(SystemExit, match="2"):
        main(["trec", "-m", name, "qrels.txt", "bm25.run"])
    assert "a group of trec_eval's metrics (name each one, as 'map'" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["evaluate", "rows.csv", "-m", name])
    assert "a group of trec_eval's metrics (name each one, as 'map'" in capsys.readouterr().err


def test_a_run_of_four_fields(tmp_path, capsys):
    """A first line with another number of fields is answered with the layouts that are read."""
    (tmp_path / "run").write_text("q1 d1 1 0.5\n")
    message = refuse(lambda: recframe.read_run(tmp_path / "run"))
    assert (
        "6 fields (query Q0 doc rank score tag) or 3 fields (query doc rank), but has 4" in message
    )


@pytest.mark.parametrize("option", ["rows", "truth"])
def test_text_files_with_other_endings(option, tmp_path, capsys):
    """A text file whose ending says nothing is to be renamed, as RecBole's files are."""
    path = str(tmp_path / "ml.inter")
    frame = pd.DataFrame({"user_id:token": [1], "item_id:token": [2], "score": 1.0})
    frame.to_csv(path, sep="\t", index=False)
    calls = {
        "rows": lambda: recframe.evaluate(path, "mrr"),
        "truth": lambda: frame.rec(truth=path).mean("mrr"),
    }
    said = "A text file must end in .csv, .tsv (for tabs) or .jsonl, and one of Arrow in .arrow: "
    assert said in refuse(calls[option])
    truth = tmp_path / "ml.tsv"
    (tmp_path / "ml.inter").rename(truth)
    assert 1.0 == frame.rec(truth=truth).mean("mrr").iloc[0, 0]


@pytest.mark.parametrize("header", ["", "query-id\tcorpus-id\tscore\n"])
def test_files_of_three_columns(header, tmp_path, capsys):
    """Runs and qrels of three columns have the values of TREC's, and runs need ranks."""
    (tmp_path / "qrels").write_text(header + "q1\td2\t1\nq2\td9\t1\n")
    (tmp_path / "run").write_text("q1\td1\t1\nq1\td2\t2\nq2\td9\t1\n")
    assert 0 == main(["trec", str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "recip_rank"])
    assert "0.75" in capsys.readouterr().out
    (tmp_path / "run").write_text("q1\td1\t14\nq1\td2\t13\nq2\td9\t1\n")
    message = refuse(lambda: recframe.read_run(tmp_path / "run"))
    assert "must be of query, doc and rank (1, 2, … in each query, in this order)" in message


def test_a_limit_in_percent(capsys):
    """A share in percent is refused with its number, and a drop as it is no share of a mean."""
    for limit, said in {
        "--min-users=90%": "must be a number, but is '90%'. Pass 0.9",
        "--max-drop=1%": "a difference of means, but is '1%'; 1% of a mean of 0.30 is 0.003",
        "--max-drop=recall@10=": "must be a number, but is ''",
    }.items():
        with pytest.raises(SystemExit, match="2"):
            main(["compare", "old.parquet", "new.parquet", limit])
        assert said in capsys.readouterr().err


TRUTH = ROWS.loc[ROWS["relevant"] == 1, ["user", "item"]]
RANKED = ROWS[["user", "item", "score"]]
RUNS = {user: rows.set_index("item")["score"].to_dict() for user, rows in RANKED.groupby("user")}
USERS = [1, 2]
FORMS = {
    "Series": (RANKED.set_index(["user", "item"])["score"], r"frame\.reset_index\(\)"),
    "dict of lists": ({1: [1, 2, 3], 2: [1, 2, 3]}, r"recframe\.from_lists\(frame\)"),
    "dict of columns": (RANKED.to_dict("list"), r"pd\.DataFrame\(frame\)"),
    "run": (RUNS, r"recframe\.from_runs\(frame\)"),
    "records": (RANKED.to_dict("records"), r"pd\.DataFrame\(frame\)"),
    "tuples": (
        [*RANKED.itertuples(index=False, name=None)],
        r"pd\.DataFrame\(frame, columns=.*?\)",
    ),
    "lists": ([[1, 2, 3], [1, 2, 3]], r"recframe\.from_lists\(dict\(zip\(users, frame\)\)\)"),
    "rows of an array": (RANKED.to_numpy(), r"pd\.DataFrame\(frame, columns=.*?\)"),
}
FORMS_OF_TRUTH = {
    "Series": (TRUTH.assign(rel=1).set_index(["user", "item"])["rel"], r"truth\.reset_index\(\)"),
    "dict": ({1: [1, 3], 2: [2]}, r"recframe\.truth_from\(truth\)"),
    "qrels": ({1: {1: 1, 3: 1}, 2: {2: 1}}, r"recframe\.truth_from\(truth\)"),
    "records": (TRUTH.to_dict("records"), r"pd\.DataFrame\(truth\)"),
    "tuples": (
        [*TRUTH.itertuples(index=False, name=None)],
        r"pd\.DataFrame\(truth, columns=.*?\)",
    ),
    "set": ({(1, 1), (1, 3), (2, 2)}, r"pd\.DataFrame\(list\(truth\), columns=.*?\)"),
    "lists": ([[1, 3], [2]], r"recframe\.truth_from\(dict\(zip\(users, truth\)\)\)"),
    "frame of sets": (TRUTH.groupby("user")["item"].agg(set).reset_index(), r"truth\.assign\(.*\)"),
}


@pytest.mark.parametrize("name", FORMS)
def test_other_forms_of_rows(name):
    """Rows in another form are refused with a call that gives the right value."""
    value, expression = FORMS[name]
    call = re.search(expression, refuse(lambda: recframe.rec(value)))[0]
    frame = eval(call, {"pd": pd, "recframe": recframe, "frame": value, "users": USERS})
    assert EXPECTED == mean(frame, truth=TRUTH)


@pytest.mark.parametrize("name", FORMS_OF_TRUTH)
def test_other_forms_of_truth(name):
    """Truth in another form is refused with a call that gives the right value."""
    value, expression = FORMS_OF_TRUTH[name]
    call = re.search(expression, refuse(lambda: RANKED.rec(truth=value).mean(METRIC)))[0]
    truth = eval(call, {"pd": pd, "recframe": recframe, "truth": value, "users": USERS})
    assert EXPECTED == mean(RANKED, truth=truth)
