"""recframe.scan gives the description and the tables of the frame that files hold.

Tests of the accessor of recframe.scanned belong here, and those of reading files in tests/files.
"""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
from files.opening import open_files
from recframe.cli import main
from recframe.files.blocks import plan_blocks
from recframe.options import Options

SMALL = 64 << 10


@pytest.fixture
def frame():
    """Return 800 rows of 30 users in random order, with ties, nulls and grades."""
    rng = np.random.default_rng(8)
    n_rows = 800
    return pd.DataFrame(
        {
            "user": rng.integers(0, 30, n_rows),
            "item": range(n_rows),
            "knn_score": rng.random(n_rows).round(2),
            "other_score": np.where(rng.random(n_rows) < 0.1, np.nan, rng.integers(0, 9, n_rows)),
            "relevant": rng.random(n_rows) < 0.2,
        }
    )


def describe(path, k=10, memory=SMALL, **options):
    """Return the description of files."""
    return recframe.scan(path, memory=memory)(**options).describe(k)


def with_nulls(frame):
    """Return the frame with nulls in all columns, some in adjacent rows."""
    user = frame["user"].astype("Int64").mask(frame.index % 50 == 0)
    relevant = frame["relevant"].astype("boolean").mask(frame.index % 75 == 0)
    return frame.assign(user=user, relevant=relevant)


CHANGES = {
    "as it is": lambda frame: frame,
    "in order of users": lambda frame: frame.sort_values("user"),
    "users as text": lambda frame: frame.assign(user=frame["user"].astype("str")),
    "nulls": with_nulls,
    "no user at all": lambda frame: frame.assign(user=np.full(len(frame), np.nan)),
    "grades": lambda frame: frame.assign(relevant=frame["item"] % 4),
    "pairs repeated": lambda frame: frame.assign(item=frame["item"] // 40),
    "no rows": lambda frame: frame[:0],
}


@pytest.mark.parametrize("memory", [SMALL, 1 << 30])
@pytest.mark.parametrize("change", CHANGES)
def test_files_are_described_as_their_frame(frame, change, memory, tmp_path):
    """Files are described like their frame to the last bit, in one block and in many."""
    path = tmp_path / "run.parquet"
    CHANGES[change](frame).to_parquet(path, row_group_size=80, index=False)
    frame = pd.read_parquet(path)
    for options in (
        {},
        {"missing": "drop", "min_relevance": 2},
        {"duplicates": "max", "short": "shrink", "score": ["other_score"]},
    ):
        expected = frame.rec(**options).describe(k=5)

        pd.testing.assert_frame_equal(
            expected, describe(path, 5, memory, **options), check_exact=True
        )


@pytest.mark.parametrize("population", ["all", "rows"])
@pytest.mark.parametrize("n_pairs", [1, 40])
@pytest.mark.parametrize("grouped", [True, False])
def test_files_are_described_with_truth(frame, grouped, n_pairs, population, tmp_path):
    """Users and items of truth without rows are counted once, as in a frame."""
    path = tmp_path / "run.parquet"
    truth = frame.loc[::9, ["user", "item"]].assign(item=lambda rows: rows["item"] // n_pairs % 500)
    truth = pd.concat([truth, pd.DataFrame({"user": [35, 39], "item": [1, 2]})]).drop_duplicates()
    frame = frame.drop(columns="relevant").assign(item=frame["item"] // n_pairs)
    frame = frame.sort_values("user") if grouped else frame
    frame.to_parquet(path, row_group_size=80, index=False)
    options = {"truth": truth, "population": population, "missing": "unranked"}
    expected = frame.rec(**options).describe()

    pd.testing.assert_frame_equal(expected, describe(path, **options), check_exact=True)
    with pytest.raises(recframe.RecframeError, match="no user is in both the frame and truth"):
        describe(path, truth=truth[truth["user"] > 30], duplicates="max")


def test_one_ranking_is_described(frame, tmp_path):
    """Files without a user column are described as one ranking, with truth too."""
    path = tmp_path / "run.parquet"
    frame = frame.drop(columns="relevant")
    for rows in (frame, frame[:0]):
        rows.to_parquet(path, index=False)
        options = {"user": None, "truth": frame.loc[::7, ["item"]]}
        if len(rows):
            expected = rows.rec(**options).describe()
            pd.testing.assert_frame_equal(expected, describe(path, **options), check_exact=True)


def test_text_for_scores_is_refused(frame, tmp_path):
    """Files with text as scores are refused, like frames."""
    path = tmp_path / "run.parquet"
    frame.assign(knn_score="x").to_parquet(path)
    with pytest.raises(recframe.RecframeError, match="score='knn_score'"):
        describe(path, score="knn_score")


@pytest.mark.parametrize(
    ("change", "memory", "route"),
    [
        ("as it is", SMALL, "spill"),
        ("in order of users", SMALL, "sweep"),
        ("in order of users", 1 << 30, "sweep"),
        ("as it is", 1 << 30, "whole"),
        ("users as text", 1 << 30, "whole"),
        ("no user at all", 1 << 30, "whole"),
    ],
)
def test_the_route_is_known_beforehand(frame, change, memory, route, tmp_path):
    """The way of reading files is known from their footers and the memory limit."""
    path = tmp_path / "run.parquet"
    CHANGES[change](frame).to_parquet(path, row_group_size=80, index=False)

    assert route == plan_blocks(open_files(path, Options(), memory)).route


# Each way has the order of rows, the memory, and whether footers have the bounds of users.
ROUTES = {
    "sweep": ("in order of users", SMALL, True),
    "spill": ("users as text", SMALL, True),
    "whole": ("users as text", 1 << 30, False),
}
SEGMENTS = {"by": "country", "weights": "clicks"}
ARGUMENTS = {
    "evaluate": {"metrics": ["ndcg@4", "auc"]},
    "mean": {},
    "mean by": {"metrics": ["recall@4", "auc"], **SEGMENTS},
    "curve": {"metric": "precision"},
    "curve by": {"metric": "recall", "k": 3, **SEGMENTS},
    "summary": {},
    "summary by": {"metrics": "recall@3", **SEGMENTS},
    "compare": {"metrics": ["recall@4", "auc"]},
    "compare by": {"metrics": "recall@3", **SEGMENTS},
    "catalogue": {"k": 4},
    "overlap": {"k": 4},
    "overlap by rank": {"rbo": 0.9},
    "recall": {"k": 4},
    "dcg": {"k": 3, "offset": 2},
}


@pytest.fixture
def segmented(frame):
    """Return the frame with segments and weights of users."""
    country = pd.Series(["FR", "NL", "DE", None] * 8)
    user = frame["user"].to_numpy()
    return frame.assign(
        country=country.iloc[user].array, clicks=np.arange(40)[user], day=frame["item"] % 2 == 0
    )


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_files_have_every_method(segmented, name, route, tmp_path):
    """Every table equals the frame's bit for bit, for every way of reading."""
    change, memory, has_bounds = ROUTES[route]
    path = tmp_path / "run.parquet"
    frame = CHANGES[change](segmented)
    frame.to_parquet(path, row_group_size=80, index=False, write_statistics=has_bounds)
    frame = pd.read_parquet(path)
    options = {"missing": "unranked", "short": "shrink"}
    method = name.split()[0]
    expected = getattr(frame.rec(**options), method)(**ARGUMENTS[name])
    scanned = recframe.scan(path, memory=memory)(**options)

    assert f"  read      {route} " in repr(scanned)
    found = getattr(scanned, method)(**ARGUMENTS[name])
    pd.testing.assert_frame_equal(expected, found, check_exact=True)


@pytest.mark.parametrize("route", ROUTES)
def test_segments_that_are_categories(segmented, route, tmp_path):
    """Segments of categories are text in the tables, in its order, for every way of reading."""
    change, memory, has_bounds = ROUTES[route]
    path = tmp_path / "run.parquet"
    names = pd.CategoricalDtype(["NL", "FR", "DE", "unused"], ordered=True)
    frame = CHANGES[change](segmented.assign(country=segmented["country"].astype(names)))
    frame.to_parquet(path, row_group_size=80, index=False, write_statistics=has_bounds)
    options = {"missing": "unranked", "short": "shrink"}
    plain = pd.read_parquet(path).astype({"country": pd.Series([""]).dtype})
    expected = plain.rec(**options).compare(["recall@4"], by="country")

    found = recframe.scan(path, memory=memory)(**options).compare(["recall@4"], by="country")
    pd.testing.assert_frame_equal(expected, found, check_exact=True)


def test_segments_of_files_with_truth(segmented, tmp_path):
    """Users of truth without a row are in no country, and have the weight that a Series gives."""
    path = tmp_path / "run.parquet"
    truth = segmented.loc[::5, ["user", "item"]]
    truth = pd.concat([truth, pd.DataFrame({"user": [35, 39], "item": [1, 2]})])
    segmented.drop(columns="relevant").to_parquet(path, row_group_size=80, index=False)
    options = {"population": "all", "truth": truth, "missing": "unranked", "short": "pad"}
    weights = pd.Series(range(40), name="weight").rename_axis("user")
    frame = pd.read_parquet(path)
    expected = frame.rec(**options).mean("recall@4", by="country", weights=weights)

    scanned = recframe.scan(path, memory=SMALL)(**options)
    found = scanned.mean("recall@4", by="country", weights=weights)
    pd.testing.assert_frame_equal(expected, found, check_exact=True)
    with pytest.raises(recframe.RecframeError, match="by='day' must hold one value for each user"):
        scanned.mean("recall@4", by="day")


@pytest.mark.parametrize("user", [4, "4", "none", 99])
@pytest.mark.parametrize("route", ROUTES)
def test_one_user_of_files(frame, user, route, tmp_path):
    """`inspect` shows one user of files as of a frame, or refuses with known users."""
    change, memory, has_bounds = ROUTES[route]
    path = tmp_path / "run.parquet"
    frame = CHANGES[change](frame)
    frame.to_parquet(path, row_group_size=80, index=False, write_statistics=has_bounds)
    whole = pd.read_parquet(path).rec(missing="unranked")
    scanned = recframe.scan(path, memory=memory)(missing="unranked")
    kind = str if whole._frame["user"].dtype.kind not in "iu" else int
    if user == kind(4):
        assert repr(whole.inspect(user, 3)) == repr(scanned.inspect(user, 3))
    else:
        known = f"user={user!r}: no row has that id; ids of the column 'user' are such as '?[0-9]"
        with pytest.raises(recframe.RecframeError, match=known):
            scanned.inspect(user, 3)


def test_rows_without_a_user_do_not_hide_others(frame, tmp_path):
    """`inspect` shows a user although other rows have none, which an evaluation refuses."""
    path = tmp_path / "run.parquet"
    with_nulls(frame).drop(columns="relevant").assign(relevant=True).to_parquet(path)
    scanned = recframe.scan(path)(score="knn_score")

    n_rows = (with_nulls(frame)["user"] == 4).sum()
    assert n_rows == len(scanned.inspect(4, 3).tables["knn_score"])
    with pytest.raises(recframe.RecframeError, match="ids must not be null"):
        scanned.recall(k=1)


def test_row_sized_tables_are_left_out(tmp_path):
    """Methods with a row for each row of the files are missing, with an alternative."""
    scanned = recframe.scan("examples/example.parquet")
    for name in ("rank", "top", "judge"):
        assert not hasattr(scanned, name)
        assert name not in dir(scanned)
        with pytest.raises(AttributeError, match=rf"long as the rows.*, then df.rec.{name}\(\)"):
            getattr(scanned, name)
    with pytest.raises(AttributeError, match=r"did you mean recall\(\)"):
        scanned.recal  # noqa: B018 - the attribute is only looked up


def test_scanned_files_show_themselves(frame, tmp_path):
    """A scan shows its files, rows, row groups, columns and way of reading, without values."""
    for number in range(3):
        path = tmp_path / f"{number}.parquet"
        frame[number * 200 : number * 200 + 200].to_parquet(path, row_group_size=80, index=False)
    shown = repr(recframe.scan(tmp_path, memory=SMALL)).splitlines()

    assert "recframe.scan(source): 600 rows in 3 files, 9 row groups" == shown[0]
    assert "  score     inferred   'knn_score', 'other_score'" == shown[3]
    assert (
        "  read      spill      in any order, partitioned by user in a temporary file" == shown[5]
    )
    frame[:0].to_parquet(tmp_path / "empty.parquet")
    assert "read " not in repr(recframe.scan(tmp_path / "empty.parquet"))
    (tmp_path / "empty.parquet").unlink()
    unknown = recframe.scan(tmp_path)(score="none")
    assert repr(unknown).startswith("recframe.scan(source): 600 rows")
    assert "read " not in repr(unknown)
    path.unlink()
    gone = recframe.scan([tmp_path / "0.parquet", tmp_path / "1.parquet"])
    (tmp_path / "0.parquet").unlink()
    assert "<recframe.scan(source) of a frame that cannot be shown>" == repr(gone)


def test_messages_spell_the_call(frame, tmp_path):
    """A refusal suggests the option in the call that was made."""
    frame.rename(columns={"user": "u"}).to_parquet(tmp_path / "run.parquet")
    with pytest.raises(recframe.RecframeError, match=r"pass recframe.scan\(source\)\(user=...\)"):
        recframe.scan(tmp_path).mean()
    with pytest.raises(recframe.RecframeError, match=r"; pass user=..., where user is 'u' or None"):
        recframe.evaluate(tmp_path)
    with pytest.raises(recframe.RecframeError, match=r"^source: cannot read .*none: no such file"):
        recframe.scan(tmp_path / "none")
    for table in (frame, pa.table(frame)):
        for read in (recframe.scan, recframe.iter_evaluate):
            with pytest.raises(recframe.RecframeError, match=r"table in memory\. Pass it to rec"):
                read(table)


def test_options(frame, tmp_path):
    """A scan takes options like `recframe.rec`, and refuses them before reading files."""
    frame.to_parquet(tmp_path / "run.parquet")
    options = {"user": "user", "score": "other_score", "missing": "unranked", "short": "pad"}
    scanned = recframe.scan(tmp_path, memory=SMALL, **options)

    pd.testing.assert_frame_equal(recframe.rec(frame, **options).recall(4), scanned.recall(4))
    bound = recframe.scan(tmp_path)(**options)
    assert repr(bound) == repr(recframe.scan(tmp_path, **options))
    with pytest.raises(recframe.RecframeError, match="unknown option 'usr', did you mean 'user'"):
        recframe.scan(tmp_path / "none", usr="user")


def test_a_scan_is_an_accessor(frame, tmp_path):
    """A scan passed as a frame, or asked for `.rec`, is refused: it has the methods itself."""
    frame.to_parquet(tmp_path / "run.parquet")
    scanned = recframe.scan(tmp_path)
    with pytest.raises(AttributeError, match=r"no attribute 'rec': it has the methods of df.rec"):
        scanned.rec  # noqa: B018 - the attribute is only looked up
    for call in (recframe.rec, recframe.evaluate, recframe.scan):
        with pytest.raises(recframe.RecframeError, match=r"Accessor. Pass options as \w+\(ties"):
            call(scanned)


@pytest.mark.parametrize("ending", ["trec", "txt", "gz", "run"])
def test_a_run_of_trec(ending, tmp_path, capsys):
    """A TREC run is refused with the function and the command that read it."""
    path = tmp_path / f"bm25.{ending}"
    text = b"q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\n"
    path.write_bytes(gzip.compress(text) if ending == "gz" else text)
    with pytest.raises(recframe.RecframeError) as refusal:
        recframe.scan(path).recall(1)
    call = f"it is a TREC run. Pass recframe.read_run({str(path)!r}) to recframe.rec"
    message = f"{call}, or run recframe trec QRELS {path}"
    assert str(refusal.value).endswith(message)
    assert 2 == len(recframe.read_run(str(path)))
    assert 1 == main(["evaluate", str(path)])
    assert capsys.readouterr().err.endswith(f"{message}\n")
    path.write_bytes(b"q1 Q0 d1 1 x bm25\n")
    with pytest.raises(recframe.RecframeError, match=r"bm25.*: (?!it is a run)"):
        recframe.scan(path).recall(1)


def test_qrels_of_trec(frame, tmp_path, capsys):
    """TREC qrels are refused with the function and the command that read them."""
    path, other = tmp_path / "qrels.txt", tmp_path / "u.txt"
    path.write_text("q1 0 d1 1\nq1 0 d2 0\n")
    other.write_text("196\t242\t3\t881250949\n")
    frame.to_parquet(tmp_path / "run.parquet")
    assert 1 == main(["evaluate", str(tmp_path / "run.parquet"), "--truth", str(path)])
    call = f"Run recframe trec {path} RUN, or pass truth=recframe.read_qrels({str(path)!r})"
    assert f"these are TREC qrels. {call} in Python" in capsys.readouterr().err
    with pytest.raises(recframe.RecframeError, match=r"not a parquet file[.;] [Pp]ass pd"):
        recframe.scan(other).recall(1)


def test_pairs_of_nobody_are_refused_by_a_description(frame, tmp_path):
    """`describe` refuses `exclude` and truth that share no user with files, as with frames."""
    frame.to_parquet(tmp_path / "0.parquet")
    nobody = pd.DataFrame({"user": [97, 98], "item": [1, 2]})
    for name in ("exclude", "truth"):
        options = {name: nobody, "score": "knn_score"}
        options |= {"relevant": None} if name == "truth" else {}
        with pytest.raises(recframe.RecframeError, match=name) as of_frame:
            frame.rec(**options).describe(2)
        with pytest.raises(recframe.RecframeError, match=name) as of_files:
            describe(tmp_path, 2, **options)

        assert str(of_frame.value) == str(of_files.value)


def test_text_in_a_column_of_numbers(tmp_path):
    """Scores of csv that are text in one cell are refused with the reason."""
    lines = [f"{user},{item},{item / 4},1" for user in "ab" for item in range(4)]
    lines[5] = "b,1,n.a.,0"
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["user,item,score,relevant", *lines, ""]))
    with pytest.raises(recframe.RecframeError, match=r"one cell such as '-'|such as 'n\.a\.'"):
        recframe.scan(path).mean("mrr")
