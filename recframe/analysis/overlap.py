"""The overlap of models: how alike the rankings of each user by two scores are.

Each ranking orders its tied rows at random, by itself. A row is among the first d of a ranking with
the probability (d - above) / tied, at least 0 and at most 1, and among the first d of both with the
product. The sum of the products is the expected number of shared items at depth d. Only one tie of
a ranking is cut by d, so all rows that d cuts there have the same probability: rows are counted,
and the integers are multiplied by one or two probabilities.

Example: a ranking with b alone at the top, and one with a and b tied there. Row b is among the
first of both with probability 1 * 1/2, so they share 1/2 item at depth 1.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pandas as pd

from recframe.analysis.display import NotedTable
from recframe.analysis.summary import note_rankings
from recframe.errors import RecframeError, is_number, quote
from recframe.frames.ids import sort_ids
from recframe.frames.interactions import Interactions
from recframe.frames.tables import check_lengths, make_columns
from recframe.kernel.counting import Positions, find_positions
from recframe.kernel.grouping import group_offsets, number_members, run_starts
from recframe.kernel.threads import Array
from recframe.metrics.names import check_k
from recframe.notes import note
from recframe.options import Options


def check_overlap(scores: list[Hashable], k: Any, rbo: Any) -> str:
    """Return the label of the measure that `overlap` is asked for; raise unless it is one."""
    if (k is None) == (rbo is None):
        raise RecframeError(
            f"overlap takes either k or rbo, not k={quote(k)} and rbo={quote(rbo)}. Pass k=10 "
            "for the items among the first k, or rbo=0.9 for rank-biased overlap."
        )
    if rbo is None:
        label = f"overlap@{check_k(k)}"
    elif is_number(rbo) and 0 <= rbo < 1:
        label = f"rbo(p={repr(float(rbo)).removesuffix('.0')})"
    else:
        raise RecframeError(
            "rbo must be the probability of going on to the next rank, a number in [0, 1), but is "
            f"{quote(rbo)}. Pass rbo=0.9."
        )
    if len(scores) < 2:
        raise RecframeError(
            f"overlap needs two score columns or more, but has {quote(scores)}. Pass score= a list "
            "of them, or model= the column that says which model a row is of."
        )
    return label


def measure_overlap(
    interactions: Interactions, options: Options, k: int | None, rbo: float | None, label: str
) -> pd.DataFrame:
    """Return how alike the rankings of every user are, in a column for each two scores."""
    scores, users = list(interactions.scores), interactions.users
    order = sort_ids(users.ids)
    note_rankings(interactions, [])
    lists, lengths = [], []
    for score in scores:
        rankings = interactions.rankings(score, options)
        check_lengths(rankings, users.ids, score, k or 0, options)
        lists.append(find_positions(rankings, options.tie_rule, k))
        lengths.append(rankings.n_ranked)
    values = np.ones((len(scores), len(scores), len(order)))  # A ranking equals itself.
    for one, other in combinations_with_replacement(range(len(scores)), 2):
        shorter, longer = np.sort([lengths[one], lengths[other]], axis=0)
        alike = values[one, other]
        if one != other:
            depths = longer if k is None else np.minimum(k, longer)
            shared, offsets = _expect_shared(lists[one], lists[other], depths)
            if k is None:
                alike[:] = _weigh_ranks(shared, offsets, shorter, longer, float(rbo or 0))
            else:
                size = np.sqrt(np.minimum(k, shorter) * depths) if options.short == "shrink" else k
                alike[:] = shared[offsets[1:] - 1] / np.maximum(size, 1)
        alike[longer == 0] = options.zero_division
        alike[shorter < (k or 0) * (options.short == "nan")] = np.nan
        values[other, one] = alike
    is_undefined = np.isnan(values[np.triu_indices(len(scores), 1)]).any(axis=0)
    note(**{f"undefined:{label}": int(is_undefined.sum())})
    table = values.reshape(len(scores) ** 2, len(order)).T[order]
    return pd.DataFrame(table, users.ids.take(order), make_columns(scores, scores), copy=False)


def overlap_table(means: pd.DataFrame, label: str) -> pd.DataFrame:
    """Return means over users as a table with a row and a column for each score."""
    scores = means.index.rename("other_score")
    return NotedTable(means.to_numpy(), scores, scores.rename(label))


def _weigh_ranks(shared: Array, offsets: Array, shorter: Array, longer: Array, p: float) -> Array:
    """Return the extrapolated rank-biased overlap with persistence p, from shared items by depth.

    In equation 32 of Webber, Moffat and Zobel the share of items in common at depth d has the
    weight (1 - p) p^(d - 1). Beyond the shorter ranking it adds its share to each further item of
    the longer one; beyond both, nothing changes.
    """
    user, above = number_members(longer)
    share = shared[offsets[:-1] + shorter - 1] * (shorter > 0) / np.maximum(shorter, 1)
    added = np.maximum(above + 1 - shorter[user], 0) * share[user]
    weight = p**above * np.where(above + 1 < longer[user], 1 - p, 1)
    return np.bincount(user, (shared[:-1] + added) / (above + 1) * weight, len(longer))


def _expect_shared(one: Positions, other: Positions, depths: Array) -> tuple[Array, Array]:
    """Return the expected numbers of shared items at the depths of each user, and their offsets."""
    offsets = group_offsets(depths)
    row = np.full(max(each.row.max(initial=-1) for each in (one, other)) + 1, -1)
    row[other.row] = np.arange(len(other.row))
    row = row[one.row]
    _, first, size, user = (column[row >= 0] for column in one)
    _, other_first, other_size, _ = (column[row[row >= 0]] for column in other)
    above, other_above = first - 1, other_first - 1
    end, other_end = above + size, other_above + other_size

    def count_in(after: Array, last: Array) -> Array:
        """Return the number of shared rows at each depth, each counted from `after` to `last`."""
        limits = (np.minimum(each, depths[user]) for each in (after, np.maximum(after, last)))
        counts = (np.bincount(offsets[user] + each, minlength=offsets[-1] + 1) for each in limits)
        return np.cumsum(np.subtract(*counts))

    cut, other_cut = (_find_chances(each, depths, offsets) for each in (one, other))
    shared = count_in(np.maximum(end, other_end), depths[user])
    shared = shared + count_in(np.maximum(above, other_end), end) * cut
    shared += count_in(np.maximum(other_above, end), other_end) * other_cut
    both = count_in(np.maximum(above, other_above), np.minimum(end, other_end))
    return shared + both * cut * other_cut, offsets


def _find_chances(ranking: Positions, depths: Array, offsets: Array) -> Array:
    """Return for each depth the probability that it includes a row of the tie that it cuts."""
    chances, user = np.ones(offsets[-1] + 1), ranking.user
    _, number = number_members(np.diff(run_starts(user), append=len(user)))
    inside = number < depths[user]
    chance = (number + 2 - ranking.first) / ranking.size
    chances[(offsets[user] + number)[inside]] = chance[inside]
    return chances
