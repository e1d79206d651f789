"""The data sets of this client: those that are shipped, and those that it was given.

What it was given is kept as files in its private folder, named by the SHA-256 of their bytes.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ciphermark_circuits import data_sets as shipped
from ciphermark_circuits.data_sets.reader import MOST_BYTES
from ciphermark_core.errors import UserError
from ciphermark_web.problems import Problem

MOST_GIVEN = 100


@dataclass(frozen=True, slots=True)
class Shape:
    """A data set's name and size."""

    name: str
    rows: int
    features: int


class DataSets:
    """Keeps CSV files in ``folder``; a name is the file's digest, so that the same data are the same data set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._given = {
            path.stem: _shape(path.stem, path.read_bytes()) for path in sorted(folder.glob("*.csv"))
        }

    def all(self) -> list[Shape]:
        """The shipped ones, then the given ones."""
        ours = [_shape_of(name, make()) for name, make in sorted(shipped.DATA_SETS.items())]
        return ours + list(self._given.values())

    def add(self, data: bytes) -> Shape:
        """Keep a data set; to give it again changes nothing.

        Raises ``UserError`` for what the reader of data sets refuses, ``Problem`` for too many.
        """
        name = hashlib.sha256(data).hexdigest()
        if name not in self._given:
            shape = _shape("data set", data)
            if len(self._given) >= MOST_GIVEN:
                raise Problem("too-many", f"{MOST_GIVEN} data sets are kept, and no more: use one of them")
            self._write(name, data)
            self._given[name] = Shape(name, shape.rows, shape.features)
        return self._given[name]

    def _write(self, name: str, data: bytes) -> None:
        descriptor, partial = tempfile.mkstemp(dir=self.folder)  # readable by us alone
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(partial, self.folder / f"{name}.csv")


def _shape(name: str, data: bytes) -> Shape:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: byte {error.start} is not UTF-8: save the file as UTF-8") from None
    return _shape_of(name, shipped.read(text, name))


def _shape_of(name: str, found: shipped.DataSet) -> Shape:
    rows, features = found.features.shape
    return Shape(name, rows, features)


__all__ = ["MOST_BYTES", "DataSets", "Shape"]
