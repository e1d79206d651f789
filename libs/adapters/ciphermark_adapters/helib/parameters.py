"""Resolution of requests by HElib: m = 2N; bgv primes of HElib's choice, ckks primes as requested."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from ciphermark_adapters.helib import binding, limits
from ciphermark_adapters.helib.binding import LIBRARY_ERRORS, HElibContext
from ciphermark_contract import requests
from ciphermark_contract.interfaces import Unsupported, Vector
from ciphermark_core import primes, security
from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import Parameters, ParameterSpec

SMALLEST_RING = 16
LARGEST_RING = 1 << 19  # HElib's addSmallPrimes takes m up to 2^20
# HElib's ctxtPrimeSize: ciphertext primes have 0.9 · 60 to 60 bits, and count as this much smaller.
MIN_BITS = 54
MAX_BITS = limits.MAX_BITS
_LOSS_BITS = limits.LOSS_BITS
# Sufficient for HElib's rounding of plaintext factors; HElib refuses 60 bits and more.
_MAX_PRECISION = 40


def resolve(spec: ParameterSpec) -> Parameters:
    """Resolve ``spec`` to HElib's parameter set, prime by prime; raises ``Unsupported`` with the reason."""
    requests.require_ring(spec, "HElib", SMALLEST_RING, LARGEST_RING)
    reason = limits.refusal(spec)
    if reason is not None:
        raise Unsupported(reason)
    requests.require_scale(spec)
    requests.require_slots(spec)
    return requests.first_secure(_several(spec))


def _several(spec: ParameterSpec) -> Iterator[Parameters]:
    """Yield one parameter set for each number of digits to try."""
    make = _ckks if spec.scheme == "ckks" else _foretold
    asks_for_special = spec.modulus_bits is None or len(spec.modulus_bits) > 1
    for decomposition_digits in limits.choices(spec, _data_count(spec)):
        context = make(spec, decomposition_digits)
        special = context.special_primes if asks_for_special else ()
        yield replace(
            requests.resolved(spec, context.ciphertext_primes, special),
            key_switching=KeySwitching("hybrid", decomposition_digits) if special else None,
            scaling="managed",
            secret_distribution="ternary, half of it zeros",
        )


def _data_count(spec: ParameterSpec) -> int:
    if spec.scheme == "ckks":
        chain = _ckks_bits(spec)
        return len(chain[:-1] or chain)
    return _recipe(spec)[0]


def context_of(parameters: Parameters) -> HElibContext:
    """The context behind resolved parameters."""
    switching = parameters.key_switching
    context = _context(
        parameters.spec, len(parameters.moduli) if switching is None else switching.decomposition_digits
    )
    special = parameters.special_moduli or tuple(context.special_primes)  # unused where none was requested
    if (tuple(context.ciphertext_primes), tuple(context.special_primes)) != (parameters.moduli, special):
        raise RuntimeError("HElib generated other primes than predicted: its rule has changed")
    return context


@lru_cache(maxsize=4)  # a bgv context takes seconds, and hundreds of MB
def _context(spec: ParameterSpec, decomposition_digits: int) -> HElibContext:
    if spec.scheme == "ckks":
        return _ckks(spec, decomposition_digits)
    count, size = _recipe(spec)
    m, t = 2 * spec.ring_dimension, spec.plain_modulus or 0
    return _made(
        spec, lambda: binding.module().choose_context(m, t, _bits(count, size), decomposition_digits)
    )


# -- ckks -----------------------------------------------------------------------------------------------------


def _ckks_bits(spec: ParameterSpec) -> tuple[int, ...]:
    if spec.modulus_bits is None:
        return primes.default_ckks_chain(spec.ring_dimension, spec.scale_bits or 0, spec.security_table)
    return spec.modulus_bits


def _ckks(spec: ParameterSpec, decomposition_digits: int) -> HElibContext:
    scale_bits = spec.scale_bits or 0
    chain = requests.chosen_primes(spec, _ckks_bits(spec), "HElib")
    data = len(chain[:-1] or chain)
    requests.require_room(spec, math.prod(chain[:data]).bit_length())
    if spec.tuning == "recommended" and len(chain) > data:
        chain = (*chain[:data], *_own_special(spec, chain[:data], decomposition_digits))
    text = json.loads(
        binding.module().describe_bare(2 * spec.ring_dimension, min(scale_bits, _MAX_PRECISION))
    )
    text["content"] |= {
        "qs": chain,
        "specialPrimes": list(range(data, len(chain))),
        "digits": limits.split(data, decomposition_digits),
    }
    return _made(spec, lambda: binding.module().read_context(json.dumps(text)))


def _own_special(spec: ParameterSpec, data: tuple[int, ...], decomposition_digits: int) -> list[int]:
    """The special primes that HElib would choose, of those that are not in the chain."""
    count, size = limits.special(spec, [math.log2(prime) for prime in data], decomposition_digits)
    candidates = primes.ntt_primes(size, spec.ring_dimension, count + len(data))
    return [prime for prime in candidates if prime not in data][:count]


# -- bgv ------------------------------------------------------------------------------------------------------


def _recipe(spec: ParameterSpec) -> tuple[int, int]:
    """Number and size of the ciphertext primes; raises ``Unsupported`` with the reason."""
    if spec.modulus_bits is None:
        return _default_recipe(spec)
    requests.chosen_primes(spec, spec.modulus_bits, "HElib")  # refuses what cannot exist
    data = spec.modulus_bits[:-1] or spec.modulus_bits
    count, wanted = len(data), sum(data) / len(data)
    sizes = [size for size in range(MIN_BITS, MAX_BITS + 1) if _count(_bits(count, size)) == count]
    if not sizes:
        raise Unsupported(f"HElib has no modulus chain of {count} primes: request fewer")
    return count, min(sizes, key=lambda size: abs(size - wanted))


def _default_recipe(spec: ParameterSpec) -> tuple[int, int]:
    """The largest Q whose QP stays within the security table's limit, in as few primes as possible."""
    level = next((level for level in security.LEVELS if level >= spec.security), security.LEVELS[-1])
    bound = security.limit(spec.security_table, spec.ring_dimension, level) or 0
    chains = [
        (count * size, count, size)
        for count in range(1, bound // MIN_BITS + 1)
        for size in range(MIN_BITS, MAX_BITS + 1)
        if count * size + _min_special_bits(spec, count, size) <= bound
        and _count(_bits(count, size)) == count
    ]
    if not chains:
        raise Unsupported(
            f"no default modulus chain at N = {spec.ring_dimension}: {level} bits of security leave no room for primes "
            f"of {MIN_BITS} bits, HElib's minimum, and a special prime; write modulus_bits with `security: none`"
        )
    _, count, size = max(chains)
    return count, size


def _min_special_bits(spec: ParameterSpec, count: int, size: int) -> int:
    """Total bits of a chain's special primes, with the first number of digits of its tuning."""
    number, bits = limits.special(spec, [size] * count, limits.choices(spec, count)[0])
    return number * bits


def _bits(count: int, size: int) -> int:
    """HElib's parameter ``bits`` for which it takes ``count`` primes of ``size`` bits, if it can."""
    return math.floor((size - _LOSS_BITS) * count)


def _count(bits: int) -> int:
    """The number of primes that HElib takes for its parameter ``bits``: as few as possible."""
    return math.ceil(bits / (MAX_BITS - _LOSS_BITS))


def _foretold(spec: ParameterSpec, decomposition_digits: int) -> HElibContext:
    """A context that only determines the primes. HElib takes ciphertext primes first, independent of later ones."""
    count, size = _recipe(spec)
    make, m, bits = binding.module().foretell_context, 2 * spec.ring_dimension, _bits(count, size)
    chain = _made(spec, lambda: make(m, bits, count, limits.MIN_SPECIAL_BITS)).ciphertext_primes
    number, special = limits.special(spec, [math.log2(prime) for prime in chain], decomposition_digits)
    context = _made(spec, lambda: make(m, bits, decomposition_digits, _bits(number, special)))
    if len(context.ciphertext_primes) != count or len(context.special_primes) != number:
        raise Unsupported(
            f"HElib generated {len(context.ciphertext_primes)} primes and {len(context.special_primes)} special "
            f"primes instead of the requested {count} and {number}"
        )
    return context


def _made(spec: ParameterSpec, make: Callable[[], HElibContext]) -> HElibContext:
    try:
        return make()
    except LIBRARY_ERRORS as error:
        modulus = "" if spec.scheme == "ckks" else f" and t = {spec.plain_modulus}"
        raise Unsupported(
            f"HElib refuses {spec.scheme} at N = {spec.ring_dimension}{modulus}: {error}"
        ) from error


# Between the contract's order of slots and HElib's, and between rotations and automorphisms.
# HElib's slot i holds the plaintext polynomial's value at ζ^e(i), ζ a primitive 2N-th root of unity; the automorphism
# X → X^k moves the value of the slot with exponent k·e(i) to slot i. The exponents modulo 2N are ±3^c, c < N/2: 3 and
# −1 generate all odd numbers modulo a power of two. So the contract's slot c is that of the exponent 3^c in row 0, and
# of −3^c in row 1; X → X^(3^s) rotates each row left by s, X → X^(−1) swaps the rows. In ckks the slots of e and −e are
# conjugates: HElib keeps one of them, and there is one row.
_GENERATOR = 3


def rotation(ring_dimension: int, steps: int) -> int:
    """The exponent of the automorphism that rotates rows left by ``steps``."""
    return pow(_GENERATOR, steps % (ring_dimension // 2), 2 * ring_dimension)


def exponent(ring_dimension: int, element: int) -> int:
    """The exponent, modulo 2N, of the automorphism X → X^k; −1 swaps the rows."""
    return element % (2 * ring_dimension)


@dataclass(frozen=True)
class Slots:
    """The slots of a parameter set whose exponents in HElib's order are ``exponents``."""

    parameters: Parameters
    exponents: Sequence[int]

    @property
    def are_real(self) -> bool:
        """Whether slots hold reals (ckks)."""
        return self.parameters.plain_modulus is None

    def ordered(self, values: Vector) -> Vector:
        """The vector, padded with zeros, in HElib's order; raises ``ValueError`` for values that do not fit."""
        slots, modulus = self.parameters.slots, self.parameters.plain_modulus
        if values.ndim != 1 or len(values) > slots:
            raise ValueError(f"values of shape {values.shape} do not fit {slots} slots")
        full = np.zeros(slots, dtype=np.float64 if modulus is None else np.int64)
        full[self._places[: len(values)]] = values
        if modulus is not None and not 0 <= full.min() <= full.max() < modulus:
            raise ValueError(f"values must lie in [0, {modulus})")
        return full

    def contract_order(self, values: Vector) -> Vector:
        """Reorder a vector from HElib's order to the contract's."""
        return values[self._places]

    @cached_property
    def _places(self) -> npt.NDArray[np.int64]:
        """HElib's index of each slot of the contract."""
        m = 2 * self.parameters.ring_dimension
        index = {exponent: i for i, exponent in enumerate(self.exponents)}
        row = [pow(_GENERATOR, c, m) for c in range(m // 4)]
        if self.are_real:
            return np.array([index[e] if e in index else index[m - e] for e in row])
        return np.array([index[e] for e in (*row, *(m - e for e in row))])
