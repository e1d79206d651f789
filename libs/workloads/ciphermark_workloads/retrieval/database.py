"""Databases: n elements of S bytes each, numbered from 0."""

from __future__ import annotations

from dataclasses import dataclass
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
        first = start // _CHUNK
        chunks = [self._chunk(number) for number in range(first, -(-stop // _CHUNK))]
        return np.concatenate(chunks)[start - first * _CHUNK : stop - first * _CHUNK]

    def _chunk(self, number: int) -> Rows:
        generator = np.random.default_rng([self.seed, number])
        return generator.integers(0, 256, (_CHUNK, self.element_bytes), dtype=np.uint8)
