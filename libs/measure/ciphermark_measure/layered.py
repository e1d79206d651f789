"""The layers of a stage, each a program that takes the results of earlier layers, and the error of each layer's
results.

The timed program of the stage stays whole and does not depend on layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ciphermark_contract import layers
from ciphermark_contract.bound import collections_of
from ciphermark_contract.interfaces import Bound, Evaluator, Handle, Vector
from ciphermark_core.model import Parameters, Sample
from ciphermark_measure.interference.host_state import Around, Gate, own_collections_kept
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
        """Each layer bound to the results of the layers before it. Executes each layer once."""
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
        """The results of each layer of :meth:`bound`."""
        return [bound.results()[: len(layer.ends)] for layer, bound in zip(self.layers, bounds, strict=True)]


def timed(bounds: Sequence[Bound], passes: int, gate: Gate | None = None) -> Iterator[list[Timed]]:
    """The seconds of each layer in every pass, and their position in the gate's readings. Layers are interleaved, so
    that a disturbance affects all alike.
    """
    gate = gate or Gate()
    for _ in range(passes):
        yield [_timed(bound, gate) for bound in bounds]


def _timed(bound: Bound, gate: Gate) -> Timed:
    begun = gate.before()
    lasted_ns = bound.run(1)
    around = gate.after(begun, lasted_ns)
    return lasted_ns / 1e9, replace(around, is_collected=collections_of(bound).cycles > 0)


def in_the_clear(
    workload: AnyWorkload, programs: Programs, given: Any, parameters: Parameters
) -> dict[str, list[Vector]]:
    """The results of each layer of the last stage on plain vectors, by name."""
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
    """The largest value and the largest error of any slot of any result vector of a layer."""
    errors = [float(np.abs(a - b).max()) for a, b in zip(found, clear, strict=True)]
    return max(float(np.abs(item).max()) for item in clear), max(errors)


def time_samples(
    stage: str, names: Sequence[str], passes: Sequence[Sequence[Timed]], gate: Gate
) -> list[Sample]:
    """The seconds of each layer in every pass, with the slowdown that the gate knows by now."""
    samples: list[Sample] = []
    for name, times in zip(names, zip(*passes, strict=True), strict=True):
        factors = gate.slowdowns(own_collections_kept([around for _, around in times]))
        timed_passes = enumerate(zip(times, factors, strict=True))
        samples += [
            replace(
                Sample("layer_time", seconds, stage, step=name, ordinal=ordinal),
                slowdown=1.0 if factor is None else factor,
                is_disturbed=factor is None,
            )
            for ordinal, ((seconds, _), factor) in timed_passes
        ]
    return sorted(samples, key=lambda sample: sample.ordinal)


def size_samples(stage: str, name: str, largest: float, error: float) -> list[Sample]:
    """The results of :func:`largest_of` for one layer, as samples."""
    return [
        Sample("layer_largest", largest, stage, step=name),
        Sample("layer_error", error, stage, step=name),
    ]
