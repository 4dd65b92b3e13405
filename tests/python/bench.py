"""Times of the Python package: `python tests/python/bench.py`. Ends with 1 if one is beyond its limit.

Times are those of the processor, the least of several rounds, because other work on the machine adds to the
others. Limits are for the machine of the figures in docs/python.md; on a slower one they are as much longer as
some work of plain Python takes longer there.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import kitbag

# What `plain_work` takes there, in ms.
PLAIN_WORK = 5.0

FIRST = """
import time
start = time.process_time()
import kitbag
kitbag.StateBackend()
print(time.process_time() - start)
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


def plain_work() -> dict[str, int]:
    """Some work of Python alone."""
    counts: dict[str, int] = {}
    for number in range(20_000):
        word = f"word {number % 997}"
        counts[word] = counts.get(word, 0) + len(word)
    return counts


def first_backend() -> float:
    """Seconds of a new process to its first backend, with the compiled module kept."""
    runs = [subprocess.run([sys.executable, "-c", FIRST], capture_output=True) for _ in range(6)]
    return min(float(run.stdout) for run in runs)


def figures() -> list[tuple[str, float, float | None]]:
    files = kitbag.StateBackend()
    files.write("/short.txt", "one\ntwo\n")
    files.write("/long.txt", "a line of some length\n" * 500)
    files.write("/matches.txt", "here it is\n" * 40_000)
    files.upload_files([("/bytes.bin", bytes(range(256)) * 4096)])
    return [
        ("import and first backend, ms", first_backend() * 1e3, 300),
        ("read of a short file, µs", least(lambda: files.read("/short.txt"), 10, 1000) * 1e6, 50),
        ("read of 500 lines, µs", least(lambda: files.read("/long.txt"), 10, 500) * 1e6, None),
        ("grep with 40,000 matches, ms", least(lambda: files.grep("here"), 5, 1) * 1e3, None),
        (
            "download of 1 MB, ms",
            least(lambda: files.download_files(["/bytes.bin"]), 5, 20) * 1e3,
            None,
        ),
    ]


def main() -> int:
    is_slow = False
    pace = max(1.0, least(plain_work, 20, 5) * 1e3 / PLAIN_WORK)
    print(f"this machine takes {pace:.2f} times as long as that of the limits")
    for name, value, given in figures():
        limit = None if given is None else given * pace
        allowed = "" if limit is None else f" (at most {limit:.0f})"
        print(f"{name}: {value:.1f}{allowed}")
        is_slow = is_slow or (limit is not None and value > limit)
    return 1 if is_slow else 0


if __name__ == "__main__":
    sys.exit(main())
