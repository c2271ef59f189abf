"""Every argument of every public call, given what nobody means: a result, or one clear refusal."""

import inspect
import re

import pytest

import recframe
from hostile import FRAME, VALUES, base_of, list_doors

NUMBERS = {"inf", "-inf", "-1", "0", "0.5", "10**9", "2**63", "10**400", "Fraction", "float"}
K = {"10**9"}
SEEDS = {"0", "10**9", "2**63"}
SHARES = {"0.5", "Fraction", "float"}
BYTES = {"10**9", "2**63", "10**400", "10**5000"}
NONE = {"None"}
ARRAYS = {"array of ints", "Series"}
# What an argument takes of these values, by its name or by that of its door too; else nothing.
TAKEN = {
    "absent": set(),
    "ascending": {"None", "True"},
    "baseline": NONE,
    "confidence": SHARES,
    "correction": NONE,
    "k": K,
    "lists": {"dict"},
    "min_relevance": {"None", "10**5000"} | NUMBERS,
    "min_score": {"None", "10**5000"} | NUMBERS,
    "partitioned": {"True"},
    "progress": {"True"},
    "seed": SEEDS,
    "tmp": NONE,
    "truth": NONE,
    "zero_division": {"nan", "0"},
    "average_precision.k": K | NONE,
    "ndcg.k": K | NONE,
    "reciprocal_rank.k": K | NONE,
    "curve.k": ARRAYS,
    "evaluate.progress": set(),
    "evaluate of files.memory": BYTES,
    "iter_evaluate.memory": BYTES,
    "from_topk.items": {"DataFrame", "tuple of a list", "tuple of an array"},
    "from_topk.scores": NONE,
    "from_topk.users": NONE,
    "judge.truth": set(),
    "metrics.precision_at_k.k": set(),
    "metrics.recall_at_k.k": set(),
    "metrics.precision_at_k.score": ARRAYS,
    "metrics.recall_at_k.score": ARRAYS,
    "metrics.r_precision.score": ARRAYS,
    "metrics.recall.recommended": {"array of ints", "list"},
    "metrics.recall.target": {"array of ints", "list"},
    # Lazily: what the data is refused for is found when computed.
    "ddf.rec.user": NONE,
    "ddf.rec.min_relevance": NONE | NUMBERS,
    "ddf.rec.min_score": NONE | NUMBERS,
}
# What a file is refused for is tested with files; a function is called, whatever it is.
LEFT_OUT = {
    "frame": {"null byte", "surrogate", "long text", "no text", "lines", "str", "path", "tuple"}
    | {"list", "DataFrame"},
    "truth": {"DataFrame", "no text", "long text", "null byte", "surrogate", "lines", "str"}
    | {"path"},
    "progress": {"class", "lambda"},
}
LEFT_OUT["path"] = LEFT_OUT["frame"]
# The engines take options and arguments from one place; of the second and on a few values tell.
FEW = ("None", "nan", "10**5000", "array of ints", "NA", "mute", "unkeyed", "unequal", "long text")
REPEATED = ("evaluate of files", "iter_evaluate", "df.rec", "ddf.rec")
OWN = ("memory", "tmp", "progress", "path", "partitioned")
SHOWN = 300  # characters of what was found, at most


def list_cases():
    """Return the door and argument of every case."""
    return [
        (door, argument)
        for door, (_, signed, _) in list_doors("").items()
        for argument in inspect.signature(signed).parameters
        if argument != "self"
    ]


def find_taken(door, argument):
    """Return the values that an argument takes."""
    keys = (f"{door}.{argument}", f"{door.split('.')[-1]}.{argument}", argument)
    return next((TAKEN[key] for key in keys if key in TAKEN), set())


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """Every public call, with a file of the frame."""
    path = tmp_path_factory.mktemp("hostile") / "rows.parquet"
    FRAME.to_parquet(path)
    return list_doors(str(path))


@pytest.mark.parametrize(("door", "argument"), list_cases())
def test_bad_values_are_refused_by_name(door, argument, doors):
    """What an argument does not take is refused in a line that names it and quotes little of it."""
    call, _, base = doors[door]
    others = base_of(door, argument, base)
    if argument != "short" and "short" in inspect.signature(doors[door][1]).parameters:
        others["short"] = "pad"
    is_repeated = door.startswith("ddf.") or door in REPEATED
    names = FEW if is_repeated and argument not in OWN else VALUES
    taken, faults = set(), {}
    for name in sorted(set(names) - LEFT_OUT.get(argument, set())):
        try:
            call(**others | {argument: VALUES[name]()})
            taken.add(name)
        except recframe.RecframeError as error:
            message = str(error)
            quoted = re.findall(r"x{100,}", message)
            is_short = all(len(text) <= SHOWN for text in quoted) and len(message) <= 4 * SHOWN
            if argument not in message or "\n" in message or not is_short:
                faults[name] = message

    assert {} == faults
    assert find_taken(door, argument) & set(names) == taken
