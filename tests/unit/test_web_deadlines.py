"""Callers that connect and send nothing, or a little at a time; over real connections."""

from __future__ import annotations

import resource
import socket
import threading
import time
from contextlib import ExitStack

import pytest
import uvicorn

from ciphermark_web import serving

ALLOWED_S = 0.5
ROOMY_S = 8.0  # where something has to be sent in time, on a host that may stop for seconds
PATIENCE_S = 60  # of the test: far more than what is allowed
WHOLE = b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"


async def app(scope, receive, send):
    """Answers at once, as to a caller without the token; at ``/read`` once the body is there."""
    has_more = scope["path"] == "/read"
    while has_more:
        message = await receive()
        has_more = message.get("more_body", False)
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(scope="module")
def port():
    allowed = dict(serving.ALLOWED_S)
    serving.ALLOWED_S.update(dict.fromkeys(allowed, ALLOWED_S))
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, http=serving.Deadlined, log_config=None, lifespan="off", ws="none", timeout_keep_alive=30
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join()
    serving.ALLOWED_S.update(allowed)


@pytest.fixture
def connection(port):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as made:
        yield made


def is_closed(connection, trickle=b""):
    """Whether the other side ends the connection, while bytes of ours come one by one."""
    connection.settimeout(0.1)
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        try:
            if trickle:
                connection.sendall(trickle)
            if not connection.recv(1 << 16):
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


@pytest.mark.parametrize(
    ("sent", "trickle"),
    [
        (b"", b""),
        (b"POST /read HT", b""),
        (b"POST /read HTTP/1.1\r\nX: ", b"x"),
        (WHOLE[:-1], b""),
        (b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n\r\n", b"x"),
        (b"POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (
            b"POST /at-once HTTP/1.1\r\nHost: x\r\nContent-Length: 999999\r\n\r\n",
            b"x",
        ),  # the body is unasked for
        (WHOLE + b"P", b""),  # another request that only begins
    ],
)
def test_who_lets_the_service_wait_is_cut_off(connection, sent, trickle):
    connection.sendall(sent)
    assert is_closed(connection, trickle)


def test_who_sends_in_time_is_answered_and_may_pause_between_requests(port, monkeypatch):
    for name in serving.ALLOWED_S:
        monkeypatch.setitem(serving.ALLOWED_S, name, ROOMY_S)
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        for pause_s in (1.5 * ROOMY_S, 0):
            connection.sendall(WHOLE)
            answer = b""
            while not answer.endswith(b"\r\n\r\nok"):
                answer += (part := connection.recv(1 << 16))
                assert part, answer
            assert b"200 OK" in answer
            time.sleep(pause_s)


HELD = b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"  # a request that is in progress


def test_beyond_the_limit_a_connection_takes_the_place_of_the_longest_idle_one(port, monkeypatch):
    monkeypatch.setattr(serving, "connection_limit", lambda: 3)
    monkeypatch.setitem(serving.ALLOWED_S, serving.h11.IDLE, PATIENCE_S)
    with ExitStack() as stack:
        idle = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S))
            for _ in range(8)
        ]
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
            connection.sendall(WHOLE)
            assert b"200 OK" in connection.recv(1 << 16)
        assert all(is_closed(each) for each in idle[:6])
        idle[-1].sendall(WHOLE)
        assert b"200 OK" in idle[-1].recv(1 << 16)


def test_where_all_connections_have_a_request_another_one_is_refused(port, monkeypatch):
    monkeypatch.setattr(serving, "connection_limit", lambda: 2)
    monkeypatch.setitem(serving.ALLOWED_S, serving.h11.SEND_BODY, PATIENCE_S)
    with ExitStack() as stack:
        busy = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S))
            for _ in range(2)
        ]
        for each in busy:
            each.sendall(HELD)
        time.sleep(0.2)  # until both heads are read
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
            assert b"503 Service Unavailable" in connection.recv(1 << 16)
        for each in busy:
            each.sendall(b"ab")
            assert b"200 OK" in each.recv(1 << 16)


def test_the_limit_is_below_that_of_open_files():
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert 0 < serving.connection_limit() < files
