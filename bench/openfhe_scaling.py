"""OpenFHE's FIXEDMANUAL beside FLEXIBLEAUTO: one program at the same primes and digits, by OpenFHE alone.

``python -m bench.openfhe_scaling N DEPTH SCALE_BITS`` in OpenFHE's interpreter prints for each mode the CPU seconds of
the program (median of turns), the median of the ratios to FIXEDMANUAL, and bits of precision.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt

_TURNS = 21
_FIRST_BITS = 56
_DIGITS = 2
Run = Callable[[], Any]


def _program(
    mode: str, depth: int, ring_dimension: int, scale_bits: int
) -> tuple[Run, Callable[[Any], float]]:
    """Products with one operand, each added to its rotation by 1, and one with a plaintext: what executes it, and the
    precision of a result.
    """
    import openfhe

    settings = openfhe.CCParamsCKKSRNS()
    settings.SetSecurityLevel(openfhe.HEStd_NotSet)
    settings.SetRingDim(ring_dimension)
    settings.SetMultiplicativeDepth(depth)
    settings.SetFirstModSize(_FIRST_BITS)
    settings.SetScalingModSize(scale_bits)
    settings.SetScalingTechnique(getattr(openfhe, mode))
    settings.SetNumLargeDigits(_DIGITS)
    context = openfhe.GenCryptoContext(settings)
    for feature in (openfhe.PKE, openfhe.KEYSWITCH, openfhe.LEVELEDSHE):
        context.Enable(feature)
    pair = context.KeyGen()
    context.EvalMultKeyGen(pair.secretKey)
    context.EvalRotateKeyGen(pair.secretKey, [1])
    is_manual = mode == "FIXEDMANUAL"
    first, factor, weights = np.random.default_rng(1).uniform(-1, 1, (3, ring_dimension // 2))
    x, y = (context.Encrypt(pair.publicKey, context.MakeCKKSPackedPlaintext([*v])) for v in (first, factor))
    plain = context.MakeCKKSPackedPlaintext([*weights], 1, depth - 1 if is_manual else 0)

    def rescaled(product: Any) -> Any:
        return context.Rescale(product) if is_manual else product

    def run() -> Any:
        value = x
        for level in range(depth - 1):
            other = context.LevelReduce(y, None, level) if is_manual and level else y
            value = rescaled(context.EvalMult(value, other))
            value = context.EvalAdd(value, context.EvalRotate(value, 1))
        return rescaled(context.EvalMult(value, plain))

    def precision_bits(result: Any) -> float:
        decrypted = context.Decrypt(pair.secretKey, result)
        error = np.array(decrypted.GetRealPackedValue()) - _expected(first, factor, weights, depth)
        return float(-np.log2(np.abs(error).max()))

    return run, precision_bits


def _expected(
    first: npt.NDArray[np.float64],
    factor: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    depth: int,
) -> npt.NDArray[np.float64]:
    value = first
    for _ in range(depth - 1):
        value = value * factor
        value = value + np.roll(value, -1)
    return value * weights


def main() -> None:
    """Both modes in turns."""
    ring_dimension, depth, scale_bits = map(int, sys.argv[1:4])
    modes = ("FIXEDMANUAL", "FLEXIBLEAUTO")
    programs = {mode: _program(mode, depth, ring_dimension, scale_bits) for mode in modes}
    times: dict[str, list[float]] = {mode: [] for mode in modes}
    for _ in range(_TURNS):
        for mode, (run, _) in programs.items():
            start = process_time()
            run()
            times[mode].append(process_time() - start)
    for mode, (run, precision_bits) in programs.items():
        ratio = median(a / b for a, b in zip(times[mode][1:], times[modes[0]][1:], strict=True))
        print(f"{mode}: {median(times[mode][1:]):.4f} s, {ratio:.3f} times, {precision_bits(run()):.1f} bits")


if __name__ == "__main__":
    main()
