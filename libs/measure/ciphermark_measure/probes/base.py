"""What a probe is: something that measures what this process does between two moments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Literal

from ciphermark_core.metrics import Metric

# What is measured from beginning to end: a loop over one primitive; one over a circuit of many; a step of a party; all
# that a party does for one request; something that is executed once, in a process where nothing is timed.
Span = Literal["primitive", "circuit", "step", "request", "alone"]


class Probe(ABC):
    """Yields ``metrics``, which are registered, in the spans that it is meant for.

    One object measures one span at a time, again and again. What one probe costs is not to be seen by the others:
    whatever takes long belongs in the spans in which nothing is timed (``request``, ``alone``).
    """

    metrics: ClassVar[tuple[Metric, ...]]
    spans: ClassVar[frozenset[Span]] = frozenset({"primitive", "circuit", "step"})

    def available(self) -> str | None:
        """Why it cannot be used in this process, or ``None``. Asked once for all probes of a kind."""
        return None

    @abstractmethod
    def start(self) -> None:
        """Begin to measure."""

    @abstractmethod
    def stop(self) -> Mapping[str, float]:
        """The values since :meth:`start`, by name of metric and in its unit; not of one execution but of all."""
