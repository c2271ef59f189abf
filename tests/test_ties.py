"""Option `ties`: under "item" equal scores are ordered by item id as text, the last first."""

from decimal import Decimal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recframe
import recframe.dask
import reference
import strategies
from recframe import MissingColumnError, RecframeError
from recframe.cli import main

ASKED = strategies.every_metric(2)
LABELS = [strategies.label(*asked) for asked in ASKED]
# Each list is in the order in which trec_eval ranks it when all scores are equal.
ORDERS = {
    "int": [9, 80, 8, 10, 1, 0, -5, -10],
    "uint64": np.array([9, 2**64 - 1, 10], np.uint64),
    "float": [9.0, 10.0, 1.5, 1.0, 0.0, -5.0, -10.0],
    "text": ["～", "é", "aa", "a", "Z", "9", "10", ""],  # noqa: RUF001
    "beyond 16 bits": ["😀", "～"],  # noqa: RUF001 - UTF-16 orders these the other way round
    "short of one beginning": pd.array(
        ["doc-é", "doc-b\0", "doc-b", "doc-10", "doc-1", "doc-\0", "doc-"], "string[pyarrow]"
    ),
    "seven bytes": pd.array(["x7654321", "x765432", "x1234567", "x"], "string[pyarrow]"),
    "longer than a word": ["document_10b", "document_10", "document_1", "document"],
    "objects": pd.Series(["b", "a", "B"], dtype=object),
    "no UTF-8": pd.Series(["\ud800", "b", "a"], dtype=object),
    "bytes": [b"\xff", b"b", b"a"],
    "category": pd.Categorical(["9", "10", "1"], categories=["10", "1", "unused", "9"]),
    "category of numbers": pd.Categorical([9, 10, 1]),
    "nullable": pd.array([9, 10, 1], dtype="Int64"),
    "bool": [True, False],
    "dates": pd.to_datetime(["2026-01-02", "2026-01-01"]),
    "decimals": [Decimal("9.0"), Decimal("1E+1"), Decimal("1.50"), Decimal("1.0")],
}


def one_list(items):
    """Return a list of one user with equal scores."""
    rows = {"user": 1, "item": items, "score": 0.5, "relevant": 0}
    return pd.DataFrame(rows, index=range(len(items)))


@pytest.mark.parametrize("items", ORDERS.values(), ids=ORDERS)
def test_items_of_every_kind(items):
    """Ids are ordered by their text, for any dtype and any order of rows."""
    frame = one_list(items)
    shuffled = frame.sample(frac=1, random_state=4)

    expected = np.arange(1.0, len(items) + 1).tolist()
    assert expected == frame.rec(ties="item").rank()["score"].tolist()
    assert expected == shuffled.rec(ties="item").rank()["score"].sort_index().tolist()
    assert list(range(len(items))) == shuffled.rec(ties="item").top(k=99).index.tolist()


def items_of(kind):
    """Return a strategy of the ids of a kind."""
    ids = {
        "int": st.sampled_from([0, 3, 9, 10, 80, 2**53, -3, -20]),
        "float": st.sampled_from([0.0, 0.5, 9.0, 10.0, -3.0, 80.0]),
        "str": st.text(st.sampled_from("aB0é～😀"), max_size=10),  # noqa: RUF001
    }
    return ids[kind]


@st.composite
def rows_with_items(draw):
    """Return the kind of items, and rows (user, item, score, relevance) of distinct pairs."""
    kind = draw(st.sampled_from(["int", "float", "str"]))
    row = st.tuples(
        st.integers(0, 2),
        items_of(kind),
        st.sampled_from([0.5, 1.0, 2.0]),
        st.sampled_from([0.0, 1.0, 2.0]),
    )
    return draw(st.lists(row, min_size=1, max_size=24, unique_by=lambda row: row[:2]))


def make_frame(rows):
    """Return rows as a frame, with a second score that breaks some ties of the first."""
    frame = pd.DataFrame(rows, columns=["user", "item", "score", "relevant"])
    return frame.assign(other_score=frame["score"] * 7 % 3)


@given(rows_with_items(), strategies.options(ties="item"), st.randoms(use_true_random=False))
def test_frames_equal_the_reference(rows, options, random):
    """Every value and rank equals the reference's, under every option and order of rows."""
    options |= {"min_relevance": 1}
    random.shuffle(rows)
    table_of = make_frame(rows).rec(**options)
    read = [(user, score, relevance, item) for user, item, score, relevance in rows]
    flags = [(user, score, relevance >= 1, item) for user, score, relevance, item in read]
    low = options["min_score"]
    shown = [
        (user, None if low is not None and score < low else score, flag, item)
        for user, score, flag, item in flags
    ]
    ranks = reference.ranks(shown, "item", options["ascending"])
    try:
        expected = {
            strategies.label(name, k): reference.evaluate(read, name, k, **options)
            for name, k in ASKED
        }
    except reference.Refused:
        with pytest.raises(RecframeError):
            table_of.evaluate(LABELS)
        return
    table = table_of.evaluate(LABELS)

    for (name, _), label in zip(ASKED, LABELS, strict=True):
        for user, value in table["score", label].items():
            strategies.assert_value(expected[label][user], value, name)
    assert ranks == [None if np.isnan(rank) else rank for rank in table_of.rank()["score"]]


@settings(max_examples=8)
@given(rows_with_items(), st.randoms(use_true_random=False), st.booleans())
def test_every_entry_point_is_that_of_frames(tmp_path_factory, rows, random, with_truth):
    """Files and Dask give the table of a frame with shuffled rows, in one block and in many."""
    frame = make_frame(rows)
    options = {"ties": "item", "short": "pad", "min_relevance": 1, "zero_division": 0.0}
    truth = None
    if with_truth:
        truth = frame[["user", "item", "relevant"]]
        frame = frame.drop(columns="relevant")
    expected = recframe.evaluate(frame, LABELS, truth=truth, **options)
    path = tmp_path_factory.mktemp("entry") / "run.parquet"
    random.shuffle(rows)
    shuffled = make_frame(rows)[frame.columns]
    shuffled.to_parquet(path, row_group_size=3, index=False)
    entry_points = [
        recframe.evaluate(path, LABELS, truth=truth, **options),
        recframe.evaluate(path, LABELS, truth=truth, **options, memory=2_000),
    ]
    with dask.config.set({"dataframe.convert-string": False}):
        lazy = dd.from_pandas(shuffled, npartitions=2).rec(truth=truth, **options)
        entry_points.append(lazy.evaluate(LABELS).compute(scheduler="sync").sort_index())

    for table in entry_points:
        pd.testing.assert_frame_equal(expected, table, check_exact=True)


@pytest.fixture
def tied():
    """Return two users with ties; the first one's relevant item comes last among three."""
    return pd.DataFrame(
        {
            "query": ["q1"] * 4 + ["q2"] * 2,
            "doc": ["9", "10", "1", "2", "a", "b"],
            "score": [0.5, 0.5, 0.5, 0.9, 1.0, 1.0],
            "relevant": [0, 0, 1, 0, 0, 1],
        }
    )


def test_by_hand(tied):
    """Documents "9", "10", "1" are ranked in this order in a tie, and "b" before "a"."""
    table = tied.rec(ties="item").evaluate(["reciprocal_rank", "precision@1"])

    assert [[1 / 4, 0], [1, 1]] == table.to_numpy().tolist()
    assert ["2", "9", "b", "a"] == tied.rec(ties="item").top(k=2)["doc"].tolist()


def test_inspect_shows_it(tied):
    """`inspect` shows ties in the order of their documents."""
    shown = tied.rec(ties="item").inspect("q1", k=4)

    assert ["2", "9", "10", "1"] == shown.tables["score"]["item"].tolist()


def test_the_command_line(tied, tmp_path, capsys):
    """The flag --ties item sets the option."""
    tied.to_parquet(tmp_path / "run.parquet")
    options = ["--ties", "item", "--format", "csv", "--metric", "reciprocal_rank"]
    main(["evaluate", str(tmp_path / "run.parquet"), *options])

    assert "score,reciprocal_rank\nscore,0.625\n" == capsys.readouterr().out


def test_describe_is_the_same(tied):
    """`describe` gives the same values as without ties="item"."""
    expected, actual = tied.rec().describe(k=1), tied.rec(ties="item").describe(k=1)

    pd.testing.assert_frame_equal(pd.DataFrame(expected), pd.DataFrame(actual))


def test_folded_rows(tied):
    """Repeated rows of one document, folded to one, share its position."""
    twice = pd.concat([tied, tied.iloc[[2]]], ignore_index=True)
    ranks = twice.rec(ties="item", duplicates="max").rank()["score"]

    assert [2, 3, 4, 1, 2, 1, 4] == ranks.tolist()


def test_without_items_it_is_refused(tied):
    """A frame without items is refused, and the message names the option that needs them."""
    without = tied.drop(columns="doc")
    with pytest.raises(
        MissingColumnError, match=r"item: no column found .*, which ties='item' need"
    ):
        without.rec(ties="item").precision(k=1)
    with pytest.raises(
        MissingColumnError, match=r"item: no column found .*, which ties='item' need"
    ):
        without.rec(ties="item").rank()


def test_repeated_pairs_have_no_order(tied):
    """Repeated rows under duplicates="keep" are refused, because only row order differs."""
    with pytest.raises(RecframeError, match="ties='item' with duplicates='keep' gives rows of one"):
        tied.rec(ties="item", duplicates="keep")


def test_ids_of_one_text_have_no_order():
    """Different ids with the same text are refused."""
    items = pd.Series([("a", "1"), ("a", 1), ("a", "1 ")], dtype=object)
    frame = one_list(items.map(lambda item: SameText(item)))
    for show in (
        lambda: frame.assign(relevant=[0, 1, 0]).rec(ties="item").precision(k=1),
        lambda: frame.rec(ties="item").rank(),
    ):
        with pytest.raises(
            RecframeError,
            match="item='item': ties='item' needs ids that differ as text, but two are",
        ):
            show()


class SameText:
    """An id with the same text as all others."""

    def __init__(self, item):
        self.item = item

    def __str__(self):
        """Return the same text for all."""
        return "same"


@pytest.mark.parametrize("dtype", [int, "str", object])
@pytest.mark.parametrize("n_scores", [2, 9])
def test_only_some_ties_are_ordered(dtype, n_scores):
    """Ordering only the ties that a metric reads gives the same values as ordering all."""
    rng = np.random.default_rng(2)
    pairs = pd.DataFrame({"user": rng.integers(0, 40, 2000), "item": rng.integers(0, 200, 2000)})
    frame = pairs.drop_duplicates(ignore_index=True)
    item = frame["item"].astype(str).astype("string" if dtype == "str" else dtype)
    a, b = rng.integers(0, n_scores, len(frame)), rng.random(len(frame)).round(1)
    b[::7] = np.nan
    frame = frame.assign(item=item, a=a, b=b, c=rng.random(9)[rng.integers(0, 9, len(frame))])
    truth = frame[["user", "item"]].sample(frac=0.2, random_state=1)
    truth = truth.assign(relevance=rng.integers(0, 4, len(truth)))
    asked = ["ndcg", "ndcg@5", "average_precision", "auc", "precision@3", "err(max=3)"]
    options = {"truth": truth, "ties": "item", "min_relevance": 2, "score": list("abc")}
    options |= {"missing": "unranked"}
    rec = frame.rec(**options)

    alone, beside = rec.evaluate(asked), rec.evaluate([*asked, "bpref", "judged@3"])
    columns = [(score, metric) for score in "abc" for metric in asked]
    assert alone.equals(beside[columns])
    shuffled = frame.sample(frac=1, random_state=3)
    rec = shuffled.rec(**options)
    assert beside.equals(rec.evaluate([*asked, "bpref", "judged@3"]))
