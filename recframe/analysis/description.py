"""Description: the figures of the data, and in words those that should worry."""

import textwrap

import pandas as pd

from recframe.analysis.display import WideTable, escape
from recframe.errors import as_text, shorten

SHORT_USERS, CUT_USERS = "users with fewer than ", "users with a tie across "  # and then k
NO_RELEVANT, UNFOUND = "users without relevant rows", "truth items not in the frame"
NULL_USERS, NULL_RELEVANCE, NULL_SCORES = "null users", "null relevance", "null scores"
DUPLICATES = "duplicate pairs"
JUDGED_ROWS, JUDGED = "judged rows", "judged@"  # and then k
FEW_JUDGED = 0.5  # of the first k rows
N_IN_WARNING = 3  # score columns in a warning that is not of all, and such warnings of a figure

UNKNOWN_RELEVANCE = (
    "relevance is neither boolean nor 0/1 (option min_relevance), or a pair that is in two rows "
    "cannot be looked up in truth (option duplicates)"
)

# What is said of a figure that is not 0, and of how many it is.
WORRIES = {
    NULL_USERS: ("rows", "refused unless option missing says otherwise"),
    NULL_RELEVANCE: ("rows", "refused unless option missing says otherwise"),
    NULL_SCORES: ("rows", "refused unless option missing says otherwise"),
    DUPLICATES: ("rows", "refused unless option duplicates says otherwise"),
    SHORT_USERS: ("users", "k={k} is refused unless option short says otherwise"),
    NO_RELEVANT: (
        "users",
        "their precision is 0, by default other metrics are undefined and out of means (option "
        "zero_division)",
    ),
    CUT_USERS: ("users", "{bounds}(option ties)"),
    UNFOUND: ("", "no ranking finds them: never listed, or ids of another kind"),
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
        lines = "\n".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        return f"{table}\n<ul>\n{lines}\n</ul>"


def list_warnings(figures: pd.DataFrame) -> list[str]:
    """Return what should worry in a table of figures, in words, once where it is so of all scores.

    Each begins with the name of its figure.
    """
    scores = list(map(as_text, figures.columns))
    of_scores = [_find_worries(figures.iloc[:, place]) for place in range(len(scores))]
    warnings = []
    for name in of_scores[0]:
        saying: dict[str, list[str]] = {}
        for score, found in zip(scores, of_scores, strict=True):
            saying.setdefault(found[name], []).append(score)
        saying.pop("", None)
        for text, of in list(saying.items())[:N_IN_WARNING]:
            more = f" and {len(of) - N_IN_WARNING:,} more" if len(of) > N_IN_WARNING else ""
            named = "" if len(of) == len(scores) else f" ({', '.join(of[:N_IN_WARNING])}{more})"
            warnings.append(shorten(f"{name}{named}: {text}"))
        if n_others := sum(map(len, list(saying.values())[N_IN_WARNING:])):
            warnings.append(f"{name}: other numbers of {n_others:,} more score columns")
    return warnings


def _find_worries(figures: pd.Series) -> dict[str, str]:
    """Return what is to be said of each figure of one score, nothing of those that are well."""
    k = next(name for name in figures.index if name.startswith(CUT_USERS)).removeprefix(CUT_USERS)
    worst, best = figures[f"precision@{k}, worst"], figures[f"precision@{k}, best"]
    longest = figures["longest ranking"]
    bounds = f"precision@{k} is {worst:.4g} in the worst order, {best:.4g} in the best "
    given = {"k": k, "bounds": bounds if worst <= best else "their order counts "}
    found = {
        "rows": "there are none" if figures["rows"] == 0 else "",
        "longest ranking": (
            f"{longest:,}; the first {k} are all there is, in whatever order"
            if UNFOUND not in figures and 0 < longest <= int(k)
            else ""
        ),
    }
    judged = figures.get(f"{JUDGED}{k}", 1)
    found[f"{JUDGED}{k}"] = (
        f"truth holds {judged:.0%} of the first {k} rows, by default the others count as not "
        "relevant (option unjudged)"
        if judged < FEW_JUDGED
        else ""
    )
    for name, (of_all, words) in WORRIES.items():
        label = f"{name}{k}" if name in (SHORT_USERS, CUT_USERS) else name
        number = figures.get(label, 0)
        of = f" of {figures[of_all]:,} {of_all}" if of_all else ""
        worries = number > 0 and not (name == CUT_USERS and worst == best)
        told = f"{number:,}{of}; {words.format(**given)}" if worries else ""
        if name == NO_RELEVANT and number == figures[of_all] > 0:
            told = (
                f"all {number:,}; nothing is relevant, as where min_relevance is above all grades"
            )
        found[label] = f"not known; {UNKNOWN_RELEVANCE}" if pd.isna(number) else told
    return found
