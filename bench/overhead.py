"""What two parties cost beside the cryptography: all that is not encryption, evaluation or decryption.

A pass of a learning trial encrypts, evaluates, decrypts and scores; packing, serialization, blobs and messages come on
top. Keys are not counted: they are made once. Small workloads pay more, in share, than long ones: they are told beside
it, without a target. What takes most memory is the keys of the largest workload: the peaks of its parties are told too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from bench.figures import Figure, Progress, Target
from bench.processes import of_two_parties, services
from ciphermark_core.descriptor import DATA_SET
from ciphermark_core.model import Case, Sample
from ciphermark_workloads.catalogue import WORKLOADS

_VARIANT = "seal"
_PASSES = 5
_CRYPTOGRAPHY = ("encrypt", "evaluate", "decrypt")
_MOST_PERCENT = 10.0
_JUDGED = "lr-k3-encrypted"
_BESIDE = "lmc-encrypted"
_LARGEST = "lr-k5-encrypted"
_MOST_GB = {"client": 2.8, "server": 2.6}  # 70 % of what they took when keys were held and sent all at once


def section(progress: Progress) -> Iterator[Figure]:
    """The share of a pass that is no cryptography: parties on this host, and behind services."""
    yield from _figures(progress, "local parties", {})
    with services() as variables:
        yield from _figures(progress, "services", variables)
    yield from _peaks(progress)


def _figures(progress: Progress, where: str, variables: Mapping[str, str]) -> Iterator[Figure]:
    for name, target in ((_JUDGED, Target(most=_MOST_PERCENT)), (_BESIDE, None)):
        progress(f"{name}, {_VARIANT}, {where}, {_PASSES} passes")
        samples = _executed(name, _PASSES, variables)
        shares = overheads(samples)
        yield Figure(
            section="overhead",
            name=f"{name}, {where}",
            value=100 * median(shares),
            unit="%",
            target=target,
            note=f"of {median(passes_s(samples)):.3g} s a pass",
            facts={"variant": _VARIANT, "shares": shares},
        )


def _peaks(progress: Progress) -> Iterator[Figure]:
    """The largest resident set of each of two local parties, over all stages."""
    progress(f"{_LARGEST}, {_VARIANT}, local parties, peak memory")
    peaks = peaks_bytes(_executed(_LARGEST, 1, {}))
    for party, most_gb in _MOST_GB.items():
        yield Figure(
            section="overhead",
            name=f"{_LARGEST}, peak memory of the {party}",
            value=peaks[party] / 1e9,
            unit="GB",
            target=Target(most=most_gb),
            facts={"variant": _VARIANT},
        )


def peaks_bytes(samples: Iterable[Sample]) -> dict[str, float]:
    """The largest peak memory of each party. Pure."""
    peaks: dict[str, float] = defaultdict(float)
    for sample in samples:
        if sample.metric == "peak_memory" and sample.party is not None:
            peaks[sample.party] = max(peaks[sample.party], sample.value)
    return peaks


def overheads(samples: Iterable[Sample]) -> list[float]:
    """Per pass, the share of its wall time that is not encryption, evaluation or decryption. Pure."""
    whole: dict[int, float] = defaultdict(float)
    work: dict[int, float] = defaultdict(float)
    for sample in _times(samples):
        _, _, step = sample.phase.partition(".")
        if not step:
            whole[sample.ordinal] += sample.value
        elif step in _CRYPTOGRAPHY:
            work[sample.ordinal] += sample.value
    return [1 - work[ordinal] / elapsed_s for ordinal, elapsed_s in sorted(whole.items())]


def passes_s(samples: Iterable[Sample]) -> list[float]:
    """Wall time of every pass. Pure."""
    whole: dict[int, float] = defaultdict(float)
    for sample in _times(samples):
        if "." not in sample.phase:
            whole[sample.ordinal] += sample.value
    return list(whole.values())


def _times(samples: Iterable[Sample]) -> Iterator[Sample]:
    for sample in samples:
        if sample.metric == "time" and not sample.is_warmup and not sample.phase.startswith("prepare"):
            yield sample


def _executed(name: str, passes: int, variables: Mapping[str, str]) -> Sequence[Sample]:
    spec = WORKLOADS[name].parameters("ckks")
    case = Case(_VARIANT, "learning", name, spec, 6578, "real", dimensions={DATA_SET.name: "boston"})
    return of_two_parties(case, passes, variables).samples
