"""Managed operations: TenSEAL's own automatic relinearization, rescaling and modulus switching."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ciphermark_adapters.seal_wrappers import SealBound, padded
from ciphermark_contract.interfaces import Bound, Evaluator, Handle, Operator, Row, Vector
from ciphermark_contract.operations import OPERATIONS, Kind
from ciphermark_core.model import Parameters


def _second_kind(name: str) -> Kind | None:
    operands = OPERATIONS[name].operands
    return operands[1] if len(operands) > 1 else None


class VectorOperator(Operator):
    """Applies methods of TenSEAL's vectors, once their arguments mean something in the scheme."""

    parameters: Parameters

    def apply(self, operation: str, *operands: Any) -> Handle:
        return SealBound.once(self._function_for(operation, operands), *operands)

    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        for row in rows:
            self._function_for(operation, row)
        return SealBound(self.function(operation), rows)

    def _function_for(self, operation: str, operands: Sequence[Any]) -> Callable[..., Handle]:
        function = self.function(operation)
        OPERATIONS[operation].require_arguments(self.parameters.spec.scheme, operands)
        return function


class ManagedVectors(VectorOperator):
    """The vector methods, applied while the first operand is linked to the automatic context.

    ``contexts`` are the primitive and the automatic one; handles always leave linked to the primitive one.
    """

    def __init__(
        self,
        methods: Mapping[str, Callable[..., Handle]],
        names: Sequence[str],
        contexts: tuple[Any, Any],
        evaluator: Evaluator,
    ) -> None:
        self._primitive, self._automatic = contexts
        self._evaluator = evaluator
        self.parameters = evaluator.parameters
        self._slots = evaluator.parameters.slots
        # ckks switches the second operand in place where levels differ; bfv has no levels and copies it
        keeps_second = evaluator.parameters.spec.scheme == "bfv"
        appliers: dict[Kind | None, Callable[..., Handle]] = {
            Kind.PLAINTEXT: self._with_plain,
            Kind.CIPHERTEXT: self._linked if keeps_second else self._with_copy,
        }
        self._table = {
            name: partial(appliers.get(_second_kind(name), self._linked), methods[name]) for name in names
        }

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        """The managed operations for which keys exist."""
        return self._table

    def reason_against(self, operation: str) -> str:
        """The evaluator's reason, or the missing keys."""
        if operation in self._evaluator.operations:
            return f"managed {operation} needs relinearization keys; none were requested"
        return self._evaluator.reason_against(operation)

    def _linked(self, method: Callable[..., Handle], a: Handle, *others: Any) -> Handle:
        a.link_context(self._automatic)
        try:
            result = method(a, *others)
        finally:
            a.link_context(self._primitive)
        result.link_context(self._primitive)
        return result

    def _with_copy(self, method: Callable[..., Handle], a: Handle, b: Handle) -> Handle:
        return self._linked(method, a, b.pow(1))  # the first power is TenSEAL's cheapest copy

    def _with_plain(self, method: Callable[..., Handle], a: Handle, values: Vector) -> Handle:
        return self._linked(method, a, padded(values, self._slots))
