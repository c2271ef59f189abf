"""Per-user tables: saved block by block, read and joined by user."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from io import BytesIO
from math import nan
from pathlib import Path
from typing import IO, Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recframe.errors import (
    DAMAGE,
    RecframeError,
    count_of,
    prefix_errors,
    quote,
    show_path,
    unreadable,
)
from recframe.frames.ids import as_users, list_levels
from recframe.frames.names import find_role
from recframe.frames.tables import sort_table, tidy_table
from recframe.frames.user_values import LEVELS, WEIGHTS, check_per_user
from recframe.kernel.threads import Array
from recframe.metrics.names import find_alike
from recframe.options import DEFAULTS, MADE, Options, make_options, spell_made
from recframe.other_tables import PathLike, frame_error, is_path
from recframe.stores import expand_path, find_ending, show_uri
from recframe.stores.listings import Listing, list_files
from recframe.stores.outputs import check_apart, whole_file

FILE_ENDINGS = (".parquet", ".csv")
METADATA = b"recframe"  # key of metadata that tell how a table was made; pandas writes none


class Saved(NamedTuple):
    """A saved table, the weights of its users, and the options it was made with, if known."""

    table: pd.DataFrame
    weights: Array | None
    made: dict[str, Any]  # values of options as text, by name; the label of "unit"


def describe_made(options: Options, **others: Any) -> dict[str, Any]:
    """Return a record of how a table is made: `others`, and the options that change its values."""
    return {"recframe": version("recframe"), **others, **spell_made(options)}


@contextmanager
def writing_rows(
    file: IO[bytes], ending: str, made: dict[str, Any]
) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Yield a function that adds tidy rows of users to a file of this format.

    The metadata of a parquet file also tell how the rows were `made`.
    """
    writer: pq.ParquetWriter | None = None  # The first rows decide its schema.

    def write(rows: pd.DataFrame) -> None:
        nonlocal writer
        if ending == ".csv":
            rows.to_csv(file, mode="wb", index=False, header=file.tell() == 0)
            return
        schema = None if writer is None else writer.schema
        encoded = pa.Table.from_pandas(rows, schema=schema, preserve_index=False)
        if writer is None:  # Pages have checksums, which reading verifies.
            metadata = encoded.schema.metadata | {METADATA: json.dumps(made)}
            schema = encoded.schema.with_metadata(metadata)
            writer = pq.ParquetWriter(file, schema, write_page_checksum=True)
            stack.enter_context(writer)
        writer.write_table(encoded)

    with ExitStack() as stack:
        yield write
    file.flush()  # A full disk shows before the means are printed.


def save_table(
    table: pd.DataFrame, path: PathLike, options: Mapping[str, Any] | None, unit: Any, weights: Any
) -> None:
    """Write a per-user table whole or not at all, never over the files of its options.

    `weights` is the name of the weights. Without options, the file records the unit alone.
    """
    if not is_path(path) or (ending := find_ending(os.fspath(path))) not in FILE_ENDINGS:
        raise RecframeError(f"path must end in {' or '.join(FILE_ENDINGS)}, but is {quote(path)}")
    if table.index.get_level_values(0).hasnans:
        raise RecframeError(
            "per_user must have a user in each row, but some is null. Drop these rows."
        )
    if (scores := table.columns.unique("score")).inferred_type != "string":
        raise RecframeError(f"per_user must have text as scores, but has {quote(scores.tolist())}")
    known = make_options(options or {})
    companions: Any = filter(is_path, (known.truth, known.exclude))
    inputs = [os.fspath(one) for one in companions]
    check_apart(path, [file for one in inputs for file in list_files(one)], inputs)
    made = {"unit": unit} if options is None else describe_made(known, weights=weights, unit=unit)
    with whole_file(path) as file:
        try:
            with writing_rows(file, ending, made) as write:
                write(tidy_table(table))
        except pa.ArrowException as error:
            raise RecframeError(f"per_user cannot be saved: {quote(str(error))}") from error


def read_joined(path: PathLike | Sequence[PathLike]) -> pd.DataFrame:
    """Return the tables of `recframe.read_per_user`."""
    given: Sequence[Any] = path if isinstance(path, list | tuple) else [path]
    if not given or not all(map(is_path, given)):
        raise frame_error("path", "the path of a file of --per-user, or a list of them", path)
    paths = [expand_path(os.fspath(one)) for one in given]
    with prefix_errors("path"):
        saved = read_saved(paths)
        weights = join_weights(saved, paths)
    tables = [one.table for one in saved]
    if len(tables) > 1:
        tables = _name_apart(tables, paths)
    joined = pd.concat(tables, axis=1)
    joined.index.names = tables[0].index.names
    if weights is not None:
        joined = joined.set_index(pd.Index(weights, name=WEIGHTS), append=True)
    joined = joined.rename(columns=find_alike(joined.columns.unique("metric")), level="metric")
    if joined.columns.has_duplicates:
        again = joined.columns[joined.columns.duplicated()].tolist()[0]
        raise RecframeError(f"path: two columns are score and metric {quote(again)}. Rename one.")
    scores, metrics = (joined.columns.unique(level) for level in LEVELS)
    columns: Any = pd.MultiIndex.from_product([scores, metrics], names=LEVELS)
    table = sort_table(joined.reindex(columns=columns))
    first, *others = (one.made for one in saved)
    if all(one == first for one in others):
        table.attrs[MADE] = {name: first[name] for name in DEFAULTS if name in first}
    return table


def join_weights(saved: list[Saved], paths: list[str]) -> pd.Series | None:
    """Return the weights of users, each from the last file with the user; None without weights.

    Raise if only some files have weights.
    """
    which = {one.weights is not None: path for one, path in zip(saved, paths, strict=True)}
    if len(which) > 1:
        raise RecframeError(
            f"{show_path(which[True])} has weights of users and {show_path(which[False])} has "
            "none. Evaluate both with --weights, or both without."
        )
    if False in which:
        return None
    of_files = pd.concat([pd.Series(one.weights, one.table.index) for one in saved], axis=1)
    of_files.index.names = saved[-1].table.index.names
    return of_files.ffill(axis=1).iloc[:, -1].rename(WEIGHTS)


def read_saved(paths: list[str]) -> list[Saved]:
    """Return the tables of files, or raise if one has no user of the first."""
    saved = [_read_table(one) for one in paths]
    tables = [one.table for one in saved]
    for table, path in zip(tables[1:], paths[1:], strict=True):
        users = [list(one.index.names) for one in (table, tables[0])]
        if len(users[0]) != len(users[1]):
            raise RecframeError(
                f"{show_path(path)} must have as many user columns as {show_path(paths[0])}, "
                f"but they have {quote(users[0])} and {quote(users[1])}"
            )
    for number in range(tables[0].index.nlevels):
        are_text = [_kinds(table)[number] == "text" for table in tables]
        for table, path, is_text in zip(tables, paths, are_text, strict=True):
            # A csv file does not tell numbers from text; its numbers become text again.
            if any(are_text) and not is_text and find_ending(path) == ".csv":
                levels = list_levels(table.index)
                levels[number] = levels[number].astype(str)
                table.index = as_users(levels)
    for table, path in zip(tables[1:], paths[1:], strict=True):
        if not table.index.isin(tables[0].index).any():
            kinds = [" and ".join(_kinds(one)) for one in (table, tables[0])]
            found = " and ".join(quote(one.index.tolist()[0]) for one in (table, tables[0]))
            both = f", which are {kinds[0]} and {kinds[1]}. Write them alike."
            raise RecframeError(
                f"{show_path(path)} has no user of {show_path(paths[0])}: they begin with {found}"
                f"{both if kinds[0] != kinds[1] else ''}"
            )
    return saved


def _kinds(table: pd.DataFrame) -> list[str]:
    """Return the kind of the ids in each user column of a table, in words."""
    kinds = [getattr(ids, "categories", ids).inferred_type for ids in list_levels(table.index)]
    return ["text" if kind == "string" else f"{kind}s" for kind in kinds]


def _find_user_columns(columns: list[str]) -> list[str]:
    """Return the columns of users: those before weights and "score", or the first after "score"."""
    before = columns[: columns.index("score")] if "score" in columns else columns[:1]
    return before[: -1 if before[1:] and before[-1] == WEIGHTS else None] or columns[1:2]


def _parse_files(path: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the rows of a file or of a folder's files, and the record of how they were made."""
    parts = []
    for file in Listing().find(path):
        if find_ending(file.path) not in FILE_ENDINGS:
            raise RecframeError(f"{show_path(file.path)} must end in {' or '.join(FILE_ENDINGS)}")
        with file.place.store.reaching(file.place.key), file.place.open() as opened:
            parts.append((file.path, opened.read()))
    try:
        table = pa.concat_tables([_parse_file(*one) for one in parts], promote_options="permissive")
        made = json.loads((table.schema.metadata or {}).get(METADATA, "{}"))
        made.pop("recframe", None)  # versions may differ
        rows = pd.DataFrame(table.to_pandas())
    except (pa.ArrowException, *DAMAGE) as error:
        raise unreadable(path, quote(str(error))) from error
    if rows.columns.nlevels == len(LEVELS):  # Pandas wrote the table of `evaluate`.
        rows = tidy_table(check_per_user(rows))
    if parts[0][0].endswith(".csv"):
        for number, user in enumerate(_find_user_columns(rows.columns.tolist())):
            ids = rows[user] if number == 0 else rows[user].mask(rows[user] == "")  # no segment
            is_whole = ids.str.fullmatch("0|-?[1-9][0-9]{0,17}", na=False).all()
            rows[user] = ids.astype("int64") if is_whole else ids
    return rows, made


def _read_table(path: str) -> Saved:
    """Return the table of a file or of a folder's files, with columns (score, metric)."""
    rows, made = _parse_files(path)
    columns = rows.columns.tolist()
    users = _find_user_columns(columns)
    weights = [WEIGHTS] if [*users, WEIGHTS, "score"] == columns[: len(users) + 2] else []
    metrics = [label for label in columns if label not in (*users, *weights, "score")]
    are_rows = not {"item", "relevant"}.isdisjoint(map(find_role, columns))
    if "score" not in columns or not metrics or not len(rows) or are_rows:
        raise RecframeError(
            f"{show_path(path)} must have rows with a user column, score and metrics, such as "
            f"recframe evaluate --per-user writes, but has {count_of(len(rows), 'row')} of "
            f"{quote(columns)}"
        )
    for label in [*weights, *metrics]:
        if not pd.api.types.is_numeric_dtype(rows[label]):
            raise RecframeError(
                f"{show_path(path)} must hold numbers in {quote(label)}, but holds "
                f"{rows[label].dtype}"
            )
    ids, given = [*users, "score"], [users[0], "score"]  # Segments may be null.
    repeated = rows.duplicated(ids)
    if repeated.any() or rows[given].isna().any(axis=None):
        odd = rows[repeated | rows[given].isna().any(axis=1)]
        raise RecframeError(
            f"{show_path(path)} must have each user and score once, none null, but has {len(odd)} "
            f"faulty rows (such as {', '.join(quote(odd[one].tolist()[0]) for one in ids)})"
        )
    by_score = rows.groupby("score", sort=False, observed=True)
    tables = {score: own.set_index(users)[metrics] for score, own in by_score}
    table = pd.concat(tables, axis=1, names=LEVELS)
    if weights:
        of_users = rows.drop_duplicates(users).set_index(users)[WEIGHTS].reindex(table.index)
    return Saved(table, of_users.to_numpy(float, na_value=nan) if weights else None, made)


def _parse_file(path: str, data: bytes) -> pa.Table:
    """Return the rows of a file; users and scores in csv are text."""
    from pyarrow import csv  # `import recframe` does not need it.

    if find_ending(path) == ".parquet":
        return pq.ParquetFile(BytesIO(data), page_checksum_verification=True).read()
    if not data.endswith((b"\n", b"\r")):
        raise ValueError("its last line has no end, so it may be cut off. Write it anew.")
    names = pd.read_csv(BytesIO(data), nrows=0).columns.tolist()
    if names[0] == "score" and data.split(b"\n", 2)[1].startswith(b"metric,"):
        raise ValueError(
            "it has two lines of names, as to_csv writes the table of evaluate. Pass pd.read_csv("
            "path, header=[0, 1], index_col=0), or write it with recframe.save_per_user."
        )
    users = _find_user_columns(names)
    ids = dict.fromkeys((*users, "score"), pa.string())
    options = csv.ConvertOptions(column_types=ids, null_values=[""])
    serial = csv.ReadOptions(use_threads=False)  # As in `trec`, threads may end Python.
    table = csv.read_csv(pa.BufferReader(data), serial, convert_options=options)
    # A metric that is null for all users is a column of floats.
    kinds = [pa.float64() if pa.types.is_null(kind) else kind for kind in table.schema.types]
    return table.cast(pa.schema(list(zip(table.schema.names, kinds, strict=True))))


def _name_apart(tables: list[pd.DataFrame], paths: list[str]) -> list[pd.DataFrame]:
    """Return tables whose scores all have different names."""
    own = [list(table.columns.unique("score")) for table in tables]
    n_files = Counter(score for scores in own for score in scores)
    names = [Path(show_uri(path)).stem for path in paths]
    if len(set(names)) < len(names):
        names = [show_uri(path).removesuffix(find_ending(path)) for path in paths]
    if len(set(names)) < len(names):
        raise RecframeError(f"path must name each file once, but is {quote(paths)}")
    named = []
    for table, scores, name in zip(tables, own, names, strict=True):
        apart = {
            score: name if len(scores) == 1 else f"{name}: {score}"
            for score in scores
            if n_files[score] > 1
        }
        named.append(table.rename(columns=apart, level="score"))
    return named
