"""Files opened with the columns that options mean, as every door opens them."""

from recframe.files import footers
from recframe.files.sources import find_files
from recframe.frames.columns import find_columns


def open_files(paths, options, memory, **asked):
    """Return the files of paths; what is asked of columns goes to `find_columns`."""
    found = find_files(paths)
    sample = footers.make_sample(footers.read_schema(found[0], memory), found[0].path)
    columns = find_columns(sample, options, **asked)
    return footers.open_files(found, columns, options, memory)
