"""Section ``aa``: one build under two names, in several runs.

No difference may be reported, neither between the names within a run nor between two runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from bench.processes import fresh_data_directory, run_suite
from bench.results import BenchResult, Progress, Target
from ciphermark_analysis.family import ERROR
from ciphermark_benchmark import storage
from ciphermark_benchmark.api.results import compared
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_db.database import Database, Table
from ciphermark_present.catalogue.comparing import kind_of

CASES = 20
RUNS = 10
_STATED_RATE = 0.05  # of cases that a 95% interval may flag by chance; the threshold reduces it

SUITE = """\
name: aa
seed: {seed}
budget: {{processes: 1, min_samples: 10, warmups: 1, min_time_s: 0.3}}
experiments:
  - kind: arithmetic
    variants: [seal, "seal@again"]
    schemes: [bfv, ckks]
    ring_dimension: [4096, 8192]
    operations: [add, add_plain, mul_plain, mul, relinearize]
"""

# For one case and phase: the ratio second name / first name, the minimum significance threshold without a difference
# (1 where the interval contains 1, or is missing), and the verdict.
_RATIOS = """\
select phase, case variant when 'seal@again' then ratio else 1 / ratio end, greatest(1, ci_low, 1 / ci_high), verdict
from ranking
where run_id = %(run_id)s and variant <> fastest_variant
"""


class Compared(NamedTuple):
    """A row of that query."""

    phase: str
    ratio: float
    threshold: float
    verdict: str


def section(progress: Progress) -> Iterator[BenchResult]:
    """Run the suite several times, each with a different seed; then judge all runs."""
    every: list[Compared] = []
    ids: list[str] = []
    with fresh_data_directory() as data_directory:
        for number in range(1, RUNS + 1):
            progress(f"run {number} of {RUNS}: {CASES} cases, about half a minute")
            suite = data_directory.folder / f"aa-{number}.yaml"
            suite.write_text(SUITE.format(seed=number))
            outcomes = run_suite(data_directory, suite)
            for outcome in outcomes:
                if outcome.status != "ok":
                    case = outcome.trial.case
                    progress(f"{case.variant} {case.operation} is {outcome.status}: {outcome.error}")
            with storage.connected(data_directory) as database:
                ids.append(outcomes[0].trial.run_id)
                table = database.query(_RATIOS, {"run_id": ids[-1]})
            rows = [Compared(*row) for row in table.rows]
            of_operation = [row for row in rows if row.phase == "evaluate"]
            every += of_operation
            yield _result(f"run {number}: flagged of {len(of_operation)}, operation", of_operation)
            yield _result(f"run {number}: flagged of {len(rows)}, all phases", rows)
        progress("every two runs compared")
        with storage.connected(data_directory) as database:
            yield from _between(database, ids)
    undecided = sum(row.verdict == "too few samples" for row in every)
    target = Target(most=int(_STATED_RATE * len(every)))
    note = f"{undecided} had too few samples that count"
    yield BenchResult(f"flagged of {len(every)}, operation", _flagged(every), target=target, note=note)


def _between(database: Database, runs: Sequence[str]) -> Iterator[BenchResult]:
    """The share of comparisons of two runs that report a difference of any time, against the stated rate.

    Comparisons that share a run are not independent, which does not change the mean.
    """
    comparisons = [_verdicts(compared(database, [a], [b])) for a, b in combinations(runs, 2)]
    every = sum(comparisons, Counter[str]())
    false = sum(verdicts["slower"] + verdicts["faster"] > 0 for verdicts in comparisons)
    note = ", ".join(f"{count} {verdict}" for verdict, count in every.most_common())
    target = Target(most=int(ERROR * len(comparisons)))
    yield BenchResult(
        f"false alarms of {len(comparisons)} comparisons of runs", false, target=target, note=note
    )


def _verdicts(table: Table) -> Counter[str]:
    """The number of times of two runs by verdict."""
    unit, verdict = table.columns.index("unit"), table.columns.index("verdict")
    return Counter(kind_of(row[verdict]) for row in table.rows if row[unit] == "s")


def _result(name: str, rows: Sequence[Compared]) -> BenchResult:
    ratios = sorted(row.ratio for row in rows)
    thresholds = sorted(row.threshold for row in rows)
    note = (
        f"ratios {ratios[0]:.3f}–{ratios[-1]:.3f}; intervals without 1: {sum(item > 1 for item in thresholds)}; "
        f"threshold needed {thresholds[-1]:.3f} (is {SIGNIFICANCE_THRESHOLD})"
    )
    return BenchResult(name, _flagged(rows), note=note, facts={"ratios": ratios, "thresholds": thresholds})


def _flagged(rows: Sequence[Compared]) -> int:
    return sum(row.verdict in ("faster", "slower") for row in rows)
