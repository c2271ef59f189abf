"""An engine that supplies the hooks of RankingMethods has every method."""

import inspect

import pandas as pd
import pytest

import recframe
from recframe.dask import DaskRecAccessor
from recframe.frames.interactions import read_interactions
from recframe.frames.tables import sort_table
from recframe.methods import RankingMethods
from recframe.metrics.definitions import DEFINITIONS
from recframe.polars import PolarsRecAccessor


class ListRec(RankingMethods[pd.DataFrame]):
    """An accessor of a list of frames, each with all rows of its users."""

    @property
    def _sample(self):
        return self._frame[0]

    def _read_values(self, label):
        return pd.concat([part[label] for part in self._frame])

    def _map(self, make, columns, options, *, reads_all=False):
        parts = [read_interactions(part, columns, options) for part in self._frame]
        return pd.concat([make(part, options) for part in parts])

    def _whole(self, make, columns, options, make_table):
        return make_table(sort_table(self._map(make, columns, options)))

    def _describe(self, describer):
        parts = [describer.read(part) for part in self._frame]
        return describer.describe(parts, self._frame[0][:0])

    def _rows_of(self, user, columns):
        return pd.concat(self._frame), True


METHODS = [
    name
    for name, _ in inspect.getmembers(ListRec, inspect.isfunction)
    if not name.startswith("_") and name not in ("inspect", "report")
]
ARGUMENTS = {"compare": {"n_resamples": 9}, "summary": {"n_resamples": 9}, "rbp": {"p": 0.5}}
ARGUMENTS |= {"err": {"max": 4}, "overlap": {"k": 2}}
ARGUMENTS |= {"robustness": {"metric": "recall@1"}}
ARGUMENTS |= {"reconcile": {"metric": "recall@1", "value": 0.5, "score": "b"}}
WITH_METHODS = [name for name, definition in DEFINITIONS.items() if not definition.of_column]


@pytest.fixture
def two_scores(frame):
    """Return the small frame with a second score column."""
    return frame.assign(b=-frame["score"])


@pytest.fixture
def engine(two_scores):
    """Return an accessor of the same rows in two parts."""
    is_first = two_scores["user"] < "bob"
    return ListRec([two_scores[is_first], two_scores[~is_first]])


@pytest.mark.parametrize("name", METHODS)
def test_a_new_engine_has_every_method(name, engine, two_scores):
    """Every method of a new engine gives the result of a DataFrame."""
    arguments = ARGUMENTS.get(name, {})
    options = {"score": ["score", "b"], "short": "pad"}
    expected = getattr(two_scores.rec(**options), name)(**arguments)

    pd.testing.assert_frame_equal(expected, getattr(engine(**options), name)(**arguments))


def test_a_new_engine_inspects(engine, two_scores):
    """A new engine inspects a user like a DataFrame."""
    options = {"score": ["score", "b"]}

    assert repr(two_scores.rec(**options).inspect("bob", 3)) == repr(
        engine(**options).inspect("bob", 3)
    )


def test_a_new_engine_reports(engine, two_scores):
    """A new engine's page equals a DataFrame's, except for the name of the data."""
    options = {"score": ["score", "b"], "short": "pad"}
    pages = [rec(**options).report("recall@2").html for rec in (two_scores.rec, engine)]
    mine, own = ([line for line in page.splitlines() if "<dt>data" not in line] for page in pages)

    assert mine == own


def test_engines_have_the_same_methods():
    """Every accessor has these methods with their signatures; pandas and Polars add `judge`."""

    def signatures(accessor):
        members = inspect.getmembers(accessor, inspect.isfunction)
        return {
            name: inspect.signature(method).replace(return_annotation=None)
            for name, method in members
            if not name.startswith("_")
        }

    expected = signatures(RankingMethods)
    assert expected == signatures(DaskRecAccessor)
    assert {"judge"} == signatures(recframe.RecAccessor).keys() - expected.keys()
    assert expected.items() <= signatures(recframe.RecAccessor).items()
    assert signatures(recframe.RecAccessor) == signatures(PolarsRecAccessor)


@pytest.mark.parametrize("name", WITH_METHODS)
def test_every_metric_has_a_method(name, frame):
    """A metric's method takes the cut-off that its definition needs, and then its parameters."""
    method = getattr(recframe.RecAccessor, name)
    defaults = {"needed": [10], "optional": [None], "none": []}[DEFINITIONS[name].cut_off]
    defaults += [
        inspect.Parameter.empty if own.default is None else own.default
        for own in DEFINITIONS[name].parameters
    ]
    parameters = list(inspect.signature(method).parameters.values())[1:]

    assert defaults == [parameter.default for parameter in parameters]
    assert name == method.__name__
    with pytest.raises(TypeError, match="unexpected keyword argument 'kk'"):
        getattr(frame.rec, name)(**ARGUMENTS.get(name, {}), kk=1)
