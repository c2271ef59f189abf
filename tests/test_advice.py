"""Every suggestion of a refusal is accepted, in Python and on the command line."""

import re
import shlex
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recframe
import recframe.polars
from recframe import RecframeError
from recframe.cli import main
from recframe.cli.parser import spell_flags
from recframe.errors import Choice
from recframe.options import DEFAULTS

# Options with values, which belong together if commas alone part them: short='pad', model=None.
VALUE = r"\w+=(?:'[^']*'|\[[^\]]*\]|\.\.\.|-?[\w.]*\w)"
# One suggestion: options with values, one whose value the user knows, another value of the option
# before, or an argument to leave out.
SUGGESTED = re.compile(
    rf"(?P<values>{VALUE}(?:, {VALUE})*)|(?P<open>\w+)=(?=[ ,;.]|$)"
    r"|(?:, |or )(?P<value>'\w+')|or no (?P<without>\w+)"
)
FRAME = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 2],
        "item": [1, 2, 3, 1, 2, 3],
        "score": [0.9, 0.5, 0.4, 0.7, 0.6, 0.1],
        "relevant": [1, 0, 1, 0, 1, 0],
    }
)
ROWS = FRAME.drop(columns="relevant")
TRUTH = pd.DataFrame({"user": [1, 2], "item": [1, 2]})
TWICE = pd.concat([FRAME, FRAME.assign(score=FRAME["score"] / 2)], ignore_index=True)
# No text matches this pattern.
NOTHING = "(?!)"
HALVES = ["a"] * 6 + ["b"] * 6


@dataclass(frozen=True)
class Case:
    """A refused call, and facts about its message."""

    frame: Any
    options: dict[str, Any] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)
    method: str = "evaluate"
    # A user writes these in place of words and dots.
    fill: dict[str, Any] = field(default_factory=dict)
    # The message suggests to replace these.
    without: tuple[str, ...] = ()
    # The message must not match this.
    never: str = NOTHING
    # A suggestion may meet this refusal of another fault.
    then: str = NOTHING


CASES = {
    # Roles.
    "no user": Case(
        FRAME.rename(columns={"user": "who"}), fill={"user": "who"}, then="'item' must"
    ),
    "a likely user": Case(
        FRAME.rename(columns={"user": "client"}),
        fill={"user": "client"},
        then="'item' must not be",
    ),
    "two users": Case(FRAME.assign(customer_id=[5, 5, 6, 6, 6, 6]), fill={"user": "user"}),
    "users of topics": Case(
        FRAME.assign(topic=[7, 7, 7, 8, 8, 8]), fill={"user": "user"}, never="user='topic'"
    ),
    "a likely score": Case(FRAME.rename(columns={"score": "knn"})),
    "a distance": Case(FRAME.rename(columns={"score": "distance"})),
    "a class": Case(
        FRAME.rename(columns={"score": "probability"}).assign(prediction=[1, 0, 1, 0, 1, 0]),
    ),
    "no model": Case(
        FRAME.rename(columns={"score": "knn_score"}).assign(credit_score=1.0),
        fill={"score": "knn_score"},
        never="score='credit_score'",
    ),
    "no relevance": Case(ROWS.assign(z=FRAME["relevant"]), fill={"truth": TRUTH, "relevant": "z"}),
    "likely relevance": Case(
        FRAME.rename(columns={"relevant": "hit"}), fill={"truth": TRUTH, "relevant": "hit"}
    ),
    "two relevances": Case(
        FRAME.rename(columns={"relevant": "clicked"}).assign(label=0),
        fill={"truth": TRUTH, "relevant": "clicked"},
    ),
    "no item": Case(
        ROWS.rename(columns={"item": "thing"}),
        {"truth": TRUTH},
        then="truth_item",
    ),
    "an item to rank by": Case(FRAME.rename(columns={"item": "thing"}), {"ties": "item"}),
    "no name": Case(
        FRAME.set_axis(list("abcd"), axis=1),
        fill={"user": "a", "item": "b", "relevant": "d", "truth": TRUTH},
        then="^(recframe: )?item: no column found",
    ),
    "relevant=None": Case(FRAME, {"relevant": None}, fill={"truth": TRUTH, "relevant": "relevant"}),
    "less is better": Case(FRAME.assign(rank=[1, 2, 3] * 2), {"score": ["rank", "score"]}),
    "a model without a name": Case(
        TWICE.assign(model=[None, *HALVES[1:]]), {"model": "model", "short": "pad"}
    ),
    "a model that differs": Case(
        TWICE.assign(model=HALVES, relevant=[1] + [0] * 11), {"model": "model"}
    ),
    "models": Case(TWICE.assign(model=HALVES, item=range(12))),
    "two users of truth": Case(
        ROWS,
        {"truth": TRUTH.rename(columns={"user": "uid"}).assign(query=[1, 1])},
        fill={"truth_user": "uid"},
    ),
    "no user of truth": Case(
        ROWS, {"truth": TRUTH.rename(columns={"user": "who"})}, fill={"truth_user": "who"}
    ),
    # Rows that repeat a pair.
    "repeated": Case(TWICE),
    "repeated by day": Case(TWICE.assign(day=HALVES, ts=range(12)), never="'ts'"),
    "repeated by model": Case(TWICE.assign(model=HALVES), then="has several values in the rows"),
    "repeated by session": Case(TWICE.assign(session=HALVES), {"user": "user"}),
    "repeated by passage": Case(TWICE.assign(passage=range(12)), {"item": "item"}),
    **{
        f"events by {name}": Case(
            TWICE.assign(**{name: range(12)}), never=f"user=.*{name}|'{name}'"
        )
        for name in ("ts", "unix_time", "event_id", "id")
    },
    "prices of a pair": Case(
        TWICE.assign(price=range(12)), {"duplicates": "max"}, {"metrics": "mean(price)@2"}
    ),
    # Values.
    "null relevance": Case(
        FRAME.assign(relevant=[1, None, 1, 0, 1, 0]), {"short": "pad"}, fill={"truth": TRUTH}
    ),
    "grades": Case(FRAME.assign(relevant=[5, 0, 1, 0, 1, 0]), fill={"min_relevance": 2}),
    "grades of truth": Case(ROWS, {"truth": TRUTH.assign(rating=5)}, fill={"min_relevance": 2}),
    "high grades": Case(
        FRAME.assign(relevant=[5000, 0, 1, 0, 1, 0]),
        {"min_relevance": 1, "gain": "exponential"},
        {"metrics": "ndcg@2"},
    ),
    "null scores": Case(FRAME.assign(score=[None, 0.5, 0.4, 0.7, 0.6, 0.1])),
    "masks": Case(FRAME.assign(score=[-np.inf, 0.5, 0.4, 0.7, 0.6, 0.1])),
    "null ids": Case(FRAME.assign(item=[None, "b", "c", "a", "b", "c"])),
    "null prices": Case(
        FRAME.assign(price=[None, 1, 1, 2, 2, 2]), {}, {"metrics": "mean(price)@2"}
    ),
    "short": Case(FRAME, {}, {"metrics": "recall@9"}),
    # Truth.
    "population": Case(ROWS, {"truth": TRUTH.assign(user=[1, 3])}),
    "no grades": Case(
        ROWS,
        {"truth": TRUTH.assign(g=[0.123, 9.876]), "min_relevance": 2},
        fill={"relevant": "g"},
    ),
    "a split": Case(ROWS, {"truth": TRUTH.assign(part=["train", "test"])}),
    "few values": Case(ROWS, {"truth": TRUTH.assign(level=[0, 1])}),
    "judged rows only": Case(FRAME, {"unjudged": "drop", "short": "pad"}, fill={"truth": TRUTH}),
    # Options.
    "ties of items": Case(TWICE, {"ties": "item", "duplicates": "keep"}),
    "either side": Case(FRAME, {"ascending": True, "min_score": 0.5}, without=("min_score",)),
    "row order": Case(pl.from_pandas(FRAME).lazy(), {"ties": "first"}),
    "a first row": Case(pl.from_pandas(TWICE).lazy(), {"duplicates": "first"}),
    # Arguments about users.
    "segments": Case(TWICE.assign(day=HALVES, item=range(12)), {}, {"by": "day"}, "mean"),
    "times": Case(FRAME.assign(ts=range(6)), {}, {"by": "ts"}, "mean", never="user="),
    "weights": Case(FRAME.assign(w=range(6)), {}, {"weights": "w"}, "mean", never="user="),
    "units": Case(TWICE.assign(day=HALVES), {"user": ["day", "user"]}, {}, "summary"),
    "catalogue": Case(TWICE, {"duplicates": "keep"}, {"k": 2}, "catalogue"),
    "a small catalogue": Case(FRAME, {}, {"k": 2, "items": 1}, "catalogue"),
    "ranks of weights": Case(
        FRAME.assign(b_score=1.0, w=1), {}, {"weights": "w", "test": "wilcoxon"}, "compare"
    ),
    "ranks of units": Case(
        TWICE.assign(b_score=1.0, day=HALVES),
        {"user": ["day", "user"]},
        {"unit": "user", "test": "wilcoxon"},
        "compare",
    ),
    "signs of ranks": Case(
        FRAME.assign(b_score=1.0), {}, {"test": "wilcoxon", "correction": "max_t"}, "compare"
    ),
    "an interval": Case(FRAME, {}, {"metrics": "ndcg@2", "interval": "wilson"}, "summary"),
}

# Values by hand for each choice in turn: recall@2 of user 1 (rows 1, 0, 1 in order) and of
# user 2 (0, 1, 0), or other values in the order of the table.
PLAIN, ALL_FOUND = [0.5, 1.0], [1.0, 1.0]
# Each relevant row counts twice in R, and the first two rows are one pair.
KEPT_TWICE = [0.25, 0.5]
# Two models have values for user 1, then for user 2.
MODELS = [0.5, 0.5, 1.0, 1.0]
# Two days have values for two users.
LISTS = [*PLAIN, *PLAIN]
NUMBERS = {name: [PLAIN] for name in CASES} | {
    "a class": [PLAIN, ALL_FOUND],
    "no item": [ALL_FOUND],
    "relevant=None": [ALL_FOUND, PLAIN],
    "less is better": [MODELS, MODELS],
    "a model without a name": [MODELS, MODELS],
    "a model that differs": [[1.0, 1.0, np.nan, np.nan]],
    "models": [KEPT_TWICE[:1] * 2 + KEPT_TWICE[1:] * 2, KEPT_TWICE],
    "two users of truth": [ALL_FOUND],
    "no user of truth": [ALL_FOUND],
    "repeated": [PLAIN, KEPT_TWICE],
    "repeated by day": [LISTS, PLAIN, KEPT_TWICE],
    "repeated by model": [MODELS, PLAIN, KEPT_TWICE],
    "repeated by session": [LISTS, PLAIN, KEPT_TWICE],
    "repeated by passage": [KEPT_TWICE, PLAIN, KEPT_TWICE],
    **{name: [PLAIN, KEPT_TWICE] for name in CASES if name.startswith("events")},
    "prices of a pair": [[0.5, 3.5]],
    "null relevance": [ALL_FOUND, PLAIN, ALL_FOUND],
    "grades": [[1.0, np.nan]],
    "grades of truth": [ALL_FOUND],
    "high grades": [[5000 / (5000 + 1 / np.log2(3)), 1 / np.log2(3)]],
    "null scores": [PLAIN, ALL_FOUND],
    "masks": [PLAIN, ALL_FOUND, PLAIN],
    "null ids": [ALL_FOUND],
    "null prices": [[1.0, 2.0]],
    "short": [ALL_FOUND, ALL_FOUND, [np.nan, np.nan]],
    "population": [[1.0], [1.0, 0.0], [1.0, np.nan], [1.0, np.nan, 0.0]],
    "no grades": [[np.nan, 1.0]],
    "a split": [ALL_FOUND],
    "few values": [[np.nan, 1.0], ALL_FOUND],
    "judged rows only": [ALL_FOUND],
    "row order": [PLAIN] * 4,
    "a first row": [PLAIN, KEPT_TWICE],
    "segments": [[0.75, 0.75]],
    "times": [],
    "weights": [],
    # The numbers are the mean, its interval and the number of units.
    "units": [[0.75, 0.0, 1.0, 2], [0.75]],
    # The coverage is two of three items.
    "catalogue": [[2 / 3, 0.5], [2 / 3, 0.5]],
    "a small catalogue": [[2 / 3, 0.5]],
    # The difference of the mean recall@2 and its interval: tied scores have 2/3.
    "ranks of weights": [[-1 / 12, -1.0, 1.0]] * 2,
    "ranks of units": [[-1 / 12, -1.0, 1.0], [-1 / 12]],
    "signs of ranks": [[-1 / 12, -1.0, 1.0]],
    "an interval": [[(1 / (1 + 1 / np.log2(3)) + 1 / np.log2(3)) / 2]],
}


def read_choices(error, case):
    """Return the arguments that a refusal suggests, one choice after the other."""
    text = re.sub(r"^\d+ questions are open:\n1\. |\n.*|, where \w+ is .*", "", str(error))
    text = re.split("[Pp]ass " if re.search("[Pp]ass ", text) else r"; |\. ", text, maxsplit=1)[-1]
    name, choices, known = "", [], {"inf": np.inf, "truth": case.options.get("truth")}
    for found in SUGGESTED.finditer(text):
        if found["open"]:
            given = {found["open"]: case.fill[found["open"]]}
        elif found["without"]:
            given = {found["without"]: None}
        else:
            given = eval(f"dict({found['values'] or name + '=' + found['value']})", known)
        name = next(iter(given))
        given = {one: case.fill[one] if value is ... else value for one, value in given.items()}
        choices.append(given)
    return choices


def ask(case, rec, given):
    """Return the result of a call with these arguments, options among them."""
    options = {name: value for name, value in given.items() if name in DEFAULTS}
    others = {name: value for name, value in given.items() if name not in DEFAULTS}
    metrics = {} if case.method == "catalogue" else {"metrics": "recall@2"}
    return getattr(rec(**options), case.method)(**{**metrics, **others})


METRIC = ["--metric", "recall@2"]
COMMANDS = {
    "mean": ["evaluate"],
    "summary": ["evaluate", "--summary"],
    "compare": ["evaluate", "--baseline", "score"],
}


def words_of(given, folder):
    """Return arguments as words of a command line, with frames as files and without None."""
    words = {}
    for name, value in given.items():
        if isinstance(value, pd.DataFrame):
            value.to_parquet(folder / f"{name}.parquet")
            value = str(folder / f"{name}.parquet")
        if value is not None or name in DEFAULTS or name == "unit":
            words[name] = value
    return spell_flags(words)


def refused(case, rec, given):
    """Return the refusal of a call, or None if it gives a table."""
    try:
        ask(case, rec, given)
    except RecframeError as error:
        return error
    return None


def check_next(case, message, said, suggested):
    """Fail if a suggestion is refused, except for another fault that the case expects."""
    if said:
        assert re.search(case.then, said), f"{message}\n{suggested} was refused:\n{said}"


@pytest.mark.parametrize("name", CASES)
def test_what_is_suggested_is_taken(name, tmp_path, capsys):
    """Each suggestion is accepted, from a frame and a file, in Python and as flags."""
    case = CASES[name]
    entry_points = {"frame": case.frame.rec}
    if isinstance(case.frame, pd.DataFrame):
        case.frame.to_parquet(tmp_path / "rows.parquet")
        entry_points["file"] = recframe.scan(tmp_path / "rows.parquet")
    given = {**case.options, **case.arguments}
    kept = {one: value for one, value in given.items() if one not in case.without}
    for entry, rec in entry_points.items():
        error = refused(case, rec, given)
        assert error is not None
        assert not re.search(case.never, str(error))
        choices = read_choices(error, case)
        assert choices or case.never != NOTHING
        for choice in choices:
            again = refused(case, rec, {**kept, **choice})
            check_next(case, error, again and str(again), choice)
            if entry == "file":
                left = {one: value for one, value in kept.items() if one not in choice}
                words = [*COMMANDS.get(case.method, [case.method]), str(tmp_path / "rows.parquet")]
                words += [] if case.method == "catalogue" or "metrics" in kept else METRIC
                words += words_of({**left, **choice}, tmp_path)
                status = main([*words, "--quiet"])
                check_next(case, error, capsys.readouterr().err if status else "", words)


@pytest.mark.parametrize("name", CASES)
def test_what_is_suggested_gives_the_number(name):
    """Each suggestion gives the values that it promises."""
    case, found = CASES[name], []
    given = {**case.options, **case.arguments}
    kept = {one: value for one, value in given.items() if one not in case.without}
    for choice in read_choices(refused(case, case.frame.rec, given), case):
        if refused(case, case.frame.rec, {**kept, **choice}) is None:
            table = ask(case, case.frame.rec, {**kept, **choice})
            if isinstance(table, pl.DataFrame):
                table = table.select("recall@2")
            found.append(table.to_numpy().ravel().tolist())
    expected = NUMBERS[name]
    first = [one[: len(by_hand)] for one, by_hand in zip(found, expected, strict=True)]
    for numbers, by_hand in zip(first, expected, strict=True):
        np.testing.assert_allclose(numbers, by_hand, rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_answers_leave_nothing_open(name, tmp_path):
    """The options that an error has as answers leave no question that an option answers."""
    case = CASES[name]
    given = {**case.options, **case.arguments}
    error = refused(case, case.frame.rec, given)
    kept = {one: value for one, value in given.items() if one not in case.without}
    answers = {
        name: case.fill.get(name, one.candidates[0]) if isinstance(one, Choice) else one
        for name, one in error.answers.items()
    }
    again = refused(case, case.frame.rec, {**kept, **answers}) if answers else None
    assert again is None or again.answers.items() <= answers.items()


@pytest.mark.parametrize(
    "name", [one for one in CASES if isinstance(CASES[one].frame, pd.DataFrame)]
)
def test_the_command_below_a_refusal(name, tmp_path, capsys):
    """The command below a refusal runs as pasted, with the numbers of its answers in Python."""
    case, path = CASES[name], tmp_path / "rows.parquet"
    case.frame.to_parquet(path)
    given = {**case.options, **case.arguments}
    words = [*COMMANDS.get(case.method, [case.method]), str(path), "--format", "csv", "--quiet"]
    words += [] if case.method == "catalogue" or "metrics" in given else METRIC
    with suppress(SystemExit):  # Wrong usage has no answers.
        assert 1 == main([*words, *words_of(given, tmp_path)])
    told = capsys.readouterr().err.splitlines()[-1].partition("As flags: recframe ")
    if "truth" in given:
        given["truth"] = tmp_path / "truth.parquet"  # It was written for the command.
    error = refused(case, recframe.scan(path), given)
    assert bool(error.answers) == bool(told[1])

    choices = {name: one for name, one in error.answers.items() if isinstance(one, Choice)}
    answers = error.answers | {
        name: case.fill.get(name, one[0][0]) for name, one in choices.items()
    }
    command = shlex.split(told[2], comments=True)
    for choice in choices:
        at = command.index(f"--{choice.replace('_', '-')}") + 1
        assert ("NUMBER" if choice == "min_relevance" else "COLUMN") == command[at]
        command[at] = str(answers[choice])
    of_means = replace(case, method="mean" if case.method == "evaluate" else case.method)
    again = refused(of_means, recframe.scan(path), {**given, **answers})
    if answers and again is None:
        assert 0 == main(command)
        expected = ask(of_means, recframe.scan(path), {**given, **answers}).to_csv()
        assert expected.splitlines()[1:] == capsys.readouterr().out.splitlines()[1:]
    else:
        check_next(case, error, again and answers and str(again), answers)
