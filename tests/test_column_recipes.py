"""The recipes for `mean(COLUMN)@k` in the docstring of `evaluate` give their measures."""

import numpy as np
import pandas as pd
import pytest

import recframe  # noqa: F401 - registers df.rec

RECIPES = {
    "popularity": lambda df, train, counts, seen: seen,
    "rank": lambda df, train, counts, seen: df["item"].map(counts.rank(pct=True)).fillna(0),
    "novelty": lambda df, train, counts, seen: (
        -np.log2(seen.clip(lower=1) / train["user"].nunique())
    ),
    "tail": lambda df, train, counts, seen: seen < counts.quantile(0.8),
    "unseen": lambda df, train, counts, seen: (
        ~pd.MultiIndex.from_frame(df[["user", "item"]]).isin(
            pd.MultiIndex.from_frame(train[["user", "item"]])
        )
    ),
    "unexpected": lambda df, train, counts, seen: seen < counts.nlargest(10).min(),
    "serendipity": lambda df, train, counts, seen: (
        (seen < counts.nlargest(10).min()) & df["relevant"]
    ),
    "revenue": lambda df, train, counts, seen: df["price"] * df["relevant"],
}


@pytest.fixture
def rows():
    """Return rankings without ties, and the pairs known before."""
    rng = np.random.default_rng(8)
    pairs = pd.MultiIndex.from_product([range(12), range(40)], names=["user", "item"]).to_frame()
    pairs = pairs.reset_index(drop=True)
    train = pairs[rng.random(len(pairs)) < 3 / (pairs["item"] + 3)]
    df = pairs.sample(frac=0.5, random_state=0, ignore_index=True)
    df["score"] = rng.permutation(len(df))
    df["relevant"] = rng.random(len(df)) < 0.3
    df["price"] = rng.integers(1, 50, len(df))
    return df, train


def measures(df, train, k):
    """Return each measure of a user's list by the definition in its source, from sets and dicts."""
    counts = train.groupby("item")["user"].agg(set).map(len).to_dict()
    known = set(zip(train["user"], train["item"], strict=True))
    head = {item for item in counts if counts[item] >= np.quantile(list(counts.values()), 0.8)}
    order = sorted(counts.values())
    below = {n: order.index(n) + (order.count(n) + 1) / 2 for n in order}
    found = {}
    for user, own in df.sort_values("score", ascending=False).groupby("user"):
        first = own.head(k)
        items = first["item"].tolist()
        n_users = train["user"].nunique()
        paid = zip(first["price"], first["relevant"], strict=True)
        found[user] = {
            "popularity": sum(counts.get(item, 0) for item in items),
            "rank": sum(below.get(counts.get(item, 0), 0) / len(counts) for item in items),
            "novelty": sum(np.log2(n_users / max(1, counts.get(item, 0))) for item in items),
            "tail": sum(item not in head for item in items),
            "unseen": sum((user, item) not in known for item in items),
            "revenue": sum(price for price, is_bought in paid if is_bought),
        }
    return pd.DataFrame(found).T / k


def test_recipes(rows):
    """Each recipe's column gives its measure over the first rows of every user."""
    df, train = rows
    counts = train["item"].value_counts()
    seen = df["item"].map(counts).fillna(0)
    made = df.assign(**{name: make(df, train, counts, seen) for name, make in RECIPES.items()})
    table = made.rec.evaluate([f"mean({name})@5" for name in RECIPES])["score"]
    table.columns = list(RECIPES)
    expected = measures(df, train, 5)

    pd.testing.assert_frame_equal(
        expected, table[expected.columns], check_names=False, check_dtype=False
    )
    assert (table["serendipity"] <= table["unexpected"]).all()
    assert 0 < table["unexpected"].mean() < 1


def test_the_docstring_has_them():
    """The docstring of `evaluate` has the recipes that are tested here."""
    text = " ".join(pd.DataFrame.rec.evaluate.__doc__.split())
    for line in (
        '``df["item"].map(counts.rank(pct=True)).fillna(0)``',
        '``-np.log2(seen.clip(lower=1) / train["user"].nunique())``',
        "``seen < counts.quantile(0.8)``",
        '``~pd.MultiIndex.from_frame(df[["user", "item"]]).isin(known)``',
        "``seen < counts.nlargest(10).min()``",
        '``df["price"] * df["relevant"]``',
    ):
        assert line in text
