"""All questions that a call leaves open, asked in one refusal with a call that answers them."""

import inspect
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from recframe.errors import Choice, RecframeError, quote
from recframe.frames.names import is_same
from recframe.options import CHOICES, DEFAULTS, Options, list_changed, spell_arguments
from recframe.public_calls import raise_of_handler

MOST_ASKED = 10
WRITTEN = (str, int, float, list, tuple, range, type(None))  # shown as values, all else by name
ONCE = (Iterator, pa.RecordBatchReader)  # arguments that a call uses up
GRADE = "another grade: the lowest that is relevant"


class Asked(NamedTuple):
    """The accessor of a refused call, as questions see it.

    `takes` are the options that it takes as answers, and `answer` returns it with some. `code` is
    its code in the call to paste, "" without a name; `made` is the code of options that are tables.
    """

    accessor: Any
    options: Options
    takes: Set[str]
    answer: Callable[[Mapping[str, Any]], Any]
    code: str
    made: Mapping[str, str]


def ask_all(
    error: RecframeError,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    asked: Asked | None = None,
) -> None:
    """Add to the refusal of a call all other open questions, and the call that answers them.

    The call is repeated with an answer to each question until it asks no more, so the call shown
    has been tried. A question that no option answers comes last. A method's call has its accessor
    as `asked`. If that has no name, as on the command line, no call is shown.
    """
    takes = DEFAULTS.keys() if asked is None else asked.takes
    is_used_up = any(isinstance(one, ONCE) for one in (*args, *kwargs.values()))
    if error.answers.keys() <= takes and not is_used_up:
        questions = Questions(error, function, args, kwargs, asked)
        questions.find_more(takes)
        answers = questions.answers.items()
        error.answers = {name: one for name, one in answers if name not in questions.dependent}
        error.args = ("\n".join(questions.list_lines()),)


class Questions:
    """The questions that a call leaves open, and an option that answers each.

    `asked` is the accessor of a method's call, None for a function; `bound` is the accessor with
    the answers, None if it cannot be shown. `dependent` are the names of answers that are right
    only with a candidate that was tried for a choice of the caller. The search `is_done` after a
    question that no new option answers, and `is_cut` before one that another choice would not
    raise.
    """

    def __init__(
        self, error: RecframeError, function: Any, args: Any, kwargs: Any, asked: Asked | None
    ) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.asked = self.bound = asked
        self.messages, self.answers = [str(error)], dict(error.answers)
        self.dependent, self.is_done, self.is_cut = set[str](), False, False

    @property
    def choices(self) -> dict[str, Choice]:
        """The answers that only the caller knows."""
        return {name: one for name, one in self.answers.items() if isinstance(one, Choice)}

    def find_more(self, takes: Set[str]) -> None:
        """Repeat the call with answers that it `takes` until it asks nothing new."""
        while not (self.is_done or self.is_cut) and len(self.messages) < MOST_ASKED:
            choices = self.choices
            of_lists = {"lists", "item", "model"}.intersection(choices)
            if "lists" in self.answers and of_lists:
                self.bound = None  # The call would show a column that was only tried.
                return
            if not all(one.candidates for one in choices.values()):
                return  # A choice without candidates cannot be tried.
            tried = self._pick()
            error = self._try(self.answers | tried)
            if not isinstance(error, RecframeError):
                return  # The call shown raises any other error again.
            self._add(error, tried, takes)

    def _pick(self, other: str = "") -> dict[str, Any]:
        """Return the first candidate of each choice, the second of one; no column has two roles."""
        picked = dict[str, Any]()
        for name, one in sorted(self.choices.items(), key=lambda choice: len(choice[1].candidates)):
            labels = one.candidates
            if name == other:
                labels = labels[1:] or ([None] if name == "user" else labels)
            picked[name] = next((one for one in labels if one not in picked.values()), labels[0])
        return picked

    def _depends_on(self, name: str, tried: Mapping[str, Any], error: RecframeError) -> bool:
        """Return whether another candidate for a choice would not raise this refusal."""
        others, bound = self._pick(name), self.bound
        if is_same(others[name], tried[name]):
            return quote(tried[name]) in str(error)
        answers = {one: self.answers[one] for one in self.answers if one not in self.dependent}
        other = self._try(answers | others)
        self.bound = bound
        return str(other) != str(error)

    def _try(self, answers: Mapping[str, Any]) -> Exception | None:
        """Repeat the call with answers; return the error that it raises, None if it succeeds."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if self.asked is None:
                    self.function(*self.args, **{**self.kwargs, **answers})
                else:
                    self.bound = None  # It stays None if lists cannot be made rows.
                    self.bound = self.asked.answer(answers)
                    self.function(self.bound.accessor, *self.args[1:], **self.kwargs)
        except Exception as error:
            raise_of_handler(error)
            return error
        return None

    def _add(self, error: RecframeError, tried: Mapping[str, Any], takes: Set[str]) -> None:
        """Add the question of a refusal and its answers, unless it asks about a column only tried.

        If the only candidate of a choice raises it, its answers depend on the choice.
        """
        choices = self.choices
        depends = [one for name, one in choices.items() if self._depends_on(name, tried, error)]
        better = error.answers.keys() & choices.keys()
        if depends and error.answers and all(one.is_lone for one in depends):
            self.dependent.update(error.answers.keys() - choices.keys())
        elif depends and not better:
            self.is_cut = True
            return
        is_answered = error.answers.items() <= self.answers.items()
        is_known = is_answered or str(error) in self.messages
        self.is_done = is_known or not error.answers.keys() <= takes
        if not self.is_done:
            self.answers |= error.answers
            # The columns of another frame are no candidates in this one.
            for name in better if "df" not in error.answers else ():
                one = choices[name]
                self.answers[name] = one._replace(candidates=[error.answers[name], *one.candidates])
        others = [one for one in self.messages if one != str(error)]
        self.messages = [*others, str(error)]

    def list_lines(self) -> list[str]:
        """Return all questions, and the call with answers if several are open."""
        bound, lines = self.bound, self.messages
        if len(lines) > 1:
            numbered = [f"{number}. {one}" for number, one in enumerate(lines, 1)]
            lines = [f"{len(lines)} questions are open:", *numbered]
        elif bound is None or not ((bound.made and "sep" in self.answers) or "df" in self.answers):
            return lines  # Only a call says that another frame is evaluated.
        is_left_out = self.is_cut or bool(self.dependent)
        if self.asked is not None and not (bound and bound.code):
            lines += ["The last question stays open."] * self.is_done
            return [*lines, *["Questions that depend on a choice come next."] * is_left_out]
        but, choice = " but the last" * self.is_done, ", with your choice in place of ..."
        after = ", and what depends on it is asked next" * is_left_out
        first = f"This answers all{but}{choice * bool(self.choices)}{after}:"
        return [*lines, first, *self._spell_call()]

    def _spell_call(self) -> list[str]:
        """Return the lines of a call with answers, with the other choices as comments."""
        bound, parameters = self.bound, inspect.signature(self.function).parameters
        made: Mapping[str, str] = {} if bound is None else bound.made
        options, lines = self._list_options(), list[str]()
        for name, spelled in zip(options, spell_arguments(options), strict=True):
            text = f"{name}={made[name]}" if name in made else spelled
            is_choice = isinstance(options[name], Choice)
            is_new = name in self.answers and (is_choice or name not in parameters)
            others = _say_others(name, self.answers[name]) if is_new else ""
            mark = "" if not others else "  # " if is_choice else "  # or "
            lines.append(f"    {text},{mark}{others}")
        texts = [write(*one) for one in zip(parameters, self.args, strict=False)]
        texts = texts[bound is not None :]
        named = [one for one in self.kwargs.items() if one[0] not in DEFAULTS]
        texts += [f"{name}={write(name, value)}" for name, value in named]
        name, written = self.function.__name__, ", ".join(texts)
        if bound is None:
            lines = [f"recframe.{name}(", *([f"    {written},"] if written else []), *lines, ")"]
        else:
            tail = "" if name == "__call__" else f".{name}({written})"
            lines = [f"{bound.code}(", *lines, f"){tail}"] if lines else [f"{bound.code}{tail}"]
        frames = [name for name, one in options.items() if isinstance(one, pd.DataFrame)]
        of_call = [one for one in texts if one in parameters] if bound is None else []
        frames = [*(["df"] if re.search(r"\bdf\b", lines[0]) else []), *of_call, *frames]
        return [f"# {' and '.join(frames)}: as your call has them"] * bool(frames) + lines

    def _list_options(self) -> dict[str, Any]:
        """Return the options of the call with answers; `bound` has all but the choices."""
        passed = self.kwargs if self.bound is None else list_changed(self.bound.options)
        known = {**passed, **(self.answers if self.bound is None else self.choices)}
        wanted = [name for name in DEFAULTS if name in known and name not in self.dependent]
        return {name: known[name] for name in wanted}


def _say_others(name: str, answer: Any) -> str:
    """Return the other values that may answer a question, for a comment."""
    if isinstance(answer, bool):
        return str(not answer)
    if isinstance(answer, Choice):
        return str(answer)
    if name == "min_relevance":
        return GRADE
    return ", ".join(repr(one) for one in CHOICES.get(name, ()) if one not in ("raise", answer))


def write(name: str, value: Any) -> str:
    """Return an argument as code: a plain value by its repr, all else by its name."""
    value = os.fspath(value) if isinstance(value, os.PathLike) else value
    return quote(value) if isinstance(value, WRITTEN) else name
