"""Ids of users: their hashes, and the ids in results."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
from files.layouts import (
    SMALL,
    evaluate_as_in_memory,
    one_sorted_file,
    shuffled_file,
)
from recframe.files.blocks import hash_users

SPREAD = {
    "end alike": [f"{number:08}-of-the-same-shop" for number in range(6400)],
    "begin alike": [f"user/of/the/same/shop/{number:08}" for number in range(6400)],
    "eight bytes": [f"u{number:07}" for number in range(6400)],
    "one length each": ["x" * (1 + number % 200) + str(number // 200) for number in range(6400)],
    "begin alike for long": [f"{'x' * 1000}{number:08}" for number in range(6400)],
    "numbers": list(range(6400)),
    "times": list(pd.date_range("2020", periods=6400, freq="D")),
}


def encode(ids):
    """Return ids as they are read, text as a dictionary and codes."""
    array = pa.array(ids)
    return array.dictionary_encode() if pa.types.is_string(array.type) else array


@pytest.mark.parametrize("ids", SPREAD)
@pytest.mark.parametrize("level", range(4))
def test_ids_are_spread_over_buckets(ids, level):
    """Every level spreads ids evenly over buckets, even if they look alike."""
    bits = hash_users(encode(SPREAD[ids])) >> np.uint64(16 * level)
    sizes = np.bincount((bits % np.uint64(64)).astype(int), minlength=64)

    assert 50 < sizes.min()
    assert sizes.max() < 170


def test_equal_ids_have_equal_hashes():
    """The hash of an id does not depend on its row or its neighbours."""
    ids = encode(["", "a", "b" * 9, "c" * 300, "c" * 256, "a", "", "é" * 8, "c" * 257])
    hashes = hash_users(ids)

    assert len(set(ids.to_pylist())) == len(set(hashes.tolist()))
    assert hashes.tolist() == [hash_users(ids.slice(row, 1))[0] for row in range(len(ids))]
    assert hashes.tolist()[1:] == hash_users(pa.concat_arrays([ids.slice(1), ids])).tolist()[:8]


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_no_ids_have_no_hashes(kind):
    """No ids give no hashes."""
    assert [] == hash_users(pa.array([], kind).dictionary_encode()).tolist()
    assert [] == hash_users(pa.array([], pa.int64())).tolist()


IDS = {
    "int32": lambda number: number.astype("int32"),
    "uint64": lambda number: number.astype("uint64") + 2**63,
    "float64": lambda number: number / 7,
    "nullable": lambda number: number.astype("Int64"),
    "arrow": lambda number: number.astype("int64[pyarrow]"),
    "timestamps": lambda number: pd.Timestamp("2020", tz="UTC") + pd.to_timedelta(number, "s"),
    "dates": lambda number: (pd.Timestamp("2020") + pd.to_timedelta(number, "D")).dt.date,
    "bytes": lambda number: number.map(lambda one: b"%03d" % one),
    "booleans": lambda number: number % 2 == 0,
    "string": lambda number: number.map(str).astype("string"),
    "long": lambda number: number.map(lambda one: "x" * 20 * (one % 3) + f"{one}" + "y" * 300),
    "not ascii": lambda number: number.map(lambda one: chr(0x1F600 + one) * (1 + one % 3)),
}


@pytest.mark.parametrize("layout", [one_sorted_file, shuffled_file])
@pytest.mark.parametrize("ids", IDS)
def test_ids_of_every_type(large, tmp_path, ids, layout):
    """Users of any type that parquet stores come back unchanged."""
    number = large["user"].str[-3:].astype(int)
    layout(large.assign(user=IDS[ids](number)), tmp_path)
    evaluate_as_in_memory(tmp_path, short="pad", memory=2 * SMALL)


@pytest.mark.parametrize("memory", [SMALL, "1GiB"])
def test_two_zeros_are_one_user(tmp_path, memory):
    """Ids 0.0 and -0.0 are equal, so they are one user on every route."""
    users = [0.0, -0.0, 1.0] * 100
    frame = pd.DataFrame({"user": users, "score": range(300), "relevant": [1, 0, 0, 0] * 75})
    shuffled_file(frame, tmp_path)

    assert [0.0, 1.0] == recframe.evaluate(tmp_path, "recall@1", memory=memory).index.tolist()


def test_ids_of_several_columns_are_spread():
    """The hash depends on each column and on their order, also if they are equal."""
    ids = pa.array(range(6400))
    for columns in ((ids, ids), (ids, ids, ids), (ids, pa.array([1] * 6400))):
        hashes = hash_users(*columns)
        assert 6400 == len(set(hashes.tolist()))
        sizes = np.bincount((hashes % np.uint64(64)).astype(int), minlength=64)
        assert 50 < sizes.min()
        assert sizes.max() < 170
    assert hash_users(ids[:1], ids[1:2]) != hash_users(ids[1:2], ids[:1])


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_zeros_of_any_width_have_one_hash(kind):
    """The hashes of 0.0 and -0.0 are equal, and other numbers have different hashes."""
    hashes = hash_users(pa.array([0.0, -0.0, 1.0, -1.0], kind)).tolist()

    assert hashes[0] == hashes[1]
    assert 3 == len(set(hashes))
