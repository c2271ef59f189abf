"""df.rec.report makes a page that shows the numbers of the tables, for any names and size."""

import html
import json
import re
import shutil
import subprocess
import sys
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import recframe
import recframe.dask
import recframe.polars
from recframe.analysis.display import as_number

EXAMPLE = Path(__file__).parents[2] / "examples" / "example.parquet"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), "")
MODULES = (Path(__file__).parents[2], Path.home(), Path("/usr/lib"), Path("/usr/local/lib"))
AXE = next(
    (path for one in MODULES if (path := one / "node_modules/axe-core/axe.min.js").exists()), None
)
METRICS = ["precision@4", "recall@4", "ndcg@10", "r_precision"]
MOST_BYTES = 300_000
SCRIPT = "<script>document.title = 'run'</script>\"'&"
# These elements of HTML, and of SVG as the report writes it, have no end tag.
VOID = ("meta", "path", "circle", "rect", "polyline")


def in_browser(test):
    """Mark a test that renders in a browser, and skip it without Chromium."""
    without = pytest.mark.skipif(not BROWSER, reason="no Chromium on the PATH to render in")
    return pytest.mark.browser(without(test))


class Page(HTMLParser):
    """A page as a reader sees it: tables by section, headings, ids and links."""

    def __init__(self, page):
        """Read a page."""
        super().__init__()
        self.tables, self.headings, self.tags, self.open = {}, {}, [], []
        self.section, self.cell, self.text = "", None, []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        """Record a tag."""
        given = dict(attributes)
        self.tags.append((tag, given))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.section = given["aria-labelledby"]
        if re.fullmatch("h[1-6]", tag):
            self.headings[given["id"]] = tag
        if tag == "table":
            self.tables.setdefault(self.section, []).append([])
        if tag == "tr":
            self.tables[self.section][-1].append([])
        if tag in ("td", "th"):
            self.cell = []

    def handle_startendtag(self, tag, attributes):
        """Record a tag that is closed at once."""
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        """Record the end of a cell."""
        assert tag == self.open.pop()
        if tag in ("td", "th"):
            self.tables[self.section][-1][-1].append("".join(self.cell).strip())
            self.cell = None

    def handle_data(self, data):
        """Record a text."""
        if self.open and self.open[-1] != "style":
            self.text.append(data)
        if self.cell is not None:
            self.cell.append(data)


@pytest.fixture(scope="module")
def example():
    """Return the example frame of the repository, with a column of users."""
    frame = pd.read_parquet(EXAMPLE)
    return frame.assign(half=np.where(frame["object"] % 2, "odd", "even"))


@pytest.fixture(scope="module")
def report(example):
    """Return a report on the example."""
    return example.rec.report(METRICS, by="half", title="Two scorers")


@pytest.fixture
def hostile():
    """Return many models with many metrics, segments and users whose names are long or markup."""
    rng, n_users, n_items = np.random.default_rng(0), 70, 12
    n = n_users * n_items
    scores = {f"{SCRIPT * 3} {i} 文書{'🙂' * 40} score": rng.random(n) for i in range(30)}
    rows = {
        "user": np.repeat([f"{i} {SCRIPT * 4}" for i in range(n_users)], n_items),
        "item": [f"{i} {SCRIPT * 9}" for i in range(n_items)] * n_users,
        "relevant": rng.integers(0, 2, n),
        f"by {SCRIPT}": np.repeat([f"{i} {'<&>' * 200}" for i in range(7)], n // 7),
        "text": np.repeat([f"{i} {SCRIPT} {'é' * 400}" for i in range(n_users)], n_items),
        "title": [f"{i} {'é' * 400}" for i in range(n_items)] * n_users,
    }
    return pd.DataFrame(rows | scores)


def test_numbers_are_those_of_python(report, example):
    """Every number in the page's tables equals the method's number, to the digits shown."""
    page = Page(report.html)
    means, changes = example.rec.summary(METRICS), example.rec.compare(METRICS)
    expected = [
        [metric, score, as_number(row["mean"]), f"{row['low']:.4f} to {row['high']:.4f}"]
        for metric in METRICS
        for (score, own), row in means.iterrows()
        if own == metric
    ]
    assert expected == [row[:4] for row in page.tables["means"][0][1:]]
    assert [
        [
            *(metric, score, f"{row['difference']:+.4f}"),
            *(f"{row['low']:+.4f} to {row['high']:+.4f}", f"{row['p_corrected']:.4f}", "higher"),
            *map(str, row[["n_won", "n_tied", "n_lost"]]),
        ]
        for (score, metric), row in changes.iterrows()
    ] == [row for row in page.tables["differences"][0][1:] if len(row) > 1]
    for family, table in zip(("precision", "recall", "ndcg"), page.tables["cut-offs"], strict=True):
        curve = example.rec.curve(family, 4 if family != "ndcg" else 10)
        assert [
            [str(k), *map("{:.4f}".format, row)]
            for k, row in zip(curve.index, curve.to_numpy(), strict=True)
        ] == table[1:]
    catalogue = example.rec.catalogue(10)
    assert [
        [score, *map("{:.4f}".format, row)]
        for score, row in zip(catalogue.index, catalogue.to_numpy(), strict=True)
    ] == page.tables["catalogue"][0][1:]
    per_user = example.rec.evaluate(METRICS)
    assert [
        [metric, score]
        + [f"{per_user[(score, metric)].quantile(q):.4f}" for q in (0.1, 0.25, 0.5, 0.75, 0.9)]
        for metric in METRICS
        for score in per_user.columns.unique("score")
    ] == page.tables["users"][0][1:]


def test_segments_are_those_of_python(report, example):
    """Segments have the means and differences of `by`, the worst first."""
    page = Page(report.html)
    means = example.rec.summary(METRICS, by="half")
    changes = example.rec.compare(METRICS, by="half").sort_values("difference")
    for metric, table in zip(METRICS, page.tables["segments"], strict=True):
        own = changes.xs(metric, level="metric")
        assert [
            [
                *label,
                f"{means.loc[(*label, metric), 'mean']:.4f}",
                f"{row['difference']:+.4f}",
                f"{row['p_corrected']:.4f}",
            ]
            for label, row in own.iterrows()
        ] == [[*row[:3], row[6], row[8]] for row in table[1:]]
        of_base = means.xs(("Random scores", metric), level=("score", "metric"))["mean"]
        assert {one: f"{mean:.4f}" for one, mean in of_base.items()} == {
            row[0]: row[5] for row in table[1:]
        }


def test_extremes_are_users(report, example):
    """The page shows the users whose first metric falls and rises most, with two lists each."""
    page = Page(report.html)
    per_user = example.rec.evaluate("precision@4").droplevel("metric", axis=1)
    changed = per_user["KNN scores"] - per_user["Random scores"]
    rows = {user: row for user, *row in page.tables["extremes"][0][1:]}
    shown = re.findall(r"User (.*?)</a></h4>(.*?)(?=<h[34]|</section)", report.html, re.DOTALL)

    assert [str(changed.idxmin()), str(changed.idxmax())] == [user for user, _ in shown]
    for user, lists in shown:
        assert f"{changed[int(user)]:+.4f}" == rows[user][3]
        expected = [
            (str(item), bool(relevant))
            for table in example.rec.inspect(int(user), 10).tables.values()
            for item, relevant in table[["item", "relevant"]].head(10).to_numpy()
        ]
        lines = re.findall("<bdi>(.*?)</bdi></span>(.*?)</li>", lists)
        assert expected == [(item, "✓" in mark) for item, mark in lines]


ENGINES = {
    "Arrow": lambda frame, _: recframe.rec(pa.Table.from_pandas(frame)),
    "Polars": lambda frame, _: pl.from_pandas(frame).rec,
    "LazyFrame": lambda frame, _: pl.from_pandas(frame).lazy().rec,
    "Dask": lambda frame, _: dd.from_pandas(frame, npartitions=3, sort=False).rec,
    "files": lambda frame, path: [frame.to_parquet(path), recframe.scan(path)][1],
}


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_give_the_same_page(engine, example, report, tmp_path):
    """Every engine gives the page of pandas, except for the words about where the rows are."""
    path = tmp_path / "rows.parquet"
    page = ENGINES[engine](example, path).report(METRICS, by="half", title="Two scorers").html
    apart = [
        (mine, own)
        for mine, own in zip(
            report.html.splitlines(),
            [line for line in page.splitlines() if "<dt>files</dt>" not in line],
            strict=True,
        )
        if mine != own
    ]

    assert all("<dt>data</dt>" in mine for mine, _ in apart)
    assert len(apart) <= 1


@pytest.fixture
def queries():
    """Return three models of eight queries with texts; a query has no list of the last model."""
    rng, n = np.random.default_rng(1), 80
    frame = pd.DataFrame(
        {
            "query_id": np.repeat([f"q{i}" for i in range(8)], 10),
            "item": [f"d{i}" for i in range(n)],
            "relevant": rng.integers(0, 2, n),
            "text": np.repeat([f"how to <{i}>" for i in range(8)], 10),
            "title": [f"title & {i}" if i % 7 else None for i in range(n)],
            "kind": np.repeat(["short", "long"], 40),
            **{f"{model}_score": rng.random(n) for model in ("bm25", "dense", "user")},
        }
    )
    frame.loc[:9, "user_score"] = np.nan
    return frame


OF_QUERIES = {"missing": "unranked", "short": "pad"}


@pytest.mark.parametrize("engine", ["frame", *ENGINES])
def test_labels(engine, queries, tmp_path):
    """A label with one value for each user stands next to users, another one next to items."""
    engines = {"frame": lambda frame, _: frame.rec, **ENGINES}
    rec = engines[engine](queries, tmp_path / "rows.parquet")(**OF_QUERIES)
    page = rec.report("recall@5", label=["text", "title"]).html
    section = html.unescape(page[page.index('id="extremes"') : page.index('id="catalogue"')])
    texts = dict(zip(queries["query_id"], queries["text"], strict=True))
    titles = dict(zip(queries["item"], queries["title"].fillna(""), strict=True))
    shown = re.findall(r'<bdi>(\w+)</bdi>(?:<span class="of">(.*?)</span>)?<', section)

    users = [(one, text) for one, text in shown if one in texts]
    assert len(users) >= 10
    assert all(text == texts[one] for one, text in users)
    items = [(one, text) for one, text in shown if one in titles]
    assert len(items) > 50
    assert {(one, titles[one]) for one, _ in items} == set(items)
    for one, text in re.findall(r"Query (q\d)</a></h4>\n<p class=.soft.>(.*?)</p>", section):
        assert texts[one] == text


def test_every_model_has_its_extremes(queries):
    """The page shows the users that each model loses and wins, with the lists of both models."""
    rec = queries.rec(**OF_QUERIES)
    page = rec.report("recall@5").html
    per_user = rec.evaluate("recall@5").droplevel("metric", axis=1)
    section = page[page.index('id="extremes"') : page.index('id="catalogue"')]
    parts = re.split(r'<h3 id="extremes-\d+">', section)[1:]

    for model, part in zip(["dense_score", "user_score"], parts, strict=True):
        changed = (per_user[model] - per_user["bm25_score"]).dropna()
        shown = re.findall(r"Query (q\d)</a></h4>(.*?)(?=<h4|$)", part, re.DOTALL)
        assert [changed.min(), changed.max()] == [changed[user] for user, _ in shown]
        for _, lists in shown:
            assert ["bm25_score", model] == re.findall("<strong><bdi>(.*?)</bdi>", lists)
    alone = Page(rec.report("recall@5", baseline="user_score").html).text
    assert "bm25_score against user_score, by recall@5" in alone


def test_queries_are_not_called_users(queries):
    """The page speaks of queries if the user column is named so, but leaves names as they are."""
    page = queries.rec(**OF_QUERIES).report("recall@5", by="kind").html
    text = re.sub(r"\bid=\S+|href=\S+|aria-labelledby=\S+|user_score", "", page)

    assert "8 queries, 3 models" in page
    assert "Queries that fall and rise most" in page
    assert "of a query" in page
    assert [] == re.findall(r".*\b[Uu]sers?\b.*", text[text.index("</style>") :])
    frame = queries.rename(columns={"query_id": "customer"})
    assert "8 users, 3 models" in frame.rec(**OF_QUERIES).report("recall@5").html
    topics = queries.replace({"query_id": {"q0": "user q0"}}).rename(columns={"query_id": "Topic"})
    topics.loc[0, "title"] = "a user's title"
    page = topics.rec(**OF_QUERIES).report("recall@5", label="title").html
    assert "user q0" in page
    assert "query q0" not in page


def test_empty_lists_are_counted(queries):
    """The page counts the empty lists of each model."""
    page = Page(queries.rec(**OF_QUERIES).report("recall@5").html)

    assert "empty lists 1 by user_score" in " ".join(" ".join(page.text).split())
    page = Page(queries.dropna(subset="user_score").rec(short="pad").report("recall@5").html)
    assert "empty lists" not in " ".join(page.text)


@pytest.mark.parametrize("items", [200, [f"d{i}" for i in range(100)]])
def test_coverage_of_the_catalogue(items, queries):
    """`items` is the catalogue of coverage, and is refused before the work if it is none."""
    rec = queries.rec(**OF_QUERIES)
    table = rec.catalogue(5, items)
    rows = Page(rec.report("recall@5", items=items).html).tables["catalogue"][0][1:]

    assert [f"{one:.4f}" for one in table["coverage@5"]] == [row[1] for row in rows]
    assert "only the argument items" not in rec.report("recall@5", items=items).html
    assert "only the argument items" in rec.report("recall@10").html
    with pytest.raises(recframe.RecframeError, match="items must have every item that is recomm"):
        rec.report("recall@5", items=["d1"])


def test_options_in_force_are_explained(queries):
    """The page explains the value in force, and no other value."""
    page = html.unescape(queries.rec(ties="worst", **OF_QUERIES).report("recall@5").html)

    worst = "<strong>worst</strong>: the order of rows with equal scores: relevant rows last</dd>"
    assert worst in page
    assert "<strong>pad</strong>: a query with fewer than k ranked rows: divide by k: " in page
    assert "relevant rows first" not in page
    assert "use min(k, n) in place of k" not in page


def compare_differences(*models):
    """Return the sentences of a page on models whose recall@1 differs so from a baseline's."""
    hits = np.array([[0] * len(models[0]), *models]) + 1  # 1: no hit yet, 2: a hit
    n_users, rows = hits.shape[1], []
    frame = pd.DataFrame({"user": np.repeat(range(n_users), 2), "relevant": [1, 0] * n_users})
    for number, of_model in enumerate(hits):
        frame[f"m{number}_score"] = np.ravel([[hit - 1, 0.5] for hit in of_model])
    rows = Page(frame.rec.report("recall@1").html).tables["differences"][0]
    return [row[0] for row in rows if len(row) == 1]


def test_a_disagreement_is_explained():
    """A sentence below its row says why the interval and the test disagree."""
    few = [1] * 4 + [0] * 6
    (sentence,) = compare_differences(few)
    assert (
        "The interval excludes 0, unlike the test: only 4 users differ, and no flips of their "
        "signs give p < 0.05." == sentence
    )
    corrected = [1] * 6 + [0] * 14
    (sentence,) = set(compare_differences(corrected, *[[0] * 10 + [1] + [0] * 9] * 3))
    assert re.fullmatch(
        r"The interval excludes 0, unlike the test: p is 0.0312 before its correction for 4 rows, "
        r"the interval has none\.",
        sentence,
    )
    assert [] == compare_differences([1] * 15 + [0] * 5)
    assert [] == compare_differences([1, 0] * 10, [0] * 20)


def test_worries_come_first():
    """Warnings about the data stand before any result."""
    frame = pd.DataFrame(
        {
            "user": [1, 1, 2, 2, 3],
            "item": list("abcda"),
            "score": [0.5, 0.5, 0.2, 0.1, 0.1],
            "relevant": [0, 1, 1, 0, 0],
        }
    )
    page = frame.rec(short="pad").report("recall@1").html
    worries = frame.rec(short="pad").describe(1).warnings

    assert worries
    places = [page.index(one) for one in worries]
    assert max(places) < page.index('id="means"')
    assert "Nothing in the data needs attention" not in page


def test_what_options_decide_is_no_refusal():
    """The page describes nulls by the value of option `missing`, as `describe` does."""
    frame = pd.DataFrame({"user": [1, 1, 2], "score": [0.5, None, 0.2], "relevant": [1, 0, 1]})
    page = frame.rec(missing="unranked", short="pad").report("recall@2").html

    assert "decided by missing=&#39;unranked&#39;" in page
    assert "refused unless" not in page


def test_notes_are_on_the_page():
    """The page shows the notes of the tables."""
    frame = pd.DataFrame({"user": [1, 1], "item": [1, 2], "score": [2, None], "relevant": [1, 0]})
    (note,) = frame.rec(missing="drop").mean("precision@1").notes
    page = frame.rec(missing="drop").report("precision@1").html

    assert note.text in html.unescape(page)


def test_it_is_complete_in_itself(report):
    """The page needs no script and no other file, and every link leads to a heading."""
    page = Page(report.html)
    tags = {tag for tag, _ in page.tags}
    ids = [given["id"] for _, given in page.tags if "id" in given]
    links = [given["href"] for _, given in page.tags if "href" in given]

    assert [] == page.open
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    assert not [name for _, given in page.tags for name in given if name[:2] == "on"]
    assert not re.search(r"url\(|@import|https?://|src=", report.html)
    assert len(ids) == len(set(ids))
    assert {f"#{one}" for one in page.headings} == set(links)
    assert {"data", "means", "differences", "cut-offs", "segments", "users"} <= set(ids)
    assert f"on {date.today().isoformat()}" in report.html
    assert len(report.html.encode()) < MOST_BYTES / 3


def test_names_are_harmless_and_pages_small(hostile):
    """Names with markup are shown as text, and a page of many rows has at most 300 kB."""
    metrics = [f"{name}@{k}" for name in ("precision", "recall", "ndcg") for k in (3, 5, 9, 12)]
    asked = {"by": f"by {SCRIPT}", "title": SCRIPT * 100, "label": ["text", "title"]}
    report = hostile.rec.report(metrics, **asked)

    assert "<script" not in report.html
    assert len(report.html.encode()) < MOST_BYTES
    page = Page(report.html)
    assert [] == page.open
    assert any(SCRIPT[:20] in text for text in page.text)
    assert "éé…" in report.html
    assert 7 * 29 - len(page.tables["segments"][0]) + 1 == int(
        re.search(r"([\d,]+) more rows, which summary\(by", report.html)[1].replace(",", "")
    )
    assert "<script" not in report._repr_html_()


def test_one_model_and_no_item():
    """The page has no differences for one model and no lists without items."""
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "score": [1, 2, 3, 4], "relevant": [0, 1, 1, 0]})
    page = Page(frame.rec.report("auc").html)

    assert {"means", "users"} == set(page.tables)
    with pytest.raises(recframe.RecframeError, match="two score columns or more"):
        frame.rec.report("auc", baseline="score")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"baseline": "none"}, "baseline must be a score column"),
        ({"by": "none"}, "none"),
        ({"title": 3}, "title must be a text, but is 3"),
        ({"label": "none"}, "label='none'"),
        ({"label": "score"}, "label='score'"),
        ({"items": 0}, "items must be"),
        ({"items": "items.csv"}, "items must be"),
        ({"metrics": "recal@4"}, "did you mean 'recall@4'"),
    ],
)
def test_refusals_come_before_the_work(asked, message, example, monkeypatch):
    """A wrong argument is refused before the rows are read."""
    monkeypatch.setattr(recframe.RecAccessor, "_map", lambda *_: pytest.fail("it is read"))
    with pytest.raises(recframe.RecframeError, match=message):
        example.rec.report(**{"metrics": "recall@4", **asked})


def test_units_are_asked_for(example):
    """A report on users that repeat needs option `unit`."""
    rec = example.assign(day=example["item"] % 2).rec(user=["day", "object"])
    with pytest.raises(recframe.RecframeError, match="unit='object'"):
        rec.report("precision@4")
    page = Page(rec.report("precision@4", unit="object").html)

    assert ["10", "10"] == [row[4] for row in page.tables["means"][0][1:]]


def test_pairs_of_models(example):
    """The rows name their baseline if `baseline` is a list or "all"."""
    frame = example.assign(third_score=example["KNN scores"] ** 2)
    scores = ["Random scores", "KNN scores", "third_score"]
    rows = Page(frame.rec(score=scores).report("recall@4", "all").html).tables["differences"][0]

    assert [[*scores[1:], scores[2]], [scores[0]] * 2 + [scores[1]]] == [
        [row[place] for row in rows[1:]] for place in (1, 2)
    ]


def test_names_of_one_metric(example):
    """Synonyms of one metric share one curve."""
    page = example.rec.report(["P@4", "precision@2", "recall@4"]).html

    assert 2 == page.count('<polyline class="line c0"')


def test_low_is_good():
    """Segments where a metric rises are the worst if its low values are better."""
    frame = pd.DataFrame(
        {
            "user": np.repeat([1, 2, 3, 4], 3),
            "a_score": [3, 2, 1] * 4,
            "b_score": [3, 2, 1, 3, 2, 1, 1, 2, 3, 1, 2, 3],
            "relevant": [1, 0, 0] * 4,
            "country": np.repeat(["NL", "FR"], 6),
        }
    )
    rows = Page(frame.rec.report(["fall_out@1", "recall@1"], by="country").html).tables["segments"]

    assert [["FR", "NL"]] * 2 == [[row[0] for row in table[1:]] for table in rows]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.875, "0.8750"),
        (-0.0, "0.0000"),
        (0.00002, "2e-05"),
        (1234.5678, "1234.5678"),
        (2.5e7, "2.5e+07"),
        (np.nan, "–"),
    ],
)
def test_digits(value, expected):
    """Numbers have four decimals, or three digits if four decimals show fewer."""
    assert expected == as_number(value)


def test_save(report, example, tmp_path):
    """A page is written whole or not at all, and never over one of its source files."""
    path, page = tmp_path / "rows.parquet", tmp_path / "page.html"
    example.to_parquet(path)
    report.save(page)
    assert report.html == page.read_text("utf-8")
    of_file = recframe.scan(path).report("recall@4")
    with pytest.raises(recframe.RecframeError, match=r"cannot write .*: it is an input"):
        of_file.save(path)
    with pytest.raises(recframe.RecframeError, match="cannot write"):
        report.save(tmp_path / "none" / "page.html")
    for name in ("page.pdf", "page", "page.html.gz"):
        with pytest.raises(recframe.RecframeError, match=r"path must end in .html or .htm, but is"):
            report.save(tmp_path / name)
    pd.testing.assert_frame_equal(example, pd.read_parquet(path))
    assert {path, page} == set(tmp_path.iterdir())


def test_in_a_notebook(report):
    """A notebook shows the same page in a frame, and the text tells how to save it."""
    pattern = r'<iframe title="(.*?)" srcdoc="(.*?)" .*></iframe>'
    frame = re.fullmatch(pattern, report._repr_html_(), re.DOTALL)

    assert ("Two scorers", report.html) == tuple(map(html.unescape, frame.groups()))
    assert re.fullmatch(r"<Report 'Two scorers': \d+ kB; \.save\('report.html'\) .*>", repr(report))


def test_without_jinja(example, monkeypatch):
    """Without jinja2 the report names the extra to install before a row is read."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr(recframe.RecAccessor, "_map", lambda *_: pytest.fail("it is read"))

    with pytest.raises(ImportError, match=r"needs jinja2.*pip install 'recframe\[notebook\]'"):
        example.rec.report("recall@4")


FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")


def see(page, folder, script, *arguments):
    """Return the values that a script finds in a page shown by headless Chromium."""
    path = folder / "page.html"
    shown = "document.body.append(Object.assign(document.createElement('pre'), {id: 'seen', "
    shown += "textContent: JSON.stringify(await look())}))"
    path.write_text(
        f"{page}<script>{script}\naddEventListener('load', async () => {{ {shown} }});</script>",
        "utf-8",
    )
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [BROWSER, *FLAGS, profile, "--virtual-time-budget=20000", *arguments, "--dump-dom"]
    run = subprocess.run([*command, path.as_uri()], capture_output=True, timeout=120, check=True)
    found = re.search('<pre id="seen">(.*)</pre>', run.stdout.decode(), re.DOTALL)
    return json.loads(html.unescape(found.group(1)))


@in_browser
@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize(
    ("scheme", "paper"), [(1, "rgb(255, 255, 255)"), (0, "rgb(20, 24, 29)")], ids=["light", "dark"]
)
def test_in_a_browser(width, scheme, paper, report, tmp_path):
    """The page is no wider than the window, in the colour scheme asked for."""
    look = """async function look() { return {
        wide: document.documentElement.scrollWidth - innerWidth, title: document.title,
        paper: getComputedStyle(document.body).backgroundColor,
        gone: [...document.querySelectorAll("svg[role]")].filter((one) => !one.clientHeight).length,
    } }"""
    arguments = (f"--blink-settings=preferredColorScheme={scheme}", f"--window-size={width},900")
    seen = see(report.html, tmp_path, look, *arguments)

    assert {"wide": 0, "title": "Two scorers", "paper": paper, "gone": 0} == {
        **seen,
        "wide": max(0, seen["wide"]),
    }


@in_browser
@pytest.mark.skipif(AXE is None, reason="npm's axe-core is not there")
@pytest.mark.parametrize("scheme", [1, 0], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_accessibility(width, scheme, report, tmp_path):
    """Axe finds no fault with the page, in light and dark, on a phone and a desktop."""
    look = """async function look() {
        const found = await axe.run(document, {resultTypes: ["violations"]});
        return found.violations.map((one) => [one.id, one.nodes.map((node) => node.html)]);
    }"""
    arguments = (f"--blink-settings=preferredColorScheme={scheme}", f"--window-size={width},900")

    assert [] == see(report.html, tmp_path, AXE.read_text("utf-8") + look, *arguments)


@in_browser
def test_printed(report, tmp_path):
    """The page is printed on A4."""
    report.save(tmp_path / "page.html")
    printed = tmp_path / "page.pdf"
    command = [BROWSER, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--no-pdf-header-footer"]
    path = (tmp_path / "page.html").as_uri()
    subprocess.run(
        [*command, f"--print-to-pdf={printed}", path], capture_output=True, timeout=120, check=True
    )
    sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", printed.read_bytes())

    assert {(595, 842)} == {tuple(round(float(side)) for side in size) for size in sizes}


@in_browser
def test_names_run_no_script_in_a_browser(hostile, tmp_path):
    """A name with markup does nothing, in the page and in a notebook's frame."""
    report = hostile.rec.report("recall@3", title="still")
    look = "async function look() { return document.title }"

    assert "still" == see(report.html, tmp_path, look)
    framed = f"<!doctype html><title>still</title>{report._repr_html_()}"
    assert "still" == see(framed, tmp_path, look)


def test_metrics_of_columns_without_relevance():
    """A report needs relevance only for metrics that read it."""
    frame = pd.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 1, 2], "score": [2, 1, 2, 1]})
    frame["genre"] = ["x", "y", "x", "x"]
    page = frame.rec.report("diversity(genre)@2").html
    assert "0.5000" in page
    with pytest.raises(recframe.RecframeError, match="relevant: no column found"):
        frame.rec.report(["diversity(genre)@2", "recall@2"])
