"""In a full run through all three services, recorded by PostgreSQL: where the secret key is not, and what logs name.

A job of two variants is executed by a benchmark worker, with the client and the server service as parties. One of the
variants is ``confessing``: ``seal``, but its key owner writes the secret key to a file that only this test reads.
"""

from __future__ import annotations

import base64
import itertools
import json
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import benchmark_service
import httpx
import psutil
import psycopg
import pytest
from command import CHEAP, PLANTED
from processes import PATIENCE_S
from running_services import CONFESSION, Recorder, Running, Services, done
from secrecy import (
    count,
    data_folder_of,
    files_in,
    files_of,
    found_in_memory,
    holding,
    pieces_of,
    tables_of,
    tree_of,
)

from ciphermark_db import embedded

SUITE = {
    "name": "secrecy",
    "budget": CHEAP | {"min_samples": 2, "memory_mb": 2048},
    "experiments": [
        {
            "kind": "learning",
            "variants": ["confessing", "cleartext"],
            "workloads": ["lmc-encrypted"],
            "data_sets": ["boston"],
            "schemes": ["bfv"],
        }
    ],
}
# Services by their names, the rest by words of their commands. An attempt at a job has the command of the fork server
# that it comes from.
ALWAYS_THERE = dict.fromkeys(("client (", "server (", "benchmark (", "benchmark.cli.main worker"), 1)
# Each of the two trials scores once to be opened and then takes turns: at the fourth score both are under way.
PAUSED_SCORE = 4
# Memory is searched for each so many-th piece: who has a key has all of it.
PIECES = 8


class Pausing(Recorder):
    """Stops the client's parties when one of them is asked for a certain score."""

    def __init__(self, client: Running) -> None:
        super().__init__(client.recorder.port)
        self._client = client
        self._scores = 0
        self.is_paused = threading.Event()

    def keep(self, chunk: bytes) -> None:
        super().keep(chunk)
        if b"/score HTTP/1.1" in chunk:
            self._scores += 1
            if self._scores == PAUSED_SCORE:
                for party in self._client.parties():
                    party.suspend()
                self.is_paused.set()

    def go_on(self) -> None:
        for party in self._client.parties():
            party.resume()


@dataclass(frozen=True)
class Look:
    """What was found in processes and those below them."""

    memory: dict[str, int]  # by command: how many pieces are in its memory
    files: list[Path]  # mapped or open ones that hold a piece

    @classmethod
    def at(cls, services: dict[int, str], pieces: list[bytes], since_s: float) -> Look:
        memory, files = {}, set()
        for process in itertools.chain.from_iterable(map(tree_of, services)):
            with suppress(FileNotFoundError, ProcessLookupError, psutil.NoSuchProcess):  # it ended meanwhile
                command = services.get(process.pid) or " ".join(process.cmdline())
                memory[f"{command} ({process.pid})"] = found_in_memory(process.pid, pieces[::PIECES])
                files |= files_of(process, since_s)
        return cls(memory, holding(files, pieces))

    @property
    def holders(self) -> dict[str, int]:
        return {command: number for command, number in self.memory.items() if number}

    def assert_seen(self, numbers: dict[str, int]) -> None:
        """So many of the processes have these words in their commands."""
        assert {words: sum(words in command for command in self.memory) for words in numbers} == numbers


@dataclass
class Full:
    """A full run, and what was seen while it was under way and afterwards."""

    services: Services
    client: Running
    server: Running
    benchmark: benchmark_service.Service
    recorder: Recorder
    since_s: float
    run_id: str = ""
    pieces: list[bytes] = field(default_factory=list)
    looks: dict[str, Look] = field(default_factory=dict)
    blobs: dict[Path, bool] = field(default_factory=dict)  # while it was under way: whether it holds a piece

    @property
    def confession(self) -> Path:
        return Path(self.services.extra["CONFESSION"])

    def execute(self, pausing: Pausing) -> None:
        """Submit the job, look while it is paused, let it end, and look again."""
        names = {"client": self.client, "server": self.server, "benchmark": self.benchmark}
        services = {service.process.pid: name for name, service in names.items()}
        url = f"http://127.0.0.1:{self.recorder.port}"
        with replace(self.benchmark, url=url).client() as http:
            self.run_id = str(benchmark_service.submitted(http, suite=SUITE)["id"])
            assert pausing.is_paused.wait(PATIENCE_S), self.benchmark.log.read_text()
            self.pieces = pieces_of(self.confession)
            self.looks["during"] = Look.at(services, self.pieces, self.since_s)
            found = files_in(self.services.blobs)
            self.blobs = dict.fromkeys(found, False) | dict.fromkeys(holding(found, self.pieces), True)
            pausing.go_on()
            run = benchmark_service.when(http, self.run_id, "done")
            assert run["recorded"] == {"ok": 2}
            assert done(http.get(f"/v1/runs/{self.run_id}/results"))
        self.looks["after"] = Look.at(services, self.pieces, self.since_s)


def parts_holding(url: str, pieces: list[bytes]) -> set[str]:
    """In which parts of an embedded server's data folder a piece is: ``base`` has the tables, ``pg_wal`` the log."""
    superuser = url.replace("postgresql://ciphermark@/ciphermark", "postgresql://postgres@/postgres")
    folder = data_folder_of(superuser)
    return {path.relative_to(folder).parts[0] for path in holding(files_in(folder), pieces)}


def tables_holding(url: str, pieces: list[bytes]) -> set[tuple[str, str]]:
    return {place for place, rows in tables_of(url).items() if count(rows, pieces)}


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    folder, since_s = tmp_path_factory.mktemp("full"), time.time()
    extra = {"CONFESSION": str(folder / "confession"), "CIPHERMARK_LOG_LEVEL": "debug"}
    services = Services(folder, extra)
    with ExitStack() as ending:
        ending.callback(services.stop)
        client, server = services.start("client"), services.start("server")
        pausing = Pausing(client)
        addressed = {
            "CIPHERMARK_ADAPTER_PATH": f"{PLANTED}:{CONFESSION}",
            "CIPHERMARK_CLIENT_URL": f"http://127.0.0.1:{pausing.port}",
            "CIPHERMARK_CLIENT_TOKEN": client.token,
            "CIPHERMARK_SERVER_URL": server.url,
            "CIPHERMARK_SERVER_TOKEN": server.token,
            "CIPHERMARK_LOG_LEVEL": "debug",
        }
        ending.callback(embedded.stop, folder / "data")
        url = embedded.ensure_started(folder / "data")
        benchmark = benchmark_service.started(folder, url, "--worker", **addressed)
        ending.callback(benchmark_service.ended, benchmark)
        recorder = Recorder(httpx.URL(benchmark.url).port)
        made = Full(services, client, server, benchmark, recorder, since_s)
        made.execute(pausing)
        yield made


@pytest.fixture(scope="module")
def trials(full):
    """The run's and the trial's id, by variant, as they are recorded."""
    query = "select variant, trial.run_id, id from trial join case_info using (case_info_id)"
    with psycopg.connect(full.benchmark.database_url) as connection:
        found = connection.execute(query).fetchall()
    assert {run_id for _, run_id, _ in found} == {full.run_id}
    return {variant: (run_id, trial_id) for variant, run_id, trial_id in found}


def test_one_party_of_the_client_alone_has_it_while_the_run_is_under_way(full):
    look = full.looks["during"]
    look.assert_seen(ALWAYS_THERE | {"worker --role client": 2, "worker --role server": 2, "forkserver": 2})
    ((holder, number),) = look.holders.items()
    assert "ciphermark_measure.parties.worker --role client" in holder
    assert number == len(full.pieces[::PIECES])
    assert look.files == []


def test_no_process_has_it_after_the_run(full):
    look = full.looks["after"]
    look.assert_seen(ALWAYS_THERE | {"parties.worker": 0, "forkserver": 1})
    assert look.holders == {}
    assert look.files == []


def test_it_is_not_in_the_traffic(full):
    for recorder in (full.client.recorder, full.server.recorder, full.recorder):
        assert b"POST /v1/" in recorder.traffic
        assert count(recorder.traffic, full.pieces) == 0


def test_it_is_not_on_the_volume_nor_in_logs_nor_journals(full):
    """The folder holds all that the services write, the database's files included."""
    files = files_in(full.services.folder)
    assert {path.suffix for path in files} >= {".log", ".jsonl"}
    assert len(full.blobs) >= 5
    assert not any(full.blobs.values())
    assert files_in(full.services.blobs) == []  # they went with their sessions
    assert holding(files, full.pieces) == [full.confession]


def test_it_is_in_no_table(full, trials):
    url = full.benchmark.database_url
    ids = [part.encode() for part in trials["confessing"]]
    tables = {table for table, _ in tables_holding(url, ids)}
    assert tables >= {"public.run", "public.trial", "public.series", "public.job"}
    assert tables_holding(url, full.pieces) == set()


def test_it_is_in_no_file_of_the_database(full, trials):
    """Neither in those of tables nor in the write-ahead log, where what was rolled back or removed still is."""
    url = full.benchmark.database_url
    ids = [part.encode() for part in trials["confessing"]]
    assert parts_holding(url, ids) >= {"base", "pg_wal"}
    assert parts_holding(url, full.pieces) == set()


def test_tokens_are_in_no_log_and_no_table(full):
    tokens = [token.encode() for token in (full.client.token, full.server.token, benchmark_service.TOKEN)]
    for service in (full.client, full.server):
        assert service.token in service.recorder.traffic.decode("latin-1")
    logs = [path for path in files_in(full.services.folder) if path.suffix in (".log", ".jsonl")]
    assert holding(logs, tokens) == []
    assert tables_holding(full.benchmark.database_url, tokens) == set()


@pytest.mark.parametrize("name", ["client", "server"])
def test_every_line_of_a_log_names_the_recorded_trial(full, trials, name):
    service = getattr(full, name)
    leftovers = ("DELETE", "/v1/sessions")  # of a run: asked for before its first trial
    requests = [line for line in service.events("request") if (line["method"], line["path"]) != leftovers]
    named = [*requests, *service.events("session opened"), *service.events("session ended")]
    assert {(line.get("run_id"), line.get("trial_id")) for line in named} == set(trials.values())
    opened = {line["variant"]: line for line in service.events("session opened")}
    assert opened.keys() == trials.keys()
    for variant, line in opened.items():
        of_session = [item for item in named if line["session"] in json.dumps(item)]
        assert len(of_session) > 5
        assert {(item["run_id"], item["trial_id"]) for item in of_session} == {trials[variant]}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """The URL of a server of its own, since what it once held stays in its files."""
    folder = tmp_path_factory.mktemp("planted")
    yield embedded.ensure_started(folder)
    embedded.stop(folder)


PLANTED_AS = {
    "bytes": ("bytea", lambda piece: b"." + piece),
    "hex": ("text", lambda piece: "key: " + piece.hex()),
    "base64": ("text", lambda piece: base64.b64encode(b".." + piece + b"..").decode()),
}


@pytest.mark.parametrize("form", PLANTED_AS)
def test_a_piece_in_a_table_is_found(full, planted, form):
    kind, written = PLANTED_AS[form]
    piece = full.pieces[list(PLANTED_AS).index(form)]
    assert tables_holding(planted, [piece]) == set()
    with psycopg.connect(planted, autocommit=True) as connection:
        connection.execute(f"create table scratch (planted {kind})")
        connection.execute("insert into scratch values (%s)", [written(piece)])
        assert tables_holding(planted, [piece]) == {("public.scratch", "text"), ("public.scratch", "binary")}
        connection.execute("drop table scratch")
    assert parts_holding(planted, [piece]) == {"pg_wal"}


def test_a_piece_that_was_rolled_back_is_found(full, planted):
    piece = full.pieces[-1]
    with psycopg.connect(planted) as connection:
        connection.execute("create table cancelled (planted bytea)")
        connection.commit()
        connection.execute("insert into cancelled values (%s)", [piece])
        connection.rollback()
    assert tables_holding(planted, [piece]) == set()
    assert parts_holding(planted, [piece]) == {"base", "pg_wal"}
