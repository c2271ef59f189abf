"""Uses that are type-checked, not run: mypy must accept some and refuse others.

`mypy` reads this file with the package (see pyproject.toml). A comment names the error for which
mypy must refuse a line, and mypy complains of an unneeded comment.
"""

import pandas as pd
import polars as pl

import recframe
from recframe.polars import PolarsRecAccessor

frame = pd.DataFrame()
rec = recframe.RecAccessor(frame)

table: pd.DataFrame = rec(ties="worst", user=None, score=["a", "b"]).evaluate("recall@4")
means: pd.DataFrame = rec(truth="truth.parquet", population="rows").mean(
    ["recall@4", "r_precision"]
)
one: pd.DataFrame = rec.recall(k=4)
rec.report("recall@4", baseline="a", by="country", title="Monday").save("report.html")
ranks: pd.DataFrame = rec(score=["a", "dist"], ascending=[False, True], relevant=None).rank()
evaluated: pd.DataFrame = recframe.evaluate(frame, "recall@4", short="pad", min_relevance=2)
for block in recframe.iter_evaluate("a.parquet", ["recall@4"], memory="64MiB", ties="first"):
    block.mean()
listed: pd.DataFrame = recframe.from_lists(frame, user="userId", items="recommendations")
scored: pd.DataFrame = recframe.from_matrix([[0.5, 0.25]], users=["ann"], k=1)
runs: pd.DataFrame = recframe.from_runs({"bm25": {"q1": {"d1": 0.5}}})
groups: pd.DataFrame = recframe.from_groups({"lgbm": [0.5, 0.25]}, [1, 0], sizes=[2])
truth: pd.DataFrame = recframe.truth_from({"ann": {3}, "bob": {5}})

told: pd.DataFrame = recframe.rec(frame, ties="worst").recall(k=4)
whole: pd.DataFrame = recframe.rec(frame).ndcg(k=None)
bound: recframe.RecAccessor = recframe.rec(frame)(short="pad")

rows = pl.DataFrame()
of_polars: pl.DataFrame = PolarsRecAccessor(rows)(truth=rows, ties="worst").recall(k=4)
ranked: pl.DataFrame = PolarsRecAccessor(rows.lazy()).rank()
described: pd.DataFrame = PolarsRecAccessor(rows).describe(4)
other: pd.DataFrame = recframe.rec(rows, exclude=rows).recall(k=4)
evaluated_other: pd.DataFrame = recframe.evaluate(rows, "recall@4", truth=rows)

found: float = recframe.metrics.ndcg([1, 0], [0.5, 0.25], k=1, offset=0)
hit: float = recframe.metrics.hit_rate(frame["relevant"], frame["score"], 4)

recframe.metrics.hit_rate([1], [0.5])  # type: ignore[call-arg]  # A cut-off is missing.
recframe.metrics.auc([1], [0.5], k="4")  # type: ignore[call-arg]  # auc takes no cut-off.
recframe.metrics.mrr([1], [0.5])  # type: ignore[attr-defined]  # The metric has another name.
rec.recal(k=4)  # type: ignore[attr-defined]  # The metric is misspelt.
rec.recall(k="4")  # type: ignore[arg-type]  # The cut-off is no number.
rec.auc(k=4)  # type: ignore[call-arg]  # auc takes no cut-off.
recframe.rec(frame, tie="worst")  # type: ignore[call-arg]  # The option is misspelt.
recframe.rec(rows.lazy())  # type: ignore[arg-type]  # A LazyFrame has no rows yet.
recframe.rec("a.parquet")  # type: ignore[arg-type]  # A path is no frame.
recframe.from_matrix([[0.5]], k="1")  # type: ignore[arg-type]
rec.mean(k=10)  # type: ignore[call-arg]  # The metric's name has the cut-off.
rec(tie="worst")  # type: ignore[call-arg]  # The option is misspelt.
rec(ties="worse")  # type: ignore[arg-type]  # The option has no value of this name.
rec(min_score="2")  # type: ignore[arg-type]  # The threshold is no number.
rec(ascending="yes")  # type: ignore[arg-type]  # The direction is no boolean.
recframe.evaluate(frame, tie="worst")  # type: ignore[call-arg]
recframe.evaluate(frame, ties="worse")  # type: ignore[arg-type]
recframe.iter_evaluate("a.parquet", tie="worst")  # type: ignore[call-arg]
recframe.iter_evaluate("a.parquet", short="cut")  # type: ignore[arg-type]
rec.top(k="4")  # type: ignore[arg-type]
