"""The data sets of this client: the shipped ones, and uploaded ones.

Uploaded ones are files in its private folder, under names derived from their contents.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ciphermark_measure.parties import inputs
from ciphermark_web.problems import Problem
from ciphermark_workloads import data_sets as shipped
from ciphermark_workloads.data_sets import MAX_BYTES, LabelRule

MAX_GIVEN = 100


@dataclass(frozen=True, slots=True)
class Shape:
    """A data set's name and size."""

    name: str
    rows: int
    features: int


class DataSets:
    """Stores CSV files in ``folder``. Names derive from contents, so that equal data are one data set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._given = {path.stem: _shape(path) for path in sorted(folder.glob("*.csv"))}

    def all(self) -> list[Shape]:
        """All data sets: the shipped ones, then the uploaded ones."""
        ours = [Shape(name, *make().features.shape) for name, make in sorted(shipped.DATA_SETS.items())]
        return ours + list(self._given.values())

    def add(self, data: bytes, rule: LabelRule = "binary", called: str | None = None) -> Shape:
        """Store a data set as ``CALLED@`` and the beginning of its digest, or under its whole digest. A repetition
        changes nothing.

        Raises ``UserError`` for data that the reader of data sets refuses, ``Problem`` for too many data sets, or if
        another data set has the name.
        """
        given = shipped.take(data, "data set", rule)
        name = given.digest if called is None else given.called(called)
        if name not in self._given:
            if len(self._given) >= MAX_GIVEN:
                raise Problem("too-many", f"{MAX_GIVEN} data sets are kept, and no more: use one of them")
            inputs.keep(self.folder, name, given.data)
            self._given[name] = Shape(name, given.rows, given.features)
        elif (self.folder / f"{name}.csv").read_bytes() != given.data:
            raise Problem("exists", f"another data set is called {name}: call this one otherwise")
        return self._given[name]

    def remove(self, name: str) -> None:
        """Remove an uploaded data set and its file; raises ``Problem`` for any other."""
        if name not in self._given:
            known = "a shipped one stays" if name in shipped.DATA_SETS else "GET /v1/data-sets lists them"
            raise Problem("not-found", f"no data set {name} was given: {known}")
        (self.folder / f"{name}.csv").unlink(missing_ok=True)
        del self._given[name]


def _shape(path: Path) -> Shape:
    given = shipped.take(path.read_bytes(), path.stem)
    return Shape(path.stem, given.rows, given.features)


__all__ = ["MAX_BYTES", "DataSets", "Shape"]
