"""Mixtures of ids, rounded floats and ids that can never be equal are refused."""

import uuid
from datetime import date, datetime, timedelta
from decimal import Decimal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
import recframe.dask
from recframe import RecframeError
from recframe.cli import main

UTC = pd.Timestamp("2026-01-01", tz="UTC")
ID = uuid.UUID(int=7)


def objects(*ids):
    """Return a column of objects."""
    return pd.Series(ids, dtype=object)


MIXED = {
    "numbers and text": (
        objects(1, "1", 2),
        r"but are numbers \(2 of 3, such as 1\) and text \(1 of 3, such as '1'\). "
        r"Make them one, with df\['{}'\].astype\(str\)\.$",
    ),
    "whole floats and text": (
        objects("1", 1.0, 2.0),
        r"but are text .* and numbers \(2 of 3, such as 1.0\).*str\).str.removesuffix\('.0'\)",
    ),
    "categories": (objects(1, "1", 2).astype("category"), "but are numbers .* and text"),
    "decimals and text": (objects(Decimal(1), "1"), r"such as Decimal\('1'\)\) and text"),
    "text and bytes": (objects("a", b"a"), r"but are text .* and bytes .*id.decode\(\) if isinst"),
    "booleans and text": (objects(True, "True"), r"but are booleans \(1 of 2, such as True\) and"),
    "1 and True": (objects(1, True, 2), r"numbers \(2 of 3, such as 1\) and booleans \(1 of 3"),
    "True and 1": (objects(True, 1), "but are booleans .* and numbers"),
    "dates and times": (
        objects(date(2026, 1, 1), datetime(2026, 1, 1)),
        r"dates .* and times without a zone .*with pd.to_datetime\(df\['{}'\]\)",
    ),
    "zones and none": (
        objects(UTC, UTC.tz_localize(None)),
        r"times with a zone .* and times without .*pd.to_datetime\(df\['{}'\], utc=True\)",
    ),
    "uuids and text": (objects(ID, str(ID)), r"UUID .* and text .*astype\(str\)"),
    "tuples and text": (objects((1, 2), "x"), "tuple .* and text"),
}


@pytest.mark.parametrize("case", MIXED)
@pytest.mark.parametrize("role", ["user", "item"])
@pytest.mark.parametrize("where", ["frame", "truth"])
def test_mixtures_are_refused(where, role, case):
    """Ids of several kinds are refused in both roles, with an example of each and a remedy."""
    ids, message = MIXED[case]
    mixed = pd.DataFrame({"user": 1, "item": range(len(ids)), "score": 1.0}).assign(**{role: ids})
    plain = pd.DataFrame({"user": [1], "item": [1], "score": 1.0})
    frame, truth = (mixed, plain) if where == "frame" else (plain, mixed)
    begin = "^" if where == "frame" else "^truth: "
    message = f"{begin}{role}='{role}': ids must be of one kind, .*{message.format(role)}"
    with pytest.raises(RecframeError, match=message):
        frame.rec(truth=truth[["user", "item"]]).recall(k=1)
    if (where, role) == ("frame", "user"):
        with pytest.raises(RecframeError, match=message):
            recframe.evaluate(mixed.assign(relevant=1), "recall@1")


@pytest.mark.parametrize(
    "remedy",
    [
        lambda ids: ids.astype(str),
        lambda ids: ids.astype(str).str.removesuffix(".0"),
    ],
)
def test_the_remedies_of_mixtures(remedy):
    """The suggested conversions of mixed ids make them one kind, equal if they mean the same."""
    frame = pd.DataFrame({"user": remedy(objects(1, "1", 2)), "score": 1, "relevant": 1})

    assert ["1", "2"] == frame.rec.recall(k=1).index.tolist()


@pytest.mark.parametrize(
    "ids",
    [
        objects(1, 2.5, Decimal(3), np.int64(4)),
        objects("a", np.str_("b")),
        objects(1, 3.0, np.float32(2)),
        objects(ID, uuid.UUID(int=8)),
        objects(timedelta(1), timedelta(2)),
        pd.Series(pd.Categorical(["a"], categories=objects("a", 1))),
        pd.Series(pd.interval_range(0, 3)),
    ],
    ids=lambda ids: str(ids.tolist()[0]),
)
def test_one_kind_is_taken(ids):
    """Numbers of any types are one kind, each other type is one, and unused categories none."""
    frame = pd.DataFrame({"user": ids, "item": ids, "score": 1.0})
    table = frame.rec(truth=frame[["user", "item"]]).recall(k=1)

    assert [1.0] * ids.nunique() == table["score"].tolist()


def test_ids_that_cannot_be_compared():
    """Lists as ids are refused with a remedy."""
    frame = pd.DataFrame({"user": 1, "item": objects([1], [2]), "score": 1.0})
    message = r"item='item': ids must be hashable, but are not: unhashable type: 'list'"
    with pytest.raises(RecframeError, match=message + r".*df\['item'\].map\(tuple\)"):
        frame.rec(truth=pd.DataFrame({"user": [1], "item": [1]})).recall(k=1)
    with pytest.raises(RecframeError, match=r"^user='user': .*unhashable"):
        frame.assign(user=frame["item"], item=1, relevant=1).rec.recall(k=1)


@pytest.mark.parametrize("convert", [True, False])
def test_mixtures_on_dask(convert):
    """Dask refuses a mixture in its partition, unless it converts objects to text."""
    frame = pd.DataFrame({"user": objects(1, "b", 2), "score": 1, "relevant": 1})
    with dask.config.set({"dataframe.convert-string": convert, "scheduler": "sync"}):
        ddf = dd.from_pandas(frame, npartitions=1)
        if isinstance(ddf._meta["user"].dtype, pd.StringDtype):
            assert ["1", "2", "b"] == sorted(ddf.rec.recall(k=1).compute().index)
            return
        with pytest.raises(RecframeError, match="user='user': ids must be of one kind"):
            ddf.rec.recall(k=1).compute()


ROUNDED = {
    "float32": (2**24, 16777216),
    "float64": (2**53, 9007199254740992),
    "Float32": (2**24, 16777216),
    "Float64": (-(2**53), 9007199254740992),
    "arrow": (2**24 + 2, 16777216),
    "object": (float(2**60), 9007199254740992),
    "category": (2**24, 16777216),
}


def as_floats(values, dtype):
    """Return a column of values in one of these dtypes."""
    if dtype == "category":
        return pd.Series(values, dtype="float32").astype("category")
    dtypes = {"arrow": pd.ArrowDtype(pa.float32()), "object": object}
    return pd.Series(values, dtype=dtypes.get(dtype, dtype))


@pytest.mark.parametrize("dtype", ROUNDED)
@pytest.mark.parametrize("role", ["user", "item"])
def test_rounded_ids_are_refused(role, dtype):
    """Floats too large to tell neighbouring integers apart are refused as ids."""
    value, limit = ROUNDED[dtype]
    frame = pd.DataFrame({"user": [1.0, 2.0], "item": [1.0, 2.0], "score": 1.0})
    large = frame.assign(**{role: as_floats([1.0, value], dtype)})
    fine = frame.assign(**{role: as_floats([1.0, 2.0], dtype)})
    message = rf"{role}='{role}': ids of .* must be below {limit}, .* but 1 are not "
    message += rf"\(such as {value:.0f}\)"
    with pytest.raises(RecframeError, match=f"^{message}.*'Int64'"):
        large.rec(truth=frame[["user", "item"]]).recall(k=1)
    with pytest.raises(RecframeError, match=f"^truth: {message}"):
        frame.rec(truth=large[["user", "item"]]).recall(k=1)
    assert [1.0] == fine.rec(truth=fine[["user", "item"]]).recall(k=1)["score"].unique().tolist()


def test_float16_is_no_dtype_of_ids():
    """Ids of float16 are refused."""
    frame = pd.DataFrame({"user": 1, "item": pd.Series([1, 2], dtype="float16"), "score": 1.0})
    with pytest.raises(RecframeError, match="item='item': ids must not be float16"):
        frame.rec(truth=frame[["user", "item"]]).recall(k=1)
    with pytest.raises(RecframeError, match="user='user': ids must not be float16"):
        frame.assign(user=frame["item"], item=1, relevant=1).rec.recall(k=1)


def test_rounded_ids_in_files_and_on_dask(tmp_path, capsys):
    """Frames, files, Dask and the command refuse float32 ids that may be rounded."""
    users = pd.Series([2**24, 2**24 + 1], dtype="float32")
    frame = pd.DataFrame({"user": users, "score": [1, 2], "relevant": [0, 1]})
    frame.to_parquet(tmp_path / "x.parquet")
    message = "user='user': ids of float32 must be below 16777216"
    for use in (
        lambda: recframe.evaluate(frame, "recall@1"),
        lambda: recframe.evaluate(tmp_path / "x.parquet", "recall@1"),
        lambda: dd.from_pandas(frame, npartitions=1).rec.recall(k=1).compute(),
    ):
        with pytest.raises(RecframeError, match=message):
            use()
    assert 1 == main(["evaluate", str(tmp_path / "x.parquet")])
    assert message in capsys.readouterr().err


TEXTS, WHOLE = objects("1", "2"), pd.Series([1.0, 2.0])
DAYS = [date(2026, 1, 1), date(2026, 1, 2)]
TIMES = pd.Series(pd.to_datetime(DAYS))
UNEQUAL = {
    "integers and text": (pd.Series([1, 2]), TEXTS, r"ids.astype\(str\)\.$"),
    "text and integers": (TEXTS, pd.Series([1, 2]), r"ids.astype\(str\)\.$"),
    "whole floats": (WHOLE, TEXTS, r"ids.astype\(str\).str.removesuffix\('.0'\)\.$"),
    "nullable floats": (WHOLE.astype("Float64"), TEXTS, r"ids.astype\(str\).str.removesuffix"),
    "booleans": (pd.Series([True, False]), pd.Series([1, 0]), r"ids.astype\(float\)\.$"),
    "bytes": (objects("a"), objects(b"a"), r"ids.map\(lambda id: id.decode\(\) if isinst"),
    "dates and times": (objects(*DAYS), TIMES, r"pd.to_datetime\(ids\)\.$"),
    "dates and text": (objects(*DAYS), TIMES.astype(str), r"pd.to_datetime\(ids\)\.$"),
    "times and text": (TIMES, TIMES.astype(str), r"pd.to_datetime\(ids\)\.$"),
    "zone and none": (TIMES.dt.tz_localize("UTC"), TIMES, r"pd.to_datetime\(ids, utc=True\)\.$"),
    "uuids": (objects(ID), objects(str(ID)), r"ids.astype\(str\)\.$"),
    "periods and dates": (TIMES.dt.to_period("D"), objects(*DAYS), r"ids.astype\(str\)\.$"),
    "intervals": (pd.Series(pd.interval_range(0, 2)), objects("(0, 1]"), r"ids.astype\(str\)\.$"),
}


@pytest.mark.parametrize("case", UNEQUAL)
@pytest.mark.parametrize("role", ["user", "item"])
def test_kinds_that_are_never_equal(role, case):
    """Ids of different kinds in frame and truth are refused; the suggested conversion works."""
    own, others, remedy = UNEQUAL[case]
    frame = pd.DataFrame({"user": 1, "item": 1, "score": np.ones(len(own))}).assign(**{role: own})
    truth = pd.DataFrame({"user": 1, "item": range(1, len(others) + 1)}).assign(**{role: others})
    truth = truth.drop_duplicates()
    message = (
        f"^{role}: ids of different kinds are never equal; the frame has .*. Convert both with "
    )
    with pytest.raises(RecframeError, match=message + remedy) as refused:
        frame.rec(population="all", truth=truth).recall(k=1)
    call = str(refused.value).rpartition("Convert both with ")[2].removesuffix(".")
    frame, truth = (
        side.assign(**{role: eval(call, {"pd": pd, "ids": side[role]})}) for side in (frame, truth)
    )
    assert frame.rec(population="all", truth=truth).recall(k=1)["score"].max() > 0


def test_fractions_of_different_precision():
    """Fractional ids in float32 and float64 are refused as unequal, and integers match."""
    frame = pd.DataFrame({"user": 1, "item": [0.1, 0.5], "score": [2, 1]})
    narrow = frame.astype({"item": "float32"})
    with pytest.raises(RecframeError, match=r"item: fractions of different precision .*float32"):
        narrow.rec(truth=frame[["user", "item"]]).recall(k=1)
    both = frame.assign(item=[1.0, 2.0])
    narrow = both.astype({"item": "float32"})
    assert [0.5] == narrow.rec(truth=both[["user", "item"]]).recall(k=1)["score"].tolist()
