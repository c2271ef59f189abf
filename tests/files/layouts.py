"""One table is cut into files in many ways, with bounds in their footers as others write them."""

import re
import struct

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import recframe

# So many bytes hold some 70 rows at a time.
SMALL = 12_000
# These metrics serve where metrics are not the subject.
FEW = ["recall@2", "ndcg"]


def one_sorted_file(frame, folder):
    """Write a file in order of users."""
    frame.to_parquet(folder / "0.parquet", row_group_size=20)


def users_across_files(frame, folder):
    """Write files one after the other; users straddle them."""
    for number in range(15):
        frame[20 * number : 20 * number + 20].to_parquet(folder / f"{number:02}.parquet")


def sorted_files_of_all_users(frame, folder):
    """Write files that are each sorted and each hold every user."""
    for number in range(3):
        frame[number::3].to_parquet(folder / f"{number}.parquet", row_group_size=5)


def sorted_backwards(frame, folder):
    """Write files in falling order of users."""
    for number in range(10):
        rows = frame[30 * number : 30 * number + 30]
        rows.to_parquet(folder / f"{9 - number}.parquet", row_group_size=10)


def shuffled_file(frame, folder):
    """Write a file in random order."""
    frame.sample(frac=1, random_state=1).to_parquet(folder / "0.parquet", row_group_size=20)


def no_statistics(frame, folder):
    """Write a sorted file without statistics."""
    frame.to_parquet(folder / "0.parquet", row_group_size=20, write_statistics=False)


def giant_row_group(frame, folder):
    """Write a file that is one row group."""
    frame.to_parquet(folder / "0.parquet")


def giant_user(frame, folder):
    """Write a shuffled file in which one user has most rows."""
    frame = frame.assign(user=frame["user"].where(frame.index % 5 == 0, "giant"))
    shuffled_file(frame, folder)


def only_one_user(frame, folder):
    """Write a file of one user."""
    frame.assign(user="giant").to_parquet(folder / "0.parquet", row_group_size=20)


# Each layout has whether it needs temporary files within SMALL.
LAYOUTS = {
    one_sorted_file: False,
    users_across_files: False,
    sorted_files_of_all_users: False,
    sorted_backwards: False,
    shuffled_file: True,
    no_statistics: True,
    giant_row_group: True,
    giant_user: True,
    only_one_user: False,
}


def in_memory(folder, metrics=FEW, **options):
    """Return the table of one frame with the rows of all files."""
    frame = pd.concat([pd.read_parquet(path) for path in sorted(folder.iterdir())])
    return recframe.evaluate(frame, metrics, **options)


def evaluate_as_in_memory(folder, metrics=FEW, *, memory, **options):
    """Return the table of files, after a check that it equals the table of one frame."""
    expected = in_memory(folder, metrics, **options)
    actual = recframe.evaluate(folder, metrics, memory=memory, **options)
    pd.testing.assert_frame_equal(expected, actual, check_exact=True)
    return actual


def save_frame(frame, path):
    """Write a frame and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_parquet(path)
    return path


def save_user(path, user, kind=None, scores=(0.9, 0.1)):
    """Write a file of one user's two rows; without a user the folder must name it."""
    columns = {"score": list(scores), "relevant": [1, 0]}
    if kind == "dictionary":
        columns["user"] = pa.array([user, user]).dictionary_encode()
    elif user is not None:
        columns["user"] = pa.array([user, user], kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def rewrite_text_bounds(path, change):
    """Replace the bounds of text ids of eight bytes by the result of `change(low, high)`."""

    def field(match):
        low, high = change(match[2].decode(), match[1].decode())
        high, low = high.encode(), low.encode()
        return b"(%c%b\x18%c%b" % (len(high), high, len(low), low)

    # Thrift's compact form has the highest value in field 5 of the statistics, the lowest next.
    _rewrite_footer(path, rb"\(\x08(user \d{3})\x18\x08(user \d{3})", field)


def rewrite_bound(path, value, other):
    """Replace a bound of numbers by another."""
    _rewrite_footer(path, re.escape(struct.pack("<d", value)), lambda _: struct.pack("<d", other))


def _rewrite_footer(path, pattern, change):
    """Replace matches of a pattern in the footer of a parquet file."""
    data = path.read_bytes()
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer, n_changed = re.subn(pattern, change, data[start:-8], flags=re.DOTALL)
    assert n_changed
    path.write_bytes(data[:start] + footer + len(footer).to_bytes(4, "little") + data[-4:])
