"""The overview of an accessor: what it understood of its frame, as text and as HTML."""

import os
import textwrap
from html import escape
from typing import Any, NamedTuple

import pandas as pd

from recframe.analysis.display import TEXT_WIDTH, as_html
from recframe.conventions import REMAINING
from recframe.errors import RecframeError, count_of, quote
from recframe.frames.columns import find_columns
from recframe.frames.judgments import check_given_columns
from recframe.frames.names import NAMES
from recframe.frames.open_roles import find_answers, say_choices
from recframe.frames.roles import Roles, find_companion_roles, find_roles
from recframe.options import Options, list_changed, spell_arguments

INDENT = 23  # before what a role is
IDS = ("truth_user", "truth_item")
N_LINES = 5  # of what is to be done
UNBROKEN = "\xa0"  # a blank at which no line ends
UNFOUND = {"none": "not found", "several": "ambiguous"}
# Colours are those of the page, light or dark.
TABLE_STYLE = "border-collapse: collapse; margin: 0.4em 0; border-top: 1px solid currentColor; "
TABLE_STYLE += "border-bottom: 1px solid currentColor"
CELL_STYLE = "text-align: left; padding: 0.15em 1.2em 0.15em 0; color: inherit"


class Overview(NamedTuple):
    """What is shown: whose it is, rows (name, how it is known, what it is), and what to do."""

    title: str
    rows: list[tuple[str, str, str]]
    to_do: tuple[str, str, str]  # a text, calls and a text

    def __str__(self) -> str:
        """Return it as text, no line wider than a terminal."""
        lines = [self.title]
        for name, how, what in self.rows:
            lines += _fill(what, f"  {name:<9} {how:<10} ", " " * INDENT)
        return "\n".join(lines + _fill("".join(self.to_do), "", "  "))

    def to_html(self) -> str:
        """Return it as a table of HTML."""
        lines = [
            f'<tr><th scope="row" style="{CELL_STYLE}">{escape(name)}</th>'
            f'<td style="{CELL_STYLE}">{escape(how)}</td>'
            f'<td style="{CELL_STYLE}">{escape(what)}</td></tr>'
            for name, how, what in self.rows
        ]
        before, calls, after = map(escape, self.to_do)
        rows = "\n".join(lines)
        table = f'<table style="{TABLE_STYLE}">\n{rows}\n</table>'
        note = f"{before}<code>{calls}</code>{after}" if calls else before
        return as_html(self.title, [table], note).replace(UNBROKEN, " ")


def make_overview(call: str, size: str, frame: pd.DataFrame, options: Options) -> Overview:
    """Return what is understood of a frame, of which no value is looked at."""
    roles = find_roles(frame, options)
    truth: Roles = {}  # of a frame; of a file nothing is known
    if isinstance(options.truth, pd.DataFrame):
        item = next(iter(roles["item"].found), None)
        truth = find_companion_roles(options.truth, roles["user"].found, item, options, roles)
    rows = [(name, *_describe_role(name, roles, options, truth)) for name in NAMES]
    if options.has_truth:
        rows.append(("truth", "given", _describe_truth(options.truth, truth)))
    changed = list_changed(options)
    others = {name: changed[name] for name in changed if name not in (*NAMES, "truth")}
    if others:
        rows.append(("options", "given", _join(spell_arguments(others))))
    if options.like is not None:
        rows.append(("like", "left", REMAINING[options.like]))
    title = f"{call}: {size}"
    is_refused = any(role.error for role in roles.values())
    if not is_refused and any(role.problem for role in roles.values()):
        answers = find_answers(frame, roles, options)
        arguments = _join(spell_arguments(changed | answers))
        return Overview(title, rows, ("Pass ", f"{call}({arguments})", say_choices(answers)))
    try:
        columns = find_columns(frame, options)
        check_given_columns(columns, options)
    except RecframeError as error:
        return Overview(title, rows, (f"Refused: {error}", "", ""))
    calls = [".describe(k=10)", ".mean(['precision@10', 'recall@10'])"]
    calls += [".compare('recall@10')"] if len(columns.scores) > 1 else []
    calls += [".inspect()" if columns.user is None else ".inspect(user)"]
    return Overview(title, rows, ("Try ", _join(calls), ""))


def _describe_role(name: str, roles: Roles, options: Options, truth: Roles) -> tuple[str, str]:
    """Return how a role is known, and what it is."""
    if name == "relevant" and options.has_truth:
        if name not in truth:
            return "from truth", "every pair" if truth or options.relevant is None else ""
        roles = truth
    if name not in roles:
        return "not found", "(and not needed)"
    how, labels = roles[name].how, roles[name].labels
    if how == "given" and not labels:
        return "given", "None: all rows are one ranking"
    texts = [quote(label) for label in labels]
    if name == "score" and options.ascending is not None:
        given = options.ascending
        is_low = given if isinstance(given, list) else [given] * len(texts)
        low = [" (lowest first)" if ascending else "" for ascending in is_low]
        texts = [text + mark for text, mark in zip(texts, low, strict=False)]
    return UNFOUND.get(how, how), _enumerate(texts)


def _describe_truth(truth: Any, roles: Roles) -> str:
    """Return what truth is and, of a frame, which of its columns have ids."""
    if not isinstance(truth, pd.DataFrame):
        return quote(os.fspath(truth or ""))
    ids = [quote(label) for name, role in roles.items() if name in IDS for label in role.found]
    # A sample has no rows: these are elsewhere.
    size = say_size(truth) if len(truth) else count_of(truth.shape[1], "column")
    return f"{size}: {_enumerate(ids)}" if ids else size


def say_size(frame: pd.DataFrame) -> str:
    """Return how large a frame is."""
    n_rows, n_columns = frame.shape
    return f"{count_of(n_rows, 'row')} × {count_of(n_columns, 'column')}"


def _enumerate(texts: list[str]) -> str:
    """Return as many texts as a line has room for, and how many more there are."""
    for n_shown in range(min(len(texts), TEXT_WIDTH // 8), -1, -1):
        more = f" and {len(texts) - n_shown:,} more" if n_shown < len(texts) else ""
        line = ", ".join(texts[:n_shown]) + more
        if len(line) <= TEXT_WIDTH - INDENT or n_shown <= 1:
            break
    return _join([line])


def _join(pieces: list[str]) -> str:
    """Return pieces with commas between them, each of which stays on one line."""
    return ", ".join(piece.replace(" ", UNBROKEN) for piece in pieces)


def _fill(text: str, begin: str, indent: str) -> list[str]:
    """Return a text in lines of a terminal's width."""
    lines = textwrap.wrap(
        text,
        TEXT_WIDTH,
        initial_indent=begin,
        subsequent_indent=indent,
        max_lines=N_LINES,
        placeholder=" …",
        break_long_words=False,
        break_on_hyphens=False,
    )
    lines = [line.replace(UNBROKEN, " ") for line in lines or [begin.rstrip()]]
    return [line if len(line) <= TEXT_WIDTH else f"{line[: TEXT_WIDTH - 1]}…" for line in lines]
