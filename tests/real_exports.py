"""Real exports in ten shapes: as people have them, small, seeded, users and items long-tailed.

Each function returns the data of a tool, with its names of columns, its dtypes and its ties.
"""

import numpy as np
import pandas as pd

N_USERS, N_ITEMS = 12, 40


def _list_pairs(seed, least=6):
    """Return the user and item of each row: pairs once, few users and items in most rows."""
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(1, N_ITEMS + 1)
    users, items = [], []
    for user in range(N_USERS):
        n_rows = least + 24 // (user + 1)
        chosen = rng.choice(N_ITEMS, n_rows, replace=False, p=popularity / popularity.sum())
        users += [user] * n_rows
        items += chosen.tolist()
    return np.array(users), np.array(items), rng


def _score(rng, signal):
    """Return scores that follow a signal, with few digits, so that some tie."""
    return np.round(signal + rng.normal(0, 0.6, len(signal)), 1)


def movielens():
    """Return MovieLens with a model: users' ratings, and the ratings that the model predicts."""
    user, item, rng = _list_pairs(1)
    rating = np.clip(np.round(rng.normal(3.5, 1, len(user)) * 2) / 2, 0.5, 5)
    return pd.DataFrame(
        {
            "userId": user + 1,
            "movieId": item * 7 + 1,
            "rating": rating,
            "timestamp": 964_982_703 + rng.integers(0, 10**7, len(user)),
            "prediction": np.clip(_score(rng, rating), 0.5, 5),
        }
    )


def surprise():
    """Return Surprise's ``pd.DataFrame(algo.test(testset))``: true rating, estimate, details."""
    frame = movielens()
    return pd.DataFrame(
        {
            "uid": frame["userId"].astype(str),
            "iid": frame["movieId"].astype(str),
            "r_ui": frame["rating"],
            "est": frame["prediction"],
            "details": [{"was_impossible": False} for _ in range(len(frame))],
        }
    )


def spark_als():
    """Return Spark ALS's ``model.transform(test).toPandas()``: float32 ratings and predictions."""
    frame = movielens()
    return pd.DataFrame(
        {
            "user": frame["userId"].astype("int32"),
            "item": frame["movieId"].astype("int32"),
            "rating": frame["rating"].astype("float32"),
            "prediction": frame["prediction"].astype("float32"),
        }
    )


def spark_recommendations(k=10):
    """Return Spark's ``model.recommendForAllUsers(k).toPandas()``: a list of structs by user.

    Spark returns Rows, which are tuples with names; read from a file they are dicts, as here.
    """
    best = _list_best(k)
    lists = best.groupby("user").apply(
        lambda rows: [
            {"movieId": item, "rating": score}
            for item, score in zip(rows["item"].tolist(), rows["score"].tolist(), strict=True)
        ],
        include_groups=False,
    )
    return pd.DataFrame({"userId": lists.index, "recommendations": lists.tolist()})


def vector_store(measure="distance"):
    """Return a vector store's results for queries, with a distance or a similarity."""
    user, item, rng = _list_pairs(5)
    distance = np.round(rng.random(len(user)), 2)
    return pd.DataFrame(
        {
            "query_id": [f"q{number}" for number in user],
            "doc_id": [f"doc-{number:03}" for number in item],
            measure: distance if measure == "distance" else 1 - distance,
        }
    ).sort_values(["query_id", measure], ascending=[True, measure == "distance"], ignore_index=True)


def gold_pairs():
    """Return the relevant documents of `vector_store`'s queries, retrieved or not."""
    found = vector_store().groupby("query_id").nth([0, 3])[["query_id", "doc_id"]]
    never = pd.DataFrame({"query_id": ["q0", "q3"], "doc_id": ["doc-998", "doc-999"]})
    return pd.concat([found, never], ignore_index=True)


def rag_log():
    """Return the log of a RAG system: retrieved passages, judged, with the answer and its model."""
    user, item, rng = _list_pairs(6)
    relevant = rng.random(len(user)) < 0.2
    return pd.DataFrame(
        {
            "question_id": [f"question-{number}" for number in user],
            "passage_id": item + 5000,
            "similarity": np.round(0.5 + 0.2 * relevant + 0.2 * rng.random(len(user)), 2),
            "is_relevant": relevant,
            "answer": [f"An answer to question {number}." for number in user],
            "model": "embed-small",
        }
    )


def ab_log():
    """Return the log of an A/B test: items shown in sessions, with several sessions for a user."""
    session, item, rng = _list_pairs(7)
    user = session // 3
    score = _score(rng, rng.random(len(session)))
    frame = pd.DataFrame(
        {
            "session_id": [f"s-{number:04}" for number in session],
            "user_id": user + 100,
            "variant": np.where(session % 2, "B", "A"),
            "item_id": item,
            "position": 0,
            "score": score,
            "clicked": (rng.random(len(session)) < 0.15).astype(int),
            "timestamp": pd.Timestamp("2024-05-01") + pd.to_timedelta(session * 60 + item, "s"),
        }
    )
    shown = frame.groupby("session_id")["score"].rank(ascending=False, method="first")
    return frame.assign(position=shown.astype(int))


def trec_run():
    """Return a run in TREC's six columns, as pandas reads text."""
    user, item, rng = _list_pairs(8)
    frame = pd.DataFrame(
        {
            "qid": user + 301,
            "Q0": "Q0",
            "docno": [f"FBIS3-{number}" for number in item],
            "rank": 0,
            "sim": np.round(20 * rng.random(len(user)), 1),
            "tag": "bm25",
        }
    )
    rank = frame.groupby("qid")["sim"].rank(ascending=False, method="first")
    return frame.assign(rank=rank.astype(int)).sort_values(["qid", "rank"], ignore_index=True)


def trec_qrels():
    """Return the judgments for `trec_run`, graded 0 to 2, of documents retrieved and not."""
    judged = trec_run().groupby("qid").nth([0, 1, 4])[["qid", "docno"]]
    never = pd.DataFrame({"qid": [301, 302], "docno": ["FBIS3-901", "FBIS3-902"]})
    pairs = pd.concat([judged, never], ignore_index=True)
    return pairs.assign(iter=0, rel=np.arange(len(pairs)) % 3)[["qid", "iter", "docno", "rel"]]


def two_models():
    """Return the scores of two models, in two columns."""
    user, item, rng = _list_pairs(9)
    label = (rng.random(len(user)) < 0.3).astype(int)
    return pd.DataFrame(
        {
            "user_id": user,
            "item_id": item,
            "score_als": _score(rng, label),
            "score_bpr": _score(rng, label * 0.5),
            "label": label,
        }
    )


def topk_frame(k=10):
    """Return the best items of each user, as a frame with a column of lists."""
    lists = _list_best(k).groupby("user")["item"].agg(list)
    return pd.DataFrame({"user_id": lists.index, "recommended": lists.tolist()})


def _list_best(k):
    """Return the k best items of each user by the scores of a factorisation, some tied."""
    rng = np.random.default_rng(4)
    factors = rng.normal(size=(N_USERS, 3)), rng.normal(size=(N_ITEMS, 3))
    scores = np.round(factors[0] @ factors[1].T, 1)
    item = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    user = np.repeat(np.arange(len(scores)), k)
    return pd.DataFrame({"user": user, "item": item.ravel(), "score": scores[user, item.ravel()]})
