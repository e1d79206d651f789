"""The circuits of ``native/hand_written.cpp`` as a process."""

from __future__ import annotations

import os
import subprocess

from bench.native_build import hand_written
from bench.program_cases import ProgramCase


class HandWritten:
    """One circuit by hand, with the primes that the variant takes, on these CPUs."""

    def __init__(self, case: ProgramCase, variant: str, cpus: set[int]) -> None:
        parameters = case.parameters(variant)
        numbers = (
            parameters.ring_dimension,
            parameters.plain_modulus or 0,
            parameters.spec.scale_bits or 0,
            case.block,
            case.rows,
            *parameters.moduli,
            *parameters.special_moduli,
        )
        command = [str(hand_written(variant)), case.name, *map(str, numbers)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        os.sched_setaffinity(self._process.pid, cpus)
        self._read()

    def elapsed_ns(self, loops: int) -> int:
        """The time of so many executions."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{loops}\n")
        self._process.stdin.flush()
        return int(self._read())

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"hand_written ended with exit code {self._process.wait()}")
        return line
