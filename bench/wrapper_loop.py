"""``python -m bench.wrapper_loop VARIANT CPU``: an adapter's timed operations against the library's own calls.

It runs in the interpreter that loads the library, and prints a JSON line per operation. The adapter's operations are
bound to ciphertexts that its evaluator loaded from bytes, as in a worker. The plain loop calls the library on its own
objects, as a program without Ciphermark would. Both are interleaved in one process.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product, repeat
from time import perf_counter_ns
from typing import Any

import numpy as np

from bench.plain_loops import SETS, PlainBound, specification
from bench.wrapper_calls import CALLS, STEP
from ciphermark_adapters import registry
from ciphermark_contract.interfaces import Bound, Evaluator, KeyOwner, KeyRequest, Row, Vector
from ciphermark_core.budget import Budget
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_measure.clock import MonotonicClock, resolution_ns
from ciphermark_measure.sampling import Phase, make_ready, target
from ciphermark_measure.session import possible

SCHEMES: tuple[Scheme, ...] = ("bfv", "ckks")
RING_DIMENSIONS = (4096, 8192)
# Many short samples: samples close in time share the state of the host.
_BUDGET = Budget(min_samples=40, warmups=2, min_time_s=0.3)
_SEED = 1


def _elapsed_ns(function: Callable[..., Any], operands: tuple[Any, ...], loops: int) -> int:
    """The timed loop of a program without Ciphermark."""
    start = perf_counter_ns()
    for _ in repeat(None, loops):
        function(*operands)
    return perf_counter_ns() - start


def _bounds(owner: KeyOwner, evaluator: Evaluator, mode: str, x: Vector, y: Vector) -> dict[str, Bound]:
    """The adapter's operations on two vectors, bound as in a trial: ciphertexts are transferred as bytes."""
    fresh = owner.encrypt(x)
    a, b = (evaluator.load(owner.dump(item, mode)) for item in (fresh, owner.encrypt(y)))
    plain = evaluator.encode(y, like=a)
    rows: dict[str, Callable[[], Row]] = {
        "add": lambda: (a, b),
        "add_plain": lambda: (a, plain),
        "mul_plain": lambda: (a, plain),
        "mul": lambda: (a, b),
        "rotate": lambda: (a, STEP),
        "relinearize": lambda: (evaluator.apply("mul", a, b),),
    }
    bounds = {
        name: evaluator.bind(name, [row()]) for name, row in rows.items() if name in evaluator.operations
    }
    return bounds | {"encrypt": owner.bind("encrypt", [(x,)]), "decrypt": owner.bind("decrypt", [(fresh,)])}


def _vectors(parameters: Parameters) -> list[tuple[Vector, Vector]]:
    """Pairs of vectors, one per operand set of a trial."""
    numbers = np.random.default_rng(_SEED)
    size, modulus = parameters.slots, parameters.plain_modulus

    def draw() -> Vector:
        return numbers.uniform(-1, 1, size) if modulus is None else numbers.integers(1, modulus, size)

    return [(draw(), draw()) for _ in range(SETS)]


def measured(variant: str, spec: ParameterSpec) -> Iterator[dict[str, Any]]:
    """Times of every operation that both have: seconds per turn, sampled in shuffled order."""
    adapter, declared = registry.load(variant), registry.declaration(variant)
    parameters = adapter.resolve(spec)
    keys = possible(KeyRequest.of(True, rotations=(STEP,)), declared, parameters)
    owner = adapter.key_owner(parameters, keys)
    evaluator = adapter.evaluator(owner.public_material())
    calls = CALLS[variant](parameters)
    pairs = _vectors(parameters)
    ours = [_bounds(owner, evaluator, declared.compressions[0], x, y) for x, y in pairs]
    plain = [
        {name: PlainBound(partial(_elapsed_ns, *call)) for name, call in calls(x, y).items()}
        for x, y in pairs
    ]
    for name in (name for name in plain[0] if name in ours[0]):
        platform_s, plain_s = _sampled([item[name] for item in ours], [item[name] for item in plain])
        yield {"operation": name, "platform": platform_s, "plain": plain_s}


def _sampled(ours: Sequence[Bound], plain: Sequence[Bound]) -> Iterator[list[float]]:
    """Seconds per operation, one entry per turn, of the adapter and of the plain loop."""
    clock = MonotonicClock()
    goal = target(_BUDGET, resolution_ns(clock))
    phases = [Phase("evaluate", bounds, goal, clock) for bounds in (ours, plain)]
    for phase in phases:
        make_ready(phase, 0, _BUDGET.warmups)
    order = list(phases)
    shuffle = random.Random(_SEED).shuffle
    while not phases[0].is_done:
        shuffle(order)
        for phase in order:
            phase.take()
    return ([sample.value for sample in phase.times if not sample.is_warmup] for phase in phases)


def main() -> None:
    """Measure a variant on a CPU, and print the times of each operation with their place, one JSON line each."""
    variant, cpu = sys.argv[1], int(sys.argv[2])
    os.sched_setaffinity(0, {cpu})
    for scheme, ring_dimension in product(SCHEMES, RING_DIMENSIONS):
        for times in measured(variant, specification(scheme, ring_dimension, security=0)):
            print(json.dumps({"place": f"{scheme} {ring_dimension}"} | times), flush=True)


if __name__ == "__main__":
    main()
