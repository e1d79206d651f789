"""The data sets that suites name, and their locations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """A measurable data set: its name in results, its number of rows, and its number of columns without the label."""

    name: str
    rows: int
    features: int
