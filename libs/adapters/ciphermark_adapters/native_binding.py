"""What native modules of ours have in common, as Python sees them.

Binders take rows, as :meth:`ciphermark_contract.interfaces.Operator.bind` does; what they return runs with the GIL
released.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol, TypeAlias

from ciphermark_contract.interfaces import Bound, Handle, Row

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
