"""CryptOracle's CIFAR-10 model: its logits by definition, and the operations of both circuits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import circuit_execution as circuits
import numpy as np
import pytest

from ciphermark_circuits import pixel_polynomials
from ciphermark_circuits.pixel_polynomials import CLASSES, DEGREE, PIXELS, SHIFTS, Model
from ciphermark_contract.interfaces import Evaluator, Handle
from ciphermark_contract.tracing import Circuit, Form, fresh_inputs, trace
from ciphermark_workloads.inference import chebyshev_model
from ciphermark_workloads.inference.networks import stored

RANDOM = np.random.default_rng(5)
MODEL = Model(RANDOM.normal(size=(DEGREE, SHIFTS, PIXELS)) / PIXELS, RANDOM.normal(size=CLASSES))
CHOSEN = circuits.parameters(8192, 5)
# The columns "true" of the published counts: products, sums, differences, differences from a number, sums with
# plaintexts, products with plaintexts, rotations.
PUBLISHED = {"mul": 7, "add": 47, "sub": 4, "sub_plain": 3, "add_plain": 2, "mul_plain": 33, "rotate": 33}
# Each product and each factor of a product with weights is rescaled: 14 factors and 4 subtrahends, and 32.
PUBLISHED |= {"relinearize": 7, "rescale": 14 + 4 + 32}
OURS = {"mul": 4, "square": 3, "add": 7 + 3 + 9, "sub": 4, "sub_plain": 3, "add_plain": 1, "rotate": 12}
OURS |= {"multiply_accumulate": 4, "relinearize": 7, "rescale": 7 + 4}


def _circuit(function: Callable[[Evaluator, Handle, Model], Handle]) -> Circuit:
    def circuit(evaluator: Evaluator, inputs: Sequence[Handle]) -> list[Handle]:
        return [function(evaluator, inputs[0], MODEL)]

    return circuit


def _logits(model: Model, pixels: np.ndarray) -> np.ndarray:
    """Class by class and pixel by pixel, by numpy's evaluation of Chebyshev series."""
    logits = model.bias.copy()
    for p, x in enumerate(pixels):
        for j in range(SHIFTS):
            logits[(p + j) % 10] += np.polynomial.chebyshev.chebval(x, [0, *model.weights[:, j, p]])
    return logits


@pytest.mark.parametrize(
    ("function", "sent", "levels"),
    [
        (pixel_polynomials.logits, lambda x: x, 4),
        (pixel_polynomials.as_published, lambda x: 127.5 * (x + 1), 4),
    ],
)
def test_the_logits(function, sent, levels) -> None:
    pixels = np.random.default_rng(7).uniform(-1, 1, PIXELS)
    found = circuits.executed(_circuit(function), [sent(pixels)], CHOSEN)
    np.testing.assert_allclose(found.outputs[0][:CLASSES], _logits(MODEL, pixels), rtol=0, atol=1e-9)
    assert found.program.depth == levels


@pytest.mark.parametrize(
    ("function", "counts"), [(pixel_polynomials.as_published, PUBLISHED), (pixel_polynomials.logits, OURS)]
)
def test_counts(function, counts) -> None:
    """All but products with 1 and drops of primes, which bring operands to one level and scale."""
    form = Form(is_literal=function is pixel_polynomials.as_published)
    traced = trace(_circuit(function), CHOSEN, fresh_inputs(CHOSEN, 1), form=form)
    constants = [traced.constants[item.digest] for item in traced.program.constants]
    found = Counter(
        node.operation
        for node in traced.program.nodes
        if node.operation != "mul_plain" or not np.all(constants[node.constants[0]] == 1)
    )
    del found["mod_switch"]
    assert found == counts


def test_the_shipped_model() -> None:
    """Weights of the two rows and columns around a digit are 0: their pixels are constant."""
    model, images = chebyshev_model.shipped(), chebyshev_model.images()
    rows = model.weights.reshape(-1, 3, 32, 32)
    assert not rows[:, :, [0, 1, 30, 31]].any()
    assert not rows[..., [0, 1, 30, 31]].any()
    logits = np.array([_logits(model, 2 * image.ravel() - 1) for image in images.pixels[:3]])
    np.testing.assert_allclose(model.logits(2 * images.pixels[:3] - 1), logits, rtol=0, atol=1e-9)
    every = model.logits(2 * images.pixels - 1)
    assert (len(images), np.count_nonzero(every.argmax(axis=1) == images.labels)) == (197, 181)
    held_out = stored.shipped("lola-mnist")
    np.testing.assert_array_equal(images.pixels[0, 1, 2:30, 2:30], held_out.images[0])
