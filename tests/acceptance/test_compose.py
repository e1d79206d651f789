"""`docker compose up`, for real: a project of its own, on a free port, taken down with its volumes at the end."""

from __future__ import annotations

import json
import re
import ssl
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from functools import partial
from pathlib import Path

import pytest
from installed import has_hexl
from ports import free_port
from processes import PATIENCE_S, environment, wait_until

REPOSITORY = Path(__file__).parents[2]
BUILD_TIMEOUT_S = 3600  # what is built once and kept by the engine: two SEALs and Pyfhel
LONG_RUNNING = {"db", "client", "server", "benchmark", "worker", "dashboard", "proxy"}
ONE_SHOT = {"secrets", "migrate"}
PORTS = {"benchmark": 8100, "client": 8101, "server": 8102, "dashboard": 8103}
VARIANTS = {"seal", "seal-hexl", "tenseal", "pyfhel", "openfhe"}
RUN_TIMEOUT_S = 900


def why_no_engine():
    """Why there is nothing to test with; None where `docker compose` has an engine."""
    for question in (("docker", "compose", "version"), ("docker", "info")):
        try:
            asked = subprocess.run(question, capture_output=True, text=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            continue  # it is slow, but there: all processes that collect these tests are to agree
        except OSError as error:
            return f"{' '.join(question)}: {error}"
        if asked.returncode != 0:
            return f"{' '.join(question)}: {asked.stderr.strip()}"
    return None


REASON = why_no_engine()
pytestmark = [
    pytest.mark.extended,
    pytest.mark.images,
    pytest.mark.needs(REASON and f"no container engine is reachable: {REASON}"),
    pytest.mark.timeout(BUILD_TIMEOUT_S),
]


def content(answer):
    """What an answer holds: decoded where it is JSON; pages are text."""
    text = answer.read()
    return json.loads(text) if "json" in answer.headers.get("Content-Type", "") else text.decode()


class Project:
    """A compose project under a name of its own, with TLS."""

    def __init__(self):
        self.name = f"ciphermark-test-{uuid.uuid4().hex[:8]}"
        self.ports = {name: free_port() for name in PORTS}
        self.tls_port = free_port()

    def compose(self, *arguments, timeout=600):
        return subprocess.run(
            ["docker", "compose", "--project-name", self.name, *arguments],
            cwd=REPOSITORY,
            env=environment(
                COMPOSE_PROFILES="tls",
                CIPHERMARK_TLS_PORT=str(self.tls_port),
                **{f"CIPHERMARK_{name.upper()}_PORT": str(port) for name, port in self.ports.items()},
            ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def done(self, *arguments, timeout=600):
        """What the command prints; the test fails where the command does."""
        ended = self.compose(*arguments, timeout=timeout)
        assert ended.returncode == 0, f"{ended.stdout[-4000:]}\n{ended.stderr[-4000:]}"
        return ended.stdout

    def python(self, service, code):
        return self.compose("exec", "-T", service, "python", "-c", code)

    def containers(self):
        """Service -> what the engine tells of its container."""
        ids = self.done("ps", "--all", "--quiet").split()
        told = json.loads(docker("inspect", *ids))
        return {item["Config"]["Labels"]["com.docker.compose.service"]: item for item in told}

    def ask(self, service, path, token=None, body=None):
        """(status, answer) of a request to a published port."""
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.ports[service]}{path}", headers=headers, data=data
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, content(answer)
        except urllib.error.HTTPError as error:
            return error.code, content(error)

    def secret(self, service, name):
        return self.done("exec", "-T", service, "cat", f"/run/ciphermark/{name}").strip()


def docker(*arguments):
    return subprocess.run(
        ["docker", *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=True
    ).stdout


@pytest.fixture(scope="module")
def project():
    """All services, up and healthy."""
    made = Project()
    try:
        made.done("build", timeout=BUILD_TIMEOUT_S)
        started = made.compose("up", "--detach", "--no-build", "--wait", "--wait-timeout", "300")
        logs = made.compose("logs", "--tail", "30").stdout
        assert started.returncode == 0, f"{started.stderr[-3000:]}\n{logs[-8000:]}"
        yield made
    finally:
        made.compose("down", "--volumes", "--remove-orphans", "--timeout", "20")


@pytest.fixture(scope="module")
def containers(project):
    return project.containers()


def test_every_service_is_healthy_and_what_runs_once_has_ended_well(containers):
    assert set(containers) == LONG_RUNNING | ONE_SHOT
    states = {name: item["State"] for name, item in containers.items()}
    assert {name: states[name]["Health"]["Status"] for name in LONG_RUNNING} == dict.fromkeys(
        LONG_RUNNING, "healthy"
    )
    assert {name: (states[name]["Status"], states[name]["ExitCode"]) for name in ONE_SHOT} == dict.fromkeys(
        ONE_SHOT, ("exited", 0)
    )


def test_every_container_is_confined(project, containers):
    for name, item in containers.items():
        host = item["HostConfig"]
        assert host["ReadonlyRootfs"], name
        assert host["CapDrop"] == ["ALL"], name
        assert not host["CapAdd"], name
        assert not host["Privileged"], name
        assert any(option.startswith("no-new-privileges") for option in host["SecurityOpt"]), name
        assert host["Memory"] > 0, name
        assert host["PidsLimit"] > 0, name
        assert {mount["Type"] for mount in item["Mounts"]} == {"volume"}, name
        # A volume without a name would outlive `docker compose down`, one more with every start.
        assert all(mount["Name"].startswith(project.name) for mount in item["Mounts"]), name
        assert host["LogConfig"]["Type"] == "local", f"{name}: logs that are not rotated"


def test_no_process_is_root(containers):
    for name in LONG_RUNNING:
        table = docker("top", containers[name]["Id"], "-eo", "uid,pid,comm").splitlines()[1:]
        assert table, name
        assert all(int(line.split()[0]) != 0 for line in table), f"{name}: {table}"
    for name in ONE_SHOT:
        assert containers[name]["Config"]["User"] not in ("", "0", "root"), name


def test_services_are_published_to_this_machine_alone_but_for_the_proxy(project, containers):
    published = {
        (name, port, entry["HostIp"], int(entry["HostPort"]))
        for name, item in containers.items()
        for port, entries in item["NetworkSettings"]["Ports"].items()
        for entry in entries or []
    }
    of_proxy = {entry for entry in published if entry[0] == "proxy"}
    assert {(port, number) for _, port, _, number in of_proxy} == {("8443/tcp", project.tls_port)}
    assert published - of_proxy == {
        (name, f"{port}/tcp", "127.0.0.1", project.ports[name]) for name, port in PORTS.items()
    }


def test_what_is_private_is_seen_only_where_it_is_needed(containers):
    seen = {
        name: {
            mount["Name"].partition("_")[2]
            for mount in item["Mounts"]
            if mount["Destination"].startswith(("/run/ciphermark", "/var/lib/ciphermark"))
        }
        for name, item in containers.items()
    }
    tokens = {f"{name}-secret" for name in PORTS if name != "dashboard"}
    assert seen == {
        "secrets": {"db-secret", "dashboard-secret"},
        "db": {"db-secret", "dashboard-secret"},
        "migrate": {"db-secret"},
        "client": {"client-secret", "private", "blobs"},
        "server": {"server-secret", "blobs"},
        "benchmark": {*tokens, "db-secret", "data"},
        "worker": {*tokens, "db-secret", "data"},
        "dashboard": {"dashboard-secret", "benchmark-secret"},
        "proxy": {"proxy"},
    }


def test_no_secret_is_told_by_the_engine_or_the_logs(project, containers):
    found = [project.secret(name, f"{name}/token") for name in PORTS]
    found += [project.secret("benchmark", "db/password"), project.secret("dashboard", "dashboard/password")]
    assert len(set(found)) == len(PORTS) + 2
    assert all(len(text) >= 32 for text in found)
    told = json.dumps(containers) + project.done("logs")
    assert not [text for text in found if text in told]


def test_parties_reach_neither_each_other_nor_the_database_nor_the_world(project, containers):
    connect = "import socket; socket.create_connection(({!r}, {}), 5)"
    addresses = {
        name: [entry["IPAddress"] for entry in containers[name]["NetworkSettings"]["Networks"].values()]
        for name in ("db", "client", "server")
    }
    for service, others in (("client", ("server", "db")), ("server", ("client", "db"))):
        own = ("127.0.0.1", PORTS[service])
        places = [own] + [
            (place, {**PORTS, "db": 5432}[name]) for name in others for place in (name, *addresses[name])
        ]
        reached = [
            place for place in places if project.python(service, connect.format(*place)).returncode == 0
        ]
        assert reached == [own]
    networks = json.loads(
        docker("network", "inspect", *(f"{project.name}_{name}" for name in ("db", *PORTS)))
    )
    masquerade = "com.docker.network.bridge.enable_ip_masquerade"
    assert all(item["Internal"] or item["Options"].get(masquerade) == "false" for item in networks)


def test_the_databases_superuser_cannot_be_reached(project):
    code = (
        "import pathlib, psycopg; password = pathlib.Path('/run/ciphermark/db/password').read_text().strip();"
        "psycopg.connect(host='db', user={!r}, dbname={!r}, password=password)"
    )
    assert project.python("benchmark", code.format("ciphermark", "ciphermark")).returncode == 0
    for user, database in (("postgres", "ciphermark"), ("postgres", "postgres"), ("ciphermark", "postgres")):
        refused = project.python("benchmark", code.format(user, database))
        assert refused.returncode != 0
        assert "no pg_hba.conf entry" in refused.stderr


def test_the_dashboards_role_can_only_read(project):
    """Whatever its connection takes back, it logs in as nobody who may write."""
    code = (
        "import os, psycopg; connection = psycopg.connect(os.environ['CIPHERMARK_DATABASE_URL'], autocommit=True);"
        "connection.execute('reset role'); connection.execute('set session characteristics as transaction read write');"
        "print(connection.execute('select current_user, count(*) from run').fetchone()); connection.execute({!r})"
    )
    for change in ("delete from run", "create table mine ()", "set role ciphermark"):
        refused = project.python("dashboard", code.format(change))
        assert "'ciphermark_dashboard', " in refused.stdout
        assert refused.returncode != 0
        assert "permission denied" in refused.stderr
    seen = project.compose("exec", "-T", "db", "cat", "/run/ciphermark/dashboard/token")
    assert "Permission denied" in seen.stderr


@pytest.mark.parametrize("service", PORTS)
def test_nothing_but_health_is_answered_without_the_token(project, service):
    assert project.ask(service, "/readyz")[0] == 200
    path = {"benchmark": "/v1/runs", "dashboard": "/runs"}.get(service, "/metrics")
    assert project.ask(service, path)[0] == 401
    assert project.ask(service, path, "0" * 32)[0] == 401
    status, answer = project.ask(service, path, project.secret(service, f"{service}/token"))
    assert status == 200
    if service == "dashboard":
        assert "<option>smoke</option>" in answer  # the suites are what the benchmark service tells


def test_the_proxy_answers_with_a_certificate_that_its_authority_vouches_for(project):
    """Dashboard and REST API at one address, each with its own token; nobody else's authority knows the certificate."""
    place = "/var/lib/ciphermark/proxy/caddy/pki/authorities/local/root.crt"
    root = project.done("exec", "-T", "proxy", "cat", place)

    def asked(path, token=None, context=None):
        handler = urllib.request.HTTPSHandler(context=context or ssl.create_default_context(cadata=root))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), handler)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"https://localhost:{project.tls_port}{path}", headers=headers)
        try:
            with opener.open(request, timeout=PATIENCE_S) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    assert asked("/readyz") == 200
    for path, service in (("/runs", "dashboard"), ("/v1/runs", "benchmark")):
        assert asked(path) == 401
        assert asked(path, project.secret(service, f"{service}/token")) == 200
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        asked("/readyz", context=ssl.create_default_context())


def test_every_library_is_in_the_images(project):
    listed = json.loads(project.done("run", "--rm", "-T", "benchmark", "adapters", "--format", "json"))
    reasons = {item["variant"]: item["reason"] for item in listed if item["variant"] in VARIANTS}
    if not has_hexl():
        assert "avx512" in reasons.pop("seal-hexl")
    assert reasons == dict.fromkeys(reasons)
    assert reasons.keys() | {"seal-hexl"} == VARIANTS


def submitted(project, suite, **chosen):
    """The run of a suite that is submitted over REST."""
    token = project.secret("benchmark", "benchmark/token")
    status, run = project.ask("benchmark", "/v1/runs", token, {"suite": suite, **chosen})
    assert status == 202, run
    return run


def awaited(project, run, is_reached):
    """The run when it is far enough, or over."""
    token = project.secret("benchmark", "benchmark/token")
    deadline_s = time.monotonic() + RUN_TIMEOUT_S
    while run["state"] in ("queued", "running") and not is_reached(run):
        assert time.monotonic() < deadline_s, run
        time.sleep(1)
        status, told = project.ask("benchmark", f"/v1/runs/{run['id']}", token)
        run = told if status == 200 else run  # the database may be away
    return run


def executed(project, suite, **chosen):
    """The run of a suite that is submitted over REST, when it is over."""
    run = awaited(project, submitted(project, suite, **chosen), lambda _: False)
    assert run["state"] == "done", run
    return run


def test_a_job_over_rest_is_executed_by_the_worker(project):
    """A job waits for a host that has all its variants: on some CPUs this one has no HEXL."""
    variants = ["seal", "tenseal", "pyfhel", *(["seal-hexl"] if has_hexl() else [])]
    assert executed(project, "smoke", variants=variants)["recorded"]["ok"] > 20


def test_a_workload_is_carried_through_client_and_server(project):
    experiment = {
        "kind": "learning",
        "variants": ["seal", "tenseal"],
        "workloads": ["lmc-plain"],
        "schemes": ["ckks"],
        "data_sets": ["boston"],
    }
    budget = {"min_samples": 1, "min_time_s": 0}
    run = executed(project, {"name": "parties", "seed": 1, "budget": budget, "experiments": [experiment]})
    assert run["recorded"] == {"ok": 2}
    for service, step in (("client", "encrypt"), ("client", "score"), ("server", "evaluate")):
        assert f"/{step}" in project.done("logs", service)


def test_an_image_is_classified_through_client_and_server(project):
    token = project.secret("benchmark", "benchmark/token")
    body = {"variant": "seal", "pixels": [0.0] * 784}
    status, found = project.ask("benchmark", "/v1/classifications", token, body)
    assert (status, found.get("complaint")) == (200, None), found
    assert [item["to"] for item in found["sent"]] == ["server", "server", "client"]
    for service in ("client", "server"):
        served = project.secret(service, f"{service}/token")
        sessions = partial(project.ask, service, "/v1/sessions", served)
        wait_until(lambda sessions=sessions: sessions() == (200, []), "the key is gone")


def test_a_shipped_suite_runs_from_the_command_line(project):
    printed = project.done("run", "--rm", "-T", "benchmark", "run", "smoke", timeout=RUN_TIMEOUT_S)
    told = re.search(r"Run ([0-9a-f]{8}) of suite smoke", printed)
    assert told
    assert re.search(r"\d+ cases: .*( fastest in |tie)", printed)  # on a busy host all are ties
    counted = f"select count(*) as ok from results where run_id like '{told[1]}%' and status = 'ok'"
    rows = project.done("run", "--rm", "-T", "benchmark", "sql", counted, "--format", "json")
    assert json.loads(rows)[0]["ok"] > 0


def test_what_was_recorded_outlives_the_containers(project):
    def count():
        query = "select count(*) as runs from run"
        return json.loads(project.done("run", "--rm", "-T", "benchmark", "sql", query, "--format", "json"))

    before, token = count(), project.secret("client", "client/token")
    project.done("down", "--timeout", "20")
    project.done("up", "--detach", "--no-build", "--wait", "--wait-timeout", "300")
    assert (count(), project.secret("client", "client/token")) == (before, token)


@pytest.mark.parametrize("service", ["server", "db"])
def test_a_job_goes_on_when_a_container_is_killed(project, service):
    """What was measured stays; what was lost with the container says so; the next job is as if nothing had been."""
    experiment = {
        "kind": "learning",
        "variants": ["seal"],
        "workloads": ["lmc-plain", "lmc-encrypted"],
        "schemes": ["bfv", "bgv", "ckks"],
        "data_sets": ["boston"],
    }
    suite = {"name": "deaths", "budget": {"min_samples": 5, "min_time_s": 4}, "experiments": [experiment]}
    before = awaited(project, submitted(project, suite), lambda run: run["recorded"].get("ok", 0) > 0)
    assert before["state"] == "running"
    docker("kill", project.containers()[service]["Id"])
    project.done("up", "--detach", "--no-build", "--wait", "--wait-timeout", "300")
    run = awaited(project, before, lambda _: False)
    assert (run["state"], sum(run["recorded"].values())) == ("done", run["trials"]) == ("done", 6)
    assert run["recorded"]["ok"] >= before["recorded"]["ok"]
    token = project.secret("benchmark", "benchmark/token")
    _, rows = project.ask("benchmark", f"/v1/runs/{run['id']}/results", token)
    lost = [row["error"] for row in rows if row["status"] != "ok"]
    assert not lost or service == "server"  # which may have been between two trials
    assert all("the server service" in error for error in lost)
    again = executed(project, suite | {"budget": {"min_samples": 1, "min_time_s": 0}})
    assert again["recorded"] == {"ok": 6}
