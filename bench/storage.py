"""Section ``storage``: recording synthetic outcomes, and answering ``results`` for one run out of many."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from datetime import datetime, timezone
from statistics import median
from time import perf_counter

from bench.processes import fresh_data_directory
from bench.results import BenchResult, Progress, Target
from ciphermark_benchmark import storage
from ciphermark_core import host, primes
from ciphermark_core.budget import Budget
from ciphermark_core.model import Case, LibraryInfo, Outcome, Parameters, ParameterSpec, Sample, Trial
from ciphermark_core.run import Host, Run
from ciphermark_db.database import Database

RUNS = 50
TRIALS = 50  # of each run, each of another case
_COMPARED = 10  # outcomes that are recorded together
SAMPLES = 400  # of each trial
_PHASES = ("encrypt", "evaluate", "decrypt", "evaluate")
_REPEATS = 5
_RING_DIMENSION = 8192

_RESULTS = "select * from results where run_id = %(run_id)s"


def run_id(number: int) -> str:
    """The id of a synthetic run."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"bench/{number}"))


def synthetic_run(number: int, on: Host) -> Run:
    """A synthetic run."""
    now = datetime.now(timezone.utc).isoformat()
    return Run(run_id(number), "synthetic", "", number, now, on, "bench")


def synthetic_outcome(run: Run, number: int) -> Outcome:
    """A trial's outcome with :data:`SAMPLES` samples in three phases, a tenth of them twice as long as the rest."""
    modulus = primes.batching_modulus(20, _RING_DIMENSION)
    spec = ParameterSpec("bfv", _RING_DIMENSION, plain_modulus=modulus)
    chain = primes.ntt_primes(43, _RING_DIMENSION, 5)
    variant = ("seal", "pyfhel")[number % 2]
    case = Case(variant, "arithmetic", f"operation{number // 2}", spec, _RING_DIMENSION, "random")
    return Outcome(
        trial=Trial(str(uuid.uuid5(uuid.UUID(run.id), str(number))), run.id, case, 0, 1, Budget()),
        status="ok",
        started_at=run.started_at,
        duration_s=1.0,
        samples=_samples(random.Random(number)),
        parameters=Parameters(spec, _RING_DIMENSION, chain[:-1], chain[-1:], _RING_DIMENSION, modulus),
        library=LibraryInfo("SEAL", variant, "4.1.2", False, {"compiler": "none"}),
        facts={"keys_s": 0.1},
    )


def _samples(noise: random.Random) -> tuple[Sample, ...]:
    per_phase = SAMPLES // len(_PHASES)

    def value() -> float:
        return 1e-3 * noise.uniform(0.99, 1.01) * (1 + (noise.random() < 0.1))

    return tuple(
        Sample("time", value(), phase, ordinal=turn * per_phase + place, loops=10)
        for turn, phase in enumerate(_PHASES)
        for place in range(per_phase)
    )


def section(progress: Progress) -> Iterator[BenchResult]:
    """Fill a database, then query it."""
    with fresh_data_directory() as data_directory, storage.connected(data_directory) as database:
        facts = host.collect()
        recorded = 0
        for at_once, runs, target in ((_COMPARED, RUNS, Target(least=100_000)), (1, RUNS // 10, None)):
            per_run = TRIALS * SAMPLES
            progress(f"recording {runs * per_run:,} samples, {at_once} outcomes at once")
            each_s = [_recorded_s(database, recorded + number, facts, at_once) for number in range(runs)]
            recorded += runs
            note = f"{runs} runs of {TRIALS} outcomes of {SAMPLES} samples, the last at {per_run / each_s[-1]:,.0f}"
            speed = runs * per_run / sum(each_s)
            yield BenchResult(f"recording with results, {at_once} at once", speed, "samples/s", target, note)
        database.analyze()
        progress("asking for results")
        times_ms = [1000 * _asked_s(database, number) for number in range(0, RUNS, RUNS // _REPEATS)]
        note = f"out of {recorded} runs; the slowest of {len(times_ms)} took {max(times_ms):.0f} ms"
        yield BenchResult("results of one run", median(times_ms), "ms", Target(most=50), note)


def _recorded_s(database: Database, number: int, on: Host, at_once: int) -> float:
    """Seconds spent on recording a run, its results and the host's state, without those of generating outcomes."""
    run = synthetic_run(number, on)
    outcomes = [synthetic_outcome(run, index) for index in range(TRIALS)]
    database.record_run(run)
    start = perf_counter()
    for first in range(0, TRIALS, at_once):
        database.record_outcomes(outcomes[first : first + at_once])
    database.update_host_state(run.id)
    return perf_counter() - start


def _asked_s(database: Database, number: int) -> float:
    start = perf_counter()
    table = database.query(_RESULTS, {"run_id": run_id(number)})
    elapsed_s = perf_counter() - start
    expected = TRIALS * len(set(_PHASES))
    if len(table.rows) != expected:
        raise RuntimeError(f"{len(table.rows)} results, not {expected}")
    return elapsed_s
