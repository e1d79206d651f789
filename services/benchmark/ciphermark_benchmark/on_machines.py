"""Predictions of traced programs on accelerators: what to predict, and the rows of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ciphermark_adapters import registry
from ciphermark_benchmark import predicting
from ciphermark_circuits import bootstrap_outline
from ciphermark_contract.interfaces import Exhausted
from ciphermark_contract.operations import Shape, fresh, where
from ciphermark_contract.program import Program
from ciphermark_contract.tracing import Traced, trace
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_core.nearest import did_you_mean
from ciphermark_model.advice import Candidate
from ciphermark_model.machines.execution import Execution, Traffic, execute, traffic_of
from ciphermark_model.machines.graph import Graph, Structure, Words, structure_of
from ciphermark_model.machines.machine import Machine
from ciphermark_workloads import user_workloads
from ciphermark_workloads.deep import graphs
from ciphermark_workloads.parameters import NOTHING, Override
from ciphermark_workloads.workload import AnyWorkload

Row: TypeAlias = Mapping[str, Any]
# The operation that bodies replace, and the operations of bodies: hoisted rotations need as many hints.
(_BOOTSTRAP,) = where(lambda row: row.keys().bootstrapping is not None)
_OF_BODIES = where(lambda row: not row.has_several_results)
# The workloads and operations that measure CraterLake's programs.
MEASURED = {name: [name] for name in graphs.GRAPHS} | {"packed-bootstrap": ["packed-bootstrap", _BOOTSTRAP]}
PUBLISHED = "craterlake/"  # before the names of programs that CraterLake reports
_USUAL = 80  # bits of security in its main table


@dataclass(frozen=True, slots=True)
class Task:
    """Programs that execute one after the other. ``uniform`` are the digests of constants with one value in all slots;
    ``body`` is the circuit of their bootstraps, ``words`` how their primes become words by default, ``measured`` the
    workloads and operations that measure them, ``case`` what these measurements have in common.
    """

    name: str
    programs: tuple[Program, ...]
    uniform: frozenset[str] = frozenset()
    body: Program | None = None
    words: Words | None = None
    remarks: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    case: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, traced: Iterable[Traced], measured: str | None = None) -> Task:
        """The task of traced programs, with the circuit of their bootstraps. Raises ``Unsupported`` where the chain
        does not hold it.
        """
        several = tuple(traced)
        body = body_of([item.program for item in several])
        return cls(
            name,
            tuple(item.program for item in several),
            frozenset().union(*map(uniform, (*several, body))),
            body.program if body else None,
            measured=(measured,) if measured else (),
        )

    def structure(self, word_bits: int, words: Words | None) -> Structure:
        """The structure in words of a size; raises ``Unsupported`` with the place."""
        bodies = {} if self.body is None else {_BOOTSTRAP: self.body}
        return structure_of(
            self.programs, word_bits, words=words or self.words, bodies=bodies, uniform=self.uniform
        )


def uniform(traced: Traced | None) -> frozenset[str]:
    """The digests of constants with one value in all slots."""
    constants = traced.constants if traced else {}
    return frozenset(digest for digest, values in constants.items() if np.all(values == values[0]))


def body_of(programs: Sequence[Program]) -> Traced | None:
    """The circuit of the programs' bootstraps, from the raised ciphertext on; ``None`` without bootstraps."""
    if not any(node.operation == _BOOTSTRAP for program in programs for node in program.nodes):
        return None
    parameters = _inside(programs[0].parameters)
    top, asked = fresh(parameters), parameters.require_bootstrapping()
    if asked.depth < sum(asked.parameters.level_budget) + bootstrap_outline.MIN_DEPTH:
        raise Unsupported(f"a bootstrap of {asked.depth} levels leaves too few for EvalMod")
    return trace(bootstrap_outline.raised, parameters, [Shape(top.level, parameters.scale)], _OF_BODIES)


def _inside(parameters: Parameters) -> Parameters:
    """The parameters inside bootstrapping: those of a program, with the primes above its own that a library has there.

    Raises ``Unsupported`` where the primes inside do not begin with those outside.
    """
    asked, own = parameters.require_bootstrapping(), parameters.moduli
    if not asked.moduli:
        return parameters
    if asked.moduli[: len(own)] != own:
        raise Unsupported("the primes inside bootstrapping do not begin with those of the program")
    inner = replace(asked, moduli=(), special_moduli=(), depth=len(asked.moduli) - len(own))
    return replace(parameters, moduli=asked.moduli, bootstrapping=inner)


def of_workload(
    name: str,
    workload: AnyWorkload,
    variants: Sequence[str],
    scheme: Scheme | None = None,
    override: Override = NOTHING,
) -> Task:
    """The task of a workload, as the first of the variants traces it that sets levels itself. Raises ``UserError`` with
    the reason for each variant if none does.
    """
    reasons = dict[str, None]()

    def task() -> Task:
        for variant in variants:
            try:
                return _traced(name, workload, variant, None, scheme, override)
            except (Unsupported, Exhausted) as error:
                reasons[str(error)] = None
        raise UserError("\n".join(reasons))

    if not user_workloads.is_own(name):
        return task()
    return user_workloads.asked(Path(name.partition(":")[0]), task).value


def _traced(  # noqa: PLR0913, PLR0917 - what programs are of
    name: str,
    workload: AnyWorkload,
    variant: str,
    request: ParameterSpec | None = None,
    scheme: Scheme | None = None,
    override: Override = NOTHING,
) -> Task:
    declared = registry.declaration(variant)
    _, stages = predicting.traced(workload, request, declared, scheme=scheme, override=override)
    if any(item.program.is_managed for item in stages.values()):
        raise Unsupported("its programs leave levels to the library")
    return Task.of(name, (item.traced for item in stages.values()), workload.name)


def of_candidates(
    name: str, workload: AnyWorkload, several: Sequence[Candidate], machines: Sequence[Machine]
) -> tuple[list[dict[str, float]], list[str]]:
    """For each candidate of advice, its seconds by the name of a machine; and the reasons for missing ones."""

    def answer() -> tuple[list[dict[str, float]], list[str]]:
        times, reasons = list[dict[str, float]](), dict[str, None]()
        for candidate in several:
            try:
                own = workload.with_options(candidate.options)
                task = _traced(name, own, candidate.variant, candidate.request)
            except (Unsupported, Exhausted) as error:
                reasons[f"{candidate.variant}: {error}"] = None
                times.append({})
                continue
            found, against = rows(task, machines)
            times.append({row["machine"]: row["time_s"] for row in found})
            reasons.update(dict.fromkeys(against))
        return times, [*reasons]

    if not user_workloads.is_own(name):
        return answer()
    return user_workloads.asked(Path(name.partition(":")[0]), answer).value


def of_published(name: str, security: int = 80) -> Task:
    """The task of a program that CraterLake reports: see :mod:`ciphermark_workloads.deep.graphs`. Raises ``UserError``
    for an unknown one, and for a security level that the paper does not have for it.
    """
    if name not in graphs.GRAPHS:
        raise UserError(f"no published program {name!r}{did_you_mean(name, graphs.GRAPHS)}")
    levels = graphs.SETTINGS if name in graphs.DEEP else (_USUAL,)
    if security not in levels:
        raise UserError(f"{name} was published for {', '.join(map(str, levels))} bits, not for {security}")
    graph = graphs.DEEP[name](security=security) if name in graphs.DEEP else graphs.GRAPHS[name]()
    body = body_of([graph.program])
    return Task(
        PUBLISHED + name,
        (graph.program,),
        graph.numbers | uniform(body),
        body.program if body else None,
        "whole modulus",
        measured=tuple(MEASURED[name]),
    )


class Predictor:
    """Predictions of a task at a security level. Machines that agree in what a graph or its traffic depends on share
    these.
    """

    def __init__(self, task: Task, security: int | None = None, words: Words | None = None) -> None:
        self._task, self._security = task, security
        self._structure = cache(lambda word_bits: task.structure(word_bits, words))
        self._graphs = dict[Any, Graph]()
        self._traffic = dict[Any, Traffic]()

    def row(self, machine: Machine) -> Row:
        """The row of a machine; raises ``Unsupported`` with the place."""
        digits = machine.digits_at(self._security)
        place = (machine.word_bits, digits, machine.plaintext_residues, machine.max_ring)
        if place not in self._graphs:
            self._graphs[place] = self._structure(machine.word_bits).on(machine, self._security)
        graph = self._graphs[place]
        file = (place, machine.register_file_bytes, machine.hint_factor)
        if file not in self._traffic:
            self._traffic[file] = traffic_of(graph, machine)
        return row(self._task, graph, execute(graph, machine, self._traffic[file]), self._security)


def rows(
    task: Task,
    machines: Sequence[Machine],
    security: int | None = None,
    words: Words | None = None,
) -> tuple[list[Row], list[str]]:
    """A row for each machine, in their order, and the reasons against others."""
    predictor, answers, reasons = Predictor(task, security, words), list[Row](), list[str]()
    for machine in machines:
        try:
            answers.append(predictor.row(machine))
        except Unsupported as error:
            reasons.append(f"{task.name} on {machine.title}: {error}")
    return answers, reasons


def row(task: Task, graph: Graph, execution: Execution, security: int | None) -> Row:
    """An execution as a row: times in seconds, bytes by kind, busy shares, and the inputs that are not published."""
    machine = execution.machine
    level = next(iter(machine.digits)) if security is None else security
    return {
        "program": task.name,
        "machine": machine.name,
        "title": machine.title,
        "is_verified": machine.is_verified,
        "security": level or None,
        "ring_dimension": graph.structure.ring,
        "residues": graph.structure.residues,
        **{
            f"residues_{kind.replace(' ', '_')}": count for kind, count in graph.structure.residues_by.items()
        },
        "nodes": len(graph.structure.nodes),
        **graph.facts,
        "time_s": execution.time_s,
        "without_latency_s": execution.without_latency_s,
        "latency_s": execution.latency_s,
        "compute_s": execution.compute_s,
        "memory_s": execution.memory_s,
        **{f"{kind}_bytes": value for kind, value in execution.bytes.items()},
        "busy": dict(execution.busy),
        "binding": execution.binding,
        "register_file_bytes": machine.register_file_bytes,
        "bandwidth": machine.bandwidth,
        "lanes": machine.lanes,
        "marks": dict(machine.marks),
        "power_w": machine.published.get("power_w"),
        "area_mm2": machine.published.get("area_mm2"),
        "remarks": list(task.remarks),
        "measured_by": list(task.measured),
        "case": dict(task.case),
    }
