"""The parser of the command line, and functions that read single arguments."""

import argparse
import math
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from recframe.console import USAGE, one_line, show, write
from recframe.conventions import name_map_at_k, read_library_names
from recframe.errors import TEXT_ANSWERS, Choice, RecframeError, as_text, find_near, quote
from recframe.files.filters import Quoted, Written
from recframe.metrics.names import QUOTED, describe_metrics, find_map_at, parse_metric, settle_map
from recframe.other_tables import Term
from recframe.stores import expand_path, find_ending

METRICS_HERE = "{metrics}"  # The definitions of metrics stand for it in a help.
METRIC_FLAGS = ("-m", "--metric", "--metrics")
OPEN_WORDS = {"truth": "FILE", "min_relevance": "NUMBER"}  # for answers that are open
BRACKETS = rf"""\((?:{QUOTED}|[^()"'])*\)"""
LIKE_METRIC = re.compile(rf"\w+({BRACKETS})?(@\w+|\.\d+)?")
NAME = re.compile(rf"((?:{BRACKETS}|[^,])*)(?:,|$)", re.DOTALL)  # up to a comma not in brackets
FILTER_VALUE = rf"""(?:{QUOTED}|[^\s()"',=!<>][^\s()"',]*)"""
TERM = re.compile(
    rf"""({QUOTED}|[^\s()"'=!<>]+)\s*(==|=|!=|<=|<|>=|>|\bnot\s+in\b|\bin\b)\s*"""
    rf"""({FILTER_VALUE}|\(\s*{FILTER_VALUE}(?:\s*,\s*{FILTER_VALUE})*\s*\))"""
)


class LinesFormatter(argparse.RawDescriptionHelpFormatter):
    """A formatter that keeps the lines of a help text, such as one for each choice."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        """Return the lines of a help text, folded to a width."""
        fold = super()._split_lines  # Python 3.11 has no super() in comprehensions
        return [line for one in text.split("\n") for line in fold(one, width)]


class Parser(argparse.ArgumentParser):
    """A parser whose help and errors reach closed and narrow streams too."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options["formatter_class"] = LinesFormatter
        super().__init__(*args, **options)
        self.color = False  # Python 3.14 colours the help, but `show` escapes control characters

    def format_help(self) -> str:
        """Return the help, with the definitions of metrics if its end asks for them."""
        if self.epilog and METRICS_HERE in self.epilog:  # Only a help needs them.
            self.epilog = self.epilog.replace(METRICS_HERE, describe_metrics())
        return super().format_help()

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print the help or the version."""
        show(message.rstrip("\n"))

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Return the value of a word, or raise with the message of the argument's type."""
        try:
            return action.type(arg_string) if callable(action.type) else arg_string
        except (ValueError, OverflowError) as error:
            raise argparse.ArgumentError(action, str(error)) from error

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the arguments; exit at an unknown flag and suggest the nearest one."""
        known, rest = super().parse_known_args(args, namespace)
        flag = next((word.partition("=")[0] for word in rest if word.startswith("--")), "")
        flags = {one.lstrip("-"): one for one in self._option_string_actions}
        if flag and (near := find_near(flag.lstrip("-"), flags)):
            self.error(f"unrecognized arguments: {flag}; did you mean {flags[near[0]]}?")
        if rest and not rest[0].startswith("-"):
            self.error(f"unrecognized arguments: {' '.join(rest)}. Repeat a flag for each value.")
        return known, rest

    def spell_refusal(self, words: Sequence[str], error: RecframeError) -> str:
        """Return the message of a refusal, and the command of these words with its answers.

        The flag of an answer replaces those of the same option; one without a flag is left out.
        """
        actions = self._option_string_actions
        answers = {
            name: None if one == Choice([None]) else one
            for name, one in error.answers.items()
            if as_flag(name) in actions and one != Choice([])
        }
        text = str(error)
        if not error.answers.keys().isdisjoint(TEXT_ANSWERS):
            text += (
                "\nNo flag converts ids. In Python, recframe.read_qrels reads ids of TREC files "
            )
            text += "as text; of other files, write ids alike, all as text or all as numbers."
        if not answers or "df" in error.answers:
            return text
        others, is_value = list[str](), False
        for word in words:
            flag, equals, _ = word.partition("=")
            action = actions.get(flag)
            is_answered = action is not None and action.dest.removeprefix("no_") in answers
            others += [] if is_answered or is_value else [word]
            is_value = action is not None and is_answered and not equals and action.nargs != 0
        command = shlex.join([*others, *spell_flags(answers)])
        choices = {name: one for name, one in answers.items() if isinstance(one, Choice)}
        comment = "; ".join(map(self._spell_choice, choices, choices.values()))
        return f"{text}\nAs flags: {command}{f'  # {comment}' if comment else ''}"

    def _spell_choice(self, name: str, choice: Choice) -> str:
        """Return the candidates of an option for a comment, None as a flag of its own."""
        none = as_flag(f"no_{name}")
        if None in choice.candidates and none in self._option_string_actions:
            labels = [label for label in choice.candidates if label is not None]
            choice = Choice(labels, " or ".join(filter(None, [choice.others, none])))
        return f"{as_flag(name)}: {choice}"

    def error(self, message: str) -> NoReturn:
        """Write the usage and the error to standard error, and exit."""
        with suppress(OSError):
            usage = f"{self.format_usage()}{self.prog}: error: "
            write(sys.stderr, f"{usage}{one_line(message)}\n")
        self.exit(USAGE)


class _Files(argparse.ArgumentParser):
    """A parser without arguments of its own, which replaces @FILE by the words in the file."""

    def convert_arg_line_to_args(self, arg_line: str) -> list[str]:
        """Return the words of a line, quoted as in a shell."""
        if "\0" in arg_line:
            raise ValueError("it has a null character")
        # Notepad of Windows begins a file with a mark of the byte order.
        return shlex.split(arg_line.removeprefix("\ufeff"), comments=True)

    def error(self, message: str) -> NoReturn:
        """Raise if a file cannot be read."""
        raise ValueError(message)


def as_flag(name: str) -> str:
    """Return the flag of an option."""
    return f"--{name.replace('_', '-')}"


def spell_flags(options: Mapping[str, object]) -> list[str]:
    """Return options as words of a command line."""
    words = list[str]()
    for name, values in options.items():
        for value in values if isinstance(values, list) else [values]:
            flag, text = as_flag(name), as_text(value)
            if value is None or isinstance(value, bool):
                words.append(flag if value else as_flag(f"no_{name}"))
            elif isinstance(value, Choice):
                words += [flag, OPEN_WORDS.get(name, "COLUMN")]
            else:
                words += [f"{flag}={text}"] if text.startswith("-") else [flag, text]
    return words


def expand_words(words: Sequence[str]) -> list[str]:
    """Return the words with @FILE replaced, and with a flag of its own before each metric."""
    try:
        expanded = _Files(fromfile_prefix_chars="@", add_help=False).parse_known_args(words)[1]
    except (ValueError, RecursionError) as error:  # A file may name itself.
        raise RecframeError(
            f"a file of options must be text, as a shell reads it ({error}); a path that begins "
            "with @ is written ./@path"
        ) from error
    # With a flag before each metric, argparse takes no path after them for a metric.
    words, is_first, is_next = [], False, False
    for word in expanded:
        read = read_trec_metrics if expanded[0] == "trec" else read_metrics
        if is_next and not is_first and _names_metric(word, read):
            words.append(METRIC_FLAGS[0])
        else:
            is_next = is_first or word.partition("=")[0] in METRIC_FLAGS
        words.append(word)
        is_first = word in METRIC_FLAGS
    return words


def _names_metric(word: str, read: Callable[[str], list[str]]) -> bool:
    """Return whether a word after a metric is another metric; raise if it is no path either."""
    try:
        read(word)
    except RecframeError as error:
        if LIKE_METRIC.fullmatch(word) and not Path(word).exists():
            raise RecframeError(f"{word} is no file; {error}") from error
        return False
    return True


def read_metrics(text: str) -> list[str]:
    """Return the labels of the metrics in a text, which commas separate.

    A label such as "map@10" stays, for `like` to settle.
    """
    names = [name.strip() for name in NAME.findall(text.strip().strip(","))]
    names = names[:-1] or names  # the pattern also matches the empty text at the end
    return [name if find_map_at(name) else parse_metric(name).label for name in names]


def read_trec_metrics(text: str) -> list[str]:
    """Return the labels of the metrics in a text, which may use trec_eval's names too.

    A number between commas is another cut-off: "P.5,10,map" is P.5, P.10 and map.
    """
    trec = {one.name: one.metric for one in read_library_names() if one.library == "trec_eval"}
    labels, map_at_k = list[str](), name_map_at_k("trec_eval")
    for name in re.sub(r",(?=\d+(,|$))", "\0", text).split(",") if "(" not in text else [text]:
        match = re.fullmatch(r"\s*(\w+?)(?:[._](\d+(?:\0\d+)*))?\s*", name)
        base, ks = match.groups() if match else (name, None)
        label = trec.get(f"{base}_k" if ks else base, "").removesuffix("@k")
        labels += [f"{label}@{k}" for k in ks.split("\0")] if label and ks else [label]
        others = [] if label else read_metrics(name.replace("\0", ","))
        labels += [settle_map(one, map_at_k) for one in others]
    return [label for text in filter(None, labels) for label in read_metrics(text)]


def read_number(text: str) -> float:
    """Return the number in a text; integers stay exact."""
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        raise RecframeError(f"must be a number, but is {quote(text)}") from None
    if text.endswith("%"):
        raise RecframeError(f"must be a number, but is {text!r}. Pass {number / 100:g}.")
    if math.isinf(number) and "inf" not in text.lower():
        raise RecframeError(f"must be a number that floats can hold, but is {text!r}")
    try:
        return int(text)
    except ValueError:
        return number


def read_checked(make: Callable[..., object], name: str, text: str) -> object:
    """Return the number in a text, or raise the error of `make` for the argument with this name."""
    number = read_number(text)
    make(**{name: number})
    return number


def read_integer(text: str) -> int | str:
    """Return the integer in a text of digits, or any other text unchanged."""
    return int(text) if text.isdecimal() and len(text) < 20 else text  # int() has a limit of digits


def refuse_k(text: str) -> NoReturn:
    """Raise the error for -k: a cut-off belongs to the metric's name."""
    raise RecframeError(f"the cut-off is a part of the metric: --metric recall@{text}")


def read_target(endings: Sequence[str], text: str) -> str:
    """Return the path of a file to write, or raise if its ending names no format."""
    path = expand_path(text)
    if find_ending(path) not in endings:
        raise RecframeError(f"must end in {' or '.join(endings)}, but is {quote(text)}")
    return path


def read_term(text: str) -> Term:
    """Return the condition on rows in a text; its values get the column's type later."""
    match = TERM.fullmatch(text.strip())
    if match is None:
        raise RecframeError(
            "must be COLUMN OPERATOR VALUE, such as 'day >= 2026-11-01' or 'country in (NL, BE)', "
            "with one of = != < <= > >= in, not in, and quotes around spaces, but is "
            f"{quote(text)}"
        )
    operator, operand = " ".join(match[2].split()), match[3]
    name, *values = [
        Quoted(one[1:-1].replace(2 * one[0], one[0])) if re.fullmatch(QUOTED, one) else Written(one)
        for one in (match[1], *re.findall(FILTER_VALUE, operand))
    ]
    takes_several = operator.endswith("in")
    if takes_several != operand.startswith("("):
        takes = "values in brackets, as (1, 2)" if takes_several else "one value"
        raise RecframeError(f"{quote(text)}: {operator} takes {takes}")
    return str(name), operator, values if takes_several else values[0]
