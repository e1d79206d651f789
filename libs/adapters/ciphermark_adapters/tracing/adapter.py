"""Wraps any evaluator and records the operation graph with level, scale and size of every node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ciphermark_adapters.cleartext.adapter import CleartextAdapter
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Adapter, Evaluator, Handle, KeyOwner, KeyRequest, Vector
from ciphermark_core.model import LibraryInfo, Parameters, ParameterSpec


@dataclass(frozen=True, slots=True)
class Node:
    """One operation of the graph.

    ``inputs`` are indices of earlier nodes; ``steps`` belongs to ``rotate``. ``level``, ``scale`` and
    ``polynomials`` describe the result and are ``None`` for plaintexts (operation ``encode``).
    """

    index: int
    operation: str
    inputs: tuple[int, ...]
    steps: int | None
    level: int | None
    scale: float | None
    polynomials: int | None


@dataclass(frozen=True, slots=True)
class Traced:
    """A handle of the wrapped evaluator and the node that made it."""

    inner: Handle
    node: int


class TracingEvaluator(Evaluator):
    """An evaluator that records what is applied; ``graph`` lists the nodes in order."""

    def __init__(self, inner: Evaluator) -> None:
        self.parameters = inner.parameters
        self.graph: list[Node] = []
        self._inner = inner
        self._table = {name: partial(self._record, name) for name in inner.operations}

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        """The wrapped evaluator's operations, recorded."""
        return self._table

    def reason_against(self, operation: str) -> str:
        """The wrapped evaluator's reason."""
        return self._inner.reason_against(operation)

    def encode(self, values: Vector, like: Handle | None = None, scale: float | None = None) -> Handle:
        """Encode, recorded as a node without level."""
        plaintext = self._inner.encode(values, None if like is None else like.inner, scale)
        node = Node(len(self.graph), "encode", (), None, None, scale, None)
        self.graph.append(node)
        return Traced(plaintext, node.index)

    def load(self, data: bytes) -> Handle:
        """Load, recorded as an input of the graph."""
        return self._added("load", self._inner.load(data))

    def dump(self, ciphertext: Handle, compression: str) -> bytes:
        """See the contract."""
        return self._inner.dump(ciphertext.inner, compression)

    def dump_plaintext(self, plaintext: Handle, compression: str) -> bytes:
        """See the contract."""
        return self._inner.dump_plaintext(plaintext.inner, compression)

    def level(self, ciphertext: Handle) -> int:
        """See the contract."""
        return self._inner.level(ciphertext.inner)

    def scale(self, ciphertext: Handle) -> float | None:
        """See the contract."""
        return self._inner.scale(ciphertext.inner)

    def polynomials(self, ciphertext: Handle) -> int:
        """See the contract."""
        return self._inner.polynomials(ciphertext.inner)

    def _record(self, operation: str, *operands: Any) -> Traced:
        handles = [operand for operand in operands if isinstance(operand, Traced)]
        plain = [operand.inner if isinstance(operand, Traced) else operand for operand in operands]
        steps = next((operand for operand in operands if isinstance(operand, int)), None)
        result = self._inner.apply(operation, *plain)
        return self._added(operation, result, tuple(handle.node for handle in handles), steps)

    def _added(
        self, operation: str, result: Handle, inputs: tuple[int, ...] = (), steps: int | None = None
    ) -> Traced:
        inner = self._inner
        node = Node(
            index=len(self.graph),
            operation=operation,
            inputs=inputs,
            steps=steps,
            level=inner.level(result),
            scale=inner.scale(result),
            polynomials=inner.polynomials(result),
        )
        self.graph.append(node)
        return Traced(result, node.index)


class TracingAdapter(Adapter):
    """Traces ``cleartext``; wrap another evaluator with :class:`TracingEvaluator` directly."""

    def __init__(self, declared: Declaration) -> None:
        self._declared = declared
        self._inner = CleartextAdapter(declared)

    def info(self) -> LibraryInfo:
        """See the contract."""
        return LibraryInfo("tracing", self._declared.variant, "1", False, {"wraps": "cleartext"})

    def resolve(self, spec: ParameterSpec) -> Parameters:
        """See the contract."""
        return self._inner.resolve(spec)

    def key_owner(self, parameters: Parameters, keys: KeyRequest) -> KeyOwner:
        """See the contract."""
        return self._inner.key_owner(parameters, keys)

    def evaluator(self, public_material: bytes) -> TracingEvaluator:
        """See the contract."""
        return TracingEvaluator(self._inner.evaluator(public_material))
