"""Loops over a library's operations: the Python interface of native loops, and loops over a Python library's calls.

Binders take rows, as :meth:`ciphermark_contract.interfaces.Operator.bind` does. They return loops that run with the GIL
released.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from ciphermark_contract import interfaces
from ciphermark_contract.declaration import DeclaredEvaluator
from ciphermark_contract.interfaces import Bound, Handle, KeyOwner, Prepared, PythonBound, Row, Vector
from ciphermark_contract.program import Program, require_constants, require_rotation_keys
from ciphermark_core.model import Parameters

Rows: TypeAlias = Sequence[Row]


class NativeBound(Bound):
    """A contract ``Bound`` that can also hand over its results."""

    @abstractmethod
    def take(self) -> list[Handle]:
        """Return the results without a copy; the bound must not be used afterwards."""


class Binder(Protocol):
    """Binds one operation to rows of operands."""

    def __call__(self, rows: Rows, /) -> NativeBound:
        """Bind rows; raises ``TypeError`` for rows that do not fit the operation."""


def execute(bind: Binder, *operands: Handle) -> Handle:
    """Execute an operation once, and return its result."""
    bound = bind([operands])
    bound.run(1)
    (result,) = bound.take()
    return result


@dataclass(frozen=True, slots=True)
class NativeSlots:
    """The slots of a parameter set, as native modules take them."""

    parameters: Parameters

    @property
    def are_real(self) -> bool:
        """Whether slots hold reals (ckks)."""
        return self.parameters.plain_modulus is None

    @property
    def kind(self) -> type:
        """The number type of a vector."""
        return np.float64 if self.are_real else np.int64

    def typed(self, values: Vector) -> Vector:
        """The vector with that number type, in any range; raises ``ValueError`` for too many values."""
        if values.ndim != 1 or len(values) > self.parameters.slots:
            raise ValueError(f"values of shape {values.shape} do not fit {self.parameters.slots} slots")
        if self.are_real:
            return np.ascontiguousarray(values, dtype=np.float64)
        return np.ascontiguousarray(values.astype(np.int64, casting="safe", copy=False))


class NativeLoops(DeclaredEvaluator):
    """An evaluator with the native loops of ``_binders``. Programs are translated for a native interpreter, which runs
    with the GIL released, unless the library manages their levels.
    """

    _binders: Mapping[str, Binder]

    def bound(self, operation: str, rows: Rows) -> Bound:
        bind = self._binders.get(operation)
        return super().bound(operation, rows) if bind is None else bind(rows)

    def prepare_constants(
        self, program: Program, constants: Mapping[str, Vector], threads: int = 1
    ) -> Prepared:
        if program.is_managed:
            return super().prepare_constants(program, constants, threads)
        require_rotation_keys(program, self._keys)
        for operation in {node.operation for node in program.nodes}:
            self.function(operation)
        return self._interpreted(program, require_constants(program, constants), threads)

    def bind_program(
        self, program: Program, inputs: Sequence[Handle], prepared: Prepared, threads: int = 1
    ) -> Bound:
        if program.is_managed:
            return super().bind_program(program, inputs, prepared, threads)
        interfaces.require_inputs(self, program, inputs)
        bound: Bound = prepared.bind(inputs, threads)
        return bound

    @abstractmethod
    def _interpreted(self, program: Program, constants: Sequence[Vector], threads: int) -> Prepared:
        """The program for the interpreter, with its constants encoded."""


class LibraryBound(PythonBound):
    """The plain loop over a Python library's own calls, with errors translated to the contract's.

    ``errors`` are the library's exceptions. ``finish`` converts a call's value to a result; it is not timed.
    """

    errors: ClassVar[tuple[type[Exception], ...]]

    def __init__(
        self, function: Callable[..., Any], rows: Sequence[Row], finish: Callable[[Any], Handle] | None = None
    ) -> None:
        super().__init__(function, rows)
        self._finish = finish

    @staticmethod
    @abstractmethod
    def translated(error: Exception) -> Exception:
        """The contract's exception for an error of the library, or the error itself."""

    @classmethod
    def once(cls, function: Callable[..., Handle], *operands: Any) -> Handle:
        """Call ``function`` on the operands; library errors are translated where the contract has an equivalent."""
        try:
            return function(*operands)
        except cls.errors as error:
            translation = cls.translated(error)
            if translation is error:
                raise  # an error must not be its own cause
            raise translation from error

    def run(self, loops: int) -> int:
        """See the contract; library errors are translated."""
        elapsed: int = self.once(super().run, loops)
        return elapsed

    def results(self) -> list[Handle]:
        values = super().results()
        return values if self._finish is None else [self._finish(value) for value in values]


class LibraryKeyOwner(KeyOwner):
    """Base class; only ``_encrypt`` and ``_decrypt``, the library's calls on vectors of all slots, are timed."""

    bound: ClassVar[type[LibraryBound]]
    _encrypt: Callable[[Vector], Handle]
    _decrypt: Callable[[Handle], Any]

    def encrypt(self, values: Vector) -> Handle:
        return self._encrypt(self._filled(values))

    def decrypt(self, ciphertext: Handle) -> Vector:
        return self._normalised(self._decrypt(ciphertext))

    def bind_encrypt(self, rows: Sequence[Row]) -> Bound:
        return self.bound(self._encrypt, [(self._filled(values),) for (values,) in rows])

    def bind_decrypt(self, rows: Sequence[Row]) -> Bound:
        """See the contract: the conversion to numpy and the reduction to [0, t) are not timed."""
        return self.bound(self._decrypt, rows, self._normalised)

    @abstractmethod
    def _filled(self, values: Vector) -> Vector:
        """The vector padded with zeros to all slots, in the form that the library takes."""

    def _normalised(self, values: Any) -> Vector:
        modulus = self.parameters.plain_modulus
        if modulus is None:
            return np.asarray(values, dtype=np.float64)
        centred: Vector = np.asarray(values, dtype=np.int64)
        return centred % modulus
