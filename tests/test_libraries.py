"""Each library name in the table has the value of recframe's metric or of the formula given.

A library that is not installed is skipped; CONTRIBUTING.md says how to run them all.
"""

import pytest

from other_libraries import CATALOGUE_ITEMS, LIBRARIES, LISTED, RUN, of_catalogue, ours
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.other_names import CATALOGUE_METRICS

CATALOGUE = tuple(CATALOGUE_METRICS)
# `test_cwl_eval` and `test_recbole_means` test all but the second, which means something else.
UNTESTED = {"RBP(p=0.8, rel=1)", "ExposureGini", "ShannonEntropy", "GiniIndex", "GAUC", "AUC"}
UNTESTED |= {"IntraListDiversity"}  # `test_rectools_diversity` tests it.
# These see only listed items.
OF_LISTED = ("torchmetrics", "scikit-learn")


def names_of(library):
    """Return a library's names in the table, for one list and for the catalogue."""
    names = {
        metric: [one.name for one in row.get(library, [])] for metric, row in LIBRARIES.items()
    }
    of_list = {name for metric, those in names.items() if metric not in CATALOGUE for name in those}
    return of_list, {name for metric in CATALOGUE for name in names[metric]}


def import_of(library):
    """Skip a test whose library is not installed."""
    pytest.importorskip(RUN[library][1], reason=f"{library} is not installed")


@pytest.mark.filterwarnings("ignore")  # The libraries warn about what they import.
@pytest.mark.parametrize("library", RUN)
def test_names_stand_for_these_figures(library):
    """Values equal recframe's, or the formula's if the table tells one, which differs somewhere."""
    import_of(library)
    function, _, lists = RUN[library]
    options = {"short": "shrink"} if library == "LensKit" else {}
    alike = {} if library == "BEIR" else {"like": library}  # `like` has no BEIR.
    not_ours = {}
    for listed, grades in lists:
        if library in OF_LISTED:
            grades = {item: grades.get(item, 0) for item in listed.lower()}
        values = function(listed, grades)
        assert names_of(library)[0] - UNTESTED == set(values)
        for name, (label, theirs, *formula) in values.items():
            is_ours = ours(listed, grades, label, **options) == pytest.approx(theirs, rel=1e-6)
            if is_said_to_differ(library, name, label):
                not_ours[name] = not_ours.get(name, False) or not is_ours
                assert not formula or formula[0] == pytest.approx(theirs, rel=1e-6), (name, listed)
            else:
                assert is_ours, (name, listed)
                beside = {"gain": "exponential"} if "burges" in name else {}
                mine = ours(listed, grades, label, **alike, **beside)
                assert mine == pytest.approx(theirs, rel=1e-6), (name, listed)
    assert all(not_ours.values()), not_ours


def is_said_to_differ(library, name, label):
    """Return whether the table tells how a name differs from the metric of a label."""
    metric = label.partition("@")[0].partition("(")[0]
    (differs,) = (one.difference for one in LIBRARIES[metric][library] if one.name == name)
    return bool(differs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", [library for library in RUN if names_of(library)[1]])
def test_names_of_the_catalogue(library):
    """Catalogue metrics of other libraries equal `df.rec.catalogue`."""
    import_of(library)
    k = 2
    mine = LISTED.assign(score=[3, 2, 1, 3, 2, 1, 3, 2]).rec.catalogue(k, items=CATALOGUE_ITEMS)
    theirs = of_catalogue(library, k)
    assert set(theirs) == names_of(library)[1] - UNTESTED
    for name, (figure, value) in theirs.items():
        assert mine[f"{figure}@{k}"].item() == pytest.approx(value), name


def test_every_metric_is_in_the_table():
    """The table has each metric that another library has, and each library is run."""
    only_here = {"all_relevant", "mean", "share"}

    assert set(LIBRARIES) == {*DEFINITIONS, *CATALOGUE} - only_here
    assert {library for row in LIBRARIES.values() for library in row} == set(RUN)
