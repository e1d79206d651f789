"""What a pass of retrieval works on and brings: declared by each protocol, recorded with every outcome. Throughput and
what an element costs follow from them and from times (view ``retrievals``), for protocols to come, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ciphermark_core.metrics import Metric, register

DATABASE_SIZE = register(
    Metric(
        "database_size",
        "bytes",
        None,
        1.0,
        "size of the database",
        "Bytes of the database that one answer is over: elements times their length.",
    )
)
ANSWERS = register(
    Metric("answers", "elements", None, 1.0, "elements got", "Elements that a client gets by one query.")
)
ANSWERED_SIZE = register(
    Metric(
        "answered_size",
        "bytes",
        None,
        1.0,
        "size of what is got",
        "Bytes of the elements that a client gets by one query.",
    )
)


@dataclass(frozen=True, slots=True)
class Work:
    """Of one query: the bytes that its answer is over, and how many elements of how many bytes it brings."""

    database_bytes: int
    element_bytes: int
    elements: int = 1

    @property
    def figures(self) -> Mapping[str, float]:
        """By the names of metrics."""
        return {
            DATABASE_SIZE.name: float(self.database_bytes),
            ANSWERS.name: float(self.elements),
            ANSWERED_SIZE.name: float(self.elements * self.element_bytes),
        }
