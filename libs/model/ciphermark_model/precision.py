"""Precision of ckks results and noise budgets of bfv and bgv results, predicted from a program. Pure.

The program is executed on values with drawn noise (:mod:`ciphermark_model.noise`), under several drawn keys at once.
docs/explanation/precision-model.md compares predictions with measurements.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ciphermark_contract.bound import Vector
from ciphermark_contract.noise_sources import NoiseSources
from ciphermark_contract.program import Program
from ciphermark_model.embeddings import Noise, Reals
from ciphermark_model.noise import Execution, Noisy
from ciphermark_model.quantity import Quantity

Inputs: TypeAlias = Sequence[Vector | float]

DRAWS = 3
_WHOLE_DEVIATION_BITS = 0.29  # of rounding to whole bits
_STUDENT = 1.886  # quantile 0.9 of Student's t with DRAWS − 1 degrees of freedom: the interval covers 80 %
_DEFAULT = NoiseSources()
# The model's own deviation in bits, by the table in docs/explanation/precision-model.md: its minimum in any prediction.
_OWN_DEVIATION_BITS = 0.25
# A normal coefficient exceeds as many deviations with a probability of 2·10⁻¹⁷, one of N coefficients of 10⁻¹².
_COEFFICIENT_DEVIATIONS = 8.5
# The deviation for one key, and thereby log2 of it, is below its mean plus as many deviations but for 10⁻⁹ of keys.
_KEY_DEVIATIONS = 6.1
# A ckks error is a product of up to two normal values: P(> k) ≈ exp(−1.5·k^(2/3)) in each slot. Its quantile for 10⁻⁹
# is below 8 times the largest of the slots of one ciphertext.
_SAFE_FACTOR = 8.0
MIN_ROOM_BITS = 0.5


@dataclass(frozen=True, slots=True)
class Precision:
    """The predicted accuracy of a program's outputs.

    ``error`` (ckks) is the largest absolute error of all slots of all outputs, and ``bits`` its precision, relative to
    max(1, largest output) as :func:`ciphermark_contract.checking.accuracy` defines it. ``room_bits`` is log2 of half
    the modulus over the largest scaled value of the program: below 0, values wrap around.

    ``budget_bits`` (bfv, bgv) is the minimum noise budget of the outputs, as SEAL defines it. Below 0, decryption
    fails. ``safe_bits`` is the budget that remains but for one decryption of 10⁹.
    """

    error: Quantity | None = None
    bits: Quantity | None = None
    room_bits: float = math.inf
    budget_bits: Quantity | None = None
    safe_bits: float = math.inf


def precision(
    program: Program,
    constants: Mapping[str, Vector],
    inputs: Inputs = (),
    sources: NoiseSources = _DEFAULT,
    seed: int = 0,
) -> Precision:
    """Predict the accuracy of a program's outputs for fresh inputs.

    ``constants`` are vectors by digest. ``inputs`` (ckks) are sample vectors, or magnitudes of random ones, which
    missing inputs have as 1. ``sources`` are those of the library's declaration.
    Raises ``Unsupported`` for programs outside the model.
    """
    execution = Execution(program.parameters, sources, DRAWS, np.random.default_rng(seed))
    return of_outputs(execution, execution.run(program, constants, inputs))


def has_room(predicted: Precision, tolerance: float = 1e-3) -> bool:
    """Whether all outputs decrypt correctly, except with a chance of 10⁻⁹: exactly in bfv and bgv, within an absolute
    ``tolerance`` in ckks for inputs like the given ones.
    """
    if predicted.error is None:
        return predicted.safe_bits > 0
    return predicted.room_bits > MIN_ROOM_BITS and safe_error(predicted) < tolerance


def safe_error(predicted: Precision) -> float:
    """The error of ckks outputs that fewer than one decryption of 10⁹ exceeds."""
    assert predicted.error is not None, "bfv and bgv have no error"
    return _SAFE_FACTOR * predicted.error.high


def of_outputs(execution: Execution, outputs: Sequence[Noisy]) -> Precision:
    """The accuracy of outputs of an execution, the last of several programs perhaps."""
    return _budget(execution, outputs) if execution.is_exact else _error(execution, outputs)


def decrypted(execution: Execution, outputs: Sequence[Noisy], draw: int) -> list[Reals]:
    """The slots of ckks outputs as the owner of one of the drawn keys decrypts them."""
    return [
        output.values + execution.decryption_noise(output).real[draw]
        for output in outputs
        if output.values is not None
    ]


def of_errors(execution: Execution, errors: Sequence[float], largest: float) -> Precision:
    """The accuracy of results with these errors, one per drawn key, and this largest magnitude."""
    error = _of_logarithms(np.log2(np.maximum(errors, 2.0**-1000)))
    magnitude = math.log2(max(1.0, largest))
    bits = Quantity(*(magnitude - math.log2(item) for item in (error.value, error.high, error.low)))
    return Precision(error=error, bits=bits, room_bits=execution.room_bits)


def _error(execution: Execution, outputs: Sequence[Noisy]) -> Precision:
    errors = np.max([_largest(execution.decryption_noise(output).real) for output in outputs], axis=0)
    largest = max(float(np.abs(output.values).max()) for output in outputs if output.values is not None)
    return of_errors(execution, errors.tolist(), largest)


def _budget(execution: Execution, outputs: Sequence[Noisy]) -> Precision:
    coefficients = [execution.at.coefficients(output.noise) for output in outputs]
    largest = np.max([_largest(item) for item in coefficients], axis=0)
    deviations = np.max([np.sqrt(np.mean(item**2, axis=1)) for item in coefficients], axis=0)
    whole = max(_lost_bits(execution, output) for output in outputs)
    budget = _of_logarithms(np.log2(np.maximum(2 * largest, 2.0**-1000)) + whole, _WHOLE_DEVIATION_BITS)
    own = np.log2(np.maximum(2 * deviations, 2.0**-1000))
    certain = float(own.mean()) + math.log2(_COEFFICIENT_DEVIATIONS) + _KEY_DEVIATIONS * _spread(own)
    bits = (-math.log2(item) for item in (budget.value, budget.high, budget.low))
    return Precision(budget_bits=Quantity(*bits), safe_bits=-certain)


def _lost_bits(execution: Execution, output: Noisy) -> float:
    """The mean by which the reported budget is lower: it is ⌊log2 q⌋ − ⌊log2 of the largest coefficient⌋ − 1."""
    return math.log2(execution.modulus_at(output.shape.level)) % 1 - 0.5


def _largest(values: Noise | Reals) -> Reals:
    """The largest magnitude of each draw."""
    largest: Reals = np.abs(values).max(axis=1)
    return largest


def _spread(bits: Reals) -> float:
    return max(float(bits.std(ddof=1)), _OWN_DEVIATION_BITS)


def _of_logarithms(bits: Reals, other_deviation: float = 0.0) -> Quantity:
    """2 to the mean, and the interval for one more draw from the same normal distribution (Student's t)."""
    half = _STUDENT * math.hypot(_spread(bits), other_deviation) * math.sqrt(1 + 1 / len(bits))
    mean = float(bits.mean())
    return Quantity(2.0**mean, 2.0 ** (mean - half), 2.0 ** (mean + half))
