"""Times of the Python package: `python tests/python/bench.py`. Ends with 1 if one is beyond its limit.

Times are those of the processor, the least of several rounds, because other work on the machine adds to the
others. Limits are for the machine of the figures in docs/python.md; on a slower one they are as much longer as
the part that wasmtime itself has in each takes longer there.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import kitbag
import wasmtime

# What a call of a small function in wasmtime takes there, in µs, and a new process to an engine of it, in ms.
BARE_CALL = 40.0
BARE_FIRST = 250.0

# How often a figure beyond its limit is measured.
TRIES = 4

FIRST = """
import time
start = time.process_time()
{}
print(time.process_time() - start)
"""
KITBAG = "import kitbag; kitbag.StateBackend()"
WASMTIME = "import wasmtime.component; wasmtime.Store(wasmtime.Engine())"

ADD = """
(module (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))
"""


def least(call: Callable[[], object], rounds: int, times: int) -> float:
    """Seconds of one call."""
    found = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(times):
            call()
        found.append((time.process_time() - start) / times)
    return min(found)


def bare_call() -> float:
    """How many times as long as on the machine of the limits a call in wasmtime takes."""
    store = wasmtime.Store()
    module = wasmtime.Module(store.engine, ADD)
    add = wasmtime.Instance(store, module, []).exports(store)["add"]
    return least(lambda: add(store, 1, 2), 10, 1000) * 1e6 / BARE_CALL


def first(work: str) -> float:
    """Milliseconds of a new process that does this first."""
    command = [sys.executable, "-c", FIRST.format(work)]
    return min(float(subprocess.run(command, capture_output=True).stdout) for _ in range(6)) * 1e3


def bare_first() -> float:
    """How many times as long as on the machine of the limits wasmtime takes to begin."""
    return first(WASMTIME) / BARE_FIRST


def unlimited() -> float:
    return 1.0


def figures() -> Iterator[tuple[str, Callable[[], float], float, Callable[[], float]]]:
    """Of each its name, how it is measured, the most it may be, and how slow the machine is at such work."""
    files = kitbag.StateBackend()
    files.write("/short.txt", "one\ntwo\n")
    files.write("/long.txt", "a line of some length\n" * 500)
    files.write("/matches.txt", "here it is\n" * 40_000)
    files.upload_files([("/bytes.bin", bytes(range(256)) * 4096)])

    def short() -> float:
        return least(lambda: files.read("/short.txt"), 10, 1000) * 1e6

    def long() -> float:
        return least(lambda: files.read("/long.txt"), 10, 500) * 1e6

    def matches() -> float:
        return least(lambda: files.grep("here"), 5, 1) * 1e3

    def download() -> float:
        return least(lambda: files.download_files(["/bytes.bin"]), 5, 20) * 1e3

    # The compiled module is kept by then.
    yield "import and first backend, ms", lambda: first(KITBAG), 300, bare_first
    yield "read of a short file, µs", short, 50, bare_call
    yield "read of 500 lines, µs", long, math.inf, unlimited
    yield "grep with 40,000 matches, ms", matches, math.inf, unlimited
    yield "download of 1 MB, ms", download, math.inf, unlimited


def main() -> int:
    is_slow = False
    for name, measure, limit, pace in figures():
        for _ in range(TRIES):
            most = limit * max(1.0, pace())
            value = measure()
            if value <= most:
                break
        else:
            is_slow = True
        print(f"{name}: {value:.1f}" + ("" if math.isinf(most) else f" (at most {most:.0f})"))
    return 1 if is_slow else 0


if __name__ == "__main__":
    sys.exit(main())
