"""What the HElib adapter declares."""

from ciphermark_adapters.helib import limits
from ciphermark_contract.declaration import Declaration

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
    "substitute",
)

_NOT_BOUND = "HElib has it ({}), and the adapter's native module does not bind it"

DECLARATIONS = (
    Declaration(
        library="HElib",
        variant="helib",
        look=("#0E8A9E", "triangle-down"),
        implementation="ciphermark_adapters.helib.adapter:HElibAdapter",
        license="Apache-2.0",
        operations={
            "bgv": (*_COMMON, "mod_switch", "rotate_columns", "add_plain_ntt", "mul_plain_ntt"),
            "ckks": (*_COMMON, "rescale", "conjugate"),
        },
        manages_levels=("bgv",),
        compressions=("none",),
        lacks_recommended=None,
        serializable=("parameters", "public_key", "secret_key"),
        seeded=("relinearization_keys_seeded", "rotation_keys_seeded"),
        built_from=("prefix",),
        requires=("_ciphermark_helib",),
        remedy=(
            "install HElib 2.2 or newer (from Homebrew, FreeBSD's ports or its own INSTALL.md), then run "
            "HELIB_ROOT=<its prefix> python3 setup/install.py --only native-helib"
        ),
        chooses_primes=True,
        refusal=limits.refusal,
        adds={
            "precision": (
                "nothing added: rawDecrypt, without the noise against key recovery that HElib's own decrypt adds"
            )
        },
        notes={
            "parameters": (
                "bgv: HElib chooses the primes, of 54 to 60 bits; of a request it takes the number of primes and their "
                "mean size. ckks: the requested primes, given to HElib as a serialized context, because its own have "
                "54 bits or more and no scale is that large"
            ),
            "small primes": (
                "HElib's bgv also has about six smaller primes that it puts in the place of ciphertext primes to hit "
                "the modulus that the noise asks for; keys know nothing of them, so they count in neither Q nor P"
            ),
            "key switching": (
                "matched: one digit per ciphertext prime, one special prime; rotation keys for the steps asked for; "
                "HElib makes the random half of a matrix from its seed each time, and converts between primes by big "
                "integers"
            ),
            "tuning": (
                "recommended, as HElib would by itself: three digits, or the next number of them whose special primes "
                "leave it as secure as asked, and special primes of the sizes that its rule gives; in ckks on the "
                "requested data primes"
            ),
            "secret key": "dense, each coefficient 0 with probability 1/2, else 1 or -1: HElib's default",
            "destination": "HElib works in place: the time of every operation includes a copy of the first operand",
            "encrypt": "encodes, and encrypts with the public key; ckks at the scale of the parameter set",
            "decrypt": (
                "decrypts, and decodes all slots; bgv decodes each slot by a division of its own, N² steps in all. "
                "ckks is rawDecrypt: without the noise that HElib's decrypt adds against attacks that use the error"
            ),
            "mul": (
                "multLowLvl, without relinearization: first switches both operands to the modulus that their noise "
                "asks for, which HElib does before a product and not after it"
            ),
            "mul_full": (
                "multiplyBy, which relinearizes, and the division by the special prime; in ckks then bringToSet with "
                "one prime less; bgv leaves the switch to the next product, which begins with it"
            ),
            "add_plain_ntt": "addConstant of a DoubleCRT, without a factor that would keep the noise small",
            "mul_plain_ntt": (
                "multByConstant of a DoubleCRT: the same call as mul_plain, for HElib encodes to that form"
            ),
            "square": "multLowLvl, without relinearization: first switches to the modulus that the noise asks for",
            "relinearize": "reLinearize, and the division by the special prime, which HElib would put off",
            "rotate": "one automorphism, its key switching, and the division by the special prime",
            "rotate_columns": "one automorphism, its key switching, and the division by the special prime",
            "substitute": "one automorphism, its key switching, and the division by the special prime",
            "conjugate": "one automorphism, its key switching, and the division by the special prime",
            "rescale": "bringToSet with one prime less",
            "mod_switch": "bringToSet with the next smaller product of ciphertext primes",
            "add_plain": "bgv multiplies the plaintext by a factor modulo t and transforms it to NTT form each time",
            "sub_plain": "bgv multiplies the plaintext by a factor modulo t and transforms it to NTT form each time",
            "managed": (
                "HElib aligns operands itself: by switching up to the larger modulus, and ckks scales by integers; bgv "
                "switches before the next product, not after it; ckks rescales to about the default scale"
            ),
            "noise budget": "HElib's capacity: a bound on the noise that holds for all keys, not the noise itself",
            "keys": "matrices keep their random half as a seed; the public key contains context and all matrices",
        },
        reasons={
            "ciphertext_seeded": "HElib writes both halves of a ciphertext, also of one encrypted with the secret key",
            "public_key_seeded": "HElib writes the encryption key as a ciphertext, both halves of it",
            **dict.fromkeys(
                ("relinearization_keys", "rotation_keys"),
                "HElib keeps the random half of matrices as a seed: there is no expanded form to write",
            ),
            "mod_switch": "HElib's ckks drops no prime without dividing by it: use rescale",
            **dict.fromkeys(
                ("key_pair", "relinearization_key", "rotation_key"),
                "HElib's native module makes all keys of an owner in one call",
            ),
            "rotate_hoisted": _NOT_BOUND.format("BasicAutomorphPrecon"),
            "add_scalar": _NOT_BOUND.format("addConstant of a number"),
            "mul_scalar": _NOT_BOUND.format("multByConstant of a number"),
            "mul_monomial": _NOT_BOUND.format("multByConstant of a polynomial"),
            "encode": "the adapter orders slots before HElib encodes: the time would not be HElib's alone",
            "transform_plain": "HElib encodes to NTT form",
            "bootstrap": _NOT_BOUND.format("thin and thick bootstrapping for bgv"),
            "dump_plaintext": "HElib does not serialize encoded plaintexts",
        },
    ),
)
