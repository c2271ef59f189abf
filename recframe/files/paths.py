"""Which files a path means, and what the names of their folders say."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from glob import glob
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from recframe.errors import RecframeError

PathLike = str | os.PathLike[str]
Keys = dict[str, pa.Scalar]  # what the names of a file's folders say, as in country=NL
NULL_KEY = "__HIVE_DEFAULT_PARTITION__"


def find_files(paths: PathLike | Sequence[PathLike]) -> dict[str, Keys]:
    """Return the files that paths name, in order, each with what its folders say."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found = [file for path in given for file in _expand(os.fspath(path))]
    if not found:
        raise RecframeError("path: no file named, found an empty list")
    twice = [path for path, n in Counter(path for path, _ in found).items() if n > 1]
    if twice:
        raise RecframeError(f"path: {twice[0]} is named twice; its rows would count twice")
    return _typed(dict(found))


def _expand(path: str) -> list[tuple[str, dict[str, str | None]]]:
    """Return the files that one path names, each with what its folders say."""
    if Path(path).is_dir():
        inside = [found.relative_to(path) for found in sorted(Path(path).rglob("*"))]
        # Names that begin so are the notes of a writer, nowhere read as data.
        inside = [
            name for name in inside if not any(part.startswith(("_", ".")) for part in name.parts)
        ]
        found = [(Path(path, name), name) for name in inside if Path(path, name).is_file()]
        if not found:
            raise RecframeError(f"cannot read {path}: no parquet file in that folder")
        return [(os.fspath(file), _keys(name)) for file, name in found]
    files = [path] if Path(path).exists() else sorted(glob(path, recursive=True))  # noqa: PTH207 - a pattern may be absolute
    if not files:
        raise RecframeError(f"cannot read {path}: no such file")
    return [(file, _keys(Path(file))) for file in files]


def _keys(path: Path) -> dict[str, str | None]:
    """Return what the folders of a path say, as text; None for a null."""
    pairs = [part.split("=", 1) for part in path.parent.parts if "=" in part]
    return {name: None if text == NULL_KEY else unquote(text) for name, text in pairs}


def _typed(keys: dict[str, dict[str, str | None]]) -> dict[str, Keys]:
    """Return keys as numbers where they are whole numbers in every file, else as text."""
    texts = [pair for found in keys.values() for pair in found.items()]
    no_numbers = {name for name, text in texts if text is not None and not _is_whole(text)}

    def scalar(name: str, text: str | None) -> pa.Scalar:
        if name in no_numbers:
            return pa.scalar(text, pa.string())
        return pa.scalar(None if text is None else int(text), pa.int64())

    return {
        path: {name: scalar(name, text) for name, text in found.items()}
        for path, found in keys.items()
    }


def _is_whole(text: str) -> bool:
    """Return whether a text is a whole number of 64 bits in its usual form ("007" is not)."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19 and str(int(text)) == text
