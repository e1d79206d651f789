"""The list of runs: what one types to name a run stands there whole, in 80 columns, too."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ciphermark_benchmark.cli.runs import table_of
from ciphermark_present import terminal

LONGEST = "a-label-that-is-as-long-as-labels-may-be"


def _run(label: str | None, **more: object) -> dict[str, object]:
    counts = {"trials": 3220, "ok": 2129, "unsupported": 960, "other": 131, "refused": 0}
    return {
        "run_id": "3c6f8466-99be-404e-b1ff-91f0fc7156f6",
        "label": label,
        "suite": "seal-vs-openfhe",
        "started_at": datetime(2026, 11, 23, 1, 41, tzinfo=UTC),
        "host": "bench-host-17",
        "is_imported": True,
        "progress": None,
        **counts,
        **more,
    }


@pytest.mark.parametrize("label", [LONGEST, "seal-vs-openfhe-reference", "before", None])
def test_labels_suites_and_hosts_are_never_cut(label: str | None) -> None:
    found = list(terminal.lines(table_of([_run(label)]), 80))
    assert max(map(len, found)) <= 80
    words = " ".join(found).split()
    for word in filter(None, (label, "3c6f8466", "seal-vs-openfhe", "bench-host-17", "(imported)", "01:41")):
        assert word in words
    assert "2,129 ok, 131 not ok, 960 unsupported" in " ".join(words)


def test_a_run_has_one_line_where_there_is_room() -> None:
    assert len(list(terminal.lines(table_of([_run("before"), _run(None)]), 120))) == 3


def test_a_run_without_trials_says_so() -> None:
    nothing = {"trials": 0, "ok": 0, "unsupported": 0, "other": 0}
    assert "none" in " ".join(terminal.lines(table_of([_run(None, **nothing)]), 120))
