"""Section ``divisions``: the settings of OpenFHE and HElib in *best* against plain programs with their own defaults.

OpenFHE's takes turns in one process of the interpreter that OpenFHE has, operation by operation. It rescales by
FLEXIBLEAUTOEXT, the adapter by FIXEDMANUAL, whose product alone is not rescaled: see docs/divisions.md. HElib's is a
program in C++ that takes turns with the adapter in this process: see :mod:`bench.helib_defaults`.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

from bench import helib_defaults
from bench.figures import Figure, Progress, Target
from bench.places import ROOT
from ciphermark_adapters import registry
from ciphermark_core import host

_TARGET = Target(most=1.05)
# N, data primes, bits of the scale: the defaults are 128 bits secure, too
_CHAINS = ((16_384, 6, 40), (32_768, 12, 45))


def section(progress: Progress) -> Iterator[Figure]:
    """Rotation and relinearized multiplication, and in OpenFHE a chain of them with rescaling."""
    for name, figures in {"openfhe": _openfhe, "helib": _helib}.items():
        found = registry.availability(name, frozenset(host.collect().cpu_flags))
        if found.is_installed:
            yield from figures(progress)
        else:
            progress(f"{name} is left out: {found.reason}; {found.remedy}")


def _openfhe(progress: Progress) -> Iterator[Figure]:
    script = str(ROOT / "bench" / "plain_openfhe_defaults.py")
    for numbers in _CHAINS:
        progress(f"N = {numbers[0]}, {numbers[1]} primes: about a minute")
        command = [registry.interpreter("openfhe"), script, *map(str, numbers)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            name, ratio, plain_s = line.split()
            yield _figure(f"openfhe ckks {numbers[0]} {name}", float(ratio), float(plain_s))


def _helib(progress: Progress) -> Iterator[Figure]:
    for case in helib_defaults.CASES:
        progress(f"{case}: less than a minute")
        for name, ratio, plain_s in helib_defaults.compared(case):
            yield _figure(f"helib {case} {name}", ratio, plain_s)


def _figure(what: str, ratio: float, plain_s: float) -> Figure:
    return Figure(
        "divisions",
        f"{what}, best / defaults",
        ratio,
        target=_TARGET,
        note=f"{plain_s * 1e3:.1f} ms with the defaults",
        facts={"plain_s": plain_s},
    )
