"""Section ``transfer``: the time of a stage minus the work of its parties, for small and large messages.

The parties are processes on this host, as in a run. The fastest stage of many passes gives the time of the transfer
itself. The bound is 1 ms plus the transferred bytes at 1 GB/s.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.processes import of_two_parties
from bench.results import BenchResult, Progress, Target
from ciphermark_adapters import registry
from ciphermark_core.descriptor import DATA_SET
from ciphermark_core.model import Case, Sample, Scheme
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.parameters import recommended

_CASES: tuple[tuple[str, Scheme, int], ...] = (
    ("lmc-plain", "ckks", 60),
    ("lmc-encrypted", "bfv", 40),
    ("lr-k3-encrypted", "ckks", 12),
)
_VARIANT = "seal"
_LATENCY_S = 1e-3
_BYTES_PER_S = 1e9


def section(progress: Progress) -> Iterator[BenchResult]:
    """The fastest transfer of each stage of a few workloads."""
    for name, scheme, passes in _CASES:
        progress(f"{name}, {scheme}")
        spec = recommended(WORKLOADS[name], scheme, registry.declaration(_VARIANT))
        case = Case(_VARIANT, "learning", name, spec, 1, "random", dimensions={DATA_SET.name: "boston"})
        yield from results(f"{name} {scheme}", of_two_parties(case, passes).samples)


def results(name: str, samples: tuple[Sample, ...]) -> Iterator[BenchResult]:
    """The results of one trial."""
    for stage in dict.fromkeys(sample.stage for sample in samples if sample.step == "transfer"):
        timed = [item for item in samples if item.stage == stage and not item.is_warmup]
        transfers = [item.value for item in timed if item.metric == "time" and item.step == "transfer"]
        sizes = [item.value for item in timed if item.metric == "size" and item.ordinal == timed[-1].ordinal]
        if not transfers:
            continue
        seconds, size_bytes = min(transfers), sum(sizes)
        most = Target(most=1e3 * (_LATENCY_S + size_bytes / _BYTES_PER_S))
        yield BenchResult(f"{name} {stage}", 1e3 * seconds, "ms", most, f"{size_bytes / 1e6:.2f} MB")
