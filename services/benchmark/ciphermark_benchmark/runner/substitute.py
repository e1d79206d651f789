"""Instructions of one call by callgrind, where a host has no hardware counters."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

import msgspec

from ciphermark_adapters import registry
from ciphermark_core.containment import Limits
from ciphermark_core.model import Case, Sample
from ciphermark_measure import protocol
from ciphermark_measure.experiments import KINDS
from ciphermark_measure.experiments.base import Sampled
from ciphermark_measure.instruction_count import counted, small
from ciphermark_measure.probes.counters import CALLGRIND, COUNTERS
from ciphermark_measure.processes import executed

_LIMITS = Limits(180.0, 8192)


def with_substitute(profile: protocol.Profiled, case: Case) -> protocol.Profiled:
    """The profile with the instructions of one call if it has no counters, and the reason says so."""
    if COUNTERS not in profile.unmeasured or not _is_one_call(case):
        return profile
    own = small(case)
    count, words = _counted(msgspec.json.encode(own).decode())
    reason = f"{profile.unmeasured[COUNTERS]}; {words} at N = {own.parameters.ring_dimension}"
    samples = () if count is None else (Sample(CALLGRIND.name, float(count), "evaluate"),)
    return protocol.Profiled(
        (*profile.samples, *samples), {**profile.unmeasured, COUNTERS: reason}, profile.stacks
    )


def _is_one_call(case: Case) -> bool:
    kind = KINDS.get(case.experiment)
    return kind is not None and issubclass(kind.experiment, Sampled) and not kind.varied


@cache
def _counted(case: str) -> tuple[int | None, str]:
    """The instructions of one call of a case, given as JSON, and words about them: once for cases that differ in more
    than that.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return None, "valgrind, which counts instructions, is not installed: no substitute"
    variant = msgspec.json.decode(case, type=Case).variant
    with tempfile.TemporaryDirectory(prefix="ciphermark-callgrind-") as folder:
        command = ["env", "OMP_NUM_THREADS=1", valgrind, "--tool=callgrind", "--instr-atstart=no"]
        command += [f"--callgrind-out-file={folder}/callgrind", registry.interpreter(variant)]
        command += ["-m", "ciphermark_measure.instruction_count", "--case", case]
        try:
            executed(command, _LIMITS)
            return counted(Path(folder)), "substitute: exact instructions of one call by callgrind"
        except (TimeoutError, MemoryError) as error:
            return None, f"callgrind counts no instructions ({error}): no substitute"
        except (OSError, ValueError, StopIteration):
            return None, "valgrind cannot execute this library: no substitute"
