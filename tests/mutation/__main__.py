"""Change a folder one line at a time and run tests that cover it: python -m tests.mutation kernel.

It prints each change that survives, then a table of modules. Only tests that run a changed line
are run, the quickest first and as in CI, where generated examples are the same in every run. The
checkout is not written to: a fork of this process makes each change in a copy of the package and
runs the tests there.
"""

import argparse
import contextlib
import importlib
import os
import pickle
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import coverage
import pytest

from tests.mutation.changes import Change, read_changes

ROOT = Path(__file__).resolve().parents[2]
# Tests import these modules, so they are imported once for all forks.
WARM = "pandas pyarrow.parquet hypothesis.extra.numpy scipy.stats matplotlib.pyplot jinja2"
# A change may make memory grow without end.
MEMORY = 6 << 30
# These tests cover a folder in addition to its own folder or module of tests/.
COVERED_BY = {
    "accessor": "test_column_recipes test_methods test_masks test_library_edges test_public_calls",
    "analysis": "test_population test_models_in_rows frames/test_companions test_notes",
    "public_calls": "test_tracebacks test_functions",
    "text_types": "formats files/test_staging",
    "cli": "test_options test_models_in_rows test_questions test_docs",
    "console": "cli test_errors",
    "conventions": "test_like",
    "dask": "frames/test_companions test_methods test_other_tables test_unusual_values test_notes "
    "test_engines_page analysis/test_report",
    "errors": "test_tracebacks cli/test_arguments",
    "files": "test_scanned test_population formats stores/test_outputs",
    "other_tables": "test_arrow_tables test_polars",
    "formats": "files/test_staging",
    "frames": "test_accessor test_ascending test_candidates test_doubtful_names test_duplicates "
    "test_masks test_models_in_rows test_null_relevance test_population test_questions "
    "test_repeated_pairs test_user_columns analysis",
    "functions": "test_per_user_functions test_public_calls test_options",
    "methods": "test_public_calls test_accessor test_notes",
    "notes": "test_population test_accepted_data",
    "options": "test_like test_public_calls",
    "partitions": "dask files/test_partitioned_companions test_unusual_values",
    "kernel": "test_ties test_long_frames test_units",
    "metrics": "test_ties test_properties test_reference test_functions cli/test_compare",
    "polars": "test_methods test_arrow_tables test_units test_questions",
    "scanned": "files cli stores test_functions test_models_in_rows test_population test_questions",
    "stores": "files/test_paths files/test_lakehouse files/test_sources",
}
ARGUMENTS = ["-n0", "-x", "-q", "-p", "no:cacheprovider", "--assert=plain"]


class Target:
    """The modules of a folder, and their tests, each with its time and the lines that it runs."""

    def __init__(self, name: str, more: list[str]) -> None:
        folder = ROOT / "recframe" / name
        is_folder = folder.is_dir()
        self.modules = sorted(folder.rglob("*.py")) if is_folder else [folder.with_suffix(".py")]
        covering = [name, f"test_{name}", *COVERED_BY.get(name, "").split()]
        paths = [ROOT / "tests" / f"{one}{ending}" for one in covering for ending in ("", ".py")]
        self.tests = [*(str(path) for path in paths if path.exists()), *more]
        with tempfile.TemporaryDirectory() as found:
            status = wait(fork(lambda: self._observe(Path(found, "observed"))))
            if status:
                sys.exit(f"the tests of {name} fail before anything is changed")
            observed = Path(found, "observed").read_bytes()
        self.seconds, self.lines = pickle.loads(observed)

    def _observe(self, path: Path) -> int:
        """Run all tests, and note their seconds and the tests that run each line."""
        trace = coverage.Coverage(data_file=None, config_file=False, source_pkgs=["recframe"])
        trace.start()
        watch = Watch(trace)
        status = pytest.main([*ARGUMENTS, *self.tests], plugins=[watch])
        trace.stop()
        data = trace.get_data()
        lines = {str(module): data.contexts_by_lineno(str(module)) for module in self.modules}
        path.write_bytes(pickle.dumps((dict(watch.seconds), lines)))
        return status

    def tests_of(self, change: Change) -> list[str]:
        """Return the tests that run a changed line, the quickest first."""
        lines = self.lines[str(change.path)]
        found = {test for line in change.lines for test in lines.get(line, ())}
        # The line runs on import, as a constant or table that any test may read, or where
        # coverage does not see it: in a process that a test starts, or a worker of Spark.
        if "" in found or not found:
            found = {*self.seconds}
        return sorted(found - {""}, key=self.seconds.__getitem__)


class Watch:
    """A plugin of pytest that notes the seconds of tests, and tells coverage the running test."""

    def __init__(self, trace: coverage.Coverage) -> None:
        self.trace, self.seconds = trace, Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Name the context by the test."""
        self.trace.switch_context(item.nodeid)
        result = yield
        self.trace.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the seconds of set-up, call and teardown."""
        self.seconds[report.nodeid] += report.duration


class Choice:
    """A plugin of pytest that runs some tests in an order, none of them for long."""

    def __init__(self, tests: list[str], seconds: dict[str, float]) -> None:
        self.rank = {test: rank for rank, test in enumerate(tests)}
        self.seconds = seconds

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the chosen tests in their order, and tests that only the change has made."""
        made = [item for item in items if item.nodeid not in self.seconds]
        chosen = [item for item in items if item.nodeid in self.rank]
        items[:] = made + sorted(chosen, key=lambda item: self.rank[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Kill the process if a test takes far longer than it did."""
        signal.setitimer(signal.ITIMER_REAL, 20 + 10 * self.seconds.get(item.nodeid, 0))
        result = yield
        signal.setitimer(signal.ITIMER_REAL, 0)
        return result


def fork(function: Callable[[], int]) -> int:
    """Return the process id of a fork that runs a function, whose result is its exit status."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.setsid()
        status = int(function())
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def wait(child: int) -> int:
    """Return the exit status of a fork."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_changed(change: Change, folder: Path, target: Target, tests: list[str]) -> int:
    """Run the tests on a copy of the package with the change, in this process."""
    log = os.open(folder / "log", os.O_CREAT | os.O_WRONLY)
    os.dup2(log, 1)
    os.dup2(log, 2)
    shutil.copytree(ROOT / "recframe", folder / "recframe")
    changed = folder / change.path.relative_to(ROOT)
    changed.write_text(change.source, encoding="utf-8")
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), str(ROOT)])
    # Otherwise a process finds the checkout, where it starts.
    os.environ["PYTHONSAFEPATH"] = "1"
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    files = sorted({str(ROOT / test.partition("::")[0]) for test in tests})
    arguments = [*ARGUMENTS, f"--basetemp={folder / 'pytest'}", *files]
    return pytest.main(arguments, plugins=[Choice(tests, target.seconds)])


def find_survivors(
    target: Target, changes: list[Change], n_jobs: int
) -> Iterator[tuple[Change, bool]]:
    """Yield the changes in any order, each with whether it survives."""
    running: dict[int, tuple[Change, tempfile.TemporaryDirectory[str]]] = {}
    waiting = iter(changes)
    change = next(waiting, None)
    while running or change is not None:
        if change is not None and len(running) < n_jobs:
            tests = target.tests_of(change)
            if tests:
                folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
                own, path = change, Path(folder.name)
                child = fork(lambda: run_changed(own, path, target, tests))  # noqa: B023
                running[child] = change, folder
            else:
                yield change, True
            change = next(waiting, None)
            continue
        child, status = os.wait()
        found, folder = running.pop(child)
        with contextlib.suppress(ProcessLookupError):
            # The tests may have left processes running.
            os.killpg(child, signal.SIGKILL)
        folder.cleanup()
        yield found, os.waitstatus_to_exitcode(status) == 0


def main() -> None:
    """Read the arguments, run the tests and print the survivors."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("folder", help="kernel, metrics, frames, files, analysis, options, …")
    parser.add_argument("--module", help="only this module of the folder")
    parser.add_argument("--tests", nargs="+", default=[], help="tests in addition to COVERED_BY")
    parser.add_argument("--sample", type=int, help="number of random changes; default: all")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="forks at a time")
    arguments = parser.parse_args()

    # The profile in tests/conftest.py needs this.
    os.environ["CI"] = "true"
    os.chdir(ROOT)
    for name in WARM.split():
        importlib.import_module(name)
    target = Target(arguments.folder, arguments.tests)
    paths = [path for path in target.modules if arguments.module in (None, path.stem)]
    changes = [change for path in paths for change in read_changes(path)]
    if arguments.sample is not None and arguments.sample < len(changes):
        changes = random.Random(arguments.seed).sample(changes, arguments.sample)

    began = time.monotonic()
    tried, survived = Counter(), Counter()
    for change, lives in find_survivors(target, changes, arguments.jobs):
        tried[change.path.name] += 1
        if lives:
            survived[change.path.name] += 1
            where = f"{change.path.relative_to(ROOT)}:{change.lines.start}"
            print(f"{where}: {change.what}", flush=True)
    print(f"\n{'module':24}{'tried':>8}{'killed':>8}{'survived':>10}")
    for name in [*sorted(tried), "all"]:
        of, live = (c.total() if name == "all" else c[name] for c in (tried, survived))
        print(f"{name:24}{of:8}{of - live:8}{live:10}")
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
