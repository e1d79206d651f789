"""Section ``memory``: peak memory of a chain in a trial, against a program that uses only the library.

The program's peak is its maximum resident set size as in ``/usr/bin/time -v``: ``ru_maxrss`` of the ended process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence

from bench import native_build
from bench.processes import ROOT, installed, prepared
from bench.results import BenchResult, Progress, Target
from ciphermark_adapters import registry
from ciphermark_benchmark.processes import WorkerNeeds
from ciphermark_benchmark.runner.executor import MemoryPass
from ciphermark_contract.operations import read
from ciphermark_core.budget import Budget
from ciphermark_core.descriptor import REPETITIONS
from ciphermark_core.model import Case, ParameterSpec, Scheme, Trial
from ciphermark_measure.processes import Confinement

_ALIKE = Target(least=0.95, most=1.05)
_TARGETS = {"plain program": _ALIKE, "plain script": _ALIKE, "the same in place": None}  # informative
_RING_DIMENSION = 32_768
_DEPTHS: dict[Scheme, int] = {"bgv": 19, "ckks": 20}
_SCALE_BITS = 35
_PLAIN_MODULUS = 65_537
_BUDGET = Budget(timeout_s=300, memory_mb=16_384)
_CONFINEMENT = Confinement((), 1, _BUDGET.memory_mb)


def section(progress: Progress) -> Iterator[BenchResult]:
    """Chains of multiplications at a size at which the interpreter's own memory is negligible."""
    for variant in installed(("seal", "openfhe"), progress):
        for scheme, depth in _DEPTHS.items():
            progress(f"{variant}, {depth} multiplications in {scheme}: about half a minute")
            yield from _compared(variant, scheme, depth)


def _compared(variant: str, scheme: Scheme, depth: int) -> Iterator[BenchResult]:
    scale_bits, plain_modulus = (_SCALE_BITS, None) if scheme == "ckks" else (None, _PLAIN_MODULUS)
    spec = ParameterSpec(scheme, _RING_DIMENSION, None, plain_modulus, scale_bits, depth=depth)
    case = Case(variant, "repetition", "mul", spec, 16, "random", dimensions={REPETITIONS.name: depth})
    needs = WorkerNeeds(variant, spec, read("mul").managed_keys, _CONFINEMENT, _BUDGET.timeout_s)
    trial = Trial("memory", "bench", case, 0, 1, _BUDGET)
    with MemoryPass(1) as memory:
        samples = memory.peaks({variant: needs}, {variant: [trial]})[trial.id]
    (peak_bytes,) = [sample.value for sample in samples if sample.phase == "evaluate"]
    for plain, command in _plain(needs, depth).items():
        plain_bytes = _peak_bytes(command)
        name = f"{variant} {scheme} depth {depth} / {plain}"
        note = f"{peak_bytes / 2**20:.0f} MiB against {plain_bytes / 2**20:.0f} MiB"
        facts = {"peak_bytes": peak_bytes, "plain_bytes": plain_bytes}
        yield BenchResult(name, peak_bytes / plain_bytes, "", _TARGETS[plain], note, facts)


def _plain(needs: WorkerNeeds, depth: int) -> dict[str, list[str]]:
    """Programs with the same operations that use only the library, with the same primes.

    The primes come from a worker, since the library may need another interpreter.
    """
    parameters = prepared(needs).parameters
    spec = parameters.spec
    if needs.variant == "openfhe":
        assert spec.modulus_bits is not None
        numbers = (spec.ring_dimension, spec.plain_modulus or 0, spec.scale_bits or 0, *spec.modulus_bits[:2])
        script = str(ROOT / "bench" / "plain_openfhe_chain.py")
        command = [registry.interpreter("openfhe"), script, spec.scheme, *map(str, (*numbers, depth))]
        return {"plain script": command}
    styles = {"plain program": "new", "the same in place": "in-place"}
    return {
        name: native_build.of_seal("plain_chain", needs.variant, parameters, depth, style)
        for name, style in styles.items()
    }


# A started process inherits the peak of the one that starts it: after other sections, gigabytes. This one is small.
_STARTER = """
import os, subprocess, sys

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def _peak_bytes(command: Sequence[str]) -> float:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    started = [sys.executable, "-c", _STARTER, *command]
    done = subprocess.run(started, env=environment, stdout=subprocess.PIPE, check=True)
    return int(done.stdout) * 1024.0
