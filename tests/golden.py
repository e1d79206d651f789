"""Whole outputs, each compared with its file in ``tests/golden/``.

After a change that is meant, ``CIPHERMARK_GOLDEN=write`` in the environment writes the files: read what git says of it.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def compare(name: str, text: str) -> None:
    """Fail where a text is not that of the file."""
    path = FOLDER / name
    if os.environ.get("CIPHERMARK_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
