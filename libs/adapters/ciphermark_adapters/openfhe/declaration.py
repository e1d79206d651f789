"""Declaration of the OpenFHE adapter."""

from ciphermark_adapters.openfhe import limits
from ciphermark_contract.declaration import GENERATED, KEY_ITEMS, SEEDED_ITEMS, Declaration
from ciphermark_contract.footprint import Footprint, OfParties
from ciphermark_contract.noise_sources import NoiseSources

_COMMON = (
    "negate",
    "add",
    "sub",
    "add_plain",
    "sub_plain",
    "mul_plain",
    "mul_plain_ntt",
    "mul",
    "mul_full",
    "square",
    "relinearize",
    "rotate",
    "rotate_hoisted",
    "substitute",
    "add_many",
    "encode",
    "key_switch",
)

DECLARATIONS = (
    Declaration(
        library="OpenFHE",
        variant="openfhe",
        look=("#8C6D00", "cross"),
        implementation="ciphermark_adapters.openfhe.adapter:OpenFheAdapter",
        license="BSD-2-Clause",
        operations={
            "bfv": (*_COMMON, "rotate_columns"),
            "bgv": (*_COMMON, "mod_switch", "rotate_columns", "add_plain_ntt"),
            "ckks": (
                *(name for name in _COMMON if not name.endswith("_ntt")),
                *(
                    "rescale",
                    "mod_switch",
                    "conjugate",
                    "add_scalar",
                    "mul_scalar",
                    "bootstrap",
                    "encode_at_level",
                ),
            ),
        },
        compressions=("none",),
        serializable=KEY_ITEMS,
        generates=GENERATED,
        built_from=("environment",),
        requires=("openfhe",),
        remedy="python3 setup/install.py --only openfhe",
        environment="openfhe",
        has_threads=True,
        chooses_primes=True,
        lacks_recommended=None,
        refusal=limits.refusal,
        footprint=Footprint(
            59,
            per_prime=40,
            owner_keeps_keys=True,
            copies=OfParties(3.1, 2.8),
            buffers=OfParties(36, 11),
            switching=limits.switching,
            bootstrapping_rotations=limits.bootstrapping_rotations,
        ),
        # Decode of ckkspackedencoding.cpp: √2 times the deviation of a coefficient of the imaginary part, which has
        # half of the freedom, and at least √N/8 a coefficient
        noise=NoiseSources(
            truncates_keys=("bfv", "bgv", "ckks"), decryption_noise=1.0, min_decryption_noise=1 / 8
        ),
        budget_schemes=(),
        slot_generator=limits.SLOT_GENERATOR,
        adds={
            "precision": (
                "while decoding, OpenFHE adds noise as large as its estimate of "
                "the error, against key recovery from shared decryptions (its Security.md; Li and "
                "Micciancio, EUROCRYPT 2021). It costs some bits of the ciphertext's precision"
            )
        },
        notes={
            "parameters": (
                "OpenFHE chooses the primes. A request sets their number and their size, which must "
                "be equal (CKKS: the size of the scale); only the first prime of BGV and CKKS may "
                "differ. Data primes have at most 56 bits, because OpenFHE takes two special primes "
                "above that. The special prime always has 60 bits"
            ),
            "plaintext modulus": (
                "BGV: at most 32 bits. BFV: at most 2^52 divided by the number of data primes, and "
                "only some from 47 bits on. The adapter refuses others, because OpenFHE decrypts "
                "them incorrectly without an error"
            ),
            "security": (
                "contexts use HEStd_NotSet: Ciphermark checks security by the two tables that it "
                "states, not by OpenFHE's own"
            ),
            "tuning": (
                "matched: HYBRID with one digit per prime and one special prime, as in SEAL. "
                "Recommended in BFV: BV, OpenFHE's default. Recommended in BGV and CKKS: HYBRID with the "
                "fewest digits whose special primes keep the requested security, or OpenFHE's "
                "default number if no security is requested"
            ),
            "default modulus chain": (
                "the deepest modulus chain that the HE Standard (2018) allows together with the "
                "special prime, at 128 bits or the requested level"
            ),
            "scale": (
                "FIXEDMANUAL treats every CKKS prime as 2^scale_bits. The adapter stores the exact "
                "scale in the ciphertext and corrects decrypted slots by it"
            ),
            "encrypt": "encodes the numpy vector, then encrypts with the public key",
            "decrypt": (
                "decrypts and decodes all slots to numpy; integers centered around 0. CKKS adds "
                "decryption noise against key recovery, which costs a few bits of precision"
            ),
            "add_plain": "BFV converts the plaintext back to coefficients, scales it and transforms it in "
            "every call",
            "sub_plain": "BFV converts the plaintext back to coefficients, scales it and transforms it in "
            "every call",
            "add_plain_ntt": "EvalAdd: the same call as add_plain, because OpenFHE encodes to NTT form",
            "mul_plain": (
                "EvalMult with a plaintext in NTT form, as OpenFHE encodes it; for CKKS operands of "
                "different scales, also a call that sets the exact scale"
            ),
            "mul_plain_ntt": "EvalMult: the same call as mul_plain, because OpenFHE encodes to NTT form",
            "mul_full": (
                "one call: EvalMult (BFV), which relinearizes, or ComposedEvalMult (BGV, CKKS), "
                "which also drops one prime; in CKKS also a call that sets the exact scale"
            ),
            "mul": "EvalMultNoRelin; BFV multiplies by HPSPOVERQLEVELED, OpenFHE's default",
            "square": "EvalMultNoRelin of a ciphertext with itself, because EvalSquare also relinearizes",
            "relinearize": "looks the key up in OpenFHE's process-wide map",
            "rotate": "looks the key up in OpenFHE's process-wide map",
            "rotate_columns": "EvalAutomorphism with the index 2N − 1",
            "conjugate": "EvalAutomorphism with the index 2N − 1",
            "substitute": "EvalAutomorphism; OpenFHE orders slots by powers of 5, SEAL and HElib by powers of 3",
            "rotate_hoisted": "EvalFastRotationPrecompute once, then EvalFastRotation for each step",
            "mul_scalar": "EvalMult with a double, and a call that sets the exact scale",
            "bootstrap": (
                "EvalBootstrap, and the Rescale that FIXEDMANUAL leaves to the caller, at OpenFHE's default "
                "correction factor. FIXEDMANUAL takes each prime for the scale, which costs several bits of "
                "precision against FLEXIBLEAUTO. Its keys are rotation keys"
            ),
            "encode_at_level": "MakeCKKSPackedPlaintext from a numpy vector; the time includes the lookup of the level",
            "key_switch": "KeySwitch, and a call that names the key of the result",
            "rescale": "Rescale, and a call that sets the exact scale",
            "mod_switch": "BGV: ModReduce. CKKS: LevelReduce, which drops a prime without dividing by it",
            "serialization": "OpenFHE's BINARY format; each object contains its parameters (about 1 kB)",
            "load": (
                "the adapter adds each loaded object to a zero that the library has allocated. The "
                "wheel's wrapper is compiled without optimization, and later copies of objects that "
                "it allocates are 40 times slower"
            ),
        },
        reasons={
            **dict.fromkeys(
                SEEDED_ITEMS,
                "OpenFHE has no seeded form: it writes the uniform half of keys and ciphertexts in full",
            ),
            "mod_switch": "OpenFHE's BFV keeps all primes of a ciphertext",
            "add_scalar": "OpenFHE adds single numbers in CKKS only",
            "mul_scalar": "OpenFHE multiplies by single numbers in CKKS only",
            "weighted_sum": "OpenFHE's EvalLinearWSum exists in CKKS only and also rescales the sum",
            "mul_monomial": "OpenFHE's Python wrapper does not offer the product with X^k",
            "mul_word": "OpenFHE's Python wrapper gives no access to the elements of a ciphertext",
            "transform_plain": "OpenFHE encodes plaintexts directly to NTT form",
            "transform_ciphertext": "OpenFHE keeps ciphertexts in NTT form in every scheme",
            "transform_back": "OpenFHE keeps ciphertexts in NTT form in every scheme",
            "add_plain_ntt": (
                "OpenFHE's BFV scales the plaintext in coefficient form in every addition, and "
                "transforms it afterwards"
            ),
            "multiply_accumulate": "OpenFHE sums products with single numbers (EvalLinearWSum), not with plaintexts",
            "noise_budget_bits": "OpenFHE does not report a noise budget",
            "dump_plaintext": "OpenFHE's Python wrapper does not serialize plaintexts",
        },
    ),
)
