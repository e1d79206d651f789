"""The command blocks of README, CONTRIBUTING and docs: what a reader types, and what the page says is printed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from command import REPOSITORY

from ciphermark_benchmark.cli._commands import app

PAGES = sorted(
    path for pattern in ("README.md", "CONTRIBUTING.md", "docs/**/*.md") for path in REPOSITORY.glob(pattern)
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(ciphermark [^`]+)`")
_NESTED = re.compile(r"\bciphermark [^)]*")
_IN_CONTAINER = re.compile(r"docker compose run --rm(?: -T)? benchmark ")
_SHOWN = re.compile(
    r"(?P<gap>\s*…\s*)"
    r"|(?P<id>\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{8}\b)"
    r"|(?P<number>\d+(?:[.,]\d+)*)"
    r"|(?P<space>\s+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
# A value that is no value, one that is missing, help that is shown where nothing follows, and a version that is told.
_NO_MISTAKE = {"BadParameter", "NoArgsIsHelpError", "Exit"}
_SHAPES = {"gap": r"(?s:.*?)", "id": r"[0-9a-f-]+", "number": r"\d+(?:[.,]\d+)*", "space": r"\s+"}


@dataclass(frozen=True, slots=True)
class Step:
    """One block of a page: a ``suite`` that a reader saves, or a ``command``, with what it is ``shown`` to print."""

    command: str
    shown: str = ""
    is_suite: bool = False


def steps(page: Path) -> Iterator[Step]:
    """The steps of a page, in their order."""
    for language, block in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "yaml" and block.startswith("name: "):
            yield Step(block, is_suite=True)
        elif language == "console":
            yield from (_of_session(part) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:])
        elif language == "sh":
            yield from (Step(line) for line in block.splitlines() if line and not line.startswith("#"))


def inline(page: Path) -> list[str]:
    """The commands that stand within sentences."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(found.split()) for found in _INLINE.findall(text)]


def languages(page: Path) -> list[str]:
    """The languages of all blocks."""
    return [language for language, _ in FENCE.findall(page.read_text(encoding="utf-8"))]


def _of_session(part: str) -> Step:
    """A prompt's command, over as many lines as its quotes are open, and the lines below."""
    lines = part.splitlines()
    typed = next(n for n in range(1, len(lines) + 1) if _is_whole("\n".join(lines[:n])))
    return Step("\n".join(lines[:typed]), "\n".join(lines[typed:]).strip())


def _is_whole(text: str) -> bool:
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return True


def invocations(command: str) -> Iterator[list[str]]:
    """The words after each ``ciphermark`` in what a reader types, however deep in quotes and substitutions."""
    lexer = shlex.shlex(
        _IN_CONTAINER.sub("ciphermark ", command.replace("$(", " $( ")), posix=True, punctuation_chars=True
    )
    lexer.whitespace_split = True
    words = list(lexer)
    for place, word in enumerate(words):
        if word == "ciphermark" or word.endswith("/ciphermark"):
            rest = words[place + 1 :]
            yield rest[: next((n for n, each in enumerate(rest) if set(each) <= set("();<>|&")), len(rest))]
        elif " " in word:
            for nested in _NESTED.findall(word):
                yield from invocations(nested)


def complaint(words: list[str]) -> str:
    """What the command line's parser says against the words: a command or an option that there is not; else nothing.

    Values are left alone: in a sentence they are names such as RUN.
    """
    command: Any = typer.main.get_command(app)
    name, context, rest = "ciphermark", None, list(words)
    try:
        while True:
            context = command.make_context(name, rest, parent=context)
            left = [*context._protected_args, *context.args] if hasattr(command, "commands") else []
            if not left:
                return ""
            name, command, rest = command.resolve_command(context, left)
    except Exception as error:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        return "" if kinds & _NO_MISTAKE else f"ciphermark {' '.join(words)}: {error}"


def shape(shown: str) -> re.Pattern[str]:
    """What is printed has this shape: the same words in the same order, any digits and ids; ``…`` is anything."""
    parts = (
        _SHAPES.get(match.lastgroup or "", re.escape(match.group()))
        for match in _SHOWN.finditer(shown.strip())
    )
    return re.compile("".join(parts))
