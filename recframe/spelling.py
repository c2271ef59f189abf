"""Options spelled out where functions take them as keywords: in signatures and docstrings."""

import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import fields
from functools import cache, partial
from typing import Any, TypeVar

from recframe.options import CHOICES, Options, list_names

Function = TypeVar("Function", bound=Callable[..., Any])


def spell_options(function: Function) -> Function:
    """Return a function with its ``**options`` spelled out, in its signature and its docstring.

    Static readers see the types of `OptionArguments`; this is for those who ask at run time.
    """
    signature = inspect.signature(function)
    own = [part for part in signature.parameters.values() if part.kind is not part.VAR_KEYWORD]
    by_name = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
    options = [
        by_name(option.name, default=option.default, annotation=option.type)
        for option in fields(Options)
    ]
    function.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]  # every function takes one
    if function.__doc__:  # there is none under python -OO
        function.__doc__ = re.sub(r"( *)\*\*options\n.*\n", _describe_options, function.__doc__)
    return function


def _describe_options(found: re.Match[str]) -> str:
    """Return the numpydoc lines of all options, indented as what was found."""
    return textwrap.indent(_all_options(), found[1]) + "\n"


@cache
def _all_options() -> str:
    """Return the numpydoc lines of all options."""
    lines = []
    for option in fields(Options):
        takes, meaning = option.metadata["takes"], option.metadata["meaning"]
        if choices := CHOICES.get(option.name):
            takes = f"{{{list_names(choices)}}}".replace("'", '"')
        default = f'"{option.default}"' if isinstance(option.default, str) else option.default
        lines.append(f"{option.name} : {takes}, default {default}")
        lines.append(textwrap.indent(textwrap.fill(f"{meaning[0].upper()}{meaning[1:]}."), "    "))
    return "\n".join(lines)
