"""Reconciling: the means of a metric under every convention that a frame leaves open."""

import warnings
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recframe.analysis.display import MAX_SHOWN, NotedTable, as_plain, with_notes
from recframe.conventions import LIKE, check_like, read_library_names
from recframe.errors import RecframeError, RecframeWarning, as_text, quote
from recframe.frames.columns import Columns, find_companion_columns
from recframe.frames.grades import MAX_GRADES
from recframe.frames.judgments import NEGATIVE_UNJUDGED, load_frame
from recframe.frames.names import get_column
from recframe.kernel.ranking import TIE_RULES
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import Metric, make_metric, parse_metrics
from recframe.note_kinds import Facts
from recframe.notes import list_notes
from recframe.options import CHOICES, DEFAULTS, Options, list_changed, spell_arguments

Changes = dict[str, Any]  # options by name

# The grades of the frame or of truth become values of `min_relevance`.
CONVENTIONS: dict[str, list[Any]] = {
    name: [one for one in CHOICES[name] if one != "raise"]
    for name in ("population", "short", "ties", "missing", "null_relevance", "duplicates", "gain")
}
CONVENTIONS |= {"zero_division": [0.0, 1.0], "min_relevance": [], "unjudged": ["drop"]}
CAPPED = {"recall": "capped_recall", "average_precision": "capped_average_precision"}
CAPPED |= {capped: plain for plain, capped in CAPPED.items()}
OFFSETS = (0, 2)  # under the logarithm of nDCG and DCG, in place of 1
CALL_COLUMNS = ["value", "difference", "matches", "n_calls", "libraries", "call"]
DECIMALS = 12  # The order of a sum changes later ones.


class CallTable(NotedTable):
    """A table of conventions whose text leaves out the column of calls."""

    def __repr__(self) -> str:
        """Return all other columns, in blocks where the display is too narrow, and the notes."""
        table = NotedTable(as_plain(self).drop(columns="call", errors="ignore"))
        with pd.option_context("display.max_columns", MAX_SHOWN, "display.max_colwidth", None):
            return repr(with_notes(table, self.notes))


class Conventions(NamedTuple):
    """The conventions that an accessor leaves open.

    `answer` returns the accessor with other options, `collect` its table as one of pandas, and
    `read_values` a column. `call` is the accessor in a call.
    """

    options: Options
    columns: Columns
    answer: Callable[[Changes], Any]
    collect: Callable[[Any], pd.DataFrame]
    read_values: Callable[[Hashable], pd.Series]
    call: str

    def measure(self, metrics: list[Metric], changes: Changes) -> pd.DataFrame:
        """Return the means of metrics under other options, with a row for each score."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecframeWarning)
            labels = [metric.label for metric in metrics]
            table = self.collect(self.answer(changes).mean(labels))
        return table.set_index("score") if "score" in table else table

    def read_relevance(self) -> pd.Series | None:
        """Return the column of relevance, None if every pair of truth is relevant."""
        columns, read = self.columns, self.read_values
        if self.options.has_truth:
            truth = load_frame("truth", self.options.truth, self.options)
            columns = find_companion_columns("truth", truth, columns, self.options)
            read = partial(get_column, truth)
        return None if columns.relevant is None else read(columns.relevant)

    def find_open(self, metric: Metric) -> dict[str, list[Any]]:
        """Return the values of each option that may change a metric.

        The first is the default, or answers a refusal. Options that the accessor was called with
        are left out, as they stay.
        """
        relevance, fixed = self.read_relevance(), list_changed(self.options)
        first = Changes(ties="expected", zero_division=np.nan)
        if self.options.has_truth:
            if metric.k is not None:
                first["short"] = "raise"  # A user of truth may have no row, which is not refused.
            if relevance is not None:
                first["unjudged"] = "nonrelevant"
        first = {name: one for name, one in first.items() if name not in fixed}
        while True:
            try:
                self.measure([metric], first)
                break
            except RecframeError as error:
                answers = error.answers
                if not answers.keys() <= CONVENTIONS.keys() or answers.items() <= first.items():
                    raise  # It asks for more than conventions, or for nothing new.
                first |= answers
        grades = set() if relevance is None else set(relevance.dropna())
        needs_gains = DEFINITIONS[metric.name].needs_gains
        if needs_gains and "min_relevance" not in fixed and not grades <= {0, 1}:
            first = {"min_relevance": None, **first}  # Grades alone need no threshold.
        if "gain" not in fixed and "min_relevance" in fixed | first:
            first["gain"] = "linear"
        few = sorted(one for one in grades if one > 0) if len(grades) <= MAX_GRADES else []
        values = {**CONVENTIONS, "min_relevance": few}
        if self.columns.model is not None:  # The rows of models have no order in common.
            values["ties"] = [one for one in values["ties"] if not TIE_RULES[one].row_order]
        return {name: [one, *(v for v in values[name] if v != one)] for name, one in first.items()}

    def try_all(self, metrics: list[Metric]) -> pd.DataFrame:
        """Return the means under every convention, in a row for each, the simplest first.

        The index has the convention and the call as text, and the library whose own this is.
        Conventions that are refused are left out.
        """
        values = self.find_open(metrics[0])
        first = {name: one for name, (one, *_) in values.items()}
        known, trials = dict[str, pd.DataFrame](), dict[tuple[Any, ...], pd.Series]()

        def means(change: Changes) -> pd.DataFrame:
            asked = {name: change.get(name, one) for name, one in first.items()}
            if change.get("like") in NEGATIVE_UNJUDGED:
                asked["like"] = change["like"]
            if (key := repr(asked)) not in known:
                known[key] = pd.DataFrame()  # It stays empty if the convention is refused.
                with suppress(RecframeError):
                    known[key] = self.measure(metrics, asked)
            return known[key]

        for change in list_changes(values, self.options, means):
            plain = DEFAULTS | LIKE.get(change.get("like", ""), {})
            passed = {n: one for n, one in (first | change).items() if repr(one) != repr(plain[n])}
            like = change["like"] if passed.keys() == {"like"} else ""
            for metric in metrics if len(means(change)) else ():
                with suppress(RecframeError):
                    check_like([metric], vars(self.options) | change)
                    label, arguments = metric.label, spell_arguments(passed)
                    of_call = ", ".join(spell_arguments(list_changed(self.options) | passed))
                    call = f"{self.call}({of_call})".removesuffix("()") + f".mean({label!r})"
                    texts = " ".join([label, *arguments]), call
                    library = like if has_figure(like, metric) else ""
                    key = metric != metrics[0], len(passed), *texts, library
                    trials[key] = means(change)[label]
        names = ["is_other", "n_options", "convention", "call", "library"]
        tried = pd.DataFrame([*trials.values()], pd.MultiIndex.from_tuples(trials, names=names))
        return tried.sort_index(level=[0, 1], kind="stable", sort_remaining=False)


def list_changes(
    values: dict[str, list[Any]], options: Options, means: Callable[[Changes], pd.DataFrame]
) -> Iterator[Changes]:
    """Return options to try: single values, pairs of them, and options of libraries.

    Values that change no mean, whatever the population or the gain is, are not combined.
    """
    others = [{name: one} for name in ("population", "gain") for one in values.get(name, ())]
    single: list[Changes] = [
        {name: one}
        for name, (_, *further) in values.items()
        for one in further
        if any(not means(each | {name: one}).equals(means(each)) for each in (others or [{}]))
    ]
    pairs = [one | two for one, two in combinations(single, 2) if one.keys() != two.keys()]
    yield from [{}, *single, *pairs]
    fixed = list_changed(options)
    for library, preset in LIKE.items() if options.like is None else ():
        if all(repr(fixed[name]) == repr(preset[name]) for name in preset.keys() & fixed.keys()):
            left = [one for one in ({}, *single) if preset.keys().isdisjoint(one)]
            yield from ({**preset, **one, "like": library} for one in left)


def has_figure(library: str, metric: Metric) -> bool:
    """Return whether a library has a metric with this definition."""
    name = make_metric(metric.name, metric.k, **dict(metric.parameters)).label.partition("@")[0]
    of_library = [one for one in read_library_names() if one.library == library]
    return any((one.equals or one.metric).partition("@")[0] == name for one in of_library)


def list_metrics(label: str, options: Options) -> list[Metric]:
    """Return the metrics that libraries may mean by a label, first the one that it names."""
    (metric,) = parse_metrics([label], options.map_at_k or "average_precision")
    name, parameters, k = metric[1:]
    if options.like is not None:
        return [metric]
    if name in CAPPED and k is not None:
        return [metric, make_metric(CAPPED[name], k)]
    offsets = OFFSETS if name in ("ndcg", "dcg") and not parameters else ()
    return [metric, *(make_metric(name, k, offset=one) for one in offsets)]


def read_reported(value: object, digits: int | None, metric: Metric) -> tuple[float, int]:
    """Return the number reported for a metric, and how many decimals it has."""
    try:
        number = Decimal(str(value))
        exponent = int(number.as_tuple().exponent)  # It is a letter if the number is not finite.
        n_decimals = min(DECIMALS, max(0, -exponent) if digits is None else digits)
        definition = DEFINITIONS[metric.name]
        is_out = (number > 1 and definition.is_bounded) or (number < 0 and not definition.of_column)
        if n_decimals < 0 or is_out:
            raise ValueError
        return float(round(number, n_decimals)), n_decimals
    except (ArithmeticError, TypeError, ValueError):
        raise RecframeError(
            f"value must be a number that {metric.label} can have, or its text, such as '0.3120' "
            "(not per cent), and digits None or the number of its decimals, but they are "
            f"{quote(value)} and {quote(digits)}"
        ) from None


def reconcile_table(
    conventions: Conventions, label: str, value: object, digits: int | None, score: Hashable
) -> CallTable:
    """Return a row for each distinct mean by a score, the nearest to a reported number first."""
    metrics, scores = list_metrics(label, conventions.options), conventions.columns.scores
    number, n_decimals = read_reported(value, digits, metrics[0])
    score = scores[0] if score is None and len(scores) == 1 else score
    if score not in scores:
        raise RecframeError(
            f"score must be one of {quote(scores)}, but is {quote(score)}. Pass score=, the one "
            "whose mean the value is."
        )
    if len(scores) > 1 and conventions.columns.model is None:  # the calls give one mean
        conventions = conventions._replace(options=replace(conventions.options, score=score))
    rows = conventions.try_all(metrics)[score].dropna().rename("value").reset_index()
    rounded, difference = rows["value"].round(DECIMALS), rows["value"] - number
    by_value = rows.groupby(rounded)
    rows = rows.assign(
        difference=difference,
        matches=difference.abs() <= 0.5 * 10.0**-n_decimals + 10.0**-DECIMALS,
        n_calls=by_value["call"].transform("size"),
        libraries=by_value["library"].transform(
            lambda names: ", ".join(names[names != ""].unique())
        ),
    )[~rounded.duplicated()].sort_values("difference", key=abs, kind="stable")
    n_matches, n_means = int(rows["matches"].sum()), rows["value"].round(n_decimals).nunique()
    width = np.nan_to_num(rows["value"].max() - rows["value"].min())
    facts = Facts(
        calls_tried=int(rows["n_calls"].sum()),
        means_matching=n_matches,
        means_alike=n_matches if n_matches > 1 else 0,
        numbers_of_means=n_means,
        numbers_in_range=max(n_means, round(width * 10**n_decimals) + 1),
    )
    return with_notes(CallTable(rows.set_index("convention")[CALL_COLUMNS]), list_notes(facts))


def robustness_table(conventions: Conventions, label: str) -> CallTable:
    """Return the lowest and the highest mean by each score, and its ranks among the scores."""
    metrics = list_metrics(label, conventions.options)
    means = conventions.try_all(metrics).droplevel([0, 1, 3, 4]).dropna(axis=1, how="all")
    is_low_best = DEFINITIONS[metrics[0].name].better == "low"
    ranks = means.round(DECIMALS).rank(axis=1, method="min", ascending=is_low_best)
    columns = {"lowest": means.min(), "highest": means.max()}
    columns |= {"best_rank": ranks.min().astype(int), "worst_rank": ranks.max().astype(int)}
    columns |= {"lowest_by": means.idxmin(), "highest_by": means.idxmax()}
    n_same = int(ranks.value_counts().max())
    facts = Facts({f"best:{as_text(one)}": int((ranks[one] == 1).sum()) for one in ranks})
    facts |= Facts(calls_ordered=len(means), calls_reordered=len(means) - n_same)
    table = pd.DataFrame(columns).reindex(conventions.columns.scores).rename_axis("score")
    return with_notes(CallTable(table), list_notes(facts) if len(ranks.columns) > 1 else [])
