"""What the OpenFHE adapter declares."""

from ciphermark_adapters.openfhe import limits
from ciphermark_contract.declaration import GENERATED, KEY_ITEMS, SEEDED_ITEMS, Declaration

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
                *("rescale", "mod_switch", "conjugate", "add_scalar", "mul_scalar", "bootstrap"),
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
        budget_schemes=(),
        slot_generator=limits.SLOT_GENERATOR,
        adds={
            "precision": (
                "OpenFHE adds noise while it decodes, as large as the error that it estimates of the result, against "
                "the recovery of keys from shared decryptions (its Security.md; Li and Micciancio, EUROCRYPT 2021): "
                "some bits less than the ciphertext holds"
            )
        },
        notes={
            "parameters": (
                "OpenFHE chooses the primes: of a request it takes the number of primes and their size, which "
                "must be one size (ckks: that of the scale), but for the first prime in bgv and ckks. Above "
                "56 bits it would take two special primes of 60 bits, so data primes have at most 56; the "
                "special prime has 60, whatever was asked for"
            ),
            "plaintext modulus": (
                "bgv: 32 bits at most; bfv: at most 2^52 divided by the number of data primes, and not all of 47 bits "
                "and more. Others are refused, for OpenFHE decrypts them wrongly without an error"
            ),
            "security": (
                "contexts are made with HEStd_NotSet: OpenFHE judges by tables of its own, Ciphermark by those "
                "that it names"
            ),
            "tuning": (
                "matched: HYBRID with one digit per prime, for which one special prime is enough, as in SEAL; "
                "recommended: BV in bfv, OpenFHE's default there; in bgv and ckks HYBRID with the fewest digits whose "
                "special primes leave it as secure as asked; OpenFHE's default number where no security is asked for"
            ),
            "default modulus chain": (
                "the deepest that the 2018 table allows beside the special prime, for 128 bits or the level "
                "asked for"
            ),
            "scale": (
                "FIXEDMANUAL takes every ckks prime for 2^scale_bits; the adapter keeps the exact scale in "
                "the ciphertext and corrects decrypted slots by it"
            ),
            "encrypt": "encodes the numpy vector, and encrypts with the public key",
            "decrypt": (
                "decrypts, and decodes all slots to numpy; integers centred around 0; ckks adds noise while it "
                "decodes, against attacks that use the error: a few bits of precision less than without"
            ),
            "add_plain": "bfv brings the plaintext back to coefficients, scales it and transforms it in every call",
            "sub_plain": "bfv brings the plaintext back to coefficients, scales it and transforms it in every call",
            "add_plain_ntt": "EvalAdd: the same call as add_plain, for OpenFHE encodes to NTT form",
            "mul_plain": (
                "EvalMult, of a plaintext in NTT form, to which OpenFHE encodes; in ckks, between operands of "
                "two scales, also a call that sets the exact one"
            ),
            "mul_plain_ntt": "EvalMult: the same call as mul_plain, for OpenFHE encodes to NTT form",
            "mul_full": (
                "one call: EvalMult (bfv), which relinearizes, or ComposedEvalMult (bgv, ckks), which also goes down "
                "one prime; in ckks then one that sets the exact scale"
            ),
            "mul": "EvalMultNoRelin; bfv multiplies by HPSPOVERQLEVELED, OpenFHE's default",
            "square": "EvalMultNoRelin of a ciphertext with itself: EvalSquare would relinearize too",
            "relinearize": "looks the key up in OpenFHE's process-wide map",
            "rotate": "looks the key up in OpenFHE's process-wide map",
            "rotate_columns": "EvalAutomorphism with the index 2N − 1",
            "conjugate": "EvalAutomorphism with the index 2N − 1",
            "substitute": "EvalAutomorphism; OpenFHE orders slots by powers of 5, SEAL and HElib by powers of 3",
            "rotate_hoisted": "EvalFastRotationPrecompute once, EvalFastRotation for each of the steps",
            "mul_scalar": "EvalMult with a double, and a call that sets the exact scale",
            "bootstrap": (
                "EvalBootstrap of all slots, and the Rescale that FIXEDMANUAL leaves to the caller; its keys are "
                "rotation keys, and serialized as these"
            ),
            "key_switch": "KeySwitch, and a call that names the key of the result",
            "rescale": "Rescale, and a call that sets the exact scale",
            "mod_switch": "bgv: ModReduce; ckks: LevelReduce, which drops a prime without dividing by it",
            "serialization": "OpenFHE's BINARY format; each object carries its parameters (about 1 kB)",
            "load": (
                "what is read is added to a zero made by the library: the wheel's wrapper is compiled without "
                "optimization, and what it reads is copied 40 times more slowly for ever after"
            ),
        },
        reasons={
            **dict.fromkeys(
                SEEDED_ITEMS, "OpenFHE draws the uniform half of keys and ciphertexts and writes it whole"
            ),
            "mod_switch": "OpenFHE's bfv keeps all primes to the end",
            "add_scalar": "OpenFHE adds numbers in ckks only",
            "mul_scalar": "OpenFHE multiplies by numbers in ckks only",
            "weighted_sum": "OpenFHE's EvalLinearWSum is of ckks, and rescales the sum, too",
            "mul_monomial": "OpenFHE's wrapper does not offer its product with X^k",
            "mul_word": "OpenFHE's wrapper does not offer the elements of a ciphertext",
            "transform_plain": "OpenFHE encodes to NTT form",
            "transform_ciphertext": "OpenFHE keeps ciphertexts in NTT form in every scheme",
            "transform_back": "OpenFHE keeps ciphertexts in NTT form in every scheme",
            "add_plain_ntt": (
                "OpenFHE's bfv scales a plaintext by its coefficients in every sum, and transforms it afterwards"
            ),
            "multiply_accumulate": "OpenFHE sums products with numbers (EvalLinearWSum), not with plaintexts",
            "noise_budget_bits": "OpenFHE tells no noise budget",
            "dump_plaintext": "OpenFHE's wrapper does not serialize plaintexts",
        },
    ),
)
