"""Questions: all that a call leaves open, asked in one refusal with a call that answers it."""

import inspect
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

import pandas as pd
import pyarrow as pa

from recframe.errors import COMMAND, Choice, RecframeError, as_flag, quote, spell, spell_flags
from recframe.options import CHOICES, DEFAULTS, list_changed, spell_arguments
from recframe.public_calls import raise_of_handler

MOST_ASKED = 10
WRITTEN = (str, int, float, list, tuple, range, type(None))  # others by their names
ONCE = (Iterator, pa.RecordBatchReader)  # arguments that are used up
OF_RELEVANCE = ("min_relevance", "null_relevance", "missing")  # which a choice of it decides
GRADE = "another grade: the lowest that is relevant"


def ask_all(
    error: RecframeError,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> None:
    """Add to the refusal of a call all else that is open, and the call that answers it.

    The call is repeated with an answer to each question until none is asked: the one shown has
    been tried. What no option answers comes last.
    """
    accessor = args[0] if args and hasattr(args[0], "_bind") else None
    takes = DEFAULTS.keys() if accessor is None else accessor._takes
    if accessor is not None and not (accessor._call and accessor._asks_all):
        return  # of a function, which asks itself, or of rows that are not to be read again
    if any(isinstance(one, ONCE) for one in (*args, *kwargs.values())):
        return  # which the call has used up
    if not error.answers.keys() <= takes:
        return  # which another call takes
    said, answers, is_done = [error._message], dict(error.answers), False
    bound, left = accessor, set[str]()  # names of answers that a choice decides
    while not is_done and len(said) < MOST_ASKED:
        open_ = {name: one for name, one in answers.items() if isinstance(one, Choice)}
        if "from_lists" in answers and not open_.keys().isdisjoint(("item", "model")):
            bound = None  # The call would show a column that was only tried.
            break
        if not all(one.candidates for one in open_.values()):
            break  # as there is nothing to try
        tried = answers | {name: one.candidates[0] for name, one in open_.items()}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if accessor is None:
                    function(*args, **{**kwargs, **tried})
                else:
                    bound = None  # where lists cannot be made rows, there is no call to show
                    bound = accessor._answer(tried)
                    function(bound, *args[1:], **kwargs)
            break
        except Exception as other:
            raise_of_handler(other)
            if not isinstance(other, RecframeError):
                break  # what else there is to say, a call with the answers says
            is_done = other.answers.items() <= answers.items() or not other.answers.keys() <= takes
            new = {} if is_done else other.answers
            if open_:
                left |= {name for name in new if {*open_} != {"relevant"} or name in OF_RELEVANCE}
            answers |= new
            said = [*(one for one in said if one != other._message), other._message]
    error.answers = answers = {name: answers[name] for name in answers if name not in left}
    if len(said) > 1:
        lines = [f"{len(said)} questions are open:"]
        lines += [f"{number}. {one}" for number, one in enumerate(said, 1)]
        if accessor is None or bound is not None:
            choice = f", with your choice in place of {spell('...', 'COLUMN')}" if open_ else ""
            lines.append(
                f"This answers all{' but the last' * is_done}{choice}"
                f"{' and without what depends on it' * bool(left)}:"
            )
            lines.append(_spell_call(bound, function, args, kwargs, answers, left))
        error._say("\n".join(lines))


def _spell_call(
    accessor: Any,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    answers: Mapping[str, Any],
    left: Set[str],
) -> str:
    """Return a call with answers, and the command, with the other choices as comments."""
    given = kwargs if accessor is None else list_changed(accessor._options)
    given = {name: given[name] for name in given if name not in left}
    # Those of lists are in what made rows of them.
    given |= {
        name: one for name, one in answers.items() if accessor is None or isinstance(one, Choice)
    }
    options = {name: given[name] for name in given if name in DEFAULTS}
    own = inspect.signature(function).parameters  # whose choices may be others
    behind, choices = {}, [name for name in answers if isinstance(answers[name], Choice)]
    for name in [one for one in answers if one in DEFAULTS and (one not in own or one in choices)]:
        answer, values = answers[name], CHOICES.get(name, ())
        behind[name] = ", ".join(repr(one) for one in values if one not in ("raise", answer))
        if name == "min_relevance" or isinstance(answer, bool | Choice):
            behind[name] = GRADE if name == "min_relevance" else str(answer)
            behind[name] = f"{not answer}" if isinstance(answer, bool) else behind[name]
    lines = []
    made = {} if accessor is None else accessor._made
    in_order = [name for name in DEFAULTS if name in options]
    for name, spelled in zip(in_order, spell_arguments(options), strict=True):
        text = f"{name}={made[name]}" if name in made else spelled
        before = "  # " if name in choices else "  # or "
        lines.append(f"    {text},{f'{before}{behind[name]}' if behind.get(name) else ''}")
    texts = [write(*one) for one in zip(own, args, strict=False)][accessor is not None :]
    texts += [f"{name}={write(name, kwargs[name])}" for name in kwargs if name not in DEFAULTS]
    name, written = function.__name__, ", ".join(texts)
    if accessor is None:
        lines = [f"recframe.{name}(", *([f"    {written},"] if written else []), *lines, ")"]
    else:
        tail = "" if name == "__call__" else f".{name}({written})"
        head = accessor._written or accessor._call
        lines = [f"{head}(", *lines, f"){tail}"] if lines else [f"{head}{tail}"]
    frames = [name for name, one in options.items() if isinstance(one, pd.DataFrame)]
    frames = [*(["df"] if re.search(r"\bdf\b", lines[0]) else []), *frames]
    lines = [f"# {' and '.join(frames)}: as your call has them"] * bool(frames) + lines
    others = {name: f"{as_flag(name)} {text}" for name, text in behind.items() if text}
    words = "; ".join(text for name, text in others.items() if name not in choices)
    comment = f"\n# or {words}".replace("'", "") if words else ""
    for name in choices:
        comment = f"\n# {as_flag(name)}: {behind[name]}" + comment
    return spell("\n".join(lines), f"{COMMAND} {spell_flags(answers)}{comment}")


def write(name: str, value: Any) -> str:
    """Return an argument as a call has it written; others than values by their names."""
    value = os.fspath(value) if isinstance(value, os.PathLike) else value
    return quote(value) if isinstance(value, WRITTEN) else name
