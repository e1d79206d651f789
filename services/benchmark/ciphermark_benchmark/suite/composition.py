"""Composes a suite from a few answers, for ``ciphermark suite new``. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ciphermark_adapters import registry
from ciphermark_benchmark.suite.fields import kind_of
from ciphermark_benchmark.suite.plan import PlannedCase
from ciphermark_contract.footprint import Switching
from ciphermark_contract.operations import fresh
from ciphermark_core import chains
from ciphermark_core.errors import UserError
from ciphermark_core.model import Case, ParameterSpec, Scheme
from ciphermark_core.primes import LARGEST_PRIME_BITS
from ciphermark_core.security import NEWEST, TABLES, Table
from ciphermark_measure.experiments import KINDS
from ciphermark_model.sizes import Format

_MIN_T_BITS = 20  # smaller ones give no slots at the required rings
_MAX_T_BITS = 60
_MAX_BGV_BITS = 30
_SCALE_OVER_PRECISION = 20  # bits of a CKKS scale that noise takes, at the rings of deep modulus chains
_LARGEST_SUM = 2.0  # of two numbers of at most 1
_HEADROOM_BITS = chains.headroom_bits(_LARGEST_SUM)
_MIN_SCALE_BITS, _MAX_SCALE_BITS = 30, LARGEST_PRIME_BITS - _HEADROOM_BITS
_MAX_DEPTH = 64
_MAX_VECTOR_LENGTH = 1 << 40
_CHAIN_SIZE = 1024
_NO_SWITCHING = Switching(0, 0)  # ciphertexts need none
_BEGINNING = """\
# {words}.
# Written by `ciphermark suite new`.
name: {wish.name}
# Sampling stops when the 95% interval of the median is within ±3%, or after 2 s.
budget: {{min_samples: 8, min_time_s: 0.1, max_ci_half_width: 3%, max_time_s: 2{memory}}}
experiments:
"""
_CHAIN = """\
  # The whole computation: {multiplications} on one ciphertext. The time does not
  # depend on the number of used slots.
"""
_SINGLE = """\
  # Single operations on all values, in as many ciphertexts as each library's N requires.
"""
_SIZES = """\
  # Storage and traffic: bytes of keys and ciphertexts.
"""


@dataclass(frozen=True, slots=True)
class Wish:
    """The requirements of a suite: ``vector_length`` numbers below ``largest``, ``depth`` consecutive multiplications,
    ``security`` bits by ``security_table``.

    With ``is_exact``, numbers are integers with exact results of at most ``largest_result``. Otherwise they are real
    with magnitudes of at most ``largest``, and ``precision_bits`` are relative to it. With ``has_public_factors``, one
    factor of every product is unencrypted. Workers have ``memory_mb``, or the default; the values take at most
    ``upload_mb`` as ciphertexts, if given.
    """

    name: str
    vector_length: int
    largest: float
    depth: int
    is_exact: bool
    has_public_factors: bool = False
    security: int = 128
    security_table: Table = NEWEST
    largest_result: int | None = None
    precision_bits: int = 20
    memory_mb: int | None = None
    upload_mb: float | None = None


class Offer(NamedTuple):
    """A scheme that a variant offers."""

    variant: str
    scheme: Scheme


def composed(wish: Wish, variants: Sequence[str], excluded: Container[Offer] = ()) -> str:
    """The suite's text, without the ``excluded`` offers. Raises ``UserError`` with a remedy if no scheme meets the
    wish.
    """
    _require_possible(wish)
    memory = f", memory_mb: {wish.memory_mb}" if wish.memory_mb else ""
    offers = {
        name: [scheme for scheme in _schemes(wish) if Offer(name, scheme) not in excluded]
        for name in variants
    }
    return _BEGINNING.format(words=_words(wish), wish=wish, memory=memory) + "".join(
        _experiments(wish, offers)
    )


def refusal(wish: Wish, variants: Sequence[str], planned: Callable[[str], Sequence[PlannedCase]]) -> str:
    """The reason why no case of the wish's suite can be executed, with an alternative. ``planned`` returns the cases of
    a suite's text.
    """
    reasons = Counter(item.reason for item in planned(composed(wish, variants)))
    (why, _), *_ = reasons.most_common(1)

    def is_possible(other: Wish) -> bool:
        return any(item.reason is None for item in planned(composed(other, variants)))

    deepest = _largest(wish.depth - 1, lambda depth: is_possible(replace(wish, depth=depth)))
    finest = 0
    if not wish.is_exact:
        finest = _largest(
            wish.precision_bits - 1, lambda bits: is_possible(replace(wish, precision_bits=bits))
        )
    choices = {"--depth": deepest, "--precision-bits": finest}
    possible = [f"{option} {value}" for option, value in choices.items() if value]
    advice = f"; possible: {' or '.join(possible)}" if possible else ""
    return f"no variant supports {_multiplications(wish)}: {why}{advice}"


def uploads_mb(planned: Sequence[PlannedCase]) -> dict[Offer, float]:
    """MB of the values as ciphertexts, neither seeded nor compressed, by offer: the maximum over the cases. A lower
    bound for a library that chooses its primes.
    """
    uploads: dict[Offer, float] = {}
    for item in planned:
        if item.reason is None and item.expected is not None:
            offer = Offer(item.case.variant, item.case.parameters.scheme)
            ciphertexts = -(-item.case.vector_length // item.expected.slots)
            form = Format(item.expected, _NO_SWITCHING, is_compressed=False)
            upload_mb = ciphertexts * form.ciphertext(fresh(item.expected)) / 1e6
            uploads[offer] = max(upload_mb, uploads.get(offer, 0.0))
    return uploads


def over_limit(wish: Wish, planned: Sequence[PlannedCase]) -> dict[Offer, float]:
    """The offers that exceed the upload limit, with their MB. If all exceed it, raises
    ``UserError`` with the minimum.
    """
    uploads, limit_mb = uploads_mb(planned), wish.upload_mb
    if limit_mb is None:
        return {}
    excess = {offer: upload_mb for offer, upload_mb in uploads.items() if upload_mb > limit_mb}
    if excess and len(excess) == len(uploads):
        least = min(excess, key=lambda offer: excess[offer])
        raise UserError(
            f"{_numbers(wish)} take at least {excess[least]:.3g} MB encrypted ({' '.join(least)}). The limit is "
            f"{limit_mb:g} MB: use fewer values, or raise --upload-mb"
        )
    return excess


def _largest(most: int, is_possible: Callable[[int], bool]) -> int:
    """The largest possible number from 1 to ``most``; 0 if there is none. Requires that all numbers below a possible
    one are possible.
    """
    return bisect_left(range(1, most + 1), True, key=lambda number: not is_possible(number))


def largest_result(wish: Wish) -> int:
    """The largest product of ``depth`` + 1 integers below ``largest``, or the wish's own bound."""
    return wish.largest_result or (int(wish.largest) - 1) ** (wish.depth + 1)


def plain_modulus_bits(wish: Wish) -> int:
    """Bits of a plaintext modulus that exceeds every result."""
    return max(_MIN_T_BITS, largest_result(wish).bit_length() + 1)


def scale_bits(wish: Wish) -> int:
    """log2 of a CKKS scale for the precision."""
    return max(_MIN_SCALE_BITS, wish.precision_bits + _SCALE_OVER_PRECISION)


def ckks_sizes(wish: Wish) -> list[int]:
    """Prime sizes, the special prime last, for sums of two numbers of at most 1."""
    return [*chains.ckks_chain(scale_bits(wish), wish.depth, _LARGEST_SUM)]


def _require_possible(wish: Wish) -> None:
    bounds: dict[str, tuple[float, float, float]] = {
        "vector_length": (wish.vector_length, 1, _MAX_VECTOR_LENGTH),
        "depth": (wish.depth, 1, _MAX_DEPTH),
    }
    if wish.is_exact:
        bounds["largest"] = (wish.largest, 2, 1 << _MAX_T_BITS)
    for name, (value, least, most) in bounds.items():
        if not least <= value <= most:
            raise UserError(f"{name} must be from {least:,} to {most:,}, not {value:,}")
    if wish.largest <= 0:
        raise UserError(f"largest must be above 0, not {wish.largest:g}")
    if wish.upload_mb is not None and not wish.upload_mb > 0:  # nor NaN
        raise UserError(f"upload_mb must be above 0, not {wish.upload_mb:g}")
    if wish.is_exact and not float(wish.largest).is_integer():
        raise UserError(f"the bound of integers must be an integer, not {wish.largest:g}")
    if wish.is_exact and plain_modulus_bits(wish) > _MAX_T_BITS:
        raise UserError(_split(largest_result(wish).bit_length()))
    if not wish.is_exact and scale_bits(wish) > _MAX_SCALE_BITS:
        most = _MAX_SCALE_BITS - _SCALE_OVER_PRECISION
        raise UserError(f"CKKS supports at most {most} bits of precision, not {wish.precision_bits}")


def _split(result_bits: int) -> str:
    """The remedy for results that exceed one plaintext modulus."""
    count = -(-(result_bits + 1) // (_MAX_BGV_BITS - 1))  # primes of b bits are above 2^(b-1)
    bits = max(_MIN_T_BITS, -(-(result_bits + 1) // count) + 1)
    return (
        f"results of up to {result_bits} bits exceed the plaintext modulus of at most {_MAX_T_BITS} bits. Options: "
        f"state a smaller --largest-result; use --approximate; or compute modulo {count} primes of {bits} bits. For "
        f"one prime, use `--largest-result {(1 << (bits - 1)) - 1}`. Time and bytes are then {count} times its results"
    )


def _experiments(wish: Wish, offers: Mapping[str, Sequence[Scheme]]) -> Iterator[str]:
    """The experiments, each split by the abilities of variants, so that no variant is asked for what it lacks."""
    product = "mul_plain" if wish.has_public_factors else "mul_full"
    size = min(wish.vector_length, _CHAIN_SIZE)
    if not wish.has_public_factors:
        yield _CHAIN.format(multiplications=_multiplications(wish))
        yield from _parts(
            wish, offers, "repetition", ("mul",), f"vector_length: [{size}]", f"repetitions: [{wish.depth}]"
        )
    yield _SINGLE
    depth = [f"depth: {wish.depth}"] if wish.is_exact else []
    yield from _parts(
        wish,
        offers,
        "arithmetic",
        ("add", product, "rotate(1)"),
        *depth,
        f"vector_length: [{wish.vector_length}]",
    )
    yield _SIZES
    yield from _parts(
        wish, offers, "serialization", ("none", "zstd"), *depth, f"vector_length: [{size}]", most=1
    )


def _parts(
    wish: Wish,
    offers: Mapping[str, Sequence[Scheme]],
    kind: str,
    operations: Sequence[str],
    *lines: str,
    most: int | None = None,
) -> Iterator[str]:
    """An experiment for each group of variants that support the same of its schemes and operations; at most ``most``
    operations each.
    """
    groups: dict[tuple[tuple[Scheme, ...], tuple[str, ...]], list[str]] = {}
    for variant, offered in offers.items():
        able = {
            scheme: tuple(text for text in operations if _has(variant, scheme, kind, text))[:most]
            for scheme in offered
        }
        for own in dict.fromkeys(texts for texts in able.values() if texts):
            schemes = tuple(scheme for scheme, texts in able.items() if texts == own)
            groups.setdefault((schemes, own), []).append(variant)
    for (schemes, own), names in groups.items():
        texts = [f"{{{text.rstrip(')').replace('(', ': [')}]}}" if "(" in text else text for text in own]
        body = [*_parameters(wish, names, schemes), *lines, f"operations: [{', '.join(texts)}]"]
        yield "".join(
            f"{'  - ' if not number else '    '}{line}\n"
            for number, line in enumerate([f"kind: {kind}", *body])
        )


def _has(variant: str, scheme: Scheme, kind: str, operation: str) -> bool:
    declared = registry.declaration(variant)
    spec = ParameterSpec(scheme, 1024, ring_dimension_is_minimum=True)
    case = Case(variant, kind_of(operation, kind), operation, spec, 1, "random")
    return scheme in declared.schemes and KINDS[case.experiment].reason(case, declared) is None


def _parameters(wish: Wish, variants: Sequence[str], schemes: Sequence[Scheme]) -> list[str]:
    if wish.is_exact:
        comment = f"t: results up to {largest_result(wish):,} are exact"
        chain = "modulus_bits: for-depth   # primes for the depth above"
        values = f"plain_modulus: {{bits: {plain_modulus_bits(wish)}}}  # {comment}"
    else:
        room = 1 << (_HEADROOM_BITS - 1)
        chain = f"modulus_bits: {ckks_sizes(wish)}  # one prime per multiplication; results below {room}"
        values = (
            f"scale_bits: {scale_bits(wish)}            # for about {wish.precision_bits} bits of precision"
        )
    return [
        f"variants: [{', '.join(variants)}]",
        f"schemes: [{', '.join(schemes)}]",
        "ring_dimension: smallest-secure  # the smallest N that is secure for the modulus chain, per library",
        chain,
        values,
        f"security: {{bits: {wish.security}, table: {wish.security_table}}}",
    ]


def _schemes(wish: Wish) -> tuple[Scheme, ...]:
    """The schemes for the wish. In BGV, every prime of the modulus chain exceeds t times the noise of a product, which
    a large t makes impossible.
    """
    if not wish.is_exact:
        return ("ckks",)
    return ("bfv", "bgv") if plain_modulus_bits(wish) <= _MAX_BGV_BITS else ("bfv",)


def _multiplications(wish: Wish) -> str:
    return "1 multiplication" if wish.depth == 1 else f"{wish.depth} consecutive multiplications"


def _words(wish: Wish) -> str:
    factors = " by public numbers" if wish.has_public_factors else ""
    promise = f"{wish.security}-bit security by the {TABLES[wish.security_table]}"
    return f"{_numbers(wish)}, {_multiplications(wish)}{factors}, {promise}"


def _numbers(wish: Wish) -> str:
    if wish.is_exact:
        return f"{wish.vector_length:,} integers below {int(wish.largest):,}"
    scaled = f" (divided by {wish.largest:,g} before encryption)" if wish.largest > 1 else ""
    return f"{wish.vector_length:,} real numbers of magnitude at most {wish.largest:,g}{scaled}"
