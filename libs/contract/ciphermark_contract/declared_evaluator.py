"""An evaluator of the operations that its declaration lists and its keys are enough for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ciphermark_contract.declaration import Declaration
from ciphermark_contract.interfaces import Bound, Evaluator, Handle, KeyRequest, PythonBound, Row, Unsupported
from ciphermark_contract.operations import has_key_per_argument, require_keys, served
from ciphermark_core.model import Parameters


class DeclaredEvaluator(Evaluator):
    """What adapters' evaluators have in common; a subclass calls :meth:`offer` when it is made."""

    def __init__(self, parameters: Parameters, keys: KeyRequest, declared: Declaration) -> None:
        self.parameters = parameters
        self._keys = keys
        self._declared = declared
        self._scheme = parameters.spec.scheme
        self._names = served(declared.operations[self._scheme], keys)
        self.functions: Mapping[str, Callable[..., Handle]] = {}

    def offer(self, known: Mapping[str, Callable[..., Handle]]) -> None:
        """Let these functions, and the declaration's ``calls``, apply the operations: ``functions``, as bare as the
        library has them.
        """
        self.functions = self._declared.functions(self, self._names, known)
        self._operations = {name: self._checked(name) for name in self.functions}

    @property
    def operations(self) -> Mapping[str, Callable[..., Handle]]:
        """Those whose keys were made; they look for the keys that their arguments need."""
        return self._operations

    def reason_against(self, operation: str) -> str:
        """A declared operation is missing only for want of its key."""
        if operation in self._declared.operations[self._scheme]:
            return f"{operation} needs keys; none were requested"
        return self._declared.reason_against(operation, self._scheme)

    def bind(self, operation: str, rows: Sequence[Row]) -> Bound:
        self.function(operation)
        for row in rows:
            require_keys(operation, row, self._keys)
        return self.bound(operation, rows)

    def bound(self, operation: str, rows: Sequence[Row]) -> Bound:
        """The loop over rows that have their keys."""
        return PythonBound(self.functions[operation], rows)

    def _checked(self, operation: str) -> Callable[..., Handle]:
        function = self.functions[operation]
        if not has_key_per_argument(operation):
            return function

        def checked(*operands: Any) -> Handle:
            require_keys(operation, operands, self._keys)
            return function(*operands)

        return checked

    def dump_plaintext(self, plaintext: Handle, compression: str) -> bytes:
        """For a library that cannot."""
        raise Unsupported(self._declared.reason_against("dump_plaintext", self._scheme))
