"""What two parties cost beside the cryptography: all that is not encryption, evaluation or decryption.

A pass of a learning trial encrypts, evaluates, decrypts and scores; packing, serialization, blobs and messages come on
top. Keys are not counted: they are made once. Small workloads pay more, in share, than long ones: they are told beside
it, without a target.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from statistics import median

from bench import services
from bench.figures import Figure, Progress, Target
from bench.places import measuring_cpu
from ciphermark_benchmark.parties import http_party
from ciphermark_benchmark.processes import Confinement, WorkerNeeds
from ciphermark_benchmark.runner import two_parties
from ciphermark_contract.keys import NO_KEYS
from ciphermark_core.dimensions import DATA_SET
from ciphermark_core.model import Budget, Case, Outcome, Sample, Trial
from ciphermark_workloads.catalogue import WORKLOADS

_VARIANT = "seal"
_PASSES = 5
_CRYPTOGRAPHY = ("encrypt", "evaluate", "decrypt")
_MOST_PERCENT = 10.0
_JUDGED = "lr-k3-encrypted"
_BESIDE = "lmc-encrypted"


def section(progress: Progress) -> Iterator[Figure]:
    """The share of a pass that is no cryptography: parties on this host, and behind services."""
    yield from _figures(progress, "local parties", {})
    with services.running() as variables:
        yield from _figures(progress, "services", variables)


def _figures(progress: Progress, where: str, variables: Mapping[str, str]) -> Iterator[Figure]:
    for name, target in ((_JUDGED, Target(most=_MOST_PERCENT)), (_BESIDE, None)):
        progress(f"{name}, {_VARIANT}, {where}, {_PASSES} passes")
        outcome = _executed(_trial(name), variables)
        if outcome.status != "ok":
            raise RuntimeError(f"{name}: {outcome.status}: {outcome.error}")
        shares = overheads(outcome.samples)
        yield Figure(
            section="overhead",
            name=f"{name}, {where}",
            value=100 * median(shares),
            unit="%",
            target=target,
            note=f"of {median(passes_s(outcome.samples)):.3g} s a pass",
            facts={"variant": _VARIANT, "shares": shares},
        )


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


def _trial(name: str) -> Trial:
    spec = WORKLOADS[name].parameters("ckks")
    case = Case(_VARIANT, "learning", name, spec, 6578, "real", dimensions={DATA_SET.name: "boston"})
    return Trial("overhead", "bench", case, 0, 1, Budget(samples=_PASSES, min_time_s=0.0))


def _executed(trial: Trial, variables: Mapping[str, str]) -> Outcome:
    allowed = trial.budget
    confinement = Confinement((measuring_cpu(),), 1, allowed.memory_mb)
    needs = WorkerNeeds(_VARIANT, trial.case.parameters, NO_KEYS, confinement, allowed.timeout_s)
    seat = two_parties.runner(needs, http_party.chosen(variables))
    try:
        if seat.open(trial):
            while not seat.turn():
                continue
        return seat.close()
    finally:
        seat.leave()
