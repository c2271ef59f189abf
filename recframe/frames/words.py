"""Words: what the words of a column's name say of its values, beyond the names of roles."""

import re
from collections.abc import Hashable
from functools import lru_cache

from recframe.errors import as_text


def _set(*lines: str) -> set[str]:
    """Return the words of lines."""
    return {*" ".join(lines).split()}


N_KEPT = 1 << 10  # names, of which a frame is asked again and again
SCORES = {"score", "scores", "similarity"}
LESS_IS_BETTER = _set(
    "rank ranking position distance dist loss logloss error cost nll mse rmse mae perplexity",
    "dissimilarity penalty",
)
LOW_WORDS = {word + ending for word in LESS_IS_BETTER for ending in ("", "s", "es")}
# Next to "score" these words say that it is seldom the score of a model.
NO_MODELS = _set("z t credit fico risk review sentiment quality relevance true gold target human")
MOMENTS = _set("time timestamp ts datetime unixtime at minute second")
TIMES = MOMENTS | _set("date year month week weekday day hour")
# Each row has its own value of these, so no ranking has two rows with one.
OF_ROWS = MOMENTS | _set("event row index uuid")
# After "score" these words, like times, say that the column tells something about a score.
OF_SCORES = TIMES | _set(
    "id name type kind source model version flag reason label change threshold cutoff bin bucket",
    "decile quantile percentile pct",
)
STATISTICS = _set("n num count std stddev stderr var variance diff delta upper lower")
IDS = _set("id ids code key no nr number sku ean gtin asin isbn")


@lru_cache(N_KEPT)
def may_be_score(label: Hashable) -> bool:
    """Return whether the words of a name, such as knn_score, say that numbers are scores."""
    words = split_words(label)
    is_first = words[0] == "score" and len(words) > 1 and not less_is_better(label)
    is_score = words[-1] in SCORES or (is_first and OF_SCORES.isdisjoint(words[1:]))
    return is_score and STATISTICS.isdisjoint(words)


@lru_cache(N_KEPT)
def is_no_model(label: Hashable) -> bool:
    """Return whether a name with the word score, such as credit_score, is seldom of a model."""
    words = split_words(label)
    before = words[-2:-1] if words[-1] in SCORES else ()
    after = words[1:2] if words[0] == "score" else ()
    return not NO_MODELS.isdisjoint((*before, *after))


@lru_cache(N_KEPT)
def less_is_better(label: Hashable) -> bool:
    """Return whether a word of a name, or of a part of a tuple, says that less is better."""
    words = split_words(as_text(label))
    return not LOW_WORDS.isdisjoint(word.rstrip("0123456789") for word in words)


def is_time(label: Hashable) -> bool:
    """Return whether a name has a word for times."""
    return not TIMES.isdisjoint(split_words(label))


def means_ids(label: Hashable) -> bool:
    """Return whether the last word of a name is one of ids."""
    return split_words(label)[-1] in IDS


def is_of_row(label: Hashable) -> bool:
    """Return whether a name, such as event_id, says that each row has its own value."""
    words = split_words(label)
    return words == ("id",) or not OF_ROWS.isdisjoint(words)


def split_words(label: Hashable) -> tuple[str, ...]:
    """Return the words of a name: "KNNScore" has two, a label that is not text one empty word."""
    name = label.strip() if isinstance(label, str) else ""
    name = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3 \2", name)
    return tuple(word.lower() for word in re.split(r"[\W_]+", name))
