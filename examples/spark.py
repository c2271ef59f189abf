"""recframe on Spark: one call of pandas for each of some hundred groups of users.

Spark has no registry of accessors; this is the whole recipe. A hash of the user parts the rows, and
truth, so that a user's are in one group. Not `groupBy(user)`, which calls Python once a user: ten
times as slow. Executors need recframe installed.
"""

import pandas as pd

import recframe

GROUP = "recframe_group"


def evaluate(frame, metrics, *, user="infer", truth=None, n_groups=200, **options):
    """Return metrics of every user of a Spark DataFrame, lazily: columns user, score, metrics.

    Options are those of `recframe.evaluate`; `truth` is a frame of Spark or pandas, which needs
    `item`, and of which one user who is also in the frame is looked up at once.
    """
    if user is None:
        raise ValueError("user=None is one ranking, which is not parted: evaluate it in pandas")
    if options.get("ties") in ("first", "last"):
        raise ValueError("Spark keeps no order of rows: pass ties='expected', 'best' or 'worst'")
    empty = frame.limit(0).toPandas().assign(score=0.0, relevant=0)
    roles = {"user": user, "score": "score", "relevant": "relevant"}
    user = recframe.evaluate(empty, "hit_rate@1", **roles).index.name  # found or refused
    kind = dict(frame.dtypes)[user]
    labels = [metrics] if isinstance(metrics, str) else list(metrics)
    schema = ", ".join(
        [f"`{user}` {kind}", "score string", *(f"`{label}` double" for label in labels)]
    )

    def group(data, label):
        hashed = f"pmod(hash(cast(`{label}` AS {kind})), {n_groups}) AS {GROUP}"
        return data.selectExpr("*", hashed).groupBy(GROUP)

    def measure(rows, **truth):
        table = recframe.evaluate(rows.drop(columns=GROUP), labels, user=user, **options, **truth)
        scores = table.columns.unique("score")
        tables = [table[score].assign(score=score).reset_index() for score in scores]
        # As objects: Spark takes no text that pandas keeps in several chunks.
        return pd.concat(tables)[[user, "score", *labels]].astype({user: object, "score": object})

    if truth is None:
        return group(frame, user).applyInPandas(lambda rows: measure(rows), schema)

    if "item" not in options or options.get("missing") == "drop":
        raise ValueError("truth needs item=, and frame.dropna(subset=...) for missing='drop'")
    if isinstance(truth, pd.DataFrame):
        truth = frame.sparkSession.createDataFrame(truth)
    item, of_user = options["item"], options.setdefault("truth_user", user)
    of_item = options.setdefault("truth_item", item)
    pairs = truth.selectExpr(f"`{of_user}` AS `{user}`", f"`{of_item}` AS `{item}`")
    guest = frame.join(pairs, [user, item], "left_semi").select(f"`{user}`").first()
    if guest is None:
        raise ValueError(f"no pair of {user!r} and {item!r} is in truth: every metric would be 0")
    # Without a user and an item in common a group would be refused, so that one with a hit is a
    # guest in all others.
    (guest,) = guest
    its_rows = frame.where(frame[f"`{user}`"] == guest).toPandas()
    its_truth = truth.where(truth[f"`{of_user}`"] == guest).toPandas()

    def judge(rows, truth):
        if (rows[user] == guest).any():
            return measure(rows, truth=truth.drop(columns=GROUP))
        rows, truth = pd.concat([rows, its_rows]), pd.concat([truth, its_truth])
        table = measure(rows, truth=truth.drop(columns=GROUP))
        return table[table[user] != guest]

    groups = group(frame, user).cogroup(group(truth, of_user))
    return groups.applyInPandas(judge, schema)
