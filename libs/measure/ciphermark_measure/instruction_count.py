"""One call of an operation for callgrind, which counts its instructions exactly: a substitute for hardware counters.

``valgrind --tool=callgrind --instr-atstart=no … python -m ciphermark_measure.instruction_count --case JSON`` leaves
three dumps: of one execution, which touches everything first, of one, and of two. The last less the one before is one
execution.
"""

from __future__ import annotations

import argparse
import ctypes
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from ciphermark_contract.operations import read
from ciphermark_core.model import Case, ParameterSpec
from ciphermark_measure import operands
from ciphermark_measure.experiments import KINDS
from ciphermark_measure.session import prepare

_LIBRARY = Path(__file__).parent / "native" / "_callgrind.so"  # where setup puts it
_DUMP, _ZERO, _START = 0, 1, 4  # of callgrind's requests
_LOOPS = (1, 1, 2)
MOST_N = 4096  # callgrind is fifty times slower than the CPU
_SCALE_BITS = 30


def small(case: Case) -> Case:
    """The case with fresh operands at a small N, in the library's own modulus chain there. Pure."""
    spec = case.parameters
    if spec.ring_dimension > MOST_N or spec.ring_dimension_is_minimum:
        scale_bits = None if spec.scale_bits is None else min(spec.scale_bits, _SCALE_BITS)
        spec = ParameterSpec(
            spec.scheme, MOST_N, plain_modulus=spec.plain_modulus, scale_bits=scale_bits, tuning=spec.tuning
        )
    return replace(case, parameters=spec, vector_length=spec.slots, threads=1, dimensions={})


def counted(directory: Path) -> int:
    """The instructions of one execution, from the dumps in a folder. Raises ``OSError`` or ``ValueError`` without."""
    _, once, twice = (_summary(directory / f"callgrind.{number}") for number in (1, 2, 3))
    return twice - once


def _summary(path: Path) -> int:
    lines = path.read_text(errors="replace").splitlines()
    return int(next(line for line in lines if line.startswith("summary:")).split()[1])


def main() -> None:
    """Execute the case's operation on one row of operands, and let callgrind dump its counts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", type=partial(msgspec.json.decode, type=Case), required=True)
    case = parser.parse_args().case
    request = ctypes.CDLL(str(_LIBRARY)).ciphermark_callgrind
    request.argtypes = [ctypes.c_uint64]
    session = prepare(case.variant, case.parameters, KINDS[case.experiment].experiment.keys(case))
    session.require_possible(case.operation)
    rows = operands.build(session, case, 1, 0).rows
    bound = session.evaluator.bind(read(case.operation).name, rows)
    bound.run(1)
    request(_START)
    for loops in _LOOPS:
        request(_ZERO)
        bound.run(loops)
        request(_DUMP)


if __name__ == "__main__":
    main()
