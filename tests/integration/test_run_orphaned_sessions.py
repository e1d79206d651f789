"""What killed runs leave at the services, and runs for which the services have no place."""

from __future__ import annotations

import json

import pytest
from command import CHEAP, Ciphermark, kill
from jobs import Jobs
from processes import command_line, wait_until
from running_services import Services, done

LEARNING = {
    "kind": "learning",
    "data_sets": ["boston"],
    "variants": ["seal", "cleartext"],
    "workloads": ["lmc-plain"],
    "schemes": ["ckks"],
}
PLACES = 2  # as many as the comparison needs


@pytest.fixture
def services(tmp_path):
    made = Services(tmp_path / "services", {"CIPHERMARK_SESSIONS": str(PLACES)})
    yield made
    made.stop()


@pytest.fixture
def ciphermark(services, tmp_path, new_url):
    """Runs whose parties are services."""
    for name in ("client", "server"):
        services.start(name)
    return Ciphermark(tmp_path / "data", new_url(), services.variables)


def sessions(services):
    return [len(done(service.http.get("/v1/sessions"))) for service in services.running]


@pytest.mark.parametrize(
    "is_resumed", [True, pytest.param(False, marks=pytest.mark.extended)], ids=["resumed", "another run"]
)
def test_a_killed_run_takes_no_place_from_what_comes_after_it(ciphermark, services, is_resumed):
    suite = ciphermark.suite(LEARNING, min_samples=12)
    process = ciphermark.fork("run", str(suite))
    wait_until(lambda: sessions(services) == [PLACES, PLACES], "the comparison is open")
    kill(process)
    # A party that was asked something at that moment ends with its caller; the others are left behind.
    assert sum(sessions(services)) >= 2 * PLACES - 1
    run = ("run", "--resume", ciphermark.run_id()) if is_resumed else ("run", str(suite))
    ciphermark(*run)
    rows = ciphermark.rows(
        "select c.variant, t.status, t.error from trial t join case_info c using (case_info_id) order by c.variant"
    )
    assert rows == [{"variant": name, "status": "ok", "error": None} for name in ("cleartext", "seal")]
    assert sessions(services) == [0, 0]


def attempt_of(worker):
    """The process that executes the job: the forkserver forked it."""
    found = [process for process in worker.below() if "forkserver" in " ".join(command_line(process))]
    pids = {process.pid for process in found}
    (attempt,) = [process for process in found if process.ppid() in pids]
    return attempt


@pytest.mark.extended
def test_an_attempt_that_is_killed_leaves_no_session(ciphermark, services, workers):
    jobs = Jobs(ciphermark.database_url)
    text = json.dumps({"name": "job", "budget": CHEAP | {"min_samples": 30}, "experiments": [LEARNING]})
    (job_id,) = jobs.submit(text)
    worker = workers.start(jobs.url, **ciphermark.extra)
    wait_until(lambda: sessions(services) == [PLACES, PLACES], "the comparison is open")
    attempt_of(worker).kill()
    wait_until(lambda: sessions(services) == [0, 0], "the worker has ended the sessions")
    jobs.wait(job_id, "done")
    jobs.assert_exactly_once(job_id, PLACES)
    assert jobs.job(job_id)["deaths"] == 1
    assert sessions(services) == [0, 0]
