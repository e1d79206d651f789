"""Section ``divisions``: OpenFHE's setting in *best* against a plain program with OpenFHE's own defaults.

Both take turns in one process of the interpreter that OpenFHE has, operation by operation. The plain program rescales
by FLEXIBLEAUTOEXT, the adapter by FIXEDMANUAL, whose product alone is not rescaled: see docs/divisions.md.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

from bench.figures import Figure, Progress, Target
from bench.places import ROOT
from ciphermark_adapters import registry
from ciphermark_core import host

_TARGET = Target(most=1.05)
# N, data primes, bits of the scale: the defaults are 128 bits secure, too
_CHAINS = ((16_384, 6, 40), (32_768, 12, 45))


def section(progress: Progress) -> Iterator[Figure]:
    """Rotation, relinearized multiplication, and a chain of them with rescaling, in ckks."""
    found = registry.availability("openfhe", frozenset(host.collect().cpu_flags))
    if not found.is_installed:
        progress(f"openfhe is left out: {found.reason}; {found.remedy}")
        return
    script = str(ROOT / "bench" / "plain_openfhe_defaults.py")
    for numbers in _CHAINS:
        progress(f"N = {numbers[0]}, {numbers[1]} primes: about a minute")
        command = [registry.interpreter("openfhe"), script, *map(str, numbers)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            name, ratio, plain_s = line.split()
            yield Figure(
                "divisions",
                f"openfhe ckks {numbers[0]} {name}, best / defaults",
                float(ratio),
                target=_TARGET,
                note=f"{float(plain_s) * 1e3:.1f} ms with the defaults",
                facts={"plain_s": float(plain_s)},
            )
