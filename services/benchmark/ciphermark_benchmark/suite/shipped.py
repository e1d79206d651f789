"""The suites that come with Ciphermark: files of this package, each known by its name."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "suites"
_SENTENCE = re.compile(r"^(.*?\.)(?: .*)?$")  # and what follows it


def names() -> list[str]:
    """The names, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def path(name: str) -> Path:
    """Where the suite of that name is, or would be."""
    return FOLDER / f"{name}.yaml"


def purpose(text: str) -> str:
    """What a suite says first of itself: the comment at its beginning, to the end of its first sentence; empty where
    there is none. Pure.
    """
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return _SENTENCE.sub(r"\1", " ".join(lines))
