"""Files of a user's own that options of workloads name, under names that tell their contents: ``records@3b5d12ab.bin``.

Whoever reads a suite takes them from beside it; parties find them in a folder, whatever became of the file meanwhile.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ciphermark_core.descriptor import Value
from ciphermark_core.errors import UserError
from ciphermark_workloads.data_sets.given import named
from ciphermark_workloads.options import declared
from ciphermark_workloads.workload import Workload

MOST_BYTES = 1 << 30
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}@[0-9a-f]{8}\.[a-z]{1,8}", re.ASCII)
Form = Callable[[str, bytes], tuple[str, bytes]]
_held: dict[str, bytes] = {}
_folders: list[Path] = []


def called(file: str, data: bytes) -> str:
    """The name of a file in results. Equal names have equal contents, whatever the file's folder."""
    path = Path(file)
    return named(path.stem, hashlib.sha256(data).hexdigest()) + path.suffix.lower()


def hold(name: str, data: bytes) -> None:
    """Have this process find a file without a folder."""
    _held[name] = data


def look_in(folder: Path) -> None:
    """Have this process find the files of a folder."""
    if folder not in _folders:
        _folders.append(folder)


def content(name: str) -> bytes:
    """A file by its name in results; raises ``UserError`` for one that is nowhere, or was changed."""
    if name in _held:
        return _held[name]
    for folder in _folders:
        path = kept(folder, name)
        if path is not None:
            return read(path)
    raise UserError(f"the file {name} is not here; looked in: {', '.join(map(str, _folders)) or 'no folder'}")


def kept(folder: Path, name: str) -> Path | None:
    """The file of a name in ``folder``; ``None`` where it is not there, and for what is no name."""
    path = folder / name
    return path if _NAME.fullmatch(name) and path.is_file() else None


def read(path: Path) -> bytes:
    """A kept file; raises ``UserError`` where its contents are not those that its name tells."""
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest()[:8] != path.stem.rpartition("@")[2]:
        raise UserError(f"{path}: its contents are not those that the name tells: remove it")
    return data


def put(folder: Path, name: str, data: bytes) -> None:
    """Keep a file in ``folder``, for its owner alone; one of that name is replaced as a whole."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(dir=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    os.replace(partial, folder / name)


def named_in(workload: Workload[Any, Any], values: Mapping[str, Value]) -> list[str]:
    """The files that values of options name."""
    return [str(values[option]) for option in _options(workload) if values.get(option)]


def settled(
    workload: Workload[Any, Any], values: Mapping[str, Value], find: Callable[[str, Form], tuple[str, bytes]]
) -> dict[str, Value]:
    """The values of options with what follows from the files that they name. ``find`` gives the name in results and the
    contents of one, in the workload's form.
    """
    found = dict(values)
    for option in _options(workload):
        if values.get(option):
            found = workload.with_file(option, *find(str(values[option]), workload.as_kept), found)
    return found


def _options(workload: Workload[Any, Any]) -> list[str]:
    return [option.name for option in declared(workload.Options) if option.is_file]
