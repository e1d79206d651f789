"""What OpenFHE makes of a request: a recipe from the sizes asked for, primes from the context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ciphermark_adapters.openfhe import bootstrapping, contexts, limits
from ciphermark_adapters.openfhe.contexts import MOST_DATA_BITS, Recipe
from ciphermark_contract import requests
from ciphermark_contract.interfaces import Unsupported
from ciphermark_core import primes
from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import Parameters, ParameterSpec

_DEEPEST = 200
# Integers up to here are doubles: see _decrypts_exactly.
_EXACT_LIMIT = 2**53
_CERTAIN_BITS = 44  # exact with any number of primes that fits a ring here


def resolve(spec: ParameterSpec) -> Parameters:
    """The parameter set that OpenFHE has for ``spec``, prime by prime; raises ``Unsupported`` with the reason."""
    data = contexts.moduli(contexts.generated(spec, _recipe(spec)))
    if spec.scheme == "bfv":
        _require_exact_decryption(spec, data)
    has_special = spec.modulus_bits is None or len(spec.modulus_bits) > 1
    choices = limits.choices(spec, len(data)) if has_special else [None]
    several = (_switched(spec, data, switching) for switching in choices)
    return requests.first_secure(several)


def _switched(spec: ParameterSpec, data: tuple[int, ...], switching: KeySwitching | None) -> Parameters:
    special = contexts.special_moduli(spec, data, switching)
    return replace(
        requests.resolved(spec, data, special, bootstrapping.SECRETS, bootstrapping.resolved(spec, data)),
        key_switching=switching,
        scaling="exact" if spec.scheme == "bfv" else "fixed",
        slot_generator=limits.SLOT_GENERATOR,
    )


def context_of(parameters: Parameters) -> Any:
    """The context behind resolved parameters."""
    recipe = _recipe(parameters.spec)
    context = contexts.generated(
        parameters.spec, replace(recipe, switching=parameters.key_switching or recipe.switching)
    )
    if contexts.moduli(context) != parameters.moduli:
        raise RuntimeError("OpenFHE made other primes from the same request than before")
    return context


@cache
def _recipe(spec: ParameterSpec) -> Recipe:
    """What yields the data primes, with one digit per prime."""
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
    bootstrapping.require_possible(spec)
    reason = limits.refusal(spec)
    if reason is not None:
        raise Unsupported(reason)


def _require_exact_decryption(spec: ParameterSpec, data: tuple[int, ...]) -> None:
    """Raise ``Unsupported`` where bfv would decrypt wrongly without telling, or could not even encode."""
    t = spec.plain_modulus or 0
    if t >= min(data):
        raise Unsupported(
            f"OpenFHE's bfv encodes modulo a prime of the chain: t = {t} must be below {min(data)}"
        )
    if not _decrypts_exactly(t, len(data)):
        raise Unsupported(
            f"OpenFHE's bfv rounds with doubles while it decrypts, and t = {t} with {len(data)} primes comes out "
            f"wrong: ask for a smaller plaintext modulus, of {_CERTAIN_BITS} bits for example, or for fewer primes"
        )


def _decrypts_exactly(t: int, count: int) -> bool:
    """Whether the doubles in which DCRTPoly::ScaleAndRound decrypts are exact for so many primes.

    It adds two residues modulo t for each prime, which must stay a double, and takes the sum times 1/t for the
    quotient by t: too much where the sum is one less than a multiple of t and the product is rounded up.
    """
    quotients = range(1, 2 * count + 1)
    return 2 * count * t <= _EXACT_LIMIT and all(int((k * t - 1) * (1 / t)) < k for k in quotients)


def _data_bits(spec: ParameterSpec, bits: Sequence[int]) -> tuple[int, ...]:
    """Sizes of the data primes, at most :data:`MOST_DATA_BITS`; raises where such primes do not exist."""
    requests.require_sizes(bits, "OpenFHE")
    data = tuple(min(size, MOST_DATA_BITS) for size in (bits[:-1] or bits))
    for size in set(data):
        primes.ntt_primes(size, spec.ring_dimension, data.count(size))
    return data


def _one_size(spec: ParameterSpec, sizes: Sequence[int]) -> int:
    """The one size that OpenFHE takes for these primes, 0 for none of them."""
    if len(set(sizes)) > 1:
        raise Unsupported(
            f"OpenFHE makes {spec.scheme} primes of one size, not of {', '.join(map(str, sizes))} bits: ask for one "
            "size" + ("" if spec.scheme == "bfv" else " after the first prime")
        )
    return sizes[0] if sizes else 0


def _ckks(spec: ParameterSpec) -> Recipe:
    scale_bits = spec.scale_bits or 0
    first, *inner = (
        _default_ckks_bits(spec) if spec.modulus_bits is None else _data_bits(spec, spec.modulus_bits)
    )
    if any(size != scale_bits for size in inner):
        raise Unsupported(
            f"OpenFHE makes ckks primes of the scale's size, {scale_bits} bits, after the first: "
            f"not of {', '.join(map(str, inner))} bits"
        )
    if scale_bits >= first:
        raise Unsupported(f"a scale of {scale_bits} bits does not fit into a first prime of {first} bits")
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
    """The deepest recipe that yields exactly as many primes as asked for."""
    size, count = _one_size(spec, data), len(data)
    recipe = _deepest_bfv(spec, size, count)
    if recipe is None or recipe.switching.digits != count:
        raise Unsupported(
            f"OpenFHE chooses the number of primes of bfv by depth, and no depth takes {count} of {size} bits "
            f"with t = {spec.plain_modulus} at N = {spec.ring_dimension}: ask for other sizes"
        )
    return recipe


def _deepest_bfv(spec: ParameterSpec, size: int, most: int) -> Recipe | None:
    """The greatest depth that takes at most ``most`` primes of a size; ``None`` where depth 0 takes more.

    Looks near the depth of one prime per level: every context that is looked at stays in memory.
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
    return len(contexts.moduli(contexts.generated(spec, recipe)))


def _default_ckks_bits(spec: ParameterSpec) -> tuple[int, ...]:
    """As many primes of the scale's size as there is room for after a first prime at least 5 bits larger.

    One bit is left free: primes lie on both sides of the scale.
    """
    scale_bits, room = spec.scale_bits or 0, limits.room_bits(spec) - 1
    inner = (room - scale_bits - 5) // scale_bits
    if inner < 0:
        raise Unsupported(
            f"{room} bits are too few for ckks with a scale of {scale_bits} bits: ask for a smaller scale"
        )
    return (min(MOST_DATA_BITS, room - inner * scale_bits), *[scale_bits] * inner)


def _default_bfv(spec: ParameterSpec) -> Recipe:
    room = limits.room_bits(spec)
    most = -(-room // MOST_DATA_BITS)
    recipe = _deepest_bfv(spec, room // most, most)
    if recipe is None:
        raise Unsupported(f"{room} bits are too few for bfv with t = {spec.plain_modulus} in OpenFHE")
    return recipe


def _default_bgv(spec: ParameterSpec) -> Recipe:
    """Primes of the size that OpenFHE takes for t, as many as there is room for."""
    room = limits.room_bits(spec)
    size = contexts.moduli(contexts.generated(spec, Recipe(0)))[0].bit_length()
    for count in range(room // size, 0, -1):
        recipe = Recipe(count - 1, switching=KeySwitching("hybrid", count))
        data = contexts.moduli(contexts.generated(spec, recipe))
        if sum(prime.bit_length() for prime in data) <= room:
            return recipe
    raise Unsupported(
        f"OpenFHE wants bgv primes of {size} bits for t = {spec.plain_modulus}, and there is room for {room} bits"
    )
