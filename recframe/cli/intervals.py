"""How intervals and p-values are made: the flags, and what they come to."""

import argparse
from typing import Any, Literal, get_args

from recframe.analysis.compare import Comparison, Correction, Test, check_comparison
from recframe.analysis.intervals import Interval, OfDifferences, check_interval
from recframe.analysis.resampling import Resampling, make_resampling
from recframe.cli.values import as_usage, read_number
from recframe.errors import RecframeError

RESAMPLING = make_resampling(confidence=0.95, n_resamples=9_999, seed=0)
TEST, CORRECTION = "permutation", "holm"
INTERVAL_FLAGS, DIFFERENCE_FLAGS = ("interval", "confidence", "seed"), ("test", "correction")


EITHER = Literal[Interval, OfDifferences]


def add_how(group: argparse._ArgumentGroup, intervals: object = EITHER) -> None:
    """Add how intervals and p-values are made."""
    group.add_argument(
        "--interval",
        choices=get_args(intervals),
        help=f"how intervals are made (default: {RESAMPLING.interval})",
    )
    group.add_argument(
        "--confidence",
        type=as_usage(lambda text: _resample(confidence=read_number(text)).confidence),
        metavar="NUMBER",
        help=f"of the intervals, between 0 and 1 (default: {RESAMPLING.confidence})",
    )
    group.add_argument(
        "--seed",
        type=as_usage(lambda text: _resample(seed=read_number(text)).seed),
        metavar="NUMBER",
        help=f"of what is drawn at random (default: {RESAMPLING.seed})",
    )
    group.add_argument(
        "--test",
        choices=get_args(Test),
        help=f"where p-values of differences come from (default: {TEST})",
    )
    group.add_argument(
        "--correction",
        choices=(*get_args(Correction), "none"),
        help=f"how p-values are corrected for their number (default: {CORRECTION})",
    )


def _resample(**given: Any) -> Resampling:
    """Return how intervals are made where nothing but this is given; raise where it is wrong."""
    return make_resampling(**{**RESAMPLING._asdict(), **given})


def read_how(arguments: argparse.Namespace) -> Comparison:
    """Return how intervals and p-values are made."""
    given = _list_given(arguments)
    resampling = RESAMPLING._replace(
        **{name: value for name, value in given.items() if name in INTERVAL_FLAGS}
    )
    correction = given.get("correction", CORRECTION)
    correction = None if correction == "none" else correction
    return Comparison(given.get("test", TEST), correction, resampling)


def check_how(arguments: argparse.Namespace, *, is_summary: bool, is_comparison: bool) -> None:
    """Raise where a flag is of something that is not asked for, or does not go with another."""
    given, how = _list_given(arguments), read_how(arguments)
    if given and not is_summary and not is_comparison:
        raise RecframeError(f"--{next(iter(given))} is of intervals; add --summary or --baseline")
    differences = [name for name in given if name in DIFFERENCE_FLAGS]
    if differences and is_summary:
        raise RecframeError(f"--{differences[0]} is of differences; add --baseline, not --summary")
    check_comparison(how.test, how.correction)
    check_interval(how.resampling.interval, OfDifferences if is_comparison else Interval)


def _list_given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the flags that are given."""
    flags = {name: getattr(arguments, name) for name in (*INTERVAL_FLAGS, *DIFFERENCE_FLAGS)}
    return {name: value for name, value in flags.items() if value is not None}
