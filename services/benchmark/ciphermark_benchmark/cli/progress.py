"""Progress of a run: a bar with the time left on a terminal, elsewhere a line per finished comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ciphermark_benchmark.runner.runs import Prepared
from ciphermark_core.descriptor import REPETITIONS
from ciphermark_core.model import Case, Outcome
from ciphermark_present import formats


class _Lines:
    """Writes a line when the last trial of a comparison has ended, in whatever order trials end."""

    def __init__(self, console: Console, prepared: Prepared) -> None:
        self._console = console
        comparisons = [item for block in prepared.plan.blocks for item in block.comparisons]
        self._total = len(comparisons)
        self._done = 0
        self._open = {trial.id: item.trials for item in comparisons for trial in item.trials}
        self._ended: dict[str, Outcome] = {}

    def on_outcome(self, outcome: Outcome) -> None:
        trials = self._open.get(outcome.trial.id, ())
        self._ended[outcome.trial.id] = outcome
        if trials and all(trial.id in self._ended for trial in trials):
            self._done += 1
            outcomes = [self._ended.pop(trial.id) for trial in trials]
            self._console.print(
                f"{self._done} of {self._total}: {_told(outcomes)}", soft_wrap=True, markup=False
            )


def _told(outcomes: Sequence[Outcome]) -> str:
    """What was compared, and what each variant came to."""
    case = outcomes[0].trial.case
    ended = ", ".join(f"{outcome.trial.case.variant} {_result(outcome)}" for outcome in outcomes)
    return f"{case.experiment} {_place(case)}, {case.size} values: {ended}"


def _place(case: Case) -> str:
    """Scheme, N (the library finds it where the smallest is asked for) and operation, with how often."""
    ring = "smallest N" if case.parameters.ring_dimension_is_minimum else str(case.parameters.ring_dimension)
    count = REPETITIONS.of(case.dimensions)
    times = "" if count is None else f" × {count}"
    return f"{case.parameters.scheme} {ring} {case.operation}{times}"


def _result(outcome: Outcome) -> str:
    """The median of what the operation took, corrected, of samples that count; without times the status."""
    times = [
        (sample.is_disturbed, sample.corrected)
        for sample in outcome.samples
        if sample.metric == "time" and sample.phase == "operation" and not sample.is_warmup
    ]
    if outcome.status != "ok" or not times:
        return outcome.status
    is_any_quiet = not all(is_disturbed for is_disturbed, _ in times)
    counted = [value for is_disturbed, value in times if not (is_any_quiet and is_disturbed)]
    return formats.brief_seconds(median(counted))


@contextmanager
def progress_of(prepared: Prepared) -> Iterator[Callable[[Outcome], None]]:
    """Yields what to call with every outcome."""
    total = len(prepared.plan.trials) + len(prepared.plan.unsupported)
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    if not console.is_terminal or console.is_dumb_terminal:
        yield _Lines(console, prepared).on_outcome
        return
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("measuring", total=total)

        def on_outcome(outcome: Outcome) -> None:
            case = outcome.trial.case
            bar.update(task, advance=1, description=f"{case.variant} {_place(case)}")

        yield on_outcome
