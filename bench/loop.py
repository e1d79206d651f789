"""Section ``loop``: the cost of an empty iteration of the timed loop."""

from __future__ import annotations

from collections.abc import Iterator

from bench.processes import started
from bench.results import BenchResult, Progress, Target

_MAX_NS = {"seal": 50, "seal-hexl": 50, "tenseal": 1000, "pyfhel": 1000, "cleartext": 1000}


def section(progress: Progress) -> Iterator[BenchResult]:
    """Query a worker of every variant."""
    for variant, max_ns in _MAX_NS.items():
        progress(f"worker of {variant}")
        empty_ns = started(variant)[1]["empty_loop_ns"]
        yield BenchResult(f"{variant} empty iteration", empty_ns, "ns", Target(most=max_ns))
