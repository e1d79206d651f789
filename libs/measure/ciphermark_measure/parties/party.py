"""What client and server have in common: a table of answers, and failures that are data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ciphermark_adapters import registry
from ciphermark_core.descriptor import Value
from ciphermark_measure.blobs import Blob, BlobStore
from ciphermark_measure.parties import messages
from ciphermark_measure.service import refusal
from ciphermark_workloads.catalogue import AnyWorkload, named
from ciphermark_workloads.workload import Stage

T = TypeVar("T")


class OutOfOrder(Exception):
    """A request came before the one that it builds on."""


class Party(ABC):
    """Answers one request at a time.

    ``store`` is where blobs come from and go to; ``workloads`` are those that can be asked for, by name.
    """

    def __init__(self, store: BlobStore, workloads: Mapping[str, AnyWorkload]) -> None:
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

    def configured(self, name: str, options: Mapping[str, Value]) -> AnyWorkload:
        """The workload with its options; raises ``UserError`` for an unknown one, and for options it does not have."""
        return named(self.workloads, name).with_options(options)

    def server_stage(self, workload: AnyWorkload, name: str) -> Stage:
        """The stage of a name; raises ``OutOfOrder`` for one that the server does not compute in."""
        stages = {stage.name: stage for stage in workload.server_stages}
        if name not in stages:
            raise OutOfOrder(f"{workload.name} has no stage {name} for the server, only {', '.join(stages)}")
        return stages[name]

    def got(self, blobs: Sequence[Blob]) -> list[bytes]:
        """The bytes of blobs."""
        return [self.store.get(blob) for blob in blobs]

    def kept(self, items: Sequence[bytes]) -> tuple[Blob, ...]:
        """Keep bytes as blobs, one each."""
        return self.store.put_all(items)


def compression_of(variant: str) -> str:
    """How a variant's ciphertexts travel: in the first way that it declares."""
    return registry.declaration(variant).compressions[0]


def equal_parts(items: Sequence[T], count: int) -> list[Sequence[T]]:
    """The items in so many parts of one length; raises ``ValueError`` where that cannot be."""
    length, rest = divmod(len(items), count)
    if rest:
        raise ValueError(f"{len(items)} ciphertexts are not those of a batch of {count}")
    return [items[length * i : length * (i + 1)] for i in range(count)]
