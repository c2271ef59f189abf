"""RankingMethods: an engine that supplies the hooks has every method."""

import inspect

import pandas as pd
import pytest

import recframe
from recframe.analysis.describe import count_figures, describe_figures
from recframe.dask import DaskRecAccessor
from recframe.frames.interactions import read_interactions
from recframe.frames.tables import sort_table
from recframe.methods import RankingMethods
from recframe.metrics.definitions import DEFINITIONS


class ListRec(RankingMethods[pd.DataFrame]):
    """The methods over a list of frames, each with all rows of its users."""

    @property
    def _sample(self):
        return self._frame[0]

    def _map(self, make, columns, options, *, reads_all=False):
        parts = [read_interactions(part, columns, options) for part in self._frame]
        return pd.concat([make(part, options) for part in parts])

    def _whole(self, per_user, make_table):
        return make_table(sort_table(per_user))

    def _describe(self, columns, k):
        options = self._options
        parts = [
            count_figures(part, columns, k, options, None, is_all=True) for part in self._frame
        ]
        return describe_figures(parts, columns.scores, k)

    def _rows_of(self, user, columns):
        return pd.concat(self._frame), True


METHODS = [
    name
    for name, _ in inspect.getmembers(ListRec, inspect.isfunction)
    if not name.startswith("_") and name != "inspect"
]
ARGUMENTS = {"compare": {"n_resamples": 9}, "summary": {"n_resamples": 9}, "top": {"score": "b"}}


@pytest.fixture
def two_scores(frame):
    """The small frame with another score column."""
    return frame.assign(b=-frame["score"])


@pytest.fixture
def engine(two_scores):
    """The same rows in two parts."""
    is_first = two_scores["user"] < "bob"
    return ListRec([two_scores[is_first], two_scores[~is_first]])


@pytest.mark.parametrize("name", METHODS)
def test_a_new_engine_has_every_method(name, engine, two_scores):
    """Every method gives what it gives for a DataFrame."""
    arguments = ARGUMENTS.get(name, {})
    options = {"score": ["score", "b"], "short": "pad"}
    expected = getattr(two_scores.rec(**options), name)(**arguments)

    pd.testing.assert_frame_equal(expected, getattr(engine(**options), name)(**arguments))


def test_a_new_engine_inspects(engine, two_scores):
    """One user's rankings are those of a DataFrame."""
    options = {"score": ["score", "b"]}

    assert repr(two_scores.rec(**options).inspect("bob")) == repr(engine(**options).inspect("bob"))


def test_engines_have_the_same_methods():
    """Every accessor has these methods with their signatures, and only pandas one more."""

    def signatures(accessor):
        members = inspect.getmembers(accessor, inspect.isfunction)
        return {
            name: inspect.signature(method) for name, method in members if not name.startswith("_")
        }

    expected = signatures(RankingMethods)
    assert expected == signatures(DaskRecAccessor)
    assert {"judge"} == signatures(recframe.RecAccessor).keys() - expected.keys()
    assert expected.items() <= signatures(recframe.RecAccessor).items()


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_metric_has_a_method(name, frame):
    """Its method takes the cut-off that its definition asks for, and nothing else."""
    method = getattr(recframe.RecAccessor, name)
    defaults = {"needed": [10], "optional": [None], "none": []}[DEFINITIONS[name].cut_off]
    parameters = list(inspect.signature(method).parameters.values())[1:]

    assert defaults == [parameter.default for parameter in parameters]
    assert (name, f"RankingMethods.{name}") == (method.__name__, method.__qualname__)
    with pytest.raises(TypeError, match="unexpected keyword argument 'kk'"):
        getattr(frame.rec, name)(kk=1)
