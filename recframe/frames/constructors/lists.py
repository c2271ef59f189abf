"""Frames from a list for each user: recommended or relevant items, in dicts or columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike
from pandas.api.types import is_list_like

from recframe.errors import RecframeError, quote
from recframe.frames.constructors.matrices import read_sparse
from recframe.frames.constructors.rows import (
    as_ids,
    as_numbers,
    make_rows,
    make_rows_of_dict,
    make_rows_of_scores,
    read_axis,
    read_lists,
)
from recframe.frames.constructors.runs import join_runs
from recframe.frames.judgments import naming
from recframe.frames.names import (
    NAMES,
    check_label,
    find_role,
    get_column,
    is_infer,
    is_same,
    list_labels,
    plain_name,
    remove_labels,
    shown,
)
from recframe.frames.open_roles import find_label
from recframe.frames.questions import ask_all
from recframe.frames.words import less_is_better, may_be_score
from recframe.kernel.threads import Array
from recframe.options import INFER
from recframe.other_tables import frame_error, is_sparse
from recframe.public_calls import public

STRUCTS = (Mapping, list, tuple, np.ndarray)
SCORE_FIELDS = ("rating", "similarity", "distance")  # names in Spark's ALS and vector stores


@partial(public, ask=ask_all)
def from_lists(
    lists: Mapping[Any, Iterable[Hashable]] | pd.DataFrame | pd.Series,
    *,
    user: Hashable = INFER,
    items: Hashable = INFER,
    item: Hashable = INFER,
    model: Hashable | None = None,
    duplicates: str = "raise",
) -> pd.DataFrame:
    """
    Return the frame of lists of recommended items.

    A user with an empty list has no row in the frame.

    Parameters
    ----------
    lists : dict of {user : sequence of items}, or DataFrame
        The items of each user, best first. A frame has a row for each user and a column of lists.
        These hold items, or pairs or structs of an item and its score, such as those of Spark's
        ``recommendForAllUsers``: dicts, rows, structs of Arrow. The score is the field named like
        a score, or ``rating``; the item is the field named like an item, or the only other one. A
        Series is a frame of one column.
    user, items : label, default "infer"
        The columns of a frame: "infer" looks for `user` as `evaluate` does, for the only column of
        lists.
    item : label, default "infer"
        The field of structs that holds the item, if several could.
    model : label, default None
        The column of a frame that names the model of each list.
    duplicates : {"raise", "max"}, default "raise"
        An item repeated in a list, such as a document of several chunks: refused, or kept with its
        best score.

    Returns
    -------
    DataFrame
        Columns as of `from_topk`; the score is minus the position in the list, -1 for the first,
        where structs have none. A distance becomes a score as its negative. With `model`, columns
        as of `from_runs` of several runs.

    Raises
    ------
    RecframeError
        A list is no sequence, repeats an item, or has one that is null or -1; a user is null or
        repeated; scores rise along a list; the roles of columns or fields are unclear; or an
        iterator has not ended after 1,000,000 items.

    See Also
    --------
    from_topk : The same for a matrix of items.
    from_runs : The same for dicts of scores.
    truth_from : The relevant items, from a dict.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> recframe.from_lists({"ann": [7, 3], "cat": []})
      user  item  score
    0  ann     7     -1
    1  ann     3     -2
    >>> recommended = [[{"movieId": 7, "rating": 4.5}, {"movieId": 3, "rating": 4.5}], None]
    >>> frame = pd.DataFrame({"userId": ["ann", "cat"], "recommendations": recommended})
    >>> recframe.from_lists(frame)
      user  item  score
    0  ann     7    4.5
    1  ann     3    4.5
    """
    if type(duplicates) is not str or duplicates not in ("raise", "max"):
        raise RecframeError(f"duplicates must be 'raise' or 'max', found {quote(duplicates)}")
    if isinstance(lists, pd.DataFrame | pd.Series):
        frame = pd.DataFrame(lists)
        with naming("lists"):
            if model is None:
                label = find_label(frame, "user", user)
                models = [one for one in list_labels(frame, [label]) if find_role(one) == "model"]
                if models and (n_repeated := int(get_column(frame, label).duplicated().sum())):
                    raise RecframeError(
                        f"user={quote(label)} must differ from row to row, found {n_repeated} "
                        f"repeated; pass model={quote(models[0])} for a column of scores for each "
                        "of its values",
                        {"model": models[0]},
                    )
                return make_rows(*_read_list_frame(frame, user, items, item), duplicates=duplicates)
            check_label(frame, "model", model)
            if (n_null := int(get_column(frame, model).isna().sum())) > 0:
                raise RecframeError(f"model={quote(model)}: must not be null, found {n_null} null")
            runs = {
                name: make_rows(*_read_list_frame(part, user, items, item), duplicates=duplicates)
                for name, part in frame.groupby(get_column(frame, model), observed=True)
            }
            return join_runs("lists", runs)
    if not (is_infer(user) and is_infer(items) and is_infer(item) and model is None):
        raise RecframeError(
            f"user, items, item and model are for a frame, found {type(lists)}; leave them out"
        )
    if not isinstance(lists, Mapping):
        raise frame_error("lists", "a dict of items by user, or a frame with lists", lists)
    first = next((items[0] for items in lists.values() if isinstance(items, list) and items), None)
    is_pair = isinstance(first, tuple) and len(first) == 2 and isinstance(first[1], float)
    if is_pair or isinstance(first, dict):
        raise RecframeError(
            f"lists: items of a dict are ids, found {quote(first)}; where that is an item and its "
            "score, pass recframe.from_lists(pd.Series(lists).rename_axis('user'))"
        )
    return make_rows_of_dict("lists", lists, duplicates=duplicates)


@public
def truth_from(
    truth: Mapping[Any, Any], users: ArrayLike | None = None, items: ArrayLike | None = None
) -> pd.DataFrame:
    """
    Return the frame of relevant items that ``truth=`` takes.

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
            f"users and items are for a matrix, found {type(truth).__name__}; leave them out"
        )
    given: Any = truth
    if isinstance(given, pd.Series) and given.index.is_unique and all(map(is_list_like, given)):
        truth = given = dict(given)
    if isinstance(given, pd.DataFrame):
        raise RecframeError(
            "truth must be a dict or a sparse matrix, found a DataFrame; truth= takes that as it "
            "is: pass truth=frame, or frame.explode(column) where a column holds lists"
        )
    if not isinstance(given, Mapping):
        raise frame_error("truth", "a dict of items by user, or a sparse matrix of SciPy", given)
    graded = {user: items for user, items in truth.items() if isinstance(items, Mapping)}
    if graded and len(graded) < len(truth):
        user, ungraded = next(pair for pair in truth.items() if pair[0] not in graded)
        raise RecframeError(
            f"truth must have grades for all users or none, found {len(graded)} of {len(truth)} "
            f"with grades, {quote(ungraded)} for user {quote(user)}"
        )
    if graded:
        return make_rows_of_scores("truth", "grades of truth", graded).rename(
            columns={"score": "relevance"}
        )
    return make_rows_of_dict("truth", truth).drop(columns="score")


def _read_list_frame(
    frame: pd.DataFrame, user: Hashable, items: Hashable, item: Hashable
) -> tuple[str, pd.Index[Any], Array, pd.Index[Any], Array | None]:
    """Return the arguments of `make_rows` from a frame with a list for each user."""
    user = find_label(frame, "user", user)
    label = _find_lists(frame, items, user)
    name = f"items={quote(label)}"
    users = read_axis(f"user={quote(user)}", get_column(frame, user))
    sizes, fields = _read_list_column(name, users, get_column(frame, label))
    names = list(fields)
    scored = [f for f in names if find_role(f) == "score" or may_be_score(f) or f in SCORE_FIELDS]
    others = [field for field in names if field not in scored]
    # The only other field next to a score is the item, whatever its name.
    named = [f for f in others if len(others) == len(scored) == 1 or find_role(f) == "item"]
    named = named if is_infer(item) else [field for field in names if is_same(field, item)]
    if len(named) > 1 and len(scored) < 2:
        likely = min(named, key=lambda field: NAMES["item"].index(plain_name(field)))
        raise RecframeError(
            f"{name}: {len(named)} fields could be the item, {shown(named)}; pass "
            f"item={quote(likely)} or another",
            {"item": likely},
        )
    if len(named) != 1 or len(scored) != min(1, len(names) - 1):
        raise RecframeError(
            f"{name}: lists must hold items, pairs of an item and its score, or structs whose "
            f"names say which is which, found fields {shown(names)}; make pairs of them, with "
            f"frame[{quote(label)}].map(lambda row: [(one[{quote(names[0])}], "
            f"{'-' * less_is_better(names[-1])}one[{quote(names[-1])}]) for one in row])"
        )
    ids = as_ids(name, fields[named[0]])
    if not scored:
        return name, users, sizes, ids, None
    scores = as_numbers(f"{name}: {scored[0]}", np.asarray(fields[scored[0]]))
    return name, users, sizes, ids, -scores if less_is_better(scored[0]) else scores


def _find_lists(frame: pd.DataFrame, items: Hashable, user: Hashable) -> Hashable:
    """Return the label of the column that holds lists, the only one unless it is passed."""
    if not is_infer(items):
        return find_label(frame, "items", items)
    found, texts = [], []
    for label in remove_labels(list_labels(frame), [user]):
        column = get_column(frame, label)
        first = next(iter(column.dropna()), None)
        if _is_arrow(column) or (column.dtype == object and is_list_like(first)):
            found.append(label)
        elif isinstance(first, str) and first.startswith("["):
            texts.append(label)
    if len(found) == 1:
        return found[0]
    remedy = "a frame with a row for each item is evaluated as it is, else pass items= the column"
    if found:
        remedy = (
            "pass items= the one of items, or, where both lists of a row are equally long, make "
            f"rows of them with frame.explode({found})"
        )
    elif texts:
        remedy = f"{quote(texts[0])} is text; pass frame[{quote(texts[0])}].map(ast.literal_eval)"
    raise RecframeError(
        f"items: one column must hold lists, found {len(found)}; the frame has "
        f"{shown(list_labels(frame))}; {remedy}"
    )


def _is_arrow(column: pd.Series) -> bool:
    """Return whether a column holds the lists of Arrow."""
    kind = getattr(column.dtype, "pyarrow_dtype", None)
    return isinstance(kind, pa.ListType | pa.LargeListType | pa.FixedSizeListType)


def _read_list_column(name: str, users: pd.Index[Any], column: pd.Series) -> tuple[Array, Any]:
    """Return the sizes of lists and the fields of their members; items alone are one field."""
    if _is_arrow(column):
        lists = pa.array(column.array)
        sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
        members = pc.list_flatten(lists)
        if pa.types.is_struct(members.type):
            return sizes, pa.Table.from_struct_array(members).to_pandas()
        return sizes, {"item": members.to_pandas()}
    filled = [() if is_null else cell for cell, is_null in zip(column, column.isna(), strict=True)]
    cells, sizes = read_lists(name, users, filled)
    filled = [cell for cell in cells if len(cell)]
    dtypes = {getattr(cell, "dtype", None) for cell in filled}
    if len(dtypes) == 1 and getattr(dtypes.pop(), "kind", "O") not in "OV":
        return sizes, {"item": np.concatenate(filled)}
    members = list(chain.from_iterable(cells))
    is_struct = bool(members) and isinstance(members[0], STRUCTS)
    return sizes, _read_structs(name, members) if is_struct else {"item": members}


def _read_structs(name: str, structs: list[Any]) -> pd.DataFrame:
    """Return the fields of structs, or of pairs of an item and its score."""
    first = structs[0]
    kinds = {(type(one), *getattr(one, "__fields__", ())): one for one in structs}
    are_alike = len(kinds) == 1 and len(set(map(len, structs))) == 1
    # Rows of Spark are tuples with their names in `__fields__`.
    fields = pd.DataFrame(structs if are_alike else [], columns=getattr(first, "__fields__", None))
    if not are_alike or fields.shape[1] != len(first):
        raise RecframeError(
            f"{name}: lists must hold items, structs of the same fields, or pairs of an item and "
            f"its score, found {quote(first)} and {quote(list(kinds.values())[-1])}"
        )
    return fields.set_axis(["item", "score"], axis=1) if list(fields) == [0, 1] else fields
