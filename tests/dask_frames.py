"""Frames for Dask, and comparisons of their tables with pandas."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

import strategies

METRICS = [strategies.label(*asked) for asked in strategies.every_metric(2)]
USERS = {
    "int": lambda number: number,
    "str": lambda number: number.map("user {}".format).astype("str"),
    "category": lambda number: number.map("user {}".format).astype("category"),
    "nullable": lambda number: number.astype("Int64"),
}

# These tables have one partition, with rows in order.
IN_ONE = {
    "describe": lambda rec: rec.describe(k=3),
    "mean of columns": lambda rec: rec.summary("mean(other_score)@2", n_resamples=99),
    "summary": lambda rec: rec.summary(METRICS, n_resamples=99),
    "compare": lambda rec: rec.compare(METRICS, baseline="other_score", n_resamples=99),
}
IN_NO_ORDER = {
    "evaluate": lambda rec: rec.evaluate(METRICS),
    "rank": lambda rec: rec.rank(),
    "top": lambda rec: rec.top(2, "other_score"),
    "top of each": lambda rec: rec.top(2),
}
OTHERS = {
    "mean": lambda rec: rec.mean(METRICS),
    "curve": lambda rec: rec.curve(k=[1, 2, 5]),
    "curve of all": lambda rec: rec.curve("precision"),
}
LAZY = IN_ONE | IN_NO_ORDER | OTHERS


def interactions(ids="int"):
    """Return 400 rows of 49 users in random order, with ties, in two score columns."""
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "user": USERS[ids](pd.Series(rng.integers(0, 50, 400))),
            "knn_score": rng.integers(0, 5, 400),
            "other_score": rng.random(400).round(1),
            "relevant": rng.random(400) < 0.3,
        }
    )


def parts(frame, n=4):
    """Return a Dask DataFrame of the frame with an empty partition among the others."""
    ddf = dd.from_pandas(frame, npartitions=n, sort=False)
    return dd.concat([ddf, ddf[ddf["knn_score"] > 99], ddf[ddf["knn_score"] > 99]]).persist()


def assert_same(expected, lazy):
    """Assert that a lazy table, with users sorted, equals the expected one to the last bit."""
    assert isinstance(lazy, dd.DataFrame)
    actual = lazy.compute()
    pd.testing.assert_frame_equal(expected, actual.sort_index(), check_exact=True)


def assert_all_same(frame, ddf, partitioned=False, **options):
    """Assert that a Dask DataFrame has the tables of the frame, with rows sorted."""
    ours = ddf.rec(short="pad", partitioned=partitioned, **options)
    theirs = frame.rec(short="pad", **options)
    makes = IN_ONE | IN_NO_ORDER | OTHERS
    # Computed together, they share the shuffle of rows.
    actuals = dask.compute(*(make(ours) for make in makes.values()))
    for (name, make), actual in zip(makes.items(), actuals, strict=True):
        expected = make(theirs)
        if name in IN_NO_ORDER:
            # Rows labelled by their user have equal labels.
            expected, actual = (
                table.sort_values(list(table.columns)).sort_index(kind="stable")
                for table in (expected, actual)
            )
        tolerance = {"rtol": 1e-12} if name in OTHERS else {"check_exact": True}
        pd.testing.assert_frame_equal(expected, actual, **tolerance)
