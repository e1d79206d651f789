"""HElib as a plain program with its defaults has it, in turns with the adapter's setting in *best*."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from bench import native_build
from bench.processes import Program
from ciphermark_adapters import registry
from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.model import ParameterSpec, Scheme

_TURNS = 21


@dataclass(frozen=True, slots=True)
class Case:
    """A ring and a chain, as a program asks HElib for it and as a suite asks for it.

    ``bits``: of the ciphertext modulus, as ``ContextBuilder`` takes them. ``modulus_bits``: as many primes as HElib
    makes of them, of their size, and the special one that *best* replaces.
    """

    scheme: Scheme
    ring_dimension: int
    plain_modulus: int | None
    scale_bits: int | None
    bits: int
    modulus_bits: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.scheme} {self.ring_dimension}"

    @property
    def spec(self) -> ParameterSpec:
        """The same in the division *best*."""
        return ParameterSpec(
            self.scheme,
            self.ring_dimension,
            self.modulus_bits,
            self.plain_modulus,
            self.scale_bits,
            division="best",
        )


CASES = (
    Case("ckks", 16_384, None, 40, 270, (55, 55, 55, 55, 55, 60)),
    Case("bgv", 4_096, 65_537, None, 55, (55, 60)),
    Case("bgv", 8_192, 65_537, None, 110, (55, 55, 60)),
)


@contextmanager
def _plain(case: Case) -> Iterator[Program]:
    """The plain program, which executes an operation at a time."""
    numbers = (case.ring_dimension, case.plain_modulus or case.scale_bits, case.bits)
    command = [native_build.helib_defaults(), case.scheme, *map(str, numbers)]
    with TemporaryDirectory() as folder:  # HElib writes a file helib.log where it is loaded
        program = Program(command, os.sched_getaffinity(0), folder)
        try:
            if int(program.greeting) != len(case.modulus_bits) - 1:  # said when there are keys
                raise RuntimeError(f"{case}: HElib makes {program.greeting} primes of {case.bits} bits")
            yield program
        finally:
            program.end()


def compared(case: Case) -> Iterator[tuple[str, float, float]]:
    """Operation, median of the ratios adapter / plain program, and the plain program's median in seconds."""
    ours = _ours(case)
    with _plain(case) as plain:
        for name, run in ours.items():
            pairs = [(_elapsed_s(run), plain.asked(name) / 1e9) for _ in range(_TURNS)][
                1:
            ]  # the first warms up
            yield name, median(a / b for a, b in pairs), median(b for _, b in pairs)


def _ours(case: Case) -> dict[str, Callable[[], Any]]:
    adapter = registry.load("helib")
    parameters = adapter.resolve(case.spec)
    owner = adapter.key_owner(parameters, KeyRequest.of(relinearization=True, rotations=(1,)))
    evaluator = adapter.evaluator(owner.public_material())
    kind, value = (np.float64, 0.95) if parameters.scale is not None else (np.int64, 3)
    x = evaluator.load(owner.dump(owner.encrypt(np.full(parameters.slots, value, dtype=kind)), "none"))
    return {
        "rotation": lambda: evaluator.apply("rotate", x, 1),
        "multiplication": lambda: evaluator.apply("relinearize", evaluator.apply("mul", x, x)),
    }


def _elapsed_s(run: Callable[[], Any]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start
