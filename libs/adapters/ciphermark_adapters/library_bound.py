"""The plain loop over a Python library's own calls, with errors that the contract knows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ciphermark_contract.interfaces import Handle, PythonBound, Row


class LibraryBound(PythonBound):
    """``errors`` are what the library raises; ``finish`` makes a call's value a result, off the clock."""

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
