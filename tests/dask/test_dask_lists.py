"""recframe.dask makes rows of lists of a known type, and takes lists as truth and exclude."""

import re

import dask
import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
import pytest

import recframe
import recframe.dask

USERS = pd.Index([*range(10)], name="userId")
LISTS = [
    None if user == 7 else [(item, 5 - item / 4) for item in range(user % 4, 9, 2)][: user % 5]
    for user in USERS
]
IDS = [None if cell is None else [item for item, _ in cell] for cell in LISTS]
STRUCTS = pa.list_(pa.struct({"movieId": pa.int64(), "rating": pa.float64()}))
TRUTH = pd.DataFrame({"userId": [*USERS, *USERS], "movieId": [user % 6 for user in USERS] * 2})
TRUTH.loc[len(USERS) :, "movieId"] += 3
METRICS = ["recall@2", "precision@3", "mrr", "ndcg"]


@pytest.fixture(autouse=True)
def threads():
    """Use Dask's threads, and objects as in pandas."""
    with dask.config.set({"scheduler": "threads", "dataframe.convert-string": False}):
        yield


def make(cells, dtype):
    """Return a Dask DataFrame of lists of a type, in several partitions."""
    cells = pd.Series(cells, USERS, dtype=dtype, name="recommendations")
    return dd.from_pandas(cells.reset_index(), npartitions=3)


def assert_values(result, **options):
    """Assert that a result has the values of pandas, bit for bit."""
    lists = pd.Series(LISTS, USERS, dtype=object).reset_index()
    expected = recframe.from_lists(lists).rec(short="pad", **options).evaluate(METRICS)
    computed = result.compute().sort_index()
    assert expected.index.tolist() == computed.index.tolist()
    assert expected.to_numpy().tolist() == computed.to_numpy().tolist()


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        ([cell and [*map(tuple, cell)] for cell in LISTS], pd.ArrowDtype(STRUCTS)),
        (IDS, pd.ArrowDtype(pa.large_list(pa.int32()))),
    ],
    ids=["structs", "items"],
)
def test_lists_of_arrow_become_rows(cells, dtype):
    """Lists of Arrow have the values of pandas, with a value for empty lists."""
    frame = make(cells, dtype)

    assert_values(frame.rec(truth=TRUTH, short="pad").evaluate(METRICS), truth=TRUTH)
    indexed = frame.set_index("userId")
    assert_values(indexed.rec(truth=TRUTH, short="pad").evaluate(METRICS), truth=TRUTH)


def test_the_call_that_is_shown_runs():
    """Lists of objects are refused with a call that makes rows of them."""
    full = [cell or [(99, 0.0)] for cell in LISTS]
    ddf = make(full, object)
    with pytest.raises(recframe.RecframeError, match="holds lists, ddf") as caught:
        ddf.rec(truth=TRUTH).mean("recall@2")
    call = re.search(r"(ddf\.map_partitions\(.*\)) makes rows", str(caught.value))[1]
    rows = eval(call, {"ddf": ddf, "recframe": recframe})

    expected = recframe.from_lists(ddf.compute()).rec(truth=TRUTH, short="pad").mean("recall@2")
    mean = rows.rec(truth=TRUTH, short="pad").mean("recall@2").compute()
    pd.testing.assert_frame_equal(expected, mean)


@pytest.mark.parametrize("has_lists", [False, True])
@pytest.mark.parametrize("role", ["truth", "exclude"])
def test_truth_and_exclude_on_dask(role, has_lists):
    """Truth and exclude may be Dask DataFrames, also with lists."""
    pairs = TRUTH if role == "truth" else TRUTH[:3]
    given = pairs.groupby("userId")["movieId"].agg(list).reset_index() if has_lists else pairs
    options = {"truth": TRUTH, "population": "rows"}
    asked = options | {role: dd.from_pandas(given, npartitions=2)}
    frame = make([cell and [*map(tuple, cell)] for cell in LISTS], pd.ArrowDtype(STRUCTS))
    result = frame.rec(**asked, short="pad").evaluate(METRICS)

    assert_values(result, **options | {role: pairs})
