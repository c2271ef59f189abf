"""Notes: facts about the making of a table that its readers should know, and their sentences.

Code that leaves rows or users out notes how many; figures of blocks and partitions add up. `KINDS`
has every sentence, and names the option that changes it.
"""

import re
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from recframe.errors import RecframeWarning, count_of

DROPPED, ROWS = "rows_dropped", "rows_read"
UNRANKED, SCORED = "scores_not_ranked", "scores_read"
EXCLUDED, UNJUDGED, CANDIDATES = "rows_excluded", "rows_unjudged", "rows_looked_up"
LOST, RELEVANT = "relevant_pairs_excluded", "relevant_pairs"
NEAR = "truth_pairs_written_differently"
ONLY_FRAME, ONLY_TRUTH = "users_left_out_of_frame", "users_left_out_of_truth"
USERS, SEGMENTLESS = "users", "users_without_segment"
RANKINGS, LONGER = "rankings", "rankings_longer_than_recall"
EQUAL, VARIED, BARE = "rankings_of_", "rankings_that_vary", "rankings_without_relevant_rows"
HITS, MISSES = "relevant_rows_seen", "other_rows_seen"
TIED = "lists_longer_for_ties"
# And then the metric, the score, the column, or the metric and score.
NO_VALUE, NONE_RANKED = "undefined_", "users_without_ranked_rows_"
REPEATED, DISAGREES = "repeats_in_column_", "interval_and_test_disagree_"

FEW_LONGER = 0.05  # of the rankings: the others may all be cut
N_NAMED = 3  # metrics or rows in a sentence
IN_R = "they count in R, and no row can find them"
ALIKE = (
    "but for differences in case, blanks at the ends or zeros at the front of ids; write both "
    "alike, as with .str.strip().str.casefold()"
)
# Where users have no value, by metric; all others need a relevant row.
WHY = {"auc": "no relevant row, or no other", "fall_out": "only relevant rows"}
WHY |= dict.fromkeys(("precision", "judged", "mean"), "no ranked row")


class Note(NamedTuple):
    """
    A fact about a table that its readers should know.

    Tables of all users (`mean`, `summary`, `compare`, `curve`, `catalogue`) and `top` list them as
    ``notes`` and show them below. Selecting and copying keep notes; arithmetic, transposing and
    reshaping give plain DataFrames.

    Parameters
    ----------
    kind : str
        The kind of the note, such as "undefined" or "cut".
    text : str
        A sentence with the figures and the option that changes them.
    figures : dict
        The figures by name, whole numbers.

    See Also
    --------
    recframe.RecAccessor.mean : A table with notes.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [3, 2, 1], "relevant": [0, 1, 0]})
    >>> df.rec.mean("auc").notes[0].figures
    {'users': 2, 'undefined_auc': 1}
    """

    kind: str
    text: str
    figures: dict[str, int]


class Facts(Counter[str]):
    """What was noted: numbers by name, or only those that show mistakes."""

    only_mistakes = False


_facts: ContextVar[Facts | None] = ContextVar("_facts", default=None)


@contextmanager
def taking_notes(facts: Facts | None = None, *, only_mistakes: bool = False) -> Iterator[Facts]:
    """Collect the numbers that are noted meanwhile."""
    facts = Facts() if facts is None else facts
    facts.only_mistakes = only_mistakes
    token = _facts.set(facts)
    try:
        yield facts
    finally:
        _facts.reset(token)


def note(**numbers: int) -> None:
    """Add numbers to the facts, where some are collected."""
    facts = _facts.get()
    if facts is not None:
        facts.update(numbers)


def is_noting(*, mistakes: bool = False) -> bool:
    """Return whether facts are collected, for numbers that are not counted anyway."""
    facts = _facts.get()
    return facts is not None and (mistakes or not facts.only_mistakes)


def facts_noted() -> Facts:
    """Return the facts that are collected, none where nobody collects them."""
    return _facts.get() or Facts()


def say_population(facts: Facts, options: Any) -> str:
    """Return how many users are on one side only, and left out."""
    sides = {"the frame": facts[ONLY_FRAME], "truth": facts[ONLY_TRUTH]}
    shown = " and ".join(f"{count_of(n, 'user')} of {side}" for side, n in sides.items() if n)
    return f"population={options.population!r} leaves out {shown}"


def say_cut(facts: Facts, _: Any) -> str:
    """Return how few rankings reach beyond the cut-off, so that truth may be missing."""
    n_rankings, n_longer = facts[RANKINGS], facts[LONGER]
    are_few = LONGER in facts and n_longer <= FEW_LONGER * n_rankings
    n_lengths = sum(name.startswith(EQUAL) for name in facts)
    if not are_few and (n_lengths != 1 or facts[VARIED] or not facts[BARE]):
        return ""
    longer = "no ranking is"
    if are_few and n_longer:
        longer = f"only {n_longer:,} of {n_rankings:,} rankings {'is' if n_longer == 1 else 'are'}"
    return (
        f"{longer} longer than the cut-off; if rankings were cut there, relevant items beyond it "
        "are missing, and recall, ndcg and other metrics that ask for them are too high: pass all "
        "relevant items as truth"
    )


def say_relevance(facts: Facts, options: Any) -> str:
    """Return that every ranked row is relevant."""
    if facts[USERS] < 2 or facts[MISSES]:
        return ""
    least = "" if options.min_relevance is None else f" by min_relevance={options.min_relevance}"
    return (
        f"every ranked row is relevant{least}, so precision is 1 in any order; add the rows that "
        "are not, which a merge with relevant items loses, or pass min_relevance or truth"
    )


def say_no_relevance(facts: Facts, _: Any) -> str:
    """Return that no ranked row is relevant."""
    if facts[USERS] < 2 or facts[HITS]:
        return ""
    return "no ranked row is relevant; check relevant, min_relevance, or the ids of truth"


def say_undefined(facts: Facts, options: Any) -> str:
    """Return how many users have no value in which metrics, and why."""
    labels = defaultdict[tuple[int, str], list[str]](list)
    is_nan = options is not None and options.zero_division != options.zero_division
    for label, n in find(facts, NO_VALUE):
        why = []
        if is_nan:
            why.append(WHY.get(re.split(r"[(@]", label)[0].casefold(), "no relevant row"))
        if options is not None and options.short == "nan" and "@" in label:
            why.append("fewer rows than k")
        labels[n, f" ({' or '.join(why)})" if why else ""].append(label)
    shown = [f"{n:,} in {join(names)}{why}" for (n, why), names in labels.items()]
    remedy = "; zero_division=0 counts them as 0" if is_nan else ""
    return f"of {count_of(facts[USERS], 'user')}, means leave out {', '.join(shown)}{remedy}"


def say_empty(facts: Facts, options: Any) -> str:
    """Return how many users have an empty list, by model."""
    shown = join([f"{score} ranks no row of {n:,}" for score, n in find(facts, NONE_RANKED)])
    remedy = "; population='both' leaves out users without any row" if options.has_truth else ""
    return f"{shown} of {count_of(facts[USERS], 'user')}, whose lists are empty{remedy}"


def find(facts: Facts, beginning: str) -> list[tuple[str, int]]:
    """Return the labels behind a beginning of names, and their numbers above 0."""
    found = ((name.partition(beginning), n) for name, n in facts.items() if n)
    return [(label, n) for (before, is_so, label), n in found if is_so and not before]


def join(names: list[str]) -> str:
    """Return the first names, and how many others there are."""
    shown = names[:N_NAMED] + [f"{len(names) - N_NAMED:,} more"] * (len(names) > N_NAMED)
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


class Kind(NamedTuple):
    """Facts one of which must be above 0, the sentence, other facts, and whether it warns.

    In a sentence facts stand by their names, and `labels` are those behind the first name.
    """

    when: tuple[str, ...]
    sentence: str | Callable[[Facts, Any], str]
    others: tuple[str, ...] = ()
    is_mistake: bool = False


KINDS = {
    "cut": Kind((RANKINGS, EQUAL), say_cut, (LONGER, BARE), is_mistake=True),
    "all_relevant": Kind((HITS,), say_relevance, (MISSES, USERS), is_mistake=True),
    "written_differently": Kind(
        (NEAR,), f"{{{NEAR}:,}} of the pairs of truth would match the frame {ALIKE}", (), True
    ),
    "none_relevant": Kind((MISSES,), say_no_relevance, (HITS, USERS)),
    "missing": Kind(
        (DROPPED,),
        f"missing='drop' removed {{{DROPPED}:,}} of {{{ROWS}:,}} rows, and with them their "
        "relevance",
        (ROWS,),
    ),
    "unranked": Kind(
        (UNRANKED,),
        f"missing='unranked' ranks {{{UNRANKED}:,}} of {{{SCORED}:,}} rows nowhere, but counts "
        "them in R",
        (SCORED,),
    ),
    "exclude": Kind(
        (EXCLUDED,), f"exclude removed {{{EXCLUDED}:,}} of {{{CANDIDATES}:,}} rows", (CANDIDATES,)
    ),
    "excluded_relevant": Kind(
        (LOST,),
        f"exclude holds {{{LOST}:,}} of {{{RELEVANT}:,}} relevant pairs of truth: {IN_R}",
        (RELEVANT,),
    ),
    "unjudged": Kind(
        (UNJUDGED,),
        f"unjudged='drop' removed {{{UNJUDGED}:,}} of {{{CANDIDATES}:,}} rows, which truth does "
        "not hold",
        (CANDIDATES,),
    ),
    "population": Kind((ONLY_FRAME, ONLY_TRUTH), say_population),
    "undefined": Kind((NO_VALUE,), say_undefined, (USERS,)),
    "empty": Kind((NONE_RANKED,), say_empty, (USERS,)),
    "segments": Kind(
        (SEGMENTLESS,),
        f"{{{SEGMENTLESS}:,}} of the users of truth have no row that names their segment, and are "
        "in that of nan; pass by= a Series indexed by user",
    ),
    "items": Kind(
        (REPEATED,),
        "no item column is known, so repeated items were not looked for, but {labels} repeats "
        "values within a ranking; pass item={labels} if it holds the items",
    ),
    "ties": Kind(
        (TIED,),
        f"ties at the cut make {{{TIED}:,}} of the lists longer than k; ties='first' breaks them",
    ),
    "disagreement": Kind(
        (DISAGREES,),
        "interval and p_corrected disagree on {labels}: they are different methods, and only "
        "p-values are corrected for the number of rows (option correction)",
    ),
}


def list_notes(facts: Facts, options: Any = None) -> list[Note]:
    """Return the notes that facts amount to, mistakes first; without options no remedy."""
    notes, known = [], {name: n for name, n in facts.items() if n}
    for name, (when, sentence, others, _) in KINDS.items():
        if not any(is_of(fact, when) for fact in known):
            continue
        if isinstance(sentence, str):
            labels = join([label for label, _ in find(facts, when[0])])
            text = sentence.format(labels=labels, **facts)
        else:
            text = sentence(facts, options)
        if text:
            figures = {fact: n for fact, n in known.items() if is_of(fact, (*when, *others))}
            notes.append(Note(name, text, figures))
    return notes


def is_of(fact: str, names: tuple[str, ...]) -> bool:
    """Return whether a fact has one of these names, or begins with one that ends with _."""
    return any(fact == name or (name[-1] == "_" and fact.startswith(name)) for name in names)


def is_mistake(note: Note) -> bool:
    """Return whether a note is of what is almost surely a mistake, of which users are warned."""
    return KINDS[note.kind].is_mistake


def warn_of(notes: Iterable[Note], warn: Callable[..., object] = warnings.warn) -> None:
    """Warn of mistakes at the line that called recframe."""
    for each in filter(is_mistake, notes):
        frame, level = sys._getframe(), 1
        while frame.f_back and str(frame.f_globals.get("__name__")).startswith("recframe."):
            frame, level = frame.f_back, level + 1
        warn(each.text, RecframeWarning, stacklevel=level)
