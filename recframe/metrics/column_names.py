"""Names of columns as they stand in the name of a metric: plain, or in quotes. NumPy only."""

import re

from recframe.errors import RecframeError, quote

QUOTED = r"""(?:"(?:[^"]|"")*"|'(?:[^']|'')*')"""  # the quotes themselves are doubled inside
PLAIN = re.compile(r"""[^\s()@,='"](?:[^()@,='"]*[^\s()@,='"])?""")


def parse_column(label: object, name: str, given: str) -> str:
    """Return the name of a column written in the brackets of a label, in quotes or not."""
    if PLAIN.fullmatch(given):
        return given
    if len(given) > 2 and re.fullmatch(QUOTED, given):
        return given[1:-1].replace(2 * given[0], given[0])
    example = spell_column(given or "price")
    raise RecframeError(
        f"{quote(label)}: {name} takes the name of a column, in quotes where that has brackets, "
        f"commas, quotes, @ or =, as in {name}({example})@10, found {quote(given or 'none')}"
    )


def spell_column(name: str) -> str:
    """Return the name of a column as it is written in brackets."""
    if PLAIN.fullmatch(name):
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
