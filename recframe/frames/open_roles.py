"""The refusal of open roles: the candidates, the options that answer, and other advice."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from recframe.errors import Choice, MissingColumnError, RecframeError, quote
from recframe.frames.list_frames import advise_lists, find_lists, list_types
from recframe.frames.names import (
    ID_KINDS,
    check_label,
    find_role,
    get_column,
    is_infer,
    list_fields,
    list_labels,
    list_numeric_names,
    may_be_item,
    order_classes,
    plain_name,
    remove_labels,
    shown,
)
from recframe.frames.roles import Roles, find_item_reader, infer_role, list_named
from recframe.frames.words import has_word, is_id_without_outcome, less_is_better
from recframe.options import DEFAULTS, LIST, Options, list_changed, spell_arguments

# Columns of these names may hold lists, on engines whose cells are not seen.
LIST_NAMES = ("recommendations", "recommended", "recommendation", "recs", "topk", "topn", "items")

ROWS_LOOKED_AT = 1_000  # rows in which ranks and flags are looked for
MANY_SCORES = 4  # So many columns of numbers without items may be those of a matrix.

# Ways to rows of lists on engines that do not read lists of any type.
OF_ENGINES = {
    "ddf.rec": "ddf.map_partitions(recframe.from_lists, meta=recframe.from_lists(ddf.head(1))) "
    "makes rows of them",
    "recframe.spark.rec(sdf)": "pass it as the only column of arrays; F.split makes arrays of text",
}


def find_label(frame: pd.DataFrame, role: str, label: Hashable, remedy: str = "") -> Hashable:
    """Return the label of a role, inferred unless it is passed.

    For a frame other than the rows evaluated, the remedy is a sentence for the message.
    """
    if not is_infer(label):
        check_label(frame, role, label)
        return label
    found = infer_role(role, list_named(frame)[role])
    check_roles(frame, {role: found}, Options(), remedy=remedy)
    return found.labels[0]


def check_roles(
    frame: pd.DataFrame, roles: Roles, options: Options, call: str = "", remedy: str = ""
) -> None:
    """Raise if a role has no label, or could have several, and if two roles have one label.

    The message names all roles. It ends with the remedy, or with the options to pass in `call`,
    as in "df.rec".
    """
    for error in (role.error for role in roles.values() if role.error):
        raise error
    if any(role.problem for role in roles.values()):
        raise _open_roles_error(frame, roles, options, call, remedy)
    role_of: dict[Hashable, str] = {}
    for name, label in [(name, label) for name, role in roles.items() for label in role.labels]:
        other = role_of.setdefault(label, name)
        if other != name:
            raise RecframeError(
                f"{other} and {name} are the same column, {quote(label)}. Pass {other}= and "
                f"{name}= as different columns."
            )


def _open_roles_error(
    frame: pd.DataFrame, roles: Roles, options: Options, call: str, remedy: str
) -> RecframeError:
    """Return the refusal of roles that have no label, or could have several."""
    problems = {name: f"{name}: {role.problem}" for name, role in roles.items() if role.problem}
    if reader := find_item_reader(options) if "item" in problems and "score" in roles else "":
        problems["item"] += f", which {reader} needs"
    known = [f"{name} is {shown(role.found)}" for name, role in roles.items() if role.found]
    parts = [*problems.values(), ", ".join(known), f"the frame has {shown(list_labels(frame))}"]
    answers = dict[str, Any]()
    if not remedy:
        remedy, answers = _advise_on_labels(frame, roles, call)
    if not remedy:
        answers = find_answers(frame, roles, options)
        python = ", ".join(spell_arguments(list_changed(options) | answers if call else answers))
        remedy = f"pass {f'{call}({python})' if call else python}{say_choices(answers)}"
    advice, of_lists = _advise_on_lists(frame, roles, call)
    has_none = any(isinstance(one, Choice) and not str(one) for one in answers.values())
    parts += [*([] if advice and (has_none or of_lists) else [remedy]), *advice]
    has_hints = "score" in roles and call not in OF_ENGINES and not advice
    parts += _list_hints(frame, roles, answers) if has_hints else []
    is_missing = any(role.how == "none" for role in roles.values())
    error = MissingColumnError if is_missing else RecframeError
    return error("; ".join(filter(None, parts)), of_lists or answers)


def _list_hints(frame: pd.DataFrame, roles: Roles, answers: Mapping[str, Any]) -> list[str]:
    """Return hints for data whose users, items or scores are not in a column of their own."""
    candidates = {name: one.candidates for name, one in answers.items() if isinstance(one, Choice)}
    users, items = (roles[name].found if name in roles else [] for name in ("user", "item"))
    hints, axis = list[str](), frame.columns.name
    is_wide = axis is not None and find_role(axis) not in ("model", "score")
    is_wide |= "item" in candidates and len(candidates.get("score", ())) >= MANY_SCORES
    if "score" in answers and is_wide:
        users = [label for label in users if label in frame.columns]
        matrix = f"df.set_index({quote(users[0])})" if len(users) == 1 else "df"
        rows = f"recframe.from_matrix({matrix}) makes rows of them"
        hints.append(f"where cells are scores of items, {rows}")
    if "user" in candidates and frame.index.nlevels > 1 and None in frame.index.names:
        hints.append("levels of the index have no name: df.rename_axis(['user', None]) names one")
    elif "user" in candidates and frame.index.names == [None] and not frame.index.is_unique:
        hints.append("where the index holds users, df.rename_axis('user') names it")
    if items and (similar := list(filter(may_be_item, candidates.get("user", ())))):
        pair = f"user={quote(items[0])}, item={quote(similar[0])}"
        hints.append(f"in lists of similar items, {pair}")
    if "score" in candidates and len(candidates["score"]) < 2:
        ranked = "df.assign(score=range(len(df), 0, -1))"
        hints.append(f"if the best rows of each user stand first, {ranked} has a score")
    if numbered := _list_row_numbers(frame, users, candidates.get("score", ())):
        rank = f"score={quote(numbered[0])}, ascending=True"
        hints.append(f"if {quote(numbered[0])} is 1 in the best row of each user, {rank}")
    return hints


def _advise_on_labels(frame: pd.DataFrame, roles: Roles, call: str) -> tuple[str, dict[str, Any]]:
    """Return advice for labels that are values, as of a file without a header, ranks or items."""
    labels = list_labels(frame)
    are_rows = "score" in roles and call not in OF_ENGINES
    wide = _advise_ranks(frame, roles) if are_rows else _advise_wide(frame, roles)
    values = list_numeric_names(labels)
    if wide or not values:
        return wide, {}
    of_rows = "score" in roles  # `scan` has no names for truth.
    names = ["user", "item", *["score"] * of_rows, "relevant"][: len(labels)]
    takers = f"{'recframe.scan or ' * of_rows}pd.read_csv"
    choice = Choice([], "the names of the columns, in order, with commas")
    return (
        f"the first row looks like values ({shown(values)}), not like names: write a header "
        f"before it, or pass the names to {takers}, such as names={names!r}"
    ), {"names": choice} if of_rows else {}


def _advise_wide(frame: pd.DataFrame, roles: Roles) -> str:
    """Return advice for a column of each item of truth; "" for other frames."""
    is_open = "truth_item" in roles and roles["truth_item"].how == "none"
    if is_open and find_role(frame.columns.name) == "item":
        users = roles["truth_user"].found if "truth_user" in roles else []
        index = "".join(f".set_index({quote(one)})" for one in users if one in frame.columns)
        rows = f"truth{index}.stack().rename('relevant').reset_index()"
        return f"where cells are the relevance of items, pass {rows}"
    return ""


def _advise_ranks(frame: pd.DataFrame, roles: Roles) -> str:
    """Return advice for a column of each rank; "" for other frames."""
    without = {name for name, role in roles.items() if role.how == "none"}
    ids, floats = defaultdict[str, dict[str, Any]](dict), defaultdict[str, dict[str, Any]](dict)
    for label, dtype in list_fields(frame):
        start = str(label).rstrip("0123456789") if isinstance(label, str | int) else ""
        number = str(label)[len(start) :]
        if dtype.kind == "f":
            floats[start][number] = label
        elif dtype.kind in ID_KINDS and number.isdecimal():
            ids[start][number] = label
    start, wide = max(ids.items(), key=lambda one: len(one[1]), default=("", {}))
    numbers = sorted(wide, key=int)
    labels = [wide[number] for number in numbers]
    has_scores = [wide.keys()] == [one.keys() for one in floats.values()]
    are_known = has_scores or (not floats and "score" in without)
    if len(wide) < 2 or "item" not in without or not are_known:
        return ""
    if not start:  # Labels of ranks alone: the cells may as well be scores.
        cells = frame[labels].iloc[:ROWS_LOOKED_AT]
        of_ranks = [[*map(str, range(first, first + len(wide)))] for first in (0, 1)]
        if numbers not in of_ranks or cells.empty or cells.nunique(axis=1).min() < len(wide):
            return ""
    others = f", users=df[{quote(roles['user'].found[0])}]" if roles["user"].found else ""
    for of_start in floats.values():
        others += f", scores=df[{quote([of_start[number] for number in numbers])}]"
    return (
        f"where {shown(labels)} hold the items of each rank, "
        f"recframe.from_topk(df[{quote(labels)}]{others}) makes rows of them"
    )


def _advise_on_lists(
    frame: pd.DataFrame, roles: Roles, call: str
) -> tuple[list[str], dict[str, Any]]:
    """Return advice for columns of lists, if roles have no column, and its answers."""
    advice, answers, lists = list[str](), dict[str, Any](), find_lists(frame)
    without = {name for name, role in roles.items() if role.how == "none"}
    named = [label for label in frame if plain_name(label) in LIST_NAMES]
    where = f"where {' or '.join(map(quote, lists or named[:1]))} holds lists"
    if lists and "score" not in roles and not without.isdisjoint({"item", "truth_item"}):
        how, answers = advise_lists(lists, "truth" if "truth_item" in without else "exclude")
        del answers["lists"]
        advice.append(f"{where}, {how}")
    elif "score" in without and (lists or named):
        label, how = next(iter(lists), None), "recframe.from_lists makes rows of them"
        if lists:
            how, answers = advise_lists(lists)
        of_roles = [one for one in list_types(frame) if find_role(one)]
        if {"score", "relevant"}.issubset(map(find_role, of_roles)) and call == "df.rec":
            how, answers = f"df.explode({quote(of_roles)}) makes rows of them", {}
        advice.append(f"{where}, {OF_ENGINES.get(call, how)}")
        is_score = find_role(label) == "score" and label in frame and not lists[label]
        if is_score and "item" in roles and roles["item"].found:
            advice, answers = [_advise_on_cells(frame[label])], {}
    if (lists or named) and "user" in without:
        advice += _advise_on_users(are_all=len(lists) == len(list_labels(frame)))
    return advice, answers


def _advise_on_users(*, are_all: bool) -> list[str]:
    """Return advice for lists without users; `are_all` says that no column holds anything else."""
    numbered = "pd.DataFrame(frame).reset_index(names='user')"
    advice = [f"where each row is a ranking, {numbered} numbers them"]
    if are_all:
        made = "recframe.from_lists takes a dict of lists, as json.load gives it"
        advice.append(f"where names are users, {made}")
    return advice


def _advise_on_cells(scores: pd.Series) -> str:
    """Return advice for cells of one row's score, which are lists or texts of lists."""
    are_texts = isinstance(scores.iloc[0], str)
    number = ".strip('[]').astype(float)" if are_texts else "[-1]"
    call = f"df.assign(score=df[{quote(scores.name)}].str{number})"
    return f"where each list has one number, or those of classes, pass {call}"


def say_choices(answers: Mapping[str, Any]) -> str:
    """Return the candidates for each ... of a call, as the end of a sentence."""
    choices = {name: str(one) for name, one in answers.items() if isinstance(one, Choice)}
    clauses = [f"{name} is {words or 'a column'}" for name, words in choices.items()]
    return f"{', where ' * bool(clauses)}{'; '.join(clauses)}"


def find_answers(frame: pd.DataFrame, roles: Roles, options: Options) -> dict[str, Any]:
    """Return an option for each open role: the only column that fits, or a choice.

    Columns with another role, lists and times are no candidates, nor are labels for scores. The
    only column of floats is the score, and in a pivot of models every one.
    """
    taken = {LIST, *find_lists(frame)}.union(*(role.found for role in roles.values()))
    fields = [field for field in list_fields(frame) if not has_word(field[0], "time")]
    kinds = {label: dtype.kind for label, dtype in fields if label not in taken}
    answers = dict[str, Any]()
    open_ = [name for name in roles if roles[name].problem]
    for name in sorted(open_, key=lambda name: name != "score"):
        labels, (fits, alone) = roles[name].labels, _list_candidates(name, kinds, options)
        if name == "user":  # Flags are no users.
            fits = [one for one in fits if not _holds_flags(frame, one)] or fits
        elif name == "score":
            fits = order_classes(frame, fits)
        is_pivot = name == "score" and frame.columns.name is not None
        if alone and not labels and (len(alone) == 1 or is_pivot):
            labels = alone
            answers |= _answer(frame, name, alone, options)
        else:
            answers |= _make_choice(name, labels or fits, roles, options)
        for label in labels:  # They are no candidates for the next role.
            kinds.pop(label, None)
    return {name: answers[name] for name in DEFAULTS if name in answers}


def _answer(
    frame: pd.DataFrame, name: str, labels: list[Hashable], options: Options
) -> dict[str, Any]:
    """Return the option for a role, and `ascending` if less is better in some of the scores."""
    answers: dict[str, Any] = {name: labels if len(labels) > 1 else labels[0]}
    are_low = [name == "score" and _may_be_low(frame, one) for one in labels]
    if options.ascending is None and any(are_low):
        answers["ascending"] = len(labels) == 1 or are_low
    return answers


def _may_be_low(frame: pd.DataFrame, label: Hashable) -> bool:
    """Return whether less may be better in a column: fractions such as rank_bm25 are no ranks."""
    values = get_column(frame, label).iloc[:ROWS_LOOKED_AT]
    are_fractions = values.dtype.kind == "f" and bool((values % 1 > 0).any())
    return less_is_better(label) and not (are_fractions and has_word(label, "rank"))


def _list_row_numbers(
    frame: pd.DataFrame, users: Sequence[Hashable], labels: Sequence[Hashable]
) -> list[Hashable]:
    """Return the columns that number the rows of each of several users from 1 on."""
    found = list[Hashable]()
    by = [get_column(frame, one).to_numpy() for one in users]
    for label in labels if users else ():
        numbers = get_column(frame, label)
        if numbers.dtype.kind in "iu" and 1 < (numbers == 1).sum() < len(numbers):
            found += [label] * bool((numbers.groupby(by).rank() == numbers).all())
    return found


def _holds_flags(frame: pd.DataFrame, label: Hashable) -> bool:
    """Return whether the first values of a column are 0 and 1 alone."""
    values = get_column(frame, label).iloc[:ROWS_LOOKED_AT].dropna()
    return values.dtype.kind in "iu" and {*values} == {0, 1}


def _list_candidates(
    name: str, kinds: Mapping[Hashable, str], options: Options
) -> tuple[list[Hashable], list[Hashable]]:
    """Return the columns that may have a role, and those that have it if no others may.

    Names that say that less is better are candidates for scores alone, and names of ids are none
    for relevance. Names of relevance are candidates for scores if truth has it, and they hold
    floats. Integers may count rows or be of the user, so only ranks among them are scores without
    a doubt.
    """
    may_hold = {"score": "iuf", "relevant": "biufOU"}.get(name, ID_KINDS)
    fits = [label for label, kind in kinds.items() if kind in may_hold]
    low = [label for label in fits if kinds[label] in "iuf" and less_is_better(label)]
    if name == "score":
        may_be_label = "f" if options.has_truth else ""  # Predicted ratings are fractions.
        fits = [one for one in fits if kinds[one] in may_be_label or find_role(one) != "relevant"]
        return fits, [label for label in fits if kinds[label] == "f"] or low
    fits = remove_labels(fits, low)
    if name == "relevant":
        fits = [label for label in fits if not is_id_without_outcome(label)]
        fits.sort(key=lambda label: kinds[label] == "f")  # Labels are seldom fractions.
    fits.sort(key=lambda label: has_word(label, "negative"))
    alone = [label for label in fits if not has_word(label, "negative")]
    return fits, alone if name in ("item", "truth_item") else []


def _make_choice(
    name: str, candidates: list[Hashable], roles: Roles, options: Options
) -> dict[str, Choice]:
    """Return the option that leaves an open role to the caller."""
    if name == "relevant" and not options.has_truth:
        pairs = "the frame of relevant pairs"
        of_truth = {"truth": Choice([], pairs)}
        return {name: Choice(candidates, f"truth= {pairs}")} if candidates else of_truth
    is_one = name == "user" and not roles[name].labels and "score" in roles
    return {name: Choice(candidates, "None for one ranking" if is_one else "")}
