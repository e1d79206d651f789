"""The contract of a probe: it measures this process between two moments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from ciphermark_core.metrics import Metric

# The measured spans: a loop over one primitive; one over a circuit of many; a step of a party; all that a party does
# for one request; a single execution in a process where nothing is timed; and repetitions of a loop, which yield no
# times.
Span = Literal["primitive", "circuit", "step", "request", "alone", "profile"]


class Probe(ABC):
    """Yields ``metrics``, which are registered, in the spans that it declares.

    One object measures one span at a time, repeatedly. The cost of one probe must not affect the others: slow probes
    belong in spans in which nothing is timed (``request``, ``alone``, ``repetition``).

    ``asked_as``: the name by which a suite asks for it; other probes are always used. ``region_s`` is the minimum
    duration of a repetition, and ``repetitions`` their number. ``stops_process``: its overhead is no CPU time of this
    process.
    """

    metrics: ClassVar[tuple[Metric, ...]]
    asked_as: ClassVar[str | None] = None
    stops_process: ClassVar[bool] = False
    region_s: ClassVar[float] = 0.03
    repetitions: ClassVar[int] = 11
    spans: ClassVar[frozenset[Span]] = frozenset({"primitive", "circuit", "step"})

    def available(self) -> str | None:
        """Why it cannot be used in this process, or ``None``. Called once for all probes of a kind."""
        return None

    @classmethod
    def variants(cls) -> Sequence[Probe]:
        """The probes that cannot measure together, such as groups of counters: each has its own repetitions."""
        return (cls(),)

    @abstractmethod
    def start(self) -> None:
        """Start measuring."""

    @abstractmethod
    def stop(self) -> Mapping[str, float]:
        """The values since :meth:`start`, by name of metric and in its unit, in total over all executions."""
