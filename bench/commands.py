"""Section ``commands``: waiting times for help and for the list of suites."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Iterator
from statistics import median
from time import perf_counter

from bench.processes import BIN, ROOT, environment, fresh_data_directory
from bench.results import BenchResult, Progress, Target
from ciphermark_benchmark.data_directory import DataDirectory

_REPEATS = 5


def section(progress: Progress) -> Iterator[BenchResult]:
    """The commands, in an empty data folder."""
    with fresh_data_directory() as data_directory:
        for arguments, max_s, is_cpu in ((("suite", "list"), 1.0, False), (("--help",), 0.4, True)):
            command = ["ciphermark", *arguments]
            progress(f"{' '.join(command)}, {_REPEATS} times")
            times_s = [
                _spent_s([str(BIN / command[0]), *arguments], data_directory, is_cpu)
                for _ in range(_REPEATS + 1)
            ]
            name = f"{' '.join(command)}, {'CPU' if is_cpu else 'wall time'}"
            yield BenchResult(name, median(times_s[1:]), "s", Target(most=max_s))  # the first fills caches


def _spent_s(command: list[str], data_directory: DataDirectory, is_cpu: bool) -> float:
    start_s = _cpu_s() if is_cpu else perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment(data_directory), capture_output=True, check=True)
    return (_cpu_s() if is_cpu else perf_counter()) - start_s


def _cpu_s() -> float:
    """CPU seconds of processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
