"""Words in the names of columns that tell something about the values."""

import re
from collections.abc import Hashable
from functools import lru_cache

from recframe.errors import as_text

N_KEPT = 1 << 10  # names whose answers are cached


def _words(text: str) -> set[str]:
    """Return the words of a text."""
    return {*text.split()}


SCORES = {"score", "scores", "similarity"}
LESS_IS_BETTER = _words(
    "rank ranking position distance dist loss logloss error cost nll mse rmse mae perplexity "
    "dissimilarity penalty"
)
LOW_WORDS = {word + ending for word in LESS_IS_BETTER for ending in ("", "s", "es")}
# A score with one of these words next to it is seldom the score of a model.
NO_MODELS = _words("z t credit fico risk review sentiment quality relevance true gold target human")
MOMENTS = _words("time timestamp ts datetime unixtime at minute second")
TIMES = MOMENTS | _words("date year month week weekday day hour")
# Each row has its own value of these, so no two rows of a ranking share one.
ROW_WORDS = MOMENTS | _words("event row index uuid")
# After "score" these words say that the column tells something about a score, as times do.
ABOUT_SCORES = TIMES | _words(
    "id name type kind source model version flag reason label change threshold cutoff bin bucket "
    "decile quantile percentile pct"
)
STATISTICS = _words("n num count std stddev stderr var variance diff delta upper lower")
ID_WORDS = _words("id ids code key no nr number sku ean gtin asin isbn")


@lru_cache(N_KEPT)
def may_be_score(label: Hashable) -> bool:
    """Return whether the words of a name, such as knn_score, say that numbers are scores."""
    words = split_words(label)
    is_first = words[0] == "score" and len(words) > 1 and not less_is_better(label)
    is_score = words[-1] in SCORES or (is_first and ABOUT_SCORES.isdisjoint(words[1:]))
    return is_score and STATISTICS.isdisjoint(words)


@lru_cache(N_KEPT)
def is_no_model(label: Hashable) -> bool:
    """Return whether a name with the word score, such as credit_score, is seldom a model's."""
    words = split_words(label)
    before = words[-2:-1] if words[-1] in SCORES else ()
    after = words[1:2] if words[0] == "score" else ()
    return not NO_MODELS.isdisjoint((*before, *after))


@lru_cache(N_KEPT)
def less_is_better(label: Hashable) -> bool:
    """Return whether a word of a label, which may be a tuple, says that less is better."""
    words = split_words(as_text(label))
    return not LOW_WORDS.isdisjoint(word.rstrip("0123456789") for word in words)


def is_time(label: Hashable) -> bool:
    """Return whether a word of a name stands for a time."""
    return not TIMES.isdisjoint(split_words(label))


def means_ids(label: Hashable) -> bool:
    """Return whether the last word of a name stands for ids."""
    return split_words(label)[-1] in ID_WORDS


def is_of_row(label: Hashable) -> bool:
    """Return whether a name, such as event_id, says that each row has its own value."""
    words = split_words(label)
    return words == ("id",) or not ROW_WORDS.isdisjoint(words)


def split_words(label: Hashable) -> tuple[str, ...]:
    """Return the words of a name: two for "KNNScore", one empty word if it is no text."""
    name = label.strip() if isinstance(label, str) else ""
    name = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3 \2", name)
    return tuple(word.lower() for word in re.split(r"[\W_]+", name))
