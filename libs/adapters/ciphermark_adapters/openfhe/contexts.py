"""OpenFHE contexts: made from a recipe, and read for the primes that OpenFHE chose."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import openfhe

from ciphermark_contract.interfaces import Unsupported
from ciphermark_core import primes
from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import Parameters, ParameterSpec

# What the wrapper raises for C++ exceptions.
LIBRARY_ERRORS = (RuntimeError, ValueError)

# The moduli of the context's own ring, in the order of its JSON form: {"cm": {…, "v": 1152921504606830593}}.
_MODULUS = re.compile(r'"cm":\s*\{[^}\[]*"v":\s*(\d+)')
_SPECIAL_BITS = 60
# The largest size of a digit for which OpenFHE makes do with one special prime.
MOST_DATA_BITS = _SPECIAL_BITS - 4


_ONE_DIGIT = KeySwitching("hybrid", 1)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What OpenFHE is told about a chain; sizes of 0 leave them to OpenFHE; in bv it takes a digit per prime."""

    depth: int
    first_bits: int = 0
    inner_bits: int = 0
    switching: KeySwitching = _ONE_DIGIT
    has_bootstrapping: bool = False


def generated(spec: ParameterSpec, recipe: Recipe) -> Any:
    """The context that OpenFHE makes; raises ``Unsupported`` with OpenFHE's reason.

    OpenFHE keeps every context to the end of the process, and returns the same one for the same recipe.
    """
    try:
        context = openfhe.GenCryptoContext(_parameters(spec, recipe))
        for feature in (openfhe.PKE, openfhe.KEYSWITCH, openfhe.LEVELEDSHE, openfhe.ADVANCEDSHE):
            context.Enable(feature)
        if recipe.has_bootstrapping:
            context.Enable(openfhe.FHE)
    except (*LIBRARY_ERRORS, TypeError) as error:
        raise Unsupported(
            f"OpenFHE refuses {spec.scheme} at N = {spec.ring_dimension} with {_in_words(spec, recipe)}: {error}"
        ) from error
    if context.GetRingDimension() != spec.ring_dimension:
        raise Unsupported(
            f"OpenFHE makes N = {context.GetRingDimension()} of the requested {spec.ring_dimension}"
        )
    return context


def secret_distribution(spec: ParameterSpec) -> Any:
    """OpenFHE's name for the distribution of secret keys."""
    names = {
        "uniform ternary": openfhe.UNIFORM_TERNARY,
        "sparse ternary": openfhe.SPARSE_TERNARY,
        "sparse-encapsulated": openfhe.SPARSE_ENCAPSULATED,
    }
    return names[spec.secret_distribution]


def moduli(context: Any) -> tuple[int, ...]:
    """The ciphertext primes, as the context itself lists them."""
    found = tuple(int(text) for text in _MODULUS.findall(openfhe.Serialize(context, openfhe.JSON)))
    if math.prod(found) != context.GetElementParams().GetModulus():
        raise RuntimeError(f"OpenFHE's context lists the primes {found}, but its modulus is another")
    return found


def special_moduli(
    spec: ParameterSpec, data: tuple[int, ...], switching: KeySwitching | None
) -> tuple[int, ...]:
    """The key-switching primes; no call of the wrapper tells them.

    They are the largest below 2^60 that are 1 modulo 2N (bgv: 2N·t) and not in the chain, and larger in all than
    a digit by 4 bits. :func:`require_special` compares them with the keys that OpenFHE really makes.
    """
    if switching is None or switching.method == "bv":
        return ()
    size = digit_size(len(data), switching.digits)
    digits = (math.prod(data[start : start + size]) for start in range(0, len(data), size))
    count = -(-(max(digit.bit_length() for digit in digits) + 4) // _SPECIAL_BITS)
    step = 2 * spec.ring_dimension * (spec.plain_modulus or 1 if spec.scheme == "bgv" else 1)
    candidate = ((1 << _SPECIAL_BITS) - 1) // step * step + 1
    found: list[int] = []
    while len(found) < count:
        if candidate not in data and primes.is_prime(candidate):
            found.append(candidate)
        candidate -= step
    return tuple(found)


def digit_size(primes: int, digits: int) -> int:
    """How many primes OpenFHE puts into each digit; the last digit has what is left."""
    return -(-primes // digits)


def require_special(key: bytes, parameters: Parameters) -> None:
    """Raise ``RuntimeError`` where a serialized key is not one over exactly these primes, with so many digits.

    A key has two polynomials per digit, each of one word per coefficient and prime.
    """
    assert parameters.key_switching is not None, "no key was made"
    data, special = parameters.moduli, parameters.special_moduli
    towers = len(key) // (parameters.key_switching.digits * 2 * 8 * parameters.ring_dimension)
    absent = [prime for prime in special if prime.to_bytes(8, "little") not in key]
    if absent or towers != len(data) + len(special):
        raise RuntimeError(
            f"OpenFHE's keys have {towers} primes; expected {len(data)} and the special primes {special}: "
            "its rule for special primes has changed"
        )


def _parameters(spec: ParameterSpec, recipe: Recipe) -> Any:
    kinds = {
        "bfv": openfhe.CCParamsBFVRNS,
        "bgv": openfhe.CCParamsBGVRNS,
        "ckks": openfhe.CCParamsCKKSRNS,
    }
    made = kinds[spec.scheme]()
    made.SetSecurityLevel(openfhe.HEStd_NotSet)
    if spec.secret is not None:  # its default is the uniform one
        made.SetSecretKeyDist(secret_distribution(spec))
    made.SetRingDim(spec.ring_dimension)
    made.SetMultiplicativeDepth(recipe.depth)
    if recipe.switching.method == "hybrid":
        made.SetKeySwitchTechnique(openfhe.HYBRID)
        made.SetNumLargeDigits(recipe.switching.digits)
    else:
        made.SetKeySwitchTechnique(openfhe.BV)
    if spec.scheme != "bfv":
        made.SetScalingTechnique(openfhe.FIXEDMANUAL)
    if spec.scheme != "ckks":
        made.SetPlaintextModulus(spec.plain_modulus)
    if recipe.inner_bits:
        made.SetScalingModSize(recipe.inner_bits)
    if recipe.first_bits:
        made.SetFirstModSize(recipe.first_bits)
    return made


def _in_words(spec: ParameterSpec, recipe: Recipe) -> str:
    sizes = {"first prime": recipe.first_bits, "other primes": recipe.inner_bits}
    told = [f"{name} of {bits} bits" for name, bits in sizes.items() if bits]
    modulus = [] if spec.scheme == "ckks" else [f"t = {spec.plain_modulus}"]
    return ", ".join([f"depth {recipe.depth}", *told, *modulus])
