"""Section ``micro``: encrypted matrix product, logistic and sign function, against CryptOracle's published results."""

from __future__ import annotations

from collections.abc import Iterator

from bench.in_process import VARIANTS, Case, Parties
from bench.results import BenchResult, Progress, Target

# Published by CryptOracle at 128 bits: 2 threads of a Ryzen 9 7950X, OpenFHE; and the largest error.
_CASES = {
    Case("matrix-product", 0.12, 7.18): 1e-3,
    Case("matrix-product-packed", 0.05, 7.18): 1e-3,
    Case("logistic", 0.12, 5.22): 5e-5,
    Case("sign", 0.25, 13.89): 5.1e-3,
}


def section(progress: Progress) -> Iterator[BenchResult]:
    """Each workload on each variant, with one thread and with two."""
    for case, max_error in _CASES.items():
        for variant in VARIANTS:
            progress(f"{case.name}, {variant}")
            results = list(case.results(Parties(case.name, variant), variant))
            yield from results
            error = results[-1].facts["max_error"]
            yield BenchResult(f"{case.name}, {variant}, largest error", error, "", Target(most=max_error))
