"""Where a client's data come from: the data sets that are shipped, and a folder of the user's own."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from ciphermark_core.errors import UserError
from ciphermark_workloads.data_sets import DATA_SETS, DataSet, read

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", re.ASCII)


def finder(folder: Path | None) -> Callable[[str], DataSet]:
    """Finds data sets by name: those that are shipped, and ``NAME.csv`` in ``folder``.

    What it returns raises ``UserError`` for a data set that is nowhere, or that cannot be read.
    """
    return lambda name: _found(name, folder)


def keep(folder: Path, name: str, data: bytes) -> None:
    """Put a data set into ``folder``, for its owner alone; one of that name is replaced as a whole."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(dir=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    os.replace(partial, folder / f"{name}.csv")


def kept(folder: Path, name: str) -> Path | None:
    """The file of a data set in ``folder``; ``None`` where it is not there, and for what is no name."""
    path = folder / f"{name}.csv"
    return path if _NAME.fullmatch(name) and path.is_file() else None


def _found(name: str, folder: Path | None) -> DataSet:
    if name in DATA_SETS:
        return DATA_SETS[name]()
    path = kept(folder, name) if folder is not None else None
    if path is not None:
        return read(path.read_text(encoding="utf-8"), name)
    known = ", ".join(sorted(DATA_SETS))
    raise UserError(f"there is no data set {name!r} here; shipped: {known}")
