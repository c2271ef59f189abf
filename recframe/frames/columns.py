"""Columns: which plays which role in a frame, in truth and among excluded pairs; their values."""

import re
from collections import Counter
from collections.abc import Hashable, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from recframe.conventions import check_like
from recframe.errors import (
    MissingColumnError,
    RecframeError,
    as_text,
    option,
    option_with,
    quote,
    spell,
)
from recframe.foreign import read_labels
from recframe.frames.kinds import list_lists
from recframe.frames.names import (
    KINDS,
    LOOKED_FOR,
    NAMES,
    Role,
    Roles,
    as_labels,
    check_label,
    check_roles,
    find_role,
    is_infer,
    is_no_model,
    leave_out,
    less_is_better,
    list_fields,
    list_labels,
    may_be_score,
    plain_name,
    shown,
)
from recframe.kernel.threads import Array
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import Metric
from recframe.options import INFER, MODELS, Models, Options

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
    the column `score`.
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
    found, of_metrics = roles["score"], [dict(metric.parameters)["column"] for metric in of_column]
    left = leave_out(found.labels, [*used, *of_metrics])
    # A list of directions has an entry for each of them.
    if 0 < len(left) < len(found.labels) and not isinstance(options.ascending, list):
        if found.how == "inferred":
            roles["score"] = Role("inferred", left)
        elif found.how == "several":
            roles["score"] = _infer("score", {"score": left})
    if any(role.how != "inferred" for role in roles.values()):  # else there is nothing to refuse
        check_roles(frame, roles, options, call)
    if not (with_item or options.needs_item or options.duplicates != "keep"):
        roles.pop("item", None)
    ascending = _find_directions(roles["score"].labels, options.ascending)
    averaged = []
    for name in dict.fromkeys(of_metrics):
        labels = list_labels(frame)
        alike = [label for label in labels if as_text(label) == name]  # a number is named by digits
        if len(alike) != 1 or name in set(labels):
            check_label(frame, "mean column", name)
            alike = [name]
        averaged.append((name, alike[0]))
    columns = _name_columns(roles, ascending, tuple(averaged))
    if isinstance(models := options.model, Models):  # each becomes a score column
        if len(columns.scores) > 1 or models.label in columns.labels:
            choice = option("model", None, duplicates="max", missing="unranked")
            raise RecframeError(
                f"model={quote(models.label)} needs a column without another role, and one score "
                f"column, found score {shown(columns.scores)}; pass "
                f"{option_with('score', 'it')}, or, where each has its own, {choice}"
            )
        ascending, score = [columns.ascending[0]] * len(models.names), columns.scores[0]
        columns = columns._replace(
            scores=models.names, ascending=ascending, model=models.label, score=score
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
    roles = find_given_roles(given, columns.users, columns.item, of_truth)
    if of_truth is None:
        wrong = [getattr(columns, name) for name, role in roles.items() if role.problem]
        remedy = f"name one {shown(wrong)}, as that of the frame evaluated"
    check_roles(given, roles, options, remedy=remedy)
    return _name_columns(roles)


def _name_columns(roles: Roles, ascending: Sequence[bool] = (), averaged: Any = ()) -> Columns:
    """Return the labels of roles that have been checked."""
    labels = {name.removeprefix("truth_"): role.labels for name, role in roles.items()}
    users, items, scores, relevant = (labels.get(name, []) for name in NAMES)
    user, item, relevance = (next(iter(each), None) for each in (users, items, relevant))
    return Columns(users if len(users) > 1 else user, scores, relevance, item, ascending, averaged)


def find_roles(
    frame: pd.DataFrame, options: Options, *, with_relevant: bool = True, with_item: bool = False
) -> Roles:
    """Return what is known of each role that is needed, and of others that have a column.

    The item is needed for truth and exclude, to make one row of those of a pair, and to break ties
    by it. Where repeated pairs count, or `with_item`, it has a role if the frame has one.
    """
    roles = {}
    for role in NAMES:
        given = getattr(options, role)
        if not is_infer(given) and not (role == "relevant" and options.has_truth):
            roles[role] = _read_given(frame, role, given)
    if "score" not in roles and find_role(frame.columns.name) == "score":  # as of from_runs
        fields = zip(frame.columns, frame.dtypes, strict=True)
        models = [one for one in frame.attrs.get(MODELS, ()) if one in frame] or frame.columns
        numbers = [label for label, dtype in fields if dtype.kind in "iuf" and label in models]
        scores: list[Hashable] = [
            one for one in numbers if find_role(one) in (None, "score", "model") and one is not None
        ]
        if scores:
            roles["score"] = Role("inferred", scores)
    taken = {label for role in roles.values() for label in role.labels}
    named = _list_named(frame)
    needing = f"duplicates={options.duplicates!r}" if options.duplicates in ("max", "first") else ""
    needing = needing or ("ties='item'" if options.tie_rule.by_item else "")
    needing = needing or (f"model={options.model}" if isinstance(options.model, Models) else "")
    reads_item = needing or options.needs_item
    if not reads_item and (with_item or options.duplicates != "keep"):
        reads_item = not taken.issuperset(named["item"])
    needed = {"item": reads_item, "relevant": with_relevant and not options.has_truth}
    for role in NAMES:
        if role not in roles and needed.get(role, True):
            roles[role] = _infer(role, named, taken)
    _settle_with_truth(frame, roles, options)
    if len(set(roles["score"].labels)) < len(roles["score"].labels):  # several of one name
        roles["score"] = _read_given(frame, "score", roles["score"].labels)
    if needing and roles["item"].how == "none":
        problem = f"{roles['item'].problem}, which {needing} needs"
        roles["item"] = roles["item"]._replace(problem=problem)
    return {name: roles[name] for name in NAMES if name in roles}


def _settle_with_truth(frame: pd.DataFrame, roles: Roles, options: Options) -> None:
    """Give users and items the one column that could be theirs and that truth has too.

    Where neither has a candidate by its name, labels do not tell which is which.
    """
    open_ = [name for name in ("user", "item") if name in roles and roles[name].problem]
    if not (open_ and options.has_truth):
        return
    truth: Any = options.truth
    labels = {*(list_labels(truth) if isinstance(truth, pd.DataFrame) else read_labels(truth))}
    found = {label for role in roles.values() for label in role.found}
    kinds = {label: dtype.kind for label, dtype in list_fields(frame) if label not in found}
    for name in open_:
        fitting = [label for label, kind in kinds.items() if kind in KINDS[name][0]]
        both = [label for label in roles[name].labels or fitting if label in labels]
        if len(both) == 1 and (roles[name].labels or len(open_) == 1):
            roles[name] = Role("inferred", both)


def find_given_roles(
    frame: pd.DataFrame, users: list[Hashable], item: Hashable, options: Options | None = None
) -> Roles:
    """Return what is known of each role in truth, as options have it, or among excluded pairs.

    Ids are given, those of the frame evaluated, or inferred. What is said of a user cannot be
    guessed to hold for each of the user's rankings.
    """
    named, roles = _list_named(frame), {}
    for name, labels in (("user", users), ("item", [item])):
        role = f"truth_{name}" if options else name
        given = getattr(options, role, INFER)
        missing = leave_out(labels, list_labels(frame))
        if not labels:
            continue
        if not is_infer(given):
            roles[role] = _read_given(frame, role, given, labels)
        elif not missing:
            roles[role] = _read_given(frame, role, labels)
        elif len(labels) == 1:
            roles[role] = _infer(role, named)
        else:
            other = "truth" if options else "exclude"
            also = f", or {option_with('truth_user', 'others')}" if options else ""
            merged = f"{other}.merge(df[{quote(missing)}].drop_duplicates(), how='cross')"
            merged = f"if it holds for all of them, pass {other}={merged}"
            one = f"evaluate one at a time, by --filter '{as_text(missing[0])} == …' and one --user"
            error = MissingColumnError(
                f"user={quote(labels)} needs each of these columns here too, found no "
                f"{shown(missing)}; the frame has {shown(list_labels(frame))}; "
                f"{spell(merged, one)}{also}"
            )
            roles[role] = Role("refused", [], error=error)
    taken = {label for role in roles.values() for label in role.labels}
    if options is None or options.relevant is None:
        return roles
    if not is_infer(options.relevant):
        roles["relevant"] = _read_given(frame, "relevant", options.relevant)
    elif not taken.issuperset(named["relevant"]):
        roles["relevant"] = _infer("relevant", named, taken)
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
    named: dict[str, list[Hashable]] = {role: [] for role in (*NAMES, "model")}
    fields = list_fields(frame)
    others = {label for label, kind in fields if is_bool_dtype(kind) or not is_numeric_dtype(kind)}
    for label, _ in fields:
        is_score = label not in others and may_be_score(label)
        if role := find_role(label) or ("score" if is_score else None):
            named[role].append(label)
    named["score"] = leave_out(
        named["score"], [] if others.isdisjoint(named["score"]) else list_lists(frame)
    )
    return named


def _infer(role: str, named: dict[str, list[Hashable]], taken: Set[Hashable] = frozenset()) -> Role:
    """Return what names say of a role: one label, or all scores."""
    meant = role.removeprefix("truth_")
    is_score = role == "score"
    found = [label for label in named[meant] if label not in taken]
    if not is_score and len(found) != 1:
        found = found or named[meant]
        names = {plain_name(label) for label in found}  # "query" is left to "query_id"
        found = [label for label in found if f"{plain_name(label)}id" not in names]
    doubtful = [label for label in found if is_score and is_no_model(label)]
    if not found:
        return Role("none", [], f"no column found (looked for {LOOKED_FOR[meant]})")
    if len(found) == 1 or (is_score and not doubtful):
        return Role("inferred", found)
    but = f", but {quote(doubtful[0])} may be no model to evaluate" if doubtful else ""
    return Role("several", found, f"{len(found)} columns could be it, {shown(found)}{but}")


def find_label(frame: pd.DataFrame, role: str, given: Hashable, remedy: str = "") -> Hashable:
    """Return the label of a role, given or inferred; a remedy is for other frames than the rows."""
    if not is_infer(given):
        check_label(frame, role, given)
        return given
    found = _infer(role, _list_named(frame))
    check_roles(frame, {role: found}, Options(), remedy=remedy)
    return found.labels[0]


def other_labels(frame: pd.DataFrame, columns: Columns) -> list[Hashable]:
    """Return the labels that have no role, but may be models, and name one column each."""
    taken = leave_out(columns.labels, [*columns.doubtful, *columns.of_users])
    return [label for label, n in Counter(list_labels(frame, taken)).items() if n == 1]


def get_column(frame: pd.DataFrame, label: Hashable, rows: Array | None = None) -> pd.Series:
    """Return the column or index level of a label, the last one of several; only these rows."""
    levels = {name: at for at, name in enumerate(frame.index.names) if name is not None}
    if label in levels:
        column = pd.Series(frame.index.get_level_values(levels[label]), name=label)
    else:
        found: Any = frame[label]
        column = found.iloc[:, -1] if isinstance(found, pd.DataFrame) else found
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.astype(column.dtype.subtype)
    if isinstance(column.dtype, np.dtype) and not column.dtype.isnative:
        column = column.astype(column.dtype.newbyteorder("="))  # pandas takes and hashes no other
    return column if rows is None else column.iloc[rows]


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
