"""Resolution of requests by OpenFHE: a recipe from the requested sizes, and primes from the context."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import openfhe

from ciphermark_adapters.openfhe import bootstrapping, limits
from ciphermark_contract import requests
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core import primes
from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import Parameters, ParameterSpec

# Raised by the wrapper for C++ exceptions.
LIBRARY_ERRORS = (RuntimeError, ValueError)

# The moduli of the context's own ring, in the order of its JSON form: {"cm": {…, "v": 1152921504606830593}}.
_MODULUS = re.compile(r'"cm":\s*\{[^}\[]*"v":\s*(\d+)')
_DEEPEST = 200
# Integers up to here are exact doubles: see _decrypts_exactly.
_EXACT_LIMIT = 2**53
_CERTAIN_BITS = 44  # exact with any number of primes that fits a ring here


def resolve(spec: ParameterSpec) -> Parameters:
    """Resolve ``spec`` to OpenFHE's parameter set, prime by prime; raises ``Unsupported`` with the reason."""
    data = moduli(generated(spec, _recipe(spec)))
    if spec.scheme == "bfv":
        _require_exact_decryption(spec, data)
    has_special = spec.modulus_bits is None or len(spec.modulus_bits) > 1
    choices = limits.choices(spec, len(data)) if has_special else [None]
    several = (_switched(spec, data, switching) for switching in choices)
    return requests.first_secure(several)


def _switched(spec: ParameterSpec, data: tuple[int, ...], switching: KeySwitching | None) -> Parameters:
    special = special_moduli(spec, data, switching)
    return replace(
        requests.resolved(
            spec,
            data,
            special,
            bootstrapping.SECRETS,
            bootstrapping.resolved(spec, data, len(special), switching),
        ),
        key_switching=switching,
        scaling="exact" if spec.scheme == "bfv" else "fixed",
        slot_generator=limits.SLOT_GENERATOR,
    )


def context_of(parameters: Parameters) -> Any:
    """The context behind resolved parameters."""
    recipe = _recipe(parameters.spec)
    context = generated(
        parameters.spec, replace(recipe, switching=parameters.key_switching or recipe.switching)
    )
    if moduli(context) != parameters.moduli:
        raise RuntimeError("OpenFHE generated other primes than before from the same request")
    return context


@cache
def _recipe(spec: ParameterSpec) -> Recipe:
    """The recipe that yields the data primes, with one digit per prime."""
    _check(spec)
    if spec.scheme == "ckks":
        return _ckks(spec)
    if spec.modulus_bits is None:
        return _default_bfv(spec) if spec.scheme == "bfv" else _default_bgv(spec)
    return (_bfv if spec.scheme == "bfv" else _bgv)(spec, _data_bits(spec, spec.modulus_bits))


def _check(spec: ParameterSpec) -> None:
    requests.require_ring(spec, "OpenFHE")
    requests.require_scale(spec)
    requests.require_slots(spec)
    bootstrapping.require(spec)
    reason = limits.reason_against(spec)
    if reason is not None:
        raise Unsupported(reason)


def _require_exact_decryption(spec: ParameterSpec, data: tuple[int, ...]) -> None:
    """Raise ``Unsupported`` where bfv decryption would be silently incorrect, or encoding impossible."""
    t = spec.plain_modulus or 0
    if t >= min(data):
        raise Unsupported(
            f"OpenFHE's BFV encodes modulo a prime of the modulus chain: t = {t} must be below {min(data)}"
        )
    if not _decrypts_exactly(t, len(data)):
        raise Unsupported(
            f"OpenFHE's BFV rounds with doubles while decrypting, and t = {t} with {len(data)} primes decrypts "
            f"incorrectly: request a smaller plaintext modulus, for example of {_CERTAIN_BITS} bits, or fewer primes"
        )


def _decrypts_exactly(t: int, count: int) -> bool:
    """Whether the doubles in which DCRTPoly::ScaleAndRound decrypts are exact for ``count`` primes.

    It adds two residues modulo t for each prime; the sum must be an exact double. It takes the sum times 1/t for the
    quotient by t, which is too large where the sum is one less than a multiple of t and the product is rounded up.
    """
    quotients = range(1, 2 * count + 1)
    return 2 * count * t <= _EXACT_LIMIT and all(int((k * t - 1) * (1 / t)) < k for k in quotients)


def _data_bits(spec: ParameterSpec, bits: Sequence[int]) -> tuple[int, ...]:
    """Sizes of the data primes, at most :data:`limits.MAX_DATA_BITS`; raises ``Unsupported`` without such primes."""
    requests.require_sizes(bits, "OpenFHE")
    data = tuple(min(size, limits.MAX_DATA_BITS) for size in (bits[:-1] or bits))
    for size in set(data):
        primes.ntt_primes(size, spec.ring_dimension, data.count(size))
    return data


def _one_size(spec: ParameterSpec, sizes: Sequence[int]) -> int:
    """The single size that OpenFHE takes for these primes, 0 for no primes."""
    if len(set(sizes)) > 1:
        raise Unsupported(
            f"OpenFHE's {spec.scheme} primes have one size, not {', '.join(map(str, sizes))} bits: request one "
            "size" + ("" if spec.scheme == "bfv" else " after the first prime")
        )
    return sizes[0] if sizes else 0


def _ckks(spec: ParameterSpec) -> Recipe:
    scale_bits = spec.scale_bits or 0
    first, *inner = (
        _default_ckks_bits(spec) if spec.modulus_bits is None else _data_bits(spec, spec.modulus_bits)
    )
    switching = KeySwitching("hybrid", len(inner) + 1)
    return Recipe(len(inner), first, scale_bits, switching, spec.bootstrapping is not None)


def _bgv(spec: ParameterSpec, data: tuple[int, ...]) -> Recipe:
    first, *inner = data
    size = _one_size(spec, inner) or first
    step = 2 * spec.ring_dimension * (spec.plain_modulus or 1)
    if step.bit_length() >= min(first, size):
        raise Unsupported(
            f"OpenFHE's bgv primes are 1 modulo 2N·t = {step}: with t = {spec.plain_modulus} at "
            f"N = {spec.ring_dimension} none has {min(first, size)} bits"
        )
    return Recipe(len(inner), first, size, KeySwitching("hybrid", len(data)))


def _bfv(spec: ParameterSpec, data: tuple[int, ...]) -> Recipe:
    """The deepest recipe that yields exactly the requested number of primes."""
    size, count = _one_size(spec, data), len(data)
    recipe = _deepest_bfv(spec, size, count)
    if recipe is None or recipe.switching.decomposition_digits != count:
        raise Unsupported(
            f"OpenFHE chooses the number of BFV primes by depth, and no depth gives {count} primes of {size} bits "
            f"with t = {spec.plain_modulus} at N = {spec.ring_dimension}: request other sizes"
        )
    return recipe


def _deepest_bfv(spec: ParameterSpec, size: int, most: int) -> Recipe | None:
    """The greatest depth that takes at most ``most`` primes of a size; ``None`` where depth 0 takes more.

    It searches near the depth of one prime per level, since every generated context stays in memory.
    """
    depth = max(0, most - 1)
    while (count := _count(spec, depth, size)) > most and depth > 0:
        depth -= 1
    if count > most:
        return None
    while depth < _DEEPEST and (next_count := _count(spec, depth + 1, size)) <= most:
        depth, count = depth + 1, next_count
    return Recipe(depth, 0, size, KeySwitching(limits.method(spec), count))


def _count(spec: ParameterSpec, depth: int, size: int) -> int:
    recipe = Recipe(depth, 0, size, KeySwitching(limits.method(spec), 1))
    return len(moduli(generated(spec, recipe)))


def _default_ckks_bits(spec: ParameterSpec) -> tuple[int, ...]:
    """Sizes of a first prime at least 5 bits above the scale, and of as many primes of the scale's size as fit.

    One bit is left free: primes lie on both sides of the scale.
    """
    scale_bits, room = spec.scale_bits or 0, limits.room_bits(spec) - 1
    inner = (room - scale_bits - 5) // scale_bits
    if inner < 0:
        raise Unsupported(
            f"{room} bits are too few for CKKS with a scale of {scale_bits} bits: request a smaller scale"
        )
    return (min(limits.MAX_DATA_BITS, room - inner * scale_bits), *[scale_bits] * inner)


def _default_bfv(spec: ParameterSpec) -> Recipe:
    room = limits.room_bits(spec)
    most = -(-room // limits.MAX_DATA_BITS)
    recipe = _deepest_bfv(spec, room // most, most)
    if recipe is None:
        raise Unsupported(f"{room} bits are too few for BFV with t = {spec.plain_modulus} in OpenFHE")
    return recipe


def _default_bgv(spec: ParameterSpec) -> Recipe:
    """As many primes as fit, of the size that OpenFHE takes for t."""
    room = limits.room_bits(spec)
    size = moduli(generated(spec, Recipe(0)))[0].bit_length()
    for count in range(room // size, 0, -1):
        recipe = Recipe(count - 1, switching=KeySwitching("hybrid", count))
        data = moduli(generated(spec, recipe))
        if sum(prime.bit_length() for prime in data) <= room:
            return recipe
    raise Unsupported(
        f"OpenFHE needs BGV primes of {size} bits for t = {spec.plain_modulus}, but only {room} bits are left"
    )


_ONE_DIGIT = KeySwitching("hybrid", 1)


@dataclass(frozen=True, slots=True)
class Recipe:
    """OpenFHE's settings for a chain. Sizes of 0 are chosen by OpenFHE; bv takes a digit per prime."""

    depth: int
    first_bits: int = 0
    inner_bits: int = 0
    switching: KeySwitching = _ONE_DIGIT
    has_bootstrapping: bool = False


def generated(spec: ParameterSpec, recipe: Recipe) -> Any:
    """Generate OpenFHE's context; raises ``Unsupported`` with OpenFHE's reason.

    OpenFHE keeps every context until the process ends, and returns the same one for the same recipe.
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
            f"OpenFHE chose N = {context.GetRingDimension()} instead of the requested {spec.ring_dimension}"
        )
    return context


def moduli(context: Any) -> tuple[int, ...]:
    """The ciphertext primes, as listed by the context."""
    listed = tuple(int(text) for text in _MODULUS.findall(openfhe.Serialize(context, openfhe.JSON)))
    if math.prod(listed) != context.GetElementParams().GetModulus():
        raise RuntimeError(f"OpenFHE's context lists the primes {listed}, but its modulus is another")
    return listed


def special_moduli(
    spec: ParameterSpec, data: tuple[int, ...], switching: KeySwitching | None
) -> tuple[int, ...]:
    """The key-switching primes, which no call of the wrapper returns.

    They are the largest below 2^60 that are 1 modulo 2N (bgv: 2N·t) and not in the chain; their product exceeds a digit
    by 4 bits. :func:`require_special` compares them with the keys that OpenFHE generates.
    """
    if switching is None or switching.method == "bv":
        return ()
    size = digit_size(len(data), switching.decomposition_digits)
    decomposition_digits = (math.prod(data[start : start + size]) for start in range(0, len(data), size))
    count = -(-(max(digit.bit_length() for digit in decomposition_digits) + 4) // limits.SPECIAL_BITS)
    step = 2 * spec.ring_dimension * (spec.plain_modulus or 1 if spec.scheme == "bgv" else 1)
    candidate = ((1 << limits.SPECIAL_BITS) - 1) // step * step + 1
    special: list[int] = []
    while len(special) < count:
        if candidate not in data and primes.is_prime(candidate):
            special.append(candidate)
        candidate -= step
    return tuple(special)


def digit_size(primes: int, decomposition_digits: int) -> int:
    """The number of primes of each of OpenFHE's digits; the last digit has the rest."""
    return -(-primes // decomposition_digits)


def require_special(key: bytes, parameters: Parameters) -> None:
    """Raise ``RuntimeError`` where a serialized key does not have exactly these primes and digits.

    A key has two polynomials per digit, each of one word per coefficient and prime.
    """
    assert parameters.key_switching is not None, "no key was generated"
    data, special = parameters.moduli, parameters.special_moduli
    towers = len(key) // (parameters.key_switching.decomposition_digits * 2 * 8 * parameters.ring_dimension)
    absent = [prime for prime in special if prime.to_bytes(8, "little") not in key]
    if absent or towers != len(data) + len(special):
        raise RuntimeError(
            f"OpenFHE's keys have {towers} primes; expected {len(data)} and the special primes {special}: "
            "its rule for special primes has changed"
        )


def _parameters(spec: ParameterSpec, recipe: Recipe) -> Any:
    kinds = {"bfv": openfhe.CCParamsBFVRNS, "bgv": openfhe.CCParamsBGVRNS, "ckks": openfhe.CCParamsCKKSRNS}
    parameters = kinds[spec.scheme]()
    parameters.SetSecurityLevel(openfhe.HEStd_NotSet)
    if spec.secret is not None:  # OpenFHE's default is the uniform one
        parameters.SetSecretKeyDist(bootstrapping.secret_distribution(spec))
    parameters.SetRingDim(spec.ring_dimension)
    parameters.SetMultiplicativeDepth(recipe.depth)
    if spec.bootstrapping is not None:
        parameters.SetBatchSize(spec.slots)  # of every plaintext and ciphertext
    if recipe.switching.method == "hybrid":
        parameters.SetKeySwitchTechnique(openfhe.HYBRID)
        parameters.SetNumLargeDigits(recipe.switching.decomposition_digits)
    else:
        parameters.SetKeySwitchTechnique(openfhe.BV)
    if spec.scheme != "bfv":
        parameters.SetScalingTechnique(openfhe.FIXEDMANUAL)
    if spec.scheme != "ckks":
        parameters.SetPlaintextModulus(spec.plain_modulus)
    if recipe.inner_bits:
        parameters.SetScalingModSize(recipe.inner_bits)
    if recipe.first_bits:
        parameters.SetFirstModSize(recipe.first_bits)
    return parameters


def _in_words(spec: ParameterSpec, recipe: Recipe) -> str:
    sizes = {"first prime": recipe.first_bits, "other primes": recipe.inner_bits}
    words = [f"{name} of {bits} bits" for name, bits in sizes.items() if bits]
    modulus = [] if spec.scheme == "ckks" else [f"t = {spec.plain_modulus}"]
    return ", ".join([f"depth {recipe.depth}", *words, *modulus])
