"""The kinds of notes: their facts, and the sentences that are made of these."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from recframe.errors import count_of

FEW_LONGER = 0.05  # with this share of longer rankings or less, the others may be cut
# Scores are of different users if so many have one list, and this share of them or less several.
LEAST_ALONE, FEW_PAIRED = 10, 0.05
LEAST_ALIKE = 20  # users whose rows are all alike in something by no chance
MOST_NAMED = 3  # metrics, scores or rows in a sentence
OF_TRUTH = "pass all relevant items as truth"
IN_R = "they count as relevant items (R), and no row can find them"
ALIKE = (
    "but for differences in case, spaces at the ends, zeros at the front, .0 at the end or the "
    "Unicode form of ids; write both alike, as with .str.normalize('NFKC').str.strip()"
    ".str.casefold()"
)
# The reasons for users without a value, by metric; the other metrics need a relevant row.
WHY = {"auc": "no relevant row, or no other", "fall_out": "only relevant rows"}
WHY |= {"share": "column that sums to 0", "diversity": "fewer than two ranked rows"}
WHY |= dict.fromkeys(("precision", "judged", "mean"), "no ranked row")
WHY |= dict.fromkeys(("overlap", "rbo"), "two empty lists")


class Facts(Counter[str]):
    """Noted numbers by name.

    A number for one metric, score or column has a colon and the label at the end of its name.
    """

    only_mistakes = False

    def find(self, name: str) -> list[tuple[str, int]]:
        """Return the labels after a name and their numbers above 0."""
        return [(one[len(name) :], n) for one, n in self.items() if n and one.startswith(name)]


def say_cut(facts: Facts, _: Any) -> str:
    """Return the sentence on rankings that seem cut at k, "" if they seem whole."""
    n_rankings, n_longer = facts["rankings"], facts["rankings_longer_than_recall"]
    are_few = n_rankings > 0 and n_longer <= FEW_LONGER * n_rankings
    is_cut = are_few or has_equal_lists(facts, "rankings_of:")
    is_known = facts["relevant_not_ranked"] > 0  # Relevant items beyond the lists have rows.
    if facts["users"] < 2 or not is_cut or is_known or say_one_row(facts, _):
        return ""  # A single row tells too little.
    longer = f"only {n_longer:,} of {n_rankings:,} rankings are" if n_longer else "no ranking is"
    missing, remedy = ("rows", "add them") if facts["shares"] else ("relevant items", OF_TRUTH)
    return (
        f"{longer} longer than the cut-off; if rankings were cut there, {missing} beyond it "
        f"are missing, and recall, ndcg and other metrics that ask for them are too high: {remedy}"
    )


def has_equal_lists(facts: Facts, name: str) -> bool:
    """Return whether all rankings have one length, and some of them no relevant row."""
    are_equal = len(facts.find(name)) == 1 and not facts["rankings_that_vary"]
    return are_equal and facts["rankings_without_relevant_rows"] > 0


def say_lists(facts: Facts, _: Any) -> str:
    """Return the sentence on lists of one length, longer than the cut-off, "" for others."""
    are_lists = has_equal_lists(facts, "rankings_like_lists:") and not say_one_row(facts, _)
    if facts["users"] < LEAST_ALIKE or not are_lists or facts["relevant_not_ranked"]:
        return ""
    return (
        f"all rankings have {facts.find('rankings_like_lists:')[0][0]} rows, and "
        f"{facts['rankings_without_relevant_rows']:,} have no relevant one; if they are lists that "
        "were cut there, relevant items beyond it are missing, and recall, ndcg and other metrics "
        f"that ask for them are too high: {OF_TRUTH}"
    )


def say_filled(facts: Facts, _: Any) -> str:
    """Return the sentence on scores that seem filled in for most users, "" if none are."""
    found = [one for one, n in facts.find("filled:") if n >= LEAST_ALONE and 2 * n > facts["users"]]
    if not found:
        return ""
    return (
        f"most users have several rows of the lowest score by {join(found)}, and these rows are "
        "all relevant or another score ranks each, as after an outer merge and fillna(0): if they "
        "were not recommended, pass truth=, or leave their scores null with missing='unranked'"
    )


def say_one_row(facts: Facts, _: Any) -> str:
    """Return the sentence on users who all have a single row, "" for others."""
    if facts["users"] < LEAST_ALIKE or facts["users_of_one_row"] < facts["users"]:
        return ""
    return (
        f"each of {facts['users']:,} users has one row, so nothing is ranked; pass user= another "
        "column, such as that of queries or sessions, or user=None for one ranking"
    )


def say_no_user(facts: Facts, _: Any) -> str:
    """Return the sentence on a table of no user, "" if there is one."""
    return "" if facts["users"] else "no user has a row, so there is no value; check the source"


def say_undefined(facts: Facts, options: Any) -> str:
    """Return the sentence on users without a value, by metric and reason."""
    labels = defaultdict[tuple[int, str], list[str]](list)
    is_nan = options is not None and options.zero_division != options.zero_division
    for label, n in facts.find("undefined:"):
        name = re.split(r"[(@]", label)[0].casefold()
        why = [WHY.get(name, "no relevant row")] if is_nan else []
        if options is not None and options.short == "nan" and "@" in label:
            why.append("fewer rows than k")
        labels[n, f" ({' or '.join(why)})" if why else ""].append(label)
    shown = [f"{n:,} in {join(names)}{why}" for (n, why), names in labels.items()]
    remedy = "; zero_division=0 counts them as 0" if is_nan else ""
    return f"of {count_of(facts['users'], 'user')}, means leave out {', '.join(shown)}{remedy}"


def say_apart(facts: Facts, _: Any) -> str:
    """Return the sentence on scores of different users, as in an A/B test; "" if users have all."""
    n_alone, n_several = facts["users_of_one_score"], facts["users_of_several_scores"]
    n_empty = [n for name, n in facts.items() if name.startswith("empty:")]
    n_ranking = sum(n < facts["users"] for n in n_empty)  # scores by which some user has a list
    if n_alone < LEAST_ALONE or n_several > FEW_PAIRED * n_alone or n_ranking < 2:
        return ""
    return (
        f"{n_alone:,} users have a list by one score alone and {n_several:,} by several, as in an "
        "A/B test, so their means are of different users; evaluate the rows of each by themselves"
    )


def say_ranks(facts: Facts, _: Any) -> str:
    """Return the sentence on scores that are ranks of nearly all users, "" if none are."""
    ranks = [one for one, n in facts.find("ranks:") if n > 1 and 2 * n > facts["users"]]
    # A block may contradict the others, or have ranks that fall down its rows, best first.
    of_all = [one for one in ranks if not facts[f"not_ranks:{one}"]]
    found = [one for one in of_all if facts[f"ranks_unordered:{one}"]]
    if not found:
        return ""
    return (
        f"for each user the scores by {join(found)} are consecutive numbers, as ranks are, and the "
        "highest counts as the best; pass ascending=True if the first is, else ascending=False"
    )


def say_rising(facts: Facts, _: Any) -> str:
    """Return the sentence on scores that rise down the rows of all users, "" if some fall."""
    found = [one for one, n in facts.find("rising:") if n >= LEAST_ALIKE]
    if facts["scores_that_fall"] or not found or say_ranks(facts, _):
        return ""
    return (
        f"scores by {join(found)} rise down the rows of all users, as distances do where the best "
        "row stands first; if the lowest is the best, pass ascending=True, else ascending=False"
    )


def join(names: list[str]) -> str:
    """Return the first names in words, with the number of the others."""
    shown = names[:MOST_NAMED] + [f"{len(names) - MOST_NAMED:,} more"] * (len(names) > MOST_NAMED)
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


# For each kind: the names of its facts, and a sentence that is formatted with their numbers in this
# order. {labels} are the labels of the first name, {counts} the labels with their numbers,
# {users} the number of users in words.
Kinds = dict[str, tuple[str, str | Callable[[Facts, Any], str]]]
MISTAKES: Kinds = {  # These kinds are warnings too.
    "cut": (
        "rankings rankings_longer_than_recall rankings_of rankings_without_relevant_rows",
        say_cut,
    ),
    "all_relevant": (
        "ranked_rows_relevant users",
        "every ranked row is relevant, so precision is 1 in any order; add the rows that are not, "
        "which a merge with relevant items loses, or pass min_relevance or truth",
    ),
    "written_differently": (
        "truth_pairs_written_differently",
        "{:,} of the pairs of truth would match the frame " + ALIKE,
    ),
    "exclude_written_differently": (
        "exclude_pairs_written_differently",
        "{:,} of the pairs of exclude would match the frame " + ALIKE,
    ),
    "apart": ("users_of_one_score users_of_several_scores", say_apart),
    "ranks": ("ranks users", say_ranks),
    "rising": ("rising", say_rising),
    "filled": ("filled users", say_filled),
    "one_row": ("users_of_one_row users", say_one_row),
    "classes": (
        "classes",
        "all scores by {labels} are 0 or 1, as classes are, so most rows tie; rank by the "
        "probability (of a column of vectors of two, df['probability'].str[1] has it)",
    ),
}
KINDS: Kinds = {
    **MISTAKES,
    "no_user": ("no_user", say_no_user),
    "may_be_cut": ("rankings_like_lists rankings_without_relevant_rows users", say_lists),
    "tied": (
        "tied",
        "all scores by {labels} are equal, so values are those of a random order; pass scores that "
        "rank the rows, or ties='first' if they stand best first",
    ),
    "none_relevant": (
        "ranked_rows_not_relevant users",
        "no ranked row is relevant; check relevant, min_relevance, or the ids of truth",
    ),
    "no_item_shared": ("no_item_shared", "no item is in both the frame and {labels}"),
    "missing": (
        "rows_dropped rows_read",
        "missing='drop' removed {:,} of {:,} rows, and with them their relevance",
    ),
    "exclude": ("rows_excluded rows_looked_up", "exclude removed {:,} of {:,} rows"),
    "excluded_relevant": (
        "relevant_pairs_excluded relevant_pairs",
        "exclude holds {:,} of {:,} relevant pairs of truth: " + IN_R,
    ),
    "unjudged": (
        "rows_unjudged rows_looked_up",
        "unjudged='drop' removed {:,} of {:,} rows, which truth does not hold",
    ),
    "population": (
        "users_only_in_frame users_only_in_truth",
        "population leaves out users: {:,} of the frame, {:,} of truth",
    ),
    "undefined": ("undefined users", say_undefined),
    "empty": (
        "empty users",
        "empty lists among {users}: {counts}; population and short decide how they count",
    ),
    "catalogue": (
        "catalogues_of_lists",
        "no ranking is longer than its list, so every item of the frame is in one, and coverage "
        "and gini are not given; pass items= all items of the catalogue, or their number",
    ),
    "catalogue_of_frame": (
        "items_of_frame",
        "coverage and gini are of the {:,} items of the frame, and users have rows of some only; "
        "pass items= all items of the catalogue, or their number",
    ),
    "bounds": (
        "bounds_alike",
        "low equals high: no unjudged row can change these means; a row is unjudged if truth lacks "
        "it, or if its relevance is null (options null_relevance, unjudged)",
    ),
    "sampled": (
        "rows_of_samples users_of_samples",
        "each of {1:,} users has one relevant row among {0:,}, and their items differ: if these "
        "are sampled candidates, only auc estimates its value over the full catalogue; most "
        "others are too high",
    ),
    "segments": (
        "users_without_segment",
        "{:,} of the users of truth have no row that names their segment, and are in that of nan; "
        "pass by= a Series indexed by user",
    ),
    "other_options": (
        "other_options",
        "the tables were made with other values of {labels}, to which differences may be due",
    ),
    "weights_unused": (
        "users_of_weights_unused",
        "the table holds weights of its users, which are not used; pass weights='weights'",
    ),
    "other_users": (
        "users_of_some_scores users",
        "of {1:,} users some have a value by some scores only, {counts}: means of scores are over "
        "different users, differences over those with both values",
    ),
    "items": (
        "repeats",
        "no item column is known, so repeated items were not looked for, but {labels} repeats "
        "values within a ranking; pass item={labels} if it holds the items",
    ),
    "models": (
        "models",
        "{labels} may tell models or lists apart: most users have several rows of several of its "
        "values; pass model={labels}, or user=[{labels}, ...], to rank each by itself, or "
        "model=None",
    ),
    "ties": (
        "lists_longer_for_ties",
        "ties at the cut make {:,} of the lists longer than k; ties='first' breaks them",
    ),
    "judge_left_out": (
        "judge_left_out",
        "where judge and people differ on fewer than 20 judged users, too few to correct the "
        "judge, people's values alone are used: {labels}",
    ),
    "judge_of_no_help": (
        "judge_of_no_help",
        "the judge's values tell nearly nothing about those of people: {labels} would be as exact "
        "without them",
    ),
    "judged_not_at_random": (
        "judged_not_at_random",
        "by the judge, users whom people judged differ from the others by more than 3 standard "
        "errors in {labels}: they were not drawn at random, and the correction is right only if "
        "they differ in nothing that the judge does not see",
    ),
    "judge_of_other_order": (
        "judge_of_other_order",
        "the judge alone puts models in another order in {labels}",
    ),
    "alike": ("means_alike", "the number has too few digits to tell {:,} values apart that match"),
    "chance": (
        "calls_tried means_matching numbers_of_means numbers_in_range",
        "values that match, of {0:,} conventions tried: {1:,}; of the {3:,} numbers with as many "
        "digits in this range, {2:,} would match some convention by chance",
    ),
    "order": (
        "best calls_reordered calls_ordered",
        "{1:,} of {2:,} conventions order the models otherwise than most; wins: {counts}",
    ),
    "disagreement": (
        "disagreement",
        "interval and p_corrected disagree on {labels}: they are different methods, and only "
        "p-values are corrected for the number of rows (option correction)",
    ),
}
