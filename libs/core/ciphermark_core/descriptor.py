"""The descriptor of a case: every dimension of a case and of its resolved parameters, declared once.

``dimensions.csv`` has those of all cases. A :class:`Dimension` with ``sources`` is a column of the table ``case_info``,
which has one row for each case as it was executed. Everything else follows from the declaration: what the recorder
writes (:func:`row`), the comments on the columns and the documentation of views, exports, headings and tooltips
(``label``, ``short``, ``sentence``, ``unit``, ``written``), filters (``is_filter``), and the rule which dimensions
distinguish the rows of a table (``tells_apart``).

A dimension without ``sources`` belongs to an experiment or a family of workloads, which registers it. Its value is in
:attr:`~ciphermark_core.model.Case.dimensions`, and in ``case_info.dimensions`` of the database.

To add a dimension of all cases: the field of ``ParameterSpec`` (with metadata where suites request it), ``Parameters``
or ``Case``, one line of ``dimensions.csv``, one ``alter table case_info add column`` as a migration, and a test.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from ciphermark_core import registry

Value = str | int | float | bool
V = TypeVar("V")
# The origin of the value: the suite that requests a case, or the library that executes it.
Origin = Literal["request", "result"]
_OF_FAMILY = "trial.case.dimensions"


@dataclass(frozen=True, slots=True)
class Dimension(Generic[V]):
    """One dimension, with values of ``kind``, or ``None`` where it does not apply; ``sentence`` explains it.

    ``sources`` are dotted paths into an :class:`~ciphermark_core.model.Outcome`; the first value that is not ``None``
    counts. ``label`` heads a table's column, or ``short`` where space is scarce. ``written`` names the format of a
    value in a cell. ``phrase`` is its form in a sentence or heading: a text with ``{}`` for the value, or the name of a
    format. ``tells_apart``: cases that differ in it are different requests, which a table has to distinguish.
    ``is_filter``: pages offer it as a filter.
    """

    name: str
    kind: type[V]
    sentence: str
    sources: tuple[str, ...] = ()
    unit: str = ""
    label: str = ""
    short: str = ""
    written: str = "text"
    phrase: str = "{}"
    origin: Origin = "request"
    tells_apart: bool = False
    is_filter: bool = False

    @property
    def is_number(self) -> bool:
        """Whether values are single numbers, which tables right-align."""
        return self.kind in (int, float)

    @property
    def is_of_family(self) -> bool:
        """Whether it is in the ``dimensions`` of cases, since it belongs to a single experiment or family."""
        return not self.sources or self.sources[0].startswith(f"{_OF_FAMILY}.")

    @property
    def heading(self) -> str:
        """The label, else the name in words."""
        return self.label or self.name.replace("_", " ").capitalize()

    def of(self, dimensions: Mapping[str, Value]) -> V | None:
        """The value of a case; ``None`` for a case without the dimension. Raises ``TypeError`` for another kind."""
        value = dimensions.get(self.name)
        if value is None or type(value) is self.kind:
            return value
        raise TypeError(f"{self.name} is {value!r}, no {self.kind.__name__}")


def _follow(reached: dict[str, Any], path: str) -> Any:
    """Return the value at a dotted path of attributes and keys from ``reached[""]``; ``None`` where a part is missing.

    ``reached`` caches the values of earlier paths, since most share a prefix.
    """
    if path not in reached:
        parent, _, name = path.rpartition(".")
        owner = _follow(reached, parent)
        if owner is None:
            reached[path] = None
        else:
            reached[path] = owner.get(name) if isinstance(owner, Mapping) else getattr(owner, name)
    return reached[path]


_registered: dict[str, Dimension[Any]] = {}
DIMENSIONS: Mapping[str, Dimension[Any]] = MappingProxyType(_registered)


def register(dimension: Dimension[V]) -> Dimension[V]:
    """Register a dimension, and return it. Raises ``ValueError`` where its name already has another meaning."""
    return registry.add(_registered, dimension)


def columns() -> tuple[Dimension[Any], ...]:
    """The dimensions that are columns of ``case_info``, in order of declaration."""
    return tuple(dimension for dimension in DIMENSIONS.values() if dimension.sources)


def row(outcome: object) -> dict[str, Any]:
    """Return the values of all :func:`columns` for an outcome's executed case; ``None`` where no source has one."""
    reached: dict[str, Any] = {"": outcome}
    values: dict[str, Any] = {}
    for dimension in columns():
        for path in dimension.sources:
            values[dimension.name] = value = _follow(reached, path)
            if value is not None:
                break
    return values


def filters() -> tuple[Dimension[Any], ...]:
    """The dimensions that pages offer as filters, in order of declaration."""
    return tuple(dimension for dimension in columns() if dimension.is_filter)


def tells_apart() -> tuple[Dimension[Any], ...]:
    """The dimensions of a request that distinguish the cases of a table, in the order in which they are stated."""
    return tuple(dimension for dimension in columns() if dimension.tells_apart)


def of_library() -> tuple[Dimension[Any], ...]:
    """The dimensions that a library chose for a parameter set; they are shown with a case, but do not identify it."""
    return tuple(
        dimension for dimension in columns() if dimension.origin == "result" and dimension.phrase != "{}"
    )


# The beginnings of sources in ``dimensions.csv`` that differ from paths.
_ROOTS = {"case": "trial.case", "spec": "trial.case.parameters", "options": _OF_FAMILY}
_KINDS: Mapping[str, type] = {kind.__name__: kind for kind in (str, int, float, bool, tuple, dict)}


def _of_cases() -> Iterator[Dimension[Any]]:
    """The dimensions of all cases; an empty cell of ``dimensions.csv`` stands for the field's default."""
    text = (files("ciphermark_core") / "dimensions.csv").read_text(encoding="utf-8")
    for line in csv.DictReader(text.splitlines()):
        given: dict[str, Any] = {name: cell for name, cell in line.items() if cell}
        flags = {name: name in given for name in ("tells_apart", "is_filter")}
        sources = tuple(map(_path, given["sources"].split()))
        yield Dimension(**given | flags | {"kind": _KINDS[given["kind"]], "sources": sources})


def _path(source: str) -> str:
    root, colon, rest = source.partition(":")
    return f"{_ROOTS.get(root, root)}.{rest}" if colon else source


for _dimension in _of_cases():
    register(_dimension)

MAX_REPETITIONS = register(
    Dimension("max_repetitions", int, "Maximum number of repetitions (experiments depth and noise).")
)
REPETITIONS = register(Dimension("repetitions", int, "Consecutive operations (experiment repetition)."))
DATA_SET: Dimension[str] = DIMENSIONS["data_set"]
LEVEL: Dimension[int] = DIMENSIONS["level"]
RESIDENCY: Dimension[str] = DIMENSIONS["residency"]
