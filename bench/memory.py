"""Section ``memory``: peak memory of a chain as a trial has it, against a program that uses the library alone.

The program's peak is what ``/usr/bin/time -v`` calls its maximum resident set size: ``ru_maxrss`` of the ended process.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench import native_build
from bench.figures import Figure, Progress, Target
from bench.places import ROOT
from ciphermark_adapters import registry
from ciphermark_benchmark.processes import WorkerNeeds, WorkerProcess
from ciphermark_benchmark.runner.executor import MemoryPass
from ciphermark_contract.operations import read
from ciphermark_core import host
from ciphermark_core.budget import Budget
from ciphermark_core.descriptor import REPETITIONS
from ciphermark_core.model import Case, Parameters, ParameterSpec, Scheme, Trial
from ciphermark_measure import protocol
from ciphermark_measure.processes import Confinement

_TARGET = Target(least=0.95, most=1.05)
_RING_DIMENSION = 32_768
_DEPTHS: dict[Scheme, int] = {"bgv": 19, "ckks": 20}
_SCALE_BITS = 35
_PLAIN_MODULUS = 65_537
_BUDGET = Budget(timeout_s=300, memory_mb=16_384)
_CONFINEMENT = Confinement((), 1, _BUDGET.memory_mb)


@dataclass(frozen=True, slots=True)
class Plain:
    """A program that does the same with the library alone; without a target it explains."""

    name: str
    command: Sequence[str]
    target: Target | None = _TARGET


def section(progress: Progress) -> Iterator[Figure]:
    """Chains of multiplications at a size where the interpreter itself does not count."""
    flags = frozenset(host.collect().cpu_flags)
    for variant in ("seal", "openfhe"):
        found = registry.availability(variant, flags)
        if not found.is_installed:
            progress(f"{variant} is left out: {found.reason}; {found.remedy}")
            continue
        for scheme, depth in _DEPTHS.items():
            progress(f"{variant}, {depth} multiplications in {scheme}: about half a minute")
            yield from _compared(variant, _case(variant, scheme, depth))


def _compared(variant: str, case: Case) -> Iterator[Figure]:
    needs = WorkerNeeds(
        variant, case.parameters, read(case.operation).managed_keys, _CONFINEMENT, _BUDGET.timeout_s
    )
    trial = Trial("memory", "bench", case, 0, 1, _BUDGET)
    with MemoryPass(1) as memory:
        samples = memory.peaks({variant: needs}, {variant: [trial]})[trial.id]
    (peak_bytes,) = [sample.value for sample in samples if sample.phase == "operation"]
    for plain in _plain(case, _resolved(needs)):
        plain_bytes = _peak_bytes(plain.command)
        yield Figure(
            "memory",
            f"{variant} {case.parameters.scheme} depth {REPETITIONS.of(case.dimensions)} / {plain.name}",
            peak_bytes / plain_bytes,
            target=plain.target,
            note=f"{peak_bytes / 2**20:.0f} MiB against {plain_bytes / 2**20:.0f} MiB",
            facts={"peak_bytes": peak_bytes, "plain_bytes": plain_bytes},
        )


def _case(variant: str, scheme: Scheme, depth: int) -> Case:
    is_ckks = scheme == "ckks"
    spec = ParameterSpec(
        scheme,
        _RING_DIMENSION,
        plain_modulus=None if is_ckks else _PLAIN_MODULUS,
        scale_bits=_SCALE_BITS if is_ckks else None,
        depth=depth,
    )
    return Case(variant, "repetition", "mul", spec, 16, "random", dimensions={REPETITIONS.name: depth})


def _resolved(needs: WorkerNeeds) -> Parameters:
    """The primes that the library takes, from a worker of its own: it may need another interpreter."""
    worker = WorkerProcess(_CONFINEMENT, registry.interpreter(needs.variant))
    try:
        reply = worker.ask(needs.request, needs.timeout_s)
    finally:
        worker.end()
    if not isinstance(reply, protocol.Prepared):
        raise RuntimeError(f"{needs.variant}: {reply}")
    return reply.parameters


def _plain(case: Case, parameters: Parameters) -> list[Plain]:
    spec = parameters.spec
    numbers = [spec.scheme, str(spec.ring_dimension), str(spec.plain_modulus or 0), str(spec.scale_bits or 0)]
    count = str(REPETITIONS.of(case.dimensions))
    if case.variant == "openfhe":
        assert spec.modulus_bits is not None
        sizes = [str(spec.modulus_bits[0]), str(spec.modulus_bits[1])]
        script = str(ROOT / "bench" / "plain_openfhe_chain.py")
        return [Plain("plain script", [registry.interpreter("openfhe"), script, *numbers, *sizes, count])]
    program = str(native_build.plain_chain(case.variant))
    primes = list(map(str, parameters.moduli + parameters.special_moduli))
    return [
        Plain("plain program", [program, *numbers, "mul", count, "new", *primes]),
        Plain("the same in place", [program, *numbers, "mul", count, "in-place", *primes], None),
    ]


def _peak_bytes(command: Sequence[str]) -> float:
    process = subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with exit code {process.returncode}")
    return usage.ru_maxrss * 1024.0
