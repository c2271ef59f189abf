"""One value for each user: columns of the frame, and per-user tables that are passed."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype

from recframe.errors import Choice, RecframeError, quote
from recframe.frames.ids import as_users, look_up_ids
from recframe.frames.interactions import Interactions
from recframe.frames.names import find_role, get_column, is_infer, is_same
from recframe.frames.tables import make_columns
from recframe.frames.words import ends_in, has_word, is_of_row
from recframe.kernel.threads import Array
from recframe.metrics.names import find_alike, is_metric, is_share
from recframe.notes import note
from recframe.options import MADE
from recframe.other_tables import frame_error

LEVELS = ["score", "metric"]
WEIGHTS = "weights"  # the column of weights in saved tables, before the score
MOST_SHARE = 2  # Simulated values of a share may be a little above 1, unlike per cent and ids.
PER_USER = "a DataFrame with a row for each user, as df.rec.evaluate() returns"


def read_user_column(interactions: Interactions, name: str, label: Hashable, at: Any) -> pd.Series:
    """Return each user's value in a column, by user; null for users without a row.

    The column has the label `at` in the frame. Raise if a user has two values: the message has
    `name`, the argument that asks for the column, and `label`, the argument's value.
    """
    users, groups, labels = *interactions.users, interactions.columns.users
    for number, user_label in enumerate(labels):
        if is_same(at, user_label):  # Users without a row have this value too.
            return pd.Series(users.get_level_values(number)).set_axis(users)
    column = get_column(interactions.frame, at, interactions.rows)
    if column.dtype == np.float16:  # pandas has no index of float16.
        column = column.astype(np.float32)
    try:
        codes, _ = pd.factorize(column, use_na_sentinel=False)
    except TypeError as error:
        raise RecframeError(
            f"{name}={quote(label)} must hold values that can be compared, but comparison fails: "
            f"{error}"
        ) from error
    first = np.full(len(users), -1)
    first[groups.codes[::-1]] = np.arange(len(codes))[::-1]  # The last one that is written stays.
    differs = np.flatnonzero(codes != codes[first[groups.codes]])
    if len(differs):
        of_user = groups.codes[differs]
        user, row = of_user.min(), differs[of_user.argmin()]
        two = column.iloc[[first[user], row]].tolist()
        both = f", or user={quote([label, *labels])} to rank each by itself"
        may_rank = name == "by" and labels and is_same(label, at) and not is_of_row(label)
        apart = both if may_rank else ""
        raise RecframeError(
            f"{name}={quote(label)} must hold one value for each user, but holds several for "
            f"{len(np.unique(of_user))} of {len(users)} (user "
            f"{quote(users[[user]].tolist()[0])} has {quote(two[0])} and {quote(two[1])}). "
            f"Pass a column that does not vary within users, or a Series indexed by user{apart}."
        )
    values = column.reset_index(drop=True).reindex(first).set_axis(users)
    ids = list_users(interactions)
    if len(ids):  # Users of empty lists have a row, too, but not among the rows above.
        each = pd.Series(get_column(interactions.frame, at).array, ids)
        each = each[~ids.duplicated() & ids.isin(users[first < 0])]
        values = pd.concat([values[first >= 0], each]).reindex(users)
    return values


def list_users(interactions: Interactions) -> pd.Index[Any]:
    """Return the user of each row of a frame with empty lists; an empty index for other frames."""
    frame, columns = interactions.frame, interactions.columns
    if not columns.has_empty or len(interactions.relevant) == len(frame):
        return pd.Index([])
    return as_users([pd.Index(get_column(frame, label)) for label in columns.users])


def find_level(values: Any, users: pd.Index[Any]) -> Any:
    """Return the index level of users with this name as a Series; anything else as it is."""
    if isinstance(values, pd.Series):
        return values
    for number, name in enumerate(users.names):
        if name is not None and is_same(values, name):
            return pd.Series(users.get_level_values(number), users, name=name)
    return values


def find_units(rankings: pd.Index[Any], unit: Any) -> Array | None:
    """Return the unit of each ranking as a code, None if each ranking is one unit.

    If `unit` is to be inferred, raise if values repeat in a column that is named like users. If no
    column has such a name, the last column without times is checked.
    """
    names = [name for name in rankings.names if name is not None and name != WEIGHTS]
    if unit is None or (is_infer(unit) and rankings.nlevels == 1):
        return None
    if not is_infer(unit):
        asked = [name for name in names if is_same(name, unit)]
        if not asked:
            raise RecframeError(
                f"unit must be one of the columns {quote(names)}, but is {quote(unit)}"
            )
        codes, known = pd.factorize(rankings.get_level_values(rankings.names.index(asked[0])))
        codes[codes < 0] = len(known) + np.arange(np.count_nonzero(codes < 0))  # A null is a unit.
        return codes
    named = [name for name in names if find_role(name) == "user"]
    for name in named or ([name for name in names if not has_word(name, "time")] or names)[-1:]:
        units = rankings.get_level_values(rankings.names.index(name))
        if units.has_duplicates:
            again = f"{len(units)} rankings by {quote(names)} of {units.nunique()} {quote(name)}"
            raise RecframeError(
                f"unit: rankings of one {name} are not independent: {again}. Pass "
                f"unit={quote(name)} to count the mean of each one's rankings as one value, or "
                "unit=None to count each ranking by itself.",
                {"unit": Choice([name, None])},
            )
    return None


def align_to_users(argument: str, values: pd.Series, users: pd.Index[Any]) -> pd.Series:
    """Return the values of a Series in the order of users, null for users that it lacks.

    If users have several index levels, the Series may have some of these, by their names.
    """
    if values.index.equals(users):
        return values.reset_index(drop=True)
    position = find_rows_of_users(values.index, users)
    if len(users) and (position < 0).all():
        raise RecframeError(
            f"{argument}: the index of the Series must hold users, but holds none of {len(users)} "
            f"(user {quote(users[[0]].tolist()[0])}, index {quote(values.index[:1].tolist())})"
        )
    return values.reset_index(drop=True).reindex(position)


def find_rows_of_users(index: pd.Index[Any], users: pd.Index[Any]) -> Array:
    """Return the position of each user in an index of users, -1 for a user who is not in it.

    If users have several levels, the index may have some of these, by their names.
    """
    if users.nlevels > 1 and all(name in users.names for name in index.names):
        levels = [list(users.names).index(name) for name in index.names]
        users = as_users([users.get_level_values(level) for level in levels])
    return look_up_ids(users, index)


def check_per_user(per_user: Any, n_scores: int = 1) -> pd.DataFrame:
    """Return a table of floats with columns (score, metric); each score has all metrics.

    Several tables, in a dict or a list, become one. Raise if the argument is no per-user table, can
    be read in two ways, or has fewer scores than `n_scores`.
    """
    if isinstance(per_user, pd.DataFrame):
        labels = per_user.columns
        is_of_metrics = labels.nlevels == 2 and is_metric(labels.names[1])
        if labels.nlevels == 3 or is_of_metrics:  # ``pd.concat`` joined several tables.
            per_user = {key: per_user[key].dropna(how="all") for key in labels.unique(0)}
    tables = dict(enumerate(per_user)) if isinstance(per_user, list | tuple) else per_user
    several = list(tables.values()) if isinstance(tables, Mapping) else []
    if several and all(isinstance(one, pd.DataFrame) for one in several):
        per_user = _combine_tables(tables, is_named=tables is per_user)
    if not isinstance(per_user, pd.DataFrame):
        raise frame_error("per_user", PER_USER, per_user)
    per_user = _with_users_in_index(per_user)
    if per_user.shape[1] == 0:
        raise RecframeError("per_user must have a column for each score, but has none")
    for kind, labels in (("column", per_user.columns), ("user", per_user.index)):
        if (is_repeated := labels.duplicated()).any():
            found = quote(labels[is_repeated].tolist()[0])
            raise RecframeError(
                f"per_user must have each {kind} once, but has {kind} {found} more than once"
            )
    columns = _find_scores_and_metrics(per_user)
    alike = find_alike(columns.unique("metric"))
    if len(set(alike.values())) < len(alike):  # If a metric has two labels, the first is kept.
        labels, scores = columns, columns.get_level_values("score")
        metrics = labels.get_level_values("metric").map(alike)
        columns = pd.MultiIndex.from_arrays([scores, metrics], names=LEVELS)
        for again in np.flatnonzero(columns.duplicated()).tolist():
            raise RecframeError(
                f"per_user must have each column once, but has column {quote(labels[again])}, "
                f"which is {quote(columns[again][1])}, more than once"
            )
    cells = [_read_floats(label, per_user.iloc[:, i]) for i, label in enumerate(columns)]
    table = pd.DataFrame(np.transpose(cells), per_user.index, columns)
    scores, metrics = (columns.unique(level) for level in LEVELS)
    if len(scores) < n_scores:
        raise RecframeError(
            f"per_user must have {n_scores} scores or more to compare, but has "
            f"{quote(scores.tolist())}"
        )
    return table.reindex(columns=make_columns(scores, metrics))


def _with_users_in_index(per_user: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose users are in its index, also those that `reset_index` made columns."""
    columns = per_user.columns
    if columns.nlevels != 2 or per_user.index.names != [None]:
        return per_user
    users = [label for label in columns if is_same(label[1], "")]
    names = [label[0] for label in users]
    return per_user.set_index(users).rename_axis(names) if users else per_user


def _combine_tables(tables: Mapping[Any, pd.DataFrame], *, is_named: bool) -> pd.DataFrame:
    """Return per-user tables as one; a user that a table lacks has null for its scores.

    The name of a table becomes the name of its score, or precedes the names of several scores.
    Without names, a score that another table has too gets the number of its table.
    """
    parts, taken = list[pd.DataFrame](), set[Any]()
    for number, (key, table) in enumerate(tables.items(), 1):
        part = check_per_user(table)
        scores = list(part.columns.unique("score"))
        names = {one: f"{one}_{number}" if one in taken else one for one in scores}
        if is_named:
            names = {one: key if len(scores) == 1 else f"{key}: {one}" for one in scores}
        taken |= {*names.values()}
        parts.append(part.rename(columns=names, level="score"))
    check_indexes(parts)
    made = [table.attrs.get(MADE, {}) for table in tables.values()]
    if all(made):
        note(**{f"other_options:{name}": 1 for name in list_other_options(made)})
    known = [one.columns.unique("metric") for one in parts]
    alone = next((one for one in known if one.intersection(known[0]).empty), None)
    if alone is not None:
        raise RecframeError(
            "per_user must be tables with metrics in common, but the first has "
            f"{quote([*known[0]])} and another {quote([*alone])}. Evaluate the same metrics."
        )
    joined = pd.concat(parts, axis=1)
    if len(parts) > 1 and len(joined) == sum(map(len, parts)) > 0:
        examples = " and ".join(quote(one.index[:1].tolist()) for one in parts[:2])
        raise RecframeError(
            "per_user must be tables with users in common, but have none (users such as "
            f"{examples}). Give ids of one kind."
        )
    return joined


def list_other_options(made: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the options that differ between tables, by the options that made each.

    "raise" never changes a value, so it agrees with every other value of its option.
    """
    names = dict.fromkeys(chain(*made))
    values = {name: {one.get(name) for one in made} - {"'raise'"} for name in names}
    return [name for name, several in values.items() if len(several) > 1]


def check_indexes(tables: Sequence[pd.DataFrame]) -> None:
    """Raise if tables have users in their indexes, but one has lost them to positions."""
    lost = [type(one.index) is pd.RangeIndex and one.index.name is None for one in tables]
    if any(lost) and not all(lost):
        positions, users = (tables[lost.index(is_lost)].index for is_lost in (True, False))
        if not positions.equals(users):
            raise RecframeError(
                f"per_user must have users in the index of each table, but table "
                f"{lost.index(True) + 1} has the positions 0 to {len(positions) - 1:,}, and "
                f"another has users such as {quote(users[0])}. Keep its index: reset_index() "
                "without drop=True makes a column of it."
            )


def _find_scores_and_metrics(per_user: pd.DataFrame) -> pd.MultiIndex:
    """Return the score and metric of each column."""
    columns = per_user.columns
    if isinstance(columns, pd.MultiIndex):
        if columns.nlevels != 2:
            raise RecframeError(
                f"per_user must have columns (score, metric), but has {columns.nlevels} levels"
            )
        names = columns.names
        orders = {name == one for name, one in zip(names, LEVELS, strict=True) if name in LEVELS}
        if not orders:  # Without names, the labels decide which level has metrics.
            are_metrics = [any(map(is_metric, columns.unique(n))) for n in (0, 1)]
            orders = {are_metrics[1]} if are_metrics[0] != are_metrics[1] else orders
        if len(orders) != 1:
            calls = [f"per_user.rename_axis(columns={order})" for order in (LEVELS, LEVELS[::-1])]
            raise RecframeError(
                "per_user must have columns (score, metric), but has two levels of which neither "
                f"the names {quote(list(names))} nor the labels, such as "
                f"{quote(columns.tolist()[0])}, say which is which. Pass {' or '.join(calls)}."
            )
        return (columns if orders == {True} else columns.swaplevel()).set_names(LEVELS)
    _check_no_ids(per_user)
    if columns.name is None:
        _check_not_joined(columns)
    if columns.name == "metric" or any(map(is_metric, columns)):
        raise RecframeError(
            "per_user must have columns (score, metric), or be of one metric, but has the metrics "
            f"{quote(columns.tolist())} without a score. Pass pd.concat({{'model': per_user}}, "
            "axis=1)."
        )
    metric = "value" if columns.name in (None, "score") else columns.name
    return make_columns(columns, [metric])


def _check_not_joined(columns: pd.Index[Any]) -> None:
    """Raise if labels, such as als_recall@5, join scores with the names of several metrics."""
    pairs = [_split_metric(str(label)) for label in columns]
    joined = find_alike(metric for score, metric in pairs if score)
    if len({*joined.values()}) > 1:
        call = f"per_user.set_axis(pd.MultiIndex.from_tuples({pairs}), axis=1)"
        raise RecframeError(
            "per_user must have columns (score, metric), or be of one metric, but has columns "
            f"whose names end in several metrics, {quote([*joined])}. Pass "
            f"{call if all(score for score, _ in pairs) else 'tuples of score and metric'}."
        )


def _split_metric(label: str) -> tuple[str, str]:
    """Return the score and the metric that a label joins, "" and the label if it joins none."""
    for gap in re.finditer(r"[\W_]+", label):
        if gap.start() and is_metric(label[gap.end() :]):
            return label[: gap.start()], label[gap.end() :]
    return "", label


def _check_no_ids(per_user: pd.DataFrame) -> None:
    """Raise if a column of a table without levels seems to hold ids."""
    columns = per_user.columns
    is_without_users = isinstance(per_user.index, pd.RangeIndex) and per_user.index.name is None
    for label in columns:
        may_be_ids = is_without_users and ends_in(label, "id") and per_user[label].is_unique
        are_ids = may_be_ids and is_integer_dtype(per_user[label].dtype)
        if are_ids or find_role(label) in ("user", "item"):
            is_long = "score" in columns and not pd.api.types.is_numeric_dtype(per_user["score"])
            call = f"pivot(index={quote(label)}, columns='score')"  # the rows of other engines
            raise RecframeError(
                "per_user must have users in its index and values in its columns, but has the "
                f"column {quote(label)}. Pass df.rec.evaluate() of rows of users and items, or "
                f"per_user.{call if is_long else f'set_index({quote(label)})'}."
            )


def _read_floats(label: Sequence[Hashable], column: pd.Series) -> Any:
    """Return the values of a column as floats, nulls as NaN."""
    if not (pd.api.types.is_numeric_dtype(column) and not np.iscomplexobj(column)):
        raise RecframeError(
            f"per_user must hold numbers, but holds {column.dtype} in column {quote(label)}; user "
            "ids belong in the index: per_user.set_index(...)"
        )
    values = column.to_numpy(float, na_value=np.nan)
    if np.isinf(values).any():
        raise RecframeError(f"per_user must hold finite numbers, but holds inf in {quote(label)}")
    is_out = np.abs(values) > MOST_SHARE
    if is_share(label[1]) and is_out.any():
        raise RecframeError(
            f"per_user must hold values of {label[1]} from 0 to 1, but holds "
            f"{values[is_out][0]:g} in column {quote(label)}. Divide values in per cent by 100; "
            "ids belong in the index."
        )
    return values
