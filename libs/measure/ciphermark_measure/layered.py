"""The layers of a stage, each a program of its own that takes what those before it returned; and how far from the clear
they end. The timed program of the stage stays whole, and knows nothing of layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ciphermark_contract import layers
from ciphermark_contract.interfaces import Bound, Evaluator, Handle, Vector
from ciphermark_core.model import Parameters, Sample
from ciphermark_measure.interference.host_state import Around, Gate
from ciphermark_workloads.catalogue import AnyWorkload
from ciphermark_workloads.programs import Programs, StageProgram

Timed: TypeAlias = tuple[float, Around]


class Layered:
    """The layers of a stage's program, with their constants prepared."""

    def __init__(self, evaluator: Evaluator, stage: StageProgram, threads: int) -> None:
        self._evaluator, self._threads = evaluator, threads
        self.layers = layers.split(stage.program, stage.layers)
        self._prepared = [
            evaluator.prepare_constants(layer.program, stage.traced.constants, threads)
            for layer in self.layers
        ]

    def bound(self, operands: Sequence[Handle]) -> list[Bound]:
        """Each layer on what those before it return: all of them executed once."""
        values = dict(enumerate(operands))
        bounds = []
        for layer, prepared in zip(self.layers, self._prepared, strict=True):
            inputs = [values[value] for value in layer.operands]
            bound = self._evaluator.bind_program(layer.program, inputs, prepared, self._threads)
            bound.run(1)
            values.update(zip(layer.outputs, bound.results(), strict=True))
            bounds.append(bound)
        return bounds

    def ends(self, bounds: Sequence[Bound]) -> list[list[Handle]]:
        """What each layer ends with, of :meth:`bound`."""
        return [bound.results()[: len(layer.ends)] for layer, bound in zip(self.layers, bounds, strict=True)]


def timed(bounds: Sequence[Bound], passes: int, gate: Gate | None = None) -> Iterator[list[Timed]]:
    """The seconds of each in every pass, and where in the readings of the gate they lie: interleaved, so that a
    disturbance meets all alike.
    """
    gate = gate or Gate()
    for _ in range(passes):
        yield [_timed(bound, gate) for bound in bounds]


def _timed(bound: Bound, gate: Gate) -> Timed:
    begun = gate.before()
    lasted_ns = bound.run(1)
    return lasted_ns / 1e9, gate.after(begun, lasted_ns)


def in_the_clear(
    workload: AnyWorkload, programs: Programs, given: Any, parameters: Parameters
) -> dict[str, list[Vector]]:
    """What each layer of the last stage ends with, by its name and on plain vectors."""
    state: list[Vector] = []
    values: list[Vector] = []
    for stage in workload.server_stages:
        traced = programs[stage.name].traced
        vectors = [*workload.vectors(stage.name, given, parameters), *state]
        values = layers.in_the_clear(traced.program, vectors, traced.constants)
        state = [values[value] for value in traced.program.outputs]
    ends = programs[workload.stages[-1].name].layers
    return {name: [values[value] for value in layer] for name, layer in ends.items()}


def largest_of(found: Sequence[Vector], clear: Sequence[Vector]) -> tuple[float, float]:
    """The largest value and the largest error of any slot of any vector that a layer ends with."""
    errors = [float(np.abs(a - b).max()) for a, b in zip(found, clear, strict=True)]
    return max(float(np.abs(item).max()) for item in clear), max(errors)


def time_samples(
    stage: str, names: Sequence[str], passes: Sequence[Sequence[Timed]], gate: Gate
) -> list[Sample]:
    """Of each layer the seconds in every pass, with how they were slowed by what the gate knows now."""
    samples = [
        (Sample("layer_time", seconds, stage, step=name, ordinal=ordinal), around)
        for ordinal, times in enumerate(passes)
        for name, (seconds, around) in zip(names, times, strict=True)
    ]
    factors = gate.slowdowns([around for _, around in samples])
    return [
        replace(sample, is_disturbed=True) if factor is None else replace(sample, slowdown=factor)
        for (sample, _), factor in zip(samples, factors, strict=True)
    ]


def size_samples(stage: str, name: str, largest: float, error: float) -> list[Sample]:
    """Of one layer what :func:`largest_of` tells."""
    return [
        Sample("layer_largest", largest, stage, step=name),
        Sample("layer_error", error, stage, step=name),
    ]
