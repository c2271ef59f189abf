"""RecAccessor: ``df.rec`` on pandas DataFrames, with all rows in memory."""

import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from inspect import unwrap
from typing import Any, Self, Unpack

import pandas as pd
from pandas.api.types import is_integer_dtype

from recframe.analysis.describe import Describer
from recframe.analysis.overview import say_size
from recframe.errors import DAMAGE, TEXT_ANSWERS
from recframe.frames.columns import Columns
from recframe.frames.companions import judge_frame, read_judged
from recframe.frames.constructors.lists import from_lists
from recframe.frames.judgments import load_frame
from recframe.frames.list_frames import find_lists, make_companion_rows
from recframe.frames.names import as_labels, get_column
from recframe.frames.questions import write
from recframe.frames.seen_rows import take_users
from recframe.frames.tables import Make
from recframe.methods import RankingMethods, public_method
from recframe.options import DEFAULTS, INFER, ROLE_LABELS, OptionArguments, Options, spell_options
from recframe.other_tables import (
    LOADED,
    TABLE,
    TableLike,
    TruthLike,
    find_reader,
    is_path,
    load_table,
    read_frame,
    read_views,
)
from recframe.public_calls import public


class RecAccessor(RankingMethods[pd.DataFrame]):
    """
    Ranking metrics of a frame of interactions, as ``df.rec``.

    The frame has one row for each user and item, one or more score columns and a relevance column.
    Nothing is cached and the frame is never changed. Call the accessor to set options. It has a
    method for each metric, such as `recall`, which returns a row for each user, and these:

    * `evaluate`: several metrics of each user; `mean`: their means.
    * `summary`: means with intervals; `compare`: differences of models, and their p-values.
    * `curve`: the mean at each cut-off; `bounds`: the range that unjudged rows leave.
    * `describe`: problems in the data; `inspect`: the rankings of one user.
    * `rank`, `top`: positions and first rows; `judge`: the frame with the relevance of truth.
    * `catalogue`: coverage and diversity of all lists; `overlap`: how alike models are.
    * `reconcile`, `robustness`: the conventions that give a number, and how much they matter.
    * `report`: a page to share.

    Parameters
    ----------
    frame : DataFrame or Arrow table
        The interactions. A query, such as that of a DuckDB relation, runs once, here.

    See Also
    --------
    recframe.evaluate : The same as a function, with all options explained.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> df.rec.recall(k=1)
    recall@1  score
    user
    1           0.0
    2           1.0
    """

    _takes = DEFAULTS.keys() | {"df", "lists", "sep", *TEXT_ANSWERS}

    @public
    def __init__(self, frame: TableLike) -> None:
        if isinstance(frame, pd.DataFrame):
            super().__init__(read_views(frame))
        else:
            super().__init__(load_table("frame", TABLE, frame))

    @public_method
    def judge(self, truth: TruthLike | None = None) -> pd.DataFrame:
        """
        Return the frame with the relevance that truth gives, and the items it does not list.

        The rows of the frame come first, then the relevant items of truth without a row, with null
        scores; also those of users without a row, unless `population` leaves them out. So
        ``judged.rec(missing="unranked", short="pad")`` gives the same values as ``truth=``. Grades
        are dropped.

        Parameters
        ----------
        truth : DataFrame, Arrow table or path, default None
            The relevant items of every user; None: the `truth` the accessor was called with.

        Returns
        -------
        DataFrame
            The columns of the frame, with ids from its index, and a boolean column ``relevant``.
            The index is new. If rows are added, integers and booleans other than ids become
            nullable.

        Raises
        ------
        RecframeError
            No truth is given, or the frame or truth is refused as in `recframe.evaluate`.

        See Also
        --------
        recframe.evaluate : The metrics of a frame against truth.

        Examples
        --------
        >>> import pandas as pd, recframe
        >>> recs = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [0.9, 0.8]})
        >>> test = pd.DataFrame({"user": [1, 1], "item": ["b", "c"]})
        >>> recs.rec.judge(test)
           user item  score  relevant
        0     1    a    0.9     False
        1     1    b    0.8      True
        2     1    c    NaN      True
        """
        bound = self if truth is None else self._bind(replace(self._options, truth=truth))
        return judge_frame(self._read(), bound._options)[0]

    def _answer(self, answers: Mapping[str, Any]) -> Self:
        if not answers.keys().isdisjoint(TEXT_ANSWERS):
            return self._answer_as_text(answers)
        bound, sep, options, codes = self, answers.get("sep"), self._options, dict[str, str]()
        # A separator "" stands for text that shows lists of Python; `from_lists` needs none for it.
        others = {name: one for name, one in answers.items() if name != "sep" or one}
        of_sep = f", sep={sep!r}" if sep else ""
        if "lists" in answers:
            own = [name for name in ("item", "model", "sep", "duplicates") if name in others]
            lists = {"items": others.pop("lists")} | {name: others.pop(name) for name in own}
            make_rows = unwrap(from_lists)  # the function without `public` asks no questions
            bound = type(self)(make_rows(self._frame, **lists))
            if sep is None and len(find_lists(self._read())) == 1:
                del lists["items"]
            arguments = "".join(f", {name}={value!r}" for name, value in lists.items())
            bound._written = f"recframe.from_lists(df{arguments}).rec"
        if made := others.pop("df", None):
            df = (bound._written or "df.rec").removesuffix(".rec")
            bound = type(self)(made.make(bound._frame))
            bound._written = re.sub(r"\bdf\b", lambda _: df, f"{made.code}.rec")
        for name in ("truth", "exclude") if sep is not None else ():
            if (source := getattr(options, name)) is not None:
                frame = load_frame(name, source, options)
                if (rows := make_companion_rows(name, frame, options, sep)) is not frame:
                    read = find_reader(source, write(name, source)) if is_path(source) else name
                    changed: dict[str, Any] = {name: rows}
                    user = rows.attrs.get(ROLE_LABELS, {}).get("user")
                    if name == "truth" and user is not None:  # The call shown makes it "user".
                        changed["truth_user"] = INFER
                    of_user = f", user={user!r}" * (user is not None)
                    codes[name] = f"recframe.from_lists({read}{of_user}{of_sep})"
                    options = replace(options, **changed)
        others.pop("sep", None)
        bound = bound._bind(replace(options, **others))
        bound._made = codes
        return bound

    def _answer_as_text(self, answers: Mapping[str, Any]) -> Self:
        """Return an accessor with integer ids of all frames as text, and the other answers.

        If only items are of different kinds, users stay as they are.
        """
        bound = self._answer({name: answers[name] for name in answers if name not in TEXT_ANSWERS})
        options, columns = bound._options, bound._find_columns(with_item=True)
        ids = {columns.item, options.truth_item}
        if "as_text" in answers:
            ids |= {*columns.users, *as_labels(options.truth_user)}
        df = (bound._written or "df.rec").removesuffix(".rec")
        frames = {df: bound._frame, "truth": options.truth, "exclude": options.exclude}
        made = {df: df, "truth": "truth", "exclude": "exclude", **bound._made}
        for name, frame in frames.items():
            if isinstance(frame, pd.DataFrame) and LOADED not in frame.attrs:
                integers = frame.columns[frame.dtypes.map(is_integer_dtype).astype(bool)]
                if dtypes := {label: "string" for label in integers if label in ids}:
                    frames[name], made[name] = (
                        frame.astype(dtypes),
                        f"{made[name]}.astype({dtypes})",
                    )
        bound = type(self)(frames.pop(df))._bind(replace(options, **frames))
        bound._written = f"{made.pop(df)}.rec"
        bound._made = {name: code for name, code in made.items() if code != name}
        return bound

    def _read(self, labels: Sequence[Hashable] | None = None) -> pd.DataFrame:
        """Return the rows as a DataFrame; other tables are read with these columns only."""
        if isinstance(self._frame, pd.DataFrame):
            return self._frame
        return read_frame(self._frame, labels)

    @property
    def _sample(self) -> pd.DataFrame:
        if isinstance(self._frame, pd.DataFrame):
            return self._frame
        return read_frame(self._frame.schema.empty_table())

    @property
    def _size(self) -> str:
        return say_size(self._frame)

    def _read_values(self, label: Hashable) -> pd.Series:
        return get_column(self._read([label]), label)

    def _read_places(self, labels: list[Hashable], columns: Columns) -> list[pd.DataFrame]:
        frame = self._frame
        with suppress(*DAMAGE):  # the ids may be of a wrong type, which a later step refuses
            rows = take_users(self._read_values(columns.users[0]))
            if isinstance(frame, pd.DataFrame):
                return [frame if len(rows) == len(frame) else frame.iloc[rows]]
            return [read_frame(frame.take(rows), labels)]
        return []

    def _map(
        self, make: Make, columns: Columns, options: Options, *, reads_all: bool = False
    ) -> pd.DataFrame:
        frame = self._read(None if reads_all else columns.labels)
        return make(read_judged(frame, columns, options), options)

    def _describe(self, describer: Describer) -> pd.DataFrame:
        frame = self._read(describer.columns.labels)
        describer = describer.open()
        return describer.describe([describer.read(frame)], frame.iloc[:0])

    def _rows_of(self, user: Hashable, columns: Columns) -> tuple[pd.DataFrame, bool]:
        return self._read(columns.labels), True


@spell_options
@public
def rec(frame: TableLike, **options: Unpack[OptionArguments]) -> RecAccessor:
    """
    Return the accessor of a frame, as ``df.rec`` does.

    Use it with editors and type checkers, which do not see registered accessors.

    Parameters
    ----------
    frame : DataFrame or Arrow table
        The interactions: a pandas DataFrame, or another table that Arrow's protocol reads, such as
        one of Polars, PyArrow, DuckDB or Ibis. Results are pandas tables.
    **options
        Those of `recframe.evaluate`.

    Returns
    -------
    RecAccessor
        The accessor, bound to the options; it displays how it understands the frame.

    Raises
    ------
    RecframeError
        The frame is no such table, or an option is unknown or has a value that it does not take.

    See Also
    --------
    RecAccessor : The methods.
    recframe.evaluate : The options explained.

    Examples
    --------
    >>> import pandas as pd, recframe
    >>> df = pd.DataFrame({"user": [1, 1, 2], "score": [0.9, 0.8, 0.7], "relevant": [0, 1, 1]})
    >>> recframe.rec(df, ties="worst")
    df.rec: 3 rows × 3 columns
      user      inferred   'user'
      item      not found  (and not needed)
      score     inferred   'score'
      relevant  inferred   'relevant'
      options   given      ties='worst'
    Try .describe(k=10), .mean(['precision@10', 'recall@10']), .inspect(user)
    >>> recframe.rec(df).recall(k=1)
    recall@1  score
    user
    1           0.0
    2           1.0
    """
    return RecAccessor(frame)(**options)
