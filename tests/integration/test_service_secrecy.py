"""The secret key is in the client's own process, and nowhere else that can be looked at after a full run.

The variant ``confessing`` is ``seal``, but its key owner writes the secret key to a file that only this test reads.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path

import psutil
import pytest
from running_services import Pair, Services, done, phases_of

WORKLOAD = "lmc-encrypted"
PIECE_BYTES = 48
READ_BYTES = 1 << 24


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    made = Services(folder, {"CONFESSION": str(folder / "confession"), "CIPHERMARK_LOG_LEVEL": "debug"})
    yield made
    made.stop()


@pytest.fixture(scope="module")
def pair(services):
    """A workload from keys to score, with both sessions still open."""
    client, server = services.start("client"), services.start("server")
    made = Pair.open(client, server, "confessing", WORKLOAD)
    phases = phases_of(client, WORKLOAD)
    assert phases == ["train", "infer"]
    assert done(made.score(made.evaluated(phases)))["complaint"] is None
    return made


@pytest.fixture(scope="module")
def pieces(services, pair):
    """Pieces of the secret key as SEAL serializes it and holds it in memory, none a repetition of few bytes."""
    data = Path(services.extra["CONFESSION"]).read_bytes()
    step = len(data) // 16
    cut = [data[start : start + PIECE_BYTES] for start in range(step, len(data) - PIECE_BYTES, step)]
    found = [piece for piece in cut if len(set(piece)) > 6]
    assert len(found) > 10
    return found


def in_any_form(piece):
    """The bytes, and how they look as text."""
    texts = [piece.hex().encode(), piece.hex().upper().encode()]
    for shift in range(3):  # base64 depends on where in the data the piece begins
        whole = base64.b64encode(piece[shift : shift + 45])
        texts += [whole, base64.urlsafe_b64encode(piece[shift : shift + 45])]
    return [piece, *texts]


def count(data, pieces):
    return sum(any(form in data for form in in_any_form(piece)) for piece in pieces)


def memory_of(pid):
    """All that is mapped into a process and can be read, block by block, each with the end of the one before."""
    with Path(f"/proc/{pid}/maps").open() as maps, Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in maps:
            span, permissions, *_ = line.split()
            if permissions[0] != "r" or line.rstrip().endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")):
                continue
            first, last = (int(part, 16) for part in span.split("-"))
            for start in range(first, last, READ_BYTES):
                memory.seek(start)
                try:
                    yield memory.read(min(READ_BYTES + 4 * PIECE_BYTES, last - start))
                except OSError:
                    break  # a device's memory


def found_in_memory(pid, pieces):
    blocks = list(memory_of(pid))
    assert sum(map(len, blocks)) > 1 << 20
    return sum(any(piece in block for block in blocks) for piece in pieces)


def test_the_search_finds_what_is_there(pair, pieces):
    (party,) = pair.client.parties()
    assert found_in_memory(party.pid, pieces) == len(pieces)
    spread = b"x".join(base64.b64encode(b"." * shift + piece) for shift, piece in enumerate(pieces))
    assert count(spread, pieces) == len(pieces)


def test_it_is_not_on_the_shared_volume(services, pair, pieces):
    blobs = list(services.blobs.iterdir())
    assert len(blobs) >= 5
    assert {path.name: count(path.read_bytes(), pieces) for path in blobs} == {path.name: 0 for path in blobs}


def test_it_is_not_in_the_memory_of_the_server(pair, pieces):
    process = psutil.Process(pair.server.process.pid)
    parties = pair.server.parties()
    assert len(parties) == 1
    for item in (process, *parties):
        assert found_in_memory(item.pid, pieces) == 0


def test_it_is_not_in_files_that_the_server_maps_or_has_open(pair, pieces):
    for process in (psutil.Process(pair.server.process.pid), *pair.server.parties()):
        mapped = {Path(item.path) for item in process.memory_maps() if item.path.startswith("/")}
        opened = {Path(f"/proc/{process.pid}/fd/{name}") for name in os.listdir(f"/proc/{process.pid}/fd")}
        files = [path for path in mapped | opened if path.is_file()]
        assert files
        assert [path for path in files if count(path.read_bytes(), pieces)] == []


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
    files = [path for path in services.folder.rglob("*") if path.is_file() and path != confession]
    assert any(path.suffix == ".log" for path in files)
    assert [path for path in files if count(path.read_bytes(), pieces)] == []


def test_tokens_are_not_in_logs(services, pair):
    for service in (pair.client, pair.server):
        assert service.token in service.recorder.traffic.decode("latin-1")
        assert service.token not in service.log


def test_it_is_gone_with_the_session(pair, pieces):
    (party,) = pair.client.parties()
    pair.close()
    assert not psutil.pid_exists(party.pid)
    assert found_in_memory(pair.client.process.pid, pieces) == 0
