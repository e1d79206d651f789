"""Workloads of a user's own in runs: copies under names that tell their contents, so that runs can be gone on with."""

from __future__ import annotations

import copy
import hashlib
import re
from collections import UserDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ciphermark_core.errors import Unsupported, UserError
from ciphermark_workloads import own
from ciphermark_workloads.catalogue import WORKLOADS, AnyWorkload, add, families

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", re.ASCII)
_KEPT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}@[0-9a-f]{8}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Kept:
    """A workload's name in results, ``mine@3b5d12ab``, and the file that makes it."""

    name: str
    text: str


class Catalogue(UserDict[str, AnyWorkload]):
    """Workloads that are installed, and those of a folder, loaded when they are asked for."""

    def __init__(self, installed: Mapping[str, AnyWorkload], folder: Path | None) -> None:
        super().__init__(installed)
        self._folder = folder

    def __missing__(self, name: str) -> AnyWorkload:
        if self._folder is None or not _KEPT.fullmatch(name):
            raise KeyError(name)
        return _loaded(self._folder, name)


def taken(text: str, folder: Path) -> Kept:
    """A workload as a suite writes it, ``./mine.py:MyWorkload``, below a folder; it is installed in this process.

    Raises ``UserError`` for what cannot be loaded, and for one that has no name, family or parameters.
    """
    file, _, kind = text.partition(":")
    workload = own.load(text, folder)
    if not _NAME.fullmatch(str(getattr(workload, "name", ""))):
        raise UserError(f"{file}: a workload's name is made of letters, digits, dots and dashes, at most 40")
    if workload.family not in families(WORKLOADS):
        raise UserError(f"{file}: there is no family {workload.family!r}; leave `family` out")
    _require_parameters(workload, folder / file)
    source = (folder / file).read_text(encoding="utf-8")
    if kind:
        source += f"\n\nWORKLOADS = ({kind}(),)\n"
    digest = hashlib.sha256(source.encode()).hexdigest()[:8]
    kept = Kept(f"{workload.name}@{digest}", source)
    _install(_called(workload, kept.name))
    return kept


def put(folder: Path, kept: Kept) -> None:
    """Keep a copy in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{kept.name}.py").write_text(kept.text, encoding="utf-8")


def install(folder: Path, names: Iterable[str]) -> None:
    """Install workloads that a folder keeps; raises ``UserError`` for one that is gone, or was changed."""
    for name in names:
        _install(_loaded(folder, name))


def place_in_dump(dump: str) -> str | None:
    """The innermost place in a kept workload that a dump of ``faulthandler`` tells of. Pure."""
    return own.place_in_dump(dump, lambda path: _KEPT.fullmatch(path.stem) is not None)


def _install(workload: AnyWorkload) -> None:
    if workload.name not in WORKLOADS:
        add(WORKLOADS, workload)


def _loaded(folder: Path, name: str) -> AnyWorkload:
    path = folder / f"{name}.py"
    if not path.is_file():
        raise UserError(f"the workload {name} is no longer in {folder}: put {name}.py back there")
    if hashlib.sha256(path.read_bytes()).hexdigest()[:8] != name.rpartition("@")[2]:
        raise UserError(f"{path}: its contents are not those that the name tells: remove it")
    return _called(own.load(path.name, folder), name)


def _called(workload: AnyWorkload, name: str) -> AnyWorkload:
    other = copy.copy(workload)
    object.__setattr__(other, "name", name)  # of a frozen dataclass, too
    return other


def _require_parameters(workload: AnyWorkload, path: Path) -> None:
    for scheme in workload.schemes:
        try:
            workload.parameters(scheme)
            workload.roomy_parameters(scheme)
        except Unsupported:
            continue
        except Exception as error:  # whatever the workload does
            raise UserError(own.told(error, path)) from error
