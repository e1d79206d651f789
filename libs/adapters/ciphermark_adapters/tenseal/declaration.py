"""Declaration of the TenSEAL adapter."""

from dataclasses import replace

from ciphermark_adapters.seal.declaration import NOISE, default_chain
from ciphermark_contract.declaration import SEEDED_ITEMS, Declaration
from ciphermark_contract.footprint import Footprint, OfParties
from ciphermark_core import security
from ciphermark_core.model import ParameterSpec

_BFV = ("add", "sub", "add_plain", "sub_plain", "mul_plain", "mul", "mul_full", "add_scalar", "mul_scalar")
_CKKS = ("negate", *_BFV, "square")

_NEW_VECTOR = "allocates a new vector"
_PLAIN = (
    "converts the PlainTensor to a Python list and back to a C++ vector, encodes it and "
    "allocates a new vector: TenSEAL has no encoded plaintexts"
)

_SCALAR = f"encodes the number in every slot; {_NEW_VECTOR}"

_LARGEST_RING = 32768  # of the security table that SEAL enforces for TenSEAL


def _refusal(spec: ParameterSpec) -> str | None:
    if spec.ring_dimension > _LARGEST_RING:
        return (
            f"TenSEAL enforces 128 bits of security by SEAL's table, which ends at N = {_LARGEST_RING}: "
            f"N = {spec.ring_dimension} is not in it"
        )
    bound, log_qp = security.limit("2018", spec.ring_dimension, 128), sum(spec.modulus_bits or ())
    if bound is not None and log_qp > bound and not spec.ring_dimension_is_minimum:
        return (
            f"TenSEAL enforces 128 bits of security by SEAL's table: at N = {spec.ring_dimension} it allows {bound} "
            f"bits of primes, and these have {log_qp}"
        )
    return None


DECLARATIONS = (
    Declaration(
        library="TenSEAL",
        variant="tenseal",
        look=("#009E73", "triangle-up"),
        implementation="ciphermark_adapters.tenseal.adapter:TensealAdapter",
        license="Apache-2.0",
        wraps="seal",
        operations={"bfv": _BFV, "ckks": _CKKS},
        manages_levels=("bfv", "ckks"),
        compressions=("zstd",),
        lacks_recommended=None,
        default_chain=default_chain,
        footprint=Footprint(
            55,
            per_prime=196,
            per_square=32,
            owner_keeps_keys=True,
            sends_keys_whole=True,
            copies=OfParties(3.6, 1),
            buffers=OfParties(22, 73),
            has_pools=True,
        ),
        noise=replace(NOISE, resets_scale=True),
        refusal=_refusal,
        serializable=("parameters", "public_key", "secret_key", "relinearization_keys"),
        generates=("relinearization_key",),
        requires=("tenseal",),
        notes={
            "tuning": "as SEAL, which has one key-switching method: both tunings are identical",
            "encrypt": "converts numpy to a Python list, then to a C++ vector; encodes and encrypts",
            "decrypt": "decrypts, decodes and converts to a Python list; BFV values centered around 0",
            "negate": _NEW_VECTOR,
            "add": f"{_NEW_VECTOR}; BFV also copies the second operand",
            "sub": f"{_NEW_VECTOR}; BFV also copies the second operand",
            "mul": f"{_NEW_VECTOR}, without relinearization or rescaling; BFV also copies the second operand",
            "mul_full": (
                "one call: mul with automatic relinearization, rescaling and modulus switching. "
                "Includes about 2 µs to select the context, and a copy of the second ciphertext. "
                "CKKS resets the initial scale, regardless of the prime"
            ),
            "square": f"{_NEW_VECTOR}, without relinearization or rescaling",
            "add_plain": _PLAIN,
            "add_scalar": _SCALAR,
            "mul_scalar": f"{_SCALAR}; without rescaling",
            "sub_plain": _PLAIN,
            "mul_plain": f"{_PLAIN}; without rescaling",
            "managed": (
                "TenSEAL's automatic relinearization, rescaling and modulus switching. Includes "
                "about 2 µs to select the context. CKKS copies the second ciphertext, which TenSEAL "
                "would switch in place. A rescaled vector gets the initial scale, regardless of the "
                "prime"
            ),
            "keys": "TenSEAL generates relinearization keys even when none are requested",
            "serialization": (
                "keys and parameters share one context message. Public material contains the public "
                "key twice, for contexts with and without automatic relinearization"
            ),
        },
        reasons={
            **dict.fromkeys(
                SEEDED_ITEMS,
                "TenSEAL keeps SEAL's objects expanded and has no call that writes seeded objects",
            ),
            "mul_plain_ntt": "TenSEAL encodes plaintexts inside its operations",
            "add_plain_ntt": "TenSEAL encodes plaintexts inside its operations",
            "key_pair": "TenSEAL generates a context and all its keys in one call",
            "rotation_key": "TenSEAL generates the keys of all rotations in one call",
            "negate": "TenSEAL's BFV vectors have no negation",
            "square": "TenSEAL's BFV vectors have no squaring: use mul",
            "relinearize": "TenSEAL's vectors relinearize only as part of a multiplication: see managed mul",
            "rescale": "TenSEAL's vectors rescale only as part of a multiplication: see managed mul_plain",
            "mod_switch": "TenSEAL's vectors switch the modulus only to align the levels of operands",
            "rotate": "TenSEAL's vectors offer sums and matrix products that rotate inside, but no rotation",
            "rotate_columns": "TenSEAL's vectors have no rotation",
            "rotate_hoisted": "TenSEAL's vectors have no rotation",
            "substitute": "TenSEAL's vectors have no automorphism",
            "conjugate": "TenSEAL's vectors have no automorphism",
            "dump_plaintext": "TenSEAL encodes plaintexts inside its operations, so it has no plaintext to "
            "serialize",
        },
    ),
)
