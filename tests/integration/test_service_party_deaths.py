"""A client or a server service that is killed and started again in the middle of a job: what was measured stays, what
was lost says why, and the next job is as if nothing had been.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import benchmark_service
import psutil
import pytest
from command import CHEAP, Gate
from jobs import Jobs
from ports import free_port
from processes import PATIENCE_S, wait_until
from running_services import Running, Services

VARIANTS = ["planted-waits", "cleartext"]
SCHEMES = ["bfv", "ckks"]
TRIALS = len(VARIANTS) * len(SCHEMES)
TOLD = (
    "select t.id, c.case_key, t.process, t.status, t.error, count(s.trial_id) as samples from trial t "
    "join case_info c using (case_info_id) left join samples s on s.trial_id = t.id "
    "where t.run_id = %s group by t.id, c.case_key"
)


def suite(*schemes: str) -> dict[str, object]:
    """Comparisons, one after the other. In each the server's party of one variant waits at the gate."""
    experiment = {
        "kind": "learning",
        "variants": VARIANTS,
        "workloads": ["lmc-encrypted"],
        "data_sets": ["boston"],
        "schemes": schemes,
    }
    return {"name": "deaths", "budget": CHEAP | {"memory_mb": 1500}, "experiments": [experiment]}


class Parties:
    """A client and a server service that keep their ports when they are started again."""

    def __init__(self, folder: Path, gate: Gate) -> None:
        self._services = Services(folder, {"PLANTED_GATE": str(gate.folder)})
        self._ports = {name: free_port() for name in ("client", "server")}
        self.running: dict[str, Running] = {}

    def start(self, name: str) -> None:
        self.running[name] = self._services.start(name, CIPHERMARK_PORT=str(self._ports[name]))

    def kill(self, name: str) -> None:
        """With -9; its parties go with it."""
        parties = self.running[name].parties()
        assert parties
        self.running[name].process.kill()
        self.running[name].process.wait(PATIENCE_S)
        _, alive = psutil.wait_procs(parties, timeout=PATIENCE_S)
        assert alive == []

    def addresses(self) -> dict[str, str]:
        found = {f"CIPHERMARK_{name.upper()}_TOKEN": service.token for name, service in self.running.items()}
        for name, port in self._ports.items():
            found[f"CIPHERMARK_{name.upper()}_URL"] = f"http://127.0.0.1:{port}"
        return found

    def stop(self) -> None:
        self._services.stop()


@pytest.fixture
def parties(tmp_path: Path, gate: Gate) -> Iterator[Parties]:
    made = Parties(tmp_path / "services", gate)
    with ExitStack() as ending:
        ending.callback(made.stop)
        for name in ("client", "server"):
            made.start(name)
        yield made


@pytest.fixture
def benchmark(
    tmp_path: Path, new_url: Callable[[], str], parties: Parties
) -> Iterator[benchmark_service.Service]:
    made = benchmark_service.started(tmp_path, new_url(), "--worker", **parties.addresses())
    yield made
    benchmark_service.ended(made)


@pytest.mark.parametrize("name", [pytest.param("client", marks=pytest.mark.extended), "server"])
def test_a_job_goes_on_when_a_service_of_its_parties_is_killed(
    name: str, parties: Parties, benchmark: benchmark_service.Service, gate: Gate
) -> None:
    jobs = Jobs(benchmark.database_url)
    with benchmark.client() as http:
        run_id = str(benchmark_service.submitted(http, suite=suite(*SCHEMES))["id"])
        gate.let_pass(0)
        wait_until(lambda: gate.arrived() == 2, "the second comparison is under way")
        wait_until(lambda: len(jobs.rows(TOLD, [run_id])) >= len(VARIANTS), "the first one is recorded")
        before = jobs.rows(TOLD, [run_id])
        assert {row["status"] for row in before} == {"ok"}
        parties.kill(name)
        parties.start(name)
        gate.let_pass(*range(20))
        benchmark_service.when(http, run_id, "done")
        after = jobs.rows(TOLD, [run_id])
        assert len({(row["case_key"], row["process"]) for row in after}) == len(after) == TRIALS
        assert all(row in after for row in before)
        lost = [row for row in after if row["status"] != "ok"]
        assert lost
        assert {row["status"] for row in lost} == {"crashed"}
        assert all(f"the {name} service" in str(row["error"]) for row in lost)
        assert all(row["samples"] for row in after if row["status"] == "ok")
        again = str(benchmark_service.submitted(http, suite=suite("bfv"))["id"])
        benchmark_service.when(http, again, "done")
    jobs.assert_exactly_once(again, len(VARIANTS))
    assert parties.running[name].process.poll() is None
