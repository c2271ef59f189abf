"""Names: those that mean a role, and what is asked where names do not tell."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import pandas as pd

from recframe.errors import (
    Choice,
    MissingColumnError,
    RecframeError,
    as_text,
    find_near,
    quote,
    shorten,
    spell,
    spell_flags,
)
from recframe.frames.kinds import list_lists
from recframe.options import (
    DEFAULTS,
    INFER,
    Options,
    is_key,
    list_changed,
    spell_arguments,
)

N_KEPT = 1 << 10  # names, of which a frame is asked again and again
SHOWN = 12  # labels in a message


def _names(*lines: str) -> tuple[str, ...]:
    """Return the words of lines; one with a star stands for itself and itself with id."""
    words = " ".join(lines).split()
    each = ((word[:-1], f"{word[:-1]}id") if word[-1] == "*" else (word,) for word in words)
    return tuple(name for names in each for name in names)


# Names are compared lower-cased, without spaces, underscores, hyphens and dots.
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
# Names of columns that may tell several rankings of a user apart.
ROLES |= dict.fromkeys(("model", "run", "system", "retriever", "algorithm", "variant"), "model")
LOOKED_FOR = {
    "user": "user, query, uid, qid, customer, …, each with or without id",
    "item": "item, doc, document, product, movie, …, each with or without id",
    "score": "score, prediction, pred, similarity, …, and numbers named as knn_score or score_knn",
    "relevant": "relevant, relevance, isrelevant, rel, isrel, …",
}
# Kinds of dtypes that a role may have, and of the only column left, which then has it.
KINDS = {"score": ("iuf", "f"), "user": ("iuOUm", ""), "item": ("iuOUm", "iuOUm")}
KINDS["relevant"] = ("biufOU", "")
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
        if label is ...:
            raise MissingColumnError(
                f"{role}=... stands for a column of your choice; the frame has {shown(labels)}"
            )
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
        held, answers = list_lists(frame), dict[str, Any]()
        values = [label for label in labels if isinstance(label, str) and _is_value(label)]
        if not remedy and 2 * len(values) > len(labels):
            remedy = (
                f"the first row looks like values ({shown(values)}), not like names: write a header"
                " before it, or pass pd.read_csv(path, names=['user', 'item', 'score', 'relevant'])"
            )
        elif not remedy:
            answers = find_answers(frame, roles, options)
            whole = list_changed(options) | answers if call else answers
            python = ", ".join(spell_arguments(whole))
            passed = spell(f"{call}({python})" if call else python, spell_flags(answers))
            remedy = f"pass {passed}{say_choices(answers)}"
        if held and "score" in wrong and wrong["score"].how == "none":
            answers = {"from_lists": True}
        said += [remedy, *_say_lists(frame, held, wrong)]
        is_missing = any(role.how == "none" for role in wrong.values())
        kind = MissingColumnError if is_missing else RecframeError
        raise kind("; ".join(said), answers)
    role_of: dict[Hashable, str] = {}
    for name, role in roles.items():
        for label in role.labels:
            if label in role_of:
                raise RecframeError(
                    f"{role_of[label]} and {name} are the same column, {quote(label)}; "
                    f"pass {role_of[label]}= and {name}= as different columns"
                )
            role_of[label] = name


def _say_lists(frame: pd.DataFrame, held: list[Hashable], wrong: Roles) -> list[str]:
    """Return what can be done where columns hold lists, as parts of a sentence."""
    said, lists = list[str](), held or [one for one in frame if plain_name(one) in LISTS]
    if lists and "score" in wrong and wrong["score"].how == "none":
        first = quote(lists[0])
        said.append(f"where {first} holds lists, recframe.from_lists makes rows of them")
        if held and find_role(held[0]) == "score" and set(frame[held[0]].head().map(len)) == {1}:
            said.append(f"where each is one number, pass df.assign(score=df[{first}].str[0])")
    if lists and "user" in wrong and wrong["user"].how == "none":
        said.append("where each row is a ranking, frame.reset_index(names='user') numbers them")
    return said


def say_choices(answers: Mapping[str, Any]) -> str:
    """Return what may stand in place of each ... of a call, as the end of a sentence."""
    choices = {name: str(one) for name, one in answers.items() if isinstance(one, Choice)}
    said = [f"{name} is {words or 'a column'}" for name, words in choices.items()]
    return f"{', where ' * bool(said)}{'; '.join(said)}"


def _is_value(label: str) -> bool:
    """Return whether a label is a number, which is the cell of a file without a header."""
    return re.fullmatch(r"-?\d+(\.\d+)?([eE]-?\d+)?", label.strip()) is not None


def find_answers(frame: pd.DataFrame, roles: Roles, options: Options) -> dict[str, Any]:
    """Return the options that name the roles with a problem: what the data settle, or a choice."""
    answers: dict[str, Any] = {}
    lists = set(list_lists(frame))
    free = {label: dtype.kind for label, dtype in list_fields(frame) if not is_time(label)}
    free = {label: kind for label, kind in free.items() if label not in lists}
    for label in (label for role in roles.values() for label in role.found):
        free.pop(label, None)
    for name in sorted(roles, key=lambda name: [*KINDS].index(name.removeprefix("truth_"))):
        role, meant = roles[name], name.removeprefix("truth_")
        if not role.problem:
            continue
        may_be, is_it = KINDS[meant]
        kinds = {label: kind for label, kind in free.items() if kind in may_be and not role.labels}
        alone = [label for label, kind in kinds.items() if kind in is_it]
        alone = [*kinds] if name == "score" and len(kinds) == 1 else alone
        if len(alone) == 1 or (name == "score" and frame.columns.name is not None and alone):
            answers[name] = alone if len(alone) > 1 else alone[0]
            if name == "score" and options.ascending is None and any(map(less_is_better, alone)):
                is_low = [less_is_better(label) for label in alone]
                answers["ascending"] = is_low if len(alone) > 1 else True
        else:
            is_one = name == "user" and not role.labels and "score" in roles
            others = "None for one ranking" if is_one else ""
            found = role.labels or [*kinds]
            if name == "relevant" and not options.has_truth:
                others = "truth= the frame of relevant pairs"
                if not found:
                    name, others = "truth", "the frame of relevant pairs"
            answers[name] = Choice(found, others)
        for label in alone if len(alone) == 1 else role.labels:
            free.pop(label, None)
    return {name: answers[name] for name in DEFAULTS if name in answers}


def plain_name(label: Hashable) -> str:
    """Return a name as inference compares it; labels that are not text match nothing."""
    return re.sub(r"[\s_.-]", "", label).lower() if isinstance(label, str) else ""


def _words(label: Hashable) -> tuple[str, ...]:
    """Return the words of a name, as "KNNScore" has two; of a label that is not text none."""
    name = label.strip() if isinstance(label, str) else ""
    name = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3 \2", name)
    return tuple(word.lower() for word in re.split(r"[\W_]+", name))
