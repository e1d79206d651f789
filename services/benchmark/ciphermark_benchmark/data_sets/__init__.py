"""The data sets that suites name, and where they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """A data set that can be measured: its name in results, its rows, and its columns less the label."""

    name: str
    rows: int
    features: int
