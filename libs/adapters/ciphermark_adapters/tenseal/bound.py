"""TenSEAL's calls as the contract wants them: timed bare, with errors the contract knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ciphermark_adapters.contract import Exhausted, Handle, PythonBound, Row, Unsupported, Vector

_EXHAUSTED = ("scale out of bounds", "end of modulus switching chain reached")
_TRANSPARENT = "result ciphertext is transparent"
_MISFIT = ("scale mismatch", "encrypted1 and encrypted2 parameter mismatch", "encrypted_ntt and plain_ntt")

# What TenSEAL raises for C++ exceptions.
LIBRARY_ERRORS = (ValueError, RuntimeError)


def translated(error: Exception) -> Exception:
    """The contract's exception for an error of the library, or the error itself."""
    text = str(error)
    if text in _EXHAUSTED:
        return Exhausted(f"TenSEAL: {text}")
    if text == _TRANSPARENT:
        return Unsupported(f"TenSEAL refuses results without randomness, such as x - x: {text}")
    if text.startswith(_MISFIT):
        return Unsupported(f"TenSEAL: {text}; operands must have one level and one scale")
    return error


class LibraryBound(PythonBound):
    """The plain loop over a library call; ``finish`` makes the call's value a result, off the clock."""

    def __init__(
        self,
        function: Callable[..., Any],
        rows: Sequence[Row],
        finish: Callable[[Any], Handle] | None = None,
    ) -> None:
        super().__init__(function, rows)
        self._finish = finish

    def run(self, loops: int) -> int:
        """See the contract; library errors are translated."""
        try:
            return super().run(loops)
        except LIBRARY_ERRORS as error:
            raise translated(error) from error

    def results(self) -> list[Handle]:
        """See the contract."""
        values = super().results()
        return values if self._finish is None else [self._finish(value) for value in values]


def padded(values: Vector, slots: int) -> Vector:
    """The vector with zeros up to all slots: TenSEAL repeats a shorter one over the slots instead."""
    if len(values) == slots:
        return values
    full = np.zeros(slots, dtype=values.dtype)
    full[: len(values)] = values
    return full
