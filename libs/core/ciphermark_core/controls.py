"""Visible replacements, in text for readers, for characters that control a terminal or the direction of text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ciphermark_core.limits import CONTROLS

_SHOWN = "\n\t"
_PICTURES = 0x2400  # of C0 controls, in their order
_DELETE, _DELETE_PICTURE = 0x7F, 0x2421


def _shown(code: int) -> int:
    if code < 0x20:
        return _PICTURES + code
    return _DELETE_PICTURE if code == _DELETE else ord("\N{REPLACEMENT CHARACTER}")


_CONTROLS = re.compile(f"[{CONTROLS}]")
_TABLE = {
    code: _shown(code) for code in range(0x2070) if _CONTROLS.fullmatch(chr(code)) and chr(code) not in _SHOWN
}


def visible(text: str) -> str:
    """Return the text with a visible character for each control character except line ends and tabs. Pure."""
    return text if text.isprintable() else text.translate(_TABLE)


def visible_in(value: Any) -> Any:
    """Return the value with :func:`visible` applied to every text in lists, tuples and mappings, keys included. Pure.

    Tuples become lists.
    """
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible_in(key): visible_in(each) for key, each in value.items()}
    return [visible_in(each) for each in value] if isinstance(value, list | tuple) else value
