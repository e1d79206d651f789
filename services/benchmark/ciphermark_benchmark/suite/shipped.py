"""The shipped suites: files of this package, each known by its name."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "suites"
_SENTENCE = re.compile(r"^(.*?\.)(?: .*)?$")  # and the rest of the line
_ESTIMATE = re.compile(r"^# Estimated time: (\d+) s", re.MULTILINE)


def names() -> list[str]:
    """The names, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def path(name: str) -> Path:
    """The path of a shipped suite, whether it exists or not."""
    return FOLDER / f"{name}.yaml"


def purpose(text: str) -> str:
    """The purpose of a suite: the first sentence of the comment at its beginning; empty without a comment. Pure."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return _SENTENCE.sub(r"\1", " ".join(lines))


def estimated_s(text: str) -> float:
    """The duration that a shipped suite declares for the reference host with all its libraries. A test compares it with
    the plan, which takes seconds to compute. Pure.
    """
    stated = _ESTIMATE.search(text)
    assert stated is not None, "a shipped suite states its estimated time"
    return float(stated[1])
