"""recframe.spark equals df.rec bit for bit, lazily, on a real Spark session."""

import doctest
import re
from pkgutil import resolve_name

import numpy as np
import pandas as pd
import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as F  # noqa: N812 - the name that all give it

import recframe
import recframe.spark
import strategies
from spark.frames import (
    IDS,
    METRICS,
    OF_TRUTH,
    ROLES,
    TRUTHS,
    assert_catalogue,
    assert_same,
    make,
    on_spark,
    refusal,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # warnings of Spark
]


@pytest.mark.parametrize(
    ("ids", "ties"),
    [*zip(IDS, ["expected", "best", "item", "worst", "item", "expected"], strict=True)],
)
def test_values_equal_those_of_pandas(spark, ids, ties):
    """Every metric equals pandas for users of every type, also with empty partitions."""
    frame, _ = make(ids)
    asked = {**ROLES, "ties": ties}
    result = recframe.spark.rec(on_spark(spark, frame, ids))(**asked).evaluate(METRICS)

    assert [("User.Id", ids), ("score", "string")] == result.dtypes[:2]
    assert {"double"} == {kind for _, kind in result.dtypes[2:]}
    assert_same(frame.rec(**asked).evaluate(METRICS), result)


def test_written_values_of_users_are_read(spark, tmp_path):
    """The values of users that Spark wrote in a folder are read as the table of pandas."""
    frame, _ = make()
    path = tmp_path / "users"
    result = recframe.spark.rec(on_spark(spark, frame), **ROLES).evaluate(METRICS)
    result.repartition(3).write.parquet(str(path))
    expected = frame.rec(**ROLES).evaluate(METRICS)
    actual = recframe.read_per_user(path)[expected.columns]

    assert list(expected.index) == list(actual.index)
    np.testing.assert_array_equal(expected.to_numpy(), actual.to_numpy())


def test_bounds(spark):
    """Bounds equal pandas' bounds, with null relevance and with truth that is shuffled too."""
    frame, truth = make()
    metrics = ["precision@2", "rbp(p=0.8)", "err(max=3)@2", "hit_rate@2"]
    options = {**OF_TRUTH, "zero_division": 0.0}
    judged = recframe.spark.rec(on_spark(spark, frame), truth=on_spark(spark, truth), **options)
    nulls = frame.assign(relevant=frame["relevant"].astype("boolean"))
    nulls.loc[::3, "relevant"] = None
    asked = {**ROLES, "zero_division": 0.0, "null_relevance": "nonrelevant"}
    pairs = [
        (frame.rec(truth=truth, **options), judged),
        (nulls.rec(**asked), recframe.spark.rec(spark.createDataFrame(nulls), **asked)),
    ]
    for theirs, ours in pairs:
        expected, found = theirs.bounds(metrics), ours.bounds(metrics).toPandas()
        assert ["score", "metric", "low", "high", "judged"] == list(found)
        expected = pd.DataFrame(expected).reset_index()
        pd.testing.assert_frame_equal(expected, found, rtol=1e-12, check_dtype=False)
        assert (expected["low"] < expected["high"]).all()


def test_sampled_candidates(spark):
    """A description names candidates that seem sampled, and none that all users share."""
    users = np.repeat(range(8), 25)
    rows = {"user": users, "item": np.tile(range(25), 8), "score": np.arange(200) % 7}
    shared = pd.DataFrame({**rows, "relevant": rows["item"] == 3})
    own = shared.assign(item=shared["item"] + 25 * (users % 4))
    for frame, expected in ((own, True), (shared, False)):
        warnings = recframe.spark.rec(spark.createDataFrame(frame)).describe(5).warnings
        assert frame.rec.describe(5).warnings == warnings
        assert expected == any("each of 8 users has one relevant row" in one for one in warnings)


def test_names_and_saved_values(spark, tmp_path):
    """The calls in refusals lead to pandas' names for trackers and to pandas' saved values."""
    frame, _ = make()
    rec, expected = recframe.spark.rec(on_spark(spark, frame), **ROLES), frame.rec(**ROLES)
    table, per_user = rec.mean("recall@2"), rec.evaluate("recall@2")
    path = tmp_path / "users.parquet"
    with pytest.raises(
        recframe.RecframeError, match=r"a pyspark DataFrame. Pass table\.toPandas\("
    ):
        recframe.flat(table)
    with pytest.raises(recframe.RecframeError, match=r"Pass per_user\.toPandas\(\)\.$"):
        recframe.save_per_user(per_user, path)
    with pytest.raises(recframe.RecframeError, match=r"or per_user\.pivot") as refused:
        recframe.save_per_user(per_user.toPandas(), path)
    call = str(refused.value).rpartition(" or ")[2].removesuffix(".")
    recframe.save_per_user(eval(call, {"per_user": per_user.toPandas()}), path)

    assert recframe.flat(expected.mean("recall@2")) == recframe.flat(table.toPandas())
    saved, values = recframe.read_per_user(path), expected.evaluate("recall@2")
    np.testing.assert_array_equal(values.to_numpy(), saved[values.columns].to_numpy())


def test_what_is_undefined_is_null(spark):
    """Undefined values are null, because Spark's means would be NaN for NaN."""
    frame, _ = make()
    result = recframe.spark.rec(on_spark(spark, frame), **ROLES).r_precision()
    (mean,) = result.where("score = 'knn_score'").agg(F.avg("r_precision")).first()

    assert frame.rec(**ROLES).r_precision()["knn_score"].isna().any()
    assert mean == pytest.approx(frame.rec(**ROLES).r_precision()["knn_score"].mean(), rel=1e-12)


def test_tables_of_all_users(spark):
    """Means, curves, intervals and differences equal pandas' values, in plain columns."""
    frame, _ = make()
    theirs = frame.rec(**ROLES)
    ours = recframe.spark.rec(on_spark(spark, frame), **ROLES)

    mean = ours.mean(METRICS).toPandas().set_index("score").rename_axis(columns="metric")
    pd.testing.assert_frame_equal(
        theirs.mean(METRICS), mean, rtol=1e-12, check_index_type=False, check_column_type=False
    )
    curve = ours.curve("precision", k=[1, 3]).toPandas()
    assert ["score", "k", "precision@k"] == list(curve)
    assert np.int64 == curve["k"].dtype
    expected = theirs.curve("precision", k=[1, 3]).to_numpy().ravel()
    np.testing.assert_allclose(expected, curve["precision@k"], rtol=1e-12)
    summary = ours.summary("recall@2", n_resamples=99).toPandas()
    expected = theirs.summary("recall@2", n_resamples=99).reset_index()
    pd.testing.assert_frame_equal(expected, summary, check_exact=True, check_dtype=False)
    assert {np.dtype("int64")} == set(summary.filter(regex="^n_").dtypes)
    compared = ours.compare("recall@2", n_resamples=99).toPandas()
    expected = theirs.compare("recall@2", n_resamples=99).reset_index()
    assert ["knn_score"] == compared["baseline"].tolist()
    assert {"n_undefined_score", "n_undefined_baseline"} < set(compared)
    for label in expected:
        assert expected[label].tolist() == compared[label].tolist()


@pytest.mark.parametrize("method", ["summary", "compare"])
def test_units(spark, method):
    """Several rankings of a user count as one with unit=, and are asked about without it."""
    frame, _ = make()
    both = ROLES | {"user": ["day", ROLES["user"]]}
    frame = pd.concat([frame.assign(day=day) for day in (1, 2)])
    theirs, ours = frame.rec(**both), recframe.spark.rec(on_spark(spark, frame), **both)
    unit, asked = ROLES["user"], {"metrics": "recall@2", "n_resamples": 99}
    expected = getattr(theirs, method)(**asked, unit=unit)
    found = getattr(ours, method)(**asked, unit=unit).toPandas()

    assert expected["n_users"].tolist() == found["n_users"].tolist()
    assert expected["low"].tolist() == found["low"].tolist()
    with pytest.raises(recframe.RecframeError, match=r"unit=.x.: no such column"):
        getattr(ours, method)(**asked, unit="x")
    with pytest.raises(Exception, match="are not independent:"):
        getattr(ours, method)(**asked).toPandas()


def test_curve_ends_at_the_shortest_ranking(spark):
    """A curve ends at the shortest ranking of all partitions."""
    frame, _ = make()
    asked = {**ROLES, "short": "raise"}
    curve = recframe.spark.rec(on_spark(spark, frame), **asked).curve()

    assert frame.rec(**asked).curve().index.tolist() == sorted(set(curve.toPandas()["k"]))


def test_rows_keep_what_they_have(spark):
    """Ranked rows keep all columns, also of types that pandas lacks, and get their ranks."""
    frame, _ = make()
    sdf = on_spark(spark, frame).withColumn("tags", F.array(F.struct("doc")))
    asked = {**ROLES, "score": "knn_score"}
    ours, theirs = recframe.spark.rec(sdf, **asked), frame.rec(**asked)
    ranked, top = ours.rank(), ours.top(2)

    for result, expected in ((ranked, theirs.rank()["knn_score"]), (top, theirs.top(2)["rank"])):
        assert [*sdf.dtypes, ("rank", "double")] == result.dtypes
        rows = result.where("tags[0].doc = doc").toPandas().set_index(["User.Id", "doc"])["rank"]
        pairs = frame.loc[expected.index].set_index(["User.Id", "doc"]).index
        expected = expected.set_axis(pairs).sort_index()
        pd.testing.assert_series_equal(
            expected, rows.sort_index(), check_names=False, check_index_type=False
        )
    both = recframe.spark.rec(sdf, **ROLES).rank()
    assert ["ranked_by", "rank"] == both.columns[-2:]
    assert 2 * len(frame) == both.count()


@pytest.mark.parametrize("missing", ["unranked", "drop"])
def test_nulls(spark, missing):
    """Null and NaN are both missing, and integers next to nulls are not rounded."""
    frame, _ = make()
    frame["User.Id"] += 2**60
    frame = frame.astype({"User.Id": "Int64", "knn_score": "Int64", "relevant": "boolean"})
    frame.loc[[3, 70], "knn_score"] = pd.NA
    frame.loc[[5, 90], "other.score"] = np.nan
    if missing == "drop":
        frame.loc[8, "User.Id"], frame.loc[9, "relevant"] = pd.NA, pd.NA
    asked = {**ROLES, "missing": missing}
    sdf = on_spark(spark, frame)
    sdf = sdf.withColumn(
        "other.score", F.when(F.col("knn_score") == 4, F.col("`other.score`")).otherwise(np.nan)
    )
    frame["other.score"] = frame["other.score"].where(frame["knn_score"] == 4)

    metrics = METRICS[:-1]  # The column has nulls in rows that the other score ranks.
    assert_same(
        frame.rec(**asked).evaluate(metrics), recframe.spark.rec(sdf, **asked).evaluate(metrics)
    )


def test_nulls_are_refused(spark):
    """Nulls are refused by default, in one message."""
    frame, _ = make()
    sdf = on_spark(spark, frame)
    sdf = sdf.withColumn("knn_score", F.nullif(F.col("knn_score"), F.lit(3)))

    message = refusal(recframe.spark.rec(sdf, **ROLES).evaluate)
    assert message.startswith("recframe.errors.RecframeError: in a partition of ")
    assert " rows: score='knn_score': must not be null, but " in message


def test_catalogue(spark):
    """The catalogue equals pandas' catalogue, with ties, with a list of items and with truth."""
    frame, truth = make()
    sdf = on_spark(spark, frame)
    items = [f"d{number}" for number in range(99)]
    assert_catalogue(
        frame.rec(**ROLES).catalogue(3, items), recframe.spark.rec(sdf, **ROLES).catalogue(3, items)
    )
    asked = {**OF_TRUTH, "unjudged": "drop", "ties": "best"}
    judged = recframe.spark.rec(sdf, truth=on_spark(spark, truth), **asked)
    assert_catalogue(frame.rec(truth=truth, **asked).catalogue(3), judged.catalogue(3))
    few = recframe.spark.rec(sdf, **ROLES).catalogue
    assert "items must have every item" in refusal(lambda: few(3, items[:2]))


@pytest.mark.parametrize("measure", [{"k": 3}, {"rbo": 0.9}])
def test_overlap(spark, measure):
    """The overlap has a row for each two scores, with the values of pandas but the last digit."""
    frame, _ = make()
    expected = frame.rec(**ROLES).overlap(**measure)
    table = recframe.spark.rec(on_spark(spark, frame), **ROLES).overlap(**measure).toPandas()

    assert ["score", "other_score", expected.columns.name] == list(table)
    wide = table.set_index(["other_score", "score"]).unstack()  # noqa: PD010 - no pair repeats
    wide = wide[expected.columns.name].loc[expected.index, list(expected)]
    np.testing.assert_allclose(wide.to_numpy(), expected.to_numpy(), rtol=1e-14)


def test_groups_of_items(spark):
    """Groups of items equal pandas' groups, with truth of Spark and null groups."""
    frame, truth = make()
    items = pd.DataFrame({"doc": [f"d{number}" for number in range(60)]})
    items = items.assign(size=np.arange(60) % 3, maker=["x", None, "z"] * 20)
    expected = frame.rec(truth=truth, **OF_TRUTH).catalogue(3, items, by=["maker", "size"])
    judged = recframe.spark.rec(on_spark(spark, frame), truth=on_spark(spark, truth), **OF_TRUTH)
    rows = judged.catalogue(3, items, by=["maker", "size"]).collect()

    keys = expected.index.to_frame(index=False).astype(object)
    assert keys.where(keys.notna(), None).to_numpy().tolist() == [[*row[:3]] for row in rows]
    np.testing.assert_array_equal(expected.to_numpy(), [row[3:] for row in rows])


def test_means_of_columns_need_no_relevance(spark):
    """Means of columns need no relevance, for each user and for all."""
    frame, _ = make()
    frame, metric = frame.drop(columns="relevant"), "mean(other.score)@2"
    ours = recframe.spark.rec(on_spark(spark, frame), **ROLES)
    theirs = frame.rec(**ROLES)

    assert_same(theirs.evaluate(metric), ours.evaluate(metric))
    (mean,) = ours.mean(metric).where("score = 'knn_score'").toPandas()[metric]
    assert mean == pytest.approx(theirs.mean(metric).loc["knn_score", metric], rel=1e-12)


def test_pairs_and_shares(spark):
    """Pairs of categories and of arrays, and shares of a column, have the values of pandas."""
    frame, _ = make()
    frame = frame.drop(columns="relevant")
    frame["genre"] = np.arange(len(frame)) % 3
    frame["vector"] = [[1.0, row % 4, -2.5] for row in range(len(frame))]
    metrics = ["diversity(genre)@3", "diversity(vector)@3", "share(genre)@2"]
    sdf = on_spark(spark, frame)

    assert_same(
        frame.rec(**ROLES).evaluate(metrics), recframe.spark.rec(sdf, **ROLES).evaluate(metrics)
    )
    mean = recframe.spark.rec(sdf, **ROLES).mean(metrics).where("score = 'knn_score'")
    expected = frame.rec(**ROLES).mean(metrics).loc["knn_score"].tolist()
    assert expected == pytest.approx(mean.toPandas()[metrics].iloc[0].tolist())
    texts = sdf.withColumn("vector", F.array(F.lit("a")))
    assert "must be categories or vectors of numbers, but has ['a']" in refusal(
        lambda: recframe.spark.rec(texts, **ROLES).mean("diversity(vector)@3")
    )
    assert "must have one value in a cell" in refusal(
        lambda: recframe.spark.rec(sdf, **{**ROLES, "user": "vector"}).mean("diversity(genre)@3")
    )


def test_decimals_are_numbers(spark):
    """Scores, relevance and the column of a mean may be decimals, as sums and casts in SQL are."""
    frame = pd.DataFrame({"user": [1, 1, 2], "score": [0.5, 0.25, 0.1], "relevant": [0, 1, 1]})
    frame["price"] = [1.5, 2.25, 3.0]
    sdf = spark.createDataFrame(frame).selectExpr(
        "user",
        *[f"cast({one} as decimal(9, 4)) as {one}" for one in ("score", "relevant", "price")],
    )
    metrics = ["recall@1", "mrr", "mean(price)@1"]
    expected = frame.rec(short="pad").mean(metrics)
    table = recframe.spark.rec(sdf)(short="pad").mean(metrics).toPandas()
    assert expected.iloc[0].tolist() == table[metrics].iloc[0].tolist()
    many = sdf.selectExpr(
        "user", "relevant", "cast(0.1234567890123456789 as decimal(38, 19)) score"
    )
    assert "decimals must have at most 15 digits" in refusal(
        lambda: recframe.spark.rec(many)(short="pad").mean("mrr")
    )


def test_a_promise_that_holds(spark):
    """If each user is in one partition, rows stay there and the table is the same."""
    frame, _ = make()
    sdf = on_spark(spark, frame).repartition(3, "`User.Id`")
    rec = recframe.spark.rec(sdf, partitioned=True, **ROLES)
    result = rec.evaluate(METRICS)

    assert_same(frame.rec(**ROLES).evaluate(METRICS), result)
    assert len(frame.rec(**ROLES).top(2)) == rec.top(2).count()
    assert frame.rec(**ROLES).describe(2).to_dict() == rec.describe(2).to_dict()


def test_cut_offs_and_whole_rankings_of_one_user_at_a_time(spark):
    """A partition of one user gives the values of pandas for each metric alone, bit for bit."""
    frame, labels = strategies.sparse_frame(), strategies.at_cut_offs([1, 2, 5])
    options = {"short": "pad", "min_relevance": 1}
    n_users = frame["user"].nunique()
    sdf = on_spark(spark, frame).repartitionByRange(n_users, "user")
    expected = pd.concat([frame.rec(**options).evaluate(label) for label in labels], axis=1)

    assert n_users == sdf.select(F.spark_partition_id()).distinct().count()
    assert_same(expected, recframe.spark.rec(sdf, partitioned=True, **options).evaluate(labels))


def test_a_broken_promise_is_refused(spark):
    """A user with rows in two partitions is refused in every table."""
    frame, _ = make()
    rec = recframe.spark.rec(on_spark(spark, frame), partitioned=True, **ROLES)

    found = (
        r"partitioned=True: .* but \d+ of \d+ users are in several .*. Leave partitioned=True out"
    )
    for make_table in (rec.evaluate, rec.top):
        with pytest.raises(PythonException, match=found):
            make_table().toPandas()
    with pytest.raises(recframe.RecframeError, match=r"partitioned=True: .* \d+ of \d+ users"):
        rec.describe()
    renamed = frame[["User.Id", "knn_score", "relevant"]].set_axis(
        ["user", "score", "relevant"], axis=1
    )
    unpromised = recframe.spark.SparkRecAccessor(on_spark(spark, renamed))
    assert renamed["user"].nunique() == unpromised.recall(k=1).count()


@pytest.mark.parametrize("kind", [None, "pandas", "Spark"])
def test_describe_and_inspect(spark, kind):
    """The methods describe and inspect compute at once and show the same as pandas."""
    frame, truth = make()
    asked = ROLES if kind is None else OF_TRUTH
    companions = {} if kind is None else {"truth": TRUTHS[kind](truth, spark, None)}
    ours = recframe.spark.rec(on_spark(spark, frame), **companions, **asked)
    theirs = frame.rec(**asked, **({} if kind is None else {"truth": truth}))

    assert str(theirs.describe(2)) == str(ours.describe(2))
    user = 12
    pd.testing.assert_frame_equal(theirs.inspect(user, 3).metrics, ours.inspect(user, 3).metrics)
    assert len(theirs.inspect(3, 3).tables["knn_score"]) == len(
        ours.inspect(3, 3).tables["knn_score"]
    )
    with pytest.raises(recframe.RecframeError, match="user=999: no row has that id; ids of"):
        ours.inspect(999)


@pytest.mark.parametrize("kind", [None, "Spark"])
def test_report(spark, kind):
    """A report is computed at once and equals pandas' page, except for the order of tied rows."""
    pytest.importorskip("jinja2")
    frame, truth = make()
    asked = ROLES if kind is None else OF_TRUTH
    companions = {} if kind is None else {"truth": TRUTHS[kind](truth, spark, None)}
    ours = recframe.spark.rec(on_spark(spark, frame), **companions, **asked)
    theirs = frame.rec(**asked, **({} if kind is None else {"truth": truth}))
    metrics = ["recall@3", "precision@2"]  # Pandas warns of others, workers do not.
    pages = [rec.report(metrics).html for rec in (ours, theirs)]
    actual, expected = (
        [
            line
            for line in page.splitlines()
            if not re.match("<dt>(data|truth|options|empty lists)<|<li", line)
        ]
        for page in pages
    )

    assert expected == actual


def test_reconcile(spark):
    """Conventions and their means equal pandas' table, without ties by the order of rows."""
    frame = pd.DataFrame(
        {"user": [1, 1, 2, 3], "item": [1, 2, 1, 3], "score": [2.0, 2.0, 1.0, 0.5]}
    )
    truth = pd.DataFrame({"user": [1, 1, 2], "item": [1, 4, 9]})
    asked = {"population": "truth", "short": "pad"}
    rec = recframe.spark.rec(
        spark.createDataFrame(frame), truth=spark.createDataFrame(truth), **asked
    )
    expected = frame.rec(truth=truth, **asked).reconcile("hit_rate@1", 0.25)
    found = rec.reconcile("hit_rate@1", 0.25)

    assert [0.0, 0.25, 0.5] == sorted(found["value"])
    assert 0.25 == found["value"].iloc[0]
    assert set(found["value"]) <= set(expected["value"])
    assert "recframe.spark.rec(sdf)(" in found["call"].iloc[0]
    assert (0.0, 0.5) == tuple(rec.robustness("hit_rate@1").loc["score", ["lowest", "highest"]])


def test_a_frame_without_rows(spark):
    """An empty frame has no users, and its means are undefined."""
    frame, _ = make()
    rec = recframe.spark.rec(on_spark(spark, frame).where("doc is null"), **ROLES)

    assert 0 == rec.evaluate().count()
    means = rec.mean("recall@2").toPandas()
    assert (["knn_score", "other.score"], True) == (
        means["score"].tolist(),
        means["recall@2"].isna().all(),
    )
    assert [0, 0] == rec.describe().loc["rows"].tolist()


def test_partitions_that_spark_joins(spark):
    """Tables and refusals are the same if Spark joins partitions, which it does by default."""
    frame, truth = make()
    spark.conf.set("spark.sql.adaptive.enabled", True)
    try:
        sdf, spark_truth = on_spark(spark, frame), on_spark(spark, truth)
        rec = recframe.spark.rec(sdf, truth=spark_truth, **OF_TRUTH)
        assert_same(frame.rec(truth=truth, **OF_TRUTH).evaluate(METRICS), rec.evaluate(METRICS))
        # If two stages fail at once, Spark raises a long error in place of Python's.
        refused = recframe.spark.rec(sdf, truth=spark_truth, **{**OF_TRUTH, "short": "raise"})
        for find in (lambda table: table.toPandas(), lambda table: table.count()):
            assert "fewer than k=50 ranked rows" in refusal(lambda: refused.recall(50), find)
        promised = recframe.spark.rec(sdf, partitioned=True, **ROLES)
        assert "one partition, but 25 of 29 users are in several" in refusal(promised.evaluate)
    finally:
        spark.conf.set("spark.sql.adaptive.enabled", False)


def test_when_tables_are_computed(spark):
    """Tables with a row for each user or row are lazy; others are computed at once."""
    frame, truth = make()

    def fail(batches):
        raise AssertionError("this ran")
        yield

    sdf, spark_truth = (on_spark(spark, rows) for rows in (frame, truth))
    plain = (one.toDF(*(f"c{at}" for at in range(len(one.columns)))) for one in (sdf, spark_truth))
    failing = [one.mapInArrow(fail, one.schema) for one in plain]
    sdf, spark_truth = failing[0].toDF(*sdf.columns), failing[1].toDF(*spark_truth.columns)
    for asked in (ROLES, {**OF_TRUTH, "truth": spark_truth}):
        rec = recframe.spark.rec(sdf, **asked)
        tables = [rec.evaluate(), rec.recall(), rec.rank(), rec.top()]
        assert "knn_score" in repr(rec)
        assert all(isinstance(table, type(sdf)) for table in tables)
        tables = rec.mean, rec.summary, rec.compare, rec.bounds, rec.curve, rec.catalogue
        for make_table in tables:
            with pytest.raises(PythonException, match="this ran"):
                make_table()


def test_what_is_refused_at_once(spark):
    """Arguments, options that read row order, and columns of lists are refused at once."""
    frame, truth = make()
    sdf = on_spark(spark, frame)
    rec = recframe.spark.rec
    lists = sdf.withColumn("doc", F.array("doc"))
    stream = spark.readStream.format("rate").load()
    refusals = {
        "frame must be a Spark DataFrame, .* Pass spark.createDataFrame": lambda: rec(frame),
        "partitioned must be True or False": lambda: rec(sdf, partitioned=1),
        "ties='first' reads the order of rows, which Spark": lambda: rec(sdf, ties="first"),
        "user='qid': no such column": lambda: rec(
            sdf, **{**ROLES, "user": ["User.Id", "qid"]}
        ).recall(),
        r"user must be a tuple of an id of each of \['knn_score', 'User.Id'\], but is 5": lambda: (
            rec(sdf, **{**ROLES, "user": ["knn_score", "User.Id"], "score": "other.score"}).inspect(
                5
            )
        ),
        "truth: user: ids of different kinds .* 'doc' of the frame is string": lambda: rec(
            sdf,
            user=["User.Id", "doc"],
            item="knn_score",
            score="other.score",
            truth=on_spark(spark, truth),
            truth_user=["who", "grade"],
            truth_item="what",
        ).evaluate(),
        "duplicates='first' reads the order": lambda: rec(sdf)(duplicates="first"),
        "unknown option 'tie'": lambda: rec(sdf, tie="best"),
        "recframe.spark.rec.sdf.": lambda: rec(sdf.select("doc", "relevant")).top(),
        "no such column": lambda: rec(sdf, user="usr").recall(),
        "k must be": lambda: rec(sdf, **ROLES).top(0),
        "compare needs two score columns": lambda: rec(
            sdf, **{**ROLES, "score": "knn_score"}
        ).compare(),
        "'doc' must have one value in a cell, but is Spark's array<string>. Take one": lambda: rec(
            lists, **ROLES
        ).evaluate(),
        "'doc' must have one value in a cell, but is Spark's struct<.*>. Take one field": lambda: (
            rec(sdf.withColumn("doc", F.struct("doc")), **ROLES).evaluate()
        ),
        "exclude: .* null": lambda: rec(
            sdf, **ROLES, exclude=frame.assign(doc=frame["doc"].mask(frame.index == 3))
        ).evaluate(),
        "the column 'doc' must have one value in a cell": lambda: rec(
            sdf, **ROLES, exclude=lists
        ).evaluate(),
        "truth: relevant='grade': must be boolean, 0/1 or numbers, but has dtype": lambda: rec(
            sdf, **OF_TRUTH, truth=on_spark(spark, truth).withColumn("grade", F.lit("x"))
        ).evaluate(),
        "truth: Spark cannot hold its columns .* lose data": lambda: rec(
            sdf, **OF_TRUTH, truth=truth.assign(who=pd.to_datetime(truth.index, unit="ns"))
        ).evaluate(),
        "truth_user='nobody': no such column": lambda: rec(
            sdf, **{**OF_TRUTH, "truth": truth, "truth_user": "nobody"}
        ).evaluate(),
        "'Rank' has a name that results use": lambda: rec(
            sdf.withColumn("Rank", F.lit(1)), **ROLES
        ).rank(),
        "'Score' has a name that results use": lambda: rec(
            sdf.withColumnRenamed("User.Id", "Score"), **{**ROLES, "user": "Score"}
        ).evaluate(),
        "but is a stream. Pass each of its batches": lambda: rec(stream),
        "truth must have all its rows, but is a stream": lambda: rec(
            sdf, **ROLES, truth=stream, truth_user="value", truth_item="timestamp"
        ).evaluate(),
        "truth: user: ids of different kinds .* is bigint, 'who' of truth is string": lambda: rec(
            sdf, **{**OF_TRUTH, "truth": on_spark(spark, truth, "string")}
        ).evaluate(),
        "exclude: item: ids of different kinds are never equal; 'doc' of the frame": lambda: rec(
            sdf, **ROLES, exclude=on_spark(spark, frame).withColumn("doc", F.lit(1))
        ).evaluate(),
        "exclude: user: no column found": lambda: rec(
            sdf, **ROLES, exclude=sdf.select("doc")
        ).top(),
        "unjudged='drop' leaves out the rows": lambda: rec(sdf, unjudged="drop"),
        "there is one ranking": lambda: rec(sdf, **{**ROLES, "user": None}).inspect(1),
    }
    for message, ask in refusals.items():
        with pytest.raises(recframe.RecframeError) as caught:
            pytest.fail(f"not refused: {message}, but {ask()}")
        assert re.search(message, str(caught.value))
        assert "\n" not in str(caught.value)


def test_repeated_pairs_are_refused_with_columns_that_may_tell_them_apart(spark):
    """The refusal of repeated pairs names columns that may tell the rows apart."""
    frame, _ = make()
    sdf = on_spark(spark, pd.concat([frame.assign(day=1), frame.assign(day=2)]))
    message = refusal(recframe.spark.rec(sdf, **ROLES).evaluate)

    assert "each combination of 'User.Id' and 'doc' must occur once" in message
    assert "If the column 'day' tells them apart" in message


@pytest.mark.parametrize(
    "name", ["rec", *(f"SparkRecAccessor{end}" for end in ("", ".__call__", ".rank"))]
)
def test_docstrings_are_valid_numpydoc(name):
    """Docstrings pass every check of numpydoc, except that rank needs no example."""
    numpydoc = pytest.importorskip("numpydoc.validate", reason="numpydoc is not installed")
    with pytest.MonkeyPatch.context() as patch:
        if "**options" in resolve_name(f"recframe.spark.{name}").__doc__:  # see `evaluate`
            patch.delattr(resolve_name(f"recframe.spark.{name}"), "__signature__")
        errors = numpydoc.validate(f"recframe.spark.{name}")["errors"]

    assert [] == [text for code, text in errors if code != "EX01"]


def test_examples(spark):
    """The examples in docstrings print the output that they show."""
    result = doctest.testmod(recframe.spark, optionflags=doctest.NORMALIZE_WHITESPACE)

    assert (0, True) == (result.failed, result.attempted > 9)
