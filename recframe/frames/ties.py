"""Ties that go by item: rows put in the order of their items as text."""

import numpy as np

from recframe.frames.columns import get_column
from recframe.frames.interactions import Interactions
from recframe.frames.texts import order_by_text
from recframe.kernel.grouping import sum_by_user
from recframe.kernel.rankings import split_users
from recframe.kernel.threads import in_threads
from recframe.kernel.tied import find_tied, find_tied_relevant
from recframe.options import Options


def order_ties(
    interactions: Interactions, options: Options, *, of_relevant: bool = False
) -> Interactions:
    """Return interactions in which tied rows stand in the order of their items, if that counts.

    Where only the positions of relevant rows are read, ties `of_relevant` ones are enough.
    """
    if not options.tie_rule.by_item:
        return interactions
    frame, columns, rows, groups, *_ = interactions
    is_tied = np.zeros(len(interactions.relevant), bool)
    for score, (_, is_ranked) in interactions.scores.items():
        rankings = interactions.rankings(score)
        if of_relevant:
            found = find_tied_relevant(rankings)
        else:
            runs = in_threads(lambda run, _: find_tied(run), split_users(rankings))
            found = np.concatenate(runs)
        is_tied[slice(None) if is_ranked is None else is_ranked] |= found
    tied = np.flatnonzero(is_tied)
    if len(tied) == 0:
        return interactions
    # They change places among themselves; where one is tied in another score only, it is no matter.
    own = groups.take_rows(tied)
    item = get_column(frame, columns.item, own if rows is None else rows[own])
    moved = tied[order_by_text(sum_by_user(is_tied, groups.offsets), item)]
    ordered = interactions.move(moved, tied)
    if (unfolded := interactions.unfolded) is None:
        return ordered
    place = np.arange(len(is_tied))
    place[moved] = tied
    return ordered._replace(unfolded=unfolded._replace(pair=place[unfolded.pair]))
