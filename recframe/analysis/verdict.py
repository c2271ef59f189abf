"""The verdict of a gate as text, as HTML, and as a comment for a pull request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

import pandas as pd

from recframe.analysis.display import WideTable
from recframe.analysis.gate import Verdict
from recframe.analysis.markup import MARKDOWN, Cell
from recframe.analysis.paper_tables import check_decimals
from recframe.errors import as_text


@dataclass(frozen=True)
class Gate:
    """
    The verdict on a new table of users, as `recframe.gate` returns it.

    It displays itself as text, and in a notebook as HTML.

    Parameters
    ----------
    passed : bool
        Whether nothing failed; True without limits. It is also the truth of the verdict, as in
        ``if recframe.gate(old, new, max_drop=0.01):``.
    reasons : list of str
        A line for each failure, those of missing users, scores and metrics first.
    table : DataFrame
        Index: (score, metric), within segments if there are any. Columns: old and new, the means
        of users with both values; difference with its interval, low and high; n_users; and, if
        there are limits, passed, None for a metric without one. With trusted labels, new is the
        estimate of all new users, and old is new - difference.
    notes : list of str
        Users, scores and metrics of one table only, and other facts about the figures.
    conventions : dict of str
        The options and limits in force, as text.

    See Also
    --------
    recframe.gate : Makes it.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> old = pd.DataFrame({"als": [0.25, 0.5, 0.75, 1.0] * 10}).rename_axis(columns="recall@10")
    >>> verdict = recframe.gate(old, 0.8 * old, max_drop=0.05)
    >>> verdict.passed, verdict.table["difference"].round(3).tolist()
    (False, [-0.125])
    """

    passed: bool
    reasons: list[str]
    table: pd.DataFrame
    notes: list[str]
    conventions: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        """Return whether nothing failed."""
        return self.passed

    def __repr__(self) -> str:
        """Return the verdict, the reasons, the table and the notes as text."""
        lines = [self._title, *(f"- {one}" for one in self.reasons), repr(WideTable(self.table))]
        return "\n".join([*lines, *(f"note: {one}" for one in self.notes)])

    def _repr_html_(self) -> str:
        """Return the same as HTML."""
        reasons = "".join(f"<li>{escape(one)}</li>" for one in self.reasons)
        notes = "".join(f"<p>note: {escape(one)}</p>" for one in self.notes)
        title = f"<p><strong>{self._title}</strong></p><ul>{reasons}</ul>"
        return f"{title}{self.table.to_html()}{notes}"

    @property
    def _title(self) -> str:
        """The verdict in words."""
        if "passed" not in self.table:
            return "Compared, without limits"
        return "Passed" if self.passed else "Failed"

    def to_markdown(self, digits: int = 4) -> str:
        """
        Return a comment for a pull request: the verdict and its reasons, a row for each metric.

        Parameters
        ----------
        digits : int, default 4
            The number of digits after the decimal point.

        Returns
        -------
        str
            Markdown of GitHub and GitLab. Segments, notes and conventions are folded.

        Raises
        ------
        RecframeError
            `digits` is out of its range.
        """
        check_decimals(digits)
        outer = [as_text(name) for name in self.table.index.names[:-2]]
        header = [*map(MARKDOWN.escape, outer), "model", "metric", "old", "new", "difference"]
        confidence = float(self.conventions.get("confidence", 0.95))
        header += [f"{confidence * 100:g}% interval", "users"]
        header += ["verdict"] * ("passed" in self.table)
        rule = [":--"] * (len(outer) + 2) + ["--:"] * 5 + [":--"] * ("passed" in self.table)
        rows = [header, rule, *self._list_rows(digits)]
        table = [f"| {' | '.join(cells)} |" for cells in rows]
        details = [f"{name}: {value}" for name, value in self.conventions.items()]
        details = [f"- {MARKDOWN.escape(one)}" for one in [*self.notes, *details]]
        reasons = [f"- {MARKDOWN.escape(one)}" for one in self.reasons]
        lines = [f"**{self._title}**", *([""] if reasons else []), *reasons]
        lines += _fold_lines("Segments", table) if outer else ["", *table]  # segments may be many
        return "\n".join([*lines, *_fold_lines("Notes and conventions", details), ""])

    def _list_rows(self, digits: int) -> list[list[str]]:
        """Return the cells of each row in Markdown."""
        rows, signs = list[list[str]](), {"old": "", "new": "", "difference": "+"}
        for key, row in zip(self.table.index, self.table.to_dict("records"), strict=True):
            labels = key if isinstance(key, tuple) else (key,)
            cells = [MARKDOWN.escape(as_text(one)) for one in labels]
            for name, sign in signs.items():
                cells.append(Cell(row[name]).format(MARKDOWN, digits, None, sign))
            ends = (Cell(row[name]).format(MARKDOWN, digits, None, "+") for name in ("low", "high"))
            cells += [f"[{', '.join(ends)}]", f"{row['n_users']:,}"]
            verdicts = {True: "pass", False: "**fail**"}
            cells += [verdicts.get(row["passed"], MARKDOWN.none)] if "passed" in row else []
            rows.append(cells)
        return rows


def _fold_lines(title: str, lines: list[str]) -> list[str]:
    """Return lines of Markdown that open at a click on the title."""
    return ["", f"<details><summary>{title}</summary>", "", *lines, "", "</details>"]


def make_gate(verdict: Verdict) -> Gate:
    """Return a verdict as users see it."""
    limits, how = verdict.limits, verdict.how
    conventions = {name: f"{one}" for name, one in verdict.made.items() if one != "nan"}
    conventions["confidence"] = f"{how.resampling.confidence:g}"
    if how.trusted is None:
        conventions["test"] = how.test
    for name, by_metric in ((limits.rule, limits.losses), ("at_least", limits.floors)):
        if name and by_metric:
            shown = ", ".join(f"{metric} {limit:g}" for metric, limit in by_metric.items())
            conventions[name] = shown
    lines = [*verdict.notes, *(one.text for one in verdict.facts)]
    lines += verdict.missing if limits.allow_missing else []
    reasons = verdict.failures
    return Gate(not reasons, reasons, verdict.table(), lines, conventions)
