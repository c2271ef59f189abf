"""df.rec.inspect shows one user's rows as text, as HTML and in a browser."""

import html
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe
import strategies
from recframe.errors import count_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "example.parquet"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), "")
SCRIPT = "<script>document.title = 'run'</script>"


def in_browser(test):
    """Mark a test that renders in a browser, and skip it without Chromium."""
    without = pytest.mark.skipif(not BROWSER, reason="no Chromium on the PATH to render in")
    return pytest.mark.browser(without(test))


@pytest.fixture(scope="module")
def example():
    """Return the example frame of the repository."""
    return pd.read_parquet(EXAMPLE)


@pytest.fixture
def tied():
    """Return one user with a tie across 2, a row without a score, and awkward item names."""
    return pd.DataFrame(
        {
            "user": "ann",
            "item": [SCRIPT, "b & b", "c", "d", "e"],
            "score": [0.9, 0.5, 0.5, 0.2, None],
            "relevant": [1, 0, 1, 0, 1],
        }
    )


class Tables(HTMLParser):
    """The captions and the rows of a page's tables, as a reader sees their text."""

    def __init__(self, page):
        """Read a page."""
        super().__init__()
        self.captions, self.rows, self.tags = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        """Begin a caption, a row or a cell."""
        self.tags.append(tag)
        if tag == "caption":
            self.captions.append("")
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "br":
            self.captions[-1] += "\n"
            self.tags.pop()

    def handle_endtag(self, tag):
        """End the innermost tag."""
        self.tags.pop()

    def handle_data(self, data):
        """Add text to the open caption or cell."""
        if "caption" in self.tags:
            self.captions[-1] += data
        elif self.tags and self.tags[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_the_object_of_the_published_notebook(example):
    """Object 4 has the rows and percentages of the published notebook, in both orders."""
    inspection = example.rec.inspect(4, k=3)
    published = pd.read_csv(Path(__file__).parents[1] / "data" / "object_4.csv")

    for score, recall, precision in (
        ("Random scores", "15.38%", "66.67%"),
        ("KNN scores", "23.08%", "100.00%"),
    ):
        block = f"{score}\nprecision@3: {precision}\nrecall@3: {recall}\n"
        with pd.option_context("display.width", 40):
            assert block in str(inspection)
        ordered = published.sort_values(score, ascending=False, kind="stable")
        assert ordered["item"].tolist() == inspection.tables[score]["item"].tolist()
        assert ordered[score].tolist() == inspection.tables[score]["score"].tolist()


def test_text(tied):
    """The text form is as expected, character by character."""
    expected = f"""\
user ann: 5 rows, 3 relevant

score
precision@2: 75.00%
recall@2: 50.00%
R-precision: 66.67%

position   {"item":39} relevance score
{"─" * 66}
       1 ✓ {SCRIPT}         1   0.9
    =2.5   {"b & b":39}         0   0.5
{"─" * 66}
… 3 more rows, 2 relevant
= tied, at their mean position
the cut at 2 falls inside a tie, 1 more of its rows below"""

    assert expected == str(tied.rec(missing="unranked").inspect("ann", k=2))


def test_rows_without_a_score_come_last(tied):
    """Rows that are not ranked follow the others, if k is large enough."""
    lines = str(tied.rec(missing="unranked", short="pad").inspect("ann", k=9)).splitlines()

    assert ["1", "=2.5", "=2.5", "4", "not"] == [line.split()[0] for line in lines[9:14]]
    assert "not ranked ✓ e" == lines[13][:14]
    assert "more row" not in "".join(lines)


def test_side_by_side(example):
    """Tables stand side by side if the display is wide enough, else one below the other."""
    inspection = example[example["item"] < 3].rec.inspect(4, k=2)
    with pd.option_context("display.width", 80):
        wide = str(inspection)
    with pd.option_context("display.width", 60):
        narrow = str(inspection)

    assert re.search(r"^Random scores +KNN scores$", wide, re.MULTILINE)
    assert re.search(r"^KNN scores$", narrow, re.MULTILINE)
    assert max(map(len, wide.splitlines())) <= 80
    assert sorted(wide.split()) == sorted(narrow.split())


@given(
    strategies.rows(scores="ratings", nulls=("score",), min_rows=1),
    st.integers(1, 6),
    strategies.options(missing="unranked"),
)
def test_tables_and_metrics_are_those_of_rank_and_evaluate(rows, k, options):
    """`inspect` shows the positions and order of `rank`, and the metrics of `evaluate`."""
    if options["short"] == "raise":
        options["short"] = "pad"
    frame = strategies.frame(rows, scores="ratings")
    bound = frame.rec(**options)
    labels = [f"precision@{k}", f"recall@{k}", "r_precision"]
    positions, per_user = bound.rank()["score"], bound.evaluate(labels)["score"]
    user = frame["user"].iloc[0]
    inspection = bound.inspect(user, k=k)
    table = inspection.tables["score"]
    expected = positions[frame["user"] == user].sort_values(kind="stable")

    np.testing.assert_array_equal(expected, table["position"])
    np.testing.assert_array_equal(expected, positions[table.index])
    np.testing.assert_array_equal(per_user.loc[user], inspection.metrics.loc["score"])
    assert str(inspection).startswith(f"user {user}: {count_of(len(table), 'row')}, ")


def test_relevant_is_what_the_options_say():
    """The mark follows min_relevance, and the column shows the original grade."""
    frame = pd.DataFrame({"user": [1, 1], "score": [2, 1], "relevant": [2.5, 4.0]})
    table = frame.rec(min_relevance=3).inspect(1, k=1).tables["score"]

    assert ["position", "relevant", "relevance", "score"] == table.columns.tolist()
    assert [False, True] == table["relevant"].tolist()
    assert [2.5, 4.0] == table["relevance"].tolist()


@pytest.mark.parametrize("k", [3, 28, 400, 999, 1000])
def test_k_rows_are_shown(k):
    """A list of 1,000 rows is cut after k rows, and the text counts the others."""
    frame = pd.DataFrame({"user": 1, "score": range(1000), "relevant": [1, 0] * 500})
    inspection = frame.rec.inspect(1, k=k)
    more = {999: ["… 1 more row, 1 relevant"], 1000: []}
    expected = more.get(k, [f"… {1000 - k} more rows, {(1001 - k) // 2} relevant"])

    assert expected == [line for line in str(inspection).splitlines() if "more" in line]
    assert k + 1 == len(Tables(inspection.to_html()).rows)
    assert 1000 == len(inspection.tables["score"])
    lines = str(inspection).splitlines()
    rules = [number for number, line in enumerate(lines) if line.startswith("─")]
    assert k == rules[1] - rules[0] - 1


def test_no_line_under_a_short_ranking(tied):
    """A ranking with fewer than k rows has no line under position k."""
    for k, n_lines in {4: 2, 5: 1}.items():
        text = str(tied.rec(missing="unranked", short="pad").inspect("ann", k=k))
        assert n_lines == sum(line.startswith("─") for line in text.splitlines())


def test_undefined(frame):
    """A metric without a value is shown as undefined."""
    assert "recall@1: undefined" in str(frame.rec.inspect("cat", k=1))


def test_scores_are_aligned():
    """Scores are printed with one number of decimals, as pandas prints a column."""
    frame = pd.DataFrame({"user": 1, "score": [0.5, 0.25, 1e-3, np.inf], "relevant": 1})
    rows = Tables(frame.rec.inspect(1, k=4).to_html()).rows[1:]

    assert ["inf", "0.500", "0.250", "0.001"] == [row[-1] for row in rows]


def test_no_note_without_a_tie_across_the_cut(tied):
    """The note about a tie concerns position k alone."""
    ours = tied.rec(missing="unranked")

    for k, is_cut in {1: False, 2: True, 3: False, 4: False}.items():
        assert is_cut == (f"the cut at {k} falls inside a tie" in str(ours.inspect("ann", k=k)))


@pytest.mark.parametrize("k", [2, 4, 5])
def test_lines_and_colours_of_the_html(tied, k):
    """The relevant rows are coloured, and a line stands under position k if it exists."""
    page = tied.rec(missing="unranked", short="pad").inspect("ann", k=k).to_html()
    rows = {"background-color": set(), "border-bottom: 2px": set()}
    for selectors, style in re.findall(r"((?:#T_\w+_row\d+_col\d+,?\s*)+)\{([^}]*)\}", page):
        for name, found in rows.items():
            if name in style:
                found.update(map(int, re.findall(r"_row(\d+)_", selectors)))

    assert [{0, 2, 4} & {*range(k)}, {k - 1} if k < 5 else set()] == list(rows.values())


def test_a_display_of_no_width_has_80_columns():
    """Tables wider than 80 columns together stand one below the other when the width is unknown."""
    widths = set()
    for score, length in product([0.5, 123456.5], range(5, 15)):
        rows = {"item": "x" * length, "a_score": [0.5], "b_score": [score], "relevant": 1}
        inspection = pd.DataFrame({"user": 1, **rows}).rec.inspect(1, k=1)
        with pd.option_context("display.width", 1_000):
            wide = str(inspection)
        with pd.option_context("display.width", None):
            found = str(inspection)
        widths.add(width := max(map(len, wide.splitlines())))
        assert (width <= 80) == (found == wide)

    assert {80, 81} <= widths


def test_html_tables(tied):
    """The HTML has the same captions and cells as the text, and relevant rows are marked."""
    options = {"missing": "unranked", "short": "pad"}
    page = tied.rec(**options).inspect("ann", k=5).to_html()
    tables = Tables(page)

    assert ["score\nprecision@5: 40.00%\nrecall@5: 66.67%\nR-precision: 66.67%"] == tables.captions
    assert ["position", "", "item", "relevance", "score"] == tables.rows[0]
    assert ["1", "✓", SCRIPT, "1", "0.9"] == tables.rows[1]
    assert ["not ranked", "✓", "e", "1", ""] == tables.rows[-1]
    assert page == tied.rec(**options).inspect("ann", k=5)._repr_html_()


def test_text_has_no_control_characters():
    """Control characters in ids and labels are shown as Python writes them."""
    ids = {"user": ["\x1b[2Ja"] * 2, "item": ["x", "y\x07"], "\x1b[1m_score": [2, 1]}
    rec = pd.DataFrame({**ids, "relevant": [0, 1]}).rec
    views = rec.inspect("\x1b[2Ja", 1), rec.describe(1), rec.summary("recall@1"), rec
    for text in map(repr, views):
        assert r"\x1b[1m_score" in text
        assert text.replace("\n", "").isprintable()


def test_values_are_escaped(tied):
    """Markup in the names of users, items and scores is shown as text."""
    frame = tied.dropna().rename(columns={"score": "<b>score"}).assign(user="<i>ann</i>")
    page = frame.rec(score="<b>score").inspect("<i>ann</i>", k=1).to_html()

    for text in (SCRIPT, "<b>score", "<i>ann</i>"):
        assert text not in page
    assert "&lt;b&gt;score" in page
    assert "&lt;i&gt;ann&lt;/i&gt;" in page


def test_items_are_shown_where_repeats_are_kept(frame):
    """The item column is shown under duplicates="keep", although no metric needs it."""
    table = frame.rec(duplicates="keep").inspect("ann", k=1).tables["score"]

    assert [1, 2, 3] == table["item"].tolist()


@pytest.mark.parametrize("width", [60, 80, 133, 300])
def test_long_texts_are_cut_to_the_display(width):
    """Texts end where the display does, and lists stand side by side if their texts fit."""
    texts = {"item": ["x" * 30, "y" * 41], "title": ["one " * 20, "two"]}
    scores = {"a_score": [2, 1], "b_score": [1, 2]}
    frame = pd.DataFrame({"user": 1, **texts, **scores, "relevant": 1})
    with pd.option_context("display.width", width):
        lines = str(frame.rec.inspect(1, k=2, label="title")).splitlines()

    assert max(map(len, lines)) <= max(width, 68)
    assert any("x" * 19 in line for line in lines)
    assert (width < 300) == any("yyy…" in line or "one…" in line for line in lines)
    assert (width > 133) == any(line.count("position") == 2 for line in lines)


def test_texts_begin_at_the_left(example):
    """Names of items are aligned at the left, numbers at the right, in text and HTML."""
    frame = pd.DataFrame({"user": 1, "item": ["a", "bbb"], "score": [20, 1], "relevant": 1})
    inspection = frame.rec.inspect(1, k=2)
    lines = str(inspection).splitlines()

    assert ["✓ a            1    20", "✓ bbb          1     1"] == [
        line[9:] for line in lines if "✓" in line
    ]
    assert re.search(r"\.col2 \{\s*text-align: left;\s*\}", inspection.to_html())
    assert "text-align: left;\n}" not in example.rec.inspect(4, k=2).to_html().split(".col2")[0]


def test_the_text_of_a_query_stands_above():
    """A label with one value in all rows stands above the lists, once, and not next to items."""
    frame = pd.DataFrame(
        {
            "query_id": ["q"] * 3 + ["r"],
            "text": ["how to < reset"] * 3 + ["why"],
            "item": list("abca"),
            "title": ["A", "A", None, "A"],
            "score": [3, 2, 1, 1],
            "relevant": [1, 0, 1, 1],
        }
    )
    inspection = frame.rec.inspect("q", k=2, label=["text", "title"])
    lines = str(inspection).splitlines()

    assert ["query_id q: 3 rows, 2 relevant", "text: how to < reset"] == lines[:2]
    assert ["position", "item", "title", "relevance", "score"] == lines[8].split()
    assert "relevant<br>text: how to &lt; reset</strong>" in inspection.to_html()
    assert "text" in inspection.tables["score"]
    # One row cannot tell whether its text is the user's or the item's.
    assert "text: why" not in str(frame.rec.inspect("r", k=1, label="text"))


def test_text_has_a_line_for_each_row():
    """Line breaks inside a name do not break the table."""
    frame = pd.DataFrame({"user": 1, "item": ["a\nb", "c"], "score": [2, 1], "relevant": 1})
    text = str(frame.rec.inspect(1, k=1))

    assert r"a\nb" in text


def test_without_jinja(tied, monkeypatch):
    """Without jinja2 a notebook shows the text, and `to_html` names the extra to install."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    inspection = tied.dropna().rec.inspect("ann", k=2)

    assert "precision@2: 75.00%" in str(inspection)
    assert inspection._repr_html_() is None
    with pytest.raises(ImportError, match=r"needs jinja2.*pip install 'recframe\[notebook\]'"):
        inspection.to_html()


@pytest.mark.parametrize(
    ("users", "user"),
    [
        (["a", "b"], "b"),
        ([1, 2], 2),
        (pd.Categorical(["x", "y"], ["z", "y", "x"]), "y"),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), pd.Timestamp("2020-01-02")),
        (pd.array([1, 2], "Int64"), 2),
        ([(1, 2), (1, 3)], (1, 3)),
        ([True, False], False),
    ],
)
def test_every_kind_of_id(users, user):
    """A user is found by its id, in a column and in an index level."""
    frame = pd.DataFrame({"user": users, "score": [1, 2], "relevant": [0, 1]})

    assert 1.0 == frame.rec.inspect(user, k=1).metrics.loc["score", "precision@1"]
    assert [1] == frame.set_index("user").rec.inspect(user, k=1).tables["score"][
        "relevance"
    ].tolist()


def test_the_frame_is_never_changed(frame):
    """Neither inspecting nor writing to the result changes the frame."""
    before = frame.copy(deep=True)
    inspection = frame.rec.inspect("ann", k=3)
    inspection.to_html()
    inspection.tables["score"]["score"] = 0.0

    pd.testing.assert_frame_equal(before, frame)


def test_one_ranking(frame):
    """user=None has one ranking, which needs no name."""
    frame["item"] = range(8)
    assert str(frame.rec(user=None).inspect(k=2)).startswith("all: 8 rows, 3 relevant")
    with pytest.raises(recframe.RecframeError, match="user='ann': with user=None there is one"):
        frame.rec(user=None).inspect("ann")


@pytest.mark.parametrize(
    ("user", "message"),
    [
        (
            "dan",
            "user='dan': no row has that id; ids of the column 'user' are such as 'ann', 'bob'",
        ),
        (1, "user=1: no row has that id"),
        (
            "all",
            "user must be given, because one is shown; ids of the column .user. are such as",
        ),
        (["ann"], r"user must be one id of the column 'user', but is \['ann'\]"),
    ],
)
def test_unknown_user(frame, user, message):
    """An unknown id is refused with examples of known ids."""
    with pytest.raises(recframe.RecframeError, match=message):
        frame.rec.inspect(user)


def test_no_row_to_show(frame):
    """Inspecting is refused when no row is left, also for one ranking."""
    nulls = frame.assign(relevant=None)
    for empty, user, message in (
        (nulls, "ann", "user='ann': every row holds a null, and missing='drop' removes it"),
        (nulls.drop(columns="user"), "all", "user='all': every row holds a null"),
        (frame.iloc[:0].drop(columns="user"), "all", "user='all': the frame has no row"),
    ):
        user_column = "user" if "user" in empty else None
        ours = empty.rec(user=user_column, missing="drop", short="pad")
        with pytest.raises(recframe.RecframeError, match=message):
            ours.inspect(user, k=1)


def test_refused_as_elsewhere(frame):
    """The user's rows are refused as by `evaluate`, and other users' rows are not checked."""
    frame.loc[0, "score"] = None
    assert "precision@2: 0.00%" in str(frame.rec.inspect("bob", k=2))
    with pytest.raises(recframe.RecframeError, match="score='score': must not be null, but 1"):
        frame.rec.inspect("ann", k=2)
    with pytest.raises(recframe.RecframeError, match="fewer than k=3 ranked rows"):
        frame.rec.inspect("cat", k=3)
    frame.loc[[6, 7], "score"] = None
    with pytest.raises(recframe.RecframeError, match="user='cat': every row holds a null"):
        frame.rec(missing="drop").inspect("cat", k=1)


SEEN = """<style>:root { color-scheme: light dark }</style><script>
addEventListener("load", () => {
    const style = (element) => getComputedStyle(element);
    const boxes = [...document.querySelectorAll("table")].map((t) => t.getBoundingClientRect());
    const rows = [...document.querySelectorAll("tbody tr")];
    const texts = (rows) => rows.map((row) => row.innerText.trim().split(/\\s+/).join(" "));
    const seen = {
        text: document.body.innerText,
        beside: boxes.length > 1 && boxes[0].top === boxes[1].top && boxes[0].right < boxes[1].left,
        lined: texts(rows.filter((r) => style(r.cells[0]).borderBottomWidth === "2px")),
        bold: texts(rows.filter((r) => style(r.cells[0]).fontWeight === "700")),
        ink: style(document.querySelector("td")).color,
        scripts: document.querySelectorAll("td script").length,
        title: document.title,
    };
    document.body.append(Object.assign(document.createElement("pre"), {
        id: "seen", textContent: JSON.stringify(seen),
    }));
});
</script>"""


def see(inspection, folder, *arguments):
    """Return the values that a script finds in an inspection shown by headless Chromium."""
    path = folder / "page.html"
    head = f"<!doctype html><meta charset=utf-8><title>still</title>{SEEN}"
    path.write_text(head + inspection.to_html(), "utf-8")
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [BROWSER, *flags, profile, *arguments, "--dump-dom", path.as_uri()]
    page = subprocess.run(command, capture_output=True, timeout=120, check=True).stdout.decode()
    found = re.search('<pre id="seen">(.*)</pre>', page, re.DOTALL)
    return json.loads(html.unescape(found.group(1)))


@in_browser
@pytest.mark.parametrize(
    ("scheme", "ink"), [(1, "rgb(0, 0, 0)"), (0, "rgb(255, 255, 255)")], ids=["light", "dark"]
)
def test_in_a_browser(example, tmp_path, scheme, ink):
    """Chromium shows both orders side by side in the text's own colour, in both themes."""
    arguments = (f"--blink-settings=preferredColorScheme={scheme}", "--window-size=1000,900")
    seen = see(example.rec.inspect(4, k=3), tmp_path, *arguments)

    assert seen["beside"]
    assert ink == seen["ink"]
    for text in ("object 4: 30 rows, 13 relevant", "recall@3: 15.38%", "recall@3: 23.08%"):
        assert text in seen["text"]
    assert ["3 8 0 1.656717", "3 ✓ 3 1 0.779723"] == seen["lined"]
    assert 2 + 3 == len(seen["bold"])
    assert all("✓" in row for row in seen["bold"])


@in_browser
def test_long_texts_wrap_in_a_browser(tmp_path):
    """Two lists with long texts stand side by side at 1,280 pixels."""
    texts = [f"{letter} long text of a document, " * 9 for letter in "abc"]
    scores = {"a_score": [1, 2, 3], "b_score": [3, 2, 1]}
    frame = pd.DataFrame({"user": 1, "item": list("xyz"), "text": texts, **scores, "relevant": 1})
    seen = see(frame.rec.inspect(1, k=3, label="text"), tmp_path, "--window-size=1280,900")

    assert seen["beside"]


@in_browser
def test_names_run_no_script_in_a_browser(tied, tmp_path):
    """A name with markup is read as text and does nothing."""
    seen = see(tied.dropna().rec.inspect("ann", k=1), tmp_path)

    assert SCRIPT in seen["text"]
    assert (0, "still") == (seen["scripts"], seen["title"])


def test_ids_in_the_index(frame):
    """Items and scores in index levels are shown like those in columns."""
    expected = repr(frame.rec.inspect("ann", k=2))

    for levels in ("item", "score", ["score", "item"], ["relevant", "item"]):
        assert expected == repr(frame.set_index(levels).rec.inspect("ann", k=2))


def test_inspect_shows_what_truth_adds():
    """Inspecting a user judged by truth also shows the relevant items that were never listed."""
    recs = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "b", "a"], "score": [0.9, 0.8, 0.7]})
    truth = pd.DataFrame({"user": [1, 1, 3], "item": ["b", "c", "a"]})
    seen = recs.rec(truth=truth, short="pad").inspect(1, k=2)

    assert ["a", "b", "c"] == seen.tables["score"]["item"].tolist()
    assert [False, True, True] == seen.tables["score"]["relevant"].tolist()
    assert [0.5, 0.5] == seen.metrics.loc["score", ["precision@2", "recall@2"]].tolist()
    assert [False] == recs.rec(truth=truth).inspect(2, k=1).tables["score"]["relevant"].tolist()


@pytest.mark.parametrize("with_truth", [False, True])
def test_excluded_rows_are_counted(with_truth):
    """The text tells how many of the user's rows `exclude` leaves out, not how many it lists."""
    frame = pd.DataFrame(
        {
            "user": [1, 1, 1, 2],
            "item": list("abca"),
            "score": [3, 2, 1, 4],
            "relevant": [0, 1, 0, 1],
        }
    )
    gone = pd.DataFrame({"user": [1, 1, 2], "item": ["a", "z", "a"]})
    options = {"truth": frame.iloc[[1]]} if with_truth else {}
    shown = frame.rec(exclude=gone, short="pad", **options).inspect(1, k=1)

    assert 1 == shown.n_excluded
    assert "user 1: 2 rows, 1 relevant, 1 more excluded" == repr(shown).splitlines()[0]
    shown = frame.rec(short="pad", **options).inspect(1, k=1)
    assert "user 1: 3 rows, 1 relevant" == repr(shown).splitlines()[0]


@pytest.mark.parametrize(
    ("frame", "options"),
    [
        ({"user": [1, 2], "item": [3, 4]}, {"exclude": pd.DataFrame({"user": [1], "item": [3]})}),
        ({"user": [1, 1, 2], "item": [8, 9, 4]}, {"unjudged": "drop"}),
    ],
)
def test_a_user_whose_rows_are_all_removed(frame, options):
    """`inspect` shows a user whose rows are all left out with the values of an empty list."""
    rows = pd.DataFrame(frame).assign(score=0.5)
    truth = pd.DataFrame({"user": [1, 2], "item": [3, 4]})
    rec = rows.rec(truth=truth, population="truth", short="pad", **options)

    assert 0.0 == rec.evaluate("recall@1").loc[1].item()
    assert "undefined" not in str(rec.inspect(1, metrics="recall@1"))
