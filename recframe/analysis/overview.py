"""The overview of an accessor: what it understood of its frame, as text and as HTML."""

import os
import re
from typing import Any, NamedTuple

import pandas as pd

from recframe.analysis.display import escape
from recframe.errors import RecframeError, plain, quote
from recframe.frames.columns import find_columns, find_roles, find_truth_roles
from recframe.frames.judgments import check_pair_columns, check_truth_columns
from recframe.frames.names import NAMES, Roles, find_remedy, list_changed, spell_arguments
from recframe.options import Options

TEXT_WIDTH = 80  # where no terminal says otherwise
INDENT = 23  # before what a role is
N_LINES = 5  # of what is to be done
IDS = ("truth_user", "truth_item")
HOW = {"none": "not found", "several": "ambiguous"}
# Colours are those of the page, light or dark.
TABLE_STYLE = "border-collapse: collapse; margin: 0.4em 0; border-top: 1px solid currentColor; "
TABLE_STYLE += "border-bottom: 1px solid currentColor"
CELL_STYLE = "text-align: left; padding: 0.15em 1.2em 0.15em 0; color: inherit"


class Overview(NamedTuple):
    """What is shown: whose it is, a row (name, how it is known, what it is) for each, what to do.

    What it is and `calls`, which stand between two texts, are pieces that stay on one line each.
    """

    title: str
    rows: list[tuple[str, str, list[str]]]
    before: str
    calls: list[str]
    after: str


def make_overview(call: str, size: str, frame: pd.DataFrame, options: Options) -> Overview:
    """Return what is understood of a frame, of which no value is looked at."""
    roles = find_roles(frame, options)
    truth = _find_truth_roles(roles, options)
    rows = [(name, *_describe_role(name, roles, options, truth)) for name in NAMES]
    if options.has_truth:
        rows.append(("truth", "given", [_describe_truth(options.truth, truth)]))
    changed = list_changed(options)
    others = {name: changed[name] for name in changed if name not in (*NAMES, "truth")}
    if others:
        rows.append(("options", "given", _separate(spell_arguments(others))))
    title = f"{call}: {size}"
    is_refused = any(role.error for role in roles.values())
    if not is_refused and any(role.problem for role in roles.values()):
        remedy, after = find_remedy(frame, roles, options)
        arguments = _separate(spell_arguments(changed | remedy))
        arguments[0] = f"{call}({arguments[0]}"
        arguments[-1] += ")"
        return Overview(title, rows, "Pass ", arguments, plain(after))
    try:
        columns = find_columns(frame, options)
        check_truth_columns(columns, options)
        check_pair_columns(columns, options)
    except RecframeError as error:
        return Overview(title, rows, f"Refused: {error}", [], "")
    calls = [".describe(k=10)", ".mean(['precision@10', 'recall@10'])"]
    calls += [".compare('recall@10')"] if len(columns.scores) > 1 else []
    calls += [".inspect()" if columns.user is None else ".inspect(user)"]
    return Overview(title, rows, "Try ", _separate(calls), "")


def as_text(overview: Overview) -> str:
    """Return an overview as text, no line wider than a terminal."""
    lines = [overview.title]
    for name, how, what in overview.rows:
        lines += _fill(f"  {name:<9} {how:<10} ", what, " " * INDENT)
    pieces = [*_words(overview.before), *overview.calls, *_words(overview.after)]
    return "\n".join(lines + _fill("", pieces, "  "))


def as_html(overview: Overview) -> str:
    """Return an overview as a table of HTML, in the colours of the page."""
    rows = "\n".join(
        f'<tr><th scope="row" style="{CELL_STYLE}">{escape(name)}</th>'
        f'<td style="{CELL_STYLE}">{escape(how)}</td>'
        f'<td style="{CELL_STYLE}">{escape("".join(what))}</td></tr>'
        for name, how, what in overview.rows
    )
    calls = f"<code>{escape(''.join(overview.calls))}</code>" if overview.calls else ""
    return (
        f'<div><strong>{escape(overview.title)}</strong>\n<table style="{TABLE_STYLE}">\n{rows}\n'
        f"</table>\n{escape(overview.before)}{calls}{escape(overview.after)}</div>"
    )


def _find_truth_roles(roles: Roles, options: Options) -> Roles:
    """Return what is known of each role in truth; of none where it is a file, or not given."""
    if not isinstance(options.truth, pd.DataFrame):
        return {}
    item = next(iter(roles["item"].found), None)
    return find_truth_roles(options.truth, roles["user"].found, item, options)


def _describe_role(
    name: str, roles: Roles, options: Options, truth: Roles
) -> tuple[str, list[str]]:
    """Return how a role is known, and what it is."""
    if name == "relevant" and options.has_truth:
        if name in truth:
            roles = truth
        else:
            return "from truth", ["every pair"] if truth or options.relevant is None else []
    if name not in roles:
        return "not found", ["(and not needed)"]
    how, labels = roles[name].how, roles[name].labels
    if how == "given" and not labels:
        return "given", ["None: all rows are one ranking"]
    texts = [quote(label) for label in labels]
    if name == "score" and options.ascending is not None:
        given = options.ascending
        is_low = given if isinstance(given, list) else [given] * len(texts)
        low = [" (lowest first)" if ascending else "" for ascending in is_low]
        texts = [text + mark for text, mark in zip(texts, low, strict=False)]
    return HOW.get(how, how), [_enumerate(texts)]


def _describe_truth(truth: Any, roles: Roles) -> str:
    """Return what truth is and, of a frame, which of its columns have ids."""
    if truth is None or not isinstance(truth, pd.DataFrame):
        return quote(os.fspath(truth or ""))
    ids = [quote(label) for name, role in roles.items() if name in IDS for label in role.found]
    n_columns = f"{truth.shape[1]:,} column{'s' * (truth.shape[1] != 1)}"
    size = say_size(truth) if len(truth) else n_columns  # of a sample, whose rows are elsewhere
    return ": ".join([size, *([_enumerate(ids)] if ids else [])])


def say_size(frame: pd.DataFrame) -> str:
    """Return how large a frame is."""
    n_rows, n_columns = frame.shape
    return f"{n_rows:,} row{'s' * (n_rows != 1)} × {n_columns:,} column{'s' * (n_columns != 1)}"


def _enumerate(texts: list[str]) -> str:
    """Return as many texts as a line has room for, and how many more there are."""
    n_shown = min(len(texts), TEXT_WIDTH // 8)
    while True:
        more = f" and {len(texts) - n_shown:,} more" if n_shown < len(texts) else ""
        line = ", ".join(texts[:n_shown]) + more
        if len(line) <= TEXT_WIDTH - INDENT or n_shown <= 1:
            return line
        n_shown -= 1


def _separate(pieces: list[str]) -> list[str]:
    """Return pieces with a comma and a blank between them."""
    return [*(f"{piece}, " for piece in pieces[:-1]), pieces[-1]]


def _words(text: str) -> list[str]:
    """Return the words of a text, each with the blank after it."""
    return re.findall(r"\S+\s*", text)


def _fill(line: str, pieces: list[str], indent: str) -> list[str]:
    """Return lines of as many pieces as a terminal is wide, the first behind what there is."""
    lines, blank = [line], line
    for piece in pieces:
        if lines[-1] != blank and len(f"{lines[-1]}{piece}".rstrip()) > TEXT_WIDTH:
            lines.append(indent)
            blank = indent
        lines[-1] += piece
    if len(lines) > N_LINES:
        lines[N_LINES - 1 :] = [f"{indent}…"]
    lines = [one.rstrip() for one in lines]
    return [one if len(one) <= TEXT_WIDTH else f"{one[: TEXT_WIDTH - 1]}…" for one in lines]
