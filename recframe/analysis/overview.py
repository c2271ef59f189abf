"""The overview of an accessor: the roles that it found in its frame, as text and as HTML."""

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
from recframe.frames.roles import TRUTH_IDS, Roles, find_companion_roles, find_roles
from recframe.options import Options, list_changed, spell_arguments

INDENT = 23  # characters before the columns of a role
N_LINES = 5  # lines of the last paragraph
UNBROKEN = "\xa0"  # a space at which no line ends
UNFOUND = {"none": "not found", "several": "ambiguous"}
# The page decides colours, light or dark.
TABLE_STYLE = "border-collapse: collapse; margin: 0.4em 0; border-top: 1px solid currentColor; "
TABLE_STYLE += "border-bottom: 1px solid currentColor"
CELL_STYLE = "text-align: left; padding: 0.15em 1.2em 0.15em 0; color: inherit"


class Overview(NamedTuple):
    """The title, a row for each role (name, source, columns), and advice around calls."""

    title: str
    rows: list[tuple[str, str, str]]
    advice: tuple[str, str, str]

    def __str__(self) -> str:
        """Return the overview as text, no line wider than a terminal."""
        lines = [self.title]
        for name, source, columns in self.rows:
            lines += _fill(columns, f"  {name:<9} {source:<10} ", " " * INDENT)
        return "\n".join(lines + _fill("".join(self.advice), "", "  "))

    def to_html(self) -> str:
        """Return the overview as a table of HTML."""
        lines = [
            f'<tr><th scope="row" style="{CELL_STYLE}">{escape(name)}</th>'
            f'<td style="{CELL_STYLE}">{escape(source)}</td>'
            f'<td style="{CELL_STYLE}">{escape(columns)}</td></tr>'
            for name, source, columns in self.rows
        ]
        before, calls, after = map(escape, self.advice)
        table = "\n".join([f'<table style="{TABLE_STYLE}">', *lines, "</table>"])
        note = f"{before}<code>{calls}</code>{after}" if calls else before
        return as_html(self.title, [table], note).replace(UNBROKEN, " ")


def make_overview(call: str, size: str, frame: pd.DataFrame, options: Options) -> Overview:
    """Return the overview of a frame; no value of the frame is read."""
    roles = find_roles(frame, options)
    truth: Roles = {}  # nothing is known of a file
    if isinstance(options.truth, pd.DataFrame):
        item = next(iter(roles["item"].found), None)
        truth = find_companion_roles(options.truth, roles["user"].found, item, options, roles)
    rows = [(name, *_describe_role(name, roles, options, truth)) for name in NAMES]
    if options.has_truth:
        rows.append(("truth", "given", _describe_truth(options.truth, truth)))
    changed = list_changed(options)
    others = {name: changed[name] for name in changed if name not in (*NAMES, "truth")}
    if others:
        rows.append(("options", "given", _join_unbroken(spell_arguments(others))))
    if options.like is not None:
        rows.append(("like", "left", REMAINING[options.like]))
    title = f"{call}: {size}"
    is_refused = any(role.error for role in roles.values())
    if not is_refused and any(role.problem for role in roles.values()):
        answers = find_answers(frame, roles, options)
        arguments = _join_unbroken(spell_arguments(changed | answers))
        return Overview(title, rows, ("Pass ", f"{call}({arguments})", say_choices(answers)))
    try:
        columns = find_columns(frame, options)
        check_given_columns(columns, options)
    except RecframeError as error:
        return Overview(title, rows, (f"Refused: {error}", "", ""))
    calls = [".describe(k=10)", ".mean(['precision@10', 'recall@10'])"]
    calls += [".compare('recall@10')"] if len(columns.scores) > 1 else []
    calls += [".inspect()" if columns.user is None else ".inspect(user)"]
    return Overview(title, rows, ("Try ", _join_unbroken(calls), ""))


def _describe_role(name: str, roles: Roles, options: Options, truth: Roles) -> tuple[str, str]:
    """Return the source of a role and its columns."""
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
        ascending = options.ascending
        are_low = ascending if isinstance(ascending, list) else [ascending] * len(texts)
        marks = [" (lowest first)" * bool(is_low) for is_low in are_low]
        texts = [text + mark for text, mark in zip(texts, marks, strict=False)]
    return UNFOUND.get(how, how), _enumerate(texts)


def _describe_truth(truth: Any, roles: Roles) -> str:
    """Return the path of truth, or the size of a frame and its columns of ids."""
    if not isinstance(truth, pd.DataFrame):
        return quote(os.fspath(truth or ""))
    ids = [
        quote(label) for name, role in roles.items() if name in TRUTH_IDS for label in role.found
    ]
    # A sample of a lazy table has no rows, so their number is unknown.
    size = say_size(truth) if len(truth) else count_of(truth.shape[1], "column")
    return f"{size}: {_enumerate(ids)}" if ids else size


def say_size(frame: pd.DataFrame) -> str:
    """Return the numbers of rows and columns of a frame in words."""
    n_rows, n_columns = frame.shape
    return f"{count_of(n_rows, 'row')} × {count_of(n_columns, 'column')}"


def _enumerate(texts: list[str]) -> str:
    """Return as many texts as fit into a line, and the number of the others."""
    for n_shown in range(min(len(texts), TEXT_WIDTH // 8), -1, -1):
        more = f" and {len(texts) - n_shown:,} more" if n_shown < len(texts) else ""
        line = ", ".join(texts[:n_shown]) + more
        if len(line) <= TEXT_WIDTH - INDENT or n_shown <= 1:
            break
    return _join_unbroken([line])


def _join_unbroken(texts: list[str]) -> str:
    """Return texts with commas between them; no text is broken between lines."""
    return ", ".join(text.replace(" ", UNBROKEN) for text in texts)


def _fill(text: str, begin: str, indent: str) -> list[str]:
    """Return a text as lines of a terminal's width."""
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
