"""Rows as they are read: nulls met, types made one."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recframe
from layouts import FEW, SMALL, evaluate_as_in_memory, one_sorted_file, shuffled_file


@pytest.mark.parametrize("ids", ["str", "float", "category"])
@pytest.mark.parametrize("layout", [one_sorted_file, shuffled_file])
def test_null_users_are_refused_or_dropped(large, tmp_path, layout, ids):
    """Statistics do not show null ids; no plan may lose them."""
    user = large["user"] if ids == "str" else large["user"].str[-3:].astype(float)
    user = user.astype("category") if ids == "category" else user
    layout(large.assign(user=user.where(large.index % 50 != 7)), tmp_path)
    evaluate_as_in_memory(tmp_path, short="pad", missing="drop", memory=SMALL)

    with pytest.raises(
        recframe.RecframeError, match=r"ids must not be null, found 1 null of .*0.pa"
    ):
        recframe.evaluate(tmp_path, FEW, short="pad", memory=SMALL)


def test_integers_beside_nulls_stay_exact(tmp_path):
    """A null beside integers does not make floats of them, which would tie these two."""
    table = pa.table(
        {
            "user": [1, 1, 1],
            "score": pa.array([2**53 + 1, 2**53, None], pa.int64()),
            "relevant": [1, 0, 0],
        }
    )
    pq.write_table(table, tmp_path / "0.parquet")
    means = recframe.evaluate(tmp_path, "precision@1", missing="unranked").mean()

    assert [1.0] == means.tolist()


def test_a_type_that_does_not_hold_a_value(tmp_path):
    """A number that the common type rounds is refused, and the file named."""
    rows = {"score": [0.9, 0.1], "relevant": [1, 0]}
    pq.write_table(pa.table({"user": [0.5, 0.5], **rows}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"user": [2**53 + 1] * 2, **rows}), tmp_path / "1.parquet")
    with pytest.raises(
        recframe.RecframeError, match=r"cannot read .*1.parquet: Integer value 90071"
    ):
        recframe.evaluate(tmp_path, ["recall@1"])
