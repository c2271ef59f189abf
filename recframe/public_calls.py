"""The decorator of public functions: it explains wrong arguments and shortens tracebacks."""

import inspect
import signal
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import wraps
from traceback import walk_tb
from typing import Any, ParamSpec, TypeVar

from recframe.errors import RecframeError, WrongTypeError, find_near, is_whole, quote

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")
Element = TypeVar("Element")
Ask = Callable[[RecframeError, Callable[..., Any], Sequence[Any], Mapping[str, Any]], None]

RUNS_AND_QRELS = (  # two dicts and metrics, as other libraries take them
    "pass recframe.evaluate(recframe.from_runs(run), metrics, truth=recframe.truth_from(qrels))"
)
CUT_OFFS = ("k", "at", "n", "top", "top_k", "topk", "cutoff", "cut_off", "at_k", "K")


def public(
    function: Callable[Arguments, Returned],
    options: Collection[str] = (),
    ask: Ask | None = None,
) -> Callable[Arguments, Returned]:
    """Return a function with the refusals of a public call.

    A wrong argument raises a `TypeError` that names the remedy; `options` are the names of the
    accessor's options, which methods do not take. The traceback of a refusal ends at the caller.
    If options can answer a refusal, `ask` adds the other open questions.
    """

    @wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        __tracebackhide__ = True  # IPython and pytest leave this frame out
        try:
            return function(*args, **kwargs)
        except RecframeError as error:
            raise_of_handler(error)
            if ask is not None and error.answers:
                ask(error, function, args, kwargs)
            if is_whole():
                raise
            raise error.with_traceback(None) from None  # RECFRAME_TRACEBACK=full shows it whole
        except TypeError as error:
            wrong = _find_error(function, args, kwargs, options)
            if wrong is None:
                raise
            if is_whole():
                raise wrong from error
            raise wrong from None  # RECFRAME_TRACEBACK=full shows it whole

    return call


def public_each(elements: Iterator[Element]) -> Iterator[Element]:
    """Yield elements; the traceback of a refusal while iterating ends at the caller too."""
    __tracebackhide__ = True
    try:
        yield from elements
    except RecframeError as error:
        raise_of_handler(error)
        if is_whole():
            raise
        raise error.with_traceback(None) from None  # RECFRAME_TRACEBACK=full shows it whole


def raise_of_handler(error: BaseException | None) -> None:
    """Raise the exception of a signal handler, such as `TimeoutError`, if it caused an error."""
    codes = {getattr(signal.getsignal(one), "__code__", None) for one in signal.valid_signals()}
    while error is not None:
        if any(frame.f_code in codes for frame, _ in walk_tb(error.__traceback__)):
            raise error from error.__cause__
        error = error.__cause__


def _find_error(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    options: Collection[str],
) -> WrongTypeError | None:
    """Return the error for arguments that a function does not take, None if it takes them."""
    name, signature = function.__name__, inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
        return None
    except TypeError as error:
        reason = str(error)
    parameters = list(signature.parameters)
    taken = [one for one in parameters if one not in ("self", "options")]
    arguments = dict(zip(parameters, args, strict=False)) | dict(kwargs)
    arguments.pop("self", None)
    shown = "rec" if name == "__call__" else name
    wrong = [one for one in kwargs if one not in parameters]
    remedy = _correct_call(shown, taken, wrong, arguments, options) if wrong else ""
    nothing = "nothing but options, by name, as truth=..." if shown == "rec" else "no argument"
    by_name = [one for one in taken if signature.parameters[one].kind.name == "KEYWORD_ONLY"]
    if "positional" in reason and by_name and taken != by_name:
        by_name += ["and options such as truth=..."] * ("options" in parameters)
        taken = [*(one for one in taken if one not in by_name), f"and by name {', '.join(by_name)}"]
    remedy = remedy or f"it takes {', '.join(taken) or nothing}"
    if name == "evaluate" and args and isinstance(args[0], Mapping):
        remedy = RUNS_AND_QRELS
    verb = "" if reason.startswith(("got", "missing")) else "got "
    return WrongTypeError(f"{shown}() {verb}{reason}; {remedy}")


def _correct_call(
    name: str,
    taken: list[str],
    wrong: list[str],
    arguments: Mapping[str, Any],
    options: Collection[str],
) -> str:
    """Return a call that takes the wrong arguments, "" if none is known."""
    first = wrong[0]
    value = arguments[first]
    if first in options:
        shown = {one: f"{one}={quote(arguments[one])}" for one in arguments}
        bound = ", ".join(shown[one] for one in wrong if one in options)
        others = ", ".join(shown[one] for one in arguments if one in taken)
        return f"it is an option: df.rec({bound}).{name}({others})"
    if first in CUT_OFFS and "k" in taken:
        return f"its cut-off is k: {name}(k={quote(value)})"
    if first in CUT_OFFS and "metrics" in taken:
        cut_offs = value if isinstance(value, list) else [value]
        labels = [f"recall@{k if isinstance(k, int) else 10}" for k in cut_offs[:3]]
        before = "frame, " if "frame" in taken else ""
        return f"name the cut-off in the metric: {name}({before}{labels})"
    near = find_near(first, taken)
    return f"did you mean {near[0]}?" if near else ""
