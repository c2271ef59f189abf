"""memory=, tmp= and progress=: what they take, and where."""

import numpy as np
import pytest

import recframe
from layouts import FEW, SMALL, one_sorted_file, shuffled_file
from recframe.files.budget import check_memory

AMOUNTS = {
    "512MiB": 512 << 20,
    "1GiB": 1 << 30,
    "1.5 GB": 1_500_000_000,
    ".5TiB": 1 << 39,
    "64 kib": 64 << 10,
    "10B": 10,
    7: 7,
    np.int64(7): 7,
}


@pytest.mark.parametrize("memory", AMOUNTS)
def test_memory(memory):
    """Bytes come as a number or as text with a unit, decimal or binary."""
    assert AMOUNTS[memory] == check_memory(memory)


@pytest.mark.parametrize(
    "memory", [0, -1, 1.5, True, None, "", "1", "GiB", "1 Gi", "5IB", "-1GiB", "0B"]
)
def test_no_memory(memory):
    """Anything else is refused."""
    with pytest.raises(recframe.RecframeError, match="memory must be a number of bytes above 0 or"):
        check_memory(memory)


OTHERS = {
    "memory": ({"memory": "lots"}, "memory must be .* such as '512MiB', found 'lots'"),
    "tmp": ({"tmp": "no/such/folder"}, "tmp must be a folder that is there, found 'no/such/folder"),
    "progress": ({"progress": 1}, r"progress must be True, False or a function .*, found 1"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_limits_are_checked_before_files(name):
    """What a call gets wrong is said before any file is opened."""
    options, message = OTHERS[name]
    for function in (recframe.evaluate, recframe.iter_evaluate):
        with pytest.raises(recframe.RecframeError, match=message):
            function("no.parquet", **options)


@pytest.mark.parametrize("options", [{"memory": 1}, {"tmp": "."}, {"progress": True}])
def test_limits_are_for_files(frame, options):
    """A frame is in memory already; an option that would do nothing is refused."""
    with pytest.raises(recframe.RecframeError, match="memory, tmp and progress are for files"):
        recframe.evaluate(frame, ["recall@1"], **options)


@pytest.mark.parametrize("layout", [one_sorted_file, shuffled_file])
@pytest.mark.parametrize("memory", [SMALL, "1GiB"])
def test_progress(large, tmp_path, layout, memory):
    """Progress starts at 0, never falls, and ends with all rows, the dropped ones too."""
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


def test_progress_bar(large, tmp_path, capsys):
    """True draws a bar."""
    one_sorted_file(large, tmp_path)
    recframe.evaluate(tmp_path, FEW, short="pad", progress=True)

    assert "0.00/300 [" in capsys.readouterr().err
