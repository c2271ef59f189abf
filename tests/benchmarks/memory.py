"""Peak memory and first calls, measured in fresh processes."""

import ctypes
import gc
import statistics
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa

from tests.benchmarks import data, engines

FIRST_CALL = """
import time
import pandas as pd
frame = pd.DataFrame({"user": [1, 1], "score": [0.2, 0.1], "relevant": [0, 1]})
start = time.perf_counter()
import recframe
recframe.evaluate(frame, ("precision@1", "r_precision"))
print(time.perf_counter() - start)
"""


def first_call_seconds(repeat):
    """Return the median seconds that importing recframe and a first call add to `import pandas`."""
    command = [sys.executable, "-c", FIRST_CALL]
    outputs = [subprocess.run(command, check=True, capture_output=True) for _ in range(repeat)]
    return statistics.median(float(output.stdout) for output in outputs)


def peak_ratio(make=data.make, **frame_arguments):
    """Return recframe's peak memory beyond a frame made, over the bytes of the columns used."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_peak_ratio, make, frame_arguments).result()


def _peak_ratio(make, frame_arguments):
    """Measure in this process; Linux only, since it resets the peak of resident memory."""
    engines.recframe_call(data.make(1_000))()  # what the first call imports is not the call's
    frame = make(**frame_arguments)
    used = frame[engines.USED].memory_usage(index=False, deep=True).sum()
    release()  # else the call is served from what making the frame left free
    Path("/proc/self/clear_refs").write_text("5")
    before = resident_bytes("VmRSS")
    result = engines.recframe_call(frame)()
    peak = resident_bytes("VmHWM")
    del result
    return (peak - before) / used


def release():
    """Give memory that is free in this process back to the system."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


def resident_bytes(field):
    """Return a field of this process's memory status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))
