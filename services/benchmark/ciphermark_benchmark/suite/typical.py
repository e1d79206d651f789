"""Typical times of operations and keys: between those of SEAL and OpenFHE in the reference run of `primitives`, on one
core of a machine with AVX-512. Estimates go by them where this host has measured nothing. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Literal

from ciphermark_contract.declaration import Declaration
from ciphermark_contract.operations import OPERATIONS
from ciphermark_contract.program import Program
from ciphermark_core.model import Scheme
from ciphermark_model.interpolation import Costs
from ciphermark_model.reuse import digits_in_use

# What the time of an operation, or of keys, rests on.
Source = Literal["cost tables", "recorded setup", "scaled typical times", "typical times"]

# Seconds per coefficient and prime: of key switching (for each digit, and for a few more); of a product, which
# BFV extends to more primes; of a division by a prime; of any operation; of encrypting a vector, and of decrypting one.
_SWITCHED_S, _PRODUCT_S, _BFV_PRODUCT_S, _DIVIDED_S, _APPLIED_S, _ENCRYPTED_S, _DECRYPTED_S = (
    1.8e-8,
    1.3e-8,
    3.7e-7,
    3e-8,
    3e-9,
    8e-8,
    4e-8,
)
_MORE_SWITCHED = 4  # digits: transforms beside theirs
_HEXL_SHARE = 0.45  # of the time without HEXL
# Of a context and a secret key, per coefficient and prime; of a byte of evaluation keys.
_CONTEXT_S, _KEY_BYTE_S = 7e-7, 6e-9


def share(declared: Declaration) -> float:
    """The time of a build as a share of that without HEXL."""
    return _HEXL_SHARE if declared.hexl else 1.0


def scaled_share(declared: Declaration, costs: Costs | None) -> tuple[float, Source]:
    """The same for a host with these costs: the median of measured over typical times of products and key switching,
    which determine the time of programs.
    """
    measured = [] if costs is None else [*_shares(costs)]
    return (median(measured), "scaled typical times") if measured else (share(declared), "typical times")


def _shares(costs: Costs) -> Iterator[float]:
    for key, cost in costs.table.entries.items():
        row = OPERATIONS.get(key.operation)
        if row is None or (key.threads, key.count, key.residency) != (1, 1, "cached"):
            continue
        if row.is_product or row.is_rotation or row.keys():
            yield cost.median / operation_s(
                key.operation, key.scheme, key.ring_dimension, key.primes, key.digits
            )


def operation_s(name: str, scheme: Scheme, ring_dimension: int, primes: int, digits: int) -> float:
    """Seconds of an operation on ciphertexts of so many data primes, where key switching has so many digits."""
    row = OPERATIONS[name]
    product_s = _BFV_PRODUCT_S if scheme == "bfv" else _PRODUCT_S
    each_s = _APPLIED_S + product_s * row.is_product + _DIVIDED_S * (row.is_maintenance or row.is_sequence)
    each_s += _SWITCHED_S * (digits + _MORE_SWITCHED) * (row.is_rotation or bool(row.keys()))
    return ring_dimension * primes * each_s


def encrypt_s(ring_dimension: int, primes: int) -> float:
    """Seconds of encoding and encrypting a vector."""
    return ring_dimension * primes * _ENCRYPTED_S


def decrypt_s(ring_dimension: int, primes: int) -> float:
    """Seconds of decrypting and decoding a vector."""
    return ring_dimension * primes * _DECRYPTED_S


def keys_s(ring_dimension: int, primes: int, key_bytes: int) -> float:
    """Seconds of making the keys of a party."""
    return ring_dimension * primes * _CONTEXT_S + key_bytes * _KEY_BYTE_S


def evaluation_s(program: Program, digits: int) -> float:
    """Seconds of a program's operations, where key switching at the top has so many digits."""
    parameters = program.parameters
    scheme, ring_dimension, top = parameters.spec.scheme, parameters.ring_dimension, len(parameters.moduli)
    return sum(
        count * operation_s(name, scheme, ring_dimension, level + 1, digits_in_use(level + 1, top, digits))
        for (name, level), count in program.counts.items()
    )
