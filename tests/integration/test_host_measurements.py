"""What the runs of a host have measured, from the database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ciphermark_benchmark import archive, reference_runs
from ciphermark_benchmark.data_directory import DataDirectory
from ciphermark_benchmark.runner import host_measurements
from ciphermark_benchmark.suite.estimate import NOTHING


def test_keys_and_costs_are_those_of_the_host(reference: Callable[..., str], tmp_path: Path) -> None:
    """Of the reference run: keys of SEAL on several parameter sets, and the times of reading and writing."""
    header, _ = archive.read(reference_runs.FOLDER / "quick.jsonl.xz")
    data_directory, host = DataDirectory(tmp_path, reference("quick")), header.run.host
    found = host_measurements.of_host(data_directory, host, ["seal", "seal@again", "helib"])
    assert {"seal", "seal-hexl", "pyfhel"} <= found.key_factors.keys()
    assert all(0.1 < factor < 10 for factor in found.key_factors.values())
    assert found.costs.keys() <= {"seal"}
    other = host_measurements.of_host(data_directory, replace(host, fingerprint="other"), ["seal"])
    assert other == NOTHING


def test_without_a_database_nothing_is_measured(tmp_path: Path) -> None:
    """And no server is started."""
    header, _ = archive.read(reference_runs.FOLDER / "quick.jsonl.xz")
    host = header.run.host
    assert host_measurements.of_host(DataDirectory(tmp_path, None), host, ["seal"]) == NOTHING
    assert not [*tmp_path.iterdir()]
    away = DataDirectory(tmp_path, "postgresql://localhost:1/none")
    assert host_measurements.of_host(away, host, ["seal"]) == NOTHING
