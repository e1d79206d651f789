"""Databases: n elements of S bytes each, numbered from 0."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Rows: TypeAlias = npt.NDArray[np.uint8]  # an element each, of shape (count, S)


class Database(Protocol):
    """What a server has, by index."""

    def rows(self, start: int, stop: int) -> Rows:
        """The elements from ``start`` to before ``stop``, 0 ≤ start < stop ≤ n: of shape (stop − start, S)."""


_CHUNK = 1024  # elements that are made together: any of them without those before


@dataclass(frozen=True, slots=True)
class Generated:
    """``elements`` elements of ``element_bytes`` bytes, all values from 0 to 255 alike often, made of a seed."""

    elements: int
    element_bytes: int
    seed: int

    def rows(self, start: int, stop: int) -> Rows:
        """The elements from ``start`` to before ``stop``, 0 ≤ start < stop ≤ n: of shape (stop − start, S)."""
        parts = []
        for first in range(start - start % _CHUNK, stop, _CHUNK):
            chunk = _chunk(self.element_bytes, self.seed, first // _CHUNK)
            parts.append(chunk[max(start - first, 0) : stop - first])
        return np.concatenate(parts)


@lru_cache(maxsize=1)  # who takes few elements after few others makes each chunk once
def _chunk(element_bytes: int, seed: int, number: int) -> Rows:
    generator = np.random.default_rng([seed, number])
    return generator.integers(0, 256, (_CHUNK, element_bytes), dtype=np.uint8)
