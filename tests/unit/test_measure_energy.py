"""Energy of packages, read from a planted tree of powercap."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ciphermark_measure.probes import energy
from ciphermark_measure.probes.energy import Energy, Package, packages

MOST_UJ = 1_000_000_000


def plant(root: Path, zone: str, name: str, energy_uj: int) -> Path:
    folder = root / zone
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / "max_energy_range_uj").write_text(f"{MOST_UJ}\n")
    (folder / "energy_uj").write_text(f"{energy_uj}\n")
    return folder / "energy_uj"


class World:
    """Two packages, of which the second is about to turn over, and a clock."""

    def __init__(self, root: Path) -> None:
        self.files = {
            plant(root, "intel-rapl:0", "package-0", 5_000_000): 5_000_000,
            plant(root, "intel-rapl:1", "package-1", MOST_UJ - 1_000_000): MOST_UJ - 1_000_000,
        }
        plant(root, "intel-rapl:0:0", "core", 77)
        plant(root, "intel-rapl:2", "psys", 77)
        self.now_s = 100.0

    def spend(self, seconds: float, watts: float) -> None:
        self.now_s += seconds
        for file in self.files:
            self.files[file] = (self.files[file] + round(seconds * watts * 1e6)) % MOST_UJ
            file.write_text(f"{self.files[file]}\n")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    world = World(tmp_path)
    monkeypatch.setattr(energy, "ROOT", tmp_path)
    monkeypatch.setattr(energy, "perf_counter", lambda: world.now_s)
    monkeypatch.setattr(energy, "sleep", lambda seconds: world.spend(seconds, 10.0))
    energy.idle_w.cache_clear()
    yield world
    energy.idle_w.cache_clear()


def test_packages_alone_are_counted(world: World) -> None:
    assert [package.read_uj() for package in packages(energy.ROOT)] == [5_000_000, MOST_UJ - 1_000_000]


def test_a_counter_that_turned_over_goes_on() -> None:
    package = Package(Path("unread"), MOST_UJ)
    assert package.between_uj(MOST_UJ - 10, 32) == 42
    assert package.between_uj(10, 32) == 22


def test_joules_of_a_region_and_those_above_idle(world: World) -> None:
    probe = Energy()
    assert probe.available() is None
    probe.start()
    world.spend(2.0, 35.0)
    assert probe.stop() == pytest.approx(
        {"package_energy": 140.0, "dynamic_energy": 100.0, "idle_power": 20.0}
    )
    assert Energy.region_s >= 1


def test_the_idle_power_is_measured_once(world: World) -> None:
    for _ in range(3):
        probe = Energy()
        probe.start()
        probe.stop()
    assert world.now_s == pytest.approx(100.0 + energy.IDLE_S)


def test_a_host_without_powercap_gives_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energy, "ROOT", tmp_path / "none")
    assert Energy().available() == f"this host has no energy counters of packages below {tmp_path}/none"


def test_a_file_that_only_root_may_read_gives_the_reason(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(package: Package) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Package, "read_uj", refuse)
    assert Energy().available() == f"only root may read the energy counters below {energy.ROOT}"
