"""The parts that a worker prepares once: library, parameters and keys."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from time import perf_counter
from typing import IO, TypeAlias

from ciphermark_adapters import registry
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import (
    Evaluator,
    Handle,
    KeyOwner,
    KeyRequest,
    Unsupported,
    Vector,
    lowered,
)
from ciphermark_contract.keys import NO_KEYS
from ciphermark_contract.operations import within_row
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec, Sample
from ciphermark_measure import confinement
from ciphermark_measure.parameter_selection import reason_against_operation, resolved


class Copies:
    """Handles of equal objects in memory of their own, as many as any trial has asked for. Those of another group, such
    as a level, are dropped first: consecutive trials share a group.
    """

    def __init__(self) -> None:
        self._group: Hashable = None
        self._handles: dict[Hashable, list[Handle]] = {}

    def of(self, group: Hashable, key: Hashable, make: Callable[[], Handle]) -> Iterator[Handle]:
        """The copies of one object, without an end; ``make`` makes one more."""
        if group != self._group:
            self._group, self._handles = group, {}
        handles = self._handles.setdefault(key, [])
        for number in count():
            if number == len(handles):
                handles.append(make())
            yield handles[number]


@dataclass(frozen=True, slots=True)
class Session:
    """One variant with one parameter set and its keys: the basis of every trial of a worker.

    ``keys`` are the requested ones. Trials share ``encryptions``. ``executed`` are the operations that this process has
    executed so far. ``controls`` keeps the results of control experiments of this worker, by operation and count: see
    :mod:`ciphermark_measure.experiments.base`. ``client_peaks`` is the memory of encrypting a vector and of decrypting
    a result. ``timed`` are the encryptions and decryptions whose times are recorded: see
    :mod:`ciphermark_measure.experiments.latency`. ``copies`` are the ciphertexts that streamed trials share.
    """

    declaration: Declaration
    parameters: Parameters
    owner: KeyOwner
    evaluator: Evaluator
    keys: KeyRequest
    keys_s: float
    encryptions: Encryptions
    executed: set[str] = field(default_factory=set)
    controls: dict[tuple[str, int | None], bool | None] = field(default_factory=dict)
    client_peaks: dict[Hashable, list[Sample]] = field(default_factory=dict)
    timed: set[Hashable] = field(default_factory=set)
    copies: Copies = field(default_factory=Copies)

    def to_evaluator(self, values: Sequence[Vector], level: int | None = None) -> list[Handle]:
        """Ciphertexts of vectors, handed over as bytes, fresh or brought down to a level; equal vectors were encrypted
        once.
        """
        return [self.evaluator.load(self.encryptions.of(vector, level)) for vector in values]

    def decrypted(self, ciphertexts: Sequence[Handle]) -> list[Vector]:
        """Hand results back to the owner and decrypt them."""
        return [self.owner.decrypt(self.to_owner(item)) for item in ciphertexts]

    def to_owner(self, ciphertext: Handle) -> Handle:
        """Hand one ciphertext back to the owner, as bytes."""
        return self.owner.load(self.evaluator.dump(ciphertext, self.compression))

    def require_possible(self, operation: str) -> None:
        """Raise ``Unsupported`` where the operation needs key switching and the chain is too short for it, or its
        arguments do not fit the ring."""
        reason = reason_against_operation(operation, self.parameters)
        if reason is not None:
            raise Unsupported(reason)

    @property
    def compression(self) -> str:
        """The first of the library's modes of serialization."""
        return self.declaration.compressions[0]


def prepare(variant: str, spec: ParameterSpec, keys: KeyRequest) -> Session:
    """Load the library, choose the parameters that it really takes, with the requested security, and make keys.

    Raises ``Unsupported`` for parameters that cannot exist or are less secure than requested. Keys are not made where
    the variant has no operation for them or the modulus chain no room.
    """
    declared = require_scheme(variant, spec)
    adapter = registry.load(variant)
    parameters = resolved(adapter, spec)
    request = possible(keys, declared, parameters)
    _require_room(parameters, request)
    start = perf_counter()
    owner = adapter.key_owner(parameters, request)
    evaluator = adapter.evaluator(owner.public_material())
    keys_s = perf_counter() - start
    compression = declared.compressions[0]
    encryptions = Encryptions(
        lambda vector: owner.dump(owner.encrypt(vector), compression),
        lower=lambda data, level: evaluator.dump(
            lowered(evaluator, evaluator.load(data), level), compression
        ),
    )
    return Session(declared, parameters, owner, evaluator, keys, keys_s, encryptions)


def _require_room(parameters: Parameters, keys: KeyRequest) -> None:
    """Raise ``Unsupported`` where the keys of bootstrapping alone exceed the memory of this process."""
    bootstrapping, limit = parameters.bootstrapping, confinement.memory_limit()
    if bootstrapping is None or keys.bootstrapping is None or limit is None:
        return
    needed_mb, limit_mb = (-(-size >> 20) for size in (bootstrapping.key_bytes or 0, limit))
    if needed_mb > limit_mb:
        raise Unsupported(
            f"bootstrapping keys take {needed_mb:,} MB, and the budget allows {limit_mb:,} MB (memory_mb)"
        )


def library_of(variant: str) -> LibraryInfo:
    """The library's description of itself. Some libraries read whole binaries for it, so key generation excludes it."""
    is_reference = registry.declaration(variant).is_reference
    return replace(registry.load(variant).info(), is_reference=is_reference)


def require_scheme(variant: str, spec: ParameterSpec) -> Declaration:
    """The variant's declaration; raises ``Unsupported`` for a scheme that it does not have."""
    declared = registry.declaration(variant)
    if spec.scheme not in declared.schemes:
        raise Unsupported(f"{declared.library} offers no {spec.scheme} here")
    return declared


def possible(keys: KeyRequest, declared: Declaration, parameters: Parameters) -> KeyRequest:
    """The requested keys that the variant has an operation for, the modulus chain has room for, and rows have slots
    for.
    """
    if parameters.key_switching is None:
        return NO_KEYS
    steps = (step for step in keys.steps if within_row(step, parameters.ring_dimension))
    keys = replace(keys, rotations=KeyRequest.of(rotations=steps).rotations)
    return keys.of_kinds(declared.key_kinds(parameters.spec.scheme))


_MAX_BYTES = 1 << 30
_Place: TypeAlias = tuple[bytes, int | None]


def _cannot_lower(data: bytes, level: int) -> bytes:
    raise NotImplementedError("these encryptions are fresh")


class Encryptions:
    """Bytes of ciphertexts, by their content and level. A full cache is emptied: consecutive trials share most
    ciphertexts. ``lower`` brings the bytes of a fresh ciphertext down to a level.
    """

    def __init__(
        self,
        encrypt: Callable[[Vector], bytes],
        max_bytes: int = _MAX_BYTES,
        lower: Callable[[bytes, int], bytes] = _cannot_lower,
    ) -> None:
        self._encrypt = encrypt
        self._lower = lower
        self._max_bytes = max_bytes
        self._file: IO[bytes] | None = None
        self._places: dict[_Place, tuple[int, int]] = {}
        self._end = 0

    def of(self, vector: Vector, level: int | None = None) -> bytes:
        """An encryption of a vector, fresh or at a level; the same one for equal vectors, as long as it is kept."""
        place = digest(vector), level
        if place not in self._places:
            made = self._encrypt(vector) if level is None else self._lower(self.of(vector), level)
            return self._kept(place, made)
        offset, size = self._places[place]
        assert self._file is not None
        self._file.seek(offset)
        return self._file.read(size)

    def _kept(self, place: _Place, made: bytes) -> bytes:
        if len(made) > self._max_bytes:
            return made
        if self._file is None or self._end + len(made) > self._max_bytes:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is open as long as this object
            self._places, self._end = {}, 0
        self._file.seek(self._end)
        self._file.write(made)
        self._places[place] = self._end, len(made)
        self._end += len(made)
        return made


def digest(vector: Vector) -> bytes:
    """The identity of a vector: its type and its values."""
    return hashlib.blake2b(vector.tobytes() + vector.dtype.str.encode(), digest_size=32).digest()
