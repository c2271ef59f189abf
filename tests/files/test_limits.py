"""Arguments `memory`, `tmp` and `progress`: the values that they accept, and their effects."""

import re
from functools import partial

import numpy as np
import pytest
import tqdm.auto

import recframe
from files.layouts import FEW, SMALL, one_sorted_file, shuffled_file
from recframe.files.limits import Progress, check_limits, check_memory, showing

AMOUNTS = {
    "512MiB": 512 << 20,
    "1GiB": 1 << 30,
    "1.5 GB": 1_500_000_000,
    ".5TiB": 1 << 39,
    "64 kib": 64 << 10,
    "10B": 10,
    "1KB": 1000,
    "2MB": 2 * 10**6,
    "3TB": 3 * 10**12,
    "1B": 1,
    " 1 mib ": 1 << 20,
    "0.001KB": 1,
    1: 1,
    7: 7,
    np.int64(7): 7,
}


@pytest.mark.parametrize("memory", AMOUNTS)
def test_memory(memory):
    """Memory is a number of bytes, or text with a decimal or binary unit."""
    assert AMOUNTS[memory] == check_memory(memory)


@pytest.mark.parametrize(
    "memory", [0, -1, 1.5, True, None, "", "1", "GiB", "1 Gi", "5IB", "-1GiB", "0B"]
)
def test_no_memory(memory):
    """Other values of memory are refused."""
    with pytest.raises(recframe.RecframeError, match="memory must be a number of bytes above 0 or"):
        check_memory(memory)


OTHERS = {
    "memory": ({"memory": "lots"}, "memory must be .* such as '512MiB', but is 'lots'"),
    "tmp": ({"tmp": "no/such/folder"}, "tmp must be an existing folder, but is 'no/such/folder"),
    "progress": ({"progress": 1}, r"progress must be True, False or a function .*, but is 1"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_limits_are_checked_before_files(name):
    """Wrong arguments raise before any file is opened."""
    options, message = OTHERS[name]
    for function in (recframe.evaluate, recframe.iter_evaluate):
        with pytest.raises(recframe.RecframeError, match=message):
            function("no.parquet", **options)


@pytest.mark.parametrize("options", [{"memory": 1}, {"tmp": "."}, {"progress": True}])
def test_limits_are_for_files(frame, options):
    """Limits are refused for a frame, which is in memory already."""
    with pytest.raises(recframe.RecframeError, match="memory, tmp and progress are for files"):
        recframe.evaluate(frame, ["recall@1"], **options)


@pytest.mark.parametrize("layout", [one_sorted_file, shuffled_file])
@pytest.mark.parametrize("memory", [SMALL, "1GiB"])
def test_progress(large, tmp_path, layout, memory):
    """Progress starts at 0, never falls, and ends with all rows, dropped ones included."""
    layout(large.assign(user=large["user"].where(large.index % 50 != 7)), tmp_path)
    calls = []
    recframe.evaluate(
        tmp_path,
        FEW,
        short="pad",
        missing="drop",
        memory=memory,
        progress=lambda done, total: calls.append((done, total)),
    )
    done = [one for one, _ in calls]

    assert {300} == {total for _, total in calls}
    assert (0, 300) == (done[0], done[-1])
    assert sorted(done) == done
    assert len(calls) > (5 if memory == SMALL else 1)


def test_progress_while_rows_are_spilled(large, tmp_path):
    """Spilling reports half of the progress, in several steps, before any block is made."""
    shuffled_file(large, tmp_path)
    calls = []
    tables = recframe.iter_evaluate(
        tmp_path, FEW, short="pad", memory=SMALL, progress=lambda done, _: calls.append(done)
    )
    next(tables)
    while_spilled = [done for done in calls if 0 < done <= 150]

    assert 2 < len(set(while_spilled))
    assert 150 in while_spilled


def test_progress_bar(large, tmp_path, capsys):
    """progress=True draws a bar."""
    one_sorted_file(large, tmp_path)
    recframe.evaluate(tmp_path, FEW, short="pad", progress=True)

    assert "0.00/300 [" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["summary", "compare"])
def test_a_bar_of_segments(frame, tmp_path, capsys, method):
    """True draws a bar of segments that are evaluated one by one; a function gets rows."""
    frame.assign(b_score=frame["score"], is_ann=frame["user"] == "ann").to_parquet(tmp_path / "a")
    calls = []
    for progress in (True, False, lambda *numbers: calls.append(numbers)):
        rec = recframe.scan(tmp_path / "a", progress=progress, short="pad")
        getattr(rec, method)(FEW, by="is_ann")
        expected = ["0.00/8.00", "0/2"] if progress is True else []
        assert expected == re.findall(r"\b0(?:\.00)?/\S+", capsys.readouterr().err)

    assert {8} == {total for _, total in calls}


def test_progress_of_a_row():
    """Reading a row and evaluating it are half of its progress each."""
    calls = []
    progress = Progress(9, lambda done, total: calls.append((done, total)))
    for progress.n_read, progress.n_evaluated in ((0, 0), (9, 0), (9, 4), (9, 9)):
        progress.report()

    assert [(0, 9), (4, 9), (6, 9), (9, 9)] == calls


def test_no_progress(capsys):
    """By default, no bar is drawn."""
    with showing(False, 300) as shown:
        shown.n_read = 300
        shown.report()

    assert ("", "") == capsys.readouterr()


def test_a_bar_that_goes_when_all_is_done(capsys, monkeypatch):
    """A bar counts rows, and disappears when all are done."""
    monkeypatch.setattr(tqdm.auto, "tqdm", partial(tqdm.auto.tqdm, mininterval=0))
    with showing(True, 3000) as shown:
        for shown.n_read in (1000, 3000):
            shown.report()
        shown.n_evaluated = 3000
        shown.report()
    drawn = capsys.readouterr().err.split("\r")

    assert ["500/3.00k", "1.50k/3.00k", "3.00k/3.00k"] == [
        re.search(r"\S+/3.00k", bar)[0] for bar in drawn[2:5]
    ]
    assert all("rows/s]" in bar for bar in drawn[2:5])
    assert ("", "") == (drawn[-1], drawn[-2].strip())


def test_a_folder_of_temporary_files(tmp_path):
    """The folder tmp may be text or a path; the default is the system's folder."""
    for tmp in (str(tmp_path), tmp_path):
        assert (5, str(tmp_path), False) == check_limits(5, tmp, False)
    assert (1 << 30, None, print) == check_limits("1GiB", None, print)
    (tmp_path / "file").touch()
    with pytest.raises(recframe.RecframeError, match="tmp must be an existing folder, but is"):
        check_limits(5, tmp_path / "file", False)
