"""Names of the field that are a line of pandas here, with the line or its section in the guide."""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from recframe.metrics.other_names import CATALOGUE_METRICS, Synonym, read_synonym

Roles = Callable[[], Mapping[str, str]]
# The address of a page, also in docstrings; the site's address from the release on.
PAGE = "https://github.com/recframe/recframe/blob/main/examples/{}.md"
GUIDE = PAGE.format("guide/beyond-accuracy")
OF_USERS = re.compile("median|quantile|percentile")  # These come with the name of a metric.
# The line for a column. The join raises if ids are text in one frame and integers in the other.
COLUMN = """counts = train.drop_duplicates([{user}, {item}])[{item}].value_counts(); \
seen = df[[{item}]].join(counts, on={item})["count"].fillna(0); df = df.assign(%s=%s)"""


@cache
def read_recipes() -> dict[str, dict[str, Any]]:
    """Return the names that are a line of pandas, each with other names and the line."""
    return tomllib.loads((files("recframe.metrics") / "recipes.toml").read_text("utf-8"))


def find_recipe(label: str, find_roles: Roles = dict) -> str:
    """Return the line of pandas that a label names, its address or a method; "" for other names.

    `find_roles` returns the labels of columns and the options as code. It leaves out a role with
    which a line would be wrong for the caller's frame, and a line that needs it is not shown.
    """
    if figure := read_synonym(label, CATALOGUE_METRICS):
        name, k = figure.name, figure.k or 10
        return (
            f", one value of all lists together. Call catalogue(k={k}), which returns '{name}@{k}'"
        )
    recipes = read_recipes()
    synonym = read_synonym(label, {name: tuple(one["names"]) for name, one in recipes.items()})
    if synonym is None and (found := OF_USERS.search(label.lower())):
        synonym = Synonym(found[0].replace("percentile", "quantile"), 0)
    if synonym is None:
        return ""
    recipe, k = recipes[synonym.name], synonym.k or 10
    says = recipe.get("says", "which is a line of pandas over all users").format(k=k)
    line = recipe.get("line", "{line}")
    if "column" in recipe:
        says = f"which is 'mean({synonym.name})@{k}' after a line of pandas (train: known pairs)"
        line = COLUMN % (synonym.name, recipe["column"])
    try:
        return f", {says}:\n{line.format(**find_roles(), k=k).strip()}\n"
    except KeyError:  # The line needs a role that is not known.
        # Messages hide the end of an address after #, because it may be a secret.
        has_line = f"; adapt the one in {GUIDE}, section {recipe.get('section')!r}"
        return f", {says}{has_line * ('section' in recipe)}"
