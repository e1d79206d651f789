"""Declaration of the Lattigo adapter."""

from ciphermark_adapters.seal import declaration as seal
from ciphermark_contract.declaration import GENERATED, KEY_ITEMS, Declaration
from ciphermark_contract.footprint import Footprint, OfParties, Switching
from ciphermark_contract.noise_sources import NoiseSources
from ciphermark_core.model import Parameters

# Lattigo has no default modulus chains for exact schemes: those of SEAL, which follow the HE Standard.
default_chain_for_128_bits = seal.default_chain_for_128_bits
SLOT_GENERATOR = 5  # slot c of a row is the value at ζ^(5^c)

_COMMON = (
    *("negate", "add", "sub", "add_plain", "sub_plain", "mul_plain", "mul", "mul_full", "square"),
    *("relinearize", "mod_switch", "rotate", "rotate_hoisted", "substitute", "add_scalar", "mul_scalar"),
    *("add_many", "encode", "multiply_accumulate", "weighted_sum"),
)
_EXACT = (*_COMMON, "rotate_columns", "encode_coefficients", "add_plain_ntt", "mul_plain_ntt")

_IN_NTT_FORM = "Lattigo keeps ciphertexts in NTT form in every scheme"


def switching(parameters: Parameters) -> Switching:
    """A digit has as many ciphertext primes as there are special primes."""
    special = len(parameters.special_moduli)
    return Switching(-(-len(parameters.moduli) // max(1, special)), special)


DECLARATIONS = (
    Declaration(
        library="Lattigo",
        variant="lattigo",
        look=("#5B4FC4", "triangle-right"),
        implementation="ciphermark_adapters.lattigo.adapter:LattigoAdapter",
        license="Apache-2.0",
        operations={
            "bfv": _EXACT,
            "bgv": _EXACT,
            "ckks": (*_COMMON, "rescale", "conjugate", "encode_at_level", "bootstrap"),
        },
        composite={
            "add_many": "Lattigo adds two ciphertexts: Add for the first two, then in place for each other",
            "multiply_accumulate": "Mul of the first pair, then MulThenAdd for each other",
            "weighted_sum": "Mul of the first pair, then MulThenAdd for each other",
        },
        compressions=("none",),
        threaded=("bootstrap",),
        programs_have_threads=True,
        default_chain=default_chain_for_128_bits,
        footprint=Footprint(
            54,
            per_prime=197,
            copies=OfParties(3.5, 0.7),
            buffers=OfParties(14, 3.4),
            has_pools=True,
            switching=switching,
            garbage_bytes=3 << 27,  # of 512 MiB, at which the collector starts
        ),
        noise=NoiseSources(divides_fresh=True, tracks_factors=("bfv", "bgv"), scales_plaintexts=True),
        slot_generator=SLOT_GENERATOR,
        serializable=KEY_ITEMS,
        seeded=("relinearization_keys_seeded", "rotation_keys_seeded"),
        generates=GENERATED,
        requires=("_ciphermark_lattigo",),
        remedy=(
            "install Go 1.24 or newer (Debian 13: apt-get install golang-go), then run "
            "python3 setup/install.py --only lattigo"
        ),
        lacks_recommended="its documentation leaves the number of special primes to the user",
        lacks_matched_bootstrapping=(
            "Lattigo's bootstrapping takes digits of several primes, and one digit per prime would take gigabytes more "
            "of keys: write tuning: recommended"
        ),
        notes={
            "parameters": (
                "the requested primes, the last of them as the special prime. Lattigo drops ciphertext primes from the "
                "last one on"
            ),
            "default modulus chain": "Lattigo has none for BFV and BGV: SEAL's, which follow the HE Standard (2018)",
            "key switching": (
                "one digit per ciphertext prime and one special prime, as in SEAL. With bootstrapping, which has "
                "recommended tuning only, there are as many special primes as the root of the ciphertext primes, and "
                "digits of as many primes"
            ),
            "schemes": (
                "BFV is Lattigo's BGV with a product that is invariant to the scale: both have the same plaintexts, "
                "and a factor that Lattigo matches in sums"
            ),
            "collector": (
                "Go's garbage collector starts when memory has doubled (GOGC = 100). It starts sooner where less than "
                "a quarter of the host's memory or of the process's limit is left, or 1 GiB. With keys of "
                "bootstrapping, it starts at 512 MiB of garbage. Results and buffers are reused, so loops leave it "
                "little to do. A sample with a collection is marked as disturbed, unless every one has some; facts "
                "state their number and pauses"
            ),
            "threads": (
                "operations other than bootstrap use one thread. Independent operations of a program execute on "
                "several goroutines, which share one evaluator. Go's runtime has as many processors as the case has "
                "threads"
            ),
            "timing": "loops run in Go, by its monotonic clock",
            "encrypt": "encodes, then encrypts with the public key",
            "decrypt": "decrypts and decodes all slots",
            "plaintexts": (
                "operands of BFV and BGV are encoded around 0. Lattigo's Encode, which the operation encode times, "
                "leaves coefficients in [0, t), whose mean makes the noise of sums grow with the number of terms"
            ),
            "destination": "results are written to ciphertexts that exist already, as Lattigo's methods without New do",
            "negate": "Neg of Lattigo's ring for each polynomial: its evaluators have no negation",
            "mul": (
                "without relinearization and rescaling; BFV multiplies in an extended ring and divides by Q. Operands "
                "of three and more polynomials (BGV, CKKS) take the products of Lattigo's ring one by one"
            ),
            "mul_full": "MulRelin, then Rescale (BGV, CKKS)",
            "square": "Mul of a ciphertext with itself, which Lattigo detects",
            "mul_plain": "Mul with a plaintext, which Lattigo brings to Montgomery form in every call",
            "mul_plain_ntt": "the same call as mul_plain, because Lattigo encodes to NTT form",
            "add_plain": (
                "Add. Products of BFV and BGV have a factor: there, the plaintext times it, by MulScalarThenAdd of "
                "Lattigo's ring"
            ),
            "sub_plain": (
                "Sub. Products of BFV and BGV have a factor: there, the plaintext times it, by MulScalarThenSub of "
                "Lattigo's ring"
            ),
            "add_plain_ntt": "the same call as add_plain, because Lattigo encodes to NTT form",
            "bootstrap": (
                "Lattigo's Evaluate on a copy of the operand, which Lattigo changes; it has one thread. With more, the "
                "adapter splits its transforms by primes, and reduces the two halves of a full ciphertext at once: the "
                "result is the same, bit by bit. Ciphertexts outside have no primes of the circuit, so a result is at "
                "the top level. Its keys are of one owner's secret, and of an ephemeral one with 32 coefficients"
            ),
            "rotate_hoisted": (
                "DecomposeNTT once, then AutomorphismHoisted for each step: what RotateHoisted of CKKS does, and BGV "
                "lacks"
            ),
            "substitute": "Automorphism; Lattigo orders slots by powers of 5, SEAL and HElib by powers of 3",
            "mul_scalar": (
                "Mul with an integer. CKKS takes the number times the default scale: Lattigo itself would take the "
                "last prime as the scale"
            ),
            "mod_switch": (
                "BFV and BGV: Rescale, in BFV that of the evaluator for BGV. CKKS: a copy without the last prime"
            ),
            "noise budget": "the adapter's own computation from the decrypted polynomial, as SEAL defines it",
            "encode": "from a slice of numbers, into an existing plaintext",
            "encode_coefficients": (
                "from a slice of numbers, into an existing plaintext. Lattigo's slots belong to another root of unity "
                "than those of the contract: the adapter brings the polynomial there before the clock starts"
            ),
            "encode_at_level": "from a slice of numbers, into an existing plaintext",
            "seeded": "Lattigo's compressed evaluation keys, with a seed of 32 bytes",
        },
        reasons={
            "ciphertext_seeded": "Lattigo writes both halves of every ciphertext",
            "public_key_seeded": "Lattigo writes both halves of the public key",
            "mul_monomial": f"{_IN_NTT_FORM}, where X^k is an ordinary factor: use mul_plain",
            "mul_word": f"{_IN_NTT_FORM}, which gives no access to the coefficients",
            "transform_plain": "Lattigo encodes plaintexts directly to NTT form",
            "transform_ciphertext": _IN_NTT_FORM,
            "transform_back": _IN_NTT_FORM,
            "key_switch": (
                "Lattigo has it (ApplyEvaluationKey), but its ciphertexts do not name their key, so the owner of two "
                "could not decrypt what returns"
            ),
        },
    ),
)
