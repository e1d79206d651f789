"""Energy of the CPU packages, by RAPL through powercap, around regions of at least a second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter, sleep

from ciphermark_core.metrics import Metric, register
from ciphermark_measure.probes.base import Probe

_NAME = "energy"
ROOT = Path("/sys/class/powercap")
IDLE_S = 60.0


def _joules(name: str, label: str, sentence: str) -> Metric:
    return register(Metric(name, "J", None, 1.0, label, sentence, probe=_NAME))


@dataclass(frozen=True, slots=True)
class Package:
    """A package of CPUs: its file of microjoules, and the largest number in it, after which it begins at 0 again."""

    energy: Path
    most_uj: int

    def read_uj(self) -> int:
        """The energy so far, from an arbitrary beginning. Raises ``OSError`` without the right to read it."""
        return int(self.energy.read_text())

    def between_uj(self, before: int, after: int) -> int:
        """The energy between two readings less than one turn of the counter apart."""
        return after - before if after >= before else after - before + self.most_uj


def packages(root: Path) -> list[Package]:
    """The packages below a folder of powercap, without their parts such as cores."""
    zones = sorted(root.glob("intel-rapl:*")) if root.is_dir() else []
    return [
        Package(zone / "energy_uj", int((zone / "max_energy_range_uj").read_text()))
        for zone in zones
        if (zone / "name").read_text().startswith("package")
    ]


class Energy(Probe):
    """Joules of all packages for all processes, and the rest after those of an idle host in the same time."""

    asked_as = _NAME
    metrics = (
        _joules("package_energy", "package energy", "Energy of all CPU packages, idle power included."),
        _joules("dynamic_energy", "dynamic energy", "Energy of all CPU packages less that of an idle host."),
        register(
            Metric("idle_power", "W", None, 1.0, "idle power", "Idle power.", adds_up=False, probe=_NAME)
        ),
    )
    spans = frozenset({"profile"})
    region_s = 1.0
    repetitions = 3

    def __init__(self) -> None:
        self._packages: list[Package] = []
        self._before: list[int] = []
        self._start = 0.0

    def available(self) -> str | None:
        """See :meth:`Probe.available`. Reads every package once."""
        try:
            found = packages(ROOT)
            for package in found:
                package.read_uj()
        except PermissionError:
            return f"only root may read the energy counters below {ROOT}"
        except OSError as error:
            return f"the energy counters below {ROOT} cannot be read: {error.strerror}"
        return None if found else f"this host has no energy counters of packages below {ROOT}"

    def start(self) -> None:
        """See :meth:`Probe.start`. The first one measures the idle power for a minute."""
        idle_w(ROOT)
        self._packages = packages(ROOT)
        self._before = [package.read_uj() for package in self._packages]
        self._start = perf_counter()

    def stop(self) -> Mapping[str, float]:
        lasted_s = perf_counter() - self._start
        joules = _between(self._packages, self._before)
        idle = idle_w(ROOT)
        return {"package_energy": joules, "dynamic_energy": joules - idle * lasted_s, "idle_power": idle}


def _between(every: list[Package], before: list[int]) -> float:
    now = zip(every, before, strict=True)
    return sum(package.between_uj(start, package.read_uj()) for package, start in now) / 1e6


@cache
def idle_w(root: Path) -> float:
    """The power of all packages while this process sleeps, once in a process."""
    every = packages(root)
    before, start = [package.read_uj() for package in every], perf_counter()
    sleep(IDLE_S)
    return _between(every, before) / (perf_counter() - start)
