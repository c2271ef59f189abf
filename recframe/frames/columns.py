"""Which column plays which role: inference of labels, and a label's column or index level."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from recframe.errors import MissingColumnError, RecframeError, quote
from recframe.frames.labels import (
    as_labels,
    check_distinct,
    check_label,
    find_by_name,
    find_position,
    is_infer,
    leave_out,
    list_labels,
    shown,
)
from recframe.frames.likely import FILL_IN, Arguments, list_changed, spell_call, suggest
from recframe.frames.names import less_is_better, may_hold_lists
from recframe.frames.roles import (
    Roles,
    find_named,
    find_roles,
    find_truth_roles,
    infer_one,
    lacking_error,
)
from recframe.kernel.threads import Array
from recframe.metrics.names import Metric, is_of_column, list_columns
from recframe.options import Options


class Columns(NamedTuple):
    """The labels of the columns in their roles.

    `user` is a list where each combination of what several columns hold is one ranking, None
    where the frame is one; `relevant` is None where relevance is not read or every row is relevant,
    `item` where items are not read. `ascending` says of each score whether the lowest is the best.
    `averaged` are the columns that metrics are of: their names there, and labels. `of_users` are
    those that say something of users, whose rows they do not vary in.
    """

    user: Hashable | list[Hashable] | None
    scores: list[Hashable]
    relevant: Hashable | None
    item: Hashable | None = None
    ascending: Sequence[bool] = ()
    averaged: tuple[tuple[str, Hashable], ...] = ()
    of_users: tuple[Hashable, ...] = ()

    @property
    def users(self) -> list[Hashable]:
        """The labels of the columns that tell users apart, none for one ranking."""
        return as_labels(self.user)

    @property
    def labels(self) -> list[Hashable]:
        """All labels, each once, the users' first."""
        labels = [*self.users, self.item, self.relevant, *self.scores]
        labels = [label for label in labels if label is not None]
        for label in (*(label for _, label in self.averaged), *self.of_users):
            labels += leave_out([label], labels)  # one may have a role too, or two names
        return labels


def find_columns(
    frame: pd.DataFrame,
    options: Options,
    *,
    with_relevant: bool = True,
    with_item: bool = False,
    call: str = "",
    metrics: Sequence[Metric] = (),
) -> Columns:
    """Return the label of each role, given or inferred; raise where that is not unambiguous.

    The item is looked for where truth or exclude needs it and, `with_item` or where repeated pairs
    count, where the frame may have one. The message names the missing labels in `call`, as in
    "df.rec".
    Where all `metrics` are of columns, relevance is not needed unless the tie rule reads it.
    """
    if metrics and not options.tie_rule.reads_relevance:
        with_relevant = with_relevant and not all(map(is_of_column, metrics))
    roles = find_roles(frame, options, with_relevant=with_relevant, with_item=with_item)
    check_roles(frame, roles, options, call)
    scores = roles["score"].labels
    labels = {name: role.labels for name, role in roles.items() if name != "score"}
    check_distinct({**labels, "score": scores})
    reads_item = with_item or options.needs_item or options.duplicates != "keep"
    item = _one(roles, "item") if reads_item else None
    ascending = _find_directions(scores, options.ascending)
    found = tuple((name, find_by_name(frame, name)) for name in list_columns(metrics))
    user, relevant = _one_or_several(roles["user"].labels), _one(roles, "relevant")
    return Columns(user, scores, relevant, item, ascending, found)


def find_truth_columns(truth: pd.DataFrame, columns: Columns, options: Options) -> Columns:
    """Return the label of each role in truth: given, that of the frame, or inferred."""
    roles = find_truth_roles(truth, columns.users, columns.item, options)
    check_roles(truth, roles, options)
    check_distinct({name: role.labels for name, role in roles.items()})
    user = _one_or_several(roles["truth_user"].labels) if "truth_user" in roles else None
    return Columns(user, [], _one(roles, "relevant"), _one(roles, "truth_item"))


def find_pair_columns(frame: pd.DataFrame, columns: Columns) -> Columns:
    """Return the labels of user and item in a frame of pairs: those given, or inferred."""
    named = find_named(frame)
    found: dict[str, list[Hashable]] = {}
    for role, labels in (("user", columns.users), ("item", as_labels(columns.item))):
        missing = leave_out(labels, list_labels(frame))
        if not missing:
            found[role] = labels
            for label in labels:
                check_label(frame, role, label)
            continue
        if len(labels) > 1:
            raise lacking_error(frame, labels, missing, "exclude")
        inferred = infer_one(role, named)
        if inferred.problem:
            kind = MissingColumnError if inferred.how == "none" else RecframeError
            raise kind(
                f"{role}: {inferred.problem}; it has {shown(list_labels(frame))}; name one "
                f"{quote(labels[0])}, as that of the frame evaluated"
            )
        found[role] = inferred.labels
    check_distinct(found)
    return Columns(_one_or_several(found["user"]), [], None, next(iter(found["item"]), None))


def _one_or_several(labels: list[Hashable]) -> Hashable | list[Hashable] | None:
    """Return the only label, None where there is none, or several as they are."""
    return labels if len(labels) > 1 else next(iter(labels), None)


def _one(roles: Roles, name: str) -> Hashable | None:
    """Return the label of a role, None where it has none."""
    return next(iter(roles[name].labels), None) if name in roles else None


def check_roles(frame: pd.DataFrame, roles: Roles, options: Options, call: str = "") -> None:
    """Raise where a role has no label or could have several; the message tells of all roles."""
    for role in roles.values():
        if role.error is not None:
            raise role.error
    wrong = {name: role for name, role in roles.items() if role.problem}
    if not wrong:
        return
    said = [f"{name}: {role.problem}" for name, role in wrong.items()]
    found = [f"{name} is {shown(role.labels)}" for name, role in roles.items() if role.found]
    if found:
        said.append(", ".join(found))
    said.append(f"the frame has {shown(list_labels(frame))}")
    remedy, others = find_remedy(frame, roles, options)
    given = list_changed(options) if call else {}
    said.append(f"pass {spell_call(call, given | remedy)}{others}")
    lists = [label for label in list_labels(frame) if may_hold_lists(label)]
    is_missing = any(role.how == "none" for role in wrong.values())
    if lists and "score" in wrong and wrong["score"].how == "none":
        said.append(f"where {quote(lists[0])} holds lists, recframe.from_lists makes rows of them")
    raise (MissingColumnError if is_missing else RecframeError)("; ".join(said))


def find_remedy(frame: pd.DataFrame, roles: Roles, options: Options) -> tuple[Arguments, str]:
    """Return the arguments to pass where roles have a problem, and what else can be done."""
    arguments = suggest(frame, roles, options)
    none = [name for name, role in roles.items() if role.how == "none"]
    others = ""
    if any(value is FILL_IN for value in arguments.values()):
        others += ", with the right column in place of ..."
    if "user" in none and "score" in roles:
        others += ", or user=None for one ranking"
    if "truth" in arguments:
        others += ", with the frame of relevant pairs as truth, or relevant= a column"
    elif "relevant" in none and not options.has_truth:
        others += ", or truth= the frame of relevant pairs"
    return arguments, others


def get_column(frame: pd.DataFrame, label: Hashable, rows: Array | None = None) -> pd.Series:
    """Return the column, or index level, of a label that has been checked; of these rows only."""
    position = find_position(frame, label)
    if position < frame.shape[1]:
        is_told = isinstance(label, str) and frame.columns.nlevels == 1 and frame.columns.is_unique
        # In a third of the time of a position.
        column = frame[label] if is_told else frame.iloc[:, position]
    else:
        column = pd.Series(frame.index.get_level_values(position - frame.shape[1]), name=label)
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        column = column.astype(column.dtype.newbyteorder("="))  # pandas takes and hashes no other
    return column if rows is None else column.iloc[rows]


def find_label(frame: pd.DataFrame, role: str, given: Hashable) -> Hashable:
    """Return the label of a role, given or inferred."""
    if not is_infer(given):
        check_label(frame, role, given)
        return given
    found = infer_one(role, find_named(frame))
    check_roles(frame, {role: found}, Options())
    return found.labels[0]


def _find_directions(scores: list[Hashable], ascending: bool | list[bool] | None) -> list[bool]:
    """Return of each score whether the lowest is the best; raise where that is not known."""
    if isinstance(ascending, list):
        if len(ascending) != len(scores):
            raise RecframeError(
                f"ascending must have an entry for each score column, found {len(ascending)} for "
                f"{shown(scores)}; pass as many, or True or False for all"
            )
        return ascending
    is_low = [less_is_better(label) for label in scores]
    if ascending is None and any(is_low):
        label, rule = scores[is_low.index(True)], is_low if len(scores) > 1 else True
        raise RecframeError(
            f"score={quote(label)}: by its name less is better; pass ascending={rule} to rank the "
            "lowest first, or ascending=False where the highest is the best"
        )
    return [bool(ascending)] * len(scores)
