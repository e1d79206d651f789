"""Section ``micro``: matrix product, logistic and sign function under encryption, beside what CryptOracle published."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figures import Figure, Progress, Target
from bench.in_process import VARIANTS, Case, Parties

# Published by CryptOracle at 128 bits: 2 threads of a Ryzen 9 7950X, OpenFHE. Beside it: the largest error.
_CASES = {
    Case("matrix-product", 0.12, 7.18): 1e-3,
    Case("matrix-product-packed", 0.05, 7.18): 1e-3,
    Case("logistic", 0.12, 5.22): 5e-5,
    Case("sign", 0.25, 13.89): 5.1e-3,
}


def section(progress: Progress) -> Iterator[Figure]:
    """Each workload on each variant with one thread and two."""
    for case, most_error in _CASES.items():
        for variant in VARIANTS:
            progress(f"{case.name}, {variant}")
            figures = list(case.figures(Parties(case.name, variant), variant))
            yield from figures
            error = figures[-1].facts["max_error"]
            yield Figure(f"{case.name}, {variant}, largest error", error, "", Target(most=most_error))
