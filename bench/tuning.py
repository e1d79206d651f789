"""Section ``tuning``: *recommended* settings of OpenFHE and HElib against plain programs with the libraries' defaults.

OpenFHE's program is interleaved with the adapter in one process of OpenFHE's interpreter, operation by operation. It
rescales by FLEXIBLEAUTOEXT, the adapter by FIXEDMANUAL, whose single product is not rescaled: see
docs/explanation/tuning.md. HElib's is a program in C++ that is interleaved with the adapter in this process.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from tempfile import TemporaryDirectory

from bench import native_build, recommended_setting
from bench.processes import ROOT, Program, installed
from bench.results import BenchResult, Progress, Target
from ciphermark_adapters import registry
from ciphermark_core.model import ParameterSpec

_TARGET = Target(most=1.05)
# N, data primes, bits of the scale: the defaults are 128 bits secure, too
_CHAINS = ((16_384, 6, 40), (32_768, 12, 45))
# A *recommended* parameter set, and the bits of the ciphertext modulus for HElib's ContextBuilder. It generates as many
# primes from them, of the same size, as the set has without the special one, which *recommended* replaces.
_OF_HELIB = (
    (ParameterSpec("ckks", 16_384, (*[55] * 5, 60), scale_bits=40, tuning="recommended"), 270),
    (ParameterSpec("bgv", 4_096, (55, 60), 65_537, tuning="recommended"), 55),
    (ParameterSpec("bgv", 8_192, (55, 55, 60), 65_537, tuning="recommended"), 110),
)


def section(progress: Progress) -> Iterator[BenchResult]:
    """Rotation and relinearized multiplication, and in OpenFHE a chain of them with rescaling."""
    for variant in installed(("openfhe", "helib"), progress):
        yield from _openfhe(progress) if variant == "openfhe" else _helib(progress)


def _openfhe(progress: Progress) -> Iterator[BenchResult]:
    for numbers in _CHAINS:
        progress(f"N = {numbers[0]}, {numbers[1]} primes: about a minute")
        command = [
            registry.interpreter("openfhe"),
            "-m",
            "bench.recommended_setting",
            "defaults",
            *map(str, numbers),
        ]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            name, ratio, plain_s = line.split()
            yield _result(f"openfhe ckks {numbers[0]} {name}", float(ratio), float(plain_s))


def _helib(progress: Progress) -> Iterator[BenchResult]:
    for spec, bits in _OF_HELIB:
        place = f"helib {spec.scheme} {spec.ring_dimension}"
        progress(f"{place}: less than a minute")
        numbers = (spec.ring_dimension, spec.plain_modulus or spec.scale_bits, bits)
        command = [native_build.helib_defaults(), spec.scheme, *map(str, numbers)]
        ours = recommended_setting.operations("helib", spec)
        cpus = os.sched_getaffinity(0)
        # HElib writes the file helib.log to the current folder when it is loaded.
        with TemporaryDirectory() as folder, closing(Program(command, cpus, folder)) as plain:
            assert spec.modulus_bits is not None
            if int(plain.greeting) != len(spec.modulus_bits) - 1:  # printed once keys exist
                raise RuntimeError(f"{place}: HElib makes {plain.greeting} primes of {bits} bits")
            theirs = {name: partial(plain.asked_s, name) for name in ours}
            for name, *times in recommended_setting.compared(ours, theirs, turns=21):
                yield _result(f"{place} {name}", *times)


def _result(what: str, ratio: float, plain_s: float) -> BenchResult:
    note = f"{plain_s * 1e3:.1f} ms with the defaults"
    return BenchResult(f"{what}, recommended / defaults", ratio, "", _TARGET, note, {"plain_s": plain_s})
