"""Models: a column that says which model a row is of, so that each has a ranking of its own."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, option, quote
from recframe.frames.columns import Columns
from recframe.frames.ids import sort_ids
from recframe.frames.overlap import plain
from recframe.frames.values import Scores
from recframe.kernel.grouping import Repeats
from recframe.kernel.threads import Array
from recframe.options import Models, Options

MAX_MODELS = 1_000  # more are rather ids


def find_models(label: Hashable, column: pd.Series, options: Options) -> Models:
    """Return the models that a column holds, sorted; raise for what they cannot be evaluated by."""
    options.check_unordered("a frame with a row for each model")
    if options.duplicates == "keep":
        raise RecframeError(
            f"duplicates='keep' with model={quote(label)}: one row of a user, item and model "
            f"counts; pass {option('duplicates', 'max')} for the best"
        )
    found = plain(pd.Index(column.drop_duplicates(), tupleize_cols=False))
    present = found.dropna()
    if len(present) < len(found) and options.missing == "raise":
        raise RecframeError(
            f"model={quote(label)}: must not be null, found null in some rows; pass "
            f"{option('missing', 'unranked')} to rank these by no model but count their relevance, "
            f"or {option('missing', 'drop')} to remove them",
            {"missing": "unranked"},
        )
    if len(present) == 0:
        raise RecframeError(
            f"model={quote(label)}: must hold one model or more, found none in any row"
        )
    if len(present) > MAX_MODELS:
        raise RecframeError(
            f"model={quote(label)}: must hold at most {MAX_MODELS:,} models, found "
            f"{len(present):,} values (such as {quote(present.tolist()[0])})"
        )
    return Models(label, present.take(sort_ids(present)).tolist())


def part_scores(scores: Scores, column: pd.Series, columns: Columns) -> tuple[Scores, Array]:
    """Return the scores of each model, which ranks its own rows, and the number of each row's.

    It is the model's position among the scores, -1 for none of them.
    """
    codes, found = pd.factorize(column)
    names = pd.Index(columns.scores, tupleize_cols=False)
    place = names.get_indexer(plain(pd.Index(found, tupleize_cols=False)))
    models, of_models = np.append(place, -1)[codes], {}
    ((values, is_ranked),) = scores.values()
    for number, name in enumerate(columns.scores):
        is_own = models == number
        of_models[name] = values, is_own if is_ranked is None else is_own & is_ranked
    return of_models, models


def check_same_relevance(relevance: pd.Series, repeats: Repeats) -> None:
    """Raise where rows of one user and item differ in relevance, whatever models they are of."""
    own, first = relevance.iloc[repeats.rows].array, relevance.iloc[repeats.first].array
    differs = np.flatnonzero(np.asarray(own != first))
    if len(differs):
        both = f"{quote(first[differs[0]])} and {quote(own[differs[0]])}"
        raise RecframeError(
            f"relevant={quote(relevance.name)}: a user and item must have one relevance in the "
            f"rows of all models, found {len(differs):,} rows with another (such as {both}); pass "
            f"{option('duplicates', 'max')} for the highest, or the relevant pairs as truth",
            {"duplicates": "max"},
        )
