"""Fixtures of the tests of files: a frame of many users, and a count of temporary files."""

import tempfile

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def large():
    """300 rows of 40 users with many ties, in two score columns, sorted by user."""
    rng = np.random.default_rng(5)
    user = np.sort(rng.integers(0, 40, 300))
    return pd.DataFrame(
        {
            "user": pd.array([f"user {number:03}" for number in user], dtype="str"),
            "knn_score": rng.integers(0, 4, 300) / 4,
            "other_score": rng.integers(0, 9, 300).astype(np.int8),
            "relevant": rng.random(300) < 0.4,
        }
    )


@pytest.fixture
def spills(monkeypatch):
    """Return the list of temporary files, one for each spill."""
    made = []
    make = tempfile.TemporaryFile

    def make_and_note(*args, **options):
        made.append(make(*args, **options))
        return made[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", make_and_note)
    return made
