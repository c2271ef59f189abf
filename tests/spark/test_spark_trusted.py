"""Labels by people correct a judge on recframe.spark with the values of pandas."""

import pandas as pd
import pytest

import recframe.spark
from judged_rows import SCORES, draw_rows, rec_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # warnings of Spark
]


@pytest.mark.parametrize("form", ["column", "pairs"])
def test_table_of_pandas(spark, form):
    """Means, differences and the agreement on rows equal pandas' values."""
    rows = draw_rows().astype({"llm": int})
    pairs = rows.dropna()[["user", "item", "human"]].rename(columns={"human": "relevance"})
    trusted = "human" if form == "column" else pairs
    on_spark = recframe.spark.rec(spark.createDataFrame(rows), score=SCORES, relevant="llm")

    for method in ("summary", "compare"):
        expected = getattr(rec_of(rows), method)("precision@3", trusted=trusted).reset_index()
        table = getattr(on_spark, method)("precision@3", trusted=trusted)
        types = dict(table.dtypes)
        assert ["bigint", "double"] == [types["n_trusted"], types["worth"]]
        made = table.toPandas()
        made = made.set_index("score").loc[expected["score"]].reset_index()
        for column in ("low", "high", "n_trusted", "judge_bias", "worth"):
            assert expected[column].tolist() == pytest.approx(made[column].tolist(), rel=1e-12)
    expected = rec_of(rows).describe(3, trusted=trusted)
    pd.testing.assert_frame_equal(
        pd.DataFrame(expected), pd.DataFrame(on_spark.describe(3, trusted=trusted))
    )
