"""Option `like` sets the options of another library by one word."""

import re
from pathlib import Path

import pandas as pd
import pytest

from entry_points import ENTRY_POINTS
from recframe import RecframeError
from recframe.cli import main
from recframe.conventions import LIKE, REMAINING
from recframe.options import DEFAULTS

GUIDE = Path(__file__).parents[1] / "examples" / "guide" / "conventions.md"
FRAME = pd.DataFrame({"user": [1, 1, 2, 3], "item": [1, 2, 1, 3], "score": [0.9, 0.9, 0.4, 0.1]})
# These set all options that any library sets.
SOME = ("ir_measures", "LensKit")
TRUTH = pd.DataFrame({"user": [1, 1, 2, 4], "item": [1, 3, 2, 1]})


@pytest.mark.parametrize(
    ("entry", "library"),
    [
        *(("frame", library) for library in LIKE),
        *((entry, library) for entry in ENTRY_POINTS if entry != "frame" for library in SOME),
    ],
)
def test_it_sets_the_options(entry, library, tmp_path):
    """Each library sets the options that the guide lists, on every engine."""
    options = {"population": "both", **LIKE[library], "truth": TRUTH}
    given = {"truth": TRUTH, "like": library}
    if "population" not in LIKE[library]:
        given["population"] = "both"
    metric = "hit_rate@2" if library == "implicit" else "precision@2"
    expected = FRAME.rec(**options).evaluate([metric])
    found = ENTRY_POINTS[entry](FRAME, metric, given, tmp_path)
    how = {"check_index_type": False, "check_column_type": False, "check_names": False}
    pd.testing.assert_frame_equal(expected, found, **how)


@pytest.mark.parametrize("library", ["trec_eval", "ir_measures"])
@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_negative_grades_are_no_judgments(entry, library, tmp_path):
    """Negative grades are no judgments under like="trec_eval", and are judgments otherwise."""
    grades = {"user": [1] * 5, "item": list("abcde"), "relevance": [2, -1, 0, 1, -2]}
    rows = pd.DataFrame({"user": 1, "item": list("baxcde"), "score": [6, 5, 4, 3, 2, 1]})
    given = {"truth": pd.DataFrame(grades), "min_relevance": 1}
    expected = {"nonrelevant": (0.5, 0.45), "drop": (0.5, (1 + 2 / 3) / 2)}

    for unjudged, values in expected.items():
        options = {**given, "like": library, "unjudged": unjudged}
        for metric, value in zip(["bpref", "average_precision"], values, strict=True):
            found = ENTRY_POINTS[entry](rows, metric, options, tmp_path)
            assert [value] == pytest.approx(found["score", metric].tolist())
    assert [0.25] == rows.rec(**given).bpref()["score"].tolist()


def test_users_with_negative_grades_alone():
    """Users with only negative grades stay users of truth, with an empty condensed list."""
    truth = pd.DataFrame({"user": [1, 2], "item": ["a", "b"], "relevance": [1, -1]})
    rows = pd.DataFrame({"user": [1, 2], "item": ["a", "b"], "score": [1, 1]})
    for unjudged in ("nonrelevant", "drop"):
        options = {"min_relevance": 1, "like": "ir_measures", "unjudged": unjudged}
        rec = rows.rec(truth=truth, **options)
        assert {1: 1.0, 2: 0.0} == rec.precision(k=1)["score"].to_dict()
    judged = rows.rec(truth=truth, min_relevance=1, like="trec_eval").judged(k=1)
    assert {1: 1.0, 2: 0.0} == judged["score"].to_dict()


def test_the_guide_lists_them():
    """The guide has a row for each library, or for several that are alike."""
    text = GUIDE.read_text(encoding="utf-8")
    listed = {}
    for names, cell in re.findall(r"^\| ([^|]+) \| ([^|]*) \| [^|]+ \|$", text, re.MULTILINE):
        options = dict(re.findall(r'(\w+)="?([\w.]+)"?', cell.split(";")[0]))
        listed |= dict.fromkeys(names.split(", "), options)
    for library, options in LIKE.items():
        options = {name: str(value) for name, value in options.items()}
        # The row of trec_eval includes it.
        if library == "ir_measures":
            options |= {"population": "both"}
            library = "trec_eval"
        assert options == listed[library], library


def test_what_stands_beside_it_wins():
    """An option passed with `like` wins, also if it is a default."""
    rec = FRAME.rec(truth=TRUTH, like="RecTools", population="both", short="raise")
    with pytest.raises(RecframeError, match="fewer than k="):
        rec.recall(k=2)
    with pytest.raises(RecframeError, match=r"like must be one of .* but is 'rectools'; did you"):
        FRAME.rec(like="rectools")
    with pytest.raises(RecframeError, match="like must be one of"):
        FRAME.rec(like=["ranx"])
    for typed, library in (("ml_metrics", "Kaggle"), ("recbole", "RecBole"), ("pyspark", "Spark")):
        with pytest.raises(RecframeError, match=f"but is '{typed}'; did you mean '{library}'"):
            FRAME.rec(like=typed)
    with pytest.raises(RecframeError, match=r"but is 'Cornac'$"):
        FRAME.rec(like="Cornac")


def test_it_shows_what_it_set():
    """The accessor shows the options that `like` sets, and a convention that no option covers."""
    shown = repr(FRAME.rec(truth=TRUTH, like="trec_eval"))
    for part in ("ties='item'", "short='pad'", "population='both'", "like='trec_eval'"):
        assert part in shown
    assert "trec_eval rounds scores to float32 first" in shown
    assert set(REMAINING) == set(LIKE)
    assert DEFAULTS["like"] is None


@pytest.mark.parametrize(
    ("library", "metric", "message"),
    [
        ("LensKit", "recall@2", r"Recall of LensKit is another metric .* Pass 'capped_recall@2'"),
        ("LensKit", "ndcg@2", r"Pass 'ndcg\(offset=0\)@2'"),
        ("RecTools", "r_precision", "Pass 'capped_recall@k'"),
        ("RePlay", "average_precision@2", "Pass 'capped_average_precision@2'"),
        ("RecBole", "average_precision", "Pass 'capped_average_precision@k'"),
        ("LensKit", "map@2", r"min\(R, k, n\)\)\. No metric here has its value"),
        ("LensKit", "average_precision@2", r"min\(R, k, n\)\)\. No metric here has its value"),
        ("implicit", "precision@2", r"sum of min\(R, k\) over users\)\. No metric here has its"),
        ("RecBole", "auc", r"GAUC of RecBole .* \(the mean counts a user R times\)"),
        ("ir_measures", "judged@2", "Judged@k of ir_measures is another metric"),
        ("scikit-learn", "average_precision", "a tie is one step"),
        ("RecTools", "diversity(item)@2", r'`short="shrink"`\). Pass this option next'),
    ],
)
def test_another_metric_of_the_name_is_refused(library, metric, message):
    """A metric that means something else in the library is refused with recframe's name for it."""
    with pytest.raises(RecframeError, match=message):
        FRAME.rec(truth=TRUTH, like=library, population="both").mean(["hit_rate@2", metric])


@pytest.mark.parametrize(
    ("library", "metric", "beside"),
    [
        ("LensKit", "ndcg(offset=0)@2", {}),
        ("ir_measures", "judged@2", {"short": "shrink"}),
        ("Recommenders", "average_precision@2", {}),
        ("Recommenders", "capped_average_precision@2", {}),
        ("RePlay", "map@2", {}),
        ("Spark", "average_precision", {"population": "both"}),
        ("ranx", "ndcg@2", {"gain": "exponential"}),
    ],
)
def test_what_gives_its_figure_is_not_refused(library, metric, beside):
    """A metric that gives the library's value, by its name or an option, is accepted."""
    table = FRAME.rec(truth=TRUTH, like=library, **beside).mean(metric)
    assert table.notna().all(axis=None)


def test_the_command_line_says_what_is_left(tmp_path, capsys):
    """The command line notes the conventions that `like` cannot set, unless -q is passed."""
    FRAME.to_parquet(tmp_path / "rows.parquet")
    TRUTH.to_parquet(tmp_path / "truth.parquet")
    words = ["evaluate", str(tmp_path / "rows.parquet"), "--truth", str(tmp_path / "truth.parquet")]
    words += ["--like", "trec_eval", "--metric", "precision@2"]
    assert 0 == main(words)
    assert "recframe: note: trec_eval rounds scores to float32" in capsys.readouterr().err
    assert 0 == main([*words, "-q"])
    assert not capsys.readouterr().err
