"""Draw trusted.png, the picture of the guide on trusted labels: three intervals of one mean.

It needs the extra ``plot``: python examples/draw_trusted.py
"""

import re
from pathlib import Path

import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
METRIC, SCORE = "precision@5", "bm25_score"


def main():
    """Run the first block of the guide, and draw its mean by the judge, by people and by both."""
    guide = (HERE / "guide" / "trusted-labels.md").read_text("utf-8")
    names = {}
    exec(re.search(r"```python\n(.*?)```", guide, re.DOTALL)[1], names)
    df, rec = names["df"], names["rec"]
    by_people = df.dropna().rec(relevant="human").summary(METRIC)
    tables = {
        "the judge, 1,000 queries": rec.summary(METRIC),
        "people, 100 queries": by_people,
        "both (trusted=)": rec.summary(METRIC, trusted="human"),
    }
    truth = df.assign(human=names["is_good"]).rec(relevant="human").mean(METRIC).loc[SCORE, METRIC]
    figure, axes = plt.subplots(figsize=(7.2, 2.4), layout="constrained")
    for place, table in enumerate(tables.values()):
        row, colour = table.loc[(SCORE, METRIC)], ("#d55e00", "#666666", "#0072b2")[place]
        axes.plot([row["low"], row["high"]], [-place, -place], color=colour, linewidth=3)
        axes.plot(row["mean"], -place, "o", color=colour, markersize=9)
    axes.axvline(truth, color="#009e73", linestyle="--", linewidth=1.5)
    axes.annotate(" people, all queries", (truth, 0.62), color="#009e73")
    axes.set_yticks([0, -1, -2], tables)
    axes.set_ylim(-2.5, 0.95)
    axes.set_xlabel(f"mean of {METRIC}, 95% interval")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
    figure.savefig(HERE / "trusted.png", dpi=150)


if __name__ == "__main__":
    main()
