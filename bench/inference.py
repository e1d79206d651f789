"""Section ``inference``: the class of an encrypted digit, at 128 bits, both parties in this process.

Times are the server's evaluation of one image, weights encoded or encrypted before. The class of each of 200 held-out
images is compared with that of the network in the clear. Large ones, of thousands of images or of a million weights,
are of one variant, and tell what a second thread brings.
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
from ciphermark_workloads.inference.inputs import Image
from ciphermark_workloads.inference.networks import stored
from ciphermark_workloads.parameters import recommended

_IMAGES = 200
_LOOPS = 11


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    target_s: float
    published_s: float  # CraterLake's CPU baseline: 32 cores of a Threadripper PRO 3975WX, at 80 bits


_CASES = (_Case("lola-mnist", 0.04, 0.561), _Case("lola-mnist-encrypted", 0.06, 1.369))
_LARGE = {"cryptonets": (4.096, 12.8), "lola-cifar": (3.0, 187.0)}  # target; published, on other hosts
_LARGE_LOOPS = 5
_LEAST_SCALING = 1.6
_VARIANTS = ("seal", "seal-hexl")
_THREADS = (1, 2)


def section(progress: Progress) -> Iterator[Figure]:
    """Each workload on each variant with one thread and two; targets are for ``seal-hexl`` with two."""
    for case in _CASES:
        for variant in _VARIANTS:
            progress(f"{case.name}, {variant}")
            yield from _figures(case, variant)
    for name in _LARGE:
        progress(f"{name}, {_VARIANTS[-1]}")
        yield from _large_figures(name, _VARIANTS[-1])


def _large_figures(name: str, variant: str) -> Iterator[Figure]:
    declared, workload = registry.declaration(variant), WORKLOADS[name]
    given = workload.input(1, None)
    both = InProcess(workload, registry.load(variant), recommended(workload, "ckks", declared), given)
    seconds = {}
    for threads in _THREADS:
        executed = both.executed(given, _LARGE_LOOPS, threads)["infer"]
        judgement = both.judged(both.output(executed.outputs, given), given)
        if judgement.complaint is not None:
            raise UserError(f"{name}, {variant}: {judgement.complaint}")
        seconds[threads] = median(executed.evaluate_s)
    most, published = _LARGE[name]
    alone, together = seconds[min(_THREADS)], seconds[max(_THREADS)]
    images = judgement.figures["images"]
    about = f"{images / together:.4g} images/s; one thread {alone:.3g} s; published {published} s"
    what = f"{name}, {variant}, {max(_THREADS)} threads"
    yield Figure("inference", what, together, "s", Target(most=most), about)
    scaling = Target(least=_LEAST_SCALING)
    yield Figure("inference", f"{what} beside one", alone / together, "times", scaling, "one image or batch")


def _image(number: int) -> Image:
    held = stored.shipped("lola-mnist")
    return Image(held.images[number], int(held.labels[number]))


def _figures(case: _Case, variant: str) -> Iterator[Figure]:
    declared, workload = registry.declaration(variant), WORKLOADS[case.name]
    first = _image(0)
    both = InProcess(workload, registry.load(variant), recommended(workload, "ckks", declared), first)
    for threads in _THREADS:
        seconds = median(both.executed(first, _LOOPS, threads)["infer"].evaluate_s)
        is_goal = variant == "seal-hexl" and threads == max(_THREADS)
        yield Figure(
            "inference",
            f"{case.name}, {variant}, {threads} threads",
            seconds,
            "s",
            Target(most=case.target_s) if is_goal else None,
            f"published, at 80 bits on 32 cores: {case.published_s} s",
        )
    if variant != _VARIANTS[-1]:
        return
    agreeing, errors, margins = 0, [], []
    for number in range(_IMAGES):
        image = _image(number)
        judgement = both.judged(both.output(both.executed(image, 1, 2)["infer"].outputs, image), image)
        if judgement.complaint is not None:
            raise UserError(f"{case.name}, {variant}, image {number}: {judgement.complaint}")
        agreeing += int(judgement.figures["agreement"])
        errors.append(judgement.figures["logit_error"])
        margins.append(judgement.figures["margin"])
    yield Figure(
        "inference",
        f"{case.name}, {variant}, images that agree",
        agreeing,
        f"of {_IMAGES}",
        Target(least=_IMAGES),
        f"largest error of a logit {max(errors):.2g}, smallest margin {min(margins):.2g}",
    )
