"""Means over users: with intervals, and at each cut-off."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from recframe.analysis.compare import Comparison
from recframe.analysis.display import WORDS
from recframe.analysis.intervals import has_limits, mean_interval, spread_by, weigh_users
from recframe.analysis.paper_tables import MeanTable, ResultTable
from recframe.analysis.pictures import draw_curves
from recframe.analysis.trusted import align_people, interval_by_both
from recframe.errors import RecframeError, as_text, quote
from recframe.frames.duplicates import find_repeated
from recframe.frames.ids import sort_ids
from recframe.frames.interactions import Interactions
from recframe.frames.tables import check_lengths, measure_table
from recframe.kernel.grouping import combine
from recframe.kernel.threads import Array
from recframe.metrics.definitions import DEFINITIONS
from recframe.metrics.names import (
    Metric,
    check_k,
    find_map_at,
    list_values,
    parse_metric,
    parse_name,
    required_parameters,
)
from recframe.metrics.other_names import describe_map, read_synonym
from recframe.metrics.recipes import find_recipe
from recframe.notes import facts_noted, is_noting, note
from recframe.options import Options

LAST_K = 50  # the last cut-off of a curve by default
N_ROWS_SEEN = 1_000  # rows of a sample
OF_R = {"recall", "average_precision", "ndcg", "r_precision"}  # They read all relevant items.
LEAST_FILLED = 0.1  # the share of rows that have the lowest of two scores


def curve_metrics(name: object, k: object, map_at_k: str = "") -> list[Metric]:
    """Return a metric at every cut-off; raise if one is invalid.

    The name "map" means the metric `map_at_k`, and is refused without it.
    """
    is_map = isinstance(name, str) and find_map_at(f"{name}@k") != ""
    name = map_at_k if is_map and map_at_k else name
    names = [known for known, (_, cut_off, *_) in DEFINITIONS.items() if cut_off != "none"]
    if parse_name(name) not in names:
        shown = {known: repr(f"{known}{required_parameters(known)}") for known in names}
        *others, last = shown.values()
        synonym = read_synonym(name) if isinstance(name, str) else None
        recipe = find_recipe(name) if isinstance(name, str) else ""
        hint = f"; did you mean {shown[synonym.name]}?" if synonym and synonym.name in shown else ""
        hint = f"; did you mean {describe_map('k')}?" if is_map else hint or recipe
        listed = f"{', '.join(others)} or {last}"
        raise RecframeError(f"metric: a curve takes {listed}, not {quote(name)}{hint}")
    if k is None or isinstance(k, Integral):
        end, least = LAST_K if k is None else check_k(k), DEFINITIONS[parse_name(name)].least_k
        k = range(min(least, end), end + 1)
    cut_offs = list_values("k", "a number or several cut-offs, such as range(1, 51)", k)
    metrics = [parse_metric(f"{name}@{check_k(cut_off)}") for cut_off in cut_offs]
    if not metrics:
        raise RecframeError("k must hold at least one cut-off, but holds none")
    if len(set(metrics)) < len(metrics):
        raise RecframeError(f"k must hold each cut-off once, but is {quote(cut_offs)}")
    return metrics


def measure_noted(
    interactions: Interactions,
    options: Options,
    metrics: list[Metric],
    *,
    is_single: bool = False,
    is_whole: bool = False,
) -> pd.DataFrame:
    """Return the metrics of every user, and note facts that change the meaning of the values.

    The columns of a single metric may be the scores alone. A curve over whole rankings (`is_whole`)
    shows by itself where rankings end.
    """
    table = measure_table(interactions, options, metrics)
    # With truth, relevant items do not end where lists do, but the rows of a share do.
    noted = [one for one in metrics if one.name == "share" or not options.has_truth]
    note_rankings(interactions, [] if is_whole else noted)
    if is_noting():
        note_undefined(table)
        if interactions.columns.item is None and options.duplicates != "keep":
            note_repeated(interactions)
    if is_single:
        table.columns = table.columns.unique("score").rename(metrics[0].label)
    return table


def note_relevance(interactions: Interactions) -> None:
    """Note the number of ranked rows that are relevant, and of other ranked rows."""
    relevant: Array = interactions.relevant
    masks: list[Any] = [mask for _, mask in interactions.scores.values()]
    n_rows = len(relevant)
    if not any(mask is None for mask in masks):
        is_ranked = np.logical_or.reduce(masks)
        note(relevant_not_ranked=int(np.count_nonzero(relevant & ~is_ranked)))
        relevant, n_rows = relevant & is_ranked, int(np.count_nonzero(is_ranked))
    n_relevant = int(np.count_nonzero(relevant))
    # Without a threshold, all rows may have a grade above 0.
    are_grades = interactions.columns.of_grades and interactions.grades is not None
    if interactions.is_judged and not (are_grades and n_relevant):
        note(ranked_rows_relevant=n_relevant, ranked_rows_not_relevant=n_rows - n_relevant)


def note_rankings(interactions: Interactions, metrics: list[Metric]) -> None:
    """Note empty lists, and lists that end at or before the cut-offs of metrics.

    Recall is 1 for a list that is not longer than its cut-off. Lists of equal length may lack
    relevant items that other metrics ask for. A single row of a user has no order.
    """
    if not is_noting(mistakes=True):
        return
    note_relevance(interactions)
    note_filled(interactions)
    note_item_scores(interactions)
    groups, scores = interactions.users.groups, interactions.scores
    of_scores = [
        np.diff(groups.offsets) if is_ranked is None else groups.count(is_ranked)
        for _, is_ranked in scores.values()
    ]
    lengths = np.reshape(of_scores, (len(scores), groups.n_groups))
    n_empty = np.count_nonzero(lengths == 0, axis=1).tolist()
    numbers = {f"empty:{as_text(one)}": n for one, n in zip(scores, n_empty, strict=True)}
    if len(lengths) > 1:
        n_lists = np.count_nonzero(lengths, axis=0)
        numbers["users_of_one_score"] = int(np.count_nonzero(n_lists == 1))
        numbers["users_of_several_scores"] = int(np.count_nonzero(n_lists > 1))
    asked = [one.name for one in metrics if not DEFINITIONS[one.name].zero_without_relevant]
    asked = [name for name in asked if name not in ("mean", "diversity")]
    deepest = max((one.k for one in metrics if one.k), default=0)
    of_all = [one.k or 0 for one in metrics if one.name in ("recall", "share")]
    if of_recall := max(of_all, default=0):
        numbers |= {
            "rankings": lengths.size,
            "rankings_longer_than_recall": int(np.count_nonzero(lengths > of_recall)),
            "shares": asked.count("share"),
        }
    if asked and groups.n_groups and interactions.is_judged:
        longest = int(lengths[0].max())
        are_equal = bool((lengths == longest).all())
        numbers["users_of_one_row"] = groups.n_groups * (are_equal and longest == 1)
        is_cut = longest <= deepest
        if are_equal and (is_cut or (OF_R.intersection(asked) and _have_own_items(interactions))):
            n_bare = int(np.count_nonzero(groups.count(interactions.relevant) == 0))
            numbers[f"rankings_{'of' if is_cut else 'like_lists'}:{longest}"] = 1
            numbers["rankings_without_relevant_rows"] = n_bare
        else:
            numbers["rankings_that_vary"] = 1
    note(users=groups.n_groups, no_user=int(groups.n_groups == 0), **numbers)


def _have_own_items(interactions: Interactions) -> bool:
    """Return whether the first two users have different items, as in lists of recommendations."""
    items, groups = interactions.items, interactions.users.groups
    if items is None or groups.n_groups < 2:
        return False
    first = groups.rows(slice(0, groups.offsets[2]))
    return len(np.unique(items.codes[first])) > int(groups.offsets[1])


def note_item_scores(interactions: Interactions) -> None:
    """Note that scores fall if items decide them: they rise down rows in the order of items."""
    items, rising = interactions.items, facts_noted().find("rising:")
    if not rising or items is None:
        return
    _, values = np.unique(next(iter(interactions.scores.values()))[0], return_inverse=True)
    n_items, n_pairs = (len(np.unique(one)) for one in (items.codes, combine(items.codes, values)))
    note(scores_that_fall=int(n_items == n_pairs < len(values)))


def note_filled(interactions: Interactions) -> None:
    """Note scores whose lowest value seems to be filled in where another table had a row.

    Most users have several rows of this score. These are all relevant, unlike the others, or
    another score ranks each of them.
    """
    scores, groups = interactions.scores, interactions.users.groups
    if groups.n_rows == 0 or any(is_ranked is not None for _, is_ranked in scores.values()):
        return
    filled, are_parted = dict[str, Array](), False
    for step in (1 + groups.n_rows // N_ROWS_SEEN, 1):  # Some rows usually decide.
        relevant, parts = interactions.relevant[::step], [one[::step] for one, _ in scores.values()]
        lows = [part == part.min() for part in parts]
        are_parted = len(lows) > 1 and min(low.mean() for low in lows) >= LEAST_FILLED
        are_parted = are_parted and not np.logical_and.reduce(lows).any()
        filled = {
            as_text(label): low
            for label, low in zip(scores, lows, strict=True)
            if are_parted or (relevant[low].all() and 0 < relevant[~low].sum() < (~low).sum())
        }
        if not filled:
            return
    numbers = {one: int(np.count_nonzero(groups.count(low) > 1)) for one, low in filled.items()}
    if are_parted:
        numbers = dict.fromkeys(numbers, min(numbers.values()))
    note(**{f"filled:{label}": n for label, n in numbers.items()})


def note_undefined(per_user: pd.DataFrame) -> None:
    """Note the number of users without a value in each metric, for any score and for some only."""
    are_nan = np.isnan(per_user.to_numpy().T)
    if not are_nan.any():
        return
    labels = per_user.columns.unique("metric")
    are_nan = are_nan.reshape(-1, len(labels), len(per_user))
    n_any, n_all = (np.count_nonzero(one(axis=0), axis=1) for one in (are_nan.any, are_nan.all))
    for name, counts in (("undefined", n_any), ("users_of_some_scores", n_any - n_all)):
        numbers = zip(labels, counts.tolist(), strict=True)
        note(**{f"{name}:{as_text(label)}": n for label, n in numbers})


def note_repeated(interactions: Interactions) -> None:
    """Note a column that seems to hold items and has an item twice for a user."""
    frame, columns, rows, (_, groups), *_ = interactions  # no column of items is known
    places = np.linspace(0, groups.n_rows, 3, endpoint=False, dtype=int)
    sample = np.unique(np.add.outer(places, np.arange(N_ROWS_SEEN)))
    sample = sample[sample < groups.n_rows]
    of_frame = sample if rows is None else rows[sample]
    if (label := find_repeated(frame, columns, of_frame, groups.codes[sample])) is not None:
        note(**{f"repeats:{quote(label)}": 1})


def measure_curve(
    interactions: Interactions, options: Options, metrics: list[Metric]
) -> pd.DataFrame:
    """Return a metric of every user at each cut-off, infinite beyond the user's last row.

    There ``short="raise"`` would refuse. A curve is refused for a user with fewer rows than its
    first cut-off. Means are infinite at the cut-offs that some user's ranking does not reach.
    """
    padded = replace(options, short="pad") if options.short == "raise" else options
    table = measure_noted(interactions, padded, metrics, is_whole=True)
    if options.short != "raise":
        return table
    order, cut_offs = sort_ids(interactions.users.ids), np.array([metric.k for metric in metrics])
    beyond = []
    for score in interactions.scores:
        rankings = interactions.rankings(score, options)
        check_lengths(rankings, interactions.users.ids, score, int(cut_offs.min()), options)
        n_ranked = rankings.n_ranked[order, None]
        # A user of truth may have no row; an empty list is never too short.
        beyond.append((n_ranked < cut_offs) & (n_ranked > 0))
    is_beyond = np.concatenate(beyond, axis=1)
    return table.mask(is_beyond, np.inf) if is_beyond.any() else table


class CurveTable(MeanTable):
    """A DataFrame of a metric by cut-off, which draws itself."""

    def plot(  # type: ignore[override]  # pandas' plot is an accessor
        self, ax: Any = None, figsize: Any = None, *, legend: bool = True, **arguments: Any
    ) -> Any:
        """
        Draw a line for each model over the cut-offs, in a panel for each segment.

        The first eight models differ in colour, others in the style of the line too.

        Parameters
        ----------
        ax : Axes of Matplotlib, or as many as there are segments, default None
            The axes to draw on; None: a new figure.
        figsize : tuple of float, default None
            Width and height of a new figure in inches.
        legend : bool, default True
            Whether a legend stands at the right of the panels.
        **arguments
            Those of ``DataFrame.plot``, such as ``marker="."``. Other backends than Matplotlib get
            the whole table.

        Returns
        -------
        ndarray of Axes
            One for each segment, or a single one.

        Raises
        ------
        RecframeError
            The number of `ax` is not that of segments.
        ImportError
            The picture needs Matplotlib, the extra ``plot``.
        """
        return draw_curves(pd.DataFrame(self), ax, figsize, legend, arguments)


def curve_table(means: pd.DataFrame, metrics: list[Metric]) -> pd.DataFrame:
    """Return means as a table with a row for each cut-off and a column for each score.

    Cut-offs that a ranking does not reach are left out. Segments, which are outer levels of the
    index, each have these rows.
    """
    scores, ks = means.index.unique("score"), pd.Index([metric.k for metric in metrics], name="k")
    values = means.to_numpy().reshape(-1, len(scores), len(ks)).swapaxes(1, 2)
    index = means.index[:: len(scores)].repeat(len(ks))
    curve = pd.DataFrame(values.reshape(-1, len(scores)), index, scores)
    curve = curve.set_index(ks.take(np.arange(len(curve)) % len(ks)), append=True)
    curve = curve.droplevel("score").rename_axis(columns=f"{metrics[0].label.rpartition('@')[0]}@k")
    return CurveTable(curve[~np.isinf(curve).any(axis=1)])


def summary_table(
    per_user: pd.DataFrame,
    weights: pd.Series | None = None,
    *,
    how: Comparison,
) -> pd.DataFrame:
    """Return the mean of every column of a per-user table, with its interval over users.

    If people's values of some users are trusted, the table's values are those of a judge.
    """
    per_user, counted = weigh_users(per_user, weights, how.unit)
    metrics, rows = per_user.columns.get_level_values("metric"), []
    people = None if how.trusted is None else align_people(how.trusted, per_user)
    row: dict[str, Any]
    for number, (metric, values) in enumerate(zip(metrics, per_user.to_numpy().T, strict=True)):
        known = values[~np.isnan(values)]
        is_limited = has_limits(metric, known)
        if people is None:
            spread = pd.Series(spread_by(*counted.join(values)))
            low, high, interval = mean_interval(spread.to_numpy(), is_limited, how.resampling)
            row = {"mean": spread.mean(), "low": low, "high": high, "n_users": len(spread)}
            row |= {"interval": WORDS[interval], "standard_error": spread.sem()}
        else:
            name = f"{as_text(metric)} of {as_text(per_user.columns[number][0])}"
            both = people[number], values, counted, name, how.resampling
            estimate, figures, _ = interval_by_both(*both, is_limited=is_limited)
            row = {"mean": estimate.mean, **figures, "standard_error": estimate.error}
        rows.append({**row, "n_undefined": len(values) - len(known)})
    table = ResultTable(rows, per_user.columns)
    if people is not None:
        # The metrics in which the judge puts models in another order.
        places = table[["mean", "judge_mean"]].groupby(level="metric").rank()
        differ = places["mean"].notna() & (places["mean"] != places["judge_mean"])
        for metric in table.index[differ].unique("metric"):
            note(**{f"judge_of_other_order:{as_text(metric)}": 1})
    if not table["n_undefined"].any():
        table = table.drop(columns="n_undefined")
    table.attrs = {"confidence": how.resampling.confidence}
    return table
