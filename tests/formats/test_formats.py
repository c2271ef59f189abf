"""Files of each format: their columns, the types of all rows, and damage."""

import bz2
import gzip
import io

import pyarrow as pa
import pytest

import recframe
from recframe.formats import convert_all, find_format, open_rows
from recframe.text_types import TextTypes


def read(name, data, types=None):
    """Return the columns of a file with this name and content, read at once or in blocks."""
    rows = open_rows(name, lambda: io.BytesIO(data))
    types = types or TextTypes()
    batches = list(rows.iter_batches(rows.read_schema().names, types))
    schema = types.complete(rows.read_schema())
    return pa.Table.from_batches([convert_all(one, schema) for one in batches], schema).to_pydict()


def as_stream(table):
    """Return a table as an Arrow stream."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


READ = {
    ("x.csv", b"user,item\n1,a\n2,\n"): {"user": [1, 2], "item": ["a", None]},
    ("x.CSV", b"user,item\r\n1,NA\r\n\r\n2,null\r\n"): {"user": [1, 2], "item": [None, None]},
    ("x.csv", b"\xef\xbb\xbfuser,item\n1,\xc3\xa9\n"): {"user": [1], "item": ["é"]},
    ("x.csv", b'user,item\n"a\nb","x,""y"\n'): {"user": ["a\nb"], "item": ['x,"y']},
    ("x.csv", b"user,item\n"): {"user": [], "item": []},
    ("x.csv", b",user\n0,ann\n"): {"": [0], "user": ["ann"]},
    ("x.tsv", b"user\titem\n1\ta,b\n"): {"user": [1], "item": ["a,b"]},
    ("x.csv.gz", gzip.compress(b"user\n1\n") + gzip.compress(b"2\n")): {"user": [1, 2]},
    ("x.tsv.bz2", bz2.compress(b"user\n1\n")): {"user": [1]},
    ("x.jsonl", b'{"user": 1}\n\n{"user": 0.5, "item": "a"}'): {
        "user": [1, 0.5],
        "item": [None, "a"],
    },
    ("x.ndjson", b'{"user": "2026-11-22"}\n{"user": "007"}\n'): {"user": ["2026-11-22", "007"]},
    ("x.jsonl", b'\xef\xbb\xbf{"user": "2026-11-22"}\n'): {"user": ["2026-11-22"]},
    ("x.json", b'{"user": "007"}\n{"user": "7"}\n'): {"user": ["007", "7"]},
    ("x.json.gz", gzip.compress(b'{"user": 1, "items": ["a", "b"]}\n')): {
        "user": [1],
        "items": [["a", "b"]],
    },
    ("x.jsonl.gz", gzip.compress(b'{"user": null, "x": {"y": [1]}}\n')): {
        "user": [None],
        "x": [{"y": [1]}],
    },
    ("x.arrow", as_stream(pa.table({"user": [1, 2]}))): {"user": [1, 2]},
    ("x.ipc", as_stream(pa.table({"user": [1, 2]}))): {"user": [1, 2]},
}


@pytest.mark.parametrize(("name", "data"), READ, ids=map(str, range(len(READ))))  # not their bytes
def test_what_files_hold(name, data):
    """The header names columns, empty cells are null, and quotes protect their contents."""
    assert READ[name, data] == read(name, data)


DAMAGED = {
    ("x.csv", b""): "Empty CSV file",
    ("x.csv", b"a,b\n1,2\n\n3\n"): "Row #3: Expected 2 columns, got 1: 3",
    ("x.csv", b"a,b\n1,2\n3,4,5\n"): "Row #3: Expected 2 columns, got 3: 3,4,5",
    (
        "x.csv",
        b"a,b\n1,\xff\n",
    ): r"Row #2: .*invalid UTF8 data\. .*read_csv\(path, encoding='latin-1'",
    (
        "x.csv",
        b"a" + b",b" * (1 << 17) + b"\n1",
    ): "at most 131,072 columns, but has 131,073 or more",
    ("x.csv", b"a,\xff\n1,2\n"): "its first row is not UTF-8 text",
    ("x.csv", "a,b\n1,2\n".encode("utf-16")): "it is UTF-16 text. Convert it to UTF-8",
    ("x.csv", b"PAR1\x15\x04,\n1"): "it looks like parquet. Rename it to end in .parquet",
    ("x.csv", b"a;b\n1;2\n"): r"semicolons, .* commas and tabs only; .*read_csv\(path, sep=';'\)",
    ("x.csv", b"a|b\n1|2\n"): r"separated by bars, .*read_csv\(path, sep='\|'\)",
    ("x.csv", b"a\tb\n1\t2\n"): "separated by tabs, so rename it to end in .tsv",
    ("x.tsv", b"a,b\n1,2\n"): "separated by commas, so rename it to end in .csv",
    ("x.csv", gzip.compress(b"a,b\n1,2\n")): "compressed by gzip. Rename it to end in .gz",
    ("x.jsonl", gzip.compress(b'{"a": 1}\n')): "compressed by gzip. Rename it to end in .gz",
    ("x.csv", b"PK\x03\x04..."): "it is a zip file, as those of Excel are",
    ("x.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99)[:-9]): "Truncated compressed stream",
    ("x.jsonl", b" \n"): "it is empty",
    ("x.jsonl", b'{"a": 1}\n{"a": \n'): "JSON parse error: .*, in line 2",
    ("x.jsonl", b'{"a": "\xff"}'): "no UTF-8 text in a line from 1 on",
    (
        "x.jsonl",
        b'{"a": [null, "x"]}\n{"a": ["y"]}',
    ): "a list begins with null in a line from 1",
    (
        "x.jsonl",
        b'{"a": 1}\n{"a": "x"}\n',
    ): r"\(/a\) changed from number to string, in line 2",
    (
        "x.jsonl",
        b"".join(b'{"%d": 1}\n' % number for number in range(8000)),
    ): "it must have at most 4,064 columns, but has 8,000 or more. Write",
    ("x.jsonl", b"[1]\n"): "each line must be a JSON object; if it is one JSON document, pass pd",
    ("x.json", b'{"user": {"0": 1}, "score": {"0": 2}}'): "each line must be a JSON object",
    (
        "x.json",
        b'{"q1": {"d1": 0.5}, "q2": {"d7": 1}}',
    ): r".*users, as in .*from_runs\(json",
    ("x.feather", b"FEA1 of old"): "metadata",
}


@pytest.mark.parametrize(("name", "data"), DAMAGED, ids=map(str, range(len(DAMAGED))))
def test_what_is_damaged_is_refused(name, data):
    """The message of Arrow names the fault, and its row or line."""
    with pytest.raises((pa.ArrowInvalid, OSError), match=DAMAGED[name, data]):
        read(name, data)


BLOCKS = {
    ("x.csv", b"id,n\n" + b"1,0\n" * 99 + b"a,0\n"): ["1", "a"],
    ("x.csv", b"id,n\n" + b"1,0\n" * 99 + b"007,0\n"): ["1", "007"],
    ("x.csv", b"id,n\n" + b"1,0\n" * 99 + b"0.5,0\n"): [1.0, 0.5],
    ("x.csv", b"id,n\n" + b"1,0\n" * 99 + b"x" * 999 + b",0\n"): ["1", "x" * 999],
    ("x.jsonl", b'{"id": 1}\n' * 99 + b'{"id": 0.5}\n'): [1.0, 0.5],
    ("x.jsonl", b'{"id": 0.5}\n' * 99 + b'{"id": 1}\n' * 9): [0.5, 1.0],
    ("x.jsonl", b'{"id": null}\n' * 99 + b'{"id": "a"}\n'): [None, "a"],
    ("x.jsonl", b'{"id": null}\n' * 99 + b'{"id": true}\n'): [None, True],
    ("x.jsonl", b'{"id": "a"}\n' * 99 + b'{"id": "2026-11-22"}\n'): ["a", "2026-11-22"],
    ("x.jsonl", b'{"id": "a"}\n' * 99 + b'{"id": "' + b"x" * 999 + b'"}\n'): ["a", "x" * 999],
}


@pytest.mark.parametrize("first", [64, 1 << 20])
@pytest.mark.parametrize(("name", "data"), BLOCKS)
def test_all_rows_decide_the_type(name, data, first, monkeypatch):
    """The type of a column fits all its rows, even if blocks are small."""
    monkeypatch.setattr("recframe.text_types.FIRST_BLOCK", first)
    ids = read(name, data, TextTypes(n_bytes=64, memory=1 << 15))["id"]

    assert BLOCKS[name, data] == [ids[0], ids[-1]]
    assert data.count(b"\n") - name.endswith("csv") == len(ids)


def test_mixed_values_of_json_in_two_blocks(monkeypatch):
    """Numbers and texts in one column are refused even in distant lines."""
    monkeypatch.setattr("recframe.text_types.FIRST_BLOCK", 60)
    with pytest.raises(pa.ArrowInvalid, match=r"'id' is int64 .*and string .*from line 97 on"):
        read("x.jsonl", b'{"id": 1}\n' * 96 + b'{"id": "a"}\n', TextTypes(n_bytes=60))


def test_members_that_come_late(monkeypatch):
    """A column that the first block lacks is refused if it has a role, and else skipped."""
    monkeypatch.setattr("recframe.text_types.FIRST_BLOCK", 64)
    data = b'{"n": 0}\n' * 99 + b'{"n": 1, "id": 1}\n' * 99 + b'{"n": 2}\n'
    with pytest.raises(pa.ArrowInvalid, match=r"'id' first appears in a line from [0-9]+ on, and"):
        read("x.jsonl", data, TextTypes(n_bytes=64))
    types = TextTypes(n_bytes=64)
    types.has_role = lambda name: name == "n"

    assert [0] * 99 + [1] * 99 + [2] == read("x.jsonl", data, types)["n"]


@pytest.mark.parametrize("data", [b"id,n\n1," + b"x" * 999, b'id,n\n1,"' + b"2\n" * 999])
def test_a_row_that_is_longer_than_memory(data):
    """A row that exceeds the memory is refused, and so is a quote that is never closed."""
    with pytest.raises(
        pa.ArrowInvalid, match=r"a row has more than (256|64) bytes, or a quote is never"
    ):
        read("x.csv", data, TextTypes(n_bytes=64, memory=2048))


def test_a_line_of_json_that_is_longer_than_memory():
    """A line of JSON that exceeds the memory is refused like a row."""
    with pytest.raises(pa.ArrowInvalid, match="a row has more than 256 bytes"):
        read("x.jsonl", b'{"id": "' + b"x" * 999 + b'"}', TextTypes(n_bytes=64, memory=2048))


class Counting(io.BytesIO):
    """A file in memory that counts the bytes read, over all files of a test."""

    n_read = 0

    def read(self, size=-1):
        """Return the next bytes, and count them."""
        data = super().read(size)
        Counting.n_read += len(data)
        return data


@pytest.mark.parametrize(
    ("name", "head"), [("x.csv", b"id,n\n"), ("x.tsv", b"id\tn\n1"), ("x.jsonl", b'{"id": "')]
)
@pytest.mark.parametrize("quote", [b"", b'"'])
def test_a_long_row_is_read_no_further_than_it_may_be(name, head, quote):
    """A row that is too long is refused with a remedy, and its rest is not read."""
    data = head + quote + b"x" * (1 << 24)
    rows = open_rows(name, lambda: Counting(data))
    Counting.n_read = 0

    match = "more than 2,097,152 bytes, or a quote is never closed; pass memory of 34 MB or more, "
    with pytest.raises(pa.ArrowInvalid, match=match):
        rows.read_schema(1 << 24)
    assert (1 << 21) <= Counting.n_read < (1 << 23)


AROUND = {"x.csv": (b"id,n\n", b"%s,1\n"), "x.jsonl": (b"", b'{"id": "%s"}\n')}


@pytest.mark.parametrize("name", AROUND)
def test_a_long_row_that_fits_is_read_once(name):
    """A row longer than a block does not make earlier rows be read again."""
    head, row = AROUND[name]
    data = head + row % b"a" * 99 + row % (b"x" * 5_000)
    rows, types = open_rows(name, lambda: Counting(data)), TextTypes(64, 1 << 17)
    Counting.n_read = 0
    read = pa.Table.from_batches(rows.iter_batches(["id"], types))

    assert ["a"] * 99 + ["x" * 5_000] == read["id"].to_pylist()
    assert Counting.n_read <= 2 * len(data)  # JSON reads the first lines twice.


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a/b.csv", "csv"),
        ("s3://bucket/b.JSONL.gz", "jsonl"),
        ("b.parquet", "parquet"),
        ("part-0", "parquet"),
        ("csv", "parquet"),
        ("b.csv.xz", "parquet"),
        ("b.feather.gz", "parquet"),
        ("b.ipc", "ipc"),
    ],
)
def test_formats_by_ending(path, found):
    """Files with an unknown ending are read as parquet."""
    assert found == find_format(path)


@pytest.mark.parametrize("inside", ["[", '{"a":'])
def test_lines_nested_too_deep_are_refused_before_they_are_parsed(inside, tmp_path):
    """Deeply nested lines are refused before Arrow's recursive parser would crash."""
    closing = {"[": "]", '{"a":': "1}"}[inside]
    row = '{"user": 1, "score": 0.5, "relevant": 1, "x": %s}\n'
    path = tmp_path / "rows.jsonl"
    deep = inside * 20_000 + closing[:-1] + closing[-1] * 20_000
    path.write_text(row % "0" + row % deep)
    with pytest.raises(recframe.RecframeError, match="line 2 is nested more than 1,000 deep"):
        recframe.evaluate(path, "recall@1")
    path.write_text(row % ('"' + "[{" * 5_000 + '"'))
    assert 1 == len(recframe.evaluate(path, "recall@1"))
