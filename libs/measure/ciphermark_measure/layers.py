"""Cost and error of the layers of a workload's last stage, without a run: both parties are in one process.

``python -m ciphermark_measure.layers WORKLOAD --variant seal …`` answers with a line of JSON, in a separate process.
For errors, the client decrypts the results of each layer in executions that are not timed.
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
    """One layer. It begins at ``level`` and ends at ``end_level``, where ``scale_bits`` is log2 of the scale. If the
    library chooses levels itself, these are the ones it would have otherwise. ``operations`` are counts by operation;
    ``operand_bytes`` and ``result_bytes`` are sizes in memory. ``seconds`` is the median time. ``largest`` and
    ``error`` are the largest value and the largest error of any slot of any input; ``error`` is missing where plain
    vectors do not determine the correct result.
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
    """All layers, and the median time of the whole program in the same passes. ``right`` counts the correct ones of the
    ``inputs``. ``reason`` explains why everything else is missing.
    """

    reason: str | None = None
    layers: tuple[LayerFound, ...] = ()
    whole_s: float = 0.0
    passes: int = 0
    inputs: int = 0
    right: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """The number of timed passes, the inputs of each, and the number of inputs that errors are computed for."""

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
    operands = last_operands(both, inputs[0])
    bounds = [*layered.bound(operands), whole(both, stage.traced, operands, question.threads)]
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
    """Raise ``Unsupported`` where inputs send the server different data, since each then has another program."""
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


def last_operands(both: InProcess, given: Any) -> list[Handle]:
    """The operands of the last stage's program."""
    *before, last = both.workload.server_stages
    state: list[Handle] = []
    for stage in before:
        traced, operands = both.programs[stage.name].traced, both.operands(stage, given, state)
        prepared = both.evaluator.prepare_constants(traced.program, traced.constants)
        bound = both.evaluator.bind_program(traced.program, operands, prepared)
        bound.run(1)
        state = bound.results()
    return both.operands(last, given, state)


def whole(both: InProcess, traced: Traced, operands: Sequence[Handle], threads: int) -> Bound:
    """The undivided program, executed once."""
    prepared = both.evaluator.prepare_constants(traced.program, traced.constants, threads)
    bound = both.evaluator.bind_program(traced.program, operands, prepared, threads)
    bound.run(1)
    return bound


@dataclass(frozen=True, slots=True)
class _Differences:
    """For one input: the largest value and error of each layer, and whether the result is correct."""

    layers: list[tuple[float, float]]
    is_right: bool


def _differences(both: InProcess, layered: Layered, given: Any) -> _Differences:
    clear = in_the_clear(both.workload, both.programs, given, both.parameters)
    ends = layered.ends(layered.bound(last_operands(both, given)))
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
    """As :func:`found`, for an installed workload or a file. Failures are reported in ``reason``."""
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
    """Measure and print the result."""
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
