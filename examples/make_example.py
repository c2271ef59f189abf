"""Rebuild example.parquet: 10 objects x 30 items that give the published recall and precision.

Object 4 is published row by row and is copied. Of the other objects only the number of relevant
items and the hits in the first four are known, so their rows are drawn until those come out.
"""

from pathlib import Path

import numpy as np
import pandas as pd

N_ITEMS = 30
K = 4
N_RELEVANT = [13, 21, 16, 17, 13, 13, 18, 16, 13, 19]
SCORES = ["Random scores", "KNN scores"]

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "tests" / "data"


def draw_scores(rng: np.random.Generator, score: str, relevant: np.ndarray) -> np.ndarray:
    """Draw one object's scores: noise for the random model, higher for relevant items for KNN."""
    if score == "Random scores":
        values = rng.standard_normal(N_ITEMS)
    else:
        values = rng.beta(3 + 2 * relevant, 5 - 2 * relevant)
    return values.round(6)  # as many decimals as the published rows have


def draw_until(rng: np.random.Generator, score: str, relevant: np.ndarray, hits: int) -> np.ndarray:
    """Draw scores until all differ and the K highest hold exactly `hits` relevant items."""
    while True:
        values = draw_scores(rng, score, relevant)
        best = np.argsort(values)[-K:]
        if relevant[best].sum() == hits and len(np.unique(values)) == N_ITEMS:
            return values


def make_example() -> pd.DataFrame:
    """Return the example frame: the same values at every call."""
    published = pd.read_csv(DATA / "object_4.csv")
    hits = (pd.read_csv(DATA / "precision_at_4.csv", index_col="object") * K).astype("int64")
    rng = np.random.default_rng(4)
    objects = []
    for number, n_relevant in enumerate(N_RELEVANT):
        if number == 4:
            objects.append(published)
            continue
        relevant = rng.permutation(np.arange(N_ITEMS) < n_relevant).astype("int64")
        rows = pd.DataFrame({"object": number, "item": np.arange(N_ITEMS), "relevant": relevant})
        for score in SCORES:
            rows[score] = draw_until(rng, score, relevant, hits.loc[number, score])
        objects.append(rows)
    return pd.concat(objects, ignore_index=True)


if __name__ == "__main__":
    make_example().to_parquet(HERE / "example.parquet", index=False)
