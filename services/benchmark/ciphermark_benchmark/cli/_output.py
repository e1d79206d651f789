"""Output of commands: consoles, files and formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ciphermark_benchmark.export import STANDARD_OUTPUT
from ciphermark_core.errors import UserError
from ciphermark_core.nearest import did_you_mean
from ciphermark_present.console import Terminal


def console_for(output: Path | None = None) -> Terminal:
    """Standard output, or a file. The width is that of the terminal or ``COLUMNS``, also through a pipe, else 80
    columns.
    """
    if output is None:
        return Terminal(highlight=False)
    try:
        return Terminal(file=output.open("w", encoding="utf-8"), highlight=False)
    except OSError as error:
        raise UserError(f"{output}: cannot write: {error.strerror}") from None


def form_of(forms: Sequence[str], chosen: str | None, output: Path | None, things: str) -> str | None:
    """The chosen form of ``things``, else the form of the file's ending; ``None`` if neither is given.

    Raises ``UserError`` for a form or an ending that is not in ``forms``, and if both contradict each other.
    """
    if chosen is not None and chosen not in forms:
        near = did_you_mean(chosen, forms)
        raise UserError(f"--format {chosen}: {things} are available as {', '.join(forms)}{near}")
    if output is None or output == STANDARD_OUTPUT:
        return chosen
    ending = output.suffix.lower().removeprefix(".")
    if ending not in forms and chosen is None:
        endings = ", ".join(f".{form}" for form in forms)
        near = did_you_mean(ending, forms) if ending else ""
        raise UserError(f"{output}: {things} are available as {endings}{near}")
    if chosen is not None and ending in forms and ending != chosen:
        raise UserError(f"{output}: the ending {ending} contradicts --format {chosen}")
    return chosen or ending
