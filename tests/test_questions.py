"""A refusal asks all open questions of a call at once, with code that answers them."""

import contextlib
import io
import pickle
import re
import shlex

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recframe
import recframe.polars
import recframe.scanned
from recframe import RecframeError
from recframe.cli import main
from recframe.errors import say_where
from recframe.frames.value_errors import null_error

ROWS = pd.DataFrame(
    {
        "user": np.repeat(range(8), 4),
        "item": [1, 2, 3, 4, 1, 1, 2, 3] * 4,
        "score": np.linspace(0, 1, 32),
        "rating": [1, 2, 5, 4] * 8,
    }
)
OPEN = ROWS.assign(score=ROWS["score"].where(ROWS["score"] < 0.9))
ASKED = (
    "values from 1 to 5",
    "must not be null",
    "must occur once",
    "fewer than k=5",
)
TABLES = {
    "frame": lambda folder: OPEN,
    "Arrow": lambda folder: recframe.rec(pa.Table.from_pandas(OPEN, preserve_index=False)),
    "Polars": lambda folder: pl.from_pandas(OPEN),
    "LazyFrame": lambda folder: pl.from_pandas(OPEN).lazy(),
    "parquet": lambda folder: recframe.scan(save(folder, "parquet")),
    "csv": lambda folder: recframe.scan(save(folder, "csv")),
}


def save(folder, ending):
    """Return the path of a file with the rows."""
    path = folder / f"rows.{ending}"
    OPEN.to_parquet(path) if ending == "parquet" else OPEN.to_csv(path, index=False)
    return path


def silent():
    """Return a context without printing."""
    return contextlib.redirect_stdout(io.StringIO())


def ask(call):
    """Return the questions of a refused call, and the code that answers them."""
    with pytest.raises(RecframeError) as refused:
        call()
    found = re.split(r"\nThis answers all[^\n]*:\n", str(refused.value))
    return found[0].split("\n")[1:], found[-1]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("call", ["mean('recall@5')", "recall(k=5)", "curve('recall', 5)"])
def test_one_refusal_asks_all(table, call, tmp_path):
    """The code shown answers all questions and gives the table as it stands."""
    given = TABLES[table](tmp_path)
    rec = given if hasattr(given, "recall") else given.rec
    questions, code = ask(lambda: eval(f"rec.{call}", {"rec": rec}))
    assert len(ASKED) == len(questions)
    for said, question in zip(ASKED, questions, strict=True):
        assert said in question
    assert code.endswith(f").{call}")

    code = re.sub(r"^(# df.*\n)?(df\.rec|recframe\.scan\(.*?\))\(", "rec(", code)
    found = eval(code, {"rec": rec})
    answers = {"missing": "unranked", "min_relevance": 4, "duplicates": "max", "short": "pad"}
    expected = eval(f"df.rec(**answers).{call}", {"df": OPEN, "answers": answers})
    if isinstance(found, pd.DataFrame):
        pd.testing.assert_frame_equal(expected, found)
    else:
        assert expected.to_numpy()[:, 0].tolist() == found.to_series(-1).to_list()


def test_other_choices_stand_behind():
    """A comment after each answer shows the other choices."""
    _, code = ask(lambda: OPEN.rec.mean("recall@5"))
    lines = [line.strip() for line in code.split("\n")[2:-1]]
    assert [
        "short='pad',  # or 'shrink', 'nan'",
        "missing='unranked',  # or 'drop'",
        "duplicates='max',  # or 'first', 'keep'",
        "min_relevance=4,  # or another grade: the lowest that is relevant",
    ] == lines


def test_a_function_is_called_as_it_was(tmp_path):
    """The code calls a function with the caller's arguments, options and argument names."""
    _, code = ask(lambda: recframe.evaluate(OPEN, ["recall@5"], ties="worst"))
    assert code.startswith(
        "# frame: as your call has them\n"
        "recframe.evaluate(\n    frame, ['recall@5'],\n    ties='worst',\n"
    )
    answers = {"missing": "unranked", "min_relevance": 4, "duplicates": "max", "short": "pad"}
    expected = recframe.evaluate(OPEN, ["recall@5"], **answers, ties="worst")
    pd.testing.assert_frame_equal(expected, eval(code, {"recframe": recframe, "frame": OPEN}))

    path = str(save(tmp_path, "parquet"))
    _, code = ask(lambda: recframe.evaluate(path, ["recall@5"], memory="1GB"))
    expected = recframe.evaluate(OPEN, ["recall@5"], **answers)
    pd.testing.assert_frame_equal(expected, eval(code, {"recframe": recframe}))
    assert "memory='1GB'" in code


def test_roles_are_asked_too():
    """Open roles, directions and choices are asked together, and a pasted choice is needed."""
    frame = ROWS.rename(columns={"score": "distance", "user": "client"})
    with pytest.raises(RecframeError) as refused:
        frame.rec(duplicates="max").recall(k=5)
    asked, _, code = str(refused.value).partition("\nThis answers all")
    starts = ["3 questions", "1. user", "2. relevant", "3. 8 of 8 users"]
    assert all(map(str.startswith, asked.split("\n"), starts))
    said, code = code.split("\n", 1)
    assert ", with your choice in place of ..., and what depends on it is asked next:" == said
    assert code.startswith("# df: as your call has them\n")
    assert "score='distance',\n    ascending=True,  # or False" in code
    assert "user=...,  # 'client' or None for one ranking" in code
    assert "short" not in code
    with pytest.raises(RecframeError, match=r"user=\.\.\. .it stands .* has 'client', 'item"):
        eval(code, {"df": frame})
    pasted = code.replace("...,", "'client',")
    with pytest.raises(RecframeError, match="8 of 8 users"):
        eval(pasted, {"df": frame})
    assert 8 == len(eval(pasted.replace("rec(", "rec(short='pad', "), {"df": frame}))


def test_truth_is_asked_too():
    """Grades of truth, and users that only one table has, are asked about together."""
    truth = pd.DataFrame({"user": [0, 1, 99], "item": [4, 2, 3], "grade": [3, 1, 2]})
    rows = ROWS.drop(columns="rating").drop_duplicates(["user", "item"])
    questions, code = ask(lambda: rows.rec(truth=truth).mean("recall@2"))
    assert 2 == len(questions)
    table = eval(code, {"df": rows, "truth": truth})
    # Item 4 of user 0 is relevant, and grade 1 is too low.
    assert 1.0 == table.loc["score", "recall@2"]


@pytest.mark.parametrize("side", ["df", "truth"])
def test_ids_become_text(side):
    """The code converts numeric ids of one table to text, and answers the later questions."""
    tables = {
        "df": ROWS.drop(columns="rating").drop_duplicates(["user", "item"]),
        "truth": pd.DataFrame({"user": [0, 1, 99], "item": [1, 2, 3], "grade": [3, 1, 2]}),
    }
    rows, truth = tables.values()
    tables[side] = tables[side].astype({"user": str, "item": str})
    rows, other = tables.values()
    questions, code = ask(lambda: rows.rec(truth=other).recall(k=2))
    assert 3 == len(questions)
    assert "different kinds" in questions[1]
    assert "population: users differ" in questions[2]
    table = eval(code, {**tables, "recframe": recframe})
    rows = ROWS.drop(columns="rating").drop_duplicates(["user", "item"])
    options = eval(f"dict({code[code.index('rec(') + 4 : code.index(').recall')]})", tables)
    expected = rows.rec(**{**options, "truth": truth}).recall(k=2)
    np.testing.assert_array_equal(table.to_numpy(), expected.to_numpy())


def test_only_frames_become_text():
    """Truth from another library is not converted in the code, so that question comes last."""
    truth = pa.table({"user": [0, 0], "item": [1, 2], "grade": [3, 1]})
    rows = ROWS.drop(columns="rating").drop_duplicates(["user", "item"]).astype({"user": str})
    with pytest.raises(RecframeError, match=r"2 questions(?s:.*)all but the last:\n"):
        rows.rec(truth=truth).recall(k=2)


@pytest.mark.parametrize(
    ("grades", "answer"), [([0, 1, 2, 3], 1), ([1, 2, 4, 5], 4), ([1, 7, 30, 200], ...)]
)
def test_numbers_without_a_scale_have_no_answer(grades, answer):
    """The lowest relevant grade is answered on common scales; of other numbers it is open."""
    rows = pd.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2] * 2, "score": [2, 1, None, 1]})
    truth = rows[["user", "item"]].assign(rating=grades)
    questions, code = ask(lambda: rows.rec(truth=truth).recall(k=1))
    assert 2 == len(questions)
    assert f"min_relevance={'...' if answer is ... else answer}," in code
    assert "missing='unranked'" in code
    listed = "# 1, 7, 30, 200 or another number" if answer is ... else "# or another grade"
    assert listed in code


def test_models_are_asked_too():
    """A column of models is asked about, and its answer is in the code."""
    long = pd.concat([ROWS.assign(run="a"), ROWS.assign(run="b")]).drop_duplicates(
        ["user", "item", "run"]
    )
    _, code = ask(lambda: long.rec.mean("recall@5"))
    table = eval(code, {"df": long})
    assert ["a", "b"] == table.index.tolist()


def test_what_no_option_answers_comes_last():
    """A question without an answering option comes last, and the code answers the others."""
    frame = ROWS.assign(score="high")
    with pytest.raises(RecframeError, match=r"2 questions(?s:.*)This answers all but the last:\n"):
        frame.rec.mean("recall@5")


def test_no_call_is_shown_of_rows_that_cannot_be_made():
    """No code is shown if the rows cannot be made from lists, as when scores rise."""
    hits = [[{"item": "a", "score": 0.1}, {"item": "b", "score": 0.2}]]
    frame = pd.DataFrame({"user": [1], "hits": hits})
    truth = pd.DataFrame({"user": [1], "item": ["a"]})
    with pytest.raises(RecframeError, match=r"2 questions(?s:.*)must not rise") as refused:
        frame.rec(truth=truth).recall(k=1)
    assert "This answers" not in str(refused.value)


def test_a_single_question_is_one_line():
    """A single question is one line with the option to pass."""
    with pytest.raises(RecframeError) as refused:
        ROWS.rec(min_relevance=4, duplicates="max").recall(k=5)
    assert "\n" not in str(refused.value)
    assert {"short": "pad"} == refused.value.answers


def test_a_refusal_travels_with_its_answers():
    """A pickled refusal keeps its answers and the name of its partition, as workers need."""
    placed = RecframeError("k", {"short": "pad"})
    say_where("in a partition: ", placed)
    assert "in a partition: k" == str(placed)
    for error in (null_error("user:", np.array([True])), placed):
        found = pickle.loads(pickle.dumps(error))
        assert (str(error), error.answers) == (str(found), found.answers)


def test_large_files_are_asked_once(monkeypatch, tmp_path):
    """Only the first question about large files is asked, because each needs another reading."""
    monkeypatch.setattr(recframe.scanned, "MOST_ROWS_ASKED", 31)
    with pytest.raises(RecframeError, match="values from 1 to 5") as refused:
        recframe.scan(save(tmp_path, "parquet")).mean("recall@5")
    assert "\n" not in str(refused.value)


def test_what_is_used_up_is_asked_once():
    """Only the first question is asked about an iterator, which gives its values once."""
    for call in (
        lambda: OPEN.rec.mean(name for name in ["recall@5"]),
        lambda: recframe.evaluate(pa.table(OPEN).to_reader(), ["recall@5"]),
        lambda: recframe.scan(pa.table(OPEN).to_reader()).mean("recall@5"),
    ):
        with pytest.raises(RecframeError, match=r"values from 1 to 5") as refused:
            call()
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_command_line_asks_all(ending, tmp_path):
    """The command shown is the user's command with flags that answer all questions, on one line."""
    words = ["evaluate", str(save(tmp_path, ending)), "--metric", "recall@5", "--by", "user"]
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        assert 1 == main(words)
    first, *questions, flags = said.getvalue().splitlines()
    assert first == "recframe: 4 questions are open:"
    for number, (asked, question) in enumerate(zip(ASKED, questions, strict=True), 1):
        assert question.startswith(f"{number}. ")
        assert asked in question
    command = shlex.split(flags)
    assert ["As", "flags:", "recframe", *words] == command[: len(words) + 3]
    with silent() as shown:
        assert 0 == main([*command[3:], "--quiet"])
    assert "recall@5" in shown.getvalue()


def test_what_was_given_stays_in_what_is_shown(tmp_path):
    """The code and the command shown keep how files are scanned, and run as they stand."""
    folder = tmp_path / "days"
    folder.mkdir()
    OPEN.to_parquet(folder / "1.parquet")
    OPEN.assign(user=OPEN["user"] + 50, late_score=1.0).to_parquet(folder / "2.parquet")
    rec = recframe.scan(folder, union_by_name=True, filters=[("item", "<", 4)], memory="1GB")
    _, code = ask(lambda: rec(score="late_score", duplicates="max").mean("recall@2"))
    assert 1 == len(eval(code, {"recframe": recframe}))

    # A column that some files lack is asked about together with the others.
    questions, code = ask(lambda: recframe.scan(folder)(duplicates="max").mean("recall@2"))
    assert "union_by_name=True" in questions[0]
    assert 2 == len(eval(code, {"recframe": recframe}))
    with pytest.raises(RecframeError, match="union_by_name") as refused:
        recframe.evaluate(folder, ["recall@2"])
    assert "\n" not in str(refused.value)
    with contextlib.redirect_stderr(io.StringIO()) as said:
        assert 1 == main(["evaluate", str(folder), "--metric", "recall@2", "--duplicates", "max"])
    flags = said.getvalue().splitlines()[-1]
    assert "--union-by-name" in flags
    with silent():
        assert 0 == main([*shlex.split(flags)[3:], "--quiet"])

    words = ["describe", str(folder), "--union-by-name", "--filter", "item < 4", "--k", "2"]
    with contextlib.redirect_stderr(io.StringIO()) as said, silent():
        assert 0 == main([*words, "--score", "late_score", "--score", "score"])
    command = shlex.split(said.getvalue().splitlines()[-1])
    with silent() as shown:
        words = ["--metric", "recall@2", "--duplicates", "max", "--short", "pad", "--quiet"]
        assert 0 == main([*command[3:], *words])
    assert "late_score" in shown.getvalue()


def test_describe_shows_the_same(tmp_path):
    """`describe` shows the same questions below its values, if any are open."""
    asked, _ = ask(lambda: OPEN.rec.mean(["precision@5", "recall@5"]))
    described = OPEN.rec.describe(5)
    assert asked == str(described.refusal).split("\n")[1:5]
    assert str(described.refusal) in repr(described)
    assert "4 questions are open" in described._repr_html_()
    assert ROWS.rec(min_relevance=4, duplicates="max").describe(3).refusal is None

    with contextlib.redirect_stderr(io.StringIO()) as said, silent():
        assert 0 == main(["describe", str(save(tmp_path, "parquet")), "--k", "5"])
    assert "recframe: note: recframe evaluate asks: 4 questions are open:" in said.getvalue()
    command = shlex.split(said.getvalue().splitlines()[-1])
    with silent():
        assert 0 == main([*command[3:], "--metric", "recall@5", "--quiet"])


def test_truth_made_rows_of_lists_stands_in_the_call():
    """Lists in text of rows and truth are one question, and the call shown answers both."""
    rows = pd.DataFrame({"user": ["a", "b"], "picks": ["x1 x2", "x3"]})
    truth = pd.DataFrame({"user": ["a", "b"], "bought": ["x2 x9", "x3"]})
    with pytest.raises(RecframeError, match="'picks' holds lists") as refused:
        rows.rec(truth=truth, short="pad").recall(k=2)
    code = str(refused.value).partition("This answers all:\n")[2]
    found = eval(f"({code})", {"recframe": recframe, "df": rows, "truth": truth})
    assert [0.5, 1.0] == found["score"].tolist()


@pytest.mark.parametrize("sep", ["|", ";", " ", ","])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_lists_of_digits_become_rows_and_text(sep, size):
    """The call makes rows of lists, and text of their ids as the frame has, but not of users."""
    rows = pd.DataFrame(
        {"user": np.repeat([1, 2, 3], 2), "item": list("ababab"), "score": [2, 1] * 3}
    )
    rows["item"] = rows["item"].map({"a": "10101", "b": "20202"})
    ids = [["10101", "90909", "30303"][: max(size, 2)], ["20202"], ["10101", "20202"][:size]]
    truth = pd.DataFrame({"user": [1, 2, 3], "item": [sep.join(one) for one in ids]})
    _, code = ask(lambda: rows.rec(truth=truth, short="pad").recall(k=1))
    assert "'user': 'string'" not in code
    found = eval(code, {"recframe": recframe, "df": rows, "truth": truth})
    flat = truth.assign(item=ids).explode("item")
    expected = rows.rec(truth=flat, short="pad").recall(k=1)
    pd.testing.assert_frame_equal(expected, found)


def test_what_does_not_depend_on_a_choice_is_answered():
    """An answer that no candidate changes is in the call; others are left out."""
    hits = pd.DataFrame({"qid": [1, 1, 2], "_id": [7, 8, 7], "_index": range(3)})
    hits["_score"] = [3.0, 2, 1]
    truth = pd.DataFrame({"qid": [1, 2], "corpus_id": [8, 7], "score": [0, 2]})
    _, code = ask(lambda: hits.rec(truth=truth, short="pad").recall(k=1))
    assert "    item=...,  # '_id', '_index'\n" in code
    assert "    relevant=...,  # 'score', None\n" in code
    assert "min_relevance=" not in code
    pasted = code.replace("item=...", "item='_id'").replace("relevant=...", "relevant='score'")
    pasted = pasted.replace("truth=truth", "min_relevance=2, truth=truth")
    found = eval(pasted, {"df": hits, "truth": truth})
    assert [0.0, 1.0] == found["_score"].fillna(0).tolist()

    qrels = pd.DataFrame({0: [1, 1, 2], 1: 0, 2: [7, 8, 7], 3: [1, 2, 0]})
    rows = hits.rename(columns={"_id": "docid"})[["qid", "docid", "_score"]]
    with pytest.raises(RecframeError, match="truth_user") as refused:
        rows.rec(truth=qrels).recall(k=1)
    assert "drop_duplicates" not in str(refused.value)


def test_types_of_recbole_are_no_part_of_names():
    """Names with the types that RecBole's files write, as in user_id:token, are known."""
    names = {"user": "user_id:token", "item": "item_id:token", "score": "score:float"}
    rows = ROWS.drop_duplicates(["user", "item"]).rename(columns=names | {"rating": "rating:float"})
    expected = ROWS.drop_duplicates(["user", "item"]).rec(min_relevance=4).mean("mrr")
    assert expected.iloc[0, 0] == rows.rec(min_relevance=4).mean("mrr").iloc[0, 0]


def test_users_in_an_index_without_a_name():
    """An index that repeats may hold users; the call that names it is shown."""
    rows = ROWS.drop_duplicates(["user", "item"]).set_index("user").rename_axis(None)
    with pytest.raises(RecframeError, match=r"df\.rename_axis\('user'\)") as refused:
        rows.rec(min_relevance=4).mean("mrr")
    (call,) = re.findall(r"df\.rename_axis\(.*?\)", str(refused.value))
    expected = ROWS.drop_duplicates(["user", "item"]).rec(min_relevance=4).mean("mrr")
    pd.testing.assert_frame_equal(
        expected, eval(call, {"df": rows}).rec(min_relevance=4).mean("mrr")
    )
    with pytest.raises(RecframeError) as refused:
        rows.reset_index(drop=True).rec(min_relevance=4).mean("mrr")
    assert "rename_axis" not in str(refused.value)


SESSIONS = pd.DataFrame(
    {
        "customer": ["a"] * 4,
        "session": ["s1", "s1", "s2", "s2"],
        "sku": [1, 2, 1, 2],
        "score": [3, 2, 1, 4],
        "bought": [1, 0, 0, 1],
    }
)
WORDS = pd.DataFrame(
    {
        "who": ["a", "a", "b", "b"],
        "what": ["p", "q", "p", "q"],
        "yes": [0, 1, 1, 0],
        "s1": [0.1, 0.2, 0.3, 0.4],
    }
)


def test_rankings_of_sessions_are_a_candidate():
    """Several columns of users that rank together are the first candidate of the choice."""
    with pytest.raises(RecframeError) as refused:
        SESSIONS.rec.mean("mrr")
    code = str(refused.value).partition("This answers all")[2]
    assert "    user=...,  # ['session', 'customer'], 'customer', 'session'\n" in code
    both = eval(code.partition("\n")[2].replace("...", "['session', 'customer']"), {"df": SESSIONS})
    assert 1.0 == both.iloc[0, 0]


@pytest.mark.parametrize("options", [{}, {"truth": pd.DataFrame({"person": ["a"], "x": ["q"]})}])
def test_tried_candidates_ask_nothing(options):
    """Candidates that are tried for two roles are two columns, and no question names them."""
    with pytest.raises(RecframeError) as refused:
        WORDS.rec(**options).mean("mrr")
    assert "same column" not in str(refused.value)
    assert "='what'" not in str(refused.value)


def test_labels_are_no_scores():
    """A label is no candidate for scores; rows in order need a new column."""
    frame, truth = SESSIONS[["customer", "sku", "bought"]], pd.DataFrame({"user": ["a"], "sku": 1})
    with pytest.raises(RecframeError) as refused:
        frame.rec(truth=truth).mean("mrr")
    assert "score='bought'" not in str(refused.value)
    (call,) = re.findall(r"df\.assign\(.*\)(?= has a score)", str(refused.value))
    ranked = eval(call, {"df": frame.drop_duplicates("sku")})
    assert 1.0 == ranked.rec(truth=truth).mean("mrr").iloc[0, 0]
    with pytest.raises(RecframeError, match=r"where score is 'als', 'knn'\n2") as refused:
        frame.assign(als=0.5, knn=0.5).rec(truth=truth).mean("mrr")
    assert "user=['bought'" not in str(refused.value)
