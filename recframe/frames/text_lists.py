"""Lists that are text: the characters between their members, and the members."""

import ast
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recframe.errors import DAMAGE, RecframeError, quote
from recframe.frames.list_columns import relist

SEPARATORS = (" ", ",", "|", ";")  # characters between ids in a text
N_CELLS_SEEN = 1 << 7  # cells of text that are looked at
# A list as JSON and Python write it, or a tuple of texts.
BRACKETED = re.compile(r"""\s*(\[.*\]|\(\s*['"].*,.*\))\s*""", re.DOTALL)
ID = re.compile(r"[\w-]*\d[\w-]*")  # Words of a text have no digits.
NUMBER = re.compile(r"-?\d+,\d+|-?\d{1,3}(,\d{3})+")  # with a decimal comma, or of thousands
BRACED = r"^([{(][^{}()]*[})])?$"  # an array of PostgreSQL, a tuple, or an empty text
NO_COMMA = re.compile(r"""(["'])\s+\1""")  # NumPy writes ['a' 'b'], which Python reads as ['ab']


def find_separator(cells: Sequence[Any], known: str | None = None) -> str | None:
    """Return the separator of texts that look like lists of ids: "" for [a, b], None for others.

    Ids are words that all have digits, or are equally long. If another column has a `known`
    separator, it is the only one that is looked for.
    """
    texts = [cell for cell in cells[:N_CELLS_SEEN] if cell is not None and cell == cell]
    if not texts or not all(isinstance(text, str) for text in texts):
        return None
    if all(BRACKETED.fullmatch(text) for text in texts):
        return ""
    for separator in SEPARATORS if known is None else (known,):
        split = [text.split(None if separator == " " else separator) for text in texts]
        words = {one.strip() for members in split for one in members}
        are_alike = len({*map(len, words)}) == 1 and all(
            one.replace("_", "").isalnum() for one in words
        )
        has_separator = any(separator in text.strip() for text in texts)
        if has_separator and "" not in words and (are_alike or all(map(ID.fullmatch, words))):
            return separator
    return None


def split_texts(name: str, cells: pa.Array, separator: str | None) -> list[Any] | pa.Array:
    """Return the lists that texts hold, of texts or of the values that [a, b] has.

    Texts such as [a] > [b] are split by their separator. Brackets around texts are no part of ids.
    """
    texts = [text or "[]" for text in cells.to_pylist()]
    if separator and not all(map(BRACKETED.fullmatch, texts)):
        return _split_by(name, cells, separator)
    joined, lists = f"[{','.join(texts)}]", None
    with suppress(MemoryError, SyntaxError, *DAMAGE):
        try:
            lists = json.loads(joined)
        except ValueError:
            lists = None if NO_COMMA.search(joined) else ast.literal_eval(joined)
    if lists and len(lists) == len(texts) and all(isinstance(one, list | tuple) for one in lists):
        return lists
    # NumPy writes [1 2] and ['a' 'b'].
    known = separator if separator and any(separator in text for text in texts) else ""
    if known or not any("," in text or text.count("[") > 1 for text in texts):
        ids = _split_by(name, pc.ascii_trim(cells, "[] \n"), known or " ")
        return relist(ids, pc.ascii_trim(ids.flatten(), "[] '\""))
    raise RecframeError(
        f"{name}: text must hold lists as JSON or Python writes them, such as [1, 2], but holds "
        f"{quote(texts[0])}; where another separator stands between ids, pass it as sep="
    )


def _split_by(name: str, cells: pa.Array, separator: str) -> pa.Array:
    """Return the lists of ids in texts, none in an empty text; raise if an id is empty.

    A separator may follow the last id.
    """
    trimmed = pc.ascii_trim_whitespace(cells)
    if pc.all(pc.match_substring_regex(trimmed, BRACED)).as_py():
        trimmed = pc.ascii_trim(trimmed, "{}() \n")
    if separator == " ":
        return pc.ascii_split_whitespace(pc.if_else(pc.equal(trimmed, ""), None, trimmed))
    whole = pc.replace_substring_regex(trimmed, rf"({re.escape(separator)}\s*)+$", "")
    lists = pc.split_pattern(pc.if_else(pc.equal(whole, ""), None, whole), separator)
    ids = pc.ascii_trim_whitespace(lists.flatten())
    if n_empty := pc.sum(pc.equal(ids, "")).as_py():
        at = np.searchsorted(lists.offsets, pc.index(ids, "").as_py(), side="right") - 1
        example = cells[int(at)].as_py()
        raise RecframeError(
            f"{name}: ids must not be empty, but {n_empty:,} are, as in {quote(example)}, which is "
            f"split by {quote(separator)}. Leave separators out that have no id before them."
        )
    return relist(lists, ids)
