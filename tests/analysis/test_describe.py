"""df.rec.describe returns the values that a count by hand or by plain pandas gives.

Tests of recframe describe belong here.
"""

import copy
import math
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import strategies

CATALOGUE_METRICS = [
    "rows",
    "users",
    "users without relevant rows",
    "users with fewer than 2",
    "users with a tie across 2",
    "precision@2, worst",
    "precision@2, best",
    "shortest ranking",
    "longest ranking",
    "rows in ties",
    "null users",
    "null relevance",
    "null scores",
    "duplicate pairs",
]
BOUNDS = ["precision@2, worst", "precision@2, best"]


def test_figures_by_hand(frame):
    """Every value for the small frame equals a hand count, in its order."""
    table = frame.rec.describe(k=2)

    assert CATALOGUE_METRICS == table.index.tolist()
    by_hand = [8, 3, 1, 0, 1, 0.5 / 3, 1 / 3, 2, 3, 2, 0, 0, 0, 0]
    assert by_hand == pytest.approx(table["score"].tolist())
    assert [int] * 5 + [float] * 2 + [int] * 7 == [type(value) for value in table["score"]]


def test_a_column_for_each_score(frame):
    """Each score column has its values in one column of the table."""
    table = frame.assign(b_score=[1, 2, 3, 1, None, 1, 1, 1]).rec.describe(k=1)

    assert ["score", "b_score"] == table.columns.tolist()
    assert "score" == table.columns.name
    assert [0, 1] == table.loc["null scores"].tolist()
    assert [2, 4] == table.loc["rows in ties"].tolist()
    assert [0, 2] == table.loc["users with a tie across 1"].tolist()
    assert [2, 2] == table.loc["shortest ranking"].tolist()
    assert [3, 3] == table.loc["longest ranking"].tolist()


def by_brute_force(frame, k):
    """Return the values that concern ties, counted user by user in plain Python."""
    n_tied, n_cut = 0, 0
    for _, scores in frame.groupby("user")["score"]:
        sizes = Counter(scores.dropna().tolist())
        n_tied += sum(size for size in sizes.values() if size > 1)
        ordered = sorted(sizes.elements(), reverse=True)
        n_cut += len(ordered) > k and ordered[k - 1] == ordered[k]
    return n_tied, n_cut


@given(
    strategies.rows(scores="ratings", nulls=("score",), min_rows=1),
    st.integers(1, 6),
    st.sampled_from(strategies.SHORT),
)
def test_ties_are_those_a_loop_counts(rows, k, short):
    """Rows in ties equal a loop's count, and `mean` gives the same precision bounds."""
    frame = strategies.frame(rows, scores="ratings")
    column = frame.rec(short=short, zero_division=0.0).describe(k=k)["score"]
    policy = "pad" if short == "raise" else short
    worst, best = (
        frame.rec(ties=ties, short=policy, missing="unranked", zero_division=0.0)
        .mean(f"precision@{k}")
        .loc["score", f"precision@{k}"]
        for ties in ("worst", "best")
    )

    assert by_brute_force(frame, k) == (
        column["rows in ties"],
        column[f"users with a tie across {k}"],
    )
    bounds = column[[f"precision@{k}, worst", f"precision@{k}, best"]].astype(float)
    np.testing.assert_allclose([worst, best], bounds, rtol=1e-14)


@given(strategies.rows(scores="float64", min_rows=1), st.integers(0, 2**32 - 1))
def test_ties_of_floats(rows, seed):
    """Huge, tiny and infinite scores tie only with equal ones, and row order does not matter."""
    frame = strategies.frame(rows)
    column = frame.sample(frac=1, random_state=seed).rec.describe(k=2)["score"]

    expected = by_brute_force(frame, 2)
    assert expected == (column["rows in ties"], column["users with a tie across 2"])


@pytest.mark.parametrize(
    "items",
    [
        [1, 1, 2, 1, 1, 1, None, None, None],
        ["a", "a", "b", "a", "a", "a", None, None, None],
        [2**40, 2**40, -(2**62), 5, 5, 5, None, None, None],
    ],
)
@pytest.mark.parametrize("dtype", ["numpy", "nullable", "category"])
def test_duplicates(items, dtype):
    """`DataFrame.duplicated` counts the same duplicate pairs, and a null item repeats no pair."""
    users = ["x", "x", "x", "y", "y", "y", "x", "x", "z"]
    frame = pd.DataFrame({"user": users, "item": items, "score": range(9), "relevant": 0})
    if dtype == "numpy":
        frame = frame.dropna().convert_dtypes(dtype_backend="numpy_nullable")
        frame = frame.astype({"item": type(items[0])})
    else:
        frame["item"] = frame["item"].astype("category" if dtype == "category" else "object")
    frame = frame.sample(frac=1, random_state=3)

    assert 3 == frame.dropna().duplicated(["user", "item"]).sum()
    assert 3 == frame.rec.describe(k=1).loc["duplicate pairs", "score"]


def test_no_item_column(frame):
    """A frame without an item column has no row about duplicates."""
    table = frame.drop(columns="item").rec.describe(k=2)

    assert [name for name in CATALOGUE_METRICS if name != "duplicate pairs"] == table.index.tolist()


def test_nothing_reported_is_refused():
    """Null users, relevance and scores, short rankings and duplicates are counted, not refused."""
    frame = pd.DataFrame(
        {
            "user": [1, 1, 1, None, 2],
            "item": ["a", "a", "b", "c", "d"],
            "score": [0.5, None, 0.5, 0.1, 0.2],
            "relevant": [1.0, 0.0, None, 1.0, 0.0],
        }
    )
    column = frame.rec.describe(k=2)["score"]

    by_hand = [5, 2, 1, 2, 0, 0.25, 0.25, 1, 1, 0, 1, 1, 1, 1]
    assert by_hand == column.tolist()


def test_missing_drop_leaves_null_scores_out():
    """Rows with a null score belong to no ranking and no user under missing="drop"."""
    frame = pd.DataFrame({"user": [1, 2], "score": [0.5, None], "relevant": [1, 0]})

    assert [2, 1] == frame.rec.describe(k=1).loc[["users", "null scores"], "score"].tolist()
    dropped = frame.rec(missing="drop").describe(k=1)
    assert [1, 1] == dropped.loc[["users", "null scores"], "score"].tolist()


def test_graded_relevance():
    """Values about relevance are NaN for grades without a threshold and known with one."""
    frame = pd.DataFrame({"user": [1, 1], "score": [2.0, 1.0], "relevant": [4.0, 1.5]})
    column = frame.rec.describe(k=1)["score"]

    names = ["users without relevant rows", "precision@1, worst", "precision@1, best"]
    assert names == column.index[column.isna()].tolist()
    judged = frame.rec(min_relevance=2).describe(k=1)["score"]
    assert [0.0, 1.0, 1.0] == judged[names].tolist()


def test_min_score_shortens_rankings(frame):
    """Rows under `min_score` are not ranked, so they tie with nothing."""
    column = frame.rec(min_score=0.6).describe(k=1)["score"]

    assert [0, 2] == column[["shortest ranking", "longest ranking"]].tolist()
    assert [0, 1] == column[["rows in ties", "users with fewer than 1"]].tolist()


@pytest.fixture
def listed():
    """Return the rows shown to two users; TRUTH has three users and an item not shown."""
    return pd.DataFrame(
        {"user": [1, 1, 1, 2, 2], "item": list("abcab"), "score": [0.9, 0.5, 0.5, 0.4, 0.3]}
    )


TRUTH = pd.DataFrame({"user": [1, 1, 3], "item": list("bzq")})


def test_truth(listed):
    """Users of truth count, and `mean` gives the same worst and best precision."""
    column = listed.rec(population="all", truth=TRUTH).describe(k=2)["score"]
    worst, best = (
        listed.rec(population="all", truth=TRUTH, ties=ties, short="pad")
        .mean("precision@2")
        .iloc[0, 0]
        for ties in ("worst", "best")
    )

    names = ["users", "users without relevant rows", "shortest ranking"]
    assert [3, 1, 0] == column[names].tolist()
    assert [2, 3] == [
        listed.rec(population="all", truth=truth)
        .describe(k=2)
        .loc["truth items in nobody's list", "score"]
        for truth in (TRUTH, pd.DataFrame({"user": [1, 1, 4, 2, 2], "item": list("bzqay")}))
    ]
    assert [worst, best] == pytest.approx(column[BOUNDS].tolist())
    assert worst < best


def test_duplicates_beside_truth(listed):
    """Duplicate pairs, which cannot be looked up in truth, are counted and not refused."""
    listed.loc[1, "item"] = "a"
    column = listed.rec(truth=TRUTH).describe(k=2)["score"]

    assert 1 == column["duplicate pairs"]
    assert column[BOUNDS].isna().all()


def test_a_faulty_truth_is_refused(listed):
    """A faulty truth is refused, as elsewhere."""
    with pytest.raises(recframe.RecframeError, match="no user is in both"):
        listed.rec(truth=TRUTH.assign(user=9)).describe(k=2)
    with pytest.raises(recframe.RecframeError, match="no such file"):
        listed.rec(truth="none.parquet").describe(k=2)


def test_an_empty_frame():
    """All counts of an empty frame are 0, and its other values are NaN."""
    frame = pd.DataFrame({"user": [], "score": [], "relevant": []})
    column = frame.rec.describe(k=3)["score"]

    assert 0 == column[["rows", "users", "rows in ties", "users with fewer than 3"]].sum()
    names = ["precision@3, worst", "precision@3, best", "shortest ranking", "longest ranking"]
    assert names == column.index[column.isna()].tolist()


def test_one_ranking(frame):
    """user=None describes one ranking."""
    column = frame.rec(user=None).describe(k=2)["score"]

    assert [1, 8, 0] == column[["users", "longest ranking", "null users"]].tolist()


def test_what_is_no_figure_is_refused(frame):
    """A missing column, scores of text and an invalid k are errors, as elsewhere."""
    with pytest.raises(recframe.MissingColumnError, match="relevant: no column found"):
        frame.drop(columns="relevant").rec.describe()
    with pytest.raises(recframe.RecframeError, match="score='score': must be numbers"):
        frame.astype({"score": str}).rec.describe()
    with pytest.raises(recframe.RecframeError, match="k must be an integer of 1 or more, but is 0"):
        frame.rec.describe(k=0)


def test_two_item_columns(frame):
    """Two possible item columns are refused unless one is named."""
    frame["doc"] = 1
    with pytest.raises(recframe.RecframeError, match="item: 2 columns could be it"):
        frame.rec.describe()
    described = frame.rec(item="doc").describe(k=2)
    assert 5 == described.loc["duplicate pairs", "score"]
    assert math.isclose(1 / 3, described.loc["precision@2, best", "score"])


# These two users are well: rankings longer than k, no tie across it, a relevant row each.
WELL = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2],
        "item": list("abcab"),
        "score": [5, 4, 3, 2, 1.0],
        "relevant": [1, 1, 0, 1, 0],
    }
)


def test_nothing_worries():
    """A frame without faults has no warnings, only its table."""
    described = WELL.rec.describe(k=1)

    assert [] == described.warnings
    assert repr(pd.DataFrame(described)) == repr(described)
    assert pd.DataFrame(described)._repr_html_() == described._repr_html_()


@pytest.mark.parametrize(
    ("frame", "warnings"),
    [
        (WELL.iloc[:0], ["rows: none"]),
        (
            WELL.iloc[[0, 3]],
            ["longest ranking: 1; the first 1 are the whole ranking", "every ranked row"],
        ),
        (
            WELL.assign(user=[1, 1, 1, 2, None]),
            ["null users: 1 of 5 rows; refused unless option missing says otherwise"],
        ),
        (
            WELL.assign(relevant=[1, 0, 1, 1, None]),
            ["null relevance: 1 of 5 rows; refused unless option null_relevance or missing sa"],
        ),
        (
            WELL.assign(score=[5, 4, None, 2, 1]),
            ["null scores: 1 of 5 rows; refused unless option missing says otherwise"],
        ),
        (
            WELL.assign(item=list("aacab")),
            ["duplicate pairs: 1 of 5 rows; refused unless option duplicates says"],
        ),
        (
            WELL.assign(score=[5, 4, 3, None, 1]).iloc[:4],
            [
                "users with fewer than 1: 1 of 2 users; k=1 is refused unless option short",
                "null scores: 1 of 4 rows",
            ],
        ),
        (
            WELL.assign(relevant=[1, 1, 1, 0, 0]),
            ["users without relevant rows: 1 of 2 users; their pr"],
        ),
        (
            WELL.assign(score=[5, 5, 3, 2, 1], relevant=[0, 1, 0, 1, 0]),
            ["users with a tie across 1: 1 of 2 users; precision@1 is 0.5 in the worst order, 1 "],
        ),
        (
            WELL.assign(relevant=0),
            ["users without relevant rows: all 2; nothing is relevant, as where min_re"],
        ),
        (WELL.assign(relevant=[0, 2, 3, 1, 0]), ["users without relevant rows: not known; relev"]),
        (
            WELL.assign(relevant=[0, 2, 3, 1, 0], score=0.5),
            [
                "users with a tie across 1: 2 of 2 users; their order counts (option ties)",
                "users without relevant rows: not",
            ],
        ),
    ],
)
def test_what_worries_is_said_in_words(frame, warnings):
    """Each value that should worry has one line of warning, and no other value has one."""
    found = frame.rec.describe(k=1).warnings

    assert len(warnings) == len(found)
    for start in warnings:
        assert 1 == sum(warning.startswith(start) for warning in found)
    assert all(len(warning) < 300 and "\n" not in warning for warning in found)


def test_a_tie_that_changes_nothing_does_not_worry():
    """A tie is no cause for a warning when its rows are all relevant or all not."""
    described = WELL.assign(score=1.0, relevant=1).rec.describe(k=1)

    assert 2 == described.loc["users with a tie across 1", "score"]
    assert ["every ranked row is relevant"] == [one[:28] for one in described.warnings]


def test_truth_found_nowhere_is_said(listed):
    """With separate truth, items that no row has give a warning, and lists of length k none."""
    warnings = listed.rec(population="all", truth=TRUTH).describe(k=3).warnings

    assert 5 == len(warnings)
    assert warnings[0].startswith("users with fewer than 3: 1 of 3 users; ")
    assert warnings[1].startswith("users without relevant rows: 1 of 3 users; ")
    assert warnings[2].startswith("users only in the frame: 1; decided by population='all'")
    assert warnings[3].startswith("users only in truth: 1; decided by population='all'")
    assert warnings[4].startswith("truth items in nobody's list: 2; no ranking finds them")


def test_a_warning_names_the_scores_it_is_of():
    """A warning names its scores, at most three of them, unless it concerns all scores."""
    scores = {f"{name}_score": WELL["score"].replace({5: math.nan}) for name in "abcde"}
    frame = WELL.iloc[:, :2].assign(relevant=[1, 1, 1, 0, 0], **scores)
    one = frame.assign(a_score=[1, 1, 3, 2, 1.0])

    assert frame.rec.describe(1).warnings[0].startswith("null scores: 1 of 5")
    starts = [warning.split(":")[0] for warning in one.rec.describe(1).warnings]
    expected = ["null scores (b_score, c_score, d_score and 1 more)", "users without relevant rows"]
    assert expected == starts


def test_many_scores_make_few_warnings():
    """A warning that differs by score is shown for three scores, and the others are counted."""
    frame = pd.DataFrame({"user": 1, "relevant": 1}, index=range(9))
    for number in range(1, 7):
        frame[f"m{number}_score"] = np.where(np.arange(9) < number, np.nan, np.arange(9))
    warnings = frame.rec.describe(1).warnings

    first = [
        f"null scores (m{n}_score): {n} of 9 rows; refused unless option missing" for n in (1, 2, 3)
    ]
    assert first == [warning[: warning.index(" says")] for warning in warnings[:3]]
    assert ["null scores: other numbers of 3 more score columns"] == warnings[3:]


def test_the_text_of_all_scores_at_80_columns(monkeypatch):
    """The text shows every score within 80 columns, followed by the warnings."""
    monkeypatch.setenv("COLUMNS", "80")
    scores = {f"{name}_score": WELL["score"] for name in ("popularity", "knn", "als", "bpr", "lr")}
    described = WELL.iloc[:, :2].assign(relevant=[1, 1, 1, 0, 0], **scores).rec.describe(k=1)
    with pd.option_context("display.max_columns", 0):  # A terminal has this setting.
        text = repr(described)

    assert all(name in text for name in scores)
    assert "..." not in text
    assert 80 >= max(map(len, text.splitlines()))
    assert "\n\n- users without relevant rows: 1 of 2 users; their precision is 0;" in text
    assert text.endswith("by default (option\n  zero_division)")


def test_the_html_has_the_words():
    """A notebook shows the warnings as an escaped list below the table."""
    scores = {"<i>_score": [2, 2, 1, 1, 0.5], "b_score": WELL["score"]}
    described = WELL.iloc[:, :2].assign(relevant=[0, 1, 1, 1, 1], **scores).rec.describe(k=1)
    page = described._repr_html_()

    assert "</table>" in page
    assert (
        "<ul>\n<li>users with a tie across 1 (&lt;i&gt;_score): 1 of 2 users; precision@1" in page
    )
    assert page.endswith("</li>\n</ul>")
    with pd.option_context("display.notebook_repr_html", False):
        assert described._repr_html_() is None


def test_what_is_taken_from_it_is_a_table():
    """Values are found by their labels, and a selection has no warnings below it."""
    described = WELL.assign(score=[5, 5, 3, 2, 1.0], relevant=[0, 1, 0, 1, 0]).rec.describe(k=1)

    assert 5 == described.loc["rows", "score"]
    assert "- " not in repr(described.iloc[:3])


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "method": pd.DataFrame.copy,
    "pickle": lambda table: pickle.loads(pickle.dumps(table)),
}


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_has_the_words(way):
    """A copy has the warnings and the refusal of the original."""
    described = WELL.assign(relevant=[0, None, 0, 1, 0]).rec.describe(k=1)
    copied = COPIES[way](described)

    assert repr(described) == repr(copied)
    assert described.warnings == copied.warnings != []
    assert str(described.refusal) == str(copied.refusal)
    assert "- " not in repr(copied.rename(index={"rows": "n"}))


def test_users_without_rows_do_not_count_among_judged_rows():
    """Users without rows do not count in the share of first rows that truth judges."""
    frame = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "score": [2, 1]})
    truth = pd.DataFrame({"user": [1, 2], "item": ["a", "c"], "relevant": [0, 1]})
    for value in (float("nan"), 0.0):  # The option decides undefined values of metrics only.
        given = frame.rec(truth=truth, population="all", zero_division=value)
        assert 1.0 == given.describe(k=1).loc["judged@1", "score"]


def sample_candidates(n_users=12, n_rows=25):
    """Return rows of users, each with one relevant item and with sampled candidates."""
    rng = np.random.default_rng(2)
    users = np.repeat(range(n_users), n_rows)
    items = np.concatenate([rng.choice(300, n_rows, replace=False) for _ in range(n_users)])
    rows = {"user": users, "item": items, "score": rng.random(len(users))}
    return pd.DataFrame({**rows, "relevant": np.tile(range(n_rows), n_users) == 3})


SAMPLED = (
    "each of 12 users has one relevant row among 25, and their items differ: if these are sampled "
    "candidates, only auc estimates its value over the full catalogue; most others are too high"
)


def open_all(frame, folder, **options):
    """Return the accessors of every engine to a frame."""
    import dask.dataframe as dd
    import polars as pl
    import pyarrow as pa

    import recframe.dask
    import recframe.polars

    path = folder / "sampled.parquet"
    frame.to_parquet(path, row_group_size=40, index=False)
    return [
        frame.rec(**options),
        recframe.rec(pa.Table.from_pandas(frame), **options),
        pl.from_pandas(frame).rec(**options),
        pl.from_pandas(frame).lazy().rec(**options),
        recframe.scan(path, memory=1 << 14, **options),
        dd.from_pandas(frame, npartitions=3).rec(**options),
    ]


@pytest.mark.parametrize("ids", ["int", "str"])
@pytest.mark.parametrize("with_truth", [False, True])
def test_sampled_candidates(ids, with_truth, tmp_path):
    """A description names sampled candidates on every engine, in any order of rows."""
    frame, options = sample_candidates().astype({"item": ids}), {}
    if with_truth:
        truth = frame.loc[frame["relevant"], ["user", "item"]]
        frame, options = frame.drop(columns="relevant"), {"truth": truth}
    shuffled = frame.sample(frac=1, random_state=3, ignore_index=True)
    for rec in [*open_all(frame, tmp_path, **options), *open_all(shuffled, tmp_path, **options)]:
        table = rec.describe(5)
        table = table.compute() if hasattr(table, "compute") else table
        assert [SAMPLED] == [one for one in table.warnings if "sampled" in one]
        assert "users of an item" not in table.index
        assert SAMPLED in rec.report("recall@5").html


# Each case changes the frame so that nothing tells that candidates were sampled.
NOT_SAMPLED = {
    "the same candidates": lambda df: df.assign(item=df.groupby("user").cumcount()),
    "the catalogue without seen items": lambda df: sample_candidates(n_rows=290),
    "a list of another length": lambda df: df[1:],
    "two relevant rows": lambda df: df.assign(relevant=df["relevant"] | (df.index == 0)),
    "no relevant row": lambda df: df.assign(relevant=df["relevant"] & (df["user"] != 0)),
    "short lists": lambda df: df[df.groupby("user").cumcount() < 15],
    "one user": lambda df: df[df["user"] == 0],
    "no items": lambda df: df.drop(columns="item"),
}


@pytest.mark.parametrize("case", NOT_SAMPLED)
def test_candidates_that_are_not_sampled(case, tmp_path):
    """Descriptions of other frames do not name sampled candidates, on any engine."""
    for rec in open_all(NOT_SAMPLED[case](sample_candidates()), tmp_path):
        table = rec.describe(5)
        table = table.compute() if hasattr(table, "compute") else table
        assert not any("sampled" in one for one in table.warnings)


def test_an_item_of_truth_without_a_row():
    """A description of lists that miss a relevant item of truth names no sampled candidates."""
    frame = sample_candidates()
    truth = frame.loc[frame["relevant"], ["user", "item"]]
    more = pd.concat([truth, pd.DataFrame({"user": [0], "item": [999]})])
    rows = frame.drop(columns="relevant")
    for known, found in ((truth, True), (more, False), (truth[1:], False)):
        warnings = rows.rec(truth=known, population="all").describe(5).warnings
        assert found == any("sampled" in one for one in warnings)


def test_means_do_not_look_for_samples(monkeypatch):
    """Only a description compares sets of items; a mean does not."""
    monkeypatch.setattr("recframe.analysis.describe._find_sharers", None)
    frame = sample_candidates()
    assert len(frame.rec.mean("recall@5")) == 1
    with pytest.raises(TypeError):
        frame.rec.describe(5)
