"""Matrices without ids have positions as ids, and truth beyond these is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import recframe
from recframe import RecframeError

SCORES = [[0.1, 0.9, 0.5], [0.3, 0.4, 0.2]]
IDS = {"users": [4, 7], "items": [1, 2, 3]}


def truth_of(users, items):
    """Return truth with these pairs."""
    return pd.DataFrame({"who": users, "what": items}).set_axis(["user", "item"], axis=1)


def mean(frame, truth, **options):
    """Return the mean recall@1 of a frame."""
    options = {"population": "truth", "truth": truth, **options}
    return frame.rec(**options).mean("recall@1").iloc[0, 0]


MAKERS = {
    "from_matrix": lambda: recframe.from_matrix(SCORES),
    "the best of from_matrix": lambda: recframe.from_matrix(SCORES, k=2),
    "a frame of scores": lambda: recframe.from_matrix(pd.DataFrame(SCORES)),
    "rows selected": lambda: recframe.from_matrix(SCORES).query("score > 0.1").copy(),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(
    ("truth", "found"),
    [
        (
            truth_of([1, 2], [1, 1]),
            r"user: .*from 0 to 1, and those of truth go beyond \(such as 2\)",
        ),
        (
            truth_of([0, 1], [3, 1]),
            r"item: .*from 0 to 2, and those of truth go beyond \(such as 3\)",
        ),
        (truth_of([0, 1], ["x", "y"]), r"item: .*truth go beyond \(such as 'x'\)"),
        (recframe.truth_from(csr_array(np.eye(3))), r"user: .*truth go beyond"),
        (
            recframe.truth_from(csr_array([[0, 1, 0, 0], [1, 0, 0, 0]])),
            r"item: .*truth go beyond \(such as 3\). Pass items=",
        ),
    ],
)
def test_truth_beyond_positions_is_refused(make, truth, found):
    """Truth with ids beyond a matrix without ids is refused under every `population`."""
    for population in ("raise", "both", "truth", "rows", "all"):
        with pytest.raises(RecframeError, match=found):
            mean(make(), truth, population=population)


@pytest.mark.parametrize(
    "frame",
    [
        recframe.from_topk([[8, 9], [9, 7]]),
        recframe.from_groups([0.9, 0.4], [1, 0], sizes=[1, 1]).assign(item=[8, 9]),
    ],
)
def test_positions_of_users_alone(frame):
    """Functions that number users but not items refuse truth for its users only."""
    with pytest.raises(RecframeError, match=r"user: .*truth go beyond .*Pass users= "):
        mean(frame, truth_of([0, 5], [8, 8]), relevant="infer")

    assert 1.0 == mean(frame, truth_of([0, 1], [8, 9]))


def test_excluded_pairs_beyond_positions():
    """Pairs of `exclude` beyond a matrix without ids are refused, like pairs of truth."""
    with pytest.raises(RecframeError, match=r"item: .*exclude go beyond .*Pass items="):
        mean(recframe.from_matrix(SCORES), truth_of([0], [0]), exclude=truth_of([0, 1], [3, 1]))


@pytest.mark.parametrize(
    ("frame", "truth"),
    [
        (recframe.from_matrix(SCORES), truth_of([0, 1], [1, 1])),
        (recframe.from_matrix(SCORES), truth_of([0, 1], pd.Series([1, 1], dtype=object))),
        (recframe.from_matrix(SCORES), recframe.truth_from(csr_array([[0, 1], [0, 1]]))),
        (recframe.from_matrix(SCORES, **IDS), truth_of([4, 7, 9], [2, 2, 5])),
        (recframe.from_matrix(SCORES, users=range(2), items=range(3)), truth_of([0, 9], [1, 9])),
        (recframe.from_matrix(SCORES).assign(item=lambda f: f["item"] + 1), truth_of([0], [3])),
        (recframe.from_matrix(SCORES).merge(pd.DataFrame({"item": [0, 1]})), truth_of([0], [9])),
    ],
)
def test_truth_that_fits(frame, truth):
    """Truth within the positions is accepted, and so are passed, later added or merged ids."""
    mean(frame, truth)
