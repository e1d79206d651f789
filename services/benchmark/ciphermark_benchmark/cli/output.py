"""Where the commands print."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from ciphermark_core.errors import UserError

_PIPED_WIDTH = 120


def wide_console(output: Path | None = None) -> Console:
    """The terminal; a file or a pipe gets as much width as the tables need, since nobody sees a margin there."""
    if output is not None:
        try:
            return Console(file=output.open("w", encoding="utf-8"), width=_PIPED_WIDTH)
        except OSError as error:
            raise UserError(f"{output}: cannot write: {error.strerror}") from None
    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=_PIPED_WIDTH, highlight=False)
