"""Which files a path means, and what the names of their folders say."""

import os
import re
from collections import Counter
from collections.abc import Sequence
from glob import glob
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from recframe.errors import RecframeError

PathLike = str | os.PathLike[str]
PartitionValues = dict[str, pa.Scalar]  # what a file's folders say, as in country=NL
NULL_VALUE = "__HIVE_DEFAULT_PARTITION__"
WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")  # of 64 bits, in its usual form ("007" is not)


def find_files(paths: PathLike | Sequence[PathLike]) -> dict[str, PartitionValues]:
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
    found = Path(path)
    if found.is_dir():
        inside = [file.relative_to(path) for file in sorted(found.rglob("*")) if file.is_file()]
        # Names that begin so are the notes of a writer, nowhere read as data.
        inside = [name for name in inside if not any(step[0] in "_." for step in name.parts)]
        if not inside:
            raise RecframeError(f"cannot read {path}: no parquet file in that folder")
        return [(os.fspath(found / name), _partition_texts(name)) for name in inside]
    files = [path] if found.exists() else sorted(glob(path, recursive=True))  # noqa: PTH207 - a pattern may be absolute
    if not files:
        raise RecframeError(f"cannot read {path}: no such file")
    return [(file, _partition_texts(Path(file))) for file in files]


def _partition_texts(path: Path) -> dict[str, str | None]:
    """Return what the folders of a path say, as text; None for a null."""
    pairs = [folder.split("=", 1) for folder in path.parent.parts if "=" in folder]
    return {name: None if text == NULL_VALUE else unquote(text) for name, text in pairs}


def _typed(texts: dict[str, dict[str, str | None]]) -> dict[str, PartitionValues]:
    """Return texts as numbers where they are whole numbers in every file, else as they are."""
    pairs = [pair for of_file in texts.values() for pair in of_file.items()]
    types = {name: pa.int64() for name, _ in pairs}
    for name, text in pairs:
        if text is not None and not WHOLE_NUMBER.fullmatch(text):
            types[name] = pa.string()
    return {
        path: {name: pa.scalar(text, pa.string()).cast(types[name]) for name, text in found.items()}
        for path, found in texts.items()
    }
