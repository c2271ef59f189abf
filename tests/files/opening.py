"""Open files with the columns that options mean, as every entry point does."""

from recframe.files import footers
from recframe.files.discovery import find_files
from recframe.frames.columns import find_columns


def open_files(paths, options, memory, **asked):
    """Return the files of paths; other arguments go to `find_columns`."""
    found = find_files(paths)
    sample = footers.make_sample(footers.read_schema(found[0], memory), found[0].path)
    columns = find_columns(sample, options, **asked)
    return footers.open_files(found, columns, options, memory)
