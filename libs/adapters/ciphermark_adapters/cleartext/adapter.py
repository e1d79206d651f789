"""The contract over plain vectors: operations have their meaning, without encryption.

Levels, scales and polynomial counts follow the rules of the schemes, so that circuits see the same on ``cleartext`` as
on a library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from typing import Any

import numpy as np

from ciphermark_adapters.cleartext import parameters
from ciphermark_adapters.cleartext import parameters as parameter_sets
from ciphermark_contract import requests
from ciphermark_contract.declaration import Declaration, DeclaredAdapter
from ciphermark_contract.interfaces import Evaluator, Handle, KeyOwner, KeyRequest, Unsupported, Vector
from ciphermark_contract.operations import OPERATIONS, Kind, Operation, Ring, Shape, padded, served, top_level
from ciphermark_core import wire
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec


@dataclass(frozen=True, slots=True)
class Slots:
    """The stand-in for a ciphertext: all slots in plain text."""

    values: Vector
    level: int
    scale: float | None
    polynomials: int = 2


def dumped(handle: Slots, compression: str) -> bytes:
    """Level, scale and polynomial count as one line of JSON, then the slots, 8 bytes each."""
    requests.require_uncompressed(compression, "cleartext")
    head = (handle.level, handle.scale, handle.polynomials, handle.values.dtype.str)
    return wire.to_line(head) + handle.values.tobytes()


def loaded(data: bytes) -> Slots:
    """The inverse of :func:`dumped`."""
    head, _, body = data.partition(b"\n")
    level, scale, polynomials, kind = wire.from_line(head, tuple[int, float | None, int, str])
    return Slots(np.frombuffer(body, dtype=np.dtype(kind)), level, scale, polynomials)


class CleartextKeyOwner(KeyOwner):
    """Holds no key."""

    def __init__(self, parameters: Parameters, generator: int | None = None) -> None:
        self.parameters = parameters
        self._ring = Ring.of(parameters, generator)

    def encrypt(self, values: Vector) -> Handle:
        kind = np.float64 if self.parameters.spec.scheme == "ckks" else np.int64
        full = padded(np.asarray(values, dtype=kind), self.parameters.slots)
        return Slots(full, top_level(self.parameters), self.parameters.scale)

    def decrypt(self, ciphertext: Handle) -> Vector:
        values: Vector = ciphertext.values
        return values

    def noise_budget_bits(self, ciphertext: Handle) -> int | None:
        """See the contract; there is no noise."""
        return None

    def public_material(self) -> Iterator[bytes]:
        """The parameters."""
        yield wire.to_line(self.parameters)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        return dumped(ciphertext, compression)

    def load(self, data: bytes) -> Handle:
        return loaded(data)

    def from_words(self, words: Sequence[Vector], level: int = 0) -> Handle:
        values = parameters.slots_of(self.parameters, self._ring, level, words)
        return Slots(values, level, self.parameters.scale)

    def dump_key(self, item: str, compression: str) -> bytes:
        """Serialize the parameters; there are no keys."""
        requests.require_uncompressed(compression, "cleartext")
        if item != "parameters":
            raise Unsupported(f"cleartext has no {item}")
        return wire.to_line(self.parameters)


class CleartextEvaluator(Evaluator):
    """Applies the meaning of every operation."""

    def __init__(self, parameters: Parameters, declared: Declaration) -> None:
        self.parameters = parameters
        self._declared = declared
        self._ring = Ring.of(parameters, declared.slot_generator)
        scheme = parameters.spec.scheme
        keys = declared.key_kinds(scheme)
        if parameters.bootstrapping is None:
            keys = replace(keys, bootstrapping=None)
        self._table: dict[str, Callable[..., Handle]] = {
            name: partial(self._applied, OPERATIONS[name])
            for name in served(declared.operations[scheme], keys)
        }

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        return self._table

    def reason_against(self, operation: str) -> str:
        if operation in self._declared.operations[self.parameters.spec.scheme]:
            return f"{operation} needs parameters of its own: write bootstrapping"
        return self._declared.reason_against(operation, self.parameters.spec.scheme)

    def encode(
        self, values: Vector, like: Handle | None = None, scale: float | None = None, level: int | None = None
    ) -> Handle:
        if level is None:
            level = top_level(self.parameters) if like is None else like.level
        full = padded(values, self.parameters.slots)
        return Slots(full, level, scale or self.parameters.scale, polynomials=1)

    def load(self, data: bytes) -> Handle:
        return loaded(data)

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        return dumped(ciphertext, compression)

    def dump_plaintext(self, plaintext: Handle, compression: str) -> bytes:
        return dumped(plaintext, compression)

    def words(self, ciphertext: Handle) -> list[Vector]:
        """See the contract: the words of the values, without noise or mask."""
        return parameters.words_of(self.parameters, self._ring, ciphertext.level, ciphertext.values)

    def level(self, ciphertext: Handle) -> int:
        return int(ciphertext.level)

    def scale(self, ciphertext: Handle) -> float | None:
        scale: float | None = ciphertext.scale
        return scale

    def polynomials(self, ciphertext: Handle) -> int:
        return int(ciphertext.polynomials)

    def _applied(self, operation: Operation, *operands: Any) -> Handle:
        """Apply effect and meaning of the row; its operands are handles, vectors and arguments."""
        shape = operation.shape_after(self.parameters, *map(_shape_of, operands))
        values = operation.slots_after(
            self._ring, *map(self._values_of, operands, chain(operation.operands, repeat(None)))
        )
        if operation.has_several_results:
            return [_made(item, shape) for item in values]
        return _made(values, shape)

    def _values_of(self, operand: Any, kind: Kind | None) -> Any:
        """An operand of a kind in the form that the meaning takes; an argument has no kind."""
        if kind is Kind.WORDS:
            return self.words(operand)
        if isinstance(operand, Slots):
            return operand.values
        return padded(operand, self.parameters.slots) if isinstance(operand, np.ndarray) else operand


def _shape_of(operand: Any) -> Any:
    """A handle's shape; an argument unchanged."""
    return Shape(operand.level, operand.scale, operand.polynomials) if isinstance(operand, Slots) else operand


def _made(values: Vector, shape: Shape) -> Slots:
    return Slots(values, shape.level, shape.scale, shape.polynomials)


class CleartextAdapter(DeclaredAdapter):
    """No library at all."""

    def info(self) -> LibraryInfo:
        return LibraryInfo(
            "cleartext", self._declared.variant, np.__version__, False, {"numpy": np.__version__}
        )

    def resolve(self, spec: ParameterSpec) -> Parameters:
        return parameter_sets.resolve(spec)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        """See the contract; no key is generated, but requests that no library could support are refused."""
        requests.require_key_switching(parameters, keys)
        return CleartextKeyOwner(parameters, self._declared.slot_generator)

    def evaluator(self, public_material: Iterable[bytes]) -> Evaluator:
        return CleartextEvaluator(wire.from_line(b"".join(public_material), Parameters), self._declared)
