"""The notebooks in examples/ run, and print their saved outputs."""

import re
from pathlib import Path

import nbformat
import pytest
from jupyter_client import KernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
# A slash or a drive begins a path, but not inside a fraction, a MIME type or a closing tag.
ABSOLUTE_PATH = re.compile(r"(?<![\w.</])/\w|\b[A-Za-z]:\\")

each_notebook = pytest.mark.parametrize(
    "path", NOTEBOOKS, ids=lambda path: path.name, scope="module"
)


def read(path):
    """Return the saved notebook."""
    return nbformat.read(path, as_version=4)


@pytest.fixture(scope="module")
def kernel():
    """Start a kernel for all notebooks in the folder of the examples."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(EXAMPLES))
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def executed(path, kernel):
    """Return a copy of the notebook, executed without names of other notebooks."""
    notebook = read(path)
    forget = new_code_cell("%reset -f")
    notebook.cells.insert(0, forget)
    options = {"timeout": 120, "allow_errors": True, "coalesce_streams": True}
    client = NotebookClient(notebook, km=kernel, **options)
    client.execute()
    # The client leaves its channels open, because the fixture started the kernel.
    client.kc.stop_channels()
    notebook.cells.remove(forget)
    return notebook


def outputs(notebook):
    """Return every output of a notebook with its cell."""
    return [(cell, output) for cell in notebook.cells for output in cell.get("outputs", [])]


def texts(notebook):
    """Return the text of every output: its cell id, its type and the text shown."""
    return [
        (
            cell.id,
            output.output_type,
            output.get("text") or output.get("data", {}).get("text/plain"),
        )
        for cell, output in outputs(notebook)
    ]


def strings(value):
    """Yield every string in nested dicts and lists, except encoded pictures."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from strings([part for name, part in value.items() if name != "image/png"])
    elif isinstance(value, list):
        for element in value:
            yield from strings(element)


def test_there_are_notebooks():
    """The folder examples/ has notebooks."""
    assert NOTEBOOKS


@each_notebook
def test_notebook_runs(executed):
    """No cell ends in an error."""
    errors = [output for _, output in outputs(executed) if output.output_type == "error"]

    assert [] == errors


@each_notebook
def test_saved_outputs_are_what_the_notebook_prints(path, executed):
    """Every saved text equals the text that the cell prints now."""
    assert texts(read(path)) == texts(executed)


@each_notebook
def test_notebook_holds_no_absolute_path(path):
    """No output and no metadata has an absolute path."""
    notebook = read(path)
    saved = [output for _, output in outputs(notebook)]
    metadata = [notebook.metadata, *(cell.metadata for cell in notebook.cells)]

    assert [] == [text for text in strings([saved, metadata]) if ABSOLUTE_PATH.search(text)]
