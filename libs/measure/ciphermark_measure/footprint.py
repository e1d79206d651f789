"""Memory of one chain by itself: what a server that evaluates it needs.

In a fresh worker the key owner lives in a forked process, which ends when keys and operands are written to a file. What
is left holds one set of evaluation keys, the operands and the library, as a program that uses the library alone would.
"""

from __future__ import annotations

import ctypes
import gc
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.model import Sample, Trial
from ciphermark_measure.experiments import repetition
from ciphermark_measure.experiments.base import alone
from ciphermark_measure.forked import forked
from ciphermark_measure.parameter_selection import resolved
from ciphermark_measure.probes import Meter, measured_alone, samples_of, together
from ciphermark_measure.session import possible, require_scheme


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Bytes of each part of the public material, then of each operand, as they lie in the file."""

    material: list[int] = field(default_factory=list)
    operands: list[int] = field(default_factory=list)


def peaks(trial: Trial, keys: KeyRequest) -> list[Sample]:
    """What probes tell, such as peaks of the resident set: ``keys`` of the key owner's process; ``operation`` (the
    chain) and ``process`` (with the reading of keys) of the evaluator's.

    The process must not have loaded a library before. Raises what the owner raises, such as ``Unsupported``.
    """
    with tempfile.TemporaryFile() as file:
        made, sizes = forked(lambda: _own(trial, keys, file), "makes the keys")
        file.seek(0)
        reading = Meter("alone")
        reading.start()
        evaluator = registry.load(trial.case.variant).evaluator(map(file.read, sizes.material))
        operands = [evaluator.load(file.read(size)) for size in sizes.operands]
    read = reading.stop()
    bound = repetition.bound(evaluator, trial.case, operands)
    gc.collect()
    _give_back()
    operated = measured_alone(lambda: bound.run(1))
    whole = together([read, operated])
    return [*made, *samples_of(operated, "operation"), *samples_of(whole, "process")]


def _give_back() -> None:
    """Have the allocator return what reading the keys took and freed: no part of the chain's memory."""
    with suppress(AttributeError):  # a C library without it
        ctypes.CDLL(None).malloc_trim(0)


def _own(trial: Trial, keys: KeyRequest, file: IO[bytes]) -> tuple[list[Sample], _Sizes]:
    """Make keys and operands; what they took, and their sizes in the file."""
    sizes = _Sizes()
    samples = alone("keys", lambda: _make(trial, keys, file, sizes))
    return samples, sizes


def _make(trial: Trial, keys: KeyRequest, file: IO[bytes], sizes: _Sizes) -> None:
    """Write public material and encrypted operands, and note their sizes."""
    case = trial.case
    declared = require_scheme(case.variant, case.parameters)
    adapter = registry.load(case.variant)
    parameters = resolved(adapter, case.parameters)
    owner = adapter.key_owner(parameters, possible(keys, declared, parameters))
    ciphertexts = [owner.encrypt(vector) for vector in repetition.vectors(case, trial.seed, 0)]
    sizes.material.extend(map(file.write, owner.public_material()))
    sizes.operands.extend(file.write(owner.dump(item, declared.compressions[0])) for item in ciphertexts)
    file.flush()
