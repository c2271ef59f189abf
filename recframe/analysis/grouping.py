"""Grouping: what `by` and `weights` name, a column of the frame or values by user."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from recframe.errors import RecframeError, quote
from recframe.frames.names import check_label, leave_out

RESULTS = ("baseline", "score", "metric", "k")  # index levels beside the segments
By: TypeAlias = Hashable | pd.Series | list[Hashable | pd.Series]


class Own(NamedTuple):
    """Something that each user has one value of: a column of the frame, or values by user."""

    argument: str
    label: Hashable
    given: pd.Series | None = None


class Grouping(NamedTuple):
    """What parts the users, and what weighs them, None where all weigh the same."""

    by: tuple[Own, ...]
    weights: Own | None

    @property
    def all(self) -> tuple[Own, ...]:
        """What parts and what weighs."""
        return self.by if self.weights is None else (*self.by, self.weights)

    @property
    def labels(self) -> list[Hashable]:
        """The columns of the frame that are read for it, each once."""
        labels: list[Hashable] = []
        for own in self.all:
            labels += leave_out([own.label] if own.given is None else [], labels)
        return labels


def find_grouping(frame: pd.DataFrame, by: Any, weights: Any) -> Grouping | None:
    """Return what `by` and `weights` name, None for neither; raise where it is not there."""
    if by is None and weights is None:
        return None
    several = by if isinstance(by, list) else [] if by is None else [by]
    if isinstance(by, list) and not by:
        raise RecframeError("by must name at least one column, found none; leave it out for one")
    found = [_find_own(frame, "by", one) for one in several]
    names = [own.label for own in found]
    taken = [name for name in names if name in RESULTS]
    if taken:
        raise RecframeError(
            f"by={quote(taken[0])} has the name of an index level of the results, {RESULTS}; "
            "rename it"
        )
    if len(set(names)) < len(names):
        raise RecframeError(f"by must name each column once, found {quote(by)}")
    return Grouping(tuple(found), None if weights is None else _find_own(frame, "weights", weights))


def _find_own(frame: pd.DataFrame, argument: str, given: Any) -> Own:
    """Return what is given for an argument: values by user, or the label of a column."""
    if not isinstance(given, pd.Series):
        is_other = hasattr(type(given), "__arrow_c_stream__")  # as Polars' Series
        if is_other or isinstance(given, dict | set | np.ndarray):
            raise RecframeError(
                f"{argument} must be a column of the frame or a Series indexed by user (of "
                f"pandas), found {quote(given)}"
            )
        check_label(frame, argument, given)
        return Own(argument, given)
    if not given.index.is_unique:
        user = given.index[given.index.duplicated()][0]
        raise RecframeError(
            f"{argument} must have one value for each user, found several for user {quote(user)}; "
            "index it by user, each once"
        )
    return Own(argument, "segment" if given.name is None else given.name, given)
