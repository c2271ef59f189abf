"""Runs and qrels of TREC: text files with a line for each query and document, read as frames."""

from __future__ import annotations

import os
from typing import Any

import pandas as pd

from recframe.calls import public
from recframe.errors import RecframeError, say_where
from recframe.files.lines import QRELS_LINES, RUN_LINES, LineLayout, read_lines
from recframe.foreign import PathLike, frame_error
from recframe.options import is_path


@public
def read_run(path: PathLike) -> pd.DataFrame:
    """
    Return a run of TREC as a frame: a row for each query and document, with its score.

    A line has the fields query, Q0, document, rank, score and tag, parted by blanks or tabs. The
    second, the rank and the tag are not read: as for trec_eval, scores alone order documents.

    Parameters
    ----------
    path : path
        The file, plain or compressed by gzip. Empty lines, and those that begin with #, are left
        out.

    Returns
    -------
    DataFrame
        Columns ``query`` and ``doc``, text as it is written ("007" is not 7), and ``score``,
        floats. Rows are in the order of lines.

    Raises
    ------
    RecframeError
        The file cannot be read or has no line, a line has more or fewer fields, a score is no
        number, or a query has a document twice; with the number of the line.

    See Also
    --------
    read_qrels : The relevance of documents, for ``truth``.

    Notes
    -----
    Trec_eval keeps scores as float32 and ranks equal ones by document: as does
    ``run.astype({"score": "float32"}).rec(truth=qrels, ties="item", short="pad",
    zero_division=0, min_relevance=1, absent="drop")``, for the queries that the qrels have, and
    ``recframe trec``.

    Examples
    --------
    >>> import recframe
    >>> recframe.read_run("examples/bm25.run").head(2)
      query  doc  score
    0   101  d12   14.2
    1   101   d7   13.9
    """
    return _read_given(path, RUN_LINES)


@public
def read_qrels(path: PathLike) -> pd.DataFrame:
    """
    Return qrels of TREC as a frame: a row for each query and document, with its relevance.

    A line has the fields query, iteration, document and relevance, parted by blanks or tabs. The
    second is not read.

    Parameters
    ----------
    path : path
        The file, plain or compressed by gzip. Empty lines, and those that begin with #, are left
        out.

    Returns
    -------
    DataFrame
        Columns ``query`` and ``doc``, text as it is written, and ``relevance``, integers, which
        may be negative. Rows are in the order of lines.

    Raises
    ------
    RecframeError
        The file cannot be read or has no line, a line has more or fewer fields, a relevance is no
        whole number, or a query has a document twice; with the number of the line.

    See Also
    --------
    read_run : The documents that a system ranks.

    Examples
    --------
    >>> import recframe
    >>> qrels = recframe.read_qrels("examples/qrels.txt")
    >>> qrels.head(2)
      query  doc  relevance
    0   101  d12          2
    1   101   d3          1
    >>> run = recframe.read_run("examples/bm25.run")
    >>> run.rec(truth=qrels, min_relevance=1, ties="item", short="pad").recall(k=2)
    recall@2  score
    query
    101         0.5
    102         0.5
    103         0.0
    105         0.0
    """
    return _read_given(path, QRELS_LINES)


def _read_given(path: Any, layout: LineLayout) -> pd.DataFrame:
    """Return what a path leads to as a frame; a refusal names the argument."""
    if not is_path(path):
        raise frame_error("path", f"the path of a file of {layout.kind}", path)
    try:
        return read_lines(os.fspath(path), layout)
    except RecframeError as error:
        say_where("path: ", error)
        raise
