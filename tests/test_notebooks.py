"""The notebooks of examples/: they run, and what is saved in them is what they print."""

import re
from pathlib import Path

import nbformat
import pytest
from jupyter_client import KernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
# A slash or a drive that begins a path, not one inside a fraction, a MIME type or a closing tag.
ABSOLUTE_PATH = re.compile(r"(?<![\w.</])/\w|\b[A-Za-z]:\\")

each_notebook = pytest.mark.parametrize(
    "path", NOTEBOOKS, ids=lambda path: path.name, scope="module"
)


def read(path):
    """Return the notebook as it is saved."""
    return nbformat.read(path, as_version=4)


@pytest.fixture(scope="module")
def kernel():
    """A kernel for all notebooks, in the folder of the examples."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(EXAMPLES))
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def executed(path, kernel):
    """A copy of the notebook, executed where no other has left a name."""
    notebook = read(path)
    forget = new_code_cell("%reset -f")
    notebook.cells.insert(0, forget)
    options = {"timeout": 120, "allow_errors": True, "coalesce_streams": True}
    client = NotebookClient(notebook, km=kernel, **options)
    client.execute()
    client.kc.stop_channels()  # which it leaves to whoever has started the kernel
    notebook.cells.remove(forget)
    return notebook


def outputs(notebook):
    """Return every output of a notebook with its cell."""
    return [(cell, output) for cell in notebook.cells for output in cell.get("outputs", [])]


def texts(notebook):
    """Return the text of every output: its cell id, its type, and what it shows."""
    return [
        (
            cell.id,
            output.output_type,
            output.get("text") or output.get("data", {}).get("text/plain"),
        )
        for cell, output in outputs(notebook)
    ]


def strings(value):
    """Yield every string in nested dicts and lists, but the letters that encode a picture."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from strings([part for name, part in value.items() if name != "image/png"])
    elif isinstance(value, list):
        for element in value:
            yield from strings(element)


def test_there_are_notebooks():
    """The tests below have something to run on."""
    assert NOTEBOOKS


@each_notebook
def test_notebook_runs(executed):
    """No cell ends in an error."""
    errors = [output for _, output in outputs(executed) if output.output_type == "error"]

    assert [] == errors


@each_notebook
def test_saved_outputs_are_what_the_notebook_prints(path, executed):
    """Every saved text is the one that the cell prints now."""
    assert texts(read(path)) == texts(executed)


@each_notebook
def test_notebook_holds_no_absolute_path(path):
    """No output and no metadata tells where the notebook was made."""
    notebook = read(path)
    saved = [output for _, output in outputs(notebook)]
    metadata = [notebook.metadata, *(cell.metadata for cell in notebook.cells)]

    assert [] == [text for text in strings([saved, metadata]) if ABSOLUTE_PATH.search(text)]
