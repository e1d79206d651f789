"""A process that takes the measuring core meanwhile: its samples are marked, kept, and told of."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from command import TINY, Ciphermark

from ciphermark_measure.interference import reference_kernel

_BUSY = (
    "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nprint('busy', flush=True)\nwhile True: pass"
)
SAMPLES = 6


@contextmanager
def busy_core() -> Iterator[None]:
    """Three that never sleep, on the CPU that workers of one thread are given: these get a quarter of it."""
    command = [sys.executable, "-c", _BUSY, str(max(os.sched_getaffinity(0)))]
    # In sessions of their own: the kernel may share a core by sessions, and a worker has one.
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) for _ in range(3)]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def disturbed(tmp_path_factory: pytest.TempPathFactory, new_url: Any) -> tuple[Ciphermark, str]:
    ciphermark = Ciphermark(tmp_path_factory.mktemp("disturbed") / "data", new_url())
    experiment = TINY | {"variants": ["cleartext"], "operations": ["add"]}
    # Samples of 50 ms: the kernel's turns are shorter, so that none of them has the core for itself.
    suite = ciphermark.suite(experiment, min_samples=SAMPLES, min_time_s=0.05 * SAMPLES)
    with busy_core():
        return ciphermark, ciphermark("run", str(suite)).out


def test_the_reference_kernel_is_built() -> None:
    assert reference_kernel.reason_against() is None


def test_samples_are_marked_and_kept_and_others_were_waited_for(disturbed: tuple[Ciphermark, str]) -> None:
    ciphermark, _ = disturbed
    (outcome,) = ciphermark.outcomes()
    assert outcome["status"] == "ok"
    taken = [
        sample["is_disturbed"]
        for sample in outcome["samples"]
        if (sample["metric"], sample["stage"]) == ("time", "evaluate") and not sample["is_warmup"]
    ]
    assert any(taken)
    assert len(taken) > SAMPLES
    assert outcome["facts"]["run_delay_s"] > 0
    assert outcome["facts"]["reference_kernel_s"] > 0
    stored = ciphermark.rows(
        "select count(*)::int as n, count(*) filter (where is_disturbed)::int as disturbed "
        "from samples where phase = 'evaluate' and metric = 'time' and not is_warmup"
    )
    assert stored == [{"n": len(taken), "disturbed": sum(taken)}]
    (row,) = ciphermark.rows(
        "select n, undisturbed_share, slowdown from results where phase = 'evaluate' and metric = 'time'"
    )
    assert row["undisturbed_share"] <= 1 - sum(taken) / len(taken) + 1e-9
    assert (row["slowdown"] is None) == all(taken)
    assert row["n"] == (len(taken) - sum(taken) or len(taken))


LEARNING = {
    "kind": "learning",
    "variants": ["cleartext"],
    "workloads": ["lmc-plain"],
    "data_sets": ["boston"],
}


def test_stages_without_their_core_are_marked(tmp_path_factory: pytest.TempPathFactory, new_url: Any) -> None:
    """Three others have the core of both parties: steps of more than some milliseconds have a quarter of it."""
    ciphermark = Ciphermark(tmp_path_factory.mktemp("stages") / "data", new_url())
    suite = ciphermark.suite(LEARNING | {"schemes": ["bfv"]}, min_samples=SAMPLES)
    with busy_core():
        ciphermark("run", str(suite))
    (outcome,) = ciphermark.outcomes()
    assert outcome["status"] == "ok"
    assert outcome["facts"]["reference_kernel_s"] > 0
    times = [
        sample for sample in outcome["samples"] if sample["metric"] == "time" and not sample["is_warmup"]
    ]
    assert any(sample["is_disturbed"] or sample["slowdown"] > 1.2 for sample in times)
    (row,) = ciphermark.rows(
        "select undisturbed_share from results where phase = 'infer' and metric = 'time' and experiment = 'learning'"
    )
    assert row["undisturbed_share"] is not None


def test_runs_and_results_tell_what_was_kept(disturbed: tuple[Ciphermark, str]) -> None:
    ciphermark, told = disturbed
    (row,) = ciphermark.rows("select undisturbed_share, short_trials, run_delay_share from host_state")
    assert row["undisturbed_share"] < 1
    assert row["run_delay_share"] > 0.02
    for text in (told, ciphermark("results", "last").out):
        assert f"Host interference: {row['undisturbed_share']:.1%} of " in text
