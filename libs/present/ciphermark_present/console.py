"""The terminal: what was stored cannot control it."""

from __future__ import annotations

from collections.abc import Iterable

from rich import console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from ciphermark_core.controls import visible


class Terminal(console.Console):
    """As rich's, and control characters in what is printed are visible ones."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(visible(text), style)
