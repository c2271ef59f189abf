"""Hypothesis strategies for the kernel: rows of groups, scores of every kind, and small sizes.

The sizes are so small that few rows reach all branches of code for many rows.
"""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import strategies as st

from recframe.kernel import grouping, ranking, scores, threads
from recframe.kernel.grouping import Groups, group_offsets

MODULES = (grouping, ranking, scores, threads)
SIZES = {
    "SLICE": [16, 20, 48],
    "BATCH": [3],
    "ROWS_PER_THREAD": [1, 5],
    "RUN": [16, 90],
    "MOST_USERS": [2],
    "LEAST": [(4, 4), (99, 20), (99, 99)],
    "MOST_DISTINCT": [0, 3],
    "N_SAMPLED": [2],
    "SLOT_BITS": [2, 5],
}
SIZE_SETS = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(values) for name, values in SIZES.items()}
)


@contextmanager
def cut(sizes, n_threads):
    """Set sizes in all modules of the kernel, and the number of threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(threads.VARIABLE, str(n_threads))
        for name, value in sizes.items():
            modules = [module for module in MODULES if hasattr(module, name)]
            assert modules
            for module in modules:
                patch.setattr(module, name, value)
        yield


def cuts():
    """Return a strategy of arguments for `cut`."""
    return st.tuples(SIZE_SETS, st.sampled_from([1, 3]))


@st.composite
def groups(draw, max_groups=6, max_size=30):
    """Return groups, some without rows, and the group of each row."""
    sizes = draw(st.lists(st.integers(0, max_size), min_size=1, max_size=max_groups))
    sizes += [0] * draw(st.sampled_from([0, 0, 1, 9]))
    codes = np.repeat(np.arange(len(sizes)), sizes)
    if draw(st.booleans()):
        return Groups(len(sizes), offsets=group_offsets(np.array(sizes))), codes.tolist()
    seed = draw(st.integers(0, 999))
    codes = np.random.default_rng(seed).permutation(codes).astype(draw(st.sampled_from("bil")))
    return Groups(len(sizes), codes=codes), codes.tolist()


def _close(dtype, lowest, others):
    """Return a pool of scores next to each other, and others far away, above 0 or around it."""

    def draw(rng, size):
        last = np.finfo(dtype).eps
        return np.append(lowest + rng.integers(0, 9, size) * last, others).astype(dtype)

    return draw


def _integers(dtype):
    """Return a pool of integers over all of a dtype's range and at its ends."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max

    def draw(rng, size):
        spread = rng.integers(low, high, size, dtype, endpoint=True)
        return np.append(spread, np.array([low, low + 1, high - 1, high], dtype))

    return draw


def _special(dtype):
    """Return a pool of the floats at which a dtype ends or changes."""
    found = np.finfo(dtype)
    ends = [np.inf, found.max, found.smallest_normal, found.smallest_subnormal, 1 + found.eps, 1, 0]
    return lambda rng, size: np.array([*ends, *(-np.array(ends))], dtype)


POOLS = {
    "positive": lambda rng, size: rng.random(size),
    "signed": lambda rng, size: rng.standard_normal(size),
    "negative": lambda rng, size: -rng.random(size) - 1,
    "special": _special(np.float64),
    "range": lambda rng, size: rng.choice([-1, 1], size) * 10.0 ** rng.integers(-300, 300, size),
    "close": _close(np.float64, 1, []),
    "close beside huge": _close(np.float64, 1, [1e300]),
    "close on either side": _close(np.float64, -1, [1, -1e300, 0, -0.0]),
    "subnormal": lambda rng, size: rng.integers(-9, 9, size) * 5e-324,
    "decimals": lambda rng, size: rng.integers(-500, 500, size) / 100,
    "whole floats": lambda rng, size: rng.integers(-(2**53), 2**53, size).astype(float),
    "ratings": lambda rng, size: rng.integers(0, 11, size) / 2,
    "float32": lambda rng, size: rng.random(size, np.float32),
    "float32 signed": lambda rng, size: rng.standard_normal(size, np.float32),
    "float32 special": _special(np.float32),
    "float32 close beside huge": _close(np.float32, 1, [3e38]),
    "float16": lambda rng, size: rng.standard_normal(size).astype(np.float16),
    "float16 special": _special(np.float16),
    "longdouble": lambda rng, size: 1 + rng.integers(0, 9, size) * np.finfo(np.longdouble).eps,
    "bool": lambda rng, size: np.array([False, True]),
    **{name: _integers(name) for name in ("int8", "int16", "int32", "int64")},
    **{name: _integers(name) for name in ("uint8", "uint16", "uint32", "uint64")},
}


@st.composite
def score_columns(draw, n_rows):
    """Return scores of a kind, with few or many distinct values, half of them 0 in some cases."""
    pool = POOLS[draw(st.sampled_from(sorted(POOLS)))]
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    values = pool(rng, draw(st.sampled_from([1, 2, 9, 500])))
    drawn = rng.choice(values, n_rows)
    if draw(st.booleans()):
        drawn[rng.random(n_rows) < 0.5] = 0
    return drawn
