"""The data sets of the client service, over REST."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import msgspec

from ciphermark_benchmark.data_sets.known import Known
from ciphermark_core.errors import UserError
from ciphermark_web.rest import NoAnswer, RequestRefused, RestClient, Service

_PATH = "/v1/data-sets"
_TIMEOUT_S = 60.0
_shapes = msgspec.json.Decoder(list[Known])


class ClientAway(UserError):
    """The client service does not answer, or not as it should."""


class ClientData:
    """Asked once, when something is looked for first. All methods raise ``ClientAway``."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def names(self) -> Iterable[str]:
        """What the client has."""
        return self._known

    def find(self, name: str) -> Known | None:
        """One of them."""
        return self._known.get(name)

    def put(self, name: str, data: bytes) -> None:
        """Give the client one; ``name`` must be what its contents make it."""
        stem, _, _ = name.rpartition("@")
        answer = self._sent("POST", f"{_PATH}?name={stem}" if stem else _PATH, data)
        if msgspec.json.decode(answer, type=Known).name != name:
            raise ClientAway(f"{self._told} calls the data set {name} otherwise: is it of this version?")

    @cached_property
    def _known(self) -> dict[str, Known]:
        try:
            return {shape.name: shape for shape in _shapes.decode(self._sent("GET", _PATH))}
        except msgspec.MsgspecError as error:
            raise ClientAway(f"{self._told} answers nonsense: {error}") from None

    def _sent(self, method: str, path: str, content: bytes | None = None) -> bytes:
        try:
            with RestClient(self._service, _TIMEOUT_S) as rest:
                return rest.send(method, path, content, headers={"Content-Type": "text/csv"})
        except NoAnswer as error:
            raise ClientAway(f"{self._told}, which has the data sets, does not answer: {error}") from None
        except RequestRefused as refusal:
            raise ClientAway(f"{self._told}: {refusal.body[:300]}") from None

    @property
    def _told(self) -> str:
        return f"the client service at {self._service.url}"
