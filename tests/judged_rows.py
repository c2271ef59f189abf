"""Rows of two models, labelled by a judge, and for some users by people."""

import numpy as np
import pandas as pd

N_USERS, N_ROWS, N_JUDGED = 400, 8, 120
SCORES = ["a", "b"]


def draw_rows(seed=0):
    """Return rows of two models, labels by a judge who is too kind, and labels by people."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(N_USERS), N_ROWS)
    truth = rng.random(len(user)) < rng.beta(1, 2, N_USERS)[user]
    frame = pd.DataFrame({"user": user, "item": np.tile(np.arange(N_ROWS), N_USERS)})
    frame["a"] = (rng.random(len(user)) + 0.5 * truth).round(1)  # some scores are tied
    frame["b"] = (rng.random(len(user)) + 0.4 * truth).round(1)
    frame["llm"] = np.where(rng.random(len(user)) < 0.2, True, truth)
    judged = np.isin(user, rng.permutation(N_USERS)[:N_JUDGED])
    frame["human"] = pd.Series(truth.astype(float)).where(judged)
    return frame


def rec_of(frame, **options):
    """Return the accessor that reads the judge's labels."""
    return frame.rec(score=SCORES, relevant="llm", **options)
