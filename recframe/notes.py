"""Notes: how much was left out while a table was made, which whoever reads its means should know.

What takes rows away notes it wherever it does so; aggregates collect the notes of one table and say
them once, and nobody else asks for them.
"""

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from recframe.errors import RecframeWarning, count_of

DROPPED, ROWS = "rows_dropped", "rows_read"
LOST, RELEVANT = "relevant_pairs_excluded", "relevant_pairs"
NEAR = "truth_pairs_written_differently"
RANKINGS, LONGER = "rankings", "rankings_longer_than_recall"
NO_VALUE = "undefined_"  # and then the metric
NONE_RANKED = "users_without_ranked_rows_"  # and then the score
_notes: ContextVar["Counter[str] | None"] = ContextVar("_notes", default=None)


@contextmanager
def taking_notes() -> Iterator["Counter[str]"]:
    """Collect what is noted meanwhile, as numbers by their names."""
    notes = Counter[str]()
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def note(**numbers: int) -> None:
    """Add numbers to the notes, where some are taken."""
    notes = _notes.get()
    if notes is not None:
        notes.update(numbers)


def is_noting() -> bool:
    """Return whether notes are taken, for what is not counted anyway."""
    return _notes.get() is not None


def number_noted(name: str) -> int:
    """Return what the notes that are taken add up to, 0 where there is nothing of the name."""
    return (_notes.get() or Counter())[name]


def say_notes(notes: Mapping[str, int]) -> list[str]:
    """Return the notes as sentences."""
    sentences = []
    if n_dropped := notes.get(DROPPED, 0):
        n_rows = notes[ROWS]
        sentences.append(
            f"missing='drop' removed {n_dropped:,} of {n_rows:,} rows ({n_dropped / n_rows:.0%}), "
            "and with them their relevance"
        )
    if n_lost := notes.get(LOST, 0):
        sentences.append(
            f"exclude holds {n_lost:,} of {notes[RELEVANT]:,} relevant pairs of truth: they count "
            "in R, and no row can find them"
        )
    if n_near := notes.get(NEAR, 0):
        sentences.append(
            f"{count_of(n_near, 'pair')} of truth would match the frame but for differences in "
            "case, blanks at the ends or zeros at the front of ids; write both alike, as with "
            ".str.strip().str.casefold()"
        )
    if notes.get(RANKINGS, 0) and not notes[LONGER]:
        sentences.append(
            "no ranking is longer than the cut-off of recall, so recall is 1 for every user "
            "with a relevant row; if rankings were cut off there, pass all relevant items as truth"
        )
    for name, n_users in notes.items():
        if name.startswith(NONE_RANKED):
            sentences.append(
                f"{name.removeprefix(NONE_RANKED)} ranks no row of {count_of(n_users, 'user')}, "
                "whom others rank: an empty list, which counts in its means"
            )
        if name.startswith(NO_VALUE):
            sentences.append(
                f"{name.removeprefix(NO_VALUE)} is undefined for {count_of(n_users, 'user')} with "
                "relevant rows, so its mean covers fewer users than the others"
            )
    return sentences


@contextmanager
def warning_of_notes(stacklevel: int = 6) -> Iterator[None]:
    """Warn of what is noted meanwhile, once for each kind, at the line of a public call."""
    with taking_notes() as notes:
        yield
    for sentence in say_notes(notes):
        warnings.warn(sentence, RecframeWarning, stacklevel=stacklevel)
