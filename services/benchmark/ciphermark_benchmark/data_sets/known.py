"""What is known of a data set before its rows are read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """A data set that can be measured: its name in results, its rows, and its columns less the label."""

    name: str
    rows: int
    features: int
