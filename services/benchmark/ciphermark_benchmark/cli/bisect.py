"""Find the build that slowed a case down, by bisection. Pairs of builds are sampled alternately."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from ciphermark_analysis import build_search
from ciphermark_analysis.build_search import Found, ratios
from ciphermark_analysis.estimates import Estimate
from ciphermark_benchmark import data_directory as data_directories
from ciphermark_benchmark.cli._builds import Bench, Subject, differences, label, subjects, suite_text
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli.run import say_that_it_waits
from ciphermark_benchmark.data_sets.catalogue import Catalogue
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.runner.runs import Ended, OnOutcome, Prepared
from ciphermark_benchmark.suite import files
from ciphermark_benchmark.suite.form import Suite
from ciphermark_core import host as hosts
from ciphermark_core.errors import UserError
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_core.model import Case
from ciphermark_core.run import Host
from ciphermark_measure.experiments import KINDS
from ciphermark_present import formats
from ciphermark_present.console import Terminal, styled

_EXAMPLES = """[bold]Example[/bold]

  ciphermark bisect quick seal-4.0 seal-4.1 seal-mine --case "arithmetic bfv N=8192 modulus chain default mul,"
"""


app = typer.Typer(add_completion=False)


@app.command(epilog=_EXAMPLES)
def bisect(
    suite: Annotated[Path, typer.Argument(help="Suite that contains the case.")],
    builds: Annotated[list[str], typer.Argument(help="Two or more variants, from old to new.")],
    case: Annotated[
        str | None,
        typer.Option(help="Part of the case's description. Required if the suite has several cases."),
    ] = None,
    error: Annotated[
        float, typer.Option(min=0.001, max=0.2, help="Maximum probability of any wrong statement.")
    ] = build_search.ERROR,
) -> None:
    """Find the build that slowed a case down, by bisection. Pairs of builds are sampled alternately."""
    if len(builds) < 2 or len(set(builds)) < len(builds):
        raise UserError("name two or more different builds, from old to new")
    data_directory, console = data_directories.find(), console_for()
    loaded, text = files.load(suite, Catalogue(data_directory, os.environ, files.spelled_out(suite).parent))
    searched = chosen(searchable(loaded, text, builds, hosts.collect()), case)
    rule = build_search.rule_for(len(builds), error)
    console.print(f"Case: {searched.label}", soft_wrap=True)
    console.print(
        f"Comparisons: {rule.processes} fresh processes of each build. Error rate of all claims together: {error:.1%}"
    )
    bench = Bench(data_directory, suite, lambda prepared: _announced(console, prepared))
    measure = Search(bench, searched, files.plain(text, str(suite))).measure
    with runs.alone_on_host(data_directory, lambda: say_that_it_waits(data_directory)):
        search = build_search.search(builds, measure, error)
    _tell(console, search, bench)


@contextmanager
def _announced(console: Terminal, prepared: Prepared) -> Iterator[OnOutcome]:
    variants = sorted({trial.case.variant for trial in prepared.plan.trials})
    console.print(f"Run {prepared.run.id}: {', '.join(variants)}", soft_wrap=True)
    yield lambda _: None


def _tell(console: Terminal, search: Found, bench: Bench) -> None:
    for name, ratio in (search.ratios or {}).items():
        console.print(f"  {name} takes {_ratio(ratio)} as long as the first build")
    console.print(_verdict(search), soft_wrap=True)
    if search.rest is not None:
        console.print(
            styled(
                "[yellow]Warning[/yellow]: another {} lies elsewhere in the list", formats.ratio(search.rest)
            )
        )
    _tell_differences(console, search, bench)
    console.print(f"Runs: {' '.join(bench.run_ids)}", soft_wrap=True)


def _verdict(search: Found) -> Text:
    if search.verdict == "no step":
        return styled(
            "[green]No step[/green]: the last build is not significantly slower than the first (threshold {}). "
            "Builds in between were not measured; a slowdown and a later speedup would cancel.",
            f"{SIGNIFICANCE_THRESHOLD - 1:.0%}",
        )
    if search.verdict == "several steps":
        return styled(
            "[yellow]Several steps[/yellow]: the case became slower in several steps between {} and {}. Search "
            "these builds separately.",
            search.before,
            search.after,
        )
    assert search.step is not None
    return styled(
        "[red]Step[/red]: {} takes {} as long as {}", search.after, _ratio(search.step), search.before
    )


def _tell_differences(console: Terminal, search: Found, bench: Bench) -> None:
    if search.before is None or search.after is None:
        return
    both = bench.libraries.get(search.before), bench.libraries.get(search.after)
    if both[0] is None or both[1] is None:
        return
    for name, old, new in differences(both[0], both[1]):
        console.print(f"  {name}: {old} → {new}", soft_wrap=True)


def _ratio(ratio: Estimate) -> str:
    if ratio.low is None or ratio.high is None:
        return formats.ratio(ratio.median)
    return f"{formats.ratio(ratio.median)} {formats.ratio_interval(ratio.low, ratio.high)}"


@dataclass(frozen=True, slots=True)
class Searched:
    """The searched case, and its stage that is timed."""

    subject: Subject
    stage: str

    @property
    def label(self) -> str:
        """The text of the case that ``--case`` matches."""
        case = self.subject.case
        return f"{label(case)}, {self.stage}" if len(KINDS[case.experiment].searched) > 1 else label(case)


@dataclass
class Search:
    """Measures builds by the searched stage; ``written`` is the suite."""

    bench: Bench
    searched: Searched
    written: Mapping[str, Any]

    def measure(self, builds: Sequence[str], processes: int) -> Mapping[str, Sequence[float]]:
        """Ratios to the first build, one for each pair of processes. Raises ``UserError`` if a build fails."""
        subject = self.searched.subject
        mine = replace(subject, experiment={**subject.experiment, "variants": list(builds)})
        text = suite_text(f"bisect-{self.written['name']}", self.written, [mine], processes)
        ended = self.bench.execute(text)
        _require_ok(ended)
        return ratios(ended.outcomes, builds, self.searched.stage)


def searchable(suite: Suite, text: str, builds: Sequence[str], facts: Host) -> list[Searched]:
    """The stages of a suite's cases that a search can use: those that a kind of experiment times (``searched`` of its
    row), in cases that all builds can execute. Raises ``UserError`` for a build that cannot execute a case.
    """
    able, refused = subjects(suite, text, builds, facts)
    for item in refused:
        if _stages(item.case):
            raise UserError(f"{item.variant} is unsupported: {item.reason}")
    return [Searched(subject, stage) for subject in able for stage in _stages(subject.case)]


def _stages(case: Case) -> tuple[str, ...]:
    return KINDS[case.experiment].searched if case.experiment in KINDS else ()


def chosen(subjects: Sequence[Searched], text: str | None) -> Searched:
    """The subject whose label contains the text; raises ``UserError`` unless exactly one matches. Pure."""
    if not subjects:
        raise UserError(
            "the suite has no operation that all of these builds support: bisect searches operations, not depth, noise "
            "or workloads"
        )
    matching = [item for item in subjects if text is None or text in item.label]
    if len(matching) == 1:
        return matching[0]
    labels = "\n".join(f"  {item.label}" for item in matching or subjects)
    what = "several cases" if matching else f"no case with {text!r}"
    raise UserError(f"the suite has {what}: select one with --case\n{labels}")


def _require_ok(ended: Ended) -> None:
    failed = next((o for o in ended.outcomes if o.status != "ok"), None)
    if failed is not None:
        raise UserError(
            f"{failed.trial.case.variant} ended as {failed.status} in run {ended.run.id}: {failed.error}; "
            "bisect needs a result of every build"
        )
