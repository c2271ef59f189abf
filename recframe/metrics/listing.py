"""Listing: metrics as they are shown, with what they take, one or all of them. NumPy only."""

import textwrap
from functools import partial

from recframe.metrics.definitions import DEFINITIONS

LINE, OF_EACH = 79, " of every user."  # of definitions, which all end so


def describe_metrics() -> str:
    """Return a line on each metric, or two: its name and its definition."""
    lines = [
        (
            show_name(name),
            definition.formula.__doc__ or "Return (python -OO leaves definitions out)",
        )
        for name, definition in DEFINITIONS.items()
    ]
    width = max(len(name) for name, _ in lines) + 4
    lay_out = partial(textwrap.fill, width=LINE, subsequent_indent=" " * width)
    head = "metrics of every user, with hits@c the relevant rows among the first c:"
    texts = []
    for name, text in lines:
        first = text.strip().splitlines()[0].removeprefix("Return ")
        first = first.removesuffix(OF_EACH).rstrip(",")
        texts.append(lay_out(f"  {name}".ljust(width) + first))
    return "\n".join([head, *texts])


def list_names() -> str:
    """Return the names of all metrics as a sentence part."""
    return ", ".join(map(show_name, DEFINITIONS))


def show_name(name: str) -> str:
    """Return a metric's name with what must be given, and its cut-off, in brackets if it may be."""
    at = {"needed": "@k", "optional": "[@k]", "none": ""}[DEFINITIONS[name].cut_off]
    return f"{name}{required_parameters(name)}{at}"


def required_parameters(name: str) -> str:
    """Return what a metric must be given in brackets, with these, or nothing."""
    if DEFINITIONS[name].of_column:
        return "(COLUMN)"
    keys = [f"{one.name}=…" for one in DEFINITIONS[name].parameters if one.default is None]
    return f"({', '.join(keys)})" if keys else ""
