"""Builds measured side by side: cases that all of them can execute, suites of these cases, and runs of the suites."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner import runs
from ciphermark_benchmark.runner.runs import Ended, OnOutcome, Prepared
from ciphermark_benchmark.suite import files, plan
from ciphermark_benchmark.suite.form import ExperimentText, Suite
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_core.model import Case, LibraryInfo
from ciphermark_core.run import Host


@dataclass(frozen=True, slots=True)
class Subject:
    """A case that all builds can execute, and its experiment in suite form, narrowed to this case. A workload keeps its
    whole experiment.
    """

    case: Case
    experiment: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Refused:
    """A case that the first build can execute and another one, ``variant``, cannot."""

    case: Case
    variant: str
    reason: str


def subjects(
    suite: Suite, text: str, builds: Sequence[str], facts: Host
) -> tuple[list[Subject], list[Refused]]:
    """The cases of a suite with the given text, with the builds in place of its variants."""
    able: dict[str, Subject] = {}
    refused: list[Refused] = []
    for experiment, written in zip(
        suite.experiments, files.plain(text, suite.name)["experiments"], strict=True
    ):
        alone = suite.model_copy(
            update={"experiments": [experiment.model_copy(update={"variants": list(builds)})]}
        )
        planned = plan.cases(alone, runs.available(alone, facts))
        by_build = {
            name: {item.case.comparison_group: item for item in _of(planned, name)} for name in builds
        }
        for key, item in by_build[builds[0]].items():
            if item.reason is not None:
                continue
            against = [others[key] for others in by_build.values() if others[key].reason is not None]
            refused += [Refused(item.case, other.case.variant, str(other.reason)) for other in against]
            if not against:
                is_matrix = isinstance(experiment, ExperimentText)
                own = _narrowed(written, item.case) if is_matrix else dict(written)
                able.setdefault(key, Subject(item.case, own | {"variants": list(builds)}))
    return list(able.values()), refused


def _of(cases: Iterable[PlannedCase], variant: str) -> Iterator[PlannedCase]:
    return (item for item in cases if item.case.variant == variant)


def _narrowed(written: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """An experiment in suite form, narrowed to one of its cases."""
    parameters = case.parameters
    ring = {} if parameters.ring_dimension_is_minimum else {"ring_dimension": [parameters.ring_dimension]}
    return {
        **written,
        "schemes": [parameters.scheme],
        **ring,
        "operations": [case.operation],
        "vector_length": [case.vector_length],
        "data": [case.data_pattern],
        "threads": [case.threads],
        "tuning": parameters.tuning,
        **{name: [value] for name, value in case.dimensions.items()},
    }


def suite_text(name: str, written: Mapping[str, Any], chosen: Iterable[Subject], processes: int) -> str:
    """The text of a suite with the chosen subjects of the suite ``written``, and as many processes; JSON, which is
    valid YAML.
    """
    experiments: list[Mapping[str, Any]] = []
    for subject in chosen:
        if subject.experiment not in experiments:
            experiments.append(subject.experiment)
    budget = {**written.get("budget", {}), "processes": processes}
    document = {**written, "name": name[:100], "budget": budget, "experiments": experiments}
    return json.dumps(document, indent=1)


@dataclass
class Bench:
    """Executes suites of builds; collects the runs and the facts that the libraries report.

    Files named in the suites are found as in the suite file ``path``. ``watching`` yields a function that receives
    every outcome of a run.
    """

    data_directory: DataDirectory
    path: Path
    watching: Callable[[Prepared], AbstractContextManager[OnOutcome]]
    run_ids: list[str] = field(default_factory=list)
    libraries: dict[str, LibraryInfo] = field(default_factory=dict)

    def execute(self, text: str) -> Ended:
        """Execute a suite's text as a run."""
        prepared = runs.new(self.data_directory, self.path, text=text)
        with self.watching(prepared) as on_outcome:
            ended = runs.execute(self.data_directory, prepared, on_outcome)
        self.run_ids.append(ended.run.id)
        self.libraries |= {o.trial.case.variant: o.library for o in ended.outcomes if o.library is not None}
        return ended


def described(case: Case) -> tuple[str, str]:
    """The parameters and the vector of a case, as text."""
    parameters = case.parameters
    ring = "smallest-secure" if parameters.ring_dimension_is_minimum else parameters.ring_dimension
    return (
        f"{parameters.scheme} N={ring} modulus chain {parameters.modulus_bits or 'default'}",
        f"vector_length {case.vector_length}, {case.data_pattern}, threads {case.threads}, {parameters.tuning}",
    )


def label(case: Case) -> str:
    """A case without its variant, as text."""
    parameters, vector = described(case)
    more = "".join(f", {name} {value}" for name, value in case.dimensions.items())
    return f"{case.experiment} {parameters} {case.operation}, {vector}{more}"


def differences(a: LibraryInfo, b: LibraryInfo) -> list[tuple[str, str, str]]:
    """The facts in which two builds differ: name of the fact, and both texts. Pure."""
    facts_a: dict[str, Any] = {"version": a.version, **a.build}
    facts_b: dict[str, Any] = {"version": b.version, **b.build}
    names = [*facts_a, *(name for name in facts_b if name not in facts_a)]
    none = "not reported"
    return [
        (name, facts_a.get(name, none), facts_b.get(name, none))
        for name in names
        if facts_a.get(name) != facts_b.get(name)
    ]
