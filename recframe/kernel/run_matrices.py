"""Matrices of runs: users' 32-bit numbers as rows of matrices that are sorted. NumPy only.

NumPy sorts up to some hundred numbers by a network of fixed steps, each in a fraction of the time
that it takes of thousands, which it parts first. So wider rows are sorted in pieces and merged.
Each step of NumPy lets another thread go on, which then may have to be waited for: few large
matrices take less than many small ones, though more of their cells are pads.
"""

from bisect import bisect_right

import numpy as np

from recframe.kernel.threads import Array

CELLS = 1 << 17  # of a matrix, which must stay in the cache
PADS = 1 << 13  # of these cells at most
PIECE = 512  # numbers that are sorted by a network
PICKED = 512  # pieces of runs from which on NumPy lets other threads work while it picks them
SHORTEST = 64  # numbers of such a piece


def count_like(n_before: Array, width: int) -> int:
    """Return how many users, from the first one on, make a matrix of this width.

    The first user is the largest. Given is how many rows are before each user and after the last.
    """
    most = min(len(n_before) - 1, max(1, CELLS // width))
    more = range(2, most + 1)
    return 1 + bisect_right(more, PADS, key=lambda n: n * width - int(n_before[n] - n_before[0]))


def pick_rows(numbers: Array, starts: Array, width: int) -> Array:
    """Return the runs at the starts as rows of a new matrix, of this width or little more."""
    # Seen as one piece beginning at every number, so that pieces overlap: copied whole.
    n_pieces = max(1, min(-(-PICKED // len(starts)), width // SHORTEST))
    n_pieces = max(_count_pieces(width), _power(n_pieces))
    piece = -(-width // n_pieces)
    n_items = len(numbers) - piece + 1
    items = np.ndarray((n_items,), f"V{piece * 4}", numbers, strides=numbers.strides)
    if n_pieces > 1:
        starts = starts[:, None] + np.arange(0, n_pieces * piece, piece)
    picked: Array = items[starts]
    return picked.view(np.uint32).reshape(-1, n_pieces * piece)


def sort_rows(cells: Array) -> None:
    """Sort the rows of a matrix that `pick_rows` made."""
    n_rows, width = cells.shape
    n_pieces = _count_pieces(width)
    pieces = cells.reshape(n_rows, n_pieces, -1)
    pieces.sort(axis=2)
    n_merged = 1
    while n_merged < n_pieces:
        # Of two runs in order, one of them read backwards, the lower number of each place belongs
        # to the lower half; and so on in each half, until only pieces are out of order.
        half, step = n_merged, -1
        while half:
            pairs = cells.reshape(n_rows, n_pieces // (2 * half), 2, -1)
            low, high = pairs[:, :, 0], pairs[:, :, 1]
            highest = np.maximum(low, high[..., ::step])
            np.minimum(low, high[..., ::step], out=low)
            high[...] = highest
            half, step = half // 2, 1
        pieces.sort(axis=2)
        n_merged *= 2


def _count_pieces(width: int) -> int:
    """Return into how many pieces rows of a width are cut to be sorted, a power of two."""
    return _power(-(-width // PIECE))


def _power(number: int) -> int:
    """Return the least power of two that is not below a number."""
    return 1 << (number - 1).bit_length()
