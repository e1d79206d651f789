"""Suites from the network: by name from one folder, or inline and subject to limits."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, NodeEvent

from ciphermark_benchmark.data_sets.finder import Finder
from ciphermark_benchmark.suite import files, shipped
from ciphermark_benchmark.suite.form import Suite
from ciphermark_core.errors import UserError

FOLDER_VARIABLE = "CIPHERMARK_SUITES"
MAX_BYTES = 256 << 10
_MAX_NODES = 5_000
_DEEPEST = 12
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Catalogue:
    """The suites that requests can name: the YAML files of one folder."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        named = environ.get(FOLDER_VARIABLE)
        self._folder = Path(named) if named else shipped.FOLDER

    def names(self) -> list[str]:
        """The names, sorted."""
        return sorted(path.stem for path in self._folder.glob("*.yaml") if _NAME.fullmatch(path.stem))

    def text(self, name: str) -> str:
        """The text of a suite; raises ``UserError`` for a name that is not in :meth:`names`."""
        if name not in self.names():
            names = ", ".join(self.names()) or f"none: {FOLDER_VARIABLE} names no folder with suites"
            raise UserError(f"there is no suite of that name; suites: {names}")
        try:
            return (self._folder / f"{name}.yaml").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise UserError(f"the suite {name} cannot be read") from None


def checked(text: str, origin: str, data_sets: Finder | None = None) -> Suite:
    """The suite of a text; raises ``UserError`` if it violates the form or the limits. ``data_sets`` is as for
    :func:`ciphermark_benchmark.suite.files.parse`.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise UserError(f"{origin}: the suite is not text that UTF-8 can write") from None
    if size > MAX_BYTES:
        raise UserError(f"{origin}: a suite may have {MAX_BYTES >> 10} KiB")
    _require_plain(text, origin)
    suite = files.parse(text, origin, data_sets)
    files.require_size(suite, origin)
    return suite


def _require_plain(text: str, origin: str) -> None:
    """Refuse anchors, aliases and tags, which can expand or build objects, and deep or long texts.
    Stops at the first.
    """
    depth = nodes = 0
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            if not isinstance(event, NodeEvent | CollectionEndEvent):
                continue
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            nodes += 1
            if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
                raise UserError(f"{origin}: anchors and aliases are not taken here: write it out")
            if getattr(event, "tag", None):
                raise UserError(f"{origin}: tags are not taken here")
            if depth > _DEEPEST or nodes > _MAX_NODES:
                raise UserError(f"{origin}: no suite is that deep or long")
    except UserError:
        raise
    except Exception as error:  # the parser raises many kinds of errors for text that is no YAML
        raise UserError(f"{origin}: not YAML: {str(error).strip() or type(error).__name__}") from None
