"""The registry of dimensions: what cases of one experiment or family alone are varied by.

A dimension is registered once, by one line where it belongs; cases carry its value under its name, and the database
keeps all of them in one column, ``case_.dimensions``, which its table ``dimension`` documents from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from ciphermark_core import registry

Value = str | int | float | bool
V = TypeVar("V", bound=Value)


@dataclass(frozen=True, slots=True)
class Dimension(Generic[V]):
    """One dimension: values are of ``kind``; ``sentence`` explains it to the reader."""

    name: str
    kind: type[V]
    sentence: str

    def of(self, dimensions: Mapping[str, Value]) -> V | None:
        """The value that a case has; ``None`` where it is not varied by this. Raises ``TypeError`` for another kind."""
        value = dimensions.get(self.name)
        if value is None or type(value) is self.kind:
            return value
        raise TypeError(f"{self.name} is {value!r}, no {self.kind.__name__}")


_registered: dict[str, Dimension[Any]] = {}
DIMENSIONS: Mapping[str, Dimension[Any]] = MappingProxyType(_registered)


def register(dimension: Dimension[V]) -> Dimension[V]:
    """Make a dimension known, and return it. Raises ``ValueError`` where its name has another meaning already."""
    return registry.add(_registered, dimension)


CAP = register(Dimension("cap", int, "Most repetitions that are tried (experiments depth and noise)."))
REPETITIONS = register(Dimension("repetitions", int, "Operations in a row (experiment repetition)."))
DATA_SET = register(Dimension("data_set", str, "Real data that a workload computes on."))
