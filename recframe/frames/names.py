"""Names: those that mean a role, what is likely, and what is said where names do not tell."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import pandas as pd

from recframe.errors import (
    MissingColumnError,
    RecframeError,
    as_text,
    find_near,
    option,
    quote,
    shorten,
    spell,
    spell_flags,
)
from recframe.frames.kinds import list_lists
from recframe.options import (
    DEFAULTS,
    FILL_IN,
    INFER,
    Options,
    is_key,
    list_changed,
    spell_arguments,
)

N_KEPT = 1 << 10  # names, of which a frame is asked again and again
SHOWN = 12  # labels in a message
N_SPELLED = 64  # columns whose spelling is compared, which takes its time


def _names(*lines: str) -> tuple[str, ...]:
    """Return the words of lines; one with a star stands for itself and itself with id."""
    words = " ".join(lines).split()
    each = ((word[:-1], f"{word[:-1]}id") if word[-1] == "*" else (word,) for word in words)
    return tuple(name for names in each for name in names)


# Each of a user's sessions may have a ranking, and each query of a session: the finest first.
FINER = _names("query* qid question* impressionid request* session*")
# Names are compared lower-cased, without spaces, underscores, hyphens and dots. Those that come
# first are suggested first where several columns have one.
NAMES = {
    "user": _names(
        "user* uid query* qid customer* member* visitor* question* topic* object* accountid",
        "clientid personid profileid reviewerid session* request* impressionid",
    ),
    "item": _names(
        "item* doc* document* product* movie* track* song* article* video* book* passage* chunk*",
        "candidate* items iid docno corpusid sku asin isbn newsid recipeid gameid listingid",
        "businessid contentid postid",
    ),
    "score": _names(
        "score scores prediction predictions pred similarity sim est similarities predictedrating",
        "ypred yscore",
    ),
    "relevant": _names(
        "relevant relevance isrelevant rel isrel qrel judgment judgement label target groundtruth",
        "ytrue grade rating rui click clicked isclicked purchased bought liked",
    ),
}
ROLES = {name: role for role, names in NAMES.items() for name in names}
# Names that mean a role unless a column beside them has a word that begins as these: then either
# may be it.
WEAK = _names("object* question* topic* query* session* request* prediction predictions pred")
LIKELIER = {
    "user": _names("user uid usr cust client member visitor account person student reader viewer"),
    "score": ("proba",),
}
# Names of columns that may tell several rankings of a user apart.
ROLES |= dict.fromkeys(("model", "run", "system", "retriever", "algorithm", "variant"), "model")
LOOKED_FOR = {
    "user": "user, query, uid, qid, customer, …, each with or without id",
    "item": "item, doc, document, product, movie, …, each with or without id",
    "score": "score, prediction, pred, similarity, …, and numbers named as knn_score or score_knn",
    "relevant": "relevant, relevance, isrelevant, rel, isrel, …",
}
# Words, or how long ones begin, that may mean a role beside its names: not enough to take a column
# for it, but to suggest it.
HINTS = {
    "user": _names(
        "usr cust client account person reader viewer listener buyer shopper player search profile"
    ),
    "item": _names(
        "prod film artist pid title content post recipe listing game page url corpus news business"
    ),
    "score": _names(
        "estimate prob logit confidence cosine dot bm25 tfidf als bpr svd knn nmf model yhat"
    ),
    "relevant": _names(
        "hit purchase buy ordered like gold true truth gt stars correct positive watched converted"
    ),
}
# Kinds of dtypes that a role may have, and of the only column left of such a kind that may be it.
KINDS = {"user": ("iuOm", ""), "item": ("iuOm", "iuOm"), "score": ("iuf", "f")}
KINDS["relevant"] = ("biuf", "b")
# The last words of names of scores: knn_score, cosine similarity.
SCORES = ("score", "scores", "similarity")
# Names of columns that may hold a list of items, or of items with scores, in each cell.
LISTS = ("recommendations", "recommended", "recommendation", "recs", "topk", "topn", "items")
# Words, in the singular, of what is the better the less there is of it.
LESS_IS_BETTER = _names(
    "rank ranking position distance dist loss logloss error cost nll mse rmse mae perplexity",
    "dissimilarity penalty",
)
LOW_WORDS = frozenset(word + ending for word in LESS_IS_BETTER for ending in ("", "s", "es"))
# Words beside "score" in names of what is seldom the score of a model.
NO_MODELS = _names("z t credit fico risk review sentiment quality relevance true gold target human")
MOMENTS = _names("time timestamp ts datetime unixtime at minute second")
TIMES = (*MOMENTS, *_names("date year month week weekday day hour"))
# Words of what each row has its own value of, so that no ranking has two rows of one.
OF_ROWS = {*MOMENTS, *_names("event row index uuid")}
# Words after "score" in names of what is said of a score, beside those above: no model's either.
OF_SCORES = _names(
    "id name type kind source model version flag reason label change threshold cutoff bin bucket",
    "decile quantile percentile pct",
)
# Words of such names wherever they stand.
STATISTICS = {*_names("n num count std stddev stderr var variance diff delta upper lower")}

LAST_WORDS = {*_names("id ids code key no nr number sku ean gtin asin isbn")}

TRUTH = pd.DataFrame()  # stands for a frame under the name of truth


class Role(NamedTuple):
    """What is known of a role: how its labels came to be, and these or those that could be it.

    `problem` says what is wrong where "none" or "several" are found, `error` why what was given is
    "refused".
    """

    how: Literal["given", "inferred", "none", "several", "refused"]
    labels: list[Hashable]
    problem: str = ""
    error: RecframeError | None = None

    @property
    def found(self) -> list[Hashable]:
        """The labels that are in the role."""
        return self.labels if self.how in ("given", "inferred") else []


Roles = dict[str, Role]


@lru_cache(N_KEPT)
def find_role(label: Hashable) -> str | None:
    """Return the role that a name means, if any."""
    return ROLES.get(plain_name(label))


@lru_cache(N_KEPT)
def may_be_score(label: Hashable) -> bool:
    """Return whether a name that is not one of those of scores says that numbers are scores."""
    words = _words(label)
    is_first = words[0] == "score" and len(words) > 1 and not less_is_better(label)
    if not STATISTICS.isdisjoint(words):
        return False
    return words[-1] in SCORES or (is_first and {*TIMES, *OF_SCORES}.isdisjoint(words[1:]))


@lru_cache(N_KEPT)
def is_no_model(label: Hashable) -> bool:
    """Return whether a name with the word score says that it is of something else."""
    words = _words(label)
    before = words[-2:-1] if words[-1] in SCORES else ()
    after = words[1:2] if words[0] == "score" else ()
    return not {*before, *after}.isdisjoint(NO_MODELS)


@lru_cache(N_KEPT)
def less_is_better(label: Hashable) -> bool:
    """Return whether a word of a name, or of a part of a tuple, says that less is better."""
    return not LOW_WORDS.isdisjoint(word.rstrip("0123456789") for word in _words(as_text(label)))


def is_likelier(label: Hashable, dtype: Any, role: str) -> bool:
    """Return whether a column whose name means no role may rather have one than a weak name."""
    is_other = find_role(label) is not None or dtype.kind not in (*KINDS[role][0], "O")
    return not is_other and any(word.startswith(LIKELIER[role]) for word in _words(label))


def is_time(label: Hashable) -> bool:
    """Return whether a word of a name says that it is of times."""
    return not set(TIMES).isdisjoint(_words(label))


def means_ids(label: Hashable) -> bool:
    """Return whether the last word of a name is one of ids."""
    return not LAST_WORDS.isdisjoint(_words(label)[-1:])


def is_of_row(label: Hashable) -> bool:
    """Return whether a name says that each row has its own value, as of a log's events."""
    return plain_name(label) == "id" or not OF_ROWS.isdisjoint(_words(label))


def is_same(name: Any, label: Any) -> bool:
    """Return whether two labels are one."""
    try:
        return name is label or bool(name == label)
    except Exception:  # what cannot be compared, as pd.NA, is the same as itself only
        return False


def is_infer(label: object) -> bool:
    """Return whether a label asks for inference."""
    return isinstance(label, str) and label == INFER


def as_labels(given: Any) -> list[Hashable]:
    """Return one label, or a list of labels, as a list; of None none."""
    return list(given) if isinstance(given, list) else [] if given is None else [given]


def leave_out(labels: Iterable[Hashable], taken: Iterable[Hashable]) -> list[Hashable]:
    """Return the labels that are not taken."""
    taken = set(taken)
    return [label for label in labels if label not in taken]


def shown(labels: list[Any]) -> str:
    """Return labels for a message, the first few of many."""
    shown = shorten(", ".join(map(quote, labels[:SHOWN]))) or "no columns"
    return shown + (f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else "")


def _find_likely(role: str, free: list[tuple[Hashable, Any]]) -> list[Hashable]:
    """Return the columns that may be meant: by words of names, by spelling, as the last left."""
    fitting_kinds, last_kinds = KINDS[role]
    fitting = [(label, dtype) for label, dtype in free if dtype.kind in fitting_kinds]
    low = [one for one in fitting if role == "score" and less_is_better(one[0])]
    high = leave_out([label for label, _ in fitting], [label for label, _ in low])
    if hinted := [label for label in high if _has_hint(label, role)]:
        return hinted if role == "score" else hinted[:1]
    texts = [label for label in high[:N_SPELLED] if isinstance(label, str) and len(label) > 3]
    if near := [label for label in texts if find_near(label.lower(), NAMES[role], 0.8)]:
        return [near[0]]
    if low:  # a rank is counted from scores or distances, which tell ties apart from it
        return [min(low, key=lambda one: one[1].kind != "f")[0]]
    left = [label for label, dtype in free if dtype.kind in last_kinds]
    left = [label for label in left if not any(_has_hint(label, other) for other in HINTS)]
    return left if len(left) == 1 else []


def list_fields(frame: pd.DataFrame) -> list[tuple[Hashable, Any]]:
    """Return the label and dtype of each column, and of each index level that has a name."""
    levels = getattr(frame.index, "levels", [frame.index])
    named = [(level.name, level.dtype) for level in levels if level.name is not None]
    return [*zip(frame.columns, frame.dtypes, strict=True), *named]


def list_labels(frame: pd.DataFrame, taken: Iterable[Hashable] = ()) -> list[Hashable]:
    """Return the labels of all columns and of the named index levels that are not taken."""
    levels = [name for name in frame.index.names if name is not None]
    return leave_out([*frame.columns, *levels], taken)


def check_label(frame: pd.DataFrame, role: str, *given: Hashable) -> None:
    """Raise unless the labels given for a role name one column each, and none twice."""
    if not given:
        raise RecframeError(f"{role} must name at least one column, found an empty list")
    labels = list_labels(frame)
    n_columns, seen = Counter(labels), set()
    for label in given:
        if not is_key(label) or n_columns[label] == 0:
            near = find_near(label, labels)
            hint = f"; did you mean {quote(near[0])}?" if near else ""
            if role in ("score", "user") and isinstance(label, tuple):
                hint = "; several columns are passed as a list, a tuple is one label"
            raise MissingColumnError(
                f"{role}={quote(label)}: no such column; the frame has {shown(labels)}{hint}"
            )
        if n_columns[label] > 1:
            raise RecframeError(
                f"{role}={quote(label)}: {n_columns[label]} columns (or index levels) have that "
                "name; rename them"
            )
        if label in seen:
            raise RecframeError(f"{role} must name different columns, found {quote(label)} twice")
        seen.add(label)


def check_roles(
    frame: pd.DataFrame, roles: Roles, options: Options, call: str = "", remedy: str = ""
) -> None:
    """Raise where a role has no label, or could have several, and where two roles have one.

    The message tells of all roles, and of this remedy or that in `call`, as in "df.rec".
    """
    for role in roles.values():
        if role.error is not None:
            raise role.error
    wrong = {name: role for name, role in roles.items() if role.problem}
    labels = list_labels(frame)
    if wrong:
        said = [f"{name}: {role.problem}" for name, role in wrong.items()]
        found = [f"{name} is {shown(role.labels)}" for name, role in roles.items() if role.found]
        said += [", ".join(found)] if found else []
        said.append(f"the frame has {shown(labels)}")
        answers: dict[str, Any] = {}
        if not remedy:
            arguments, others = find_remedy(frame, roles, options)
            whole = list_changed(options) | arguments if call else arguments
            python = ", ".join(spell_arguments(whole))
            ordered = {name: arguments[name] for name in DEFAULTS if name in arguments}
            ordered |= {name: "FILE" for name, value in ordered.items() if value is TRUTH}
            passed = spell(f"{call}({python})" if call else python, spell_flags(ordered))
            remedy, answers = f"pass {passed}{others}", arguments
        said.append(remedy)
        held = list_lists(frame)
        lists = list(map(quote, held))
        lists = lists or [quote(label) for label in labels if plain_name(label) in LISTS]
        if lists and "score" in wrong and wrong["score"].how == "none":
            said.append(f"where {lists[0]} holds lists, recframe.from_lists makes rows of them")
            answers = {"from_lists": True} if held else answers
        is_missing = any(role.how == "none" for role in wrong.values())
        is_open = any(value is FILL_IN or value is TRUTH for value in answers.values())
        kind = MissingColumnError if is_missing else RecframeError
        raise kind("; ".join(said), {} if is_open else answers)
    role_of: dict[Hashable, str] = {}
    for name, role in roles.items():
        for label in role.labels:
            if label in role_of:
                raise RecframeError(
                    f"{role_of[label]} and {name} are the same column, {quote(label)}; "
                    f"pass {role_of[label]}= and {name}= as different columns"
                )
            role_of[label] = name


def find_remedy(frame: pd.DataFrame, roles: Roles, options: Options) -> tuple[dict[str, Any], str]:
    """Return the arguments that name the roles with a problem, and what else can be done."""
    arguments: dict[str, Any] = {}
    taken = {label for role in roles.values() for label in role.found}
    for name, role in roles.items():
        if not role.problem:
            continue
        meant = name.removeprefix("truth_")
        if role.labels and name == "score":
            models = [label for label in role.labels if not is_no_model(label)]
            likely = [label for label in models if plain_name(label) not in WEAK] or models
        elif role.labels:
            names = (*FINER, *NAMES[meant]) if name == "user" else NAMES[meant]
            likely = [label for label in role.labels if find_role(label) is None][:1]
            likely = likely or [min(role.labels, key=lambda label: names.index(plain_name(label)))]
        else:
            fields = list_fields(frame)
            free = [one for one in fields if one[0] not in taken and not is_time(one[0])]
            free = [one for one in free if STATISTICS.isdisjoint(_words(one[0]))]
            likely = _find_likely(meant, free)
            if name == "score" and frame.columns.name is not None:  # of a pivot, of models
                likely = [label for label, dtype in free if dtype.kind == "f"] or likely
        if name == "relevant" and not likely and "item" in roles and roles["item"].found:
            arguments["truth"] = TRUTH
            continue
        taken.update(likely)
        arguments[name] = FILL_IN if not likely else likely[0] if len(likely) == 1 else likely
        if name == "score" and options.ascending is None and any(map(less_is_better, likely)):
            is_low = [less_is_better(label) for label in likely]
            arguments["ascending"] = True if len(likely) == 1 else is_low
    none = [name for name, role in roles.items() if role.how == "none"]
    is_open = any(value is FILL_IN for value in arguments.values())
    others = ", with the right column in place of ..." if is_open else ""
    if "user" in none and "score" in roles:
        others += f", or {option('user', None)} for one ranking"
    if "truth" in arguments:
        python = ", with the frame of relevant pairs as truth, or relevant= a column"
        others += spell(python, ", the relevant pairs, or --relevant with a column")
    elif "relevant" in none and not options.has_truth:
        pairs = spell("truth= the frame of relevant pairs", "--truth FILE, the relevant pairs")
        others += f", or {pairs}"
    return arguments, others


def _has_hint(label: Hashable, role: str) -> bool:
    """Return whether a word of a name may mean a role."""
    words = {*_words(label), *(word.rstrip("0123456789") for word in _words(label))}
    hints = (*NAMES[role], *HINTS[role])
    begins = tuple(hint for hint in hints if len(hint) > 3)
    return not words.isdisjoint(hints) or any(word.startswith(begins) for word in words)


def plain_name(label: Hashable) -> str:
    """Return a name as inference compares it; labels that are not text match nothing."""
    return re.sub(r"[\s_.-]", "", label).lower() if isinstance(label, str) else ""


def _words(label: Hashable) -> tuple[str, ...]:
    """Return the words of a name, as "KNNScore" has two; of a label that is not text none."""
    name = label.strip() if isinstance(label, str) else ""
    name = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3 \2", name)
    return tuple(word.lower() for word in re.split(r"[\W_]+", name))
