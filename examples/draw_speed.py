"""Draw examples/speed.png: how long a mean of recall@10 takes by recframe and by others.

The figures, in examples/speed.csv, are measured by tests/benchmarks/libraries.py.
Run with `python examples/draw_speed.py`, which needs Matplotlib.
"""

from pathlib import Path

import matplotlib as mpl
import pandas as pd

HERE = Path(__file__).parent
OWN, OTHER = "#0072b2", "#b8b8b8"  # which all readers tell apart


def draw():
    """Return the axes: a bar for each, with its seconds and how many times recframe's they are."""
    times = pd.read_csv(HERE / "speed.csv", index_col="with")[::-1]
    colors = [OWN if name == "recframe" else OTHER for name in times.index]
    axes = times["seconds"].plot.barh(logx=True, color=colors, width=0.7, figsize=(7.2, 3.4))
    labels = [f"{row.seconds:.2f} s   × {row.ratio:g}" for row in times.itertuples()]
    axes.bar_label(axes.containers[0], labels, padding=4, fontsize=9)
    axes.set(xlabel="seconds, logarithmic", ylabel="", xlim=(0.02, 200))
    axes.set_title(
        "Mean recall@10 of 1,000,000 rows, 10,000 users, text ids", loc="left", fontsize=11
    )
    axes.spines[["top", "right"]].set_visible(False)
    return axes


if __name__ == "__main__":
    mpl.use("Agg")
    draw().figure.savefig(HERE / "speed.png", dpi=160, bbox_inches="tight")
