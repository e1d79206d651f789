"""An adapter's setting in *best*: the operations that plain programs with their library's defaults are held against.

Also the other side of OpenFHE, in turns in one process of the interpreter that OpenFHE has:
``python -m bench.best_setting N PRIMES SCALE_BITS`` prints a line per operation: name, median of the ratios adapter /
plain program, and the plain program's median in seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.model import ParameterSpec

_FIRST_BITS = 56
Run: TypeAlias = Callable[[], Any]


def operations(variant: str, spec: ParameterSpec, products: int = 0) -> dict[str, Run]:
    """Rotation, relinearized multiplication, and a chain of so many products with rescaling."""
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
    """Operation, median of the ratios adapter / plain program, and the plain program's median in seconds; ``plain``
    returns the seconds that an execution took.
    """
    for name, run in ours.items():
        pairs = [(elapsed_s(run), plain[name]()) for _ in range(turns)][1:]  # the first warms up
        yield name, median(a / b for a, b in pairs), median(b for _, b in pairs)


def elapsed_s(run: Run) -> float:
    """Seconds of one execution."""
    start = perf_counter()
    run()
    return perf_counter() - start


def _plain_openfhe(ring_dimension: int, primes: int, scale_bits: int) -> dict[str, Run]:
    """OpenFHE as a plain program with its defaults has it."""
    import openfhe

    settings = openfhe.CCParamsCKKSRNS()
    settings.SetSecurityLevel(openfhe.HEStd_NotSet)
    settings.SetRingDim(ring_dimension)
    settings.SetMultiplicativeDepth(primes - 1)
    settings.SetFirstModSize(_FIRST_BITS)
    settings.SetScalingModSize(scale_bits)
    context = openfhe.GenCryptoContext(settings)
    for feature in (openfhe.PKE, openfhe.KEYSWITCH, openfhe.LEVELEDSHE):
        context.Enable(feature)
    pair = context.KeyGen()
    context.EvalMultKeyGen(pair.secretKey)
    context.EvalRotateKeyGen(pair.secretKey, [1])
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


def main() -> None:
    """Keys for both, then turns."""
    ring_dimension, primes, scale_bits = map(int, sys.argv[1:4])
    bits = (_FIRST_BITS, *[scale_bits] * (primes - 1), 60)
    spec = ParameterSpec("ckks", ring_dimension, bits, scale_bits=scale_bits, division="best")
    ours, plain = operations("openfhe", spec, primes - 1), _plain_openfhe(ring_dimension, primes, scale_bits)
    for line in compared(ours, {name: partial(elapsed_s, run) for name, run in plain.items()}, turns=11):
        print(*line)


if __name__ == "__main__":
    main()
