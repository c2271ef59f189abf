"""Argument `trusted`: labels by people correct means and differences by a judge.

Tests of `trusted_min_relevance` belong here.
"""

import contextlib
import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import t as student

import recframe
import recframe.dask
import recframe.polars
from judged_rows import N_JUDGED, N_USERS, SCORES, draw_rows, rec_of
from recframe.analysis.intervals import Counted, student_tail
from recframe.analysis.people import find_kappa
from recframe.analysis.trusted import NOT_JUDGED, mean_by_both
from recframe.cli import main
from recframe.errors import RecframeError

FIRST, WHOLE = ["precision@3", "dcg@3"], ["recall@3", "ndcg@3"]


@pytest.fixture
def rows():
    """Return rows with labels by a judge, and by people for some users."""
    return draw_rows()


def regression(people, judge, judge_of_all):
    """Return the regression estimate, its standard error and its degrees of freedom."""
    n = len(people)
    slope = np.cov(people, judge)[0, 1] / judge.var(ddof=1)
    mean = people.mean() + slope * (judge_of_all.mean() - judge.mean())
    rest = people - slope * judge
    spread = ((judge - judge.mean()) ** 2).sum()
    leverage = (judge.mean() - judge_of_all.mean()) ** 2 / spread
    variance = ((rest - rest.mean()) ** 2).sum() / (n - 2) * (1 / n + leverage)
    variance += slope**2 * judge_of_all.var(ddof=1) / len(judge_of_all)
    return mean, np.sqrt(variance), n - 2


def estimate_of(people, judge, weights=None, units=None):
    """Return the estimate of the package."""
    return mean_by_both(people, judge, Counted(weights, units), "")


def draw_values(n=300, n_judged=80, seed=1):
    """Return people's values with unjudged users, and the judge's values."""
    rng = np.random.default_rng(seed)
    people = rng.beta(1, 2, n)
    judge = np.clip(people + rng.normal(0.05, 0.1, n), 0, 1)
    return np.where(np.arange(n) < n_judged, people, NOT_JUDGED), judge


def test_summary_is_the_regression_estimator(rows):
    """Mean, interval and bias follow the formula of two-phase sampling."""
    table = rec_of(rows).summary("precision@3", trusted="human")

    by_judge = rec_of(rows).precision(3)
    by_people = rows.dropna().rec(score=SCORES, relevant="human").precision(3)
    for score in SCORES:
        of_judged = by_judge.loc[by_people.index, score].to_numpy()
        mean, error, freedom = regression(
            by_people[score].to_numpy(), of_judged, by_judge[score].to_numpy()
        )
        row = table.loc[(score, "precision@3")]
        half = student.ppf(0.975, freedom) * error
        expected = [mean, mean - half, mean + half, error, by_judge[score].mean()]
        names = ["mean", "low", "high", "standard_error", "judge_mean"]
        assert expected == pytest.approx(row[names].tolist(), rel=1e-9)
        assert row["judge_mean"] - row["mean"] == pytest.approx(row["judge_bias"])
        assert [N_USERS, N_JUDGED] == [row["n_users"], row["n_trusted"]]
        people = by_people[score]
        assert row["worth"] == round(people.var() / error**2)
        assert row["high"] - row["low"] < 0.75 * 4 * people.std() / np.sqrt(N_JUDGED)


def test_compare_is_the_regression_of_differences(rows):
    """A difference, its interval and its p-value follow the same formula for paired differences."""
    table = rec_of(rows).compare("precision@3", trusted="human")

    by_judge = rec_of(rows).precision(3)
    by_people = rows.dropna().rec(score=SCORES, relevant="human").precision(3)
    judge, people = by_judge["b"] - by_judge["a"], by_people["b"] - by_people["a"]
    mean, error, freedom = regression(people, judge[people.index], judge.to_numpy())
    row = table.loc[("b", "precision@3")]
    assert row["difference"] == pytest.approx(mean)
    assert row["p_value"] == pytest.approx(2 * student.sf(abs(mean / error), freedom))
    assert row["high"] - row["low"] == pytest.approx(2 * student.ppf(0.975, freedom) * error)
    assert row["judge_difference"] == pytest.approx(judge.mean())
    assert row["n_won"] == (people > 0).sum()
    assert "n_trusted" in repr(table)


def test_people_for_all_users_are_their_plain_mean():
    """If people judged all users, the mean is theirs, for any labels of the judge."""
    people, judge = draw_values(n_judged=300)

    estimate = estimate_of(people, judge)

    assert people.mean() == pytest.approx(estimate.mean)
    assert people.std(ddof=1) / np.sqrt(300) == pytest.approx(estimate.error, rel=0.01)


def test_whole_weights_count_users_as_often():
    """A user with a weight of 3 counts like the same user three times."""
    people, judge = draw_values()
    times = np.random.default_rng(2).integers(1, 4, len(judge))

    weighted = estimate_of(people, judge, weights=times.astype(float))
    repeated = estimate_of(people.repeat(times), judge.repeat(times))

    # Repeated users are one unit each, or the error would be too low.
    units = np.arange(len(judge)).repeat(times)
    by_unit = estimate_of(people.repeat(times), judge.repeat(times), units=units)
    assert weighted.mean == pytest.approx(by_unit.mean)
    assert weighted.error == pytest.approx(by_unit.error)
    assert repeated.judge_mean == pytest.approx(weighted.judge_mean)
    assert repeated.error < weighted.error


def test_nulls_of_people_leave_their_users_out():
    """Users without a value by people are left out, also users whom people did not judge."""
    people, judge = draw_values(n=20_000, n_judged=10_000)
    is_null = np.random.default_rng(3).random(len(judge)) < judge  # nulls depend on the value
    truth = people[(people != NOT_JUDGED) & ~is_null].mean()

    estimate = estimate_of(np.where((people != NOT_JUDGED) & is_null, np.nan, people), judge)

    assert abs(estimate.mean - truth) < 4 * estimate.error
    assert estimate.error < 0.01
    assert estimate.n_trusted == np.count_nonzero((people != NOT_JUDGED) & ~is_null)


@pytest.mark.parametrize("freedom", [1, 2, 18, 98, 999, 1_000, 5_000])
def test_tail_of_student(freedom):
    """The tail of Student's t is SciPy's."""
    for value in (0.0, 0.5, 1.96, 3.0, 5.0):
        assert student_tail(value, freedom) == pytest.approx(student.sf(value, freedom), rel=2e-3)


@pytest.mark.parametrize("metrics", [FIRST, WHOLE])
def test_labels_in_every_form_give_one_table(rows, metrics, tmp_path):
    """A column, pairs in frames and files, and values of users are the same labels."""
    pairs = rows.dropna()[["user", "item", "human"]].rename(columns={"human": "relevance"})
    pairs.to_parquet(tmp_path / "pairs.parquet")
    by_people = rows.dropna().rec(score=SCORES, relevant="human").evaluate(metrics)
    rec = rec_of(rows)

    expected = rec.summary(metrics, trusted="human")
    forms = [pairs, pl.from_pandas(pairs), tmp_path / "pairs.parquet", by_people]
    for trusted in forms:
        pd.testing.assert_frame_equal(expected, rec.summary(metrics, trusted=trusted))
    by_function = recframe.summary(rec.evaluate(metrics), trusted=by_people)
    pd.testing.assert_frame_equal(pd.DataFrame(expected), pd.DataFrame(by_function))
    compared = rec.compare(metrics, trusted="human")
    by_function = recframe.compare(rec.evaluate(metrics), trusted=by_people)
    pd.testing.assert_frame_equal(pd.DataFrame(compared), pd.DataFrame(by_function))


def test_labels_that_tell_too_little(rows):
    """Pairs that are all relevant, words, and further columns are refused with a way on."""
    judged = rows.dropna()
    rec = rec_of(rows)
    pairs = judged[["user", "item", "human"]]
    by_pairs = rec.summary(FIRST, trusted=pairs)  # the only column next to the ids has the labels
    pd.testing.assert_frame_equal(rec.summary(FIRST, trusted="human"), by_pairs)
    words = rows["human"].map({0.0: "no", 1.0: "yes"})
    for frame, trusted, message in (
        (rows, pairs[pairs["human"] == 1], "trusted must also say which rows are not relevant"),
        (rows, pairs[["user", "item"]], "trusted must have a column of labels next to the ids"),
        (
            rows,
            judged,
            r"trusted must have a column of labels .* but has \['a', 'b', 'llm', 'human'\]",
        ),
        (
            rows.assign(human=words),
            "human",
            r"trusted must hold booleans or grades, but holds 'no'",
        ),
        (rows, rows["human"], "trusted must be the label of a column"),
    ):
        with pytest.raises(RecframeError, match=message):
            rec_of(frame).summary(FIRST, trusted=trusted)


def test_pairs_that_are_judged_in_part(rows):
    """A part of the pairs of judged users is refused, as a part of a column is."""
    pairs = rows.dropna()[["user", "item", "human"]].sample(frac=0.5, random_state=0)
    with pytest.raises(RecframeError, match=r"rows that precision@3 of a reads, .* judged some"):
        rec_of(rows).summary("precision@3", trusted=pairs)


def test_units_that_are_judged_in_part():
    """If people judged one of a unit's rankings, the interval is at most as long as people's."""
    rng, n = np.random.default_rng(5), 600
    units = np.arange(n) // 4
    own = rng.beta(1, 2, n // 4)[units]
    people = np.clip(own + rng.normal(0, 0.1, n), 0, 1)
    judge = np.clip(people + rng.normal(0.05, 0.05, n), 0, 1)
    is_judged = rng.random(n) < 0.25
    estimate = estimate_of(np.where(is_judged, people, NOT_JUDGED), judge, units=units)
    sums = [np.bincount(units, is_judged), np.bincount(units, is_judged * people)]
    of_units = sums[1] - people[is_judged].mean() * sums[0]
    alone = np.sqrt((of_units**2).sum()) / is_judged.sum()
    assert alone / 2 < estimate.error < 1.1 * alone


def test_grades_have_a_threshold_of_their_own(rows):
    """People's grades count from trusted_min_relevance on, the judge's from min_relevance."""
    graded = rows.assign(llm=rows["llm"] * 5 - 1, human=rows["human"] * 2)
    rec = rec_of(graded, min_relevance=4, trusted_min_relevance=2)

    table = rec.summary("precision@3", trusted="human")

    pd.testing.assert_frame_equal(rec_of(rows).summary("precision@3", trusted="human"), table)
    with pytest.raises(RecframeError, match=r"^trusted_min_relevance must be the lowest grade"):
        rec_of(graded, min_relevance=4).summary("precision@3", trusted="human")


def test_labels_that_abstain(rows):
    """A label of -1 may mean not judged, so the refusal says how to leave it out."""
    abstained = rows.assign(human=rows["human"].fillna(-1).astype(int))
    for refuse in (
        lambda: rec_of(abstained).summary("precision@3", trusted="human"),
        lambda: abstained.rec(relevant="human", score="a").mean("precision@3"),
    ):
        with pytest.raises(RecframeError, match="Where -1 means not judged, set it to null first"):
            refuse()


def test_metrics_of_first_rows_need_labels_of_these_only(rows):
    """For precision people judge the first k rows; for recall a user judged in part is refused."""
    alone = rows.assign(b=rows["a"])  # both models have the same first rows
    is_first = alone.groupby("user")["a"].rank(ascending=False, method="min") <= 3
    partly = alone.assign(human=alone["human"].where(is_first))

    for metrics, options in (
        (FIRST, {}),
        (["hit_rate@3", "reciprocal_rank@3"], {"zero_division": 0}),
    ):
        table = rec_of(partly, **options).summary(metrics, trusted="human")
        whole = rec_of(alone, **options).summary(metrics, trusted="human")
        pd.testing.assert_frame_equal(whole, table)
    for metric in ("recall@3", "hit_rate@3", "precision@4"):
        with pytest.raises(RecframeError, match=rf"rows that {metric} of a reads, .* judged some"):
            rec_of(partly).summary(metric, trusted="human")


def test_few_differences_leave_the_judge_out(rows):
    """If judge and people differ on few judged users, people's values alone are used."""
    same = rows.assign(llm=np.where(rows["human"].notna(), rows["human"] == 1, rows["llm"]))

    table = rec_of(same).summary("precision@3", trusted="human")

    by_people = rows.dropna().rec(score=SCORES, relevant="human").summary("precision@3")
    names = ["mean", "low", "high", "interval", "standard_error"]
    pd.testing.assert_frame_equal(
        pd.DataFrame(by_people[names]), pd.DataFrame(table[names]), rtol=1e-12
    )
    assert [N_JUDGED] * 2 == table["worth"].tolist()
    assert "judge_left_out" in [one.kind for one in table.notes]
    compared = rec_of(same).compare("precision@3", trusted="human")
    alone = rows.dropna().rec(score=SCORES, relevant="human").compare("precision@3")
    assert alone["p_value"].tolist() == pytest.approx(compared["p_value"].tolist())


def test_notes(rows):
    """Notes say that the judge does not help, that users are not drawn at random, and order."""
    rng = np.random.default_rng(4)
    blind = rows.assign(llm=rng.random(len(rows)) < 0.5)
    kinds = [one.kind for one in rec_of(blind).summary("precision@3", trusted="human").notes]
    assert "judge_of_no_help" in kinds
    shares = rows.groupby("user")["llm"].mean()
    best = shares.nlargest(N_JUDGED).index
    truth = rows["llm"] & (rng.random(len(rows)) < 0.8)
    chosen = rows.assign(human=truth.astype(float).where(rows["user"].isin(best)))
    kinds = [one.kind for one in rec_of(chosen).summary("precision@3", trusted="human").notes]
    assert "judged_not_at_random" in kinds
    kinds = [one.kind for one in rec_of(rows).summary("precision@3", trusted="human").notes]
    assert not {"judge_of_no_help", "judged_not_at_random", "judge_left_out"} & {*kinds}
    worse = rows.assign(b=rng.random(len(rows)))  # but the judge likes what it ranks first
    liked = worse.groupby("user")["b"].rank(ascending=False) <= 2
    notes = rec_of(worse.assign(llm=liked | rows["llm"])).summary(FIRST, trusted="human").notes
    assert "judge_of_other_order" in [one.kind for one in notes]


def test_segments_weights_and_units(rows):
    """Each segment is estimated by itself; one without judged users is undefined, and noted."""
    country = pd.Series(np.arange(N_USERS) % 3, pd.RangeIndex(N_USERS, name="user"), name="part")
    rows.loc[rows["user"] % 3 == 2, "human"] = np.nan
    table = rec_of(rows).summary("precision@3", by=country, trusted="human")

    for part in range(2):
        own = rows[rows["user"] % 3 == part]
        expected = rec_of(own).summary("precision@3", trusted="human")
        pd.testing.assert_frame_equal(pd.DataFrame(expected), pd.DataFrame(table.loc[part]))
    assert table.loc[2][["mean", "low", "high"]].isna().all(axis=None)
    assert [0, 0] == table.loc[2]["n_trusted"].tolist()
    weights = country + 1.0
    weighted = rec_of(rows).summary("precision@3", weights=weights, trusted="human")
    assert (weighted["standard_error"] > 0).all()
    days = rows.assign(day=rows["user"] % 2, person=rows["user"] // 2)
    options = {"user": ["day", "person"]}
    by_unit = rec_of(days, **options).summary("precision@3", unit="person", trusted="human")
    assert [N_USERS // 2] * 2 == by_unit["n_users"].tolist()
    plain = rec_of(days, **options).summary("precision@3", unit=None, trusted="human")
    assert by_unit["judge_mean"].tolist() == pytest.approx(plain["judge_mean"].tolist())


def test_users_needed(rows):
    """A plan counts the users whom people must judge, and how many are left."""
    by_judge = rec_of(rows).evaluate("precision@3")
    by_people = rows.dropna().rec(score=SCORES, relevant="human").evaluate("precision@3")

    row = recframe.users_needed(by_judge, 0.06, trusted=by_people).iloc[0]

    alone = recframe.users_needed(by_people, 0.06).iloc[0]
    assert row["n_needed"] < alone["n_needed"]
    assert row["n_more"] == max(row["n_needed"] - N_JUDGED, 0)
    assert [N_JUDGED, N_USERS] == [row["n_trusted"], row["n_users"]]
    assert row["detectable"] < alone["detectable"]
    none = recframe.users_needed(by_judge, 0.001, trusted=by_people)
    assert none[["n_needed", "n_more"]].isna().all(axis=None)


def test_engines_give_one_table(rows, tmp_path):
    """Files, Polars and Dask return the table of pandas; labels are a column or pairs."""
    import dask.dataframe as dd

    pairs = rows.dropna()[["user", "item", "human"]].rename(columns={"human": "relevance"})
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=500)
    options = {"score": SCORES, "relevant": "llm"}
    for trusted in ("human", pairs):
        expected = rec_of(rows).summary(FIRST + WHOLE, trusted=trusted)
        of_files = recframe.scan(tmp_path / "rows.parquet", memory=1 << 14, **options)
        table = of_files.summary(FIRST + WHOLE, trusted=trusted)
        pd.testing.assert_frame_equal(expected, table)
        assert expected.notes == table.notes
        table = pl.from_pandas(rows).rec(**options).summary(FIRST + WHOLE, trusted=trusted)
        assert expected["mean"].tolist() == table["mean"].to_list()
        ddf = dd.from_pandas(rows.sample(frac=1, random_state=0), npartitions=3)
        table = ddf.rec(**options).summary(FIRST + WHOLE, trusted=trusted).compute()
        pd.testing.assert_frame_equal(pd.DataFrame(expected), pd.DataFrame(table))
        agreement = of_files.describe(3, trusted=trusted)
        pd.testing.assert_frame_equal(
            pd.DataFrame(rec_of(rows).describe(3, trusted=trusted)), pd.DataFrame(agreement)
        )


def test_agreement_on_rows(rows):
    """Describe counts the rows that people judged, and Cohen's kappa with the judge."""
    figures = rec_of(rows).describe(3, trusted="human")["a"]

    judged = rows.dropna()
    by_judge, by_people = judged["llm"].to_numpy(), judged["human"].to_numpy() == 1
    observed = (by_judge == by_people).mean()
    chance = by_judge.mean() * by_people.mean() + (1 - by_judge.mean()) * (1 - by_people.mean())
    assert figures["kappa of judge and people"] == pytest.approx((observed - chance) / (1 - chance))
    assert figures["rows judged by people"] == len(judged)
    assert figures["of these relevant to both"] == (by_judge & by_people).sum()
    assert np.isnan(find_kappa(10, 10, 10, 10))
    assert find_kappa(10, 5, 5, 5) == 1


def run(*words):
    """Return the exit status of a command line, and its output and messages."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(list(map(str, words)))
        except SystemExit as wrong_usage:
            status = wrong_usage.code
    return status, out.getvalue(), err.getvalue()


def test_command_line(rows, tmp_path, monkeypatch):
    """Commands evaluate, report and compare take people's labels and values."""
    monkeypatch.chdir(tmp_path)
    pairs = rows.dropna()[["user", "item", "human"]].rename(columns={"human": "relevance"})
    rows.to_parquet("rows.parquet")
    pairs.to_parquet("pairs.parquet")
    words = ["rows.parquet", "--score", "a", "--score", "b", "--relevant", "llm"]
    words += ["--metric", "precision@3"]
    expected = rec_of(rows).summary("precision@3", trusted="human")
    for trusted in ("human", "pairs.parquet"):
        asked = ["--summary", "--format", "json", "--trusted", trusted]
        status, out, _ = run("evaluate", *words, *asked)
        document = json.loads(out)
        assert status == 0
        assert document["trusted"] == trusted
        means = [document["scores"][score]["precision@3"]["mean"] for score in SCORES]
        assert expected["mean"].tolist() == means
        status, _, _ = run("report", *words, "--trusted", trusted, "-o", "page.html")
        assert status == 0
        page = (tmp_path / "page.html").read_text("utf-8")
        assert "judged by people" in page
        assert f"{expected['mean'].iloc[0]:.4f}" in page
    assert run("evaluate", *words, "--trusted", "human")[0] == 2
    overwritten = ["--summary", "--trusted", "pairs.parquet", "-o", "pairs.parquet"]
    assert run("evaluate", *words, *overwritten)[0] == 1


def test_gate(rows, tmp_path, monkeypatch):
    """A gate on two saved tables compares people's values, from one file or from two."""
    monkeypatch.chdir(tmp_path)
    judged = rows.dropna()
    for score in SCORES:
        for name, frame, relevant in (("", rows, "llm"), ("people_", judged, "human")):
            frame.to_parquet("rows.parquet")
            words = ["--score", score, "--relevant", relevant, "--metric", "precision@3", "-q"]
            saved = ["--per-user", f"{name}{score}.parquet"]
            assert run("evaluate", "rows.parquet", *words, *saved)[0] == 0
    expected = rec_of(rows).compare("precision@3", trusted="human").iloc[0]
    new_mean = rec_of(rows).summary("precision@3", trusted="human")["mean"].iloc[1]
    trusted = ["--trusted", "people_a.parquet", "--trusted", "people_b.parquet"]
    compare = ["compare", "a.parquet", "b.parquet", *trusted, "--allow-missing"]
    status, out, err = run(*compare, "--at-least", f"precision@3={new_mean + 1e-6}")
    assert status == 3
    assert f"has a mean of {new_mean:.4g}" in err
    status, _, _ = run(*compare, "--at-least", f"precision@3={new_mean - 1e-6}")
    assert status == 0
    status, out, _ = run(*compare, "--format", "json", "--max-drop", "0.3")
    row = json.loads(out)["scores"]["b"]["precision@3"]
    assert row["difference"] == pytest.approx(expected["difference"])
    assert row["n_trusted"] == N_JUDGED
    status, _, err = run("compare", "a.parquet", "a.parquet", "--trusted", "people_a.parquet")
    assert status == 1
    status, _, err = run("compare", "a.parquet", "b.parquet", "--trusted", "people_a.parquet")
    assert "lacks ('b', 'precision@3')" in err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"trusted": "humna"}, "trusted='humna': no such column"),
        ({"trusted": "human", "interval": "t"}, "interval='t'. Pass interval='auto'"),
        ({"trusted": "human", "metrics": "judged@3"}, "judged@3 does not depend on labels"),
        (
            {"trusted": pd.DataFrame({"user": [10**6] * 2, "item": [1, 2], "y": [0, 1]})},
            "trusted: ",
        ),
    ],
)
def test_refusals(rows, change, words):
    """A wrong column, interval or metric is refused, and users in common are needed."""
    arguments = {"metrics": "precision@3"} | change
    with pytest.raises(RecframeError) as refused:
        rec_of(rows).summary(**arguments)
    assert words in str(refused.value)


def test_refusals_of_tables(rows):
    """People's tables must have the judge's scores, metrics and users."""
    by_judge = rec_of(rows).evaluate(["precision@3", "recall@3"])
    with pytest.raises(RecframeError, match="lacks"):
        recframe.summary(by_judge, trusted=by_judge.drop(columns="b", level="score"))
    moved = by_judge.set_axis(by_judge.index + 10**6)
    with pytest.raises(RecframeError, match=r"trusted must have users of the judge"):
        recframe.summary(by_judge, trusted=moved)
    for arguments in ({"test": "ttest"}, {"correction": "max_t"}):
        with pytest.raises(RecframeError, match="trusted has a test"):
            recframe.compare(by_judge, trusted=by_judge, **arguments)
    with pytest.raises(RecframeError, match="must be labels of rows"):
        rec_of(rows).describe(3, trusted=by_judge)
    pairs = rows[["user", "item"]]
    condensed = rows.rec(score=SCORES, truth=pairs, unjudged="drop")
    with pytest.raises(RecframeError, match="unjudged='drop'"):
        condensed.summary(FIRST, trusted=pairs)
