"""Section ``micro``: matrix product, logistic and sign function under encryption, at 128 bits, both parties here.

Times are the server's evaluation alone, as CryptOracle counts; constants are encoded before (told in the note). Every
result is decrypted and judged before its time counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from bench.figures import Figure, Progress, Target
from ciphermark_adapters import registry
from ciphermark_core.errors import UserError
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.parameters import recommended

_LOOPS = 11
_SEED = 1


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    target_s: float
    target_error: float
    published_s: float  # CryptOracle at 128 bits, 2 threads of a Ryzen 9 7950X, OpenFHE


_CASES = (
    _Case("matrix-product", 0.12, 1e-3, 7.18),
    _Case("matrix-product-packed", 0.05, 1e-3, 7.18),
    _Case("logistic", 0.12, 5e-5, 5.22),
    _Case("sign", 0.25, 5.1e-3, 13.89),
)
_VARIANTS = ("seal", "seal-hexl")
_THREADS = (1, 2)


def section(progress: Progress) -> Iterator[Figure]:
    """Each workload on each variant with one thread and two; targets are for ``seal-hexl`` with two."""
    for case in _CASES:
        for variant in _VARIANTS:
            progress(f"{case.name}, {variant}")
            yield from _figures(case, variant)


def _figures(case: _Case, variant: str) -> Iterator[Figure]:
    declared, workload = registry.declaration(variant), WORKLOADS[case.name]
    given = workload.input(_SEED, None)
    both = InProcess(workload, registry.load(variant), recommended(workload, "ckks", declared), given)
    for threads in _THREADS:
        executed = both.executed(given, _LOOPS, threads)["compute"]
        judgement = both.judged(both.output(executed.outputs, given), given)
        if judgement.complaint is not None:
            raise UserError(f"{case.name}, {variant}: {judgement.complaint}")
        is_goal = variant == "seal-hexl" and threads == max(_THREADS)
        seconds = median(executed.evaluate_s)
        ratio = case.published_s / seconds
        yield Figure(
            "micro",
            f"{case.name}, {variant}, {threads} threads",
            seconds,
            "s",
            Target(most=case.target_s) if is_goal else None,
            f"constants {executed.encode_s:.3f} s; published {case.published_s} s: {ratio:.0f} times it",
        )
    yield Figure(
        "micro",
        f"{case.name}, {variant}, largest error",
        judgement.figures["max_error"],
        "",
        Target(most=case.target_error),
    )
