"""Changes of code are small and complete."""

import ast

from mutation.changes import read_changes

SOURCE = '''
"""Docstring."""
LIMIT = 4


def find(values: list[int] | None, *, deep: bool = True) -> int:
    """Return what is found."""
    near = values[1:]
    if not values or deep and len(values) < LIMIT:
        raise ValueError(f"{values} are too few")
    near = sorted(near, reverse=True)
    return min(near) + 1
'''

EXPECTED = """\
3: 4  ->  5
3: 4  ->  3
6: True  ->  False
8: near = values[1:]  ->  pass
8: 1:  ->  :
8: 1  ->  2
8: 1  ->  0
9: if not values or (deep and len(values) < LIMIT):  ->  if True:
9: if not values or (deep and len(values) < LIMIT):  ->  if False:
9: not values or (deep and len(values) < LIMIT)  ->  not values and (deep and len(values) < LIMIT)
9: not values or (deep and len(values) < LIMIT)  ->  deep and len(values) < LIMIT
9: not values or (deep and len(values) < LIMIT)  ->  not values
9: not values  ->  values
9: deep and len(values) < LIMIT  ->  deep or len(values) < LIMIT
9: deep and len(values) < LIMIT  ->  len(values) < LIMIT
9: deep and len(values) < LIMIT  ->  deep
9: len(values) < LIMIT  ->  len(values) <= LIMIT
9: len(values) < LIMIT  ->  len(values) >= LIMIT
10: raise ValueError(f'{values} are too few')  ->  pass
11: near = sorted(near, reverse=True)  ->  pass
11: sorted(near, reverse=True)  ->  sorted(near)
11: True  ->  False
12: min(near) + 1  ->  min(near) - 1
12: min(near)  ->  max(near)
12: 1  ->  2
12: 1  ->  0
"""


def test_changes(tmp_path):
    """Each change is one edit that Python can still read, and texts and annotations stay."""
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    found = list(read_changes(path))
    sources = {ast.unparse(ast.parse(change.source)) for change in found}

    assert EXPECTED.splitlines() == [f"{change.lines.start}: {change.what}" for change in found]
    assert len(sources - {ast.unparse(ast.parse(SOURCE))}) == len(found)
