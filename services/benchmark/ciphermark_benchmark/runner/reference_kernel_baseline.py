"""The reference kernel's time on an undisturbed host, shared between workers and parties of a run
and with later runs.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ciphermark_measure.interference import reference_kernel
from ciphermark_measure.interference.host_state import level_of

_FILE = "reference_kernel.json"
# The host may be another machine tomorrow, or its firmware may raise its clock.
_VALID_S = 24 * 3600
_LOOK_S = 0.3


@dataclass(slots=True)
class ReferenceKernelBaseline:
    """The lowest known reference-kernel baseline, in nanoseconds."""

    ns: float | None = None

    def learn(self, facts: Mapping[str, float]) -> None:
        """Update the baseline from a trial's facts, if they have one."""
        found_s = facts.get("reference_kernel_s")
        if found_s is not None:
            self.hear(found_s * 1e9)

    def hear(self, found_ns: float) -> None:
        """Update the baseline by a measurement from elsewhere."""
        self.ns = min(found_ns, self.ns or math.inf)


def looked_for(
    folder: Path, cpu_model: str, clock: Callable[[], float] = time.time
) -> ReferenceKernelBaseline:
    """The minimum of the baseline of earlier runs in a data directory within a day and of a short measurement."""
    level = ReferenceKernelBaseline(remembered(folder, cpu_model, clock))
    if reference_kernel.reason_against() is None:
        level.hear(_read_ns())
    return level


def now_s() -> float | None:
    """The shortest time of the reference kernel in a short measurement, which a changed clock changes, and others'
    work hardly does; ``None`` where the kernel is unavailable.
    """
    return None if reference_kernel.reason_against() else min(_readings()) / 1e9


def remember(
    folder: Path, cpu_model: str, level: ReferenceKernelBaseline, clock: Callable[[], float] = time.time
) -> None:
    """Store the baseline for later runs in this data directory; a read-only folder is ignored."""
    if level.ns is None:
        return
    entry = {"cpu_model": cpu_model, "kernel": reference_kernel.KERNEL, "ns": level.ns, "at": clock()}
    path = folder / _FILE
    partial = path.with_suffix(".part")
    try:
        partial.write_text(json.dumps(entry), encoding="utf-8")
        partial.replace(path)
    except OSError:
        with suppress(OSError):  # a read-only disk prevents removal, too
            partial.unlink()


def remembered(folder: Path, cpu_model: str, clock: Callable[[], float] = time.time) -> float | None:
    """The baseline of earlier runs in a data directory within a day, if any."""
    try:
        entry = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        is_valid = (entry["cpu_model"], entry["kernel"]) == (cpu_model, reference_kernel.KERNEL)
        is_valid = is_valid and 0 <= clock() - float(entry["at"]) < _VALID_S
        ns = float(entry["ns"])
    except (OSError, ValueError, TypeError, KeyError):  # missing or damaged
        return None
    return ns if is_valid and ns > 0 else None


def _read_ns() -> float:
    """The current reference-kernel baseline."""
    return level_of(sorted(_readings()))


def _readings() -> list[int]:
    """Times of the reference kernel in nanoseconds, on the CPU for single-threaded workers."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})  # of this thread
    try:
        reader, readings = reference_kernel.ReferenceKernel(), []
        until = time.monotonic() + _LOOK_S
        while time.monotonic() < until:
            readings.append(reader.read_ns())
    finally:
        os.sched_setaffinity(0, allowed)
    return readings
