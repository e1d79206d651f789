"""What a run knows of the undisturbed host when it begins, and tells the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ciphermark_benchmark.runner import reference_kernel_baseline
from ciphermark_benchmark.runner.reference_kernel_baseline import ReferenceKernelBaseline
from ciphermark_measure.interference import reference_kernel

NOW = 1_000_000.0


@pytest.fixture(autouse=True)
def readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host is slow at present: the reference kernel takes 90 ns."""
    monkeypatch.setattr(reference_kernel_baseline, "_read_ns", lambda: 90.0)


def at(folder: Path, cpu_model: str = "a", later_s: float = 0.0) -> float | None:
    return reference_kernel_baseline.looked_for(folder, cpu_model, lambda: NOW + later_s).ns


def tell(folder: Path, ns: float | None) -> None:
    reference_kernel_baseline.remember(folder, "a", ReferenceKernelBaseline(ns), lambda: NOW)


def test_a_run_begins_with_what_the_one_before_found(tmp_path: Path) -> None:
    assert at(tmp_path) == 90.0
    tell(tmp_path, 50.0)
    assert at(tmp_path) == at(tmp_path, later_s=3600) == 50.0


def test_a_lower_reading_counts_at_once(tmp_path: Path) -> None:
    tell(tmp_path, 95.0)
    assert at(tmp_path) == 90.0


def test_another_cpu_another_day_or_another_kernel_is_another_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(tmp_path, 50.0)
    assert at(tmp_path, cpu_model="b") == 90.0
    assert at(tmp_path, later_s=25 * 3600) == 90.0
    assert at(tmp_path, later_s=-60) == 90.0  # a clock that was set back
    monkeypatch.setattr(reference_kernel, "KERNEL", -1)
    assert at(tmp_path) == 90.0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cpu_model": "a"}', "not JSON", '"a"'])
def test_what_cannot_be_read_is_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "reference_kernel.json").write_text(text)
    assert at(tmp_path) == 90.0


def test_a_folder_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    tell(tmp_path / "gone", 50.0)
    tell(tmp_path, None)
    assert at(tmp_path) == 90.0
    assert list(tmp_path.iterdir()) == []


def test_the_level_is_the_lowest_that_anybody_found() -> None:
    level = ReferenceKernelBaseline()
    level.learn({})
    assert level.ns is None
    for found_s in (70e-9, 60e-9, 80e-9):
        level.learn({"reference_kernel_s": found_s})
    assert level.ns == pytest.approx(60.0)


def test_the_reference_kernel_is_read_where_workers_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    allowed = reference_kernel_baseline.os.sched_getaffinity(0)
    level = reference_kernel_baseline.ReferenceKernelBaseline()
    if reference_kernel.reason_against() is None:
        level.hear(reference_kernel_baseline._read_ns())
        assert level.ns is not None
        assert level.ns > 0
    assert reference_kernel_baseline.os.sched_getaffinity(0) == allowed
