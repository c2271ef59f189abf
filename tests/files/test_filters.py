"""Argument `filters`: files give the results of a frame filtered before; others are not read."""

import datetime
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import recframe
from files.layouts import FEW
from recframe.files import source_files
from recframe.files.filters import COMPARISONS

MEMORY = 40_000  # bytes, so that files have several blocks
DAYS = [datetime.date(2026, 11, day) for day in range(1, 7)]


@pytest.fixture
def rows(large):
    """Return rows of many users on several days, in order of users and of days."""
    rows = large.assign(item=large.groupby("user").cumcount())
    day = pd.Series(DAYS)[np.arange(300) // 50].to_numpy()
    at = pd.to_datetime(pd.Series(day)).to_numpy().astype("datetime64[us]")
    parts = pd.Categorical(np.where(rows["item"] % 2, "b", "a"))
    return rows.assign(day=day, at=at, part=parts, low=(rows["item"] % 3 / 10).astype("float32"))


FILTERS = {
    "days": ([("day", ">=", "2026-11-03")], lambda rows: rows["day"] >= DAYS[2]),
    "dates": ([("day", "in", [DAYS[0], DAYS[5]])], lambda rows: rows["day"].isin(DAYS[::5])),
    "times": ([("at", "<", "2026-11-02")], lambda rows: rows["at"] < "2026-11-02"),
    "times of pandas": (
        [("at", "==", pd.Timestamp("2026-11-02"))],
        lambda rows: rows["at"] == "2026-11-02",
    ),
    "both": (
        [("item", "<", 5), ("other_score", ">", 1)],
        lambda rows: (rows["item"] < 5) & (rows["other_score"] > 1),
    ),
    "either": (
        [[("item", "=", 1)], [("item", "not in", {0, 1, 2})]],
        lambda rows: (rows["item"] == 1) | ~rows["item"].isin([0, 1, 2]),
    ),
    "floats": ([("item", ">", 2.5)], lambda rows: rows["item"] > 2.5),
    "short floats": ([("low", "==", 0.1)], lambda rows: rows["low"] == np.float32(0.1)),
    "categories": ([("part", "in", ["a"])], lambda rows: rows["part"] == "a"),
    "users": ([("user", "!=", "user 007")], lambda rows: rows["user"] != "user 007"),
    "relevance": ([("relevant", "==", True)], lambda rows: rows["relevant"]),
    "expression": (pc.field("day") > DAYS[3], lambda rows: rows["day"] > DAYS[3]),
}


@pytest.mark.parametrize(
    ("ending", "name"),
    [*(("parquet", name) for name in FILTERS), *(("csv", name) for name in ("days", "either"))],
)
def test_filtered_files_give_what_a_filtered_frame_gives(rows, tmp_path, ending, name):
    """Filtered files give the results of a filtered frame in every table."""
    filters, keep = FILTERS[name]
    path = tmp_path / f"run.{ending}"
    if ending == "parquet":
        rows.to_parquet(path, row_group_size=20)
    else:
        rows.to_csv(path, index=False)
    kept = rows[keep(rows)].astype({"other_score": "int64"})
    found = recframe.scan(path, memory=MEMORY, filters=filters)(short="pad")

    pd.testing.assert_frame_equal(kept.rec(short="pad").evaluate(FEW), found.evaluate(FEW))
    shown = found.describe(2)
    assert len(kept) == shown.loc["rows"].iloc[0]


def test_truth_of_users_that_a_filter_leaves_out(rows, tmp_path):
    """Users of truth without a matching row are absent users."""
    rows.to_parquet(tmp_path / "run.parquet", row_group_size=20)
    truth, kept = rows.loc[rows["relevant"], ["user", "item"]], rows[rows["day"] == DAYS[0]]
    options = {"population": "all", "truth": truth, "short": "pad"}

    pd.testing.assert_frame_equal(
        kept.rec(**options).recall(2),
        recframe.scan(tmp_path, filters=[("day", "==", "2026-11-01")])(**options).recall(2),
    )


def read_parts(monkeypatch):
    """Return a list; each read adds the file's number of row groups, and which ones it read."""
    noted = []

    class Noting(pq.ParquetFile):
        def iter_batches(self, size=65536, row_groups=None, *args, **options):
            noted.append((self.metadata.num_row_groups, list(row_groups)))
            return super().iter_batches(size, row_groups, *args, **options)

    monkeypatch.setattr(source_files.pq, "ParquetFile", Noting)
    return noted


@pytest.mark.parametrize("users", ["text", "categories"])
def test_row_groups_that_cannot_match_are_not_read(rows, tmp_path, monkeypatch, users):
    """Row groups whose statistics rule out a match are not read, also if users are categories."""
    rows = rows.astype({"user": "category"}) if users == "categories" else rows
    rows.to_parquet(tmp_path / "run.parquet", row_group_size=50)
    noted = read_parts(monkeypatch)
    recframe.scan(tmp_path, filters=[("day", ">", "2026-11-04")])(short="pad").recall(2)

    assert {4, 5} == {number for _, numbers in noted for number in numbers}


def test_files_that_cannot_match_are_not_opened(frame, tmp_path):
    """Files whose folders rule out a match are not opened, so damage in them does not matter."""
    for day in (1, 2, 3):
        folder = tmp_path / f"day={day}" / "country=NL"
        folder.mkdir(parents=True)
        frame.assign(score=frame["score"] * day).to_parquet(folder / "run.parquet")
    (tmp_path / "day=3" / "country=NL" / "run.parquet").write_bytes(b"damaged")
    runs = recframe.scan(tmp_path, filters=[("day", "<", 3), ("day", "!=", 1)])

    assert "8 rows in 1 file" in repr(runs)
    pd.testing.assert_frame_equal(frame.rec.recall(1), runs.recall(1))
    of_both = recframe.scan(tmp_path, filters=[("day", "==", 2), ("item", "<", 3)])
    assert "up to 8 rows in 1 file" in repr(of_both)
    pd.testing.assert_frame_equal(frame[frame["item"] < 3].rec.recall(1), of_both.recall(1))


def test_a_filter_that_nothing_matches(frame, tmp_path):
    """A filter without a matching row is refused, because its table would mislead."""
    frame.to_parquet(tmp_path / "run.parquet")
    frame.to_csv(tmp_path / "run.csv", index=False)
    truth = frame[["user", "item"]]
    for name in ("item", "score"):
        for ending in ("parquet", "csv"):
            path = tmp_path / f"run.{ending}"
            runs = recframe.scan(path, filters=[(name, ">", 99)])
            for bound in (runs, runs(truth=truth, relevant=None, short="pad")):
                with pytest.raises(recframe.RecframeError, match="filters: no row of the files"):
                    bound.recall(1)


def test_nulls_do_not_match(frame, tmp_path):
    """Rows with a null in a compared column are left out."""
    noted = frame.assign(note=["x", None] * 4)
    noted.to_parquet(tmp_path / "run.parquet")
    runs = recframe.scan(tmp_path, filters=[("note", "!=", "y")])

    pd.testing.assert_frame_equal(frame[::2].rec.recall(1), runs.recall(1))


def test_progress_ends_at_all_rows(rows, tmp_path):
    """Rows that do not match count as done."""
    rows.to_parquet(tmp_path / "run.parquet")
    told = []
    filters = [("item", "<", 3)]
    progress = {"progress": lambda *done: told.append(done)}
    recframe.scan(tmp_path, filters=filters, **progress)(short="pad").recall(2)

    assert (300, 300) == told[-1]


def test_rows_that_match_keep_their_order(tmp_path):
    """Rows keep their order after a filter, which decides ties by row order."""
    n_rows = 200_000
    frame = pd.DataFrame({"user": 1, "n": np.arange(n_rows), "score": 1.0, "relevant": False})
    frame.loc[[9, n_rows - 9], "relevant"] = True
    frame.to_parquet(tmp_path / "run.parquet")
    options = {"ties": "first", "user": "user"}
    runs = recframe.scan(tmp_path, filters=[("n", "!=", 5)])(**options)

    pd.testing.assert_frame_equal(
        frame.drop(5).rec(**options).reciprocal_rank(), runs.reciprocal_rank()
    )
    assert 1 / 9 == runs.reciprocal_rank().iloc[0, 0]
    assert n_rows - 1 == runs.describe(5).loc["rows"].iloc[0]


REFUSED = [
    ([("dya", "==", 1)], "'dya': no such column; the files have .*; did you mean 'day'?"),
    ([("day", "==", "x")], r"'day' must be of its type date32\[day\], but is 'x'"),
    ([("item", "in", ["x"])], "'item' must be of its type int64, but is 'x'"),
    ([("item", "==", "x")], "'item' must be of its type int64, but is 'x'"),
    ([("low", ">", "0.5")], "'low' must be of its type float, but is '0.5'"),
    ([("relevant", "==", "True")], "'relevant' must be of its type bool, but is 'True'"),
    ([("relevant", "==", 2)], "'relevant' must be of its type bool, but is 2"),
    ([("day", "in", [20240102])], r"'day' must be of its type date32\[day\], but is 20240102"),
    ([("item", "~", 1)], "the operator of 'item' must be one of ==, =, .* in, not in, but is '~'"),
    ([("item", "in", 5)], "'item' in takes a list of values, not 5"),
    ([("item", "==", [5])], r"'item' == takes one value, not \[5\]"),
    ([("item", "==", None)], "'item' == takes one value, not None"),
    (("item", "==", 1), r"must be a list of \(column, operator, value\).*'item'"),
    ([], r"must be a list of .*, but is \[\]"),
    ([[]], "an empty list"),
    ("item > 1", "must be a list of .*, but is 'item > 1'"),
    (pc.field("item"), "item cannot be evaluated: .*bool"),
    (pc.field("nope") > 1, r"\(nope > 1\) cannot be evaluated: No match for FieldRef.Name\(nope"),
]


@pytest.mark.parametrize(("filters", "match"), REFUSED)
def test_refusals(rows, tmp_path, filters, match):
    """Invalid filters are refused before anything is read."""
    rows.to_parquet(tmp_path / "run.parquet")

    with pytest.raises(recframe.RecframeError, match=f"^filters.*{match}"):
        recframe.scan(tmp_path, filters=filters)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize(("sign", "value"), [("!=", "a"), ("not in", ["a"])])
def test_no_condition_finds_nulls(rows, tmp_path, sign, value, ending):
    """A null satisfies neither != nor not in, as in SQL."""
    part = rows["part"].astype(object).where(rows["item"] % 3 > 0)
    path = tmp_path / f"run.{ending}"
    getattr(rows.assign(part=part), f"to_{ending}")(path, index=False)
    found = recframe.scan(path, filters=[("part", sign, value)]).describe(1).loc["rows"].iloc[0]
    assert (part == "b").sum() == found


DECIMALS = [Decimal(n) / 100 for n in range(100)]


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize(
    "value", [0.35, 0.41, 1, np.int64(1), 1e9, Decimal("0.47"), 0, 0.345, 1 / 3]
)
def test_decimals(rows, tmp_path, value, sign):
    """A number for a column of decimals is meant as it is written, also with more digits."""
    frame = rows.assign(price=[DECIMALS[n % 100] for n in range(len(rows))])
    table = pa.Table.from_pandas(frame)
    at = table.schema.get_field_index("price")
    price = table["price"].cast(pa.decimal128(10, 2))
    pq.write_table(table.set_column(at, "price", price), tmp_path / "run.parquet")
    call = partial(recframe.scan, tmp_path, filters=[("price", sign, value)])
    if sign in ("==", "!=") and value in (0.345, 1 / 3):
        with pytest.raises(recframe.RecframeError, match=r"type decimal128\(10, 2\), but is 0\.3"):
            call()
        return
    expected = int(COMPARISONS[sign](frame["price"], Decimal(str(value))).sum())
    if expected == 0:
        with pytest.raises(recframe.RecframeError, match="no row of the files matches"):
            call().describe(1)
    else:
        assert expected == call().describe(1).loc["rows"].iloc[0]


@pytest.mark.parametrize(("sign", "n_rows"), [("in", 200), ("not in", 100)])
def test_null_in_a_list(rows, tmp_path, sign, n_rows):
    """A null in a list of values finds nulls, of booleans too."""
    values = [None, True, False] * 100
    rows.assign(ok=pd.array(values, "boolean")).to_parquet(tmp_path / "run.parquet")
    scan = recframe.scan(tmp_path, filters=[("ok", sign, [True, None])])
    assert n_rows == scan.describe(1).loc["rows"].iloc[0]


@pytest.mark.parametrize(("sign", "value"), [("==", "a"), ("!=", "a"), ("in", ["a"])])
def test_views_of_text(rows, tmp_path, sign, value):
    """Text in views, as Delta writes it, is compared too."""
    table = pa.Table.from_pandas(rows.assign(part=rows["part"].astype(str)), preserve_index=False)
    at = table.schema.get_field_index("part")
    views = table.set_column(at, "part", table["part"].cast(pa.string_view()))
    try:
        pq.write_table(views, tmp_path / "run.parquet", row_group_size=50)
    except pa.ArrowNotImplementedError as error:
        pytest.skip(str(error))
    found = recframe.scan(tmp_path, filters=[("part", sign, value)]).mean("mrr")
    is_part = rows["part"] == "a"
    expected = rows[~is_part if sign == "!=" else is_part].rec.mean("mrr")
    pd.testing.assert_frame_equal(expected, found)


@pytest.mark.parametrize(("sign", "value"), [("==", 7), ("in", [7])])
def test_numbers_for_the_text_of_folders(frame, tmp_path, sign, value):
    """A number is refused as the value of folders whose names are text, such as day=007."""
    (tmp_path / "day=007").mkdir()
    frame.to_parquet(tmp_path / "day=007" / "run.parquet")
    with pytest.raises(recframe.RecframeError, match="7 for 'day' cannot be evaluated, as"):
        recframe.scan(tmp_path, filters=[("day", sign, value)])
    text = "007" if sign == "==" else ["007"]
    runs = recframe.scan(tmp_path, filters=[("day", sign, text)])
    pd.testing.assert_frame_equal(frame.rec.recall(1), runs.recall(1))


def test_a_file_that_lacks_a_column_of_the_filter(frame, tmp_path):
    """The refusal names a file without a column of the filter, and the columns it has."""
    frame.assign(day=1).to_parquet(tmp_path / "a.parquet")
    frame.to_parquet(tmp_path / "b.parquet")

    with pytest.raises(recframe.MissingColumnError, match=r"'day': no such column in .*b.parquet"):
        recframe.scan(tmp_path, filters=[("day", "==", 1)]).recall(1)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Amsterdam"])
def test_times_of_a_zone(frame, tmp_path, zone):
    """A time without a zone is in the zone of its column, as in pandas."""
    at = pd.date_range("2026-11-01", periods=8, freq="6h", tz=zone)
    pq.write_table(pa.Table.from_pandas(frame.assign(at=at)), tmp_path / "run.parquet")
    of_utc = at[4].tz_convert("UTC").isoformat()

    for text in ("2026-11-02", of_utc):
        runs = recframe.scan(tmp_path, filters=[("at", ">=", text)])
        pd.testing.assert_frame_equal(frame[4:].rec.recall(1), runs.recall(1))


DATED = pd.DataFrame({"user": ["a", "a", "b", "b"], "item": [*"xyxy"], "score": [2, 1, 2, 1]})
DATED["relevant"] = [1, 0, 0, 1]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("cells", "value", "n_users"),
    [
        (("2024-01-02 08:00:00", "2024-01-03 08:00:00"), "2024-01-02T00:00:00", 2),
        (("2024-01-02T00:00:00.000", "2024-01-03T00:00:00.000"), "2024-01-03", 1),
        (("2024-01-02", "2024-01-03"), "2024-01", 2),
        (("2024-01-02T00:00:00Z", "2024-01-02T23:00:00Z"), "2024-01-02T21:00:00+02:00", 1),
    ],
)
def test_dates_in_text_are_compared_as_times(tmp_path, ending, cells, value, n_users):
    """Text is not before or after a date by its characters, such as a space and a T."""
    rows, path = DATED.assign(at=np.repeat(cells, 2)), tmp_path / f"rows.{ending}"
    writers = {"csv": rows.to_csv, "parquet": rows.to_parquet}
    if ending == "jsonl":
        rows.to_json(path, orient="records", lines=True)
    else:
        writers[ending](path, index=False)
    table = recframe.scan(path, filters=[("at", ">=", value)]).evaluate("mrr")

    assert n_users == len(table)


@pytest.mark.parametrize(
    ("cells", "value", "match"),
    [
        (("31.12.2023", "02.01.2024"), "01.01.2024", "which do not order dates such as 01.01.2024"),
        (("2024-1-9", "2024-1-10"), "2024-1-10", "which do not order dates such as 2024-1-10"),
        (("31.12.2023", "2024-01-02"), "2024-01-01", r"not so in .*rows.csv: .*'31.12.2023'"),
        (("2024-01-02", "2024-01-03"), "2024-13-01", "'at': 2024-13-01 is no date"),
    ],
)
def test_text_that_is_not_ordered(tmp_path, cells, value, match):
    """A filter refuses to order text by its characters, with a remedy."""
    DATED.assign(at=np.repeat(cells, 2)).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(recframe.RecframeError, match=match):
        recframe.scan(tmp_path / "rows.csv", filters=[("at", ">", value)]).evaluate("mrr")


def test_days_of_folders_in_several_forms(tmp_path):
    """Days in the names of folders must be written in one form to be before or after another."""
    for day in ("2024-1-9", "2024-01-10"):
        (tmp_path / f"day={day}").mkdir()
        DATED.to_parquet(tmp_path / f"day={day}" / "rows.parquet")
    with pytest.raises(recframe.RecframeError, match=r"not so in the name of a folder: .*2024-1-9"):
        recframe.scan(tmp_path, filters=[("day", ">=", "2024-01-10")])


def test_a_folder_of_namibia(tmp_path):
    """Text that means a null in csv is a value in the name of a folder."""
    for country in ("NA", "NL"):
        (tmp_path / f"country={country}").mkdir()
        rows = DATED.assign(user=DATED["user"] + country)
        rows.to_csv(tmp_path / f"country={country}" / "rows.csv", index=False)
    table = recframe.scan(tmp_path, filters=[("country", "==", "NA")]).evaluate("mrr")

    assert ["aNA", "bNA"] == table.index.tolist()


def test_nulls_of_csv_next_to_lists(tmp_path):
    """A value that means a null in csv is refused in a file of lists too, but not for != ."""
    lists = pd.DataFrame({"user": ["a", "b"], "items": ["x y", "y x"], "at": ["NA", "BE"]})
    lists.to_csv(tmp_path / "lists.csv", index=False)
    truth = DATED.loc[DATED["relevant"] == 1, ["user", "item"]]

    def scan(sign):
        return recframe.scan(
            tmp_path / "lists.csv",
            filters=[("at", sign, "NA")],
            lists="items",
            sep=" ",
            truth=truth,
            population="rows",
        )

    with pytest.raises(recframe.RecframeError, match="'NA' in a csv stands for a null"):
        scan("==")
    with pytest.raises(recframe.RecframeError, match="'NA' in a csv stands for a null"):
        recframe.scan(tmp_path / "lists.csv", lists=None, filters=[("at", "in", ["BE", "NA"])])

    assert ["b"] == scan("!=").evaluate("mrr").index.tolist()


def test_one_text_in_all_rows_of_a_row_group(tmp_path):
    """Text that is no date is refused by the filter's name also if statistics show it."""
    DATED.assign(at="unknown").to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(recframe.RecframeError, match=r"^filters: text is compared with a date as"):
        recframe.scan(tmp_path / "rows.parquet", filters=[("at", ">", "2026-01-15")]).evaluate(
            "mrr"
        )


def test_an_expression_that_fails_on_rows(tmp_path):
    """A caller's expression that fails has Arrow's reason, and nothing is said of dates."""
    DATED.to_parquet(tmp_path / "rows.parquet")
    numbers = pc.field("item").cast(pa.int64()) > 1
    with pytest.raises(
        recframe.RecframeError, match=r"^(?!.*dates).*Failed to parse string: '[xy]' as"
    ):
        recframe.scan(tmp_path / "rows.parquet", filters=numbers).evaluate("mrr")


def test_filters_of_rare_rows(tmp_path):
    """Filters may leave no row at the places that are looked at."""
    n_rows = 80_000
    rows = pd.DataFrame({"user": np.arange(n_rows) // 10, "item": np.arange(n_rows) % 10})
    rows["score"] = np.random.default_rng(0).random(n_rows)
    rows["relevant"] = rows["item"] % 3 == 0
    rows["country"] = np.where(rows["user"] % 1_000 < 900, "NL", "BE")
    path = tmp_path / "rows.parquet"
    rows.to_parquet(path, row_group_size=20_000)

    table = recframe.scan(path, filters=[("country", "==", "BE")]).mean("mrr")
    pd.testing.assert_frame_equal(rows[rows["country"] == "BE"].rec.mean("mrr"), table)
