"""Arguments that a public function does not take: refused with the place where they belong."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar

from recframe.errors import WrongTypeError, find_near, quote

Function = TypeVar("Function", bound=Callable[..., Any])

CUT_OFFS = ("k", "at", "n", "top", "top_k", "topk", "cutoff", "cut_off", "at_k", "K")
MANY = 12  # arguments, of which the names are no help


def check_arguments(function: Function, options: Collection[str] = ()) -> Function:
    """Return a function that refuses arguments which it does not take with what to do.

    What it refuses is a `TypeError` still. `options` are those of the accessor, which methods do
    not take.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise arguments_error(
                function.__name__, signature, error, args, kwargs, options
            ) from None
        return function(*args, **kwargs)

    return checked  # type: ignore[return-value]  # it is called as the function is


def arguments_error(
    name: str,
    signature: inspect.Signature,
    error: TypeError,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    options: Collection[str] = (),
) -> WrongTypeError:
    """Return the error for arguments that a function does not take, as Python words it for all."""
    parameters = list(signature.parameters)
    taken = [one for one in parameters if one not in ("self", "options")]
    given = dict(zip(parameters, args, strict=False)) | dict(kwargs)
    given.pop("self", None)
    shown = "rec" if name == "__call__" else name
    wrong = [one for one in kwargs if one not in parameters]
    remedy = (
        _find_place(shown, taken, wrong, given, options) if wrong else _list_taken(shown, taken)
    )
    found = str(error).removeprefix(f"{name}() ")
    verb = "" if found.startswith(("got", "missing")) else "got "
    return WrongTypeError(f"{shown}() {verb}{found}; {remedy}")


def _find_place(
    name: str,
    taken: list[str],
    wrong: list[str],
    given: Mapping[str, Any],
    options: Collection[str],
) -> str:
    """Return where arguments belong that a function does not take."""
    first = wrong[0]
    value = given[first]
    if first in options:
        bound = _spell({one: given[one] for one in wrong if one in options})
        others = _spell({one: given[one] for one in given if one in taken})
        return f"it is an option: df.rec({bound}).{name}({others})"
    if first in CUT_OFFS and "k" in taken:
        return f"its cut-off is k: {name}(k={quote(value)})"
    if first in CUT_OFFS and "metrics" in taken:
        cut_offs = value if isinstance(value, list) else [value]
        labels = [f"recall@{k if isinstance(k, int) else 10}" for k in cut_offs[:3]]
        before = "frame, " if "frame" in taken else ""
        return f"name the cut-off in the metric: {name}({before}{labels})"
    near = find_near(first, taken)
    return f"did you mean {near[0]}?" if near else _list_taken(name, taken)


def _spell(arguments: Mapping[str, Any]) -> str:
    """Return arguments as they are written in a call."""
    return ", ".join(f"{name}={quote(value)}" for name, value in arguments.items())


def _list_taken(name: str, taken: list[str]) -> str:
    """Return what a function takes, as a remedy."""
    if not taken:
        return "it takes nothing but options, by name" if name == "rec" else "it takes no argument"
    more = f" and {len(taken) - MANY} more" if len(taken) > MANY else ""
    return f"it takes {', '.join(taken[:MANY])}{more}"
