"""The description of the data: its table of figures, and warnings that options decide about."""

import textwrap
from collections.abc import Sequence
from html import escape
from typing import Any, Self

import pandas as pd

from recframe.analysis.display import TEXT_WIDTH, WideTable
from recframe.analysis.people import AGREEMENT, KAPPA
from recframe.errors import RecframeError, as_text, printable, shorten
from recframe.note_kinds import ALIKE, IN_R
from recframe.options import Options

SHORT_USERS, CUT_USERS = "users with fewer than ", "users with a tie across "  # k follows
NO_RELEVANT, UNFOUND = "users without relevant rows", "truth items in nobody's list"
ONLY_ROWS, ONLY_TRUTH = "users only in the frame", "users only in truth"
NULL_USERS, NULL_RELEVANCE, NULL_SCORES = "null users", "null relevance", "null scores"
DUPLICATES = "duplicate pairs"
NEAR_PAIRS, EXCLUDED = "truth pairs written differently", "relevant pairs excluded"
NOTED_PAIRS = {NEAR_PAIRS: "truth_pairs_written_differently", EXCLUDED: "relevant_pairs_excluded"}
JUDGED_ROWS, JUDGED = "judged rows", "judged@"  # k follows
FEW_JUDGED = 0.5  # a smaller share of the first k rows is worth a warning
N_IN_WARNING = 3  # score columns named in a warning, and warnings for one figure

UNKNOWN_RELEVANCE = (
    "relevance is neither boolean nor 0/1 (option min_relevance), or a pair that is in two rows "
    "cannot be looked up in truth (option duplicates)"
)

# The warning for a figure above 0: the figure that it is a part of, words, and deciding options.
REFUSED = "refused unless option {options} says otherwise"
UNCOUNTED = "refused unless option {options} says who is counted"
WORRIES = {
    NULL_USERS: ("rows", REFUSED, ["missing"]),
    NULL_RELEVANCE: ("rows", REFUSED, ["null_relevance", "missing"]),
    NULL_SCORES: ("rows", REFUSED, ["missing"]),
    DUPLICATES: ("rows", REFUSED, ["duplicates"]),
    SHORT_USERS: ("users", f"k={{k}} is {REFUSED}", ["short"]),
    NO_RELEVANT: (
        "users",
        "their precision is 0; means of metrics that need a relevant row leave them out by default "
        "(option zero_division)",
        [],
    ),
    CUT_USERS: ("users", "{bounds}(option ties)", []),
    ONLY_ROWS: ("", UNCOUNTED, ["population"]),
    ONLY_TRUTH: ("", UNCOUNTED, ["population"]),
    UNFOUND: ("", "no ranking finds them: never listed, or ids of another kind", []),
    NEAR_PAIRS: ("", f"not in the frame {ALIKE}", []),
    EXCLUDED: ("", IN_R, []),
}


def list_figures(k: int) -> list[str]:
    """Return the names of all figures: those that decide metrics first, faults of the rows last."""
    names = ["rows", "users", NO_RELEVANT, f"{SHORT_USERS}{k}", f"{CUT_USERS}{k}"]
    names += [f"precision@{k}, worst", f"precision@{k}, best", JUDGED_ROWS, f"{JUDGED}{k}"]
    names += [*AGREEMENT, KAPPA, "shortest ranking", "longest ranking", "rows in ties"]
    names += [NULL_USERS, NULL_RELEVANCE, NULL_SCORES, DUPLICATES, UNFOUND, ONLY_ROWS, ONLY_TRUTH]
    return [*names, *NOTED_PAIRS]


class Description(WideTable):
    """The table that `df.rec.describe` returns. Selected rows or columns carry no warnings."""

    _metadata = ["refusal", "warnings", "noted"]  # noqa: RUF012 - as pandas asks for it
    refusal: RecframeError | None = None
    # Each warning begins with the name of its figure.
    warnings: list[str] = []  # noqa: RUF012 - the list is replaced, never changed
    noted: Sequence[str] = ()  # notes that no figure shows

    def __finalize__(self, other: Any, method: str | None = None, **options: Any) -> Self:
        """Return this table, made from another one; only a copy keeps the warnings."""
        super().__finalize__(other, method, **options)  # type: ignore[misc]  # the stubs have none
        if method != "copy":
            self.refusal, self.warnings = None, []
        return self

    @property
    def is_refused(self) -> bool:
        """Whether the figures show a problem for which an evaluation is refused."""
        return any("refused" in one or UNKNOWN_RELEVANCE in one for one in self.warnings)

    def warn(self, decided: Options) -> Self:
        """Set the warnings, given the options that decide about problems; return this table."""
        scores = list(map(as_text, self.columns))
        of_scores = [_find_worries(figures, decided) for _, figures in self.items()]
        warnings: list[str] = []
        for name in of_scores[0]:
            texts = [worries[name] for worries in of_scores]
            distinct = list(filter(None, dict.fromkeys(texts)))
            for text in distinct[:N_IN_WARNING]:
                same = [score for score, other in zip(scores, texts, strict=True) if other == text]
                n_more = len(same) - N_IN_WARNING
                named = ", ".join(same[:N_IN_WARNING]) + f" and {n_more:,} more" * (n_more > 0)
                named = "" if len(same) == len(scores) else f" ({named})"
                warnings.append(shorten(f"{name}{named}: {text}"))
            if n_others := sum(map(texts.count, distinct[N_IN_WARNING:])):
                warnings.append(f"{name}: other numbers of {n_others:,} more score columns")
        self.warnings = [*warnings, *self.noted]
        return self

    def __repr__(self) -> str:
        """Return the figures as text, and the warnings."""
        width = pd.get_option("display.width") or TEXT_WIDTH
        lines = [textwrap.fill(f"- {one}", width, subsequent_indent="  ") for one in self.warnings]
        parts = [super().__repr__(), "\n".join(lines), str(self.refusal or "")]
        return printable("\n\n".join(part for part in parts if part))

    def _repr_html_(self) -> str | None:
        """Return the HTML for a notebook, None if pandas is set to show text."""
        table: str | None = super()._repr_html_()  # type: ignore[misc]  # the stubs have none
        if table is None or not self.warnings:
            return table
        lines = "\n".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        html = f"{table}\n<ul>\n{lines}\n</ul>"
        if self.refusal is not None:
            html += f'\n<pre style="white-space: pre-wrap">{escape(str(self.refusal))}</pre>'
        return html


def _find_worries(figures: pd.Series, decided: Options) -> dict[str, str]:
    """Return a warning for each figure of one score, "" for a good one."""
    k = next(name for name in figures.index if name.startswith(CUT_USERS)).removeprefix(CUT_USERS)
    worst, best = figures[f"precision@{k}, worst"], figures[f"precision@{k}, best"]
    bounds = f"precision@{k} is {worst:.4g} in the worst order, {best:.4g} in the best "
    fields = {"k": k, "bounds": bounds if worst <= best else "their order counts "}
    longest, judged = figures["longest ranking"], figures.get(f"{JUDGED}{k}", 1)
    is_whole = UNFOUND not in figures and 0 < longest <= int(k)
    whole = f"{longest:,}; the first {k} are the whole ranking, in any order"
    few = (
        f"truth holds {judged:.0%} of the first {k} rows, by default the others count as not "
        "relevant (option unjudged)"
    )
    worries = {
        "rows": "none" if figures["rows"] == 0 else "",
        "longest ranking": whole if is_whole else "",
        f"{JUDGED}{k}": few if judged < FEW_JUDGED else "",
    }
    for name, (total, words, options) in WORRIES.items():
        label = f"{name}{k}" if name in (SHORT_USERS, CUT_USERS) else name
        number, worries[label] = figures.get(label, 0), ""
        if pd.isna(number):
            worries[label] = f"not known; {UNKNOWN_RELEVANCE}"
        elif name == NO_RELEVANT and number == figures[total] > 0:
            worries[label] = (
                f"all {number:,}; nothing is relevant, as where min_relevance is above all grades"
            )
        elif number > 0 and not (name == CUT_USERS and worst == best):
            of_total = f" of {figures[total]:,} {total}" if total else ""
            values = {one: getattr(decided, one) for one in options}
            by = [f"{one}={value!r}" for one, value in values.items() if value != "raise"]
            words = words.format(options=" or ".join(options), **fields)
            text = f"decided by {' and '.join(by)}" if by else words
            worries[label] = f"{number:,}{of_total}; {text}"
    return worries
