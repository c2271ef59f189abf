r"""Recipes: your data looks like this, call that.

Each begins with the first rows of what a tool gives, and ends with what the call decides. In a
notebook or a shell, `df.rec` alone shows which columns it takes for what.

## MovieLens and other ratings, with predictions

    >>> df.head(3)
       userId  movieId  rating  timestamp  prediction
    0       1       29     4.0  974080112         3.3
    1       1      225     2.5  967114349         3.1
    2       1        1     5.0  969152939         5.0
    >>> df.rec(min_relevance=4).mean(["precision@3", "recall@3"])
    metric      precision@3  recall@3
    score
    prediction         0.75  0.692361

Decided: what was rated 4 or more is relevant, and of each user's rated items, those predicted
highest come first. What a user did not rate is in no list, so this says nothing of a whole
catalogue.

## Surprise

`df = pd.DataFrame(algo.test(testset))`:

    >>> df.head(3)
      uid  iid  r_ui  est                    details
    0   1   29   4.0  3.3  {'was_impossible': False}
    1   1  225   2.5  3.1  {'was_impossible': False}
    2   1    1   5.0  5.0  {'was_impossible': False}
    >>> df.rec(min_relevance=4).mean(["precision@3", "recall@3"])
    metric  precision@3  recall@3
    score
    est            0.75  0.692361

Decided: `r_ui` is the rating, relevant from 4 on, and `est` ranks, as above.

## Spark ALS

`df = model.transform(test).toPandas()`:

    >>> df.head(3)
       user  item  rating  prediction
    0     1    29     4.0         3.3
    1     1   225     2.5         3.1
    2     1     1     5.0         5.0
    >>> df.rec(min_relevance=4).mean(["precision@3", "recall@3"])
    metric      precision@3  recall@3
    score
    prediction         0.75  0.692361

Decided: as above; a user or item that the model does not know has a null prediction unless ALS has
`coldStartStrategy="drop"`, and a null score is refused until `missing` says what it is.

`recs = model.recommendForAllUsers(10).toPandas()`, and the test set as pairs:

    >>> recs.head(3)
       userId                                    recommendations
    0       0  [{'movieId': 15, 'rating': 3.9}, {'movieId': 3...
    1       1  [{'movieId': 17, 'rating': 2.3}, {'movieId': 0...
    2       2  [{'movieId': 33, 'rating': 4.8}, {'movieId': 2...
    >>> test.head(3)
       userId  movieId
    0       0       33
    1       0        0
    2       0       18
    >>> result = recframe.from_lists(recs).rec(truth=test, population="truth")
    >>> result.mean(["precision@3", "recall@3"])
    metric  precision@3  recall@3
    score
    score      0.121212  0.115152

Decided: the pairs of the test set are relevant, recommended or not, and its users without
recommendations count as 0; `population="both"` leaves them out.

## A matrix of scores (LightFM, factorisation), and a sparse test set

`scores` is dense, users × items, and `test` a `csr_matrix` of 1 where an item is relevant:

    >>> scores[:3, :5]
    array([[-1.8,  1.4, -0.8,  0.2, -1.7],
           [ 2.2, -1.4,  0.5,  0. ,  2.2],
           [ 0.5, -1.1,  1.6,  0.5, -0.9]])
    >>> df = recframe.from_matrix(scores, k=10)
    >>> df.head(3)
       user  item  score
    0     0     1    1.4
    1     0     8    1.1
    2     0    15    3.9
    >>> truth = recframe.truth_from(test)
    >>> df.rec(truth=truth, population="truth").mean(["precision@3", "recall@3"])
    metric  precision@3  recall@3
    score
    score      0.121212  0.115152

Decided: the ten best of each row are recommended, and what ties with the tenth; items of the
training set are candidates too unless their scores are set to -inf before.

## A vector store, and gold pairs

    >>> df.head(3)
      query_id   doc_id  distance
    0       q0  doc-035      0.00
    1       q0  doc-025      0.06
    2       q0  doc-002      0.09
    >>> gold.head(3)
      query_id   doc_id
    0       q0  doc-035
    1       q0  doc-013
    2       q1  doc-016
    >>> result = df.rec(score="distance", ascending=True, truth=gold)
    >>> result.mean(["recall@3", "reciprocal_rank"])
    metric    recall@3  reciprocal_rank
    score
    distance  0.513889              1.0

Decided: the least distance comes first; a similarity needs neither `score` nor `ascending`. Gold
documents that were not found count in recall.

## The log of a RAG system

    >>> df[["question_id", "passage_id", "similarity", "is_relevant"]].head(3)
      question_id  passage_id  similarity  is_relevant
    0  question-0        5005        0.71         True
    1  question-0        5001        0.54        False
    2  question-0        5002        0.57        False
    >>> df.rec.mean(["recall@3", "reciprocal_rank"])
    metric      recall@3  reciprocal_rank
    score
    similarity  0.897727              1.0

Nothing is decided, all columns are known by their names; but a relevant passage that was not found
is not in the log, so recall is that of what was found. With a column of documents,
`df.rec(item="document_id", duplicates="max")` ranks each by its best passage.

## The log of an A/B test

    >>> df[["session_id", "user_id", "variant", "item_id", "score", "clicked"]].head(3)
      session_id  user_id variant  item_id  score  clicked
    0     s-0000      100       A        7    0.8        0
    1     s-0000      100       A       25    0.5        0
    2     s-0000      100       A       15    1.7        1
    >>> result = df.rec(user="session_id")
    >>> variant = df.groupby("session_id")["variant"].first()
    >>> result.ndcg(k=3).groupby(variant).mean()
    ndcg@3      score
    variant
    A        0.390361
    B        0.164918

Decided: a session is a list, and who it was shown to does not matter. By users, an item that a
user saw in several sessions is there twice, which is refused, as are both variants of a user:

    >>> df.rec(user="user_id", duplicates="max", model=None).mean("ndcg@3")
    metric    ndcg@3
    score
    score   0.206701

Decided: all that a user was shown is one list, each item with its best score, clicked if it ever
was.

## TREC: a run and qrels

`run = recframe.read_run(path)` and `qrels = recframe.read_qrels(path)` read the files; here they
are frames with other names:

    >>> run.head(3)
       qid  Q0     docno  rank   sim   tag
    0  301  Q0  FBIS3-12     1  19.2  bm25
    1  301  Q0   FBIS3-5     2  18.0  bm25
    2  301  Q0  FBIS3-13     3  17.9  bm25
    >>> qrels.head(3)
       qid  iter     docno  rel
    0  301     0  FBIS3-12    0
    1  301     0   FBIS3-5    1
    2  301     0  FBIS3-23    2
    >>> result = run.rec(truth=qrels, min_relevance=1, short="pad", zero_division=0)
    >>> result.mean(["precision@3", "recall@3", "ndcg@3"])
    metric  precision@3  recall@3    ndcg@3
    score
    sim        0.333333  0.486111  0.234547

Decided: a grade of 1 or more is relevant, and short lists and queries without relevant documents
count as trec_eval counts them. `sim` ranks and not `rank`; equal scores count as the mean over
their orders, where trec_eval takes one, by document name.

## Runs as dicts (pytrec_eval, ranx)

`runs` has `{query: {doc: score}}` of each model by name, and `qrels` the same of grades:

    >>> {name: dict(list(run["301"].items())[:2]) for name, run in runs.items()}
    {'bm25': {'FBIS3-12': 19.2, 'FBIS3-5': 18.0}, 'dense': {'FBIS3-5': 2.0, 'FBIS3-13': 2.1}}
    >>> frame = recframe.from_runs(runs)
    >>> frame.head(3)
    score user      item  bm25  dense
    0      301  FBIS3-12  19.2    NaN
    1      301   FBIS3-5  18.0    2.0
    2      301  FBIS3-13  17.9    2.1
    >>> truth = recframe.truth_from(qrels)
    >>> result = frame.rec(
    ...     truth=truth, min_relevance=1, missing="unranked", short="pad", zero_division=0
    ... )
    >>> result.mean(["precision@3", "recall@3", "ndcg@3"])
    metric  precision@3  recall@3    ndcg@3
    score
    bm25       0.333333  0.486111  0.234547
    dense      0.138889  0.208333  0.158372

Decided: as above, and a document that one run lists is not ranked by the others.

## Arrays of a ranker (LightGBM, XGBoost, CatBoost)

`label` and `predicted` have a row for each candidate, and `sizes` says how many each query has, as
``group`` of LightGBM and XGBoost does:

    >>> label[:5], predicted[:5], sizes[:3]
    (array([4, 1, 3, 0, 2]), array([2.4, 0.8, 0.5, 0.1, 0.8]), array([30, 18, 14]))
    >>> df = recframe.from_groups(predicted, label, sizes=sizes)
    >>> df.head(3)
       user  relevant  score
    0     0         4    2.4
    1     0         1    0.8
    2     0         3    0.5
    >>> df.rec(min_relevance=1, gain="exponential").mean("ndcg@3")
    metric    ndcg@3
    score
    score   0.844306

Decided: the gain of LightGBM and XGBoost is 2^label - 1, and a label of 1 or more is relevant. A
query without one is left out of the mean; LightGBM counts it as 1, which is ``zero_division=1.0``.
Where each row has its query, as in ``qid`` or ``group_id``, it is ``ids=``; several models are a
dict of predictions.

## Two models side by side

    >>> df.head(3)
       user_id  item_id  score_als  score_bpr  label
    0        0       22        0.9        0.9      1
    1        0        1       -0.1       -0.3      1
    2        0        6       -0.2        0.0      0
    >>> df.rec.mean(["precision@3", "recall@3"])
    metric     precision@3  recall@3
    score
    score_als     0.750000  0.679167
    score_bpr     0.444444  0.430556
    >>> df.rec.compare("recall@3")[["difference", "low", "high", "p_corrected"]]
    baseline: score_als  difference       low      high  p_corrected
    score     metric
    score_bpr recall@3    -0.248611 -0.455144 -0.106347     0.003906

Nothing is decided, every column named `score_…` is a model, and the first one the baseline. Where
the models list other items, one frame with the rows of both and a column `model` is read by
`df.rec(model="model")`.

## Lists of the best items

A list for each user, best first, in a dict or a frame, and a set of relevant items:

    >>> dict(list(recs.items())[:2])
    {0: [15, 30, 31, 1, 37, 39, 8, 38, 24, 18], 1: [17, 0, 4, 13, 14, 5, 38, 7, 18, 23]}
    >>> {user: sorted(test[user])[:5] for user in list(test)[:2]}
    {0: [0, 2, 3, 4, 5], 1: [3, 6, 9, 11, 14]}
    >>> truth = recframe.truth_from(test)
    >>> recframe.from_lists(recs).rec(truth=truth, population="truth").mean("recall@3")
    metric  recall@3
    score
    score   0.115152
    >>> df.head(3)
       user_id                             recommended
    0        0  [15, 30, 31, 1, 37, 39, 8, 38, 24, 18]
    1        1    [17, 0, 4, 13, 14, 5, 38, 7, 18, 23]
    2        2  [33, 27, 14, 17, 6, 34, 10, 16, 2, 12]
    >>> recframe.from_lists(df).rec(truth=truth, population="truth").mean("recall@3")
    metric  recall@3
    score
    score   0.115152

Decided: the first of a list ranks highest. A user in `test` only counts as 0, and one in `recs`
only does not count: `population` says so, and without it the call is refused. A list of fewer than
k items is refused until `short` says what its empty places are.
"""
