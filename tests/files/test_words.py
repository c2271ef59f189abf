"""Ids that are text as integers: what they stand for comes back, whichever can be so written."""

import numpy as np
import pyarrow as pa
import pytest

from recframe.files.spill import Spill
from recframe.files.words import Coding, decode, encode, text_bytes

WRITTEN = {
    "one length": ["user1", "user2", "user1"],
    "long": [f"{'x' * 60}{number:03}" for number in (1, 2, 1)],
    "eight bytes": ["12345678", "12345679"],
    "several lengths": ["a", "bb", "", "ccc", "bb", ""],
    "begin alike": ["user1", "user22", "user12345678", "user22"],
    "not ascii": ["é1", "é2", "é1"],
    "cut in a letter": [f"{'0' * 9}é{'1' * 7}", f"{'0' * 9}é{'1' * 6}2"],
    "bytes": [b"\xff\0", b"\0\xff", b"\xff\0"],
    "none at all": ["", ""],
}
LEFT = {
    "begin otherwise": [f"{'x' * 20}1", f"{'y' * 20}1"],
    "too different in length": ["a", "a" * 10],
    "several lengths not ascii": ["é", "éé"],
    "several lengths of bytes": [b"\xff\0", b"\xff"],
}


def to_batch(texts):
    """Return rows of users that are text."""
    return pa.record_batch({"user": pa.array(texts), "row": np.arange(len(texts))})


@pytest.mark.parametrize("name", [*WRITTEN, *LEFT])
def test_texts_come_back(name):
    """Whether written as integers or left, ids are what they were, each once among the values."""
    texts = (WRITTEN | LEFT)[name]
    padded = pa.concat_arrays([pa.array(texts[:1]), pa.array(texts), pa.array(texts[-1:])])
    for batch in (to_batch(texts), pa.record_batch({"user": padded})[1 : 1 + len(texts)]):
        encoded, codings = encode(batch, ["user"], {})

        assert (name in WRITTEN) == pa.types.is_uint64(encoded["user"].type)
        decoded = decode(encoded, codings)["user"]
        assert decoded.type == pa.dictionary(pa.int32(), batch["user"].type)
        assert texts == decoded.to_pylist()
        assert len(set(texts)) == len(decoded.dictionary)


def test_rows_are_written_as_those_before():
    """What is known of other rows is kept where it fits, and widened where it does not."""
    known = {"user": Coding(pa.string(), b"us", 3, 10)}
    encoded, codings = encode(to_batch(["user1", "user2"]), ["user"], known)
    assert known == codings
    again, codings = encode(to_batch(["user22222", "user1"]), ["user"], codings)
    assert known == codings
    assert encoded["user"][0] == again["user"][1]
    _, codings = encode(to_batch(["user123456789"]), ["user"], codings)
    assert {"user": Coding(pa.string(), b"user1", 3, 13)} == codings
    assert 13 == text_bytes(codings)
    _, codings = encode(to_batch(LEFT["begin otherwise"]), ["user"], codings)
    assert {"user": None} == codings
    assert 0 == text_bytes(codings)


def test_other_ids_stay():
    """Numbers, and texts that are encoded already, are left as they are."""
    coded = pa.array(["a", "b"]).dictionary_encode()
    batch = pa.record_batch({"user": coded, "country": pa.array([1, 2])})

    assert (batch, {}) == encode(batch, ["user", "country"], {})


@pytest.mark.parametrize("in_memory", [False, True])
def test_rows_that_are_written_in_several_ways(in_memory):
    """A user whose rows were written with others of another kind has them in one bucket, in order.

    That is what files of ids that grow, or of several shops, come to.
    """
    rng = np.random.default_rng(0)
    batches, texts = [], []
    for beginning in ("", "user", "", "shop/of/someone/", "é" * 9, "user"):
        names = [f"{beginning}{number}" for number in range(95, 105)] + ["user99", "100"]
        users = rng.choice(names, 200)
        rows = np.arange(len(texts), len(texts) + 200)
        batches.append(pa.record_batch({"user": pa.array(users), "row": rows}))
        texts += users.tolist()
    spill = Spill(None, ["user"], 4, in_memory=in_memory)
    for batch in batches:
        spill.write(batch)
    buckets = [pa.Table.from_batches(spill.read(bucket)).to_pandas() for bucket in range(4)]
    spill.close()

    assert spill.n_rows.tolist() == [len(bucket) for bucket in buckets]
    assert all(bucket["row"].is_monotonic_increasing for bucket in buckets)
    assert all(texts[row] == user for bucket in buckets for user, row in bucket.to_numpy())
    assert len(set(texts)) == sum(bucket["user"].nunique() for bucket in buckets)
