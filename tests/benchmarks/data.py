"""Generate frames with users of log-normal or equal size, long-tailed items and rare relevance."""

import hashlib
import string

import numpy as np
import pandas as pd

# A user has this many rows if the number of users is not passed.
MEAN_SIZE = 100
BEGINNINGS = {"long": "customer-{}", "path": "https://example.com/customers/{:012}"}
SCORES = {
    "ratings": lambda rng, rows: rng.integers(1, 6, rows, dtype=np.int8),
    "two decimals": lambda rng, rows: rng.integers(0, 100, rows) / 100,
    "half 0": lambda rng, rows: rng.random(rows) * rng.integers(0, 2, rows),
    "300 mantissas": lambda rng, rows: rng.random(300)[rng.integers(0, 300, rows)],
}
# Objects of each kind are made from this dtype.
OBJECTS = {"shared": "category", "distinct": "str"}


def make(
    rows,
    users=None,
    *,
    sizes="lognormal",
    ids="int",
    scores="float64",
    relevant=0.1,
    shuffled=False,
    score_columns=1,
):
    """Return a frame of columns user, item, score (b_score, ...), relevant; no pair repeats.

    Users are grouped but not sorted, unless rows are shuffled. `relevant` is the share of relevant
    rows, or "one" for one relevant row per user. `ids` may be "shared" for objects of text that
    the rows of a user share, or "distinct" for an object in each row.
    """
    rng = np.random.default_rng(0)
    users = users or max(1, rows // MEAN_SIZE)
    per_user = user_sizes(rng, rows, users, sizes)
    columns = {
        "user": user_column(rng, per_user, OBJECTS.get(ids, ids)),
        "item": item_column(rng, per_user),
    }
    for name in score_names(score_columns):
        columns[name] = score_column(rng, rows, scores)
    columns["relevant"] = relevance(rng, per_user, relevant)
    frame = pd.DataFrame(columns)
    if shuffled:
        frame = frame.sample(frac=1, random_state=0, ignore_index=True)
    return frame.assign(user=frame["user"].astype(object)) if ids in OBJECTS else frame


def make_narrow(rows):
    """Return shuffled rows of nine bytes: int32 users, float32 scores, bool relevance; no items."""
    rng = np.random.default_rng(0)
    users = max(1, rows // MEAN_SIZE)
    user = user_column(rng, user_sizes(rng, rows, users, "lognormal"), "int32")
    # Scores and relevance do not depend on users, so shuffling one column is enough.
    rng.shuffle(user)
    score = rng.random(rows, dtype=np.float32)
    return pd.DataFrame(
        {"user": user, "score": score, "relevant": rng.random(rows, dtype=np.float32) < 0.1}
    )


def score_names(n_columns):
    """Return "score", "b_score", "c_score", ..."""
    return ["score", *(f"{letter}_score" for letter in string.ascii_lowercase[1:n_columns])]


def user_sizes(rng, rows, users, sizes):
    """Return the number of rows of each user, at least one and `rows` in all."""
    weights = rng.lognormal(0, 1, users) if sizes == "lognormal" else np.ones(users)
    per_user = 1 + (weights / weights.sum() * (rows - users)).astype(np.int64)
    # The rows that rounding down left over are fewer than the users.
    per_user[: rows - per_user.sum()] += 1
    return per_user


def user_column(rng, per_user, ids):
    """Return the user of every row: scattered int64 or int32 ids, `str` ids or categories.

    Integers "far apart" use all 64 bits. Ids of "str" have up to 11 bytes and ids of "long" up to
    16. Ids of "path" have 40 bytes and differ in the last ones, and ids of "coded" have 32 that
    look random.
    """
    users = len(per_user)
    numbers = rng.permutation(10 * users)[:users]
    codes = np.repeat(np.arange(users), per_user)
    if ids in ("int", "int32"):
        return numbers.astype(f"{ids}")[codes]
    if ids == "far apart":
        return (numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)).view(np.int64)[codes]
    if ids == "coded":
        texts = [hashlib.md5(b"%d" % number).hexdigest() for number in numbers]
    else:
        texts = [BEGINNINGS.get(ids, "user{}").format(number) for number in numbers]
    names = pd.array(texts, dtype="str")
    if ids == "category":
        return pd.Categorical.from_codes(codes, categories=names)
    return names.take(codes)


def item_column(rng, per_user):
    """Return the item of every row as int32: long-tailed over users, distinct for each user."""
    size = np.repeat(per_user, per_user)
    place = np.arange(len(size)) - np.repeat(per_user.cumsum() - per_user, per_user)
    popular = len(per_user) * ((place + rng.random(len(size))) / size) ** 3
    return (popular.astype(np.int64) + place).astype(np.int32)


def score_column(rng, rows, scores):
    """Return scores as `SCORES` defines them, or random floats of a dtype with almost no ties."""
    return SCORES[scores](rng, rows) if scores in SCORES else rng.random(rows, dtype=scores)


def relevance(rng, per_user, relevant):
    """Return 0 or 1 for each row, as int8."""
    if relevant != "one":
        return (rng.random(per_user.sum()) < relevant).astype(np.int8)
    flags = np.zeros(per_user.sum(), np.int8)
    starts = per_user.cumsum() - per_user
    flags[starts + (rng.random(len(per_user)) * per_user).astype(np.int64)] = 1
    return flags
