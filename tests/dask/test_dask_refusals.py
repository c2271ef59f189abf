"""recframe.dask refuses faults of all partitions together, in the words of pandas."""

import re

import dask
import dask.dataframe as dd
import pandas as pd
import pytest

import recframe
import recframe.dask


@pytest.fixture(autouse=True)
def threads():
    """Use Dask's threads, and ids of text as in pandas."""
    with dask.config.set({"scheduler": "threads", "dataframe.convert-string": False}):
        yield


FRAME = pd.DataFrame(
    {
        "day": [1, 2, 3, 3],
        "user": ["a", "b", "c", "d"],
        "item": ["p", "q", "r", "s"],
        "score": [0.1, 0.2, 0.3, 0.4],
        "relevant": True,
    }
)
OTHERS = pd.DataFrame({"day": [3, 4, 5], "user": ["x", "y", "z"], "item": ["p", "q", "r"]})
REFUSED = {
    "no such user": {"exclude": OTHERS[["user", "item"]]},
    "no such item": {"exclude": FRAME[["user"]].assign(item=["t", "u", "v", "w"])},
    "users of days": {"user": ["day", "user"], "exclude": OTHERS},
    "days of users": {"user": ["day", "user"], "exclude": OTHERS.assign(day=9, user="a")},
    "no such item in one ranking": {"user": None, "exclude": pd.DataFrame({"item": ["P", "Q"]})},
    "items in capitals": {"truth": FRAME[["user"]].assign(item=["P", "Q", "R", "S"])},
    "capitals in one ranking": {"user": None, "truth": pd.DataFrame({"item": ["P", "Q"]})},
    "no row of truth": {"truth": OTHERS[:0]},
    "no row of truth for one": {"truth": OTHERS[["item"]][:0], "user": None},
}


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("n", [1, 3])
def test_what_pandas_refuses(options, n):
    """Refusals have the words of pandas, in one partition and in several."""
    options = {"short": "pad"} | options
    ours = dd.from_pandas(FRAME, npartitions=n).rec(**options)
    with pytest.raises(recframe.RecframeError) as expected:
        FRAME.rec(**options).recall(k=1)
    for make in (ours.recall, ours.mean, ours.describe):
        with pytest.raises(recframe.RecframeError) as refused:
            make().compute()
        messages = [re.sub("'[a-s]'", "any", str(one.value)) for one in (expected, refused)]
        assert messages[0] == messages[1]


def test_users_of_truth_who_are_those_of_the_frame():
    """Users are compared with truth over all partitions, not in each one."""
    options = {"truth": FRAME[["user", "item"]], "population": "raise", "short": "pad"}
    ours = dd.from_pandas(FRAME, npartitions=3).rec(**options).recall(k=1).compute()

    pd.testing.assert_frame_equal(FRAME.rec(**options).recall(k=1), ours.sort_index())
