"""Many columns packed as one: what comes back, and when it is done."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
from layouts import evaluate_as_in_memory, shuffled_file
from recframe.files.packing import UNPACKED_COLUMNS, is_wide, pack, unpack


def wide_batch(n_columns):
    """Return rows of two users with so many columns of one type, and a few of others."""
    columns = {"user": ["ann", "bob", "ann"], "relevant": [True, None, False]}
    for number in range(n_columns):
        columns[f"{number}_score"] = [number / 2, None if number % 3 else -1.0, number]
    return pa.record_batch(columns)


@pytest.mark.parametrize("rows", [slice(0, 3), slice(1, 2), slice(0, 0)])
def test_packed_columns_come_back(rows):
    """Values, nulls and the order of columns are as before."""
    batch = wide_batch(UNPACKED_COLUMNS + 1)[rows]
    packed = pack(batch)

    assert 3 == packed.num_columns
    assert batch.equals(unpack(packed, batch.schema))


def test_few_columns_are_not_packed():
    """Of few columns each is cut by itself."""
    batch = wide_batch(UNPACKED_COLUMNS)

    assert not is_wide(batch.schema)
    assert batch.equals(pack(batch))


def test_many_scores_are_spilled(tmp_path, spills):
    """A file of many score columns gives the table of its frame."""
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 9, (400, UNPACKED_COLUMNS + 8)).astype(float)
    frame = pd.DataFrame(scores)
    frame.columns = [f"model {number} score" for number in range(UNPACKED_COLUMNS + 8)]
    frame.insert(0, "user", rng.integers(0, 20, 400))
    frame.insert(1, "relevant", rng.random(400) < 0.3)
    shuffled_file(frame, tmp_path)
    evaluate_as_in_memory(tmp_path, short="pad", memory=1)

    assert spills
    assert UNPACKED_COLUMNS + 8 == len(recframe.evaluate(tmp_path, "ndcg").columns)
