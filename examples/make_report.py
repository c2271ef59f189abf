"""Make report.html, the report of the example, and report.png, its picture in the README.

It needs the extra ``notebook``, and for the picture Chromium, named or found on the PATH:

    python examples/make_report.py /usr/bin/chromium
"""

import sys
from pathlib import Path

import pandas as pd

import recframe  # noqa: F401 - it gives every DataFrame the accessor df.rec

HERE = Path(__file__).resolve().parent
SIZE = 960, 900  # of the picture, in pixels of CSS; the page goes on below


def make_report():
    """Return the report: two scorers of ten objects, which come from two countries."""
    df = pd.read_parquet(HERE / "example.parquet")
    objects = pd.RangeIndex(10, name="object")
    country = pd.Series(["NL", "FR"] * 5, objects, name="country")
    df["title"] = "Book " + df["item"].astype(str)
    metrics = ["precision@4", "recall@4", "ndcg@10", "r_precision"]
    title = "KNN against random scores"
    return df.rec.report(metrics, by=country, title=title, label="title", items=40)


if __name__ == "__main__":
    from draw_inspect import draw, find_chromium

    report = make_report()
    report.save(HERE / "report.html")
    draw(report.html, HERE / "report.png", find_chromium(sys.argv[1:]), SIZE)
