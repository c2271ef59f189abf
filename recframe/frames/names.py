"""Names: what the name of a column says of its role."""

import re
from collections.abc import Hashable

# Names are compared lower-cased, without spaces and underscores.
NAMES = {
    "user": (
        *("user", "userid", "uid", "object", "objectid", "query", "queryid", "qid", "topic"),
        *("customer", "customerid", "visitor", "visitorid", "member", "memberid"),
        *("session", "sessionid", "request", "requestid"),
    ),
    "item": (
        *("item", "items", "itemid", "iid", "doc", "docid", "docno", "document", "documentid"),
        *("product", "productid", "sku", "asin", "movie", "movieid", "track", "trackid", "song"),
        *("songid", "article", "articleid", "video", "videoid", "book", "bookid", "isbn"),
        *("passage", "passageid", "candidate", "candidateid"),
    ),
    "relevant": (
        *("relevant", "relevance", "isrelevant", "rel", "target", "label", "ytrue", "groundtruth"),
        *("grade", "rating", "click", "clicked", "purchased", "bought", "liked"),
    ),
    "score": ("score", "scores", "prediction", "predictions", "pred"),
}
# Words, in the singular, of what is the better the less there is of it.
LESS_IS_BETTER = (
    *("rank", "ranking", "position", "distance", "dist", "loss", "logloss", "error", "cost"),
    *("nll", "mse", "rmse", "mae", "perplexity", "dissimilarity", "penalty"),
)
# Words before "score" in names of what is seldom the score of a model.
NO_MODELS = (
    *("z", "t", "credit", "fico", "risk", "review", "sentiment", "quality"),
    *("relevance", "true", "gold", "target", "human"),
)
TIMES = (
    *("time", "timestamp", "ts", "date", "datetime", "unixtime", "at"),
    *("year", "month", "week", "weekday", "day", "hour", "minute", "second"),
)


def has_role_name(label: Hashable, role: str) -> bool:
    """Return whether a name is one of those that mean a role."""
    return _plain(label) in NAMES[role]


def ends_in_score(label: Hashable) -> bool:
    """Return whether the last word of a name is score or scores."""
    return _words(label)[-1] in ("score", "scores")


def is_no_model(label: Hashable) -> bool:
    """Return whether a name that ends in the word score says that it is of something else."""
    return ends_in_score(label) and _words(label)[-2:-1] in [[word] for word in NO_MODELS]


def less_is_better(label: Hashable) -> bool:
    """Return whether a word of a name, or of a part of a tuple, says that less is better."""
    parts = label if isinstance(label, tuple) else (label,)
    words = [word.rstrip("0123456789") for part in parts for word in _words(str(part))]
    endings = ("", "s", "es")
    return any(word + ending in words for word in LESS_IS_BETTER for ending in endings)


def is_time(label: Hashable) -> bool:
    """Return whether a word of a name says that it is of times."""
    return not set(TIMES).isdisjoint(_words(label))


def _plain(label: Hashable) -> str:
    """Return a name as inference compares it; labels that are not text match nothing."""
    return re.sub(r"[\s_]", "", label).lower() if isinstance(label, str) else ""


def _words(label: Hashable) -> list[str]:
    """Return the words of a name, as "KNNScore" has two; of a label that is not text none."""
    name = label.strip() if isinstance(label, str) else ""
    name = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3 \2", name)
    return [word.lower() for word in re.split(r"[\W_]+", name)]
