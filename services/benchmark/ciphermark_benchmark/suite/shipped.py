"""The suites that come with Ciphermark: files of this package, each known by its name."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "suites"
_SENTENCE = re.compile(r"^(.*?\.)(?: .*)?$")  # and what follows it
_ESTIMATE = re.compile(r"^# Estimated time: (\d+) s", re.MULTILINE)


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


def estimated_s(text: str) -> float:
    """What a shipped suite says that it takes on the host of estimates, with all its libraries. A test compares it with
    the plan, which takes seconds to make. Pure.
    """
    stated = _ESTIMATE.search(text)
    assert stated is not None, "a shipped suite states its estimated time"
    return float(stated[1])
