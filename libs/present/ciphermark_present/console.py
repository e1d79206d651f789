"""The terminal: stored texts and users' names cannot control it, and brackets in them are plain text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich import console
from rich.console import ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.text import Text

from ciphermark_core.controls import visible


class Terminal(console.Console):
    """As rich's, but printed control characters become visible ones, and a string has neither markup nor names of
    emoji: :func:`styled` makes texts with markup.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"markup": False, "emoji": False, **settings})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(visible(text), style)


def styled(template: str, *values: object) -> Text:
    """A line with the markup of its template, in which each ``{}`` stands for a value: brackets in values are plain
    text.
    """
    return Text.from_markup(template.format(*(escape(str(value)) for value in values)), emoji=False)
