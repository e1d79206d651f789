"""Predicted memory of the parties of programs that bootstrap, from resolved parameters: before keys are generated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ciphermark_contract.footprint import Footprint, live_bytes
from ciphermark_contract.keys import KeyRequest
from ciphermark_contract.operations import top_level
from ciphermark_contract.program import Program
from ciphermark_core.model import Parameters

_WORD = 8  # bytes
_BABY_STEPS = 16  # rotated ciphertexts that a step of a transform holds at once


class Needs(NamedTuple):
    """Peaks of the client and of the server, of both at once on one host, and of these the evaluation keys and the
    diagonals of the transforms, in bytes. A client has written its keys, and freed them, when the server reads them.
    """

    client: int
    server: int
    together: int
    keys: int
    diagonals: int


def needs(footprint: Footprint, programs: Sequence[Program], keys: KeyRequest) -> Needs | None:
    """The needs of a server that keeps the plaintexts of one program; ``None`` where a library states no bytes of its
    keys of bootstrapping.
    """
    parameters = programs[0].parameters
    own = parameters.require_bootstrapping()
    if own.key_bytes is None:
        return None
    shared = footprint.bootstrapping_rotations(parameters)
    half = parameters.ring_dimension // 2
    # Those of bootstrapping include relinearization where the two have the same primes.
    count = keys.count - sum(step % half in shared for step in keys.steps) - bool(shared)
    key_bytes = own.key_bytes + count * footprint.key_bytes(parameters)
    polynomial = _WORD * parameters.ring_dimension
    diagonals = sum(_primes_of_diagonals(parameters)) * polynomial
    primes, special = _inside(parameters)
    ciphertext = 2 * (primes + special) * polynomial
    computing = max(
        program.plaintext_bytes + live_bytes(program, has_pools=footprint.has_pools) for program in programs
    )
    base = footprint.base_bytes(parameters)
    server = round(
        base + key_bytes + diagonals + _BABY_STEPS * ciphertext + computing + footprint.garbage_bytes
    )
    moved = -(-primes // special) * ciphertext  # a key of that many digits
    client = base + footprint.copies.client * moved + (key_bytes if footprint.owner_keeps_keys else 0)
    return Needs(round(client), server, max(round(client), round(base) + server), key_bytes, diagonals)


def _inside(parameters: Parameters) -> tuple[int, int]:
    """The numbers of ciphertext and special primes inside bootstrapping."""
    own = parameters.require_bootstrapping()
    return (
        len(own.moduli or parameters.moduli),
        len(own.special_moduli or parameters.special_moduli),
    )


def _primes_of_diagonals(parameters: Parameters) -> Iterator[int]:
    """The primes of the diagonals of each step of both transforms: one level after the other, from the top, and from
    that of the operand or above that of the result.
    """
    own = parameters.require_bootstrapping()
    primes, special = _inside(parameters)
    encoding, decoding = own.parameters.level_budget
    level = top_level(parameters) - own.depth + decoding
    late = 1 + (own.operand_level if own.parameters.slots_first else level)
    layers = parameters.slots.bit_length() - 1
    for first, budget in ((primes, encoding), (late, decoding)):
        for step in range(budget):
            of_step = layers // budget + (step < layers % budget)
            yield (2 ** (of_step + 1) - 1) * (first - step + special)
