"""Section ``quick``: the duration of the quick suite, its share without measurement, and a worker's start-up time.

The command is profiled, at little cost, since all measurement happens in workers. The waiting times of its own
functions show the use of the remaining time.
"""

from __future__ import annotations

import marshal
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from time import perf_counter

from bench.processes import QUICK, fresh_data_directory, run_suite, start_result
from bench.results import BenchResult, Progress, Target
from ciphermark_core.model import Outcome

VARIANTS = ("seal", "seal-hexl", "tenseal", "pyfhel")

Function = tuple[str, str]  # file and function of the command


def measuring(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Seconds of a run spent on measurement; keys count once per worker (variant, parameters, threads)."""
    sums = dict.fromkeys(("keys_s", "encryption_s", "calibration_s", "sampling_s"), 0.0)
    workers = set()
    for outcome in outcomes:
        case = outcome.trial.case
        worker = (case.variant, case.parameters, case.threads, outcome.trial.process)
        for name in sums:
            if name != "keys_s" or worker not in workers:
                sums[name] += outcome.facts.get(name, 0.0)
        workers.add(worker)
    return sums


def breakdown(
    spent_s: Mapping[Function, float], measured_s: Mapping[str, float], wall_s: float
) -> dict[str, float]:
    """The parts of the remaining wall time in seconds; they add up to ``wall_s`` less the measurement.

    A function's time includes its callees; that of a renamed function is 0.
    """

    def runner(*names: str) -> float:
        return sum(spent_s.get(("trial_runner.py", name), 0.0) for name in names)

    memory_s, executor_s = (spent_s.get(("executor.py", name), 0.0) for name in ("peaks", "execute"))
    recording_s = spent_s.get(("recorder.py", "report"), 0.0)
    shown_s = spent_s.get(("run.py", "_conclude"), 0.0)
    trials_s = runner("open", "turn", "close") - runner("_require_prepared")
    inside_s = trials_s + runner("_require_prepared", "start", "ready", "leave") + memory_s + recording_s
    in_trials_s = sum(measured_s.values()) - measured_s["keys_s"]
    return {
        "memory pass (workers of its own)": memory_s,
        "starting workers: until all have loaded their libraries": runner("start", "ready"),
        "starting workers: parameters": runner("_require_prepared") - measured_s["keys_s"],
        "checks before and between samples": trials_s - runner("close") - in_trials_s,
        "checks after the last sample": runner("close"),
        "ending workers": runner("leave"),
        "recording": recording_s,
        "showing the result": shown_s,
        "executor itself": executor_s - inside_s,
        "before and after: imports, planning, host facts": wall_s - executor_s - shown_s,
    }


def section(progress: Progress) -> Iterator[BenchResult]:
    """Start workers, then run the suite."""
    for variant in VARIANTS:
        progress(f"starting workers of {variant}")
        yield start_result(variant, Target(most=0.5))
    progress("ciphermark run quick, one to two minutes")
    with fresh_data_directory() as data_directory:
        profile = data_directory.folder / "profile"
        start = perf_counter()
        outcomes = run_suite(data_directory, QUICK, [sys.executable, "-m", "cProfile", "-o", str(profile)])
        wall_s = perf_counter() - start
        functions = marshal.loads(profile.read_bytes())
    spent_s: dict[Function, float] = defaultdict(float)
    for (file, _, function), (_, _, _, cumulative_s, _) in functions.items():
        spent_s[Path(file).name, function] += cumulative_s
    measured_s = measuring(outcomes)
    rest_s = wall_s - sum(measured_s.values())
    yield BenchResult("wall time", wall_s, "s", Target(most=60), f"{len(outcomes)} trials")
    yield BenchResult("share not measuring", 100 * rest_s / wall_s, "%", Target(most=12), f"{rest_s:.1f} s")
    for name, seconds in measured_s.items():
        yield BenchResult(f"  {name.removesuffix('_s')}", seconds, "s")
    for name, seconds in breakdown(spent_s, measured_s, wall_s).items():
        yield BenchResult(f"  rest: {name}", seconds, "s", note=f"{100 * seconds / wall_s:.1f} %")
