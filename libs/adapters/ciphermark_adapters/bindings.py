"""Loops over a library's operations: of our native modules, as Python sees them, and over a Python library's calls.

Binders take rows, as :meth:`ciphermark_contract.interfaces.Operator.bind` does; what they return runs with the GIL
released.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

from ciphermark_contract.interfaces import Bound, Handle, PythonBound, Row

Rows: TypeAlias = Sequence[Row]


class NativeBound(Bound):
    """A contract ``Bound`` that can also give its results away."""

    @abstractmethod
    def take(self) -> list[Handle]:
        """The results without a copy; the bound is of no use afterwards."""


class Binder(Protocol):
    """Binds one operation to rows of operands."""

    def __call__(self, rows: Rows, /) -> NativeBound:
        """Raises ``TypeError`` for rows that do not fit the operation."""


def execute(bind: Binder, *operands: Handle) -> Handle:
    """Execute an operation once, for the sake of the result."""
    bound = bind([operands])
    bound.run(1)
    (result,) = bound.take()
    return result


class LibraryBound(PythonBound):
    """The plain loop over a Python library's own calls, with errors that the contract knows.

    ``errors`` are what the library raises; ``finish`` makes a call's value a result, off the clock."""

    errors: ClassVar[tuple[type[Exception], ...]]

    def __init__(
        self,
        function: Callable[..., Any],
        rows: Sequence[Row],
        finish: Callable[[Any], Handle] | None = None,
    ) -> None:
        super().__init__(function, rows)
        self._finish = finish

    @staticmethod
    @abstractmethod
    def translated(error: Exception) -> Exception:
        """The contract's exception for an error of the library, or the error itself."""

    @classmethod
    def once(cls, function: Callable[..., Handle], *operands: Any) -> Handle:
        """What ``function`` makes of the operands; library errors are translated."""
        try:
            return function(*operands)
        except cls.errors as error:
            raise cls.translated(error) from error

    def run(self, loops: int) -> int:
        """See the contract; library errors are translated."""
        elapsed: int = self.once(super().run, loops)
        return elapsed

    def results(self) -> list[Handle]:
        values = super().results()
        return values if self._finish is None else [self._finish(value) for value in values]
