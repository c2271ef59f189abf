"""Tables of a lakehouse: their live files, or a refusal, never the files of earlier versions."""

import json
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import recframe
from files.layouts import SMALL, save_user


def mark_delta(root):
    """Write the mark of a Delta table."""
    (root / "_delta_log").mkdir()
    (root / "_delta_log" / "00000000000000000000.json").touch()


def mark_iceberg(root):
    """Write the mark of an Iceberg table."""
    (root / "metadata").mkdir()
    (root / "metadata" / "v1.metadata.json").touch()


def mark_hudi(root):
    """Write the mark of a Hudi table."""
    (root / ".hoodie").mkdir()


MARKED = {
    mark_delta: "the Delta table .*t, where files of earlier .*; pass the folder .*/t$",
    mark_iceberg: r"the Iceberg table .*/t, .*pyiceberg, table.scan\(\).to_pandas\(\), and",
    mark_hudi: "the Hudi table .*/t, .*read it with Spark",
}
PARTS = {
    "a folder above": "",
    "a folder below": "t/data",
    "a pattern": "t/*/*.parquet",
    "a pattern above": "**/*.parquet",
    "one file by a pattern": "t/data/0*.parquet",
    "a link into it": "link",
    "a link in it": "t/data/away",
}


@pytest.fixture
def table(tmp_path):
    """Return a folder of files in the layout of lakehouse tables, without a mark."""
    for name in ("0", "1"):
        save_user(tmp_path / "t" / "data" / f"{name}.parquet", f"user {name}")
    return tmp_path / "t"


@pytest.mark.parametrize("mark", MARKED)
@pytest.mark.parametrize("part", PARTS)
def test_parts_of_a_table_are_refused(tmp_path, table, mark, part):
    """Folders inside a table, and folders that contain a table, are refused."""
    mark(table)
    where = tmp_path / PARTS[part]
    if where.name == "link":
        where.symlink_to(table / "data")
    if where.name == "away":
        save_user(tmp_path / "elsewhere" / "0.parquet", "ann")
        where.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(recframe.RecframeError, match="cannot read .*part of " + MARKED[mark]):
        recframe.evaluate(where)


@pytest.mark.parametrize("mark", [mark_iceberg, mark_hudi])
def test_tables_that_are_refused(table, mark, capsys):
    """A table is refused with a remedy, for rows and for truth."""
    mark(table)
    with pytest.raises(recframe.RecframeError, match="cannot read .*/t: it is " + MARKED[mark]):
        recframe.evaluate(table)
    frame = pd.DataFrame({"user": [1], "item": [1], "score": [1.0]})
    for where, part in ((table, ""), (table / "data", "part of ")):
        expected = f"^truth: cannot read .*: it is {part}" + MARKED[mark]
        with pytest.raises(recframe.RecframeError, match=expected):
            recframe.evaluate(frame, truth=where)
    from recframe.cli import main

    assert 1 == main(["evaluate", str(table)])
    assert "recframe: cannot read" in capsys.readouterr().err


@pytest.mark.parametrize("mark", MARKED)
def test_one_file_of_a_table(table, mark):
    """One file of a table is read if named; two are refused: a shell may have listed them."""
    mark(table)
    files = sorted((table / "data").iterdir())
    assert ["user 0"] == recframe.evaluate(files[0], ["recall@1"]).index.tolist()
    with pytest.raises(recframe.RecframeError, match=r"cannot read .*1.parquet: it is part of"):
        recframe.evaluate(files)


def test_a_folder_named_metadata(table):
    """A folder named metadata marks an Iceberg table only if it has Iceberg's files."""
    (table / "_metadata").mkdir()
    (table / "metadata").mkdir()
    save_user(table / "metadata" / "0.parquet", "ann")

    assert 3 == len(recframe.evaluate(table, ["recall@1"]))


def test_delta_without_the_extra(table, monkeypatch):
    """The refusal of a Delta table names the extra if deltalake is not installed."""
    mark_delta(table)
    monkeypatch.setitem(sys.modules, "deltalake", None)
    message = r"cannot read .*/t: .*deltalake.*pip install 'recframe\[delta\]'"
    with pytest.raises(recframe.RecframeError, match=message):
        recframe.evaluate(table)
    with pytest.raises(recframe.RecframeError, match="^truth: " + message):
        recframe.evaluate(pd.DataFrame({"user": [1], "item": [1], "score": [1.0]}), truth=table)


@pytest.fixture
def rows():
    """Return 200 rows of 20 users, with columns to partition a table by."""
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "user": [f"{number:03}" for number in rng.integers(0, 20, 200)],
            "item": rng.permutation(200),
            "score": rng.random(200),
            "relevant": rng.random(200) < 0.3,
            "day": pd.to_datetime("2024-01-01").date(),
            "shop": rng.integers(0, 3, 200),
        }
    )


def overwritten(delta, root, rows):
    """Write a table over the files of an earlier version."""
    delta.write_deltalake(root, rows.assign(score=1.0))
    delta.write_deltalake(root, rows, mode="overwrite")


def appended(delta, root, rows):
    """Write two live files."""
    delta.write_deltalake(root, rows[:90])
    delta.write_deltalake(root, rows[90:], mode="append")


def deleted(delta, root, rows):
    """Write a file and delete some rows, which rewrites it."""
    appended(delta, root, rows)
    delta.DeltaTable(root).delete("item < 50")


def vacuumed(delta, root, rows):
    """Write a table whose folder has live files only."""
    deleted(delta, root, rows)
    delta.DeltaTable(root).vacuum(0, dry_run=False, enforce_retention_duration=False)


def checkpointed(delta, root, rows):
    """Write a log with a checkpoint."""
    deleted(delta, root, rows)
    delta.DeltaTable(root).create_checkpoint()
    (root / "_delta_log" / "00000000000000000000.json").unlink()


def by_user(delta, root, rows):
    """Write a table partitioned by users, which are texts of digits."""
    delta.write_deltalake(root, rows.assign(score=1.0), partition_by=["user"])
    delta.write_deltalake(root, rows, partition_by=["user"], mode="overwrite")


def by_odd_users(delta, root, rows):
    """Write a table partitioned by users whose names need escapes in folders."""
    odd = {"000": "a/b", "001": "ü %41", "002": "x=1", "003": "a'b\"c"}
    by_user(delta, root, rows.assign(user=rows["user"].replace(odd)))


def by_numbers(delta, root, rows):
    """Write a table partitioned by numeric users and relevance."""
    rows = rows.assign(user=rows["user"].astype("int16"))
    delta.write_deltalake(root, rows, partition_by=["user", "relevant"])


def by_dates(delta, root, rows):
    """Write a table partitioned by users that are dates."""
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rows["user"].astype(int), "D")
    rows = pa.table({**rows.to_dict("list"), "user": pa.array(day.dt.date)})
    delta.write_deltalake(root, rows, partition_by=["user"])


def by_what_plays_no_role(delta, root, rows):
    """Write a table partitioned by a column without a role."""
    delta.write_deltalake(root, rows, partition_by=["day", "shop"])


def wider(delta, root, rows):
    """Write an old file without the scores of a later model."""
    delta.write_deltalake(root, rows[:90])
    later = rows[90:].assign(new_score=rows["score"] / 2)
    delta.write_deltalake(root, later, mode="append", schema_mode="merge")


DELTA = [
    *(overwritten, appended, deleted, vacuumed, checkpointed, by_user, by_odd_users, by_numbers),
    *(by_dates, by_what_plays_no_role, wider),
]


@pytest.mark.parametrize("memory", [SMALL, "1GiB"])
@pytest.mark.parametrize("write", DELTA, ids=lambda write: write.__name__)
def test_a_delta_table_is_the_table_it_is(tmp_path, rows, write, memory):
    """A Delta table gives the result of its frame, bit for bit."""
    delta = pytest.importorskip("deltalake")
    root = tmp_path / "t"
    write(delta, root, rows)
    frame = delta.DeltaTable(root).to_pyarrow_table().to_pandas()
    options = {"missing": "unranked", "short": "pad"}
    expected = recframe.evaluate(frame, ["recall@2", "ndcg"], **options)
    where = root if memory == SMALL else [f"{root}/"]
    actual = recframe.evaluate(where, ["recall@2", "ndcg"], memory=memory, **options)
    pd.testing.assert_frame_equal(expected, actual, check_exact=True)


def test_row_order_of_a_delta_table(tmp_path, rows):
    """The row order of a Delta table, which breaks ties, is that in which it is read."""
    delta = pytest.importorskip("deltalake")
    deleted(delta, tmp_path, rows.assign(score=1.0))
    frame = delta.DeltaTable(tmp_path).to_pyarrow_table().to_pandas()
    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@2"], ties="first", short="pad"),
        recframe.evaluate(tmp_path, ["recall@2"], ties="first", short="pad"),
    )


def test_a_column_added_later_is_null_before(tmp_path, rows):
    """Scores that old files lack are null, which is refused as in a frame."""
    delta = pytest.importorskip("deltalake")
    wider(delta, tmp_path, rows)
    with pytest.raises(recframe.RecframeError, match=r"'new_score'.*90"):
        recframe.evaluate(tmp_path, ["recall@1"])


def test_truth_of_a_delta_table(tmp_path, rows):
    """Truth may be a Delta table."""
    delta = pytest.importorskip("deltalake")
    deleted(delta, tmp_path, rows)
    truth = delta.DeltaTable(tmp_path).to_pyarrow_table().to_pandas()
    frame = rows.drop(columns="relevant")
    pd.testing.assert_frame_equal(
        recframe.evaluate(frame, ["recall@2"], truth=truth, short="pad"),
        recframe.evaluate(frame, ["recall@2"], truth=tmp_path, short="pad"),
    )


def test_several_delta_tables(tmp_path, rows):
    """A list may name several tables, and files too."""
    delta = pytest.importorskip("deltalake")
    overwritten(delta, tmp_path / "1", rows[:90])
    overwritten(delta, tmp_path / "2", rows[90:150])
    rows[150:].to_parquet(tmp_path / "3.parquet")
    where = [tmp_path / name for name in ("1", "2", "3.parquet")]
    pd.testing.assert_frame_equal(
        recframe.evaluate(rows, ["recall@2"], short="pad"),
        recframe.evaluate(where, ["recall@2"], short="pad"),
    )
    with pytest.raises(recframe.RecframeError, match=r"parquet is named twice"):
        recframe.evaluate([tmp_path / "1", tmp_path / "1"])


def write_log(root, *actions, **protocol):
    """Write the log of a Delta table by hand, with one existing file."""
    fields = [("user", "string"), ("score", "double"), ("relevant", "long")]
    fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in fields]
    metadata = {"id": "x", "format": {"provider": "parquet", "options": {}}, "configuration": {}}
    metadata |= {"partitionColumns": [], "createdTime": 1}
    metadata["schemaString"] = json.dumps({"type": "struct", "fields": fields})
    if protocol.get("minReaderVersion") == 2:
        for number, field in enumerate(fields):
            mapped = {"id": number, "physicalName": f"col-{number}"}
            field["metadata"] = {f"delta.columnMapping.{key}": mapped[key] for key in mapped}
        metadata["schemaString"] = json.dumps({"type": "struct", "fields": fields})
        metadata["configuration"] = {"delta.columnMapping.mode": "name"}
    path = save_user(root / "0.parquet", "ann")
    file = {"path": path.name, "partitionValues": {}, "size": path.stat().st_size}
    file |= {"modificationTime": 1, "dataChange": True}
    versions = {"minReaderVersion": 1, "minWriterVersion": 2} | protocol
    log = [{"protocol": versions}, {"metaData": metadata}, {"add": file}, *actions]
    (root / "_delta_log").mkdir()
    text = "\n".join(map(json.dumps, log))
    (root / "_delta_log" / "00000000000000000000.json").write_text(text)


def test_a_log_by_hand(tmp_path):
    """A log written by hand is read."""
    pytest.importorskip("deltalake")
    write_log(tmp_path)

    assert ["ann"] == recframe.evaluate(tmp_path, ["recall@1"]).index.tolist()


@pytest.mark.parametrize(
    "where", ["../{}", "..%2F{}", "{}/.../{}", "file://{}/.../{}", "t/../../{}"]
)
def test_a_log_that_leads_out_of_its_table(tmp_path, where):
    """A log that names files outside its table is refused: a stranger may have written it."""
    delta = pytest.importorskip("deltalake")
    root, name = tmp_path / "t", "secret.parquet"
    save_user(tmp_path / name, "eve")
    add = {"path": where.replace("{}/...", str(tmp_path)).format(name), "partitionValues": {}}
    add |= {"size": 1, "modificationTime": 1, "dataChange": True}
    write_log(root, {"add": add})
    frame = pd.DataFrame({"user": [1], "item": [1], "score": [1.0]})
    match = rf"cannot read .*/t: the log of this Delta table names a file outside .*{name}"
    for call in (
        lambda: recframe.evaluate(root, "recall@1"),
        lambda: recframe.evaluate(frame, "recall@1", truth=root),
    ):
        with pytest.raises(recframe.RecframeError, match=match):
            call()
    if where == "../{}":  # DeltaTable reads it if asked.
        table = recframe.evaluate(delta.DeltaTable(root), "recall@1")
        assert ["ann", "eve"] == table.index.tolist()


def test_truth_of_a_delta_table_that_lacks_a_file(tmp_path, rows):
    """A missing file of truth is refused in one line with its name."""
    delta = pytest.importorskip("deltalake")
    delta.write_deltalake(tmp_path, rows)
    path = next(tmp_path.glob("*.parquet"))
    path.unlink()
    with pytest.raises(recframe.RecframeError, match=f"^truth: cannot read {path}: no such file$"):
        recframe.evaluate(rows.drop(columns="relevant"), "recall@1", truth=tmp_path)


def features(name):
    """Return a protocol that requires a feature of readers."""
    asked = {"readerFeatures": [name], "writerFeatures": [name]}
    return {"minReaderVersion": 3, "minWriterVersion": 7} | asked


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        (features("deletionVectors"), "(?i)deletionVectors"),
        (features("columnMapping"), "(?i)columnMapping"),
        ({"minReaderVersion": 2, "minWriterVersion": 5}, "(?i)columnMapping"),
        ({"minReaderVersion": 99}, "99|(?i:version)"),
    ],
)
def test_features_that_are_refused(tmp_path, protocol, message):
    """A table is refused if a feature makes its rows differ from those in its files."""
    pytest.importorskip("deltalake")
    write_log(tmp_path, **protocol)
    with pytest.raises(recframe.RecframeError, match=message) as caught:
        recframe.evaluate(tmp_path, ["recall@1"])
    assert "read it with Spark and evaluate that DataFrame" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "no json", '{"protocol": {}}'])
def test_a_log_that_cannot_be_read(table, text):
    """A damaged log is refused in one line."""
    pytest.importorskip("deltalake")
    mark_delta(table)
    (table / "_delta_log" / "00000000000000000000.json").write_text(text)
    with pytest.raises(
        recframe.RecframeError, match=r"cannot read the Delta table .*/t: "
    ) as caught:
        recframe.evaluate(table)
    assert "\n" not in str(caught.value)


def test_a_delta_table_that_lacks_files(tmp_path, rows):
    """A missing file of the log is refused, and so is an empty table."""
    delta = pytest.importorskip("deltalake")
    appended(delta, tmp_path, rows)
    gone = sorted(tmp_path.glob("*.parquet"))[0]
    gone.unlink()
    with pytest.raises(recframe.RecframeError, match=f"cannot read .*{gone.name}: no such file"):
        recframe.evaluate(tmp_path)
    delta.write_deltalake(tmp_path / "t", rows)
    delta.DeltaTable(tmp_path / "t").delete()
    with pytest.raises(recframe.RecframeError, match="the Delta table has no file"):
        recframe.evaluate(tmp_path / "t")
