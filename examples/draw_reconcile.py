"""Draw examples/reconcile.png: one metric of the same lists by the conventions of each library.

The lists are those of the guide examples/guide/reconcile.md.
Run with `python examples/draw_reconcile.py`, which needs Matplotlib.
"""

import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
OWN, OTHER = "#0072b2", "#b8b8b8"  # which all readers tell apart
REST, END = "any, below 0.125", 0.125


def find_table():
    """Return the table of the guide's first block."""
    guide = (HERE / "guide" / "reconcile.md").read_text("utf-8")
    names = {}
    exec(re.search(r"```python\n(.*?)```", guide, re.DOTALL)[1], names)
    return names["table"]


def draw(table):
    """Return the axes: a row for each library, a mark for every mean, and the reported number."""
    by_library = table.assign(library=table["libraries"].str.split(", ")).explode("library")
    plain = by_library[by_library["library"].ne("")].drop_duplicates("library").sort_values("value")
    names = [*plain["library"], REST]
    _, axes = plt.subplots(figsize=(7.2, 3.4))
    axes.axvline(table["value"].iloc[0] - table["difference"].iloc[0], color=OWN, linewidth=1)
    colors = [OWN if matches else OTHER for matches in plain["matches"]]
    axes.scatter(plain["value"], range(len(plain)), s=60, c=colors, zorder=2)
    axes.scatter(table["value"], [len(plain)] * len(table), marker="|", s=90, c=OTHER, zorder=2)
    for row, (value, name) in enumerate(zip(plain["value"], plain["library"], strict=True)):
        is_capped = "capped recall, " * (name == "LensKit")
        axes.annotate(
            f"{is_capped}{value:.4f}",
            (value, row),
            (8, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(xlabel="mean recall@10", xlim=(0.075, END))
    axes.set_title(
        "Recall@10 of the same lists: four libraries have 0.0880", loc="left", fontsize=11
    )
    axes.spines[["top", "right"]].set_visible(False)
    return axes


if __name__ == "__main__":
    mpl.use("Agg")
    draw(find_table()).figure.savefig(HERE / "reconcile.png", dpi=160, bbox_inches="tight")
