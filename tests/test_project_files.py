"""CI, hooks, templates and guides for contributors agree with the settings of the project."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
RUN = (ROOT / ".ci" / "run").read_text("utf-8")
HOOKS = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
WORKFLOWS = {path.stem: path.read_text("utf-8") for path in (ROOT / ".github").rglob("*.yml")}
GUIDES = ["CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "ARCHITECTURE.md", "tests/README.md"]
FOLDERS = [ROOT, ROOT / "recframe", ROOT / "recframe" / "metrics", ROOT / "tests"]
FOLDERS += [ROOT / ".github" / "workflows"]


def test_tools_of_lint_are_pinned():
    """Every tool of lint has one version, so that only a commit changes its result."""
    tools = SETTINGS["dependency-groups"]["lint"]
    assert {"ruff", "mypy", "codespell"} <= {tool.partition("==")[0] for tool in tools}
    assert all("==" in tool for tool in tools)


@pytest.mark.parametrize("command", ["ruff check", "ruff format --check", "mypy", "codespell"])
def test_hooks_run_the_lint_of_ci(command):
    """The hooks before a commit run the same commands as CI."""
    assert f'in_venv newest "{command}"' in RUN
    assert f"entry: {command}\n" in HOOKS


def test_ci_has_the_pythons_of_the_classifiers():
    """The workflow tests every Python that the package declares, and the systems of users."""
    classifiers = "\n".join(SETTINGS["project"]["classifiers"])
    declared = re.findall(r"Python :: (3\.\d+)", classifiers)
    matrix = re.search(r"python: \[(.*)\]", WORKFLOWS["ci"])[1]

    assert declared == re.findall(r"3\.\d+", matrix)
    assert "bash .ci/run python" in WORKFLOWS["ci"]
    assert all(f"system: {name}-latest" in WORKFLOWS["ci"] for name in ("windows", "macos"))


def test_a_light_environment_is_part_of_the_full_one():
    """The extra `dev` has only libraries that the extra `test` has too, in the same versions."""
    extras = SETTINGS["project"]["optional-dependencies"]

    assert {*extras["dev"]} <= {*extras["test"]}
    assert "pip install -e '.[dev]' && pytest" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_a_release_is_built_as_ci_builds_it():
    """The workflow of a release makes the checks of CI, and the guide names the workflow."""
    guide = (ROOT / "RELEASING.md").read_text("utf-8")

    assert "twine check --strict dist/*" in WORKFLOWS["release"]
    assert "twine check --strict" in RUN
    assert "`release.yml`" in guide
    assert "environment: pypi" in WORKFLOWS["release"]
    assert "`pypi`" in guide


@pytest.mark.parametrize("guide", GUIDES)
def test_guides_name_files_that_exist(guide):
    """Every file that a guide for contributors names is in the checkout."""
    text = (ROOT / guide).read_text("utf-8")
    names = re.findall(r"`([\w./-]+\.(?:py|md|toml|yml|csv|txt|html))`", text)
    missing = [one for one in names if not any((folder / one).exists() for folder in FOLDERS)]

    assert [] == missing
