"""The programs of a workload: its stages, each traced on the results of the stage before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import Any, TypeAlias

import numpy as np

from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Evaluator, Handle, Unsupported
from ciphermark_contract.keys import NO_KEYS, KeyRequest
from ciphermark_contract.operations import Shape
from ciphermark_contract.program import Program
from ciphermark_contract.tracing import Form, Traced, fresh_inputs, trace
from ciphermark_core.model import Parameters
from ciphermark_workloads.workload import Arrays, Stage, Workload


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a stage's circuit: the number of fresh inputs, the shapes of the state, and the server's
    plaintext data.
    """

    stage: str
    inputs: int
    state: tuple[Shape, ...]
    public: Arrays

    def equals(self, other: Call) -> bool:
        """Whether both give the same program."""
        mine, theirs = (self.stage, self.inputs, self.state), (other.stage, other.inputs, other.state)
        return mine == theirs and equal_arrays(self.public, other.public)


@dataclass(frozen=True, slots=True)
class StageProgram:
    """The program of a stage with the vectors of its constants, and the shapes of its results, which are the next
    state. ``layers`` are the result values of each part of the circuit, by name and in order.
    """

    traced: Traced
    returned: tuple[Shape, ...]
    layers: Mapping[str, tuple[int, ...]]

    @property
    def program(self) -> Program:
        """The program without its constants."""
        return self.traced.program


Programs: TypeAlias = Mapping[str, StageProgram]  # by stage


def traced(
    workload: Workload[Any, Any], call: Call, parameters: Parameters, declared: Declaration
) -> StageProgram:
    """The program of a stage for a library. Its inputs are the stage's, then the state. A library that manages levels
    itself gets the managed form where the circuit changes levels or multiplies ciphertexts.

    Raises ``Unsupported`` for a modulus chain that is too short, with the required depth, and for a missing operation.
    """
    scheme, is_literal = parameters.spec.scheme, workload.is_literal
    by_levels = declared.operations[scheme], Form(is_literal=is_literal)
    managed = declared.managed[scheme], Form(is_managed=True, is_literal=is_literal)
    if declared.drives_levels(scheme):
        return _traced(workload, call, parameters, by_levels)
    try:
        program = _traced(workload, call, parameters, by_levels)
    except Unsupported:
        return _traced(workload, call, parameters, managed)
    if any(shape.polynomials > 2 for shape in program.program.shapes):
        return _traced(workload, call, parameters, managed)
    return program


def _traced(
    workload: Workload[Any, Any], call: Call, parameters: Parameters, how: tuple[Sequence[str], Form]
) -> StageProgram:
    returned: list[Shape] = []
    sizes: dict[str, int] = {}

    def circuit(evaluator: Evaluator, handles: Sequence[Handle]) -> list[Handle]:
        inputs, state = handles[: call.inputs], handles[call.inputs :]
        layers = workload.layers(call.stage, evaluator, inputs, state, call.public)
        sizes.clear()  # a modulus chain that is too short is tried again, longer
        sizes.update({name: len(ends) for name, ends in layers.items()})
        returned[:] = [_shape(evaluator, output) for output in [*layers.values()][-1]]
        return [end for ends in layers.values() for end in ends]

    shapes = [*fresh_inputs(parameters, call.inputs), *call.state]
    traced_circuit = trace(circuit, parameters, shapes, *how)
    starts = [0, *accumulate(sizes.values())]
    ends = {
        name: traced_circuit.program.outputs[start : start + size]
        for (name, size), start in zip(sizes.items(), starts, strict=False)
    }
    program = replace(traced_circuit.program, outputs=[*ends.values()][-1])
    return StageProgram(replace(traced_circuit, program=program), tuple(returned), ends)


def _shape(evaluator: Evaluator, handle: Handle) -> Shape:
    return Shape(evaluator.level(handle), evaluator.scale(handle), evaluator.polynomials(handle))


def all_traced(
    workload: Workload[Any, Any], given: Any, parameters: Parameters, declared: Declaration
) -> Programs:
    """The programs of all stages with a server, for an input. Raises ``Unsupported`` as :func:`traced`."""
    programs: dict[str, StageProgram] = {}
    state: tuple[Shape, ...] = ()
    public: Arrays = {}
    for stage in workload.stages:
        public = {**public, **workload.public(stage.name, given, parameters)}
        if stage.has_server:
            count = len(workload.vectors(stage.name, given, parameters))
            call = Call(stage.name, count, state, public)
            programs[stage.name] = traced(workload, call, parameters, declared)
            state, public = programs[stage.name].returned, {}
    return programs


def equal_arrays(a: Arrays, b: Arrays) -> bool:
    """Whether both have the same arrays under the same names."""
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def alone_before(stages: Sequence[Stage], stage: Stage) -> Sequence[Stage]:
    """The stages without the server that come right before one."""
    before = stages[: stages.index(stage)]
    last = max((i + 1 for i, item in enumerate(before) if item.has_server), default=0)
    return before[last:]


def keys_of(programs: Iterable[StageProgram]) -> KeyRequest:
    """The evaluation keys that all the programs need."""
    return reduce(or_, (item.program.keys for item in programs), NO_KEYS)
