"""Facts that only the caller knows are shown as ... in a pasted call, which then does not run."""

import re

import numpy as np
import pandas as pd
import pytest

import recframe
from entry_points import ENTRY_POINTS
from recframe import RecframeError
from recframe.cli import main
from recframe.options import DEFAULTS

METRIC = "recall@2"
RECS = pd.DataFrame(
    {"user": ["c1", "c1", "c2", "c2"], "item": list("abac"), "score": [2.0, 1, 2, 1]}
)
TRUTH = pd.DataFrame({"user": ["c1", "c1", "c2"], "item": list("axc")})
OF_PAIRS = {
    "quantity": [1, 3, 1],
    "basket": [5, 9, 5],
    "event_type_id": [1, 2, 1],
    "number": [1, 3, 1],
}


@pytest.mark.parametrize("name", OF_PAIRS)
def test_a_column_of_truth_is_chosen(name):
    """A pasted call leaves a choice of two readings open, and both chosen calls run."""
    truth = TRUTH.assign(**{name: OF_PAIRS[name]})
    with pytest.raises(RecframeError) as refused:
        RECS.rec(truth=truth).mean(METRIC)
    assert f"relevant=...,  # '{name}', None" in str(refused.value)
    assert "min_relevance=" not in str(refused.value).split("This answers")[1]
    with pytest.raises(RecframeError, match=r"relevant=\.\.\. \(it stands for your choice\): no"):
        RECS.rec(truth=truth, relevant=...).mean(METRIC)
    assert 0.75 == RECS.rec(truth=truth, relevant=None).mean(METRIC).loc["score", METRIC]


@pytest.mark.parametrize("name", ["sales_channel_id", "StoreCode", "zip", "fold"])
def test_numbers_named_like_ids_are_no_choice(name):
    """A column of truth whose name means ids is not asked about as relevance."""
    truth = TRUTH.assign(**{name: [1, 2, 1]})
    assert 0.75 == RECS.rec(truth=truth).mean(METRIC).loc["score", METRIC]


@pytest.mark.parametrize("name", DEFAULTS)
def test_no_option_takes_the_mark_of_a_choice(name):
    """The ... of a pasted call is refused by every option as a choice that is left open."""
    options = {"truth": TRUTH, name: ...}
    with pytest.raises(RecframeError, match=rf"\b{name}\b.*\.\.\. \(it stands for your choice\)"):
        RECS.rec(**options).mean(METRIC)


def test_a_command_has_a_word_for_it(tmp_path, capsys):
    """A command to paste has COLUMN with its candidates, and is refused as it stands."""
    RECS.to_parquet(tmp_path / "recs.parquet")
    TRUTH.assign(quantity=OF_PAIRS["quantity"]).to_parquet(tmp_path / "truth.parquet")
    words = ["evaluate", str(tmp_path / "recs.parquet"), "--metric", METRIC]
    words += ["--truth", str(tmp_path / "truth.parquet")]
    assert 1 == main(words)
    said = capsys.readouterr().err
    assert said.endswith("--relevant COLUMN  # --relevant: 'quantity' or --no-relevant\n")
    assert 1 == main([*words, "--relevant", "COLUMN"])
    assert "no such column" in capsys.readouterr().err
    assert 0 == main([*words, "--no-relevant"])


def test_a_command_has_the_only_answer(tmp_path, capsys):
    """A command to paste has --no-relevant where no column can say which pairs are relevant."""
    RECS.to_parquet(tmp_path / "recs.parquet")
    verdicts = ["good", "bad"] * len(TRUTH)
    TRUTH.assign(verdict=verdicts[: len(TRUTH)]).to_parquet(tmp_path / "truth.parquet")
    words = ["evaluate", str(tmp_path / "recs.parquet"), "--metric", METRIC]
    assert 1 == main([*words, "--truth", str(tmp_path / "truth.parquet")])
    assert capsys.readouterr().err.endswith(
        f"{METRIC} --truth {tmp_path}/truth.parquet --no-relevant\n"
    )


PYTERRIER = pd.DataFrame(
    {
        "qid": ["q1", "q1", "q2"],
        "docid": [5, 6, 7],
        "docno": ["d5", "d6", "d7"],
        "rank": [0, 1, 0],
        "score": [3.0, 2, 1],
        "query": ["a b", "a b", "c"],
    }
)
QRELS = pd.DataFrame({"qid": ["q1", "q2"], "docno": ["d6", "d7"], "label": [1, 1]})


@pytest.mark.parametrize("entry", ENTRY_POINTS)
@pytest.mark.parametrize("dropped", [[], ["query"], ["docid"]])
def test_labels_that_truth_has_settle_ids(entry, dropped, tmp_path):
    """The column whose label truth has too is the user or the item among several possible ones."""
    table = ENTRY_POINTS[entry](PYTERRIER.drop(columns=dropped), "mrr", {"truth": QRELS}, tmp_path)
    assert [0.5, 1.0] == table["score", "mrr"].tolist()


def test_truth_in_files_settles_ids_too(tmp_path):
    """Truth in a file of any format settles the user and item columns, if it can be read."""
    QRELS.to_parquet(tmp_path / "0.parquet")
    QRELS.to_csv(tmp_path / "0.csv", index=False)
    QRELS.to_json(tmp_path / "0.jsonl", orient="records", lines=True)
    for path in sorted(tmp_path.iterdir()):
        assert 0.75 == PYTERRIER.rec(truth=path).mean("mrr").loc["score", "mrr"]
    with pytest.raises(RecframeError, match="no such file"):
        PYTERRIER.rec(truth=tmp_path / "none.parquet").mean("mrr")


BOUGHT = pd.DataFrame(
    {
        "shopper": [f"u{n}" for n in range(10)],
        "thing": [f"i{n % 2}" for n in range(10)],
        "channel": ["web", "app"] * 5,
    }
)
RANKED = pd.DataFrame(
    {
        "user": np.repeat(BOUGHT["shopper"], 2),
        "item": ["i0", "i1"] * 10,
        "score": [0.5, 0.25] * 10,
    }
)


@pytest.mark.parametrize("side", ["truth", "rows"])
def test_texts_that_both_sides_have_settle_ids(side):
    """Columns of users and items with unknown names are found by their shared text values."""
    names = {"shopper": "user", "thing": "item"}
    rows, truth = RANKED, BOUGHT
    if side == "rows":
        rows = RANKED.rename(columns={"user": "shopper", "item": "thing"}).assign(note="x")
        truth = BOUGHT.rename(columns=names)
    assert 0.5 == rows.rec(truth=truth).mean("recall@1").iloc[0, 0]
    user = "shopper" if side == "rows" else "user"
    assert f"user      inferred   {user!r}" in repr(rows.rec(truth=truth))


def share_ids(n_unknown):
    """Return truth with ten users; n_unknown users have no row."""
    users = [f"x{n}" if n < n_unknown else f"u{n}" for n in range(10)]
    return BOUGHT.assign(shopper=users)


@pytest.mark.parametrize(
    ("rows", "truth"),
    [
        (RANKED, share_ids(2)),
        (RANKED, BOUGHT.assign(referrer=["u1", *["nobody"] * 9])),
        (RANKED.assign(user=np.arange(20) // 2), BOUGHT.assign(shopper=range(10))),
    ],
    ids=["fewer than nine in ten", "a second column has some", "integers"],
)
def test_ids_that_may_be_others_are_asked_about(rows, truth):
    """Too few shared ids, two columns with shared ids, and integers settle no role."""
    with pytest.raises(RecframeError, match="truth_user: no column found"):
        rows.rec(truth=truth).mean("recall@1")


def test_nine_of_ten_ids_are_enough():
    """The column of users is settled if nine of ten users have rows; the rest is asked about."""
    with pytest.raises(RecframeError, match="population: users differ"):
        RANKED.rec(truth=share_ids(1)).mean("recall@1")


def test_two_unnamed_columns_are_not_settled():
    """Labels that frame and truth share do not decide which of two columns is the user."""
    names = {"user": "kunde", "item": "artikel"}
    with pytest.raises(RecframeError, match=r"user=\.\.\., item=\.\.\.") as refused:
        RECS.rename(columns=names).rec(truth=TRUTH.rename(columns=names)).mean(METRIC)
    choices = re.findall(r"(\w+) is ('kunde', 'artikel')", str(refused.value))
    assert ["user", "item"] == [name for name, _ in choices]


def test_an_answer_that_the_data_leave():
    """The only column of floats is the score, and the only column left is the item."""
    frame = RECS.rename(columns={"score": "xyz", "item": "thing"}).assign(relevant=[1, 0, 0, 1])
    with pytest.raises(RecframeError) as refused:
        frame.rec(ties="item").mean(METRIC)
    assert {"item": "thing", "score": "xyz"} == refused.value.answers
    assert 1.0 == frame.rec(ties="item", **refused.value.answers).mean(METRIC).iloc[0, 0]


def test_from_lists_shows_no_guess():
    """The code shown for lists has no choice that was only a guess."""
    lists = pd.DataFrame(
        {"q": ["a"], "found": [[{"chunk_id": 1, "doc_id": 2, "score": 0.5}] * 1], "query": ["b"]}
    )
    with pytest.raises(RecframeError) as refused:
        recframe.from_lists(lists)
    assert "chunk_id'" not in str(refused.value).partition("This answers")[2]


@pytest.mark.parametrize("name", ["order", "age", "Unnamed: 0", "listing_no"])
def test_a_lone_integer_is_no_answer(name):
    """The only integers may be positions, counters or facts of users, so they are a candidate."""
    frame = RECS.rename(columns={"score": name}).astype({name: int}).assign(clicked=[1, 0, 0, 1])
    with pytest.raises(RecframeError, match=r"range\(len\(df\), 0, -1\)\) has a score") as refused:
        frame.rec.mean("mrr")
    assert [name] == refused.value.answers["score"].candidates
    in_order = frame.assign(score=range(len(frame), 0, -1))
    assert 0.75 == in_order.rec.mean("mrr").loc["score", "mrr"]


@pytest.mark.parametrize("name", ["rank", "pos", "rnk"])
def test_a_lone_rank_is_an_answer(name):
    """Integers that are named like ranks rank from the lowest."""
    frame = RECS.drop(columns="score").assign(clicked=[1, 0, 0, 1], **{name: [1, 2] * 2})
    with pytest.raises(RecframeError) as refused:
        frame.rec.mean("mrr")
    assert {"score": name, "ascending": True} == refused.value.answers
    assert 0.75 == frame.rec(**refused.value.answers).mean("mrr").loc[name, "mrr"]


def test_ranks_are_no_candidates_for_users():
    """A column whose name says that less is better is no candidate for users or items."""
    frame = RECS.assign(rank=[1, 2] * 2).rename(columns={"user": "who", "item": "thing"})
    with pytest.raises(RecframeError) as refused:
        frame.assign(quantity=1).rec(truth=TRUTH).mean("mrr")
    assert ["thing", "quantity"] == refused.value.answers["item"].candidates


def test_no_column_is_tried_for_two_roles():
    """The column that is the only candidate for scores is not tried for users before."""
    frame = RECS.set_axis(["Kunde", "Artikel", "Punkte"], axis=1).astype({"Punkte": str})
    frame = frame.assign(Kunde=[1, 1, 2, 2], gekauft=["ja", "nein"] * 2)
    with pytest.raises(RecframeError) as refused:
        frame.rec.mean("mrr")
    assert "are the same column" not in str(refused.value)


@pytest.mark.parametrize("entry", ["frame", "Arrow", "Polars", "command line"])
def test_items_of_truth_next_to_lists(entry, tmp_path):
    """An item for each row of truth and a list next to it are both candidates."""
    truth = pd.DataFrame({"user": ["c1", "c2"], "next_item": ["b", "z"]})
    truth["history"] = [["a", "y"], ["x", "z"]]
    with pytest.raises(RecframeError) as refused:
        RECS.rec(truth=truth).mean(METRIC)
    assert ["next_item", "history"] == refused.value.answers["truth_item"].candidates
    options = {"truth": truth}
    for item, mean in (("next_item", 0.5), ("history", 0.25)):
        table = ENTRY_POINTS[entry](RECS, METRIC, options | {"truth_item": item}, tmp_path)
        assert mean == table["score", METRIC].mean()


def test_texts_of_truth_next_to_lists_of_their_ids():
    """A text that is named like an item and a list of ids are both candidates."""
    truth = pd.DataFrame({"user": ["c1", "c2"], "document": ["a text", "b text"]})
    truth["document_ids"] = [["a", "x"], ["c"]]
    with pytest.raises(RecframeError) as refused:
        RECS.rec(truth=truth).mean(METRIC)
    assert ["document", "document_ids"] == refused.value.answers["truth_item"].candidates
    table = RECS.rec(truth=truth, truth_item="document_ids").mean(METRIC)
    assert 0.75 == table.loc["score", METRIC]


@pytest.mark.parametrize("name", ["product_category", "document_type", "video_length", "n_items"])
def test_facts_of_items_next_to_lists(name):
    """A column whose name only begins with an item is no candidate for the items of truth."""
    truth = pd.DataFrame({"user": ["c1", "c2"], "items": [["a", "x"], ["c"]]})
    table = RECS.rec(truth=truth.assign(**{name: [1, 2]}), relevant=None).mean(METRIC)
    assert 0.75 == table.loc["score", METRIC]


def test_users_named_like_items():
    """A frame without items has users under a name of items, and the refusal asks for them."""
    frame = pd.DataFrame({"product_name": list("abcd"), "score": [4, 3, 2, 1.0]})
    with pytest.raises(RecframeError, match="user: no column found"):
        frame.assign(relevant=[1, 0, 0, 1]).rec.mean("mrr")


def test_tuples_of_truth():
    """Tuples of several lengths are lists of items; of one length they may be ids."""
    lists = [("a", "y"), ("c",)]
    truth = pd.DataFrame({"user": ["c1", "c2"], "items": lists})
    assert 0.75 == RECS.rec(truth=truth).mean(METRIC).loc["score", METRIC]
    pairs = truth.assign(items=[("a", "y"), ("c", "z")])
    with pytest.raises(RecframeError, match=r"make lists of them: truth\[\.\.\.\]\.map\(list\)"):
        RECS.rec(truth=pairs).mean(METRIC)
    pairs["items"] = pairs["items"].map(list)
    assert 0.5 == RECS.rec(truth=pairs).mean(METRIC).loc["score", METRIC]


def test_rows_of_files_without_a_score(tmp_path):
    """Rows of a file that are in ranked order, without a score, get a way to one."""
    RECS[["user", "item"]].to_csv(tmp_path / "rows.csv", index=False)
    truth = pd.DataFrame({"user": ["c1", "c2"], "item": ["b", "c"]})
    for refuse in (recframe.scan(tmp_path / "rows.csv", truth=truth), RECS[["user", "item"]].rec):
        with pytest.raises(RecframeError, match=r"df\.assign\(score=range\(len\(df\), 0, -1\)\)"):
            refuse.mean("mrr")


def test_a_column_for_each_rank(tmp_path):
    """Columns of single items are no lists, and the refusal names the function that reads them."""
    wide = pd.DataFrame({"user": ["c1", "c2"], "rec_1": ["a", "c"], "rec_2": ["b", "a"]})
    with pytest.raises(RecframeError, match=r"recframe\.from_topk\(lists\[\['rec_1', 'rec_2'\]\]"):
        recframe.from_lists(wide, items=["rec_1", "rec_2"])
    rows = recframe.from_topk(wide[["rec_1", "rec_2"]], users=wide["user"])
    truth = pd.DataFrame({"user": ["c1", "c2"], "item": ["b", "c"]})
    with pytest.raises(RecframeError) as refused:
        wide.rec(truth=truth).mean("mrr")
    call = re.findall(r"recframe\.from_topk\(.*\)(?= makes rows)", str(refused.value))[0]
    assert "score=" not in str(refused.value)
    pd.testing.assert_frame_equal(rows, eval(call, {"recframe": recframe, "df": wide}))
    wide.assign(rec_1=[1, 2], rec_2=[2, 3]).to_csv(tmp_path / "wide.csv", index=False)
    with pytest.raises(RecframeError) as refused:
        recframe.scan(tmp_path / "wide.csv", truth=truth).mean("mrr")
    assert call in str(refused.value)
    assert "score=" not in str(refused.value)
    assert 0.75 == rows.rec(truth=truth).mean("mrr").loc["score", "mrr"]


def test_levels_without_a_name():
    """The refusal says how to name the users that only an unnamed level of the index has."""
    frame = RECS.assign(relevant=[1, 0, 0, 1])
    apart = pd.concat({user: rows.drop(columns="user") for user, rows in frame.groupby("user")})
    with pytest.raises(RecframeError, match=r"df\.rename_axis\(\['user', None\]\) names one"):
        apart.rec.mean("mrr")
    assert 0.75 == apart.rename_axis(["user", None]).rec.mean("mrr").loc["score", "mrr"]


def test_similar_items_are_no_users():
    """Items that are similar to an item are not taken for users, and the refusal says the roles."""
    rows = pd.DataFrame({"item_id": [1, 1, 2, 2], "similar_item_id": [2, 3, 1, 3]})
    truth = rows[[True, False, False, True]]
    rows["similarity"] = [0.5, 0.9, 0.8, 0.7]
    roles = {"user": "item_id", "item": "similar_item_id"}
    with pytest.raises(RecframeError, match="user='item_id', item='similar_item_id'"):
        rows.rec(truth=truth).mean("mrr")
    assert 0.5 == rows.rec(truth=truth, **roles).mean("mrr").loc["similarity", "mrr"]


@pytest.mark.parametrize("kind", [float, int])
def test_ratings_next_to_truth(kind):
    """Predicted ratings are scores if truth has the relevance, but whole stars are not."""
    rows = RECS.rename(columns={"score": "rating"}).astype({"rating": kind})
    with pytest.raises(RecframeError) as refused:
        rows.rec(truth=TRUTH).mean("mrr")
    assert (refused.value.answers["score"] == "rating") == (kind is float)
    assert 0.75 == rows.rec(truth=TRUTH, score="rating").mean("mrr").loc["rating", "mrr"]


@pytest.mark.parametrize("share", [0, 0.5])
def test_items_of_truth_with_a_parent(share):
    """A parent's id in truth that has more of the frame's items is asked about."""
    parents = [f"P{n}" for n in range(8)]
    rows = pd.DataFrame({"user": list("aabbccdd"), "item_id": parents, "score": [2, 1] * 4})
    own = [one if n < share * 8 else f"V{n}" for n, one in enumerate(parents)]
    truth = pd.DataFrame({"user": rows["user"], "asin": own, "parent_asin": parents})
    with pytest.raises(RecframeError) as refused:
        rows.rec(truth=truth).mean(METRIC)
    assert ["parent_asin", "asin"] == refused.value.answers["truth_item"].candidates
    assert 1.0 == rows.rec(truth=truth, truth_item="parent_asin").mean(METRIC).iloc[0, 0]
    alike = truth.assign(asin=parents)
    assert 1.0 == rows.rec(truth=alike).mean(METRIC).iloc[0, 0]


def test_lists_of_a_session_and_a_type():
    """A column that tells the lists of a session apart is named."""
    lists = pd.DataFrame({"session": [1, 1, 2, 2], "type": ["carts", "orders"] * 2})
    lists["labels"] = [[1, 2], [3], [4], [5]]
    with pytest.raises(RecframeError, match=r"pass user=\['session', 'type'\]"):
        recframe.from_lists(lists)
    assert 5 == len(recframe.from_lists(lists, user=["session", "type"]))


def test_a_matrix_with_a_column_of_users():
    """Columns of scores of items are named as a matrix, with the call that makes rows."""
    matrix = pd.DataFrame(np.eye(4), columns=list("pqrs")).assign(user=list("abcd"))
    truth = pd.DataFrame({"user": list("abcd"), "item": list("pqrp")})
    with pytest.raises(RecframeError) as refused:
        matrix.rec(truth=truth).mean("mrr")
    call = re.findall(r"recframe\.from_matrix\(.*\)(?= makes rows)", str(refused.value))[0]
    rows = eval(call, {"recframe": recframe, "df": matrix})
    assert 0.75 < rows.rec(truth=truth).mean("mrr").iloc[0, 0] < 1


@pytest.mark.parametrize("item", ["item_id", "doc"])
def test_columns_of_a_merge(item):
    """Two columns of items that a merge by user alone leaves are asked about."""
    recs = pd.DataFrame({"user": [1, 1, 2, 2], item: list("abab"), "score": [0.9, 0.8] * 2})
    truth = pd.DataFrame({"user": [1, 1, 2], item: list("axa")})
    merged = recs.merge(truth, on="user")
    merged["relevant"] = (merged[f"{item}_x"] == merged[f"{item}_y"]).astype(int)
    with pytest.raises(RecframeError) as refused:
        merged.rec.mean("precision@2")
    assert [f"{item}_x", f"{item}_y"] == refused.value.answers["item"].candidates
    with pytest.raises(RecframeError, match="must occur once"):
        merged.rec(item=f"{item}_x").mean("precision@2")
    plain = RECS.assign(relevant=[1, 0, 0, 1], item_id_x=1, item_id_y=2)
    assert 0.75 == plain.rec.mean("mrr").loc["score", "mrr"]


@pytest.mark.parametrize("name", ["score_max", "max_score", "min_score"])
def test_a_statistic_beside_a_score(name):
    """A highest score beside another score is asked about: it may be of a query, or a model."""
    frame = RECS.assign(**{name: [1.0, 2, 3, 4]}, relevant=[1, 0, 0, 1])
    assert ["score"] == frame.rec.mean("mrr").index.tolist()  # That name is exact.
    other = frame.rename(columns={"score": "score_mean"})
    with pytest.raises(RecframeError, match=f"'{name}' may be no model") as refused:
        other.rec.mean("mrr")
    assert ["score_mean", name] == refused.value.answers["score"].candidates
    with pytest.raises(RecframeError, match="score: no column found"):
        frame.rename(columns={"score": "knn"}).rec.mean("mrr")


def test_labels_are_listed_before_fractions():
    """The columns that may be relevance are whole numbers first."""
    frame = RECS.assign(**{f"f{n}": np.linspace(0, 1, 4) for n in range(14)}, y=[0, 1, 0, 1])
    with pytest.raises(RecframeError) as refused:
        frame.rec.mean("mrr")
    assert ["y", "f0"] == refused.value.answers["relevant"].candidates[:2]


def test_pairs_of_an_item_and_a_grade():
    """Tuples of truth may be items with grades, and then the refusal names the dict to pass."""
    rows = RECS.assign(item=[1, 2, 1, 3])
    truth = recframe.truth_from({"c1": [(1, 2), (9, 1)], "c2": [(3, 1)]})
    with pytest.raises(RecframeError, match=r"truth_from\(\{user: \{item: grade\}\}\)") as refused:
        rows.rec(truth=truth).mean(METRIC)
    assert {} == refused.value.answers
    graded = recframe.truth_from({"c1": {1: 2, 9: 1}, "c2": {3: 1}})
    assert 0.75 == rows.rec(truth=graded, min_relevance=1).mean(METRIC).iloc[0, 0]


def test_truth_as_a_table_of_users_and_items():
    """A cross table of truth is refused with the line that makes pairs of it."""
    cells = pd.crosstab(TRUTH["user"], TRUTH["item"])
    with pytest.raises(RecframeError) as refused:
        RECS.rec(truth=cells).mean(METRIC)
    line = re.findall(r"truth\.stack\(.*\)", str(refused.value))[0]
    expected = RECS.rec(truth=TRUTH).mean(METRIC)
    pd.testing.assert_frame_equal(
        expected, RECS.rec(truth=eval(line, {"truth": cells})).mean(METRIC)
    )


def test_positions_beside_text():
    """Numbers beside texts that are no numbers may be positions, which text does not help."""
    rows = recframe.from_topk([[0, 1], [2, 3]], users=["c1", "c2"])
    with pytest.raises(RecframeError, match="if numbers are positions, look up the ids") as refused:
        rows.rec(truth=TRUTH.assign(item=["d1", "d9", "d3"])).mean(METRIC)
    assert {} == refused.value.answers
    found = recframe.from_topk(
        np.array(["d1", "d2", "d3", "d4"])[[[0, 1], [2, 3]]], rows["user"].unique()
    )
    truth = TRUTH.assign(item=["d1", "d9", "d3"])
    assert 0.75 == found.rec(truth=truth).mean(METRIC).iloc[0, 0]


@pytest.mark.parametrize("user", ["candidate_id", "job_id"])
def test_candidates_may_be_users_or_items(user):
    """Candidates get jobs recommended, or are ranked for jobs, so that both may be the user."""
    frame = RECS.set_axis(["candidate_id", "job_id", "score"], axis=1).assign(clicked=[1, 0, 0, 1])
    with pytest.raises(RecframeError, match=r"is 'candidate_id', 'job_id' or None") as refused:
        frame.rec.mean("mrr")
    assert "item is" not in str(refused.value)
    with pytest.raises(RecframeError, match=r"user is 'candidate_id', 'job_id' or None"):
        frame.rec(duplicates="max").mean("mrr")
    named = frame.rename(columns={user: "user"})
    assert named.rec.mean("mrr").equals(frame.rec(user=user).mean("mrr"))
