"""--filter: which rows of the files are there, written as COLUMN OPERATOR VALUE."""

import argparse
import re

from recframe.arguments import Term
from recframe.cli.values import as_usage
from recframe.errors import RecframeError, quote
from recframe.files.budget import Limits
from recframe.files.filters import Written, filter_files
from recframe.files.footers import read_schema
from recframe.files.found import Found
from recframe.metrics.names import QUOTED

FILTER_VALUE = rf"""(?:{QUOTED}|[^\s()"',=!<>][^\s()"',]*)"""
TERM = re.compile(
    rf"""({QUOTED}|[^\s()"'=!<>]+)\s*(==|=|!=|<=|<|>=|>|\bnot\s+in\b|\bin\b)\s*"""
    rf"""({FILTER_VALUE}|\(\s*{FILTER_VALUE}(?:\s*,\s*{FILTER_VALUE})*\s*\))"""
)


def add_filters(command: argparse.ArgumentParser) -> None:
    """Add the conditions on rows."""
    command.add_argument(
        "--filter",
        action="append",
        default=[],
        type=as_usage(check_term),
        metavar="TEXT",
        help="rows that are there, as 'day >= 2026-11-01' or 'country in (NL, BE)': a column, "
        "one of = != < <= > >= in, not in, and a value, in quotes where they have blanks; all must "
        "hold where it is given repeatedly. Others are not read where files tell",
    )


def check_term(text: str) -> str:
    """Return a condition as it is written, or raise."""
    parse_term(text)
    return text


def parse_term(text: str) -> Term:
    """Return a condition, its values being of whatever type the column is."""
    found = TERM.fullmatch(text.strip())
    if found is None:
        raise RecframeError(
            "must be COLUMN OPERATOR VALUE, as 'day >= 2026-11-01' or 'country in (NL, BE)', with "
            "one of = != < <= > >= in, not in, and quotes where there are blanks, found "
            f"{quote(text)}"
        )
    name, sign, given = found[1], " ".join(found[2].split()), found[3]
    values = [Written(_unquote(value)) for value in re.findall(FILTER_VALUE, given)]
    if sign.endswith("in") != given.startswith("("):
        takes = "values in brackets, as (1, 2)" if sign.endswith("in") else "one value"
        raise RecframeError(f"{quote(text)}: {sign} takes {takes}")
    return _unquote(name), sign, values if sign.endswith("in") else values[0]


def filter_as_asked(found: list[Found], texts: list[str], limits: Limits) -> list[Found]:
    """Return the files that may have rows for which all conditions hold, under these."""
    if not texts:
        return found
    return filter_files(found, list(map(parse_term, texts)), read_schema(found[0], limits.memory))


def _unquote(text: str) -> str:
    """Return a name or a value without the quotes around it."""
    return text[1:-1].replace(2 * text[0], text[0]) if re.fullmatch(QUOTED, text) else text
