"""Carries out a search for the build where a case became slower: every look is an ordinary run, recorded as one."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ciphermark_analysis.build_search import ratios
from ciphermark_benchmark.home import Home
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.runner.runs import Ended, Prepared
from ciphermark_benchmark.suite import plan
from ciphermark_benchmark.suite.form import ExperimentText, Suite
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case, LibraryInfo
from ciphermark_core.run import Host
from ciphermark_measure.experiments import KINDS

Begun = Callable[[Prepared], None]


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
    begun: Begun
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
    found = []
    for experiment in suite.experiments:
        if not isinstance(experiment, ExperimentText):
            continue
        stages = KINDS[experiment.kind].searched
        if not stages:
            continue
        mine = experiment.model_copy(update={"variants": list(builds)})
        alone = suite.model_copy(update={"experiments": [mine]})
        cases = plan.cases(alone, runs.available(alone, facts))
        found += [
            Subject(item.case, experiment, suite, stage) for item in _of(cases, builds[0]) for stage in stages
        ]
        _require_here(cases, builds)
    return found


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
