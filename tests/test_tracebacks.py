"""The traceback of a refusal ends at the caller's line, unless the full one is asked for."""

import inspect
import os
import pickle
import re
import subprocess
import sys
import traceback
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import recframe
import recframe.dask
from recframe.public_calls import public, public_each

PACKAGE = str(Path(recframe.__file__).parent)
# Another recframe may be installed, so processes import the one under test by this path.
THIS_ONE = {**os.environ, "PYTHONPATH": str(Path(PACKAGE).parent)}
FRAME = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [2, 1], "relevant": [0, 1]})


def refuse_late(path):
    """Iterate over tables until a later one is refused."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"user": np.arange(3000), "score": rng.random(3000), "relevant": 1})
    frame.loc[2999, "relevant"] = 7
    frame.to_parquet(path, row_group_size=100)
    for table in recframe.iter_evaluate(path, "recall@1", memory="32KiB"):
        assert len(table)


CALLS = {
    "method of a metric": lambda path: FRAME.rec.recall(k=3),
    "method in a method": lambda path: FRAME.rec.mean("recall@3"),
    "call": lambda path: FRAME.rec(ties="never"),
    "method of one engine": lambda path: FRAME.rec.judge(),
    "function": lambda path: recframe.evaluate(FRAME, "recall@3"),
    "function with a cause": lambda path: recframe.evaluate(path / "no.parquet"),
    "iterator at once": lambda path: recframe.iter_evaluate(path / "no.parquet"),
    "iterator": lambda path: refuse_late(path / "run.parquet"),
    "frame of lists": lambda path: recframe.from_lists({1: [None]}),
    "arrays": lambda path: recframe.metrics.recall_at_k([1], [1], k=0),
    "Dask": lambda path: dd.from_pandas(FRAME, npartitions=1).rec.recall(k=0),
    "Dask's workers": lambda path: dd.from_pandas(FRAME, npartitions=1).rec.recall(3).compute(),
    "Dask's call": lambda path: dd.from_pandas(FRAME, npartitions=1).rec(ties="first"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_refusal_ends_at_the_caller(name, tmp_path, monkeypatch):
    """A short traceback has one hidden frame of recframe, and the full one has all."""
    with pytest.raises(recframe.RecframeError) as caught:
        CALLS[name](tmp_path)
    *_, last = traceback.walk_tb(caught.value.__traceback__)
    shown = "".join(traceback.format_exception(caught.value))

    assert 1 == shown.count(f'File "{PACKAGE}')
    assert 1 == shown.count("Traceback (most recent call last)")
    assert last[0].f_locals["__tracebackhide__"]
    assert "RECFRAME_TRACEBACK=full shows it whole" in shown
    monkeypatch.setenv("RECFRAME_TRACEBACK", "full")
    with pytest.raises(recframe.RecframeError, match=re.escape(str(caught.value))) as whole:
        CALLS[name](tmp_path)
    assert 1 < "".join(traceback.format_exception(whole.value)).count(f'File "{PACKAGE}')


def test_the_whole_has_the_cause(tmp_path, monkeypatch):
    """The full traceback has the cause of a refusal, and the short one does not."""
    with pytest.raises(recframe.RecframeError, match="no such file") as caught:
        recframe.evaluate(tmp_path / "no.parquet")
    assert caught.value.__cause__ is None
    # Programs can look at the context.
    assert isinstance(caught.value.__context__, FileNotFoundError)
    monkeypatch.setenv("RECFRAME_TRACEBACK", "full")
    with pytest.raises(recframe.RecframeError, match="no such file") as caught:
        recframe.evaluate(tmp_path / "no.parquet")
    assert isinstance(caught.value.__cause__, FileNotFoundError)


IN_IPYTHON = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("%colors nocolor")
shell.run_cell("import os, recframe")
shell.run_cell("def ask(): recframe.evaluate(5)")
shell.run_cell("ask()")
shell.run_cell("os.environ['RECFRAME_TRACEBACK'] = 'full'")
shell.run_cell("ask()")
"""


def test_ipython_shows_the_callers_frames_and_the_sentence(tmp_path):
    """IPython shows the caller's frames and the message, and the full traceback if asked to."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IN_IPYTHON],
        env=THIS_ONE | {"IPYTHONDIR": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    # IPython abbreviates the home folder in this way.
    shown = run.stdout.replace("File ~", f"File {Path.home()}")
    short, whole = re.split("\nRecframeError  ", shown)[1:]

    assert ["ask()", "def ask(): recframe.evaluate(5)"] == re.findall("---> 1 (.*)", short)
    assert "\nRecframeError: frame must be a pandas DataFrame, an Arrow table" in short
    assert [0, 2] == [text.count(PACKAGE) for text in (short, whole)]


def test_development_mode_has_the_whole(tmp_path):
    """Python's development mode shows the full traceback."""
    code = "import recframe; recframe.evaluate(5)"
    command = [sys.executable, "-X", "dev", "-W", "ignore", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, env=THIS_ONE, cwd=tmp_path)

    assert 3 == run.stderr.count(PACKAGE)


def test_other_errors_stay_as_they_are():
    """Errors other than refusals keep all their frames, in calls and in iterators."""

    @public
    def fail():
        list(public_each(int(text) for text in ["a"]))

    with pytest.raises(ValueError, match="invalid literal") as caught:
        fail()
    frames = [frame.f_code.co_name for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    assert ["call", "fail", "public_each", "<genexpr>"] == frames[1:]


def test_an_error_is_not_its_own_cause():
    """A `TypeError` from inside a call comes out without a cause, or its causes had no end."""

    @public
    def fail(value):
        return value + "1"

    with pytest.raises(TypeError, match="unsupported operand") as raised:
        fail(1)

    assert raised.value.__cause__ is None


def test_what_is_public_is_what_it_was():
    """The decorator keeps a function's signature, name and docstring; it can be pickled."""
    for function, argument in (
        (recframe.evaluate, "ties"),
        (recframe.iter_evaluate, "memory"),
        (recframe.RecAccessor.recall, "k"),
        (recframe.RecAccessor.describe, "k"),
        (recframe.from_topk, "users"),
    ):
        assert argument in inspect.signature(function).parameters
        assert argument in function.__doc__
        assert function is pickle.loads(pickle.dumps(function))


def test_an_iterator_can_be_closed():
    """Closing an iterator closes the iterator inside it."""
    ended = []

    def tables():
        try:
            yield from (1, 2)
        finally:
            ended.append(True)

    passing = public_each(tables())
    assert 1 == next(passing)
    passing.close()
    assert [True] == ended
