"""How queries of retrieval are encrypted: with the secret key and seeds, or as published protocols do, with the public
key, whose noise is larger; and what comes of an answer that is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from ciphermark_adapters import registry
from ciphermark_core.descriptor import Value
from ciphermark_core.model import Scheme
from ciphermark_measure import confinement
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import Blob
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload
from ciphermark_workloads.parameters import NOTHING, Override, recommended
from ciphermark_workloads.retrieval.columns import FastPir
from ciphermark_workloads.retrieval.database import Database, Rows

from .checks.parties import Parties, answered

pytestmark = [pytest.mark.schemes("bfv"), pytest.mark.variants("seal")]

DATABASE: dict[str, Value] = {"elements": 8192, "element_bytes": 64}
NARROW = Override(modulus_bits=(45, 56))


class _OneBitOff(NamedTuple):
    """A database with another last bit in the first byte of every element."""

    right: Database

    def rows(self, start: int, stop: int) -> Rows:
        found = self.right.rows(start, stop).copy()
        found[:, 0] ^= 1
        return found


class _Altered(FastPir):
    def database(self) -> Database:
        return _OneBitOff(super().database())


def _scored(
    folder: Path,
    variant: str,
    scheme: Scheme,
    *,
    is_public: bool = False,
    override: Override = NOTHING,
    servers: Mapping[str, AnyWorkload] = WORKLOADS,
) -> tuple[int, messages.Reply]:
    """The bytes of a query for an element of :data:`DATABASE`, and what the client says of the answer."""
    options = DATABASE | {"public_key_queries": is_public}
    workload = WORKLOADS["fast-pir"].with_options(options)
    spec = recommended(workload, scheme, registry.declaration(variant), override)
    parties = Parties(folder, variant, workload.name, options, parameters=spec, servers=servers)
    sent = parties.sent(5)
    return sum(blob.size_bytes for blob in sent.inputs), parties.scored(parties.evaluated(sent), 5)


def test_noise_of_the_public_key_exhausts_what_the_secret_key_leaves_room_for(
    variant: str, scheme: Scheme, tmp_path: Path
) -> None:
    """A wrong answer is 8.7 standard deviations of a coefficient's noise away with the secret key, and 1.8 with the
    public one (columns.noise_ratio): of 4,096 normal coefficients one is beyond it with a chance of 2e-14, and none
    with one of 0.934^4096 < 1e-100.
    """
    seeded_bytes, seeded = _scored(tmp_path / "secret", variant, scheme, is_public=False, override=NARROW)
    public_bytes, public = _scored(tmp_path / "public", variant, scheme, is_public=True, override=NARROW)
    assert isinstance(seeded, messages.Scored), seeded
    assert seeded.complaint is None
    assert isinstance(public, messages.Refused), public
    assert (public.status, public.error) == (
        "budget_exhausted",
        "no noise budget is left in what the server returned",
    )
    assert public_bytes / seeded_bytes == pytest.approx(2, rel=0.05)  # but for what tells what each object is


def test_one_wrong_byte_is_wrong(variant: str, scheme: Scheme, tmp_path: Path) -> None:
    """A server whose elements have one wrong bit each, and so one wrong byte, among ciphertexts with room for noise."""
    _, right = _scored(tmp_path / "right", variant, scheme)
    _, wrong = _scored(tmp_path / "wrong", variant, scheme, servers={"fast-pir": _Altered()})
    assert isinstance(right, messages.Scored), right
    assert isinstance(wrong, messages.Scored), wrong
    assert right.complaint is None
    assert wrong.complaint.startswith("1 of 64 values are incorrect: ")
    assert (right.accuracy.incorrect_slots, wrong.accuracy.incorrect_slots) == (0, 1)


def test_a_batch_without_a_bucket_for_each_index_is_refused_before_anything_is_sent(
    variant: str, scheme: Scheme, tmp_path: Path
) -> None:
    """The indices of seed 9507 have too few buckets together, those of 9508 enough: told as unsupported, with nothing
    written for the server.
    """
    options: dict[str, Value] = {"elements": 100, "element_bytes": 1, "wanted": 16}
    parties = Parties(tmp_path, variant, "batch-pir", options, scheme=scheme)
    before = {*tmp_path.iterdir()}
    refused = answered(parties.client, messages.Encrypt("answer", messages.Source(9507)), messages.Refused)
    assert (refused.status, refused.error.partition(":")[0]) == (
        "unsupported",
        "16 indices cannot be assigned to different buckets of 24. All indices must differ. Rarely, different indices "
        "collide",
    )
    assert {*tmp_path.iterdir()} == before
    parties.sent(9508)
    assert {*tmp_path.iterdir()} > before


_ASKED: Mapping[str, tuple[Mapping[str, Value], int]] = {
    "fast-pir": ({"elements": 5000, "element_bytes": 33}, 3),
    "batch-pir": ({"elements": 200, "element_bytes": 33, "wanted": 16}, 1),
    "keyword-pir": ({"records": 3000, "value_bytes": 33}, 2),
    "mul-pir": ({"elements": 500, "element_bytes": 33}, 1),
    "seal-pir": ({"elements": 500, "element_bytes": 33}, 2),
    "constant-weight-pir": ({"records": 8, "value_bytes": 9, "keyword_bits": 4}, 1),
}


@pytest.mark.parametrize("name", _ASKED)
def test_queries_of_too_few_or_too_many_ciphertexts_are_refused_before_any_work(
    variant: str, scheme: Scheme, name: str, tmp_path: Path
) -> None:
    """Whether or not the database is prepared by then; and the server answers the next query as ever."""
    options, count = _ASKED[name]
    parties = Parties(tmp_path, variant, name, options, scheme=scheme)
    server, sent = parties.server, parties.sent(1)
    parts = server.got(sent.inputs)
    assert len(parts) == count
    few, many = server.kept(parts[1:]), server.kept([*parts, parts[0]])

    def require_refused(inputs: tuple[Blob, ...]) -> None:
        reply = answered(server, messages.Evaluate("answer", inputs, sent.public), messages.Refused)
        told = f"{name} takes {count} ciphertexts in the stage answer, not {inputs[0].parts}"
        assert (reply.cause, told in reply.error) == ("UserError", True)

    for inputs in (few, many):
        require_refused(inputs)
    assert isinstance(server.answer(messages.Describe("answer")), messages.Refused)  # nothing was made
    parties.evaluated(sent)
    for inputs in (few, many):
        require_refused(inputs)
    again = parties.evaluated(sent)
    assert "encode" not in {sample.step for sample in again.samples}
    scored = parties.scored(again, 1)
    assert isinstance(scored, messages.Scored), scored
    assert scored.complaint is None


def test_a_database_that_memory_does_not_hold_is_refused_before_it_is_made(
    variant: str, scheme: Scheme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2^22 elements of 64 KiB are 256 GiB, and their plaintexts more."""
    monkeypatch.setattr(confinement, "memory_limit", lambda: 8192 << 20)
    parties = Parties(tmp_path, variant, "seal-pir", {"elements": 9}, scheme=scheme)
    server, material = parties.server, parties.keys.material
    options: dict[str, Value] = {"elements": 1 << 22, "element_bytes": 1 << 16}
    refused = answered(server, messages.Load(variant, "seal-pir", material, options), messages.Refused)
    assert refused.status == "out_of_memory"
    assert "on the server with these options, and 8192 MB are all that it may have" in refused.error
    answered(server, messages.Load(variant, "seal-pir", material, {"elements": 9}), messages.Loaded)
