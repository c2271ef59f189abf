"""Markup: how LaTeX and Markdown spell the cells of a table."""

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from recframe.analysis.display import UNJUDGED


class Markup(NamedTuple):
    """The signs and the escaping of a text format."""

    escape: Callable[[str], str]
    bold: str
    star: str
    minus: str
    plus_minus: str
    none: str


def _escape_latex(text: str) -> str:
    """Return a text that LaTeX sets as it is, also at the beginning of a row."""
    names = {"\\": "backslash", "~": "asciitilde", "^": "asciicircum"}
    names |= {"<": "less", ">": "greater", "|": "bar"}
    signs: dict[str, Any] = {sign: rf"\text{name}{{}}" for sign, name in names.items()}
    signs |= {"±": r"$\pm$"}
    signs |= {sign: rf"\{sign}" for sign in "&%$#_{}"} | {sign: f"{{{sign}}}" for sign in "[]*"}
    return " ".join(text.split()).translate(str.maketrans(signs)).replace("--", "-{}-")


def _escape_markdown(text: str) -> str:
    """Return a text that Markdown shows as it is, in one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&$])", r"\\\1", " ".join(text.split()))


LATEX = Markup(_escape_latex, r"\textbf{{{}}}", r"\textsuperscript{{*}}", "$-$", r"$\pm$", "--")
MARKDOWN = Markup(_escape_markdown, "**{}**", r"<sup>\*</sup>", "-", "±", UNJUDGED)


class Cell(NamedTuple):
    """The mean or difference of a model in a metric."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    is_significant: bool = False
    is_best: bool = False

    def format(self, markup: Markup, digits: int, spread: str | None, sign: str) -> str:
        """Return the cell as text, with a sign before positive numbers if `sign` is "+"."""

        def show(number: float, sign: str = sign) -> str:
            text = f"{number:{sign}.{digits}f}".replace("-", markup.minus)
            return markup.none if math.isnan(number) else text

        if math.isnan(self.value) and not math.isnan(self.low):
            return f"[{show(self.low)}, {show(self.high)}]"
        text = markup.bold.format(show(self.value)) if self.is_best else show(self.value)
        text += markup.star if self.is_significant else ""
        if spread is None or math.isnan(self.low):
            return text
        if spread == "±":
            farther = show(max(self.value - self.low, self.high - self.value), "")
            return f"{text} {markup.plus_minus} {farther}"
        return f"{text} [{show(self.low)}, {show(self.high)}]"
