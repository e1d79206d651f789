"""Comparisons of many variants over REST: a session of each at a time, and what becomes of one that is too wide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import Ciphermark
from installed import has_hexl
from running_services import Running, Services

from ciphermark_adapters import registry
from ciphermark_parties.host import SESSIONS

# As many as there are on every host; seal-hexl has the same library once more where its CPU allows.
WIDE = ["seal", "seal-hexl" if has_hexl() else "seal@again", "tenseal", "pyfhel", "cleartext"]
LEARNING = {"kind": "learning", "data_sets": ["boston"], "workloads": ["lmc-plain"], "schemes": ["ckks"]}


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = Services(tmp_path / "services")
    yield made
    made.stop()


def executed(folder: Path, url: str, services: Services, variants: list[str]) -> dict[str, dict[str, object]]:
    """Variant -> outcome of one comparison, carried out by the services."""
    ciphermark = Ciphermark(folder / "data", url, services.variables)
    ciphermark("run", str(ciphermark.suite(LEARNING | {"variants": variants}, min_samples=2)))
    return {outcome["trial"]["case"]["variant"]: outcome for outcome in ciphermark.outcomes()}


def max_at_once(party: Running) -> int:
    """How many sessions the service had at a time, at most."""
    steps = {"session opened": 1, "session ended": -1}
    found = [steps[event] for line in party.log.splitlines() for event in steps if f'"{event}"' in line]
    assert sum(found) == 0
    return max(sum(found[: place + 1]) for place in range(len(found)))


@pytest.mark.extended
def test_a_comparison_of_five_variants_fits_the_defaults(
    services: Services, tmp_path: Path, new_url: Callable[[], str]
) -> None:
    parties = [services.start(name) for name in ("client", "server")]
    outcomes = executed(tmp_path, new_url(), services, WIDE)
    assert {name: (found["status"], found["error"]) for name, found in outcomes.items()} == dict.fromkeys(
        WIDE, ("ok", None)
    )
    assert [max_at_once(party) for party in parties] == [len(WIDE)] * 2


def test_any_comparison_of_our_own_variants_fits_the_defaults() -> None:
    ours = [name for name in registry.declarations() if not name.startswith("planted")]
    assert len(ours) <= SESSIONS


def test_what_a_comparison_has_no_session_for_is_told_and_harms_no_other(
    services: Services, tmp_path: Path, new_url: Callable[[], str]
) -> None:
    services.start("client")
    server = services.start("server", CIPHERMARK_SESSIONS="2")
    outcomes = executed(tmp_path, new_url(), services, ["seal", "tenseal", "cleartext"])
    statuses = sorted(str(found["status"]) for found in outcomes.values())
    assert statuses == ["cancelled", "ok", "ok"]
    (error,) = (str(found["error"]) for found in outcomes.values() if found["status"] == "cancelled")
    assert "2 sessions are open, the most that CIPHERMARK_SESSIONS allows" in error
    assert max_at_once(server) == 2
