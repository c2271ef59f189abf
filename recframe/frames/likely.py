"""Likely columns: what to suggest for roles that no name settles, and the call that names them."""

import os
from collections.abc import Callable, Hashable
from dataclasses import fields
from typing import Any

import pandas as pd
from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_float_dtype

from recframe.errors import MAX_QUOTED, quote
from recframe.frames.labels import MANY, is_same, leave_out, list_labels
from recframe.frames.names import (
    HINTS,
    NAMES,
    find_best_named,
    has_hint,
    is_no_model,
    is_time,
    less_is_better,
)
from recframe.frames.roles import Roles, is_number, list_dtypes
from recframe.options import DEFAULTS, Options

FILL_IN = ...  # what only the user knows
TRUTH = pd.DataFrame()  # stands for a frame under the name of truth
Arguments = dict[str, Any]
Free = list[tuple[Hashable, Any]]


def suggest(frame: pd.DataFrame, roles: Roles, options: Options) -> Arguments:
    """Return the arguments that name the roles with a problem, as likely as the frame has them."""
    arguments: Arguments = {}
    taken = [label for role in roles.values() for label in role.found]
    for name, role in roles.items():
        if not role.problem:
            continue
        if role.how == "several" and name == "score":
            likely = [label for label in role.labels if not is_no_model(label)]
        elif role.how == "several":
            likely = [find_best_named(role.labels, name)]
        else:
            labels, dtypes = list_labels(frame), list_dtypes(frame)
            left = leave_out(labels, taken)
            free = [
                (label, dtype)
                for label, dtype in zip(labels, dtypes, strict=True)
                if any(label is one for one in left) and not is_time(label)
            ]
            likely = _find_likely(name.removeprefix("truth_"), free)
            if name == "score" and frame.columns.name is not None:  # of a pivot, of models
                likely = [label for label, dtype in free if is_float_dtype(dtype)] or likely
        if name == "relevant" and not likely and "item" in roles and roles["item"].found:
            arguments["truth"] = TRUTH
            continue
        taken += likely
        arguments[name] = FILL_IN if not likely else likely[0] if len(likely) == 1 else likely
        if name == "score" and options.ascending is None and any(map(less_is_better, likely)):
            is_low = [less_is_better(label) for label in likely]
            arguments["ascending"] = True if len(likely) == 1 else is_low
    return arguments


def spell_call(call: str, arguments: Arguments) -> str:
    """Return arguments as they are written, in the order of the options; in a call, if any."""
    spelled = ", ".join(spell_arguments(arguments))
    return f"{call}({spelled})" if call else spelled


def spell_arguments(arguments: Arguments) -> list[str]:
    """Return each argument as it is written, in the order of the options."""
    names = sorted(arguments, key=[*DEFAULTS].index)
    return [f"{name}={_spell(name, arguments[name])}" for name in names]


def list_changed(options: Options) -> Arguments:
    """Return the options that differ from their defaults."""
    changed = {option.name: getattr(options, option.name) for option in fields(Options)}
    for option in fields(Options):
        value = changed[option.name]
        is_number = isinstance(value, float) and value != value
        if value is option.default or is_same(value, option.default) or is_number:
            del changed[option.name]
    return changed


def _spell(name: str, value: Any) -> str:
    """Return a value as it is written in a call; a frame under the name of its option."""
    if value is FILL_IN:
        return "..."
    if isinstance(value, pd.DataFrame):
        return name
    return quote(os.fspath(value) if isinstance(value, os.PathLike) else value)


def _is_id(dtype: Any) -> bool:
    """Return whether a dtype may be of ids."""
    return not (is_bool_dtype(dtype) or is_datetime64_any_dtype(dtype) or is_float_dtype(dtype))


def _is_verdict(dtype: Any) -> bool:
    """Return whether a dtype may be of relevance."""
    return is_bool_dtype(dtype) or is_number(dtype)


FITS: dict[str, Callable[[Any], bool]] = {
    "user": _is_id,
    "item": _is_id,
    "score": is_number,
    "relevant": _is_verdict,
}
# What a column is when it is the only one left of these dtypes.
LEFT: dict[str, Callable[[Any], bool]] = {
    "item": _is_id,
    "score": is_float_dtype,
    "relevant": is_bool_dtype,
}


def _is_spelled_like(label: Hashable, role: str) -> bool:
    """Return whether a name is nearly one of those that mean a role."""
    if not isinstance(label, str) or not 3 < len(label) <= MAX_QUOTED:
        return False
    import difflib  # which only a refusal needs

    return bool(difflib.get_close_matches(label.lower(), NAMES[role], 1, 0.8))


def _find_likely(role: str, free: Free) -> list[Hashable]:
    """Return the columns that may be meant: by pieces of names, by spelling, as the last left."""
    fits = [label for label, dtype in free if FITS[role](dtype)]
    low = [label for label in fits if role == "score" and less_is_better(label)]
    fits = leave_out(fits, low)
    # A rank is counted from scores or distances, which tell ties apart from it.
    low.sort(key=lambda label: not any(label is one and is_float_dtype(kind) for one, kind in free))
    if hinted := [label for label in fits if has_hint(label, role)]:
        return hinted if role == "score" else hinted[:1]
    if near := [label for label in fits[:MANY] if _is_spelled_like(label, role)]:
        return near[:1]
    if low:
        return low[:1]
    others = [other for other in HINTS if other != role]
    left = [
        label
        for label, dtype in free
        if role in LEFT and LEFT[role](dtype) and not any(has_hint(label, one) for one in others)
    ]
    return left if len(left) == 1 else []
