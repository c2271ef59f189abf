"""A process that evaluates files on request, so that a crash does not end its parent."""

import contextlib
import hashlib
import io
import json
import os
import resource
import select
import subprocess
import sys
import warnings
from pathlib import Path

# This limits the address space, which includes all of threads and allocators.
LIMIT = 8 << 30
# This many MB beyond the memory before is too much for the fuzzer's files of 10 KB.
EXPLOSION = 300
METRICS = ["recall@2", "ndcg"]


class Worker:
    """A process that evaluates paths; a new one replaces it when it has died."""

    def __init__(self):
        self.process = None

    def __enter__(self):
        """Return itself."""
        return self

    def __exit__(self, *_):
        """End the process."""
        self.end()

    def end(self):
        """End the process if it runs."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def evaluate(self, path, seconds=30, **options):
        """Return the outcome for a path: kind, text and megabytes at the peak."""
        if self.process is None:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            command = [sys.executable, "-m", "tests.stress.worker"]
            self.process = subprocess.Popen(command, **pipes, stderr=subprocess.DEVNULL)
        asked = json.dumps({"path": str(path), **options})
        self.process.stdin.write(f"{asked}\n".encode())
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            self.end()
            return "hang", f"no answer in {seconds} s", 0
        if answer := self.process.stdout.readline():
            return tuple(json.loads(answer))
        status = self.process.wait()
        self.end()
        return "crash", f"status {status}", 0


def megabytes(field):
    """Return a field of this process's memory status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1000 for line in lines if line.startswith(field))


def evaluate(recframe, main, path, **options):
    """Return the kind of outcome and a text, which for a table is its digest."""
    if path.endswith((".run", ".qrels")):
        names = [str(Path(path).with_suffix(ending)) for ending in (".qrels", ".run")]
        names = [path if path.endswith(Path(name).suffix) else f"{name}.intact" for name in names]
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                status = main(["trec", *names])
            except SystemExit as error:
                status = error.code
        text = errors.getvalue().strip()
        if "unexpected" in text or "Traceback" in text:
            return "foreign", text[-200:]
        return ("refused", text[:200]) if status else ("ok", digest(out.getvalue().encode()))
    try:
        table = recframe.evaluate(path, METRICS, short="pad", **options)
    except recframe.RecframeError as error:
        return "refused", str(error)[:200]
    except Exception as error:
        return "foreign", f"{type(error).__module__}.{type(error).__name__}: {error}"[:300]
    return "ok", digest(table.sort_index().to_csv().encode())


def digest(data):
    """Return a short text that differs for different data."""
    return hashlib.sha256(data).hexdigest()[:16]


def main():
    """Answer each line of input."""
    answers = os.fdopen(os.dup(1), "w")
    # Printed text of libraries would look like an answer.
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    import recframe
    from recframe import cli

    for line in sys.stdin:
        Path("/proc/self/clear_refs").write_text("5")
        before = megabytes("VmRSS")
        kind, text = evaluate(recframe, cli.main, **json.loads(line))
        peak = megabytes("VmHWM") - before
        print(json.dumps([kind, text, peak]), file=answers, flush=True)


if __name__ == "__main__":
    main()
