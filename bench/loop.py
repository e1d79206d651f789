"""Section ``loop``: what an iteration of the timed loop costs when it executes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figures import Figure, Progress, Target
from bench.processes import started

_NATIVE = Target(most=50)
_PYTHON = Target(most=1000)
_TARGETS = {
    "seal": _NATIVE,
    "seal-hexl": _NATIVE,
    "tenseal": _PYTHON,
    "pyfhel": _PYTHON,
    "cleartext": _PYTHON,
}


def section(progress: Progress) -> Iterator[Figure]:
    """Ask a worker of every variant."""
    for variant, bound in _TARGETS.items():
        progress(f"worker of {variant}")
        yield Figure(
            "loop", f"{variant} empty iteration", started(variant).facts["empty_loop_ns"], "ns", bound
        )
