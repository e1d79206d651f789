"""Two hosts with one database between them: each a network, a host name and a machine of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from command import Gate
from jobs import Jobs, Workers, suite_text
from processes import wait_until
from psycopg.conninfo import conninfo_to_dict

from ciphermark_benchmark.runner.runs import available
from ciphermark_benchmark.suite import files, plan
from ciphermark_core import host

OPERATIONS = ["add", "mul", "sub"]
VARIANTS = ["cleartext", "planted-waits"]
TRIALS = len(OPERATIONS) * len(VARIANTS)
NETWORK = "10.201.77"


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


def reason_against_namespaces() -> str | None:
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"cm-try-{os.getpid()}"  # several test processes ask at once
    try:
        ip("netns", "add", name)
        ip("netns", "delete", name)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no network namespaces here: {getattr(error, 'stderr', error)}"
    return None


REASON = reason_against_namespaces()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))


class Hosts:
    """Namespaces behind one bridge, on which the database's socket is offered."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mark = uuid.uuid4().hex[:6]
        self._names: list[str] = []
        self.bridge = f"cmb{self._mark}"
        ip("link", "add", self.bridge, "type", "bridge")
        ip("address", "add", f"{NETWORK}.1/24", "dev", self.bridge)
        ip("link", "set", self.bridge, "up")

    def add(self, name: str, machine: str = "") -> list[str]:
        """A new host, on a machine of its own or of this name; returns the words before a command that make it run
        there.
        """
        number = len(self._names) + 2
        space, outer = f"cm{self._mark}{name}", f"cmv{self._mark}{number}"
        self._names.append(space)
        ip("netns", "add", space)
        ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", space)
        ip("link", "set", outer, "master", self.bridge, "up")
        ip("-n", space, "address", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
        ip("-n", space, "link", "set", "lo", "up")
        ip("-n", space, "link", "set", "eth0", "up")
        boot_id = self._folder / f"boot-{machine or name}"
        if not boot_id.exists():
            boot_id.write_text(f"{uuid.uuid4()}\n")
        inside = f'hostname {name} && mount --bind {boot_id} /proc/sys/kernel/random/boot_id && exec "$@"'
        return ["ip", "netns", "exec", space, "unshare", "--uts", "--mount", "sh", "-c", inside, "sh"]

    def cut(self, number: int, is_up: bool = False) -> None:
        """Take the cable out of a host, or put it back."""
        ip("link", "set", f"cmv{self._mark}{number + 2}", "up" if is_up else "down")

    def remove(self) -> None:
        for space in self._names:
            ip("netns", "delete", space)
        ip("link", "delete", self.bridge)


@contextmanager
def relay(address: str, to: str) -> Iterator[int]:
    """Offers a Unix socket on TCP; yields the port."""
    server = socket.create_server((address, 0))

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                inner = socket.socket(socket.AF_UNIX)
                inner.connect(to)
                for pair in ((client, inner), (inner, client)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield server.getsockname()[1]
    server.close()


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    made = Hosts(tmp_path)
    yield made
    made.remove()


@pytest.fixture
def network_url(hosts: Hosts, jobs: Jobs) -> Iterator[str]:
    """The database as the hosts reach it: over TCP."""
    parts = conninfo_to_dict(jobs.url)
    with relay(f"{NETWORK}.1", f"{parts['host']}/.s.PGSQL.{parts['port']}") as port:
        yield f"postgresql://{parts['user']}@{NETWORK}.1:{port}/{parts['dbname']}"


@pytest.fixture
def workers_folder(tmp_path: Path, hosts: Hosts) -> Path:
    """Workers end before the hosts that they are on are removed."""
    return tmp_path


def suite_with_mul_second() -> str:
    """One comparison group is recorded before the one that the gate holds."""
    for seed in range(100):
        text = json.dumps(json.loads(suite_text(VARIANTS, OPERATIONS)) | {"seed": seed})
        suite = files.parse(text, "test")
        made = plan.make(str(uuid.uuid4()), suite, plan.cases(suite, available(suite, host.collect())))
        order = [
            comparison_group.trials[0].case.operation for comparison_group in made.blocks[0].comparison_groups
        ]
        if order[1] == "mul":
            return text
    raise AssertionError


@pytest.mark.parametrize("end", ["killed", pytest.param("cut off", marks=pytest.mark.extended)])
def test_another_host_goes_on_where_one_ends(
    end: str, jobs: Jobs, hosts: Hosts, network_url: str, workers: Workers
) -> None:
    gate = Gate(workers.folder / "gate")
    (shared,) = jobs.submit(suite_with_mul_second())
    alpha, beta = hosts.add("alpha"), hosts.add("beta")
    first = workers.start(network_url, "alpha", alpha, PLANTED_GATE=str(gate.folder))
    gate.let_pass(0)
    wait_until(lambda: gate.arrived() == 2, "alpha is in the middle of a trial")
    wait_until(lambda: len(jobs.rows("select id from trial")) == 2, "alpha has recorded one comparison group")
    recorded = jobs.rows("select id, run_id, started_at from trial order by id")

    workers.start(network_url, "beta", beta, PLANTED_GATE=str(gate.folder))
    (other,) = jobs.submit(suite_text(["cleartext"], ["add"]))  # while alpha is busy
    assert jobs.wait(other, "done")["hostname"] == "beta"
    jobs.assert_exactly_once(other, 1)
    assert jobs.job(shared)["hostname"] == "alpha"

    if end == "killed":
        first.kill()
    else:
        hosts.cut(0)
    wait_until(lambda: jobs.job(shared)["hostname"] == "beta", "beta takes over")
    gate.let_pass(*range(1, 20))  # both, where alpha is still alive
    assert jobs.wait(shared, "done")["deaths"] == 1
    if end == "cut off":
        journal = workers.folder / "alpha" / "service" / "journal" / "pending" / f"{shared}.jsonl"
        wait_until(lambda: journal.read_bytes().count(b"\n") == 1 + TRIALS, "alpha measures on")
        hosts.cut(0, is_up=True)
        wait_until(lambda: first.said("job lost to another worker"), "alpha learns of it")

    jobs.assert_exactly_once(shared, TRIALS)
    began, continued = jobs.parts(shared)
    assert (began["id"], began["hostname"], began["trials"]) == (shared, "alpha", len(VARIANTS))
    assert (continued["continues"], continued["hostname"], continued["trials"]) == (
        shared,
        "beta",
        TRIALS - len(VARIANTS),
    )
    kept = jobs.rows("select id, run_id, started_at from trial where run_id = %s order by id", [shared])
    assert kept == recorded


@pytest.mark.extended
def test_a_worker_takes_over_a_machine_from_one_that_was_cut_off(
    jobs: Jobs, hosts: Hosts, network_url: str, workers: Workers
) -> None:
    """Two containers of one machine. Between them and the server stands what keeps a dead connection open."""
    alpha, beta = (hosts.add(name, machine="one") for name in ("alpha", "beta"))
    workers.start(network_url, "alpha", alpha)
    wait_until(lambda: jobs.rows("select 1 from offer"), "alpha is there")
    second = workers.start(network_url, "beta", beta)
    waiting = "select waits_for from offer where hostname = 'beta' and waits_for is not null"
    wait_until(lambda: jobs.rows(waiting), "beta says what it waits for")
    assert " on alpha" in str(jobs.rows(waiting))
    assert second.said("the worker stands by")
    hosts.cut(0)
    (job_id,) = jobs.submit(suite_text(["cleartext"], ["add"]))
    assert jobs.wait(job_id, "done")["hostname"] == "beta"
    assert jobs.rows(waiting) == []


@pytest.mark.extended
def test_a_job_goes_to_the_host_that_has_what_it_needs(
    jobs: Jobs, hosts: Hosts, network_url: str, workers: Workers
) -> None:
    alpha, beta = hosts.add("alpha"), hosts.add("beta")
    workers.start(network_url, "alpha", alpha, CIPHERMARK_ADAPTER_PATH="")  # knows no planted variant
    workers.start(network_url, "beta", beta)
    wait_until(lambda: len(jobs.rows("select * from offer")) == 2, "both are there")
    job_ids = jobs.submit(suite_text(["planted-good"], ["add"]), count=3)
    for job_id in job_ids:
        assert jobs.wait(job_id, "done")["hostname"] == "beta"
