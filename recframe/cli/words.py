"""What stands on the command line before it is parsed: files of options, lists of metrics."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from recframe.disk import reason
from recframe.errors import RecframeError, quote
from recframe.metrics.names import QUOTED, find_meant, parse_metric

METRIC_FLAGS = ("--metric", "--metrics")
MOST_CHARACTERS = 1 << 20  # of a file of options
BRACKETS = rf"""\((?:{QUOTED}|[^()"'])*\)"""
LIKE_METRIC = re.compile(rf"\w+({BRACKETS})?@\w+")
NAME = re.compile(rf"((?:{BRACKETS}|[^,])*)(?:,|$)", re.DOTALL)  # up to a comma not in brackets


def expand(words: Sequence[str]) -> list[str]:
    """Return arguments, those in a file in place of @FILE, and each metric with its own flag."""
    expanded: list[str] = []
    for word in words:
        expanded += _read_options(word[1:]) if word.startswith("@") else [word]
    return list(_give_flags(expanded))


def split_metrics(text: str) -> list[str]:
    """Return the labels of the metrics that a text names, with commas between them."""
    names = NAME.findall(text.strip().strip(","))  # one may follow, as blanks may
    names = names[:-1] or names  # at the end there always is room for an empty one
    return [parse_metric(name.strip()).label for name in names]


def _read_options(path: str) -> list[str]:
    """Return the arguments that a file holds, read as a shell reads them, line by line."""
    try:
        with Path(path).open(encoding="utf-8-sig") as file:
            text = file.read(MOST_CHARACTERS + 1)
    except OSError as error:
        raise RecframeError(f"@{path}: cannot read {path}: {reason(error)}") from error
    except ValueError:  # an odd byte in it, or in its name
        text = "\0"
    if "\0" in text or len(text) > MOST_CHARACTERS:
        raise RecframeError(
            f"@{path} must name a file of options, as text, found something else; write a path "
            f"that begins with @ as ./@{path}"
        )
    words: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            words += shlex.split(line, comments=True)
        except ValueError as error:
            raise RecframeError(f"@{path}, line {number}: {error}, found {quote(line)}") from error
        if nested := [word for word in words if word.startswith("@")]:
            raise RecframeError(
                f"@{path}, line {number}: {quote(nested[0])} names another file of options; name "
                "it on the command line"
            )
    return words


def _give_flags(words: list[str]) -> Iterator[str]:
    """Yield words, with --metric before each metric that follows another.

    So a metric never takes a path that follows for another, as argparse would have it.
    """
    is_first = is_next = False
    for word in words:
        if is_next and not is_first and _names_metric(word):
            yield METRIC_FLAGS[0]
        else:
            is_next = is_first or word.partition("=")[0] in METRIC_FLAGS
        yield word
        is_first = word in METRIC_FLAGS


def _names_metric(word: str) -> bool:
    """Return whether a word that follows a metric is one too, and not a path."""
    try:
        split_metrics(word)
    except RecframeError:
        # A misspelt one, or that of a library as P_5, is refused as such, and not as no file.
        meant = find_meant(word) if re.fullmatch(r"\w+", word) else None
        is_like = LIKE_METRIC.fullmatch(word) or (meant is not None and meant.k)
        return bool(is_like) and not Path(word).exists()
    return True
