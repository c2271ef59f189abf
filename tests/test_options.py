"""Options are defined once, shown by every entry point, and checked when passed."""

import inspect
import re
import typing
from dataclasses import fields

import pandas as pd
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import recframe
from recframe.dask import DaskRecAccessor
from recframe.options import CHOICES, DEFAULTS, OptionArguments, Options
from recframe.polars import PolarsRecAccessor

FUNCTION = inspect.signature(recframe.evaluate).parameters
ENTRY_POINTS = {
    "iter_evaluate": recframe.iter_evaluate,
    "df.rec": recframe.RecAccessor.__call__,
    "ddf.rec": DaskRecAccessor.__call__,
    "df.rec of Polars": PolarsRecAccessor.__call__,
}
OWN = {
    "evaluate": ["frame", "metrics", "memory", "tmp", "progress"],
    "iter_evaluate": ["path", "metrics", "memory", "tmp", "progress"],
    "df.rec": ["self"],
    "df.rec of Polars": ["self"],
    "ddf.rec": ["self", "partitioned"],
}


@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize("entry", ENTRY_POINTS.values(), ids=ENTRY_POINTS)
def test_options_are_spelled_alike(name, entry):
    """Every entry point shows an option with the kind, default and annotation in `evaluate`."""
    expected, actual = FUNCTION[name], inspect.signature(entry).parameters[name]

    assert repr(expected) == repr(actual)
    assert repr(DEFAULTS[name]) == repr(actual.default)


def test_there_are_no_other_options():
    """The signatures have the fields of `Options`, and the arguments that each call adds."""
    for name, entry in ({"evaluate": recframe.evaluate} | ENTRY_POINTS).items():
        assert {*OWN[name], *DEFAULTS} == set(inspect.signature(entry).parameters)
    assert {field.name: field.type for field in fields(Options)} == typing.get_type_hints(
        OptionArguments
    )


def test_the_docstring_of_evaluate_tells_every_option():
    """The docstring of `evaluate` lists every option, and the other docstrings refer to it."""
    for name, choices in CHOICES.items():
        listed = ", ".join(f'"{choice}"' for choice in choices)
        assert (
            f'{name} : {{{listed}}}, default "{next(iter(choices))}"' in recframe.evaluate.__doc__
        )
    terms = re.findall(r"^ *([\w, ]+) : ", recframe.evaluate.__doc__, re.M)
    assert {*DEFAULTS} <= {name for term in terms for name in term.split(", ")}
    for entry in ENTRY_POINTS.values():
        assert "**options" in entry.__doc__
        assert re.search("`(recframe.)?evaluate`", entry.__doc__)


def test_choices_are_the_annotated_ones():
    """The checked choices are the annotated ones, with the default first."""
    hints = typing.get_type_hints(Options)

    assert CHOICES.keys() == {
        name for name, hint in hints.items() if typing.get_origin(hint) is typing.Literal
    }
    for name, choices in CHOICES.items():
        assert typing.get_args(hints[name]) == tuple(choices)
        assert DEFAULTS[name] == next(iter(choices))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("tie", "unknown option 'tie', did you mean 'ties'\\? Options are user, item, score,"),
        ("Missing", "unknown option 'Missing', did you mean 'missing'"),
        ("cut", "unknown option 'cut'; options are user"),
    ],
)
def test_unknown_options_are_refused(option, message):
    """An unknown option is refused with the nearest one."""
    for entry in (pd.DataFrame().rec, lambda **options: recframe.iter_evaluate("x", **options)):
        with pytest.raises(recframe.RecframeError, match=message):
            entry(**{option: "worst"})


@pytest.fixture
def shell(frame):
    """Return an IPython shell in which df is a frame."""
    shell = InteractiveShell()
    shell.push({"df": frame, "recframe": recframe})
    return shell


@pytest.mark.parametrize("call", ["df.rec(", "recframe.iter_evaluate('x', ", "recframe.evaluate("])
def test_ipython_completes_options(call, shell):
    """Tab completion offers the options in a call."""
    # Jedi would read all of pandas to know a frame.
    shell.Completer.use_jedi = call != "df.rec("
    with provisionalcompleter():
        found = shell.Completer.completions(f"{call}ti", len(call) + 2)

        assert "ties=" in [completion.text for completion in found]


def test_ipython_shows_options(shell):
    """IPython's question mark shows every option with its choices and default."""
    shown = re.sub(r"\x1b\[[0-9;]*m", "", shell.object_inspect_text("df.rec"))

    assert (
        "ties: Literal['expected', 'first', 'last', 'best', 'worst', 'item'] = 'expected'" in shown
    )
    assert all(f"    {name}: " in shown for name in DEFAULTS)
