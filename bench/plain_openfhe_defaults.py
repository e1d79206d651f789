"""OpenFHE as a plain program with its defaults has it, beside the adapter's setting in *best*, in turns in one process.

``python plain_openfhe_defaults.py N PRIMES SCALE_BITS``, with OpenFHE's interpreter. Prints a line per operation:
name, median of the ratios adapter / plain program, and the plain program's median in seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import openfhe

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import KeyRequest
from ciphermark_core.model import ParameterSpec

_TURNS = 11
_FIRST_BITS = 56
Run = Callable[[], Any]


def main() -> None:
    """Keys for both, then turns."""
    ring_dimension, primes, scale_bits = map(int, sys.argv[1:4])
    ours, plain = _ours(ring_dimension, primes, scale_bits), _plain(ring_dimension, primes, scale_bits)
    for name, run in plain.items():
        pairs = [(_elapsed(ours[name]), _elapsed(run)) for _ in range(_TURNS)][1:]  # the first warms up
        print(name, median(a / b for a, b in pairs), median(b for _, b in pairs))


def _elapsed(run: Run) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def _ours(ring_dimension: int, primes: int, scale_bits: int) -> dict[str, Run]:
    bits = (_FIRST_BITS, *[scale_bits] * (primes - 1), 60)
    adapter = registry.load("openfhe")
    parameters = adapter.resolve(
        ParameterSpec("ckks", ring_dimension, bits, scale_bits=scale_bits, division="best")
    )
    owner = adapter.key_owner(parameters, KeyRequest.of(True, rotations=(1,)))
    evaluator = adapter.evaluator(owner.public_material())
    x = evaluator.load(owner.dump(owner.encrypt(np.full(parameters.slots, 0.95)), "none"))
    managed = evaluator.managed()

    def chain() -> Any:
        product = x
        for _ in range(primes - 1):
            product = managed.apply("mul", product, x)
        return product

    def mul() -> Any:
        return evaluator.apply("relinearize", evaluator.apply("mul", x, x))

    return {"rotation": lambda: evaluator.apply("rotate", x, 1), "multiplication": mul, "chain": chain}


def _plain(ring_dimension: int, primes: int, scale_bits: int) -> dict[str, Run]:
    made = openfhe.CCParamsCKKSRNS()
    made.SetSecurityLevel(openfhe.HEStd_NotSet)
    made.SetRingDim(ring_dimension)
    made.SetMultiplicativeDepth(primes - 1)
    made.SetFirstModSize(_FIRST_BITS)
    made.SetScalingModSize(scale_bits)
    context = openfhe.GenCryptoContext(made)
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


if __name__ == "__main__":
    main()
