"""The family ``inference``: logits under encryption are those of the network in the clear on every variant that has the
operations.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciphermark_adapters import registry
from ciphermark_core.model import Scheme
from ciphermark_measure.parties.in_process import InProcess
from ciphermark_workloads.catalogue import WORKLOADS
from ciphermark_workloads.inference import chebyshev_model
from ciphermark_workloads.inference.inputs import Image
from ciphermark_workloads.inference.networks import stored
from ciphermark_workloads.parameters import recommended

from . import harness
from .cells import each, has_managed, where

pytestmark = [pytest.mark.schemes("ckks"), where(has_managed("add", "mul", "mul_plain", "square", "rotate"))]


def _together(name: str, variant: str, scheme: Scheme) -> InProcess:
    return harness.in_process(WORKLOADS[name], variant, scheme, _image(name, 0))


def _image(name: str, number: int) -> Image:
    held = stored.shipped(name.removesuffix("-encrypted").removesuffix("-one"))
    return Image(held.images[number], int(held.labels[number]))


@each("name", lambda _: ["digits", "digits-encrypted", "digits-one"])
def test_digits(variant: str, scheme: Scheme, name: str) -> None:
    """The smallest network at the ring that it takes: weights in the clear and encrypted, and one ciphertext up."""
    both = _together(name, variant, scheme)
    for number in (0, 60, 199) if (variant, name) == ("seal", "digits") else (60,):
        assert harness.judgement(both, _image(name, number)).complaint is None, number


@each("name", lambda _: ["cifar-chebyshev", "cifar-chebyshev-published"])
def test_chebyshev_model(variant: str, scheme: Scheme, name: str) -> None:
    images = chebyshev_model.images()
    both = harness.in_process(WORKLOADS[name], variant, scheme, images.image(3))
    assert harness.judgement(both, images.image(3)).complaint is None


@pytest.mark.extended
@pytest.mark.variants("seal")
def test_chebyshev_model_on_a_hundred_images(variant: str, scheme: Scheme) -> None:
    """No class differs from that of the same polynomials in the clear."""
    images = chebyshev_model.images()
    both = harness.in_process(WORKLOADS["cifar-chebyshev"], variant, scheme, images.image(0))
    for number in range(100):
        assert harness.judgement(both, images.image(number)).results["agreement"] == 1, number


def test_a_small_network_of_two_convolutions(variant: str, scheme: Scheme) -> None:
    """LoLa's for colour images, but for its sizes; in a ring that is as small."""
    adapter, large = harness.adapter(variant), WORKLOADS["lola-cifar"]
    spec = replace(recommended(large, scheme, registry.declaration(variant)), ring_dimension=2048, security=0)
    workload = large.outline(adapter.resolve(spec))
    both = InProcess(workload, adapter, spec, workload.input(1, None))
    for seed in (1, 2) if variant == "seal" else (1,):
        assert harness.judgement(both, workload.input(seed, None)).complaint is None, seed


@pytest.mark.variants("seal")
def test_each_class_of_lola_mnist(variant: str, scheme: Scheme) -> None:
    both = _together("lola-mnist", variant, scheme)
    for number in range(0, 200, 20):
        assert harness.judgement(both, _image("lola-mnist", number)).complaint is None, number
