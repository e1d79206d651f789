"""What the layers of a workload's last stage cost, and how far they are from the clear, without a run: both parties in
one process.

``python -m ciphermark_measure.layers WORKLOAD --variant seal …`` answers with a line of JSON, in a process of its own.
For errors the client decrypts what each layer ends with, in executions that are not timed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Bound, Handle
from ciphermark_contract.layers import Layer
from ciphermark_contract.tracing import Traced
from ciphermark_core import containment
from ciphermark_core.budget import Budget
from ciphermark_core.errors import Unsupported, UserError
from ciphermark_core.model import SCHEMES, Scheme
from ciphermark_measure import confinement
from ciphermark_measure.layered import Layered, in_the_clear, largest_of, timed
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads import user_workloads
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload, named
from ciphermark_workloads.data_sets import DATA_SETS
from ciphermark_workloads.parameters import recommended
from ciphermark_workloads.programs import equal_arrays

DATA_SET = "boston"


class LayerFound(msgspec.Struct, frozen=True):
    """One layer. ``level`` is where it begins and ``end_level`` where it ends, ``scale_bits`` log2 of the scale there;
    of a library that chooses levels itself, those that it would have otherwise. ``operations`` are counts by operation,
    ``operand_bytes`` and ``result_bytes`` what it takes and ends with in memory. ``seconds`` is the median time.
    ``largest`` and ``error`` are the largest value and the largest error of any slot of any input; there is no error
    where plain vectors do not tell what is right.
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
    error: float | None


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


def found(workload: AnyWorkload, variant: str, scheme: Scheme, question: Question) -> LayersFound:
    """Times, sizes and errors of each layer. Raises ``Unsupported`` for what the library lacks."""
    declared = registry.declaration(variant)
    if scheme not in declared.schemes:
        raise Unsupported(f"{declared.library} offers no {scheme} here")
    data = DATA_SETS[DATA_SET]() if workload.takes_data else None
    inputs = [workload.input(seed, data) for seed in range(1, question.inputs + 1)]
    both = InProcess(workload, registry.load(variant), recommended(workload, scheme, declared), inputs[0])
    for given in inputs:
        workload.require_room(given, both.parameters)
    _require_one_program(both, inputs)
    stage = both.programs[workload.stages[-1].name]
    layered = Layered(both.evaluator, stage, question.threads)
    operands = _operands(both, inputs[0])
    bounds = [*layered.bound(operands), _whole(both, stage.traced, operands, question.threads)]
    *times, whole_s = (
        median(seconds for seconds, _ in turns) for turns in zip(*timed(bounds, question.passes), strict=True)
    )
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


def _require_one_program(both: InProcess, inputs: Sequence[Any]) -> None:
    """Raise ``Unsupported`` where inputs tell the server different things: its program is another one for each."""
    public_inputs = [
        {
            stage.name: both.workload.public(stage.name, given, both.parameters)
            for stage in both.workload.stages
        }
        for given in inputs
    ]
    if any(
        not equal_arrays(a, b)
        for item in public_inputs
        for a, b in zip(public_inputs[0].values(), item.values(), strict=True)
    ):
        raise Unsupported(
            "each input gives the server different public data, hence another program: use one input"
        )


def _operands(both: InProcess, given: Any) -> list[Handle]:
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


def _whole(both: InProcess, traced: Traced, operands: Sequence[Handle], threads: int) -> Bound:
    """The program as it is executed otherwise: once here."""
    prepared = both.evaluator.prepare_constants(traced.program, traced.constants, threads)
    bound = both.evaluator.bind_program(traced.program, operands, prepared, threads)
    bound.run(1)
    return bound


@dataclass(frozen=True, slots=True)
class _Differences:
    """Of one input: largest value and largest error of each layer, and whether the result is right."""

    layers: list[tuple[float, float]]
    is_right: bool


def _differences(both: InProcess, layered: Layered, given: Any) -> _Differences:
    clear = in_the_clear(both.workload, both.programs, given, both.parameters)
    ends = layered.ends(layered.bound(_operands(both, given)))
    differences = [
        largest_of(both.decrypted(end), clear[layer.name])
        for layer, end in zip(layered.layers, ends, strict=True)
    ]
    return _Differences(differences, both.judged(both.output(ends[-1], given), given).complaint is None)


def _row(layer: Layer, seconds: float, sizes: Sequence[tuple[float, float]]) -> LayerFound:
    facts = layer.facts
    counts: dict[str, int] = {}
    for item in facts.counts:
        counts[item.operation] = counts.get(item.operation, 0) + item.n
    return LayerFound(
        name=facts.name,
        level=facts.level,
        end_level=facts.end_level,
        scale_bits=facts.scale_bits,
        operations=dict(sorted(counts.items())),
        operand_bytes=facts.operand_bytes,
        result_bytes=facts.result_bytes,
        seconds=seconds,
        largest=max(largest for largest, _ in sizes),
        error=max(error for _, error in sizes) if layer.has_meaning else None,
    )


def answered(
    name: str, options: Mapping[str, Any], variant: str, scheme: Scheme, question: Question
) -> LayersFound:
    """As :func:`found`, of an installed workload or a file; what cannot be done is told as the ``reason``."""
    is_own = user_workloads.is_own(name)
    try:
        chosen = user_workloads.sound(name, Path()) if is_own else named(WORKLOADS, name)
        workload = chosen.with_options(options)
        workload.require_scheme(scheme)
        return found(workload, variant, scheme, question)
    except (Unsupported, UserError) as error:
        return LayersFound(reason=str(error))
    except Exception as error:  # whatever a user's file does
        if not is_own:
            raise
        return LayersFound(reason=user_workloads.explained(error, Path(name.partition(":")[0])))


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
    containment.lead(confinement.WHERE)
    replies = confinement.own_output()
    confinement.confine(Budget().memory_mb)
    question = Question(given.passes, given.inputs, given.threads)
    confinement.send(replies, answered(given.workload, given.options, given.variant, given.scheme, question))


if __name__ == "__main__":
    main()
