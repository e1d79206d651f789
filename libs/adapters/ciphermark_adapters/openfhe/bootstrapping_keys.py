"""The rotations of OpenFHE 1.6's bootstrapping, and the bytes of its keys, without loading OpenFHE. Pure.

A transform of log2(slots) layers is cut into as many steps as its level budget. They collapse equally many layers; what
is left over is a step of its own. A step of l layers multiplies 2^(l+1) − 1 diagonals, by baby steps and repeated giant
steps. The sum over the ring outside the slots takes three rotations for two of its layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ciphermark_core.key_switching import KeySwitching
from ciphermark_core.model import BootstrappingParameters, ParameterSpec

_WORD = 8  # bytes


class Steps(NamedTuple):
    """``even`` steps of ``layers`` layers, and one of the ``rest``."""

    layers: int
    even: int
    rest: int


def steps(log_slots: int, budget: int) -> Steps:
    """The steps of a transform; the budget is at most ``log_slots``."""
    layers = -(-log_slots // budget)
    count, rest = divmod(log_slots, layers)
    if count + bool(rest) < budget:
        layers -= 1
        count = min(log_slots // layers, budget)
        if log_slots - count * layers and count == budget:
            count -= 1
        rest = log_slots - count * layers
    return Steps(layers, count, rest)


def rotations(ring_dimension: int, slots: int, asked: BootstrappingParameters) -> set[int]:
    """The steps of all rotations, modulo N/2 and other than 0."""
    half = ring_dimension // 2
    return {step % half for step in {slots, *_of_sum(slots, half), *_of_transforms(slots, asked)}} - {0}


def _of_sum(slots: int, half: int) -> Iterator[int]:
    while 2 * slots < half:
        yield from (slots, 2 * slots, 3 * slots)
        slots *= 4
    yield slots


def _of_transforms(slots: int, asked: BootstrappingParameters) -> Iterator[int]:
    log_slots, (encoding, decoding) = slots.bit_length() - 1, asked.level_budget
    if encoding == decoding == 1:
        babies = 1 << min(log_slots, log_slots // 2 + 2)
        yield from range(1, babies + 1)
        return
    yield slots + 1
    first, last = steps(log_slots, encoding), steps(log_slots, decoding)
    for number in range(first.even):
        yield from _of_step(first.layers, 1 << (number * first.layers + first.rest))
    yield from _of_step(first.rest, 1)
    for number in range(last.even):
        yield from _of_step(last.layers, 1 << number * last.layers)
    yield from _of_step(last.rest, 1 << last.even * last.layers)


def _of_step(layers: int, stride: int) -> range:
    """The baby steps and the giant step; none for no layers."""
    babies = 1 << (layers // 2 + 1 + (layers > 2)) if layers else 0
    return range(stride, (babies + 1) * stride, stride)


def key_bytes(spec: ParameterSpec, data: int, special: int, switching: KeySwitching) -> int:
    """Bytes of the keys of rotations, conjugation and relinearization, and of those to and from an encapsulated secret:
    two polynomials of all primes for each digit. The key to it has one prime and one special prime.
    """
    assert spec.bootstrapping is not None, "without it there are no such keys"
    is_encapsulated = spec.secret_distribution == "sparse-encapsulated"
    count = len(rotations(spec.ring_dimension, spec.slots, spec.bootstrapping)) + 2 + is_encapsulated
    polynomials = 2 * (count * switching.decomposition_digits * (data + special) + 2 * is_encapsulated)
    return polynomials * _WORD * spec.ring_dimension
