"""The exceptions of recframe, and functions that format values for messages."""

import os
import re
import reprlib
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any, NamedTuple, TypeGuard

import numpy as np

MAX_QUOTED = 300  # characters of one value
MOST_CANDIDATES = 12  # a message lists no more of them for one role
# Parts of a URI that may be secret. A password may have a slash.
USER = re.compile(r"([\w+.-]+)://([^\s'\"/@:\[]*(?::(?!\d+/)[^\s'\"@]*)?)@")
QUERY = re.compile(r"\?[A-Za-z_][\w.%-]*=")  # any other question mark belongs to a glob pattern
_QUERY = re.compile(rf"(://.*?){QUERY.pattern}[^\s'\"]*")
_WEB_QUERY = re.compile(r"(https?://[^'\"?]*\?)[^\s'\"]+")
_WEB_FRAGMENT = re.compile(r"(https?://(?:(?!: )[^'\"#])*#)[^\s'\"]+")
# Libraries raise these for damaged data, besides exceptions of their own.
DAMAGE = ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError
TEXT_ANSWERS = ("as_text", "items_as_text")  # answers that make text of ids; no options
MISSPELT = 0.7  # names of metrics less alike than this differ: "rbo" and "rbp"
_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = MAX_QUOTED
_REPR.maxlist = _REPR.maxtuple = _REPR.maxdict = _REPR.maxset = 12


def quote(value: object) -> str:
    """Return the repr of a value on one line, cut if it is long."""
    if value is ...:  # A pasted call has it where the caller has to choose.
        return "... (it stands for your choice)"
    if isinstance(value, np.number):
        value = value.item()
    try:
        text = _REPR.repr(value)
    except Exception:  # an integer with too many digits, or a class whose repr fails
        text = f"<{type(value).__name__} that cannot be shown>"
    return shorten(text)


class Choice(NamedTuple):
    """An answer that only the caller can choose: the candidates, and words for other values."""

    candidates: list[Any]
    others: str = ""

    @property
    def is_lone(self) -> bool:
        """Whether one candidate is not None."""
        return len([one for one in self.candidates if one is not None]) == 1

    def __str__(self) -> str:
        """Return the candidates as a list in words."""
        shown = [quote(one) for one in self.candidates[:MOST_CANDIDATES]]
        shown += ["…"] * (len(self.candidates) > MOST_CANDIDATES)
        return " or ".join(filter(None, (", ".join(shown), self.others)))


class MadeFrame(NamedTuple):
    """An answer that is another frame: its code, in which df is the frame, and its function."""

    code: str
    make: Callable[[Any], Any]


def hide(text: str) -> str:
    """Return a text without the secrets of its URIs: user, password, query and fragment."""
    if "://" not in text:
        return text
    text = _WEB_FRAGMENT.sub(r"\1…", USER.sub(_hide_user, text))
    return _WEB_QUERY.sub(r"\1…", _QUERY.sub(r"\1?…", text))


def _hide_user(match: re.Match[str]) -> str:
    """Return the beginning of a URI without its user; abfs has a container there, which stays."""
    scheme, user = match.groups()
    return match[0] if scheme in ("abfs", "abfss") and ":" not in user else f"{scheme}://"


def find_near(name: object, names: Iterable[object], least: float = 0.6) -> list[str]:
    """Return a list with the one text that is most like a name; it is empty if none is alike."""
    # The search is slow for long texts.
    if not isinstance(name, str) or len(name) > MAX_QUOTED:
        return []
    import difflib  # only refusals need it

    return difflib.get_close_matches(name, [one for one in names if isinstance(one, str)], 1, least)


def as_text(value: object) -> str:
    """Return a value as text that any display can encode."""
    try:
        return str(value).encode("utf-8", "backslashreplace").decode()
    except Exception:  # a class whose str fails
        return quote(value)


def is_number(value: object, kind: type = Real) -> TypeGuard[Any]:
    """Return whether a value is a number; booleans and timedeltas are not."""
    is_timedelta = getattr(getattr(value, "dtype", None), "kind", "") == "m"  # NumPy's is an int
    return isinstance(value, kind) and not isinstance(value, bool) and not is_timedelta


def check_choice(
    name: str, value: object, choices: Collection[str], required: str = "one of"
) -> None:
    """Raise unless the value of an argument is one of its choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise RecframeError(f"{name} must be {required} {listed}, but is {quote(value)}")


def show_path(path: object) -> str:
    """Return a path on one line for a message; a long one loses its middle."""
    return shorten(as_text(path), n_last=MAX_QUOTED // 2)


def unreadable(path: object, reason: object, act: str = "read") -> "RecframeError":
    """Return the refusal of a path that cannot be read, or cannot be written."""
    return RecframeError(f"cannot {act} {show_path(path)}: {reason}")


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type."""
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def shorten(text: str, n_last: int = 0) -> str:
    """Return a text on one line; a long one keeps its beginning and last `n_last` characters."""
    if not text.isprintable():
        text = printable(" ".join(text.split()))
    text = hide(text)
    if len(text) <= MAX_QUOTED:
        return text
    return f"{text[: MAX_QUOTED - 1 - n_last]}…{text[len(text) - n_last :]}"


def printable(text: str) -> str:
    """Return text with control characters written as Python escapes; lines stay."""
    return "".join(one if one.isprintable() or one == "\n" else repr(one)[1:-1] for one in text)


def count_of(number: int, noun: str) -> str:
    """Return a number and its noun, such as "1 user" or "2,000 users"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class RecframeError(ValueError):
    """
    Raised when an argument or the data cannot be evaluated as asked.

    The message names the requirement, the value at fault and the remedy. The traceback ends at the
    call of recframe. To see all of it and its cause, set the environment variable
    ``RECFRAME_TRACEBACK`` to "full" (at any time before the error, in a notebook with
    ``os.environ``), or use Python's development mode.

    Parameters
    ----------
    message : str, default ""
        The text of the message.
    answers : dict, default None
        Options, by name, that avoid this refusal; `Choice` for one that the caller has to choose,
        from its `candidates`.

    See Also
    --------
    MissingColumnError : The special case of a missing column.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> pd.DataFrame({"user": [1], "score": [0.5], "relevant": [1]}).rec.recall(k=0)
    Traceback (most recent call last):
    recframe.errors.RecframeError: k must be an integer of 1 or more, but is 0
    """

    def __init__(self, message: str = "", answers: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.answers = dict(answers or {})

    def _render_traceback_(self) -> list[str]:
        """Return the lines of the traceback that IPython shows, cut at the caller."""
        shell: Any = sys.modules["IPython"].get_ipython()
        shown, caller = self.__traceback__, self.__traceback__
        while caller is not None and (last := caller.tb_next) is not None:
            is_hidden = last.tb_next is None and "__tracebackhide__" in last.tb_frame.f_locals
            if is_hidden and not is_whole():
                caller.tb_next = None
            caller = caller.tb_next
        lines: list[str] = shell.InteractiveTB.structured_traceback(type(self), self, shown)
        return lines


class RecframeWarning(UserWarning):
    """
    Warns that the data very likely have a mistake.

    Each call warns once about each mistake. Lazy tables of Dask and Spark warn when they
    are computed. Other facts are notes.

    * Lists are cut at k without truth.
    * Every ranked row is relevant.
    * Ids of truth or exclude match except for case, spaces, zeros, .0 or their Unicode form.
    * Models rank different users, as in an A/B test.
    * Scores are 1 to n for each user, as ranks are, in 60 rows or more without `ascending`.
    * Scores rise down the rows of every user without `ascending`, as distances do.
    * Scores are 0 or 1, as classes are.
    * Rows of the lowest score are all relevant, as after an outer merge and ``fillna(0)``.
    * Each user has one row.

    See Also
    --------
    Note : A fact about a table of all users.

    Examples
    --------
    >>> import pandas as pd, recframe, warnings
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [3, 2, 1], "relevant": [1, 1, 1]})
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     values = df.rec.precision(1)
    >>> str(said[0].message)[:29]
    'every ranked row is relevant,'
    """


class MissingColumnError(RecframeError, KeyError):
    """
    Raised when the frame lacks a required column.

    It is also a `KeyError`, which pandas raises for a missing column.

    Parameters
    ----------
    message : str, default ""
        The text of the message.
    answers : dict, default None
        Options, by name, that avoid this refusal.

    See Also
    --------
    RecframeError : The base of every refusal.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> pd.DataFrame({"user": [1], "score": [0.5], "relevant": [1]}).rec(user="usr").recall(k=1)
    Traceback (most recent call last):
    recframe.errors.MissingColumnError: user='usr': no such column; the frame has 'user', 'score',
    'relevant'; did you mean 'user'?
    """

    # KeyError prints the repr of its message; this prints the sentence itself.
    __str__ = Exception.__str__


class RepeatedPairError(RecframeError):
    """
    Raised when rows repeat the user and item of another row, and `duplicates` is "raise".

    Such a frame may hold several models, days or sessions, each with a ranking of its own.

    Parameters
    ----------
    message : str
        The text of the message.
    found : str, default ""
        The first part of the message, without the remedy.
    user, item : object, default None
        The ids of one pair.
    answers : dict, default None
        Options, by name, that avoid this refusal.

    See Also
    --------
    RecframeError : The base of every refusal.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> rows = {"item": ["a", "a"], "score": [0.9, 0.5], "relevant": [1, 1], "model": ["x", "y"]}
    >>> pd.DataFrame({"user": 1, **rows}).rec.recall(k=1)
    Traceback (most recent call last):
    recframe.errors.RepeatedPairError: each combination of 'user' and 'item' must occur once, but
    1 of 2 rows repeat another (such as user 1, item 'a'). The column 'model' tells them apart
    (such as 'y' and 'x'): pass model='model' to evaluate each of its values as a model. Otherwise
    pass duplicates='max', model=None for the best of each pair, or duplicates='keep', model=None
    to count every row.
    """

    def __init__(
        self,
        message: str,
        found: str = "",
        user: object = None,
        item: object = None,
        answers: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, answers)
        self.found, self.user, self.item = found, user, item


class WrongTypeError(RecframeError, TypeError):
    """
    Raised when an argument has a wrong type, or a call takes none of its name.

    It is also a `TypeError`, which Python raises for such a call.

    Parameters
    ----------
    message : str, default ""
        The text of the message.
    answers : dict, default None
        As in `RecframeError`.

    See Also
    --------
    RecframeError : The base of every refusal.

    Examples
    --------
    >>> from recframe.metrics import recall
    >>> recall("ab", ["a"])
    Traceback (most recent call last):
    recframe.errors.WrongTypeError: recommended must be a list or an array, but is 'ab'
    """


@contextmanager
def prefix_errors(name: str) -> Iterator[None]:
    """Put the name of an argument before the message of a refusal."""
    try:
        yield
    except RecframeError as error:
        say_where(f"{name}: ", error)
        raise


def say_where(where: str, error: RecframeError) -> None:
    """Put the place of an error before its message."""
    error.args = (f"{where}{error}",)


def is_whole() -> bool:
    """Return whether the user asked for complete tracebacks."""
    return sys.flags.dev_mode or os.environ.get("RECFRAME_TRACEBACK") == "full"
