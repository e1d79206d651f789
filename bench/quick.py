"""Section ``quick``: how long the quick suite takes, how much of that is not measuring, what a worker's start costs.

The command is profiled; since all measuring happens in workers, that costs it little, and the time that its own
functions wait for says where the rest goes.
"""

from __future__ import annotations

import marshal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.figures import Figure, Progress, Target
from bench.places import BIN, QUICK, ROOT, environment, fresh_home
from bench.processes import started
from ciphermark_benchmark.home import Home
from ciphermark_core import wire
from ciphermark_core.errors import UserError
from ciphermark_core.model import Outcome

VARIANTS = ("seal", "seal-hexl", "tenseal", "pyfhel")
_STARTS = 5

# Functions of the command whose time, callees included, the breakdown is made of: (file, function).
Function = tuple[str, str]
_MEMORY: Function = ("executor.py", "peaks")
_START: Function = ("trial_runner.py", "start")
_READY: Function = ("trial_runner.py", "ready")
_PREPARE: Function = ("trial_runner.py", "_require_prepared")
_OPEN: Function = ("trial_runner.py", "open")
_TURN: Function = ("trial_runner.py", "turn")
_CLOSE: Function = ("trial_runner.py", "close")
_LEAVE: Function = ("trial_runner.py", "leave")
_REPORT: Function = ("recorder.py", "report")
_EXECUTE: Function = ("executor.py", "execute")
_CONCLUDE: Function = ("run.py", "_conclude")


@dataclass(frozen=True, slots=True)
class Measuring:
    """Seconds of a run that are the point of it."""

    keys_s: float
    encryption_s: float
    calibration_s: float
    sampling_s: float

    @property
    def total_s(self) -> float:
        """All of them."""
        return self.keys_s + self.encryption_s + self.calibration_s + self.sampling_s


def measuring(outcomes: Iterable[Outcome]) -> Measuring:
    """What the facts of the outcomes sum up to; keys count once per worker (variant, parameters, threads)."""
    keys: dict[object, float] = {}
    sums = dict.fromkeys(("encryption_s", "calibration_s", "sampling_s"), 0.0)
    for outcome in outcomes:
        case = outcome.trial.case
        worker = (case.variant, case.parameters, case.threads, outcome.trial.process)
        keys[worker] = outcome.facts.get("keys_s", 0.0)
        for name in sums:
            sums[name] += outcome.facts.get(name, 0.0)
    return Measuring(sum(keys.values()), **sums)


def breakdown(spent: Mapping[Function, float], found: Measuring, wall_s: float) -> dict[str, float]:
    """Where the rest of the wall time went, in seconds; sums up to ``wall_s`` less the measuring."""
    trials = sum(spent[name] for name in (_OPEN, _TURN, _CLOSE)) - spent[_PREPARE]
    parts = {
        "memory pass (workers of its own)": spent[_MEMORY],
        "starting workers: until all have loaded their libraries": spent[_START] + spent[_READY],
        "starting workers: parameters": spent[_PREPARE] - found.keys_s,
        "checks before and between samples": trials - spent[_CLOSE] - found.total_s + found.keys_s,
        "checks after the last sample": spent[_CLOSE],
        "ending workers": spent[_LEAVE],
        "recording": spent[_REPORT],
        "showing the result": spent[_CONCLUDE],
    }
    inside = trials + sum(spent[name] for name in (_PREPARE, _MEMORY, _START, _READY, _LEAVE, _REPORT))
    parts["executor itself"] = spent[_EXECUTE] - inside
    parts["before and after: imports, planning, host facts"] = wall_s - spent[_EXECUTE] - spent[_CONCLUDE]
    return parts


def section(progress: Progress) -> Iterator[Figure]:
    """Start workers, then run the suite."""
    for variant in VARIANTS:
        progress(f"starting {_STARTS} workers of {variant}")
        start_s = median(started(variant).start_s for _ in range(_STARTS))
        yield Figure("quick", f"{variant} worker start without keys", start_s, "s", Target(most=0.5))
    progress("ciphermark run quick, one to two minutes")
    with fresh_home() as home:
        wall_s, outcomes, spent = _run(home)
    yield from figures(wall_s, outcomes, spent)


def figures(wall_s: float, outcomes: list[Outcome], spent: Mapping[Function, float]) -> Iterator[Figure]:
    """The figures of one run of the suite."""
    found = measuring(outcomes)
    rest_s = wall_s - found.total_s
    yield Figure("quick", "wall time", wall_s, "s", Target(most=60), f"{len(outcomes)} trials")
    yield Figure(
        "quick", "share not measuring", 100 * rest_s / wall_s, "%", Target(most=12), f"{rest_s:.1f} s"
    )
    for name in ("keys_s", "encryption_s", "calibration_s", "sampling_s"):
        yield Figure("quick", f"  {name.removesuffix('_s')}", getattr(found, name), "s")
    for name, seconds in breakdown(spent, found, wall_s).items():
        yield Figure("quick", f"  rest: {name}", seconds, "s", note=f"{100 * seconds / wall_s:.1f} %")


def _run(home: Home) -> tuple[float, list[Outcome], dict[Function, float]]:
    """Wall seconds, outcomes, and seconds per function of interest."""
    profile, outcomes = home.folder / "profile", home.folder / "outcomes.jsonl"
    command = [sys.executable, "-m", "cProfile", "-o", str(profile), str(BIN / "ciphermark")]
    command += ["run", str(QUICK), "--json", str(outcomes)]
    start = perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=environment(home), capture_output=True, check=False)
    wall_s = perf_counter() - start
    if not outcomes.exists():
        raise UserError(f"the quick suite failed: {done.stderr.decode(errors='replace')[-2000:]}")
    lines = outcomes.read_bytes().splitlines()
    return wall_s, [wire.from_line(line, Outcome) for line in lines], _spent(profile)


def _spent(profile: Path) -> dict[Function, float]:
    """Cumulative seconds of the functions that the breakdown knows; 0 for one that was renamed."""
    known = (_MEMORY, _START, _READY, _PREPARE, _OPEN, _TURN, _CLOSE, _LEAVE, _REPORT, _EXECUTE, _CONCLUDE)
    spent = dict.fromkeys(known, 0.0)
    for (file, _, function), (_, _, _, cumulative_s, _) in marshal.loads(profile.read_bytes()).items():
        key = (Path(file).name, function)
        if key in spent:
            spent[key] += cumulative_s
    return spent
