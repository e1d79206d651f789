"""Inter, the font of pages and pictures, as the setup made it. Without it, texts have the system's font."""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path

import vl_convert

FOLDER = Path(__file__).parent / "fonts"
WEB = FOLDER / "inter.woff2"  # all weights, for browsers; the folder has a file per weight for pictures
_RULE = (
    '@font-face{{font-family:Inter;src:url("{address}") format("woff2");font-weight:400 700;'
    "font-display:swap}}"
)


def face(address: str) -> str:
    """The CSS rule that loads the font from an address."""
    return _RULE.format(address=address)


@cache
def embedded() -> str:
    """The CSS rule with the font inside; empty without the font."""
    if not WEB.exists():
        return ""
    return face(f"data:font/woff2;base64,{base64.b64encode(WEB.read_bytes()).decode()}")


@cache
def register() -> None:
    """Let charts measure and draw texts with the font."""
    if FOLDER.exists():
        vl_convert.register_font_directory(str(FOLDER))
