"""Results going out: whole or not at all, the same values in every format."""

from contextlib import suppress

import pandas as pd
import pytest

import recframe
from layouts import FEW
from recframe.files.output import FILE_ENDINGS, mean_of_tables, whole_file, write_each
from recframe.frames.tables import mean_table, tidy_table


@pytest.fixture
def tables(large):
    """Per-user tables of two halves of the users."""
    halves = [large[large["user"] < "user 020"], large[large["user"] >= "user 020"]]
    return [recframe.evaluate(half, FEW, short="pad") for half in halves]


def test_a_file_appears_once_it_is_whole(tmp_path):
    """Until then there is the file of before, and a hidden one beside it."""
    path = tmp_path / "users.csv"
    path.write_text("before")
    with whole_file(path) as partial:
        partial.write_text("after")
        assert "before" == path.read_text()

    assert "after" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


def test_a_file_that_does_not_become_whole(tmp_path):
    """What was there stays, and nothing beside it."""
    path = tmp_path / "users.csv"
    path.write_text("before")
    with suppress(KeyboardInterrupt), whole_file(path) as partial:
        partial.write_text("after")
        raise KeyboardInterrupt

    assert "before" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", FILE_ENDINGS)
def test_tables_are_written_as_they_pass(tables, tmp_path, ending):
    """Each table is given on as it is; the file has the rows of all of them."""
    path = tmp_path / f"users{ending}"
    passed = list(write_each(tables, path))
    written = pd.read_csv(path, engine="pyarrow") if ending == ".csv" else pd.read_parquet(path)

    assert all(one is other for one, other in zip(tables, passed, strict=True))
    pd.testing.assert_frame_equal(
        tidy_table(pd.concat(tables)), written, check_dtype=False, check_exact=True
    )


def test_means_taken_in_passing(tables):
    """The means of tables that come one by one are those of one table."""
    pd.testing.assert_frame_equal(mean_table(pd.concat(tables)), mean_of_tables(iter(tables)))
