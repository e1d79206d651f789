"""Find the build where a case became slower: the ends first, then halves, each pair in turns in fresh processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from ciphermark_analysis import build_search
from ciphermark_analysis.build_search import Found
from ciphermark_analysis.estimates import Estimate
from ciphermark_benchmark import home as homes
from ciphermark_benchmark.builds import bisect as searching
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli.run import say_that_it_waits
from ciphermark_benchmark.data_sets.catalogue import Catalogue
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.runner.runs import Prepared
from ciphermark_benchmark.suite import files
from ciphermark_core import host as hosts
from ciphermark_core.errors import UserError
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD

_EXAMPLES = """[bold]Example[/bold]

  ciphermark bisect quick seal-4.0 seal-4.1 seal-mine --case "arithmetic bfv N=8192 chain default mul,"
"""


app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def bisect(
    suite: Annotated[Path, typer.Argument(help="Suite file that has the case.")],
    builds: Annotated[list[str], typer.Argument(help="Variants from old to new, two or more.")],
    case: Annotated[
        str | None, typer.Option(help="A piece of the case's description, where the suite has several.")
    ] = None,
    error: Annotated[
        float, typer.Option(min=0.001, max=0.2, help="Most probable error of all that is claimed together.")
    ] = build_search.ERROR,
) -> None:
    """Find the build where a case became slower: the ends first, then halves, each pair in turns in fresh processes."""
    if len(builds) < 2 or len(set(builds)) < len(builds):
        raise UserError("name two builds or more, each once, from old to new")
    home, console = homes.find(), console_for()
    loaded, _ = files.load(suite, Catalogue(home, os.environ, files.spelled_out(suite).parent))
    subject = searching.chosen(searching.subjects(loaded, builds, hosts.collect()), case)
    rule = build_search.rule_for(len(builds), error)
    console.print(f"case: {escape(subject.label)}", soft_wrap=True)
    console.print(f"{rule.processes} fresh processes of each build a look; claims err in {error:.1%} at most")
    bench = searching.Bench(home, subject, lambda prepared: _announce(console, prepared))
    with runs.alone_on_host(home, lambda: say_that_it_waits(home)):
        found = build_search.search(builds, bench.measure, error)
    _tell(console, found, bench)


def _announce(console: Console, prepared: Prepared) -> None:
    variants = sorted({trial.case.variant for trial in prepared.plan.trials})
    console.print(f"run {prepared.run.id}: {', '.join(map(escape, variants))}", soft_wrap=True)


def _tell(console: Console, found: Found, bench: searching.Bench) -> None:
    floor = f"{SIGNIFICANCE_THRESHOLD - 1:.0%}"
    for name, ratio in (found.ratios or {}).items():
        console.print(f"  {escape(name)} takes {_ratio(ratio)} of the time of the first")
    if found.verdict == "no step":
        console.print(
            f"[green]no step[/green]: that the last is slower than the first by more than {floor} is not claimed. "
            "Builds in between were not looked at: what one lost another may have made up for",
            soft_wrap=True,
        )
    elif found.verdict == "several steps":
        console.print(
            f"[yellow]several steps[/yellow]: it became slower between {found.before} and {found.after}, and not in "
            "one step that could be told from the rest; search that part of the list by itself",
            soft_wrap=True,
        )
    else:
        assert found.step is not None
        console.print(
            f"[red]step[/red]: {found.after} takes {_ratio(found.step)} of the time of {found.before}",
            soft_wrap=True,
        )
    if found.rest is not None:
        console.print(f"[yellow]![/yellow] another factor of {found.rest:.3f} lies elsewhere in the list")
    _tell_differences(console, found, bench)
    console.print(f"runs: {' '.join(bench.run_ids)}", soft_wrap=True)


def _tell_differences(console: Console, found: Found, bench: searching.Bench) -> None:
    if found.before is None or found.after is None:
        return
    both = bench.libraries.get(found.before), bench.libraries.get(found.after)
    if both[0] is None or both[1] is None:
        return
    for name, old, new in searching.differences(both[0], both[1]):
        console.print(f"  {escape(name)}: {escape(old)} → {escape(new)}", soft_wrap=True)


def _ratio(ratio: Estimate) -> str:
    if ratio.low is None or ratio.high is None:
        return f"{ratio.median:.3f}"
    return f"{ratio.median:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"
