"""Section ``gate``: verdicts of gates on a planted slowdown, with and without neighbors that use memory bandwidth.

Two designs are tried. ``compare-builds`` samples base and head alternately. ``compare`` runs the base first and the
head second, with neighbors during the second run only. The head executes one operation more often than requested
(``bench/planted``). At 5% the slowdown equals the significance threshold, so *slower* and *undecided* are both correct.
No other result may be reported as different. A gate states a rate of false alarms, so many gates may raise some. The
tolerated number is exceeded with a probability of 1% at that rate.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import NamedTuple

from bench.processes import BIN, ROOT, environment, fresh_data_directory
from bench.results import BenchResult, Progress, Target
from ciphermark_analysis.family import ERROR
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_core.errors import UserError

GATES = 3
PLANTED = (0, 5, 10, 25)  # percent
BASE, HEAD, OPERATION = "planted-base", "planted-head", "mul_plain"
_AT_THRESHOLD = 5
_COPIES = 2
_WIDE = "400"  # columns of the terminal, so that a row of a table is a line
_STARTING_S = 2.0
_EXIT_CODES = (0, 1, 3)  # of completed comparisons

SUITE = """\
name: gate
seed: {seed}
budget: {{processes: 2, min_samples: {samples}, warmups: 1, min_time_s: {min_time_s}}}
experiments:
  - kind: arithmetic
    variants: [{variant}]
    schemes: [bfv]
    ring_dimension: [4096]
    operations: [add, mul_plain, mul]
"""
_COPYING = "import numpy\na, b = numpy.ones(1 << 23), numpy.ones(1 << 23)\nwhile True: b[:] = a\n"


class Claim(NamedTuple):
    """The verdict about a time: of the planted operation, or of another."""

    is_planted: bool
    verdict: str


Gate = Callable[
    [DataDirectory, int, bool, int], list[Claim]
]  # a data directory, percent, with neighbors or not, number


def section(progress: Progress) -> Iterator[BenchResult]:
    """Every design, with each slowdown, with and without neighbors."""
    with fresh_data_directory() as data_directory:
        for design, gate in (("compare-builds", _interleaved), ("compare", _one_after_the_other)):
            false = 0
            for is_beside in (False, True):
                for percent in PLANTED:
                    where = f"beside {_COPIES} copy loops" if is_beside else "alone"
                    progress(f"{design}, {percent}% planted, {where}: {GATES} gates of about a minute")
                    claims = [gate(data_directory, percent, is_beside, number) for number in range(GATES)]
                    yield from _results(f"{design}, {percent}%, {where}", percent, claims, design)
                    false += _false(claims, percent)
            gates = GATES * 2 * len(PLANTED)
            yield BenchResult(
                f"{design}: false claims of {gates} gates", false, target=Target(most=tolerated(gates))
            )


def tolerated(gates: int, rate: float = ERROR, chance: float = 0.01) -> int:
    """The smallest number of false alarms that gates exceed with a probability of at most ``chance``. Pure.

    It is a quantile of the binomial distribution with ``rate``.
    """
    exceeded, count = 1.0, 0
    while True:
        exceeded -= math.comb(gates, count) * rate**count * (1 - rate) ** (gates - count)
        if exceeded <= chance:
            return count
        count += 1


def _results(name: str, percent: int, gates: list[list[Claim]], design: str) -> Iterator[BenchResult]:
    """The number of gates with a false claim, and, for a slowdown above the threshold, of gates that found it."""
    planted = [claim.verdict for claims in gates for claim in claims if claim.is_planted]
    others = [claim.verdict for claims in gates for claim in claims if not claim.is_planted]
    note = f"{OPERATION}: {_counted(planted)}; others: {_counted(others)}"
    yield BenchResult(f"{name}: false claims", _false(gates, percent), note=note)
    if percent > _AT_THRESHOLD:
        target = Target(least=GATES) if design == "compare-builds" else None
        yield BenchResult(f"{name}: found", planted.count("slower"), target=target)


def _false(gates: list[list[Claim]], percent: int) -> int:
    return sum(any(is_false(claim, percent) for claim in claims) for claims in gates)


def is_false(claim: Claim, percent: int) -> bool:
    """Whether a verdict contradicts what was planted. Pure."""
    if not claim.is_planted or percent == 0:
        return claim.verdict in ("slower", "faster", "failed")
    return claim.verdict in ("faster", "failed") or (percent > _AT_THRESHOLD and claim.verdict == "unchanged")


def _counted(verdicts: list[str]) -> str:
    return ", ".join(f"{verdicts.count(name)} {name}" for name in dict.fromkeys(sorted(verdicts)))


def _interleaved(data_directory: DataDirectory, percent: int, is_beside: bool, number: int) -> list[Claim]:
    suite = _suite(data_directory, number, BASE, samples=10, min_time_s=0.1)
    with _neighbors(is_beside):
        output = _command(data_directory, percent, "compare-builds", str(suite), BASE, HEAD, "--all")
    return list(claims_of_table(output))


def claims_of_table(text: str) -> Iterator[Claim]:
    """The verdicts in the output of ``compare-builds --all``. Pure."""
    for line in text.splitlines():
        verdict, _, rest = line.strip().partition(" ")
        if line.startswith("No result: "):
            yield Claim(False, "failed")
        if verdict in ("slower", "faster", "unchanged", "undecided"):
            yield Claim(f" {OPERATION}," in rest and " evaluate " in rest, verdict)


def _one_after_the_other(
    data_directory: DataDirectory, percent: int, is_beside: bool, number: int
) -> list[Claim]:
    suite = _suite(data_directory, number, HEAD, samples=30, min_time_s=0.3)
    _command(data_directory, 0, "run", str(suite))
    with _neighbors(is_beside):
        _command(data_directory, percent, "run", str(suite))
    rows = json.loads(
        _command(data_directory, 0, "compare", "last~1", "last", "--metric", "time", "--format", "json")
    )
    return [
        Claim((row["operation"], row["phase"]) == (OPERATION, "evaluate"), row["verdict"].partition(":")[0])
        for row in rows
    ]


def _suite(data_directory: DataDirectory, number: int, variant: str, samples: int, min_time_s: float) -> Path:
    path = data_directory.folder / f"gate-{variant}-{number}.yaml"
    path.write_text(SUITE.format(seed=number + 1, variant=variant, samples=samples, min_time_s=min_time_s))
    return path


def _command(data_directory: DataDirectory, percent: int, *arguments: str) -> str:
    """The output of a command; raises ``UserError`` if it compared or executed nothing."""
    planted = {
        "CIPHERMARK_ADAPTER_PATH": str(ROOT / "bench" / "planted"),
        "CIPHERMARK_BENCH_PLANTED": str(percent),
        "COLUMNS": _WIDE,
    }
    command = [str(BIN / "ciphermark"), *arguments]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**environment(data_directory), **planted},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in _EXIT_CODES:
        raise UserError(f"{arguments[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


@contextmanager
def _neighbors(are_there: bool) -> Iterator[None]:
    """Processes that only copy memory."""
    variables: Mapping[str, str] = os.environ | {"OMP_NUM_THREADS": "1"}
    copies = [
        subprocess.Popen([sys.executable, "-c", _COPYING], env=variables)
        for _ in range(_COPIES if are_there else 0)
    ]
    try:
        sleep(_STARTING_S if are_there else 0.0)
        yield
    finally:
        for process in copies:
            process.kill()
            process.wait()
