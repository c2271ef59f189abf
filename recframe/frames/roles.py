"""Roles: the columns that play them in rows and in truth, and the question where that is open."""

import re
from collections.abc import Hashable, Mapping, Sequence, Set
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from recframe.errors import (
    Choice,
    MissingColumnError,
    RecframeError,
    as_text,
    option_with,
    quote,
    spell,
    spell_flags,
)
from recframe.frames.kinds import list_lists
from recframe.frames.names import (
    MEANINGS,
    NAMES,
    as_labels,
    check_label,
    find_meaning,
    find_role,
    get_column,
    is_infer,
    leave_out,
    list_fields,
    list_labels,
    plain_name,
    shown,
)
from recframe.frames.words import is_no_model, is_time, less_is_better, may_be_score
from recframe.options import DEFAULTS, INFER, MODELS, Models, Options, list_changed, spell_arguments
from recframe.other_tables import read_labels

N_COMPARED = 1_000  # rows whose ids are looked for on the other side
LEAST_SHARE = 0.9  # of these that it must have
TRUTH_IDS = ("truth_user", "truth_item")
# Names of columns that may hold a list of items, or of items with scores, in each cell.
LISTS = ("recommendations", "recommended", "recommendation", "recs", "topk", "topn", "items")


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

NO_ROLES: Mapping[str, Role] = MappingProxyType({})


def find_roles(
    frame: pd.DataFrame, options: Options, *, with_relevant: bool = True, with_item: bool = False
) -> Roles:
    """Return what is known of each role that is needed, and of others that have a column.

    The item is needed for truth and exclude, to make one row of those of a pair, and to break ties
    by it. Where repeated pairs count, or `with_item`, it has a role if the frame has one. Ids of
    truth have a role if they are known by their values.
    """
    roles = {
        role: _read_given(frame, role, given)
        for role in NAMES
        if not is_infer(given := getattr(options, role))
        and not (role == "relevant" and options.has_truth)
    }
    if "score" not in roles and (models := _list_models(frame)):
        roles["score"] = Role("inferred", models)
    taken = {label for role in roles.values() for label in role.labels}
    named = _list_named(frame)
    readers = {
        f"duplicates={options.duplicates!r}": options.duplicates in ("max", "first"),
        "ties='item'": options.tie_rule.by_item,
        f"model={options.model}": isinstance(options.model, Models),
    }
    readers = {reader: reads for reader, reads in readers.items() if reads}
    may_read = with_item or options.duplicates != "keep"
    has_item = may_read and not taken.issuperset(named["item"])
    needed = {
        "item": readers or options.needs_item or has_item,
        "relevant": with_relevant and not options.has_truth,
    }
    for role in NAMES:
        if role not in roles and needed.get(role, True):
            roles[role] = infer_role(role, named[role], taken)
    if options.has_truth:
        _settle_with_truth(frame, roles, options)
    if len(set(roles["score"].labels)) < len(roles["score"].labels):  # several of one name
        roles["score"] = _read_given(frame, "score", roles["score"].labels)
    if readers and roles["item"].how == "none":
        problem = f"{roles['item'].problem}, which {next(iter(readers))} needs"
        roles["item"] = roles["item"]._replace(problem=problem)
    return {name: roles[name] for name in (*NAMES, *TRUTH_IDS) if name in roles}


def _list_models(frame: pd.DataFrame) -> list[Hashable]:
    """Return the columns of scores of models, where the columns have the name of scores."""
    if find_role(frame.columns.name) != "score":  # as `from_runs` names them
        return []
    models = [one for one in frame.attrs.get(MODELS, ()) if one in frame] or frame.columns
    fields = zip(frame.columns, frame.dtypes, strict=True)
    numbers = [label for label, dtype in fields if dtype.kind in "iuf" and label in models]
    roles = (None, "score", "model")
    return [label for label in numbers if find_role(label) in roles and label is not None]


def _settle_with_truth(frame: pd.DataFrame, roles: Roles, options: Options) -> None:
    """Add to roles which columns rows and truth show, together, to be users and items.

    A label that both have decides first, unless neither has a candidate by its name; then text in
    a column of one side, if nearly all of it is among the known ids of the other side.
    """
    truth: Any = options.truth
    is_frame = isinstance(truth, pd.DataFrame)
    names = [name for name in ("user", "item") if name in roles]
    open_ = [name for name in names if roles[name].problem]
    labels = {*(list_labels(truth) if is_frame else read_labels(truth) if open_ else ())}
    found = {label for role in roles.values() for label in role.found}
    for name in open_:
        own = roles[name].labels
        both = [label for label in own or _list_ids(frame, name, found) if label in labels]
        if len(both) == 1 and (own or len(open_) == 1):
            roles[name] = Role("inferred", both)
    for name in names if is_frame else ():
        of_rows, role = roles[name], f"truth_{name}"
        is_open = is_infer(given := getattr(options, role))
        if of_rows.found and not (is_open and labels.isdisjoint(of_rows.found)):
            continue
        named = _list_named(truth)[name]
        of_truth = infer_role(name, named) if is_open else _read_given(truth, role, given)
        sides = (of_rows, frame, name), (of_truth, truth, role)
        (known, ids, _), (unknown, others, role) = sides if of_rows.found else sides[::-1]
        if len(known.found) == 1 and unknown.problem:
            labels_of = unknown.labels or _list_ids(others, name)
            if equal := _find_equal(get_column(ids, known.found[0]), others, labels_of):
                roles[role] = Role("inferred", equal)


def _list_ids(frame: pd.DataFrame, role: str, taken: Set[Hashable] = frozenset()) -> list[Hashable]:
    """Return the columns whose dtypes ids can have."""
    kinds = find_meaning(role).kinds
    return [one for one, dtype in list_fields(frame) if dtype.kind in kinds and one not in taken]


def _find_equal(ids: pd.Series, frame: pd.DataFrame, labels: Sequence[Hashable]) -> list[Hashable]:
    """Return the one column of text in a frame that has these ids, none if a second has some."""
    shares = {}
    with suppress(TypeError):  # of cells that no set holds
        for label in labels:
            texts = {*get_column(frame, label).iloc[:N_COMPARED].dropna()}
            if texts and all(isinstance(text, str) for text in texts):
                shares[label] = len({*ids[ids.isin(texts)]}) / len(texts)
    some = [label for label, share in shares.items() if share]
    return [label for label in some if len(some) == 1 and shares[label] >= LEAST_SHARE]


def find_given_roles(
    frame: pd.DataFrame,
    users: list[Hashable],
    item: Hashable,
    options: Options | None = None,
    settled: Mapping[str, Role] = NO_ROLES,
) -> Roles:
    """Return what is known of each role in truth, as options have it, or among excluded pairs.

    Ids are given, settled by the rows, those of the frame evaluated, or inferred. Truth of a user
    cannot be guessed to hold for each of the user's rankings.
    """
    named, roles, labels = _list_named(frame), dict[str, Role](), list_labels(frame)
    for name, own in (("user", users), ("item", [item])):
        role = f"truth_{name}" if options else name
        if not own:
            continue
        missing = leave_out(own, labels)
        if not is_infer(given := getattr(options, role, INFER)):
            roles[role] = _read_given(frame, role, given, own)
        elif role in settled:
            roles[role] = settled[role]
        elif not missing:
            roles[role] = _read_given(frame, role, own)
        elif len(own) == 1:
            roles[role] = infer_role(role, named[name])
        else:
            other = "truth" if options else "exclude"
            also = f", or {option_with('truth_user', 'others')}" if options else ""
            merged = f"{other}.merge(df[{quote(missing)}].drop_duplicates(), how='cross')"
            merged = f"if it holds for all of them, pass {other}={merged}"
            one = f"evaluate one at a time, by --filter '{as_text(missing[0])} == …' and one --user"
            error = MissingColumnError(
                f"user={quote(own)} needs each of these columns here too, found no "
                f"{shown(missing)}; the frame has {shown(labels)}; {spell(merged, one)}{also}"
            )
            roles[role] = Role("refused", [], error=error)
    taken = {label for role in roles.values() for label in role.labels}
    if options is None or options.relevant is None:
        return roles
    if not is_infer(options.relevant):
        roles["relevant"] = _read_given(frame, "relevant", options.relevant)
    elif not taken.issuperset(named["relevant"]):
        roles["relevant"] = infer_role("relevant", named["relevant"], taken)
    return roles


def _read_given(frame: pd.DataFrame, role: str, given: Any, like: Sequence[Hashable] = ()) -> Role:
    """Return a role whose label was given, or labels, as many as others; user=None gives none."""
    labels = as_labels(given)
    try:
        if given is None and role == "relevant":
            raise RecframeError(
                "relevant=None makes every pair of truth relevant, found no truth; pass "
                f"{spell('truth=', '--truth FILE')}, or "
                f"{option_with('relevant', 'the column of relevance')}"
            )
        if given is not None:
            check_label(frame, role, *labels)
        if like and len(labels) != len(like):
            raise RecframeError(
                f"{role} must be as many columns as user={quote(like)}, found {quote(given)}"
            )
    except RecframeError as error:
        return Role("refused", [None] if given is None else labels, error=error)
    return Role("given", labels)


def _list_named(frame: pd.DataFrame) -> dict[str, list[Hashable]]:
    """Return the labels whose names mean a role, by role, in the order of the columns."""
    named: dict[str, list[Hashable]] = {role: [] for role in MEANINGS}
    others = set()  # that hold no numbers, or flags
    for label, dtype in list_fields(frame):
        if is_bool_dtype(dtype) or not is_numeric_dtype(dtype):
            others.add(label)
        is_score = label not in others and may_be_score(label)
        if role := find_role(label) or ("score" if is_score else None):
            named[role].append(label)
    if not others.isdisjoint(named["score"]):
        named["score"] = leave_out(named["score"], list_lists(frame))
    return named


def infer_role(role: str, named: Sequence[Hashable], taken: Set[Hashable] = frozenset()) -> Role:
    """Return what names say of a role: one label, or all scores."""
    is_score, meant = role == "score", role.removeprefix("truth_")
    found = leave_out(named, taken)
    if not is_score and len(found) != 1:
        found = found or [*named]
        names = {plain_name(label) for label in found}  # "query" is left to "query_id"
        found = [label for label in found if f"{plain_name(label)}id" not in names]
    if not found:
        listed = ", ".join(find_meaning(role).words.replace("*", "").split()[:5])
        also = {"score": ", and numbers named as knn_score or score_knn", "relevant": ""}
        ending = also.get(meant, ", each with or without id")
        return Role("none", [], f"no column found (looked for {listed}, …{ending})")
    doubtful = [label for label in found if is_score and is_no_model(label)]
    if len(found) == 1 or (is_score and not doubtful):
        return Role("inferred", found)
    but = f", but {quote(doubtful[0])} may be no model to evaluate" if doubtful else ""
    return Role("several", found, f"{len(found)} columns could be it, {shown(found)}{but}")


def find_label(frame: pd.DataFrame, role: str, given: Hashable, remedy: str = "") -> Hashable:
    """Return the label of a role, given or inferred; a remedy is for other frames than the rows."""
    if not is_infer(given):
        check_label(frame, role, given)
        return given
    found = infer_role(role, _list_named(frame)[role])
    check_roles(frame, {role: found}, Options(), remedy=remedy)
    return found.labels[0]


def check_roles(
    frame: pd.DataFrame, roles: Roles, options: Options, call: str = "", remedy: str = ""
) -> None:
    """Raise where a role has no label, or could have several, and where two roles have one.

    The message tells of all roles, and of this remedy or that in `call`, as in "df.rec".
    """
    for error in (role.error for role in roles.values() if role.error):
        raise error
    wrong = {name: role for name, role in roles.items() if role.problem}
    if wrong:
        said = [f"{name}: {role.problem}" for name, role in wrong.items()]
        found = [f"{name} is {shown(role.labels)}" for name, role in roles.items() if role.found]
        said += [", ".join(found)] if found else []
        said.append(f"the frame has {shown(list_labels(frame))}")
        answers = dict[str, Any]()
        if not (remedy := remedy or _say_header(frame)):
            answers = find_answers(frame, roles, options)
            whole = list_changed(options) | answers if call else answers
            python = ", ".join(spell_arguments(whole))
            passed = spell(f"{call}({python})" if call else python, spell_flags(answers))
            remedy = f"pass {passed}{say_choices(answers)}"
        without = {name for name, role in wrong.items() if role.how == "none"}
        advice = _say_lists(frame, without)
        has_none = any(isinstance(one, Choice) and not str(one) for one in answers.values())
        said += [*([] if advice and has_none else [remedy]), *advice]
        if "score" in without and list_lists(frame) and "from_lists" in advice[0]:
            answers = {"from_lists": True}
        raise (MissingColumnError if without else RecframeError)("; ".join(said), answers)
    role_of: dict[Hashable, str] = {}
    for name, label in [(name, label) for name, role in roles.items() for label in role.labels]:
        other = role_of.setdefault(label, name)
        if other != name:
            raise RecframeError(
                f"{other} and {name} are the same column, {quote(label)}; pass {other}= and "
                f"{name}= as different columns"
            )


def _say_header(frame: pd.DataFrame) -> str:
    """Return advice for a frame whose labels are mostly numbers, cells of a file without header."""
    labels = list_labels(frame)
    number = re.compile(r"\s*-?\d+(\.\d+)?([eE]-?\d+)?\s*")
    values = [label for label in labels if isinstance(label, str) and number.fullmatch(label)]
    if 2 * len(values) <= len(labels):
        return ""
    return (
        f"the first row looks like values ({shown(values)}), not like names: write a header "
        "before it, or pass pd.read_csv(path, names=['user', 'item', 'score', 'relevant'])"
    )


def _say_lists(frame: pd.DataFrame, without: set[str]) -> list[str]:
    """Return advice for columns of lists, where these roles have no column."""
    said, held = list[str](), list_lists(frame)
    lists = held or [label for label in frame if plain_name(label) in LISTS]
    if lists and "score" in without:
        first = quote(lists[0])
        if held and find_role(held[0]) == "score" and set(frame[held[0]].head().map(len)) == {1}:
            said.append(f"where each holds one number, pass df.assign(score=df[{first}].str[0])")
        else:
            said.append(f"where {first} holds lists, recframe.from_lists makes rows of them")
    if lists and "user" in without:
        said.append("where each row is a ranking, frame.reset_index(names='user') numbers them")
    return said


def say_choices(answers: Mapping[str, Any]) -> str:
    """Return the candidates for each ... of a call, as the end of a sentence."""
    choices = {name: str(one) for name, one in answers.items() if isinstance(one, Choice)}
    said = [f"{name} is {words or 'a column'}" for name, words in choices.items()]
    return f"{', where ' * bool(said)}{'; '.join(said)}"


def find_answers(frame: pd.DataFrame, roles: Roles, options: Options) -> dict[str, Any]:
    """Return an option for each role with a problem: the column that the data settle, or a choice.

    Columns with another role, lists and times are no candidates.
    """
    taken = {*list_lists(frame)}.union(*(role.found for role in roles.values()))
    fields = [field for field in list_fields(frame) if not is_time(field[0])]
    kinds = {label: dtype.kind for label, dtype in fields if label not in taken}
    answers = dict[str, Any]()
    wrong = [name for name in roles if roles[name].problem]
    for name in sorted(wrong, key=lambda name: name != "score"):
        meaning, labels = find_meaning(name), roles[name].labels
        found = labels or [label for label, kind in kinds.items() if kind in meaning.kinds]
        alone = [label for label in found if kinds.get(label, " ") in meaning.alone] or found
        if len(alone) == 1 and meaning.alone and not labels:
            answers[name], labels = alone[0], alone
            if name == "score" and options.ascending is None and less_is_better(alone[0]):
                answers["ascending"] = True
        elif name == "relevant" and not options.has_truth:
            pairs, by = "the frame of relevant pairs", "truth= " if found else ""
            answers[name if found else "truth"] = Choice(found, by + pairs)
        else:
            is_one = name == "user" and not labels and "score" in roles
            answers[name] = Choice(found, "None for one ranking" if is_one else "")
        for label in labels:
            kinds.pop(label, None)
    return {name: answers[name] for name in DEFAULTS if name in answers}
