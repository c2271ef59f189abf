"""The columns of a frame, of truth and of excluded pairs in their roles."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from recframe.conventions import check_like
from recframe.errors import RecframeError, as_text, quote
from recframe.frames.names import (
    NAMES,
    as_labels,
    check_label,
    find_role,
    list_fields,
    list_labels,
    remove_labels,
    shown,
)
from recframe.frames.open_roles import check_roles
from recframe.frames.roles import TRUTH_IDS, Role, Roles, find_companion_roles, find_roles
from recframe.frames.words import less_is_better
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.gains import Feature
from recframe.metrics.names import Metric
from recframe.options import EMPTY, LIST, NEGATED, Models, Options

Features = tuple[tuple[Feature, Hashable], ...]  # columns that metrics read, and their labels


class Columns(NamedTuple):
    """The labels of the columns in their roles.

    `user` is a list if each combination of values in several columns is one ranking, and None if
    the frame is one ranking. `relevant` is None if relevance is not read or every row is relevant;
    `item` is None if items are not read. `ascending` says for each score whether the lowest is the
    best. `features` are the columns that metrics such as ``mean(column)`` read, with the metric and
    the name in it. `of_users` are columns with one value for each user. `doubtful` are columns
    without a role whose names say that they must not vary within a user. `others` have no role and
    are not read; `measures` are all columns of floats. If a column says which `model` a row belongs
    to, `scores` are the models, and all have the values of the column `score`. `settled` are the
    ids of truth that are known by their values. If the frame `has_empty` lists, a row without an
    item and a score stands for one. `list_number` tells lists of one user apart. `of_grades` says
    that metrics count grades, and not which rows are relevant.
    """

    user: Hashable | list[Hashable] | None
    scores: list[Hashable]
    relevant: Hashable | None
    item: Hashable | None = None
    ascending: Sequence[bool] = ()
    features: Features = ()
    of_users: tuple[Hashable, ...] = ()
    doubtful: Sequence[Hashable] = ()
    model: Hashable = None
    score: Hashable = None
    others: Sequence[Hashable] = ()
    measures: Sequence[Hashable] = ()
    settled: Mapping[str, Role] = MappingProxyType({})
    has_empty: bool = False
    list_number: Hashable = None
    of_grades: bool = False

    @property
    def score_columns(self) -> list[Hashable]:
        """The labels of the columns that hold scores."""
        return self.scores if self.model is None else [self.score]

    def column_of(self, score: Hashable) -> Hashable:
        """Return the label of the column that holds a score."""
        return score if self.model is None else self.score

    @property
    def users(self) -> list[Hashable]:
        """The labels of the columns of users, an empty list if the frame is one ranking."""
        return as_labels(self.user)

    @property
    def labels(self) -> list[Hashable]:
        """All labels, each once, the users' first."""
        features = dict(self.features).values()
        others = [*features, *self.of_users, *self.doubtful, self.model, self.list_number]
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
    """Return the label of each role; raise if a role is open.

    The item is needed for truth and exclude. `with_item`, or if repeated pairs matter, it is read
    if the frame has one. The message names the missing labels in `call`, as in "df.rec". If all
    `metrics` read columns, relevance is needed only by the tie rule. A column that a metric reads,
    or that is `used` otherwise, is not inferred as a score next to others.
    """
    if options.like is not None:
        check_like(metrics, vars(options))
    of_column = [metric for metric in metrics if DEFINITIONS[metric.name].of_column]
    are_of_rows = len(of_column) < max(1, len(metrics))
    with_relevant &= are_of_rows or options.tie_rule.reads_relevance
    are_of_grades = [DEFINITIONS[metric.name].needs_gains for metric in metrics]
    features = _find_features(frame, of_column) if of_column else ()
    used = [*used, *dict(features).values()]
    roles = find_roles(frame, options, with_relevant=with_relevant, with_item=with_item, used=used)
    settled = {name: roles.pop(name) for name in TRUTH_IDS if name in roles}
    if NEGATED in frame.attrs and options.ascending is True and "score" in roles["score"].labels:
        raise RecframeError(
            f"ascending=True: recframe.from_lists made score the negative of "
            f"{quote(frame.attrs[NEGATED])}, so the highest is the best. Leave it out.",
            {"ascending": False},
        )
    if any(role.how != "inferred" for role in roles.values()):  # inferred roles are never refused
        check_roles(frame, roles, options, call)
    if not (with_item or options.needs_item or options.duplicates != "keep"):
        roles.pop("item", None)
    columns = _name_columns(
        frame,
        roles,
        ascending=_find_directions(roles["score"].labels, options.ascending),
        features=features,
        of_grades=bool(are_of_grades) and all(are_of_grades) and options.gain != "binary",
        settled=settled,
        list_number=LIST if EMPTY in frame.attrs and LIST in frame else None,
    )
    if isinstance(options.model, Models):
        columns = _make_models_scores(columns, options.model)
    _check_score_names(columns)
    others = remove_labels(other_labels(frame, columns), [options.item])
    measures = [label for label, dtype in list_fields(frame) if dtype.kind == "f"]
    doubtful = [one for one in others if options.model is not None and find_role(one) == "model"]
    return columns._replace(others=others, doubtful=doubtful, measures=measures)


def _check_score_names(columns: Columns) -> None:
    """Raise if the name of a score or of a model is no text of UTF-8."""
    role = "score" if columns.model is None else "model"
    for score in columns.scores:
        if isinstance(score, str) and score.encode(errors="ignore").decode() != score:
            raise RecframeError(f"{role}={quote(score)}: a name must be text of UTF-8. Rename it.")


def _find_features(frame: pd.DataFrame, metrics: Sequence[Metric]) -> Features:
    """Return the columns that metrics read: the metric and the name in it, and the label."""
    features, labels = [], list_labels(frame)
    for metric, name in dict.fromkeys((one.name, one.parameters[0][1]) for one in metrics):
        alike = [label for label in labels if as_text(label) == name]  # 3 is named "3" in a metric
        if len(alike) != 1 or name in set(labels):
            check_label(frame, f"{metric} column", name)
            alike = [name]
        features.append(((metric, name), alike[0]))
    return tuple(features)


def _make_models_scores(columns: Columns, models: Models) -> Columns:
    """Return columns with a score for each model."""
    if len(columns.scores) > 1 or models.label in columns.labels:
        raise RecframeError(
            f"model={quote(models.label)} needs a column without another role, and one score "
            f"column, but has score {shown(columns.scores)}. Pass score= it, or, where each has "
            "its own, model=None, duplicates='max', missing='unranked'."
        )
    ascending = [columns.ascending[0]] * len(models.names)
    return columns._replace(
        scores=models.names, ascending=ascending, model=models.label, score=columns.scores[0]
    )


def find_companion_columns(name: str, frame: Any, columns: Columns, options: Options) -> Columns:
    """Return the label of each role in truth or exclude, whose `name` this is."""
    of_truth, remedy = options if name == "truth" else None, ""
    roles = find_companion_roles(frame, columns.users, columns.item, of_truth, columns.settled)
    if of_truth is None:
        wrong = [getattr(columns, name) for name, role in roles.items() if role.problem]
        remedy = f"name one {shown(wrong)}, as that of the frame evaluated"
    check_roles(frame, roles, options, remedy=remedy)
    return _name_columns(frame, roles)


def _name_columns(frame: pd.DataFrame, roles: Roles, **others: Any) -> Columns:
    """Return the labels of checked roles."""
    labels = {name.removeprefix("truth_"): role.labels for name, role in roles.items()}
    users, items, scores, relevant = (labels.get(name, []) for name in NAMES)
    user, item, relevance = (next(iter(each), None) for each in (users, items, relevant))
    several = users if len(users) > 1 else user
    return Columns(several, scores, relevance, item, has_empty=EMPTY in frame.attrs, **others)


def other_labels(frame: pd.DataFrame, columns: Columns) -> list[Hashable]:
    """Return the labels without a role that name one column each; models are among them."""
    taken = remove_labels(columns.labels, [*columns.doubtful, *columns.of_users])
    return [label for label, n in Counter(list_labels(frame, taken)).items() if n == 1]


def _find_directions(scores: list[Hashable], ascending: bool | list[bool] | None) -> list[bool]:
    """Return for each score whether the lowest is the best; raise if that is not known."""
    if isinstance(ascending, list):
        if len(ascending) != len(scores):
            raise RecframeError(
                f"ascending must have an entry for each score column, but has {len(ascending)} for "
                f"{shown(scores)}. Pass as many, or True or False for all."
            )
        return ascending
    is_low = [less_is_better(label) for label in scores]
    if ascending is None and any(is_low):
        label, several = scores[is_low.index(True)], len(scores) > 1
        rule, other = (is_low, [False] * len(scores)) if several else (True, False)
        raise RecframeError(
            f"score={quote(label)}: the name suggests that lower is better. Pass "
            f"ascending={quote(rule)} to rank the lowest first, or ascending={quote(other)} if the "
            "highest is the best.",
            {"ascending": rule},
        )
    return [bool(ascending)] * len(scores)
