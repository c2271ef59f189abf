"""Describing: figures of the data and warnings about them, to be read before any metric."""

import math
import textwrap
from collections.abc import Hashable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple, Self
from zlib import crc32

import numpy as np
import pandas as pd

from recframe.analysis.bounds import share_judged
from recframe.analysis.display import TEXT_WIDTH, WideTable
from recframe.analysis.people import AGREEMENT, KAPPA, count_agreement, find_kappa
from recframe.analysis.summary import note_relevance
from recframe.errors import RecframeError, as_text, printable, shorten
from recframe.frames.columns import Columns
from recframe.frames.companions import BlockResult, Companions, NotedBlocks, read_block
from recframe.frames.interactions import (
    Interactions,
    complete_rows,
    find_empty_lists,
    read_interactions,
)
from recframe.frames.names import as_labels, get_column
from recframe.frames.tables import policy_of
from recframe.frames.truth import Judge
from recframe.frames.values import find_missing
from recframe.kernel.counting import count_ties
from recframe.kernel.threads import Array
from recframe.metrics.measure import measure_one
from recframe.metrics.names import make_metric
from recframe.metrics.statistics import RankStatistics
from recframe.notes import ALIKE, IN_R, facts_noted, list_notes, note, taking_notes
from recframe.options import Options

SHORT_USERS, CUT_USERS = "users with fewer than ", "users with a tie across "  # k follows
NO_RELEVANT, UNFOUND = "users without relevant rows", "truth items in nobody's list"
ONLY_ROWS, ONLY_TRUTH = "users only in the frame", "users only in truth"
NULL_USERS, NULL_RELEVANCE, NULL_SCORES = "null users", "null relevance", "null scores"
DUPLICATES = "duplicate pairs"
SHARERS = "users of an item"
LEAST_SAMPLED = 20  # shorter lists may be those of a recommender
NEAR_PAIRS, EXCLUDED = "truth pairs written differently", "relevant pairs excluded"
NOTED = {NEAR_PAIRS: "truth_pairs_written_differently", EXCLUDED: "relevant_pairs_excluded"}
JUDGED_ROWS, JUDGED = "judged rows", "judged@"  # k follows
UNSEEN = ("all_relevant", "exclude", "unjudged", "sampled")  # notes that no figure shows
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

# Figures that are no sums over parts.
TOTALS = {"shortest ranking": np.fmin.reduce, "longest ranking": np.fmax.reduce}
UNKNOWN = pd.Series([1], [np.nan])  # the histogram if relevance is unknown


class Figures(NamedTuple):
    """The figures of one score, which add up over parts of the users.

    Parameters
    ----------
    numbers : dict
        The counts by their names in the table, NaN for an unknown one.
    histograms : dict of Series
        The number of users with each value, for figures that are means.
    is_found : ndarray of shape (n_items,), bool, default None
        Whether each distinct relevant item of truth is in the rows.
    """

    numbers: dict[str, float]
    histograms: dict[str, pd.Series]
    is_found: Array | None = None


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


def count_figures(
    interactions: Interactions,
    options: Options,
    k: int,
    judge: Judge | None,
    people: Options | None = None,
    *,
    of_absent: bool = False,
) -> list[Figures]:
    """Return the figures of every score. The interactions were read leniently.

    With `of_absent` they have no row, and the users of truth without a row are counted. With
    options that read labels of `people`, their agreement with other labels is counted.
    """
    frame, columns = interactions.frame, interactions.columns
    if (is_empty := find_empty_lists(frame, columns)) is not None:  # They are no rows.
        frame = frame[~is_empty]
    common: dict[str, float] = {
        "rows": len(frame),
        NULL_USERS: _count_nulls(frame, columns.users),
        NULL_RELEVANCE: _count_nulls(frame, as_labels(columns.relevant)),
    }
    if columns.item is not None:
        common[DUPLICATES] = interactions.n_repeated
    is_found = None if judge is None else judge.find_relevant(interactions)
    if judge is not None and of_absent:
        interactions = judge.judge_absent(interactions)
    elif judge is not None and is_unique(options, interactions.n_repeated):
        interactions = judge.judge(interactions, is_all=columns.user is None)
    sharers = _find_sharers(interactions)
    note_relevance(interactions)
    note(users=len(interactions.users.ids))
    if people is not None:
        common |= count_agreement(interactions, people)
    figures = [
        Figures(*_count_ranking(interactions, score, k, options, common, frame), is_found)
        for score in columns.scores
    ]
    for each in figures:
        each.histograms[SHARERS] = sharers
    if judge is not None and not judge.judgments.relevant.all():
        _add_judged(figures, interactions, k, options)
    return figures


def add_dropped(
    figures: list[Figures], columns: Columns, n_rows: int, n_null: Mapping[str, int]
) -> None:
    """Add rows without a user to figures, with the number of nulls in their columns."""
    for score, each in zip(columns.scores, figures, strict=True):
        each.numbers["rows"] += n_rows
        each.numbers[NULL_USERS] += n_rows
        each.numbers[NULL_RELEVANCE] += n_null[str(columns.relevant)]
        each.numbers[NULL_SCORES] += n_null[str(columns.column_of(score))]


def join_figures(parts: Sequence[list[Figures]]) -> list[Figures]:
    """Return the figures of every score, added up over parts."""
    joined = []
    for of_score in zip(*parts, strict=True):
        numbers = {
            name: TOTALS.get(name, sum)([part.numbers[name] for part in of_score])
            for name in of_score[0].numbers
        }
        histograms = {
            name: _join_histograms([part.histograms[name] for part in of_score])
            for name in of_score[0].histograms
        }
        flags = [part.is_found for part in of_score if part.is_found is not None]
        is_found = np.any(flags, axis=0) if flags else None
        joined.append(Figures(numbers, histograms, is_found))
    return joined


def _join_histograms(parts: list[pd.Series]) -> pd.Series:
    """Return the counts of every value, added up over parts."""
    # pandas warns of empty parts, whose dtype says nothing.
    filled = [part for part in parts if len(part)] or parts[:1]
    # groupby sorts the values, so sums have the same bits whatever the parts are.
    joined: pd.Series = pd.concat(filled).groupby(level=0, dropna=False).sum()
    return joined


class Describer(NamedTuple):
    """The arguments of a description, which every engine makes of blocks of whole users.

    With options that read labels of `people`, their agreement with other labels is counted.
    """

    columns: Columns
    k: int
    options: Options
    people: Options | None

    def count_block(self, frame: pd.DataFrame, companions: Companions) -> BlockResult:
        """Return the figures of a block, given all of truth, with the facts it notes."""
        columns, k, options, people = self
        is_all = columns.user is None
        with taking_notes() as facts:
            block = read_block(frame, companions, columns, options, is_all=is_all, lenient=True)
            figures = count_figures(block.interactions, options, k, block.judge, people)
        return block.give(figures)._replace(facts=facts)

    def describe(
        self, results: Iterable[BlockResult], companions: Companions, empty: pd.DataFrame
    ) -> Description:
        """Return the description from the figures of blocks and of users of truth without a row.

        The notes of the blocks have been taken already; `empty` is a frame without rows.
        """
        columns, k, options, people = self
        blocks, figures = NotedBlocks(companions, columns, options), list[Figures]()
        for result in results:
            blocks.add(result)
            figures = join_figures([figures, result.made] if figures else [result.made])
        blocks.check()
        judge, rows = blocks.judge, read_interactions(empty, columns, options, lenient=True)
        figures = figures or count_figures(rows, options, k, judge, people)
        n_repeated, counts = figures[0].numbers.get(DUPLICATES, 0), None
        if judge is not None and columns.user is not None and is_unique(options, n_repeated):
            absent = count_figures(rows, options, k, judge, people, of_absent=True)
            judge.note_lost(companions.excluded)
            figures = join_figures([figures, absent])
            counts = judge.overlap.count_users()
        described = []
        for numbers, histograms, is_found in figures:
            shown = {name: n if math.isnan(n) else int(n) for name, n in numbers.items()}
            if is_found is not None:
                shown[UNFOUND] = int(np.count_nonzero(~is_found))
            if counts is not None:
                shown |= dict(zip((ONLY_ROWS, ONLY_TRUTH), counts.n_users[1:], strict=True))
                shown |= {name: n for name, noted in NOTED.items() if (n := facts_noted()[noted])}
            if people is not None:
                shown[KAPPA] = find_kappa(*(numbers[name] for name in AGREEMENT))
            for name, users in histograms.items():
                shown[name] = (
                    float(np.average(users.index, weights=users)) if len(users) else np.nan
                )
            described.append(shown)
        # Figures that decide metrics come first, faults of the rows last.
        names = ["rows", "users", NO_RELEVANT, f"{SHORT_USERS}{k}", f"{CUT_USERS}{k}"]
        names += [f"precision@{k}, worst", f"precision@{k}, best", JUDGED_ROWS, f"{JUDGED}{k}"]
        names += [*AGREEMENT, KAPPA, "shortest ranking", "longest ranking", "rows in ties"]
        names += [
            NULL_USERS,
            NULL_RELEVANCE,
            NULL_SCORES,
            DUPLICATES,
            UNFOUND,
            ONLY_ROWS,
            ONLY_TRUTH,
        ]
        names += list(NOTED)
        labels = pd.Index(columns.scores, name="score", tupleize_cols=False)
        names = [name for name in names if name in described[0]]
        # With dtype object, whole numbers and means keep their types in one column.
        description = Description(pd.DataFrame(described, labels, names, dtype=object).T)
        sharers, lengths = figures[0].histograms[SHARERS], {shown[one] for one in TOTALS}
        # Most users have the item if candidates are the same, or the catalogue without a few items.
        is_shared = sharers.index.hasnans or 2 * sharers.iloc[-1:].sum() >= shown["users"]
        if not is_shared and len(lengths) == 1 and min(lengths) >= LEAST_SAMPLED:
            note(rows_of_samples=int(min(lengths)), users_of_samples=int(shown["users"]))
        notes = list_notes(facts_noted(), options)
        description.noted = [one.text for one in notes if one.kind in UNSEEN]
        return description.warn(Options())


def _find_worries(figures: pd.Series, decided: Options) -> dict[str, str]:
    """Return a warning for each figure of one score, "" for a good one."""
    k = next(name for name in figures.index if name.startswith(CUT_USERS)).removeprefix(CUT_USERS)
    worst, best = figures[f"precision@{k}, worst"], figures[f"precision@{k}, best"]
    bounds = f"precision@{k} is {worst:.4g} in the worst order, {best:.4g} in the best "
    fields = {"k": k, "bounds": bounds if worst <= best else "their order counts "}
    longest, judged = figures["longest ranking"], figures.get(f"{JUDGED}{k}", 1)
    worries = dict.fromkeys(["rows", "longest ranking", f"{JUDGED}{k}"], "")
    if figures["rows"] == 0:
        worries["rows"] = "none"
    if UNFOUND not in figures and 0 < longest <= int(k):
        whole = f"{longest:,}; the first {k} are the whole ranking, in any order"
        worries["longest ranking"] = whole
    if judged < FEW_JUDGED:
        worries[f"{JUDGED}{k}"] = (
            f"truth holds {judged:.0%} of the first {k} rows, by default the others count as not "
            "relevant (option unjudged)"
        )
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


def _count_nulls(frame: pd.DataFrame, labels: list[Hashable]) -> int:
    """Return the number of rows with a null in any of the columns."""
    rows = complete_rows(frame, labels)
    return 0 if rows is None else len(frame) - len(rows)


def is_unique(options: Options, n_repeated: float) -> bool:
    """Return whether pairs can be looked up in truth although so many rows repeat one."""
    return n_repeated == 0 or options.duplicates != "raise"


def _find_sharers(interactions: Interactions) -> pd.Series:
    """Return the number of users who have the item with the highest hash, as a histogram.

    Hashes depend on ids alone, so this is one item in all blocks. The number is unknown unless
    each user has one relevant item, and it is a row.
    """
    groups, items = interactions.users.groups, interactions.items
    n_relevant = groups.count(interactions.relevant)
    if items is None or interactions.n_unlisted.any() or (n_relevant != 1).any():
        return UNKNOWN
    of_ids = [crc32(as_text(one).encode()) for one in items.ids]
    hashes = np.array([*of_ids, 0]).take(items.codes, mode="clip")  # 0 for nulls
    highest = hashes.max(initial=0)
    n_users = len(np.unique(groups.codes[hashes == highest]))
    return pd.Series([n_users] * (n_users > 0), [highest] * (n_users > 0), dtype=int)


def _count_ranking(
    interactions: Interactions,
    score: Hashable,
    k: int,
    options: Options,
    common: dict[str, float],
    frame: pd.DataFrame,
) -> tuple[dict[str, float], dict[str, pd.Series]]:
    """Return the numbers of one score, those common to all scores included, and its histograms."""
    rankings = interactions.rankings(score, options)
    ties = count_ties(rankings, k)
    n_relevant = rankings.groups.count(interactions.relevant) + interactions.n_unlisted
    n_ranked = pd.Series(rankings.n_ranked)
    is_judged = interactions.is_judged
    columns = interactions.columns
    column = get_column(frame, columns.column_of(score))
    is_low_best = columns.ascending[columns.scores.index(score)]
    numbers = {
        **common,
        NULL_SCORES: find_missing(column, options, is_low_best).sum(),
        "users": len(n_ranked),
        NO_RELEVANT: (n_relevant == 0).sum() if is_judged else np.nan,
        "shortest ranking": n_ranked.min(),
        "longest ranking": n_ranked.max(),
        # The empty list of a user of truth without a row is not refused.
        f"{SHORT_USERS}{k}": ((n_ranked < k) & (n_ranked >= options.has_truth)).sum(),
        "rows in ties": ties.n_tied.sum(),
        f"{CUT_USERS}{k}": ties.is_cut.sum(),
    }
    histograms = {}
    for order, hits in (("worst", ties.fewest_hits), ("best", ties.most_hits)):
        statistics = RankStatistics.of_hits(n_ranked.to_numpy(), n_relevant, k, hits)
        values = measure_one(make_metric("precision", k), statistics, policy_of(options))
        counted = pd.Series(values).value_counts() if is_judged else UNKNOWN
        histograms[f"precision@{k}, {order}"] = counted
    return numbers, histograms


def _add_judged(
    figures: list[Figures], interactions: Interactions, k: int, options: Options
) -> None:
    """Add to figures the number of judged rows, and their share of the first k."""
    n_judged, of_scores = np.nan, [UNKNOWN] * len(figures)
    if interactions.is_judged:
        n_judged = int(np.count_nonzero(interactions.judged().rows))
        shares = share_judged(interactions, options, [k])
        of_scores = [share.value_counts() for _, share in shares.items()]
    for each, of_score in zip(figures, of_scores, strict=True):
        each.numbers[JUDGED_ROWS] = n_judged
        each.histograms[f"{JUDGED}{k}"] = of_score
