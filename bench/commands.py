"""Section ``commands``: what a person waits for who asks for help or for the suites."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Iterator
from statistics import median
from time import perf_counter

from bench.figures import Figure, Progress, Target
from bench.processes import BIN, ROOT, environment, fresh_home

_REPEATS = 5


def section(progress: Progress) -> Iterator[Figure]:
    """The first of the repetitions compiles and fills caches: it does not count."""
    with fresh_home() as home:

        def spent_s(*arguments: str) -> list[tuple[float, float]]:
            progress(f"ciphermark {' '.join(arguments)}, {_REPEATS} times")
            command, variables = [str(BIN / "ciphermark"), *arguments], environment(home)
            times = []
            for _ in range(_REPEATS + 1):
                start, before_s = perf_counter(), _cpu_s()
                subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, check=True)
                times.append((perf_counter() - start, _cpu_s() - before_s))
            return times[1:]

        wall_s = median(wall_s for wall_s, _ in spent_s("suite", "list"))
        yield Figure("ciphermark suite list", wall_s, "s", Target(most=1.0))
        cpu_s = median(cpu_s for _, cpu_s in spent_s("--help"))
        yield Figure("ciphermark --help, CPU", cpu_s, "s", Target(most=0.4))


def _cpu_s() -> float:
    """CPU seconds of processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
