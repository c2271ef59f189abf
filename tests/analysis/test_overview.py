"""An accessor shows itself as text and HTML, for any frame, without reading its rows."""

import html
import re

import dask.dataframe as dd
import pandas as pd
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import real_exports
import recframe
import recframe.dask
from unusual_values import VALUES, Mute, Unequal

NEXT = "Try .describe(k=10), .mean(['precision@10', 'recall@10']), .inspect(user)"


def lines(accessor):
    """Return the lines of a repr, each at most as wide as a terminal."""
    shown = repr(accessor).splitlines()
    assert max(map(len, shown)) <= 80
    assert len(shown) <= 15
    return shown


def test_what_is_found():
    """The text shows the size, each role with its origin, and the methods to call next."""
    assert [
        "df.rec: 144 rows × 5 columns",
        "  user      inferred   'userId'",
        "  item      inferred   'movieId'",
        "  score     given      'prediction'",
        "  relevant  inferred   'rating'",
        "  options   given      short='pad', min_relevance=4",
        NEXT,
    ] == lines(real_exports.movielens().rec(score="prediction", min_relevance=4, short="pad"))


def test_what_is_not_found():
    """The text shows the same call to paste as the error message."""
    shown = lines(real_exports.vector_store().rec(ties="worst"))

    assert ["  score     not found", "  relevant  not found"] == shown[3:5]
    call = "Pass df.rec(score='distance', ascending=True, ties='worst', truth=...), where"
    assert shown[6].startswith(call)


def test_what_is_ambiguous():
    """The text shows the columns that could be the role."""
    shown = lines(real_exports.ab_log().rec)

    assert "  user      ambiguous  'session_id', 'user_id'" == shown[1]
    assert "Pass df.rec(user=...), where user is 'session_id', 'user_id'" == shown[-1]


def test_what_is_refused():
    """An unknown label and a score without its direction show the refusal."""
    frame = real_exports.vector_store()
    shown = lines(frame.rec(user="query_di", relevant="doc_id"))

    assert "  user      refused    'query_di'" == shown[1]
    assert shown[-1].endswith("did you mean 'query_id'?")
    assert "Refused: score='distance': the name suggests that lower is better." in repr(
        frame.rec(score="distance", relevant="doc_id")
    )


def test_directions():
    """A score whose lowest values are best has a mark."""
    frame = real_exports.two_models()

    assert "  score     inferred   'score_als', 'score_bpr' (lowest first)" in lines(
        frame.rec(ascending=[False, True])
    )
    assert "  score     given      'label' (lowest first)" in lines(
        frame.rec(score="label", relevant="item_id", item="user_id", ascending=True)
    )


def test_truth():
    """Truth is shown with its size and its columns, and a file by its path, unread."""
    run, qrels = real_exports.trec_run(), real_exports.trec_qrels()
    shown = lines(run.rec(truth=qrels, min_relevance=1))

    assert "  relevant  inferred   'rel'" == shown[4]
    assert "  truth     given      38 rows × 4 columns: 'qid', 'docno'" == shown[5]
    assert "  relevant  from truth every pair" in lines(run.rec(truth=qrels.drop(columns="rel")))
    assert "  truth     given      '/nowhere.parquet'" in lines(run.rec(truth="/nowhere.parquet"))
    assert "Refused: truth: truth_item: no column found" in repr(
        run.rec(truth=qrels.rename(columns={"docno": "name"}).assign(name="no item"))
    )


def test_one_ranking():
    """user=None is shown, and inspect then takes no user."""
    shown = lines(real_exports.two_models().rec(user=None, duplicates="keep"))

    assert "  user      given      None: all rows are one ranking" == shown[1]
    assert shown[-1].endswith(".compare('recall@10'), .inspect()")


def test_dask():
    """A Dask frame is shown with its columns and partitions, and its rows are not counted."""
    ddf = dd.from_pandas(real_exports.two_models(), npartitions=3)

    assert "ddf.rec: 5 columns in 3 partitions" == lines(ddf.rec)[0]
    assert "Pass ddf.rec(user=...)" in repr(ddf.drop(columns="user_id").rec)


class Untouchable(pd.DataFrame):
    """A frame that refuses to have its values read."""

    @property
    def _constructor(self):
        raise AssertionError("a frame was made of it")

    def _ixs(self, *_):
        raise AssertionError("a column was read")


def test_no_value_is_looked_at():
    """The text is made from the labels and dtypes alone."""
    frame = Untouchable(real_exports.two_models())

    assert NEXT.split(", .inspect")[0] in repr(frame.rec)
    assert "score_als" in frame.rec._repr_html_()


ODD = {
    "no columns": pd.DataFrame(),
    "no rows": pd.DataFrame({"user": [], "score": [], "relevant": []}),
    "tuples": pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("c", "d")])),
    "twice": pd.DataFrame([[1, 2, 3.0]], columns=["user", "user", "score"]),
    "numbers": pd.DataFrame([[1, 2.0, 3]]),
    "many": pd.DataFrame(0.0, index=[0], columns=[f"c{number}_score" for number in range(2000)]),
    "long": pd.DataFrame([[1, 2.0]], columns=["user_" * 100, "score\nof\x1b[31m"]),
    "odd": pd.DataFrame([[1, 2.0, 3, 4]], columns=pd.Index([Mute(), Unequal(), pd.NA, None])),
    "index": pd.DataFrame(
        {"score": [1.0]}, index=pd.MultiIndex.from_tuples([(1, 2)], names=["a", "b"])
    ),
    "tags": pd.DataFrame({"<script>": [1], "a & b_score": [2.0]}),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("options", [{}, {"user": None}, {"truth": ODD["tags"]}])
def test_any_frame_is_shown(name, options):
    """Any frame is shown, within the line width and escaped."""
    accessor = ODD[name].rec(**options)

    assert "df.rec: " in lines(accessor)[0]
    assert repr(accessor).replace("\n", "").isprintable()
    assert "<script>" not in accessor._repr_html_()


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("option", ["user", "item", "score", "relevant", "truth_item", "truth"])
def test_any_label_is_shown(option, name):
    """The accessor shows itself under any value of an option."""
    options = {"truth": ODD["tags"]} | {option: VALUES[name]()}
    try:
        accessor = real_exports.two_models().rec(**options)
    except recframe.RecframeError:
        return

    assert lines(accessor)


def test_what_cannot_be_asked():
    """An object that raises when asked for its columns is still named."""

    class Broken(pd.DataFrame):
        @property
        def columns(self):
            raise ZeroDivisionError

    accessor = recframe.rec(Broken({"user": [1]}))

    assert "<df.rec of a frame that cannot be shown>" == repr(accessor)
    assert accessor._repr_html_() is None


def test_html():
    """The HTML has the words of the text, in the colours of the page."""
    shown = real_exports.ab_log().rec(ties="worst")._repr_html_()
    inline = re.sub(r"</?code>", "", shown)
    texts = html.unescape(re.sub(r"<[^>]+>", " ", inline)).split()

    assert repr(real_exports.ab_log().rec(ties="worst")).split() == texts
    assert "currentColor" in shown
    assert not re.search(r"#[0-9a-f]{3}|white|black", shown)


def test_completion(monkeypatch):
    """IPython completes the methods of bound accessors and of calls, and nothing private."""
    # IPython warns about the environment of another Python.
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    shell = InteractiveShell()
    shell.user_ns |= {"df": real_exports.two_models(), "recframe": recframe}
    shell.run_cell("r = df.rec(ties='worst')", store_history=False)

    def complete(text):
        with provisionalcompleter():
            found = shell.Completer.completions(text, len(text))
            return {one.text.lstrip(".") for one in found}

    for start in ("r", "recframe.rec(df)"):
        assert {"recall", "reciprocal_rank", "reconcile", "report"} == complete(f"{start}.re")
    assert "ties=" in complete("recframe.rec(df, ti")
    shell.Completer.use_jedi = False  # Jedi would read all of pandas to know a frame.
    assert {"recall", "reciprocal_rank", "reconcile", "report"} == complete("df.rec.re")
    assert not [name for name in dir(real_exports.two_models().rec) if re.match("_[^_]", name)]


def test_rec_is_the_accessor():
    """`recframe.rec` returns the accessor `df.rec`, with options and without."""
    frame = real_exports.two_models()

    assert type(frame.rec) is type(recframe.rec(frame))
    pd.testing.assert_frame_equal(frame.rec.recall(k=4), recframe.rec(frame).recall(k=4))
    pd.testing.assert_frame_equal(
        frame.rec(ties="worst").recall(k=4), recframe.rec(frame, ties="worst").recall(k=4)
    )
    with pytest.raises(
        recframe.RecframeError, match="frame must be a pandas DataFrame or an Arrow"
    ):
        recframe.rec("x")
    with pytest.raises(recframe.RecframeError, match="unknown option 'tie', did you mean 'ties'"):
        recframe.rec(frame, tie="worst")
