"""The vectors that go in and come out."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy.typing as npt

Vector: TypeAlias = npt.NDArray[Any]  # int64 for bfv and bgv, float64 for ckks
