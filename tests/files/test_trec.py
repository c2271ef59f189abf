"""recframe.read_run and recframe.read_qrels read good lines, and refuse each bad line."""

import bz2
import gzip
import lzma
import os
import re

import numpy as np
import pandas as pd
import pytest

import recframe
from recframe import RecframeError

LINES = "q1 Q0 007 1 0.5 tag\nq1 Q0 d2 2 -1e-3 tag\n2 Q0 007 1 +12. tag\n"
TEXTS = dict.fromkeys(["query", "doc"], pd.StringDtype("pyarrow", na_value=np.nan))
ROWS = {"query": ["q1", "q1", "2"], "doc": ["007", "d2", "007"], "score": [0.5, -0.001, 12.0]}


def read(folder, text, what="run"):
    """Return the frame of a file with this text or bytes."""
    path = folder / f"{what}.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return getattr(recframe, f"read_{what}")(path)


ALIKE = {
    "as it is": LINES,
    "no end of line": LINES.rstrip("\n"),
    "tabs": LINES.replace(" ", "\t"),
    "many blanks": "  " + LINES.replace(" ", " \t  "),
    "blanks at the ends": LINES.replace("\n", " \t\n \t"),
    "lines of Windows": LINES.replace("\n", "\r\n"),
    "lines of old": LINES.replace("\n", "\r"),
    "empty lines and comments": "# a run\n\n" + LINES.replace("\n", "\n\n  # one two\n \n"),
    "byte order mark": b"\xef\xbb\xbf" + LINES.encode(),
    "compressed": gzip.compress(LINES.encode()),
    "compressed by bzip2": bz2.compress(LINES.encode()),
    "compressed by xz": lzma.compress(LINES.encode()),
    "compressed in parts": gzip.compress(LINES[:30].encode()) + gzip.compress(LINES[30:].encode()),
}


@pytest.mark.parametrize("text", ALIKE.values(), ids=ALIKE)
def test_a_run(text, tmp_path):
    """A run has one row for each line, with ids as written, in the order of lines."""
    frame = read(tmp_path, text)

    pd.testing.assert_frame_equal(pd.DataFrame(ROWS).astype(TEXTS), frame)


def test_regular_numbers_are_read_alike(tmp_path):
    """Both ways of reading lines give the same scores, to the last bit."""
    scores = ["0.1", "1e22", "123456789.123456789", "inf", "-Inf", ".5", "5e-324", "1.", "007"]
    texts = [f"q Q0 {doc} 1 {score} t\n" for doc, score in enumerate(scores)]
    fast = read(tmp_path, "".join(texts))["score"].tolist()

    assert [*map(float, scores)] == fast
    assert [*fast, 1.0] == read(tmp_path, "".join([*texts, "q Q0 x 1 +1 t"]))["score"].tolist()


def test_qrels(tmp_path):
    """Grades are whole numbers, which may be negative or 0."""
    frame = read(tmp_path, "q1 0 007 2\nq1\t0\td2\t-1\n# none\nq2 Q0 d2 +0\n", "qrels")
    expected = {"query": ["q1", "q1", "q2"], "doc": ["007", "d2", "d2"], "relevance": [2, -1, 0]}

    pd.testing.assert_frame_equal(pd.DataFrame(expected).astype(TEXTS), frame)


def test_a_run_of_three_columns(tmp_path):
    """Ranks of MS MARCO's lines become scores, each query's lines in the order of its ranks."""
    frame = read(tmp_path, "q2\t007\t1\nq1\td9\t1\nq2\td2\t2\nq1\t007\t2\n")
    expected = {"query": ["q2", "q1", "q2", "q1"], "doc": ["007", "d9", "d2", "007"]}
    expected = pd.DataFrame(expected).astype(TEXTS).assign(score=[-1.0, -1.0, -2.0, -2.0])

    pd.testing.assert_frame_equal(expected, frame)


SHORT = {
    "three columns": "q1\td2\t1\nq2\t007\t1\n",
    "three columns, with names": "query-id\tcorpus-id\tscore\nq1\td2\t1\nq2\t007\t1\n",
    "two columns": "q1 d2\nq2 007\n",
    "two columns, with names": "\n# pairs\nqid\tdocid\nq1\td2\nq2\t007\n",
}


@pytest.mark.parametrize("text", SHORT.values(), ids=SHORT)
def test_qrels_of_fewer_columns(text, tmp_path):
    """Qrels need no iteration, and pairs without a relevance are relevant."""
    expected = pd.DataFrame({"query": ["q1", "q2"], "doc": ["d2", "007"]}).astype(TEXTS)

    pd.testing.assert_frame_equal(expected.assign(relevance=1), read(tmp_path, text, "qrels"))


def test_names_do_not_change_the_numbers_of_lines(tmp_path):
    """A line of names counts as a line in messages."""
    with pytest.raises(RecframeError, match="line 3: relevance must be a whole number"):
        read(tmp_path, "query-id\tcorpus-id\tscore\nq1\td2\t1\nq1\td3\tx\n", "qrels")


def test_only_lines_that_begin_with_a_number_sign_are_comments(tmp_path):
    """A # that does not begin a line is a letter."""
    frame = read(tmp_path, "q Q0 d#1 1 2 t\n#q Q0 d2 1 2 t\n#1 Q0 d3 1 2 #\nq# Q0 #d 1 2 t\n")

    assert [["q", "d#1"], ["q#", "#d"]] == frame[["query", "doc"]].to_numpy().tolist()


def test_quotes_are_letters(tmp_path):
    """Fields end at spaces, and quotes are part of them."""
    frame = read(tmp_path, 'q Q0 "a 1 2 NA\nq Q0 b" 2 1 NA\nq Q0 \\ 2 1 NA\nNA Q0 nan 2 1 NA\n')

    assert ['"a', 'b"', "\\", "nan"] == frame["doc"].tolist()
    assert ["q", "q", "q", "NA"] == frame["query"].tolist()


REFUSED = {
    "too few fields": ("run", "a Q0 b 1 0.5 t\n\na Q0 c 2 0.4\n", r"run.txt, line 3: must have 6 "),
    "too many fields": ("run", "a Q0 b 1 0.5 t u\n", r"but has 7: 'a Q0 b 1 0.5 t u'"),
    "one blank too many": ("run", "a Q0  1 0.5 t\n", "must have 6 fields .*, but has 5"),
    "no number": ("run", "#\na Q0 b 1 x t\n", "line 2: score must be a number, but is 'x'"),
    "NaN": ("run", "a Q0 b 1 NaN t\n", "line 1: score must be a number, but is 'NaN'"),
    "a comma": ("run", "a Q0 b 1 0,5 t\n", "line 1: score must be a number, but is '0,5'"),
    "NaN next to +1": ("run", "a Q0 b 1 +1 t\na Q0 c 1 nan t", "line 2: score must be a number"),
    "no UTF-8": (
        "run",
        b"a Q0 b 1 1 t\na Q0 \xe9 1 1 t",
        "line 2: must be UTF-8 text, .* by iconv",
    ),
    "nothing": (
        "run",
        "",
        r"run.txt: must have lines of a run \(query Q0 doc rank score tag\), but ",
    ),
    "comments only": ("run", "# a\n\n", "but has none"),
    "twice": (
        "run",
        "#\na Q0 b 1 1 t\n\nb Q0 b 1 1 t\na Q0 b 2 0 t\nb Q0 b 2 0 t\n",
        r"line 5: query 'a' has the document 'b' in line 2 already \(2 of 4 lines repeat anoth",
    ),
    "twice, in order": (
        "run",
        "a Q0 b 1 1 t\na Q0 b 2 0 t\n",
        "line 2: query 'a' has the document 'b' in line 1 already",
    ),
    "judged twice": (
        "qrels",
        "b 0 d 1\na 0 d 1\nb 0 d 0",
        "line 3: query 'b' has the document 'd'",
    ),
    "a header": (
        "qrels",
        "query-id corpus-id score\n",
        r"must have lines of qrels \(query iteration doc relevance\), but has none",
    ),
    "scores in three columns": (
        "run",
        "a b 0.5\n",
        r"line 1: rank must be a whole number \(with scores, write lines of query Q0 doc rank scor",
    ),
    "whole scores in three columns": (
        "run",
        "a b 2\na c 1\n",
        r"of query, doc and rank \(1, 2, … in each query, in this order\), but the rank is 2 in "
        "query 'a'; ",
    ),
    "a gap in ranks": ("run", "a b 1\nb b 1\na c 3\n", "3 in query 'a'; with scores, writ"),
    "too many fields for pairs": (
        "qrels",
        "a b\na b 1\n",
        r"must have 2 fields \(query doc\), but ",
    ),
    "a pair twice": ("qrels", "a b\na b\n", "line 2: query 'a' has the document 'b' in line 1"),
    "no whole number": ("qrels", "a 0 b 1.0", "line 1: relevance must be a whole number .*'1.0'"),
    "a huge number": ("qrels", f"a 0 b {10**20}", "line 1: relevance must be a whole number of at"),
    "qrels in place of a run": ("run", "a 0 b 1\n", "lines of qrels, and the files swapped"),
    "a run in place of qrels": ("qrels", "a Q0 b 1 1 t\n", "lines of a run, and the files swapped"),
    "half a file": (
        "run",
        gzip.compress(LINES.encode())[:-9],
        "cannot read .*run.txt: .*; fetch it",
    ),
    "half a file of bzip2": ("run", bz2.compress(LINES.encode())[:-9], "cannot read .*run.txt: "),
    "half a file of xz": ("run", lzma.compress(LINES.encode())[:-9], "cannot read .*run.txt: "),
    "a broken file": ("run", b"\x1f\x8b" + bytes(40), "cannot read .*run.txt: "),
}


@pytest.mark.parametrize(("what", "text", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_lines_are_refused(what, text, message, tmp_path):
    """A bad line is refused with its number and its fault."""
    with pytest.raises(RecframeError, match=message):
        read(tmp_path, text, what)


def test_bad_paths_are_refused(tmp_path):
    """Paths that cannot be opened are refused at once."""
    os.mkfifo(tmp_path / "pipe")
    for path, message in {
        tmp_path: "Is a directory",
        tmp_path / "none": "no such file",
        tmp_path / "pipe": "it is a pipe, not a file",
        "": "path: it must name a file or folder, but is ''",
    }.items():
        with pytest.raises(RecframeError, match=message):
            recframe.read_run(path)
    with pytest.raises(RecframeError, match="path must be the path of a file with qrels, but is 5"):
        recframe.read_qrels(5)


def test_a_long_line_is_quoted_in_part(tmp_path):
    """A message quotes only a part of a long line."""
    with pytest.raises(RecframeError) as refused:
        read(tmp_path, "x" * 10**6)

    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("end", ["", "\n", "\r\n\n"])
def test_two_tags_in_a_run(tmp_path, end):
    """Several tags are refused as several runs; one tag is one run, with any line end."""
    lines = ["a Q0 b 1 2 bm25", "a Q0 c 2 1 bm25", "b Q0 b 1 1 bm25"]
    assert 3 == len(read(tmp_path, "\n".join(lines) + end))
    for other in ("dense", "xbm25", "bm25x"):
        text = "\n".join([*lines, f"b Q0 c 1 1 {other}"]) + end
        for lines_of_both in (text, text.replace("b Q0 c", "b Q0 b")):  # Runs share documents.
            with pytest.raises(RecframeError, match=rf"has 2 \(such as 'bm25' and '{other}'\). W"):
                read(tmp_path, lines_of_both)


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("q1 0 a 1", "truth=recframe.read_qrels"),
        ("q1\ta\t1", "Pass pd.read_csv"),
        ("q, a, 1", "Pass pd.read_csv"),
    ],
)
def test_truth_may_be_a_text_of_qrels(tmp_path, line, call):
    """Truth in a .txt file is refused with the call that reads its first line as it is."""
    frame = pd.DataFrame({"query": ["q1"], "doc": ["a"], "score": [1.0]})
    path = tmp_path / "qrels.txt"
    path.write_text(f"{line}\n")
    with pytest.raises(RecframeError, match=re.escape(call)):
        frame.rec(truth=path).mean("mrr")
