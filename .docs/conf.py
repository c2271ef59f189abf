"""Pages of guides and of the API, made by Sphinx of `examples/` and of the docstrings."""

import contextlib
import html
import io
import os
import re
from pathlib import Path

from docutils import nodes
from numpy.typing import ArrayLike
from sphinx.util.typing import stringify_annotation

import recframe
from recframe import cli
from recframe.cli.flags import GROUPS
from recframe.options import CHOICES, DEFAULTS, MEANINGS

REPOSITORY = "https://github.com/recframe/recframe/blob/main/"
ROOT = Path(__file__).parents[1]
PICTURES = "https://raw.githubusercontent.com/recframe/recframe/main/examples/"
LINK = re.compile(r"\]\(([^()#\s]+)((?:#[^()\s]*)?)\)")

project, author, version = "recframe", "recframe developers", recframe.__version__
copyright = author
extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_nb"]
include_patterns = ["index.md", "guides.md", "notebooks.md", "*.ipynb", "guide/*.md", "api/*.md"]
myst_enable_extensions = ["substitution"]
nb_execution_mode = "off"  # Notebooks have their outputs; tests run them.
myst_heading_anchors = 3
smartquotes = False  # quotes of options are those of Python
default_role = "py:obj"  # `evaluate` in a docstring is a link where there is such a name
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
autodoc_mock_imports = ["pyspark"]  # which wants Java to be of any use
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"recframe {version}"
html_baseurl = "https://recframe.github.io/recframe/"
html_copy_source = html_show_sphinx = False
html_static_path = html_css_files = ["site.css"]
html_extra_path = ["llms.txt"]  # copied to the root of the site
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}
html_theme_options = {
    "github_url": "https://github.com/recframe/recframe",
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}


def list_options() -> str:
    """Return tables of the options, each with a link to its paragraph."""
    lines = []
    for group, names in GROUPS.items():
        lines += ["", f"### {group.capitalize()}", "", "| option | meaning |", "|---|---|"]
        for name in names:
            default = f'"{DEFAULTS[name]}"' if isinstance(DEFAULTS[name], str) else DEFAULTS[name]
            choices = CHOICES.get(name, {}).items()
            lines_of_cell = [f'`"{choice}"`: {text}' for choice, text in choices]
            meaning = "<br>".join([MEANINGS[name], *lines_of_cell])
            link = f'<a href="#{name.replace("_", "-")}"><code>{name}={default}</code></a>'
            lines.append(f"| {link} | {meaning} |")
    return "\n".join(lines)


def show_help(command: str) -> str:
    """Return the help of a command of the command line, as a block."""
    os.environ["COLUMNS"] = "80"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        cli.main([*command.split(), "--help"])
    return f"```text\n{printed.getvalue()}```"


myst_substitutions = {
    "options": list_options(),
    "help": show_help(""),
    "commands": "\n\n".join(f"## recframe {name}\n\n{show_help(name)}" for name in cli.COMMANDS),
}


def name_table(app, what, name, found, given, arguments, returned):
    """Say DataFrame for the table of an engine, and ArrayLike for what NumPy spells out."""
    if arguments:
        arguments = arguments.replace(stringify_annotation(ArrayLike, "smart"), "ArrayLike")
    if re.fullmatch(r"(.*[.~])?(Any|Table)", returned or ""):
        returned = "DataFrame"
    return arguments, returned


def mark_options(app, what, name, found, given, lines) -> None:
    """Make each option of `evaluate`, a term of the list by numpydoc, a target of links."""
    if name == "recframe.evaluate":
        for number, line in enumerate(lines):
            if term := re.match(r" *\*\*([\w, ]+)\*\*", line):
                targets = re.sub(r"\w+", r"_`\g<0>`", term[1])
                lines[number] = line.replace(f"**{term[1]}**", targets)


def unlink_metrics(app, page) -> None:
    """Take links from what looks like an address of mail, as precision@10 does."""
    for link in list(page.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(link.children)


def lead_to_files(app, name, source) -> None:
    """Let links to files that are no pages lead to the repository, and pictures be of the site."""
    folder = Path(app.env.doc2path(name)).parent

    def lead(found: re.Match[str]) -> str:
        path = (folder / found[1]).resolve()
        is_page = path.suffix in (".md", ".ipynb") and path.is_relative_to(app.srcdir)
        if is_page or path.suffix == ".png" or not path.exists():
            return found[0]
        return f"]({REPOSITORY}{path.relative_to(ROOT).as_posix()}{found[2]})"

    source[0] = LINK.sub(lead, source[0].replace(PICTURES, "/"))


def add_description(app, name, template, context, doctree) -> None:
    """Give a page its first paragraph as its description."""
    for paragraph in list(doctree.findall(nodes.paragraph))[:1] if doctree else ():
        text = html.escape(" ".join(paragraph.astext().split()))
        context["metatags"] += f'<meta name="description" content="{text}" />'


def add_report(app, error) -> None:
    """Add the report of the example, with a way back to the site."""
    page = (ROOT / "examples" / "report.html").read_text("utf-8")
    made = page.replace("<ul>", '<ul>\n<li><a href="index.html">recframe</a></li>', 1)
    (Path(app.outdir) / "report.html").write_text(made, "utf-8")


def setup(app) -> None:
    """Connect what reads docstrings and pages."""
    app.connect("autodoc-process-signature", name_table, priority=900)  # after numpydoc
    app.connect("autodoc-process-docstring", mark_options, priority=900)
    app.connect("doctree-read", unlink_metrics)
    app.connect("source-read", lead_to_files)
    app.connect("html-page-context", add_description)
    app.connect("build-finished", add_report)
