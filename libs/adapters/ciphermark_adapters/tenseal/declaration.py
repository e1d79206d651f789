"""What the TenSEAL adapter declares."""

from ciphermark_adapters.seal.declaration import default_chain
from ciphermark_contract.declaration import SEEDED_ITEMS, Declaration
from ciphermark_core.model import ParameterSpec

_BFV = ("add", "sub", "add_plain", "sub_plain", "mul_plain", "mul", "mul_full", "add_scalar", "mul_scalar")
_CKKS = ("negate", *_BFV, "square")

_NEW_VECTOR = "allocates the result as a new vector"
_PLAIN = (
    "turns the prepared PlainTensor into a Python list and back into a C++ vector, encodes it and "
    "allocates the result as a new vector: TenSEAL has no encoded plaintexts"
)

_SCALAR = f"encodes the number in every slot; {_NEW_VECTOR}"

_LARGEST_RING = 32768  # of the security table that SEAL enforces for TenSEAL


def _refusal(spec: ParameterSpec) -> str | None:
    if spec.ring_dimension > _LARGEST_RING:
        return (
            f"TenSEAL insists on 128 bits of security by SEAL's table, which ends at N = {_LARGEST_RING}: "
            f"N = {spec.ring_dimension} is not in it"
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
        refusal=_refusal,
        serializable=("parameters", "public_key", "secret_key", "relinearization_keys"),
        generates=("relinearization_key",),
        requires=("tenseal",),
        notes={
            "tuning": "as SEAL, which switches keys in one way: both tunings are alike",
            "encrypt": "converts numpy to a Python list and on to a C++ vector, encodes and encrypts",
            "decrypt": "decrypts, decodes and converts to a Python list, bfv values centred around 0",
            "negate": _NEW_VECTOR,
            "add": f"{_NEW_VECTOR}; bfv copies the second operand too",
            "sub": f"{_NEW_VECTOR}; bfv copies the second operand too",
            "mul": f"{_NEW_VECTOR}, without relinearization or rescaling; bfv copies the second operand too",
            "mul_full": (
                "one call: mul with automatic relinearization, rescaling and modulus switching; includes about 2 µs "
                "for choosing the context, and a copy of the second ciphertext; ckks sets the initial scale, whatever "
                "the prime was"
            ),
            "square": f"{_NEW_VECTOR}, without relinearization or rescaling",
            "add_plain": _PLAIN,
            "add_scalar": _SCALAR,
            "mul_scalar": f"{_SCALAR}; without rescaling",
            "sub_plain": _PLAIN,
            "mul_plain": f"{_PLAIN}; without rescaling",
            "managed": (
                "TenSEAL's automatic relinearization, rescaling and modulus switching; includes about 2 µs "
                "for choosing the context; ckks copies the second ciphertext, which TenSEAL would switch "
                "in place; a rescaled vector gets the initial scale, whatever the prime was"
            ),
            "keys": "relinearization keys are made even when none are requested",
            "serialization": (
                "keys travel in a context message together with the parameters; public material holds the "
                "public key twice, for contexts with and without automatic relinearization"
            ),
        },
        reasons={
            **dict.fromkeys(
                SEEDED_ITEMS, "TenSEAL keeps SEAL's objects expanded, and has no call that writes seeded ones"
            ),
            "mul_plain_ntt": "TenSEAL encodes plaintexts inside its operations",
            "add_plain_ntt": "TenSEAL encodes plaintexts inside its operations",
            "key_pair": "TenSEAL makes a context and all its keys in one call",
            "rotation_key": "TenSEAL makes the keys of all rotations in one call",
            "negate": "TenSEAL's bfv vectors have no negation",
            "square": "TenSEAL's bfv vectors have no squaring; use mul",
            "relinearize": "TenSEAL's vectors relinearize only as part of a multiplication: see managed mul",
            "rescale": "TenSEAL's vectors rescale only as part of a multiplication: see managed mul_plain",
            "mod_switch": "TenSEAL's vectors switch the modulus only to bring operands to one level",
            "rotate": "TenSEAL's vectors offer sums and matrix products that rotate inside, but no rotation",
            "rotate_columns": "TenSEAL's vectors have no rotation",
            "rotate_hoisted": "TenSEAL's vectors have no rotation",
            "substitute": "TenSEAL's vectors have no automorphism",
            "conjugate": "TenSEAL's vectors have no automorphism",
            "dump_plaintext": "TenSEAL encodes plaintexts inside its operations: there is nothing to serialize",
        },
    ),
)
