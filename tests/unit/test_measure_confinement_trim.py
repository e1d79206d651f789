"""Freed memory leaves a sealed process, whose pages stay locked afterwards."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json
from pathlib import Path
from ciphermark_measure import confinement

def of(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))

confinement.seal()
blocks = [bytearray(100_000) for _ in range(1000)]
last = bytearray(100_000)  # the heap's top cannot shrink below it
locked, full = of("VmLck:"), of("VmRSS:")
del blocks
confinement.trim()
print(json.dumps([locked, full, of("VmRSS:"), of("VmLck:")]))
"""


def test_freed_memory_leaves_a_sealed_process() -> None:
    output = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True).stdout
    locked, full, left, locked_again = json.loads(output)
    if not locked:
        pytest.skip("this process may not lock all of its memory")
    assert full - left > 80_000
    assert locked_again > 0
