"""The recipes: each runs on the shape of data that it is of, and prints what it shows."""

import doctest
import re

import pandas as pd
import pytest

import recframe
import shapes
from recframe import recipes

# A recipe and the names that its calls find, as the tool of its shape gives them.
GIVEN = {
    "MovieLens": {"df": shapes.movielens},
    "Surprise": {"df": shapes.surprise},
    "Spark ALS": {
        "df": shapes.spark_als,
        "recs": shapes.spark_recommendations,
        "test": shapes.spark_test,
    },
    "A matrix of scores": {"scores": shapes.score_matrix, "test": shapes.csr_test},
    "A vector store": {"df": shapes.vector_store, "gold": shapes.gold_pairs},
    "The log of a RAG system": {"df": shapes.rag_log},
    "The log of an A/B test": {"df": shapes.ab_log},
    "TREC": {"run": shapes.trec_run, "qrels": shapes.trec_qrels},
    "Runs as dicts": {"runs": shapes.run_dicts, "qrels": shapes.qrels_dict},
    "Arrays of a ranker": {
        name: lambda number=number: shapes.ranker_arrays()[number]
        for number, name in enumerate(["label", "predicted", "sizes"])
    },
    "Two models": {"df": shapes.two_models},
    "Lists": {"recs": shapes.topk_lists, "df": shapes.topk_frame, "test": shapes.truth_sets},
}
_, *PARTS = re.split("^## ", recipes.__doc__ or "", flags=re.MULTILINE)


def test_every_shape_has_a_recipe():
    """The recipes are of the shapes, one each, in their order."""
    assert len(GIVEN) == len(PARTS)
    assert all(part.startswith(name) for name, part in zip(GIVEN, PARTS, strict=True))


@pytest.mark.parametrize("name", GIVEN)
def test_recipe(name):
    """The calls of a recipe print what it shows, in a terminal of 80 columns."""
    given = {label: make() for label, make in GIVEN[name].items()}
    part = next(part for part in PARTS if part.startswith(name))
    example = doctest.DocTestParser().get_doctest(
        part, {"pd": pd, "recframe": recframe, **given}, name, None, 0
    )
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    with pd.option_context("display.width", 80):
        runner.run(example)

    assert (0, True) == (runner.failures, runner.tries >= 2)
