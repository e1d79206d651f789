"""The reference kernel's time on an undisturbed host: what workers and parties of a run tell each other, and a run
tells the next."""

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
# A host may be another machine tomorrow, or its firmware may let it run faster.
_VALID_S = 24 * 3600
_LOOK_S = 0.3


@dataclass(slots=True)
class ReferenceKernelBaseline:
    """The lowest reference-kernel baseline that is known, in nanoseconds."""

    ns: float | None = None

    def learn(self, facts: Mapping[str, float]) -> None:
        """Take in what a trial found, if it found anything."""
        found_s = facts.get("reference_kernel_s")
        if found_s is not None:
            self.hear(found_s * 1e9)

    def hear(self, found_ns: float) -> None:
        """Take in a level that was found elsewhere."""
        self.ns = min(found_ns, self.ns or math.inf)


def looked_for(
    folder: Path, cpu_model: str, clock: Callable[[], float] = time.time
) -> ReferenceKernelBaseline:
    """What earlier runs in a data directory found within a day, or what a moment of reading finds, if that is lower."""
    level = ReferenceKernelBaseline(remembered(folder, cpu_model, clock))
    if reference_kernel.reason_against() is None:
        level.hear(_read_ns())
    return level


def remember(
    folder: Path, cpu_model: str, level: ReferenceKernelBaseline, clock: Callable[[], float] = time.time
) -> None:
    """Tell the next run in this data directory; a folder that cannot be written is no reason to fail."""
    if level.ns is None:
        return
    entry = {"cpu_model": cpu_model, "kernel": reference_kernel.KERNEL, "ns": level.ns, "at": clock()}
    path = folder / _FILE
    partial = path.with_suffix(".part")
    try:
        partial.write_text(json.dumps(entry), encoding="utf-8")
        partial.replace(path)
    except OSError:
        with suppress(OSError):  # of a disk that cannot be written nothing can be removed either
            partial.unlink()


def remembered(folder: Path, cpu_model: str, clock: Callable[[], float] = time.time) -> float | None:
    """What earlier runs in a data directory found within a day."""
    try:
        entry = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        is_valid = (entry["cpu_model"], entry["kernel"]) == (cpu_model, reference_kernel.KERNEL)
        is_valid = is_valid and 0 <= clock() - float(entry["at"]) < _VALID_S
        ns = float(entry["ns"])
    except (OSError, ValueError, TypeError, KeyError):  # none yet, or not as it was written
        return None
    return ns if is_valid and ns > 0 else None


def _read_ns() -> float:
    """The level that the reference kernel has now, on the CPU that single-threaded workers are given."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})  # of this thread
    try:
        reader, readings = reference_kernel.ReferenceKernel(), []
        until = time.monotonic() + _LOOK_S
        while time.monotonic() < until:
            readings.append(reader.read_ns())
    finally:
        os.sched_setaffinity(0, allowed)
    return level_of(sorted(readings))
