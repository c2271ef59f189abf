"""Columns for `user`, `item`, `score` and `relevant` are inferred, or refused by name."""

import re
from typing import ClassVar

import pandas as pd
import pytest

import recframe
from recframe.frames.columns import find_columns
from recframe.frames.names import NAMES, ROLES, get_column
from recframe.options import Options


class Counted(str):
    """A label that notes how often it is compared."""

    __slots__ = ()
    __hash__ = str.__hash__
    calls: ClassVar[list] = []

    def __eq__(self, other):
        """Compare as text does."""
        self.calls.append(other)
        return str(self) == str(other)


def one_row(*names):
    """Return a frame of one row with these columns."""
    return pd.DataFrame([[1] * len(names)], columns=list(names))


def found(frame, **options):
    """Return the labels and their roles."""
    return find_columns(frame, Options(**options))


@pytest.mark.parametrize("name", NAMES["user"])
def test_user_names(name):
    """Every name of the user role is known, in any case, with spaces and underscores."""
    assert name.upper() == found(one_row(name.upper(), "score", "relevant")).user
    spaced = f"{name[:2]} _{name[2:]}"
    assert spaced == found(one_row(spaced, "score", "relevant")).user


@pytest.mark.parametrize("name", NAMES["relevant"])
def test_relevant_names(name):
    """Every name of the relevance role is known."""
    assert name == found(one_row("user", "score", name)).relevant


@pytest.mark.parametrize(
    "name", [*NAMES["score"], "Random scores", "knn_score", "KnnScore", "KNNScore", "credit_score"]
)
def test_score_names(name):
    """Every name of the score role is known, and so are names that end in "score"."""
    assert [name] == found(one_row("user", name, "relevant")).scores


@pytest.mark.parametrize("name", ["underscore", "score_rank", "scored", "scoreboard"])
def test_no_score_names(name):
    """Names that merely contain the letters are not scores."""
    with pytest.raises(recframe.MissingColumnError, match="score: no column found"):
        found(one_row("user", name, "relevant"))


def test_all_scores_in_column_order():
    """All score columns are taken in their order, without texts and booleans."""
    frame = one_row("b_score", "user", "prediction", "relevant", "a score").assign(
        name_score="x", has_score=True
    )

    assert ["b_score", "prediction", "a score"] == found(frame).scores


def test_given_columns_are_not_inferred_again():
    """A column that is passed as relevant is not also taken as a score."""
    frame = one_row("user", "knn_score", "relevance_score")

    assert ["knn_score"] == found(frame, relevant="relevance_score").scores


def test_scores_given_are_no_relevance():
    """A column passed as a score or as ids is no candidate for relevance."""
    frame = one_row("user", "label", "rating", "clicked")

    assert "clicked" == found(frame, score="rating", user="label").relevant
    assert "rating" == found(frame, score=["clicked", "label"]).relevant


def test_scores_of_no_model_are_taken_where_they_are_named():
    """The "relevance_score" ranks if it is named or the only score, but not next to another."""
    frame = one_row("user", "relevant", "score", "relevance_score")

    assert ["score", "relevance_score"] == found(frame, score=["score", "relevance_score"]).scores
    assert ["relevance_score"] == found(frame.drop(columns="score")).scores


def test_index_levels_are_columns():
    """Index levels have roles by name, inferred or passed, and give the same table."""
    frame = one_row("user", "score", "relevant").assign(item=7)
    indexed = frame.set_index(["user", "item"])

    pd.testing.assert_frame_equal(frame.rec.recall(k=1), indexed.rec.recall(k=1))
    pd.testing.assert_frame_equal(
        frame.rec(user="item").recall(k=1), indexed.rec(user="item").recall(k=1)
    )


def test_labels_of_any_kind():
    """Labels may be numbers or tuples; a tuple is one label."""
    frame = one_row("user", 3, "relevant")
    assert [3] == frame.rec(score=3).recall(k=1).columns.tolist()
    deep = pd.DataFrame([[1, 0.5, 1]], columns=pd.MultiIndex.from_tuples(["au", "as", "ar"]))
    table = deep.rec(user=("a", "u"), score=("a", "s"), relevant=("a", "r")).evaluate("recall@1")
    assert [(("a", "s"), "recall@1")] == table.columns.tolist()
    assert [[1.0]] == table.to_numpy().tolist()


def test_duplicate_names_that_are_not_used_are_fine():
    """Repeated labels are no error unless a role uses them."""
    assert 1.0 == one_row("user", "score", "relevant", "x", "x").rec.recall(k=1).iloc[0, 0]


def test_names_are_documented():
    """Every name has one role, and the docstring of evaluate lists it."""
    told = re.findall(r"\w+", recframe.evaluate.__doc__)
    for names in NAMES.values():
        missing = [name for name in names if name not in told]
        assert [] == [name for name in missing if name.removesuffix("id") not in told]
    each = [name for names in NAMES.values() for name in names]
    each += [name for name, role in ROLES.items() if role == "model"]
    assert sorted(ROLES) == sorted(each)
    assert [] == [name for name in each[-6:] if name not in told]


@pytest.mark.parametrize("name", ["score_als", "ScoreBPR", "score als 2", "cosine_similarity"])
def test_words_of_scores(name):
    """Numbers whose name begins with score or ends in similarity are scores, and text is not."""
    frame = one_row("user", name, "relevant")

    assert [name] == found(frame).scores
    with pytest.raises(recframe.MissingColumnError, match="score: no column found"):
        found(frame.astype({name: str}))


@pytest.mark.parametrize(
    "name", ["score_time", "score_date", "score_rank", "score_id", "score_std"]
)
def test_what_is_said_of_a_score_is_none(name):
    """Times, ranks and counts of scores are no scores, with or without a real score."""
    frame = one_row("user", name, "score", "relevant")

    assert ["score"] == found(frame).scores
    with pytest.raises(recframe.MissingColumnError, match="score: no column found"):
        found(frame.drop(columns="score"))


def test_no_models_by_their_second_word():
    """A second score that looks like a human's must be named to be ranked by."""
    with pytest.raises(recframe.RecframeError, match="'score_human' may be no model"):
        found(one_row("user", "score_als", "score_human", "relevant"))


@pytest.mark.parametrize("name", ["query-id", "Query.ID", "query id"])
def test_hyphens_and_dots(name):
    """Hyphens and dots in names are ignored like spaces and underscores."""
    assert name == found(one_row(name, "score", "relevant")).user


def test_an_id_beside_what_it_names():
    """The text of a query does not make its id ambiguous, and another id does."""
    frame = one_row("query_id", "query", "doc", "doc_id", "score", "rel")
    columns = found(frame)

    assert ("query_id", "doc_id") == (columns.user, columns.item)
    with pytest.raises(recframe.RecframeError, match=r"user: 2 .* be it, 'query_id', 'user'"):
        found(frame.assign(user=1))


PAIRS_OF_IDS = {
    "doc_id": "document",
    "qid": "query",
    "asin": "product",
    "item_id": "sku",
    "user_id": "session_id",
}


@pytest.mark.parametrize("name", PAIRS_OF_IDS)
def test_columns_of_the_same_ids(name):
    """The column named as an id is taken if two columns tell the same users or items apart."""
    role = "item" if name in ("doc_id", "asin", "item_id") else "user"
    frame = pd.DataFrame({"user": [1, 1, 2, 3], "item": [7, 8, 7, 8]})
    frame = frame.assign(score=[1, 2, 3.5, 1], relevant=[1, 0, 0, 1])
    frame = frame.rename(columns={role: name})
    text = "x" + frame[name].astype(str)
    columns = found(frame.assign(**{PAIRS_OF_IDS[name]: text}), duplicates="raise")
    assert name == getattr(columns, role)
    for other in (text.replace("x1", "x2").replace("x8", "x7"), text.where(text != text[0])):
        with pytest.raises(recframe.RecframeError, match=rf"{role}: 2 columns could be it"):
            found(frame.assign(**{PAIRS_OF_IDS[name]: other}), duplicates="raise")


@pytest.mark.parametrize("ending", ["idx", "index", "uuid"])
def test_other_names_of_ids_give_way(ending):
    """Names such as user_idx are ids of users and items, unless another column is."""
    columns = found(one_row(f"user_{ending}", f"item_{ending}", "score", "rel"))
    assert (f"user_{ending}", f"item_{ending}") == (columns.user, columns.item)
    both = one_row("user_id", "item_id", f"user_{ending}", f"item_{ending}", "score", "rel")
    assert ("user_id", "item_id") == (found(both).user, found(both).item)


REFUSED = {
    "no user": (
        ["id", "score", "relevant"],
        {},
        r"user: no column found \(looked for user, query, .* each with or without id\); score is "
        r"'score', relevant is 'relevant'; the frame has 'id', 'score', 'relevant'; pass "
        r"df.rec\(user=...\), where user is 'id' or None for one ranking$",
    ),
    "two users": (
        ["user", "query", "score", "relevant"],
        {},
        "user: 2 columns could be it, 'user', 'query'",
    ),
    "no relevant": (["user", "score"], {}, "relevant: no column found"),
    "two relevant": (["user", "score", "target", "label"], {}, "relevant: 2 columns could be it"),
    "relevance and ratings": (
        ["user", "score", "label", "Rating"],
        {},
        r"relevant: 2 columns could be it, 'label', 'Rating'; .* df.rec\(relevant=...\), where "
        r"relevant is 'label', 'Rating' or truth= the frame of relevant pairs$",
    ),
    "ids are no relevance": (
        ["user", "order_id", "reordered", "score"],
        {},
        "where relevant is 'reordered' or truth= the frame of relevant pairs$",
    ),
    "no relevance that is free": (
        ["user", "rating", "label"],
        {"score": ["rating", "label"]},
        "relevant: 2 columns could be it, 'rating', 'label'",
    ),
    "every row relevant": (
        ["user", "score", "relevant"],
        {"relevant": None},
        "relevant=None makes every pair of truth relevant, but truth is not passed. Pass truth=, "
        "or",
    ),
    "no model among scores": (
        ["user", "relevant", "knn_score", "bank_credit_score", "z_scores"],
        {},
        "score: 3 columns could be it, 'knn_score', 'bank_credit_score', 'z_scores', but "
        r"'bank_credit_score' may be no model to evaluate; .*; pass df.rec\(score=...\), where "
        "score is 'knn_score', 'bank_credit_score', 'z_scores'$",
    ),
    "a judge among scores": (
        ["user", "relevant", "similarity_score", "judge_score"],
        {},
        "score: 2 columns could be it, .*, but 'judge_score' may be no model to evaluate",
    ),
    "no score": (["user", "relevant"], {}, "score: no column found"),
    "wrong user": (
        ["user", "score", "relevant"],
        {"user": "usr"},
        "user='usr': no such column; .*did you mean 'user'",
    ),
    "wrong item": (
        ["user", "score", "relevant"],
        {"item": ("x", "y")},
        r"item=\('x', 'y'\): no such column; the frame has 'user', 'score', 'relevant'$",
    ),
    "wrong score": (
        ["user", "score", "relevant"],
        {"score": ["score", "b"]},
        "score='b': no such column",
    ),
    "tuple of scores": (
        ["user", "a", "b", "relevant"],
        {"score": ("a", "b")},
        r"score=\('a', 'b'\): no such column.*passed as a list",
    ),
    "empty scores": (["user", "score", "relevant"], {"score": []}, "score must name at least one"),
    "score twice": (
        ["user", "score", "relevant"],
        {"score": ["score", "score"]},
        "but names 'score' twice",
    ),
    "duplicate user": (
        ["user", "user", "score", "relevant"],
        {"user": "user"},
        "user='user': 2 columns .* have that name",
    ),
    "duplicate score": (
        ["user", "score", "score", "relevant"],
        {},
        "score='score': 2 columns .* have that name",
    ),
    "one column in two roles": (
        ["user", "score", "relevant"],
        {"score": "relevant"},
        "score and relevant are the same column, 'relevant'",
    ),
    "label that is no label": (
        ["user", "score", "relevant"],
        {"item": ["user"]},
        r"item must be a column label, but is \['user'\]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_columns(case):
    """A missing or ambiguous column is refused with a remedy."""
    names, options, message = REFUSED[case]
    with pytest.raises(recframe.RecframeError, match=message):
        one_row(*names).rec(**options).recall(k=1)


def test_level_and_column_of_one_name_are_ambiguous():
    """A name of both a column and an index level is refused."""
    frame = one_row("user", "score", "relevant")
    frame.index = pd.Index([5], name="user")
    with pytest.raises(recframe.RecframeError, match="user: 2 columns could be it"):
        frame.rec.recall(k=1)


def test_missing_column_is_a_key_error():
    """A missing column is a KeyError whose message reads as a sentence."""
    with pytest.raises(KeyError) as caught:
        one_row("score", "relevant").rec.recall(k=1)
    assert str(caught.value).startswith("user: no column found")


def test_wide_frames_are_not_listed_whole():
    """A message names the first columns of many."""
    with pytest.raises(recframe.RecframeError, match="'c11' and 28 more"):
        one_row(*(f"c{n}" for n in range(40))).rec.recall(k=1)


def test_many_scores_are_not_compared_each_with_each(monkeypatch):
    """The time to find columns grows linearly with their number."""
    labels = pd.Index(["user", "relevant", *(f"{n}_score" for n in range(300))]).map(Counted)
    frame = one_row(*range(len(labels))).set_axis(labels.astype(object), axis=1)
    frame = frame.assign(taken=1).set_index("taken").rename_axis("item")
    calls = []
    monkeypatch.setattr(Counted, "calls", calls)

    for score in ("infer", list(frame.columns[2:])):
        find_columns(frame, Options(score=score))
        for label in frame.columns:
            get_column(frame, label)

    assert len(calls) < 10 * frame.shape[1]


@pytest.mark.parametrize("label", ["1_score", "item", 7])
def test_one_of_many_columns(label):
    """A label means its column or its index level, and text means no number."""
    frame = one_row(*[f"{number}_score" for number in range(100)], 7)
    frame = frame.set_axis(pd.Index([3], name="item"))
    column = get_column(frame, label)

    assert label == column.name
    assert [3 if label == "item" else 1] == column.tolist()


@pytest.mark.parametrize("ascending", [[True], [True, False, True], []])
def test_a_direction_for_each_score(ascending):
    """A list of directions must be as long as the list of scores."""
    frame = pd.DataFrame({"user": [1], "a_score": [1], "b_score": [2], "relevant": [1]})

    message = f"an entry for each score column, but has {len(ascending)} for"
    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec(ascending=ascending).precision(k=1)


def test_names_by_which_less_is_better():
    """A distance needs a direction, and the message shows one for a score or for several."""
    one = pd.DataFrame({"user": 1, "distance": [1.0, 2], "relevant": [1, 0]})
    two = one.assign(a_score=[1, 2])
    options = {"score": ["a_score", "distance"]}

    with pytest.raises(recframe.RecframeError, match="Pass ascending=True to rank the lowest"):
        one.rec(score="distance").precision(k=1)
    with pytest.raises(recframe.RecframeError, match=r"Pass ascending=\[False, True\] to rank"):
        two.rec(**options).precision(k=1)
    assert [0, 1] == two.rec(**options, ascending=[False, True]).precision(k=1).iloc[0].tolist()
    assert [0] == one.rec(score="distance", ascending=False).precision(k=1).iloc[0].tolist()


@pytest.mark.parametrize("role", ["score", "model"])
def test_a_name_that_is_not_utf_8(role):
    """A score or model whose name has a lone surrogate is refused, because no table can hold it."""
    frame = pd.DataFrame({"user": [1], "item": [1], "score": [1], "model": [1], "relevant": [1]})
    odd = pd.Series(["\ud800"], dtype=object)
    if role == "model":
        frame["model"], given = odd, "model"
    else:
        given = odd[0]
        names = [given if name == "score" else name for name in frame]
        frame.columns = pd.Index(names, dtype=object)
    message = rf"{role}='\\ud800': a name must be text of UTF-8. Rename it"
    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec(**{role: given}).mean("recall@1")


OTHERS = {
    "relevant": ["rating", "label", "clicked", "grade"],
    "is_relevant": ["rating", "label"],
    "score": ["review_score", "quality_score", "sentiment_score", "risk_score"],
}


@pytest.mark.parametrize(
    ("name", "other"), [(name, one) for name in OTHERS for one in OTHERS[name]]
)
def test_an_exact_name_wins(name, other):
    """A column named relevant wins over a rating, and score over a score of something else."""
    plain = pd.DataFrame({"user": [1, 1, 2, 2], "score": [2.5, 1, 1, 3], "relevant": [0, 1, 1, 0]})
    frame = plain.assign(**{other: [1, 0, 4, 2]})
    frame = frame if name == "score" else frame.rename(columns={"relevant": name})
    expected = plain.rec.mean("mrr")
    assert expected.equals(frame.rec.mean("mrr"))
    if name != "score":
        frame[name] = frame[name].astype(bool)
        assert expected.equals(frame.rec.mean("mrr"))


@pytest.mark.parametrize("name", ["prob", "y_pred_proba", "yhat", "logits", "BM25", "dot_product"])
def test_names_of_scores_that_stand_alone(name):
    """The only probability, logit or the like is the score if no column is named as one."""

    def scores(*names):
        frame = one_row("user", "item", "relevant", *names)
        return find_columns(frame, Options()).scores

    assert [name] == scores(name)
    assert [name] == scores(name, "price")
    assert ["score"] == scores(name, "score")
    with pytest.raises(recframe.MissingColumnError, match="score: no column found"):
        scores(name, "predicted")
    fractions = one_row("user", "item", "relevant", name, "other").astype(float)
    with pytest.raises(recframe.MissingColumnError, match="score: no column found"):
        find_columns(fractions, Options())
