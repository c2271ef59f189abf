"""The spelling of what a message says for Python, as the command line has it."""

import ast
import re
import shlex

from recframe.cli.flags import WITHOUT
from recframe.options import DEFAULTS

BEFORE_REMEDY = re.compile("([;:] (?:else )?pass )")
ARGUMENT_VALUE = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[[^]]*\]|\.\.\.|[-+]?[\w.]+(?![\w.(])"""
FLAGS = "|".join((*DEFAULTS, "memory", "tmp", "interval", "correction", "by", "weights"))
ARGUMENT = rf"(?<![\w.'\"])({FLAGS})=({ARGUMENT_VALUE})"
ARGUMENTS = re.compile(rf"{ARGUMENT}(?:, {ARGUMENT})*")  # as in a call, which is to be pasted
ARGUMENT_WITHOUT_VALUE = re.compile(rf"(?<![\w.'\"])({'|'.join(DEFAULTS)}|tmp)= ")
READ = re.compile(r"\w*=?pd\.read_\w+\('[^']*'[^)]*\)(, or write it as parquet)?")


def spell_flags(message: str) -> str:
    """Return a message whose remedy has flags in place of the arguments of a function."""
    found, *remedy = BEFORE_REMEDY.split(message, maxsplit=1)
    call = READ.sub("it as a parquet file", remedy.pop()) if remedy else ""
    call = ARGUMENTS.sub(lambda match: re.sub(f"(?:, )?{ARGUMENT}", _flag, match[0]).strip(), call)
    call = ARGUMENT_WITHOUT_VALUE.sub(lambda match: f"{_spell(match[1])} with ", call)
    found = re.sub("^filters(?=[: ])", "--filter", found)
    return "".join([found, *remedy, call])


def _flag(match: re.Match[str]) -> str:
    """Return the flag of an argument, with a blank before it."""
    name, text = match.groups()
    flag = _spell(name)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):  # a name: of a frame, or nan
        return f" {flag} {'FILE' if name == 'truth' else text}"
    values = value if isinstance(value, list) else [value]
    return "".join(f" {_spell_one(name, flag, one)}" for one in values)


def _spell_one(name: str, flag: str, value: object) -> str:
    """Return the flag of one value."""
    if name == "ascending" or (value is None and name in WITHOUT):
        return flag if value else _spell(f"no-{name}")
    return f"{flag} ..." if value is ... else f"{flag} {shlex.quote(str(value))}"


def _spell(name: str) -> str:
    """Return the flag of a name."""
    return f"--{name.replace('_', '-')}"
