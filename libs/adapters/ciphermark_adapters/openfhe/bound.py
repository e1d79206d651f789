"""OpenFHE's calls as the contract wants them: timed bare, with errors the contract knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ciphermark_adapters.contract import Exhausted, Handle, PythonBound, Row, Unsupported, Vector
from ciphermark_adapters.openfhe.contexts import LIBRARY_ERRORS
from ciphermark_core.words import Parameters

_EXHAUSTED = ("Too few towers", "Removing last element")
_KEYLESS = ("is not found", "are not generated", "Call EvalMultKeyGen")


def translated(error: Exception) -> Exception:
    """The contract's exception for an error of the library with the library's text, or the error itself."""
    text = str(error)
    if any(words in text for words in _EXHAUSTED):
        return Exhausted(f"OpenFHE: {text}")
    if any(words in text for words in _KEYLESS):
        return Unsupported(f"OpenFHE: {text}")
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


def checked(values: Vector, parameters: Parameters) -> Vector:
    """The vector with zeros up to all slots; raises ``ValueError`` for values that do not fit."""
    slots, modulus = parameters.slots, parameters.plain_modulus
    if values.ndim != 1 or len(values) > slots:
        raise ValueError(f"values of shape {values.shape} do not fit {slots} slots")
    full = np.zeros(slots, dtype=np.float64 if modulus is None else np.int64)
    full[: len(values)] = values
    if modulus is not None and not 0 <= full.min() <= full.max() < modulus:
        raise ValueError(f"values must lie in [0, {modulus})")
    return full
