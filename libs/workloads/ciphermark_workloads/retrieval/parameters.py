"""Parameters for FastPIR, 128 bits secure by both tables: the smallest ring in which elements fit and noise does not
reach them. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ciphermark_core.errors import Unsupported
from ciphermark_core.model import Parameters, ParameterSpec, Scheme
from ciphermark_workloads.retrieval import formulas
from ciphermark_workloads.retrieval.layout import Layout, symbol_bits

# Symbols of two whole bytes, and slots in every ring up to N = 32768.
_PLAIN_MODULUS = 65537
_LEAST_RATIO = 8.0  # see formulas.noise_ratio

LayoutAt: TypeAlias = Callable[[int, int], Layout]
_Choices = Sequence[tuple[int, tuple[int, ...]]]

# N, and prime sizes with the special prime last. 106 bits are what the 2024 table allows at N = 4096, and up to 50 bits
# a prime has HEXL's fastest arithmetic. The last is taken for what has room in none.
_ONE_PRIME: _Choices = ((4096, (50, 56)), *((ring, (60, 60)) for ring in (8192, 16384, 32768)))
# For libraries that take a special prime of 60 bits, and primes of at most 56 for data.
_ROOMY: _Choices = ((8192, (56, 60)), *((ring, (56, 56, 60)) for ring in (8192, 16384, 32768)))


def recommended(scheme: Scheme, layout_at: LayoutAt) -> ParameterSpec:
    """For libraries that take primes as asked for, and encrypt under the whole chain; ``layout_at`` tells the layout
    for a number of slots of a row and bits of a slot, or raises ``Unsupported`` where elements are too long.
    """
    deviation = formulas.uncentred_deviation if scheme == "bgv" else formulas.switched_deviation
    return _first(scheme, _ONE_PRIME, layout_at, deviation)


def seeded(scheme: Scheme, layout_at: LayoutAt) -> ParameterSpec:
    """As :func:`recommended`, for queries that are encrypted with the secret key, under the data primes alone."""
    return _first(scheme, _ONE_PRIME, layout_at, formulas.secret_deviation)


def roomy(scheme: Scheme, layout_at: LayoutAt) -> ParameterSpec:
    """For libraries that choose their own primes, and encrypt under those for data."""
    return _first(scheme, _ROOMY, layout_at, formulas.public_deviation)


def layout_for(layout_at: LayoutAt, parameters: Parameters) -> Layout:
    """The layout for resolved parameters of bfv or bgv; raises ``Unsupported`` for elements that are too long."""
    return layout_at(parameters.ring_dimension // 2, symbol_bits(parameters.plain_modulus or 0))


def _first(
    scheme: Scheme, choices: _Choices, layout_at: LayoutAt, deviation: Callable[[int], float]
) -> ParameterSpec:
    bits = symbol_bits(_PLAIN_MODULUS)

    def has_room(ring: int, chain: tuple[int, ...]) -> bool:
        try:
            layout = layout_at(ring // 2, bits)
        except Unsupported:
            return False
        ratio = formulas.noise_ratio(layout, sum(chain[:-1]), _PLAIN_MODULUS, deviation(ring))
        return ratio >= _LEAST_RATIO

    ring, chain = next((choice for choice in choices if has_room(*choice)), choices[-1])
    return ParameterSpec(scheme, ring, chain, plain_modulus=_PLAIN_MODULUS)
