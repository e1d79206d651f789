"""Declaration of the HElib adapter."""

from ciphermark_adapters.helib import installation, limits
from ciphermark_contract.declaration import Declaration
from ciphermark_contract.footprint import Footprint, OfParties
from ciphermark_contract.noise_sources import NoiseSources

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
    "add_scalar",
    "mul_scalar",
)

_NOT_BOUND = "HElib has it ({}), but the adapter's native module does not bind it"

DECLARATIONS = (
    Declaration(
        library="HElib",
        variant="helib",
        look=("#0E8A9E", "triangle-down"),
        implementation="ciphermark_adapters.helib.adapter:HElibAdapter",
        license="Apache-2.0",
        operations={
            "bgv": (*_COMMON, "mod_switch", "rotate_columns", "add_plain_ntt", "mul_plain_ntt"),
            "ckks": (*_COMMON, "rescale", "mod_switch", "conjugate"),
        },
        # mod_switch is one call in bgv
        composite={
            "mod_switch": "CKKS: a product with the last prime, then division by it; HElib drops no prime"
        },
        manages_levels=("bgv",),
        compressions=("none",),
        has_threads=True,
        lacks_recommended=None,
        # Half of a key matrix is a seed.
        footprint=Footprint(
            48,
            per_prime=198,
            copies=OfParties(3.1, 2),
            buffers=OfParties(3.7, 0),
            key_share=0.5,
            owner_keeps_keys=True,
            sends_keys_whole=True,
        ),
        # In bgv, levels, primes and with them the noise are HElib's choice at each product.
        noise=NoiseSources(schemes=("ckks",), divides_fresh=True, balances_digits=True, secret_zeros=1 / 2),
        serializable=("parameters", "public_key", "secret_key"),
        seeded=("relinearization_keys_seeded", "rotation_keys_seeded"),
        built_from=("prefix",),
        requires=("_ciphermark_helib",),
        remedy=(
            f"install HElib 2.2 or newer, such as {installation.WORKED}, then run "
            f"{installation.VARIABLE}=<its prefix> python3 setup/install.py --only native-helib"
        ),
        installation=installation.fault,
        chooses_primes=True,
        refusal=limits.refusal,
        adds={
            "precision": (
                "no decryption noise: the adapter calls rawDecrypt, which omits the noise that "
                "HElib's decrypt adds against key recovery"
            )
        },
        notes={
            "parameters": (
                "BGV: HElib chooses primes of 54 to 60 bits. A request sets their number and mean "
                "size. CKKS: the requested primes, passed as a serialized context, because HElib's "
                "own have at least 54 bits, more than any scale"
            ),
            "small primes": (
                "In BGV, HElib also has about six smaller primes. They replace ciphertext primes to "
                "reach the modulus that the noise requires. Keys do not contain them, so they count "
                "in neither Q nor P"
            ),
            "key switching": (
                "matched: one digit per ciphertext prime, one special prime, rotation keys for the "
                "requested steps. HElib expands the random half of a key matrix from its seed at "
                "every use, and converts between primes by big integers"
            ),
            "tuning": (
                "recommended: HElib's default of three digits, or the next number whose special "
                "primes keep the requested security; special primes of the sizes that HElib's rule "
                "gives. CKKS uses the requested data primes"
            ),
            "secret key": "dense, each coefficient 0 with probability 1/2, else 1 or -1: HElib's default",
            "destination": "HElib works in place, so every time includes a copy of the first operand",
            "encrypt": "encodes, then encrypts with the public key; CKKS at the scale of the parameter set",
            "decrypt": (
                "decrypts and decodes all slots. BGV decodes the slots separately, N² "
                "steps in total. CKKS uses rawDecrypt, which omits the noise that HElib's decrypt "
                "adds against key recovery"
            ),
            "mul": (
                "multLowLvl, without relinearization. It first switches both operands to the modulus "
                "that their noise requires: HElib switches before a product, not after it"
            ),
            "mul_full": (
                "multiplyBy, which relinearizes, and the division by the special prime; in CKKS then "
                "bringToSet with one prime less. In BGV the next product begins with the modulus "
                "switch"
            ),
            "add_plain_ntt": "addConstant of a DoubleCRT, without the factor that limits the noise",
            "mul_plain_ntt": (
                "multByConstant of a DoubleCRT: the same call as mul_plain, because HElib encodes to NTT form"
            ),
            "add_scalar": "addConstant of a number",
            "mul_scalar": (
                "BGV: multByConstant of a number, which HElib only notes in the ciphertext's factor. CKKS: "
                "multByConstant of a constant polynomial, because that of a number only notes another scale"
            ),
            "square": "multLowLvl, without relinearization. It first switches to the modulus that the "
            "noise requires",
            "relinearize": "reLinearize, and the division by the special prime, which HElib would postpone",
            "rotate": "one automorphism, its key switching, and the division by the special prime",
            "rotate_columns": "one automorphism, its key switching, and the division by the special prime",
            "substitute": "one automorphism, its key switching, and the division by the special prime",
            "conjugate": "one automorphism, its key switching, and the division by the special prime",
            "rescale": "bringToSet with one prime less",
            "mod_switch": (
                "BGV: bringToSet with the next smaller product of ciphertext primes. CKKS: multByConstant with the "
                "last prime, then bringToSet"
            ),
            "bounds": (
                "CKKS: after every operation the adapter sets HElib's bounds on noise and values to those of a fresh "
                "ciphertext (bumpNoiseBound, setPtxtMag). Left alone they grow beyond the modulus, and HElib changes "
                "moduli and refuses to decrypt"
            ),
            "add_plain": "BGV multiplies the plaintext by a factor modulo t and transforms it to NTT form in "
            "every call",
            "sub_plain": "BGV multiplies the plaintext by a factor modulo t and transforms it to NTT form in "
            "every call",
            "managed": (
                "HElib aligns operands itself, by switching up to the larger modulus. CKKS "
                "multiplies by integers to align scales, and rescales to about the default scale. "
                "BGV switches before the next product"
            ),
            "noise budget": "HElib's capacity: derived from a bound on the noise, not from the noise itself",
            "keys": "key matrices store their random half as a seed; the public key contains the context "
            "and all matrices",
        },
        reasons={
            "ciphertext_seeded": "HElib writes both halves of every ciphertext, including those encrypted with the "
            "secret key",
            "public_key_seeded": "HElib writes both halves of the public encryption key",
            **dict.fromkeys(
                ("relinearization_keys", "rotation_keys"),
                "HElib stores the random half of key matrices as a seed: it has no expanded form",
            ),
            **dict.fromkeys(
                ("key_pair", "relinearization_key", "rotation_key"),
                "the native module generates all keys of a key set in one call",
            ),
            "rotate_hoisted": "HElib has it inside its matrix products only (BasicAutomorphPrecon is not public)",
            "mul_monomial": _NOT_BOUND.format("multByConstant of a polynomial"),
            "encode": "the adapter reorders slots before HElib encodes, so the time would not be that of "
            "HElib alone",
            "transform_plain": "HElib encodes plaintexts directly to NTT form",
            "bootstrap": _NOT_BOUND.format("thin and thick bootstrapping for BGV"),
            "dump_plaintext": "HElib does not serialize encoded plaintexts",
        },
    ),
)
