"""The secret key is in the client's own process, and nowhere else that can be looked at while its session is open.

The variant ``confessing`` is ``seal``, but its key owner writes the secret key to a file that only this test reads.
"""

from __future__ import annotations

import base64
from pathlib import Path

import psutil
import pytest
from running_services import Pair, Services, done, stages_of
from secrecy import count, files_in, files_of, found_in_memory, holding, pieces_of

WORKLOAD = "lmc-encrypted"


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    extra = {"CONFESSION": str(folder / "confession"), "CIPHERMARK_LOG_LEVEL": "debug"}
    made = Services(folder, extra, is_fresh=True)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def pair(services):
    """A workload from keys to score, with both sessions still open."""
    client, server = services.start("client"), services.start("server")
    made = Pair.open(client, server, "confessing", WORKLOAD)
    stages = stages_of(client, WORKLOAD)
    assert stages == ["train", "infer"]
    assert done(made.score(made.evaluated(stages)))["complaint"] is None
    return made


@pytest.fixture(scope="module")
def pieces(services, pair):
    return pieces_of(Path(services.extra["CONFESSION"]))


def test_the_search_finds_what_is_there(pair, pieces):
    (party,) = pair.client.parties()
    assert found_in_memory(party.pid, pieces) == len(pieces)
    spread = b"x".join(base64.b64encode(b"." * shift + piece) for shift, piece in enumerate(pieces))
    assert count(spread, pieces) == len(pieces)


def test_it_is_not_on_the_shared_volume(services, pair, pieces):
    blobs = files_in(services.blobs)
    assert len(blobs) >= 5
    assert holding(blobs, pieces) == []


def test_it_is_not_in_the_memory_of_the_server(pair, pieces):
    process = psutil.Process(pair.server.process.pid)
    parties = pair.server.parties()
    assert len(parties) == 1
    for item in (process, *parties):
        assert found_in_memory(item.pid, pieces) == 0


def test_it_is_not_in_files_that_the_server_maps_or_has_open(pair, pieces):
    for process in (psutil.Process(pair.server.process.pid), *pair.server.parties()):
        assert holding(files_of(process), pieces) == []


def test_it_is_not_in_the_traffic(pair, pieces):
    for service in (pair.client, pair.server):
        traffic = service.recorder.traffic
        assert b"POST /v1/sessions" in traffic
        assert count(traffic, pieces) == 0


def test_it_is_not_in_the_memory_of_the_client_service(pair, pieces):
    """It is in the session's process alone."""
    assert found_in_memory(pair.client.process.pid, pieces) == 0


def test_it_is_not_in_logs_and_files(services, pair, pieces):
    confession = Path(services.extra["CONFESSION"])
    files = files_in(services.folder)
    assert any(path.suffix == ".log" for path in files)
    assert holding(files, pieces) == [confession]


def test_tokens_are_not_in_logs(services, pair):
    for service in (pair.client, pair.server):
        assert service.token in service.recorder.traffic.decode("latin-1")
        assert service.token not in service.log


def test_it_is_gone_with_the_session(pair, pieces):
    (party,) = pair.client.parties()
    pair.close()
    assert not psutil.pid_exists(party.pid)
    assert found_in_memory(pair.client.process.pid, pieces) == 0
