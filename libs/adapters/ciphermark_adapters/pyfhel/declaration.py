"""What the Pyfhel adapter declares."""

from ciphermark_adapters.seal.declaration import default_chain_for_128_bits
from ciphermark_contract.declaration import GENERATED, SEEDED_ITEMS, Declaration

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

_COPY = "copies the first ciphertext into a new PyCtxt and works in place there"
_COPY_OURS = "the adapter copies the ciphertext first, because Pyfhel only works in place here"

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
        budget_schemes=("bfv",),
        serializable=("parameters", "public_key", "secret_key", "relinearization_keys", "rotation_keys"),
        generates=GENERATED,
        requires=("Pyfhel",),
        notes={
            "tuning": "as SEAL, which switches keys in one way: both tunings are alike",
            "encrypt": "copies the numpy vector to a C++ vector, encodes and encrypts",
            "decrypt": "decrypts, decodes and goes through a Python list to numpy; integers centred around 0",
            "relinearize": _COPY_OURS,
            "mul_full": (
                "multiply into a new PyCtxt, relinearize, and rescale_to_next (ckks) or mod_switch_to_next "
                "(bgv) in place"
            ),
            "encode": "copies the numpy vector to a C++ vector",
            "rescale": _COPY_OURS,
            "rotate": f"{_COPY}; looks whether rotation keys exist",
            "rotate_columns": f"{_COPY}; looks whether rotation keys exist",
            "managed": "ckks plaintexts are encoded at the top level and switched down",
            "serialization": "parameters carry Pyfhel's own header (security level, prime sizes, scale)",
        }
        | dict.fromkeys(
            ("negate", "add", "sub", "add_plain", "sub_plain", "mul_plain", "mul", "square", "mod_switch"),
            _COPY,
        ),
        reasons={
            **dict.fromkeys(
                SEEDED_ITEMS, "Pyfhel keeps SEAL's objects expanded, and has no call that writes seeded ones"
            ),
            "mul_plain_ntt": "Pyfhel has no call that transforms an encoded plaintext of bfv or bgv",
            "add_plain_ntt": "Pyfhel has no call that transforms an encoded plaintext of bfv or bgv",
            "mod_switch": "Pyfhel returns bfv ciphertexts unswitched",
            "substitute": "Pyfhel offers no automorphism but rotations and the swap of rows",
            "conjugate": "Pyfhel offers no automorphism but rotations and the swap of rows",
            "rotate_hoisted": "Pyfhel rotates a vector of ciphertexts, not a ciphertext by several steps",
            "noise_budget_bits": "Pyfhel tells the noise budget of bfv only",
            "rotate_columns": "Pyfhel swaps the rows of bfv only",
        },
    ),
)
