"""The columns of real exports are found, or the message has the call that names them."""

import re

import numpy as np
import pandas as pd
import pytest

import real_exports
import recframe
from recframe.frames.columns import find_columns
from recframe.options import Options

METRICS = ["precision@3", "recall@3", "r_precision"]
# No name tells from which grade on a row of these exports is relevant.
SAID = {"movielens": 4, "surprise": 4, "spark_als": 4}
FOUND = {
    "movielens": ("userId", "movieId", ["prediction"], "rating"),
    "surprise": ("uid", "iid", ["est"], "r_ui"),
    "spark_als": ("user", "item", ["prediction"], "rating"),
    "rag_log": ("question_id", "passage_id", ["similarity"], "is_relevant"),
    "two_models": ("user_id", "item_id", ["score_als", "score_bpr"], "label"),
}


def refuse(frame, **options):
    """Return the message of a refusal."""
    with pytest.raises(recframe.RecframeError) as caught:
        frame.rec(**options).mean(METRICS)
    return str(caught.value)


def paste(message, df, truth=None, **chosen):
    """Return the accessor that the call in a message makes, with choices for the dots."""
    found = re.search(r"pass (df\.rec\(.*?\))(,|;|$)|^(df\.rec\((?s:.*)\))\.mean", message, re.M)
    call = (found[3] or found[1]).replace("truth=...", "truth=truth")
    for name, choice in chosen.items():
        call = call.replace(f"{name}=...", f"{name}={choice!r}")
    return eval(call, {"df": df, "truth": truth})


@pytest.mark.parametrize("name", FOUND)
def test_columns_that_names_tell(name):
    """Exports with telling names need no option, except the lowest relevant grade."""
    user, item, scores, relevant = FOUND[name]
    frame = getattr(real_exports, name)()
    columns = find_columns(frame, Options())
    means = frame.rec(min_relevance=SAID.get(name)).mean(METRICS)

    assert (user, item, scores, relevant) == (
        columns.user,
        columns.item,
        columns.scores,
        columns.relevant,
    )
    assert np.isfinite(means.to_numpy()).all()


@pytest.mark.parametrize("name", SAID)
def test_ratings_need_a_grade(name):
    """A rating next to a prediction is relevance, and its threshold is asked for."""
    message = refuse(getattr(real_exports, name)())

    assert re.search("relevant='r(ating|_ui)': .* from 1.0 to 5.0. Pass min_relevance=", message)


@pytest.mark.parametrize("with_truth", [True, False])
def test_vector_store(with_truth):
    """A distance is suggested with its direction, and gold pairs as truth, in one call to paste."""
    frame, truth = real_exports.vector_store(), real_exports.gold_pairs()
    message = refuse(frame, **{"truth": truth} if with_truth else {})
    means = paste(message, frame, truth).mean(METRICS)

    said = "truth" if with_truth else "..."
    assert f"df.rec(score='distance', ascending=True, truth={said})" in message
    expected = real_exports.vector_store("similarity").rec(truth=truth).mean(METRICS)
    assert expected.to_numpy().tolist() == means.to_numpy().tolist()


def test_ab_log():
    """Sessions and users could both be the user, so both are offered."""
    frame = real_exports.ab_log()
    message = refuse(frame)

    assert message.startswith("user: 2 columns could be it, 'session_id', 'user_id'; item is 'ite")
    assert 12 == len(paste(message, frame, user="session_id").evaluate("r_precision"))
    assert 12 == len(frame.drop(columns="user_id").rec.evaluate("r_precision"))


def test_trec():
    """A run asks for qrels, and grades in qrels ask for a threshold."""
    run, qrels = real_exports.trec_run(), real_exports.trec_qrels()
    message = refuse(run)

    assert "Q0" in message.partition("where relevant is")[2]
    assert "or truth= the frame of relevant pairs" in message
    with pytest.raises(recframe.RecframeError, match=r"truth: relevant='rel': .* min_relevance="):
        run.rec(truth=qrels).mean(METRICS)
    assert 12 == len(run.rec(truth=qrels, min_relevance=1).evaluate("recall@3"))


@pytest.mark.parametrize("make", [real_exports.spark_recommendations, real_exports.topk_frame])
def test_lists_in_cells(make):
    """A column that may hold lists is answered with the call that makes rows of them."""
    frame = make()
    message = refuse(frame)

    name = frame.columns[1]
    assert f"where {name!r} holds lists, recframe.from_lists(df, items={name!r}), or " in message
    assert "\nrecframe.from_lists(df).rec(\n    truth=...," in message


def test_a_pivot_of_models():
    """Rows of several models are asked about, and the call names all models after a pivot."""
    run, qrels = real_exports.trec_run(), real_exports.trec_qrels()
    frame = pd.concat([run, run.assign(tag="dense", sim=-run["sim"])])
    assert "pass model='tag' to rank each" in refuse(frame, truth=qrels, min_relevance=1)
    wide = frame.pivot_table(index=["qid", "docno"], columns="tag", values="sim")
    message = refuse(wide.reset_index(), truth=qrels, min_relevance=1)

    assert "df.rec(score=['bm25', 'dense'], min_relevance=1, truth=truth)" in message
    message = refuse(wide.rename(columns={"dense": "cost"}), truth=qrels, min_relevance=1)
    assert "score=['bm25', 'cost'], ascending=[False, True], min_relevance=1" in message


# No column has a known name here: options, and the arguments of the call to paste.
STRANGE = {
    "all roles": (
        ["person", "thing", "als", "hit"],
        {},
        r"user=\.\.\., score='als', relevant=\.\.\.",
        {"user": "person", "relevant": "hit"},
    ),
    "options stay": (
        ["person", "doc", "als", "hit"],
        {"ties": "worst", "item": "doc", "short": "pad"},
        r"user=\.\.\., item='doc', score='als', relevant=\.\.\., ties='worst', short='pad'",
        {"user": "person", "relevant": "hit"},
    ),
    "spelled like": (
        ["usrid", "movie", "scroe", "relevent"],
        {},
        r"user=\.\.\., score='scroe'",
        {"user": "usrid", "relevant": "relevent"},
    ),
    "several scores": (
        ["user", "alsace", "knn_pred", "als_pred", "rel"],
        {},
        r"score=\.\.\.",
        {"score": ["knn_pred", "als_pred"]},
    ),
    "the last float": (["user", "item", "alpha", "rel"], {}, "score='alpha'", {}),
    "low before rank": (["user", "rank", "dist", "rel"], {}, "score='dist', ascending=True", {}),
    "the id of a name": (["uid", "doc", "doc_id", "als", "rel"], {}, "score='als'", {}),
    "query in a session": (
        ["session", "query", "item", "score", "rel"],
        {},
        r"user=\.\.\.",
        {"user": "query"},
    ),
    "a name of a rating": (
        ["user", "item", "score", "label", "rating"],
        {},
        r"relevant=\.\.\.",
        {"relevant": "label"},
    ),
}


@pytest.mark.parametrize("case", STRANGE)
def test_calls_to_paste(case):
    """The call to paste has the settled roles, the choices and the passed options, and works."""
    names, options, expected, chosen = STRANGE[case]
    values = {
        name: [0.5, 0.25] if name in ("als", "alpha", "dist", "scroe") else [0, 1] for name in names
    }
    values |= {names[0]: [1, 1]}
    frame = pd.DataFrame(values)
    message = refuse(frame, **options)

    assert re.search(rf"pass df\.rec\({expected}", message)
    assert not paste(message, frame, **chosen).evaluate("r_precision").empty
