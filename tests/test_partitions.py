"""Checks of all partitions together work for an engine that need not be installed."""

import pandas as pd
import pytest

import recframe
from recframe.frames.overlap import Items, UserCounts
from recframe.partitions import N_USERS, Common, check_common


def share(other="exclude", *, users=(1, 2), others=(1, 2), of_frame=None, of_other=(), known=True):
    """Return a partition's overlap, with items in common unless some of either side are passed."""
    users, others = (pd.Index(ids) if isinstance(ids, tuple) else ids for ids in (users, others))
    items = Items(True) if of_frame is None else Items(False, pd.Index(of_frame))
    return Common(other, known, users, others, items, pd.Index(of_other))


def days_of_users(day):
    """Return as many users as a partition names, all of one day."""
    return pd.MultiIndex.from_product([[day], range(N_USERS)], names=["day", "user"])


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
    # Partitions name only some of many users, and others may share the ids of a column.
    "user='day': no 'day' is": [share(users=USERS[1:], others=OTHERS[1:], known=False)],
    "user: no user is": [
        share(users=USERS, others=OTHERS[:5], known=False),
        share(users=USERS[:0], others=OTHERS[5:9], known=False),
    ],
    "user: no user": [share(users=USERS[:5], others=OTHERS, known=False)],
}


@pytest.mark.parametrize("parts", CHECKED.values(), ids=CHECKED)
def test_one_partition_is_enough(parts):
    """Users and items overlap if they do in any partition."""
    check_common(parts, [None])


@pytest.mark.parametrize("message", REFUSED)
def test_nothing_in_common_anywhere(message):
    """Partitions without overlap are refused, and a column is blamed if all users are known."""
    with pytest.raises(recframe.RecframeError) as refused:
        check_common(REFUSED[message], [])
    assert str(refused.value).startswith(message)


def test_users_who_differ_are_counted():
    """Users of one side only are counted over the partitions that have counted them."""
    counts = [UserCounts((1, 2, 0), ([7], []), ""), None, UserCounts((1, 0, 3), ([], [8]), "")]
    found = r"found 2 in both, 2 only in the frame \(such as 7\) and 3 only in truth \(such as 8\)"
    with pytest.raises(recframe.RecframeError, match=found):
        check_common([], counts)
