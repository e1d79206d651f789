"""An adapter's *recommended* setting: its operations, for comparison with plain programs of the library's defaults.

It also has the plain programs of OpenFHE, interleaved in one process of OpenFHE's interpreter:

- ``python -m bench.recommended_setting defaults N PRIMES SCALE_BITS`` prints a line per operation: name, median of the
  ratios adapter / plain program with OpenFHE's defaults, and the plain program's median in seconds.
- ``python -m bench.recommended_setting scaling N DEPTH SCALE_BITS`` executes one program in FIXEDMANUAL and in
  FLEXIBLEAUTO, with equal primes and digits, without the adapter: of each mode the CPU seconds (median), the median of
  the ratios to FIXEDMANUAL, and bits of precision.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.model import ParameterSpec

_FIRST_BITS = 56
_DIGITS = 2  # of both scaling modes
_SCALING_MODES = ("FIXEDMANUAL", "FLEXIBLEAUTO")
_SCALING_TURNS = 21
Run: TypeAlias = Callable[[], Any]


def operations(variant: str, spec: ParameterSpec, products: int = 0) -> dict[str, Run]:
    """Rotation, relinearized multiplication, and a chain of ``products`` products with rescaling."""
    adapter = registry.load(variant)
    parameters = adapter.resolve(spec)
    owner = adapter.key_owner(parameters, KeyRequest.of(relinearization=True, rotations=(1,)))
    evaluator = adapter.evaluator(owner.public_material())
    kind, value = (np.float64, 0.95) if parameters.scale is not None else (np.int64, 3)
    x = evaluator.load(owner.dump(owner.encrypt(np.full(parameters.slots, value, dtype=kind)), "none"))

    def chain() -> Any:
        managed, product = evaluator.managed(), x
        for _ in range(products):
            product = managed.apply("mul", product, x)
        return product

    return {
        "rotation": lambda: evaluator.apply("rotate", x, 1),
        "multiplication": lambda: evaluator.apply("relinearize", evaluator.apply("mul", x, x)),
        **({"chain": chain} if products else {}),
    }


def compared(
    ours: Mapping[str, Run], plain: Mapping[str, Callable[[], float]], turns: int
) -> Iterator[tuple[str, float, float]]:
    """Yield operation, median of the ratios adapter / plain program, and the plain program's median in seconds.

    ``plain`` returns the seconds of an execution.
    """
    for name, run in ours.items():
        pairs = [(elapsed_s(run), plain[name]()) for _ in range(turns)][1:]  # the first warms up
        yield name, median(a / b for a, b in pairs), median(b for _, b in pairs)


def elapsed_s(run: Run) -> float:
    """Seconds of one execution."""
    start = perf_counter()
    run()
    return perf_counter() - start


def _openfhe(
    ring_dimension: int, depth: int, scale_bits: int, mode: str | None = None, digits: int | None = None
) -> tuple[Any, Any]:
    """A context and a key pair with keys for products and a rotation by 1; OpenFHE's defaults by default."""
    import openfhe

    settings = openfhe.CCParamsCKKSRNS()
    settings.SetSecurityLevel(openfhe.HEStd_NotSet)
    settings.SetRingDim(ring_dimension)
    settings.SetMultiplicativeDepth(depth)
    settings.SetFirstModSize(_FIRST_BITS)
    settings.SetScalingModSize(scale_bits)
    if mode is not None:
        settings.SetScalingTechnique(getattr(openfhe, mode))
    if digits is not None:
        settings.SetNumLargeDigits(digits)
    context = openfhe.GenCryptoContext(settings)
    for feature in (openfhe.PKE, openfhe.KEYSWITCH, openfhe.LEVELEDSHE):
        context.Enable(feature)
    pair = context.KeyGen()
    context.EvalMultKeyGen(pair.secretKey)
    context.EvalRotateKeyGen(pair.secretKey, [1])
    return context, pair


def _defaults(ring_dimension: int, primes: int, scale_bits: int) -> dict[str, Run]:
    """The operations of a plain program with OpenFHE's defaults."""
    context, pair = _openfhe(ring_dimension, primes - 1, scale_bits)
    message = context.MakeCKKSPackedPlaintext([0.95] * (ring_dimension // 2))
    x = context.Encrypt(pair.publicKey, message)

    def chain() -> Any:
        product = x
        for _ in range(primes - 1):
            product = context.EvalMult(product, x)
        return product

    return {
        "rotation": lambda: context.EvalRotate(x, 1),
        "multiplication": lambda: context.EvalMult(x, x),
        "chain": chain,
    }


def _scaling_program(
    mode: str, ring_dimension: int, depth: int, scale_bits: int
) -> tuple[Run, Callable[[Any], float]]:
    """Products with one operand, each added to its rotation by 1, and one with a plaintext.

    Returns the function that executes the program, and one for the precision of a result.
    """
    context, pair = _openfhe(ring_dimension, depth, scale_bits, mode, _DIGITS)
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


def _print_defaults(ring_dimension: int, primes: int, scale_bits: int) -> None:
    bits = (_FIRST_BITS, *[scale_bits] * (primes - 1), 60)
    spec = ParameterSpec("ckks", ring_dimension, bits, scale_bits=scale_bits, tuning="recommended")
    ours, plain = operations("openfhe", spec, primes - 1), _defaults(ring_dimension, primes, scale_bits)
    for line in compared(ours, {name: partial(elapsed_s, run) for name, run in plain.items()}, turns=11):
        print(*line)


def _print_scaling(ring_dimension: int, depth: int, scale_bits: int) -> None:
    programs = {mode: _scaling_program(mode, ring_dimension, depth, scale_bits) for mode in _SCALING_MODES}
    times: dict[str, list[float]] = {mode: [] for mode in _SCALING_MODES}
    for _ in range(_SCALING_TURNS):
        for mode, (run, _) in programs.items():
            start = process_time()
            run()
            times[mode].append(process_time() - start)
    manual = times[_SCALING_MODES[0]][1:]
    for mode, (run, precision_bits) in programs.items():
        ratio = median(a / b for a, b in zip(times[mode][1:], manual, strict=True))
        print(f"{mode}: {median(times[mode][1:]):.4f} s, {ratio:.3f} times, {precision_bits(run()):.1f} bits")


def main() -> None:
    """Generate keys for both sides, then sample both alternately."""
    {"defaults": _print_defaults, "scaling": _print_scaling}[sys.argv[1]](*map(int, sys.argv[2:5]))


if __name__ == "__main__":
    main()
