"""Section ``aa``: one variant under two names. Nothing may come out as a difference."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.figures import Figure, Progress, Target
from bench.places import BIN, ROOT, environment, fresh_home
from ciphermark_benchmark import storage
from ciphermark_benchmark.home import Home
from ciphermark_core import wire
from ciphermark_core.errors import UserError
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_core.model import Outcome
from ciphermark_db.database import Database

VARIANTS = ("seal", "seal@again")
CASES = 20
RUNS = 10
_STATED_RATE = 0.05  # of cases that an interval at 95 % may flag by accident; the noise floor leaves fewer
_FLAGS = ("faster", "slower")

SUITE = """\
name: aa
seed: {seed}
budget: {{processes: 1, samples: 10, warmups: 1, min_time_s: 0.3}}
experiments:
  - kind: arithmetic
    variants: [seal, "seal@again"]
    schemes: [bfv, ckks]
    ring_dimension: [4096, 8192]
    operations: [add, add_plain, mul_plain, mul, relinearize]
"""

_RATIOS = """\
select variant, phase, ratio, ci_low, ci_high, verdict
from ranking
where run_id = %(run_id)s and variant <> fastest_variant
"""


@dataclass(frozen=True, slots=True)
class Compared:
    """One case in one phase: the ratio of the slower name's times to the faster one's, as the database has it."""

    variant: str
    phase: str
    ratio: float
    low: float | None
    high: float | None
    verdict: str

    @property
    def oriented(self) -> float:
        """The ratio second name / first name."""
        return self.ratio if self.variant == VARIANTS[1] else 1 / self.ratio

    @property
    def is_beyond_one(self) -> bool:
        """Whether the interval excludes 1: what would be flagged without a noise floor."""
        return self.low is not None and self.high is not None and not self.low <= 1 <= self.high

    @property
    def floor(self) -> float:
        """The least noise floor with which this is no difference; 1 where none is needed."""
        if self.low is None or self.high is None:
            return 1.0
        return max(1.0, self.low, 1 / self.high)


def figures(number: int, rows: Sequence[Compared]) -> Iterator[Figure]:
    """The figures of one run of the suite, of at least one comparison per phase."""
    for name, chosen in (("operation", _of_operation(rows)), ("all phases", rows)):
        ratios = sorted(row.oriented for row in chosen)
        floors = sorted(row.floor for row in chosen)
        yield Figure(
            "aa",
            f"run {number}: flagged of {len(chosen)}, {name}",
            sum(row.verdict in _FLAGS for row in chosen),
            note=f"ratios {ratios[0]:.3f}–{ratios[-1]:.3f}; intervals without 1: "
            f"{sum(row.is_beyond_one for row in chosen)}; floor needed {floors[-1]:.3f} "
            f"(is {SIGNIFICANCE_THRESHOLD})",
            facts={"ratios": ratios, "floors": floors},
        )


def whole(rows: Sequence[Compared]) -> Figure:
    """How many of all cases were flagged, against the rate that intervals state."""
    flagged = sum(row.verdict in _FLAGS for row in rows)
    undecided = sum(row.verdict == "too few samples" for row in rows)
    target = Target(most=int(_STATED_RATE * len(rows)))
    note = f"{undecided} had too few samples that count"
    return Figure("aa", f"flagged of {len(rows)}, operation", flagged, target=target, note=note)


def _of_operation(rows: Sequence[Compared]) -> list[Compared]:
    return [row for row in rows if row.phase == "operation"]


def section(progress: Progress) -> Iterator[Figure]:
    """Run the suite several times, with a seed of its own each; then all of them are judged."""
    every: list[Compared] = []
    with fresh_home() as home:
        for number in range(1, RUNS + 1):
            progress(f"run {number} of {RUNS}: {CASES} cases, about half a minute")
            outcomes = _run(home, number)
            for outcome in outcomes:
                if outcome.status != "ok":
                    case = outcome.trial.case
                    progress(f"{case.variant} {case.operation} is {outcome.status}: {outcome.error}")
            with storage.connected(home) as database:
                rows = _compared(database, outcomes[0].trial.run_id)
            every += _of_operation(rows)
            yield from figures(number, rows)
        yield whole(every)


def _run(home: Home, number: int) -> list[Outcome]:
    suite, outcomes = home.folder / "aa.yaml", home.folder / f"aa-{number}.jsonl"
    suite.write_text(SUITE.format(seed=number))
    command = [str(BIN / "ciphermark"), "run", str(suite), "--json", str(outcomes)]
    done = subprocess.run(command, cwd=ROOT, env=environment(home), capture_output=True, check=False)
    if done.returncode != 0:
        raise UserError(f"the A/A suite failed: {done.stderr.decode(errors='replace')[-2000:]}")
    return [wire.from_line(line, Outcome) for line in outcomes.read_bytes().splitlines()]


def _compared(database: Database, run_id: str) -> list[Compared]:
    return [Compared(*row) for row in database.query(_RATIOS, {"run_id": run_id}).rows]
