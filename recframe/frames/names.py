"""Names: what the name of a column says of its role."""

import re
from collections.abc import Hashable
from functools import lru_cache

from recframe.errors import as_text

N_KEPT = 1 << 10  # names, of which a frame is asked again and again


def _with_id(*words: str) -> list[str]:
    """Return each word, and the word with id."""
    return [name for word in words for name in (word, f"{word}id")]


# Each of a user's sessions may have a ranking, and each query of a session: the finest first.
FINER = (*_with_id("query"), "qid", *_with_id("question", "topic"), "impressionid")
FINER = (*FINER, *_with_id("request", "session"))
# Names are compared lower-cased, without spaces, underscores, hyphens and dots. Those that come
# first are suggested first where several columns have one.
NAMES = {
    "user": (
        *_with_id("user", "query"),
        *("uid", "qid"),
        *_with_id("customer", "member", "visitor", "question", "topic", "object"),
        *("accountid", "clientid", "personid", "profileid", "reviewerid"),
        *_with_id("session", "request"),
        "impressionid",
    ),
    "item": (
        *_with_id("item", "doc", "document", "product", "movie", "track", "song", "article"),
        *_with_id("video", "book", "passage", "chunk", "candidate"),
        *("items", "iid", "docno", "corpusid", "sku", "asin", "isbn", "newsid", "recipeid"),
        *("gameid", "listingid", "businessid", "contentid", "postid"),
    ),
    "score": (
        *("score", "scores", "prediction", "predictions", "pred", "similarity", "sim", "est"),
        *("similarities", "predictedrating"),
    ),
    "relevant": (
        *("relevant", "relevance", "isrelevant", "rel", "isrel", "qrel", "judgment", "judgement"),
        *("label", "target", "groundtruth", "ytrue", "grade", "rating", "rui"),
        *("click", "clicked", "isclicked", "purchased", "bought", "liked"),
    ),
}
# Pieces of names that may mean a role: not enough to take a column for it, but to suggest it.
HINTS = {
    "user": (
        *("user", "usr", "uid", "customer", "cust", "client", "account", "member", "visitor"),
        *("person", "reader", "viewer", "listener", "buyer", "shopper", "player", "reviewer"),
        *("query", "question", "topic", "prompt", "search", "session", "request", "profile"),
        *("household", "playlist", "device", "qid"),
    ),
    "item": (
        *("item", "doc", "product", "prod", "movie", "film", "track", "song", "artist", "article"),
        *("video", "book", "passage", "chunk", "pid", "sku", "asin", "title", "content", "post"),
        *("recipe", "listing", "game", "candidate", "node", "page", "url", "corpus", "news"),
        *("show", "merchant", "business", "place", "course", "job"),
    ),
    "score": (
        *("score", "pred", "predicted", "prediction", "sim", "similarity", "est", "estimate"),
        *("prob", "proba", "probability", "logit", "confidence", "cosine", "dot", "bm25", "tfidf"),
        *("als", "bpr", "svd", "knn", "nmf", "lightfm", "model", "yhat", "relevance"),
    ),
    "relevant": (
        *("rel", "relevant", "relevance", "label", "hit", "click", "clicked", "purchase", "bought"),
        *("purchased", "buy", "ordered", "liked", "like", "gold", "target", "truth", "judgment"),
        *("grade", "rating", "stars", "correct", "positive", "watched", "converted", "conversion"),
        *("true", "gt", "interacted", "interaction", "feedback", "verdict"),
    ),
}
ROLES = {name: role for role, names in NAMES.items() for name in names}
# The last words of names of scores: knn_score, cosine similarity.
SCORES = ("score", "scores", "similarity")
# Names of columns that may hold a list of items, or of items with scores, in each cell.
LISTS = ("recommendations", "recommended", "recommendation", "recs", "topk", "topn", "items")
# Words, in the singular, of what is the better the less there is of it.
LESS_IS_BETTER = (
    *("rank", "ranking", "position", "distance", "dist", "loss", "logloss", "error", "cost"),
    *("nll", "mse", "rmse", "mae", "perplexity", "dissimilarity", "penalty"),
)
LOW_WORDS = frozenset(word + ending for word in LESS_IS_BETTER for ending in ("", "s", "es"))
# Words beside "score" in names of what is seldom the score of a model.
NO_MODELS = (
    *("z", "t", "credit", "fico", "risk", "review", "sentiment", "quality"),
    *("relevance", "true", "gold", "target", "human"),
)
TIMES = (
    *("time", "timestamp", "ts", "date", "datetime", "unixtime", "at"),
    *("year", "month", "week", "weekday", "day", "hour", "minute", "second"),
)
# Words after "score" in names of what is said of a score, beside those above: no model's either.
OF_SCORES = (
    *("id", "name", "type", "kind", "source", "model", "version", "flag", "reason", "label"),
    *("count", "n", "std", "var", "stderr", "diff", "delta", "change", "threshold", "cutoff"),
    *("bin", "bucket", "decile", "quantile", "percentile", "pct"),
)


def find_role(label: Hashable) -> str | None:
    """Return the role that a name means, if any."""
    return ROLES.get(_plain(label))


def has_role_name(label: Hashable, role: str) -> bool:
    """Return whether a name is one of those that mean a role."""
    return find_role(label) == role


def leave_to_ids(labels: list[Hashable]) -> list[Hashable]:
    """Return the labels without those, as "query", beside whose name with id there is another."""
    names = {_plain(label) for label in labels}
    return [label for label in labels if f"{_plain(label)}id" not in names]


def list_examples(role: str, n_names: int) -> list[str]:
    """Return the first names that mean a role, without those that differ by id or number only."""
    names = NAMES[role]
    endings = ("id", "s")
    told = {f"{name}{ending}" for name in names for ending in endings}
    return [name for name in names if name not in told][:n_names]


def has_hint(label: Hashable, role: str) -> bool:
    """Return whether a piece of a name may mean a role."""
    words = [word.rstrip("0123456789") or word for word in _words(label)]
    words += _words(label)
    long = [hint for hint in HINTS[role] if len(hint) > 3]
    is_whole = not set(HINTS[role]).isdisjoint(words)
    return is_whole or any(word.startswith(hint) for word in words for hint in long)


def find_best_named(labels: list[Hashable], role: str) -> Hashable:
    """Return the label to suggest of those whose names mean a role."""
    meant = role.removeprefix("truth_")
    names = (*FINER, *NAMES[meant]) if role == "user" else NAMES[meant]
    return min(labels, key=lambda label: names.index(_plain(label)))


def may_be_score(label: Hashable) -> bool:
    """Return whether a name that is not one of those of scores says that numbers are scores."""
    if not isinstance(label, str) or "s" not in label.lower():
        return False
    words = _words(label)
    if words[-1] in SCORES:
        return True
    no_scores = (*TIMES, *OF_SCORES)
    is_first = words[0] == "score" and len(words) > 1
    return is_first and not less_is_better(label) and set(words[1:]).isdisjoint(no_scores)


def is_no_model(label: Hashable) -> bool:
    """Return whether a name with the word score says that it is of something else."""
    words = _words(label)
    beside = [*words[-2:-1]] if words[-1] in SCORES else []
    beside += words[1:2] if words[0] == "score" else []
    return not set(NO_MODELS).isdisjoint(beside)


def may_hold_lists(label: Hashable) -> bool:
    """Return whether a name says that there may be a list of items in each cell."""
    return _plain(label) in LISTS


def less_is_better(label: Hashable) -> bool:
    """Return whether a word of a name, or of a part of a tuple, says that less is better."""
    parts = label if isinstance(label, tuple) else (label,)
    words = [word.rstrip("0123456789") for part in parts for word in _words(as_text(part))]
    return not LOW_WORDS.isdisjoint(words)


def is_time(label: Hashable) -> bool:
    """Return whether a word of a name says that it is of times."""
    return not set(TIMES).isdisjoint(_words(label))


def _plain(label: Hashable) -> str:
    """Return a name as inference compares it; labels that are not text match nothing."""
    return _plain_text(label) if isinstance(label, str) else ""


@lru_cache(N_KEPT)
def _plain_text(name: str) -> str:
    return re.sub(r"[\s_.-]", "", name).lower()


def _words(label: Hashable) -> tuple[str, ...]:
    """Return the words of a name, as "KNNScore" has two; of a label that is not text none."""
    return _words_of_text(label if isinstance(label, str) else "")


@lru_cache(N_KEPT)
def _words_of_text(text: str) -> tuple[str, ...]:
    name = text.strip()
    name = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3 \2", name)
    return tuple(word.lower() for word in re.split(r"[\W_]+", name))
