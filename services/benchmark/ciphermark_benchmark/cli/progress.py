"""Progress of a run: a bar with the time left on a terminal, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
from ciphermark_core.model import Outcome


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
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("measuring", total=total)

        def on_outcome(outcome: Outcome) -> None:
            case = outcome.trial.case
            name = (
                f"{case.variant} {case.parameters.scheme} {case.parameters.ring_dimension} {case.operation}"
            )
            bar.update(task, advance=1, description=name)

        yield on_outcome
