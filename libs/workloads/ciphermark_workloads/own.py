"""Workloads of a user's own: in a file, named on the command line as ``./mine.py`` or ``./mine.py:MyWorkload``."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable
from inspect import isabstract, isclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from ciphermark_core.errors import UserError
from ciphermark_core.nearest import did_you_mean
from ciphermark_workloads.catalogue import AnyWorkload, offered_by
from ciphermark_workloads.own_places import MODULE
from ciphermark_workloads.workload import Workload

SUFFIX = ".py"
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)')


def is_own(name: str) -> bool:
    """Whether a suite's word for a workload is a file."""
    return name.partition(":")[0].endswith(SUFFIX)


def load(text: str, folder: Path) -> AnyWorkload:
    """The workload in a file, relative to ``folder``; of several one has to be named.

    Executes the file. Raises ``UserError``, with the file and its line where there is one, for what cannot be loaded.
    """
    name, _, kind = text.partition(":")
    path = folder / name
    if not path.is_file():
        raise UserError(f"{name}: there is no such file (looked for {path})")
    module = _module(path)
    offered = _offered(module, path)
    if kind:
        return _chosen(module, kind, path)
    if len(offered) != 1:
        names = ", ".join(type(item).__name__ for item in offered)
        raise UserError(f"{name} has {len(offered)} workloads ({names}): name one, as in {name}:MyWorkload")
    return offered[0]


def place(error: BaseException, path: Path) -> str | None:
    """Where in a file an exception came from: ``mine.py:12, in circuit``; ``None`` where it did not."""
    if isinstance(error, SyntaxError) and _is_same(error.filename, path):
        return f"{path.name}:{error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if _is_same(frame.filename, path):
            return f"{path.name}:{frame.lineno}, in {frame.name}"
    return None


def _is_same(filename: str | None, path: Path) -> bool:
    return filename is not None and Path(filename).resolve() == path.resolve()


def told(error: BaseException, path: Path) -> str:
    """An exception of a workload's file, with its place there."""
    where = place(error, path)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    words = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return words if where is None else f"{where}: {words}"


def _module(path: Path) -> ModuleType:
    """The file as a module, under a name that its contents make: what was changed is loaded anew."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    name = f"{MODULE}{path.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the file does
        del sys.modules[name]
        raise UserError(told(error, path)) from error
    return module


def _offered(module: ModuleType, path: Path) -> tuple[AnyWorkload, ...]:
    try:
        offered = offered_by(module)
    except Exception as error:
        raise UserError(told(error, path)) from error
    if not offered and not _unfinished(module):
        raise UserError(f"{path.name}: no class below Workload in it; `ciphermark workload new` writes one")
    for kind in () if offered else _unfinished(module):
        missing = ", ".join(sorted(cast(Any, kind).__abstractmethods__))
        raise UserError(
            f"{path.name}: {kind.__name__} does not say {missing}: these are every workload's own"
        )
    return offered


def _unfinished(module: ModuleType) -> list[type]:
    """Classes below ``Workload`` that lack methods."""
    classes = [item for item in vars(module).values() if isclass(item) and issubclass(item, Workload)]
    return [item for item in classes if isabstract(item) and item.__module__ == module.__name__]


def _chosen(module: ModuleType, name: str, path: Path) -> AnyWorkload:
    kind = getattr(module, name, None)
    if not (isclass(kind) and issubclass(kind, Workload)):
        known = [key for key, item in vars(module).items() if isclass(item) and issubclass(item, Workload)]
        raise UserError(f"{path.name} has no workload {name!r}{did_you_mean(name, known)}")
    try:
        made: AnyWorkload = kind()
    except Exception as error:
        raise UserError(told(error, path)) from error
    return made


def place_in_dump(dump: str, is_of_file: Callable[[Path], bool]) -> str | None:
    """The innermost place in a file that a dump of ``faulthandler`` tells of, the last call first. Pure."""
    for match in _FRAME.finditer(dump):
        if is_of_file(path := Path(match["file"])):
            return f"{path.name}:{match['line']}, in {match['function']}"
    return None


def template() -> str:
    """A workload that works, as text of a file."""
    return (Path(__file__).parent / "_template.py").read_text(encoding="utf-8")
