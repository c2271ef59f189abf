"""Reconciling: the means of a metric under every convention that a frame leaves open."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from recframe.analysis.display import MAX_SHOWN, NotedTable, as_plain, with_notes
from recframe.conventions import LIKE, check_like
from recframe.errors import RecframeError, as_text, quote
from recframe.frames.grades import MAX_GRADES
from recframe.frames.judgments import NEGATIVE_UNJUDGED
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import Metric, make_metric, parse_metrics
from recframe.notes import Facts, list_notes
from recframe.options import CHOICES, DEFAULTS, Options, list_changed, spell_arguments

Changes = dict[str, Any]  # options by name
Measure = Callable[[Changes, list[str]], pd.DataFrame]

# The grades of the frame or of truth become values of `min_relevance`.
CONVENTIONS: dict[str, list[Any]] = {
    name: [one for one in CHOICES[name] if one != "raise"]
    for name in ("population", "short", "ties", "missing", "null_relevance", "duplicates", "gain")
}
CONVENTIONS |= {"zero_division": [0.0, 1.0], "min_relevance": [], "unjudged": ["drop"]}
CAPPED = {"recall": "capped_recall", "average_precision": "capped_average_precision"}
CAPPED |= {capped: plain for plain, capped in CAPPED.items()}
OFFSETS = (0, 2)  # under the logarithm of nDCG and DCG, in place of 1
COLUMNS = ["value", "difference", "matches", "n_calls", "libraries", "call"]
DECIMALS = 12  # The order of a sum changes later ones.


class CallTable(NotedTable):
    """A table of conventions whose text leaves out the column of calls."""

    def __repr__(self) -> str:
        """Return all other columns, in blocks where the display is too narrow, and the notes."""
        table = NotedTable(as_plain(self).drop(columns="call", errors="ignore"))
        with pd.option_context("display.max_columns", MAX_SHOWN, "display.max_colwidth", None):
            return repr(with_notes(table, self.notes))


def read_reported(value: object, digits: int | None, metric: Metric) -> tuple[float, int]:
    """Return the number reported for a metric, and how many decimals it has."""
    try:
        number = Decimal(str(value))
        exponent = int(number.as_tuple().exponent)  # It is a letter if the number is not finite.
        n_decimals = min(DECIMALS, max(0, -exponent) if digits is None else digits)
        if n_decimals < 0 or (number > 1 and DEFINITIONS[metric.name].is_bounded):
            raise ValueError
        return float(round(number, n_decimals)), n_decimals
    except (ArithmeticError, TypeError, ValueError):
        raise RecframeError(
            f"value must be a number that {metric.label} can have, or its text, such as '0.3120' "
            f"(not per cent), and digits None or the number of its decimals, found {quote(value)} "
            f"and {quote(digits)}"
        ) from None


def list_metrics(label: str, options: Options) -> list[Metric]:
    """Return the metrics that libraries may mean by a label, first the one that it names."""
    (metric,) = parse_metrics([label], options.map_at_k or CAPPED["capped_average_precision"])
    name, parameters, k = metric[1:]
    if name in CAPPED and k is not None:
        return [metric, make_metric(CAPPED[name], k)]
    offsets = OFFSETS if name in ("ndcg", "dcg") and not parameters else ()
    return [metric, *(make_metric(name, k, offset=one) for one in offsets)]


def list_accepted(metrics: list[Metric], options: Mapping[str, Any]) -> list[str]:
    """Return the labels of the metrics that the library of `like`, if any, defines alike."""
    accepted = list[str]()
    for metric in metrics:
        with suppress(RecframeError):
            if options["like"] is not None:
                check_like([metric], options)
            accepted.append(metric.label)
    return accepted


def find_open(
    metric: Metric, options: Options, measure: Measure, relevance: pd.Series | None
) -> dict[str, list[Any]]:
    """Return the values of each option that may change a metric.

    The first is the default, or answers a refusal. Options that the accessor was called with are
    left out, as they stay.
    """
    first, fixed = Changes(ties="expected", zero_division=np.nan), list_changed(options)
    if options.has_truth and metric.k is not None:
        first["short"] = "raise"  # A user of truth may have no row, which is not refused.
    if options.has_truth and relevance is not None:
        first["unjudged"] = "nonrelevant"
    first = {name: one for name, one in first.items() if name not in fixed}
    while True:
        try:
            measure(first, [metric.label])
            break
        except RecframeError as error:
            if not error.answers or not error.answers.keys() <= CONVENTIONS.keys():
                raise  # It asks for more than conventions.
            first |= error.answers
    grades = set() if relevance is None else set(relevance.dropna())
    if "min_relevance" in first or "min_relevance" in fixed:
        first |= {} if "gain" in fixed else {"gain": "linear"}
    few = sorted(one for one in grades if one > 0) if len(grades) <= MAX_GRADES else []
    values = {**CONVENTIONS, "min_relevance": few}
    return {
        name: [one, *(two for two in values[name] if two != one)] for name, one in first.items()
    }


def list_changes(
    values: dict[str, list[Any]], options: Options, means: Callable[[Changes], pd.DataFrame]
) -> Iterator[Changes]:
    """Yield options: each value by itself and two of them together, and those of libraries.

    Values that change no mean, whatever the population is, are not combined.
    """
    populations = [{"population": one} for one in values.get("population", ())] or [{}]
    single: list[Changes] = [
        {name: one}
        for name, (_, *others) in values.items()
        for one in others
        if any(not means(each | {name: one}).equals(means(each)) for each in populations)
    ]
    pairs = [one | two for one, two in combinations(single, 2) if one.keys() != two.keys()]
    yield from [{}, *single, *pairs]
    fixed = list_changed(options)
    for library, own in LIKE.items() if options.like is None else ():
        if all(repr(getattr(options, name)) == repr(own[name]) for name in own if name in fixed):
            others = [one for one in ({}, *single) if own.keys().isdisjoint(one)]
            yield from ({**own, **one, "like": library} for one in others)


def try_conventions(
    metrics: list[Metric],
    options: Options,
    measure: Measure,
    relevance: pd.Series | None,
    spell: Callable[[str, Changes], str],
) -> pd.DataFrame:
    """Return the means under every convention, in a row for each, the simplest first.

    `measure` returns the means of metrics under other options, with a row for each score. The index
    has the convention and the call as text, and the library whose own this is.
    """
    values = find_open(metrics[0], options, measure, relevance)
    first = {name: one for name, (one, *_) in values.items()}
    known, trials = dict[str, pd.DataFrame](), dict[tuple[Any, ...], pd.Series]()

    def means(change: Changes) -> pd.DataFrame:
        asked = {name: change.get(name, one) for name, one in first.items()}
        if change.get("like") in NEGATIVE_UNJUDGED:
            asked["like"] = change["like"]
        if (key := repr(asked)) not in known:
            known[key] = pd.DataFrame()  # It stays empty if the convention is refused.
            with suppress(RecframeError):
                known[key] = measure(asked, list_accepted(metrics, vars(options) | asked))
        return known[key]

    for change in list_changes(values, options, means):
        plain = DEFAULTS | LIKE.get(change.get("like", ""), {})
        passed = {
            name: one for name, one in (first | change).items() if repr(one) != repr(plain[name])
        }
        library = change["like"] if passed.keys() == {"like"} else ""
        for label in list_accepted(metrics, vars(options) | change):
            if label in (table := means(change)):
                texts = " ".join([label, *spell_arguments(passed)]), spell(label, passed)
                trials[label != metrics[0].label, len(passed), *texts, library] = table[label]
    names = ["is_other", "n_options", "convention", "call", "library"]
    tried = pd.DataFrame([*trials.values()], pd.MultiIndex.from_tuples(trials, names=names))
    return tried.sort_index(level=[0, 1], kind="stable", sort_remaining=False)


def reconcile_table(
    trials: pd.DataFrame, score: Hashable, reported: tuple[float, int]
) -> CallTable:
    """Return a row for each distinct mean by a score, the nearest to a reported number first."""
    number, digits = reported
    rows = trials[score].dropna().rename("value").reset_index()
    rounded, difference = rows["value"].round(DECIMALS), rows["value"] - number
    by_value = rows.groupby(rounded)
    rows = rows.assign(
        difference=difference,
        matches=difference.abs() <= 0.5 * 10.0**-digits + 10.0**-DECIMALS,
        n_calls=by_value["call"].transform("size"),
        libraries=by_value["library"].transform(lambda names: ", ".join(filter(None, names))),
    )[~rounded.duplicated()].sort_values("difference", key=abs, kind="stable")
    facts = Facts(means_matching=int(rows["matches"].sum()), calls_tried=int(rows["n_calls"].sum()))
    facts["numbers_of_means"] = rows["value"].round(digits).nunique()
    width = np.nan_to_num(rows["value"].max() - rows["value"].min())
    facts["numbers_in_range"] = round(width * 10**digits) + 1
    facts["means_alike"] = facts["means_matching"] * (facts["means_matching"] > 1)
    return with_notes(CallTable(rows.set_index("convention")[COLUMNS]), list_notes(facts))


def robustness_table(trials: pd.DataFrame, metric: Metric) -> CallTable:
    """Return the lowest and the highest mean by each score, and its ranks among the scores."""
    means = trials.droplevel([0, 1, 3, 4]).dropna(axis=1, how="all")
    is_low_best = DEFINITIONS[metric.name].better == "low"
    ranks = means.round(DECIMALS).rank(axis=1, method="min", ascending=is_low_best)
    columns = {"lowest": means.min(), "highest": means.max()}
    columns |= {"best_rank": ranks.min().astype(int), "worst_rank": ranks.max().astype(int)}
    columns |= {"lowest_by": means.idxmin(), "highest_by": means.idxmax()}
    n_same = int(ranks.value_counts().max())
    facts = Facts({f"best:{as_text(one)}": int((ranks[one] == 1).sum()) for one in ranks})
    facts |= Facts(calls_ordered=len(means), calls_reordered=len(means) - n_same)
    table = CallTable(pd.DataFrame(columns).reindex(trials.columns).rename_axis("score"))
    return with_notes(table, list_notes(facts) if len(ranks.columns) > 1 else [])
