"""Ten sums of polynomials of single pixels, in the Chebyshev basis (ckks): CryptOracle's CIFAR-10 model.

logits[o] = bias[o] + Σ weights[k, j, p]·T_k(pixel p), over degrees k = 1 … 8 and the pixels p and shifts j = 0 … 3 with
p + j ≡ o modulo 10: a pixel reaches four of ten classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ciphermark_circuits import chebyshev, sums
from ciphermark_circuits.layout import Floats
from ciphermark_contract.interfaces import Evaluator, Handle, aligned, lowered

PIXELS, CLASSES, DEGREE, SHIFTS = 3072, 10, 8, 4
REACH = 127.5  # half of the largest pixel
DEPTH = 4  # of the largest degree, and of the weights
MIN_SLOTS = 4096
# Slots 0 to 3199 in tens. Of five tens the last is added apart: only three of the four sums take a rotation each.
_HALVES = (1600, 800, 400, 200, 100, 50)
_TENS = (20, 10)
_LAST = 40
# The operation that computes many products and their sum.
_FUSED = ("multiply_accumulate",)


@dataclass(frozen=True, slots=True)
class Model:
    """``weights`` (degrees, shifts, pixels) and a ``bias`` (classes,)."""

    weights: Floats
    bias: Floats

    def logits(self, pixels: Floats) -> Floats:
        """The logits (count, classes) of images with pixels from −1 to 1, the first axis their count."""
        values = features(pixels.reshape(len(pixels), PIXELS))
        logits = np.tile(self.bias, (len(values), 1))
        for shift in range(SHIFTS):
            terms = np.einsum("ikp,kp->ip", values, self.weights[:, shift])
            for number in range(CLASSES):
                logits[:, number] += terms[:, (number - shift) % CLASSES :: CLASSES].sum(axis=1)
        return logits


def features(pixels: Floats) -> Floats:
    """T_1 to T_8 of pixels (count, pixels), by their definition cos(k·arccos x): (count, degrees, pixels)."""
    angles = np.arccos(pixels)
    return np.stack([np.cos(k * angles) for k in range(1, DEGREE + 1)], axis=1)


def reaches(number: int) -> npt.NDArray[np.bool_]:
    """The pixels that a class is computed from."""
    reached: npt.NDArray[np.bool_] = (number - np.arange(PIXELS)) % CLASSES < SHIFTS
    return reached


def by_shift(weights: Floats) -> Floats:
    """Weights (classes, degrees, pixels) as a model has them."""
    pixels = np.arange(PIXELS)
    return np.stack([weights[(pixels + j) % CLASSES, :, pixels].T for j in range(SHIFTS)], axis=1)


def logits(evaluator: Evaluator, x: Handle, model: Model) -> Handle:
    """The logits in the first ten slots, four levels down, at the parameters' scale.

    It takes 7 products, 32 products with plaintexts, 12 rotations, and 4 rescalings of sums of such products.
    """
    values = _values(evaluator, x)
    shifted = []
    for shift in range(SHIFTS):
        weights = [_weights(evaluator, model, k, shift, value) for k, value in values.items()]
        total = evaluator.apply("rescale", _inner_product(evaluator, [*values.values()], weights))
        shifted.append(_turned(evaluator, total, shift))
    return _with_bias(evaluator, _folded(evaluator, sums.total(evaluator, shifted)), model)


def as_published(evaluator: Evaluator, pixels: Handle, model: Model) -> Handle:
    """The same from pixels of 0 to 255, by 33 rotations, 7 products and 33 with plaintexts.

    As in the automatic mode of their library, each product is relinearized, and rescaled before each of its uses as a
    factor; the logits are not.
    """
    values = {1: _normalized(evaluator, pixels)}
    for k in range(2, DEGREE + 1):
        values[k] = _following(evaluator, values, k)
    level = evaluator.level(values[DEGREE]) - 1
    terms = []
    for k, value in values.items():
        for shift in range(SHIFTS):
            factor = lowered(evaluator, evaluator.apply("rescale", value), level)
            weights = _weights(evaluator, model, k, shift, factor)
            terms.append(_turned(evaluator, evaluator.apply("mul_plain", factor, weights), shift))
    return _with_bias(evaluator, _folded(evaluator, sums.total(evaluator, terms)), model)


def _normalized(evaluator: Evaluator, pixels: Handle) -> Handle:
    """pixels/127.5 − 1 in the slots of pixels, else 0; not rescaled."""
    factors = evaluator.encode(_padded(evaluator, np.full(PIXELS, 1 / REACH)), like=pixels)
    scaled = evaluator.apply("mul_plain", pixels, factors)
    ones = _padded(evaluator, np.full(PIXELS, -1.0))
    return evaluator.apply(
        "add_plain", scaled, evaluator.encode(ones, like=scaled, scale=evaluator.scale(scaled))
    )


def _following(evaluator: Evaluator, values: Mapping[int, Handle], k: int) -> Handle:
    """T_k = 2·T_m·T_{k−m} − T_{2m−k} for the largest power of two m below k, not rescaled."""
    m = 1 << ((k - 1).bit_length() - 1)
    factors = aligned(evaluator, *(evaluator.apply("rescale", values[factor]) for factor in (m, k - m)))
    raw = evaluator.apply("relinearize", evaluator.apply("mul", *factors))
    twice, scale = evaluator.apply("add", raw, raw), evaluator.scale(raw)
    if k == 2 * m:
        ones = np.ones(evaluator.parameters.slots)
        return evaluator.apply("sub_plain", twice, evaluator.encode(ones, like=twice, scale=scale))
    other = evaluator.apply("rescale", values[2 * m - k])
    assert scale is not None, "the Chebyshev basis is for ckks"
    return evaluator.apply("sub", twice, chebyshev.times(evaluator, other, 1.0, evaluator.level(raw), scale))


def _values(evaluator: Evaluator, x: Handle) -> dict[int, Handle]:
    """T_1 to T_8 at the level of the last."""
    basis = chebyshev.Basis(evaluator, x)
    return {k: lowered(evaluator, basis[k], basis.level(DEGREE)) for k in range(1, DEGREE + 1)}


def _weights(evaluator: Evaluator, model: Model, degree: int, shift: int, like: Handle) -> Handle:
    """Weights at the scale that gives products of all degrees one scale: that of the parameters after rescaling."""
    scale, usual = evaluator.scale(like), evaluator.parameters.scale
    assert scale is not None, "the Chebyshev basis is for ckks"
    assert usual is not None, "the Chebyshev basis is for ckks"
    prime = evaluator.parameters.moduli[evaluator.level(like)]
    vector = _padded(evaluator, model.weights[degree - 1, shift])
    return evaluator.encode(vector, like=like, scale=usual * prime / scale)


def _inner_product(evaluator: Evaluator, values: Sequence[Handle], weights: Sequence[Handle]) -> Handle:
    fused = next((name for name in _FUSED if name in evaluator.operations), None)
    if fused is not None:
        return evaluator.apply(fused, *values, *weights)
    products = (evaluator.apply("mul_plain", *pair) for pair in zip(values, weights, strict=True))
    return sums.total(evaluator, products)


def _turned(evaluator: Evaluator, a: Handle, shift: int) -> Handle:
    """Slots moved towards the last, so that a product reaches the class of its shift."""
    return evaluator.apply("rotate", a, -shift) if shift else a


def _folded(evaluator: Evaluator, a: Handle) -> Handle:
    """The sum of all tens of slots, in the first ten."""
    fifty = sums.turned_sum(evaluator, a, _HALVES)
    last = evaluator.apply("rotate", fifty, _LAST)
    return evaluator.apply("add", sums.turned_sum(evaluator, fifty, _TENS), last)


def _with_bias(evaluator: Evaluator, a: Handle, model: Model) -> Handle:
    bias = _padded(evaluator, model.bias)
    return evaluator.apply("add_plain", a, evaluator.encode(bias, like=a, scale=evaluator.scale(a)))


def _padded(evaluator: Evaluator, values: Floats) -> Floats:
    return np.pad(values, (0, evaluator.parameters.slots - len(values)))
