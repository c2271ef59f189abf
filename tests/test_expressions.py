"""The Python code that a refusal suggests runs and gives the right values."""

import ast
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recframe
from recframe import RecframeError
from test_advice import FRAME, ROWS, TRUTH

LISTS = {1: [3, 1, 2], 2: [2, 1, 3]}
PER_USER = FRAME.rec.evaluate("recall@2")


@dataclass(frozen=True)
class Case:
    """A call on values, the expression in its refusal, and where the expression goes."""

    call: str
    given: dict[str, Any]
    # The group of this pattern is the Python code.
    expression: str
    instead: str = "df = {}"
    # This call is made afterwards, if it is not the first one.
    then: str = ""


def recall(frame, **options):
    """Return a case of a frame and options whose recall is asked for."""
    return partial(Case, "df.rec(**options).recall(k=1)", {"df": frame, "options": options})


TRUTH_TWICE = pd.concat([TRUTH, TRUTH]).assign(relevant=[1, 0, 2, 1])
CASES = {
    "text with commas": recall(FRAME.assign(score=["1,200", "5", "4", "7", "6", "1"]))(
        r"for example (pd\.to_numeric\(df\['score'\]\.str\.replace\(',', ''\)\)), or '\.' if",
        "df = df.assign(score={})",
    ),
    "words among numbers": recall(FRAME.assign(score=["n/a", "5", "4", "7", "6", "1"]))(
        r"for example (pd\.to_numeric\(df\['score'\], errors='coerce'\)), which makes nulls",
        "df = df.assign(score={}); options['missing'] = 'drop'",
    ),
    "numbers as text": recall(FRAME.assign(score=FRAME["score"].astype(str)))(
        r"for example with (pd\.to_numeric\(df\['score'\]\))", "df = df.assign(score={})"
    ),
    "relevance in words": recall(FRAME.assign(relevant=list("ynyyny")))(
        r"for example (df\['relevant'\] == 'y')", "df = df.assign(relevant={})"
    ),
    "numbers beyond floats": recall(
        FRAME.assign(score=np.array([0.5, 2**60 + 1, 1, 2, 3, 4], dtype=object))
    )(r"whole with (astype\('int64'\)), ", "df = df.assign(score=df['score'].{})"),
    "lists of ids": recall(FRAME.assign(item=[[1], [2], [3]] * 2))(
        r"with (df\.explode\('item'\)), or"
    ),
    "tuples of ids": recall(FRAME.assign(item=[[1], [2], [3]] * 2))(
        r"with (df\['item'\]\.map\(tuple\))", "df = df.assign(item={})"
    ),
    "nested ids": recall(
        FRAME.assign(
            item=pd.Series([{"a": n} for n in [1, 2, 3] * 2]).astype(
                pd.ArrowDtype(pa.struct([("a", pa.int64())]))
            )
        )
    )(r"[Cc]onvert it with (\.astype\(str\))", "df = df.assign(item=df['item']{})"),
    "truth of another kind": Case(
        "df.rec(truth=truth).recall(k=1)",
        {"df": ROWS, "truth": TRUTH.astype(str)},
        r"Convert both with ids(\.astype\(str\))",
        "df, truth = df.assign(user=df['user']{0}, item=df['item']{0}), truth{0}",
    ),
    "fractions of other precision": Case(
        "df.rec(truth=truth).recall(k=1)",
        {
            "df": ROWS.assign(item=ROWS["item"] / 10),
            "truth": TRUTH.assign(item=(TRUTH["item"] / 10).astype("float32")),
        },
        r"for example with (\.astype\('float32'\))",
        "df = df.assign(item=df['item']{})",
    ),
    "truth that repeats pairs": Case(
        "df.rec(truth=truth, min_relevance=1).recall(k=1)",
        {"df": ROWS, "truth": TRUTH_TWICE},
        r"Keep one row of each, as (truth\.sort_values.*keep='last'\))",
        "truth = {}",
    ),
    "truth without the day": Case(
        "df.rec(user=['day', 'user'], truth=truth).recall(k=1)",
        {"df": ROWS.assign(day=1), "truth": TRUTH},
        r"pass truth=(truth\.merge.*how='cross'\)), or",
        "truth = {}",
    ),
    "levels that say nothing": Case(
        "recframe.summary(per_user)",
        {"per_user": PER_USER.set_axis(pd.MultiIndex.from_tuples([("a", "b")]), axis=1)},
        r"Pass (per_user\.rename_axis\(columns=\['score', 'metric'\]\)) or",
        "per_user = {}",
    ),
    "users in a column": Case(
        "recframe.summary(per_user)",
        {"per_user": pd.DataFrame({"user": [1, 2], "a": [0.5, 0.25]})},
        r"or (per_user\.set_index\('user'\))",
        "per_user = {}",
    ),
    "metrics without a score": Case(
        "recframe.summary(per_user)",
        {"per_user": pd.DataFrame({"recall@2": [0.5, 0.25]}, [1, 2])},
        r"Pass (pd\.concat\(\{'model': per_user\}, axis=1\))",
        "per_user = {}",
    ),
    "segments by an index without a name": Case(
        "df.rec.mean('recall@1', by=by)",
        {"df": FRAME, "by": pd.Series(["NL", "BE"], [1, 2], name="country")},
        r"(rename_axis\('user'\))",
        "by = by.{}",
    ),
    "pairs in a dict": Case(
        "recframe.from_lists(lists)",
        {"lists": {1: [(3, 0.5), (1, 0.25)], 2: [(2, 0.5)]}},
        r"[Pp]ass (recframe\.from_lists\(pd\.Series\(lists\)\.rename_axis\('user'\)\))",
        "found = {}",
        "found",
    ),
    "lists as text": Case(
        "recframe.from_lists(frame)",
        {"frame": pd.DataFrame({"user": [1, 2], "items": ["3 1", "2"]})},
        r"[Pp]ass (items='items', sep=' ')",
        "made = recframe.from_lists(frame, {})",
        "made",
    ),
    "truth that is a frame of lists": Case(
        "recframe.truth_from(frame)",
        {"frame": pd.DataFrame({"user": [1, 2], "item": [[1], [2]]}), "df": ROWS},
        r"or (frame\.explode\(column\)) where",
        "column = 'item'; frame = {}",
        "df.rec(truth=frame).recall(k=1)",
    ),
    "best items with an index": Case(
        "recframe.from_topk(items, users=users)",
        {"items": pd.DataFrame(list(LISTS.values()), list("ab")), "users": None},
        r"Pass users=(items\.index) if it does",
        "users = {}",
    ),
    "best items without their index": Case(
        "recframe.from_topk(items)",
        {"items": pd.DataFrame(list(LISTS.values()), list("ab"))},
        r"or (items\.to_numpy\(\))",
        "items = {}",
    ),
    "text for no item": Case(
        "recframe.from_topk(items)",
        {"items": [["a", "nan"], ["b", "c"]]},
        r"for example (np\.where\(.*None, items\))",
        "items = {}",
    ),
    "a matrix with NaN": Case(
        "recframe.from_matrix(scores)",
        {"scores": np.array([[0.5, np.nan], [0.25, 1]])},
        r"Pass (np\.where\(np\.isnan\(scores\), -np\.inf, scores\))",
        "scores = {}",
    ),
    "a frame of scores with NaN": Case(
        "recframe.from_matrix(scores)",
        {"scores": pd.DataFrame([[0.5, np.nan], [0.25, 1]])},
        r"or (scores\.fillna\(-np\.inf\)) of",
        "scores = {}",
    ),
    "scores in a column": Case(
        "recframe.from_groups(score, label, sizes=[2])",
        {"score": np.array([[0.5], [0.25]]), "label": np.array([1, 0])},
        r"Pass (np\.ravel\(score\))",
        "score = {}",
    ),
    "arrays of other indexes": Case(
        "[recframe.metrics.recall_at_k(relevant, score, k=1)]",
        {"relevant": pd.Series([1, 0]), "score": pd.Series([0.5, 1.0], [5, 6])},
        r"[Pp]ass their (to_numpy\(\)) where",
        "relevant, score = relevant.{0}, score.{0}",
    ),
    "a LazyFrame": Case(
        "recframe.rec(frame).recall(k=1)",
        {"frame": pl.from_pandas(FRAME).lazy()},
        r"Pass (frame\.collect\(\)\.to_pandas\(\))",
        "frame = {}",
    ),
    "a Series": Case(
        "recframe.rec(frame).recall(k=1)",
        {"frame": FRAME.set_index(["user", "item", "relevant"])["score"]},
        r"Pass (frame\.reset_index\(\)), in",
        "frame = {}",
    ),
}

# Values by hand are recall@1 of user 1 (rows 1, 0, 1 in order) and of user 2 (0, 1, 0),
# other means, or rows.
NUMBERS = dict.fromkeys(CASES, (0.5, 0.0)) | {
    # The best rows left are not relevant.
    "words among numbers": (0.0, 0.0),
    # The words are y, n, y and n, y, n, so user 2 finds the first one.
    "relevance in words": (0.5, 0.5),
    "numbers beyond floats": (0.0, 0.0),
    "truth of another kind": (1.0, 0.0),
    "fractions of other precision": (1.0, 0.0),
    "truth that repeats pairs": (1.0, 0.0),
    "truth without the day": (1.0, 0.0),
    "levels that say nothing": (0.75,),
    "users in a column": (0.375,),
    "metrics without a score": (0.375,),
    "segments by an index without a name": (0.0, 0.5),
    "pairs in a dict": (1, 3, 0.5, 1, 1, 0.25, 2, 2, 0.5),
    "lists as text": (1, 3, -1, 1, 1, -2, 2, 2, -1),
    "truth that is a frame of lists": (1.0, 0.0),
    "best items with an index": ("a", 3, -1, "a", 1, -2, "a", 2, -3, "b", 2, -1),
    "best items without their index": (0, 3, -1, 0, 1, -2, 0, 2, -3, 1, 2, -1),
    "text for no item": (0, "a", -1, 1, "b", -1, 1, "c", -2),
    "a matrix with NaN": (0, 0, 0.5, 1, 0, 0.25, 1, 1, 1),
    "a frame of scores with NaN": (0, 0, 0.5, 1, 0, 0.25, 1, 1, 1),
    "scores in a column": (0, 1, 0.5, 0, 0, 0.25),
    "arrays of other indexes": (0.0,),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_suggested_runs(name):
    """The call is refused, and gives its values once the suggested expression is used."""
    case = CASES[name]
    values = {"pd": pd, "np": np, "ast": ast, "recframe": recframe, **case.given}
    with pytest.raises(RecframeError) as refused:
        eval(case.call, values)
    found = re.search(case.expression, str(refused.value))
    assert found, str(refused.value)
    exec(case.instead.format(found[1]), values)
    table = np.ravel(eval(case.then or case.call, values)).tolist()
    assert [*NUMBERS[name]] == table[: len(NUMBERS[name])]
