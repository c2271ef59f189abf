"""Roles: what is known of which column plays which, found without raising."""

from collections.abc import Hashable, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from recframe.errors import MissingColumnError, RecframeError, quote
from recframe.frames.labels import (
    are_distinct_texts,
    as_labels,
    check_label,
    is_infer,
    is_same,
    leave_out,
    list_labels,
    shown,
)
from recframe.frames.names import (
    NAMES,
    find_role,
    is_no_model,
    leave_to_ids,
    list_examples,
    may_be_score,
)
from recframe.options import Options

N_NAMES = 5  # of those that are looked for, shown
ALSO = {
    "user": ", each with or without id",
    "item": ", each with or without id",
    "score": ", and numbers named as knn_score or score_knn",
}

How = Literal["given", "inferred", "none", "several", "refused"]


class Role(NamedTuple):
    """What is known of a role: its labels, or those that could be it, and how they came to be.

    `problem` says what is wrong where "none" or "several" are found, `error` why a label that was
    given is "refused".
    """

    how: How
    labels: list[Hashable]
    problem: str = ""
    error: RecframeError | None = None

    @property
    def found(self) -> list[Hashable]:
        """The labels that are in the role."""
        return self.labels if self.how in ("given", "inferred") else []


Roles = dict[str, Role]
Named = dict[str, list[Hashable]]


def find_roles(
    frame: pd.DataFrame, options: Options, *, with_relevant: bool = True, with_item: bool = False
) -> Roles:
    """Return what is known of each role that is needed, and of others that have a column.

    The item is needed for truth and exclude, to make one row of those of a pair, and to break ties
    by it. Where repeated pairs count, or `with_item`, it has a role if the frame has one.
    """
    given = {"user": options.user, "item": options.item, "relevant": options.relevant}
    given["score"] = options.score
    if options.has_truth:
        del given["relevant"]  # it names a column of truth
    roles = {
        role: _read_given(frame, role, label)
        for role, label in given.items()
        if not is_infer(label)
    }
    named = find_named(frame)
    needed = ["user"]
    needed += ["item"] if options.needs_item else []
    needed += ["relevant"] if with_relevant and not options.has_truth else []
    taken = [label for role in roles.values() for label in role.labels]
    roles |= {role: infer_one(role, named, taken) for role in needed if role not in roles}
    if "score" not in roles:
        roles["score"] = _infer_scores(frame, named, roles)
    if "item" not in roles and (with_item or options.duplicates != "keep"):
        needing = [f"duplicates={options.duplicates!r}"] * (options.duplicates in ("max", "first"))
        needing += ["ties='item'"] * options.tie_rule.by_item
        taken = [label for role in roles.values() for label in role.found]
        if needing or leave_out(named["item"], taken):
            roles["item"] = infer_one("item", named, taken)
        if needing and roles["item"].how == "none":
            problem = f"{roles['item'].problem}, which {needing[0]} needs"
            roles["item"] = roles["item"]._replace(problem=problem)
    return {name: roles[name] for name in NAMES if name in roles}


def find_truth_roles(
    truth: pd.DataFrame, users: list[Hashable], item: Hashable, options: Options
) -> Roles:
    """Return what is known of each role in truth, where the frame has these labels of ids."""
    named = find_named(truth)
    own = {"truth_user": users, "truth_item": [item]}
    roles = {}
    for role, labels in own.items():
        if not labels:
            continue
        given = getattr(options, role)
        missing = leave_out(labels, list_labels(truth))
        if not is_infer(given):
            roles[role] = _read_given(truth, role, given)
            if len(roles[role].found) not in (0, len(labels)):
                error = RecframeError(
                    f"{role} must be as many columns as user={quote(labels)}, found {quote(given)}"
                )
                roles[role] = Role("refused", [], error=error)
        elif not missing:
            found = _read_given(truth, role, labels)
            roles[role] = found._replace(how="inferred") if found.found else found
        elif len(labels) == 1:
            roles[role] = infer_one(role, named)
        else:
            error = lacking_error(truth, labels, missing, "truth", ", or truth_user= others")
            roles[role] = Role("refused", [], error=error)
    taken = [label for role in roles.values() for label in role.found]
    if not is_infer(options.relevant):
        if options.relevant is not None:
            roles["relevant"] = _read_given(truth, "relevant", options.relevant)
    elif leave_out(named["relevant"], taken):
        roles["relevant"] = infer_one("relevant", named, taken)
    return roles


def find_named(frame: pd.DataFrame) -> Named:
    """Return the labels whose names mean a role, by role, in the order of the columns."""
    named: Named = {role: [] for role in NAMES}
    doubtful = {}
    for position, label in enumerate(list_labels(frame)):
        role = find_role(label)
        if role is None and may_be_score(label):
            role, doubtful[position] = "score", label
        if role is not None:
            named[role].append(label)
    if doubtful:  # only numbers are scores by their first or last word
        dtypes = list_dtypes(frame)
        no_scores = [
            label for position, label in doubtful.items() if not is_number(dtypes[position])
        ]
        named["score"] = leave_out(named["score"], no_scores)
    return named


def lacking_error(
    frame: pd.DataFrame, users: list[Hashable], missing: list[Hashable], other: str, also: str = ""
) -> RecframeError:
    """Return the refusal of a frame beside one whose users are in several columns, for lacking one.

    What it says of a user cannot be guessed to hold for each of the user's rankings.
    """
    return MissingColumnError(
        f"user={quote(users)} needs each of these columns here too, found no {shown(missing)}; the "
        f"frame has {shown(list_labels(frame))}; pass {other}={other}.merge("
        f"df[{quote(missing)}].drop_duplicates(), how='cross') where it holds for each{also}"
    )


def infer_one(role: str, named: Named, taken: Sequence[Hashable] = ()) -> Role:
    """Return the label whose name means this role; one that is taken only where no other is.

    That one is then refused as the same column in two roles.
    """
    labels = named[role.removeprefix("truth_")]
    found = leave_to_ids(leave_out(labels, taken) or labels)
    if len(found) == 1:
        return Role("inferred", found)
    if found:
        return Role("several", found, f"{len(found)} columns could be it, {shown(found)}")
    return Role("none", [], f"no column found (looked for {_looked_for(role)})")


def list_dtypes(frame: pd.DataFrame) -> list[Any]:
    """Return the dtypes of what `list_labels` lists."""
    index = frame.index
    levels = (index.get_level_values(number) for number in range(index.nlevels))
    named = (level.dtype for level in levels if level.name is not None)
    return [*frame.dtypes, *named]


def is_number(dtype: Any) -> bool:
    """Return whether a dtype is of numbers, which booleans are not."""
    return is_numeric_dtype(dtype) and not is_bool_dtype(dtype)


def _read_given(frame: pd.DataFrame, role: str, given: Any) -> Role:
    """Return a role whose label was given, or labels."""
    if given is None and role == "user":
        return Role("given", [])
    if given is None:
        error = RecframeError(
            "relevant=None says that every pair of truth is relevant, found no truth; pass "
            "truth=, or relevant= the column of relevance"
        )
        return Role("refused", [given], error=error)
    return _read_labels(frame, role, as_labels(given), "given")


def _read_labels(frame: pd.DataFrame, role: str, given: list[Hashable], how: How) -> Role:
    """Return the role of these labels, which are refused where each is not one column."""
    labels = list_labels(frame)
    is_plain = are_distinct_texts(labels) and are_distinct_texts(given)
    if given and is_plain and set(given) <= set(labels):
        return Role(how, given)
    try:
        if not given:
            raise RecframeError(f"{role} must name at least one column, found an empty list")
        for label in given:
            check_label(frame, role, label)
            if sum(is_same(label, other) for other in given) > 1:
                raise RecframeError(
                    f"{role} must name different columns, found {quote(label)} twice"
                )
    except RecframeError as error:
        return Role("refused", given, error=error)
    return Role(how, given)


def _infer_scores(frame: pd.DataFrame, named: Named, roles: Roles) -> Role:
    """Return the role of all labels whose names mean scores, unless one need not be a model."""
    scores = leave_out(named["score"], [label for role in roles.values() for label in role.found])
    if not scores:
        return Role("none", [], f"no column found (looked for {_looked_for('score')})")
    doubtful = [label for label in scores if is_no_model(label)]
    if doubtful and len(scores) > 1:
        problem = (
            f"{len(scores)} columns are named as scores, {shown(scores)}, but "
            f"{quote(doubtful[0])} may be no model to evaluate"
        )
        return Role("several", scores, problem)
    return _read_labels(frame, "score", scores, "inferred")


def _looked_for(role: str) -> str:
    """Return some of the names that mean a role."""
    meant = role.removeprefix("truth_")
    ending = ALSO.get(meant, "")
    return f"{', '.join(list_examples(meant, N_NAMES))}, …{ending}"
