"""Facts about the host, read from the kernel's files, and sources of measurement error."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from statistics import median

from ciphermark_core.run import Host

_CPU = Path("/sys/devices/system/cpu")
# The memory limit of a container as its processes see it: version 2 of control groups, and version 1.
_MEMORY_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
# Relative spread of a fixed piece of work above which the clock or the CPU is called noisy.
NOISE_LIMIT = 0.05
_LOAD_LIMIT = 0.5  # load per core; half of that for the share of cores busy at this moment
_STAT = Path("/proc/stat")
# The columns of its first line, in ticks, in which a core worked for processes or the kernel.
_WORKING = {"user": 0, "nice": 1, "system": 2, "irq": 5, "softirq": 6}


def collect() -> Host:
    """Read all facts, and add warnings. Takes about 0.1 s, mostly the noise probe; 0.3 s more on a loaded host."""
    cpuinfo = _cpuinfo()
    cores = len(os.sched_getaffinity(0))
    facts = Host(
        fingerprint="",
        hostname=platform.node(),
        cpu_model=cpuinfo.get("model name", platform.machine()),
        cpu_flags=tuple(sorted(cpuinfo.get("flags", "").split())),
        caches=caches(),
        cores=cores,
        memory_bytes=memory_bytes(),
        operating_system=_operating_system(),
        kernel=platform.release(),
        governor=_text(_CPU / "cpu0/cpufreq/scaling_governor"),
        turbo=_turbo(),
        smt=_flag(_CPU / "smt/active"),
        container=_container(),
        clock_source=_text(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        clock_resolution_ns=round(time.get_clock_info("perf_counter").resolution * 1e9) or 1,
        clock_noise=clock_noise(),
        load_1min=os.getloadavg()[0],
    )
    identity = (facts.cpu_model, facts.cores, facts.memory_bytes >> 30, facts.kernel, facts.hostname)
    fingerprint = hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
    busy = busy_cores() if _is_loaded(facts) else None
    return replace(facts, fingerprint=fingerprint, warnings=tuple(warnings(facts, busy)))


def memory_bytes() -> int:
    """Return the memory of this host, or of this container where it is smaller."""
    return _memory_bytes(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def machine() -> str | None:
    """Return an id of this boot of the machine, the same in all its containers; ``None`` where the kernel has none."""
    boot_id = _text(Path("/proc/sys/kernel/random/boot_id"))
    return hashlib.sha256(boot_id.encode()).hexdigest()[:16] if boot_id else None


def warnings(host: Host, busy: float | None = None) -> list[str]:
    """Return the sources of measurement error on a host, each with a remedy. Pure.

    ``busy`` is the result of :func:`busy_cores`, where it was called. A load average whose cause has ended, such as a
    setup just before, is no source of error.
    """
    messages = []
    if host.governor not in (None, "performance"):
        messages.append(
            f"the CPU governor is {host.governor!r}: frequencies change while you measure; "
            "set it to 'performance' (cpupower frequency-set -g performance)"
        )
    if host.governor is None:
        messages.append(
            "the CPU governor cannot be read (virtual machine or container): "
            "frequencies are out of your control; trust ratios, not times"
        )
    if host.turbo:
        messages.append("turbo is on: times depend on temperature and on the other cores; switch it off")
    if host.smt:
        messages.append(
            "SMT is on: a sibling thread can halve your core; leave siblings idle or switch it off"
        )
    if _is_loaded(host) and (busy is None or busy > 0.5 * _LOAD_LIMIT * host.cores):
        messages.append(f"load is {host.load_1min:.1f} on {host.cores} cores: stop other work first")
    if host.clock_noise > NOISE_LIMIT:
        messages.append(
            f"equal work varies by {host.clock_noise:.0%}: "
            "noisy neighbors or an unstable clock; request more samples"
        )
    if host.clock_source not in (None, "tsc", "arch_sys_counter"):
        messages.append(
            f"the clock source is {host.clock_source!r}, not the CPU's own counter: reading it is slow"
        )
    if "avx512ifma" not in host.cpu_flags:
        messages.append("this CPU lacks AVX512-IFMA: Intel HEXL gains little here")
    return messages


def thread_warning(threads: Collection[int], cores: int) -> str | None:
    """Return a warning where some of these thread counts exceed the cores, else ``None``. Pure."""
    too_many = sorted({count for count in threads if count > cores})
    if not too_many:
        return None
    counts = ", ".join(map(str, too_many))
    return (
        f"{counts} threads on {cores} {'core' if cores == 1 else 'cores'}: their times would "
        f"include waiting for each other; request at most {cores}, or use a larger host"
    )


def clock_noise(repeats: int = 60, work: int = 20_000) -> float:
    """Relative spread of the times of fixed work: (90th percentile − minimum) / median."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter_ns()
        sum(range(work))
        times.append(time.perf_counter_ns() - start)
    times.sort()
    return (times[int(0.9 * repeats)] - times[0]) / median(times)


def busy_cores(seconds: float = 0.3) -> float | None:
    """Return the mean number of busy cores while this process sleeps; ``None`` where the kernel reports none."""
    start, before = time.monotonic(), _worked_ticks()
    time.sleep(seconds)
    after, end = _worked_ticks(), time.monotonic()
    if before is None or after is None:
        return None
    return (after - before) / os.sysconf("SC_CLK_TCK") / (end - start)


def _worked_ticks() -> int | None:
    words = (_text(_STAT) or "").partition("\n")[0].split()[1:]
    if len(words) <= max(_WORKING.values()):
        return None
    return sum(int(words[place]) for place in _WORKING.values())


def _is_loaded(host: Host) -> bool:
    return host.load_1min > _LOAD_LIMIT * host.cores


def _cpuinfo() -> dict[str, str]:
    text = _text(Path("/proc/cpuinfo")) or ""
    lines = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    return {key.strip(): value.strip() for key, _, value in lines}


def _memory_bytes(installed_bytes: int) -> int:
    """The memory available to processes: the machine's, or less in a container with a limit."""
    limits = [int(text) for path in _MEMORY_LIMITS if (text := _text(path) or "").isdecimal()]
    return min([installed_bytes, *limits])


def caches() -> dict[str, int]:
    """Sizes in bytes of the first core's caches: {"L1d": …, "L2": …}."""
    sizes = {}
    for index in sorted((_CPU / "cpu0/cache").glob("index*")):
        level, kind, size = (_text(index / name) for name in ("level", "type", "size"))
        if level and kind and size and size.endswith("K"):
            suffix = {"Data": "d", "Instruction": "i"}.get(kind, "")
            sizes[f"L{level}{suffix}"] = int(size[:-1]) * 1024
    return sizes


def _operating_system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def _turbo() -> bool | None:
    no_turbo = _flag(_CPU / "intel_pstate/no_turbo")
    return _flag(_CPU / "cpufreq/boost") if no_turbo is None else not no_turbo


def _container() -> str | None:
    """Kind of container and its limits, where the kernel shows them."""
    kind = "docker" if Path("/.dockerenv").exists() else None
    limits = [
        f"{name}={value}"
        for name in ("cpu.max", "memory.max")
        if (value := _text(Path("/sys/fs/cgroup") / name)) and not value.startswith("max")
    ]
    return " ".join(filter(None, [kind, *limits])) or None


def _flag(path: Path) -> bool | None:
    text = _text(path)
    return None if text is None else text == "1"


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
