"""Inputs that somebody changed, under their right digests: whatever a library makes of them, its party goes on."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator

import httpx
import pytest
from running_services import OPTIONS, Pair, Running, Services, done, kind_of

WORKLOAD, SCHEME = "lmc-plain", "ckks"
LENGTH_BYTES = 8
SEED = 26
MAY_BE_KEYS = ("flipped", "one byte less", "cut to 0.99")
FOLDER = re.compile(r"(?<![\w.:/])/(?:\w+/)+\w")


@pytest.fixture(scope="module")
def client(services: Services) -> Running:
    return services.start("client")


@pytest.fixture(scope="module")
def server(services: Services) -> Running:
    return services.start("server")


@pytest.fixture(autouse=True)
def no_session_is_left(client: Running, server: Running) -> Iterator[None]:
    yield
    for service in (client, server):
        for session in done(service.http.get("/v1/sessions")):
            service.http.delete(f"/v1/sessions/{session['id']}")


def parts_of(services: Services, blob: dict) -> list[bytes]:
    data, found = (services.blobs / blob["digest"]).read_bytes(), []
    while data:
        end = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "big")
        found.append(data[LENGTH_BYTES:end])
        data = data[end:]
    assert len(found) == blob["parts"]
    return found


def kept_as_blob(services: Services, parts: list[bytes]) -> dict:
    data = b"".join(len(part).to_bytes(LENGTH_BYTES, "big") + part for part in parts)
    digest = hashlib.sha256(data).hexdigest()
    (services.blobs / digest).write_bytes(data)
    return {"digest": digest, "size_bytes": len(data), "parts": len(parts)}


def flipped(data: bytes, places: list[int]) -> bytes:
    changed = bytearray(data)
    for place in places:
        changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def mutations(data: bytes, count: int = 6) -> Iterator[tuple[str, bytes]]:
    """What may become of bytes: the header, where sizes are, is hit as often as all the rest."""
    chance = random.Random(SEED)
    for share in (0.0, 0.1, 0.5, 0.99):
        yield f"cut to {share}", data[: int(len(data) * share)]
    yield "one byte less", data[:-1]
    yield "one byte more", data + b"\0"
    yield "twice", data + data
    yield "zeros", bytes(len(data))
    yield "noise", chance.randbytes(len(data))
    for most in (8 * min(64, len(data)), 8 * len(data)):
        for number in range(count):
            yield (
                f"flipped {most} {number}",
                flipped(data, [chance.randrange(most) for _ in range(1 + number)]),
            )


def sound(answer: httpx.Response, what: str) -> str | None:
    """Require a value or a refusal that callers may see; the kind of a refusal."""
    assert answer.status_code in (200, 201, 422), (what, answer.text)
    if answer.is_success:
        return None
    assert kind_of(answer) in (
        "library-failed",
        "unsupported",
        "budget_exhausted",
        "blob-refused",
        "invalid",
    ), what
    text = answer.json()["detail"]
    assert "Traceback" not in text, (what, text)
    assert 'File "' not in text, (what, text)
    assert not FOLDER.search(text), (what, text)
    return kind_of(answer)


@pytest.mark.parametrize(
    "variant",
    [*(pytest.param(name, marks=pytest.mark.extended) for name in ("seal", "pyfhel")), "tenseal", "openfhe"],
)
def test_a_party_goes_on_whatever_ciphertexts_are(
    services: Services, client: Running, server: Running, variant: str
) -> None:
    pair, other = (Pair.open(client, server, variant, WORKLOAD, scheme=SCHEME) for _ in range(2))
    own, theirs = (done(each.encrypt("infer")) for each in (pair, other))
    before = [{party.pid for party in service.parties()} for service in (client, server)]
    first, *rest = parts_of(services, own["inputs"][0])
    refused = set()
    for what, data in (*mutations(first), ("of another key", parts_of(services, theirs["inputs"][0])[0])):
        blob = kept_as_blob(services, [data, *rest])
        answer = pair.evaluate("infer", own | {"inputs": [blob]})
        refused.add(sound(answer, f"{variant}, {what}"))
        if answer.is_success:
            sound(pair.score(answer.json()["outputs"]), f"{variant}, {what}, its result")
        sound(pair.score([blob]), f"{variant}, {what}, returned")
    assert "library-failed" in refused
    done(pair.evaluate("infer", own))
    assert [{party.pid for party in service.parties()} for service in (client, server)] == before


@pytest.mark.extended
@pytest.mark.parametrize("variant", ["seal", "tenseal", "pyfhel", "openfhe"])
def test_keys_that_were_changed_are_refused(
    services: Services, client: Running, server: Running, variant: str
) -> None:
    """A flipped bit may make another key, and a last byte may mean nothing; the others are no keys. Only noise could be
    one by chance: it begins with a library's header (magic number, sizes, version: 32 bits or more) once in 2^32 times.
    """
    pair = Pair.open(client, server, variant, WORKLOAD, scheme=SCHEME)
    material = parts_of(services, pair.keys["material"])
    names = {"variant": variant, "workload": WORKLOAD, "options": OPTIONS}
    accepted = []
    for what, data in [("as it was", material[-1]), *mutations(material[-1], count=2)]:
        blob = kept_as_blob(services, [*material[:-1], data])
        answer = server.http.post("/v1/sessions", json=names | {"material": blob})
        if sound(answer, f"{variant}, {what}") is None:
            server.http.delete(f"/v1/sessions/{answer.json()['id']}")
            accepted.append(what)
    assert [what for what in accepted if not what.startswith(MAY_BE_KEYS)] == ["as it was"]
