"""The definitions of all values, slow and obvious, with which recframe is compared.

Rows are tuples ``(user, score, relevant)`` in row order, or ``(user, score, relevant, item)`` if
items order ties; None is a null. The code need not be fast, and nothing here comes from recframe.
"""

import math
from fractions import Fraction
from functools import partial
from itertools import chain, combinations, groupby, pairwise, permutations, product

# This is the relevance of a row that truth does not hold.
UNJUDGED = object()


class Refused(Exception):  # noqa: N818 - it mirrors recframe's refusals, it is no error of the reference
    """The input is one that recframe must refuse instead of returning a number."""


def evaluate(
    rows,
    metric,
    k,
    *,
    ties,
    short,
    missing,
    zero_division,
    min_relevance,
    min_score,
    gain="linear",
    ascending=None,
):
    """Return a metric of each user, by its name and its cut-off or None, as a dictionary.

    The name holds the parameters, as in "rbp(p=0.8)".
    """
    lists = {}
    mask = math.inf if ascending else -math.inf if min_score is None else None
    rows = [(user, None if score == mask else score, *rest) for user, score, *rest in rows]
    for user, score, relevance, *item in complete_rows(rows, missing):
        if ascending and score is not None:
            score = -score
        ranked = score is not None and (min_score is None or score >= min_score)
        relevant = is_relevant(relevance, min_relevance)
        gained = gain_of(relevance, relevant, min_relevance, gain)
        is_binary = gain == "binary"
        grade = gained if is_binary else gain_of(relevance, relevant, min_relevance, "linear")
        row = (score if ranked else None, relevant, gained, grade, *item)
        lists.setdefault(user, []).append(row)
    options = {"ties": ties, "short": short, "zero_division": zero_division}
    return {user: float(value(rows, metric, k, **options)) for user, rows in lists.items()}


def fold(rows, duplicates, missing, ascending=None):
    """Return rows (user, score, relevant, item) of rows (user, item, score, relevant).

    `duplicates` decides how several rows of one user and item become one. The best score is the
    lowest if scores ascend.
    """
    # Items do not matter here.
    if duplicates == "keep":
        return [(user, *values) for user, _, *values in rows]
    if missing == "drop":
        rows = [row for row in rows if None not in row]
    if any(None in row[:2] for row in rows):
        raise Refused("null user or item")
    pairs = {}
    for user, item, score, relevant in rows:
        pairs.setdefault((user, item), []).append((score, relevant))
    if duplicates == "raise" and len(pairs) < len(rows):
        raise Refused("a pair is there twice")
    found = []
    for (user, item), values in pairs.items():
        scores, flags = zip(*values, strict=True)
        if None in flags or (missing == "raise" and None in scores):
            raise Refused("null score or relevance")
        if duplicates == "first":
            found.append((user, *values[0], item))
            continue
        scores = [score for score in scores if score is not None]
        best = min if ascending else max
        found.append((user, best(scores, default=None), max(flags), item))
    return found


def leave_out(rows, exclude):
    """Return rows (user, item, ...) without the excluded pairs."""
    if not {row[0] for row in rows} & {user for user, _ in exclude}:
        raise Refused("no user is in both")
    is_one = 1 in (len({row[0] for row in rows}), len({user for user, _ in exclude}))
    if not is_one and not {row[1] for row in rows} & {item for _, item in exclude}:
        raise Refused("no item is in both")
    return [row for row in rows if row[:2] not in exclude]


def complete_rows(rows, missing):
    """Return the rows to judge; "drop" leaves out rows with a null, and others are refused."""
    if missing == "drop":
        return [row for row in rows if None not in row]
    for user, score, relevant, *_ in rows:
        if user is None or relevant is None:
            raise Refused("null user or relevance")
        if score is None and missing == "raise":
            raise Refused("null score")
    return rows


def is_relevant(relevant, min_relevance):
    """Return whether a row is relevant, or None if it is not judged.

    Without a threshold the relevance must be 0 or 1.
    """
    if relevant is UNJUDGED:
        return None
    if min_relevance is not None:
        return relevant >= min_relevance
    if relevant not in (0, 1):
        raise Refused("relevance is neither 0 nor 1")
    return relevant == 1


def gain_of(relevance, relevant, min_relevance, gain):
    """Return the gain of a row in DCG; without a threshold relevance has no grades."""
    if min_relevance is None or gain == "binary" or relevance is UNJUDGED:
        return int(bool(relevant))
    relevance = max(relevance, 0)
    return {"linear": relevance, "exponential": 2**relevance - 1}[gain]


def value(rows, metric, k, *, ties, short, zero_division):
    """Return one user's metric from rows (score, relevant, gain, grade, item); None is unranked.

    The grade may be left out if it is the gain, and the item if items order no ties. A relevance of
    None is a row that is not judged, which is not relevant. The value is exact, except for the
    logarithms of DCG.
    """
    held = [(score, flag is not None, *rest) for score, flag, *rest in rows if score is not None]
    judged = [row for row in rows if row[1] is not None]
    rows = [(score, bool(flag), *rest) for score, flag, *rest in rows]
    ranked = [row for row in rows if row[0] is not None]
    n_relevant = sum(row[1] for row in rows)
    if k is not None and len(ranked) < k and short == "raise":
        raise Refused("fewer ranked rows than k")
    if k is not None and len(ranked) < k and short == "nan":
        return math.nan
    depth = min(k, len(ranked)) if k is not None and short == "shrink" else k
    if metric == "precision":
        return divide(hits(ranked, k, ties), depth, zero_division)
    if metric == "auc":
        return auc(ranked, ties, zero_division)
    if metric == "judged":
        return divide(hits(held, k, ties), depth, zero_division)
    metric, parameters = read_name(metric)
    # A row counts by its gain, relevant or not.
    if metric in ("err", "dcg", "ndcg"):
        rows, ranked = ([(row[0], row[2] > 0, *row[2:]) for row in of] for of in (rows, ranked))
    if metric == "ndcg" and not best_gains(rows):
        return zero_division
    if metric == "fall_out":
        n_others = len(ranked) - sum(row[1] for row in ranked)
        others = min(k, len(ranked)) - Fraction(hits(ranked, k, ties))
        return divide(others, n_others, zero_division)
    if metric == "err":
        return err(ranked, k, ties, **parameters)
    if metric == "dcg":
        weight = partial(discount, **parameters)
        return math.fsum(gain * term for gain, term in places(ranked, k, ties, weight))
    if metric == "rbp":
        weight = partial(persistence, **parameters)
        return math.fsum(term for _, term in places(ranked, k, ties, weight))
    if metric == "ndcg":
        weight = partial(discount, **parameters)
        ideal = math.fsum(gain * weight(i) for i, gain in enumerate(best_gains(rows)[:k], 1))
        gained = math.fsum(gain * term for gain, term in places(ranked, k, ties, weight))
        return divide(gained, ideal, zero_division)
    if n_relevant == 0:
        return zero_division
    if metric == "bpref":
        return bpref(judged, n_relevant, ties)
    if metric == "r_precision":
        return Fraction(hits(ranked, n_relevant, ties)) / n_relevant
    if metric == "recall":
        return Fraction(hits(ranked, k, ties)) / n_relevant
    if metric == "capped_recall":
        return Fraction(hits(ranked, k, ties)) / min(n_relevant, k)
    if metric == "f1":
        return Fraction(2 * hits(ranked, k, ties)) / (depth + n_relevant)
    definition = {
        "hit_rate": hit_rate,
        "all_relevant": all_relevant,
        "reciprocal_rank": reciprocal_rank,
        "average_precision": average_precision,
        # Only the denominator differs: no more than k relevant rows can be among the first k.
        "capped_average_precision": lambda flags, n: average_precision(flags, min(n, k)),
    }[metric]
    if ties == "expected":
        lists = flag_lists(ranked)
    else:
        lists = [[bool(ranked[i][1]) for i in order(ranked, ties)]]
    return Fraction(sum(definition(flags[:k], n_relevant) for flags in lists), len(lists))


def hit_rate(flags, n_relevant):
    """Return whether any row of a list is relevant."""
    return int(any(flags))


def bpref(rows, n_relevant, ties):
    """Return the mean over relevant items of one minus the share of others above, of R or of N.

    A row that is tied with d others has 0 to d of them above it, equally often.
    """
    n_others = sum(not row[1] for row in rows)
    ranked = [row for row in rows if row[0] is not None]
    if ties != "expected":
        ranked = [(-place, *ranked[i][1:]) for place, i in enumerate(order(ranked, ties))]
    left = Fraction(0)
    for row in ranked:
        above = sum(other[0] > row[0] for other in ranked if not other[1])
        tied = sum(other[0] == row[0] for other in ranked if not other[1])
        if row[1]:
            lost = sum(Fraction(min(above + x, n_relevant), tied + 1) for x in range(tied + 1))
            left += 1 - (lost / min(n_others, n_relevant) if n_others else 0)
    return left / n_relevant


def all_relevant(flags, n_relevant):
    """Return whether every relevant row is in a list."""
    return int(sum(flags) == n_relevant)


def reciprocal_rank(flags, n_relevant):
    """Return one over the position of the first relevant row, or 0 without one."""
    return Fraction(1, flags.index(True) + 1) if any(flags) else 0


def average_precision(flags, n_relevant):
    """Return the sum of the precisions at relevant rows over the number of all relevant rows."""
    positions = [i for i, flag in enumerate(flags, 1) if flag]
    return sum(Fraction(sum(flags[:i]), i) for i in positions) / Fraction(n_relevant)


def auc(ranked, ties, zero_division):
    """Return the share of pairs of a relevant row and another in which the relevant one wins."""
    rows = ranked if ties == "expected" else [ranked[i] for i in order(ranked, ties)]
    heights = [row[0] if ties == "expected" else -i for i, row in enumerate(rows)]
    relevant = [height for height, row in zip(heights, rows, strict=True) if row[1]]
    others = [height for height, row in zip(heights, rows, strict=True) if not row[1]]
    won = sum((a > b) + Fraction(a == b) / 2 for a in relevant for b in others)
    return divide(won, len(relevant) * len(others), zero_division)


def read_name(written):
    """Return the name and the parameters of a metric written like "rbp(p=0.8)"."""
    name, _, given = written.rstrip(")").partition("(")
    pairs = [part.split("=") for part in given.split(",") if part]
    return name, {key.strip(): float(number) for key, number in pairs}


def discount(position, offset=1):
    """Return the factor of the gain at a position in DCG."""
    return 1 / max(1, math.log2(offset + position))


def persistence(position, p):
    """Return the value that a relevant row at a position adds to RBP."""
    return (1 - p) * p ** (position - 1)


def best_gains(rows):
    """Return the gains of the relevant rows, highest first."""
    return sorted((row[2] for row in rows if row[1]), reverse=True)


def err(ranked, k, ties, max):
    """Return the sum of the probability to stop at a position divided by the position.

    The probability to pass j rows of a tie is the mean over all choices of j of its rows, each
    with the product of 1 - stop.
    """
    if ties == "expected":
        by_score = sorted(ranked, key=lambda row: -row[0])
        steps = [list(rows) for _, rows in groupby(by_score, key=lambda row: row[0])]
    else:
        steps = [[ranked[i]] for i in order(ranked, ties)]
    total, reached, above = Fraction(0), Fraction(1), 0
    for rows in steps:
        # These are sums of products over the choices of 0, 1, 2, … rows.
        sums = [Fraction(1)]
        for row in rows:
            passed = 1 - Fraction(2 ** row[2:4][-1] - 1 if row[1] else 0) / 2 ** int(max)
            longer = [*sums, Fraction(0)]
            sums = [a + passed * b for a, b in zip(longer, [Fraction(0), *sums], strict=True)]
        passed = [each / math.comb(len(rows), j) for j, each in enumerate(sums)]
        for place, (before, after) in enumerate(pairwise(passed), above + 1):
            if k is None or place <= k:
                total += reached * (before - after) / place
        reached *= passed[-1]
        above += len(rows)
    return total


def places(ranked, k, ties, weight):
    """Return (gain, weight of a position) of relevant rows; a tied row is at each of its positions.

    It is there equally often, so its weights are divided by the number of positions.
    """
    terms = []
    at = {} if ties == "expected" else {i: [n] for n, i in enumerate(order(ranked, ties), 1)}
    for i, (score, relevant, gain, *_) in enumerate(ranked):
        above = sum(row[0] > score for row in ranked)
        tied = sum(row[0] == score for row in ranked)
        own = at.get(i, range(above + 1, above + tied + 1))
        found = [weight(place) for place in own if k is None or place <= k]
        terms += [(gain, term / len(own)) for term in found if relevant]
    return terms


def flag_lists(ranked):
    """Return every choice of positions of relevant rows in every tie, all equally likely."""
    by_score = sorted(ranked, key=lambda row: -row[0])
    choices = []
    for _, rows in groupby(by_score, key=lambda row: row[0]):
        flags = [bool(row[1]) for row in rows]
        places = combinations(range(len(flags)), sum(flags))
        choices.append([[i in chosen for i in range(len(flags))] for chosen in places])
    return [[flag for part in parts for flag in part] for parts in product(*choices)]


def divide(numerator, denominator, zero_division):
    """Return the exact quotient, or `zero_division` if the denominator is 0."""
    if not denominator:
        return zero_division
    return Fraction(numerator) / Fraction(denominator)


def hits(ranked, cut, ties):
    """Return the number of relevant rows among the first `cut`, in expectation or exactly."""
    if ties == "expected":
        return expected_hits(ranked, cut)
    return sum(ranked[i][1] for i in order(ranked, ties)[:cut])


def expected_hits(ranked, cut):
    """Return the expected hits: ties above the cut count fully, and the tie across it by share."""
    total = Fraction(0)
    for score in {row[0] for row in ranked}:
        above = sum(row[0] > score for row in ranked)
        group = [row[1] for row in ranked if row[0] == score]
        if above + len(group) <= cut:
            total += sum(group)
        elif above < cut:
            total += Fraction((cut - above) * sum(group), len(group))
    return total


def mean_over_permutations(ranked, metric, k):
    """Return the mean of a metric over all rankings, which are few up to about six rows."""
    options = {"ties": "first", "short": "pad", "zero_division": 0}
    orders = rankings(ranked)
    return sum(Fraction(value(rows, metric, k, **options)) for rows in orders) / len(orders)


def rankings(ranked):
    """Return every order of the rows in which scores never rise."""
    return [rows for rows in permutations(ranked) if all(a[0] >= b[0] for a, b in pairwise(rows))]


def order(ranked, ties):
    """Return the indexes from best to worst; rows that the tie rule leaves equal stay in row order.

    The best order has relevant rows of higher gain first, and the worst has them last.
    """
    among_tied = {
        "first": lambda i: i,
        "last": lambda i: -i,
        "best": lambda i: (not ranked[i][1], [-gain for gain in ranked[i][2:3]]),
        "worst": lambda i: (bool(ranked[i][1]), ranked[i][2:3]),
        "item": lambda i: last_first.index(i),
    }[ties]
    last_first = range(len(ranked))
    if ties == "item":
        last_first = sorted(last_first, key=lambda i: written(ranked[i][-1]), reverse=True)
    return sorted(range(len(ranked)), key=lambda i: (-ranked[i][0], among_tied(i)))


def written(item):
    """Return an item as text, which Python compares by code points; 1.0 is written as 1."""
    return str(int(item)) if isinstance(item, float) and item.is_integer() else str(item)


def inclusions(ranked, k, ties):
    """Return the chance of each (score, relevant) row to be among the first k.

    Rows that the tie rule leaves equal are equally likely.
    """
    heights = [
        (score, {"first": -i, "last": i, "best": flag, "worst": not flag}.get(ties, 0))
        for i, (score, flag) in enumerate(ranked)
    ]
    chances = []
    for height in heights:
        above = sum(other > height for other in heights)
        room = Fraction(k - above, heights.count(height))
        chances.append(min(max(room, Fraction(0)), Fraction(1)))
    return chances


def column_ratio(rows, k, ties, short, zero_division, denominator):
    """Return a column's expected sum over one user's first k rows, divided by `denominator(n)`.

    n is the number of ranked rows.
    """
    ranked = [row for row in rows if row[0] is not None]
    if len(ranked) < k and short == "raise":
        raise Refused("fewer ranked rows than k")
    if len(ranked) < k and short == "nan":
        return math.nan
    chances = inclusions([row[:2] for row in ranked], k, ties)
    total = sum(
        chance * Fraction(value) for chance, (*_, value) in zip(chances, ranked, strict=True)
    )
    return divide(total, denominator(len(ranked)), zero_division)


def column_mean(rows, k, *, ties, short, zero_division):
    """Return one user's mean of a column over the first k of its (score, relevant, value) rows."""
    return column_ratio(
        rows, k, ties, short, zero_division, lambda n: min(k, n) if short == "shrink" else k
    )


def column_share(rows, k, *, ties, short, zero_division):
    """Return the share of a column's sum that one user's first k rows are expected to have."""
    total = sum(Fraction(value) for *_, value in rows)
    return column_ratio(rows, k, ties, short, zero_division, lambda _: total)


def orders(ranked, ties):
    """Return all equally likely orders of (score, relevant, ...) rows under a tie rule."""
    heights = {}
    for i, (score, flag, *_) in enumerate(ranked):
        among = {"first": -i, "last": i, "best": flag, "worst": not flag}.get(ties, 0)
        heights.setdefault((score, among), []).append(ranked[i])
    levels = [permutations(heights[height]) for height in sorted(heights, reverse=True)]
    return [list(chain.from_iterable(order)) for order in product(*levels)]


def diversity(rows, k, difference, *, ties, short, zero_division):
    """Return the mean difference of pairs among one user's first k (score, relevant, value) rows.

    The mean is over all orders of tied rows, and over the pairs of k rows unless lists shrink.
    """
    ranked = [row for row in rows if row[0] is not None]
    if len(ranked) < k and short == "raise":
        raise Refused("fewer ranked rows than k")
    if len(ranked) < k and short == "nan":
        return math.nan
    sums = [
        sum(difference(one[-1], other[-1]) for one, other in combinations(order[:k], 2))
        for order in orders(ranked, ties)
    ]
    n_pairs = math.comb(min(k, len(ranked)) if short == "shrink" else k, 2)
    return divide(sum(sums), len(sums) * n_pairs, zero_division)


def catalogue(lists, k, n_items):
    """Return the expected (coverage, shares of items, personalization) of independent lists.

    Each user has equally likely lists, and the overlap of two lists is divided by k.
    """
    lists = [user for user in lists if any(user)]
    worlds = list(product(*lists))
    covered = [Fraction(len(set().union(*map(set, world))), n_items) for world in worlds]
    shown = Fraction(1, len(worlds))
    shares = {}
    for world in worlds:
        for item in chain.from_iterable(world):
            shares[item] = shares.get(item, 0) + shown
    apart = [
        1 - Fraction(len(set(one) & set(other)), k)
        for world in worlds
        for one, other in combinations(world, 2)
    ]
    return (
        sum(covered) / len(worlds),
        sorted(shares.values()),
        sum(apart) / len(apart) if apart else math.nan,
    )


def overlap(one, other, k, short):
    """Return the share of items that two lists have among their first k, None for two empty ones.

    Lists are shorter than k only if `short` allows it; it is "shrink" for the root of both lengths.
    """
    one, other = one[:k], other[:k]
    if not (one or other):
        return None
    if not (one and other):
        return 0.0
    size = math.sqrt(len(one) * len(other)) if short == "shrink" else k
    return len(set(one) & set(other)) / size


def rank_biased_overlap(one, other, p):
    """Return RBO_EXT of two lists: equation 32 of Webber, Moffat and Zobel, term by term."""
    short, long = sorted([one, other], key=len)
    if not short:
        return None if not long else 0.0
    s, l, p = len(short), len(long), Fraction(p)  # noqa: E741 - the letters of the paper
    x = [len(set(short[:d]) & set(long[:d])) for d in range(l + 1)]
    terms = [(1 - p) * p ** (d - 1) * x[d] / d for d in range(1, l + 1)]
    terms += [(1 - p) * p ** (d - 1) * Fraction(x[s] * (d - s), s * d) for d in range(s + 1, l + 1)]
    return sum(terms) + (Fraction(x[l] - x[s], l) + Fraction(x[s], s)) * p**l


def gini(shares, n_items):
    """Return the Gini index of shares, with 0 for items without one: mean difference of two."""
    shares = [Fraction(0)] * (n_items - len(shares)) + list(shares)
    differences = sum(abs(a - b) for a in shares for b in shares)
    return differences / (2 * (n_items - 1) * sum(shares)) if n_items > 1 else math.nan


def ranks(rows, ties, ascending=None):
    """Return each row's position in its user's ranking, 1 = best, or None if it is unranked.

    Relevance, which "best" and "worst" read, must be 0 or 1.
    """
    if ascending:
        rows = [(row[0], None if row[1] is None else -row[1], *row[2:]) for row in rows]
    result = [None] * len(rows)
    for user in {row[0] for row in rows}:
        places = [i for i, row in enumerate(rows) if row[0] == user and row[1] is not None]
        ranked = [rows[i][1:] for i in places]
        if ties == "expected":
            positions = [average_position(row[0], ranked) for row in ranked]
        else:
            positions = [order(ranked, ties).index(i) + 1 for i in range(len(ranked))]
        for place, position in zip(places, positions, strict=True):
            result[place] = position
    return result


def average_position(score, ranked):
    """Return the mean position of the rows tied at `score`, as a Fraction."""
    above = sum(row[0] > score for row in ranked)
    tied = sum(row[0] == score for row in ranked)
    return above + Fraction(tied + 1, 2)
