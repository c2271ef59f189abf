"""Values as texts of the command line give them; what is refused is wrong usage."""

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from recframe.errors import RecframeError, quote
from recframe.files.budget import check_memory
from recframe.metrics.names import check_k
from recframe.options import CHOICES, SEVERAL, make_options
from recframe.stores.access import Address, is_uri, without_file

FILES = ("truth", "exclude")


def as_usage(read: Callable[[str], object]) -> Callable[[str], object]:
    """Return a reader of an argument whose refusals argparse reports as wrong usage."""

    def reader(text: str) -> object:
        try:
            return read(text)
        except (ValueError, OverflowError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return reader


def read_number(text: str) -> float:
    """Return the number that a text means; whole numbers stay exact."""
    number = float(text)
    if math.isinf(number) and "inf" not in text.lower():
        raise RecframeError(f"must be a number that floats can hold, found {text!r}")
    try:
        return int(text)
    except ValueError:
        return number


def read_k(text: str) -> int:
    """Return the cut-off that a text means."""
    return check_k(int(text) if text.isdecimal() and len(text) < 20 else text)


def read_items(text: str) -> int | str:
    """Return the number of items that a text means, or the path of their file."""
    return int(text) if text.isdecimal() and len(text) < 20 else text


def refuse_k(text: str) -> NoReturn:
    """Raise, as a cut-off is a part of a metric's name."""
    raise RecframeError(f"the cut-off is a part of the metric: --metric recall@{text}")


def read_memory(text: str) -> int:
    """Return the bytes that a text means; a number alone is one of bytes."""
    is_bytes = text.isdecimal() and len(text) < 20  # Python does not read thousands of digits
    return check_memory(int(text) if is_bytes else text[:100])  # nor is any amount that long


def read_path(text: str, endings: Sequence[str]) -> Path | Address:
    """Return the path of a table to write, or raise where its ending names no format."""
    local = without_file(text)
    path = Address(local) if is_uri(local) else Path(local)
    if path.suffix not in endings:
        raise RecframeError(f"must end in {' or '.join(endings)}, found {quote(text)}")
    return path


def describe_flag(name: str, meaning: str, default: Any) -> dict[str, Any]:
    """Return the arguments of the flag of one option; its choices are its own."""
    flag = {"help": meaning if default is None else f"{meaning} (default: {default})"}
    if name == "ascending":
        each = "; with several scores --ascending or --no-ascending for each, in their order"
        return {"help": meaning + each, "action": "append_const", "const": True}
    if name in CHOICES:
        return {**flag, "choices": CHOICES[name]}
    if name in FILES:
        return {**flag, "metavar": "FILE"}
    if isinstance(default, str):
        return {**flag, "metavar": "COLUMN", "action": "append" if name in SEVERAL else "store"}
    number = as_usage(lambda text: getattr(make_options({name: read_number(text)}), name))
    return {**flag, "metavar": "NUMBER", "type": number}
