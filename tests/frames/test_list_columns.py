"""recframe.from_lists reads a frame with a row for each user and a list of items or structs.

Tests of `truth_item` with lists belong here.
"""

import re
import shlex
from collections import deque, namedtuple
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
from recframe import RecframeError
from recframe.cli import main

Named = namedtuple("Named", ["movieId", "rating"])
ITEMS = [("ann", 7, -1), ("ann", 3, -2), ("cat", 5, -1)]
SCORED = [("ann", 7, 4.5), ("ann", 3, 4.5), ("cat", 5, 1.0)]
PAIRS = [[(7, 4.5), (3, 4.5)], [], [(5, 1.0)], None]


class Row(tuple):
    """A row as Spark has it: a tuple with the names of its fields."""

    def __new__(cls, **fields):
        """Make a row of fields."""
        row = super().__new__(cls, fields.values())
        row.__fields__ = list(fields)
        return row


def make(cells, dtype=None):
    """Return a frame with a row for each user."""
    users = ["ann", "bob", "cat", "dan"][: len(cells)]
    return pd.DataFrame({"userId": users, "recommendations": pd.Series(cells, dtype=dtype)})


def rows(frame):
    """Return the rows of items in a frame of lists."""
    assert ["user", "item", "score"] == frame.columns.tolist()[:3]
    listed = frame[["user", "item", "score"]].dropna(subset=["item"])
    return list(listed.itertuples(index=False, name=None))


def of_pairs(convert, to_list=list):
    """Return the lists of pairs, with each pair converted."""
    return [None if cell is None else to_list([convert(*pair) for pair in cell]) for cell in PAIRS]


def as_objects(members):
    """Return members in an array of objects, as Arrow gives lists to pandas."""
    array = np.empty(len(members), object)
    array[:] = members
    return array


ARROW = pa.list_(pa.struct({"movieId": pa.int64(), "rating": pa.float64()}))
STRUCTS = {
    "dicts": make(of_pairs(lambda item, score: {"movieId": item, "rating": score})),
    "dicts of another order": make(
        of_pairs(lambda item, score: {"rating": score, "movieId": item})
    ),
    "arrays of dicts": make(
        of_pairs(lambda item, score: {"movieId": item, "rating": score}, as_objects)
    ),
    "rows of Spark": make(of_pairs(lambda item, score: Row(movieId=item, rating=score))),
    "named tuples": make(of_pairs(Named)),
    "pairs": make(of_pairs(lambda *pair: pair)),
    "lists of pairs": make(of_pairs(lambda *pair: list(pair))),
    "structs of Arrow": make(
        of_pairs(lambda item, score: {"movieId": item, "rating": score}), pd.ArrowDtype(ARROW)
    ),
    "an item of any name": make(of_pairs(lambda item, score: {"business": item, "rating": score})),
    "more fields": make(
        of_pairs(
            lambda item, score: {"doc": item, "score": score, "rank": 1, "text": "x", "at_time": 9}
        )
    ),
    "distances": make(of_pairs(lambda item, score: {"doc": item, "distance": -score})),
}


@pytest.mark.parametrize("kind", STRUCTS)
def test_lists_of_structs(kind):
    """Items and scores are found in structs of any kind, and an empty list gives no row."""
    frame = recframe.from_lists(STRUCTS[kind])

    assert SCORED == rows(frame)
    assert ["Int64", "float64"] == [str(dtype) for dtype in frame.dtypes[["item", "score"]]]
    assert ["bob", "dan"] == frame["user"][frame["item"].isna()].tolist()


@pytest.mark.parametrize(
    "frame",
    [
        make([[7, 3], [], [5], None]),
        make([np.array([7, 3]), np.array([]), np.array([5]), None]),
        make([[7, 3], [], [5], None], pd.ArrowDtype(pa.list_(pa.int64()))),
        make([[7, 3], [], [5], None], pd.ArrowDtype(pa.large_list(pa.int64()))),
        make([(7, 3), (), (5,), None]),
        make([deque([7, 3]), range(0), pd.Series([5]), None]),
        make([[7, 3], [], [5], None]).set_index("userId"),
        make([[7, 3], [], [5], None]).set_index("userId")["recommendations"],
        make([[7, 3], [], [5], None]).assign(country="NL", text="[1]", tags=2),
        make([[{"movieId": 7}, {"movieId": 3}], [], [{"movieId": 5}], None]),
    ],
    ids=[
        "list",
        "array",
        "Arrow",
        "large",
        "tuple",
        "other sequences",
        "index",
        "Series",
        "others",
        "no score",
    ],
)
def test_lists_of_items(frame):
    """Lists without scores are ranked by position, and the only column of lists has the items."""
    assert ITEMS == rows(recframe.from_lists(frame))


def test_ids_keep_their_dtypes():
    """Users and items keep their dtypes."""
    frame = make([np.array([7, 3], np.int32), np.array([5], np.int32)]).astype(
        {"userId": "category"}
    )
    read = recframe.from_lists(frame)

    assert ["category", "int32", "int64"] == [str(dtype) for dtype in read.dtypes]
    assert pd.Series(["x"]).dtype == recframe.from_lists(make([["x"], ["y"]]))["item"].dtype
    assert [("ann", ("a", 1, 2), -1)] == rows(recframe.from_lists(make([[{"item": ("a", 1, 2)}]])))


def test_columns_are_given():
    """Labels choose among several possible columns."""
    frame = make([[7, 3], [5]]).assign(seen=[[1], [2]], visitor=["x", "y"])

    read = recframe.from_lists(frame, user="visitor", items="recommendations")
    assert [("x", 7, -1), ("x", 3, -2), ("y", 5, -1)] == rows(read)


@pytest.mark.parametrize(
    "others", [[["p", "q"], ["r"]], [[5, 6, 7], [8]]], ids=["text", "integers"]
)
@pytest.mark.parametrize("scanned", [False, True])
def test_a_name_of_items_next_to_other_ids(others, scanned, tmp_path):
    """A list named as items leaves no other list of ids out unasked, in a frame or a file."""
    frame = pd.DataFrame({"user": ["a", "b"], "items": [["x1", "x2"], ["x3"]], "later": others})
    frame.to_parquet(tmp_path / "lists.parquet")
    scan = recframe.scan(tmp_path / "lists.parquet")
    call = (lambda: scan.recall(k=1)) if scanned else (lambda: recframe.from_lists(frame))
    with pytest.raises(RecframeError, match=r"'items'.* 'later'") as refused:
        call()
    assert ["items", "later"] == refused.value.answers["lists" if scanned else "items"].candidates
    made = recframe.from_lists(frame, items="items")
    assert [("a", "x1", -1), ("a", "x2", -2), ("b", "x3", -1)] == rows(made)


@pytest.mark.parametrize("cells", [[], [None], [[]]])
def test_no_item_at_all(cells):
    """A frame with empty lists only gives a frame without rows."""
    assert [] == rows(recframe.from_lists(make(cells, object), items="recommendations"))


def test_as_lists_in_a_dict():
    """A frame of lists has the values of a dict of its lists, and equal scores tie."""
    truth = pd.DataFrame({"userId": ["ann", "cat"], "movieId": [3, 5]})
    asked = {"truth": truth, "short": "pad"}

    of_dict = recframe.from_lists({"ann": [7, 3], "cat": [5]}).rec(**asked).precision(k=1)
    of_frame = recframe.from_lists(make([[7, 3], None, [5], []]).iloc[[0, 2]]).rec(**asked)
    pd.testing.assert_frame_equal(of_dict, of_frame.precision(k=1))
    tied = recframe.from_lists(STRUCTS["rows of Spark"]).rec(**asked, population="both")
    assert [0.5, 1.0] == tied.precision(k=1)["score"].tolist()


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            pd.DataFrame({"x": [[1]]}),
            r"lists: user: no column found .*; where each row is a ranking, pd.DataFrame",
        ),
        (
            make([[7]]).assign(seen=[[3]]),
            "lists: 2 columns hold lists, 'recommendations', 'seen'. Pass items= the one of items",
        ),
        (
            make([[7, 3]]).assign(scores=[[0.5]]),
            r"equally long lists in each row, but differ in 1 row .*such as 2 and 1 members\)",
        ),
        (
            make([7]),
            "items: one column must hold lists, but none does; the frame has 'userId', "
            "'recommendations'; a frame with a row for each item is evaluated as it is",
        ),
        (
            make(["7 3", "5 9"]),
            "is text that looks like lists: pass items='recommendations', sep=' '",
        ),
        (
            make(["[x, y]"]),
            "text must hold lists as JSON or Python writes them, .* but holds '.x, y",
        ),
        (make([{7}]), "items='recommendations': the items of a user must be a sequence, best firs"),
        (
            make([[7], 5]),
            r"sequence, best first, but are <class 'int'> \(user 'bob'\). Pass \[item\]",
        ),
        (make([[7], "5"]), r"best first, but are <class 'str'> \(user 'bob'\). Pass \[item\]"),
        (
            make([[7], np.ma.masked_array([5], [1])]),
            "items='recommendations': items of user 'bob' must not be masked, but has 1 masked",
        ),
        (
            pd.DataFrame({"user": [1, 1], "items": [[7], [5]]}),
            r"lists: user='user' must differ, but has 1 repeated \(such as 1\)",
        ),
        (
            pa.table({"user": [1, 1], "items": [[7], [5]]}),
            r"lists: user='user' must differ, but has 1 repeated \(such as 1\)",
        ),
        (pd.DataFrame({"user": [None], "items": [[7]]}), "user='user' must not have a null user"),
        (make([[7, None]]), "must not be padded, but has 1 null, empty or -1"),
        (make([[{"item": None, "score": 1}]]), "must not be padded, but has 1 null, empty or -1"),
        (make([[7, 7]]), r"an item must be in a list once, but 1 .*user 'ann', item 7"),
        (make([["x", "y", ""]]), r"must not be padded, but has 1 .* \(such as user 'ann', item ''"),
        (
            make([["x", "<PAD>"], ["<PAD>", "<PAD>"]]),
            r"Where '<PAD>' fills lists up, pass \[one for one in row if one != '<PAD>'\] of each",
        ),
        (
            make([[3, 0, 0], [5, 4, 0]]),
            "Where 0 fills lists up, pass .* Else pass duplicates='max'",
        ),
        (
            make([[7, 7, 3], [5, 3, 3]]),
            r"item 7\)\. Pass duplicates='max' to keep the first of each",
        ),
        (
            make([[0, 1, 0], [1, 0, 0]]),
            "Where these say which ranks are relevant, pass each list to recframe.metrics",
        ),
        (
            make([[object()]]),
            "hashable ids, but are not: each object is equal to itself alone. Pass",
        ),
        (
            make([[{"document": {"text": "x", "id": 7}, "score": 0.9}]]),
            r"map\(lambda row: \[\(one\['document'\]\['id'\], one\['score'\]\) for one in row\]\)",
        ),
        (
            make([[(7, 0.5), (3, 0.9)]]),
            "scores must not rise along a row, as items come best first, but rise in 1 row "
            ".*Pass lists sorted by their scores",
        ),
        (make([[{"doc": 7, "distance": 0.9}, {"doc": 3, "distance": 0.5}]]), "must not rise"),
        (
            make([[{"sku_code": 7, "s": 0.9, "x": 1}]]),
            "but have fields 'sku_code', 's', 'x'. Make pairs of them, with frame.'recommendation",
        ),
        (make([[{"doc": 7, "s": 0.9, "price": 1}]]), "say which is which, but have .*'price'"),
        (make([[{"doc": 7, "s": 0.9}]]), "say which is which, but have fields 'doc', 's'. Make"),
        (make([[{"doc": 7, "score": "x"}]]), r"score must be numbers, but is .* \(such as 'x'\)"),
        (
            make([[{"doc": 7, "document": 7, "score": 1}]]),
            "2 fields could be the item, 'doc', 'doc",
        ),
        (
            make([[{"doc": 7}, {"item": 7}]]),
            "of the same fields.*'doc': 7} and {'item': 7}",
        ),
        (make([[{"doc": 7}, None]]), "structs of the same fields.* but hold {'doc': 7} and None"),
        (make([[Row(doc=7, s=1), Row(s=1, doc=7)]]), "structs of the same fields.*but hold"),
        (
            make([[(7, 0.5), (3,)]]),
            r"pairs of an item and its score, but hold \(7, 0.5\) and \(3,\)",
        ),
        (
            make([[(7, 0.5, 1)]]),
            "pairs of an item and its score, .*but have fields 0, 1, 2. Make pair",
        ),
        (make([[[7], [5]]]), "pairs of an item and its score, .*but have fields 0. Make pairs"),
        (make([[7, {"doc": 7}]]), "items='recommendations' must be hashable ids, but are not:"),
    ],
)
def test_refused_frames(frame, message):
    """A frame of lists is refused if its meaning is unclear or contradictory."""
    with pytest.raises(RecframeError, match=message):
        recframe.from_lists(frame)


@pytest.mark.parametrize(
    "lists",
    [
        {"bob": [], "ann": [(7, 4.5), (3, 4.5)], "cat": [(5, 1.0)]},
        {"ann": [{"item": 7, "score": 4.5}, {"item": 3, "score": 4.5}]},
    ],
)
def test_pairs_in_a_dict(lists):
    """Items with scores in a dict are refused as ids, and the suggested call reads them."""
    with pytest.raises(
        RecframeError, match=r"are ids, not .*7.*; where .*pass recframe.from_lists\("
    ):
        recframe.from_lists(lists)
    frame = recframe.from_lists(pd.Series(lists).rename_axis("user"))
    assert SCORED[: len(frame)] == rows(frame)


def test_labels_are_of_frames():
    """A label that does not exist, or that is passed with a dict, is refused."""
    with pytest.raises(recframe.MissingColumnError, match="lists: items='recs': no such column"):
        recframe.from_lists(make([[7]]), items="recs")
    with pytest.raises(RecframeError, match="user, items, item, model and sep are for a frame"):
        recframe.from_lists({"ann": [7]}, items="recs")


LISTS_OF_STORES = {
    "Chroma": {"ids": [["a", "b"]], "distances": [[0.1, 0.2]], "documents": [["x", "y"]]},
    "Pinecone": {
        "matches": [
            [{"id": "a", "score": 0.9, "values": [1.0]}, {"id": "b", "score": 0.8, "values": [2.0]}]
        ]
    },
    "Qdrant": {
        "points": [
            [{"id": "a", "version": 3, "score": 0.9}, {"id": "b", "version": 1, "score": 0.8}]
        ]
    },
}


@pytest.mark.parametrize("store", LISTS_OF_STORES)
def test_results_of_vector_stores(store):
    """The ids that vector stores return are items, best first."""
    frame = pd.DataFrame({"query": ["q"], **LISTS_OF_STORES[store]})
    made = recframe.from_lists(frame).sort_values("score", ascending=False)
    assert ["a", "b"] == made["item"].tolist()


@pytest.mark.parametrize(
    ("cells", "sep"),
    [
        (["7 3", "5"], " "),
        (["7  3", "5"], " "),
        (["7, 3", "5"], ","),
        (["[7, 3]", "[5]"], None),
        (["[7, 3]", "[5]"], ", "),
        (["[7\n 3]", "[5]"], None),
        (["7|3", "5"], "|"),
        (["[7] > [3]", "[5]"], " > "),
        (["[7] > [3]", "[5] "], ">"),
        (["[7] [3]", "[5]"], " "),
        (["{7,3}", "{5}"], ","),
        (["(7, 3)", "(5,)"], ","),
        (["7,3,", "5, ,"], ","),
        (["7\t3", "5"], "\t"),
    ],
)
def test_lists_in_text(cells, sep):
    """Lists in text are split, and whole numbers become numbers."""
    frame = pd.DataFrame({"userId": ["ann", "cat"], "items": cells})
    assert [("ann", 7, -1), ("ann", 3, -2), ("cat", 5, -1)] == rows(
        recframe.from_lists(frame, sep=sep)
    )


@pytest.mark.parametrize("cells", [["[7] > [3]", "[5]"], ["[7] [3]", "[5] [7]"]])
def test_other_separators_between_brackets(cells):
    """Ids in brackets of their own are asked for their separator."""
    with pytest.raises(RecframeError, match=r"holds '.7. .*between ids, pass it as sep=$"):
        recframe.from_lists(pd.DataFrame({"userId": ["ann", "cat"], "items": cells}))


def test_two_lists_of_ids_are_models():
    """Lists of the same ids are refused, with a call that makes a model of each."""
    lists = pd.DataFrame({"user": [1, 2], "als": [["a", "b"], ["c", "a"]]})
    lists["bpr"] = [["a", "b"], ["a", "c"]]
    with pytest.raises(RecframeError, match="may be the lists of several models") as asked:
        recframe.from_lists(lists, items=["als", "bpr"])
    call = re.search(r"recframe\.from_lists\(.*model='model'\)", str(asked.value))[0]
    made = eval(call, {"lists": lists, "recframe": recframe})
    truth = pd.DataFrame({"user": [1, 2], "item": ["b", "c"]})
    table = made.rec(truth=truth, missing="unranked").mean("mrr")
    assert {"als": 0.75, "bpr": 0.5} == table["mrr"].to_dict()


@pytest.mark.parametrize("sep", ["\t", "\n", "  ", ", "])
def test_separators_of_ids_with_spaces(sep):
    """Ids are split by the whole separator, and keep the spaces within them."""
    titles = sep.join(["The Matrix", "Alien (1979)"]), "(500) Days of Summer"
    frame = pd.DataFrame({"user": [1, 2], "items": titles})
    expected = ["The Matrix", "Alien (1979)", "(500) Days of Summer"]
    assert expected == recframe.from_lists(frame, sep=sep)["item"].tolist()


def test_empty_ids_in_text():
    """An id that is missing between two separators is refused, with a list that has one."""
    frame = pd.DataFrame({"user": [1, 2], "items": ["a,b", "c,,d"]})
    with pytest.raises(
        RecframeError, match=r"items='items': ids must not be .*1 are, as in 'c,,d'"
    ):
        recframe.from_lists(frame, sep=",")


def test_empty_lists_in_text():
    """Empty text and nulls are lists without items, and one id in each cell is a list."""
    frame = pd.DataFrame({"userId": ["ann", "bob", "cat"], "items": ["a1", "", None]})
    made = recframe.from_lists(frame, sep=" ")
    assert [("ann", "a1", -1)] == rows(made)
    assert ["ann", "bob", "cat"] == made["user"].tolist()


def test_pairs_in_the_other_order():
    """Pairs of a score and an item are refused."""
    with pytest.raises(RecframeError, match=r"pairs must be \(item, score\), but are \(0.9, 7\)"):
        recframe.from_lists(make([[(0.9, 7), (0.5, 3)]]))


def test_users_of_several_columns():
    """Several columns of users keep their names, and the frame remembers them."""
    frame = pd.DataFrame({"day": [1, 2], "userId": ["ann", "ann"], "items": [[7, 3], [5]]})
    made = recframe.from_lists(frame, user=["day", "userId"])
    assert ["day", "userId", "item", "score"] == made.columns.tolist()
    truth = pd.DataFrame({"day": [1, 2], "userId": ["ann", "ann"], "item": [3, 5]})
    found = made.rec(truth=truth, short="pad").reciprocal_rank()
    assert [("day", "userId"), (0.5, 1.0)] == [tuple(found.index.names), tuple(found["score"])]


def test_truth_in_text_is_asked_about():
    """Truth with lists in text is refused with the call that makes rows of them."""
    recs = recframe.from_lists({"a": ["x1", "x2"], "b": ["x3"]})
    truth = pd.DataFrame({"user": ["a", "b"], "bought": ["x2 x9", "x4"]})
    with pytest.raises(RecframeError, match=r"from_lists\(truth, items='bought', sep=' '\)"):
        recs.rec(truth=truth, short="pad").recall(k=2)
    made = recframe.from_lists(truth, items="bought", sep=" ")
    assert [0.5, 0.0] == recs.rec(truth=made, short="pad").recall(k=2)["score"].tolist()


@pytest.mark.parametrize("of_rows", ["text", "lists", "rows"])
def test_lists_of_python_in_text_of_both(of_rows, tmp_path, capsys):
    """Lists that pandas wrote to csv are read on both sides by the call, and the command, shown."""
    frame = pd.DataFrame({"user": [1, 2], "recs": ["['a', 'b']", "['c', 'd']"]})
    truth = pd.DataFrame({"user": [1, 2], "items": ["['a']", "['d', 'x']"]})
    lists = {"lists": frame.assign(recs=[list("ab"), list("cd")])}
    df = {"text": frame, **lists, "rows": recframe.from_lists(frame)}[of_rows]
    with pytest.raises(RecframeError) as refused:
        df.rec(truth=truth).mean("recall@2")
    code = str(refused.value).partition("This answers all:\n")[2]
    table = eval(code, {"df": df, "truth": truth, "recframe": recframe})
    assert 0.75 == table.loc["score", "recall@2"]

    frame.to_csv(tmp_path / "rows.csv", index=False)
    truth.to_csv(tmp_path / "truth.csv", index=False)
    words = [str(tmp_path / "rows.csv"), "--truth", str(tmp_path / "truth.csv"), "-m", "recall@2"]
    assert 1 == main(["evaluate", *words])
    command = capsys.readouterr().err.strip().partition("As flags: recframe ")[2]
    assert 0 == main(shlex.split(command))
    assert "0.75" in capsys.readouterr().out


def test_an_empty_history_excludes_nothing():
    """An empty list in exclude removes no row."""
    recs = recframe.from_lists({"a": ["x", "y"], "b": ["z"]})
    seen = pd.DataFrame({"user": ["a", "b"], "history": [["x"], []]})
    assert ["y", "z"] == recs.rec(exclude=seen).top(1)["item"].tolist()


def test_tables_of_other_libraries():
    """Lists of Polars, Arrow, DuckDB and readers make the same rows as lists of pandas."""
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    cells = {"userId": [1, 2, 3], "recs": [["x", "y"], [], ["z"]], "country": ["NL", "FR", "NL"]}
    table = pa.table(cells)
    views = table.set_column(1, "recs", table["recs"].cast(pa.list_(pa.string_view())))
    expected = recframe.from_lists(pd.DataFrame(cells))

    for lists in (
        table,
        views,
        table.to_reader(),
        polars.DataFrame(cells),
        duckdb.from_arrow(table),
        pd.DataFrame(cells).astype({"country": pd.ArrowDtype(pa.string_view())}),
    ):
        pd.testing.assert_frame_equal(expected, recframe.from_lists(lists))


def test_null_next_to_lists_in_text():
    """Texts with lists are read next to nulls of pandas' text."""
    frame = make(["[7, 3]", None, "[5]"]).astype({"recommendations": "string"})

    assert ITEMS == rows(recframe.from_lists(frame))


def test_one_step_makes_rows_of_lists():
    """Frames, files and Arrow's engines call one step, and no other line flattens lists."""
    package = Path(recframe.__file__).parent
    texts = {path: path.read_text("utf-8") for path in package.rglob("*.py")}
    flatteners = re.compile(r"list_flatten|list_parent_indices|\w\.explode\((?!column\)|\{)")
    callers = {
        path.relative_to(package).as_posix(): len(re.findall(r"(?<!def )make_list_rows\(", text))
        for path, text in texts.items()
    }

    (place,) = [path for path, text in texts.items() if flatteners.search(text)]
    assert "list_columns.py" == place.name
    assert {"frames/list_columns.py": 1, "frames/list_frames.py": 1} == {
        path: n for path, n in callers.items() if n
    }


def test_the_frame_knows_its_users():
    """Other columns named like users or items take no role in the rows."""
    frame = pd.DataFrame(
        {"session_id": [1, 2, 3], "user_id": [7, 7, 8], "recs": [["a", "b"], ["c", "d"], ["e"]]}
    )
    made = recframe.from_lists(frame, user="session_id")
    made["relevant"] = made["item"].isin(["a", "c"])
    assert [1.0, 1.0, 0.0] == made.rec.precision(k=1)["score"].tolist()


def test_labels_beside_the_items_of_truth():
    """A list of labels next to the ids of truth is relevance, or asked about."""
    recs = recframe.from_lists({1: [10, 20, 30], 2: [20, 10, 5]})
    truth = pd.DataFrame({"user": [1, 2], "ids": [[10, 30, 20], [10]], "labels": [[1, 1, 0], [1]]})
    with pytest.raises(RecframeError, match="'labels' holds few distinct values"):
        recs.rec(truth=truth).recall(k=2)
    for given in (truth.rename(columns={"labels": "label"}), truth):
        asked = {"relevant": given.columns[2], "truth": given}
        assert [0.5, 1.0] == recs.rec(**asked).recall(k=2)["score"].tolist()


def test_padding_in_truth():
    """Truth with -1 in its lists is refused, as rows are."""
    recs = recframe.from_lists({1: [10, 20]})
    with pytest.raises(RecframeError, match="'rel': lists must not be padded, but hold -1"):
        recs.rec(truth=pd.DataFrame({"user": [1], "rel": [[10, -1]]})).recall(k=2)


def test_lists_as_numpy_writes_them():
    """Texts in quotes without commas are several items, and empty brackets hold none."""
    frame = pd.DataFrame({"userId": ["ann", "bob"], "items": ["['a' 'b']", "[]"]})
    assert [("ann", "a", -1), ("ann", "b", -2)] == rows(recframe.from_lists(frame))


def test_describe_counts_no_row_for_an_empty_list():
    """An empty list is a user, and no row with a null."""
    recs = recframe.from_lists({1: [10, 20], 2: [], 3: [5]})
    found = recs.rec(truth=pd.DataFrame({"user": [1, 2, 3], "item": [10, 7, 5]})).describe(k=1)
    numbers = found["score"][["rows", "users", "null scores", "shortest ranking"]].tolist()
    assert [3, 3, 0, 0] == numbers


LOG = {"question": ["a", "b"], "contexts": [["p1", "x"], ["y", "z"]], "truth": [["p2"], ["p5"]]}
RANKED = {"question": ["a", "b"], "doc": [["p1", "p2"], ["p4", "p5"]]}
NAMES = [
    ("contexts", "ground_truth"),
    ("contexts", "label"),
    ("items", "truth"),
    ("passages", "relevant"),
    ("retrieved", "gold"),
]


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("as_arrow", [False, True])
def test_truth_with_two_lists_of_ids(names, as_arrow):
    """Truth with two lists of ids is asked about under any names, and truth_item= answers."""
    recs = recframe.from_lists(pd.DataFrame(RANKED))
    log = pd.DataFrame(LOG).set_axis(["question", *names], axis=1)
    log = pa.Table.from_pandas(log) if as_arrow else log
    with pytest.raises(RecframeError, match=f"'{names[1]}'. Pass truth_item= the one of") as asked:
        recs.rec(truth=log).mean("recall@2")

    assert list(names) == asked.value.answers["truth_item"].candidates
    found = [recs.rec(truth=log, truth_item=name).mean("recall@2").iloc[0, 0] for name in names]
    assert [0.25, 1.0] == found


QUERIES = [f"q{number}" for number in range(20)]
FOUND = [{"query": q, "doc_id": f"d{n}{q}", "score": -n} for q in QUERIES for n in range(3)]
SECOND, FIRST = [f"d1{query}" for query in QUERIES], [[f"d0{query}"] for query in QUERIES]
GOLD = [
    *(("positive_id", "negative_ids"), ("pos_id", "neg_ids"), ("positive", "negatives")),
    *(("pos", "neg"), ("gold", "distractors"), ("expected_id", "retrieved_ids")),
]


@pytest.mark.parametrize("names", GOLD)
def test_truth_with_gold_next_to_a_list(names):
    """Truth with a gold item and a list of other items is asked about, the gold item first."""
    recs = pd.DataFrame(FOUND)
    truth = pd.DataFrame({"query": QUERIES, names[1]: FIRST, names[0]: SECOND})
    with pytest.raises(RecframeError, match=r"Pass truth_item= the one of relevant") as asked:
        recs.rec(truth=truth).mean("mrr")

    assert list(names) == asked.value.answers["truth_item"].candidates
    found = [recs.rec(truth=truth, truth_item=name).mean("mrr").iloc[0, 0] for name in names]
    assert [0.5, 1.0] == found


def test_truth_with_negatives_alone():
    """Negatives are not the items of truth, be they lists or ids next to a gold item."""
    recs = pd.DataFrame(FOUND)
    lists = pd.DataFrame({"query": QUERIES, "hard_negatives": FIRST})
    with pytest.raises(RecframeError, match=r"1 column holds lists, 'hard_negatives'. Pass"):
        recs.rec(truth=lists).mean("mrr")
    for names in (("pos", "neg"), ("negative_id", "positive_id")):
        ids = {"pos": SECOND, "neg": [one for (one,) in FIRST]}
        columns = {name: ids[name[:3]] for name in names}
        truth = pd.DataFrame({"query": QUERIES, **columns})
        assert 0.5 == recs.rec(truth=truth).mean("mrr").iloc[0, 0]
        elsewhere = truth.replace(r"d1q", "x", regex=True)
        with pytest.raises(RecframeError, match=r"pass truth_item='pos") as asked:
            recs.rec(truth=elsewhere).mean("mrr")
        assert [name for name in names if "pos" in name] == [*asked.value.answers.values()]


@pytest.mark.parametrize(
    "names",
    [("answer", "relevant_doc_ids"), ("category", "relevant_docs"), ("gold_answer", "contexts")],
)
def test_truth_with_an_attribute_next_to_a_list(names):
    """A column of answers or categories next to a list of items is not asked about."""
    lists = [[one] for one in SECOND]
    truth = pd.DataFrame({"query": QUERIES, names[0]: "a text", names[1]: lists})
    assert 0.5 == pd.DataFrame(FOUND).rec(truth=truth).mean("mrr").iloc[0, 0]


def test_truth_item_among_other_lists():
    """truth_item= names a list of structs too, next to integers, or a column without lists."""
    recs = recframe.from_lists({"a": [1, 2], "b": [4, 5]})
    hits = [[{"id": 1, "score": 0.9}], [{"id": 4, "score": 0.5}]]
    truth = pd.DataFrame({"user": ["a", "b"], "hits": hits, "items": [[7, 8, 9], [4]]})
    truth["target"] = [[2, 1], [4]]
    truth["sold"] = [1, 5]

    asked = {
        name: recs.rec(truth=truth, truth_item=name, relevant=None)
        for name in ("hits", "target", "sold")
    }
    means = {name: rec.mean("recall@2").iloc[0, 0] for name, rec in asked.items()}
    assert dict.fromkeys(asked, 1.0) == means
    for dropped in ("hits", "items"):
        with pytest.raises(RecframeError, match=r"'target'\. Pass truth_item= the one of relevan"):
            recs.rec(truth=truth.drop(columns=["sold", dropped])).mean("recall@2")
    with pytest.raises(RecframeError, match=r"exclude: 3 columns hold lists, .*. Drop all but the"):
        recs.rec(exclude=truth, truth=truth, truth_item="sold").mean("recall@2")


@pytest.mark.parametrize(
    ("names", "call"),
    [
        (("contexts", "ground_truth"), "items='contexts').rec(truth=lists, truth_item='ground_"),
        (("recommended", "actual"), "items=...).rec(truth=lists, truth_item=...)"),
        (("predictions", "actual"), "items=...).rec(truth=lists, truth_item=...)"),
    ],
)
@pytest.mark.parametrize("as_numbers", [False, True])
def test_a_table_of_ranked_and_relevant_lists(names, call, as_numbers):
    """Two lists of ids in a table are asked about, with the call that compares them."""
    log = pd.DataFrame(LOG).set_axis(["question", *names], axis=1)
    if as_numbers:
        log = log.assign(**{names[0]: [[1, 2, 3], [4, 5, 6]], names[1]: [[9, 7, 1], [9, 6, 4]]})
    with pytest.raises(RecframeError, match="Pass items= the one of items") as asked:
        recframe.from_lists(log)

    assert call in str(asked.value)
    assert list(names) == asked.value.answers["items"].candidates
    rec = recframe.from_lists(log, items=names[0]).rec(truth=log, truth_item=names[1])
    assert 2 == len(rec.recall(k=2))


def test_flags_next_to_ids_are_relevance():
    """Integers that are all 0 or 1 are relevance by their name, next to integers under any name."""
    log = pd.DataFrame({"user": [1], "recommended": [[5, 6]], "clicked": [[0, 1]]})
    assert 0.5 == recframe.from_lists(log).rec.mean("mrr").iloc[0, 0]


def test_a_series_of_dicts():
    """The calls that a Series of dicts is refused with run."""
    dicts = pd.Series({"a": {1: 0.9, 2: 0.3}, "b": {3: 0.5}})
    for read in (recframe.from_lists, recframe.from_runs):
        with pytest.raises(RecframeError, match=r"Pass recframe.from_runs\(\w+.to_dict\(\)\)\.$"):
            read(dicts)
    with pytest.raises(RecframeError, match=r"Pass recframe.truth_from\(truth.to_dict\(\)\)\.$"):
        recframe.from_runs(dicts.to_dict()).rec(truth=dicts)
    with pytest.raises(RecframeError, match=r"recframe.from_runs takes a dict of them by user"):
        recframe.from_lists(dicts.rename_axis("user").reset_index())


def test_the_answers_of_ragas_are_no_relevance():
    """Texts that differ from row to row are no relevance of truth that has lists of items."""
    users = [f"q{number}" for number in range(40)]
    lists = {"retrieved_contexts": [["x", "a"]] * 40, "reference_contexts": [["a"]] * 40}
    rag = pd.DataFrame({"user_input": users, "ground_truth": [f"text {one}" for one in users]})
    rag = rag.assign(**lists)
    rec = recframe.from_lists(rag, items="retrieved_contexts").rec
    assert 0.5 == rec(truth=rag, truth_item="reference_contexts").mean("mrr").iloc[0, 0]
    with pytest.raises(RecframeError, match=r"relevant='ground_truth': must be boolean"):
        rec(truth=rag, truth_item="reference_contexts", relevant="ground_truth").mean("mrr")


@pytest.mark.parametrize(
    "others", [{"metadatas": [[{"s": 1}, {"s": 2}]] * 2}, {"uris": [[None] * 2] * 2}]
)
def test_ids_of_vector_stores_win_over_metadata(others):
    """Lists named ids hold the items, next to lists of metadata, of texts and of nulls."""
    found = {"ids": [["x", "a"], ["c", "y"]], "distances": [[0.1, 0.2]] * 2, **others}
    found["documents"] = [["t", "u"]] * 2
    expected = [("q1", "x", -0.1), ("q1", "a", -0.2), ("q2", "c", -0.1), ("q2", "y", -0.2)]
    assert expected == rows(recframe.from_lists(pd.DataFrame({"query": ["q1", "q2"], **found})))
    with pytest.raises(RecframeError, match=r"but 'ids' is a column. Pass recframe") as refused:
        recframe.from_lists(found)
    call = re.search(r"Pass (.*)\.$", str(refused.value))[1]
    names = {"recframe": recframe, "pd": pd, "lists": found, "queries": ["q1", "q2"]}
    assert expected == rows(eval(call, names))


@pytest.mark.parametrize("score", [{}, {"score": 0.5}])
def test_pairs_have_ids_of_metadata_and_numbers(score):
    """The pairs that a message suggests have an id in metadata, and a score only if it is one."""
    cells = [[{"page_content": "a", "metadata": {"source_id": 1, "id": "x"}, **score}]]
    frame = pd.DataFrame({"query": ["q1"], "docs": cells})
    one = "(one['metadata']['id'], one['score'])" if score else "one['metadata']['id']"
    with pytest.raises(RecframeError, match=re.escape(f"lambda row: [{one} for one in row])")):
        recframe.from_lists(frame)


def test_cells_with_grades_are_judgments():
    """A column of dicts in truth is refused with the call that reads them as grades."""
    frame = pd.DataFrame({"query": ["q1", "q2"], "item": ["a", "b"], "score": 1.0})
    truth = pd.DataFrame({"query": ["q1", "q2"], "qrels": [{"a": 3}, {"a": 1, "b": 0}]})
    with pytest.raises(RecframeError, match=r"truth: 'qrels' holds dicts .*: pass ") as refused:
        frame.rec(truth=truth).mean("mrr")
    call = str(refused.value).partition(": pass ")[2]
    read = eval(call, {"recframe": recframe, "truth": truth})
    assert 0.5 == frame.rec(truth=read, min_relevance=1).mean("mrr").iloc[0, 0]


LISTS_OF_LOG = {
    "scores": [[0.9, 0.8, 0.7]] * 2,
    "distances": [[1, 2, 3]] * 2,
    "labels": [[1, 0, 1]] * 2,
    "relevance": [[1, 0, 0], [0, 1, 1]],
    "retrieved_texts": [["x", "y", "z"]] * 2,
}


def make_log(as_numbers, expected=("ba", "dx"), **others):
    """Return a table with a ranked list of each query, other lists, and the relevant ids."""
    lists = {"retrieved_ids": ("abc", "cde"), "expected_ids": expected}
    ids = {name: [[*map(ord if as_numbers else str, one)] for one in lists[name]] for name in lists}
    return pd.DataFrame({"query": ["q1", "q2"], "retrieved_ids": 0, **others} | ids)


@pytest.mark.parametrize("others", [*LISTS_OF_LOG, "all"])
@pytest.mark.parametrize("as_numbers", [False, True])
def test_lists_of_the_ranked_ids_are_none_of_truth(others, as_numbers, tmp_path):
    """The list that truth_item= names stands alone, next to a ranked list and its scores."""
    lists = LISTS_OF_LOG if others == "all" else {others: LISTS_OF_LOG[others]}
    log = make_log(as_numbers, **lists)
    log.to_json(tmp_path / "log.jsonl", orient="records", lines=True)
    recs = recframe.from_lists(log, items="retrieved_ids")
    options = {"truth_item": "expected_ids"}
    scan = recframe.scan(
        tmp_path / "log.jsonl", lists="retrieved_ids", truth=tmp_path / "log.jsonl", **options
    )
    for rec in (recs.rec(truth=log, **options), scan):
        assert 0.75 == rec.mean("recall@3").iloc[0, 0]


@pytest.mark.parametrize("label", ["relevance", "label", "labels"])
@pytest.mark.parametrize("as_numbers", [False, True])
def test_relevance_of_the_ranked_or_the_expected_ids(label, as_numbers):
    """Relevance as long as the lists of both is asked about, and both answers are right."""
    log = make_log(as_numbers, ("bax", "dcx"), **{label: [[0, 1, 0], [1, 1, 0]]})
    recs = recframe.from_lists(log, items="retrieved_ids")
    options = {"truth": log, "truth_item": "expected_ids"}
    with pytest.raises(RecframeError, match=f"'{label}' may say .* 'retrieved_ids'") as asked:
        recs.rec(**options).mean("recall@3")
    assert [None, label] == asked.value.answers["relevant"].candidates
    answers = {None: 2 / 3, label: 1.0}
    assert answers == {
        one: pytest.approx(recs.rec(**options, relevant=one).mean("recall@3").iloc[0, 0])
        for one in answers
    }


@pytest.mark.parametrize("as_numbers", [False, True])
def test_grades_next_to_the_only_ids(as_numbers):
    """Without a ranked list in its table, truth_item= has relevance in a parallel list."""
    log = make_log(as_numbers, relevance=[[0, 1], [2, 0]]).drop(columns="retrieved_ids")
    recs = recframe.from_lists(make_log(as_numbers), items="retrieved_ids")
    rec = recs.rec(truth=log, truth_item="expected_ids", min_relevance=1)
    assert 1.0 == rec.mean("recall@3").iloc[0, 0]


@pytest.mark.parametrize("options", [{}, {"truth_user": "ncodpers"}])
def test_the_user_next_to_lists_in_text(options):
    """The call shown for lists of truth in text names the only other column as the user."""
    frame = pd.DataFrame({"ncodpers": [1, 2], "added_products": ["p_a p_b", "p_b p_c"]})
    truth = frame.assign(added_products=["p_b p_x", "p_c"])
    recs = recframe.from_lists(frame, user="ncodpers", sep=" ")
    with pytest.raises(
        RecframeError, match=r"truth=recframe.from_lists\(truth, user='nco"
    ) as asked:
        recs.rec(truth=truth, **options).mean("recall@2")
    code = str(asked.value).partition("This answers all:\n")[2]
    assert "truth_user" not in code
    table = eval(code, {"df": recs, "truth": truth, "recframe": recframe})
    assert 0.75 == table.loc["score", "recall@2"]


@pytest.mark.parametrize("name", ["hit_rate", "mrr", "precision", "ndcg@5", "recall_at_2"])
def test_metrics_next_to_lists_are_no_relevance(name):
    """A column of truth named as a metric, next to lists of items, is not asked about."""
    log = make_log(False, **{name: [0, 1]})
    rec = recframe.from_lists(log, items="retrieved_ids").rec
    options = {"truth": log, "truth_item": "expected_ids"}
    assert 0.75 == rec(**options).mean("recall@3").iloc[0, 0]
    assert 0.5 == rec(**options, relevant=name).mean("mrr").iloc[0, 0]


@pytest.mark.parametrize("label", ["n_clicks", "fold", "week", "cost", "watch_time"])
def test_numbers_next_to_lists_of_truth_are_no_users(label):
    """Counts, folds and times next to lists of truth are not taken for its users."""
    rows = recframe.from_lists(pd.DataFrame({"user": range(20), "items": [["a", "b"]] * 20}))
    numbers = [n % 5 if label == "fold" else n for n in range(20)]
    truth = pd.DataFrame({"items": [["a"]] * 20, label: numbers})
    with pytest.raises(RecframeError, match="truth_user: no column found"):
        rows.rec(truth=truth).mean("recall@1")
    truth = truth.rename(columns={label: "member_ref"}).assign(member_ref=range(20))
    assert 1.0 == rows.rec(truth=truth).mean("recall@1").iloc[0, 0]


def test_a_separator_and_lists_that_numpy_wrote():
    """An explicit separator is for the text that has it; NumPy's lists have spaces."""
    frame = pd.DataFrame(
        {"user": [1, 2], "items": ["1,2", "2,3"], "scores": ["[0.9 0.1]", "[0.8 0.2]"]}
    )
    rows = recframe.from_lists(frame, items=["items", "scores"], sep=",")
    assert [0.9, 0.1, 0.8, 0.2] == rows["score"].tolist()
    quoted = frame.assign(items=["['10' '14']", "['9' '10']"])[["user", "items"]]
    assert [10, 14, 9, 10] == recframe.from_lists(quoted, sep=",")["item"].tolist()
