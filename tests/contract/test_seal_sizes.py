"""Serialized sizes are SEAL's, to the byte: computed here from the format that SEAL's sources define.

Every term names its source, a function in ``native/src/seal`` of SEAL 4.1.2. Pyfhel serializes by the same functions.
"""

from __future__ import annotations

import numpy as np
import pytest

from ciphermark_adapters import registry
from ciphermark_contract.interfaces import KeyRequest
from ciphermark_contract.keys import NO_KEYS
from ciphermark_core.model import ParameterSpec

from . import harness

# serialization.h, SEALHeader: magic 2, header size 1, version 2, compression 1, reserved 2, size 8
HEADER = 16
WORD = 8  # sizes, coefficients and scales are uint64 or double
PARMS_ID = 32  # encryptionparams.h, parms_id_type: four words of BLAKE2b
IS_NTT = 1  # ciphertext.cpp, save_members: is_ntt_form as a byte
SCHEME = 1  # encryptionparams.h, scheme_type: uint8

T = harness.PLAIN_MODULUS
SPECS = {
    "bfv-4096": ParameterSpec("bfv", 4096, None, T),
    "bfv-8192": ParameterSpec("bfv", 8192, None, T),
    "bgv-4096": ParameterSpec("bgv", 4096, None, T),
    "bgv-8192": ParameterSpec("bgv", 8192, None, T),
    "ckks-4096": ParameterSpec("ckks", 4096, (39, 30, 39), None, 30),
    "ckks-8192": ParameterSpec("ckks", 8192, (60, 40, 40, 60), None, 40),
}
pytestmark = pytest.mark.variants("seal", "seal-hexl", "pyfhel")
STEPS = (1, -1, 2)


def array(words: int) -> int:
    """dynarray.h, save_size: a header of its own, the length, the words."""
    return HEADER + WORD + WORD * words


def ciphertext(polynomials: int, n: int, primes: int) -> int:
    """ciphertext.cpp, save_size."""
    sizes = 3 * WORD  # size, poly_modulus_degree, coeff_modulus_size
    scale, correction_factor = WORD, WORD
    members = PARMS_ID + IS_NTT + sizes + scale + correction_factor + array(polynomials * n * primes)
    return HEADER + members


def plaintext(coefficients: int) -> int:
    """plaintext.h, save_size: parms_id, coeff_count, scale, data."""
    return HEADER + PARMS_ID + WORD + WORD + array(coefficients)


def public_key(n: int, chain: int) -> int:
    """publickey.h, save_size: a ciphertext of two polynomials over the whole chain."""
    return ciphertext(2, n, chain)


def switching_keys(lengths: list[int], n: int, chain: int) -> int:
    """kswitchkeys.h, save_size: parms_id and the count of lists; of each list its length and public keys.

    A switching key is one public key per data prime (keygenerator.cpp, generate_one_kswitch_key).
    """
    lists = sum(WORD + length * public_key(n, chain) for length in lengths)
    return HEADER + PARMS_ID + WORD + lists


def key_sizes(n: int, chain: int, rotations: int) -> dict[str, int]:
    """Bytes of every item for a chain of that many primes, the special one included."""
    data = chain - 1
    # keygenerator.cpp, create_galois_keys: one list per Galois element, N in all, empty where no key was asked for
    lists = [data] * rotations + [0] * (n - rotations)
    return {
        # encryptionparams.h, save_size: scheme, N, length of the chain, its primes and t (modulus.h, save_size)
        "parameters": HEADER + SCHEME + 2 * WORD + (chain + 1) * (HEADER + WORD),
        "public_key": public_key(n, chain),
        "secret_key": plaintext(n * chain),  # secretkey.h, save_size: a plaintext over the whole chain
        "relinearization_keys": switching_keys([data], n, chain),  # relinkeys.h: one list, for the square
        "rotation_keys": switching_keys(lists, n, chain),
    }


@pytest.mark.parametrize("name", SPECS)
def test_sizes_are_those_of_the_format(variant: str, name: str) -> None:
    spec = SPECS[name]
    adapter, declared = harness.adapter(variant), registry.declaration(variant)
    columns = "rotate_columns" in declared.operations[spec.scheme]
    parameters = adapter.resolve(spec)
    owner = adapter.key_owner(parameters, KeyRequest.of(True, STEPS, (-1,) if columns else ()))
    evaluator = adapter.evaluator(owner.public_material())
    n, data = spec.ring_dimension, len(parameters.moduli)

    expected = key_sizes(n, data + 1, len(STEPS) + columns)
    if variant == "pyfhel":
        del expected["parameters"]  # they carry a header of Pyfhel's own
    assert {item: len(owner.dump_key(item, "none")) for item in expected} == expected

    values = np.ones(spec.slots) if spec.scheme == "ckks" else np.arange(spec.slots)
    sent = owner.dump(owner.encrypt(values), "none")
    assert len(sent) == ciphertext(2, n, data)
    fresh = evaluator.load(sent)
    product = evaluator.apply("mul", fresh, fresh)
    assert len(evaluator.dump(fresh, "none")) == ciphertext(2, n, data)
    assert len(evaluator.dump(product, "none")) == ciphertext(3, n, data)
    if "mod_switch" in declared.operations[spec.scheme]:
        lower = evaluator.apply("mod_switch", fresh)
        assert len(evaluator.dump(lower, "none")) == ciphertext(2, n, data - 1)
    # batchencoder.cpp, encode: N coefficients modulo t; ckks.h, encode: N per prime of the level
    coefficients = n * data if spec.scheme == "ckks" else n
    assert len(evaluator.dump_plaintext(evaluator.encode(values), "none")) == plaintext(coefficients)


@pytest.mark.variants("seal", "seal-hexl")
@pytest.mark.parametrize("name", SPECS)
def test_evaluation_keys_are_given_one_by_one(variant: str, name: str) -> None:
    """A step and the same one all around are one key; rotation by nothing takes none."""
    adapter, spec = harness.adapter(variant), SPECS[name]
    parameters = adapter.resolve(spec)
    row = spec.slots if spec.scheme == "ckks" else spec.slots // 2
    owner = adapter.key_owner(parameters, KeyRequest.of(True, (*STEPS, 0, 1 - row)))
    _, *keys = map(len, owner.public_material())
    data = len(parameters.moduli)
    assert keys == [switching_keys([data], spec.ring_dimension, data + 1)] * (1 + len(STEPS))


def test_compression_saves_no_more_than_the_zero_bits(variant: str) -> None:
    """Compression is lossless on random coefficients: it saves the zero bits above each prime, no more."""
    spec = SPECS["bfv-8192"]
    adapter = harness.adapter(variant)
    parameters = adapter.resolve(spec)
    owner = adapter.key_owner(parameters, NO_KEYS)
    ciphertext_of_ones = owner.encrypt(np.ones(spec.slots, dtype=np.int64))
    content = 2 * spec.ring_dimension * sum(prime.bit_length() for prime in parameters.moduli) / 8
    for mode in ("zlib", "zstd"):
        size = len(owner.dump(ciphertext_of_ones, mode))
        assert 0.98 * content < size < ciphertext(2, spec.ring_dimension, len(parameters.moduli)), mode
