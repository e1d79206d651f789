"""Declarations of the SEAL adapter: the same for both builds, except for Intel HEXL."""

from ciphermark_contract.declaration import GENERATED, KEY_ITEMS, SEEDED_ITEMS, Declaration
from ciphermark_contract.footprint import Footprint, OfParties
from ciphermark_contract.noise_sources import NoiseSources
from ciphermark_core.model import ParameterSpec

_COMMON = (
    *("negate", "add", "sub", "add_plain", "sub_plain", "mul_plain", "mul", "mul_full", "square"),
    *("relinearize", "mod_switch", "rotate", "substitute", "add_many", "encode", "multiply_accumulate"),
    "weighted_sum",
)
_EXACT = (*_COMMON, "rotate_columns", "encode_coefficients", "transform_plain", "mul_plain_ntt")
_OF_COEFFICIENTS = (*_EXACT, "mul_monomial", "mul_word", "transform_ciphertext", "transform_back")
_APPROXIMATE = (*_COMMON, "rescale", "conjugate", "encode_at_level")

_COMPOSITE = {
    "mul_word": (
        "Ciphermark extracts the word from the ciphertext's coefficients, then calls SEAL's "
        "transform_to_ntt_inplace and multiply_plain"
    ),
    "multiply_accumulate": (
        "Ciphermark's own code on SEAL's residues. It sums unreduced products and reduces "
        "once for many terms, with AVX-512 if the CPU has it and primes have at most 50 "
        "bits. If scales or correction factors differ: multiply_plain_inplace and "
        "add_inplace for each pair"
    ),
    "weighted_sum": (
        "Ciphermark's own code, as multiply_accumulate, with each number encoded as one residue per prime"
    ),
}

_REASONS = {
    "add_plain_ntt": (
        "SEAL adds BFV and BGV plaintexts in coefficient form: BFV then scales them, BGV transforms them"
    ),
    "rotate_hoisted": "SEAL decomposes the ciphertext again for every rotation",
    "add_scalar": "SEAL cannot add a single number: encode it as a plaintext",
    "mul_scalar": "SEAL cannot multiply by a single number: encode it as a plaintext",
    "mul_monomial": "SEAL keeps BGV ciphertexts in NTT form, where X^k is an ordinary factor: use mul_plain",
    "key_switch": "SEAL's key switching to another key is a private method of its evaluator",
    "bootstrap": "SEAL has no bootstrapping",
}

_NOTES = {
    "tuning": "SEAL has one key-switching method, one digit per prime and one special prime: both "
    "tunings are identical",
    "encrypt": "encodes, then encrypts with the public key",
    "decrypt": "decrypts and decodes all slots",
    "destination": (
        "all operations except rescale and mod_switch first copy an operand to the "
        "destination, as SEAL's own overloads with a destination do"
    ),
    "add_plain": "BGV transforms the plaintext to NTT form in every call",
    "sub_plain": "BGV transforms the plaintext to NTT form in every call",
    "mul_plain": (
        "BFV and BGV transform the plaintext to NTT form in every call. BFV also transforms "
        "the ciphertext there and back, except for a vector of equal values, whose plaintext "
        "is a constant"
    ),
    "mul_plain_ntt": (
        "multiply_plain on operands in NTT form (transform_to_ntt). The BFV result stays in "
        "NTT form, for further products and for transform_back"
    ),
    "mul": "without relinearization and rescaling",
    "mul_full": (
        "multiply and relinearize_inplace, then rescale_to_next_inplace (CKKS) or "
        "mod_switch_to_next_inplace (BGV)"
    ),
    "square": "without relinearization and rescaling",
    "mul_monomial": "SEAL's shift of polynomials (negacyclic_shift_poly_coeffmod), called for each "
    "polynomial",
    "add_many": "copies the first ciphertext and adds the others to it, as SEAL's add_many does",
    "encode": "from a vector of C++ integers or doubles",
    "encode_at_level": "from a numpy vector, called from Python; the time includes the lookup of the level",
    "encode_coefficients": "copies a vector of C++ integers to the coefficients of a plaintext",
    "mod_switch": "CKKS drops a prime without dividing by it",
    "key_pair": "constructs a KeyGenerator, which draws the secret key, and calls create_public_key",
    "keys": "sizes are those of expanded keys, as an evaluator holds them; seeded keys have separate names",
    "seeded": "encrypt_symmetric and create_…_keys without a destination, which SEAL serializes "
    "with a seed of 64 bytes",
}


# Encryptor encrypts at the key level and divides by the special prime. Modulus switches of bgv take residues modulo t
# from [0, t).
NOISE = NoiseSources(
    divides_fresh=True, truncates_switches=("bgv",), truncates_keys=("bgv",), tracks_factors=("bgv",)
)

# Sizes of the primes of CoeffModulus::BFVDefault, which are for 128 bits of security, by ring dimension.
_SIZES: dict[int, tuple[int, ...]] = {
    1024: (27,),
    2048: (54,),
    4096: (36, 36, 37),
    8192: (43, 43, 44, 44, 44),
    16384: (48, 48, 48, *[49] * 6),
    32768: (*[55] * 15, 56),
}
DEFAULT_RINGS = tuple(_SIZES)
_BITS = 128


def default_chain(spec: ParameterSpec) -> tuple[int, ...] | None:
    """SEAL's default sizes for a request without any; ``None`` at a ring dimension without a default."""
    return _SIZES.get(spec.ring_dimension)


def default_chain_for_128_bits(spec: ParameterSpec) -> tuple[int, ...] | None:
    """The same for a wrapper with other chains for security above 128 bits."""
    return default_chain(spec) if spec.security <= _BITS else None


def _declaration(variant: str, look: tuple[str, str], *, hexl: bool, isa: tuple[str, ...]) -> Declaration:
    return Declaration(
        library="SEAL",
        variant=variant,
        look=look,
        built_from=("prefix", "compiler", "flags", "hexl"),
        implementation="ciphermark_adapters.seal.adapter:SealAdapter",
        license="MIT",
        operations={"bfv": _OF_COEFFICIENTS, "bgv": _EXACT, "ckks": _APPROXIMATE},
        compressions=("none", "zlib", "zstd"),
        lacks_recommended=None,
        default_chain=default_chain,
        # A context for every level of the chain, each with tables of all its primes; HEXL has tables of its own.
        footprint=Footprint(
            52 if hexl else 47,
            per_prime=270 if hexl else 107,
            per_square=32,
            copies=OfParties(3.5, 2.3),
            buffers=OfParties(23, 0),
            has_pools=True,
        ),
        noise=NOISE,
        serializable=KEY_ITEMS,
        seeded=SEEDED_ITEMS,
        generates=GENERATED,
        requires=("_ciphermark_seal_hexl" if hexl else "_ciphermark_seal",),
        isa=isa,
        hexl=hexl,
        programs_have_threads=True,
        composite=_COMPOSITE,
        calls={"encode_at_level": lambda evaluator: evaluator.encode},
        reasons=_REASONS,
        notes=_NOTES,
    )


DECLARATIONS = (
    _declaration("seal", ("#0072B2", "circle"), hexl=False, isa=()),
    # HEXL's vector kernels need avx512dq; without it (or avx512ifma, which implies it) HEXL runs scalar code, and
    # HEXL results would not measure its kernels. The code around the kernels is compiled for the CPU of the building
    # host, or, if portable, for all CPUs with these five flags: it does not run without them.
    _declaration(
        "seal-hexl",
        ("#D55E00", "square"),
        hexl=True,
        isa=("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    ),
)
