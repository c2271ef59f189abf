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
    """Return the axes: a dot for each, with its seconds and how many times recframe's they are."""
    path = HERE / "speed.csv"
    machine = path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
    times = pd.read_csv(path, index_col="with", comment="#")[::-1].reset_index()
    colors = [OWN if name == "recframe" else OTHER for name in times["with"]]
    axes = times.plot.scatter("seconds", "with", c=colors, s=70, logx=True, figsize=(7.2, 3.6))
    for row in times.itertuples():
        text = f"{row.seconds:.2f} s   × {row.ratio:g}"
        axes.annotate(text, (row.seconds, row.Index), (8, -3), textcoords="offset points")
    axes.set(xlabel="seconds (logarithmic)", ylabel="", xlim=(0.02, 20))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_title("Mean recall@10 of 1,000,000 rows, 10,000 users, text ids", loc="left")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.figure.text(0.01, -0.08, machine, fontsize=7)
    return axes


if __name__ == "__main__":
    mpl.use("Agg")
    draw().figure.savefig(HERE / "speed.png", dpi=160, bbox_inches="tight")
