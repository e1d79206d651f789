"""Find the build where a case became slower: the ends first, then halves, each pair in turns in fresh processes."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from ciphermark_analysis import build_search
from ciphermark_analysis.build_search import Found, ratios
from ciphermark_analysis.estimates import Estimate
from ciphermark_benchmark import home as homes
from ciphermark_benchmark.cli._output import console_for
from ciphermark_benchmark.cli.run import say_that_it_waits
from ciphermark_benchmark.data_sets.catalogue import Catalogue
from ciphermark_benchmark.home import Home
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.runner.runs import Ended, Prepared
from ciphermark_benchmark.suite import files, plan
from ciphermark_benchmark.suite.form import ExperimentText, Suite
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_core import host as hosts
from ciphermark_core.errors import UserError
from ciphermark_core.metrics import SIGNIFICANCE_THRESHOLD
from ciphermark_core.model import Case, LibraryInfo
from ciphermark_core.run import Host
from ciphermark_measure.experiments import KINDS

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
    subject = chosen(subjects(loaded, builds, hosts.collect()), case)
    rule = build_search.rule_for(len(builds), error)
    console.print(f"case: {escape(subject.label)}", soft_wrap=True)
    console.print(f"{rule.processes} fresh processes of each build a look; claims err in {error:.1%} at most")
    bench = Bench(home, subject, lambda prepared: _announce(console, prepared))
    with runs.alone_on_host(home, lambda: say_that_it_waits(home)):
        search = build_search.search(builds, bench.measure, error)
    _tell(console, search, bench)


def _announce(console: Console, prepared: Prepared) -> None:
    variants = sorted({trial.case.variant for trial in prepared.plan.trials})
    console.print(f"run {prepared.run.id}: {', '.join(map(escape, variants))}", soft_wrap=True)


def _tell(console: Console, search: Found, bench: Bench) -> None:
    floor = f"{SIGNIFICANCE_THRESHOLD - 1:.0%}"
    for name, ratio in (search.ratios or {}).items():
        console.print(f"  {escape(name)} takes {_ratio(ratio)} of the time of the first")
    if search.verdict == "no step":
        console.print(
            f"[green]no step[/green]: that the last is slower than the first by more than {floor} is not claimed. "
            "Builds in between were not looked at: what one lost another may have made up for",
            soft_wrap=True,
        )
    elif search.verdict == "several steps":
        console.print(
            f"[yellow]several steps[/yellow]: it became slower between {search.before} and {search.after}, and not in "
            "one step that could be told from the rest; search that part of the list by itself",
            soft_wrap=True,
        )
    else:
        assert search.step is not None
        console.print(
            f"[red]step[/red]: {search.after} takes {_ratio(search.step)} of the time of {search.before}",
            soft_wrap=True,
        )
    if search.rest is not None:
        console.print(f"[yellow]![/yellow] another factor of {search.rest:.3f} lies elsewhere in the list")
    _tell_differences(console, search, bench)
    console.print(f"runs: {' '.join(bench.run_ids)}", soft_wrap=True)


def _tell_differences(console: Console, search: Found, bench: Bench) -> None:
    if search.before is None or search.after is None:
        return
    both = bench.libraries.get(search.before), bench.libraries.get(search.after)
    if both[0] is None or both[1] is None:
        return
    for name, old, new in differences(both[0], both[1]):
        console.print(f"  {escape(name)}: {escape(old)} → {escape(new)}", soft_wrap=True)


def _ratio(ratio: Estimate) -> str:
    if ratio.low is None or ratio.high is None:
        return f"{ratio.median:.3f}"
    return f"{ratio.median:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"


@dataclass(frozen=True, slots=True)
class Subject:
    """The case that is searched and the stage of it that is timed, with the experiment and the suite that it is of."""

    case: Case
    experiment: ExperimentText
    suite: Suite
    stage: str = "operation"

    @property
    def label(self) -> str:
        """The case in words, as ``--case`` finds it."""
        stages = KINDS[self.experiment.kind].searched
        return f"{label(self.case)}, {self.stage}" if len(stages) > 1 else label(self.case)

    def text(self, builds: Sequence[str], processes: int) -> str:
        """A suite of this case alone, for some builds; JSON, which YAML takes."""
        case, parameters = self.case, self.case.parameters
        experiment = self.experiment.model_dump(mode="json", exclude_unset=True)
        experiment |= {
            "variants": list(builds),
            "schemes": [parameters.scheme],
            "operations": [case.operation],
            "sizes": [case.size],
            "data": [case.data_pattern],
            "threads": [case.threads],
            "division": parameters.division,
            **{name: [value] for name, value in case.dimensions.items()},
        }
        if not parameters.ring_dimension_is_minimum:
            experiment["ring_dimension"] = [parameters.ring_dimension]
        budget = self.suite.budget.model_dump(mode="json", exclude_unset=True) | {"processes": processes}
        name = f"bisect-{self.suite.name}"[:100]
        document = {"name": name, "seed": self.suite.seed, "budget": budget, "experiments": [experiment]}
        return json.dumps(document, indent=1)


@dataclass
class Bench:
    """Measures builds side by side; remembers the runs, and what the libraries said of themselves."""

    home: Home
    subject: Subject
    begun: Callable[[Prepared], None]
    run_ids: list[str] = field(default_factory=list)
    libraries: dict[str, LibraryInfo] = field(default_factory=dict)

    def measure(self, builds: Sequence[str], processes: int) -> Mapping[str, Sequence[float]]:
        """Ratios by the first build, one for each pair of processes. Raises ``UserError`` where a build fails."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bisect.yaml"
            path.write_text(self.subject.text(builds, processes))
            prepared = runs.new(self.home, path)
        self.begun(prepared)
        ended = runs.execute(self.home, prepared, lambda _outcome: None)
        self.run_ids.append(ended.run.id)
        _require_ok(ended)
        self.libraries |= {o.trial.case.variant: o.library for o in ended.outcomes if o.library is not None}
        return ratios(ended.outcomes, builds, self.subject.stage)


def subjects(suite: Suite, builds: Sequence[str], facts: Host) -> list[Subject]:
    """The stages of a suite's cases that a search can be for: those that a kind of experiment times (``searched`` of
    its row), of cases that all of the builds can execute.
    """
    searchable = []
    for experiment in suite.experiments:
        if not isinstance(experiment, ExperimentText):
            continue
        stages = KINDS[experiment.kind].searched
        if not stages:
            continue
        mine = experiment.model_copy(update={"variants": list(builds)})
        alone = suite.model_copy(update={"experiments": [mine]})
        cases = plan.cases(alone, runs.available(alone, facts))
        searchable += [
            Subject(item.case, experiment, suite, stage) for item in _of(cases, builds[0]) for stage in stages
        ]
        _require_here(cases, builds)
    return searchable


def chosen(subjects: Sequence[Subject], text: str | None) -> Subject:
    """The one that a piece of its label names; raises ``UserError`` where none or several are. Pure."""
    if not subjects:
        raise UserError(
            "the suite has no operation that all of these builds can execute; a search is for the time of one: depth "
            "and noise are none, and workloads are not searched"
        )
    matching = [item for item in subjects if text is None or text in item.label]
    if len(matching) == 1:
        return matching[0]
    labels = "\n".join(f"  {item.label}" for item in matching or subjects)
    what = "several cases" if matching else f"no case with {text!r}"
    raise UserError(f"the suite has {what}; a search is for one: name a piece of it with --case\n{labels}")


def label(case: Case) -> str:
    """A case without its variant, in words."""
    parameters = case.parameters
    chain = parameters.modulus_bits or "default"
    more = "".join(f", {name} {value}" for name, value in case.dimensions.items())
    return (
        f"{case.experiment} {parameters.scheme} N={parameters.ring_dimension} chain {chain} {case.operation}, "
        f"size {case.size}, {case.data_pattern}, threads {case.threads}, {parameters.division}{more}"
    )


def differences(a: LibraryInfo, b: LibraryInfo) -> list[tuple[str, str, str]]:
    """What two builds say differently of themselves: name of the fact, and both texts. Pure."""
    facts_a: dict[str, Any] = {"version": a.version, **a.build}
    facts_b: dict[str, Any] = {"version": b.version, **b.build}
    names = [*facts_a, *(name for name in facts_b if name not in facts_a)]
    none = "not told"
    return [
        (name, facts_a.get(name, none), facts_b.get(name, none))
        for name in names
        if facts_a.get(name) != facts_b.get(name)
    ]


def _of(cases: Iterable[PlannedCase], variant: str) -> list[PlannedCase]:
    return [item for item in cases if item.case.variant == variant and item.reason is None]


def _require_here(cases: Iterable[PlannedCase], builds: Sequence[str]) -> None:
    """Every build must be able to execute what the first can."""
    items = list(cases)
    first = {item.case.comparison_key for item in _of(items, builds[0])}
    for item in items:
        if item.case.comparison_key in first and item.reason is not None:
            raise UserError(f"{item.case.variant} cannot be measured: {item.reason}")


def _require_ok(ended: Ended) -> None:
    failed = next((o for o in ended.outcomes if o.status != "ok"), None)
    if failed is not None:
        raise UserError(
            f"{failed.trial.case.variant} ended as {failed.status} in run {ended.run.id}: {failed.error}; "
            "a search needs figures of every build it looks at"
        )
