"""Client and server of a workload in this process: what they send each other goes through blobs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from ciphermark_core.descriptor import Value
from ciphermark_core.model import ParameterSpec, Scheme
from ciphermark_measure.parties import messages
from ciphermark_measure.parties.blobs import BlobStore
from ciphermark_measure.parties.client import Client
from ciphermark_measure.parties.server import Server
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload

Kind = TypeVar("Kind")


def no_data(name: str) -> None:
    raise LookupError(f"there is no data set {name}")


def answered(party: Client | Server, request: Any, kind: type[Kind]) -> Kind:
    """The reply of a party, which is of this kind."""
    reply = party.answer(request)
    assert isinstance(reply, kind), reply
    return reply


class Parties:
    """A client with keys, and a server that has what it needs for the stage ``answer``."""

    def __init__(
        self,
        folder: Path,
        variant: str,
        name: str,
        options: Mapping[str, Value],
        *,
        parameters: ParameterSpec | None = None,
        scheme: Scheme | None = None,
        servers: Mapping[str, AnyWorkload] = WORKLOADS,
    ) -> None:
        store, own = BlobStore(folder), dict(options)
        self.client, self.server = Client(store, WORKLOADS, no_data), Server(store, servers)
        request = messages.MakeKeys(variant, name, parameters, scheme=scheme, options=own)
        self.keys = answered(self.client, request, messages.KeysMade)
        answered(self.server, messages.Load(variant, name, self.keys.material, own), messages.Loaded)

    def sent(self, seed: int) -> messages.Encrypted:
        """What the client asks for the input that a seed makes."""
        return answered(self.client, messages.Encrypt("answer", messages.Source(seed)), messages.Encrypted)

    def evaluated(self, sent: messages.Encrypted) -> messages.Evaluated:
        """What the server answers."""
        request = messages.Evaluate("answer", sent.inputs, sent.public)
        return answered(self.server, request, messages.Evaluated)

    def scored(self, back: messages.Evaluated, seed: int) -> messages.Reply:
        """What the client makes of it."""
        return self.client.answer(messages.Score(back.outputs, messages.Source(seed)))

    def passed(self, seed: int) -> tuple[messages.Encrypted, messages.Evaluated, messages.Scored]:
        """All that is said in a pass."""
        sent = self.sent(seed)
        back = self.evaluated(sent)
        scored = self.scored(back, seed)
        assert isinstance(scored, messages.Scored), scored
        return sent, back, scored
