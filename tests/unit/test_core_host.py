from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from ciphermark_core import host
from ciphermark_core.run import Host

UNDISTURBED = Host(
    fingerprint="f",
    hostname="bench",
    cpu_model="a CPU",
    cpu_flags=("avx2", "avx512f", "avx512ifma"),
    caches={"L1d": 32768},
    cores=4,
    memory_bytes=1 << 34,
    operating_system="an OS",
    kernel="6.1",
    governor="performance",
    turbo=False,
    smt=False,
    container=None,
    clock_source="tsc",
    clock_resolution_ns=1,
    clock_noise=0.01,
    load_1min=0.1,
)


def test_an_undisturbed_host_has_no_warnings():
    assert host.warnings(UNDISTURBED) == []


@pytest.mark.parametrize(
    ("spoiled", "words"),
    [
        ({"governor": "powersave"}, ["'powersave'", "frequencies change", "cpupower frequency-set"]),
        ({"governor": "schedutil"}, ["'schedutil'"]),
        ({"governor": None}, ["cannot be read", "virtual machine or container", "trust ratios"]),
        ({"turbo": True}, ["turbo is on", "switch it off"]),
        ({"smt": True}, ["SMT is on", "sibling"]),
        ({"load_1min": 2.1}, ["load is 2.1 on 4 cores", "stop other work"]),
        ({"clock_noise": 0.0501}, ["varies by 5%", "more samples"]),
        ({"clock_noise": 1.5}, ["varies by 150%"]),
        ({"clock_source": "hpet"}, ["'hpet'", "reading it is slow"]),
        ({"clock_source": "kvm-clock"}, ["'kvm-clock'"]),
        ({"cpu_flags": ("avx2",)}, ["AVX512-IFMA", "HEXL gains little"]),
    ],
)
def test_each_thing_that_spoils_measurements_is_told_once(spoiled, words):
    (warning,) = host.warnings(replace(UNDISTURBED, **spoiled))
    for word in words:
        assert word in warning


@pytest.mark.parametrize(
    "harmless",
    [
        {"turbo": None},
        {"smt": None},
        {"clock_source": "arch_sys_counter"},
        {"load_1min": 2.0},
        {"clock_noise": host.NOISE_LIMIT},
        {"container": "docker cpu.max=100000 100000"},
    ],
)
def test_what_is_unknown_or_at_the_limit_is_no_warning(harmless):
    assert host.warnings(replace(UNDISTURBED, **harmless)) == []


def test_several_troubles_give_several_warnings():
    spoiled = replace(
        UNDISTURBED, governor=None, turbo=True, smt=True, load_1min=9.0, clock_noise=0.5, cpu_flags=()
    )
    assert len(host.warnings(spoiled)) == 6


@pytest.mark.parametrize(
    ("threads", "cores", "beginning"),
    [
        ({1, 4}, 4, None),
        ({1, 8}, 4, "8 threads on 4 cores: "),
        ({16, 1, 8}, 4, "8, 16 threads on 4 cores: "),
        ({2}, 1, "2 threads on 1 core: "),
        (set(), 1, None),
    ],
)
def test_more_threads_than_cores_are_warned_of(threads, cores, beginning):
    found = host.thread_warning(threads, cores)
    assert found is None if beginning is None else found.startswith(beginning)


def test_the_facts_of_this_host():
    facts = host.collect()
    assert facts.cores == len(os.sched_getaffinity(0))
    assert facts.memory_bytes > 1 << 28
    assert facts.cpu_model
    assert facts.kernel == os.uname().release
    assert facts.hostname == os.uname().nodename
    assert facts.clock_resolution_ns >= 1
    assert facts.clock_noise >= 0
    assert list(facts.cpu_flags) == sorted(facts.cpu_flags)
    # What the minute before did is no caveat where it has ended.
    assert [
        told for told in host.warnings(facts) if told not in facts.warnings and "load is" not in told
    ] == []
    assert set(facts.warnings) <= set(host.warnings(facts))


@pytest.mark.parametrize(
    ("busy", "is_told"), [(None, True), (0.0, False), (1.0, False), (1.1, True), (4.0, True)]
)
def test_a_load_that_has_ended_is_no_warning(busy, is_told):
    loaded = replace(UNDISTURBED, load_1min=9.0)
    assert any("load is 9.0" in told for told in host.warnings(loaded, busy)) is is_told
    assert host.warnings(UNDISTURBED, busy) == []


def test_busy_cores_are_those_that_work_now():
    spinning = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        deadline = time.monotonic() + 60
        while (host.busy_cores() or 0.0) < 0.3:  # it gets less where others take turns with it
            assert time.monotonic() < deadline
    finally:
        spinning.kill()
        spinning.wait()
    assert 0 <= host.busy_cores() <= os.cpu_count() + 1


def test_where_the_kernel_does_not_tell_nothing_is_said_of_busy_cores(monkeypatch, tmp_path):
    monkeypatch.setattr(host, "_STAT", tmp_path / "stat")
    assert host.busy_cores(0.01) is None
    (tmp_path / "stat").write_text("cpu 1 2\n")
    assert host.busy_cores(0.01) is None


def test_the_fingerprint_is_that_of_lasting_facts():
    """A host keeps its fingerprint whatever the load is, or no run could be resumed."""
    first, second = host.collect(), host.collect()
    assert len(first.fingerprint) == 16
    assert first.fingerprint == second.fingerprint


@pytest.mark.parametrize(
    ("files", "memory_bytes"),
    [
        ({}, 1 << 34),
        ({"memory.max": "max\n"}, 1 << 34),
        ({"memory.max": "314572800\n"}, 314572800),
        ({"memory.limit_in_bytes": "314572800\n"}, 314572800),
        ({"memory.limit_in_bytes": "9223372036854771712\n"}, 1 << 34),
    ],
)
def test_a_container_has_no_more_memory_than_its_limit(files, memory_bytes, tmp_path, monkeypatch):
    names = ("memory.max", "memory.limit_in_bytes")
    monkeypatch.setattr(host, "_MEMORY_LIMITS", tuple(tmp_path / name for name in names))
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert host._memory_bytes(1 << 34) == memory_bytes
