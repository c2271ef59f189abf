"""Shared frames and profiles of Hypothesis."""

import os
from importlib.util import find_spec

import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
# CI tests the same examples in every run, on the newest dependencies and on the oldest.
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
# This profile is for a night: pytest --hypothesis-profile=thorough
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=1000)
settings.load_profile("ci" if os.environ.get("CI") else "default")


# Modules of tests that a light environment leaves out, and the library that they import.
NEEDED = {
    "IPython": ["analysis/test_overview.py", "test_options.py", "test_tracebacks.py"],
    "deltalake": ["files/test_union_by_name.py"],
    "distributed": ["dask/test_dask_cluster.py"],
    "matplotlib": ["analysis/test_results.py"],
    "nbformat": ["test_notebooks.py"],
    "numpydoc": ["test_docstrings.py"],
}
LEFT_OUT = {library: names for library, names in NEEDED.items() if find_spec(library) is None}
collect_ignore = [name for names in LEFT_OUT.values() for name in names]


def pytest_report_header():
    """Say which modules are left out."""
    left_out = (f"{', '.join(names)} ({library})" for library, names in LEFT_OUT.items())
    return [f"left out, as a library is missing: {one}" for one in left_out]


@pytest.fixture
def frame():
    """Return three users: one with a tie across 2, one without a hit, one without relevance."""
    return pd.DataFrame(
        {
            "user": ["ann", "ann", "ann", "bob", "bob", "bob", "cat", "cat"],
            "item": [1, 2, 3, 1, 2, 3, 1, 2],
            "score": [0.9, 0.5, 0.5, 0.9, 0.8, 0.1, 0.2, 0.1],
            "relevant": [1, 1, 0, 0, 0, 1, 0, 0],
        }
    )


@pytest.fixture
def recs():
    """Return two lists of two rows and one of one."""
    return pd.DataFrame(
        {
            "user": ["bob", "bob", "ann", "ann", "eve"],
            "item": [1, 3, 1, 2, 2],
            "score": [0.7, 0.6, 0.9, 0.8, 0.5],
        }
    )


@pytest.fixture
def test():
    """Return truth with an item of ann and of bob listed; cat has no list, and eve no truth."""
    return pd.DataFrame({"user": ["ann", "ann", "ann", "bob", "cat"], "item": [2, 9, 8, 1, 1]})
