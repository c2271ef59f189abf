"""Description: the figures of the data, and in words those that should worry."""

import html
import textwrap

import pandas as pd

from recframe.analysis.display import WideTable
from recframe.errors import as_text, shorten

SHORT, CUT = "users with fewer than ", "users with a tie across "  # and then k
NO_RELEVANT, UNFOUND = "users without relevant rows", "truth items not in the frame"
NULL_USERS, NULL_RELEVANCE, NULL_SCORES = "null users", "null relevance", "null scores"
DUPLICATES = "duplicate pairs"
N_NAMED = 3  # score columns named in a warning that is not of all

UNKNOWN_RELEVANCE = (
    "relevance is neither boolean nor 0/1 (pass `min_relevance`), or a pair that is in two rows "
    "cannot be looked up in truth (pass `duplicates`)"
)

# What is said of a figure that is not 0, and of how many it is.
WORRIES = {
    NULL_USERS: ("rows", "refused, unless missing='drop' leaves them out"),
    NULL_RELEVANCE: ("rows", "refused, unless missing='drop' leaves them out"),
    NULL_SCORES: ("rows", "refused, unless `missing` says what they are"),
    DUPLICATES: ("rows", "refused, unless `duplicates` says what they are"),
    SHORT: ("users", "cut-offs of {k} are refused, unless `short` says what they mean"),
    NO_RELEVANT: (
        "users",
        "their precision is 0, other metrics are undefined and left out of means, unless "
        "`zero_division` says what they are",
    ),
    CUT: ("users", "{range}see `ties`"),
    UNFOUND: ("", "no ranking finds them; are they ids of the same kind?"),
}


class Description(WideTable):
    """The figures as `df.rec.describe` returns them; what is taken from it is a plain table.

    It displays itself with its warnings below.
    """

    @property
    def warnings(self) -> list[str]:
        """What should worry, in words, a line each."""
        return list_warnings(self)

    def __repr__(self) -> str:
        """Return the figures as text, and the warnings."""
        width = pd.get_option("display.width") or 80
        lines = [
            textwrap.fill(warning, width, initial_indent="- ", subsequent_indent="  ")
            for warning in self.warnings
        ]
        return "\n".join([super().__repr__(), *([""] if lines else []), *lines])

    def _repr_html_(self) -> str | None:
        """Return the HTML for a notebook, None where pandas is set to show text."""
        table: str | None = super()._repr_html_()  # type: ignore[misc]  # the stubs have none
        if table is None or not self.warnings:
            return table
        lines = "\n".join(f"<li>{html.escape(warning)}</li>" for warning in self.warnings)
        return f"{table}\n<ul>\n{lines}\n</ul>"


def list_warnings(figures: pd.DataFrame) -> list[str]:
    """Return what should worry in a table of figures, in words, once where it is so of all scores.

    Each begins with the name of its figure.
    """
    scores = list(map(as_text, figures.columns))
    of_scores = [_find_worries(figures.iloc[:, place]) for place in range(len(scores))]
    warnings = []
    for name in of_scores[0]:
        texts = [found[name] for found in of_scores]
        for text in dict.fromkeys(filter(None, texts)):
            of = [score for score, own in zip(scores, texts, strict=True) if own == text]
            more = f" and {len(of) - N_NAMED:,} more" if len(of) > N_NAMED else ""
            named = "" if len(of) == len(scores) else f" ({', '.join(of[:N_NAMED])}{more})"
            warnings.append(shorten(f"{name}{named}: {text}"))
    return warnings


def _find_worries(figures: pd.Series) -> dict[str, str]:
    """Return what is to be said of each figure of one score, nothing of those that are well."""
    k = next(name for name in figures.index if name.startswith(CUT)).removeprefix(CUT)
    worst, best = figures[f"precision@{k}, worst"], figures[f"precision@{k}, best"]
    longest, is_known = figures["longest ranking"], worst <= best
    orders = f"in one order precision@{k} is {worst:.4g}, in another {best:.4g}; "
    precisions = orders if is_known else ""
    found = {
        "rows": "there are none" if figures["rows"] == 0 else "",
        "longest ranking": (
            f"{longest:,}; the first {k} are all there is, in whatever order"
            if UNFOUND not in figures and 0 < longest <= int(k)
            else ""
        ),
    }
    for name, (of_all, words) in WORRIES.items():
        label = f"{name}{k}" if name in (SHORT, CUT) else name
        number = figures.get(label, 0)
        of = f" of {figures[of_all]:,}" if of_all else ""
        worries = number > 0 and not (name == CUT and worst == best)
        told = f"{number:,}{of}; {words.format(k=k, range=precisions)}" if worries else ""
        found[label] = f"not known; {UNKNOWN_RELEVANCE}" if pd.isna(number) else told
    return found
