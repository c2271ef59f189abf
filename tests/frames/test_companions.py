"""Checks of all blocks together, if each has the truth and exclude of its users only."""

import pandas as pd
import pytest

import recframe
from recframe.frames.columns import Columns
from recframe.frames.companions import N_USERS, BlockResult, iter_checked, join_overlaps
from recframe.frames.id_matching import Items, Overlap, UserCounts


def share(other="exclude", *, users=(1, 2), others=(1, 2), of_frame=None, of_other=(), known=True):
    """Return the ids that frame and companion share in a block; by default all items match."""
    users, others = (pd.Index(ids) if isinstance(ids, tuple) else ids for ids in (users, others))
    overlap = Overlap(others, pd.Index(of_other), other)
    overlap.is_listed[:] = known
    overlap.users, overlap.n_users = users, len(users)
    overlap.items = Items(True) if of_frame is None else Items(False, pd.Index(of_frame))
    return join_overlaps([overlap], N_USERS)


def check(parts=(), counts=()):
    """Check blocks that have these in common, or count these users."""
    none = pd.Index([])
    results = [BlockResult(None, none, [one]) for one in parts]
    results += [BlockResult(None, none, [], counts=one) for one in counts]
    list(iter_checked(results, None, Columns("user", [], None)))


def days_of_users(day, n_users=N_USERS + 1):
    """Return more users than a block names, of one day."""
    return pd.MultiIndex.from_product([[day], range(n_users)], names=["day", "user"])


TEXT = pd.Index(["a"]).dtype
USERS, OTHERS = days_of_users(1), days_of_users(2)
CHECKED = {
    "users in common, of one": [share("truth"), share("truth", users=(3,), others=(), known=False)],
    "items in common, of one": [share(), share(users=(3, 4), of_frame=["a"], of_other=["b"])],
    "an item in common, of two": [
        share(of_frame=["a", "b"]),
        share(users=(3, 4), of_frame=["c"], of_other=["a", "d"]),
    ],
    "nothing is excluded": [share(users=(), others=(), of_frame=[], known=False)],
}
REFUSED = {
    "truth: there are no rows": [share("truth", others=(), known=False)],
    "user: no user is in both the frame and exclude": [share(others=(3, 4), known=False)],
    f"item: no item is in both the frame and exclude; the frame has {TEXT} (such as 'a')": [
        share(of_frame=["a"], of_other=["b"]),
        share(users=(3,), of_frame=["c"]),
    ],
    # If parts have more users than they name, the others may share ids of a column.
    "user='day': no 'day' is": [share(users=USERS[1:], others=OTHERS[2:], known=False)],
    "user: no user is": [
        share(users=USERS, others=OTHERS[:5], known=False),
        share(users=USERS[:0], others=OTHERS[5:9], known=False),
    ],
    "user: no user": [share(users=USERS[:5], others=OTHERS, known=False)],
}


@pytest.mark.parametrize("parts", CHECKED.values(), ids=CHECKED)
def test_one_block_is_enough(parts):
    """Users and items are in common where they are so in any block."""
    check(parts)


@pytest.mark.parametrize("message", REFUSED)
def test_nothing_in_common_anywhere(message):
    """Nothing in common is refused; a column is blamed only if all users are known."""
    with pytest.raises(recframe.RecframeError) as refused:
        check(REFUSED[message])
    assert str(refused.value).startswith(message)


def test_users_who_differ_are_counted():
    """Users who differ are counted in the blocks that count them."""
    counts = [UserCounts((1, 2, 0), ([7], []), ""), None, UserCounts((1, 0, 3), ([], [8]), "")]
    found = r"2 in both, 2 only in the frame \(such as 7\) and 3 only in truth \(such as 8\)"
    with pytest.raises(recframe.RecframeError, match=found):
        check(counts=counts)
