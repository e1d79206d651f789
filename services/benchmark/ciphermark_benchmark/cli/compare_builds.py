"""Compare two builds on all cases of a suite, sampled alternately in new processes."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.text import Text

from ciphermark_analysis import build_comparison, build_search
from ciphermark_analysis.build_comparison import Compared
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark import run_notes
from ciphermark_benchmark.cli._builds import (
    Bench,
    Refused,
    Subject,
    described,
    differences,
    label,
    subjects,
    suite_text,
)
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli._result_tables import UNCORRECTED_HELP
from ciphermark_benchmark.cli.compare import POWER_HELP
from ciphermark_benchmark.cli.run import progress_of, say_that_it_waits
from ciphermark_benchmark.data_sets.catalogue import Catalogue
from ciphermark_benchmark.runner import durations, runs
from ciphermark_benchmark.suite import estimate, files
from ciphermark_benchmark.suite.form import Suite
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_core import host as hosts
from ciphermark_core.budget import Budget
from ciphermark_core.errors import UserError
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_core.model import Case, Outcome, Sample
from ciphermark_core.percentages import factor
from ciphermark_core.run import Host
from ciphermark_measure.experiments import KINDS
from ciphermark_present import formats
from ciphermark_present.catalogue import comparing
from ciphermark_present.console import Terminal
from ciphermark_present.printed import Cells, Head, printed
from ciphermark_present.query import AS_MEASURED, Row
from ciphermark_present.terminal import show
from ciphermark_workloads.catalogue import WORKLOADS

_EPILOG = """[bold]Examples[/bold]

  ciphermark compare-builds quick seal seal-mine

  ciphermark compare-builds gate.yaml base head --threshold 10% --require-power 25% --all

[bold]Exit code[/bold]  0: no regression. 1: the head has a regression. 2: nothing could be compared.
3: no regression, but undecided results.
"""
_CLIENT_STAGES = (
    2  # encryption and decryption, timed once for all operations on the same parameters and vectors
)
_ORDER = ("failed", "slower", "undecided", "faster", "unchanged")


class Result(NamedTuple):
    """A compared time: of one case, or of all cases with the same parameters and vector."""

    case: str
    stage: str


app = typer.Typer(add_completion=False)


@app.command(epilog=_EPILOG)
def compare_builds(  # noqa: PLR0913, PLR0917 - each parameter is an option of the command line
    suite: Annotated[Path, typer.Argument(help="Suite with the cases to measure. Its variants are ignored.")],
    base: Annotated[str, typer.Argument(help="Baseline variant.")],
    head: Annotated[str, typer.Argument(help="Variant to compare with the baseline.")],
    threshold: Annotated[
        str | None,
        typer.Option(metavar="PERCENT", help="Smaller differences count as unchanged. Default: 5%."),
    ] = None,
    require_power: Annotated[str | None, typer.Option(metavar="PERCENT", help=POWER_HELP)] = None,
    error: Annotated[
        float, typer.Option(min=0.001, max=0.2, help="Maximum probability of any wrong verdict.")
    ] = build_search.ERROR,
    all: Annotated[bool, typer.Option("--all", help="Also print unchanged results.")] = False,
    uncorrected: Annotated[bool, typer.Option("--uncorrected", help=UNCORRECTED_HELP)] = False,
) -> None:
    """Compare two builds on all cases of a suite, sampled alternately in new processes."""
    if base == head:
        raise UserError(
            "name two different builds. To compare a build with itself, add a label to one: seal and seal@again"
        )
    least = factor("--threshold", threshold) or SIGNIFICANCE_THRESHOLD
    power = factor("--require-power", require_power)
    data_directory, console = data_directories.find(), console_for()
    loaded, text = files.load(suite, Catalogue(data_directory, os.environ, files.spelled_out(suite).parent))
    able, refused = timed(loaded, text, (base, head), hosts.collect())
    if not able:
        raise UserError(_reason_against(refused))
    bench = Bench(data_directory, suite, progress_of)
    written = files.plain(text, str(suite))
    family = _Family(bench, able, written, (base, head), loaded.budget.budget, uncorrected, power)
    processes = build_comparison.rule_for_family(_expected(able), error).processes
    _announce(console, family, processes, error, least)
    with runs.alone_on_host(data_directory, lambda: say_that_it_waits(data_directory)):
        compared = build_comparison.compare(family.measure, processes, error, least)
    _show(console, family, compared, refused, all)
    raise typer.Exit(_exit_code(compared, family))


def timed(
    suite: Suite, text: str, builds: tuple[str, str], facts: Host
) -> tuple[list[Subject], list[Refused]]:
    """The result of :func:`subjects`, restricted to cases with a time: depth and noise have none."""
    able, refused = subjects(suite, text, builds, facts)
    return [item for item in able if _is_timed(item.case)], [item for item in refused if _is_timed(item.case)]


def _is_timed(case: Case) -> bool:
    return case.experiment not in KINDS or bool(KINDS[case.experiment].searched)


@dataclass(frozen=True, slots=True)
class Failure:
    """Trials of a case without a result, with one of the builds."""

    case: str
    variant: str
    reason: str


@dataclass
class _Family:
    """Measures the results of a suite, ``written`` in plain form, and collects failed cases. ``power`` is a slowdown as
    a factor: an undecided result that rules it out is accepted.
    """

    bench: Bench
    able: Sequence[Subject]
    written: Mapping[str, Any]
    builds: tuple[str, str]
    budget: Budget
    is_uncorrected: bool = False
    power: float | None = None
    failures: dict[tuple[str, str], Failure] = field(default_factory=dict)

    def measure(self, names: Collection[Result] | None, processes: int) -> Mapping[Result, Sequence[float]]:
        """Ratios of head to base, one for each pair of processes; without ``names``, of all results."""
        ended = self.bench.execute(self.text(names, processes))
        self.failures |= {(item.case, item.variant): item for item in failures(ended.outcomes)}
        failed = {case for case, _ in self.failures}
        outcomes = [item for item in ended.outcomes if label(item.trial.case) not in failed]
        return build_search.named_ratios(
            outcomes, *self.builds, result_of, is_uncorrected=self.is_uncorrected
        )

    def text(self, names: Collection[Result] | None, processes: int) -> str:
        """The text of the suite that measures these results in as many processes."""
        chosen = self.able if names is None else list(_measuring(self.able, names))
        return suite_text(f"compare-builds-{self.written['name']}", self.written, chosen, processes)


def result_of(case: Case, sample: Sample) -> Result | None:
    """The result that a time belongs to; ``None`` for a part of a stage."""
    if sample.step or sample.party:
        return None
    is_own = case.experiment not in KINDS or sample.stage in KINDS[case.experiment].searched
    return Result(label(case) if is_own else _shared(case), sample.stage)


def _shared(case: Case) -> str:
    """The key of the cases that share encryption and decryption: their parameters and vector."""
    return ", ".join(described(case))


def failures(outcomes: Iterable[Outcome]) -> Iterator[Failure]:
    """The failures of trials without a result, with their reasons."""
    for outcome in outcomes:
        case = outcome.trial.case
        if not run_notes.is_as_planned(outcome):
            reason = f"{outcome.status}: {outcome.error}" if outcome.error else outcome.status
            yield Failure(label(case), case.variant, reason)


def _measuring(able: Iterable[Subject], names: Collection[Result]) -> Iterator[Subject]:
    """The subjects that measure these results; a shared result is measured by the first subject that has it."""
    wanted = {name.case for name in names}
    for subject in able:
        own, shared = label(subject.case), _shared(subject.case)
        if own in wanted or (shared in wanted and subject.case.experiment in KINDS):
            wanted.discard(shared)
            yield subject


def _expected(able: Sequence[Subject]) -> int:
    """The approximate number of results. A deviation affects the effort for verdicts, not their error probability."""
    own = sum(
        len(KINDS[s.case.experiment].searched)
        if s.case.experiment in KINDS
        else len(WORKLOADS[s.case.operation].stages)
        for s in able
    )
    shared = {_shared(s.case) for s in able if s.case.experiment in KINDS}
    return own + _CLIENT_STAGES * len(shared)


def _reason_against(refused: Sequence[Refused]) -> str:
    reasons = Counter(f"{item.variant}: {item.reason}" for item in refused)
    why = "".join(f"; {reason}" for reason, _ in reasons.most_common(1))
    return f"the suite has no timed case that both builds can execute{why}"


def _announce(console: Terminal, family: _Family, processes: int, error: float, threshold: float) -> None:
    base, head = family.builds
    budget = replace(family.budget, processes=processes)
    planned = [
        PlannedCase(replace(s.case, variant=name), None) for s in family.able for name in family.builds
    ]
    took = durations.in_words(estimate.of_plan(planned, budget).seconds)
    for line in (
        f"Head {head}, base {base}. Cases: {len(family.able)}. {processes} fresh processes of each build, sampled "
        "alternately",
        f"Significance threshold {threshold - 1:.1%}; false-alarm rate of all verdicts together {error:.1%}",
        f"Estimated time: {took} on an idle host. Undecided results are measured once more",
        *([AS_MEASURED] if family.is_uncorrected else []),
    ):
        console.print(Text(line), soft_wrap=True)


def _show(
    console: Terminal,
    family: _Family,
    compared: Sequence[Compared[Result]],
    refused: Sequence[Refused],
    is_whole: bool,
) -> None:
    counts: Counter[str] = Counter(item.verdict for item in compared)
    failed = [item for item in family.failures.values() if _is_regression(family, item)]
    counted = [
        *([f"{len(failed)} failed"] if failed else []),
        *(f"{counts[v]} {v}" for v in _ORDER if counts[v]),
    ]
    console.print(Text(f"\nResults: {', '.join(counted) or 'none'}", style="bold"))
    if family.power is not None:
        accepted = comparing.summary(_judged(compared, family), family.power).accepted
        console.print(Text(comparing.acceptance(accepted, family.power)))
    shown = [item for item in compared if is_whole or item.verdict != "unchanged"]
    if shown:
        title = "Time of head as a multiple of the time of base"
        table = printed(title, "", _COLUMNS, [*map(_row, sorted(shown, key=_place))])
        show(console, [replace(table, keys=_NAMES)])
    _show_missing(console, family, refused)
    libraries = [family.bench.libraries.get(build) for build in family.builds]
    if libraries[0] is not None and libraries[1] is not None:
        for name, old, new in differences(libraries[0], libraries[1]):
            console.print(Text(f"{name}: {old} → {new}"), soft_wrap=True)
    console.print(Text(f"Runs: {' '.join(family.bench.run_ids)}"), soft_wrap=True)


def _show_missing(console: Terminal, family: _Family, refused: Sequence[Refused]) -> None:
    """Print the cases without a verdict, with the reasons."""
    for item in family.failures.values():
        console.print(
            Text(f"No result: {item.variant}, {item.case}: {item.reason}", style="red"), soft_wrap=True
        )
    for case in refused:
        console.print(
            Text(f"Not comparable: {case.variant}, {label(case.case)}: {case.reason}"), soft_wrap=True
        )


def _place(item: Compared[Result]) -> tuple[int, float]:
    return _ORDER.index(item.verdict), -abs(math.log(item.ratio.median))


def _row(item: Compared[Result]) -> dict[str, Any]:
    return {"verdict": item.verdict, "ratio": item.ratio, **item.name._asdict()}


def _interval(row: Row) -> str:
    ratio = row["ratio"]
    return "too few pairs" if ratio.low is None else formats.ratio_interval(ratio.low, ratio.high)


_NAMES = 3  # columns that name a result
_COLUMNS: list[Cells] = [
    (Head("verdict"), lambda row: row["verdict"]),
    (Head("case", is_prose=True), lambda row: row["case"]),
    (Head("time"), lambda row: row["stage"]),
    (Head("ratio", is_number=True), lambda row: formats.ratio(row["ratio"].median)),
    (Head("interval", is_number=True), _interval),
    (Head("pairs", is_number=True, drop=1), lambda row: str(row["ratio"].n)),
]


def _is_regression(family: _Family, failure: Failure) -> bool:
    """Whether a case fails only with the head."""
    base, head = family.builds
    return failure.variant == head and (failure.case, base) not in family.failures


def _exit_code(compared: Sequence[Compared[Result]], family: _Family) -> int:
    """The exit code, as of ``ciphermark compare``."""
    return comparing.EXIT_CODES[comparing.conclusion(_judged(compared, family), family.power)]


def _judged(compared: Sequence[Compared[Result]], family: _Family) -> list[Row]:
    """Verdicts as rows of a comparison of two runs, with ratios of head to base; includes cases that fail only with the
    head.
    """
    rows: list[tuple[str, float | None]] = [(item.verdict, item.ratio.high) for item in compared]
    rows += [("failed", None) for item in family.failures.values() if _is_regression(family, item)]
    return [{"verdict": verdict, "ratio_high": high, "detectable_slowdown": None} for verdict, high in rows]
