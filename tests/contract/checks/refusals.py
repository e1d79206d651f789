"""What is missing or spent says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ciphermark_contract.interfaces import Exhausted, Unsupported

T = TypeVar("T")


def unsupported(function: Callable[[], object]) -> None:
    """The call raises ``Unsupported`` with a reason."""
    _raises(Unsupported, function)


def exhausted(function: Callable[[], object]) -> None:
    """The call raises ``Exhausted`` with a reason."""
    _raises(Exhausted, function)


def attempted(function: Callable[[], T]) -> tuple[T | None, str]:
    """What the call returns, or ``None`` and the reason with which it raises ``Unsupported``."""
    try:
        return function(), ""
    except Unsupported as refusal:
        reason = str(refusal)
    assert reason.strip(), "Unsupported gives no reason"
    return None, reason


@contextmanager
def supported(what: str) -> Iterator[None]:
    """Nothing inside is refused: ``what`` is declared."""
    try:
        yield
    except (Unsupported, Exhausted) as error:
        raise AssertionError(f"{what} is declared, but raises {type(error).__name__}: {error}") from error


def _raises(kind: type[Exception], function: Callable[[], object]) -> None:
    try:
        function()
    except kind as error:
        reason = str(error)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} instead of {kind.__name__}: {error}") from error
    else:
        raise AssertionError(f"nothing was raised instead of {kind.__name__}")
    assert reason.strip(), f"{kind.__name__} gives no reason"
