"""Words in the names of columns that tell something about the values."""

import re
from collections.abc import Hashable, Iterable
from functools import lru_cache

from recframe.errors import as_text

INDEX = re.compile(r"(level_\d+|__index_level_\d+__|Unnamed: \d+(\.\d+)?)?")
N_KEPT = 1 << 10  # names whose answers are cached
MEANINGS_OF_WORDS = {
    "score": "score scores similarity",
    "rank": "rank ranking position",
    "new": "new final llm gpt rerank reranked reranker predicted pred model after",
    "less is better": "distance dist loss logloss error cost nll mse rmse mae perplexity "
    "dissimilarity penalty divergence kl surprisal energy neglogprob",
    # These mean so alone: prob_pos and score_l2 are scores.
    "rank alone": "pos rnk",
    "distance alone": "l1 l2 euclidean hamming manhattan",
    # A score with one of these words next to it is seldom the score of a model.
    "extreme": "max min",
    "no model": "z t credit fico risk review sentiment quality relevance true gold target human "
    "judge rater rubric annotator label faithfulness",
    "statistic": "n num count std stddev stderr var variance diff delta upper lower",
    # After "score" these words say that the column tells something about a score, as times do.
    "about scores": "id name type kind source model version flag reason label change threshold "
    "cutoff bin bucket decile quantile percentile pct",
    "moment": "time timestamp ts datetime unixtime at minute second",
    # Next to a moment these words say that time was spent, as dwell_time does.
    "spent": "spent dwell watch watched watching play played playing view viewing listen listening "
    "read reading engagement",
    # Columns of these are attributes of rows, and say nothing about relevance.
    "attribute": "price prices cost amount revenue currency coupon lat lon lng latitude longitude "
    "country device platform os channel page latency age gender annotator answer category genre "
    "brand language color",
    "place": "rank ranking position order ago",  # Names that end in these are attributes too.
    # Words that say that a value may be the relevance of a pair.
    "grade": "grade grades star stars relevance relevant judgment verdict preference like label "
    "hit positive correct used cited",
    "flag": "is has contains",  # Names that begin with these say yes or no.
    "part": "chunk passage paragraph sentence span",  # Documents have several of these.
    # These say that truth has a relevant item, or items that are not relevant.
    "gold": "gold pos positive positives expected correct",
    "negative": "neg negs negative negatives distractor distractors",
    "period": "date year month week weekday day hour dt ds dat snapshot quarter wk ym yearmonth "
    "yearweek isoweek weekofyear yyyymm yyyymmdd",
    "cycle": "hour weekday dow minute second",
    # Each row has its own value of these and of moments, so no two rows of a ranking share one.
    "row": "event row index uuid",
    "id": "id ids qid uid iid docno code key no nr number sku ean gtin asin isbn zip fold",
    "model": "model run system variant recommender retriever reranker ranker algo algorithm",
    "number": "idx index uuid",  # A name that ends in these gives way to that of another id.
    # A code with one of these words may say whether a pair is relevant, as event_type_id does.
    "outcome": "event action type status state feedback rating response reaction outcome number no",
}
BY_MEANING = {meaning: frozenset(words.split()) for meaning, words in MEANINGS_OF_WORDS.items()}
BY_MEANING["time"] = BY_MEANING["moment"] | BY_MEANING["period"]


def split_words(label: Hashable) -> tuple[str, ...]:
    """Return the words of a name: two for "KNNScore", one empty word if it is no text."""
    name = label.strip() if isinstance(label, str) else ""
    name = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3 \2", name)
    return tuple(word.lower() for word in re.split(r"[\W_]+", name))


def has_meaning(words: Iterable[str], *meanings: str) -> bool:
    """Return whether one of the words has one of the meanings."""
    return any(not BY_MEANING[meaning].isdisjoint(words) for meaning in meanings)


@lru_cache(N_KEPT)
def has_word(label: Hashable, *meanings: str) -> bool:
    """Return whether a word of a name has one of the meanings."""
    return has_meaning(split_words(label), *meanings)


def ends_in(label: Hashable, *meanings: str) -> bool:
    """Return whether the last word of a name has one of the meanings."""
    return has_meaning(split_words(label)[-1:], *meanings)


@lru_cache(N_KEPT)
def may_be_score(label: Hashable) -> bool:
    """Return whether the words of a name, such as knn_score, say that numbers are scores."""
    first, *others = split_words(label)
    is_score = ends_in(label, "score")
    if first == "score" and others and not less_is_better(label):
        is_score |= not has_meaning(others, "about scores", "time")
    return is_score and not has_word(label, "statistic")


@lru_cache(N_KEPT)
def is_no_model(label: Hashable) -> bool:
    """Return whether a score, such as credit_score, is by its name seldom a model's."""
    words = split_words(label)
    next_to_score = words[-2:-1] if ends_in(label, "score") else words[1:2]
    return has_meaning(next_to_score, "no model", "extreme")


@lru_cache(N_KEPT)
def less_is_better(label: Hashable) -> bool:
    """Return whether a word of a label, which may be a tuple, says that less is better.

    A ranking_score is a score, a neg_log_prob is as low as its probability is high, an l2_score is
    a distance, and a score_l2 that of a model.
    """
    words = split_words(as_text(label))
    plain = [word.rstrip("0123456789") for word in words]
    singular = [word.removesuffix(ending) for word in plain for ending in ("", "s", "es")]
    is_alone = len(words) == 1 and has_meaning(words, "rank alone", "distance alone")
    is_alone |= words[1:] == ("score",) and has_meaning(words, "distance alone")
    is_alone |= words[:1] == ("neg",) and "product" in words  # Pgvector negates it.
    is_low = is_alone or {"neg", "log"} <= {*words} or has_meaning(singular, "less is better")
    return is_low or (has_meaning(singular, "rank") and not has_meaning(words[-1:], "score"))


def means_rank(label: Hashable) -> bool:
    """Return whether the last word of a name stands for the position of a row in a ranking."""
    is_alone = len(split_words(label)) == 1 and has_word(label, "rank alone")
    return is_alone or ends_in(label, "rank")


def may_rank_anew(label: Hashable) -> bool:
    """Return whether a name, such as rank or llm_rank, may be of the ranking to evaluate.

    A position alone may be that which users saw, and a popularity_rank is an attribute.
    """
    words = {*split_words(label)} - {"rank", "ranking"}
    is_alone = "position" in words and len(words) == 1
    return has_word(label, "rank") and not is_alone and words <= BY_MEANING["new"] | {"position"}


def is_id_without_outcome(label: Hashable) -> bool:
    """Return whether a name, such as store_id, says that values are ids and no outcomes."""
    return ends_in(label, "id") and not has_word(label, "outcome")


def is_attribute(label: Hashable) -> bool:
    """Return whether a name, such as price or chunk, tells something other than relevance.

    A chunk_relevance and has_answer tell relevance.
    """
    is_named = has_word(label, "grade") or has_meaning(split_words(label)[:1], "flag")
    return ends_in(label, "place") or (has_word(label, "attribute", "part") and not is_named)


def may_be_gold(label: Hashable) -> bool:
    """Return whether a name, such as gold or positive_id, says that values are relevant items."""
    return has_word(label, "gold") and ends_in(label, "gold", "id")


def is_index(label: Hashable) -> bool:
    """Return whether a column was the index of a table in pandas."""
    return isinstance(label, str) and INDEX.fullmatch(label.strip()) is not None


def is_of_row(label: Hashable) -> bool:
    """Return whether a name, such as event_id, says that each row has its own value."""
    words = split_words(label)
    is_kind = words[-1] in ("name", "type")  # An event_type is shared by rows.
    return words == ("id",) or (not is_kind and has_meaning(words, "row", "moment"))
