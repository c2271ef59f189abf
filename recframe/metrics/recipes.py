"""Names of the field that are a line of pandas here, and the line with the caller's columns."""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from recframe.metrics.other_names import Meant, find_meant

Roles = Callable[[], Mapping[str, str]]
# The columns and options in a line, unless a frame has others.
DEFAULT_ROLES = {one: repr(one) for one in ("user", "item", "score", "relevant")}
DEFAULT_ROLES |= {"options": "", "grade": "1", "judge": ""}
OF_USERS = re.compile("median|quantile|percentile")  # These come with the name of a metric.


@cache
def read_recipes() -> dict[str, dict[str, Any]]:
    """Return the names that are a line of pandas, each with other names and the line."""
    return tomllib.loads((files("recframe.metrics") / "recipes.toml").read_text("utf-8"))


def find_recipe(label: str, find_roles: Roles = dict) -> str:
    """Return the line of pandas that a label names, "" for no such name.

    `find_roles` returns the labels of columns and the options as code, and with truth the line
    that makes its relevance a column.
    """
    recipes, metric = read_recipes(), OF_USERS.sub("", label.lower()).strip("_ ()-")
    meant = find_meant(label, {name: tuple(one["names"]) for name, one in recipes.items()})
    if meant is None and (found := OF_USERS.search(label.lower())):
        meant = Meant(found[0].replace("percentile", "quantile"), 0)
    if meant is None:
        return ""
    line = recipes[meant.name]["line"].strip()
    values = {**DEFAULT_ROLES, **find_roles(), "k": meant.k or 10, "metric": metric or "recall@10"}
    if values["judge"] and "{relevant}" in line:
        line = f"{values['judge']}; {line}"
        values |= {"options": "(missing='unranked', short='pad')", "grade": "1"}
    train = " (train: the pairs of users and items known before)" * ("train" in line)
    return f", which is a line of pandas{train}:\n{line.format_map(values)}\n"
