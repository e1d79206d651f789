"""Hardware counters: names of events, answers of the kernel, formulas, and reasons where there are none."""

from __future__ import annotations

import errno
import os
from itertools import groupby
from pathlib import Path

import pytest
from processes import touch_new_pages

from ciphermark_core.metrics import METRICS
from ciphermark_measure.probes import counters
from ciphermark_measure.probes.counters import Counters, Event, Reading, decoded, derived, summed

VENDORS = ("AuthenticAMD", "GenuineIntel")
# Read from kernel 6.18 on x86-64, where these software events were enabled around 80.8 ms of work.
TASK_CLOCK = bytes.fromhex("b85bd00400000000b85bd00400000000b85bd00400000000")
PAGE_FAULTS = bytes.fromhex("1100000000000000b85bd00400000000b85bd00400000000")
NEVER_COUNTED = bytes(24)
# Software events take the same way through the kernel, on every host.
SOFTWARE = (Event(1, "task_clock", 1, 1), Event(1, "page_faults", 1, 2))


@pytest.mark.parametrize("vendor", VENDORS)
def test_groups_fit_the_counters_of_a_cpu(vendor: str) -> None:
    events = counters.events_of(vendor)
    assert [event.group for event in events] == sorted(event.group for event in events)
    for _, group in groupby(events, key=lambda event: event.group):
        assert len(list(group)) <= counters._MOST
    assert {"cycles", "instructions", "llc_misses", "fp_operations"} <= {event.name for event in events}
    assert {event.kind for event in events} <= {0, 3, 4}  # generic, cache, raw: <linux/perf_event.h>
    names = {metric.name for metric in Counters.metrics}
    assert {f"{event.name}_{mode}" for event in events for mode in ("user", "kernel")} <= names


def test_generic_events_have_the_numbers_of_the_kernel() -> None:
    """``enum perf_hw_id`` of <linux/perf_event.h>, the same for all vendors."""
    first = {"cycles": 0, "instructions": 1, "branches": 4, "branch_misses": 5}
    for vendor in VENDORS:
        assert {e.name: e.config for e in counters.events_of(vendor) if e.kind == 0} == first


def test_cache_events_are_cache_operation_and_result() -> None:
    """``enum perf_hw_cache_id``: L1D 0, L1I 1, DTLB 3, ITLB 4; reads; accesses 0, misses 1."""
    caches = {"l1d": 0, "l1i": 1, "dtlb": 3, "itlb": 4}
    for event in (e for vendor in VENDORS for e in counters.events_of(vendor) if e.kind == 3):
        cache, _, what = event.name.partition("_")
        assert event.config == caches[cache] | what.endswith("misses") << 16


def test_a_cpu_of_another_vendor_has_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "_vendor", lambda: "Elbrus")
    assert Counters().available() == "there are no event names for a CPU of Elbrus"


def test_answers_of_the_kernel_are_decoded() -> None:
    assert decoded(TASK_CLOCK) == Reading(80_763_832, 80_763_832, 80_763_832)
    assert decoded(PAGE_FAULTS).value == 17
    assert decoded(NEVER_COUNTED).value is None
    with pytest.raises(ValueError, match="16 bytes, not 24"):
        decoded(TASK_CLOCK[:16])


def test_a_counter_that_was_shared_is_scaled_up() -> None:
    both = summed([Reading(30, 100, 50), Reading(10, 100, 30)])
    assert both == Reading(40, 200, 80)
    assert both.value == 100


def test_formulas() -> None:
    values = {"instructions_user": 6e9, "cycles_user": 2e9, "llc_misses_user": 1e8, "fp_operations_user": 5e8}
    assert derived(values, 2.0) == {
        "ipc": 3.0,
        "instruction_rate": 3e9,
        "dram_bandwidth": 3.2e9,
        "fp_rate": 2.5e8,
    }
    assert derived({"instructions_user": 1.0, "cycles_user": 0.0}, 1.0) == {"instruction_rate": 1.0}
    assert derived({"instructions_kernel": 1.0, "cycles_kernel": 1.0}, 1.0) == {}


def _reason() -> str | None:
    try:
        os.close(counters.opened(SOFTWARE[0], "user", 0))
    except OSError as error:
        return error.strerror
    return None


needs_perf = pytest.mark.skipif(_reason() is not None, reason=f"perf_event_open: {_reason()}")


@needs_perf
def test_a_group_is_counted_around_a_span() -> None:
    """With software events. An event that the CPU lacks is left out."""
    probe = Counters([*SOFTWARE, Event(1, "absent", 4, 0xFFFF_FFFF)], "user")
    probe.start()
    touch_new_pages()
    values = probe.stop()
    assert values["task_clock_user"] > 0
    assert values["page_faults_user"] >= 4
    assert values["counters_running"] == values["counters_enabled"] > 0


@needs_perf
def test_nothing_stays_open() -> None:
    probe = Counters(SOFTWARE, "user")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        probe.start()
        probe.stop()
    assert len(os.listdir("/proc/self/fd")) == before


def test_each_group_has_both_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "_vendor", lambda: VENDORS[0])
    variants = Counters.variants()
    assert [probe._mode for probe in variants] == ["user", "kernel"] * 3
    assert {event.group for event in variants[2]._events} == {2}


@pytest.mark.parametrize(
    ("code", "mode", "expected"),
    [
        (errno.EACCES, "user", "kernel.perf_event_paranoid is 3; set it to 2 or less, or grant CAP_PERFMON"),
        (errno.EPERM, "kernel", "kernel.perf_event_paranoid is 3; set it to 1 or less, or grant CAP_PERFMON"),
        (errno.ENOENT, "user", "this host offers no hardware counters, as most virtual machines do"),
        (errno.EOPNOTSUPP, "user", "this host offers no hardware counters, as most virtual machines do"),
        (errno.ENOSYS, "user", "this kernel or container has no perf_event_open"),
        (errno.EMFILE, "user", "perf_event_open failed: Too many open files"),
    ],
)
def test_a_refusal_is_a_reason(
    code: int, mode: str, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    setting = tmp_path / "perf_event_paranoid"
    setting.write_text("3\n")
    monkeypatch.setattr(counters, "_PARANOID", setting)

    def refuse(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(counters, "opened", refuse)
    with pytest.raises(OSError) as refusal:  # noqa: PT011 - its text is what is looked at
        Counters(SOFTWARE, mode).start()
    assert expected in str(refusal.value.strerror)


def test_metrics_belong_to_the_probe() -> None:
    assert {METRICS[metric.name].probe for metric in Counters.metrics} == {"counters"}
