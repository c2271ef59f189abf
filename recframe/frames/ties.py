"""Ties that go by item: rows put in the order of their items as text."""

from collections.abc import Hashable

import numpy as np

from recframe.frames.columns import get_column
from recframe.frames.interactions import Interactions
from recframe.frames.keys import as_texts, read_text
from recframe.frames.texts import order_by_text
from recframe.kernel.counting import Places
from recframe.kernel.grouping import sum_by_user
from recframe.kernel.rankings import Rankings, map_users
from recframe.kernel.text_order import find_higher
from recframe.kernel.threads import Array
from recframe.kernel.tied import are_few_pairs, find_relevant_ties, find_tied, place_by_text
from recframe.options import Options


def order_ties(interactions: Interactions, options: Options) -> Interactions:
    """Return interactions in which tied rows stand in the order of their items, if that counts."""
    if not options.tie_rule.by_item:
        return interactions
    is_tied = np.zeros(len(interactions.relevant), bool)
    for score, (_, is_ranked) in interactions.scores.items():
        rankings = interactions.rankings(score)
        found = np.concatenate(map_users(lambda run, _: find_tied(run), rankings))
        is_tied[slice(None) if is_ranked is None else is_ranked] |= found
    tied = np.flatnonzero(is_tied)
    if len(tied) == 0:
        return interactions
    # They change places among themselves; where one is tied in another score only, it is no matter.
    order = _order_by_item(interactions, tied, sum_by_user(is_tied, interactions.groups.offsets))
    moved = tied[order]
    ordered = interactions.move(moved, tied)
    if (unfolded := interactions.unfolded) is None:
        return ordered
    place = np.arange(len(is_tied))
    place[moved] = tied
    return ordered._replace(unfolded=unfolded._replace(pair=place[unfolded.pair]))


def find_places(interactions: Interactions, score: Hashable, rankings: Rankings) -> list[Places]:
    """Return the places of relevant rows of each run of users, [] where they cannot be found.

    That is of items that are text, of which only those are read that tie with a relevant row.
    """
    if not are_few_pairs(rankings):
        return []
    item = get_column(interactions.frame, interactions.columns.item)
    text = None if item.dtype == object else read_text(item)
    if text is None or text.null_count:
        return []
    _, is_ranked = interactions.scores[score]
    own = None if is_ranked is None else np.flatnonzero(is_ranked)
    texts = as_texts(text)

    def find(run: Rankings, users: slice) -> Places | None:
        start = rankings.offsets[users.start]

        def take(rows: Array) -> Array:
            rows = rows + start
            return _take_rows(interactions, rows if own is None else own[rows])

        return place_by_text(
            run, lambda rows, others, n: find_higher(texts, take(rows), take(others), n)
        )

    runs = map_users(find, rankings)
    places = [found for found in runs if found is not None]
    return places if len(places) == len(runs) else []


def place_relevant(interactions: Interactions, score: Hashable, rankings: Rankings) -> Rankings:
    """Return rankings by a score with relevance at the places of relevant rows in ties.

    All else stays where it is, so that nothing is to be read but where relevant rows are.
    """
    rows, sizes = find_relevant_ties(rankings)
    if len(rows) == 0:
        return rankings
    _, is_ranked = interactions.scores[score]
    own = rows if is_ranked is None else np.flatnonzero(is_ranked)[rows]
    return rankings.move_relevant(rows[_order_by_item(interactions, own, sizes)], rows)


def _order_by_item(interactions: Interactions, rows: Array, sizes: Array) -> Array:
    """Return the order of rows by item, the last first, within runs of these sizes."""
    item = get_column(interactions.frame, interactions.columns.item)
    return order_by_text(item, _take_rows(interactions, rows), sizes)


def _take_rows(interactions: Interactions, rows: Array) -> Array:
    """Return which rows of the frame these are."""
    rows = interactions.groups.take_rows(rows)
    return rows if interactions.rows is None else interactions.rows[rows]
