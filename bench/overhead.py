"""The overhead of two parties: all costs except encryption, evaluation and decryption.

A pass of a learning trial encrypts, evaluates, decrypts and scores; packing, serialization, blobs and messages are
overhead. Keys are not counted, since they are generated once. Small workloads have a larger share of overhead than long
ones; they are shown without a target. The keys of the largest workload take most memory: the peaks of its parties are
also shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from bench.processes import of_two_parties, services
from bench.results import BenchResult, Progress, Target
from ciphermark_core.descriptor import DATA_SET
from ciphermark_core.model import Case, Sample
from ciphermark_workloads.catalogue import WORKLOADS

_VARIANT = "seal"
_PASSES = 5
_CRYPTOGRAPHY = ("encrypt", "evaluate", "decrypt")
_MAX_PERCENT = 10.0
_JUDGED = "lr-k3-encrypted"
_BESIDE = "lmc-encrypted"
_LARGEST = "lr-k5-encrypted"
_MAX_GB = {"client": 2.8, "server": 2.6}  # 70% of the peaks when all keys were held and sent at once


def section(progress: Progress) -> Iterator[BenchResult]:
    """The overhead's share of a pass, for parties on this host and behind services."""
    yield from _results(progress, "local parties", {})
    with services() as variables:
        yield from _results(progress, "services", variables)
    progress(f"{_LARGEST}, {_VARIANT}, local parties, peak memory")
    samples = _executed(_LARGEST, 1, {})
    for party, max_gb in _MAX_GB.items():
        peaks = [item.value for item in samples if item.metric == "peak_memory" and item.party == party]
        name = f"{_LARGEST}, peak memory of the {party}"
        yield BenchResult(name, max(peaks, default=0.0) / 1e9, "GB", Target(most=max_gb))


def _results(progress: Progress, where: str, variables: Mapping[str, str]) -> Iterator[BenchResult]:
    for name, target in ((_JUDGED, Target(most=_MAX_PERCENT)), (_BESIDE, None)):
        progress(f"{name}, {_VARIANT}, {where}, {_PASSES} passes")
        whole_s, work_s = passes(_executed(name, _PASSES, variables))
        shares = [1 - work / whole for whole, work in zip(whole_s, work_s, strict=True)]
        note = f"of {median(whole_s):.3g} s a pass"
        yield BenchResult(f"{name}, {where}", 100 * median(shares), "%", target, note, {"shares": shares})


def passes(samples: Iterable[Sample]) -> tuple[list[float], list[float]]:
    """Seconds of every pass: its wall time, and its encryption, evaluation and decryption. Pure."""
    whole_s: dict[int, float] = defaultdict(float)
    work_s: dict[int, float] = defaultdict(float)
    for sample in samples:
        if sample.metric == "time" and not sample.is_warmup and not sample.phase.startswith("prepare"):
            _, _, step = sample.phase.partition(".")
            if not step:
                whole_s[sample.ordinal] += sample.value
            elif step in _CRYPTOGRAPHY:
                work_s[sample.ordinal] += sample.value
    return list(whole_s.values()), [work_s[ordinal] for ordinal in whole_s]


def _executed(name: str, passes: int, variables: Mapping[str, str]) -> Sequence[Sample]:
    spec = WORKLOADS[name].parameters("ckks")
    case = Case(_VARIANT, "learning", name, spec, 6578, "real", dimensions={DATA_SET.name: "boston"})
    return of_two_parties(case, passes, variables).samples
