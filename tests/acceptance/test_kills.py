"""Whatever process of `make serve` is killed while it works: nothing is lost, nothing doubled, all of it answers again.

`make soak-kills` kills fifty, at random; here it is one of each kind that only such kills reach.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from kills.soak import Soak
from kills.victims import KINDS

SEED = 12
# Killed here, and seven more elsewhere: tests/acceptance/test_serve.py kills each service.
NAMES = (
    "benchmark service",
    "server service",
    "worker",
    "PostgreSQL",
    "backend of PostgreSQL",
    "attempt",
    "measuring worker",
    "party",
)
WITHIN_S = 60.0  # `make soak-kills` holds it to 10 s, on a host that does nothing else


@pytest.mark.extended
@pytest.mark.timeout(1500)
def test_nothing_is_lost_or_doubled_whatever_is_killed(tmp_path: Path) -> None:
    kinds = [kind for kind in KINDS if kind.name in NAMES]
    assert len(kinds) == len(NAMES)
    report = Soak(tmp_path / "data", SEED).of_each_kind(kinds)
    told = "\n".join(report.lines())
    assert len(report.kills) == len(NAMES), told
    assert report.complaints == [], told
    assert report.slower_than(WITHIN_S) == [], told
