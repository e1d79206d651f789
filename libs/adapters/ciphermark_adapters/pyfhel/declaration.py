"""Declaration of the Pyfhel adapter."""

from ciphermark_adapters.seal.declaration import NOISE, default_chain_for_128_bits
from ciphermark_contract.declaration import GENERATED, SEEDED_ITEMS, Declaration
from ciphermark_contract.footprint import Footprint, OfParties

_COMMON = (
    "negate",
    "add",
    "sub",
    "add_plain",
    "sub_plain",
    "mul_plain",
    "mul",
    "mul_full",
    "square",
    "relinearize",
    "rotate",
    "encode",
)

_COPY = "copies the first ciphertext to a new PyCtxt and works in place there"
_COPY_OURS = "the adapter first copies the ciphertext, because Pyfhel works in place only"

DECLARATIONS = (
    Declaration(
        library="Pyfhel",
        variant="pyfhel",
        look=("#CC79A7", "diamond"),
        implementation="ciphermark_adapters.pyfhel.adapter:PyfhelAdapter",
        license="Apache-2.0",
        wraps="seal",
        operations={
            "bfv": (*_COMMON, "rotate_columns"),
            "bgv": (*_COMMON, "mod_switch"),
            "ckks": (*_COMMON, "rescale", "mod_switch"),
        },
        compressions=("none", "zlib", "zstd"),
        lacks_recommended=None,
        default_chain=default_chain_for_128_bits,
        footprint=Footprint(
            48,
            per_prime=205,
            per_square=32,
            owner_keeps_keys=True,
            sends_keys_whole=True,
            copies=OfParties(2.9, 2.8),
            buffers=OfParties(20, 15),
            has_pools=True,
        ),
        noise=NOISE,
        budget_schemes=("bfv",),
        serializable=("parameters", "public_key", "secret_key", "relinearization_keys", "rotation_keys"),
        generates=GENERATED,
        requires=("Pyfhel",),
        notes={
            "tuning": "as SEAL, which has one key-switching method: both tunings are identical",
            "encrypt": "copies the numpy vector to a C++ vector, encodes and encrypts",
            "decrypt": "decrypts, decodes and converts to numpy through a Python list; integers centered "
            "around 0",
            "relinearize": _COPY_OURS,
            "mul_full": (
                "multiply into a new PyCtxt, then relinearize and rescale_to_next (CKKS) or "
                "mod_switch_to_next (BGV) in place"
            ),
            "encode": "copies the numpy vector to a C++ vector",
            "rescale": _COPY_OURS,
            "rotate": f"{_COPY}; checks that rotation keys exist",
            "rotate_columns": f"{_COPY}; checks that rotation keys exist",
            "managed": "CKKS plaintexts are encoded at the top level and switched down",
            "serialization": "parameters include Pyfhel's own header (security level, prime sizes, scale)",
        }
        | dict.fromkeys(
            ("negate", "add", "sub", "add_plain", "sub_plain", "mul_plain", "mul", "square", "mod_switch"),
            _COPY,
        ),
        reasons={
            **dict.fromkeys(
                SEEDED_ITEMS,
                "Pyfhel keeps SEAL's objects expanded and has no call that writes seeded objects",
            ),
            "mul_plain_ntt": "Pyfhel has no call that transforms an encoded BFV or BGV plaintext",
            "add_plain_ntt": "Pyfhel has no call that transforms an encoded BFV or BGV plaintext",
            "mod_switch": "Pyfhel returns BFV ciphertexts without switching them",
            "substitute": "Pyfhel offers no automorphism other than rotations and the row swap",
            "conjugate": "Pyfhel offers no automorphism other than rotations and the row swap",
            "rotate_hoisted": "Pyfhel rotates a vector of ciphertexts, not a ciphertext by several steps",
            "noise_budget_bits": "Pyfhel reports the noise budget in BFV only",
            "rotate_columns": "Pyfhel swaps rows in BFV only",
        },
    ),
)
