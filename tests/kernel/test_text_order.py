"""Texts in order within runs, the last first."""

import numpy as np
import pyarrow as pa
import pytest

from recframe.frames.keys import as_texts
from recframe.kernel import runs
from recframe.kernel.runs import order_runs
from recframe.kernel.text_order import find_higher, order_texts

SIGNS = {
    "short and long": ["a", "b"],
    "zeros at the end": ["a", "\0"],
    "of several bytes": ["a", "é", "漢", "𝄞"],
    "all begin alike": ["a beginning of all ", "x", "y"],
}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("signs", SIGNS.values(), ids=SIGNS)
def test_runs_of_texts(signs, kind):
    """Each run has the order that Python gives the bytes of its texts."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        texts = sorted({"".join(rng.choice(signs, rng.integers(0, 12))) for _ in range(30)})
        begin = "z" * (seed % 2)
        texts = [begin + text for text in rng.permutation(texts)]
        sizes = rng.integers(1, len(texts) + 1, 4)
        rows = np.concatenate([rng.permutation(len(texts))[:size] for size in sizes])
        among = pa.array(["other", *texts], kind)[1:]
        found = rows[order_texts(as_texts(among), rows, sizes)]

        for own, run in zip(
            *(np.split(each, sizes.cumsum()) for each in (rows, found)), strict=True
        ):
            expected = sorted(own, key=lambda row: texts[row].encode(), reverse=True)
            assert expected == run.tolist()


@pytest.mark.parametrize("signs", SIGNS.values(), ids=SIGNS)
def test_texts_beside_others(signs):
    """Each text is compared with several as Python compares their bytes."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        texts = {"".join(rng.choice(signs, rng.integers(0, 12))) for _ in range(30)}
        texts = sorted(texts, key=str.encode)
        among, n_texts = as_texts(pa.array(texts)), len(texts)
        rows = rng.integers(0, n_texts, 20)
        sizes = rng.integers(1, n_texts, 20)
        of_row = np.repeat(rows, sizes)
        others = (of_row + rng.integers(1, n_texts, len(of_row))) % n_texts  # none is the row
        found = find_higher(among, rows, others, sizes)

        assert np.array_equal(others > of_row, found)
        others[-1] = of_row[-1]
        assert find_higher(among, rows, others, sizes) is None


def test_texts_of_fewer_bytes_than_are_compared_at_once():
    """Texts may have less than eight bytes in all."""
    texts = as_texts(pa.array(["b", "", "a"]))

    assert [0, 2, 1] == order_texts(texts, np.arange(3), np.array([3])).tolist()
    assert [0] == order_texts(as_texts(pa.array([""])), np.arange(1), np.array([1])).tolist()


@pytest.mark.parametrize("dtype", [np.uint64, np.int32, np.float64])
def test_narrow_runs_of_many_keys(dtype, monkeypatch):
    """Keys of short runs are put in order by counting, those that are equal as they stand."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 12, 300)
    keys = rng.integers(0, 5, sizes.sum()).astype(dtype)
    monkeypatch.setattr(runs, "MANY", 1)
    order = order_runs(keys, sizes, 5)

    user = np.repeat(np.arange(300), sizes)
    assert (np.lexsort((keys, user)) == order)[sizes[user] <= runs.NARROW].all()
    assert keys[order].tolist() == keys[np.lexsort((keys, user))].tolist()
