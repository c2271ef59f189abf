"""Columns: which plays which role in a frame, in truth and among excluded pairs; their values."""

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from recframe.conventions import check_like
from recframe.errors import (
    RecframeError,
    as_text,
    option,
    option_with,
    quote,
)
from recframe.frames.names import (
    NAMES,
    as_labels,
    check_label,
    find_role,
    leave_out,
    list_labels,
    shown,
)
from recframe.frames.roles import (
    NO_ROLES,
    TRUTH_IDS,
    Role,
    Roles,
    check_roles,
    find_given_roles,
    find_roles,
    infer_role,
)
from recframe.frames.words import less_is_better
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import Metric
from recframe.options import Models, Options

LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which no table's labels hold


class Columns(NamedTuple):
    """The labels of the columns in their roles.

    `user` is a list where each combination of what several columns hold is one ranking, None
    where the frame is one; `relevant` is None where relevance is not read or every row is relevant,
    `item` where items are not read. `ascending` says of each score whether the lowest is the best.
    `averaged` are the columns that metrics are of: their names there, and labels. `of_users` are
    those that say something of users, whose rows they do not vary in, and `doubtful` those without
    a role that must not vary in them by their names; `others` have no role and are not read. Where
    a column says which `model` a row is of, `scores` are what it holds, and all have the values of
    the column `score`. `settled` are the ids of truth that are known by their values.
    """

    user: Hashable | list[Hashable] | None
    scores: list[Hashable]
    relevant: Hashable | None
    item: Hashable | None = None
    ascending: Sequence[bool] = ()
    averaged: tuple[tuple[str, Hashable], ...] = ()
    of_users: tuple[Hashable, ...] = ()
    doubtful: Sequence[Hashable] = ()
    model: Hashable = None
    score: Hashable = None
    others: Sequence[Hashable] = ()
    settled: Mapping[str, Role] = NO_ROLES

    @property
    def score_columns(self) -> list[Hashable]:
        """The labels of the columns that have the scores."""
        return self.scores if self.model is None else [self.score]

    def column_of(self, score: Hashable) -> Hashable:
        """Return the label of the column that has the values of a score."""
        return score if self.model is None else self.score

    @property
    def users(self) -> list[Hashable]:
        """The labels of the columns that tell users apart, none for one ranking."""
        return as_labels(self.user)

    @property
    def labels(self) -> list[Hashable]:
        """All labels, each once, the users' first."""
        averaged = (label for _, label in self.averaged)
        others = [*averaged, *self.of_users, *self.doubtful, self.model]
        labels = [*self.users, self.item, self.relevant, *self.score_columns, *others]
        return [label for label in dict.fromkeys(labels) if label is not None]


def find_columns(
    frame: pd.DataFrame,
    options: Options,
    *,
    with_relevant: bool = True,
    with_item: bool = False,
    call: str = "",
    metrics: Sequence[Metric] = (),
    used: Sequence[Hashable] = (),
) -> Columns:
    """Return the label of each role, given or inferred; raise where that is not unambiguous.

    The item is looked for where truth or exclude needs it and, `with_item` or where repeated pairs
    count, where the frame may have one. The message names the missing labels in `call`, as in
    "df.rec".
    Where all `metrics` are of columns, relevance is not needed unless the tie rule reads it. A
    column that one is of, or that is `used` otherwise, is not inferred as a score beside others.
    """
    if options.like is not None:
        check_like(metrics, vars(options))
    of_column = [metric for metric in metrics if DEFINITIONS[metric.name].of_column]
    if of_column and len(of_column) == len(metrics) and not options.tie_rule.reads_relevance:
        with_relevant = False
    roles = find_roles(frame, options, with_relevant=with_relevant, with_item=with_item)
    settled = {name: roles.pop(name) for name in TRUTH_IDS if name in roles}
    found, of_metrics = roles["score"], [dict(metric.parameters)["column"] for metric in of_column]
    left = leave_out(found.labels, [*used, *of_metrics])
    # A list of directions has an entry for each of them.
    may_leave = found.how in ("inferred", "several") and not isinstance(options.ascending, list)
    if may_leave and 0 < len(left) < len(found.labels):
        is_known = found.how == "inferred"
        roles["score"] = found._replace(labels=left) if is_known else infer_role("score", left)
    if any(role.how != "inferred" for role in roles.values()):  # else there is nothing to refuse
        check_roles(frame, roles, options, call)
    if not (with_item or options.needs_item or options.duplicates != "keep"):
        roles.pop("item", None)
    ascending = _find_directions(roles["score"].labels, options.ascending)
    averaged, labels = [], list_labels(frame)
    for name in dict.fromkeys(of_metrics):
        alike = [label for label in labels if as_text(label) == name]  # a number is named by digits
        if len(alike) != 1 or name in set(labels):
            check_label(frame, "mean column", name)
            alike = [name]
        averaged.append((name, alike[0]))
    columns = _name_columns(roles, ascending=ascending, averaged=tuple(averaged), settled=settled)
    if isinstance(models := options.model, Models):  # each becomes a score column
        if len(columns.scores) > 1 or models.label in columns.labels:
            choice = option("model", None, duplicates="max", missing="unranked")
            raise RecframeError(
                f"model={quote(models.label)} needs a column without another role, and one score "
                f"column, found score {shown(columns.scores)}; pass "
                f"{option_with('score', 'it')}, or, where each has its own, {choice}"
            )
        columns = columns._replace(
            scores=models.names,
            ascending=[columns.ascending[0]] * len(models.names),
            model=models.label,
            score=columns.scores[0],
        )
    role = "score" if columns.model is None else "model"
    for score in columns.scores:
        if isinstance(score, str) and LONE_SURROGATE.search(score):
            raise RecframeError(f"{role}={quote(score)}: a name must be text of UTF-8; rename it")
    others = leave_out(other_labels(frame, columns), [options.item])
    doubtful = [one for one in others if options.model is not None and find_role(one) == "model"]
    return columns._replace(others=others, doubtful=doubtful)


def find_given_columns(name: str, given: Any, columns: Columns, options: Options) -> Columns:
    """Return the label of each role in truth or exclude: given, that of the frame, or inferred."""
    of_truth, remedy = options if name == "truth" else None, ""
    roles = find_given_roles(given, columns.users, columns.item, of_truth, columns.settled)
    if of_truth is None:
        wrong = [getattr(columns, name) for name, role in roles.items() if role.problem]
        remedy = f"name one {shown(wrong)}, as that of the frame evaluated"
    check_roles(given, roles, options, remedy=remedy)
    return _name_columns(roles)


def _name_columns(roles: Roles, **others: Any) -> Columns:
    """Return the labels of roles that have been checked."""
    labels = {name.removeprefix("truth_"): role.labels for name, role in roles.items()}
    users, items, scores, relevant = (labels.get(name, []) for name in NAMES)
    user, item, relevance = (next(iter(each), None) for each in (users, items, relevant))
    return Columns(users if len(users) > 1 else user, scores, relevance, item, **others)


def other_labels(frame: pd.DataFrame, columns: Columns) -> list[Hashable]:
    """Return the labels that have no role, but may be models, and name one column each."""
    taken = leave_out(columns.labels, [*columns.doubtful, *columns.of_users])
    return [label for label, n in Counter(list_labels(frame, taken)).items() if n == 1]


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
        label, several = scores[is_low.index(True)], len(scores) > 1
        rule, other = (is_low, [False] * len(scores)) if several else (True, False)
        raise RecframeError(
            f"score={quote(label)}: by its name less is better; pass {option('ascending', rule)} "
            f"to rank the lowest first, or {option('ascending', other)} where the highest is the "
            "best",
            {"ascending": rule},
        )
    return [bool(ascending)] * len(scores)
