"""Where the commands print."""

from __future__ import annotations

from rich.console import Console

_PIPED_WIDTH = 120


def wide_console() -> Console:
    """The terminal; elsewhere as wide as the tables need, since nobody sees a margin there."""
    console = Console()
    return console if console.is_terminal else Console(width=_PIPED_WIDTH)
