"""Hardware counters of this process, by perf_event_open(2), around the loop that holds the clock.

``events/`` has a file for each vendor. Events of a group are counted together; each group has repetitions of its own,
once for user mode and once for kernel mode. Nothing is multiplexed, as a rule: a group has at most four events.
"""

from __future__ import annotations

import csv
import ctypes
import errno
import fcntl
import os
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter_ns

from ciphermark_core.metrics import Metric, register
from ciphermark_measure.probes.base import Probe

COUNTERS = "counters"
_EVENTS = Path(__file__).with_name("events")
_MODES = {"user": 1 << 5, "kernel": 1 << 4}  # exclude_kernel, exclude_user
_MOST = 4  # events of a group
_LINE_BYTES = 64
_SYSTEM_CALL = {"x86_64": 298, "aarch64": 241}
# struct perf_event_attr, PERF_ATTR_SIZE_VER0: type, size, config, sample period and type, read format, flags, wakeup,
# breakpoint, config1.
_ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")
_TIMES = 1 | 2  # PERF_FORMAT_TOTAL_TIME_ENABLED, _RUNNING
_READING = struct.Struct("=QQQ")
_DISABLED, _INHERIT, _NO_HYPERVISOR, _CLOSE_ON_EXEC = 1 << 0, 1 << 1, 1 << 6, 8
_ENABLE, _DISABLE, _WHOLE_GROUP = 0x2400, 0x2401, 1
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_CPUS = Path("/proc/cpuinfo")


@dataclass(frozen=True, slots=True)
class Event:
    """A row of a vendor's file: its group, and type and config of ``perf_event_attr``."""

    group: int
    name: str
    kind: int
    config: int


def events_of(vendor: str, folder: Path = _EVENTS) -> list[Event]:
    """The events of a vendor, as /proc/cpuinfo names it; empty for one without a file."""
    path = folder / f"{vendor}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Event(int(row["group"]), row["event"], int(row["type"]), int(row["config"], 0))
            for row in csv.DictReader(file)
        ]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the kernel answers for one event: its count, and the nanoseconds that it was enabled and counting."""

    count: int
    enabled_ns: int
    running_ns: int

    @property
    def value(self) -> float | None:
        """The count, scaled up if the counter was shared for a part of the time; ``None`` if it never counted."""
        return self.count * (self.enabled_ns / self.running_ns) if self.running_ns else None


def decoded(answer: bytes) -> Reading:
    """An answer of read(2); raises ``ValueError`` for another length."""
    if len(answer) != _READING.size:
        raise ValueError(f"the kernel answered {len(answer)} bytes, not {_READING.size}")
    return Reading(*_READING.unpack(answer))


def summed(readings: Sequence[Reading]) -> Reading:
    """The readings of one event in several threads: their counts together, and the times of all of them."""
    return Reading(
        sum(item.count for item in readings),
        sum(item.enabled_ns for item in readings),
        sum(item.running_ns for item in readings),
    )


def derived(values: Mapping[str, float], seconds: float) -> dict[str, float]:
    """What follows from counts in user mode, per second of wall time."""
    rates = {
        "instruction_rate": ("instructions_user", 1.0),
        "dram_bandwidth": ("llc_misses_user", float(_LINE_BYTES)),
        "fp_rate": ("fp_operations_user", 1.0),
    }
    found = {
        name: factor * values[count] / seconds for name, (count, factor) in rates.items() if count in values
    }
    if values.get("cycles_user") and "instructions_user" in values:
        found["ipc"] = values["instructions_user"] / values["cycles_user"]
    return found


def _names() -> list[str]:
    events = [event for path in sorted(_EVENTS.glob("*.csv")) for event in events_of(path.stem)]
    return list(dict.fromkeys(event.name for event in events))


def _rate(name: str, unit: str, label: str, sentence: str) -> Metric:
    return register(Metric(name, unit, None, 1.0, label, sentence, adds_up=False, probe=COUNTERS))


def _metrics() -> tuple[Metric, ...]:
    counts = [
        register(
            Metric(
                f"{name}_{mode}",
                "events",
                None,
                1.0,
                f"{name.replace('_', ' ')}, {mode}",
                f"Hardware event {name.replace('_', ' ')} in {mode} mode.",
                probe=COUNTERS,
            )
        )
        for name in _names()
        for mode in _MODES
    ]
    rates = [
        _rate("ipc", "ratio", "IPC", "Instructions / cycles, in user mode."),
        _rate("instruction_rate", "1/s", "instructions per second", "Instructions in user mode / wall time."),
        _rate(
            "dram_bandwidth", "bytes/s", "memory traffic", "64 bytes × LLC misses in user mode / wall time."
        ),
        _rate("fp_rate", "1/s", "floating-point rate", "Floating-point operations in user mode / wall time."),
    ]
    times = [
        register(Metric(name, "s", None, 1.0, label, sentence, adds_up=False, probe=COUNTERS))
        for name, label, sentence in (
            ("counters_enabled", "counters enabled", "Time for which a group of counters was enabled."),
            (
                "counters_running",
                "counters counting",
                "Time for which it counted: less if it was multiplexed.",
            ),
        )
    ]
    return (*counts, *rates, *times)


CALLGRIND = register(
    Metric(
        "callgrind_instructions",
        "events",
        "lower",
        1.01,
        "instructions, callgrind",
        "Substitute for counters: exact instructions of one call at a small N, without AVX-512.",
        probe=COUNTERS,
    )
)


class Counters(Probe):
    """One group of events in one mode. Threads that the process has are counted, and those that they start."""

    asked_as = COUNTERS
    metrics = _metrics()
    spans = frozenset({"profile"})
    region_s = 0.05
    repetitions = 3

    def __init__(self, events: Sequence[Event] = (), mode: str = "user") -> None:
        self._events = events
        self._mode = mode
        self._open: dict[str, list[int]] = {}
        self._leaders: list[int] = []
        self._start_ns = 0

    @classmethod
    def variants(cls) -> Sequence[Counters]:
        """See :meth:`Probe.variants`: each group in each mode."""
        events = events_of(_vendor())
        groups = [
            [each for each in events if each.group == group] for group in {each.group for each in events}
        ]
        return [cls(group, mode) for group in groups for mode in _MODES]

    def available(self) -> str | None:
        """See :meth:`Probe.available`. Opens the first group in user mode."""
        first = next(iter(self.variants()), None)
        if first is None:
            return f"there are no event names for a CPU of {_vendor() or 'an unknown vendor'}"
        try:
            first.start()
        except OSError as error:
            return error.strerror
        first.stop()
        return None

    def start(self) -> None:
        """See :meth:`Probe.start`. An event that this CPU lacks is left out. Raises ``OSError`` with the reason if
        there is none.
        """
        refusal = None
        for thread in map(int, os.listdir("/proc/self/task")):
            leader = -1
            for event in self._events:
                try:
                    file = opened(event, self._mode, thread, leader)
                except OSError as error:
                    refusal = error
                    continue
                self._open.setdefault(event.name, []).append(file)
                if leader < 0:
                    leader = file
                    self._leaders.append(file)
        if not self._open:
            assert refusal is not None
            raise OSError(refusal.errno, reason(refusal, self._mode))
        for leader in self._leaders:
            fcntl.ioctl(leader, _ENABLE, _WHOLE_GROUP)
        self._start_ns = perf_counter_ns()

    def stop(self) -> Mapping[str, float]:
        seconds = (perf_counter_ns() - self._start_ns) / 1e9
        for leader in self._leaders:
            fcntl.ioctl(leader, _DISABLE, _WHOLE_GROUP)
        readings = {
            name: summed([decoded(os.read(file, _READING.size)) for file in files])
            for name, files in self._open.items()
        }
        for file in (file for files in self._open.values() for file in files):
            os.close(file)
        self._open, self._leaders = {}, []
        values = {
            f"{name}_{self._mode}": reading.value
            for name, reading in readings.items()
            if reading.value is not None
        }
        first = next(iter(readings.values()))
        times = {"counters_enabled": first.enabled_ns / 1e9, "counters_running": first.running_ns / 1e9}
        return values | derived(values, seconds) | times


def opened(event: Event, mode: str, thread: int, leader: int = -1) -> int:
    """The file of an event of one thread, in the group of ``leader``. Raises ``OSError`` like the system call."""
    flags = _INHERIT | _NO_HYPERVISOR | _MODES[mode] | (_DISABLED if leader < 0 else 0)
    attributes = _ATTRIBUTES.pack(event.kind, _ATTRIBUTES.size, event.config, 0, 0, _TIMES, flags, 0, 0, 0)
    number = _SYSTEM_CALL.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    library = ctypes.CDLL(None, use_errno=True)
    file = library.syscall(number, attributes, thread, -1, leader, _CLOSE_ON_EXEC)
    if file < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(file)


def reason(refusal: OSError, mode: str) -> str:
    """What a refusal of the kernel means, and what helps. Pure but for the setting that it names."""
    if refusal.errno in (errno.EACCES, errno.EPERM):
        setting = _PARANOID.read_text().strip() if _PARANOID.exists() else "unknown"
        most = {"user": 2, "kernel": 1}[mode]
        return (
            f"no right to count in {mode} mode: kernel.perf_event_paranoid is {setting}; set it to {most} or less, or "
            "grant CAP_PERFMON"
        )
    if refusal.errno in (errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV):
        return "this host offers no hardware counters, as most virtual machines do"
    if refusal.errno == errno.ENOSYS:
        return "this kernel or container has no perf_event_open"
    return f"perf_event_open failed: {refusal.strerror}"


@cache
def _vendor() -> str:
    text = _CPUS.read_text(errors="replace") if _CPUS.exists() else ""
    lines = (line.partition(":") for line in text.splitlines())
    return next((value.strip() for name, _, value in lines if name.strip() == "vendor_id"), "")
