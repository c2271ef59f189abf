"""Check whether two checkouts give the same tables for some 700 random frames.

python -m tests.benchmarks.golden write FOLDER    # save the outcomes of this checkout
python -m tests.benchmarks.golden compare FOLDER  # print how this one's outcomes differ

Divided counts must have the same bits, and sums of terms the same 13 digits. Refusals must have
the same type; other words of refusals and tables are counted separately. A call that crashed when
the outcomes were saved is not compared. As a script, ``python .../golden.py`` runs the recframe
that is first in PYTHONPATH.
"""

import argparse
import os
import pickle
import re
import shutil
import sys
import tempfile
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import polars as pl

import recframe
import recframe.cli
import recframe.dask
import recframe.polars

if __package__:
    from tests.benchmarks import golden_cases as cases
# The file is run as a script.
else:
    import golden_cases as cases

DIGITS = 1e-13
SUMS = ("dcg", "rbp(", "err(", "average_", "reciprocal_", "hit_rate", "all_rel", "bpref", "mean(")
OF_METHODS = dict.fromkeys(("mean", "curve", "catalogue", "describe"), DIGITS)
# Some bounds are approximate roots.
OF_METHODS |= dict.fromkeys(("summary", "compare", "command"), 1e-9)
NUMBER = re.compile(r"(?<![\w.])(-?\d+\.\d+(?:e[-+]?\d+)?)")


def main():
    """Write the outcomes of all cases, or compare them with written outcomes."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.golden", description=__doc__)
    parser.add_argument("command", choices=["write", "compare"])
    parser.add_argument("folder", type=Path, help="where the tables are, outside of the checkout")
    parser.add_argument("--case", type=int, help="this one only, with its frame and tables")
    parser.add_argument("--only", default="", help="the cases with this in their descriptions")
    arguments = parser.parse_args()
    path = arguments.folder.resolve() / "golden.pickle"
    numbers = range(cases.COUNT) if arguments.case is None else [arguments.case]
    warnings.simplefilter("ignore")
    # Commands wrap their lines to this width.
    os.environ["COLUMNS"] = "100"
    dask.config.set(scheduler="synchronous")
    print(f"{recframe.__file__}, pandas {pd.__version__}")
    if arguments.command == "compare":
        sys.exit(compare(path, numbers, arguments.only, shows=arguments.case is not None))
    found = {number: (said, outcome) for number, said, outcome in run_all(numbers, arguments.only)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps({"pandas": pd.__version__, "found": found}))
    kinds = [outcome[0] for _, outcome in found.values()]
    print(", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds))))


def compare(path, numbers, only, *, shows):
    """Print the differences from the written outcomes, and return the exit status."""
    # `main` wrote this file.
    saved = pickle.loads(path.read_bytes())
    if saved["pandas"] != pd.__version__:
        print(f"written with pandas {saved['pandas']}, which may be what differs")
    n_values = n_words = n_cases = n_crashes = 0
    for number, said, new in run_all(numbers, only, shows=shows):
        old_said, old = saved["found"][number]
        if shows:
            print(f"written:\n{shown(old)}\nnow:\n{shown(new)}")
        n_cases += 1
        n_crashes += old[0] == "crash"
        differences = [] if old[0] == "crash" else list(differ(old, new, method_of(said)))
        if old_said != said:
            differences.append(("value", f"another case was written: {old_said}"))
        if differences:
            print(f"\ncase {number}: {said}")
        for what, text in differences:
            print(f"  {what}: {text}", flush=True)
        n_values += any(what == "value" for what, _ in differences)
        n_words += any(what == "words" for what, _ in differences)
    print(
        f"{n_cases} cases, {n_crashes} of them not compared; {n_values} differ, {n_words} in words"
    )
    return 1 if n_values else 0


def run_all(numbers, only="", *, shows=False):
    """Yield the number, description and outcome of each case."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for number in numbers:
            case = cases.make_case(number)
            if only not in case.said:
                continue
            if shows:
                print(case.said, case.frame, *case.options.values(), sep="\n")
            Path("case").mkdir()
            yield number, case.said, run(case, Path(folder).resolve())
            shutil.rmtree("case")


def run(case, folder):
    """Return a call's outcome: ("table", parts), ("refused", type, words), ("crash", ...)."""
    try:
        return ("table", list(parts_of(call(case))))
    except recframe.RecframeError as error:
        return ("refused", type(error).__name__, str(error).replace(str(folder), "FOLDER"))
    except Exception as error:
        return ("crash", type(error).__name__, str(error))


def call(case):
    """Return the result of a case's call."""
    if case.entry == "command":
        return run_commands(case)
    convert, bind = cases.ENTRY_POINTS[case.entry]
    source = cases.converted(case.frame, convert)
    # Some libraries cannot hold such ids.
    if source is None:
        source, bind = case.frame, bind and cases.bind
    if bind is None:
        return recframe.evaluate(source, **case.arguments, **case.options)
    return getattr(bind(source, case.options), case.method)(**case.arguments)


def run_commands(case):
    """Return the status, output and errors of each command."""
    found = []
    with chdir("case"):
        cases.write_runs(case.frame)
        for words in case.arguments["line"].split("; "):
            with redirect_stdout(StringIO()) as output, redirect_stderr(StringIO()) as errors:
                try:
                    status = recframe.cli.main([word.replace("~", " ") for word in words.split()])
                except SystemExit as end:
                    status = end.code
            found.append(("text", f"status {status}\n{output.getvalue()}"))
            found.append(("words", errors.getvalue()))
    return found


def parts_of(result):
    """Yield the tables of a result as `table_of` returns them, ("text", ...) and ("words", ...).

    Words may change on purpose.
    """
    if isinstance(result, list):
        yield from result
        return
    while hasattr(result, "compute") or hasattr(result, "collect"):
        result = result.compute() if hasattr(result, "compute") else result.collect()
    # Only `inspect` returns several tables.
    if hasattr(result, "tables"):
        yield table_of(result.metrics)
        for name in result.tables:
            yield from parts_of(result.tables[name])
        yield "words", repr(result)
        return
    yield table_of(result)
    # Only `describe` returns warnings.
    if hasattr(result, "warnings"):
        yield "words", "\n".join(result.warnings)


def table_of(table):
    """Return the labels of a table as text, and its columns by name, rows first: dtype, values."""
    if isinstance(table, pl.DataFrame):
        columns = {name: (str(table[name].dtype), table[name].to_numpy()) for name in table.columns}
        return "polars", {name: (dtype, plain(values)) for name, (dtype, values) in columns.items()}
    labels = [(type(axis).__name__, list(axis.names)) for axis in (table.index, table.columns)]
    rows, names = table.index, " ".join(map(str, table.columns.names))
    levels = [rows.get_level_values(level) for level in range(rows.nlevels)]
    columns = {f"index {place}": column_of(level) for place, level in enumerate(levels)}
    for place, name in enumerate(table.columns):
        columns[f"{place} {name!r} {names}"] = column_of(table.iloc[:, place])
    return f"{labels} {table.columns.dtype}", columns


def column_of(values):
    """Return the dtype and the values of a column or index."""
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        categories = dtype.categories
        own = f"{dtype.ordered} {categories.dtype} {len(categories)} {categories[:9].tolist()}"
        return f"category {own}", plain(values.astype(object).to_numpy())
    return str(dtype), plain(
        values.to_numpy() if dtype.kind in "iufb" else np.array(values, object)
    )


def plain(values):
    """Return an array of numbers unchanged, and other values as texts."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        return values
    return np.array([repr(value) for value in list(values)], dtype=object)


def method_of(said):
    """Return the method in a case's description."""
    return "command" if said.startswith("recframe ") else said.split(": ")[1].split(" of ")[0]


def differ(old, new, method):
    """Yield the differences of two outcomes, in a value or in words only."""
    if old[0] != new[0] or (old[0] != "table" and old[1] != new[1]):
        yield "value", f"{shown(old)}\n  now: {shown(new)}"
    elif old[0] != "table":
        if old[2] != new[2]:
            yield "words", f"{old[2]}\n  now: {new[2]}"
    elif len(old[1]) != len(new[1]):
        yield "value", f"{len(old[1])} parts, now {len(new[1])}"
    else:
        for first, second in zip(old[1], new[1], strict=True):
            if first[0] == "words":
                if first != second:
                    yield "words", f"{first[1]!r}\n  now: {second[1]!r}"
            elif first[0] == "text":
                yield from differ_in_text(first[1], second[1], method)
            else:
                yield from differ_in_table(first, second, method)


def differ_in_text(old, new, method):
    """Yield the differences of two texts, whose numbers may differ in their last digits."""
    parts, others = NUMBER.split(old), NUMBER.split(new)
    numbers = [np.array(own[1::2], float) for own in (parts, others)]
    if parts[::2] != others[::2] or not np.allclose(*numbers, OF_METHODS[method], 1e-9):
        pairs = zip(old.splitlines(), new.splitlines(), strict=False)
        found = next((pair for pair in pairs if pair[0] != pair[1]), (old, new))
        yield "value", f"{found[0]}\n  now: {found[1]}"


def differ_in_table(old, new, method):
    """Yield the differences of two tables: labels, dtypes, and the first cell of each column."""
    (labels, columns), (new_labels, new_columns) = old, new
    if (labels, list(columns)) != (new_labels, list(new_columns)):
        yield "value", f"labels {labels} {list(columns)}\n  now: {new_labels} {list(new_columns)}"
        return
    for name, (dtype, values) in columns.items():
        new_dtype, new_values = new_columns[name]
        if dtype != new_dtype or len(values) != len(new_values):
            yield "value", f"{name}: {len(values)} {dtype}, now {len(new_values)} {new_dtype}"
            continue
        same = same_values(values, new_values, method, name)
        if not same.all():
            row = int(np.argmin(same))
            labels = [axis[row] for label, (_, axis) in columns.items() if label[:6] == "index "]
            cell = f"{values[row]!r}, now {new_values[row]!r}, in row {row} {labels}"
            yield "value", f"{name}: {(~same).sum()} of {len(same)} cells, as {cell}"


def same_values(old, new, method, name):
    """Return for each value whether it is the same, in every bit for divided counts."""
    if old.dtype.kind != "f" or new.dtype != old.dtype:
        return old == new
    digits = OF_METHODS.get(method, DIGITS if any(own in name + method for own in SUMS) else 0)
    if digits:
        return np.isclose(old, new, digits, digits, equal_nan=True)
    bits = f"u{old.itemsize}"
    return (old.view(bits) == new.view(bits)) | (np.isnan(old) & np.isnan(new))


def shown(outcome):
    """Return an outcome as text."""
    if outcome[0] != "table":
        return f"{outcome[0]}: {outcome[1]}: {outcome[2]}"
    return "\n".join(
        part[1]
        if part[0] in ("text", "words")
        else f"{part[0]}\n{pd.DataFrame({name: own for name, (_, own) in part[1].items()})}"
        for part in outcome[1]
    )


if __name__ == "__main__":
    main()
