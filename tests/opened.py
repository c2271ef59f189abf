"""Files opened with the columns that options mean, as every door opens them."""

from recframe.files import footers
from recframe.files.paths import find_files
from recframe.frames.columns import find_columns


def open_files(paths, options, memory, **asked):
    """Return the files of paths; what is asked of columns goes to `find_columns`."""
    found = find_files(paths)
    columns = find_columns(footers.read_sample(found, memory), options, **asked)
    return footers.open_files(found, columns, options, memory)
