"""The plain loop as a process, and its operations as something the platform's own probe can sample."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ciphermark_contract.interfaces import Bound, Handle
from ciphermark_core.model import Parameters

SETS = 3  # operand sets, as many as a trial has


class PlainLoop:
    """A running ``plain_loop`` with keys and operands for one parameter set, pinned to one CPU."""

    def __init__(self, program: Path, parameters: Parameters, cpu: int) -> None:
        self._process = subprocess.Popen(
            [program, *_arguments(parameters)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        os.sched_setaffinity(self._process.pid, {cpu})
        self._read()

    def elapsed_ns(self, operation: str, operand_set: int, loops: int) -> int:
        """Execute an operation ``loops`` times and tell how long the loop took."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{operation} {operand_set} {loops}\n")
        self._process.stdin.flush()
        return int(self._read())

    def bounds(self, operation: str) -> list[Bound]:
        """The operation with each of the operand sets."""
        return [_PlainBound(self, operation, index) for index in range(SETS)]

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"plain_loop ended with exit code {self._process.wait()}")
        return line


@dataclass(frozen=True, slots=True)
class _PlainBound(Bound):
    loop: PlainLoop
    operation: str
    operand_set: int

    def run(self, loops: int) -> int:
        return self.loop.elapsed_ns(self.operation, self.operand_set, loops)

    def results(self) -> list[Handle]:
        return []  # they stay in the process


def _arguments(parameters: Parameters) -> list[str]:
    spec = parameters.spec
    numbers = (spec.ring_dimension, parameters.plain_modulus or 0, spec.scale_bits or 0, SETS)
    return [spec.scheme, *map(str, numbers), *map(str, parameters.moduli + parameters.special_moduli)]
