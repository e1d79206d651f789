"""A suite for a computation that somebody has in mind, from a few answers. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ciphermark_core.errors import UserError

_LEAST_T_BITS = 20  # smaller ones give no slots at the rings that are needed
_MOST_T_BITS = 60
_MOST_BGV_BITS = 30
_SCALE_OVER_PRECISION = 20  # bits of a ckks scale that noise takes, at the rings of deep chains
_LEAST_SCALE_BITS, _MOST_SCALE_BITS = 30, 60
_MOST_DEPTH = 64
_MOST_VALUES = 1 << 40
_CHAIN_SIZE = 1024


@dataclass(frozen=True, slots=True)
class Wish:
    """``values`` numbers of less than ``largest``, ``depth`` multiplications in a row, ``security`` bits by the 2018
    table. ``is_exact``: whole numbers, of which every digit counts, results of at most ``largest_result``; otherwise
    ``precision_bits`` of the largest one.
    """

    name: str
    values: int
    largest: int
    depth: int
    is_exact: bool
    security: int = 128
    largest_result: int | None = None
    precision_bits: int = 20


def composed(wish: Wish, variants: Sequence[str]) -> str:
    """The suite's text. Raises ``UserError`` for what no scheme can do, with what can be done about it."""
    _require_possible(wish)
    return "\n".join(_lines(wish, variants)) + "\n"


def largest_result(wish: Wish) -> int:
    """The largest number that ``depth`` factors below ``largest``, one after another, can make of another such."""
    return wish.largest_result or (wish.largest - 1) ** (wish.depth + 1)


def plain_modulus_bits(wish: Wish) -> int:
    """Bits of a plaintext modulus that no result exceeds."""
    return max(_LEAST_T_BITS, largest_result(wish).bit_length() + 1)


def scale_bits(wish: Wish) -> int:
    """log2 of a ckks scale for the precision."""
    return max(_LEAST_SCALE_BITS, wish.precision_bits + _SCALE_OVER_PRECISION)


def _require_possible(wish: Wish) -> None:
    bounds = {
        "values": (wish.values, 1, _MOST_VALUES),
        "largest": (wish.largest, 2, 1 << _MOST_T_BITS),
        "depth": (wish.depth, 1, _MOST_DEPTH),
    }
    for name, (value, least, most) in bounds.items():
        if not least <= value <= most:
            raise UserError(f"{name} must be from {least:,} to {most:,}, not {value:,}")
    if wish.is_exact and plain_modulus_bits(wish) > _MOST_T_BITS:
        raise UserError(
            f"results of up to {largest_result(wish).bit_length()} bits do not fit a plaintext modulus, which has "
            f"{_MOST_T_BITS} at most: say how large results can really get (--largest-result), compute modulo several "
            "numbers side by side, or approximately (--approximate)"
        )
    if not wish.is_exact and scale_bits(wish) > _MOST_SCALE_BITS:
        most = _MOST_SCALE_BITS - _SCALE_OVER_PRECISION
        raise UserError(f"ckks keeps {most} bits of precision at most, not {wish.precision_bits}")


def _lines(wish: Wish, variants: Sequence[str]) -> Iterator[str]:
    yield f"# {_words(wish)}. Written by `ciphermark suite new`; change what you like."
    yield f"name: {wish.name}"
    yield "# Samples are taken until each median is known within 3 %, or for 2 seconds."
    yield "budget: {samples: 8, min_time_s: 0.1, precision: 3%, most_time_s: 2}"
    yield "experiments:"
    multiplications = "multiplication" if wish.depth == 1 else f"{wish.depth} multiplications in a row"
    yield f"  # The computation as a whole: {multiplications}, on one ciphertext. How many of its"
    yield "  # slots hold values makes no difference to the time."
    yield "  - kind: repetition"
    yield from _parameters(wish, variants)
    yield f"    sizes: [{min(wish.values, _CHAIN_SIZE)}]"
    yield "    operations: [mul]"
    yield f"    repetitions: [{wish.depth}]"
    yield "  # Single operations on all values: in as many ciphertexts as they take at each library's N."
    yield "  - kind: arithmetic"
    yield from _parameters(wish, variants)
    yield f"    depth: {wish.depth}"
    yield f"    sizes: [{wish.values}]"
    yield "    operations: [add, mul_full, {rotate: [1]}]"
    yield "  # What has to be stored and sent: keys and ciphertexts, in bytes."
    yield "  - kind: serialization"
    yield from _parameters(wish, variants)
    yield f"    depth: {wish.depth}"
    yield f"    sizes: [{min(wish.values, _CHAIN_SIZE)}]"
    yield "    operations: [none]"


def _parameters(wish: Wish, variants: Sequence[str]) -> Iterator[str]:
    yield f"    variants: [{', '.join(variants)}]"
    yield f"    schemes: [{', '.join(_schemes(wish))}]"
    yield "    ring_dimension: smallest  # at which the chain is secure, for each library by itself"
    yield "    modulus_bits: for-depth   # primes for so many multiplications"
    if wish.is_exact:
        told = f"t: results up to {largest_result(wish):,} are exact"
        yield f"    plain_modulus: {{bits: {plain_modulus_bits(wish)}}}  # {told}"
    else:
        yield f"    scale_bits: {scale_bits(wish)}            # for about {wish.precision_bits} bits of precision"
    yield f"    security: {wish.security}"


def _schemes(wish: Wish) -> tuple[str, ...]:
    """In bgv every prime of the chain is larger than t times the noise of a product: a large t leaves none."""
    if not wish.is_exact:
        return ("ckks",)
    return ("bfv", "bgv") if plain_modulus_bits(wish) <= _MOST_BGV_BITS else ("bfv",)


def _words(wish: Wish) -> str:
    kind = "whole numbers" if wish.is_exact else "real numbers"
    depth = f"{wish.depth} multiplication{'' if wish.depth == 1 else 's'} in a row"
    scaled = "" if wish.is_exact else f" (divided by {wish.largest:,} before they are encrypted)"
    return f"{wish.values:,} {kind} below {wish.largest:,}{scaled}, {depth}, {wish.security} bits of security"
