"""What is checked of all partitions together, of an engine that need not be there."""

import pandas as pd
import pytest

import recframe
from recframe.frames.overlap import Items
from recframe.partitions import N_USERS, Common, check_common


def test_no_column_is_blamed_by_examples_alone():
    """Of parts with more users than they name, others may have the ids of a column in common."""
    users, others = (
        pd.MultiIndex.from_product([[day], range(N_USERS)], names=["day", "user"]) for day in (1, 2)
    )
    items, no_ids = Items(True), pd.Index([])
    for n_named, blamed in (
        (N_USERS - 1, "user='day': no 'day' is"),
        (None, "user: no user"),
    ):
        part = Common("truth", False, users[:n_named], others[:n_named], items, no_ids)
        with pytest.raises(recframe.RecframeError, match=blamed):
            check_common([part], [])
