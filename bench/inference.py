"""Section ``inference``: the class of an encrypted digit.

The class of each of 200 held-out images is compared with the plain network's. Large workloads, with thousands of images
or a million weights, run on one variant, and show the speedup of a second thread.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.in_process import THREADS, VARIANTS, Case, Parties
from bench.results import BenchResult, Progress, Target
from ciphermark_workloads.inference.inputs import Image
from ciphermark_workloads.inference.networks import stored

_IMAGES = 200
# Published by CraterLake for its CPU: 32 cores of a Threadripper PRO 3975WX, at 80 bits.
_CASES = (Case("lola-mnist", 0.04, 0.561), Case("lola-mnist-encrypted", 0.06, 1.369))
_LARGE = (Case("cryptonets", 4.096, 12.8, loops=5), Case("lola-cifar", 3.0, 187.0, loops=5))
_SCALING = Target(least=1.6)


def section(progress: Progress) -> Iterator[BenchResult]:
    """Each workload on each variant with one thread and two, then the large ones."""
    for case in _CASES:
        for variant in VARIANTS:
            progress(f"{case.name}, {variant}")
            parties = Parties(case.name, variant, given=_image(0))
            yield from case.results(parties, variant)
        yield _agreement(f"{case.name}, {variant}", parties)
    for case in _LARGE:
        variant = VARIANTS[-1]
        progress(f"{case.name}, {variant}")
        one, two = case.results(Parties(case.name, variant), variant)
        yield two
        note = f"{two.facts['images'] / two.value:.4g} images/s; one thread {one.value:.3g} s"
        yield BenchResult(f"{two.name} beside one", one.value / two.value, "times", _SCALING, note)


def _image(number: int) -> Image:
    held = stored.shipped("lola-mnist")
    return Image(held.images[number], int(held.labels[number]))


def _agreement(name: str, parties: Parties) -> BenchResult:
    judged = [parties.infer(_image(number), 1, THREADS[-1])[1].results for number in range(_IMAGES)]
    agreeing = sum(int(item["agreement"]) for item in judged)
    error, margin = max(item["logit_error"] for item in judged), min(item["margin"] for item in judged)
    note = f"largest error of a logit {error:.2g}, smallest margin {margin:.2g}"
    return BenchResult(f"{name}, images that agree", agreeing, f"of {_IMAGES}", Target(least=_IMAGES), note)
