"""What client and server have in common: a table of answers, and failures that are data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ciphermark_adapters import registry
from ciphermark_core.errors import UserError
from ciphermark_measure.blobs import Blob, BlobStore
from ciphermark_measure.parties import messages
from ciphermark_measure.service import refusal
from ciphermark_workloads.learning.workload import Workload


class OutOfOrder(Exception):
    """A request came before the one that it builds on."""


class Party(ABC):
    """Answers one request at a time.

    ``store`` is where blobs come from and go to; ``workloads`` are those that can be asked for, by name.
    """

    def __init__(self, store: BlobStore, workloads: Mapping[str, Workload]) -> None:
        self.store = store
        self.workloads = workloads

    @property
    @abstractmethod
    def answers(self) -> Mapping[type, Callable[[Any], messages.Reply]]:
        """What to do for each kind of request."""

    def answer(self, request: messages.Request) -> messages.Reply:
        """Answer one request; whatever goes wrong becomes ``Refused``."""
        try:
            return self.answers[type(request)](request)
        except Exception as error:  # a library may throw anything: it costs one trial
            return refusal(error)

    def workload_named(self, name: str) -> Workload:
        """The workload; raises ``UserError`` for an unknown one."""
        try:
            return self.workloads[name]
        except KeyError:
            raise UserError(
                f"unknown workload {name!r}; known: {', '.join(sorted(self.workloads))}"
            ) from None

    def got(self, blobs: Sequence[Blob]) -> list[bytes]:
        """The bytes of blobs."""
        return [self.store.get(blob) for blob in blobs]

    def kept(self, items: Sequence[bytes]) -> tuple[Blob, ...]:
        """Keep bytes as blobs, one each."""
        return self.store.put_all(items)


def compression_of(variant: str) -> str:
    """How a variant's ciphertexts travel: in the first way that it declares."""
    return registry.declaration(variant).compressions[0]
