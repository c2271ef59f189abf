"""Tables that show themselves: all columns where a terminal is narrow, named axes where drawn."""

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pandas as pd
from pandas.plotting import PlotAccessor

MAX_SHOWN = 20  # columns, as pandas shows outside a terminal; in one it leaves middle ones out


class WideTable(pd.DataFrame):
    """A DataFrame whose text has all columns, in blocks where the display is too narrow."""

    @property
    def _constructor(self) -> Callable[..., "WideTable"]:
        # What is sorted, selected or rounded is displayed as this is.
        return WideTable

    def __repr__(self) -> str:
        """Return the table as pandas prints it, but without leaving out columns for the width."""
        with pd.option_context("display.max_columns", self._n_shown()):
            return super().__repr__()

    def _n_shown(self) -> int:
        """Return how many columns are shown at most."""
        return pd.get_option("display.max_columns") or MAX_SHOWN


def escape(text: str) -> str:
    """Return text as HTML has it."""
    import html  # which `import recframe` need not load

    return html.escape(text)


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Return a module that an extra installs, or raise `ImportError` naming the extra."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {module.partition('.')[0]}, which could not be imported ({error}); "
            f"install it with pip install 'recframe[{extra}]'"
        ) from error


def without_zeros(table: pd.DataFrame, labels: list[str]) -> pd.DataFrame:
    """Return a table without those of these columns that hold zeros only."""
    return table.drop(columns=[label for label in labels if not table[label].any()])


class CurveTable(pd.DataFrame):
    """A DataFrame of a metric by cut-off, which its columns' name names, on the drawn axis too."""

    @property
    def _constructor(self) -> Callable[..., "CurveTable"]:
        return CurveTable

    @property
    def plot(self) -> Any:
        """What draws it, as of any DataFrame."""
        return _CurvePlot(self)


class _CurvePlot(PlotAccessor):
    """Plots with the metric on the y axis, where pandas would have it over the legend."""

    def __init__(self, table: pd.DataFrame) -> None:
        super().__init__(table)
        plain = pd.DataFrame(table)
        if segments := list(range(table.index.nlevels - 1)):  # each a line of its own
            plain = pd.DataFrame(plain.unstack(segments))  # noqa: PD010  # their order stays
        self._table = plain

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        table = self._table
        backend = kwargs.get("backend") or pd.get_option("plotting.backend")
        if backend == "matplotlib":  # others do not take the name of an axis
            kwargs = {"ylabel": table.columns.names[0]} | kwargs
            names = [None, *table.columns.names[1:]]
            table = table.set_axis(table.columns.set_names(names), axis=1)
        return PlotAccessor(table)(*args, **kwargs)
