"""The columns that play roles in rows and in truth, and the question if a role is open."""

from collections.abc import Hashable, Mapping, Sequence, Set
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from recframe.errors import MissingColumnError, RecframeError, quote
from recframe.frames.list_frames import find_lists, list_types
from recframe.frames.names import (
    NAMES,
    ROLE_MEANINGS,
    as_labels,
    check_label,
    find_role,
    get_column,
    get_meaning,
    is_infer,
    list_fields,
    list_labels,
    plain_name,
    remove_labels,
    shown,
)
from recframe.frames.words import is_no_model, may_be_score
from recframe.options import INFER, LISTS, MODELS, ROLE_LABELS, Models, Options
from recframe.other_tables import read_labels

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

NO_ROLES: Mapping[str, Role] = MappingProxyType({})


def find_roles(
    frame: pd.DataFrame, options: Options, *, with_relevant: bool = True, with_item: bool = False
) -> Roles:
    """Return the roles that are needed, and other roles that have a column.

    The item is needed for truth and exclude, to fold the rows of a pair, and to break ties by it.
    If repeated pairs matter, or `with_item`, it has a role if the frame has such a column. Ids of
    truth have a role if they are known by their values.
    """
    roles = {
        role: _read_role(frame, role, label)
        for role in NAMES
        if not is_infer(label := getattr(options, role))
        and not (role == "relevant" and options.has_truth)
    }
    if "score" not in roles and (models := _list_models(frame)):
        roles["score"] = Role("inferred", models)
    known = set[Hashable]()
    for role, label in frame.attrs.get(ROLE_LABELS, {}).items():  # Lists have made its rows.
        if role not in roles and set(as_labels(label)) <= {*list_labels(frame)}:
            roles[role] = Role("inferred", as_labels(label))
            known.update(as_labels(label))
    taken = {label for role in roles.values() for label in role.labels}
    named, reader = list_named(frame), _find_item_reader(options)
    named["relevant"] = remove_labels(named["relevant"], known)
    may_read = with_item or options.duplicates != "keep"
    has_item = may_read and not taken.issuperset(named["item"])
    needed = {
        "item": reader or options.needs_item or has_item,
        "relevant": with_relevant and not options.has_truth,
    }
    for role in NAMES:
        if role not in roles and needed.get(role, True):
            roles[role] = infer_role(role, named[role], taken)
    if options.has_truth:
        _settle_with_truth(frame, roles, options)
    if len(set(roles["score"].labels)) < len(roles["score"].labels):  # Two columns have one name.
        roles["score"] = _read_role(frame, "score", roles["score"].labels)
    if reader and roles["item"].how == "none":
        problem = f"{roles['item'].problem}, which {reader} needs"
        roles["item"] = roles["item"]._replace(problem=problem)
    return {name: roles[name] for name in (*NAMES, *TRUTH_IDS) if name in roles}


def _find_item_reader(options: Options) -> str:
    """Return the option that reads items, for a message; "" if none does."""
    if options.duplicates in ("max", "first"):
        return f"duplicates={options.duplicates!r}"
    if options.tie_rule.by_item:
        return "ties='item'"
    return f"model={options.model}" if isinstance(options.model, Models) else ""


def _list_models(frame: pd.DataFrame) -> list[Hashable]:
    """Return the columns of models' scores, if the columns' axis is named like a score."""
    if find_role(frame.columns.name) != "score":  # `from_runs` names the axis so.
        return []
    models = [one for one in frame.attrs.get(MODELS, ()) if one in frame] or frame.columns
    fields = zip(frame.columns, frame.dtypes, strict=True)
    numbers = [label for label, dtype in fields if dtype.kind in "iuf" and label in models]
    roles = (None, "score", "model")
    return [label for label in numbers if find_role(label) in roles and label is not None]


def _settle_with_truth(frame: pd.DataFrame, roles: Roles, options: Options) -> None:
    """Settle open roles of ids by comparing rows with truth.

    First a label that both have decides, unless neither has a candidate by its name. Then text in
    a column of one frame decides, if the other frame has nearly all of it among its known ids.
    """
    truth: Any = options.truth
    is_frame = isinstance(truth, pd.DataFrame)
    names = [name for name in ("user", "item") if name in roles]
    open_ = [name for name in names if roles[name].problem]
    labels = {*(list_labels(truth) if is_frame else read_labels(truth) if open_ else ())}
    known = {label for role in roles.values() for label in role.found}
    for name in open_:
        candidates = roles[name].labels
        shared = [one for one in candidates or _list_ids(frame, name, known) if one in labels]
        if len(shared) == 1 and (candidates or len(open_) == 1):
            roles[name] = Role("inferred", shared)
    for name in names if is_frame else ():
        is_open = is_infer(getattr(options, f"truth_{name}"))
        if not roles[name].found or (is_open and labels.isdisjoint(roles[name].found)):
            _settle_by_values(frame, name, roles, options)


def _settle_by_values(frame: pd.DataFrame, name: str, roles: Roles, options: Options) -> None:
    """Settle the role of ids that is known in the rows or in truth, but not in both."""
    role, truth = f"truth_{name}", cast("pd.DataFrame", options.truth)
    of_rows, of_truth = roles[name], infer_role(name, list_named(truth)[name])
    if not is_infer(label := getattr(options, role)):
        of_truth = _read_role(truth, role, label)
    both = (of_rows, frame, name), (of_truth, truth, role)
    (known, ids, _), (unknown, others, role) = both if of_rows.found else both[::-1]
    if len(known.found) == 1 and unknown.problem:
        candidates = unknown.labels or _list_ids(others, name)
        if equal := _find_equal(get_column(ids, known.found[0]), others, candidates):
            roles[role] = Role("inferred", equal)


def _list_ids(frame: pd.DataFrame, role: str, taken: Set[Hashable] = frozenset()) -> list[Hashable]:
    """Return the columns whose dtypes ids can have, without those taken."""
    kinds = get_meaning(role).kinds
    return [one for one, dtype in list_fields(frame) if dtype.kind in kinds and one not in taken]


def _find_equal(ids: pd.Series, frame: pd.DataFrame, labels: Sequence[Hashable]) -> list[Hashable]:
    """Return the one column of text in a frame that has these ids, none if a second has some."""
    shares = {}
    with suppress(TypeError):  # Cells may be unhashable.
        for label in labels:
            texts = {*get_column(frame, label).iloc[:N_IDS_COMPARED].dropna()}
            if texts and all(isinstance(text, str) for text in texts):
                shares[label] = len({*ids[ids.isin(texts)]}) / len(texts)
    some = [label for label, share in shares.items() if share]
    return [label for label in some if len(some) == 1 and shares[label] >= LEAST_SHARE]


def find_companion_roles(
    frame: pd.DataFrame,
    users: list[Hashable],
    item: Hashable,
    options: Options | None = None,
    settled: Mapping[str, Role] = NO_ROLES,
) -> Roles:
    """Return the roles in truth, or without options those among excluded pairs.

    Ids are in the columns that options name, that comparing with the rows has settled, that have
    the labels of the frame evaluated, or that are inferred. If a user has several rankings, truth
    of the user alone is refused: it may not hold for each of them.
    """
    named, roles, labels = list_named(frame), dict[str, Role](), list_labels(frame)
    for name, of_rows in (("user", users), ("item", [item])):
        role = f"truth_{name}" if options else name
        if not of_rows:
            continue
        missing = remove_labels(of_rows, labels)
        if not is_infer(label := getattr(options, role, INFER)):
            roles[role] = _read_role(frame, role, label, of_rows)
        elif role in settled:
            roles[role] = settled[role]
        elif missing and (known := as_labels(frame.attrs.get(ROLE_LABELS, {}).get(name))):
            roles[role] = Role("inferred", known)
        elif not missing:
            roles[role] = _read_role(frame, role, of_rows)
        elif len(of_rows) == 1:
            roles[role] = infer_role(role, named[name])
        else:
            other = "truth" if options else "exclude"
            also = ", or truth_user= others" if options else ""
            error = MissingColumnError(
                f"user={quote(of_rows)} needs each of these columns here too, but has no "
                f"{shown(missing)}; the frame has {shown(labels)}; if it holds for all of them, "
                f"pass {other}={other}.merge(df[{quote(missing)}].drop_duplicates(), how='cross'), "
                f"or model={quote(missing[0])} with one user= and one score, to take each value "
                f"by itself{also}"
            )
            roles[role] = Role("refused", [], error=error)
    taken = {label for role in roles.values() for label in role.labels}
    if options is None or options.relevant is None:
        return roles
    if not is_infer(options.relevant):
        roles["relevant"] = _read_role(frame, "relevant", options.relevant)
    elif not taken.issuperset(named["relevant"]):
        roles["relevant"] = infer_role("relevant", named["relevant"], taken)
    return roles


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
    named: dict[str, list[Hashable]] = {role: [] for role in ROLE_MEANINGS}
    not_numbers = set()
    for label, dtype in list_fields(frame):
        if is_bool_dtype(dtype) or not is_numeric_dtype(dtype):
            not_numbers.add(label)
        is_score = label not in not_numbers and may_be_score(label)
        if role := find_role(label) or ("score" if is_score else None):
            named[role].append(label)
    if not not_numbers.isdisjoint(named["score"]):
        named["score"] = remove_labels(named["score"], find_lists(frame))
    if not not_numbers.isdisjoint(named["relevant"]):
        lists = frame.attrs.get(LISTS) or list_types(frame, with_tuples=False)
        named["relevant"] = remove_labels(named["relevant"], lists)
    return named


def infer_role(role: str, named: Sequence[Hashable], taken: Set[Hashable] = frozenset()) -> Role:
    """Return a role by the names of columns: the role has one label, scores may have several."""
    is_score, meant = role == "score", role.removeprefix("truth_")
    found = remove_labels(named, taken)
    if not is_score and len(found) != 1:
        found = found or [*named]
        names = {plain_name(label) for label in found}  # "query" is left to "query_id"
        found = [label for label in found if f"{plain_name(label)}id" not in names]
    if not found:
        listed = ", ".join(get_meaning(role).words.replace("*", "").split()[:5])
        also = {"score": ", and numbers named as knn_score or score_knn", "relevant": ""}
        ending = also.get(meant, ", each with or without id")
        return Role("none", [], f"no column found (looked for {listed}, …{ending})")
    doubtful = [label for label in found if is_score and is_no_model(label)]
    if len(found) == 1 or (is_score and not doubtful):
        return Role("inferred", found)
    but = f", but {quote(doubtful[0])} may be no model to evaluate" if doubtful else ""
    return Role("several", found, f"{len(found)} columns could be it, {shown(found)}{but}")
