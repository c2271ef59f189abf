"""Draw inspect.png, the README's picture: `df.rec.inspect` as a notebook shows it.

It needs Chromium, named as the only argument or found on the PATH, and the extra ``notebook``:

    python examples/draw_inspect.py /usr/bin/chromium
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

import recframe  # noqa: F401 - it gives every DataFrame the accessor df.rec

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT = 720, 252  # in pixels of CSS

# A card of its own colours on a transparent ground, for pages that are light or dark.
PAGE = """<!doctype html>
<meta charset="utf-8">
<style>
  body {{ margin: 0 }}
  main {{
    box-sizing: border-box; height: {height}px; overflow: hidden; padding: 4px 20px;
    font: 13px "DejaVu Sans", Verdana, sans-serif; color: #1f2328; background: #fff;
    border: 1px solid #8b949e; border-radius: 10px;
  }}
</style>
<main>
{inspection}
</main>
"""


def make_page() -> str:
    """Return the HTML page that is drawn."""
    df = pd.read_parquet(HERE / "example.parquet")
    return PAGE.format(height=HEIGHT, inspection=df.rec.inspect(4, k=4).to_html())


def draw(page: str, picture: Path, chromium: str, size: tuple[int, int] = (WIDTH, HEIGHT)) -> None:
    """Draw a page at twice its size, which is sharp on any screen."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(page, "utf-8")
        options = [
            *("--headless", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=2"),
            "--virtual-time-budget=5000",  # for frames within the page too
            *("--default-background-color=00000000", f"--window-size={size[0]},{size[1]}"),
            f"--screenshot={picture}",
        ]
        subprocess.run([chromium, *options, path.as_uri()], check=True, timeout=120)


def find_chromium(given: list[str]) -> str:
    """Return the path of Chromium, as given or as found; end where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, [*given, *map(shutil.which, names)]), None)
    return chromium or sys.exit("no Chromium on the PATH. Pass its path as the argument")


if __name__ == "__main__":
    draw(make_page(), HERE / "inspect.png", find_chromium(sys.argv[1:]))
