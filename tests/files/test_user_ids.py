"""Ids of users as 64 bits: equal for equal ids, spread for all others."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from recframe.files.user_ids import hash_users

SPREAD = {
    "end alike": [f"{number:08}-of-the-same-shop" for number in range(6400)],
    "begin alike": [f"user/of/the/same/shop/{number:08}" for number in range(6400)],
    "eight bytes": [f"u{number:07}" for number in range(6400)],
    "one length each": ["x" * (1 + number % 200) + str(number // 200) for number in range(6400)],
    "numbers": list(range(6400)),
    "times": list(pd.date_range("2020", periods=6400, freq="D")),
}


@pytest.mark.parametrize("ids", SPREAD)
@pytest.mark.parametrize("level", range(4))
def test_ids_are_spread_over_buckets(ids, level):
    """Every level parts ids evenly, whatever they have in common."""
    bits = hash_users(pa.array(SPREAD[ids])) >> np.uint64(16 * level)
    sizes = np.bincount((bits % np.uint64(64)).astype(int), minlength=64)

    assert 50 < sizes.min()
    assert sizes.max() < 170


def test_equal_ids_have_equal_hashes():
    """The hash of an id depends neither on its place nor on what stands around it."""
    ids = pa.array(["", "a", "b" * 9, "c" * 300, "a", "", "é" * 8])
    hashes = hash_users(ids)

    assert len(set(ids.to_pylist())) == len(set(hashes.tolist()))
    assert hashes.tolist() == [hash_users(ids.slice(row, 1))[0] for row in range(len(ids))]
    assert hashes.tolist()[1:] == hash_users(pa.concat_arrays([ids.slice(1), ids])).tolist()[:6]


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.int64()])
def test_no_ids_have_no_hashes(kind):
    """Without ids there is nothing to hash."""
    assert [] == hash_users(pa.array([], kind)).tolist()


def test_the_two_zeros_have_one_hash():
    """0.0 and -0.0 are equal."""
    first, second = hash_users(pa.array([0.0, -0.0]))

    assert first == second
