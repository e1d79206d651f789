"""What the layers of a workload's last stage cost, and how far they are from the clear: by runs of their own.

``python -m ciphermark_measure.layers WORKLOAD --variant seal …`` answers with a line of JSON, in a process of its own.
Each layer is a program that is executed on what the layers before it returned; the timed program of a
workload stays whole and knows nothing of layers. For errors the client decrypts what each layer ends with, in a run
that is not timed.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import msgspec
import numpy as np

from ciphermark_adapters import registry
from ciphermark_contract import layers
from ciphermark_contract.interfaces import Bound, Handle, Vector
from ciphermark_contract.layers import Layer
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import SCHEMES, Scheme
from ciphermark_measure import confinement
from ciphermark_measure.parties.together import Together
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload, named
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.parameters import recommended
from ciphermark_workloads.programs import equal_arrays

DATA_SET = "boston"


class LayerFound(msgspec.Struct, frozen=True):
    """One layer. ``level`` is where it begins and ``end_level`` where it ends, ``scale_bits`` log2 of the scale there;
    of a library that chooses levels itself, those that it would have otherwise. ``operations`` are counts by operation,
    ``operand_bytes`` and ``result_bytes`` what it takes and ends with in memory. ``seconds`` is the median time.
    ``largest`` and ``error`` are the largest value and the largest error of any slot of any input.
    """

    name: str
    level: int
    end_level: int
    scale_bits: float | None
    operations: dict[str, int]
    operand_bytes: int
    result_bytes: int
    seconds: float
    largest: float
    error: float


class LayersFound(msgspec.Struct, frozen=True):
    """All layers, and the median time of the whole program in the same passes. Of the ``inputs`` as many as ``right``
    were judged right; ``reason`` says why there is nothing else.
    """

    reason: str | None = None
    layers: tuple[LayerFound, ...] = ()
    whole_s: float = 0.0
    passes: int = 0
    inputs: int = 0
    right: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """How many timed passes, over which one input, and how many inputs errors are of."""

    passes: int = 10
    inputs: int = 10
    threads: int = 1


class _Layered:
    """The layers of the last stage, with their constants prepared."""

    def __init__(self, both: Together, threads: int) -> None:
        self._both, self._threads = both, threads
        stage = both.programs[both.workload.stages[-1].name]
        self.whole = stage.traced
        self.layers = layers.split(stage.program, stage.layers)
        self._prepared = [
            both.evaluator.prepare_constants(layer.program, self.whole.constants, threads)
            for layer in self.layers
        ]

    def bound(self, operands: Sequence[Handle]) -> list[Bound]:
        """Each layer on what those before it return: all of them executed once."""
        values = dict(enumerate(operands))
        found = []
        for layer, prepared in zip(self.layers, self._prepared, strict=True):
            inputs = [values[value] for value in layer.operands]
            bound = self._both.evaluator.bind_program(layer.program, inputs, prepared, self._threads)
            bound.run(1)
            values.update(zip(layer.outputs, bound.results(), strict=True))
            found.append(bound)
        return found

    def bound_whole(self, operands: Sequence[Handle]) -> Bound:
        """The program as it is executed otherwise: once here."""
        evaluator, threads = self._both.evaluator, self._threads
        prepared = evaluator.prepare_constants(self.whole.program, self.whole.constants, threads)
        bound = evaluator.bind_program(self.whole.program, operands, prepared, threads)
        bound.run(1)
        return bound


def found(workload: AnyWorkload, variant: str, scheme: Scheme, question: Question) -> LayersFound:
    """Times, sizes and errors of each layer. Raises ``Unsupported`` for what the library lacks."""
    declared = registry.declaration(variant)
    if scheme not in declared.schemes:
        raise Unsupported(f"{declared.library} offers no {scheme} here")
    data = DATA_SETS[DATA_SET]() if workload.takes_data else None
    inputs = [workload.input(seed, data) for seed in range(1, question.inputs + 1)]
    both = Together(workload, registry.load(variant), recommended(workload, scheme, declared), inputs[0])
    for given in inputs:
        workload.require_room(given, both.parameters)
    _require_one_program(both, inputs)
    layered = _Layered(both, question.threads)
    times, whole_s = _timed(layered, _operands(both, inputs[0]), question.passes)
    differences = [_differences(both, layered, given) for given in inputs]
    return LayersFound(
        layers=tuple(
            _row(layer, seconds, [item.layers[number] for item in differences])
            for number, (layer, seconds) in enumerate(zip(layered.layers, times, strict=True))
        ),
        whole_s=whole_s,
        passes=question.passes,
        inputs=len(inputs),
        right=sum(item.is_right for item in differences),
    )


def _require_one_program(both: Together, inputs: Sequence[Any]) -> None:
    """Raise ``Unsupported`` where inputs tell the server different things: its program is another one for each."""
    told = [
        {
            stage.name: both.workload.public(stage.name, given, both.parameters)
            for stage in both.workload.stages
        }
        for given in inputs
    ]
    if any(
        not equal_arrays(a, b) for item in told for a, b in zip(told[0].values(), item.values(), strict=True)
    ):
        raise Unsupported(
            "each input tells the server something else, and so has another program: take one input"
        )


def _operands(both: Together, given: Any) -> list[Handle]:
    """What the last stage's program takes."""
    *before, last = both.workload.server_stages
    state: list[Handle] = []
    for stage in before:
        traced, operands = both.programs[stage.name].traced, both.operands(stage, given, state)
        prepared = both.evaluator.prepare_constants(traced.program, traced.constants)
        bound = both.evaluator.bind_program(traced.program, operands, prepared)
        bound.run(1)
        state = bound.results()
    return both.operands(last, given, state)


def _timed(layered: _Layered, operands: Sequence[Handle], passes: int) -> tuple[list[float], float]:
    """Median seconds of each layer, and of the whole: in turns, so that a disturbance meets all alike."""
    bounds = [*layered.bound(operands), layered.bound_whole(operands)]
    turns = [[bound.run(1) / 1e9 for bound in bounds] for _ in range(passes)]
    *parts, whole = (median(times) for times in zip(*turns, strict=True))
    return parts, whole


@dataclass(frozen=True, slots=True)
class _Differences:
    """Of one input: largest value and largest error of each layer, and whether the result is right."""

    layers: list[tuple[float, float]]
    is_right: bool


def _differences(both: Together, layered: _Layered, given: Any) -> _Differences:
    clear, found = _clear(both, given), []
    for layer, bound in zip(layered.layers, layered.bound(_operands(both, given)), strict=True):
        ended = bound.results()[: len(layer.ends)]
        results = both.decrypted(ended)
        expected = [clear[value] for value in layer.ends]
        errors = [np.abs(a - b).max() for a, b in zip(results, expected, strict=True)]
        found.append((max(float(np.abs(item).max()) for item in expected), float(max(errors))))
    output = both.output(ended, given)
    return _Differences(found, both.judged(output, given).complaint is None)


def _clear(both: Together, given: Any) -> list[Vector]:
    """All values of the last stage's program on plain vectors."""
    state: list[Vector] = []
    values: list[Vector] = []
    for stage in both.workload.server_stages:
        traced = both.programs[stage.name].traced
        vectors = [*both.workload.vectors(stage.name, given, both.parameters), *state]
        values = layers.in_the_clear(traced.program, vectors, traced.constants)
        state = [values[value] for value in traced.program.outputs]
    return values


def _row(layer: Layer, seconds: float, sizes: Sequence[tuple[float, float]]) -> LayerFound:
    program = layer.program
    end = program.shapes[program.outputs[0]]
    counts: dict[str, int] = {}
    for (operation, _), count in program.counts.items():
        counts[operation] = counts.get(operation, 0) + count
    return LayerFound(
        name=layer.name,
        level=max(shape.level for shape in program.inputs),
        end_level=end.level,
        scale_bits=None if end.scale is None else math.log2(end.scale),
        operations=dict(sorted(counts.items())),
        operand_bytes=layer.operand_bytes,
        result_bytes=layer.result_bytes,
        seconds=seconds,
        largest=max(largest for largest, _ in sizes),
        error=max(error for _, error in sizes),
    )


def answered(
    name: str, options: Mapping[str, Any], variant: str, scheme: Scheme, question: Question
) -> LayersFound:
    """As :func:`found`, of an installed workload; what cannot be done is told as the ``reason``."""
    try:
        workload = named(WORKLOADS, name).with_options(options)
        workload.require_scheme(scheme)
        return found(workload, variant, scheme, question)
    except (Unsupported, UserError) as error:
        return LayersFound(reason=str(error))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and tell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("workload")
    parser.add_argument("--options", type=json.loads, default={})
    parser.add_argument("--variant", required=True)
    parser.add_argument("--scheme", choices=SCHEMES, required=True)
    for name in ("passes", "inputs", "threads"):
        parser.add_argument(f"--{name}", type=int, required=True)
    given = parser.parse_args(arguments)
    replies = confinement.own_output()
    question = Question(given.passes, given.inputs, given.threads)
    confinement.send(replies, answered(given.workload, given.options, given.variant, given.scheme, question))


if __name__ == "__main__":
    main()
