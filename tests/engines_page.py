"""The table of examples/guide/engines.md has a call for each of its rows."""

import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from recframe import RecframeError, RecframeWarning

PAGE = (Path(__file__).parents[1] / "examples" / "guide" / "engines.md").read_text("utf-8")
ROWS = pd.DataFrame(
    {
        "user": [1, 1, 2, 2],
        "item": [1, 2, 1, 3],
        "old": [0.9, 0.8, 0.7, 0.6],
        "new": [0.1, 0.2, 0.3, 0.4],
        "relevant": [0, 1, 1, 0],
        "country": ["NL", "NL", "FR", "FR"],
        "clicks": [1.0, 1.0, 3.0, 3.0],
    }
)
OPTIONS = {"score": ["old", "new"]}
LONG = ROWS.melt(["user", "item", "relevant"], ["old", "new"], "model", "score")
OPEN = pd.concat([ROWS, ROWS[:1]]).assign(old=[0.9, None, 0.7, 0.6, 0.9])
PAIRS = ROWS[["user", "item"]]
USERS = pd.Index([1, 2], name="user")
OF_USERS = pd.Series(["NL", "FR"], USERS, name="home")
VISITS = pd.Series([1.0, 3.0], USERS)
ITEMS = pd.DataFrame({"item": [1, 2, 3], "kind": ["a", "b", None]})
METRIC = "recall@1"


def find_questions(make):
    """Ask for a mean with two open questions; raise unless the refusal has both."""
    try:
        compute(make(OPEN, **OPTIONS).mean(METRIC))
    # Spark raises an error with a worker's traceback.
    except Exception as error:
        if "must not be null" in str(error) and "must occur once" in str(error):
            return
    raise RecframeError("it does not ask both")


def find_warning(make):
    """Ask for a mean of relevant rows alone, and raise if no warning appears."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compute(make(ROWS.assign(relevant=1), **OPTIONS).mean(METRIC))
    if not any(issubclass(one.category, RecframeWarning) for one in caught):
        raise RecframeError("there is no warning")


def compute(table):
    """Compute a table that is lazy."""
    if hasattr(table, "compute"):
        table.compute()
    elif hasattr(table, "toPandas"):
        table.toPandas()


def every(*calls):
    """Return a function that computes every table for the rows of `make(frame, **options)`."""

    def call_all(make):
        rec = make(ROWS, **OPTIONS)
        for call in calls:
            compute(call(rec))

    return call_all


def of_segments(**asked):
    """Return a function that computes the tables with these `by` and `weights`."""
    return every(
        lambda rec: rec.mean(METRIC, **asked),
        lambda rec: rec.summary(METRIC, **asked),
        lambda rec: rec.compare(METRIC, n_resamples=9, **asked),
        lambda rec: rec.curve(k=1, **asked),
    )


# The keys are the beginnings of rows.
CALLS = {
    "`evaluate`, `mean`": every(
        lambda rec: rec.evaluate(METRIC),
        lambda rec: rec.mean(METRIC),
        lambda rec: rec.summary(METRIC),
        lambda rec: rec.compare(METRIC, n_resamples=9),
        lambda rec: rec.curve(k=1),
    ),
    "`describe`, `inspect`": every(lambda rec: rec.describe(1), lambda rec: rec.inspect(1, 1)),
    "`report`": every(*([lambda rec: rec.report(METRIC)] if find_spec("jinja2") else [])),
    "`rank`, `top`": every(lambda rec: rec.rank(), lambda rec: rec.top(1)),
    "`judge`": lambda make: make(ROWS.drop(columns="relevant"), **OPTIONS).judge(PAIRS),
    "`bounds`, `catalogue`, `overlap`": every(
        lambda rec: rec.bounds("precision@1"),
        lambda rec: rec.catalogue(1),
        lambda rec: rec.catalogue(1, ITEMS, by="kind"),
        lambda rec: rec.overlap(1),
        lambda rec: rec.overlap(rbo=0.9),
    ),
    "`reconcile`, `robustness`": every(
        lambda rec: rec.reconcile(METRIC, 0.5, score="old"), lambda rec: rec.robustness(METRIC)
    ),
    "`by=`, `weights=`: columns": of_segments(by="country", weights="clicks"),
    "`by=`, `weights=`: a Series by user": of_segments(by=OF_USERS, weights=VISITS),
    "`by=`, `weights=`: a Series by row": of_segments(by=ROWS["country"], weights=ROWS["clicks"]),
    "`model=`": lambda make: compute(make(LONG, model="model").mean(METRIC)),
    '`ties="first"`, `"last"`': lambda make: [
        compute(make(ROWS, **OPTIONS, ties=ties).mean(METRIC)) for ties in ("first", "last")
    ],
    '`duplicates="first"`': lambda make: compute(
        make(ROWS, **OPTIONS, duplicates="first").mean(METRIC)
    ),
    "All open questions": find_questions,
    "Warnings": find_warning,
    "Notes": lambda make: make(ROWS, **OPTIONS).mean(METRIC).notes,
}


def read_table():
    """Return the cells of the table, by row and engine."""
    lines = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("|")]
    (_, *engines), _, *rows = [[cell.strip() for cell in line] for line in lines]
    return {row: dict(zip(engines, cells, strict=True)) for row, *cells in rows}


TABLE = read_table()


def check_column(engine, make):
    """Assert that an engine does everything that its column of the table says."""
    for start, call in CALLS.items():
        (said,) = [cells[engine] for row, cells in TABLE.items() if row.startswith(start)]
        try:
            call(make)
            found = "yes"
        except (RecframeError, AttributeError):
            found = "no"
        assert (start, found) == (start, re.match(r"\w+", said).group())
