"""Frames from a list for each user: recommended or relevant items, in dicts or columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike
from pandas.api.types import is_list_like

from recframe.errors import RecframeError, check_choice, prefix_errors, quote
from recframe.frames.constructors.matrices import read_sparse
from recframe.frames.constructors.rows import (
    as_ids,
    as_numbers,
    check_rows,
    find_item_and_score,
    make_rows_of_dict,
    make_rows_of_scores,
    read_axis,
    read_id_list,
    tells_apart,
)
from recframe.frames.constructors.runs import join_runs
from recframe.frames.ids import as_users
from recframe.frames.list_columns import choose_lists
from recframe.frames.list_frames import (
    carry,
    find_lists,
    list_texts,
    list_types,
    read_list_rows,
    read_lists,
    remember_lists,
    take,
)
from recframe.frames.names import (
    as_labels,
    check_label,
    find_role,
    get_column,
    is_infer,
    list_labels,
    remove_labels,
    shown,
)
from recframe.frames.open_roles import find_label
from recframe.frames.questions import ask_all
from recframe.frames.words import less_is_better
from recframe.options import INFER, NEGATED
from recframe.other_tables import (
    TableLike,
    frame_error,
    is_of_dicts,
    is_sparse,
    load_table,
    read_column,
    read_frame,
    read_views,
)
from recframe.public_calls import public

LEAST_SHARED = 0.5  # the share of the items of one model that another ranks too


class ListColumns(NamedTuple):
    """The labels of the columns of users, of a model if any, and of lists; the field of items."""

    users: list[Hashable]
    models: list[Hashable]
    lists: list[Hashable]
    item: Hashable = INFER


@partial(public, ask=ask_all)
def from_lists(
    lists: Mapping[Any, Iterable[Hashable]] | TableLike | pd.Series,
    *,
    user: Hashable | list[Hashable] = INFER,
    items: Hashable | list[Hashable] = INFER,
    item: Hashable = INFER,
    model: Hashable | None = None,
    duplicates: str = "raise",
    sep: str | None = None,
) -> pd.DataFrame:
    """
    Return a DataFrame of recommended or retrieved items, made from lists: a row for each item.

    A user with an empty list has one row too, without an item.

    Parameters
    ----------
    lists : dict of {user : sequence of items}, DataFrame, Series, or Arrow table
        The items of each user, best first. A table (of pandas, Polars, PyArrow, DuckDB, Ibis) has a
        row for each user and a column of lists. These hold items, or pairs or structs of an item
        and its score, such as those of Spark's ``recommendForAllUsers``: dicts, rows, structs of
        Arrow. The score is the field named like a score, or ``rating``; without one a rank or a
        distance, of which the lowest is the best. The item is the field named like an item, or the
        only other one. A Series is a frame of one column.
    user : label or list of labels, default "infer"
        The column of users. "infer" looks for it as `evaluate` does. The values of several columns,
        such as ["date", "userId"], are one ranking each; the frame remembers these columns.
    items : label or list of labels, default "infer"
        The column of lists, or several whose lists are equally long in each row, such as ids and
        scores. "infer" takes the only column of lists, or of several the one of ids and one
        of scores; if several may hold ids, such as the relevant ones, it asks.
    item : label, default "infer"
        The field of structs that holds the item, if several could.
    model : label, default None
        The column of a frame that names the model of each list.
    duplicates : {"raise", "max"}, default "raise"
        An item repeated in a list, such as a document of several chunks: refused, or kept with its
        best score.
    sep : str, default None
        The separator of lists that are text, such as " " for "a b c". None: text holds lists as
        JSON or Python writes them, ["a", "b"]. Ids that are all whole numbers become numbers.

    Returns
    -------
    DataFrame
        Columns ``user`` (or those of several), ``item`` and ``score``, then the other fields of
        members and the other columns of the table, except other lists. One that has the name of
        a field is named list_NAME. The score is minus the position in the list, -1 for the first,
        where lists have none. A rank or a distance becomes a score as its negative. With `model`,
        columns as of `from_runs` of several runs, then the others. An empty list or a null is one
        row with a null item and score, which counts as no item.

    Raises
    ------
    RecframeError
        A list is no sequence, repeats an item, or has one that is null or -1; a user is null or
        repeated; scores rise along a list; lists of a row differ in length; the roles of columns or
        fields are unclear; or an iterator has not ended after 1,000,000 items.

    See Also
    --------
    scan : Files with lists, read block by block.
    from_topk : The same for a matrix of items.
    from_runs : The same for dicts of scores.
    truth_from : The relevant items, from a dict.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> recframe.from_lists({"ann": [7, 3], "bob": [5]})
      user  item  score
    0  ann     7     -1
    1  ann     3     -2
    2  bob     5     -1
    >>> recommended = [[{"movieId": 7, "rating": 4.5}, {"movieId": 3, "rating": 4.5}]]
    >>> frame = pd.DataFrame({"userId": ["ann"], "recommendations": recommended, "country": "NL"})
    >>> recframe.from_lists(frame)
      user  item  score country
    0  ann     7    4.5      NL
    1  ann     3    4.5      NL
    """
    check_choice("duplicates", duplicates, ("raise", "max"))
    if sep is not None and not (type(sep) is str and sep):
        raise RecframeError(f"sep must be a text such as ' ', but is {quote(sep)}")
    if isinstance(lists, Mapping):
        others = model is not None or sep is not None
        if others or not all(map(is_infer, (user, items, item))):
            raise RecframeError(
                f"user, items, item, model and sep are for a frame, not {type(lists)}. Leave "
                "them out."
            )
        columns = ListColumns(["user"], [], ["items"])
        return _make_list_frame(_frame_dict(lists), columns, None, duplicates, "lists")
    with prefix_errors("lists"):
        if isinstance(lists, pd.DataFrame | pd.Series) and not is_of_dicts(lists):
            frame = read_views(pd.DataFrame(lists))
        else:
            required = "a dict of items by user, or a frame with lists"
            frame = read_frame(load_table("lists", required, lists))
        users = as_labels(user if isinstance(user, list) else find_label(frame, "user", user))
        check_label(frame, "user", *users)
        models = [] if model is None else [model]
        if models:
            check_label(frame, "model", *models)
            if (n_null := int(get_column(frame, model).isna().sum())) > 0:
                raise RecframeError(
                    f"model={quote(model)}: must not be null, but has {n_null} null"
                )
        labels = _choose_columns(frame, items, [*users, *models], sep)
        columns = ListColumns(users, models, labels, item)
        return _make_list_frame(frame, columns, sep, duplicates)


@public
def truth_from(
    truth: Mapping[Any, Any], users: ArrayLike | None = None, items: ArrayLike | None = None
) -> pd.DataFrame:
    """
    Return a DataFrame of relevant items, which ``truth=`` takes.

    A user with no items has no row, so that truth does not know this user.

    Parameters
    ----------
    truth : dict of {user : items}, dict of {user : {item : grade}}, or sparse matrix
        The relevant items of each user, as a set, list or array; with their grades; or as a sparse
        matrix or array of SciPy with a row for each user and a column for each item. Entries not
        stored, or 0, are not relevant; entries stored more than once are summed.
    users, items : array_like of shape (n_users,) and (n_items,), default None
        The ids of rows and columns of a matrix, all different; None: the numbers from 0 on.

    Returns
    -------
    DataFrame
        Columns ``user`` and ``item``, and ``relevance`` if `truth` holds grades or is a matrix.
        For values other than 0 and 1, evaluation needs `min_relevance`, or ``relevant=None`` if
        every pair is relevant.

    Raises
    ------
    RecframeError
        The items of a user are no collection or repeat, an id is null or -1 (padding); grades are
        not numbers; a matrix is dense or has NaN or a negative value; or ids repeat or do not fit
        its shape.

    See Also
    --------
    from_lists : The recommended items, from a dict of lists.
    evaluate : Takes the frame as `truth`.

    Examples
    --------
    >>> import recframe
    >>> recframe.truth_from({"ann": {3}, "bob": [5, 7], "cat": set()})
      user  item
    0  ann     3
    1  bob     5
    2  bob     7
    >>> recframe.truth_from({"ann": {3: 5.0, 4: 1.0}})
      user  item  relevance
    0  ann     3        5.0
    1  ann     4        1.0
    """
    if is_sparse(truth):
        return read_sparse(truth, users, items)
    if users is not None or items is not None:
        raise RecframeError(
            f"users and items are for a matrix, not {type(truth).__name__}. Leave them out."
        )
    given: Any = truth
    if isinstance(given, pd.Series) and given.index.is_unique and all(map(is_list_like, given)):
        truth = given = dict(given)
    if isinstance(given, pd.DataFrame):
        raise RecframeError(
            "truth must be a dict or a sparse matrix, but is a DataFrame; truth= takes that as it "
            "is: pass truth=frame, or frame.explode(column) where a column holds lists, or, where "
            "cells are the relevance of items, frame.rename_axis(index='user', columns='item')"
            ".stack().rename('relevant').reset_index()"
        )
    if not isinstance(given, Mapping):
        raise frame_error("truth", "a dict of items by user, or a sparse matrix of SciPy", given)
    graded = {user: items for user, items in truth.items() if isinstance(items, Mapping)}
    if graded and len(graded) < len(truth):
        user, ungraded = next(pair for pair in truth.items() if pair[0] not in graded)
        raise RecframeError(
            f"truth must have grades for all users or none, but has {len(graded)} of {len(truth)} "
            f"with grades, {quote(ungraded)} for user {quote(user)}"
        )
    if graded:
        rows = make_rows_of_scores("truth", "grades of truth", graded)
        return rows.rename(columns={"score": "relevance"})
    lists = read_lists("truth", truth, truth.values())
    return make_rows_of_dict("truth", dict(zip(truth, lists, strict=True))).drop(columns="score")


def _frame_dict(lists: Mapping[Any, Any]) -> pd.DataFrame:
    """Return a dict of lists of ids as a frame with a row for each user."""
    first = next((items[0] for items in lists.values() if isinstance(items, list) and items), None)
    is_pair = isinstance(first, tuple) and len(first) == 2 and isinstance(first[1], float)
    if is_pair or isinstance(first, dict):
        raise RecframeError(
            f"lists: items of a dict are ids, not {quote(first)}; where that is an item and its "
            "score, pass recframe.from_lists(pd.Series(lists).rename_axis('user'))"
        )
    scores = [key for key in ("distances", "scores") if "ids" in lists and key in lists]
    if scores:  # Vector stores return such dicts.
        columns = "".join(f', "{key}": lists["{key}"]' for key in ("ids", *scores))
        raise RecframeError(
            "lists: a dict has users as keys, but 'ids' is a column. Pass "
            f'recframe.from_lists(pd.DataFrame({{"query": queries{columns}}})).'
        )
    users = read_axis("lists", list(lists))
    return pd.DataFrame({"user": users, "items": pd.Series([*lists.values()], dtype=object)})


def _make_list_frame(
    frame: pd.DataFrame, roles: ListColumns, sep: str | None, duplicates: str, name: str = ""
) -> pd.DataFrame:
    """Return the rows of a frame with a list in each row; each of its models has a column."""
    users, models, labels, item = roles
    rows, fields = read_list_rows(frame, labels, _read_list_users(frame, users, models), sep, name)
    name = name or f"items={quote(labels[0] if len(labels) == 1 else labels)}"
    item, score = find_item_and_score(name, fields, labels, item)
    by = ["user"] if len(users) == 1 else users
    named = zip(by, users, strict=True)
    columns: dict[Hashable, Any] = {
        to: get_column(frame, label).take(rows.row).array for to, label in named
    }
    columns["item"] = as_ids(name, fields.pop(item))
    listed = {label: fields[label] for label in labels if label in fields}
    _check_one_list_of_ids(item, columns["item"], listed, users)
    if score is None:
        columns["score"] = read_column(pa.chunked_array([rows.order]))
    else:
        scores = fields.pop(score)[~rows.is_empty]
        numbers = as_numbers(f"{name}: {score}", scores.to_numpy())
        numbers = -numbers if less_is_better(score) else numbers
        columns["score"] = take(pd.Series(numbers), rows.members).array
    carried = remove_labels(frame, [*users, *models, *labels, *list_types(frame)])
    others = carry(frame, [*models, *carried], rows, [*columns, *fields])
    columns |= {label: one for label, one in fields.items() if label not in columns}
    made = check_rows(name, pd.DataFrame({**columns, **others}), by, rows, duplicates)
    if models:
        label: Any = next(iter(others))
        runs = dict(iter(made.groupby(label, observed=True)))
        made = join_runs("lists", runs, by, [*fields, *list(others)[1:]])
    if score is not None and less_is_better(score):
        made.attrs[NEGATED] = score
    return remember_lists(made, {"user": by, "item": "item"}, rows)


def _check_one_list_of_ids(
    item: Hashable, ids: Any, others: Mapping[Hashable, pd.Series], users: Sequence[Hashable]
) -> None:
    """Raise if other lists have the text ids of the items too, as the lists of two models do."""
    texts = {*ids} if isinstance(next(iter(ids), None), str) else {*()}
    alike = [label for label, one in others.items() if one.isin(texts).mean() >= LEAST_SHARED]
    if alike:
        several = quote([item, *alike])
        raise RecframeError(
            f"items: {several} hold the same ids, so they may be the lists of several models. Pass "
            f"recframe.from_lists(lists.melt({quote([*users])}, {several}, 'model', 'items'), "
            "model='model'), or items= one of them."
        )


def _read_list_users(
    frame: pd.DataFrame, users: Sequence[Hashable], of_models: Sequence[Hashable]
) -> pd.Index[Any]:
    """Return the ids of lists; raise if one is null, or has two lists."""
    by = [*users, *of_models]
    ids = as_users([read_id_list(f"user={quote(one)}", get_column(frame, one)) for one in by])
    if len(same := ids[ids.duplicated()]):
        answers, others = dict[str, Any](), list_labels(frame, by)
        remedy = ". Where each row is a ranking, lists.reset_index(names='user') numbers them."
        if apart := [one for one in others if tells_apart(get_column(frame, one), ids)]:
            both = quote([*users, apart[0]])
            remedy += f" Where {quote(apart[0])} tells a user's lists apart, pass user={both}."
        if models := [one for one in others if find_role(one) == "model"]:
            answers = {"model": models[0]}
            remedy = f". Pass model={quote(models[0])} for a column of scores for each value."
        raise RecframeError(
            f"user={quote(users[0] if len(users) == 1 else users)} must differ, "
            f"but has {len(same):,} repeated (such as {quote(same.tolist()[0])}){remedy}",
            answers,
        )
    return ids


def _choose_columns(
    frame: pd.DataFrame, items: Any, taken: Sequence[Hashable], sep: str | None
) -> list[Hashable]:
    """Return the labels of the columns of lists, those that are passed or that hold the items."""
    if not is_infer(items):
        labels = as_labels(items)
        check_label(frame, "items", *labels)
        if len(labels) > 1 and sep is None and not find_lists(frame[labels]):
            one = f"If each has the items of one rank, recframe.from_topk(lists[{quote(labels)}])"
            raise RecframeError(f"items={quote(labels)}: no column holds lists. {one} reads them.")
        return labels
    if types := list_types(frame, taken):
        return choose_lists(types)
    texts = list_texts(frame, taken, sep)
    known = [label for label, separator in texts.items() if separator in ("", sep)]
    others = remove_labels(list_labels(frame), taken)
    is_only = len(others) == 1 and (sep is not None or frame.empty)
    if len(known) == 1 or is_only:
        return known if len(known) == 1 else others
    answers: dict[str, Any] = {}
    remedy = "a frame with a row for each item is evaluated as it is, else pass items= the column"
    if texts:
        label, separator = next(iter(texts.items()))
        answers = {"items": label} | ({"sep": separator} if separator else {})
        options = ", ".join(f"{option}={quote(value)}" for option, value in answers.items())
        remedy = f"{quote(label)} is text that looks like lists: pass {options}"
    raise RecframeError(
        f"items: one column must hold lists, but none does; the frame has "
        f"{shown(list_labels(frame))}; {remedy}",
        answers,
    )
