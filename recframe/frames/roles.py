"""The columns that play roles in rows and in truth, and the question if a role is open."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence, Set
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from recframe.errors import MissingColumnError, RecframeError, quote
from recframe.frames.list_frames import find_lists, list_types
from recframe.frames.names import (
    ID_KINDS,
    NAMES,
    WORDS_OF_ROLES,
    as_labels,
    check_label,
    find_like,
    find_role,
    get_column,
    is_infer,
    list_fields,
    list_labels,
    list_scores_alone,
    may_be_item,
    plain_name,
    remove_labels,
    shown,
)
from recframe.frames.words import ends_in, has_word, is_no_model, less_is_better, may_be_score
from recframe.options import INFER, LISTS, ROLE_LABELS, Models, Options

N_IDS_COMPARED = 1_000  # rows of a column whose ids are looked up in the other frame
LEAST_SHARE = 0.9  # the share of these ids that the other frame must have
TRUTH_IDS = ("truth_user", "truth_item")


class Role(NamedTuple):
    """The labels of a role, or the candidates for it, and how they were found.

    If `how` is "none" or "several", `problem` is a sentence for the message. If a label that was
    passed is "refused", `error` says why.
    """

    how: Literal["given", "inferred", "none", "several", "refused"]
    labels: list[Hashable]
    problem: str = ""
    error: RecframeError | None = None

    @property
    def found(self) -> list[Hashable]:
        """The labels of the role, an empty list if it is open."""
        return self.labels if self.how in ("given", "inferred") else []


Roles = dict[str, Role]


def find_roles(
    frame: pd.DataFrame,
    options: Options,
    *,
    with_relevant: bool = True,
    with_item: bool = False,
    used: Sequence[Hashable] = (),
) -> Roles:
    """Return the roles that are needed, and other roles that have a column.

    The item is needed for truth and exclude, to fold the rows of a pair, and to break ties by it.
    If repeated pairs matter, or `with_item`, it has a role if the frame has such a column. Ids of
    truth have a role if they are known by their values. A column that is `used` otherwise is not
    inferred as a score next to others.
    """
    roles = {name: Role("inferred", labels) for name, labels in _list_known(frame).items()}
    for name in NAMES:
        if not (is_infer(getattr(options, name)) or (name == "relevant" and options.has_truth)):
            roles[name] = _read_role(frame, name, getattr(options, name))
    needs_item = options.needs_item or find_item_reader(options) != ""
    needed = {"user": True, "score": True}
    if needs_item or with_item or options.duplicates == "raise":
        needed["item"] = needs_item
    if with_relevant and not options.has_truth:
        needed["relevant"] = True
    _infer_others(frame, roles, needed)
    scores = roles["score"].labels
    if len({*scores}) < len(scores):  # Two columns have one name.
        roles["score"] = _read_role(frame, "score", scores)
    elif used or options.ascending is True:
        roles["score"] = _settle_score(frame, roles, options, used)
    if options.has_truth:
        _settle_by_labels(frame, roles, options)
    if isinstance(options.truth, pd.DataFrame):
        _settle_by_values(frame, roles, options.truth, options)
    is_alone = options.truth is None and options.exclude is None
    _settle_alike(frame, roles, {"user": [], "item": []}, is_alone=is_alone)
    items = roles.get("item", roles["user"]).labels
    if roles["user"].how == "none" and is_infer(options.item) and find_like(items, ["candidate"]):
        del roles["item"]  # Candidates for jobs may be either.
    return {name: roles[name] for name in (*NAMES, *TRUTH_IDS) if name in roles}


def _settle_score(
    frame: pd.DataFrame, roles: Roles, options: Options, used: Sequence[Hashable]
) -> Role:
    """Return the score, if open the only column where less is better, without those `used`."""
    score = roles["score"]
    if options.ascending is True and score.how == "none":
        fields = [label for label, dtype in list_fields(frame) if dtype.kind in "iuf"]
        taken = {label for role in roles.values() for label in role.labels}
        low = remove_labels(filter(less_is_better, fields), taken)
        score = Role("inferred", low) if len(low) == 1 else score
    free = remove_labels(score.labels, used)
    is_counted = isinstance(options.ascending, list)  # It has an entry for each score.
    if free and score.how in ("inferred", "several") and not is_counted:
        return infer_role("score", free) if score.problem else Role("inferred", free)
    return score


def find_item_reader(options: Options) -> str:
    """Return the option that reads items of rows, for a message; "" if none does."""
    if options.duplicates in ("max", "first"):
        return f"duplicates={options.duplicates!r}"
    if options.tie_rule.by_item:
        return "ties='item'"
    return f"model={options.model}" if isinstance(options.model, Models) else ""


def _infer_others(frame: pd.DataFrame, roles: Roles, needed: Mapping[str, bool]) -> None:
    """Add roles by the names of columns; one that is not `needed` only if a column has a name."""
    named = list_named(frame)
    taken = {label for role in roles.values() for label in role.labels}
    known = {label for role in roles.values() if role.how == "inferred" for label in role.labels}
    for role, is_needed in needed.items():
        labels = remove_labels(named[role.removeprefix("truth_")], known)
        if role not in roles and (is_needed or not taken.issuperset(labels)):
            roles[role] = infer_role(role, labels, taken)


def _list_known(frame: pd.DataFrame) -> dict[str, list[Hashable]]:
    """Return the labels of roles in a frame that is made of lists or runs, or in a pivot."""
    all_labels = {*list_labels(frame)}
    made = {role: as_labels(label) for role, label in frame.attrs.get(ROLE_LABELS, {}).items()}
    scores = [one for one in made.pop("score", []) if one in all_labels]
    known = {role: labels for role, labels in made.items() if all_labels.issuperset(labels)}
    if not scores and find_role(frame.columns.name) == "score":
        numbers = [label for label, dtype in frame.dtypes.items() if dtype.kind in "iuf"]
        others = [label for label in numbers if label is not None]
        scores = [label for label in others if find_role(label) in (None, "score", "model")]
    return known | ({"score": scores} if scores else {})


def list_truth_labels(options: Options) -> Set[Hashable]:
    """Return the labels of truth, none without truth or if its files cannot be read."""
    truth: Any = options.truth
    if isinstance(truth, pd.DataFrame):
        return {*list_labels(truth)}
    return {*truth.read_labels()} if options.has_truth else set()


def _settle_by_labels(frame: pd.DataFrame, roles: Roles, options: Options) -> None:
    """Settle open roles of ids by a label that truth has too.

    Neither is settled if both are open and no name says which columns could be it.
    """
    open_ = [name for name in ("user", "item") if roles[name].problem]
    taken = {label for role in roles.values() for label in role.found}
    free = remove_labels(_list_ids(frame), taken) if open_ else []
    for name in open_:
        labels, candidates = list_truth_labels(options), roles[name].labels
        shared = [one for one in candidates or free if one in labels]
        shared = shared or find_like(candidates, labels)
        if name == "user":  # A list of similar items may have items for users.
            shared = [one for one in shared if not may_be_item(one)]
        if len(shared) == 1 and (candidates or len(open_) == 1):
            roles[name] = Role("inferred", shared)


def _settle_alike(
    frame: pd.DataFrame, roles: Roles, ids: Mapping[str, Any], *, is_alone: bool = False
) -> None:
    """Settle open roles of ids by the labels that other rows have, or if all values are alike.

    If the frame `is_alone`, it is the first in the order of names, as all give the same values.
    Next to truth it is the only one: a document of one chunk does not have its id.
    """
    for role in [one for one in ids if one in roles and roles[one].how == "several"]:
        labels, names = roles[role].labels, NAMES[role.removeprefix("truth_")]
        named = [one for one in labels if ends_in(one, "id") and plain_name(one) in names]
        named.sort(key=lambda label: names.index(plain_name(label)))
        first = named[:1] if is_alone or len(named) == 1 else []
        if len(like := find_like(labels, ids[role])) == 1:
            roles[role] = Role("inferred", like)
        elif first and all(_are_alike(frame, first[0], other) for other in labels):
            roles[role] = Role("inferred", first)


def _are_alike(frame: pd.DataFrame, label: Hashable, other: Hashable) -> bool:
    """Return whether each value of a column has one value of another, and the other way round."""
    with suppress(TypeError):  # Cells may be unhashable.
        for n_rows in (N_IDS_COMPARED, len(frame)):  # The first rows usually decide.
            columns = (get_column(frame, one).iloc[:n_rows] for one in (label, other))
            codes = [pd.factorize(column)[0] for column in columns]
            n_values = {int(values.max(initial=-1)) + 1 for values in codes}
            n_pairs = len(pd.DataFrame(dict(enumerate(codes))).drop_duplicates())
            if n_pairs < 2 or n_values != {n_pairs} or any((one < 0).any() for one in codes):
                return False
        return True
    return False


def _settle_by_values(
    frame: pd.DataFrame, roles: Roles, truth: pd.DataFrame, options: Options
) -> None:
    """Settle roles of ids that are known in the rows or in truth, but not in both.

    A column of text has the role if the other frame has nearly all of it among its known ids, and
    no second column has some of them.
    """
    ids = {name: roles[name].found for name in ("user", "item")}
    labels = list_labels(truth)
    if not (names := [name for name in ids if not {*labels}.intersection(ids[name])]):
        return
    users, items = ([None] if roles[name].problem else roles[name].labels for name in ids)
    of_truth = find_companion_roles(truth, [*users], items[0], options, {})
    for name in names:
        both = (frame, roles, name), (truth, of_truth, f"truth_{name}")
        (rows, known, of), (others, open_roles, role) = both if ids[name] else both[::-1]
        if role in open_roles and open_roles[role].problem and len(known[of].found) == 1:
            candidates = open_roles[role].labels or _list_ids(others)
            candidates = [label for label in candidates if not has_word(label, "negative")]
            shares = _share_equal(get_column(rows, known[of].found[0]), others, candidates)
            some = [label for label, share in shares.items() if share]
            if len(some) == 1 and shares[some[0]] >= LEAST_SHARE:
                roles[role] = Role("inferred", some)
        elif role == "truth_item" and of_truth[role].how == "inferred" and roles[of].found:
            _doubt_item(get_column(frame, roles[of].found[0]), truth, roles, of_truth[role])


def _doubt_item(ids: pd.Series, truth: pd.DataFrame, roles: Roles, role: Role) -> None:
    """Open the role of truth's item if another column, such as a parent's, has more of the ids."""
    candidates = [*filter(may_be_item, list_labels(truth))]
    shares = _share_equal(ids, truth, candidates) if len(candidates) > 1 else {}
    best = max(shares, key=lambda label: shares[label], default=role.labels[0])
    if shares.get(best, 0) > shares.get(role.labels[0], 0):
        labels = [best, *role.labels]
        problem = f"{shown(labels)} of truth could be it: the frame has more ids of the first"
        roles["truth_item"] = Role("several", labels, problem)


def _list_ids(frame: pd.DataFrame) -> list[Hashable]:
    """Return the columns whose dtypes ids can have."""
    return [label for label, dtype in list_fields(frame) if dtype.kind in ID_KINDS]


def _share_equal(
    ids: pd.Series, frame: pd.DataFrame, labels: Sequence[Hashable]
) -> dict[Hashable, float]:
    """Return the share of the first texts of each column of text that are among the ids."""
    shares = dict[Hashable, float]()
    with suppress(TypeError):  # Cells may be unhashable.
        for label in labels:
            texts = {*get_column(frame, label).iloc[:N_IDS_COMPARED].dropna()}
            if texts and all(isinstance(text, str) for text in texts):
                shares[label] = len({*ids[ids.isin(texts)]}) / len(texts)
    return shares


def find_companion_roles(
    frame: pd.DataFrame,
    users: list[Hashable],
    item: Hashable,
    options: Options | None,
    settled: Mapping[str, Role],
) -> Roles:
    """Return the roles in truth, or without options those among excluded pairs.

    Ids are in the columns that options name, that comparing with the rows has settled, that have
    the labels of the frame evaluated, or that are inferred. If a user has several rankings, truth
    of the user alone is refused: it may not hold for each of them.
    """
    roles, known, labels = dict[str, Role](), _list_known(frame), list_labels(frame)
    prefix = "truth_" if options else ""
    ids = ({f"{prefix}user": users} if users else {}) | {f"{prefix}item": [item]}
    for role, of_rows in ids.items():
        name, missing = role.removeprefix("truth_"), remove_labels(of_rows, labels)
        if not is_infer(label := getattr(options, role, INFER)):
            roles[role] = _read_role(frame, role, label, of_rows)
        elif role in settled:
            roles[role] = settled[role]
        elif not missing:
            roles[role] = _read_role(frame, role, of_rows)
        elif len(known.get(name, [])) == len(of_rows):
            roles[role] = Role("inferred", known[name])
        elif len(of_rows) > 1:
            other, also, answers = "exclude", "", {}
            if options:
                other, also = "truth", ", or truth_user= others"
                kept = remove_labels(of_rows, missing)
                is_user = find_role(missing[0]) == "user" or ends_in(missing[0], "id")
                is_open = len(missing) == 1 and is_infer(options.model)
                if is_open and not is_user and not has_word(missing[0], "time"):
                    answers = {"user": kept if len(kept) > 1 else kept[0], "model": missing[0]}
            error = MissingColumnError(
                f"user={quote(of_rows)} needs each of these columns here too, but has no "
                f"{shown(missing)}; the frame has {shown(labels)}; if it holds for all of them, "
                f"pass {other}={other}.merge(df[{quote(missing)}].drop_duplicates(), how='cross'), "
                f"or model={quote(missing[0])} with one user= and one score, to take each value "
                f"by itself{also}; if each value is of one user, as a session is, pass "
                f"{other}={other}.merge(df[{quote(of_rows)}].drop_duplicates())",
                answers,
            )
            roles[role] = Role("refused", [], error=error)
    needed = dict.fromkeys(ids, True)
    if options and options.relevant is not None:
        needed["relevant"] = False
        if not is_infer(options.relevant):
            roles["relevant"] = _read_role(frame, "relevant", options.relevant)
    _infer_others(frame, roles, needed)
    _settle_alike(frame, roles, {role: ids[role] for role in ids if role not in settled})
    return {role: roles[role] for role in needed if role in roles}


def _read_role(frame: pd.DataFrame, role: str, passed: Any, like: Sequence[Hashable] = ()) -> Role:
    """Return the role of a label, or of labels, that were passed; user=None has no labels.

    They must be as many as those of `like`, if there are some.
    """
    labels = as_labels(passed)
    try:
        if passed is None and role == "relevant":
            raise RecframeError(
                "relevant=None makes every pair of truth relevant, but truth is not passed. Pass "
                "truth=, or relevant= the column of relevance."
            )
        if passed is not None:
            check_label(frame, role, *labels)
        if like and len(labels) != len(like):
            raise RecframeError(
                f"{role} must be as many columns as user={quote(like)}, but is {quote(passed)}"
            )
    except RecframeError as error:
        return Role("refused", [None] if passed is None else labels, error=error)
    return Role("given", labels)


def list_named(frame: pd.DataFrame) -> dict[str, list[Hashable]]:
    """Return the labels whose names mean a role, by role, in the order of the columns."""
    named = defaultdict[str, list[Hashable]](list)
    may_hold_lists, fields, numbers = set[str](), list_fields(frame), list[tuple[Hashable, Any]]()
    for label, dtype in fields:
        is_number = is_numeric_dtype(dtype) and not is_bool_dtype(dtype)
        role = find_role(label) or ("score" if is_number and may_be_score(label) else None)
        numbers += [(label, dtype)] * is_number
        # The time of a purchase is no relevance.
        if role is not None and dtype.kind not in {"relevant": "mM"}.get(role, ""):
            named[role].append(label)
            may_hold_lists |= {role} if dtype.kind in "OU" else set()
    if not named["score"] and frame.columns.name is None:  # Columns of a pivot may all be models.
        named["score"] = list_scores_alone(numbers)
    labels, merged = {*list_labels(frame)}, defaultdict[str, list[Hashable]](list)
    for left in [label for label, _ in fields if isinstance(label, str) and label.endswith("_x")]:
        name, right = find_role(left[:-2]), f"{left[:-2]}_y"
        if name in ("user", "item", "relevant") and right in labels:
            merged[name] += [left, right]  # A merge of pandas has named them so.
    named |= {role: both for role, both in merged.items() if not named[role]}
    if "score" in may_hold_lists:
        named["score"] = remove_labels(named["score"], find_lists(frame))
    if "relevant" in may_hold_lists:
        lists = frame.attrs.get(LISTS) or list_types(frame, with_tuples=False)
        named["relevant"] = remove_labels(named["relevant"], lists)
    return named


def infer_role(role: str, named: Sequence[Hashable], taken: Set[Hashable] = frozenset()) -> Role:
    """Return a role by the names of columns: the role has one label, scores may have several."""
    is_score, found = role == "score", remove_labels(named, taken)
    if not is_score and len(found) != 1:
        found = found or [*named]
        found = [one for one in found if not ends_in(one, "number")] or found
        names = {*map(plain_name, found)}  # "query" is left to "query_id"
        found = [label for label in found if f"{plain_name(label)}id" not in names]
        exact = [label for label in found if plain_name(label) in ("relevant", "isrelevant")]
        found = exact if len(exact) == 1 else found
    doubtful = [*filter(is_no_model, found)] if is_score else []
    extreme = [label for label in found if has_word(label, "extreme")]
    # A highest score is none by itself, nor next to "prediction", and nothing is next to "score".
    if doubtful and (extreme == found or role in map(find_role, found)):
        removed = doubtful if "score" in map(plain_name, found) else extreme
        found, doubtful = remove_labels(found, removed), remove_labels(doubtful, removed)
    if not found:
        words = WORDS_OF_ROLES[role.removeprefix("truth_")].replace("*", "").split()
        listed = ", ".join(words[:5])
        also = {"score": ", and numbers named as knn_score or score_knn", "relevant": ""}
        ending = also.get(role, ", each with or without id")
        return Role("none", [], f"no column found (looked for {listed}, …{ending})")
    if len(found) == 1 or (is_score and not doubtful):
        return Role("inferred", found)
    but = f", but {quote(doubtful[0])} may be no model to evaluate" if doubtful else ""
    return Role("several", found, f"{len(found)} columns could be it, {shown(found)}{but}")
