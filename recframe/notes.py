"""Notes: sentences under a table about the rows and users that it leaves out.

Code that leaves something out notes how much; the numbers of blocks and partitions add up. A
sentence names the option that changes it.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from recframe.errors import RecframeWarning, count_of
from recframe.note_kinds import KINDS, MISTAKES, Facts, join

# Sentences compare other numbers with these.
DENOMINATORS = {"rows_read", "rows_looked_up", "relevant_pairs", "users"}
SEEN = {"ranked_rows_relevant", "ranked_rows_not_relevant"}  # a note follows if only one is above 0


class Note(NamedTuple):
    """
    A fact about a table that its readers should know.

    Tables of all users (`mean`, `summary`, `compare`, `bounds`, `curve`, `catalogue`, `overlap`)
    and `top` list them as ``notes`` and show them below. Selecting and copying keep notes;
    arithmetic, transposing and reshaping give plain DataFrames.

    Parameters
    ----------
    kind : str
        The kind of the note, such as "undefined" or "cut".
    text : str
        A sentence with its numbers, and the option that changes them.
    figures : dict
        The numbers of the sentence by name, whole numbers.

    See Also
    --------
    recframe.RecAccessor.mean : A table with notes.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [3, 2, 1], "relevant": [0, 1, 0]})
    >>> df.rec.mean("auc").notes[0].figures
    {'users': 2, 'undefined:auc': 1}
    """

    kind: str
    text: str
    figures: dict[str, int]


_facts: ContextVar[Facts | None] = ContextVar("_facts", default=None)


@contextmanager
def taking_notes(facts: Facts | None = None, *, only_mistakes: bool = False) -> Iterator[Facts]:
    """Collect the numbers that the body of the `with` statement notes."""
    facts = Facts() if facts is None else facts
    facts.only_mistakes = only_mistakes
    token = _facts.set(facts)
    try:
        yield facts
    finally:
        _facts.reset(token)


def note(**numbers: int) -> None:
    """Add numbers to the facts, if somebody collects them."""
    if (facts := _facts.get()) is not None:
        facts.update(numbers)


def is_noting(*, mistakes: bool = False) -> bool:
    """Return whether somebody collects facts; otherwise extra counting would be wasted."""
    facts = _facts.get()
    return facts is not None and (mistakes or not facts.only_mistakes)


def facts_noted() -> Facts:
    """Return the facts collected so far."""
    facts = _facts.get()
    return Facts() if facts is None else facts


def list_notes(facts: Facts, options: Any = None) -> list[Note]:
    """Return the notes on some facts, mistakes first; without options they name no remedy."""
    notes, known = [], {fact: fact.partition(":")[0] for fact, n in facts.items() if n}
    noted = {*known.values()} - DENOMINATORS
    if facts["users"] < 2 or noted >= SEEN:  # a single ranking tells too little
        noted -= SEEN
    for kind, (names, sentence) in KINDS.items():
        first, *others = names.split()
        if noted.isdisjoint([first, *others]):
            continue
        if isinstance(sentence, str):
            # A block may contradict a fact of the others.
            found = facts.find(f"{first}:")
            pairs = [one for one in found if not facts[f"not_{first}:{one[0]}"]]
            if found and not pairs:
                continue
            labels, counts = [label for label, _ in pairs], [f"{n:,} by {one}" for one, n in pairs]
            numbers = [facts[name] for name in (first, *others)]
            words = {"counts": join(counts), "users": count_of(facts["users"], "user")}
            text = sentence.format(*numbers, labels=join(labels), **words)
        else:
            text = sentence(facts, options)
        if text:
            figures = {fact: facts[fact] for fact, name in known.items() if name in names.split()}
            notes.append(Note(kind, text, figures))
    return notes


def warn_of(notes: Iterable[Note], warn: Callable[..., object] = warnings.warn) -> None:
    """Warn about mistakes, at the line that called recframe."""
    for text in [one.text for one in notes if one.kind in MISTAKES]:
        frame, level = sys._getframe(), 1
        while frame.f_back and str(frame.f_globals.get("__name__")).startswith("recframe."):
            frame, level = frame.f_back, level + 1
        warn(text, RecframeWarning, stacklevel=level)
